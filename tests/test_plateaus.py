"""Parallel faces: everything is as near as the nearest, and that must be seen without opening all of it."""

import numpy as np
import pytest

import clearance as cl
from clearance import poses


def plate(side, volume="obb"):
    """A square of one metre, as 2 side^2 triangles."""
    x = np.linspace(-0.5, 0.5, side + 1)
    vertices = np.stack([*np.meshgrid(x, x, indexing="ij"), np.zeros((side + 1, side + 1))], axis=-1).reshape(-1, 3)
    i, j = np.meshgrid(np.arange(side), np.arange(side), indexing="ij")
    a = (i * (side + 1) + j).ravel()
    b, c, d = a + side + 1, a + side + 2, a + 1
    return cl.Mesh(vertices, np.concatenate([np.stack([a, b, c], 1), np.stack([a, c, d], 1)]), volume)


def turned(rng):
    quaternion = rng.normal(size=4)
    return poses.from_wxyz(quaternion / np.linalg.norm(quaternion), rng.normal(size=3))


@pytest.mark.parametrize("volume", ["obb", "rss"])
@pytest.mark.parametrize("gap", [1e-6, 1e-3, 0.1])
@pytest.mark.parametrize("seed", range(3))
def test_plates_in_parallel_take_little_work(volume, gap, seed):
    rng = np.random.default_rng(seed)
    mesh, world = plate(100, volume), turned(rng)
    lifted = poses.from_translation([*rng.uniform(-0.1, 0.1, 2), gap])
    found = cl.distance(mesh.at(world), mesh.at(world @ lifted))
    assert found.distance == pytest.approx(gap, abs=1e-13)
    assert found.lower <= gap + 1e-14
    assert found.upper >= gap - 1e-14
    assert abs(found.normal @ world[:3, 2]) == pytest.approx(1.0)
    assert found.work.triangle_tests < len(mesh) / 4
    assert found.work.volume_tests < len(mesh) / 4


@pytest.mark.parametrize("solid", [cl.Box([0.8, 0.8, 0.2]), cl.Cylinder(0.4, 0.2)])
def test_solid_over_a_plate_takes_little_work(solid):
    mesh, world = plate(100), turned(np.random.default_rng(5))
    found = cl.distance(mesh.at(world), solid.at(world @ poses.from_translation([0.01, 0.02, 0.15])))
    assert found.distance == pytest.approx(0.05, abs=1e-12)
    assert found.work.triangle_tests < len(mesh) / 4


def test_step_in_a_plateau_is_found():
    """One vertex among ten thousand sticks out by a nanometre: that is where the plates are nearest."""
    flat = plate(100)
    vertices = flat.vertices.copy()
    vertices[5100, 2] = 1e-9
    dented = cl.Mesh(vertices, flat.faces)
    found = cl.distance(dented, flat.at([0.003, 0.002, 0.1]))
    assert found.distance == pytest.approx(0.1 - 1e-9, abs=1e-13)
    assert 5100 in dented.faces[found.feature_a]


def test_walls_of_a_box_inside_a_box_are_all_near():
    """No single plane keeps a drawer from its cupboard; nothing is lost by looking for one."""
    sides = [
        plate(20).at(poses.from_axis_angle(axis, angle) @ poses.from_translation([0, 0, 0.5]))
        for axis, angle in (
            ([1, 0, 0], 0.0),
            ([1, 0, 0], np.pi),
            ([1, 0, 0], np.pi / 2),
            ([1, 0, 0], -np.pi / 2),
            ([0, 1, 0], np.pi / 2),
            ([0, 1, 0], -np.pi / 2),
        )
    ]
    corners = np.concatenate([side.shape.vertices @ side.pose[:3, :3].T + side.pose[:3, 3] for side in sides])
    faces = np.concatenate([side.shape.faces + k * len(side.shape.vertices) for k, side in enumerate(sides)])
    drawer, cupboard = cl.Mesh(corners, faces), cl.Mesh(1.02 * corners, faces)
    assert cl.distance(drawer, cupboard).distance == pytest.approx(0.01, abs=1e-13)
    assert cl.distance(drawer.at([0.004, 0.0, 0.0]), cupboard).distance == pytest.approx(0.006, abs=1e-13)
