"""What pictures and pages show of a scene: pieces of its bodies, half-spaces, its closest pairs and contacts."""

from __future__ import annotations

import itertools
import re
from collections.abc import Mapping, Sequence
from typing import NamedTuple

import numpy as np
from numpy.typing import ArrayLike, NDArray

from .contacts import Contacts
from .scene import PairTable, Scene
from .shapes import HalfSpace, PointCloud, Shape
from .surfaces import Floats, Mesh, coarse, extra, is_surface, leaves, plate, surface, two_sided, with_sharp_edges

__all__: list[str] = []

# Bodies that belong together share a family of quiet colours; gaps and contacts are loud.
FAMILIES = [
    ("#8fa9c4", "#6f8cab"),
    ("#d9b98c", "#b9cfa2", "#d79a83", "#e3d085", "#a9c7cf"),
    ("#c7a3b5", "#ad8799"),
    ("#a9b8a0", "#8c9d83"),
    ("#e0c28a", "#c9a868"),
    ("#9fc3c6", "#7fa9ad"),
]
GROUND, CLEAR = "#8a949e", 0.3  # half-spaces are seen through
GHOST, FAINT = "#5b7fd6", 0.34  # and so are ghosts
BEAM = "#f2a3ad"  # of light
LOUD = ["#d6001c", "#e36c00", "#a3008f", "#00796b", "#1f4fd8", "#7a5200", "#4a7d00", "#303030"]
MOST_TRIANGLES = 200_000  # of a mesh; larger ones are drawn coarsely
VIEW_FROM = (0.8, 0.5, 0.36)  # towards the viewer, in the world, unless another view is asked for


class Witness(NamedTuple):
    """One of the closest pairs, as it is shown."""

    name_a: str
    name_b: str
    distance: float
    lower: float
    upper: float
    points: Floats  # (2, 3)
    colour: str


class Manifold(NamedTuple):
    """The contacts of one pair, as they are shown."""

    name: str
    found: Contacts
    colour: str

    @property
    def deepest(self) -> float:
        return float(self.found.depths.max(initial=0.0))


class Piece(NamedTuple):
    """A part of a body where it stands in the world."""

    body: str
    mesh: Mesh
    colour: str
    is_convex: bool = True


class Plate(NamedTuple):
    """What is shown of a half-space."""

    piece: Piece
    normal: Floats
    offset: float

    def hides(self, points: Floats) -> NDArray[np.bool_]:
        return np.asarray(points @ self.normal < self.offset)


class Parts(NamedTuple):
    """All that is shown of a scene."""

    pieces: list[Piece]
    plates: list[Plate]
    shades: list[list[Piece]]  # of each ghost
    witnesses: list[Witness]
    manifolds: list[Manifold]


def parts_of(
    scene: Scene,
    table: PairTable | None,
    closest: int,
    contacts: Mapping[str, Contacts] | None,
    ghosts: Sequence[Scene],
    colours: Mapping[str, str] | None,
) -> Parts:
    """Take apart what `draw` and `page` are asked to show."""
    check_colours(colours, [scene, *ghosts])
    witnesses, manifolds = witnesses_of(scene, table, closest), manifolds_of(contacts, closest)
    pieces, plates = pieces_of(scene, colours=colours)
    return Parts(pieces, plates, shades_of(scene, ghosts, colours), witnesses, manifolds)


def pieces_of(
    scene: Scene, *, fine: bool = True, colours: Mapping[str, str] | None = None
) -> tuple[list[Piece], list[Plate]]:
    """Cut a scene into its parts; those with a colour of their own take it."""
    if not scene.names:
        raise ValueError("the scene has no bodies, so there is nothing to draw.")
    parts = [
        (name, (colours or {}).get(name, colour), leaf, pose)
        for name, colour in zip(scene.names, colours_of(scene), strict=True)
        for leaf, pose in leaves(scene.shape(name), scene.pose(name))
    ]
    solids = [part for part in parts if not isinstance(part[2], HalfSpace)]
    largest = max((leaf.ball[1] for _, _, leaf, _ in solids), default=0.0)
    pieces = []
    for name, colour, leaf, pose in solids:
        if is_surface(leaf):
            pieces.append(Piece(name, _sheet(surface(leaf).apply_transform(pose)), colour, is_convex=False))
            continue
        if isinstance(leaf, PointCloud):
            pieces.append(Piece(name, surface(leaf).apply_transform(pose), colour, is_convex=False))
            continue
        mesh = surface(leaf, fine=fine and _roundness(leaf) > 0.05 * largest).apply_transform(pose)
        pieces.append(Piece(name, with_sharp_edges(mesh, leaf), colour))
    around = np.concatenate([piece.mesh.vertices for piece in pieces]) if pieces else np.empty((0, 3))
    plates = []
    for name, colour, leaf, pose in parts:
        if isinstance(leaf, HalfSpace):
            normal = pose[:3, :3] @ leaf.normal
            offset = leaf.offset + float(normal @ pose[:3, 3])
            mesh = with_sharp_edges(plate(leaf, pose, around), leaf)
            plates.append(Plate(Piece(name, mesh, colour), normal, offset))
    return pieces, plates


def shades_of(scene: Scene, ghosts: Sequence[Scene], colours: Mapping[str, str] | None = None) -> list[list[Piece]]:
    """Cut ghosts into their parts, but for bodies that have not moved: two surfaces in one place would flicker."""
    placed = {(name, scene.pose(name).tobytes()) for name in scene.names}
    shades = []
    for ghost in ghosts:
        moved = [name for name in ghost.names if (name, ghost.pose(name).tobytes()) not in placed]
        placed.update((name, ghost.pose(name).tobytes()) for name in moved)
        pieces = pieces_of(ghost, fine=False)[0] if moved else []
        shades.append(
            [piece._replace(colour=(colours or {}).get(piece.body, GHOST)) for piece in pieces if piece.body in moved]
        )
    return shades


def _sheet(mesh: Mesh) -> Mesh:
    """What is shown of a mesh: both sides of it, and no more triangles than can be told apart."""
    if len(mesh.faces) > MOST_TRIANGLES:
        mesh = coarse(mesh, cell=0.004 * mesh.scale)
    return two_sided(mesh)


def _roundness(shape: Shape) -> float:
    """What is small needs fewer faces: the radius of a shape that has one, or its size."""
    return float(shape.elements[0][1] if shape.elements else getattr(shape, "radius", 0.0) or shape.ball[1])


def without_hidden_faces(pieces: Sequence[Piece], blockers: Sequence[Piece]) -> list[Piece]:
    """Leave out faces in other convex pieces, which would shimmer through at seams; `blockers[k]` made `pieces[k]`."""
    trimesh = extra("trimesh")
    low, high = (np.array([blocker.mesh.bounds[end] for blocker in blockers]) for end in (0, 1))
    shown = []
    for k, piece in enumerate(pieces):
        vertices, faces = np.array(piece.mesh.vertices), np.array(piece.mesh.faces)
        for j in np.flatnonzero((low <= high[k]).all(axis=1) & (low[k] <= high).all(axis=1)).tolist():
            if j != k and blockers[j].is_convex:
                faces = faces[~_hidden(vertices, faces, blockers[j].mesh, wins_ties=j < k)]
        normals = piece.mesh.vertex_normals
        shown.append(piece._replace(mesh=trimesh.Trimesh(vertices, faces, vertex_normals=normals, process=False)))
    return shown


def _hidden(vertices: Floats, faces: NDArray[np.int64], blocker: Mesh, wins_ties: bool) -> NDArray[np.bool_]:
    """Which faces lie inside a convex mesh; those on its surface count if it wins ties."""
    tolerance = 1e-6 * blocker.extents.max()
    low, high = blocker.bounds
    inside = ((low - tolerance <= vertices) & (vertices <= high + tolerance)).all(axis=1)
    inside[inside] = _all_below(vertices[inside], blocker, tolerance)
    hidden = np.asarray(inside[faces].all(axis=1))
    if not wins_ties:
        centres = vertices[faces[hidden]].mean(axis=1)
        hidden[hidden] = _all_below(centres, blocker, -tolerance)
    return hidden


def _all_below(points: Floats, mesh: Mesh, height: float) -> NDArray[np.bool_]:
    """Which points lie below the planes of all faces of a convex mesh, raised by a height."""
    corners = np.array(mesh.triangles)
    normals = np.cross(corners[:, 1] - corners[:, 0], corners[:, 2] - corners[:, 0])
    lengths = np.linalg.norm(normals, axis=1)
    real = lengths > 0.0
    normals, corners = normals[real] / lengths[real, None], corners[real, 0]
    offsets = np.einsum("ij,ij->i", normals, corners) + height
    below = np.ones(len(points), dtype=bool)
    # A few planes from all around leave few points for the others.
    groups = 1 + len(normals) // 32
    for k in range(groups):
        below[below] = (points[below] @ normals[k::groups].T < offsets[k::groups]).all(axis=1)
    return below


def check_colours(colours: Mapping[str, str] | None, scenes: Sequence[Scene]) -> None:
    """Refuse colours of bodies that no scene has, and what is no colour."""
    for name, colour in (colours or {}).items():
        if not any(name in scene.names for scene in scenes):
            raise KeyError(f"colours: there is no body '{name}'.")
        if not (isinstance(colour, str) and re.fullmatch("#[0-9a-fA-F]{6}", colour)):
            raise ValueError(f"colours['{name}'] must be like '#d6001c', but it is {colour!r}.")


def colours_of(scene: Scene) -> list[str]:
    """Colour bodies: those that are not watched against each other belong together, as the links of a robot do.

    What stands on the ground need not belong to it, so half-spaces join nothing.
    """
    extra("scipy")
    from scipy.sparse.csgraph import connected_components

    index = {name: k for k, name in enumerate(scene.names)}
    unwatched = np.ones((len(index), len(index)), dtype=bool)
    for a, b in scene.pairs:
        unwatched[index[a], index[b]] = unwatched[index[b], index[a]] = False
    finite = np.array([np.isfinite(scene.shape(name).ball[1]) for name in scene.names])
    unwatched &= finite & finite[:, None]
    _, family = connected_components(unwatched, directed=False)
    _, family = np.unique(np.where(finite, family, family.max() + 1), return_inverse=True)
    members = [itertools.count() for _ in index]
    return [shades[next(members[k]) % len(shades)] for k in family for shades in [FAMILIES[k % len(FAMILIES)]]]


def witnesses_of(scene: Scene, table: PairTable | None, closest: int) -> list[Witness]:
    """List the closest pairs of a scene."""
    if closest < 0:
        raise ValueError(f"closest must be zero or positive, but it is {closest}.")
    if closest == 0:
        return []
    table = scene.distances() if table is None else table
    measured = np.flatnonzero(np.isfinite(table.distance))
    rows = measured[np.argsort(table.distance[measured], kind="stable")][:closest]
    return [
        Witness(
            table.name_a[row],
            table.name_b[row],
            float(table.distance[row]),
            float(table.lower[row]),
            float(table.upper[row]),
            np.stack([table.point_a[row], table.point_b[row]]),
            LOUD[k % len(LOUD)],
        )
        for k, row in enumerate(rows)
    ]


def manifolds_of(contacts: Mapping[str, Contacts] | None, colours_used: int) -> list[Manifold]:
    """List contacts under their names."""
    return [
        Manifold(name, found, LOUD[(colours_used + k) % len(LOUD)])
        for k, (name, found) in enumerate((contacts or {}).items())
    ]


def direction_of(view_from: ArrayLike) -> Floats:
    """Read a direction towards the viewer."""
    towards = np.asarray(view_from, dtype=np.float64)
    if towards.shape != (3,) or not np.isfinite(towards).all() or not towards[:2].any():
        raise ValueError(f"view_from must be three numbers, the first two not both zero, but it is {view_from!r}.")
    return towards / np.linalg.norm(towards)


def arrow_length(points: Floats) -> float:
    """Tell how long arrows are among points."""
    return 0.07 * float(np.linalg.norm(np.ptp(points, axis=0)))


def counted(count: int, what: str) -> str:
    """Count in words."""
    return f"{count} {what}" if count == 1 else f"{count} {what}s"
