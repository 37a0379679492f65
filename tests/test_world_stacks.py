"""Bodies upon each other: they stand, carry what lies above them, and do not creep."""

import numpy as np
import pytest

import clearance as cl
from clearance import simulation as sim
from physics import G, H, Z, force_on, place, seconds, turn_between, world_on_ground


def stack(edge, count, contact=None, shift=0.0, turn=0.0, step=H, **given):
    """Return a world with boxes upon each other, each a little beside and turned on the one below."""
    world = world_on_ground(contact, step=step)
    for k in range(count):
        pose = cl.poses.from_axis_angle(Z, k * turn, [shift * edge * (-1) ** k, 0, (k + 0.5) * edge])
        world.add(f"box {k}", cl.Box([edge] * 3), pose, **given)
    return world


def displacements(world, start):
    moved = world.poses[1:, :3, 3] - start[1:, :3, 3]
    turned = [turn_between(a, b) for a, b in zip(world.poses[1:], start[1:], strict=True)]
    return np.linalg.norm(moved, axis=1), np.array(turned)


@pytest.mark.parametrize("edge", [0.1, 1.0])
def test_ten_boxes_stand_for_ten_seconds(edge):
    """Each sinks into the one below by no more than its load falls in a step, and nothing creeps after that.

    Ten contacts carry one to ten boxes: the uppermost goes down by 55 g h² at most, half a millimetre.
    """
    world = stack(edge, 10, shift=0.02, turn=0.05)
    start = world.poses
    half_way = seconds(world, 5.0).poses
    seconds(world, 5.0)
    moved, turned = displacements(world, start)
    assert moved.max() <= 55 * G * H**2
    assert turned.max() <= 55 * G * H**2 / edge
    crept, crept_round = displacements(world, half_way)
    assert crept.max() <= 1e-9
    assert crept_round.max() <= 1e-9
    assert np.abs(world.velocities).max() <= 1e-11


def test_stack_presses_down_with_the_weight_above():
    world = seconds(stack(0.2, 6), 1.0)
    bodies = np.asarray(world.contacts.bodies)
    for k in range(6):
        low, high = world.names.index("ground" if k == 0 else f"box {k - 1}"), world.names.index(f"box {k}")
        up = (bodies == [low, high]).all(axis=1)
        down = (bodies == [high, low]).all(axis=1)
        force = world.contacts.forces[up].sum(axis=0) - world.contacts.forces[down].sum(axis=0)
        above = (6 - k) * world.mass("box 0").mass * G
        assert np.allclose(force, [0, 0, above], rtol=0, atol=1e-6 * above)


def test_soft_stack_sinks_by_the_springs_below():
    """Four springs at the corners carry each box; the lowest carry ten, and all come to rest."""
    world = stack(0.2, 10, sim.Soft(stiffness=1e6), mass=2.0)
    seconds(world, 4.0)
    assert np.abs(world.velocities).max() <= 1e-3
    heights = world.poses[1:, 2, 3]
    sunk = 0.2 * (np.arange(10) + 0.5) - heights
    each = 2.0 * G / (4 * 1e6)
    assert np.allclose(sunk, each * np.cumsum(10 - np.arange(10)), rtol=1e-3, atol=0)


@pytest.mark.parametrize("ratio", [10.0, 100.0])
def test_light_box_carries_a_heavy_one(ratio):
    world = world_on_ground()
    world.add("light", cl.Box([0.5, 0.5, 0.5]), [0, 0, 0.25], mass=1.0)
    world.add("heavy", cl.Box([0.5, 0.5, 0.5]), [0, 0, 0.75], mass=ratio)
    seconds(world, 3.0)
    # Contacts are as stiff as a step can resolve for the lighter body: it gives way by its load in falls of a step.
    assert place(world, "light") == pytest.approx([0, 0, 0.25], abs=(ratio + 1) * G * H**2)
    assert place(world, "heavy") == pytest.approx([0, 0, 0.75], abs=2 * (ratio + 1) * G * H**2)
    assert np.abs(world.velocities).max() <= 1e-6


def test_bodies_dropped_in_a_bin_lie_still_and_apart():
    """They overlap by no more than the fall of a step for each that may lie above."""
    world = world_on_ground(sim.Hard())
    for k, (x, y) in enumerate(((1, 0), (-1, 0), (0, 1), (0, -1))):
        size = [0.2, 2.4, 2.0] if x else [2.4, 0.2, 2.0]
        world.add(f"side {k}", cl.Box(size), [1.1 * x, 1.1 * y, 1.0], motion="fixed")
    rng = np.random.default_rng(6)
    for k in range(25):
        pose = cl.poses.from_wxyz(rng.normal(size=4), [*rng.uniform(-0.6, 0.6, 2), 0.5 + 0.35 * k])
        world.add(f"box {k}", cl.Box([0.4, 0.3, 0.3]), pose)
    seconds(world, 5.0)
    moving = [name for name in world.names if name.startswith("box")]
    places = np.array([place(world, name) for name in moving])
    assert np.abs(places[:, :2]).max() <= 1.0
    assert places[:, 2].min() >= 0.1
    mass = sum(world.mass(name).mass for name in moving)
    assert np.sqrt(2 * world.energy.kinetic / mass) <= 1e-3
    assert world.contacts.depths.max() <= len(moving) * G * H**2
    # Ground and sides together carry them all.
    carried = sum(force_on(world, name) for name in world.names if name not in moving)
    assert np.allclose(carried, [0, 0, -mass * G], rtol=0, atol=1e-3 * mass * G)


@pytest.mark.long
@pytest.mark.parametrize("count", [20, 30])
def test_high_stacks_stand_for_a_minute(count):
    world = stack(0.5, count, shift=0.01)
    start = world.poses
    seconds(world, 60.0)
    moved, turned = displacements(world, start)
    assert moved.max() <= count * (count + 1) / 2 * G * H**2
    assert turned.max() <= 1e-3
    # Thirty iterations carry news about as many boxes far: waves die out slowly.
    assert np.abs(world.velocities).max() <= 1e-4
