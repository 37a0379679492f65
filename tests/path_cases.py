"""Robots with a path among obstacles, and what a report on the path is compared with."""

import numpy as np

import clearance as cl
import robot_oracle as oracle
import robots

MARGINS = (0.0, 0.01, 0.05)


def allowed(distance):
    """Return how far two brackets of the same distance may lie apart; depths are found less closely."""
    return np.where(np.asarray(distance) < 0, 1e-6, 1e-8)


def value_at(plan, world, q):
    return float(oracle.least(plan, world, q))


def overlap(one, other, slack=1e-7):
    return one.lower <= other.upper + slack and other.lower <= one.upper + slack


def random_flat_case(seed):
    """Draw an arm in the plane among obstacles, and a path."""
    rng = np.random.default_rng([1, seed])
    lengths = rng.uniform(0.2, 0.5, size=rng.integers(2, 5))
    plan = robots.planar_arm(tuple(lengths), ("capsules", "boxes")[seed % 2])
    world = {}
    for k in range(3):
        away, angle = lengths.sum() * rng.uniform(0.45, 1.0), rng.uniform(-2.5, 2.5)
        shape = (cl.Sphere(rng.uniform(0.02, 0.1)), cl.Box(rng.uniform(0.02, 0.2, size=3)))[k % 2]
        world[f"thing {k}"] = (shape.at([away * np.cos(angle), away * np.sin(angle), 0.0]),)
    steps = rng.normal(size=(rng.integers(2, 4), len(lengths))) * rng.choice([0.3, 0.6, 0.9])
    start = rng.uniform(-1.2, 1.2, size=len(lengths))
    return plan, world, start + np.cumsum(steps, axis=0)


def slide(*shapes):
    """A body that slides along x."""
    rail = robots.JointPlan("slide", "prismatic", "rail", "body", axis=(1.0, 0.0, 0.0))
    return robots.Plan("slide", {"rail": (), "body": shapes or (cl.Sphere(0.1),)}, (rail,))


def swing(length=1.0):
    """An arm that turns about z."""
    hinge = robots.JointPlan("hinge", "continuous", "post", "arm")
    return robots.Plan("swing", {"post": (), "arm": robots.bar(0.02, length)}, (hinge,))
