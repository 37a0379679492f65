"""Pictures of a scene and its closest pairs: a PNG, or one page that turns in the browser without a network.

They need trimesh, matplotlib and scipy: `pip install clearance[view]`.
"""

from __future__ import annotations

import html
import itertools
from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any, NamedTuple, TypeAlias

import numpy as np
from numpy.typing import NDArray

from .elements import closest as closest_elements
from .scene import PairTable, Scene
from .shapes import Shape

if TYPE_CHECKING:
    import trimesh

__all__ = ["draw", "mesh_of", "page"]

Floats = NDArray[np.float64]
_Mesh: TypeAlias = Any  # a trimesh.Trimesh, a library that is imported only to draw

# Bodies that belong together share a quiet colour, in two shades; gaps are loud.
FAMILIES = [("#8fa9c4", "#6f8cab"), ("#d9b98c", "#b9cfa2"), ("#c7a3b5", "#ad8799"), ("#a9b8a0", "#8c9d83")]
LOUD = ["#d6001c", "#e36c00", "#a3008f", "#00796b", "#1f4fd8", "#7a5200"]
VIEW_FROM = (0.8, 0.5, 0.36)  # towards the viewer, in the world
TOWARDS_LIGHT = np.array([0.35, 0.25, 0.9]) / np.linalg.norm([0.35, 0.25, 0.9])


class _Witness(NamedTuple):
    """One of the closest pairs, as it is shown."""

    name_a: str
    name_b: str
    distance: float
    lower: float
    upper: float
    points: Floats  # (2, 3)
    colour: str


class _Piece(NamedTuple):
    """A swept element of a body where it stands in the world, and its mesh."""

    body: str
    core: Floats
    radius: float
    mesh: _Mesh
    colour: str


def mesh_of(shape: Shape) -> trimesh.Trimesh:
    """Mesh the surface of a shape: for every swept element the convex hull of spheres at the vertices of its core.

    Parameters
    ----------
    shape : Shape
        Made of swept elements. Those thinner than a thousandth of their length are made that thick.

    Returns
    -------
    trimesh.Trimesh
        In the frame of the shape, with exact normals; one closed surface per element, inside the true one by less
        than 1 % of the radius.

    Examples
    --------
    >>> from clearance import Capsule
    >>> capsule = mesh_of(Capsule(radius=0.1, length=1.0))
    >>> capsule.is_watertight, capsule.extents.round(3).tolist()
    (True, [0.2, 0.2, 1.2])
    """
    parts = [_element_mesh(core, radius) for core, radius in shape.elements]
    mesh: trimesh.Trimesh = _extra("trimesh").util.concatenate(parts)
    return mesh


def _element_mesh(core: Floats, radius: float, fine: bool = True) -> _Mesh:
    trimesh = _extra("trimesh")
    origin, core = core[0], core - core[0]
    radius = max(radius, 1e-3 * float(np.abs(core).max())) or 1e-3
    hull = trimesh.convex.convex_hull((core[:, None] + radius * _directions(core, fine)).reshape(-1, 3))
    to_core = hull.vertices[:, None] - core
    nearest = np.argmin(np.linalg.norm(to_core, axis=2), axis=1)
    normals = to_core[np.arange(len(nearest)), nearest] / radius
    return trimesh.Trimesh(hull.vertices + origin, hull.faces, vertex_normals=normals, process=False)


def _directions(core: Floats, fine: bool) -> Floats:
    """A sphere of directions with circles across the edges of a core, which make faces flat and flanks straight."""
    directions = np.asarray(_extra("trimesh").creation.icosphere(subdivisions=3 if fine else 2).vertices)
    angle = np.linspace(0.0, 2.0 * np.pi, 64 if fine else 32, endpoint=False)[:, None]
    face_normal = np.cross(core[1] - core[0], core[2] - core[0]) if len(core) == 3 else np.zeros(3)
    circles = []
    for p, q in itertools.combinations(core, 2):
        if (p == q).all():
            continue
        along = (q - p) / np.linalg.norm(q - p)
        start = face_normal if face_normal.any() else np.cross(along, np.eye(3)[np.argmin(np.abs(along))])
        start = start / np.linalg.norm(start)
        circles.append(np.cos(angle) * start + np.sin(angle) * np.cross(along, start))
        # A direction beside the circle would raise a ridge on the flank.
        directions = directions[np.abs(directions @ along) > (0.06 if fine else 0.12)]
    return np.concatenate([directions, *circles])


def draw(scene: Scene, path: str | Path, *, table: PairTable | None = None, closest: int = 5) -> None:
    """Draw a scene with the gaps of its closest pairs, as a PNG.

    Parameters
    ----------
    scene : Scene
    path : path_like
        Where the picture goes.
    table : PairTable, optional
        Distances of the scene; measured anew unless given.
    closest : int
        How many of the closest pairs are shown.

    Examples
    --------
    >>> from clearance import samples
    >>> draw(samples.humanoid(), "scene.png")  # doctest: +SKIP
    """
    _extra("matplotlib")
    from matplotlib.backends.backend_agg import FigureCanvasAgg
    from matplotlib.figure import Figure

    witnesses = _witnesses(scene.distances() if table is None else table, closest)
    pieces = _pieces(scene)
    figure = Figure(figsize=(8.0, 6.4), dpi=130)
    FigureCanvasAgg(figure)
    axes: Any = figure.add_axes((0.0, 0.0, 1.0, 1.0), projection="3d", computed_zorder=False)
    _look_at(figure, axes, np.concatenate([piece.mesh.vertices for piece in pieces]))
    _add_faces(figure, axes, pieces)
    _add_labels(figure, axes, witnesses)
    figure.savefig(path, format="png")


def _look_at(figure: Any, axes: Any, points: Floats) -> None:
    low, high = points.min(axis=0), points.max(axis=0)
    x, y, z = VIEW_FROM
    axes.set_proj_type("persp", focal_length=2.0)
    axes.view_init(elev=np.degrees(np.arcsin(z / np.linalg.norm(VIEW_FROM))), azim=np.degrees(np.arctan2(y, x)))
    axes.set(xlim=(low[0], high[0]), ylim=(low[1], high[1]), zlim=(low[2], high[2]))
    axes.set_box_aspect(high - low)
    axes.set_axis_off()
    # Lay the axes over the figure such that the scene fills its middle and leaves the labels a column on either side.
    axes.apply_aspect()
    seen = _on_figure(figure, axes, points)
    corner, size = seen.min(axis=0), np.ptp(seen, axis=0)
    scale = min(0.94 / size[1], 0.56 / size[0])
    axes.set_position([*(0.5 - scale * (corner + 0.5 * size)), scale, scale])
    axes.apply_aspect()


def _on_figure(figure: Any, axes: Any, points: Floats) -> Floats:
    """Where points of the world appear, in fractions of the figure."""
    from mpl_toolkits.mplot3d import proj3d

    x, y, _ = proj3d.proj_transform(*points.T, axes.get_proj())
    pixels = axes.transData.transform(np.stack([x, y], axis=-1))
    return np.asarray(figure.transFigure.inverted().transform(pixels))


def _add_faces(figure: Any, axes: Any, pieces: Sequence[_Piece]) -> None:
    """All faces in one collection, small ones only: matplotlib sorts faces by depth, it does not cut them."""
    trimesh = _extra("trimesh")
    from matplotlib.colors import to_rgb
    from mpl_toolkits.mplot3d.art3d import Poly3DCollection

    everything = np.concatenate([piece.mesh.vertices for piece in pieces])
    longest = 0.008 * float(np.linalg.norm(np.ptp(everything, axis=0)))
    small = []
    for piece in pieces:
        screen = _on_figure(figure, axes, piece.mesh.vertices)[piece.mesh.faces]
        (ax, ay), (bx, by) = np.moveaxis(screen[:, 1:] - screen[:, :1], 0, -1)
        seen = piece.mesh.faces[ax * by - ay * bx > 0.0]
        vertices, faces = trimesh.remesh.subdivide_to_size(piece.mesh.vertices, seen, longest, max_iter=20)
        small.append(piece._replace(mesh=trimesh.Trimesh(vertices, faces, process=False)))
    corners, colours = [], []
    for piece in _without_hidden_faces(small, pieces):
        light = 0.5 + 0.5 * piece.mesh.face_normals @ TOWARDS_LIGHT
        corners.append(piece.mesh.triangles)
        colours.append(np.clip((0.42 + 0.64 * light[:, None]) * np.array(to_rgb(piece.colour)), 0.0, 1.0))
    shades = np.concatenate(colours)
    faces_seen = Poly3DCollection(np.concatenate(corners), facecolors=shades, edgecolors=shades, linewidths=0.35)
    axes.add_collection3d(faces_seen)


def _add_labels(figure: Any, axes: Any, witnesses: Sequence[_Witness]) -> None:
    """Gaps in the scene, their labels in columns beside it in the same order, so that leaders hardly cross."""
    if not witnesses:
        return
    middles = np.array([_on_figure(figure, axes, witness.points).mean(axis=0) for witness in witnesses])
    on_left = middles[:, 0] < np.median(middles[:, 0])
    for side, chosen in (("left", on_left), ("right", ~on_left)):
        rows = sorted(np.flatnonzero(chosen).tolist(), key=lambda k: -float(middles[k, 1]))
        apart = min(0.1, 0.9 / max(len(rows), 1))
        for k, height in zip(rows, _spread_out(middles[rows, 1], apart), strict=True):
            witness, colour = witnesses[k], witnesses[k].colour
            axes.plot(*witness.points.T, color=colour, linewidth=2.4, marker="o", markersize=4.0, zorder=10)
            at_edge, text_end = (0.03, 1.0) if side == "left" else (0.97, 0.0)
            axes.annotate(
                f"{witness.name_a}\n{witness.name_b}\n{1e3 * witness.distance:.1f} mm",
                xy=middles[k],
                xytext=(at_edge, height),
                xycoords="figure fraction",
                textcoords="figure fraction",
                color=colour,
                fontsize=100.0 * apart,
                fontweight="bold",
                horizontalalignment=side,
                verticalalignment="center",
                arrowprops={"arrowstyle": "-", "color": colour, "linewidth": 0.9, "relpos": (text_end, 0.5)},
                zorder=11,
            )


def _spread_out(heights: Floats, apart: float) -> Floats:
    """Heights for falling labels: near the given ones, but not nearer to each other than `apart`."""
    spread = heights.copy()
    for k in range(1, len(spread)):
        spread[k] = min(spread[k], spread[k - 1] - apart)
    spread += np.mean(heights - spread) if len(spread) else 0.0
    return np.asarray(spread + max(0.0, 0.06 - spread.min(initial=1.0)))


def page(scene: Scene, path: str | Path, *, table: PairTable | None = None, closest: int = 5) -> None:
    """Write one HTML page with a scene to turn around, the gaps of its closest pairs and a table of them.

    The page holds all it needs: it opens from a file, without a network.

    Parameters
    ----------
    scene : Scene
    path : path_like
        Where the page goes.
    table : PairTable, optional
        Distances of the scene; measured anew unless given.
    closest : int
        How many of the closest pairs are shown.

    Examples
    --------
    >>> from clearance import samples
    >>> page(samples.humanoid(), "scene.html")  # doctest: +SKIP
    """
    trimesh = _extra("trimesh")
    from trimesh.viewer.notebook import scene_to_html

    witnesses = _witnesses(scene.distances() if table is None else table, closest)
    pieces = _pieces(scene)
    world = trimesh.Scene()
    for name, body in itertools.groupby(_without_hidden_faces(pieces, pieces), key=lambda piece: piece.body):
        world.add_geometry(_painted(list(body)), geom_name=name)
    thickness = 0.002 * world.scale
    for witness in witnesses:
        world.add_geometry(_painted(_stroke(witness.points, thickness, witness.colour)))
    _aim_camera(world)
    # The viewer has one lamp, beside the camera; light from the sky shows what faces up.
    lit = scene_to_html(world).replace("scene.add(tracklight);", f"scene.add(tracklight);{SKY}", 1)
    viewer = html.escape(lit, quote=True)
    rows = "\n".join(
        f'<tr><td><i style="background:{w.colour}"></i>{html.escape(w.name_a)}</td><td>{html.escape(w.name_b)}</td>'
        f"<td>{1e3 * w.distance:.3f}</td></tr>"
        for w in witnesses
    )
    Path(path).write_text(
        PAGE.format(caption=html.escape(_caption(scene, witnesses)), rows=rows, viewer=viewer), encoding="utf-8"
    )


SKY = "scene.add(new THREE.HemisphereLight(0xffffff, 0x666666, 0.9)); tracklight.intensity = 1.1;"

PAGE = """<!DOCTYPE html>
<html lang="en">
<head>
<meta charset="utf-8">
<meta name="viewport" content="width=device-width, initial-scale=1">
<title>clearance</title>
<style>
body {{ margin: 0; height: 100vh; display: flex; font: 15px/1.45 system-ui, sans-serif; color: #222; }}
aside {{ padding: 1.2rem 1.4rem; border-right: 1px solid #ddd; overflow: auto; }}
iframe {{ flex: 1; min-width: 0; min-height: 0; border: 0; }}
h1 {{ font-size: 1.15rem; margin: 0 0 .2rem; }}
p {{ margin: 0 0 1rem; color: #555; max-width: 24rem; }}
table {{ border-collapse: collapse; margin-bottom: 1rem; }}
th, td {{ text-align: left; padding: .3rem .9rem .3rem 0; border-bottom: 1px solid #e4e4e4; white-space: nowrap; }}
th:last-child, td:last-child {{ text-align: right; padding-right: 0; font-variant-numeric: tabular-nums; }}
i {{ display: inline-block; width: .8em; height: .8em; border-radius: 50%; margin-right: .5em; }}
@media (max-width: 760px) {{ body {{ flex-direction: column; }} aside {{ border-right: 0; }} }}
</style>
</head>
<body>
<aside>
<h1>Closest pairs</h1>
<p>{caption}</p>
<table>
<thead><tr><th>a</th><th>b</th><th>gap in mm</th></tr></thead>
<tbody>
{rows}
</tbody>
</table>
<p>Drag to turn, scroll to zoom, drag with the right button to shift.</p>
</aside>
<iframe title="the scene in 3D" srcdoc="{viewer}"></iframe>
</body>
</html>
"""


def _caption(scene: Scene, witnesses: Sequence[_Witness]) -> str:
    width = max((witness.upper - witness.lower for witness in witnesses), default=0.0)
    return (
        f"{len(scene.names)} bodies, {len(scene.pairs)} watched pairs. "
        f"The gaps below are proved to within {1e3 * width:.1g} mm."
    )


def _stroke(points: Floats, thickness: float, colour: str) -> list[_Piece]:
    line = _element_mesh(points, thickness)
    ends = [_element_mesh(point[None], 2.5 * thickness) for point in points]
    return [_Piece("", points, thickness, mesh, colour) for mesh in (line, *ends)]


def _painted(pieces: Sequence[_Piece]) -> _Mesh:
    trimesh = _extra("trimesh")
    # Lamp and sky together are brighter than white.
    colour = trimesh.visual.color.hex_to_rgba(pieces[0].colour) / 255.0 / [1.6, 1.6, 1.6, 1.0]
    mesh = trimesh.util.concatenate([piece.mesh for piece in pieces])
    material = trimesh.visual.material.PBRMaterial(baseColorFactor=colour, metallicFactor=0.0, roughnessFactor=1.0)
    mesh.visual = trimesh.visual.TextureVisuals(material=material)
    return mesh


def _aim_camera(world: Any) -> None:
    """The browser's viewer keeps y upright, so the whole world is turned before the camera is set."""
    trimesh = _extra("trimesh")
    world.apply_transform(trimesh.transformations.rotation_matrix(-np.pi / 2.0, [1.0, 0.0, 0.0]))
    towards = np.array([VIEW_FROM[0], VIEW_FROM[2], -VIEW_FROM[1]])
    towards /= np.linalg.norm(towards)
    right = np.cross([0.0, 1.0, 0.0], towards)
    right /= np.linalg.norm(right)
    rotation = np.eye(4)
    rotation[:3, :3] = np.stack([right, np.cross(towards, right), towards], axis=1)
    world.camera.fov = (30.0, 30.0)
    world.camera_transform = world.camera.look_at(world.bounding_box.vertices, rotation=rotation)


def _pieces(scene: Scene) -> list[_Piece]:
    if not scene.names:
        raise ValueError("the scene has no bodies, so there is nothing to draw.")
    pieces = []
    largest = max(scene.shape(name).ball[1] for name in scene.names)
    for name, colour in zip(scene.names, _colours(scene), strict=True):
        pose = scene.pose(name)
        for core, radius in scene.shape(name).elements:
            placed = core @ pose[:3, :3].T + pose[:3, 3]
            pieces.append(
                _Piece(name, placed, radius, _element_mesh(placed, radius, fine=radius > 0.05 * largest), colour)
            )
    return pieces


def _without_hidden_faces(pieces: Sequence[_Piece], blockers: Sequence[_Piece]) -> list[_Piece]:
    """Leave out faces inside other elements, which would shimmer through at seams; `blockers[k]` made `pieces[k]`."""
    trimesh = _extra("trimesh")
    low, high = (np.array([blocker.mesh.bounds[end] for blocker in blockers]) for end in (0, 1))
    shown = []
    for k, piece in enumerate(pieces):
        vertices, faces = piece.mesh.vertices, piece.mesh.faces
        for j in np.flatnonzero((low <= high[k]).all(axis=1) & (low[k] <= high).all(axis=1)).tolist():
            if j != k:
                faces = faces[~_hidden(vertices, faces, blockers[j], wins_ties=j < k)]
        normals = piece.mesh.vertex_normals
        shown.append(piece._replace(mesh=trimesh.Trimesh(vertices, faces, vertex_normals=normals, process=False)))
    return shown


def _hidden(vertices: Floats, faces: NDArray[np.int64], blocker: _Piece, wins_ties: bool) -> NDArray[np.bool_]:
    """Which faces lie inside the convex mesh of an element; those on its surface count if it wins ties."""
    tolerance = 1e-6 * blocker.radius
    inside = closest_elements(vertices[:, None, :], blocker.core, blocker.radius).distance < tolerance
    inside[inside] = _height_above(vertices[inside], blocker.mesh) < tolerance
    hidden = np.asarray(inside[faces].all(axis=1))
    if not wins_ties:
        centres = vertices[faces[hidden]].mean(axis=1)
        hidden[hidden] = _height_above(centres, blocker.mesh) < -tolerance
    return hidden


def _height_above(points: Floats, mesh: _Mesh) -> Floats:
    """How far points lie above the highest face plane of a convex mesh; negative inside."""
    real = mesh.area_faces > 0.0
    normals, corners = mesh.face_normals[real], mesh.triangles[real, 0]
    offsets = np.einsum("ij,ij->i", normals, corners)
    blocks = np.array_split(points, 1 + len(points) // 1000)
    return np.concatenate([np.max(block @ normals.T - offsets, axis=1) for block in blocks])


def _colours(scene: Scene) -> list[str]:
    """Bodies that are not watched against each other belong together, as the links of a robot do."""
    _extra("scipy")
    from scipy.sparse.csgraph import connected_components

    index = {name: k for k, name in enumerate(scene.names)}
    unwatched = np.ones((len(index), len(index)), dtype=bool)
    for a, b in scene.pairs:
        unwatched[index[a], index[b]] = unwatched[index[b], index[a]] = False
    _, family = connected_components(unwatched, directed=False)
    members = [itertools.count() for _ in index]
    return [FAMILIES[k % len(FAMILIES)][next(members[k]) % 2] for k in family]


def _witnesses(table: PairTable, closest: int) -> list[_Witness]:
    if closest < 0:
        raise ValueError(f"closest must be zero or positive, but it is {closest}.")
    measured = np.flatnonzero(np.isfinite(table.distance))
    rows = measured[np.argsort(table.distance[measured], kind="stable")][:closest]
    return [
        _Witness(
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


def _extra(name: str) -> Any:
    """Import what only pictures need, or say how to get it."""
    import importlib

    try:
        return importlib.import_module(name)
    except ImportError as error:
        raise ImportError(f"pictures need {name}; get it with: pip install clearance[view]") from error
