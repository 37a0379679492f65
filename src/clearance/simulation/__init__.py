"""Worlds of rigid bodies, and vehicles and scenarios in them."""

from .contact_sensors import ContactSensor, Touch
from .masses import Mass, mass_of
from .materials import Elastic, Hard, Material, Soft
from .world import World
from .world_results import Energy, Momentum, WorldContacts, WorldWork

__all__ = [
    "ContactSensor",
    "Elastic",
    "Energy",
    "Hard",
    "Mass",
    "Material",
    "Momentum",
    "Soft",
    "Touch",
    "World",
    "WorldContacts",
    "WorldWork",
    "mass_of",
]
