"""RRT-Connect, a planner in a hundred lines (J. Kuffner, S. LaValle, RRT-Connect: An efficient approach to single-query
path planning, 2000), with edges that are proved free instead of sampled.

Two trees grow, one from the start and one from the goal. `check_path` tells how far a straight line is free, so an edge
leads as far towards its target as it can: there is no step to choose, nor a resolution that might be too coarse.
"""

import numpy as np
from numpy.typing import NDArray

import clearance as cl

Floats = NDArray[np.float64]

SHY = 0.8  # of a line that is free up to an obstacle, this much is taken: nobody gets far from a wall it leans on


class Tree:
    """Configurations, each with the one that it was reached from."""

    def __init__(self, root: Floats, weights: Floats) -> None:
        self.nodes, self.parents, self.weights = root[None], [0], weights

    def nearest(self, q: Floats) -> int:
        """Find the configuration that is nearest to another."""
        return int(np.argmin(np.linalg.norm((self.nodes - q) * self.weights, axis=1)))

    def add(self, q: Floats, parent: int) -> None:
        """Add a configuration."""
        self.nodes = np.vstack([self.nodes, q])
        self.parents.append(parent)

    def branch(self, node: int) -> list[Floats]:
        """Walk from a configuration back to the root."""
        walk = [self.nodes[node]]
        while node:
            node = self.parents[node]
            walk.append(self.nodes[node])
        return walk


class Planner:
    """Find a way for a robot through a world, and shorten it.

    The length of a way is about the time that it takes, at the largest speeds of the joints.
    """

    def __init__(self, robot: cl.Robot, world: cl.Scene, margin: float, seed: int = 0) -> None:
        self.robot, self.world, self.margin = robot, world, margin
        self.weights, self.rng, self.edges = 1.0 / robot.velocity, np.random.default_rng(seed), 0

    def length(self, path: Floats) -> float:
        """Measure a path, in seconds."""
        return float(np.linalg.norm(np.diff(path, axis=0) * self.weights, axis=1).sum())

    def reach(self, a: Floats, b: Floats) -> Floats:
        """Go from a towards b, as far as it is proved to be free."""
        self.edges += 1
        report = cl.check_path(self.robot, self.world, [a, b], self.margin, tolerance=np.inf)
        return b if report else a + SHY * report.first_violation[0] * (b - a)

    def plan(self, start: Floats, goal: Floats, attempts: int = 20_000) -> Floats:
        """Connect two configurations; joints that need not move stay where they are."""
        for name, q in (("start", start), ("goal", goal)):
            if not cl.is_clear(self.robot, self.world, q, self.margin):
                raise ValueError(f"{name}: {' and '.join(self.robot.nearest(q, self.world).pair)} are too close.")
        one, other = Tree(start, self.weights), Tree(goal, self.weights)
        for _ in range(attempts):
            target = np.where(start == goal, start, self.robot.random(seed=self.rng))
            met = self._extend(one, target) and self._extend(other, one.nodes[-1])
            if met and (other.nodes[-1] == one.nodes[-1]).all():
                there, back = one.branch(len(one.nodes) - 1), other.branch(len(other.nodes) - 1)
                path = np.array([*there[::-1], *back[1:]])
                return path if (path[0] == start).all() else path[::-1]
            one, other = other, one
        raise RuntimeError(f"no way was found in {attempts} attempts.")

    def shorten(self, path: Floats, attempts: int = 800) -> Floats:
        """Replace detours by straight lines, wherever these are free."""
        for _ in range(attempts):
            times = np.sort(self.rng.uniform(0.0, len(path) - 1.0, 2))
            a, b = (_at(path, time) for time in times)
            first, last = int(times[0]), int(times[1]) + 1
            shortcut = np.vstack([path[: first + 1], a, b, path[last:]])
            if self.length(shortcut) < self.length(path) - 1e-6 and (self.reach(a, b) == b).all():
                path = shortcut
        return path

    def _extend(self, tree: Tree, target: Floats) -> bool:
        near = tree.nearest(target)
        reached = self.reach(tree.nodes[near], target)
        moved = bool(np.linalg.norm((reached - tree.nodes[near]) * self.weights) > 1e-3)
        if moved:
            tree.add(reached, near)
        return moved


def _at(path: Floats, time: float) -> Floats:
    k = min(int(time), len(path) - 2)
    return path[k] + (time - k) * (path[k + 1] - path[k])
