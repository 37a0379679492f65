"""Meshes to look at lost vertices nearer than 1e-8 and faces without area that trimesh could see."""

from urllib.request import urlopen

import numpy as np
import pytest

import clearance as cl

pytest.importorskip("trimesh", reason="pictures need the extra 'view'")
from clearance.pages import page
from clearance.picture_parts import pieces_of, without_hidden_faces
from clearance.surfaces import mesh_of

CORNERS = np.array([[0.0, 0.0, 0.0], [1.0, 0.0, 0.0], [0.0, 1.0, 0.0], [0.0, 0.0, 1.0]])
SIZES = [1e-12, 1e-9, 1e-7, 1e-6, 1e6]


def shapes(size):
    return {
        "ball": cl.Sphere(size),
        "capsule": cl.Capsule(size, 2.0 * size),
        "box": cl.Box([size] * 3),
        "cylinder": cl.Cylinder(size, size),
        "cone": cl.Cone(size, size),
        "ellipsoid": cl.Ellipsoid([size, 2.0 * size, size]),
        "hull": cl.ConvexHull(size * CORNERS),
        "round hull": cl.ConvexHull(size * CORNERS, 0.3 * size),
    }


@pytest.mark.parametrize("size", SIZES)
@pytest.mark.parametrize("name", shapes(1.0))
def test_mesh_has_the_same_faces_at_every_size(name, size):
    mesh, expected = mesh_of(shapes(size)[name]), mesh_of(shapes(1.0)[name])
    assert len(mesh.faces) == len(expected.faces)
    np.testing.assert_allclose(mesh.extents, size * expected.extents, rtol=1e-9)


@pytest.mark.parametrize("size", SIZES)
def test_pages_show_tiny_shapes_beside_large_ones(size, tmp_path):
    scene = cl.Scene()
    for k, (name, shape) in enumerate(shapes(size).items()):
        scene.add(name, shape, [5.0 * size * k, 0.0, 0.0])
    scene.add("table", cl.Box([1.0, 1.0, 1.0]), [0.0, 0.0, -0.5])
    scene.add("ground", cl.HalfSpace([0.0, 0.0, 1.0], -1.0))
    pieces = pieces_of(scene)[0]
    assert {piece.body for piece in pieces if piece.mesh.extents.max() > 0.0} == {*shapes(size), "table"}
    assert any(len(piece.mesh.faces) for piece in without_hidden_faces(pieces, pieces))
    page(scene, tmp_path / "it.html")
    assert (tmp_path / "it.html").read_text(encoding="utf-8").rstrip().endswith("</html>")


@pytest.mark.parametrize("size", SIZES)
def test_viewer_shows_tiny_shapes(size):
    pytest.importorskip("viser", reason="the viewer needs the extra 'view'")
    cluster = cl.Compound([cl.Box([size] * 3), cl.Sphere(size).at([0.5 * size, 0.0, 0.0]), cl.Box([1.0] * 3)])
    for thing in (*shapes(size).values(), cluster):
        with cl.view(thing, port=0) as viewer, urlopen(viewer.url) as answer:
            assert answer.status == 200
