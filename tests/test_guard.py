"""The guard: what it lets pass is safe until the robot stands, and it keeps to its budget."""

from functools import lru_cache

import numpy as np
import pytest

import clearance as cl
import robots
import sweep_oracle as oracle
from robots import PLANS
from test_sweep import is_exact

ROBOTS = ("seven", "gripper", "scara", "rover", "walker", "two arms", "stacked")
ROUNDING = 1e-12

every_robot = pytest.mark.parametrize("name", ROBOTS)


@lru_cache
def case(name, count=16, seed=0):
    """Return a robot, a world and states, half of them near contact, at all speeds."""
    robot = PLANS[name]().robot()
    rng = np.random.default_rng([seed, *name.encode()])
    world = oracle.things(robot, rng)
    q = oracle.near_contact(robot, world, rng, count, 0.005)
    qd = rng.uniform(-1, 1, (count, robot.nv)) * (10.0 ** rng.uniform(-2, 0.4, (count, 1)))
    return robot, world, list(zip(q, qd, strict=True))


def by_names(pairs, values):
    return {frozenset(pair): value for pair, value in zip(pairs, values, strict=True)}


def is_still(robot, world, pair):
    """Tell whether no joint moves two bodies against each other: one is in the world, the other fixed to the root."""
    (link,) = set(pair) - set(world) if set(pair) & set(world) else (None,)
    above = {joint.child: joint for joint in robot.joints}
    while link in above and above[link].kind == "fixed":
        link = above[link].parent
    return link == robot.root


def bounds_of(guard, world):
    """Return what a guard says of all pairs that can move."""
    return {
        frozenset(pair): value for pair, value in guard.bounds.items() if not is_still(guard.robot, world or {}, pair)
    }


def swept_bounds(robot, world, swept):
    """Return what a sweep says of all pairs that can move."""
    pairs = [pair for pair in robot.distances(robot.neutral, world).pairs if not is_still(robot, world, pair)]
    return by_names(pairs, [swept.lower(a, world[b] if b in (world or {}) else b) for a, b in pairs])


def settle(guard, q, qd, cycles=60):
    """Ask again and again, as a robot that stands would, and return the last verdict."""
    for _ in range(cycles):
        verdict = guard.update(q, qd)
    return verdict


# Safety --------------------------------------------------------------------------------------------------------------


def assert_sound(robot, world, guard, state, margin=0.0, braking=None):
    """Update a guard; assert that nothing in the braking box contradicts it, and return the verdict."""
    verdict = guard.update(*state)
    box = (braking or cl.Braking()).intervals(robot, *state)
    found = oracle.attack(robot, *box, world, samples=100, corners=150, starts=2, rounds=10)
    least = by_names(found.pairs, found.least)
    bounds = bounds_of(guard, world)
    assert bounds.keys() == {pair for pair in least if not is_still(robot, world, pair)}
    assert all(bounds[pair] <= least[pair] + ROUNDING for pair in bounds)
    assert verdict.lower <= least[frozenset(verdict.pair)] + ROUNDING
    if not verdict.stop:
        gaps = robot.distances(state[0], world)
        present = by_names(gaps.pairs, gaps.distance)
        near = [pair for pair in bounds if least[pair] - robot.margin(*pair) <= margin]
        assert verdict.reason == ("receding" if near else "clear")
        assert all(least[pair] >= present[pair] - 1e-9 for pair in near)
    return verdict


@every_robot
@pytest.mark.parametrize("budget", [None, 55_000, 3_000])
def test_what_passes_is_safe(name, budget):
    robot, world, states = case(name)
    guard = cl.Guard(robot, world, budget=budget)
    verdicts = [assert_sound(robot, world, guard, state) for state in states]
    if budget is None:
        assert 0.1 <= np.mean([verdict.stop for verdict in verdicts]) <= 0.9


@pytest.mark.parametrize("name", ["two arms", "scara"])
def test_margins_are_kept(name):
    robot, world, states = case(name)
    guard = cl.Guard(robot, world, budget=None, margin=0.03)
    for state in states:
        assert_sound(robot, world, guard, state, 0.03)


def test_bounds_carried_over_time_stay_safe():
    """Each cycle has room for a few pairs only, while the robot moves on."""
    robot, world, states = case("two arms")
    guard = cl.Guard(robot, world, budget=2_000)
    rng = np.random.default_rng(1)
    q, qd = states[1]
    for _ in range(40):
        qd = np.clip(qd + rng.normal(size=robot.nv) * 0.2, -2.0, 2.0)
        q = np.clip(q + 0.01 * qd, robot.lower, robot.upper)
        assert_sound(robot, world, guard, (q, qd))


def test_other_braking_and_other_operators():
    robot, world, states = case("two arms")
    braking = cl.Braking(0.02, 10.0, 5.0, uncertainty=0.01)
    for operators in (None, "auto", oracle.everywhere(robot, "circ1", "trans1"), oracle.everywhere(robot, "circ4")):
        guard = cl.Guard(robot, world, budget=None, braking=braking, operators=operators)
        for state in states[::4]:
            assert_sound(robot, world, guard, state, braking=braking)


def test_worlds_of_several_convex_and_other_bodies():
    robot, cell = cl.samples.arm(), cl.samples.arm_cell()
    world = {name: cell.shape(name).at(cell.pose(name)) for name in cell.names}
    guard = cl.Guard(robot, cell, budget=None)
    rng = np.random.default_rng(2)
    verdicts = []
    for q in cl.samples.arm_path():
        for speed in (0.0, 0.5):
            verdicts.append(assert_sound(robot, world, guard, (q, speed * rng.uniform(-1, 1, 7))))
    assert any(not verdict.stop for verdict in verdicts)


def test_large_surfaces_around_a_robot_are_refused():
    x, y = np.meshgrid(np.arange(40.0), np.arange(40.0), indexing="ij")
    field = cl.HeightField(np.sin(x + y), 0.1)
    with pytest.raises(ValueError, match="convex parts"):
        cl.Guard(cl.samples.arm(), {"ground": field})


# The table -----------------------------------------------------------------------------------------------------------


@every_robot
def test_without_budget_bounds_are_those_of_the_sweep(name):
    robot, world, states = case(name)
    guard = cl.Guard(robot, world, budget=None)
    for state in states[:8]:
        verdict = guard.update(*state)
        expected = swept_bounds(robot, world, guard.sweep())
        bounds = bounds_of(guard, world)
        assert bounds.keys() == expected.keys()
        # How deep volumes overlap does not matter to a guard.
        for pair, value in expected.items():
            assert bounds[pair] <= value + 1e-9
            assert bounds[pair] >= value - 1e-6 or value <= 0
        assert verdict.stop == (min(expected.values()) <= 0)
        assert verdict.stop or abs(verdict.lower - min(expected.values())) <= 1e-6


@every_robot
def test_bounds_are_bounds_of_what_cannot_move_too(name):
    robot, world, states = case(name)
    guard = cl.Guard(robot, world, budget=None)
    guard.update(*states[0])
    gaps = robot.distances(states[0][0], world)
    present = by_names(gaps.pairs, gaps.upper)
    assert all(value <= present[frozenset(pair)] + ROUNDING for pair, value in guard.bounds.items())


@every_robot
@pytest.mark.parametrize("budget", [55_000, 4_000])
def test_bounds_of_the_table_never_exceed_those_of_the_sweep(name, budget):
    robot, world, states = case(name)
    guard = cl.Guard(robot, world, budget=budget)
    for k in range(40):
        guard.update(*states[k // 5 % len(states)])
        expected = swept_bounds(robot, world, guard.sweep())
        assert all(value <= expected[pair] + 1e-9 for pair, value in bounds_of(guard, world).items())


@every_robot
def test_the_sweep_is_that_of_the_braking_box(name):
    robot, world, states = case(name)
    guard = cl.Guard(robot, world, budget=None, operators=None, max_points=100_000)
    for state in states[:4]:
        guard.update(*state)
        box = cl.Braking().intervals(robot, *state)
        found = guard.sweep().lowers()
        expected = cl.sweep(robot, *box, operators=None, max_points=100_000).lowers()
        assert all(abs(found[pair] - expected[pair]) <= 1e-9 for pair in expected)


# The budget ----------------------------------------------------------------------------------------------------------


@every_robot
@pytest.mark.parametrize("budget", [0, 100, 1_000, 10_000, 55_000])
def test_work_never_exceeds_the_budget(name, budget):
    robot, world, states = case(name)
    guard = cl.Guard(robot, world, budget=budget)
    work = [guard.update(*states[k // 3 % len(states)]).work for k in range(60)]
    assert max(work) <= budget
    assert budget < 1_000 or max(work) > 0


@every_robot
def test_two_guards_say_the_same(name):
    robot, world, states = case(name)
    one, other = (cl.Guard(robot, world, budget=5_000) for _ in range(2))
    for k in range(40):
        first, second = (guard.update(*states[k // 2 % len(states)]) for guard in (one, other))
        for what in ("stop", "reason", "lower", "pair", "work"):
            assert getattr(first, what) == getattr(second, what)
    assert one.bounds == other.bounds


def test_a_reset_guard_is_as_good_as_new():
    robot, world, states = case("two arms")
    used, new = (cl.Guard(robot, world, budget=5_000, timeout=0.1) for _ in range(2))
    for k, state in enumerate(states):
        used.update(*state, time=0.01 * k)
    used.reset()
    for k, state in enumerate(states[:5]):
        first, second = (guard.update(*state, time=0.01 * k) for guard in (used, new))
        assert (first.stop, first.reason, first.lower, first.work) == (
            second.stop,
            second.reason,
            second.lower,
            second.work,
        )


@every_robot
def test_a_robot_that_waits_is_judged_as_without_a_budget(name):
    robot, world, states = case(name)
    for state in states[:8]:
        plain = cl.Guard(robot, world, budget=None).update(*state)
        verdict = settle(cl.Guard(robot, world, budget=5_000), *state)
        assert verdict.stop == plain.stop


def test_too_small_a_budget_is_a_reason_of_its_own():
    robot, world, states = case("two arms")
    guard = cl.Guard(robot, world, budget=50)
    verdict = guard.update(states[1][0], np.zeros(robot.nv))
    assert verdict.stop
    assert verdict.reason == "budget"


def test_a_time_budget_is_safe_as_well():
    robot, world, states = case("two arms")
    guard = cl.Guard(robot, world, seconds=2e-4)
    for state in states[:10]:
        assert_sound(robot, world, guard, state)


# Verdicts ------------------------------------------------------------------------------------------------------------


@every_robot
def test_the_critical_pair_has_the_least_room(name):
    robot, world, states = case(name)
    guard = cl.Guard(robot, world, budget=None)
    for state in states[:8]:
        verdict = guard.update(*state)
        room = {pair: value - robot.margin(*pair) for pair, value in guard.bounds.items()}
        assert room[min(room, key=room.get)] >= verdict.lower - robot.margin(*verdict.pair) - 1e-6
        assert abs(np.linalg.norm(verdict.normal) - 1) <= 1e-9
        assert np.isfinite(verdict.point_a).all()
        assert np.isfinite(verdict.point_b).all()
        assert verdict.reason == ("pair" if verdict.stop else "clear")


@every_robot
def test_the_present_distance_is_told(name):
    robot, world, states = case(name)
    guard = cl.Guard(robot, world, budget=None)
    for q, qd in states[:8]:
        verdict = guard.update(q, qd)
        gaps = robot.distances(q, world)
        (present,) = (
            gap
            for pair, gap in zip(gaps.pairs, gaps.distance, strict=True)
            if frozenset(pair) == frozenset(verdict.pair)
        )
        assert np.isnan(verdict.distance) or verdict.distance <= present + 1e-9
        assert verdict.lower <= present + 1e-9
        if present > 0 and all(name in world or is_exact(robot, name) for name in verdict.pair):
            assert np.isnan(verdict.distance) or verdict.distance >= present - 1e-6


def test_margins_of_pairs_add_to_that_of_the_guard():
    robot = robots.two_arms().robot()
    q, qd = robot.neutral, np.zeros(robot.nv)
    plain = cl.Guard(robot, budget=None)
    plain.update(q, qd)
    pair, lower = min(plain.bounds.items(), key=lambda item: item[1])
    assert lower > 0.01
    for own, common, stop in (
        (0.9, 0.0, False),
        (1.1, 0.0, True),
        (0.0, 0.9, False),
        (0.0, 1.1, True),
        (0.6, 0.6, True),
        (0.4, 0.4, False),
    ):
        robot.set_margin(*pair, margin=own * lower)
        verdict = cl.Guard(robot, budget=None, margin=common * lower).update(q, qd)
        assert verdict.stop == stop
        assert not stop or frozenset(verdict.pair) == frozenset(pair)


def test_allowed_pairs_do_not_stop():
    robot, world, states = case("scara")
    robot = robots.scara().robot()
    guard = cl.Guard(robot, world, budget=None)
    state = next(state for state in states if guard.update(*state).stop)
    guard.update(*state)
    for a, b in [pair for pair, value in guard.bounds.items() if value <= 0]:
        robot.allow(a, b)
    assert not cl.Guard(robot, world, budget=None).update(*state).stop


def test_fingers_that_follow_a_drive_are_swept_too():
    """Closing the drive closes the other finger as well, which has no value of its own."""
    robot = robots.gripper().robot()
    drive = robot.joint_names.index("drive")
    q, qd = robot.configuration({"drive": 0.05}), np.zeros(robot.nv)
    guard = cl.Guard(robot, budget=None, braking=cl.Braking(acceleration=1.0, deceleration=1.0))
    assert guard.update(q, qd).lower < robot.distances(q).distance.min()
    still = bounds_of(guard, {})[frozenset(("left finger", "right finger"))]
    qd[drive] = -0.2
    guard.update(q, qd)
    moving = bounds_of(guard, {})[frozenset(("left finger", "right finger"))]
    low, high = cl.Braking(acceleration=1.0, deceleration=1.0).intervals(robot, q, qd)
    # Both fingers come closer, the other at 0.8 of the speed.
    shut = robot.configuration({"drive": low[drive]})
    gaps = robot.distances(shut)
    expected = by_names(gaps.pairs, gaps.distance)[frozenset(("left finger", "right finger"))]
    assert moving < still
    assert abs(moving - expected) <= 1e-9
    assert high[drive] == q[drive]


# What is refused -----------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("how", "error", "word"),
    [
        ({"budget": -1}, ValueError, "budget"),
        ({"seconds": -1.0}, ValueError, "seconds"),
        ({"seconds": np.nan}, ValueError, "seconds"),
        ({"margin": -0.1}, ValueError, "margin"),
        ({"margin": np.nan}, ValueError, "margin"),
        ({"timeout": -1.0}, ValueError, "timeout"),
        ({"operators": "best"}, ValueError, "best"),
        ({"operators": {"nobody": "circ2"}}, KeyError, "nobody"),
        ({"max_points": 0}, ValueError, "max_points"),
        ({"speeds": {"nobody": 1.0}}, KeyError, "nobody"),
        ({"speeds": {"thing 0": -1.0}}, ValueError, "speeds"),
    ],
)
def test_nonsense_is_refused(how, error, word):
    robot, world, _ = case("scara")
    with pytest.raises(error, match=word):
        cl.Guard(robot, world, **how)


@pytest.mark.parametrize("argument", ["q", "qd", "command"])
def test_the_wrong_number_of_values_is_refused(argument):
    robot, world, _ = case("scara")
    given = {"q": np.zeros(4), "qd": np.zeros(4), "command": np.zeros(4)}
    given[argument] = np.zeros(5)
    with pytest.raises(ValueError, match="4"):
        cl.Guard(robot, world).update(**given)


def test_unknown_bodies_do_not_move():
    robot, world, states = case("scara")
    with pytest.raises(KeyError, match="nobody"):
        cl.Guard(robot, world).update(*states[0], moving={"nobody": np.eye(4)})
    with pytest.raises(KeyError, match="thing 0"):
        cl.Guard(robot, world).update(*states[0], moving={"thing 0": np.eye(4)})
    with pytest.raises(ValueError, match="pose"):
        cl.Guard(robot, world, speeds={"thing 0": 1.0}).update(*states[0], moving={"thing 0": np.eye(3)})
