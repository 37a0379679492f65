"""Worlds of a few bodies, and what mechanics says about them in closed form.

A step of semi-implicit Euler adds h a to the velocity before the body moves. Under a constant acceleration a the
velocity is then exact, and the place after a time T is off by a h T / 2: every tolerance below is built from that.
"""

import hashlib

import numpy as np

import clearance as cl
from clearance import simulation as sim

X, Y, Z = np.eye(3)
G = 9.81
H = 1e-3  # the step of a world that is told no other
GROUND = cl.HalfSpace(Z, 0.0)
BLOCK = cl.Box([0.6, 0.5, 0.2])
MODELS = {"hard": sim.Hard(), "soft": sim.Soft(), "elastic": sim.Elastic()}

# One body of every kind that has an inside, off the centre of its frame where a kind allows it.
CORNERS = np.array([[0.3, 0.1, -0.2], [-0.2, 0.2, -0.1], [0.0, -0.3, -0.2], [0.1, 0.1, 0.4], [-0.2, -0.1, 0.2]])
SHAPES = {
    "sphere": cl.Sphere(0.3),
    "box": cl.Box([0.4, 0.5, 0.6]),
    "capsule": cl.Capsule(0.2, 0.5),
    "cylinder": cl.Cylinder(0.25, 0.5),
    "cone": cl.Cone(0.3, 0.6),
    "ellipsoid": cl.Ellipsoid([0.2, 0.3, 0.4]),
    "hull": cl.ConvexHull(CORNERS),
    "rounded hull": cl.ConvexHull(CORNERS, 0.1),
    "swept triangle": cl.SweptTriangle([0.0, 0.0, 0.1], [0.4, 0.0, 0.0], [0.0, 0.5, 0.0], 0.12),
    "compound": cl.Compound([cl.Box([0.6, 0.2, 0.2]).at([0.2, 0.0, 0.0]), cl.Sphere(0.2).at([0.0, 0.3, 0.0])]),
}


def material(friction=0.5, restitution=0.0, rolling=0.0):
    return sim.Material(friction=friction, restitution=restitution, rolling=rolling)


def world_on_ground(contact=None, *, material=None, ground=GROUND, **settings):
    """Return a world whose floor is called ground."""
    world = sim.World(contact=contact or sim.Hard(), **settings)
    world.add("ground", ground, motion="fixed", material=material or sim.Material())
    return world


def floating(contact=None, **settings):
    """Return a world without gravity."""
    return sim.World(gravity=(0, 0, 0), contact=contact or sim.Hard(), **settings)


def fingerprint(world):
    """Return a hash of everything that moves."""
    parts = [np.ascontiguousarray(part).tobytes() for part in (world.poses, world.velocities, np.float64(world.time))]
    return hashlib.sha256(b"".join(parts)).hexdigest()


def place(world, name):
    return world.pose(name)[:3, 3]


def seconds(world, time):
    """Step for a while, and return the world."""
    world.step(round(time / world.step_length))
    return world


def tumbling(world):
    """Return by how much the energy of free bodies may come and go: turns of w h are right to their square."""
    spins = np.linalg.norm(world.velocities[:, 3:], axis=1)
    return world.energy.kinetic * (spins.max(initial=0.0) * world.step_length) ** 2


def turn_between(a, b):
    """Return the angle between two orientations."""
    rotation = a[:3, :3].T @ b[:3, :3]
    axis = [rotation[2, 1] - rotation[1, 2], rotation[0, 2] - rotation[2, 0], rotation[1, 0] - rotation[0, 1]]
    return np.arctan2(np.linalg.norm(axis), np.trace(rotation) - 1)


def slope(angle, direction=0.0):
    """Return a half-space through the origin, the direction straight down it, and its normal.

    The slope falls by `angle` towards `direction`, an angle about the vertical.
    """
    level = np.array([np.cos(direction), np.sin(direction), 0.0])
    normal = np.sin(angle) * level + np.cos(angle) * Z
    return cl.HalfSpace(normal, 0.0), np.cos(angle) * level - np.sin(angle) * Z, normal


def upright_on(normal, downhill, height):
    """Return a pose whose z stands on a slope and whose x points down it, `height` above the slope."""
    pose = np.eye(4)
    pose[:3, :3] = np.column_stack([downhill, np.cross(normal, downhill), normal])
    pose[:3, 3] = height * normal
    return pose


def way_down(world, downhill, time):
    """Return how far a body gets along a direction in a time, and how fast it is then."""
    start = place(world, "body")
    seconds(world, time)
    return (place(world, "body") - start) @ downhill, world.velocity("body")[:3] @ downhill


def force_on(world, name):
    """Return the sum of the contact forces on a body in the last step."""
    k, contacts = world.names.index(name), world.contacts
    bodies = np.asarray(contacts.bodies)
    return contacts.forces[bodies[:, 1] == k].sum(axis=0) - contacts.forces[bodies[:, 0] == k].sum(axis=0)


def drawn_bodies(world, rng, count, spread, speed, material=None):
    """Throw bodies of every kind, apart from each other, from within a ball of a radius towards its middle."""
    kinds, names, places = list(SHAPES), [], []
    while len(places) < count:
        place = spread * rng.uniform(-1, 1, 3)
        if np.linalg.norm(place) <= spread and all(np.linalg.norm(place - other) > 1.2 for other in places):
            places.append(place)
    for k, place in enumerate(places):
        pose = cl.poses.from_wxyz(rng.normal(size=4), place)
        aimed = -speed * place / spread + 0.2 * speed * rng.normal(size=3)
        velocity = np.hstack([aimed, rng.normal(size=3)])
        names.append(f"{kinds[k % len(kinds)]} {k}")
        shape = SHAPES[kinds[k % len(kinds)]]
        world.add(names[-1], shape, pose, velocity=velocity, material=material or sim.Material())
    return names
