"""Where two triangles pierce each other, the middle of a clipped line is no point of both; a crossing of an edge is."""

import numpy as np

import clearance as cl
from clearance.elements import closest

A = [[1, -1, 0], [-2, 2, 0], [2, 1, 1]]
B = [[-1, 1, -2], [0, 0, 2], [-2, 2, -2]]


def test_touching_triangles_named_a_point_beside_them():
    gap = cl.distance(cl.Mesh(A, [[0, 1, 2]]), cl.Mesh(B, [[0, 1, 2]]))
    assert gap.distance == 0.0
    for triangle in (A, B):
        assert closest([gap.point_a], np.array(triangle, dtype=float)).distance < 1e-15
