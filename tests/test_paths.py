"""Whole paths: nothing that dense samples find is ever called clear, and the bracket is as narrow as asked."""

from functools import lru_cache
from itertools import pairwise

import numpy as np
import pytest

import clearance as cl
import robot_oracle as oracle
import robots
from path_cases import MARGINS, allowed, overlap, random_flat_case, slide, swing, value_at
from robots import PLANS, as_mapping, as_scene, contact_case, random_q


def assert_report(report, plan, world, waypoints, margin, tolerance=1e-3, count=2000):
    """Check a report against dense samples; return whether these touch the margin."""
    t, distance = oracle.sampled(plan, world, waypoints, count)
    found = distance.min()
    slack = float(allowed(found))
    # The bracket: below every sample, taken where it is said to be, and narrow.
    assert report.lower <= found + slack
    assert report.lower <= report.upper <= report.lower + tolerance * (1 + 1e-9)
    assert 0 <= report.t_worst <= len(waypoints) - 1
    worst = oracle.along(plan, waypoints, np.array([report.t_worst]))[0]
    assert np.max(np.abs(same_signs(plan, report.q_worst, worst) - worst), initial=0.0) <= 1e-9
    value = value_at(plan, world, report.q_worst)
    assert abs(value - report.upper) <= allowed(value)
    assert report.upper <= found + tolerance + slack
    names = frozenset(report.pair)
    (pair,) = [pair for pair in oracle.all_pairs(plan, world) if frozenset(pair) == names]
    assert abs(oracle.distances(plan, world, report.q_worst, [pair])[0] - value) <= allowed(value)
    # The verdict.
    touches = distance <= margin - slack
    assert not (report.clear and touches.any())
    assert report.clear or report.lower <= margin
    if report.lower > margin:
        assert report.clear
    assert (report.first_violation is None) == report.clear
    if not report.clear:
        start, end = report.first_violation
        assert 0 <= start <= end <= len(waypoints) - 1
        # What lies before the first violation is free, and the violation is one as far as the tolerance can tell.
        if touches.any():
            assert start <= t[touches][0] + 1e-12
        inside = oracle.along(plan, waypoints, np.linspace(start, end, 50))
        assert np.min(oracle.least(plan, world, inside)) <= margin + 2 * tolerance
    return bool(touches.any())


def same_signs(plan, q, other):
    return robots.aligned(plan, np.asarray(q, dtype=float), other)


# Random paths --------------------------------------------------------------------------------------------------------


def random_space_case(seed):
    """Draw one of the robots in space among obstacles, and a path between configurations."""
    rng = np.random.default_rng([2, seed])
    names = ("seven", "boxes", "hulls", "scara", "rover", "walker", "gripper", "two arms", "spheres")
    plan = PLANS[names[seed % len(names)]]()
    world = robots.obstacles(rng, plan, 3, ("Sphere", "Box", "Capsule", "ConvexHull"), 0.15)
    q = random_q(rng, plan, 40)
    ends = q[oracle.least(plan, world, q) > 0][:2]
    waypoints = oracle.along(plan, ends, np.array([0.0, rng.uniform(0.3, 1.0)]))
    return plan, world, waypoints


@lru_cache
def reports(kind, count):
    """Return the cases of one kind with their margins and reports."""
    draw = {"flat": random_flat_case, "space": random_space_case}[kind]
    found = []
    for seed in range(count):
        plan, world, waypoints = draw(seed)
        margin = MARGINS[seed % len(MARGINS)]
        found.append(
            (plan, world, waypoints, margin, cl.check_path(plan.robot(), as_mapping(world), waypoints, margin))
        )
    return found


@pytest.mark.parametrize(("kind", "count"), [("flat", 135), ("space", 90)])
def test_random_paths_are_never_called_clear_where_samples_touch(kind, count):
    touched = [assert_report(report, *case) for *case, report in reports(kind, count)]
    assert 0.3 <= np.mean(touched) <= 0.7
    verdicts = np.array([report.clear for *_, report in reports(kind, count)])
    # Between proof and samples there is only the tolerance: few paths are neither.
    assert np.mean(verdicts == np.array(touched)) <= 0.05


@pytest.mark.parametrize("name", ["mixed", "meshes", "stacked", "single"])
def test_paths_of_other_robots(name):
    plan = PLANS[name]()
    rng = np.random.default_rng(3)
    world = robots.obstacles(rng, plan, 2, ("Sphere", "Mesh"), 0.1)
    for k in range(4):
        waypoints = oracle.along(plan, random_q(rng, plan, 2), np.array([0.0, 0.3]))
        report = cl.check_path(plan.robot(), as_scene(world), waypoints, 0.01 * k)
        assert_report(report, plan, world, waypoints, 0.01 * k, count=300)


@pytest.mark.parametrize("name", ["seven", "walker", "rover"])
def test_paths_that_nearly_touch(name):
    plan, world, q, distance = contact_case(name)
    near = np.flatnonzero((distance > 1e-6) & (distance < 5e-3))[:3]
    assert len(near) >= 2
    rng = np.random.default_rng(4)
    for k in near:
        waypoints = np.stack([q[k], robots.aligned(plan, q[k] + 0.02 * rng.normal(size=q.shape[1]), q[k])])
        for margin in (0.0, 0.5 * distance[k], 1.5 * distance[k]):
            report = cl.check_path(plan.robot(), as_mapping(world), waypoints, margin, tolerance=1e-4)
            assert_report(report, plan, world, waypoints, margin, 1e-4, 500)


# Made to measure -----------------------------------------------------------------------------------------------------


THIN = {"wire": cl.Capsule(1e-6, 4.0), "sheet": cl.Box([1e-6, 2.0, 2.0]), "mesh": None}


@pytest.mark.parametrize("kind", THIN)
def test_thin_obstacles_between_waypoints_are_not_tunnelled_through(kind):
    corners = [[0.0, -1.0, -1.0], [0.0, 1.0, -1.0], [0.0, 0.0, 2.0]]
    shape = THIN[kind] or cl.Mesh(corners, [[0, 1, 2]])
    robot = slide().robot()
    for at, waypoints in ((0.5, [-1.0, 0.2, 3.5]), (0.123456, [-1.0, 3.5]), (2.9, [-1.0, 0.2, 3.5])):
        report = cl.check_path(robot, {"thin": shape.at([at, 0.0, 0.0])}, np.reshape(waypoints, (-1, 1)))
        assert not report.clear
        assert report.upper <= 0.0
        assert report.lower >= -0.11
        start, end = report.first_violation
        first = float(np.interp(at - 0.1, waypoints, np.arange(len(waypoints))))
        assert first - 5e-3 <= start <= first + 1e-6
        assert end >= first - 1e-6


def test_tiny_body_that_flies_past_a_tiny_body():
    for gap in (1e-4, -1e-4):
        robot = slide(cl.Sphere(1e-3)).robot()
        pin = {"pin": cl.Sphere(1e-3).at([0.37, 2e-3 + gap, 0.0])}
        report = cl.check_path(robot, pin, [[-5.0], [5.0]], tolerance=1e-5)
        assert report.clear == (gap > 0)
        assert report.lower <= gap <= report.upper + 1e-12
        assert report.t_worst == pytest.approx(0.537, abs=1e-3)


def test_quick_turn_past_a_post():
    robot = swing().robot()
    post = {"pin": cl.Capsule(0.001, 1.0).at([0.0, 0.9, 0.0])}
    report = cl.check_path(robot, post, [[0.0], [np.pi]])
    assert not report.clear
    assert report.t_worst == pytest.approx(0.5, abs=0.02)
    start, end = report.first_violation
    first = 0.5 - np.arcsin(0.021 / 0.9) / np.pi
    assert start <= first + 1e-9
    assert start >= first - 5e-3
    assert end >= start
    past = {"pin": cl.Capsule(0.001, 1.0).at([0.0, 1.05, 0.0])}
    report = cl.check_path(robot, past, [[0.0], [np.pi]])
    assert report.clear
    assert report.lower <= 0.029 <= report.upper + 1e-12
    assert not cl.check_path(robot, past, [[0.0], [4 * np.pi]], margin=0.03).clear


def test_middle_of_a_straight_line_is_what_counts():
    plan, world = swing(), {"ball": (cl.Sphere(0.05).at([0.0, 0.5, 0.0]),)}
    for waypoints in ([[0.3], [2.8]], [[0.0], [0.3], [2.8], [3.0]]):
        report = cl.check_path(plan.robot(), as_mapping(world), waypoints)
        assert value_at(plan, world, waypoints[0]) > 0.05
        assert value_at(plan, world, waypoints[-1]) > 0.05
        assert assert_report(report, plan, world, np.array(waypoints), 0.0)
        assert set(report.pair) == {"arm", "ball"}


def test_floating_base_goes_round_the_shorter_way():
    free = robots.JointPlan("free", "floating", "map", "body")
    plan = robots.Plan("plate", {"map": (), "body": robots.bar(0.02, 1.0)}, (free,))
    turn = [np.array([0.0, 0.0, np.sin(angle / 2), np.cos(angle / 2)]) for angle in (0.0, 1.5)]
    waypoints = np.array([[0.0, 0.0, 0.0, *turn[0]], [0.0, 0.0, 0.0, *-turn[1]]])
    on_the_way = {"pin": cl.Sphere(0.01).at([0.9 * np.cos(0.7), 0.9 * np.sin(0.7), 0.0])}
    elsewhere = {"pin": cl.Sphere(0.01).at([0.9 * np.cos(3.0), 0.9 * np.sin(3.0), 0.0])}
    assert not cl.check_path(plan.robot(), on_the_way, waypoints).clear
    assert cl.check_path(plan.robot(), elsewhere, waypoints, margin=0.2).clear
    report = cl.check_path(plan.robot(), on_the_way, waypoints)
    assert np.linalg.norm(report.q_worst[3:]) == pytest.approx(1.0, abs=1e-12)


def test_self_collision_on_the_way():
    plan = robots.planar_arm((0.5, 0.4, 0.4))
    waypoints = np.array([[0.0, 1.2, 1.2], [0.0, 2.8, 2.6]])
    assert_report(cl.check_path(plan.robot(), None, waypoints), plan, {}, waypoints, 0.0)
    assert not cl.check_path(plan.robot(), None, waypoints).clear
    assert set(cl.check_path(plan.robot(), None, waypoints).pair) == {"arm 0", "arm 2"}


# What must not matter ------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("kind", ["flat", "space"])
def test_way_back_is_as_clear_as_the_way_there(kind):
    for plan, world, waypoints, margin, report in reports(kind, 135 if kind == "flat" else 90)[:40]:
        back = cl.check_path(plan.robot(), as_mapping(world), waypoints[::-1], margin)
        assert overlap(report, back)
        if not report.lower <= margin <= report.upper + 1e-3:
            assert back.clear == report.clear
        mirrored = oracle.along(plan, waypoints, np.array([len(waypoints) - 1 - back.t_worst]))[0]
        value = value_at(plan, world, mirrored)
        assert abs(value - back.upper) <= allowed(value)


def test_time_is_mirrored_on_the_way_back():
    robot, pin = slide().robot(), {"pin": cl.Sphere(0.1).at([0.7, 0.25, 0.0])}
    there, back = (cl.check_path(robot, pin, way) for way in ([[0.0], [1.0], [3.0]], [[3.0], [1.0], [0.0]]))
    assert there.t_worst == pytest.approx(0.7, abs=0.05)
    assert back.t_worst == pytest.approx(2 - 0.7, abs=0.05)


def test_path_is_as_clear_as_its_parts():
    for plan, world, waypoints, margin, report in reports("flat", 135)[:60]:
        if len(waypoints) < 3:
            continue
        robot, bodies = plan.robot(), as_mapping(world)
        parts = [cl.check_path(robot, bodies, piece, margin) for piece in (waypoints[:2], waypoints[1:])]
        least = min(parts, key=lambda part: part.upper)
        assert report.lower <= least.upper + 1e-7
        assert min(part.lower for part in parts) <= report.upper + 1e-7
        if not report.lower <= margin <= report.upper + 1e-3:
            assert report.clear == all(part.clear for part in parts)
        if not parts[0].clear and parts[0].upper <= margin - 1e-3:
            assert report.first_violation[0] <= parts[0].t_worst + 1e-9


def test_waypoint_more_on_a_straight_line_changes_nothing():
    for plan, world, waypoints, margin, report in reports("flat", 135)[:30]:
        middle = (waypoints[0] + waypoints[1]) / 2
        finer = np.vstack([waypoints[:1], middle, waypoints[1:]])
        found = cl.check_path(plan.robot(), as_mapping(world), finer, margin)
        assert overlap(found, report)
        if not report.lower <= margin <= report.upper + 1e-3:
            assert found.clear == report.clear


def test_larger_margins_are_never_easier():
    for plan, world, waypoints, *_ in reports("flat", 135)[:20]:
        robot, bodies = plan.robot(), as_mapping(world)
        answers = [cl.check_path(robot, bodies, waypoints, margin) for margin in (0.0, 0.003, 0.02, 0.1, 0.4)]
        for easier, harder in pairwise(answers):
            assert easier.clear or not harder.clear
            assert overlap(easier, harder)
            if not easier.clear:
                assert harder.first_violation[0] <= easier.first_violation[1] + 1e-9
    assert not answers[-1].clear


@pytest.mark.parametrize("tolerance", [0.1, 1e-2, 1e-3, 1e-5])
def test_bracket_is_as_narrow_as_asked(tolerance):
    for plan, world, waypoints, margin, report in reports("flat", 135)[:12]:
        found = cl.check_path(plan.robot(), as_mapping(world), waypoints, margin, tolerance=tolerance)
        assert_report(found, plan, world, waypoints, margin, tolerance, 300)
        assert overlap(found, report)


@pytest.mark.parametrize("seed", [1566, 2148, 2325, 2622, 2718])
def test_worst_configuration_is_as_bad_as_said_however_coarse_the_bracket(seed):
    # On these paths another pair is nearer at the worst moment of the one that was followed.
    plan, world, waypoints = random_flat_case(seed)
    for margin in (0.01, 0.05, 0.2):
        for tolerance in (0.01, 0.1):
            report = cl.check_path(plan.robot(), as_mapping(world), waypoints, margin, tolerance=tolerance)
            assert_report(report, plan, world, waypoints, margin, tolerance, 300)


@pytest.mark.parametrize("gap", [0.0, 1e-9, 1e-7, 2e-6, 1e-5])
def test_bracket_is_narrow_even_where_the_verdict_is_hard(gap):
    # All along the way the arm turns this much above the ground.
    report = cl.check_path(swing().robot(), {"ground": cl.HalfSpace([0, 0, 1], -0.02 - gap)}, [[0.0], [6.0]])
    assert report.lower <= gap + 1e-12
    assert gap - 1e-12 <= report.upper <= report.lower + 1e-3 * (1 + 1e-9)


def test_verdict_alone_is_the_same_verdict():
    for plan, world, waypoints, margin, report in reports("flat", 135)[:60]:
        found = cl.check_path(plan.robot(), as_mapping(world), waypoints, margin, tolerance=np.inf)
        _, distance = oracle.sampled(plan, world, waypoints, 200)
        assert found.clear == (found.first_violation is None)
        assert found.lower <= distance.min() + allowed(distance.min())
        assert found.lower <= found.upper
        assert not (found.clear and np.any(distance <= margin))
        if not report.lower <= margin <= report.upper + 1e-3:
            assert found.clear == report.clear
        if not found.clear:
            start, _ = found.first_violation
            assert start <= report.first_violation[1] + 1e-9
            assert report.first_violation[0] <= found.first_violation[1] + 1e-9


def test_forms_of_a_world_and_of_waypoints_do_not_matter():
    plan, world, waypoints, margin, report = reports("flat", 135)[0]
    robot = plan.robot()
    for bodies in (as_scene(world), robots.as_list(world)):
        found = cl.check_path(robot, bodies, waypoints.tolist(), margin)
        assert overlap(found, report)
        assert found.clear == report.clear
    frozen = waypoints.copy()
    frozen.flags.writeable = False
    again = cl.check_path(robot, as_mapping(world), np.asfortranarray(frozen), margin)
    assert (again.lower, again.upper, again.t_worst) == (report.lower, report.upper, report.t_worst)


def test_large_and_small_paths_behave_alike():
    for plan, world, waypoints, margin, report in reports("flat", 135)[:15]:
        for factor in (1e-3, 1e3):
            large, there = plan.scaled(factor).robot(), as_mapping(robots.scaled_world(world, factor))
            found = cl.check_path(large, there, waypoints, margin * factor, tolerance=1e-3 * factor)
            assert found.lower / factor <= report.upper + 1e-7
            assert report.lower <= found.upper / factor + 1e-7
            if not report.lower <= margin <= report.upper + 1e-3:
                assert found.clear == report.clear


# Short paths ---------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("name", ["planar arm", "walker", "mixed"])
def test_path_of_one_waypoint_is_a_configuration(name):
    plan, world, q, distance = contact_case(name)
    robot = plan.robot()
    for k in range(6):
        for waypoints in (q[k : k + 1], np.stack([q[k], q[k]]), np.stack([q[k]] * 4)):
            report = cl.check_path(robot, as_mapping(world), waypoints, tolerance=1e-6)
            assert abs(report.upper - distance[k]) <= allowed(distance[k])
            assert report.lower <= distance[k] + allowed(distance[k])
            assert report.upper - report.lower <= 1e-6
            if abs(distance[k]) > 3e-6 or distance[k] == 0:
                assert report.clear == (distance[k] > 0)
            found, expected = (oracle.link_poses(plan, each) for each in (report.q_worst, q[k]))
            assert all(np.allclose(found[link], expected[link], rtol=0, atol=1e-12) for link in plan.links)


def test_pauses_on_the_way_change_nothing():
    plan, world, waypoints, margin, report = reports("flat", 135)[1]
    paused = np.repeat(waypoints, 3, axis=0)
    found = cl.check_path(plan.robot(), as_mapping(world), paused, margin)
    assert overlap(found, report)
    assert_report(found, plan, world, paused, margin)


def test_robot_with_nothing_to_touch_is_clear():
    robot = swing().robot()
    report = cl.check_path(robot, None, [[0.0], [5.0]], margin=100.0)
    assert report.clear
    assert report.lower == np.inf
    assert report.first_violation is None
    report = cl.check_path(robots.single().robot(), None, np.zeros((2, 0)))
    assert report.clear


# Margins and allowances ----------------------------------------------------------------------------------------------


def test_margins_of_pairs_are_part_of_the_bracket():
    plan = swing()
    robot, past = plan.robot(), {"pin": cl.Capsule(0.001, 1.0).at([0.0, 1.05, 0.0])}
    robot.set_margin("arm", "pin", margin=0.02)
    report = cl.check_path(robot, past, [[0.0], [np.pi]])
    assert report.clear
    assert report.lower <= 0.009 <= report.upper + 1e-12
    assert not cl.check_path(robot, past, [[0.0], [np.pi]], margin=0.0095).clear
    robot.set_margin("arm", "pin", margin=0.03)
    report = cl.check_path(robot, past, [[0.0], [np.pi]])
    assert not report.clear
    assert report.upper <= 0.0


def test_pair_that_needs_more_room_is_named_though_another_is_nearer():
    robot = slide().robot()
    world = {"near": cl.Sphere(0.1).at([0.0, 0.3, 0.0]), "far": cl.Sphere(0.1).at([0.0, -0.5, 0.0])}
    assert set(cl.check_path(robot, world, [[-1.0], [1.0]]).pair) == {"body", "near"}
    robot.set_margin("far", margin=0.25)
    report = cl.check_path(robot, world, [[-1.0], [1.0]])
    assert set(report.pair) == {"body", "far"}
    assert report.lower <= 0.05 <= report.upper + 1e-12


def test_allowed_pairs_do_not_count():
    robot = slide().robot()
    world = {"wall": cl.Box([0.1, 1.0, 1.0]).at([0.5, 0.0, 0.0])}
    assert not cl.check_path(robot, world, [[0.0], [1.0]]).clear
    robot.allow("body", "wall")
    assert cl.check_path(robot, world, [[0.0], [1.0]]).clear


# Bad input -----------------------------------------------------------------------------------------------------------


BAD_WAYPOINTS = [
    np.zeros((0, 1)),
    np.zeros(1),
    np.zeros((2, 2)),
    np.zeros((2, 2, 1)),
    [[0.0], [np.nan]],
    [[0.0], [np.inf]],
    "path",
    None,
    [],
    [["x"], ["y"]],
]


@pytest.mark.parametrize("bad", BAD_WAYPOINTS, ids=range(len(BAD_WAYPOINTS)))
def test_what_is_no_path_is_refused(bad):
    with pytest.raises((ValueError, TypeError), match=r"(?i)waypoints|path"):
        cl.check_path(swing().robot(), None, bad)


@pytest.mark.parametrize("bad", [np.nan, -1e-3, 0.0, "x", None])
def test_what_is_no_tolerance_is_refused(bad):
    with pytest.raises((ValueError, TypeError), match="tolerance"):
        cl.check_path(swing().robot(), cl.Sphere(0.1).at([3.0, 0.0, 0.0]), [[0.0], [1.0]], tolerance=bad)


@pytest.mark.parametrize("bad", [np.nan, "x", None])
def test_what_is_no_margin_is_refused(bad):
    with pytest.raises((ValueError, TypeError), match="margin"):
        cl.check_path(swing().robot(), cl.Sphere(0.1).at([3.0, 0.0, 0.0]), [[0.0], [1.0]], bad)


def test_quaternion_of_no_length_is_refused():
    robot = robots.walker().robot()
    q = np.zeros((2, robot.dof))
    q[0, 6] = 1.0
    with pytest.raises(ValueError, match=r"(?i)quaternion|free"):
        cl.check_path(robot, None, q)


def test_bodies_with_the_name_of_a_link_are_refused():
    with pytest.raises(ValueError, match="arm"):
        cl.check_path(swing().robot(), {"arm": cl.Sphere(0.1).at([3.0, 0.0, 0.0])}, [[0.0], [1.0]])
