"""A world of rigid bodies that fall, touch, roll and are driven by motors."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import ArrayLike

from ..robots import Robot
from ..scene import Scene
from .laws import checked_steps
from .materials import Elastic, Hard, Material, Soft
from .world_bodies import Floats, as_pose
from .world_joints import JointedBodies
from .world_results import Energy, Momentum, WorldContacts, WorldWork

if TYPE_CHECKING:
    from ..rays import RayTarget

__all__ = ["World"]


class World(JointedBodies):
    """Rigid bodies, their contacts and joints, in steps of a fixed length.

    The same calls give the same bits, on any number of threads.

    Parameters
    ----------
    gravity : array_like, (3,)
        In m/s^2.
    step : float
        In seconds.
    contact : Hard, Soft or Elastic
        How bodies meet; `Hard()` unless given.
    broad_phase : {"grid", "hierarchy", "combined", "all"}
        How pairs that may touch are found: by a hash grid of cubes; by trees of balls around groups; by trees for what
        moves and a coarse grid for what is fixed; or all of them. Only the work differs, not the motion.
    threads : int, optional
        All cores unless given.

    Examples
    --------
    >>> world = World(contact=Hard())
    >>> world.add("floor", HalfSpace([0.0, 0.0, 1.0], 0.0), motion="fixed")
    >>> world.add("ball", Sphere(0.1), [0.0, 0.0, 1.0], density=500.0)
    >>> world.step(1000)
    >>> round(float(world.pose("ball")[2, 3]), 3)
    0.1
    >>> world.touching("ball")
    ['floor']
    """

    def __init__(
        self,
        gravity: ArrayLike = (0.0, 0.0, -9.81),
        step: float = 1e-3,
        contact: Hard | Soft | Elastic | None = None,
        *,
        broad_phase: str = "grid",
        threads: int | None = None,
    ) -> None:
        super().__init__(gravity, step, contact, broad_phase, threads)
        self._robots: dict[str, Robot] = {}

    def add_robot(
        self,
        name: str,
        robot: Robot,
        q: ArrayLike,
        pose: ArrayLike | None = None,
        *,
        material: Material | None = None,
    ) -> None:
        """Add a robot whose links go where its joints take them, and push what is in their way.

        Parameters
        ----------
        name : str
            Link "hand" becomes the body "name/hand".
        robot : Robot
        q : array_like, (dof,)
            Joint values.
        pose : pose, optional
            `world_from_base`; the identity unless given.
        material : Material, optional
        """
        self._check_new(name, self._robots, "robot")
        frames = self._frames(robot, q, pose)
        links = [(link.name, link.shape, frame) for link, frame in zip(robot.links, frames, strict=True)]
        shown = [(link, shape, frame) for link, shape, frame in links if shape is not None]
        for link, _, _ in shown:
            self._check_new(f"{name}/{link}", self._bodies, "body")
        for link, shape, frame in shown:
            self.add(f"{name}/{link}", shape, frame, motion="kinematic", material=material, group=name)
        self._robots[name] = robot

    def guide_robot(self, name: str, q: ArrayLike, pose: ArrayLike | None = None) -> None:
        """Take a robot to a configuration during the next step; after that it stands.

        Parameters
        ----------
        name : str
        q : array_like, (dof,)
        pose : pose, optional
            `world_from_base`; the identity unless given.
        """
        if name not in self._robots:
            raise KeyError(f"there is no robot '{name}' in the world.")
        robot = self._robots[name]
        for link, frame in zip(robot.links, self._frames(robot, q, pose), strict=True):
            if link.shape is not None:
                self.guide(f"{name}/{link.name}", frame)

    def _frames(self, robot: Robot, q: ArrayLike, pose: ArrayLike | None) -> Floats:
        base = np.eye(4) if pose is None else as_pose(pose)
        return base @ robot.poses(q)

    def step(self, n: int = 1) -> None:
        """Go on by some steps.

        Parameters
        ----------
        n : int

        Raises
        ------
        FloatingPointError
            If forces, speeds or masses are such that numbers run out of range.
        """
        lost = self._world.step(checked_steps(n), self._threads)
        if lost >= 0:
            name = self.names[lost]
            raise FloatingPointError(
                f"body '{name}' is driven beyond all bounds in the step from {self.time:g} s: its velocity is "
                f"{self.velocity(name).tolist()}. Set or remove what was given too much."
            )

    @property
    def time(self) -> float:
        """Seconds since the world began."""
        return self._world.time

    @property
    def contacts(self) -> WorldContacts:
        """Where bodies touched in the last step, and how hard."""
        return WorldContacts(*self._world.contacts())

    def touching(self, name: str) -> list[str]:
        """Tell what a body touched in the last step.

        Parameters
        ----------
        name : str

        Returns
        -------
        list of str
            In the order of `names`.
        """
        number, found = self._number(name), self.contacts
        pressed = found.bodies[found.is_touching]
        others = np.unique(pressed[(pressed == number).any(axis=1)])
        names = self.names
        return [names[other] for other in others if other != number]

    @property
    def energy(self) -> Energy:
        """Energy of all dynamic bodies."""
        return Energy(*self._world.energy())

    @property
    def momentum(self) -> Momentum:
        """Momentum of all dynamic bodies."""
        return Momentum(*self._world.momentum())

    @property
    def work(self) -> WorldWork:
        """What the last step took."""
        return WorldWork(*self._world.work())

    def scene(self) -> Scene:
        """Give the visible bodies as a scene, as they stand now."""
        scene = Scene()
        for (name, record), pose in zip(self._bodies.items(), self.poses, strict=True):
            if record.visible:
                scene.add(name, record.shape, pose)
        return scene

    def ray_target(self) -> RayTarget:
        """Give the visible bodies for rays, as they stand now; see `raycast`."""
        from ..rays import RayTarget

        shown = [(name, record.shape) for name, record in self._bodies.items() if record.visible]
        visible = np.array([record.visible for record in self._bodies.values()], dtype=bool)
        names, shapes = [name for name, _ in shown], [shape for _, shape in shown]
        return RayTarget(shapes, self.poses[visible], names)

    def save(self, path: str | Path) -> None:
        """Write the world to a file, from which `World.load` goes on as if nothing had happened, bit by bit.

        Robots keep their bodies, but can no longer be guided by joint values. `contacts` are told again after a step.

        Parameters
        ----------
        path : path_like
        """
        from .world_files import save_world

        save_world(self, path)

    @staticmethod
    def load(path: str | Path, *, threads: int | None = None) -> World:
        """Read a world from a file that `save` wrote.

        Parameters
        ----------
        path : path_like
        threads : int, optional
            All cores unless given.

        Returns
        -------
        World
        """
        from .world_files import load_world

        return load_world(path, threads)

    def __reduce__(self) -> Any:
        from .world_files import from_bytes, to_bytes

        return from_bytes, (to_bytes(self), self._threads or None)

    def __repr__(self) -> str:
        return f"World({len(self._bodies)} bodies, {len(self._joints)} joints, time={self.time:g} s)"
