"""Polygons of mesh files are cut into triangles that cover them, and nothing else."""

import numpy as np
import pytest

import clearance as cl
from clearance.triangulation import triangles_of

ARROW = np.array([[2.0, 0, 0], [0.2, 0.2, 0], [0, 2, 0], [0, 0, 0]])
COMB = np.array([[0, 0], [5, 0], [5, 3], [4, 3], [4, 1], [3, 1], [3, 3], [2, 3], [2, 1], [1, 1], [1, 3], [0, 3.0]])


def turned(flat, seed):
    """Put a flat polygon somewhere in space, as it is or mirrored."""
    rng = np.random.default_rng(seed)
    axes = np.linalg.qr(rng.normal(size=(3, 3)))[0]
    return np.column_stack([flat, np.zeros(len(flat))]) @ axes.T * 10.0 ** rng.uniform(-3, 3) + rng.normal(size=3)


def area_vectors(vertices, faces):
    p, q, r = (vertices[faces[:, k]] for k in range(3))
    return 0.5 * np.cross(q - p, r - p)


def assert_covered(vertices, faces):
    """All triangles turn like the polygon, and their areas add up to its own: nothing is outside, nothing twice."""
    parts = area_vectors(vertices, faces)
    ring = np.arange(1, len(vertices) - 1)
    whole = area_vectors(vertices, np.stack([0 * ring, ring, ring + 1], axis=1)).sum(axis=0)
    assert np.all(parts @ whole >= -1e-12 * (whole @ whole))
    assert np.linalg.norm(parts, axis=1).sum() == pytest.approx(np.linalg.norm(whole), rel=1e-9)


@pytest.mark.parametrize("seed", range(6))
@pytest.mark.parametrize("name", ["arrow", "comb", "star", "random"])
def test_polygons_are_covered_from_every_corner_and_side(name, seed):
    rng = np.random.default_rng(seed)
    angles = np.sort(rng.uniform(0, 2 * np.pi, 40))
    flat = {
        "arrow": ARROW[:, :2],
        "comb": COMB,
        "star": np.array([[np.cos(t), np.sin(t)] for t in np.arange(10) * np.pi / 5]) * np.tile([[3.0], [1.0]], (5, 1)),
        "random": rng.uniform(0.2, 1.0, 40)[:, None] * np.column_stack([np.cos(angles), np.sin(angles)]),
    }[name]
    for shift in range(0, len(flat), 3):
        for way in (1, -1):
            vertices = turned(np.roll(flat, shift, axis=0)[::way], seed)
            faces = triangles_of(vertices, [list(range(len(vertices)))])
            assert faces.shape == (len(vertices) - 2, 3)
            assert_covered(vertices, faces)


def test_convex_polygons_stay_fans_in_the_order_of_the_file():
    vertices = np.array([[0.0, 0, 0], [1, 0, 0], [1, 1, 0], [0, 1, 0], [0.5, 2, 0]])
    faces = triangles_of(vertices, [[0, 1, 2], [0, 1, 2, 3], [0, 1, 2, 4, 3]])
    assert faces.tolist() == [[0, 1, 2], [0, 1, 2], [0, 2, 3], [0, 1, 2], [0, 2, 4], [0, 4, 3]]


@pytest.mark.parametrize("order", [(1, 2, 3, 4), (2, 3, 4, 1), (3, 4, 1, 2), (4, 1, 2, 3)])
@pytest.mark.parametrize("ending", ["obj", "off"])
def test_files_with_concave_faces_have_no_surface_where_there_is_none(tmp_path, order, ending):
    path = tmp_path / f"arrow.{ending}"
    if ending == "obj":
        path.write_text("".join(f"v {x} {y} {z}\n" for x, y, z in ARROW) + f"f {' '.join(map(str, order))}\n")
    else:
        corners = " ".join(str(k - 1) for k in order)
        path.write_text("OFF\n4 1 0\n" + "".join(f"{x} {y} {z}\n" for x, y, z in ARROW) + f"4 {corners}\n")
    beside, inside = cl.Sphere(0.1).at([0.7, 0.7, 0.0]), cl.Sphere(0.1).at([0.15, 0.15, 0.0])
    mesh = cl.load_mesh(path)
    assert cl.distance(mesh, beside).distance > 0.4
    assert cl.collides(mesh, inside)


@pytest.mark.parametrize(
    "corners",
    [
        np.zeros((5, 3)),
        np.array([[0.0, 0, 0], [1, 0, 0], [2, 0, 0], [1, 0, 0]]),
        np.array([[0.0, 0, 0], [1, 1, 0], [1, 0, 0], [0, 1, 0]]),
        np.array([[0.0, 0, 0], [1, 0, 1], [1, 1, 0], [0, 1, 1]]),
        np.full((4, 3), 1e30),
        np.array([[np.nan, 0, 0], [1, 0, 0], [1, 1, 0], [0, 1, 0]]),
    ],
    ids=["point", "line", "bow tie", "bent", "huge", "nan"],
)
def test_polygons_that_are_none_are_cut_somehow(corners):
    faces = triangles_of(corners, [list(range(len(corners)))])
    assert faces.shape == (len(corners) - 2, 3)
    assert set(faces.ravel()) <= set(range(len(corners)))


def test_corners_that_are_no_vertices_are_left_to_be_refused():
    assert triangles_of(ARROW, [[0, 1, 2, 7]]).max() == 7
    assert triangles_of(np.empty((0, 3)), [[0, 1, 2, 3]]).shape == (2, 3)
    assert triangles_of(ARROW, []).shape == (0, 3)


def test_polygons_that_would_take_for_ever_are_refused():
    angles = np.arange(3000) * 2 * np.pi / 3000
    star = np.column_stack([np.cos(angles), np.sin(angles), 0 * angles]) * (1.0 + 0.5 * (np.arange(3000) % 2))[:, None]
    with pytest.raises(ValueError, match="3000 corners is not convex"):
        triangles_of(star, [list(range(3000))])
