"""Pictures of a scene, its closest pairs and its contacts: a PNG, or one page that turns in the browser, offline.

And `plot_path`: how the clearance of a robot changes along its way; `swept_scene`: swept volumes, to show as ghosts.

They need trimesh, matplotlib and scipy: `pip install clearance[view]`.
"""

from __future__ import annotations

import itertools
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import ArrayLike, NDArray

from .contacts import Contacts
from .guard_plots import swept_scene
from .pages import page
from .path_plots import plot_path
from .picture_parts import (
    CLEAR,
    FAINT,
    GROUND,
    VIEW_FROM,
    Manifold,
    Piece,
    Plate,
    Witness,
    arrow_length,
    counted,
    direction_of,
    parts_of,
    without_hidden_faces,
)
from .scene import PairTable, Scene
from .surfaces import Floats, extra, mesh_of

__all__ = ["draw", "mesh_of", "page", "plot_path", "swept_scene"]

DOTS = 130  # per inch
TOWARDS_LIGHT = np.array([0.35, 0.25, 0.9]) / np.linalg.norm([0.35, 0.25, 0.9])


def draw(
    scene: Scene,
    path: str | Path,
    *,
    table: PairTable | None = None,
    closest: int = 5,
    contacts: Mapping[str, Contacts] | None = None,
    ghosts: Sequence[Scene] = (),
    colours: Mapping[str, str] | None = None,
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
    colours : mapping of str to str, optional
        Of some bodies, ghosts included, like "#d6001c"; others keep theirs.
    view_from : array_like, (3,)
        The direction from the scene towards the viewer; z is up.

    Examples
    --------
    >>> from clearance import samples
    >>> draw(samples.humanoid(), "scene.png")  # doctest: +SKIP
    """
    extra("matplotlib")
    pieces, plates, shades, witnesses, manifolds = parts_of(scene, table, closest, contacts, ghosts, colours)
    shown = [*pieces, *itertools.chain.from_iterable(shades), *(plate.piece for plate in plates)]
    points, towards = np.concatenate([piece.mesh.vertices for piece in shown]), direction_of(view_from)

    def painted(faces: Sequence[_Faces]) -> NDArray[np.uint8]:
        figure, axes = _stage(points, towards)
        _add_plates(axes, plates, towards)
        _add_faces(axes, faces, plates)
        labels = [_add_witness(figure, axes, witness) for witness in witnesses]
        length = arrow_length(points)
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


def _add_plates(axes: Any, plates: Sequence[Plate], towards: Floats) -> None:
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


def _faces(figure: Any, axes: Any, pieces: Sequence[Piece], longest: float) -> _Faces:
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
    for piece in without_hidden_faces(small, pieces):
        light = 0.5 + 0.5 * piece.mesh.face_normals @ TOWARDS_LIGHT
        corners.append(piece.mesh.triangles)
        colours.append(np.clip((0.42 + 0.64 * light[:, None]) * np.array(to_rgb(piece.colour)), 0.0, 1.0))
    return _Faces(np.concatenate(corners), np.concatenate(colours))


def _add_faces(axes: Any, groups: Sequence[_Faces], plates: Sequence[Plate]) -> None:
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


def _add_witness(figure: Any, axes: Any, witness: Witness) -> _Label:
    axes.plot(*witness.points.T, color=witness.colour, linewidth=2.4, marker="o", markersize=4.0, zorder=10)
    text = f"{witness.name_a}\n{witness.name_b}\n{1e3 * witness.distance:.1f} mm"
    return _Label(text, _on_figure(figure, axes, witness.points).mean(axis=0, keepdims=True), witness.colour)


def _add_manifold(figure: Any, axes: Any, manifold: Manifold, length: float) -> _Label:
    found, colour = manifold.found, manifold.colour
    axes.plot(*found.points.T, color=colour, linestyle="none", marker="o", markersize=5.0, zorder=10)
    axes.quiver(
        *found.points.T, *(length * found.normals).T, color=colour, linewidths=1.8, arrow_length_ratio=0.3, zorder=10
    )
    text = f"{manifold.name}\n{counted(len(found), 'point')}\n{1e3 * manifold.deepest:.1f} mm deep"
    return _Label(text, _on_figure(figure, axes, found.points), colour)


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
