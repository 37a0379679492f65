"""No bound holds for how far the points of a half-space move when it turns."""

import clearance as cl


def test_turning_half_space_is_never_proved_clear():
    plate = cl.Link("plate", cl.HalfSpace([1.0, 0.0, 0.0], -1.0))
    door = cl.Robot([cl.Link("wall"), plate], [cl.Joint("hinge", "revolute", "wall", "plate")])
    report = cl.check_path(door, cl.Sphere(0.1), [[0.0], [3.0]])
    assert report.lower <= 0.9 <= report.upper + 1e-9
    far = cl.check_path(door, cl.Sphere(0.1).at([100.0, 0.0, 0.0]), [[0.0], [3.0]])
    assert not far.clear
