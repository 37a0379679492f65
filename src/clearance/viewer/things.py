"""What there is to look at: all kinds of things, sorted into bodies, volumes, gaps, contacts, beams and recordings."""

from __future__ import annotations

import itertools
from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass, field
from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

from ..contacts import ContactBatch, Contacts
from ..guard_plots import swept_scene
from ..picture_parts import LOUD, Manifold, Witness
from ..queries import Gap, Gaps
from ..range_sensors import DepthImage
from ..rays import Hits, RayTarget
from ..robots import Robot
from ..scanner import Scan
from ..scene import Scene
from ..shapes import Compound, Placed, PlacedBatch, Shape
from ..simulation import Particles, World
from ..simulation.grain_recordings import GrainRecorder, GrainRecording
from ..simulation.recordings import Recording
from ..sweep import Swept
from ..worlds import World as Surroundings
from ..worlds import obstacles_of

__all__: list[str] = []

Floats = NDArray[np.float64]

MOST_WATCHED = 100  # bodies that are given one by one; more of them are shown without distances
SHOWN = (
    "a Shape, Placed, PlacedBatch, Scene, Robot, Gap, Contacts, Swept, Hits, Scan, DepthImage, RayTarget, World, "
    "Particles, Recording or GrainRecording, or a list or mapping of them"
)


@dataclass(frozen=True)
class Things:
    """Everything that is shown.

    Attributes
    ----------
    scene : Scene
        Bodies that stand, and pairs that are watched.
    volumes : Scene
        What is swept, to see through.
    robots : list of Robot
        At most one.
    films : list of Recording or GrainRecording
        At most one.
    witnesses : list of Witness
    manifolds : list of Manifold
    fans : list of ndarray, (n, 2, 3)
        Beams, from where they start to where they end.
    points : list of ndarray, (n, 3)
        Where beams end that start nobody knows where.
    """

    scene: Scene = field(default_factory=Scene)
    volumes: Scene = field(default_factory=Scene)
    robots: list[Robot] = field(default_factory=list)
    films: list[Recording | GrainRecording] = field(default_factory=list)
    witnesses: list[Witness] = field(default_factory=list)
    manifolds: list[Manifold] = field(default_factory=list)
    fans: list[Floats] = field(default_factory=list)
    points: list[Floats] = field(default_factory=list)

    @property
    def robot(self) -> Robot | None:
        return self.robots[0] if self.robots else None

    @property
    def film(self) -> Recording | GrainRecording | None:
        return self.films[0] if self.films else None


def sorted_things(things: Iterable[Any], world: Surroundings, origins: ArrayLike | None) -> Things:
    """Sort things, and check that they can be shown together."""
    sorter = _Sorter(Things(), None if origins is None else np.asarray(origins, dtype=np.float64))
    for thing in things:
        sorter.add(thing, None)
    sorter.watch_loose()
    found = sorter.found
    for name, shape, pose in obstacles_of(world):
        found.scene.add(_free(name, found.scene.names), shape, pose)
    if len(found.robots) > 1:
        raise ValueError(f"things has {len(found.robots)} robots, but one can be moved; show others as robot.scene(q).")
    if found.films and (len(found.films) > 1 or found.robots or found.scene.names):
        raise ValueError("a recording, or particles, are shown alone, but there are other bodies among things.")
    if world is not None and not found.robots:
        raise ValueError("world is what surrounds a robot, but there is no robot among things.")
    return found


class _Sorter:
    """Takes things one after the other, under a name or without."""

    def __init__(self, found: Things, origins: Floats | None) -> None:
        self.found, self._origins = found, origins
        self._loose: list[str] = []  # names of bodies that were given one by one
        self._kinds: list[tuple[Any, Callable[[Any, str | None], None]]] = [
            (Placed, self._add_body),
            (PlacedBatch, self._add_batch),
            (Shape, lambda shape, name: self._add_body(shape.at(np.eye(4)), name)),
            (Scene, self._add_scene),
            (Robot, lambda robot, name: found.robots.append(robot)),
            (Gap, self._add_gap),
            (Gaps, self._add_gaps),
            (Contacts, self._add_contacts),
            (ContactBatch, lambda batch, name: self._add_all([batch[k] for k in range(len(batch))], name)),
            (Swept, self._add_swept),
            (Hits, self._add_hits),
            (Scan, self._add_scan),
            (DepthImage, lambda image, name: found.points.append(_finite(image.points))),
            (RayTarget, self._add_target),
            (World, lambda world, name: self._add_scene(world.scene(), name)),
            (Particles, self._add_particles),
            (Recording | GrainRecording, lambda film, name: found.films.append(film)),
            (Mapping, self._add_named),
            (list | tuple, self._add_all),
        ]

    def add(self, thing: Any, name: str | None) -> None:
        for kind, take in self._kinds:
            if isinstance(thing, kind):
                take(thing, name)
                return
        raise TypeError(f"things must be {SHOWN}, but one is {thing!r:.200}.")

    def watch_loose(self) -> None:
        scene = self.found.scene
        if len(self._loose) > MOST_WATCHED:
            return
        for a, b in itertools.combinations(self._loose, 2):
            if np.isfinite(scene.shape(a).ball[1]) or np.isfinite(scene.shape(b).ball[1]):
                scene.watch(a, b)

    def _add_all(self, things: Iterable[Any], name: str | None) -> None:
        for thing in things:
            self.add(thing, name)

    def _add_named(self, things: Mapping[Any, Any], _: str | None) -> None:
        for name, thing in things.items():
            self.add(thing, str(name))

    def _add_body(self, body: Placed, name: str | None) -> None:
        known = _free(name or type(body.shape).__name__.lower(), self.found.scene.names)
        self.found.scene.add(known, body.shape, body.pose)
        self._loose.append(known)

    def _add_batch(self, batch: PlacedBatch, name: str | None) -> None:
        parts = [batch.shape.at(pose) for pose in batch.poses.reshape(-1, 4, 4)]
        if parts:
            self._add_body(Compound(parts).at(np.eye(4)), name or type(batch.shape).__name__.lower())

    def _add_scene(self, scene: Scene, _: str | None) -> None:
        shown = {}
        for name in scene.names:
            shown[name] = _free(name, self.found.scene.names)
            self.found.scene.add(shown[name], scene.shape(name), scene.pose(name))
        for a, b in scene.pairs:
            self.found.scene.watch(shown[a], shown[b])

    def _add_target(self, target: RayTarget, _: str | None) -> None:
        names = target.names or [type(shape).__name__.lower() for shape in target.shapes]
        for name, shape, pose in zip(names, target.shapes, target.poses, strict=True):
            self.found.scene.add(_free(name, self.found.scene.names), shape, pose)

    def _add_gap(self, gap: Gap, name: str | None) -> None:
        if not np.isfinite(gap.distance):
            return
        names = [getattr(gap, kind) for kind in ("body_a", "body_b", "link_a", "link_b") if hasattr(gap, kind)]
        a, b = names or (name or "a", "" if name else "b")
        points = np.stack([gap.point_a, gap.point_b])
        self.found.witnesses.append(Witness(a, b, gap.distance, gap.lower, gap.upper, points, LOUD[0]))

    def _add_gaps(self, gaps: Gaps, name: str | None) -> None:
        """The closest ones come first."""
        columns = [np.ravel(column) for column in (gaps.distance, gaps.lower, gaps.upper)]
        points = np.stack([gaps.point_a, gaps.point_b], axis=-2).reshape(-1, 2, 3)
        for k in np.argsort(columns[0], kind="stable").tolist():
            if np.isfinite(columns[0][k]):
                distance, lower, upper = (float(column[k]) for column in columns)
                told = f"{name or 'gap'} {k}"
                self.found.witnesses.append(Witness(told, "", distance, lower, upper, points[k], LOUD[0]))

    def _add_contacts(self, contacts: Contacts, name: str | None) -> None:
        self.found.manifolds.append(Manifold(name or f"contacts {len(self.found.manifolds) + 1}", contacts, LOUD[0]))

    def _add_swept(self, swept: Swept, _: str | None) -> None:
        volumes = swept_scene(swept, swept.robot.neutral)
        for name in volumes.names:
            self.found.volumes.add(_free(name, self.found.volumes.names), volumes.shape(name), volumes.pose(name))

    def _add_hits(self, hits: Hits, _: str | None) -> None:
        if self._origins is None:
            self.found.points.append(_finite(hits.point))
            return
        try:
            starts = np.broadcast_to(self._origins, np.shape(hits.point))
        except ValueError as error:
            told = f"of shape {self._origins.shape}, but there are hits of shape {np.shape(hits.distance)}"
            raise ValueError(f"origins must be points that broadcast to those of the hits; it is {told}.") from error
        self._add_fan(starts, hits.point)

    def _add_scan(self, scan: Scan, _: str | None) -> None:
        self._add_fan(np.broadcast_to(scan.pose[:3, 3], scan.points.shape), scan.points)

    def _add_fan(self, starts: Floats, ends: Floats) -> None:
        segments = np.stack([starts, ends], axis=-2).reshape(-1, 2, 3)
        self.found.fans.append(segments[np.isfinite(segments).all(axis=(1, 2))])

    def _add_particles(self, particles: Particles, _: str | None) -> None:
        recorder = GrainRecorder(particles)
        recorder.take()
        self.found.films.append(recorder.finish())


def _finite(points: Any) -> Floats:
    rows = np.asarray(points, dtype=np.float64).reshape(-1, 3)
    return rows[np.isfinite(rows).all(axis=1)]


def _free(name: str, taken: Iterable[str]) -> str:
    """A name that nobody has yet: with a number, if need be."""
    known, number, free = set(taken), 1, name
    while free in known:
        number += 1
        free = f"{name} {number}"
    return free
