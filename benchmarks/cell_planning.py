"""Joint angles in the order a sampling planner tries them, with its crude picture of arm and cell."""

from __future__ import annotations

import numpy as np
from cell_arm import HOME, arm_poses
from cell_sheets import Floats

# What a planner would sample in, and a crude picture of arm and cell that tells it where to turn back: balls on the
# links (link, x, y, z, radius) against boxes (lowest and highest corner).
REGION = np.array([(-0.6, 0.1, -0.5, -1.6, -1.4, -3.0), (0.9, 0.9, 0.6, 1.6, 1.4, 3.0)])
BALLS = np.array(
    [
        (3, -0.5, 0.0, 0.2, 0.2),
        (4, 0.1, 0.0, 0.0, 0.15),
        (4, 0.4, 0.0, 0.0, 0.13),
        (4, 0.7, 0.0, 0.0, 0.13),
        (5, 0.1, 0.0, 0.0, 0.1),
        (6, 0.15, 0.0, -0.1, 0.1),
        (6, 0.32, 0.0, -0.1, 0.05),
        (6, 0.5, 0.0, -0.1, 0.01),
    ]
)
BOXES = np.array(
    [
        ((-2.2, -0.88, 0.7), (2.2, 0.88, 1.5)),  # the body below its windows
        ((-1.5, -0.75, 1.5), (0.8, 0.75, 1.97)),  # the cabin
        ((-7.0, -0.7, 0.0), (7.0, 0.7, 0.5)),  # the line
        ((-1.9, -1.35, 0.0), (1.9, 1.35, 0.72)),  # the clamps
        ((-9.0, -9.0, -9.0), (9.0, 9.0, 0.0)),  # the ground
    ]
)
STRIDE, STRIDES = 0.1, 24  # radians; a branch goes on for at most so many
OVERSHOOT = 4  # strides that are tried before the first blocked one is noticed
LOCAL = 0.8  # share of the goals that lie near the latest node


def blocked(arm: int, q: Floats, bases: Floats) -> bool:
    world_from_link = arm_poses(arm, q, bases)[BALLS[:, 0].astype(int)]
    centres = np.einsum("nij,nj->ni", world_from_link[:, :3, :3], BALLS[:, 1:4]) + world_from_link[:, :3, 3]
    nearest = np.clip(centres[:, None], BOXES[:, 0], BOXES[:, 1])
    return bool(np.any(np.linalg.norm(centres[:, None] - nearest, axis=-1) < BALLS[:, 4:]))


def grown_tree(arm: int, bases: Floats, steps: int, rng: np.random.Generator) -> Floats:
    """Joint angles in the order a rapidly exploring tree tries them; blocked ones are tried, and not grown from."""
    tree = np.empty((steps + 1, 6))
    tree[0] = HOME
    grown, tried = 1, np.empty((0, 6))
    while len(tried) < steps:
        goal = rng.uniform(REGION[0], REGION[1])
        if grown > 1 and rng.uniform() < LOCAL:
            goal = np.clip(rng.normal(tree[grown - 1], 0.5), REGION[0], REGION[1])
        start = tree[np.argmin(np.linalg.norm(tree[:grown] - goal, axis=1))]
        way = goal - start
        strides = min(STRIDES, steps - len(tried), int(np.linalg.norm(way) / STRIDE) + 1)
        branch = start + np.arange(1, strides + 1)[:, None] * STRIDE * way / np.linalg.norm(way)
        free = next((k for k, q in enumerate(branch) if blocked(arm, q, bases)), strides)
        tree[grown : grown + free] = branch[:free]
        grown, tried = grown + free, np.concatenate([tried, branch[: free + OVERSHOOT]])
    return tried
