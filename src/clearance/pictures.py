"""Pictures of a scene, its closest pairs and its contacts: a PNG, or one page that turns in the browser, offline.

And `plot_path`: how the clearance of a robot changes along its way.

They need trimesh, matplotlib and scipy: `pip install clearance[view]`.
"""

from __future__ import annotations

import html
import itertools
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import ArrayLike, NDArray

from .contacts import Contacts
from .path_plots import plot_path
from .scene import PairTable, Scene
from .shapes import HalfSpace, PointCloud, Shape
from .surfaces import (
    Floats,
    Mesh,
    arrow,
    coarse,
    extra,
    is_surface,
    leaves,
    mesh_of,
    plate,
    stroke,
    surface,
    two_sided,
    with_sharp_edges,
)

__all__ = ["draw", "mesh_of", "page", "plot_path"]

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
LOUD = ["#d6001c", "#e36c00", "#a3008f", "#00796b", "#1f4fd8", "#7a5200", "#4a7d00", "#303030"]
DOTS = 130  # per inch
MOST_TRIANGLES = 200_000  # of a mesh; larger ones are drawn coarsely
VIEW_FROM = (0.8, 0.5, 0.36)  # towards the viewer, in the world, unless another view is asked for
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


class _Manifold(NamedTuple):
    """The contacts of one pair, as they are shown."""

    name: str
    found: Contacts
    colour: str

    @property
    def deepest(self) -> float:
        return float(self.found.depths.max(initial=0.0))


class _Piece(NamedTuple):
    """A part of a body where it stands in the world."""

    body: str
    mesh: Mesh
    colour: str
    is_convex: bool = True


class _Plate(NamedTuple):
    """What is shown of a half-space."""

    piece: _Piece
    normal: Floats
    offset: float

    def hides(self, points: Floats) -> NDArray[np.bool_]:
        return np.asarray(points @ self.normal < self.offset)


def draw(
    scene: Scene,
    path: str | Path,
    *,
    table: PairTable | None = None,
    closest: int = 5,
    contacts: Mapping[str, Contacts] | None = None,
    ghosts: Sequence[Scene] = (),
    view_from: ArrayLike = VIEW_FROM,
) -> None:
    """Draw a scene with the gaps of its closest pairs and with contacts, as a PNG.

    Parameters
    ----------
    scene : Scene
    path : path_like
        Where the picture goes.
    table : PairTable, optional
        Distances of the scene; measured anew unless given.
    closest : int
        How many of the closest pairs are shown.
    contacts : mapping of str to Contacts, optional
        Manifolds to show, under names to label them with: dots where bodies touch, and arrows along the normals.
    ghosts : sequence of Scene, optional
        Shown translucent, without gaps: where a robot was or will be.
    view_from : array_like, (3,)
        The direction from the scene towards the viewer; z is up.

    Examples
    --------
    >>> from clearance import samples
    >>> draw(samples.humanoid(), "scene.png")  # doctest: +SKIP
    """
    extra("matplotlib")
    witnesses, manifolds = _witnesses(scene, table, closest), _manifolds(contacts, closest)
    pieces, plates = _pieces(scene)
    shades = _shades(scene, ghosts)
    shown = [*pieces, *itertools.chain.from_iterable(shades), *(plate.piece for plate in plates)]
    points, towards = np.concatenate([piece.mesh.vertices for piece in shown]), _direction(view_from)

    def painted(faces: Sequence[_Faces]) -> NDArray[np.uint8]:
        figure, axes = _stage(points, towards)
        _add_plates(axes, plates, towards)
        _add_faces(axes, faces, plates)
        labels = [_add_witness(figure, axes, witness) for witness in witnesses]
        length = _arrow_length(points)
        labels += [_add_manifold(figure, axes, manifold, length) for manifold in manifolds if len(manifold.found)]
        _add_labels(axes, labels)
        figure.canvas.draw()
        return np.asarray(figure.canvas.buffer_rgba())

    stage, longest = _stage(points, towards), 0.008 * float(np.linalg.norm(np.ptp(points, axis=0)))
    faces = [_faces(*stage, group, longest) for group in (pieces, *shades) if group]
    picture = painted(faces[: bool(pieces)])
    if any(shades):
        # Faces that are translucent one by one would show all their seams, so whole pictures are blended.
        picture = ((1.0 - FAINT) * picture + FAINT * painted(faces)).round().astype(np.uint8)
    _save(picture, path)


def _direction(view_from: ArrayLike) -> Floats:
    towards = np.asarray(view_from, dtype=np.float64)
    if towards.shape != (3,) or not np.isfinite(towards).all() or not towards[:2].any():
        raise ValueError(f"view_from must be three numbers, the first two not both zero, but it is {view_from!r}.")
    return towards / np.linalg.norm(towards)


def _save(picture: NDArray[np.uint8], path: str | Path) -> None:
    """Write a PNG, without rows that are empty above and below."""
    from matplotlib.image import imsave

    used = np.flatnonzero((picture[..., :3] < 250).any(axis=(1, 2)))
    margin = int(0.25 * DOTS)
    imsave(path, picture[max(0, used[0] - margin) : used[-1] + margin + 1], format="png", dpi=DOTS)


def _stage(points: Floats, towards: Floats) -> tuple[Any, Any]:
    """An empty picture, and axes that look at some points."""
    from matplotlib.backends.backend_agg import FigureCanvasAgg
    from matplotlib.figure import Figure

    figure = Figure(figsize=(8.0, 6.4), dpi=DOTS)
    FigureCanvasAgg(figure)
    axes: Any = figure.add_axes((0.0, 0.0, 1.0, 1.0), projection="3d", computed_zorder=False)
    _look_at(figure, axes, points, towards)
    return figure, axes


def _look_at(figure: Any, axes: Any, points: Floats, towards: Floats) -> None:
    low, high = points.min(axis=0), points.max(axis=0)
    x, y, z = towards
    axes.set_proj_type("persp", focal_length=2.0)
    axes.view_init(elev=np.degrees(np.arcsin(z)), azim=np.degrees(np.arctan2(y, x)))
    axes.set(xlim=(low[0], high[0]), ylim=(low[1], high[1]), zlim=(low[2], high[2]))
    axes.set_box_aspect(high - low)
    axes.set_axis_off()
    # Lay the axes over the figure such that the scene fills its middle and leaves the labels a column on either side.
    axes.apply_aspect()
    seen = _on_figure(figure, axes, points)
    corner, size = seen.min(axis=0), np.ptp(seen, axis=0)
    scale = min(0.94 / size[1], 0.62 / size[0])
    axes.set_position([*(0.5 - scale * (corner + 0.5 * size)), scale, scale])
    axes.apply_aspect()


def _on_figure(figure: Any, axes: Any, points: Floats) -> Floats:
    """Where points of the world appear, in fractions of the figure."""
    from mpl_toolkits.mplot3d import proj3d

    x, y, _ = proj3d.proj_transform(*points.T, axes.get_proj())
    pixels = axes.transData.transform(np.stack([x, y], axis=-1))
    return np.asarray(figure.transFigure.inverted().transform(pixels))


def _add_plates(axes: Any, plates: Sequence[_Plate], towards: Floats) -> None:
    """Half-spaces that face the viewer lie behind what stands outside of them, the others in front of everything."""
    from matplotlib.colors import to_rgba
    from mpl_toolkits.mplot3d.art3d import Poly3DCollection

    for shown in plates:
        mesh = shown.piece.mesh
        top = mesh.facets[np.argmax(mesh.facets_normal @ shown.normal)]
        corners = mesh.vertices[np.unique(mesh.faces[top])]
        around = corners - corners.mean(axis=0)
        e, f = around[0], np.cross(shown.normal, around[0])
        edge = corners[np.argsort(np.arctan2(around @ f, around @ e))]
        in_front = shown.normal @ towards < 0.0
        fill, line = to_rgba(GROUND, 0.5 * CLEAR if in_front else CLEAR), to_rgba(GROUND, 0.8)
        axes.add_collection3d(
            Poly3DCollection([edge], facecolors=[fill], edgecolors=[line], linewidths=0.8, zorder=4 if in_front else 2)
        )


class _Faces(NamedTuple):
    """Small triangles, as they are lit."""

    triangles: Floats  # (n, 3, 3)
    colours: Floats  # (n, 3)


def _faces(figure: Any, axes: Any, pieces: Sequence[_Piece], longest: float) -> _Faces:
    """What is seen of pieces that belong together, in small faces: matplotlib sorts them by depth, it does not cut."""
    trimesh = extra("trimesh")
    from matplotlib.colors import to_rgb

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
    return _Faces(np.concatenate(corners), np.concatenate(colours))


def _add_faces(axes: Any, groups: Sequence[_Faces], plates: Sequence[_Plate]) -> None:
    """All faces in one collection, so that they are sorted together; what has sunk into a half-space comes first."""
    from mpl_toolkits.mplot3d.art3d import Poly3DCollection

    if not groups:
        return
    triangles, shades = (np.concatenate(columns) for columns in zip(*groups, strict=True))
    centres = triangles.mean(axis=1)
    sunk = np.any([shown.hides(centres) for shown in plates], axis=0) if plates else np.zeros(len(centres), dtype=bool)
    for which, order in ((sunk, 1), (~sunk, 3)):
        if which.any():
            shade = shades[which]
            axes.add_collection3d(
                Poly3DCollection(triangles[which], facecolors=shade, edgecolors=shade, linewidths=0.35, zorder=order)
            )


class _Label(NamedTuple):
    text: str
    anchors: Floats  # (k, 2) on the figure; the leader ends at the one that is nearest to the text
    colour: str


def _add_witness(figure: Any, axes: Any, witness: _Witness) -> _Label:
    axes.plot(*witness.points.T, color=witness.colour, linewidth=2.4, marker="o", markersize=4.0, zorder=10)
    text = f"{witness.name_a}\n{witness.name_b}\n{1e3 * witness.distance:.1f} mm"
    return _Label(text, _on_figure(figure, axes, witness.points).mean(axis=0, keepdims=True), witness.colour)


def _add_manifold(figure: Any, axes: Any, manifold: _Manifold, length: float) -> _Label:
    found, colour = manifold.found, manifold.colour
    axes.plot(*found.points.T, color=colour, linestyle="none", marker="o", markersize=5.0, zorder=10)
    axes.quiver(
        *found.points.T, *(length * found.normals).T, color=colour, linewidths=1.8, arrow_length_ratio=0.3, zorder=10
    )
    text = f"{manifold.name}\n{_counted(len(found), 'point')}\n{1e3 * manifold.deepest:.1f} mm deep"
    return _Label(text, _on_figure(figure, axes, found.points), colour)


def _arrow_length(points: Floats) -> float:
    return 0.07 * float(np.linalg.norm(np.ptp(points, axis=0)))


def _counted(count: int, what: str) -> str:
    return f"{count} {what}" if count == 1 else f"{count} {what}s"


def _add_labels(axes: Any, labels: Sequence[_Label]) -> None:
    """Labels in columns beside the scene, in the order of what they belong to, so that leaders hardly cross."""
    if not labels:
        return
    middles = np.array([label.anchors.mean(axis=0) for label in labels])
    on_left = middles[:, 0] < np.median(middles[:, 0])
    for side, chosen in (("left", on_left), ("right", ~on_left)):
        rows = sorted(np.flatnonzero(chosen).tolist(), key=lambda k: -float(middles[k, 1]))
        apart = min(0.1, 0.9 / max(len(rows), 1))
        for k, height in zip(rows, _spread_out(middles[rows, 1], apart), strict=True):
            text, anchors, colour = labels[k]
            at_edge, text_end = (0.03, 1.0) if side == "left" else (0.97, 0.0)
            axes.annotate(
                text,
                xy=anchors[np.argmin(np.abs(anchors[:, 0] - at_edge))],
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


def page(
    scene: Scene,
    path: str | Path,
    *,
    table: PairTable | None = None,
    closest: int = 5,
    contacts: Mapping[str, Contacts] | None = None,
    ghosts: Sequence[Scene] = (),
    view_from: ArrayLike = VIEW_FROM,
) -> None:
    """Write one HTML page with a scene to turn around, the gaps of its closest pairs and contacts, and tables of them.

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
    contacts : mapping of str to Contacts, optional
        Manifolds to show, under names to label them with: dots where bodies touch, and arrows along the normals.
    ghosts : sequence of Scene, optional
        Shown translucent, without gaps: where a robot was or will be.
    view_from : array_like, (3,)
        The direction from the scene towards the viewer; z is up.

    Examples
    --------
    >>> from clearance import samples
    >>> page(samples.humanoid(), "scene.html")  # doctest: +SKIP
    """
    trimesh = extra("trimesh")
    from trimesh.viewer.notebook import scene_to_html

    witnesses, manifolds = _witnesses(scene, table, closest), _manifolds(contacts, closest)
    pieces, plates = _pieces(scene)
    world = trimesh.Scene()
    _add_bodies(world, pieces)
    for ghost in _shades(scene, ghosts):
        _add_bodies(world, ghost, FAINT)
    for shown in plates:
        world.add_geometry(_painted([shown.piece.mesh], GROUND, CLEAR), geom_name=shown.piece.body)
    thickness, length = 0.002 * world.scale, _arrow_length(world.bounds)
    for witness in witnesses:
        world.add_geometry(_painted(stroke(witness.points, thickness), witness.colour))
    for manifold in manifolds:
        for point, normal in zip(manifold.found.points, manifold.found.normals, strict=True):
            marks = arrow(point, length * normal, thickness)
            world.add_geometry(_painted(marks, manifold.colour), geom_name=ON_TOP)
    _aim_camera(world, _direction(view_from))
    # The viewer has one lamp, beside the camera; light from the sky shows what faces up.
    viewer = scene_to_html(world)
    for hook, more in (("scene.add(tracklight);", SKY), ("scene.add(gltf.scene);", MARKS_ON_TOP)):
        viewer = viewer.replace(hook, hook + more, 1)
    Path(path).write_text(
        PAGE.format(
            summary=html.escape(f"{len(scene.names)} bodies, {len(scene.pairs)} watched pairs."),
            gaps=_gap_table(witnesses),
            contacts=_contact_table(manifolds),
            viewer=html.escape(viewer, quote=True),
        ),
        encoding="utf-8",
    )


def _add_bodies(world: Any, pieces: Sequence[_Piece], alpha: float = 1.0) -> None:
    for name, body in itertools.groupby(_without_hidden_faces(pieces, pieces), key=lambda piece: piece.body):
        parts = list(body)
        world.add_geometry(_painted([part.mesh for part in parts], parts[0].colour, alpha), geom_name=name)


def _gap_table(witnesses: Sequence[_Witness]) -> str:
    if not witnesses:
        return ""
    width = max(witness.upper - witness.lower for witness in witnesses)
    rows = "\n".join(
        f'<tr><td><i style="background:{w.colour}"></i>{html.escape(w.name_a)}</td><td>{html.escape(w.name_b)}</td>'
        f"<td>{1e3 * w.distance:.3f}</td></tr>"
        for w in witnesses
    )
    return TABLE.format(
        title="Closest pairs",
        caption=f"The gaps below are proved to within {1e3 * width:.1g} mm.",
        head="<th>a</th><th>b</th><th>gap in mm</th>",
        rows=rows,
    )


def _contact_table(manifolds: Sequence[_Manifold]) -> str:
    if not manifolds:
        return ""
    rows = "\n".join(
        f'<tr><td><i style="background:{m.colour}"></i>{html.escape(m.name)}</td><td>{len(m.found)}</td>'
        f"<td>{1e3 * m.deepest:.3f}</td></tr>"
        for m in manifolds
    )
    return TABLE.format(
        title="Contacts",
        caption="Arrows point from the first body to the second.",
        head="<th>where</th><th>points</th><th>depth in mm</th>",
        rows=rows,
    )


ON_TOP = "mark"
MARKS_ON_TOP = (
    f"gltf.scene.traverse(o => {{ if (o.isMesh && o.name.startsWith('{ON_TOP}')) "
    "{ o.material.depthTest = false; o.renderOrder = 1; } });"
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
<p>{summary}</p>
{gaps}{contacts}<p>Drag to turn, scroll to zoom, drag with the right button to shift.</p>
</aside>
<iframe title="the scene in 3D" srcdoc="{viewer}"></iframe>
</body>
</html>
"""


TABLE = """<h1>{title}</h1>
<p>{caption}</p>
<table>
<thead><tr>{head}</tr></thead>
<tbody>
{rows}
</tbody>
</table>
"""


def _painted(meshes: Sequence[Mesh], colour: str, alpha: float = 1.0) -> Mesh:
    trimesh = extra("trimesh")
    # Lamp and sky together are brighter than white.
    rgba = np.array([*(trimesh.visual.color.hex_to_rgba(colour)[:3] / 255.0 / 1.6), alpha])
    material = trimesh.visual.material.PBRMaterial(
        baseColorFactor=rgba, metallicFactor=0.0, roughnessFactor=1.0, alphaMode="OPAQUE" if alpha == 1.0 else "BLEND"
    )
    mesh = trimesh.util.concatenate(meshes)
    mesh.visual = trimesh.visual.TextureVisuals(material=material)
    return mesh


def _aim_camera(world: Any, view_from: Floats) -> None:
    """The browser's viewer keeps y upright, so the whole world is turned before the camera is set."""
    trimesh = extra("trimesh")
    world.apply_transform(trimesh.transformations.rotation_matrix(-np.pi / 2.0, [1.0, 0.0, 0.0]))
    towards = np.array([view_from[0], view_from[2], -view_from[1]])
    right = np.cross([0.0, 1.0, 0.0], towards)
    right /= np.linalg.norm(right)
    rotation = np.eye(4)
    rotation[:3, :3] = np.stack([right, np.cross(towards, right), towards], axis=1)
    world.camera.fov = (24.0, 26.0)  # less than the window shows, which may be higher than wide
    world.camera_transform = world.camera.look_at(world.bounding_box.vertices, rotation=rotation)
    world.camera.fov = (30.0, 30.0)


def _pieces(scene: Scene, fine: bool = True) -> tuple[list[_Piece], list[_Plate]]:
    if not scene.names:
        raise ValueError("the scene has no bodies, so there is nothing to draw.")
    parts = [
        (name, colour, leaf, pose)
        for name, colour in zip(scene.names, _colours(scene), strict=True)
        for leaf, pose in leaves(scene.shape(name), scene.pose(name))
    ]
    solids = [part for part in parts if not isinstance(part[2], HalfSpace)]
    largest = max((leaf.ball[1] for _, _, leaf, _ in solids), default=0.0)
    pieces = []
    for name, colour, leaf, pose in solids:
        if is_surface(leaf):
            pieces.append(_Piece(name, _sheet(surface(leaf).apply_transform(pose)), colour, is_convex=False))
            continue
        if isinstance(leaf, PointCloud):
            pieces.append(_Piece(name, surface(leaf).apply_transform(pose), colour, is_convex=False))
            continue
        mesh = surface(leaf, fine=fine and _roundness(leaf) > 0.05 * largest).apply_transform(pose)
        pieces.append(_Piece(name, with_sharp_edges(mesh, leaf), colour))
    around = np.concatenate([piece.mesh.vertices for piece in pieces]) if pieces else np.empty((0, 3))
    plates = []
    for name, colour, leaf, pose in parts:
        if isinstance(leaf, HalfSpace):
            normal = pose[:3, :3] @ leaf.normal
            offset = leaf.offset + float(normal @ pose[:3, 3])
            mesh = with_sharp_edges(plate(leaf, pose, around), leaf)
            plates.append(_Plate(_Piece(name, mesh, colour), normal, offset))
    return pieces, plates


def _shades(scene: Scene, ghosts: Sequence[Scene]) -> list[list[_Piece]]:
    """The pieces of ghosts, but for bodies that have not moved: two surfaces in one place would flicker."""
    placed = {(name, scene.pose(name).tobytes()) for name in scene.names}
    shades = []
    for ghost in ghosts:
        moved = [name for name in ghost.names if (name, ghost.pose(name).tobytes()) not in placed]
        placed.update((name, ghost.pose(name).tobytes()) for name in moved)
        pieces = _pieces(ghost, fine=False)[0] if moved else []
        shades.append([piece._replace(colour=GHOST) for piece in pieces if piece.body in moved])
    return shades


def _sheet(mesh: Mesh) -> Mesh:
    """What is shown of a mesh: both sides of it, and no more triangles than can be told apart."""
    if len(mesh.faces) > MOST_TRIANGLES:
        mesh = coarse(mesh, cell=0.004 * mesh.scale)
    return two_sided(mesh)


def _roundness(shape: Shape) -> float:
    """What is small needs fewer faces: the radius of a shape that has one, or its size."""
    return float(shape.elements[0][1] if shape.elements else getattr(shape, "radius", 0.0) or shape.ball[1])


def _without_hidden_faces(pieces: Sequence[_Piece], blockers: Sequence[_Piece]) -> list[_Piece]:
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
    real = mesh.area_faces > 0.0
    normals, corners = np.array(mesh.face_normals)[real], np.array(mesh.triangles)[real, 0]
    offsets = np.einsum("ij,ij->i", normals, corners) + height
    below = np.ones(len(points), dtype=bool)
    # A few planes from all around leave few points for the others.
    groups = 1 + len(normals) // 32
    for k in range(groups):
        below[below] = (points[below] @ normals[k::groups].T < offsets[k::groups]).all(axis=1)
    return below


def _colours(scene: Scene) -> list[str]:
    """Bodies that are not watched against each other belong together, as the links of a robot do.

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


def _witnesses(scene: Scene, table: PairTable | None, closest: int) -> list[_Witness]:
    if closest < 0:
        raise ValueError(f"closest must be zero or positive, but it is {closest}.")
    if closest == 0:
        return []
    table = scene.distances() if table is None else table
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


def _manifolds(contacts: Mapping[str, Contacts] | None, colours_used: int) -> list[_Manifold]:
    return [
        _Manifold(name, found, LOUD[(colours_used + k) % len(LOUD)])
        for k, (name, found) in enumerate((contacts or {}).items())
    ]
