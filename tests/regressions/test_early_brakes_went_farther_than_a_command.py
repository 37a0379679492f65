"""A command that slows down harder than the brakes do was taken to last for the whole latency."""

import clearance as cl

CART = cl.Robot(
    [cl.Link("rail"), cl.Link("cart", cl.Sphere(0.1))], [cl.Joint("x", "prismatic", "rail", "cart", axis=[1, 0, 0])]
)


def test_brakes_that_act_before_they_have_to_are_covered():
    braking = cl.Braking(latency=0.02, acceleration=100.0, deceleration=20.0)
    _, high = braking.intervals(CART, [0.68], [3.0], command=[-100.0])
    half_way = 0.68 + 3.0 * 0.01 - 100.0 * 0.01**2 / 2  # the command for 10 ms, then the brakes
    assert high[0] >= half_way + 2.0**2 / (2 * 20.0)
