"""What stands, or moves when somebody moves it: bodies, a robot with sliders, and the distances between them."""

from __future__ import annotations

import itertools
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass
from threading import Lock
from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

from ..mechanisms import Configuration
from ..picture_parts import (
    FAINT,
    GHOST,
    GROUND,
    LOUD,
    VIEW_FROM,
    Manifold,
    Witness,
    check_colours,
    colours_of,
    counted,
    direction_of,
    witnesses_of,
)
from ..robots import Robot
from ..scene import PairTable
from .bodies import Bodies, Body, rgb
from .camera import aim
from .joints import Joints
from .marks import Marks
from .panel import Table, contact_table, gap_table, note
from .things import Things

__all__: list[str] = []

Floats = NDArray[np.float64]

NEAR = 0.1  # metres
SEEN_THROUGH = 0.75  # of bodies that touch
SAMPLES = 64  # configurations that tell how far a robot reaches


@dataclass(frozen=True)
class Options:
    """How things are shown; see `view`."""

    closest: int = 5
    near: float | None = None
    colours: Mapping[str, str] | None = None
    view_from: ArrayLike | None = None


class Still:
    """Bodies, gaps, contacts and beams on a server.

    Parameters
    ----------
    server : viser.ViserServer
    things : Things
    q : array_like or mapping, optional
        Of the robot among them, if there is one.
    options : Options
    """

    def __init__(self, server: Any, things: Things, q: Configuration | None, options: Options) -> None:
        self._server, self.options = server, options
        self._drawing, self._is_stale = Lock(), False
        self._bodies, self._volumes = Bodies(server, "bodies"), Bodies(server, "volumes", FAINT)
        self.things, self._marked = things, Things()
        self.q = np.empty(0) if things.robot is None else one_configuration(things.robot, q)
        around = self._take(things)
        aim(server, around, direction_of(VIEW_FROM if options.view_from is None else options.view_from))
        self._marks = Marks(server, float(np.linalg.norm(np.ptp(around, axis=0))) or 1.0)
        self._add_panel()
        self.refresh()

    def move(self, q: Configuration) -> None:
        """Move the robot; its sliders follow."""
        if self.things.robot is None or self._joints is None:
            raise TypeError("there is no robot among the things, so there is nothing to move by joints.")
        self.q = one_configuration(self.things.robot, q)
        self._joints.q = self.q
        self.refresh()

    def change(self, things: Things) -> None:
        """Show other things, or the same ones after they have moved; the robot stays."""
        if things.films or things.robot is not self.things.robot:
            raise ValueError("things of another kind, or another robot, need a view of their own.")
        with self._drawing:
            self._take(things)
        self.refresh()

    def refresh(self) -> None:
        """Draw what is there now. While somebody else draws, only say that there is more to draw."""
        self._is_stale = True
        while self._is_stale and self._drawing.acquire(blocking=False):
            try:
                self._is_stale = False
                self._draw()
            finally:
                self._drawing.release()

    @contextmanager
    def standing(self) -> Iterator[None]:
        """Draw what is there now, and let nobody draw anything else meanwhile."""
        with self._drawing:
            self._draw()
            yield
        if self._is_stale:  # somebody has moved a slider meanwhile
            self.refresh()

    def marks(self, table: PairTable) -> tuple[list[Witness], list[Manifold]]:
        """Gaps that were given and the closest pairs; contacts. Each has a loud colour of its own."""
        found = [*self.things.witnesses, *witnesses_of(self.scene, table, self.options.closest)]
        loud = itertools.cycle(LOUD)
        witnesses = [witness._replace(colour=next(loud)) for witness in found]
        return witnesses, [manifold._replace(colour=next(loud)) for manifold in self.things.manifolds]

    def colours(self, table: PairTable) -> dict[str, str]:
        """Colours of bodies: those that can move are the redder the nearer they are to others."""
        if not self._by_clearance.value:
            return dict(self._quiet)
        moving = set(self.scene.names if self.things.robot is None else self.things.robot.link_names)
        clearance = dict.fromkeys(self._quiet, np.inf)
        for a, b, distance in zip(table.name_a, table.name_b, table.distance.tolist(), strict=True):
            clearance[a], clearance[b] = min(clearance[a], distance), min(clearance[b], distance)
        near = max(1e-3 * self._near.value, 1e-12)
        return {
            name: _blend(colour, LOUD[0], 1.0 - clearance[name] / near)
            if name in moving and np.isfinite(self.scene.shape(name).ball[1])
            else colour
            for name, colour in self._quiet.items()
        }

    @property
    def summary(self) -> str:
        """How much there is."""
        bodies, volumes = len(self.scene.names), len(self.things.volumes.names)
        counts = [f"{bodies} {'body' if bodies == 1 else 'bodies'}", counted(len(self.scene.pairs), "watched pair")]
        counts += [counted(volumes, "swept volume")] if volumes else []
        return f"{', '.join(counts)}."

    def _take(self, things: Things) -> Floats:
        """Show the bodies of things; give points around all that is shown."""
        robot = things.robot
        self.things = things
        self.scene = things.scene if robot is None else robot.scene(self.q, things.scene)
        check_colours(self.options.colours, [self.scene, things.volumes])
        given, scene = self.options.colours or {}, self.scene
        shades = zip(scene.names, colours_of(scene) if scene.names else [], strict=True)
        own = {name: shade if np.isfinite(scene.shape(name).ball[1]) else GROUND for name, shade in shades}
        self._quiet = {name: given.get(name, colour) for name, colour in own.items()}
        bodies = {name: Body(scene.shape(name), scene.pose(name), self._quiet[name]) for name in scene.names}
        reach = np.empty((0, 3)) if robot is None else _reach(robot)
        volumes = {
            name: Body(things.volumes.shape(name), things.volumes.pose(name), given.get(name, GHOST))
            for name in things.volumes.names
        }
        marked = [points.reshape(-1, 3) for points in (*things.fans, *things.points)]
        marked += [witness.points for witness in things.witnesses]
        marked += [manifold.found.points for manifold in things.manifolds]
        around = np.concatenate([self._volumes.show(volumes), *marked])
        around = np.concatenate([around, self._bodies.show(bodies, np.concatenate([around, reach]))])
        return around if len(around) else np.array([[-1.0, -1.0, -1.0], [1.0, 1.0, 1.0]])

    def _add_panel(self) -> None:
        gui, robot = self._server.gui, self.things.robot
        self._gaps, self._contacts = (Table(gui, title) for title in ("Closest pairs", "Contacts"))
        self._joints: Joints | None = None
        if robot is not None:
            with gui.add_folder(f"Joints of {robot.name}"):
                self._joints = Joints(self._server, robot, self.q, self._follow_sliders)
                gui.add_button("Back to zero").on_click(lambda _: self.move(robot.neutral))
        with gui.add_folder("Look", expand_by_default=False):
            near = (NEAR if robot is not None else 0.0) if self.options.near is None else self.options.near
            self._by_clearance = gui.add_checkbox("Red when near", near > 0.0)
            self._near = gui.add_number("Nearer than, mm", 1e3 * (near or NEAR), min=0.0)
            self._labels = gui.add_checkbox("Labels", True)
            self._opacity = gui.add_slider("Opacity", 0.1, 1.0, 0.05, SEEN_THROUGH if self.things.manifolds else 1.0)
            gui.add_html(note(self.summary))
        for knob in (self._by_clearance, self._near, self._labels, self._opacity):
            knob.on_update(lambda _: self.refresh())

    def _follow_sliders(self) -> None:
        assert self._joints is not None
        self.q = self._joints.q
        self.refresh()

    def _draw(self) -> None:
        robot, scene = self.things.robot, self.scene
        if robot is not None:
            placed = dict(zip(robot.link_names, robot.poses(self.q), strict=True))
            scene.move({name: placed[name] for name in scene.names if name in placed})
        table = scene.distances()
        witnesses, manifolds = self.marks(table)
        with self._server.atomic():
            self._bodies.place({name: scene.pose(name) for name in scene.names})
            self._bodies.paint(self.colours(table), self._opacity.value)
            self._marks.show_gaps(witnesses, self._labels.value)
            self._gaps.show(gap_table(witnesses) if witnesses else "")
            if self._marked is not self.things:  # sliders move neither contacts nor beams
                self._marks.show_contacts(manifolds)
                self._marks.show_beams(self.things.fans, self.things.points)
                self._contacts.show(contact_table(manifolds) if manifolds else "")
                self._marked = self.things


def one_configuration(robot: Robot, q: Configuration | None) -> Floats:
    """Read a configuration; that of zeros unless given."""
    if q is None:
        return robot.neutral
    rows, dims = robot._rows(q)
    if dims != () or not np.isfinite(rows).all():
        raise ValueError(f"q must be one configuration of {robot.dof} finite values, but it is {q!r:.200}.")
    return np.array(rows[0])


def _reach(robot: Robot) -> Floats:
    """Points that links get to."""
    placed = robot.poses(robot.random(SAMPLES, seed=0))
    return np.array(placed[..., :3, 3].reshape(-1, 3))


def _blend(quiet: str, loud: str, share: float) -> str:
    """Mix two colours: a share from 0 to 1 of the second."""
    part = min(max(share, 0.0), 1.0)
    mixed = [(1.0 - part) * a + part * b for a, b in zip(rgb(quiet), rgb(loud), strict=True)]
    return "#" + "".join(f"{round(channel):02x}" for channel in mixed)
