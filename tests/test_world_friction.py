"""Blocks hold and slide, balls slip and roll, on slopes and on level ground, as far as mechanics says."""

import numpy as np
import pytest

import clearance as cl
from clearance import simulation as sim
from physics import (
    BLOCK,
    G,
    H,
    X,
    Y,
    material,
    place,
    seconds,
    slope,
    turn_between,
    upright_on,
    way_down,
    world_on_ground,
)


def on_slope(angle, shape, height, friction, *, direction=0.0, contact=None, step=H, **given):
    """Put a body on a slope; return the world and the direction straight down."""
    ground, downhill, normal = slope(angle, direction)
    world = world_on_ground(contact, material=material(friction), ground=ground, step=step)
    given = {"material": material(friction), **given}
    world.add("body", shape, upright_on(normal, downhill, height), **given)
    return world, downhill


@pytest.mark.parametrize("direction", [0.0, 0.7, 2.5])
@pytest.mark.parametrize("friction", [0.2, 0.5, 0.8])
def test_block_holds_below_the_friction_angle(friction, direction):
    world, downhill = on_slope(np.arctan(0.95 * friction), BLOCK, 0.1, friction, direction=direction)
    way, speed = way_down(world, downhill, 3.0)
    # It settles by the fall of a step, once; sliding freely it would get tens of metres far.
    assert abs(way) <= G * H**2
    assert abs(speed) <= 1e-12


@pytest.mark.parametrize("direction", [0.0, 0.7, 2.5])
@pytest.mark.parametrize("friction", [0.0, 0.2, 0.5, 0.8])
def test_block_slides_above_the_friction_angle(friction, direction):
    angle, time = np.arctan(friction) + 0.15, 1.0
    world, downhill = on_slope(angle, BLOCK, 0.1, friction, direction=direction)
    way, speed = way_down(world, downhill, time)
    expected = G * (np.sin(angle) - friction * np.cos(angle))
    assert speed == pytest.approx(expected * time, rel=1e-6)
    assert way == pytest.approx(expected * time**2 / 2, abs=1.1 * expected * H * time / 2)


@pytest.mark.parametrize(("ground", "block"), [(0.4, 0.9), (0.9, 0.4)])
def test_friction_of_two_materials_is_the_root_of_their_product(ground, block):
    angle = 0.7
    hill, downhill, normal = slope(angle)
    world = world_on_ground(material=material(ground), ground=hill)
    world.add("body", BLOCK, upright_on(normal, downhill, 0.1), material=material(block))
    _, speed = way_down(world, downhill, 1.0)
    assert speed == pytest.approx(G * (np.sin(angle) - 0.6 * np.cos(angle)), rel=1e-6)


@pytest.mark.parametrize("contact", [sim.Hard(), sim.Soft(stiffness=1e6)], ids=["hard", "soft"])
def test_soft_and_hard_blocks_slide_alike(contact):
    angle, friction = 0.5, 0.3
    world, downhill = on_slope(angle, BLOCK, 0.1, friction, contact=contact, mass=10.0)
    _, speed = way_down(world, downhill, 1.0)
    assert speed == pytest.approx(G * (np.sin(angle) - friction * np.cos(angle)), rel=0.01)


def test_soft_block_holds_below_the_friction_angle():
    world, downhill = on_slope(np.arctan(0.4), BLOCK, 0.1, 0.5, contact=sim.Soft(stiffness=1e6), mass=10.0)
    seconds(world, 1.0)
    way, _ = way_down(world, downhill, 2.0)
    assert abs(way) <= 1e-9


@pytest.mark.parametrize(("shape", "share"), [(cl.Sphere(0.2), 5 / 7), (cl.Cylinder(0.2, 0.6), 2 / 3)])
def test_round_bodies_roll_down(shape, share):
    """A ball rolls with 5/7 g sin, a cylinder with 2/3 g sin; way and speed are those of rolling without slipping."""
    angle = 0.3
    ground, downhill, normal = slope(angle)
    world = world_on_ground(material=material(0.6), ground=ground)
    pose = upright_on(normal, downhill, 0.2) @ cl.poses.from_axis_angle(X, np.pi / 2)
    world.add("body", shape, pose, material=material(0.6))
    way, speed = way_down(world, downhill, 1.0)
    expected = share * G * np.sin(angle)
    assert speed == pytest.approx(expected, rel=1e-4)
    assert way == pytest.approx(expected / 2, abs=1.1 * expected * H / 2)
    assert np.linalg.norm(world.velocity("body")[3:]) * 0.2 == pytest.approx(speed, rel=1e-4)


def test_ball_on_a_steep_slope_slips():
    """With mu < 2/7 tan it slides with g (sin - mu cos) and spins up with 5/2 mu g cos / r."""
    angle, friction = 0.8, 0.1
    world, downhill = on_slope(angle, cl.Sphere(0.2), 0.2, friction)
    _, speed = way_down(world, downhill, 0.5)
    assert speed == pytest.approx(0.5 * G * (np.sin(angle) - friction * np.cos(angle)), rel=1e-4)
    spin = np.linalg.norm(world.velocity("body")[3:])
    assert spin == pytest.approx(0.5 * 2.5 * friction * G * np.cos(angle) / 0.2, rel=1e-4)


@pytest.mark.parametrize("friction", [0.2, 0.45])
def test_bowling_ball_slides_then_rolls_with_five_sevenths(friction):
    """Its angular momentum about the ground is kept while it slides: whatever the friction, 5/7 of the speed stays."""
    world = world_on_ground(material=material(friction))
    world.add("ball", cl.Sphere(0.11), [0, 0, 0.11], velocity=[7.0, 0, 0], mass=7.0, material=material(friction))
    until = 2 * 7.0 / (7 * friction * G)
    seconds(world, round(0.5 * until, 3))
    assert world.velocity("ball")[0] == pytest.approx(7.0 - friction * G * round(0.5 * until, 3), rel=1e-4)
    seconds(world, round(until, 3))
    assert world.velocity("ball")[0] == pytest.approx(5.0, rel=1e-4)
    assert world.velocity("ball")[4] == pytest.approx(5.0 / 0.11, rel=1e-4)


@pytest.mark.parametrize("rolling", [0.002, 0.01])
def test_rolling_friction_stops_a_ball_after_the_predicted_way(rolling):
    """The torque rolling m g slows 7/5 m r² about the contact: a = 5/7 rolling g / r, and the way is v² / (2 a)."""
    radius, speed = 0.2, 1.0
    world = world_on_ground(material=material(0.8, rolling=rolling))
    rolls = material(0.8, rolling=rolling)
    world.add("ball", cl.Sphere(radius), [0, 0, radius], velocity=[speed, 0, 0, 0, speed / radius, 0], material=rolls)
    slowing = 5 / 7 * rolling * G / radius
    seconds(world, 1.2 * speed / slowing)
    assert np.abs(world.velocity("ball")).max() <= 1e-6
    assert place(world, "ball")[0] == pytest.approx(speed**2 / (2 * slowing), rel=0.01)


def test_ball_that_spins_on_the_spot_is_slowed_by_rolling_friction():
    """The torque rolling m g about the vertical slows 2/5 m r²."""
    radius, rolling, spin = 0.2, 0.01, 20.0
    twists = material(0.8, rolling=rolling)
    world = world_on_ground(material=twists)
    world.add("ball", cl.Sphere(radius), [0, 0, radius], velocity=[0, 0, 0, 0, 0, spin], material=twists)
    seconds(world, 1.0)
    assert world.velocity("ball")[5] == pytest.approx(spin - rolling * G / (0.4 * radius**2), abs=1e-3)
    assert np.linalg.norm(place(world, "ball")[:2]) <= 1e-6


@pytest.mark.parametrize(("share", "stays"), [(0.97, True), (1.03, False)])
def test_load_of_a_turntable_stays_while_friction_holds_it(share, stays):
    """On a disc that turns with w, a load at r needs w² r <= mu g."""
    friction, radius = 0.4, 1.0
    spin = np.sqrt(share * friction * G / radius)
    world = sim.World()
    velocity = [0, 0, 0, 0, 0, spin]
    stuff = {"material": material(friction)}
    world.add("table", cl.Cylinder(3.0, 0.2), [0, 0, -0.1], motion="kinematic", velocity=velocity, **stuff)
    moving = [0, spin * radius, 0, 0, 0, spin]
    world.add("load", cl.Box([0.1, 0.1, 0.05]), [radius, 0, 0.025], velocity=moving, **stuff)
    seconds(world, 4.0)
    crept = np.linalg.norm(place(world, "load")[:2]) - radius
    # Each step goes along the tangent, (w h)² r / 2 outwards; what is not held is metres away.
    assert abs(crept) <= 1.1 * spin**2 * radius * H * 4.0 / 2 if stays else crept >= 0.5


def test_ball_without_rolling_friction_rolls_on():
    world = world_on_ground()
    world.add("ball", cl.Sphere(0.2), [0, 0, 0.2], velocity=[1.0, 0, 0, 0, 5.0, 0])
    seconds(world, 5.0)
    assert world.velocity("ball")[0] == pytest.approx(1.0, rel=1e-3)
    assert place(world, "ball") == pytest.approx([5.0, 0, 0.2], abs=5e-3)


@pytest.mark.parametrize("direction", np.linspace(0, np.pi / 2, 7))
@pytest.mark.parametrize("contact", [sim.Hard(), sim.Soft()], ids=["hard", "soft"])
def test_friction_has_no_favourite_direction(direction, contact):
    """A body that cannot turn slides like a point: straight on, and v² / (2 mu g) far."""
    along, friction, speed = np.array([np.cos(direction), np.sin(direction), 0.0]), 0.5, 3.0
    world = world_on_ground(contact, material=material(friction))
    start = [0, 0, 0.1 - (1.0 * G / 1e5 if isinstance(contact, sim.Soft) else 0.0)]
    heavy_to_turn = {"mass": 1.0, "inertia": 1e9 * np.eye(3)}
    velocity = speed * along
    world.add("body", cl.Sphere(0.1), start, velocity=velocity, material=material(friction), **heavy_to_turn)
    seconds(world, 1.5 * speed / (friction * G))
    way = place(world, "body") - start
    expected = speed**2 / (2 * friction * G)
    assert way @ along == pytest.approx(expected, rel=0.01)
    assert abs(np.cross(along, way)[2]) <= 1e-3 * expected


@pytest.mark.parametrize("ratio", [0.96, 1.04])
def test_box_tips_where_its_centre_leaves_its_foot(ratio):
    """A column twice as high as wide tips at tan = 1/2; on a slope it leaves that angle like exp(t sqrt(g d m / I))."""
    width, height = 0.5, 1.0
    angle = np.arctan(ratio * width / height)
    world, _ = on_slope(angle, cl.Box([width, width, height]), height / 2, 2.0)
    start = world.pose("body")
    seconds(world, 2.5)
    turned = turn_between(world.pose("body"), start)
    assert turned <= 5e-3 if ratio < 1 else turned >= 0.5


@pytest.mark.parametrize(("share", "stands"), [(1.05, True), (0.95, False)])
def test_ladder_stands_if_friction_holds_its_foot(share, stands):
    """Against a smooth wall it needs mu (l cos + r) >= l sin / 2: the moment of its weight about its foot."""
    lean, length, radius = 0.5, 2.0, 0.05
    least = length * np.sin(lean) / (2 * (length * np.cos(lean) + radius))
    rough = material(share * least)
    world = world_on_ground(material=rough)
    world.add(
        "wall", cl.HalfSpace(-X, 0.0), cl.poses.from_translation([2, 0, 0]), motion="fixed", material=material(0.0)
    )
    middle = [2.0 - radius - length / 2 * np.sin(lean), 0, radius + length / 2 * np.cos(lean)]
    world.add("ladder", cl.Capsule(radius, length), cl.poses.from_axis_angle(Y, lean, middle), material=rough)
    start = place(world, "ladder")
    seconds(world, 1.5)
    sunk = start[2] - place(world, "ladder")[2]
    assert sunk <= 1e-3 if stands else sunk >= 0.1
