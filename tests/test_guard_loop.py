"""Robots that are driven blindly: with a guard they never touch, without one they do."""

import numpy as np
import pytest

import clearance as cl
import robots
from closed_loops import Drive, closed_loop
from robots import PLANS
from sweep_oracle import things

ROBOTS = ("seven", "two arms", "scara", "gripper")
BUDGETS = (None, 55_000, 10_000)


def case(name, seed=0):
    robot = PLANS[name]().robot()
    return robot, things(robot, np.random.default_rng([seed, *name.encode()]))


def assert_guarded(robot, world, seed, cycles, **how):
    """Drive a robot with a guard; assert that it neither touches nor stands all the time."""
    run = closed_loop(robot, cl.Guard(robot, world, **how), seed, cycles, world)
    assert robot.within_limits(np.array(run.q)).all()
    assert run.collisions(robot, world, how.get("margin", 0.0)) == 0
    assert np.mean(run.is_moving) >= 0.1
    assert run.stops > 0
    return run


@pytest.mark.parametrize("name", ROBOTS)
@pytest.mark.parametrize("budget", BUDGETS)
def test_a_guarded_robot_never_touches(name, budget):
    robot, world = case(name)
    run = assert_guarded(robot, world, 0, 300, budget=budget)
    assert budget is None or max(verdict.work for verdict in run.verdicts) <= budget


@pytest.mark.parametrize("name", ROBOTS)
def test_without_a_guard_it_does(name):
    robot, world = case(name)
    assert sum(closed_loop(robot, None, seed, 300, world).collisions(robot, world) for seed in range(5)) > 0


@pytest.mark.parametrize("name", ["seven", "scara"])
def test_a_margin_is_kept_while_moving(name):
    robot, world = case(name)
    assert_guarded(robot, world, 1, 300, margin=0.01)


def test_a_guard_with_longer_latency_and_weaker_brakes():
    robot, world = case("two arms")
    drive = Drive(acceleration=10.0, deceleration=5.0, cycle=0.03, substeps=30)
    guard = cl.Guard(robot, world, braking=cl.Braking(0.03, 10.0, 5.0), budget=None)
    run = closed_loop(robot, guard, 2, 150, world, drive)
    assert run.collisions(robot, world) == 0
    assert any(run.is_moving)


def test_optimism_about_the_brakes_is_punished():
    """The loop can tell: with brakes far weaker than promised, the robot touches what is around it."""
    touched = 0
    for seed in range(6):
        robot, world = case("two arms", seed)
        guard = cl.Guard(robot, world, budget=None)
        drive = Drive(deceleration=1.0)
        touched += closed_loop(robot, guard, seed, 300, world, drive).collisions(robot, world) > 0
    assert touched > 0


# A body that moves as well -------------------------------------------------------------------------------------------


def touches(robot, run, ball, path):
    """Tell for all sub-steps whether a ball on its path touches any link."""
    placed = robot.poses(np.array(run.q))
    where = cl.poses.from_translation(np.array([path(time) for time in run.times]))
    gaps = [
        cl.distance(link.shape.at(placed[:, k]), ball.at(where)).distance
        for k, link in enumerate(robot.links)
        if link.shape is not None
    ]
    return np.min(gaps, axis=0) <= 0


def test_a_ball_that_flies_about_is_never_hit_by_a_robot_that_moves():
    robot = robots.seven().robot()
    ball, speed = cl.Sphere(0.08), 0.5

    def path(time):
        return np.array([0.5 * np.cos(time), 0.5 * np.sin(time), 0.9])

    world = {"ball": ball.at(path(0.0))}

    def moving(time):
        return {"ball": cl.poses.from_translation(path(time))}

    guard = cl.Guard(robot, world, budget=None, speeds={"ball": speed})
    run = closed_loop(robot, guard, 3, 600, world, moving=moving)
    # A robot that stands may be run into.
    hits = touches(robot, run, ball, path) & np.array(run.is_moving)
    assert not hits.any()
    assert any("ball" in verdict.pair for verdict in run.verdicts if verdict.stop)
    blind = closed_loop(robot, None, 3, 600, world)
    assert np.any(touches(robot, blind, ball, path) & np.array(blind.is_moving))


# Long runs -----------------------------------------------------------------------------------------------------------


@pytest.mark.long
@pytest.mark.parametrize("name", [*ROBOTS, "arm"])
@pytest.mark.parametrize("seed", range(4))
def test_a_guarded_robot_never_touches_for_minutes(name, seed):
    if name == "arm":
        robot, cell = cl.samples.arm(), cl.samples.arm_cell()
        world = {body: cell.shape(body).at(cell.pose(body)) for body in cell.names}
    else:
        robot, world = case(name, seed)
    assert_guarded(robot, world, seed, 12_000, budget=BUDGETS[seed % 3])
    assert closed_loop(robot, None, seed, 12_000, world).collisions(robot, world) > 0
