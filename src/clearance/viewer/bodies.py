"""Bodies in the browser: a frame each that moves, and meshes that stay as they are."""

from __future__ import annotations

import itertools
import pickle
from collections.abc import Mapping
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from ..picture_parts import CLEAR, Piece, without_hidden_faces
from ..poses import to_wxyz
from ..shapes import HalfSpace, Shape
from ..surfaces import Mesh, coarse, extra, is_surface, leaves, plate, surface, with_sharp_edges

__all__: list[str] = []

Floats = NDArray[np.float64]

NOWHERE = np.empty((0, 3))
MOST_TRIANGLES = 2_000_000  # of a mesh; larger ones are shown coarsely
MOST_CUT = 100  # parts of a body


class Body(NamedTuple):
    """A body, as it is shown."""

    shape: Shape
    pose: Floats
    colour: str


class _Look(NamedTuple):
    """One mesh of a body, in its frame."""

    mesh: Mesh
    is_sheet: bool = False
    is_clear: bool = False


class _Shown(NamedTuple):
    """What the browser has of a body."""

    shape: Shape
    frame: Any
    meshes: list[Any]
    looks: list[_Look]


class Bodies:
    """Bodies of one kind on a server: shown, moved, painted and taken away again.

    Parameters
    ----------
    server : viser.ViserServer
    room : str
        Where they are among the nodes of the server.
    opacity : float, optional
    """

    def __init__(self, server: Any, room: str, opacity: float | None = None) -> None:
        self._server, self._room, self._opacity = server, room, opacity
        self._shown: dict[str, _Shown] = {}
        self._looks: dict[bytes, list[_Look]] = {}  # of new bodies: those of one shape are meshed once
        self._numbers = itertools.count()

    def show(self, bodies: Mapping[str, Body], others: Floats = NOWHERE) -> Floats:
        """Show these bodies and no others; half-spaces as far as these and other points reach.

        Gives corners of boxes around those that end somewhere.
        """
        for name, known in list(self._shown.items()):
            if name not in bodies or known.shape is not bodies[name].shape:
                self._shown.pop(name).frame.remove()
        boxes = self.boxes(bodies)
        around = np.concatenate([NOWHERE, *(_corners(box, bodies[name].pose) for name, box in boxes.items())])
        for name, body in bodies.items():
            if name not in self._shown:
                self._shown[name] = self._add(body, np.concatenate([around, others]))
        self.place({name: body.pose for name, body in bodies.items()})
        self.paint({name: body.colour for name, body in bodies.items()})
        self._looks.clear()
        return around

    def boxes(self, bodies: Mapping[str, Body]) -> dict[str, Floats]:
        """Give two corners of a box around each body that ends somewhere, in its own frame."""
        found = {}
        for name, body in bodies.items():
            if _ends(body.shape):
                known = self._shown.get(name)
                looks = known.looks if known is not None else self._looks_of(body.shape)
                bounds = np.array([look.mesh.bounds for look in looks])
                found[name] = np.array([bounds[:, 0].min(axis=0), bounds[:, 1].max(axis=0)])
        return found

    def place(self, poses: Mapping[str, Floats]) -> None:
        """Move bodies."""
        for name, pose in poses.items():
            frame = self._shown[name].frame
            frame.position, frame.wxyz = pose[:3, 3], to_wxyz(pose)

    def paint(self, colours: Mapping[str, str], opacity: float | None = None) -> None:
        """Give bodies other colours, and let them be seen through."""
        alpha = self._opacity if opacity is None or opacity == 1.0 else opacity
        for name, colour in colours.items():
            shown = self._shown[name]
            for mesh, look in zip(shown.meshes, shown.looks, strict=True):
                if tuple(mesh.color) != rgb(colour):
                    mesh.color = rgb(colour)
                if not look.is_clear and mesh.opacity != alpha:
                    mesh.opacity = alpha

    def _add(self, body: Body, around: Floats) -> _Shown:
        # Names may have slashes, which part nodes from each other.
        node = f"/{self._room}/{next(self._numbers)}"
        frame = self._server.scene.add_frame(node, show_axes=False)
        if _ends(body.shape):
            looks = self._looks_of(body.shape)
        else:
            body_from_world = np.linalg.inv(body.pose)
            looks = _looks(body.shape, around @ body_from_world[:3, :3].T + body_from_world[:3, 3])
        meshes = [
            self._server.scene.add_mesh_simple(
                f"{node}/{k}",
                np.asarray(look.mesh.vertices, dtype=np.float32),
                np.asarray(look.mesh.faces, dtype=np.uint32),
                color=rgb(body.colour),
                opacity=CLEAR if look.is_clear else self._opacity,
                flat_shading=look.is_sheet,
                side="double" if look.is_sheet else "front",
            )
            for k, look in enumerate(looks)
        ]
        return _Shown(body.shape, frame, meshes, looks)

    def _looks_of(self, shape: Shape) -> list[_Look]:
        key = pickle.dumps(shape)
        if key not in self._looks:
            self._looks[key] = _looks(shape, NOWHERE)
        return self._looks[key]


def _ends(shape: Shape) -> bool:
    return bool(np.isfinite(shape.ball[1]))


def _corners(box: Floats, pose: Floats) -> Floats:
    """All corners of a box, in the world."""
    return np.array(list(itertools.product(*box.T))) @ pose[:3, :3].T + pose[:3, 3]


def _looks(shape: Shape, around: Floats) -> list[_Look]:
    """Mesh a shape in its own frame: its solids as one, surfaces and half-spaces one by one."""
    solids, others = [], []
    for leaf, pose in leaves(shape, np.eye(4)):
        if isinstance(leaf, HalfSpace):
            others.append(_Look(with_sharp_edges(plate(leaf, pose, around), leaf), is_clear=True))
        elif is_surface(leaf):
            mesh = surface(leaf).apply_transform(pose)
            if len(mesh.faces) > MOST_TRIANGLES:
                mesh = coarse(mesh, cell=0.002 * mesh.scale)
            others.append(_Look(mesh, is_sheet=True))
        else:
            solids.append(with_sharp_edges(surface(leaf).apply_transform(pose), leaf))
    return [_Look(_joined(solids)), *others] if solids else others


def _joined(solids: list[Mesh]) -> Mesh:
    """One mesh of many, without faces inside of others, which would shimmer through where these touch."""
    if 1 < len(solids) <= MOST_CUT:
        pieces = [Piece("", solid, "") for solid in solids]
        solids = [piece.mesh for piece in without_hidden_faces(pieces, pieces)]
    return extra("trimesh").util.concatenate(solids)


def rgb(colour: str) -> tuple[int, int, int]:
    """Read a colour like "#d6001c"."""
    red, green, blue = (int(colour[k : k + 2], 16) for k in (1, 3, 5))
    return red, green, blue
