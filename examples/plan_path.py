"""Plan a way for an arm from a shelf to a machine, and prove that it is free everywhere.

A planner asks two things thousands of times: is this configuration free, and is the straight line between these two?
`is_clear` and `check_path` answer them. The second answer is a proof, so no thin obstacle slips through between
samples. The planner is the one of rrt_connect.py, or OMPL's if it is asked for.

Run it: python examples/plan_path.py [--ompl]     (OMPL: pip install ompl)
"""

import sys
from pathlib import Path
from time import perf_counter

import numpy as np
from numpy.typing import NDArray

import clearance as cl
from clearance import samples

sys.path.insert(0, str(Path(__file__).parent))
from rrt_connect import Planner

Floats = NDArray[np.float64]

MARGIN = 0.012  # metres


def plan(robot: cl.Robot, world: cl.Scene, start: Floats, goal: Floats) -> Floats:
    """Plan with RRT-Connect, and shorten what it found."""
    planner = Planner(robot, world, MARGIN, seed=6)
    began = perf_counter()
    found = planner.plan(start, goal)
    print(f"RRT-Connect: {len(found)} waypoints, {planner.edges} edges, {perf_counter() - began:.2f} s")
    began = perf_counter()
    path = planner.shorten(found)
    print(
        f"shortened from {planner.length(found):.2f} s of movement to {planner.length(path):.2f} s, "
        f"{len(path)} waypoints, {perf_counter() - began:.2f} s"
    )
    return path


def plan_with_ompl(robot: cl.Robot, world: cl.Scene, start: Floats, goal: Floats, seconds: float = 60.0) -> Floats:
    """Plan with OMPL (I. Sucan, M. Moll, L. Kavraki, The Open Motion Planning Library, 2012)."""
    from ompl import base, geometric, util

    util.setLogLevel(util.LOG_WARN)
    moving = np.flatnonzero(start != goal)
    space, bounds = base.RealVectorStateSpace(len(moving)), base.RealVectorBounds(len(moving))
    for k, joint in enumerate(moving):
        bounds.setLow(k, robot.lower[joint])
        bounds.setHigh(k, robot.upper[joint])
    space.setBounds(bounds)

    def configuration(state: base.State) -> Floats:
        q = start.copy()
        q[moving] = [state[k] for k in range(len(moving))]
        return q

    class ProvedMotions(base.MotionValidator):
        def checkMotion(self, a: base.State, b: base.State) -> bool:  # noqa: N802
            ends = [configuration(a), configuration(b)]
            return cl.check_path(robot, world, ends, MARGIN, tolerance=np.inf).clear

    setup = geometric.SimpleSetup(space)
    information = setup.getSpaceInformation()
    validator = ProvedMotions(information)
    information.setMotionValidator(validator)
    setup.setStateValidityChecker(lambda state: cl.is_clear(robot, world, configuration(state), MARGIN))
    first, last = space.allocState(), space.allocState()
    for k, joint in enumerate(moving):
        first[k], last[k] = start[joint], goal[joint]
    setup.setStartAndGoalStates(first, last)
    planner = geometric.RRTConnect(information)
    planner.setRange(1.0)
    setup.setPlanner(planner)
    if not setup.solve(seconds) or not setup.haveExactSolutionPath():
        raise RuntimeError(f"OMPL found no way in {seconds} s.")
    path = setup.getSolutionPath()
    print(f"OMPL: {path.getStateCount()} waypoints, {setup.getLastPlanComputationTime():.2f} s")
    setup.getPathSimplifier().simplifyMax(path)
    return np.array([configuration(path.getState(k)) for k in range(path.getStateCount())])


def main(planner: str = "") -> tuple[Floats, cl.PathReport]:
    """Plan, prove, print; return the waypoints and what `check_path` says of them."""
    robot, world = samples.arm(), samples.arm_cell()
    start, goal = samples.arm_path()[[0, -1]]
    path = (plan_with_ompl if planner == "--ompl" else plan)(robot, world, start, goal)

    began = perf_counter()
    report = cl.check_path(robot, world, path, MARGIN, tolerance=1e-4)
    print(
        f"{'proved' if report else 'NOT proved'} to keep {1e3 * MARGIN:g} mm: least clearance between "
        f"{1e3 * report.lower:.2f} and {1e3 * report.upper:.2f} mm, {report.pair[0]} to {report.pair[1]}, "
        f"{report.configurations} configurations, {perf_counter() - began:.3f} s"
    )
    length = np.linalg.norm(np.diff(path, axis=0), axis=1).sum()
    print(f"{len(path)} waypoints, {length:.2f} rad; the hand travels {_travel(robot, path):.2f} m")
    return path, report


def _travel(robot: cl.Robot, path: Floats) -> float:
    times = np.linspace(0.0, len(path) - 1.0, 1000)
    dense = np.stack([np.interp(times, np.arange(len(path)), joint) for joint in path.T], axis=-1)
    return float(np.linalg.norm(np.diff(robot.pose(dense, "tcp")[:, :3, 3], axis=0), axis=1).sum())


if __name__ == "__main__":
    main(*sys.argv[1:2])
