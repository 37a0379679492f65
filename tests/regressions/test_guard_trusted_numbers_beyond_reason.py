"""Brakes too weak to stop within any finite way gave an infinite box, and the guard called it clear."""

import clearance as cl


def test_a_way_without_end_means_stop():
    slide = cl.Robot([cl.Link("rail"), cl.Link("cart", cl.Sphere(0.1))], [cl.Joint("x", "prismatic", "rail", "cart")])
    guard = cl.Guard(slide, {"ball": cl.Sphere(0.1).at([0.0, 0.0, 5.0])}, braking=cl.Braking(deceleration=1e-9))
    verdict = guard.update([0.0], [1e30])
    assert (verdict.stop, verdict.reason) == (True, "input")
    assert not guard.update([0.0], [0.0], command=[0.0]).stop
