"""Robots: mechanisms with shapes, and which of these must not touch."""

from __future__ import annotations

import itertools
from collections import OrderedDict
from collections.abc import Iterable, Sequence
from copy import deepcopy
from dataclasses import dataclass
from math import inf, isnan
from os import PathLike
from pathlib import Path
from threading import RLock
from typing import TYPE_CHECKING, Any, Literal, TypeAlias

import numpy as np
from numpy.typing import ArrayLike, NDArray

from . import _core
from ._core import RobotGap
from .kinematics import Kinematics
from .links import Joint, Link, Mimic, as_shape
from .mechanisms import Configuration, Mechanism, flat, one_pose
from .pair_rules import PairRules
from .progress import reporter
from .queries import Gaps, _fields, _thread_count
from .scene import Scene
from .shapes import Placed, Shape
from .worlds import World, is_older, key_of, obstacles_of, settled

if TYPE_CHECKING:
    from concurrent.futures import Executor

    from .srdf import Srdf

__all__ = ["Joint", "Link", "Mimic", "PairGaps", "Robot", "RobotGap", "SamplingReport"]

Floats: TypeAlias = NDArray[np.float64]
Pair: TypeAlias = tuple[str, str]

MOST_CELLS = 32  # worlds that a robot remembers
NUMBER = (int, float, np.integer, np.floating)


@dataclass(frozen=True, eq=False, repr=False)
class PairGaps(Gaps):
    """Gaps of all pairs of a robot at many configurations: the last dimension of every column stands for pairs.

    Attributes
    ----------
    pairs : tuple of pairs of str
        Names of the bodies, in the order of that dimension.
    """

    pairs: tuple[Pair, ...]

    def __getitem__(self, index: Any) -> Gaps:
        columns = {name: getattr(self, name)[index] for name in Gaps.__dataclass_fields__ if name != "work"}
        return Gaps(**columns, work=self.work)


@dataclass(frozen=True)
class SamplingReport:
    """What random configurations tell about pairs of links.

    Attributes
    ----------
    samples : int
    hits : dict of pairs to int
        In how many of the samples a pair touches.
    """

    samples: int
    hits: dict[Pair, int]

    @property
    def always(self) -> list[Pair]:
        """Pairs that touch in every sample."""
        return [pair for pair, count in self.hits.items() if count == self.samples]

    @property
    def never(self) -> list[Pair]:
        """Pairs that touch in none: likely, but not proved, to be out of each other's reach."""
        return [pair for pair, count in self.hits.items() if count == 0]

    @property
    def sometimes(self) -> list[Pair]:
        """All others."""
        return [pair for pair, count in self.hits.items() if 0 < count < self.samples]


class Robot(Mechanism):
    """Links, the joints between them, and which pairs of links are checked against each other.

    Links that one movable joint connects are not checked, nor are those that fixed joints connect.

    Parameters
    ----------
    links : iterable of Link
    joints : iterable of Joint
        In the order of configurations. A planar joint has the values x, y and yaw, a floating one x, y, z and a
        quaternion with its real part last, a ball joint only that; fixed joints and those that mimic another have none.
    name : str
    base : pose, optional
        `world_from_root`.

    Examples
    --------
    >>> arm = Robot(
    ...     [Link("base"), Link("upper", Capsule(0.1, 1.0)), Link("lower", Capsule(0.1, 1.0))],
    ...     [Joint("shoulder", "revolute", "base", "upper"), Joint("elbow", "prismatic", "upper", "lower")],
    ... )
    >>> arm
    Robot('robot', 2 degrees of freedom, 3 links, 0 pairs)
    >>> arm.pose([0.0, 0.5], "lower")[:3, 3].tolist()
    [0.0, 0.0, 0.5]
    """

    def __init__(
        self, links: Iterable[Link], joints: Iterable[Joint], *, name: str = "robot", base: ArrayLike | None = None
    ) -> None:
        self.name = name
        self._own = (tuple(links), tuple(joints))
        super().__init__(*self._own, base)
        self._lock = RLock()  # cells and the rules they are made by belong together
        self._attached: dict[str, tuple[str, Shape, Floats]] = {}
        self._rules = PairRules()
        self._rebuild()
        self._rules.excuse(self._adjacent())

    @classmethod
    def from_urdf(
        cls,
        path: str | PathLike[str],
        srdf: str | PathLike[str] | None = None,
        package_dirs: Sequence[str | PathLike[str]] = (),
        collision: Literal["mesh", "hull", "swept"] = "mesh",
        *,
        base_joint: Literal["fixed", "planar", "floating"] = "fixed",
        on_missing: Literal["raise", "warn"] = "raise",
        n_points: int | Literal["auto"] = 8,
        split: bool | float = False,
        executor: Executor | None = None,
        progress: Any = False,
    ) -> Robot:
        """Load a robot from a URDF file, or from a xacro file that makes one.

        Parameters
        ----------
        path : str or path
        srdf : str or path, optional
            Pairs that it disables are not checked.
        package_dirs : sequence of str or paths
            Folders of packages, or folders that hold them, for `package://` addresses.
        collision : {"mesh", "hull", "swept"}
            Meshes as they are, their convex hulls, or few points swept by a ball around them, see `fit_swept_hull`:
            this takes about a second for each mesh.
        base_joint : {"fixed", "planar", "floating"}
            How the root moves in the world; its values come first in configurations.
        on_missing : {"raise", "warn"}
            What to do about mesh files that are not found.
        n_points : int or "auto"
            How many points a swept hull may have; "auto" weighs them against its volume.
        split : bool or float
            Cut concave meshes into several swept hulls. A number says how deep a hollow may be that is not cut, see
            `fit_swept_hulls`; True is 0.05.
        executor : concurrent.futures.Executor, optional
            Processes that fit swept hulls, a mesh at a time; threads gain little. It changes no result.
        progress : bool or callable
            True shows a bar on a terminal while swept hulls are fitted.

        Returns
        -------
        Robot
        """
        from . import srdf as srdf_file
        from . import urdf
        from .fit_links import LinkFits

        fits = LinkFits(n_points, split, executor, progress)
        model = urdf.read(path, package_dirs, collision, on_missing, fits)
        links, joints = list(model.links), list(model.joints)
        if base_joint not in ("fixed", "planar", "floating"):
            raise ValueError(f"base_joint must be 'fixed', 'planar' or 'floating', but it is {base_joint!r}.")
        if base_joint != "fixed":
            taken = {link.name for link in links} | {joint.name for joint in joints}
            ground, base = (_free_name(name, taken) for name in ("world", "base"))
            joints.insert(0, Joint(base, base_joint, ground, _root_of(links, joints)))
            links.insert(0, Link(ground))
        try:
            robot = cls(links, joints, name=model.name)
        except ValueError as error:
            raise ValueError(f"{Path(path).name}: {error}") from error
        if srdf is not None:
            robot._excuse(srdf_file.read(srdf))
        return robot

    @property
    def base(self) -> Floats:
        """Where the root stands, `world_from_root`."""
        return self._base.copy()

    @base.setter
    def base(self, pose: ArrayLike) -> None:
        with self._lock:
            self._base = one_pose(pose, "base")
            self._cells.clear()

    def gradient(self, q: Configuration, gap: Any) -> Floats:
        """Differentiate a distance: how fast it grows by velocities of the joints.

        Parameters
        ----------
        q : array_like, (..., dof), or mapping of str to float
            Where the gap was measured.
        gap : RobotGap, Clearances or PairGaps
            From `nearest`, `clearances` or `distances` of this robot.

        Returns
        -------
        ndarray, (..., nv), or (..., pairs, nv) with PairGaps
            NaN where nothing was near enough.
        """
        rows, dims = self._rows(q)
        if isinstance(gap, PairGaps):
            shape = (*dims, len(gap.pairs))
            rows = flat(rows.reshape(*dims, 1, self.dof), shape)
            pairs = list(gap.pairs) * int(np.prod(dims))
        elif hasattr(gap, "pair"):
            shape = dims
            pairs = np.ravel(gap.pair).tolist() if np.shape(gap.distance) else [gap.pair]
        else:
            raise TypeError(f"gap must come from nearest, clearances or distances of a robot, but it is {gap!r:.100}.")
        if len(pairs) != len(rows) or np.shape(gap.distance) != shape:
            raise ValueError(f"the gaps are of shape {np.shape(gap.distance)}, but {shape} was expected for this q.")
        number = self._kinematics.number
        link_a, link_b = (np.array([number.get(pair[k], -1) for pair in pairs], dtype=np.int32) for k in (0, 1))
        vectors = [flat(np.asarray(getattr(gap, name)), shape) for name in ("point_a", "point_b", "normal")]
        found = self._kinematics.tree.gradients(rows, self._base, link_a, link_b, *vectors)
        found[np.isnan(vectors[2][:, 0])] = np.nan
        return found.reshape(*shape, self.nv)

    @property
    def pairs(self) -> list[Pair]:
        """Pairs of links that are checked against each other."""
        solid = [link.name for link in self.links if link.name in self._shapes]
        return [pair for pair in itertools.combinations(solid, 2) if not self._rules.is_allowed(*pair)]

    def allow(self, a: str, b: str | None = None) -> None:
        """Let two bodies touch: they are not checked any more.

        Parameters
        ----------
        a : str
            A link, an attached object or a body of the world.
        b : str, optional
            Another one; whatever `a` meets unless given. What was said of a pair counts more than what was said of
            one body.
        """
        self._say("allow", a, b)

    def forbid(self, a: str, b: str | None = None) -> None:
        """Check two bodies, or one against whatever it meets; the counterpart of `allow`."""
        self._say("forbid", a, b)

    def reset(self, a: str, b: str | None = None) -> None:
        """Forget what `allow` and `forbid` said of a pair, or of one body."""
        self._say("reset", a, b)

    def is_allowed(self, a: str, b: str) -> bool:
        """Tell whether two bodies may touch, so that they are not checked."""
        return self._rules.is_allowed(a, b)

    def set_margin(self, a: str, b: str | None = None, *, margin: float) -> None:
        """Ask for a distance on top of the margin of `is_clear` and `check_path`.

        Parameters
        ----------
        a : str
            A link, an attached object or a body of the world.
        b : str, optional
            Another one. Without it the margin belongs to `a` in all its pairs, and adds to that of the other body; the
            margin of a pair takes the place of both.
        margin : float
            In metres, not negative.
        """
        self._check_names(a, b)
        with self._lock:
            self._rules.set_margin(a, b, margin)
            self._cells.clear()

    def margin(self, a: str, b: str) -> float:
        """Tell the distance that `set_margin` asks two bodies to keep."""
        return self._rules.margin(a, b)

    def attach(
        self,
        link: str,
        name: str,
        shapes: Shape | Placed | Iterable[Shape | Placed],
        pose: ArrayLike | None = None,
        touching: Iterable[str] = (),
    ) -> None:
        """Fix an object to a link, as a gripper holds it.

        Parameters
        ----------
        link : str
        name : str
            The object becomes a link of this name.
        shapes : Shape, Placed, or several of them
        pose : pose, optional
            `link_from_object`; the identity unless given.
        touching : iterable of str
            Bodies that the object may touch, besides the link and what is fixed to it.
        """
        self._number(link)
        if name in self._kinematics.number:
            raise ValueError(f"there is a link '{name}' already.")
        shape = as_shape(shapes)
        if shape is None:
            raise ValueError(f"the object '{name}' needs at least one shape.")
        Link(name, shape)
        at = np.eye(4) if pose is None else one_pose(pose, "pose")
        touched = [touching] if isinstance(touching, str) else list(touching)
        with self._lock:
            self._attached[name] = (link, shape, at)
            self._rebuild()
            frame = self._kinematics.frame
            fixed = [other for other in frame if frame[other] == frame[name] and other != name]
            self._rules.excuse((name, other) for other in (*fixed, *touched))

    def detach(self, name: str) -> None:
        """Let go of an object, and of everything that is fixed to it."""
        if name not in self._attached:
            raise KeyError(f"no object '{name}' is attached; there are {', '.join(self._attached) or 'none'}.")
        with self._lock:
            for other, (link, _, _) in list(self._attached.items()):
                if link == name:
                    self.detach(other)
            del self._attached[name]
            self._rules.forget(name)
            self._rebuild()

    def allow_by_sampling(
        self,
        samples: int = 10_000,
        seed: int | np.random.Generator | None = 0,
        *,
        never: bool = False,
        progress: Any = False,
    ) -> SamplingReport:
        """Allow pairs of links that touch in every one of many random configurations: their shapes overlap by design.

        Parameters
        ----------
        samples : int
        seed : int or numpy.random.Generator, optional
        never : bool
            Also leave out pairs that never touched. That saves time, but sampling is no proof.
        progress : bool or callable

        Returns
        -------
        SamplingReport
            How often the pairs that were checked before touch.
        """
        if not isinstance(samples, int | np.integer) or samples < 1:
            raise ValueError(f"samples must be a positive integer, but it is {samples!r}.")
        rng = np.random.default_rng(seed)
        cell, pairs = self._cell(None)
        tell = reporter(progress)
        counts = np.zeros(len(pairs), dtype=np.int64)
        for begin in range(0, samples, 1000):
            count = min(1000, samples - begin)
            counts += np.array(cell.hits(self._kinematics.random(count, rng), 0), dtype=np.int64)
            if tell is not None:
                tell((begin + count) / samples)
        report = SamplingReport(samples, dict(zip(pairs, counts.tolist(), strict=True)))
        for pair in [*report.always, *(report.never if never else [])]:
            self.allow(*pair)
        return report

    def nearest(self, q: Configuration, world: World = None, *, at_most: float = inf) -> RobotGap:
        """Find the two bodies that come nearest to each other: two links, or a link and a body of the world.

        Parameters
        ----------
        q : array_like, (dof,), or mapping of str to float
        world : Scene, shapes or None
        at_most : float
            Nothing farther away than this is looked for.

        Returns
        -------
        RobotGap
            A `Gap` with the names `link_a` and `link_b`, together `pair`.
        """
        if isinstance(q, np.ndarray) and q.ndim == 1 and q.dtype == np.float64:
            return self._cell(world)[0].nearest_one(q, _limit(at_most))
        rows, dims = self._rows(q)
        if dims != ():
            raise ValueError(f"nearest takes one configuration, but there are {dims}; see clearances.")
        return self._cell(world)[0].nearest_one(rows[0], _limit(at_most))

    def distances(
        self, q: Configuration, world: World = None, *, at_most: float = inf, threads: int | None = None
    ) -> PairGaps:
        """Measure every checked pair by itself.

        Parameters
        ----------
        q : array_like, (..., dof), or mapping of str to float
        world : Scene, shapes or None
        at_most : float
            Pairs that are farther apart than this are not looked at any closer.
        threads : int, optional
            All cores unless given.

        Returns
        -------
        PairGaps
            Columns of shape (..., pairs).
        """
        rows, dims = self._rows(q)
        cell, pairs = self._cell(world)
        columns, work = cell.distances(rows, _limit(at_most), _thread_count(threads))
        return PairGaps(**_fields(columns, (*dims, len(pairs))), work=work, pairs=pairs)

    def scene(self, q: Configuration, world: World = None) -> Scene:
        """Put links and world into a scene, to look at or to ask more of; the pairs that are checked are watched.

        Parameters
        ----------
        q : array_like, (dof,), or mapping of str to float
        world : Scene, shapes or None

        Returns
        -------
        Scene
        """
        placed, world = self.poses(q), settled(world)
        if placed.ndim != 3:
            raise ValueError(f"a scene shows one configuration, but there are {placed.shape[:-3]}.")
        scene = Scene()
        for name, shape in self._shapes.items():
            scene.add(name, shape, placed[self._number(name)])
        for name, shape, pose in obstacles_of(world):
            scene.add(name, shape, pose)
        for pair in self._cell(world)[1]:
            scene.watch(*pair)
        return scene

    def __getstate__(self) -> dict[str, Any]:
        changing = {"_attached": dict(self._attached), "_base": self._base.copy(), "_rules": deepcopy(self._rules)}
        return {"name": self.name, "_own": self._own, **changing}

    def __setstate__(self, state: dict[str, Any]) -> None:
        self.__dict__.update(state)
        self._lock = RLock()
        self._rebuild()

    def __repr__(self) -> str:
        return f"Robot({self.name!r}, {self.dof} degrees of freedom, {len(self.links)} links, {len(self.pairs)} pairs)"

    def _rebuild(self) -> None:
        links, joints = self._own
        objects = [Link(name, shape) for name, (_, shape, _) in self._attached.items()]
        taken = {joint.name for joint in joints}
        fixed = [
            Joint(_free_name(f"{name} (attached)", taken), "fixed", link, name, pose)
            for name, (link, _, pose) in self._attached.items()
        ]
        self._kinematics = Kinematics([*links, *objects], [*joints, *fixed])
        shapes = {link.name: link.shape for link in self._kinematics.links}
        self._shapes = {name: shape for name, shape in shapes.items() if shape is not None}
        numbered = [(name, shape, self._number(name)) for name, shape in self._shapes.items()]
        self._bodies = _core.link_bodies(self._kinematics.tree, numbered)
        self._cells: OrderedDict[Any, tuple[_core.Cell, tuple[Pair, ...]]] = OrderedDict()

    def _adjacent(self) -> list[Pair]:
        """Links that fixed joints or a single movable joint connect."""
        parent = self._kinematics.parent_frame
        frame = {name: frame for name, frame in self._kinematics.frame.items() if name in self._shapes}
        return [
            (a, b)
            for a, b in itertools.combinations(frame, 2)
            if frame[a] == frame[b] or parent.get(frame[a]) == frame[b] or parent.get(frame[b]) == frame[a]
        ]

    def _excuse(self, srdf: Srdf) -> None:
        """Take over what an SRDF file says about pairs of links."""
        self._rules.excuse(srdf.allowed_pairs(self.link_names))

    def _say(self, what: str, a: str, b: str | None) -> None:
        self._check_names(a, b)
        with self._lock:
            getattr(self._rules, what)(a, b)
            self._cells.clear()

    def _check_names(self, a: str, b: str | None) -> None:
        """Two bodies of the world are never checked, so one of a pair is a link."""
        if b is not None and isinstance(a, str) and isinstance(b, str) and not {a, b} & set(self._kinematics.number):
            raise KeyError(f"neither '{a}' nor '{b}' is a link; there are {', '.join(self._kinematics.number)}.")

    def _cell(self, world: World) -> tuple[_core.Cell, tuple[Pair, ...]]:
        """What the core needs to know of the robot in a world, and names of the pairs that are checked."""
        if world is None and (alone := self._cells.get(())) is not None:
            return alone
        world = settled(world)
        key = key_of(world)
        with self._lock:
            if key is not None and key in self._cells:
                self._cells.move_to_end(key)
                return self._cells[key]
            found = self._new_cell(obstacles_of(world))
            if key is not None:
                for old in [old for old in self._cells if is_older(old, key)]:
                    del self._cells[old]
                self._cells[key] = found
                if len(self._cells) > MOST_CELLS:
                    del self._cells[next(old for old in self._cells if old)]  # the robot alone stays
            return found

    def _new_cell(self, obstacles: list[tuple[str, Shape, Floats]]) -> tuple[_core.Cell, tuple[Pair, ...]]:
        names = [name for name, _, _ in obstacles]
        if clash := sorted(set(names) & set(self._kinematics.number)):
            raise ValueError(f"the world has a body '{clash[0]}', but so has the robot.")
        solid = list(self._shapes)
        around = [pair for pair in itertools.product(solid, names) if not self._rules.is_allowed(*pair)]
        pairs = (*self.pairs, *around)
        number = {name: k for k, name in enumerate([*solid, *names])}
        cell = _core.cell(
            self._bodies,
            self._base,
            obstacles,
            [(number[a], number[b], self._rules.margin(a, b)) for a, b in pairs],
        )
        return cell, pairs


def _root_of(links: Sequence[Link], joints: Sequence[Joint]) -> str:
    children = {joint.child for joint in joints}
    return next((link.name for link in links if link.name not in children), links[0].name if links else "")


def _free_name(name: str, taken: set[str]) -> str:
    while name in taken:
        name += "_"
    return name


def check_robot(robot: object) -> None:
    """Refuse what is no robot: arguments are easily swapped."""
    if not isinstance(robot, Robot):
        raise TypeError(f"robot must be a Robot, but it is {robot!r:.200}.")


def check_margin(margin: float) -> None:
    """Refuse what is no distance to keep."""
    if not isinstance(margin, NUMBER) or not 0.0 <= margin < inf:
        raise ValueError(f"margin must be a number, zero or positive and finite, but it is {margin!r}.")


def _limit(at_most: float) -> float:
    if not isinstance(at_most, NUMBER) or isnan(at_most):
        raise ValueError(f"at_most must be a number, but it is {at_most!r}.")
    return at_most
