"""A world of rigid bodies that fall, touch, roll and are driven by motors."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from math import inf, isnan
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

from .. import _core, poses
from ..links import as_shape
from ..queries import _thread_count
from ..robots import Robot
from ..scene import Scene
from ..shapes import Placed, Shape
from .masses import Mass, mass_of
from .materials import Elastic, Hard, Material, Soft, checked_number
from .world_results import Energy, Momentum, WorldContacts, WorldWork

if TYPE_CHECKING:
    from ..rays import RayTarget

__all__ = ["World"]

Floats = NDArray[np.float64]
MOTIONS = ("dynamic", "kinematic", "fixed")
KINDS = ("hinge", "ball", "fixed", "slide")
BROAD_PHASES = ("grid", "hierarchy", "combined", "all")
MOST_STEPS = 2_000_000_000


@dataclass(frozen=True)
class BodyRecord:
    """What a body was added with."""

    shape: Shape
    motion: str
    mass: Mass | None
    material: Material
    group: str | None
    visible: bool


@dataclass(frozen=True)
class JointRecord:
    """What a joint was made with, and what its motor does."""

    kind: str
    a: str | None
    b: str | None
    limits: tuple[float, float]
    task: str = "none"
    target: float = 0.0
    most: float = inf
    fastest: float = inf
    turn: tuple[float, ...] = (1.0, 0.0, 0.0, 0.0, 1.0, 0.0, 0.0, 0.0, 1.0)


class World:
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
        self._gravity = _vector(gravity, "gravity")
        self._step = checked_number(step, "step", above=True)
        self._contact = Hard() if contact is None else contact
        if not isinstance(self._contact, Hard | Soft | Elastic):
            raise TypeError(f"contact must be Hard(), Soft() or Elastic(), but it is {contact!r}.")
        if broad_phase not in BROAD_PHASES:
            raise ValueError(f"broad_phase must be one of {', '.join(BROAD_PHASES)}, but it is {broad_phase!r}.")
        self._broad_phase = broad_phase
        self._threads = _thread_count(threads)
        law = type(self._contact).__name__.lower()
        self._world = _core.World(self._gravity, self._step, law, self._contact.iterations, broad_phase)
        self._bodies: dict[str, BodyRecord] = {}
        self._numbers: dict[str, int] = {}
        self._joints: dict[str, JointRecord] = {}
        self._joint_numbers: dict[str, int] = {}
        self._groups: dict[str, int] = {}
        self._ignored: list[tuple[str, str]] = []
        self._robots: dict[str, Robot] = {}

    # --- bodies ------------------------------------------------------------------------------------------------------

    def add(
        self,
        name: str,
        shape: Shape | Placed | Iterable[Shape | Placed],
        pose: ArrayLike | None = None,
        *,
        density: float = 1000.0,
        mass: float | None = None,
        inertia: ArrayLike | None = None,
        motion: str = "dynamic",
        material: Material | None = None,
        velocity: ArrayLike = (0.0, 0.0, 0.0),
        group: str | None = None,
        visible: bool = True,
    ) -> None:
        """Add a body.

        Parameters
        ----------
        name : str
            Not yet in the world.
        shape : Shape, Placed, or several of them
            Placed shapes stand in the frame of the body. Meshes, height fields, point clouds and half-spaces have no
            inside: they are fixed or kinematic, or come with a mass and an inertia.
        pose : pose, optional
            `world_from_body` of the frame of the shape; the identity unless given.
        density : float
            In kg/m^3.
        mass : float, optional
            In kg, instead of a density.
        inertia : array_like, (3, 3) or (3,), optional
            About the centre of mass, in the frame of the shape; found from shape and mass unless given.
        motion : {"dynamic", "kinematic", "fixed"}
            Kinematic bodies move with their velocity whatever happens; fixed ones do not move.
        material : Material, optional
        velocity : array_like, (3,) or (6,)
            Of the centre of mass in m/s, and the angular velocity in rad/s, in the world.
        group : str, optional
            Bodies of one group, the parts of a robot say, do not touch each other.
        visible : bool
            Whether `scene` and `ray_target` show it.
        """
        self._check_new(name, self._bodies, "body")
        if motion not in MOTIONS:
            raise ValueError(f"motion must be one of {', '.join(MOTIONS)}, but it is {motion!r}.")
        one = as_shape(shape) if isinstance(shape, Shape | Placed | Iterable) else None
        if one is None:
            raise TypeError(f"the shape of body '{name}' must be one or several shapes, but it is {shape!r}.")
        own = Material() if material is None else material
        if not isinstance(own, Material):
            raise TypeError(f"material must be a Material, but it is {material!r}.")
        moving = _velocity(velocity)
        if motion == "fixed" and moving.any():
            raise ValueError(f"body '{name}' is fixed, but it has a velocity of {moving.tolist()}.")
        resisting = mass_of(one, density, mass, inertia) if motion == "dynamic" else None
        record = BodyRecord(one, motion, resisting, own, group, bool(visible))
        self._insert(name, record, np.eye(4) if pose is None else _single_pose(pose), moving)

    def _insert(self, name: str, record: BodyRecord, pose: Floats, velocity: Floats) -> None:
        mass = record.mass or Mass(1.0, np.zeros(3), np.eye(3))
        group = -1 if record.group is None else self._groups.setdefault(record.group, len(self._groups))
        self._world.add(
            record.shape,
            pose,
            record.motion,
            mass.mass,
            mass.centre,
            mass.inertia,
            self._surface(record.material),
            np.ascontiguousarray(velocity[:3]),
            np.ascontiguousarray(velocity[3:]),
            group,
        )
        self._bodies[name] = record
        self._numbers[name] = len(self._numbers)

    def _surface(self, material: Material) -> Floats:
        soft = self._contact if isinstance(self._contact, Soft) else Soft()
        # Two equal springs one after the other give way twice as far as one.
        stiffness = 2.0 * soft.stiffness if material.stiffness is None else material.stiffness
        damping = 2.0 * soft.damping if material.damping is None else material.damping
        return np.array([material.friction, material.restitution, material.rolling, stiffness, damping])

    def remove(self, name: str) -> None:
        """Remove a body, its contacts and its joints."""
        self._world.remove(self._number(name))
        del self._bodies[name]
        self._numbers = {other: k for k, other in enumerate(self._bodies)}
        self._joints = {key: joint for key, joint in self._joints.items() if name not in (joint.a, joint.b)}
        self._joint_numbers = {key: k for k, key in enumerate(self._joints)}
        self._ignored = [pair for pair in self._ignored if name not in pair]

    def set(self, name: str, pose: ArrayLike | None = None, velocity: ArrayLike | None = None) -> None:
        """Put a body elsewhere, at once, or give it another velocity.

        Parameters
        ----------
        name : str
        pose : pose, optional
            `world_from_body`.
        velocity : array_like, (3,) or (6,), optional
            Linear, and angular; zero spin if that is left out.
        """
        number = self._number(name)
        moving = None if velocity is None else _velocity(velocity)
        if moving is not None and self._bodies[name].motion == "fixed" and moving.any():
            raise ValueError(f"body '{name}' is fixed, so it cannot have a velocity.")
        if pose is not None:
            self._world.set_pose(number, _single_pose(pose))
        if moving is not None:
            self._world.set_velocity(number, np.ascontiguousarray(moving[:3]), np.ascontiguousarray(moving[3:]))

    def guide(self, name: str, pose: ArrayLike) -> None:
        """Take a kinematic body to a pose during the next step; after that it stands.

        Parameters
        ----------
        name : str
        pose : pose
            `world_from_body` at the end of the step.
        """
        number = self._number(name)
        if self._bodies[name].motion != "kinematic":
            raise ValueError(f"body '{name}' is {self._bodies[name].motion}; only kinematic bodies can be guided.")
        self._world.guide(number, _single_pose(pose))

    def push(
        self,
        name: str,
        force: ArrayLike = (0.0, 0.0, 0.0),
        torque: ArrayLike = (0.0, 0.0, 0.0),
        at: ArrayLike | None = None,
    ) -> None:
        """Let a force and a torque act on a body during the next call of `step`, however many steps that takes.

        Parameters
        ----------
        name : str
        force : array_like, (3,)
            In newtons, along the axes of the world.
        torque : array_like, (3,)
            In N m.
        at : array_like, (3,), optional
            Where the force acts, in the world; at the centre of mass unless given.
        """
        self._act(name, force, torque, at, is_impulse=False)

    def kick(self, name: str, impulse: ArrayLike, at: ArrayLike | None = None) -> None:
        """Change the velocity of a body at once.

        Parameters
        ----------
        name : str
        impulse : array_like, (3,)
            In N s.
        at : array_like, (3,), optional
            Where, in the world; at the centre of mass unless given.
        """
        self._act(name, _vector(impulse, "impulse"), (0.0, 0.0, 0.0), at, is_impulse=True)

    def _act(self, name: str, force: ArrayLike, torque: ArrayLike, at: ArrayLike | None, *, is_impulse: bool) -> None:
        number = self._number(name)
        if self._bodies[name].motion != "dynamic":
            raise ValueError(f"body '{name}' is {self._bodies[name].motion}: no force moves it.")
        place = self._world.centre(number) if at is None else _vector(at, "at")
        self._world.push(number, _vector(force, "force"), _vector(torque, "torque"), place, is_impulse)

    def ignore(self, a: str, b: str) -> None:
        """Let two bodies pass through each other.

        Parameters
        ----------
        a, b : str
        """
        if a == b:
            raise ValueError(f"a body does not touch itself: {a!r}.")
        self._world.ignore(self._number(a), self._number(b))
        self._ignored.append((a, b))

    # --- joints ------------------------------------------------------------------------------------------------------

    def join(
        self,
        name: str,
        kind: str,
        a: str | None,
        b: str | None,
        point: ArrayLike,
        axis: ArrayLike | None = None,
        *,
        limits: tuple[float, float] | None = None,
    ) -> None:
        """Join two bodies where they are; they no longer touch each other.

        Parameters
        ----------
        name : str
            Of the joint.
        kind : {"hinge", "ball", "fixed", "slide"}
        a, b : str or None
            Bodies; None is the ground.
        point : array_like, (3,)
            In the world.
        axis : array_like, (3,), optional
            Of hinges and slides, in the world, of any length but zero. b turns about it, or moves along it, as seen
            from a.
        limits : (float, float), optional
            Least and largest value of a hinge in radians, of a slide in metres; now it is zero.
        """
        self._check_new(name, self._joints, "joint")
        if kind not in KINDS:
            raise ValueError(f"kind must be one of {', '.join(KINDS)}, but it is {kind!r}.")
        numbers = [-1 if body is None else self._number(body) for body in (a, b)]
        if numbers[0] == numbers[1]:
            raise ValueError(
                f"joint '{name}' must join two bodies, or one with the ground, but it has {a!r} and {b!r}."
            )
        if not any(body is not None and self._bodies[body].motion == "dynamic" for body in (a, b)):
            raise ValueError(f"joint '{name}' joins two bodies that nothing moves: {a!r} and {b!r}.")
        if axis is None and kind in ("hinge", "slide"):
            raise ValueError(f"joint '{name}' is a {kind}: it needs an axis.")
        low, high = (-inf, inf) if limits is None else limits
        if isnan(low) or isnan(high) or low > high or (limits is not None and kind not in ("hinge", "slide")):
            raise ValueError(
                f"limits of a hinge or slide are a low and a high value, but those of '{name}' are {limits}."
            )
        along = poses._unit((0.0, 0.0, 1.0) if axis is None else axis, "axis")
        number = self._world.join(kind, *numbers, _vector(point, "point"), along)
        if limits is not None:
            self._world.set_limits(number, float(low), float(high))
        self._joints[name] = JointRecord(kind, a, b, (float(low), float(high)))
        self._joint_numbers[name] = number

    def part(self, name: str) -> None:
        """Remove a joint; its bodies still pass through each other."""
        self._world.part(self._joint(name))
        del self._joints[name]
        self._joint_numbers = {key: k for k, key in enumerate(self._joints)}

    def drive(self, name: str, speed: float, torque: float = inf) -> None:
        """Let a motor turn a hinge, or move a slide, at a speed.

        Parameters
        ----------
        name : str
            Of the joint.
        speed : float
            In rad/s, or m/s.
        torque : float
            The most that the motor has, in N m, or N.
        """
        self._motor(name, "drive", checked_number(speed, "speed", -inf), torque, inf, np.eye(3), ("hinge", "slide"))

    def hold(self, name: str, value: ArrayLike = 0.0, torque: float = inf, *, speed: float = inf) -> None:
        """Let a motor bring a joint to a value and hold it there.

        Parameters
        ----------
        name : str
            Of the joint.
        value : float, or array_like, (3, 3) or (4, 4)
            In radians or metres; of a ball joint the rotation of b as seen from a.
        torque : float
            The most that the motor has, in N m, or N.
        speed : float
            The fastest it goes there, in rad/s or m/s.
        """
        fastest = speed if speed == inf else checked_number(speed, "speed", above=True)
        self._joint(name)
        if self._joints[name].kind == "ball":
            turn = np.asarray(value, dtype=np.float64)
            pose = np.eye(4)
            if turn.shape not in ((3, 3), (4, 4)):
                raise ValueError(f"a ball joint holds a rotation of shape (3, 3), but value has {turn.shape}.")
            pose[:3, :3] = turn[:3, :3]
            self._motor(name, "hold", 0.0, torque, fastest, poses.as_poses(pose)[:3, :3], ("ball",))
        else:
            target = checked_number(value, "value", -inf)
            self._motor(name, "hold", target, torque, fastest, np.eye(3), ("hinge", "slide"))

    def release(self, name: str) -> None:
        """Switch the motor of a joint off."""
        self._motor(name, "none", 0.0, inf, inf, np.eye(3), KINDS)

    def _motor(
        self, name: str, task: str, target: float, torque: float, fastest: float, turn: Floats, kinds: Sequence[str]
    ) -> None:
        number, record = self._joint(name), self._joints[name]
        if record.kind not in kinds:
            raise ValueError(f"joint '{name}' is of kind '{record.kind}', which cannot {task} that way.")
        most = torque if torque == inf else checked_number(torque, "torque")
        self._world.set_motor(number, task, target, most, fastest, np.ascontiguousarray(turn))
        self._joints[name] = JointRecord(
            record.kind, record.a, record.b, record.limits, task, target, most, fastest, tuple(turn.ravel().tolist())
        )

    @property
    def joints(self) -> list[str]:
        """Names of the joints in the order of joining."""
        return list(self._joints)

    def joint_value(self, name: str) -> float:
        """Tell how far a hinge has turned, in radians and beyond full turns, or a slide has moved, in metres."""
        return self._world.joint_value(self._joint(name))

    def joint_speed(self, name: str) -> float:
        """Tell how fast a hinge turns, in rad/s, or a slide moves, in m/s."""
        return self._world.joint_speed(self._joint(name))

    # --- robots ------------------------------------------------------------------------------------------------------

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
        base = np.eye(4) if pose is None else _single_pose(pose)
        return base @ robot.poses(q)

    # --- time --------------------------------------------------------------------------------------------------------

    def step(self, n: int = 1) -> None:
        """Go on by some steps.

        Parameters
        ----------
        n : int
        """
        if not isinstance(n, int | np.integer) or isinstance(n, bool) or not 0 <= n <= MOST_STEPS:
            raise ValueError(f"n must be a number of steps, but it is {n!r}.")
        self._world.step(int(n), self._threads)

    @property
    def time(self) -> float:
        """Seconds since the world began."""
        return self._world.time

    @property
    def step_length(self) -> float:
        """Seconds that a step takes."""
        return self._step

    @property
    def gravity(self) -> Floats:
        """In m/s^2."""
        return self._gravity.copy()

    @property
    def contact(self) -> Hard | Soft | Elastic:
        """How bodies meet."""
        return self._contact

    # --- what there is -----------------------------------------------------------------------------------------------

    @property
    def names(self) -> list[str]:
        """Names of the bodies in the order of adding."""
        return list(self._bodies)

    @property
    def poses(self) -> Floats:
        """`world_from_body` of all bodies, (n, 4, 4), in the order of `names`."""
        return self._world.poses()

    @property
    def velocities(self) -> Floats:
        """Velocities of the centres of mass and angular velocities of all bodies, (n, 6), in the world."""
        return self._world.velocities()

    @property
    def centres(self) -> Floats:
        """Centres of mass of all bodies, (n, 3), in the world."""
        return self._world.centres()

    def pose(self, name: str) -> Floats:
        """Give the pose of a body, `world_from_body`."""
        return self._world.pose(self._number(name))

    def velocity(self, name: str) -> Floats:
        """Give the velocity of the centre of mass of a body and its angular velocity, (6,)."""
        return self._world.velocity(self._number(name))

    def shape(self, name: str) -> Shape:
        """Give the shape of a body, in its own frame."""
        self._number(name)
        return self._bodies[name].shape

    def motion(self, name: str) -> str:
        """Tell whether a body is dynamic, kinematic or fixed."""
        self._number(name)
        return self._bodies[name].motion

    def mass(self, name: str) -> Mass | None:
        """Give mass, centre of mass and inertia of a body, in its frame; None of bodies that nothing moves."""
        self._number(name)
        return self._bodies[name].mass

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
        key = (tuple(names), tuple(map(id, shapes)))
        kept: tuple[Any, RayTarget] | None = getattr(self, "_rays", None)
        if kept is not None and kept[0] == key:
            kept[1].move(self.poses[visible])
            return kept[1]
        target = RayTarget(shapes, self.poses[visible], names)
        self._rays = (key, target)
        return target

    def save(self, path: str | Path) -> None:
        """Write the world to a file, from which `World.load` goes on as if nothing had happened, bit by bit.

        Robots keep their bodies, but can no longer be guided by joint values.

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

    # --- names -------------------------------------------------------------------------------------------------------

    def _number(self, name: str) -> int:
        if name not in self._bodies:
            raise KeyError(f"there is no body '{name}' in the world.")
        return self._numbers[name]

    def _joint(self, name: str) -> int:
        if name not in self._joints:
            raise KeyError(f"there is no joint '{name}' in the world.")
        return self._joint_numbers[name]

    @staticmethod
    def _check_new(name: Any, known: Any, what: str) -> None:
        if not isinstance(name, str) or not name:
            raise ValueError(f"a {what} has a string for a name, but it is {name!r}.")
        if name in known:
            raise ValueError(f"there is a {what} '{name}' in the world already.")


def _single_pose(value: ArrayLike) -> Floats:
    pose = poses.as_poses(value)
    if pose.shape != (4, 4):
        raise ValueError(f"a body has one pose, but there are {pose.shape[:-2]} of them.")
    return np.ascontiguousarray(pose)


def _vector(value: ArrayLike, name: str) -> Floats:
    vector = poses.as_floats(value, name)
    if vector.shape != (3,) or not np.isfinite(vector).all():
        raise ValueError(f"{name} must be three finite numbers, but it is {value!r}.")
    return np.ascontiguousarray(vector)


def _velocity(value: ArrayLike) -> Floats:
    vector = poses.as_floats(value, "velocity")
    if vector.shape not in ((3,), (6,)) or not np.isfinite(vector).all():
        raise ValueError(f"velocity must be three or six finite numbers, but it is {value!r}.")
    return np.concatenate([vector, np.zeros(6 - len(vector))])
