"""Pictures of depths in packings and of speeds in a gas, like figures 22 to 24 of T. Leemann's thesis."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path

import numpy as np

from clearance.simulation.gases import Floats

NAMES = {"hybrid": "closed forms", "iterative": "GJK and EPA"}


def maxwell(v: Floats, speed: float = 10.0) -> Floats:
    """Density of the speeds of a gas whose mean square speed is that of `speed`."""
    a = speed / np.sqrt(3.0)
    density: Floats = np.sqrt(2.0 / np.pi) * v**2 * np.exp(-(v**2) / (2.0 * a**2)) / a**3
    return density


def draw_depths(depths: Mapping[str, tuple[Floats, Floats]], file: Path) -> None:
    from matplotlib.figure import Figure

    figure = Figure(figsize=(11, 6.2), layout="constrained")
    for axes, (kind, both) in zip(figure.subplots(2, 2).flat, depths.items(), strict=True):
        edges = np.linspace(0.0, 1e6 * np.quantile(both[0], 0.99), 41)
        for values, name, style in zip(
            both, NAMES.values(), ({"alpha": 0.5}, {"histtype": "step", "lw": 1.3}), strict=True
        ):
            axes.hist(1e6 * values, bins=edges, label=name, color="C0" if "alpha" in style else "C3", **style)
        off = np.abs(both[0] - both[1]).max()
        axes.set(title=f"{kind}: {len(both[0])} pairs, at most {off:.1e} m apart")
        axes.set(xlabel="depth [µm]", ylabel="pairs", xlim=(0.0, edges[-1]))
    figure.axes[0].legend()
    figure.savefig(file, dpi=110)


def draw_growth(taken: Mapping[float, Floats], file: Path) -> None:
    from matplotlib.figure import Figure

    figure = Figure(figsize=(11, 6.2), layout="constrained")
    v = np.linspace(0.0, 25.0, 251)
    for axes, (collisions, speeds) in zip(figure.subplots(2, 3, sharex=True).flat, taken.items(), strict=True):
        axes.hist(speeds, bins=np.linspace(0.0, 25.0, 72), density=True, color="C0", alpha=0.6)
        if collisions > 0.0:
            axes.plot(v, maxwell(v), color="C3", lw=1.0)
        axes.set(title=f"{collisions:g} collisions each", xlim=(0.0, 25.0), xlabel="speed [m/s]")
    for axes in figure.axes[::3]:
        axes.set_ylabel("density [s/m]")
    figure.savefig(file, dpi=110)


def draw_gas(found: Mapping[str, Floats], file: Path) -> None:
    from matplotlib.figure import Figure

    figure = Figure(figsize=(11, 3.8), layout="constrained")
    v = np.linspace(0.0, 25.0, 251)
    for axes, (how, speeds) in zip(figure.subplots(1, 2, sharey=True), found.items(), strict=True):
        axes.hist(speeds, bins=np.linspace(0.0, 25.0, 101), density=True, color="C0", alpha=0.6, label="spheres")
        axes.plot(v, maxwell(v), color="C3", lw=1.2, label="Maxwell and Boltzmann")
        axes.set(title=NAMES[how], xlim=(0.0, 25.0), xlabel="speed [m/s]")
    figure.axes[0].set_ylabel("density [s/m]")
    figure.axes[0].legend()
    figure.savefig(file, dpi=110)
