"""Experiments that show what the simulation of particles gives: a gas, packings, and two detections side by side."""

from .comparisons import BruteForceReport, brute_force
from .gases import gas
from .packings import PackingReport, packing

__all__ = ["BruteForceReport", "PackingReport", "brute_force", "gas", "packing"]
