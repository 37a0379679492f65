"""Bodies that never move are measured once; asked again, their distance was given although it exceeded `at_most`."""

from math import inf

import clearance as cl


def test_bodies_that_stand_still_passed_the_limit():
    scene = cl.Scene()
    for name, x in (("base", 0.0), ("hand", 20.0), ("wall", 7.0)):
        scene.add(name, cl.Box([1.0, 1.0, 1.0]), pose=[x, 0.0, 0.0])
    for step in range(3):
        scene.move("hand", [20.0 + step, 0.0, 0.0])
        found = scene.nearest(["base", "hand"], "wall", at_most=2.0)
        assert found.distance == inf
        assert found.lower > 2.0
        assert (found.body_a, found.body_b) == ("", "")
        assert scene.nearest(["base", "hand"], "wall").distance == 6.0
