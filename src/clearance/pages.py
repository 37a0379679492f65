"""A scene as one page that turns in the browser, offline. It needs trimesh and scipy: `pip install clearance[view]`."""

from __future__ import annotations

import html
import itertools
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import ArrayLike

from .contacts import Contacts
from .picture_parts import (
    BEAM,
    CLEAR,
    FAINT,
    GROUND,
    LOUD,
    VIEW_FROM,
    Manifold,
    Parts,
    Piece,
    Witness,
    arrow_length,
    counted,
    direction_of,
    parts_of,
    without_hidden_faces,
)
from .scene import PairTable, Scene
from .surfaces import Floats, Mesh, arrow, balls, extra, stroke, threads

__all__ = ["page"]

NEAREST = 0.002  # that is seen, in sizes of the whole scene; much nearer, distances far away would blur
NO_BEAMS, NO_DOTS = np.empty((0, 2, 3)), np.empty((0, 3))


def page(
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
    colours : mapping of str to str, optional
        Of some bodies, ghosts included, like "#d6001c"; others keep theirs.
    view_from : array_like, (3,)
        The direction from the scene towards the viewer; z is up.

    Examples
    --------
    >>> from clearance import samples
    >>> page(samples.humanoid(), "scene.html")  # doctest: +SKIP
    """
    parts = parts_of(scene, table, closest, contacts, ghosts, colours)
    summary = f"{len(scene.names)} bodies, {counted(len(scene.pairs), 'watched pair')}."
    write_parts(path, parts, summary, view_from)


def write_parts(
    path: str | Path,
    parts: Parts,
    summary: str,
    view_from: ArrayLike = VIEW_FROM,
    *,
    beams: Floats = NO_BEAMS,
    dots: Floats = NO_DOTS,
    title: str | None = None,
) -> None:
    """Write one HTML page with parts of a scene, tables of them, beams (n, 2, 3) and dots (n, 3), under a title."""
    trimesh = extra("trimesh")
    from trimesh.viewer.notebook import scene_to_html

    world = trimesh.Scene()
    _add_bodies(world, parts.pieces)
    for shade in parts.shades:
        _add_bodies(world, shade, FAINT)
    for shown in parts.plates:
        world.add_geometry(_painted([shown.piece.mesh], GROUND, CLEAR), geom_name=shown.piece.body)
    _add_marks(world, parts, beams, dots)
    if world.is_empty:
        raise ValueError("there is nothing to show on a page.")
    _aim_camera(world, direction_of(view_from))
    # The viewer has one lamp, beside the camera; light from the sky shows what faces up.
    viewer = scene_to_html(world)
    for hook, more in (("scene.add(tracklight);", SKY), ("scene.add(gltf.scene);", MARKS_ON_TOP)):
        viewer = viewer.replace(hook, hook + more, 1)
    Path(path).write_text(
        PAGE.format(
            title=html.escape(title or "clearance"),
            summary=html.escape(summary),
            gaps=_gap_table(parts.witnesses),
            contacts=_contact_table(parts.manifolds),
            viewer=html.escape(viewer, quote=True),
        ),
        encoding="utf-8",
    )


def _add_bodies(world: Any, pieces: Sequence[Piece], alpha: float = 1.0) -> None:
    for name, body in itertools.groupby(without_hidden_faces(pieces, pieces), key=lambda piece: piece.body):
        parts = list(body)
        world.add_geometry(_painted([part.mesh for part in parts], parts[0].colour, alpha), geom_name=name)


def _add_marks(world: Any, parts: Parts, beams: Floats, dots: Floats) -> None:
    points = [NO_DOTS if world.is_empty else world.bounds, beams.reshape(-1, 3), dots]
    points += [witness.points for witness in parts.witnesses] + [manifold.found.points for manifold in parts.manifolds]
    around = np.concatenate(points)
    if not len(around):
        return
    length = arrow_length(around) or 0.07
    thickness = 0.03 * length
    for witness in parts.witnesses:
        world.add_geometry(_painted(stroke(witness.points, thickness), witness.colour))
    if len(beams):
        world.add_geometry(_painted([threads(beams, 0.3 * thickness)], BEAM))
    if len(dots):
        world.add_geometry(_painted([balls(dots, 0.8 * thickness)], LOUD[0]))
    for manifold in parts.manifolds:
        for point, normal in zip(manifold.found.points, manifold.found.normals, strict=True):
            marks = arrow(point, length * normal, thickness)
            world.add_geometry(_painted(marks, manifold.colour), geom_name=ON_TOP)


def _gap_table(witnesses: Sequence[Witness]) -> str:
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


def _contact_table(manifolds: Sequence[Manifold]) -> str:
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
<title>{title}</title>
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
    """Turn and scale the whole world before the camera is set.

    The browser's viewer keeps y upright, and sees nothing beyond 1000 units.
    """
    trimesh = extra("trimesh")
    to_view = trimesh.transformations.rotation_matrix(-np.pi / 2.0, [1.0, 0.0, 0.0])
    to_view[:3, :3] /= float(world.extents.max()) or 1.0
    world.apply_transform(to_view)
    towards = np.array([view_from[0], view_from[2], -view_from[1]])
    right = np.cross([0.0, 1.0, 0.0], towards)
    right /= np.linalg.norm(right)
    rotation = np.eye(4)
    rotation[:3, :3] = np.stack([right, np.cross(towards, right), towards], axis=1)
    world.camera.fov = (24.0, 26.0)  # less than the window shows, which may be higher than wide
    world.camera_transform = world.camera.look_at(world.bounding_box.vertices, rotation=rotation)
    world.camera.fov = (30.0, 30.0)
    world.camera.z_near = NEAREST
