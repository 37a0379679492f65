"""A mesh smaller than the rounding of its place was found nowhere: its distance was infinite, whatever touched it."""

import numpy as np

import clearance as cl


def test_point_as_a_mesh_touches_a_point():
    dust = cl.Mesh(np.array([[-875.0, 0.0, -500.0]] * 3), [[0, 1, 2]])
    placed = cl.Compound([dust.at([249.30492035209184, -1000.0, -899.88182781718103])]).at([-1.5132800331254317] * 3)
    point = cl.SweptPoint([0.0, 0.0, 0.0], 0.0).at([-627.20835968103358, -1001.5132800331253, -1401.3951078503062])
    for gap in (cl.distance(placed, point), cl.distance(point, placed)):
        assert gap.lower <= gap.distance <= gap.upper < 1e-11


def test_dust_anywhere_touches_what_is_where_it_is():
    rng = np.random.default_rng(0)
    for _ in range(300):
        own, at, moved = (1000.0 * rng.normal(size=3) for _ in range(3))
        dust = cl.Compound([cl.Mesh([own] * 3, [[0, 1, 2]]).at(at)]).at(moved)
        gap = cl.distance(dust, cl.SweptPoint([0.0, 0.0, 0.0], 0.0).at(own + at + moved))
        assert gap.upper < 1e-11
