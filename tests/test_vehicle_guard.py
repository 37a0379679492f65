"""No vehicle that moves as its braking model says leaves the area that is guarded, or meets what is called clear."""

import importlib.util
import math
from pathlib import Path

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import clearance as cl
from vehicles import (
    BOX,
    FOOTPRINTS,
    distances,
    farthest_outside_of,
    footprint_hulls,
    model,
    outline,
    outside_of,
    placed,
    poses_along,
    ways,
)

MOTIONS = {
    "standing": (0.0, 0.0, 0.0),
    "straight": (1.5, 0.0, 0.0),
    "backwards": (-1.0, 0.0, -0.3),
    "on the spot": (0.0, 0.0, 2.5),
    "tight arc": (0.6, 0.0, -2.0),
    "wide arc": (2.0, 0.0, 0.7),
    "sideways": (0.0, 1.2, 0.0),
    "sideways and turning": (-0.5, -1.0, 1.2),
    "creeping": (0.02, 0.0, 0.01),
    "hardly sideways": (1.98, -1.4e-45, 0.89),
    "hardly forwards": (1.6e-113, -3.2e-291, -2.2),
}
every_motion = pytest.mark.parametrize("velocity", MOTIONS.values(), ids=MOTIONS)
every_path = pytest.mark.parametrize("path", ["arc", "any"])
POSE = np.array([3.0, -2.0, 2.2])
NOTHING = [[1e3, 1e3]]
ROUNDING = 1e-9  # metres: of the simulation


def twists():
    return st.tuples(*(st.floats(-most, most) for most in (2.0, 1.5, 3.0)))


def farthest_outside(footprint, braking, velocity, rng, count, pieces=8, command=None):
    guard = cl.VehicleGuard(footprint, NOTHING, braking=braking, pieces=pieces)
    guard.update(POSE, velocity, command=command)
    poses, _ = poses_along(*ways(rng, braking, velocity, count, command), POSE)
    return farthest_outside_of(guard.swept(), placed(outline(footprint), poses).reshape(-1, 2))


@every_path
@every_motion
@pytest.mark.parametrize("footprint", FOOTPRINTS.values(), ids=FOOTPRINTS)
def test_no_way_to_rest_leaves_the_swept_area(footprint, velocity, path):
    rng = np.random.default_rng(1)
    assert farthest_outside(footprint, model(path), velocity, rng, count=8) <= ROUNDING


@every_path
@settings(max_examples=40, deadline=None)
@given(
    velocity=twists(),
    latency=st.sampled_from([0.0, 0.05, 0.5]),
    pieces=st.sampled_from([1, 3, 20]),
    seed=st.integers(0, 2**32 - 1),
)
def test_no_drawn_way_to_rest_leaves_the_swept_area(path, velocity, latency, pieces, seed):
    rng = np.random.default_rng(seed)
    braking = model(path, latency, rng.uniform(0.0, 3.0, 3) * rng.integers(0, 2, 3), rng.uniform(0.5, 6.0, 3))
    footprint = list(FOOTPRINTS.values())[rng.integers(len(FOOTPRINTS))]
    assert farthest_outside(footprint, braking, velocity, rng, count=8, pieces=pieces) <= ROUNDING


@pytest.mark.long
@every_path
def test_no_way_of_many_vehicles_leaves_the_swept_area(path):
    rng = np.random.default_rng(2)
    for _ in range(150):
        braking = model(path, rng.choice([0.02, 0.2, 0.7]), rng.exponential(2.0, 3), 0.3 + rng.exponential(3.0, 3))
        footprint = list(FOOTPRINTS.values())[rng.integers(len(FOOTPRINTS))]
        velocity = rng.normal(size=3) * [1.5, 1.0, 2.0] * rng.choice([0.01, 1.0, 2.0])
        pieces = int(rng.integers(1, 30))
        assert farthest_outside(footprint, braking, velocity, rng, count=40, pieces=pieces) <= ROUNDING


@every_path
@every_motion
def test_no_way_with_a_command_leaves_the_swept_area(velocity, path):
    rng = np.random.default_rng(3)
    for _ in range(5):
        braking = model(path, latency=0.3, command_error=rng.uniform(0.0, 0.5, 3))
        command = rng.uniform(-4.0, 4.0, 3)
        assert farthest_outside(BOX, braking, velocity, rng, count=10, command=command) <= ROUNDING


@every_motion
def test_a_vehicle_that_brakes_early_stays_in_the_area(velocity):
    rng = np.random.default_rng(4)
    late, guard = model(latency=0.4), cl.VehicleGuard(BOX, NOTHING, braking=model(latency=0.4))
    guard.update(POSE, velocity)
    for latency in (0.0, 0.1, 0.3):
        early = model(latency=latency, acceleration=late.acceleration, deceleration=late.deceleration)
        poses, _ = poses_along(*ways(rng, early, velocity, 15), POSE)
        assert farthest_outside_of(guard.swept(), placed(outline(BOX), poses).reshape(-1, 2)) <= ROUNDING


@every_path
@pytest.mark.parametrize("velocity", [(1.5, 0.0, 0.0), (1.0, 0.0, 1.0)])
def test_drawn_ways_come_near_the_edge_of_the_area(path, velocity):
    """The ways of the tests above go to extremes: otherwise they would show little."""
    guard = cl.VehicleGuard(BOX, NOTHING, braking=model(path))
    guard.update(POSE, velocity)
    poses, _ = poses_along(*ways(np.random.default_rng(5), model(path), velocity, 100), POSE)
    assert outside_of(guard.swept(), placed(np.array(BOX), poses[:, -1]).reshape(-1, 2)).max() > -0.03


def areas_near(rng, guard):
    """Points around the swept area, most of them near its edge."""
    corners = np.concatenate([points for points, _ in guard.swept()])
    return corners[rng.integers(len(corners))] + 0.25 * rng.normal(size=2)


@every_path
def test_lower_bounds_hold_and_nothing_clear_is_ever_met(path):
    rng = np.random.default_rng(6)
    hits = cleared = 0
    for k in range(60):
        footprint = list(FOOTPRINTS.values())[k % len(FOOTPRINTS)]
        velocity = rng.normal(size=3) * [1.5, 0.8, 1.5]
        braking, margin = model(path), 0.05 * (k % 2)
        finder = cl.VehicleGuard(footprint, NOTHING, braking=braking)
        finder.update(POSE, velocity)
        obstacle = areas_near(rng, finder)
        verdict = cl.VehicleGuard(footprint, [obstacle], braking=braking, margin=margin).update(POSE, velocity)
        poses, times = poses_along(*ways(rng, braking, velocity, 40), POSE)
        found = distances(footprint, poses.reshape(-1, 3), obstacle)
        assert verdict.lower <= found.min() + ROUNDING
        assert verdict.distance == pytest.approx(distances(footprint, POSE[None], obstacle)[0], abs=ROUNDING)
        assert verdict.stop != (verdict.lower > margin or verdict.reason == "receding")
        within = found <= margin
        hits += bool(within.any())
        cleared += not verdict.stop
        if within.any():
            assert verdict.stop or verdict.distance <= margin
            assert verdict.time_to_contact <= times.reshape(-1)[within].min() + ROUNDING
    assert 0.3 < hits / 60 < 0.7
    assert cleared > 15


def test_scan_and_world_tell_the_same():
    rng = np.random.default_rng(7)
    points = rng.uniform(-6.0, 6.0, size=(500, 2))
    points = points[np.linalg.norm(points, axis=1) > 1.2]
    world = placed(points, POSE)
    for velocity in MOTIONS.values():
        by_scan = cl.VehicleGuard(BOX, braking=model()).update(POSE, velocity, scan=points)
        by_map = cl.VehicleGuard(BOX, world, braking=model()).update(POSE, velocity)
        assert by_scan.lower == pytest.approx(by_map.lower, abs=ROUNDING)
        assert by_scan.index == by_map.index
        np.testing.assert_allclose(by_scan.point, world[by_map.index], atol=ROUNDING)


@every_motion
def test_verdict_names_the_nearest_of_all(velocity):
    rng = np.random.default_rng(8)
    points = rng.uniform(-8.0, 8.0, size=(400, 2))
    guard = cl.VehicleGuard(BOX, points, braking=model())
    verdict = guard.update(POSE, velocity)
    expected = outside_of(guard.swept(), points)
    assert verdict.lower == pytest.approx(expected.min(), abs=ROUNDING)
    assert verdict.index == expected.argmin()


@every_path
@every_motion
def test_point_and_swept_point_are_as_far_apart_as_told(velocity, path):
    outlines = [[[5.0, -1.0], [5.0, 4.0]], [[8.0, 8.0]], [[-3.0, -9.0], [2.0, -9.0], [0.0, -7.0]]]
    verdict = cl.VehicleGuard(FOOTPRINTS["rounded"], outlines, braking=model(path)).update(POSE, velocity)
    np.testing.assert_allclose(verdict.point - verdict.swept_point, verdict.lower * verdict.normal, atol=ROUNDING)
    assert np.linalg.norm(verdict.normal) == pytest.approx(1.0)


def test_walls_and_solids_are_as_near_as_their_points():
    rng = np.random.default_rng(9)
    for k in range(40):
        a, b, c = rng.uniform(-4.0, 4.0, size=(3, 2)) + POSE[:2]
        share = np.linspace(0.0, 1.0, 4001)[:, None]
        velocity = list(MOTIONS.values())[k % len(MOTIONS)]
        wall, dots = (
            cl.VehicleGuard(FOOTPRINTS["rounded"], o, braking=model()).update(POSE, velocity)
            for o in ([[a, b]], a + share * (b - a))
        )
        spacing = np.linalg.norm(b - a) / 4000
        # A point that overlaps reaches the edge sooner than a whole wall does.
        assert wall.lower <= dots.lower + ROUNDING
        if wall.lower > 0.0:
            assert wall.lower >= dots.lower - spacing
        assert (wall.lower <= 0.0) == (dots.lower <= 0.5 * spacing) or abs(wall.lower) < spacing
        solid = cl.VehicleGuard(FOOTPRINTS["rounded"], [[a, b, c]], braking=model()).update(POSE, velocity)
        assert solid.lower <= wall.lower + ROUNDING


def test_a_vehicle_inside_of_a_solid_has_to_stop():
    ring = 20.0 * np.array([[math.cos(t), math.sin(t)] for t in np.linspace(0.0, 6.0, 30)])
    bay = [[-9, -9], [9, -9], [9, 9], [5, 9], [5, -5], [-5, -5], [-5, 9], [-9, 9]]  # a U around the vehicle
    inside = cl.VehicleGuard(BOX, [ring], braking=model()).update([0, 0, 0], [0.3, 0, 0])
    assert inside.stop
    assert inside.reason == "obstacle"
    assert inside.distance <= inside.lower < 0.0
    around = cl.VehicleGuard(BOX, [bay], braking=model()).update([0, 0, 0], [0.3, 0, 0])
    assert not around.stop
    assert around.lower == pytest.approx(5.0 - 0.55, abs=0.15)


def test_braking_distance_is_exact_on_a_straight_line():
    braking = model(latency=0.2, acceleration=[1.0, 0.0, 0.0], deceleration=[2.0, 1.0, 1.0])
    verdict = cl.VehicleGuard(BOX, [[4.0, 0.1]], braking=braking).update([0, 0, 0], [1.5, 0, 0])
    reached = 1.5 + 0.2 * 1.0
    assert verdict.lower == pytest.approx(4.0 - 0.5 - (0.5 * (1.5 + reached) * 0.2 + reached**2 / 4.0), abs=1e-9)


@pytest.mark.parametrize("velocity", [(1.5, 0.0, 1.2), (0.0, 0.0, 2.5), (0.7, -0.6, -1.5)])
def test_area_of_a_known_arc_is_hardly_larger_than_what_is_swept(velocity):
    braking = model(latency=0.0, acceleration=[0, 0, 0])
    rng = np.random.default_rng(10)
    poses, _ = poses_along(*ways(rng, braking, velocity, 20), steps=60)
    for obstacle in rng.uniform(-2.5, 2.5, size=(40, 2)):
        nearest = distances(BOX, poses.reshape(-1, 3), obstacle).min()
        if nearest < 0.02:
            continue
        verdict = cl.VehicleGuard(BOX, [obstacle], braking=braking, pieces=32).update([0, 0, 0], velocity)
        assert nearest - 0.02 <= verdict.lower <= nearest + ROUNDING


def test_inside_of_a_curve_stays_free():
    braking = model(latency=0.02, acceleration=[0.5, 0.0, 0.5], deceleration=[1.0, 1.0, 1.0])
    start, velocity = [0.0, 0.0, 0.0], [2.0, 0.0, 1.0]  # about (0, 2), a third of a turn
    post = [0.9, 1.0]
    guard = cl.VehicleGuard(BOX, [post], braking=braking, pieces=16)
    assert not guard.update(start, velocity).stop
    one = cl.VehicleGuard(BOX, [post], braking=braking, pieces=1).update(start, velocity)
    assert one.stop


@every_path
@settings(max_examples=25, deadline=None)
@given(velocity=twists(), seed=st.integers(0, 2**32 - 1))
def test_left_and_right_are_the_same(path, velocity, seed):
    rng = np.random.default_rng(seed)
    points = rng.uniform(-4.0, 4.0, size=(20, 2))
    footprint, flip = np.asarray(FOOTPRINTS["off centre"]), np.array([1.0, -1.0])
    here = cl.VehicleGuard(footprint, points, braking=model(path)).update([0.0, 0.0, 0.3], velocity)
    there = cl.VehicleGuard(footprint * flip, points * flip, braking=model(path)).update(
        [0.0, 0.0, -0.3], np.asarray(velocity) * [1.0, -1.0, -1.0]
    )
    assert there.lower == pytest.approx(here.lower, abs=1e-9)
    assert (there.stop, there.index) == (here.stop, here.index)


@every_path
@settings(max_examples=25, deadline=None)
@given(velocity=twists(), seed=st.integers(0, 2**32 - 1))
def test_verdict_does_not_depend_on_the_observer(path, velocity, seed):
    rng = np.random.default_rng(seed)
    points = rng.uniform(-4.0, 4.0, size=(20, 2))
    motion = np.array([*rng.uniform(-50.0, 50.0, 2), rng.uniform(-9.0, 9.0)])
    here = cl.VehicleGuard(BOX, points, braking=model(path)).update([0.0, 0.0, 0.0], velocity)
    there = cl.VehicleGuard(BOX, placed(points, motion), braking=model(path)).update(motion, velocity)
    assert there.lower == pytest.approx(here.lower, abs=1e-9)
    np.testing.assert_allclose(there.swept_point, placed(here.swept_point[None], motion)[0], atol=1e-6)


@every_path
def test_a_turn_that_fades_ends_in_a_straight_line(path):
    guard = cl.VehicleGuard(BOX, [[2.5, 0.6]], braking=model(path))
    straight = guard.update([0, 0, 0], [1.5, 0.2, 0.0]).lower
    for yaw_rate in 10.0 ** np.arange(-16.0, -3.0):
        for sign in (1.0, -1.0):
            bent = guard.update([0, 0, 0], [1.5, 0.2, sign * yaw_rate]).lower
            assert bent == pytest.approx(straight, abs=4.0 * yaw_rate + 1e-12)


@every_path
@settings(max_examples=15, deadline=None)
@given(velocity=twists(), seed=st.integers(0, 2**32 - 1))
def test_bounds_hold_wherever_an_uncertain_pose_really_is(path, velocity, seed):
    rng = np.random.default_rng(seed)
    braking = model(path, uncertainty=[0.1, 0.05, 0.08])
    obstacle = POSE[:2] + rng.uniform(-3.0, 3.0, 2)
    verdict = cl.VehicleGuard(BOX, [obstacle], braking=braking).update(POSE, velocity)
    drawn = ways(rng, braking, velocity, 10)
    for _ in range(5):
        error = rng.choice([-1.0, 1.0], 3) * braking.uncertainty
        true_pose = np.append(placed(error[None, :2], POSE)[0], POSE[2] + error[2])
        poses, _ = poses_along(*drawn, true_pose)
        assert verdict.lower <= distances(BOX, poses.reshape(-1, 3), obstacle).min() + ROUNDING


def test_scan_radius_margin_and_footprint_radius_take_their_length():
    scan, still = [[2.0, 0.1]], [0.4, 0.0, 0.0]
    plain = cl.VehicleGuard([(BOX, 0.0)], braking=model()).update(POSE, still, scan=scan).lower
    off = cl.VehicleGuard(BOX, braking=model(), scan_radius=0.2).update(POSE, still, scan=scan).lower
    rounded = cl.VehicleGuard([(BOX, 0.2)], braking=model()).update(POSE, still, scan=scan).lower
    assert off == pytest.approx(plain - 0.2, abs=1e-12)
    assert rounded == pytest.approx(plain - 0.2, abs=1e-9)
    for margin, stop in ((plain - 1e-6, False), (plain, True)):
        assert cl.VehicleGuard(BOX, braking=model(), margin=margin).update(POSE, still, scan=scan).stop == stop


def test_a_vehicle_may_leave_what_it_is_too_close_to():
    braking = model(latency=0.1, acceleration=[1.0, 0.0, 0.0])
    guard = cl.VehicleGuard(BOX, [[[0.55, -2.0], [0.55, 2.0]]], braking=braking, margin=0.2)
    assert guard.update([0, 0, 0], [-0.3, 0, 0]).reason == "receding"
    assert guard.update([0, 0, 0], [-0.05, 0, 0]).reason == "obstacle"  # the worst acceleration turns it round
    assert guard.update([0, 0, 0], [0.3, 0, 0]).stop
    assert guard.update([0.1, 0, 0], [-0.3, 0, 0]).stop  # they overlap
    unsure = model(latency=0.1, acceleration=[1.0, 0.0, 0.0], uncertainty=[0.01, 0.0, 0.0])
    assert (
        cl.VehicleGuard(BOX, [[[0.55, -2.0], [0.55, 2.0]]], braking=unsure, margin=0.2)
        .update([0, 0, 0], [-0.3, 0, 0])
        .stop
    )


def test_a_fork_does_not_recede_from_what_is_between_its_prongs():
    braking = model(latency=0.1, acceleration=[0.0, 0.0, 0.0])
    guard = cl.VehicleGuard(FOOTPRINTS["fork"], [[0.9, 0.1]], braking=braking, margin=0.12)
    assert guard.update([0, 0, 0], [0.0, -0.3, 0]).stop  # away from one prong, towards the other
    assert guard.update([0, 0, 0], [-0.3, 0.0, 0]).reason == "receding"


@every_path
def test_what_recedes_never_comes_closer(path):
    rng = np.random.default_rng(11)
    seen = 0
    for _ in range(400):
        footprint = list(FOOTPRINTS.values())[rng.integers(len(FOOTPRINTS))]
        velocity = rng.normal(size=3) * [1.0, 0.5, 0.5]
        braking = model(path, latency=0.05, acceleration=rng.uniform(0.0, 2.0, 3))
        around = outline(footprint)
        obstacle = around[rng.integers(len(around))] * rng.uniform(1.01, 1.2)
        guard = cl.VehicleGuard(footprint, braking=braking, margin=0.2)
        verdict = guard.update([0, 0, 0], velocity, scan=[obstacle])
        if verdict.reason != "receding":
            continue
        seen += 1
        poses, _ = poses_along(*ways(rng, braking, velocity, 30))
        now = outside_of(footprint_hulls(footprint), obstacle[None])[0]
        assert distances(footprint, poses.reshape(-1, 3), obstacle).min() >= now - ROUNDING
    assert seen > 20


def test_slower_by_its_factor_the_vehicle_is_clear():
    rng = np.random.default_rng(12)
    between = 0
    for velocity in list(MOTIONS.values()) * 10:
        points = rng.uniform(-1.6, 1.6, size=(4, 2))
        points = points[np.linalg.norm(points, axis=1) > 0.8]
        guard = cl.VehicleGuard(BOX, points, braking=model())
        stop = guard.update([0, 0, 0], velocity).stop
        before = guard.swept()
        factor = guard.speed_factor()
        assert (factor == 1.0) == (not stop)
        for (a, _), (b, _) in zip(before, guard.swept(), strict=True):
            np.testing.assert_array_equal(a, b)
        assert not guard.update([0, 0, 0], np.multiply(factor, velocity)).stop
        if 0.0 < factor < 1.0:
            between += 1
            assert guard.update([0, 0, 0], np.multiply(factor + 2.0**-7, velocity)).stop
    assert between > 5
    guard = cl.VehicleGuard(BOX, [[0.0, 0.0]], braking=model())
    assert guard.update([0, 0, 0], [1.0, 0.0, 0.0]).stop
    assert guard.speed_factor() == 0.0


def test_nothing_to_see_is_clear_but_nothing_to_look_with_is_not():
    guard = cl.VehicleGuard(BOX, braking=model())
    for scan in (np.empty((0, 2)), [[np.nan, np.nan]], [[np.inf, 0.0], [1.0, np.nan]]):
        verdict = guard.update([0, 0, 0], [1, 0, 0], scan=scan)
        assert (verdict.stop, verdict.reason, verdict.lower) == (False, "clear", np.inf)
        assert np.isnan(verdict.point).all()
    for obstacles in (None, []):
        blind = cl.VehicleGuard(BOX, obstacles, braking=model()).update([0, 0, 0], [1, 0, 0])
        assert (blind.stop, blind.reason) == (True, "input")
    kept = guard.update([0, 0, 0], [1, 0, 0], scan=[[np.nan, 0.0], [0.8, 0.0]])
    assert (kept.reason, kept.index) == ("scan", 1)


@pytest.mark.parametrize("bad", [None, [np.nan, 0, 0], [0, np.inf, 0], [0, 0, -np.inf], [1e300, 0, 0]])
def test_input_that_is_no_number_stops_the_vehicle(bad):
    guard = cl.VehicleGuard(BOX, NOTHING, braking=model())
    for verdict in (
        guard.update(bad, [0, 0, 0]),
        guard.update([0, 0, 0], bad),
        guard.update([0, 0, 0], [0, 0, 0], command=bad) if bad is not None else guard.update(None, None),
    ):
        assert (verdict.stop, verdict.reason) == (True, "input")
        assert verdict.lower == -np.inf
    assert not guard.update([0, 0, 0], [0, 0, 0]).stop


def test_input_that_comes_late_stops_the_vehicle():
    guard = cl.VehicleGuard(BOX, NOTHING, braking=model(), timeout=0.1)

    def reason(time):
        return guard.update([0, 0, 0], [0, 0, 0], time=time).reason

    assert [reason(t) for t in (5.0, 5.1, 5.15)] == ["clear"] * 3
    assert reason(5.15) == "clear"  # the same again
    assert reason(5.1) == "stale"  # backwards
    assert reason(5.15) == "clear"
    assert reason(5.3) == "stale"  # too long ago
    assert reason(5.35) == "clear"
    assert reason(np.nan) == "stale"
    assert reason(None) == "stale"
    assert reason(5.4) == "clear"
    free = cl.VehicleGuard(BOX, NOTHING, braking=model())
    assert free.update([0, 0, 0], [0, 0, 0]).reason == "clear"
    assert free.update([0, 0, 0], [0, 0, 0], time=1.0).reason == "clear"
    assert free.update([0, 0, 0], [0, 0, 0], time=0.5).reason == "stale"


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        ({"pose": [0, 0]}, r"pose must have 3 numbers, but it has shape \(2,\)"),
        ({"velocity": np.zeros((2, 3))}, "velocity must have 3 numbers"),
        ({"command": [1.0]}, "command must have 3 numbers"),
        ({"scan": [1.0, 2.0]}, r"scan must have shape \(n, 2\)"),
        ({"scan": "here"}, "scan must be real numbers"),
    ],
)
def test_input_of_a_wrong_shape_is_refused(arguments, message):
    guard = cl.VehicleGuard(BOX, NOTHING, braking=model())
    with pytest.raises(ValueError, match=message):
        guard.update(**{"pose": [0, 0, 0], "velocity": [0, 0, 0]} | arguments)


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        ({"footprint": []}, "footprint must be"),
        ({"footprint": [[0.0, 0.0, 1.0]]}, r"part 0 of the footprint must have shape \(n, 2\)"),
        ({"footprint": [(BOX, -0.1)]}, "radius of part 0 of the footprint must be finite and not negative"),
        ({"footprint": [BOX, [[np.nan, 0.0]]]}, "part 1 of the footprint must be finite"),
        ({"obstacles": [BOX, [[0.0, 1.0, 2.0]]]}, r"obstacle 1 must have shape \(n, 2\)"),
        ({"obstacles": 3.0}, "obstacles must be"),
        ({"margin": -1.0}, "margin must be"),
        ({"pieces": 0}, "pieces must be a number from 1 to 1000"),
        ({"timeout": np.nan}, "timeout must be"),
        ({"braking": None}, "braking must be a VehicleBraking"),
    ],
)
def test_settings_without_meaning_are_refused(arguments, message):
    with pytest.raises(ValueError, match=message):
        cl.VehicleGuard(**{"footprint": BOX, "obstacles": NOTHING, "braking": model()} | arguments)


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        ({"deceleration": [1.0, 0.0, 1.0]}, "deceleration must be above zero"),
        ({"acceleration": [1.0, -1.0, 1.0]}, "acceleration must be three numbers from 0"),
        ({"deceleration": [1.0, 1e-300, 1.0]}, "deceleration must be above zero"),
        ({"latency": -0.1}, "latency must be finite and not negative"),
        ({"latency": 1e9}, "latency must be no more than an hour"),
        ({"uncertainty": [0.0, 0.0]}, "uncertainty must have 3 numbers"),
        ({"path": "straight"}, 'path must be "arc" or "any"'),
    ],
)
def test_braking_without_meaning_is_refused(arguments, message):
    with pytest.raises(ValueError, match=message):
        model(**arguments)


def test_a_guard_without_input_has_no_area_and_a_verdict_no_truth():
    guard = cl.VehicleGuard(BOX, NOTHING, braking=model())
    for ask in (guard.swept, guard.area, guard.speed_factor):
        with pytest.raises(ValueError, match="no input yet"):
            ask()
    with pytest.raises(TypeError, match="`stop`"):
        bool(guard.update(POSE, [0, 0, 0]))


@every_motion
def test_outlines_of_the_area_are_those_of_its_pieces(velocity):
    guard = cl.VehicleGuard(FOOTPRINTS["rounded"], NOTHING, braking=model())
    guard.update(POSE, velocity)
    for (points, radius), drawn in zip(guard.swept(), guard.area(), strict=True):
        np.testing.assert_allclose(outside_of([(points, radius)], drawn), 0.0, atol=ROUNDING)
        x, y = drawn.T
        assert (x * np.roll(y, -1) - y * np.roll(x, -1)).sum() > 0.0  # counterclockwise


def test_vehicle_of_the_example_comes_to_rest_in_time(tmp_path):
    imread = pytest.importorskip("matplotlib.image", reason="pictures need matplotlib").imread
    path = Path(__file__).parent.parent / "examples" / "vehicle_guard.py"
    spec = importlib.util.spec_from_file_location("vehicle_guard_example", path)
    example = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(example)
    moments = example.main(tmp_path)
    stop = next(moment for moment in moments if moment.verdict.stop)
    assert stop.velocity[0] > 1.0
    assert not moments[-1].velocity.any()
    boxes = cl.VehicleGuard(example.FOOTPRINT, [*example.WALLS, *example.BOXES], braking=model(acceleration=[0, 0, 0]))
    assert all(boxes.update(moment.pose, [0, 0, 0]).lower > example.MARGIN for moment in moments)
    for moment in moments:
        if moment.time >= stop.time:  # what was promised when it had to stop
            assert moment.verdict.distance >= stop.verdict.lower
    picture = imread(tmp_path / "vehicle_guard.png")[..., :3]
    assert len(np.unique(picture.reshape(-1, 3), axis=0)) > 100
