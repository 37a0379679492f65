"""What reaches a guard from outside: walls that stand or move, commands, clocks, and numbers that are none."""

import numpy as np
import pytest

import clearance as cl

WALL = cl.Box([0.1, 1.0, 1.0])
BRAKING = {"latency": 0.01, "acceleration": 20.0, "deceleration": 20.0}


def slider():
    """A cart on a rail along x; a wall at x = 1 is 0.9 m away when it is at zero."""
    joint = cl.Joint("slide", "prismatic", "rail", "cart", axis=[1.0, 0.0, 0.0])
    return cl.Robot([cl.Link("rail"), cl.Link("cart", cl.Box([0.1, 0.1, 0.1]))], [joint])


def wall_at(x):
    return {"wall": WALL.at([x, 0.0, 0.0])}


def guard_of(world=None, **how):
    how = {"budget": None, "braking": cl.Braking(**BRAKING), **how}
    return cl.Guard(slider(), wall_at(1.0) if world is None else world, **how)


def travel(speed):
    """Return how far the cart comes, and how long it takes until it stands."""
    fast = speed + 20.0 * 0.01
    return (speed + fast) / 2 * 0.01 + fast**2 / 40.0, 0.01 + fast / 20.0


# Walls ---------------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("speed", [0.0, 0.3, 1.0, 2.0])
@pytest.mark.parametrize("margin", [0.0, 0.05])
def test_the_cart_is_stopped_as_late_as_possible(speed, margin):
    way, _ = travel(speed)
    for room, stop in ((1e-6, False), (-1e-6, True)):
        verdict = guard_of(margin=margin).update([0.9 - margin - way - room], [speed])
        assert verdict.stop == stop
        assert abs(verdict.lower - (margin + room)) <= 1e-8
        assert verdict.pair == ("cart", "wall")
        assert verdict.reason == ("pair" if stop else "clear")
        assert abs(verdict.distance - (margin + way + room)) <= 1e-8
        assert np.allclose(verdict.normal, [1.0, 0.0, 0.0], atol=1e-6)
        assert abs(verdict.point_b[0] - 0.95) <= 1e-6


def test_driving_away_is_clear():
    way, _ = travel(0.0)
    assert not guard_of().update([0.9 - way - 1e-6], [-1.0]).stop


def test_contact_comes_sooner_from_nearer_and_faster():
    times = [guard_of().update([q], [v]).time_to_contact for q, v in ((0.0, 0.5), (0.3, 0.5), (0.3, 1.0))]
    assert times[0] > times[1] > times[2] > 0
    # Nothing is faster than the present speed and the largest acceleration together.
    assert times[1] <= 0.6 / 0.5 + 1e-9


@pytest.mark.parametrize("as_world", [cl.Scene, list, dict])
def test_worlds_come_in_every_form(as_world):
    if as_world is cl.Scene:
        world = cl.Scene()
        world.add("wall", WALL, [1.0, 0.0, 0.0])
    else:
        world = wall_at(1.0) if as_world is dict else list(wall_at(1.0).values())
    verdict = guard_of(world).update([0.5], [0.0])
    assert abs(verdict.lower - (0.4 - travel(0.0)[0])) <= 1e-8


def test_without_a_world_there_is_nothing_to_hit():
    verdict = cl.Guard(slider(), budget=None).update([0.5], [3.0])
    assert not verdict.stop
    assert verdict.reason == "clear"
    assert verdict.lower == np.inf


# Walls that move -----------------------------------------------------------------------------------------------------


def test_a_wall_that_was_moved_is_where_it_is_now():
    guard = guard_of(budget=2_000, speeds={"wall": 0.0})
    for k in range(200):
        x = 1.0 + 0.5 * np.sin(0.3 * k)
        verdict = guard.update([0.0], [0.0], moving={"wall": cl.poses.from_translation([x, 0.0, 0.0])})
        room = x - 0.1 - travel(0.0)[0]
        assert verdict.lower <= room + 1e-9
    assert verdict.lower > 0


def test_a_wall_keeps_its_place_until_it_is_moved_again():
    guard = guard_of(speeds={"wall": 0.0})
    guard.update([0.0], [0.0], moving={"wall": cl.poses.from_translation([0.1, 0.0, 0.0])})
    assert guard.update([0.0], [0.0]).stop
    guard.update([0.0], [0.0], moving={"wall": cl.poses.from_translation([2.0, 0.0, 0.0])})
    assert abs(guard.update([0.0], [0.0]).lower - (1.9 - travel(0.0)[0])) <= 1e-8


def test_a_translation_is_a_pose():
    verdict = guard_of(speeds={"wall": 0.0}).update([0.0], [0.0], moving={"wall": [0.5, 0.0, 0.0]})
    assert abs(verdict.lower - (0.4 - travel(0.0)[0])) <= 1e-8


@pytest.mark.parametrize("speed", [0.0, 1.0])
@pytest.mark.parametrize("approach", [0.2, 2.0])
def test_a_wall_that_may_come_closer_is_expected_to(speed, approach):
    """Until the cart stands, the wall has come as far as its speed allows."""
    way, time = travel(speed)
    needed = way + approach * time
    for room, stop in ((5e-3, False), (-1e-3, True)):
        guard = guard_of(speeds={"wall": approach})
        verdict = guard.update([0.9 - needed - room], [speed], time=0.0, moving={"wall": [1.0, 0.0, 0.0]})
        assert verdict.stop == stop


def test_a_wall_that_was_not_seen_for_a_while_may_be_nearer():
    guard = guard_of(speeds={"wall": 1.0})
    assert not guard.update([0.5], [0.0], time=0.0, moving={"wall": [1.0, 0.0, 0.0]}).stop
    assert not guard.update([0.5], [0.0], time=0.3).stop
    assert guard.update([0.5], [0.0], time=0.45).stop


def test_a_wall_that_was_never_seen_may_be_anywhere():
    assert guard_of(speeds={"wall": 1.0}).update([0.0], [0.0], time=0.0).stop


# Commands ------------------------------------------------------------------------------------------------------------


def test_a_known_command_leaves_less_room_for_surprises():
    way, _ = travel(0.0)
    near = 0.9 - way / 2
    assert guard_of().update([near], [0.0]).stop
    assert not guard_of().update([near], [0.0], command=[0.0]).stop
    assert not guard_of().update([near], [0.0], command=[-20.0]).stop
    assert guard_of().update([near], [0.0], command=[20.0]).stop


def test_a_command_does_not_make_a_cart_stop_at_once():
    """It runs on for 5 ms and 0.25 mm before it turns around."""
    assert guard_of().update([0.9 - 0.0002], [0.1], command=[-20.0]).stop
    assert not guard_of().update([0.9 - 0.0003], [0.1], command=[-20.0]).stop


# Leaving a place that is too near ------------------------------------------------------------------------------------


def test_a_cart_inside_the_margin_may_leave():
    guard = guard_of(margin=0.05)
    verdict = guard.update([0.88], [0.0], command=[-5.0])
    assert not verdict.stop
    assert verdict.reason == "receding"
    verdict = guard.update([0.88], [-0.5], command=[-5.0])
    assert not verdict.stop


@pytest.mark.parametrize(("speed", "command"), [(0.0, 5.0), (0.1, -5.0), (0.0, None), (-0.1, None), (-0.01, 5.0)])
def test_a_cart_inside_the_margin_must_not_come_closer(speed, command):
    command = None if command is None else [command]
    assert guard_of(margin=0.05).update([0.88], [speed], command=command).stop


def test_a_cart_that_touches_may_not_go_deeper():
    guard = guard_of()
    assert guard.update([0.91], [0.0], command=[5.0]).stop
    assert guard.update([0.91], [0.0]).stop


def test_leaving_one_wall_is_no_excuse_for_another():
    world = {"wall": WALL.at([1.0, 0.0, 0.0]), "other": WALL.at([0.75, 0.0, 0.0])}
    guard = guard_of(world, margin=0.05)
    # At 0.875 both are 25 mm away: whatever it does it comes closer to one of them.
    for command in (-5.0, 5.0):
        assert guard.update([0.875], [0.0], command=[command]).stop


# Numbers that are none -----------------------------------------------------------------------------------------------


@pytest.mark.parametrize("bad", [np.nan, np.inf, -np.inf])
@pytest.mark.parametrize("argument", ["q", "qd", "command"])
def test_numbers_that_are_none_stop(argument, bad):
    guard = guard_of()
    given = {"q": [0.0], "qd": [0.0], "command": [0.0]}
    assert not guard.update(**given).stop
    verdict = guard.update(**{**given, argument: [bad]})
    assert verdict.stop
    assert verdict.reason == "input"
    # The next ones count again.
    assert not guard.update(**given).stop


@pytest.mark.parametrize("given", [(None, [0.0]), ([0.0], None), (None, None)])
def test_missing_input_stops(given):
    verdict = guard_of().update(*given)
    assert verdict.stop
    assert verdict.reason == "input"


@pytest.mark.parametrize("huge", [1e6, 1e160, 1e308])
def test_huge_numbers_stop(huge):
    guard = guard_of()
    assert guard.update([0.0], [huge]).stop
    assert guard.update([huge], [0.0]).stop in (True, False)
    assert not guard.update([0.0], [0.0]).stop


def test_a_wall_at_no_place_stops():
    guard = guard_of(speeds={"wall": 0.0})
    pose = np.eye(4)
    pose[0, 3] = np.nan
    assert guard.update([0.0], [0.0], moving={"wall": pose}).stop


# Clocks --------------------------------------------------------------------------------------------------------------


def test_late_input_is_stale():
    guard = guard_of(timeout=0.05)
    reasons = [guard.update([0.0], [0.0], time=time).reason for time in (0.0, 0.01, 0.055, 0.2, 0.21)]
    assert reasons == ["clear", "clear", "clear", "stale", "clear"]


def test_clocks_do_not_run_backwards():
    guard = guard_of(timeout=0.05)
    guard.update([0.0], [0.0], time=1.0)
    verdict = guard.update([0.0], [0.0], time=0.99)
    assert verdict.stop
    assert verdict.reason in ("stale", "input")
    assert guard.update([0.0], [0.0], time=np.nan).stop


@pytest.mark.parametrize("bad", [np.nan, np.inf, -np.inf])
def test_a_clock_that_fails_means_stop(bad):
    guard = guard_of()
    verdict = guard.update([0.0], [0.0], time=bad)
    assert verdict.stop
    assert verdict.reason == "input"
    found = guard.replay(np.zeros((3, 1)), np.zeros((3, 1)), time=[0.0, bad, 0.02])
    assert found.stop.tolist() == [False, True, False]


def test_without_a_timeout_pauses_do_not_matter():
    guard = guard_of()
    assert not guard.update([0.0], [0.0], time=0.0).stop
    assert not guard.update([0.0], [0.0], time=100.0).stop


def test_a_guard_with_a_timeout_wants_to_know_the_time():
    guard = guard_of(timeout=0.05)
    guard.update([0.0], [0.0], time=0.0)
    assert guard.update([0.0], [0.0]).stop
