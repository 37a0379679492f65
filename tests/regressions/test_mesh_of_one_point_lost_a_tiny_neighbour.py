"""A mesh without extent has units of a metre, in which the squares of 1e-25 vanish: the nearest triangle was lost."""

import pytest

import clearance as cl


def test_mesh_of_one_point_lost_a_tiny_neighbour():
    point = cl.Mesh([[0, 0, 0]], [[0, 0, 0]])
    tiny = cl.Mesh([[0, 0, 0], [1e-25, 0, 0], [0, 1e-25, 0]], [[0, 1, 2]])
    assert cl.distance(tiny, point.at([1e-25, 1e-25, 0])).distance == pytest.approx(0.5**0.5 * 1e-25, rel=1e-9)
