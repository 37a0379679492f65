"""Worlds of rigid bodies, and vehicles in them. Scenario files and recordings are in modules of their own here."""

from . import experiments, models
from .ackermann import Ackermann
from .contact_sensors import ContactSensor, Touch
from .descriptions import Model, ModelBody, ModelJoint, Mount
from .differential_drive import Caster, DifferentialDrive
from .distributed import DistributedParticles
from .driving import AckermannHandle, DifferentialHandle, Handle
from .masses import Mass, mass_of
from .materials import Elastic, Hard, Material, Soft
from .particle_kinds import ParticleContacts, ParticleWork
from .particles import Particles
from .world import World
from .world_results import Energy, Momentum, WorldContacts, WorldWork

__all__ = [
    "Ackermann",
    "AckermannHandle",
    "Caster",
    "ContactSensor",
    "DifferentialDrive",
    "DifferentialHandle",
    "DistributedParticles",
    "Elastic",
    "Energy",
    "Handle",
    "Hard",
    "Mass",
    "Material",
    "Model",
    "ModelBody",
    "ModelJoint",
    "Momentum",
    "Mount",
    "ParticleContacts",
    "ParticleWork",
    "Particles",
    "Soft",
    "Touch",
    "World",
    "WorldContacts",
    "WorldWork",
    "experiments",
    "mass_of",
    "models",
]
