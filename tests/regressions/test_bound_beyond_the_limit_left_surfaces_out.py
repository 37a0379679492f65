"""A bound beyond what was asked for must hold for surfaces as well."""

import clearance as cl


def test_bound_of_a_body_with_a_point_and_a_surface():
    near = cl.Mesh([[0.3, 0.0, 0.0], [0.3, 1.0, 0.0], [0.3, 0.0, 1.0]], [[0, 1, 2]])
    body = cl.Compound([cl.SweptPoint([-0.5, 0.0, 0.0], 0.0), near])
    gap = cl.distance(cl.SweptPoint([0.0, 0.0, 0.0], 0.0), body, at_most=0.2)
    assert 0.2 < gap.lower <= 0.3
