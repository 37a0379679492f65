"""What a guard keeps, and what it does not take: robots that change, copies, half of a configuration."""

import copy
import pickle

import numpy as np
import pytest

import clearance as cl

X = cl.Joint("x", "prismatic", "rail", "cart", axis=[1, 0, 0])
Y = cl.Joint("y", "prismatic", "cart", "tool", axis=[0, 1, 0])
WALL = {"wall": cl.Box([0.2, 1.0, 1.0]).at([1.0, 0.0, 0.0])}


def cart():
    return cl.Robot([cl.Link("rail"), cl.Link("cart", cl.Sphere(0.1)), cl.Link("tool")], [X, Y])


def test_a_robot_that_changes_does_not_change_the_guard():
    robot = cart()
    guard = cl.Guard(robot, WALL)
    before = guard.update([0.3, 0.0], [0.0, 0.0])
    volume = guard.sweep().volumes("cart")[0].points
    robot.base = [5.0, 0.0, 0.0]
    robot.attach("tool", "cup", cl.Sphere(0.3))
    robot.allow("cart", "wall")
    assert guard.update([0.3, 0.0], [0.0, 0.0]).lower == before.lower
    swept = guard.sweep()
    np.testing.assert_array_equal(swept.volumes("cart")[0].points, volume)
    assert swept.links == ("cart",)
    assert abs(swept.lower("cart", WALL["wall"]) - before.lower) < 1e-9


def test_settings_of_a_guard_are_read_only():
    guard = cl.Guard(cart(), WALL, margin=0.1)
    assert (guard.margin, guard.braking.latency, guard.robot.name) == (0.1, 0.01, "robot")
    for name in ("margin", "braking", "robot"):
        with pytest.raises(AttributeError):
            setattr(guard, name, None)


def test_nothing_is_swept_before_there_was_input():
    guard = cl.Guard(cart(), WALL)
    for _ in range(2):
        guard.update(None, None)
        with pytest.raises(ValueError, match="update comes first"):
            guard.sweep()
        guard.update([0.0, 0.0], [0.0, 0.0])
        assert guard.sweep().links == ("cart",)
        guard.reset()


def test_verdicts_can_be_logged_but_guards_not_copied():
    guard = cl.Guard(cart(), WALL)
    verdict = guard.update([0.3, 0.0], [0.2, 0.0])
    for other in (pickle.loads(pickle.dumps(verdict)), copy.copy(verdict)):
        assert repr(other) == repr(verdict)
        for name in ("stop", "reason", "pair", "distance", "time_to_contact", "stopping_time", "work", "iterations"):
            assert getattr(other, name) == getattr(verdict, name)
        np.testing.assert_array_equal(other.point_a, verdict.point_a)
    for made in (guard, guard.sweep()):
        for attempt in (copy.copy, copy.deepcopy, pickle.dumps):
            with pytest.raises(TypeError, match="make"):
                attempt(made)


def test_a_verdict_is_not_taken_for_a_yes():
    with pytest.raises(TypeError, match="stop"):
        bool(cl.Guard(cart(), WALL).update([0.0, 0.0], [0.0, 0.0]))


def test_half_of_a_configuration_is_not_filled_up():
    guard, braking = cl.Guard(cart(), WALL), cl.Braking()
    with pytest.raises(KeyError, match="'x'"):
        guard.update({"y": 0.0}, [1.0, 0.0])
    with pytest.raises(KeyError, match="'x'"):
        braking.intervals(cart(), {"y": 0.0}, [1.0, 0.0])
    whole = guard.update({"y": 0.1, "x": 0.2}, [1.0, 0.0])
    guard.reset()
    assert whole.lower == guard.update([0.2, 0.1], [1.0, 0.0]).lower
    assert guard.update({"x": np.nan, "y": 0.0}, [0.0, 0.0]).reason == "input"


def test_masked_values_are_not_known():
    guard = cl.Guard(cart(), WALL)
    masked = np.ma.array([0.0, 0.0], mask=[True, False])
    assert guard.update(masked, [0.0, 0.0]).reason == "input"
    assert guard.update([0.0, 0.0], masked).reason == "input"
    assert guard.update(np.ma.array([0.0, 0.0]), [0.0, 0.0]).reason == "clear"


def test_intervals_are_not_made_of_nothing():
    for bad in (np.nan, np.inf):
        with pytest.raises(ValueError, match="qd must be finite"):
            cl.Braking().intervals(cart(), [0.0, 0.0], [bad, 0.0])
        with pytest.raises(ValueError, match="command must be finite"):
            cl.Braking().intervals(cart(), [0.0, 0.0], [0.0, 0.0], [bad, 0.0])


def test_bodies_that_stand_too_near_come_no_nearer():
    robot = cl.Robot([cl.Link("base", cl.Sphere(0.1)), cl.Link("cart")], [cl.Joint("x", "prismatic", "base", "cart")])
    for at, reason in ((0.15, "receding"), (0.5, "clear")):
        guard = cl.Guard(robot, {"ball": cl.Sphere(0.1).at([at, 0.0, 0.0])})
        verdict = guard.update([0.0], [1.0])
        assert (verdict.stop, verdict.reason) == (False, reason)
        assert abs(verdict.lower - (at - 0.2)) < 1e-9
        assert abs(guard.bounds["base", "ball"] - (at - 0.2)) < 1e-9


@pytest.mark.parametrize(
    ("arguments", "error", "words"),
    [
        ({"robot": "robot"}, TypeError, "Robot"),
        ({"braking": 0.01}, TypeError, "Braking"),
        ({"speeds": ["wall"]}, TypeError, "speeds"),
        ({"speeds": {"wall": "fast"}}, ValueError, "speeds"),
        ({"speeds": {"nobody": 1.0}}, KeyError, "nobody"),
        ({"budget": 10**30}, ValueError, "budget"),
        ({"budget": 0.5}, ValueError, "budget"),
        ({"margin": "a"}, ValueError, "margin"),
        ({"operators": ["circ2"]}, ValueError, "operators"),
        ({"max_points": 10**12}, ValueError, "max_points"),
    ],
)
def test_what_a_guard_cannot_use_is_named(arguments, error, words):
    with pytest.raises(error, match=words):
        cl.Guard(**({"robot": cart(), "world": WALL} | arguments))


@pytest.mark.parametrize(
    "arguments", [{"latency": -1.0}, {"deceleration": 0.0}, {"acceleration": "a"}, {"uncertainty": np.nan}]
)
def test_brakes_that_cannot_be_are_refused_at_once(arguments):
    with pytest.raises(ValueError, match=next(iter(arguments))):
        cl.Braking(**arguments)
