"""Contact sensors: bodies feel who touches them, where, and how hard, everywhere or in a region only."""

import numpy as np
import pytest

import clearance as cl
from clearance import simulation as sim
from physics import G, X, Z, floating, seconds, world_on_ground


def pressed():
    """Return a world with a box on the ground, a ball on the box and a wall beside it."""
    world = world_on_ground()
    world.add("box", cl.Box([1, 1, 1]), [0, 0, 0.5], mass=10.0)
    world.add("ball", cl.Sphere(0.2), [0.3, 0, 1.2], mass=2.0, material=sim.Material(rolling=0.01))
    world.add("far", cl.Sphere(0.2), [5, 0, 3])
    return world


# Who touches whom ----------------------------------------------------------------------------------------------------


def test_touching_names_what_touches():
    world = seconds(pressed(), 0.3)
    assert sorted(world.touching("box")) == ["ball", "ground"]
    assert world.touching("ball") == ["box"]
    assert world.touching("far") == []


def test_touching_in_a_region():
    world = seconds(pressed(), 0.3)
    top, bottom = (cl.Box([1.2, 1.2, 0.2]).at([0, 0, z]) for z in (0.5, -0.5))
    assert sim.ContactSensor("box", top).read(world).bodies == ["ball"]
    assert sim.ContactSensor("box", bottom).read(world).bodies == ["ground"]
    assert sim.ContactSensor("box", cl.Sphere(0.1)).read(world).bodies == []
    assert sim.ContactSensor("box").read(world).bodies == ["ground", "ball"]


def test_before_the_first_step_nothing_touches():
    assert pressed().touching("box") == []


# What a sensor reads -------------------------------------------------------------------------------------------------


def test_sensor_feels_the_weight_that_rests_on_it():
    world = seconds(pressed(), 0.5)
    top = sim.ContactSensor("box", region=cl.Box([1.2, 1.2, 0.2]).at([0, 0, 0.5])).read(world)
    assert top.is_touched
    assert np.allclose(top.force, [0, 0, -2 * G], rtol=0, atol=0.02 * 2 * G)
    assert np.allclose(top.points, [[0.3, 0, 1.0]], rtol=0, atol=5e-3)
    bottom = sim.ContactSensor("box", region=cl.Box([1.2, 1.2, 0.2]).at([0, 0, -0.5])).read(world)
    assert np.allclose(bottom.force, [0, 0, 12 * G], rtol=0, atol=0.02 * 12 * G)
    assert len(bottom.points) == 4


def test_sensor_of_a_whole_body_feels_the_sum():
    world = seconds(pressed(), 0.5)
    felt = sim.ContactSensor("box").read(world)
    assert felt.is_touched
    assert np.allclose(felt.force, [0, 0, 10 * G], rtol=0, atol=0.02 * 10 * G)
    far = sim.ContactSensor("far").read(world)
    assert not far.is_touched
    assert np.array_equal(far.force, np.zeros(3))
    assert far.points.shape == (0, 3)


@pytest.mark.parametrize("angle", [0.0, 0.5, 2.0, 4.0])
def test_region_turns_with_the_body(angle):
    """A bumper on the front of a vehicle feels a post in front of it, not one beside it."""
    world = floating()
    turn = cl.poses.from_axis_angle(Z, angle, [1, 2, 0])
    world.add("robot", cl.Box([1, 0.6, 0.4]), turn, velocity=np.hstack([turn[:3, :3] @ [1, 0, 0], np.zeros(3)]))
    for name, at in (("front", [0.595, 0.1, 0]), ("side", [0.0, 0.395, 0])):
        world.add(name, cl.Cylinder(0.1, 1), (turn @ [*at, 1])[:3], motion="fixed")
    world.step()
    bumper = sim.ContactSensor("robot", region=cl.Box([0.1, 0.6, 0.4]).at([0.5, 0, 0]))
    felt = bumper.read(world)
    assert felt.is_touched
    assert felt.bodies == ["front"]
    assert felt.force @ turn[:3, 0] < 0
    left = sim.ContactSensor("robot", region=cl.Box([1, 0.1, 0.4]).at([0, 0.3, 0])).read(world)
    assert left.is_touched
    assert world.touching("robot") == ["front", "side"]


def test_force_of_an_impact_is_the_momentum_it_takes():
    """A ball of 2 kg stopped from 3 m/s in one step of a millisecond: 6000 N for that step."""
    world = floating(sim.Hard())
    world.add("wall", cl.Box([1, 1, 1]), [1, 0, 0], motion="fixed")
    dull = sim.Material(restitution=0.0, friction=0.0)
    world.add("ball", cl.Sphere(0.1), velocity=[3, 0, 0], mass=2.0, material=dull)
    sensor, impulse = sim.ContactSensor("wall"), np.zeros(3)
    for _ in range(300):
        world.step()
        impulse += 1e-3 * sensor.read(world).force
    assert np.allclose(impulse, [6.0, 0, 0], rtol=0, atol=1e-6)
    assert abs(world.velocity("ball")[0]) <= 1e-6


def test_action_is_reaction():
    world = seconds(pressed(), 0.5)
    ground, box, ball = (sim.ContactSensor(name).read(world).force for name in ("ground", "box", "ball"))
    assert np.allclose(ground + box + ball, 0, rtol=0, atol=1e-9)


@pytest.mark.parametrize(
    ("given", "match"),
    [({"body": "nobody"}, "nobody"), ({"region": "top"}, "region"), ({"region": 3.0}, "region")],
    ids=str,
)
def test_bad_sensors_are_refused(given, match):
    with pytest.raises((KeyError, ValueError, TypeError), match=match):
        sim.ContactSensor(**{"body": "box", **given}).read(pressed())


def test_sensors_feel_kinematic_and_fixed_bodies():
    world = floating()
    world.add("hand", cl.Sphere(0.2), motion="kinematic", velocity=[1.0, 0, 0])
    world.add("egg", cl.Sphere(0.1), [0.31, 0, 0], mass=0.1)
    felt = []
    for _ in range(50):
        world.step()
        felt += world.touching("hand")
    assert set(felt) == {"egg"}
    assert world.velocity("egg")[0] == pytest.approx(1.0, abs=1e-6)
    assert X @ world.velocity("hand")[:3] == 1.0
