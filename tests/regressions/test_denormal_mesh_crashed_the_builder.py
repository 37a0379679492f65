"""The inverse of a unit of 1e-310 is infinite, and triangles went into a bin that does not exist."""

import numpy as np

import clearance as cl


def test_denormal_mesh_crashed_the_builder():
    rng = np.random.default_rng(1)
    mesh = cl.Mesh(1e-310 * rng.normal(size=(60, 3)), rng.integers(0, 60, (40, 3)))
    assert cl.distance(mesh, cl.Sphere(1.0).at([3.0, 0.0, 0.0])).distance == 2.0
