"""Bodies that bounce: restitution gives their height and speed, elastic ones exchange their motion."""

import numpy as np
import pytest

import clearance as cl
from clearance import simulation as sim
from physics import G, H, X, Y, Z, floating, material, place, seconds, world_on_ground


@pytest.mark.parametrize("restitution", [0.0, 0.3, 0.7, 1.0])
@pytest.mark.parametrize("shape", [cl.Sphere(0.1), cl.Box([0.2, 0.2, 0.2])], ids=["ball", "box"])
def test_height_of_a_bounce_is_the_square_of_restitution(shape, restitution):
    step, drop = 1e-4, 1.0
    world = world_on_ground(material=material(0.0, restitution), step=step)
    world.add("body", shape, [0, 0, 0.1 + drop], material=material(0.0, restitution))
    fall = np.sqrt(2 * drop / G)
    seconds(world, fall + 0.5 * restitution * fall)
    highest = 0.0
    for _ in range(round(restitution * fall / step)):
        world.step()
        highest = max(highest, place(world, "body")[2] - 0.1)
    # The hit is felt up to a step late, v h too deep and g h too fast; both count on the way down and up.
    assert highest == pytest.approx(restitution**2 * drop, abs=2 * G * fall * step)


@pytest.mark.parametrize(("a", "b"), [(0.0, 0.6), (0.6, 0.0), (0.6, 0.6)])
def test_restitution_of_two_materials_is_the_larger(a, b):
    world = floating()
    world.add("wall", cl.Box([1, 1, 1]), [1, 0, 0], motion="fixed", material=material(0.0, a))
    world.add("ball", cl.Sphere(0.1), velocity=[2.0, 0, 0], material=material(0.0, b))
    seconds(world, 0.5)
    assert world.velocity("ball")[0] == pytest.approx(-0.6 * 2.0, rel=1e-9)


@pytest.mark.parametrize("contact", [sim.Elastic(), sim.Hard()], ids=["elastic", "hard"])
@pytest.mark.parametrize("masses", [(1.0, 1.0), (1.0, 3.0), (5.0, 0.2)])
def test_balls_that_meet_head_on_exchange_their_motion(masses, contact):
    world, (m, n) = floating(contact), masses
    bounces = material(0.0, 1.0)
    world.add("a", cl.Sphere(0.1), [-1, 0, 0], velocity=[2.0, 0, 0], mass=m, material=bounces)
    world.add("b", cl.Sphere(0.1), [1, 0, 0], velocity=[-1.0, 0, 0], mass=n, material=bounces)
    seconds(world, 1.0)
    centre = (2.0 * m - 1.0 * n) / (m + n)
    assert world.velocity("a")[0] == pytest.approx(2 * centre - 2.0, rel=1e-9, abs=1e-9)
    assert world.velocity("b")[0] == pytest.approx(2 * centre + 1.0, rel=1e-9, abs=1e-9)


@pytest.mark.parametrize("offset", [0.05, 0.1, 0.15])
def test_balls_that_graze_part_at_a_right_angle(offset):
    """Equal balls without friction, one at rest: the blow goes along the line of centres, and v1 . v2 = 0."""
    world = floating(sim.Elastic(), step=1e-4)
    world.add("a", cl.Sphere(0.1), [-1, offset, 0], velocity=[2.0, 0, 0])
    world.add("b", cl.Sphere(0.1))
    seconds(world, 1.0)
    a, b = world.velocity("a")[:3], world.velocity("b")[:3]
    assert a @ b == pytest.approx(0.0, abs=1e-9)
    assert a @ a + b @ b == pytest.approx(4.0, rel=1e-9)
    # They are felt up to v h too late, which turns the line of centres by about v h / (2 r cos).
    aim = np.arcsin(offset / 0.2)
    assert np.arctan2(-b[1], b[0]) == pytest.approx(aim, abs=2.0 * 1e-4 / (0.2 * np.cos(aim)))


@pytest.mark.parametrize("pushed", [1, 2])
def test_newtons_cradle(pushed):
    """As many leave on the far side as came, all others stand; balls a little apart meet one by one."""
    world = floating(sim.Elastic(), step=1e-4)
    for k in range(5):
        speed = 1.0 if k < pushed else 0.0
        world.add(f"ball {k}", cl.Sphere(0.1), [0.2005 * k, 0, 0], velocity=[speed, 0, 0])
    seconds(world, 0.2)
    expected = np.where(np.arange(5) >= 5 - pushed, 1.0, 0.0)
    assert np.allclose(world.velocities[:, 0], expected, rtol=0, atol=1e-9)
    assert np.allclose(world.velocities[:, 1:], 0, rtol=0, atol=1e-9)


def test_elastic_ball_between_walls_keeps_its_speed():
    world = floating(sim.Elastic())
    for k, normal in enumerate((X, -X, Y, -Y, Z, -Z)):
        world.add(f"wall {k}", cl.HalfSpace(normal, -1.0), motion="fixed")
    world.add("ball", cl.Sphere(0.1), velocity=[3.0, 4.0, 12.0])
    for _ in range(50):
        world.step(200)
        assert np.linalg.norm(world.velocity("ball")[:3]) == pytest.approx(13.0, rel=1e-9)
        assert np.abs(place(world, "ball")).max() <= 0.9 + 12.0 * H
