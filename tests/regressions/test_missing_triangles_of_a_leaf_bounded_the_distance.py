"""Leaves are filled up with triangles far away, at 1e16 units; those were nearer than a mesh that is farther still."""

import pytest

import clearance as cl


def test_missing_triangles_of_a_leaf_bounded_the_distance():
    triangle = cl.Mesh([[0, 0, 0], [1, 0, 0], [0, 1, 0]], [[0, 1, 2]])
    found = cl.distance(triangle, triangle.at([-5e16, -5e16, -5e16]))
    assert found.distance == pytest.approx(5e16 * 3**0.5, rel=1e-12)
