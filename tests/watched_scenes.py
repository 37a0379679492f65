"""Scenes with all of their pairs watched, the same scenes built anew, and tables that must be the same."""

import numpy as np

from clearance import Scene, Sphere
from strategies import random_compound, rigid_motions

FLOATS = ("distance", "lower", "upper", "point_a", "point_b", "normal")
COLUMNS = (*FLOATS, "feature_a", "feature_b")


def random_scene(rng, n, parts=3, spread=2.0):
    """Draw a scene of n compounds, with every pair watched; return it with shapes and poses by name."""
    scene = Scene()
    shapes = {f"body {k}": random_compound(rng, parts) for k in range(n)}
    motions = {name: random_pose(rng, spread) for name in shapes}
    for name, shape in shapes.items():
        scene.add(name, shape, motions[name])
    scene.watch_all()
    return scene, shapes, motions


def random_pose(rng, spread=2.0):
    pose = rigid_motions(rng, 1)[0]
    pose[:3, 3] *= spread
    return pose


def rebuilt(scene):
    """Build a scene with the same bodies, poses and pairs, that has never been asked anything."""
    fresh = Scene()
    for name in scene.names:
        fresh.add(name, scene.shape(name), scene.pose(name))
    for a, b in scene.pairs:
        fresh.watch(a, b)
    return fresh


def columns_of(table):
    return {name: np.array(getattr(table, name)) for name in COLUMNS}


def assert_same_table(found, expected, columns=COLUMNS):
    assert (found.name_a, found.name_b) == (expected.name_a, expected.name_b)
    for name in columns:
        assert getattr(found, name).tobytes() == getattr(expected, name).tobytes(), name


def line_of_spheres(names, apart=3.0):
    """Build a scene of unit spheres along x, with every pair watched."""
    scene = Scene()
    for k, name in enumerate(names):
        scene.add(name, Sphere(1.0), [apart * k, 0, 0])
    scene.watch_all()
    return scene
