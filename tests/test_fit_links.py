"""Swept hulls around concave meshes and around the links of robots: every triangle is inside, whoever does the work."""

import importlib.util
import multiprocessing
from concurrent.futures import ProcessPoolExecutor, ThreadPoolExecutor
from contextlib import nullcontext

import numpy as np
import pytest

import clearance as cl
from clearance import fit_pieces
from clearance.fit import fit_swept_hull, swept_volume
from clearance.fit_pieces import fit_swept_hulls
from executors import LastFirst, Unreliable
from robot_files import OUTWARDS, TETRAHEDRON, collision, link, obj, real, urdf, written

pytest.importorskip("scipy", reason="fitting needs scipy")

needs_coacd = pytest.mark.skipif(not importlib.util.find_spec("coacd"), reason="splitting needs coacd")
ANGLE = [[0, 0], [3, 0], [3, 1], [1, 1], [1, 3], [0, 3]]
FORK = [[0, 0], [3, 0], [3, 3], [2, 3], [2, 1], [1, 1], [1, 3], [0, 3]]
CAPS = {"angle": [[0, 1, 2], [0, 2, 3], [0, 3, 4], [0, 4, 5]]}
CAPS["fork"] = [[0, 1, 5], [1, 4, 5], [1, 2, 3], [1, 3, 4], [0, 5, 6], [0, 6, 7]]
VOLUMES = {"angle": 5.0, "fork": 7.0}


def prism(kind, height=1.0):
    """Make a closed mesh of large triangles, with one hollow."""
    outline, caps = np.array(ANGLE if kind == "angle" else FORK, dtype=float), np.array(CAPS[kind])
    n = len(outline)
    vertices = np.concatenate([np.insert(outline, 2, z, axis=1) for z in (0.0, height)])
    k = np.arange(n)
    after = (k + 1) % n
    sides = np.concatenate([np.stack([k, after, after + n], axis=1), np.stack([k, after + n, k + n], axis=1)])
    return cl.Mesh(vertices, np.concatenate([caps[:, ::-1], caps + n, sides]))


def tetrahedron():
    return cl.Mesh(TETRAHEDRON, OUTWARDS)


def on_triangles(mesh, count=200):
    """Draw points all over every triangle, its corners and points of its edges among them."""
    rng = np.random.default_rng(1)
    inside = rng.dirichlet(np.ones(3), count)
    edges = inside * ~np.eye(3, dtype=bool)[rng.integers(0, 3, count)]
    weights = np.concatenate([np.eye(3), inside, edges / edges.sum(axis=1, keepdims=True)])
    return (weights @ mesh.vertices[mesh.faces]).reshape(-1, 3)


def farthest_outside(hulls, points):
    """How far points are outside of all hulls, by the lower ends of brackets; not proved to be if it is <= 0."""
    poses = np.tile(np.eye(4), (len(points), 1, 1))
    poses[:, :3, 3] = points
    cloud = cl.SweptPoint(np.zeros(3), 0.0).at(poses)
    return np.min([cl.distance(cloud, hull, tolerance=1e-8).lower for hull in hulls], axis=0).max()


def total(hulls):
    return sum(swept_volume(hull) for hull in hulls)


def without(monkeypatch, missing):
    def refuse(name, *args):
        if name == missing:
            raise ModuleNotFoundError(f"No module named {name!r}")
        return found(name, *args)

    found = importlib.import_module
    monkeypatch.setattr(importlib, "import_module", refuse)


# Pieces of one mesh --------------------------------------------------------------------------------------------------


@needs_coacd
@pytest.mark.parametrize(
    ("kind", "n_points"),
    [("angle", 2), ("fork", 2), *(pytest.param(kind, 8, marks=pytest.mark.long) for kind in CAPS)],
)
def test_hollow_is_left_out_and_no_triangle_is(kind, n_points):
    mesh = prism(kind)
    hulls = fit_swept_hulls(mesh, n_points).parts
    assert len(hulls) == len(set(hulls)) > 1
    assert all(isinstance(hull, cl.ConvexHull) and len(hull.points) <= n_points for hull in hulls)
    assert farthest_outside(hulls, on_triangles(mesh)) <= 0.0
    assert VOLUMES[kind] < total(hulls) < swept_volume(fit_swept_hull(mesh.vertices, n_points))
    if n_points == 8:
        assert total(hulls) < 1.05 * VOLUMES[kind]
        assert farthest_outside(hulls, np.array([[1.5, 2.0, 0.5]])) > 0.3  # the middle of the hollow


@needs_coacd
def test_pieces_are_the_same_every_time():
    assert fit_swept_hulls(prism("angle"), 2) == fit_swept_hulls(prism("angle"), 2)


@needs_coacd
@pytest.mark.parametrize("shift", [1e3, -1e6])
def test_mesh_far_from_the_origin_is_contained(shift):
    near = prism("angle")
    mesh = cl.Mesh(near.vertices + shift, near.faces)
    hulls = fit_swept_hulls(mesh, 2).parts
    assert farthest_outside(hulls, on_triangles(mesh)) <= 0.0


@needs_coacd
def test_what_is_convex_stays_whole():
    mesh = tetrahedron()
    assert fit_swept_hulls(mesh, 4) == cl.Compound([fit_swept_hull(mesh.vertices, 4)])


@needs_coacd
@pytest.mark.parametrize(
    ("vertices", "faces"),
    [
        ([[0, 0, 0], [1, 0, 0], [0, 1, 0]], [[0, 1, 2]]),
        ([[0, 0, 0], [1, 0, 0], [0, 1, 0], [1, 1, 0]], [[0, 1, 2], [1, 3, 2]]),
        ([[0, 0, 0], [1, 0, 0], [0, 1, 0], [0, 0, 9]], [[0, 0, 1], [3, 3, 3]]),
    ],
    ids=["triangle", "flat", "no area"],
)
def test_what_has_no_inside_is_contained_in_one_hull(vertices, faces):
    mesh = cl.Mesh(np.array(vertices, dtype=float), faces)
    (hull,) = fit_swept_hulls(mesh, 4).parts
    assert farthest_outside([hull], on_triangles(mesh)) <= 0.0


def boxes(*corners):
    unit = np.array(np.meshgrid([0.0, 1.0], [0.0, 1.0], [0.0, 1.0])).reshape(3, -1).T
    return [np.array(low) + unit * np.subtract(high, low) for low, high in corners]


PIECES = {
    "exact": boxes(([0, 0, 0], [3, 1, 1]), ([0, 1, 0], [1, 3, 1])),
    "shrunk": boxes(([0.2, 0.2, 0.3], [2.6, 0.8, 0.7]), ([0.2, 1.2, 0.3], [0.8, 2.8, 0.7])),
    "elsewhere": boxes(([0, 0, 0], [3, 0.2, 1]), ([0.1, 2.8, 0], [0.2, 2.9, 1]), ([7, 7, 7], [8, 8, 8])),
}


@pytest.mark.parametrize("name", PIECES)
def test_shares_of_any_pieces_are_all_triangles(name):
    """The proof that nothing is left outside does not rest on who cut the mesh, or how well."""
    mesh = prism("angle")
    shares = fit_pieces._shares(mesh.vertices[mesh.faces], PIECES[name])
    hulls = [cl.ConvexHull(share, 1e-9) for share in shares]
    assert len(hulls) == len(PIECES[name])
    assert farthest_outside(hulls, on_triangles(mesh)) <= 0.0
    if name == "exact":
        assert total(hulls) < 1.05 * VOLUMES["angle"]


def test_several_hulls_are_never_larger_than_one(monkeypatch):
    """Four pieces, each as large as the whole."""
    monkeypatch.setattr(fit_pieces, "_pieces", lambda triangles, *_: [triangles.reshape(-1, 3)] * 4)
    mesh = tetrahedron()
    assert fit_swept_hulls(mesh, 4) == cl.Compound([fit_swept_hull(mesh.vertices, 4)])


@pytest.mark.parametrize("concavity", [0.0, 0.009, 1.5, -1.0, np.nan, "much", None])
def test_concavity_that_is_none_is_refused(concavity):
    with pytest.raises(ValueError, match=r"concavity must be a number from 0.01 to 1, but it is"):
        fit_swept_hulls(tetrahedron(), concavity=concavity)


def test_only_meshes_of_good_counts_are_split():
    with pytest.raises(TypeError, match="mesh must be a Mesh"):
        fit_swept_hulls(TETRAHEDRON)
    with pytest.raises(ValueError, match="n_points must be 1 or more, but it is 0"):
        fit_swept_hulls(tetrahedron(), 0)


def test_splitting_without_coacd_says_how_to_get_it(monkeypatch):
    without(monkeypatch, "coacd")
    with pytest.raises(ImportError, match=r"splitting needs coacd; get it with: pip install clearance\[decompose\]"):
        fit_swept_hulls(tetrahedron(), 4)


# Links of robots -----------------------------------------------------------------------------------------------------


BALL = collision('<sphere radius="0.5"/>')
TURNED = '<origin xyz="1 2 3" rpy="0.1 0.2 0.3"/>'


def robot_of_meshes(folder):
    """Write a robot with three mesh files, two of them equal, one of them used twice."""
    for name, vertices in {"a": TETRAHEDRON, "b": TETRAHEDRON, "c": TETRAHEDRON * [1, 2, 3]}.items():
        written(folder, obj(vertices), f"{name}.obj")
    a, b, c = (collision(f'<mesh filename="{name}.obj"/>', TURNED) for name in "abc")
    return written(folder, urdf(link("base", a, BALL, b, c, a)))


def shapes_of(path, **options):
    return tuple(cl.Robot.from_urdf(path, collision="swept", **options).links[0].shapes)


def test_meshes_become_hulls_where_they_stand_and_nothing_else_does(tmp_path):
    first, ball, second, wide, last = shapes_of(robot_of_meshes(tmp_path))
    assert ball.shape == cl.Sphere(0.5)
    assert first == second == last
    assert sorted(first.shape.points.tolist()) == sorted(TETRAHEDRON.tolist())
    assert sorted(wide.shape.points.tolist()) == sorted((TETRAHEDRON * [1, 2, 3]).tolist())
    assert all(np.array_equal(part.pose, first.pose) for part in (second, wide, last))
    assert first.pose[:3, 3].tolist() == [1.0, 2.0, 3.0]


def test_equal_meshes_are_fitted_once_and_progress_is_told(tmp_path):
    told = []
    shapes_of(robot_of_meshes(tmp_path), progress=told.append)
    assert told == [0.0, 0.5, 1.0]


@pytest.mark.parametrize(("n_points", "counts"), [(1, {1}), (2, {2}), (4, {4}), ("auto", {4})])
def test_hulls_have_as_many_points_as_asked_for(tmp_path, n_points, counts):
    parts = shapes_of(robot_of_meshes(tmp_path), n_points=n_points)
    assert {len(part.shape.points) for part in parts if isinstance(part.shape, cl.ConvexHull)} == counts


EXECUTORS = {
    "threads": lambda: ThreadPoolExecutor(2),
    "processes": lambda: ProcessPoolExecutor(1, mp_context=multiprocessing.get_context("spawn")),
    "last first": LastFirst,
    "refusing": lambda: Unreliable(lambda job: "refuse"),
    "failing": lambda: Unreliable(lambda job: "fail" if job == 1 else ""),
}


@pytest.mark.parametrize("name", EXECUTORS)
def test_executors_change_nothing(tmp_path, name):
    path = robot_of_meshes(tmp_path)
    told = []
    warned = pytest.warns(RuntimeWarning, match="executor failed") if name in ("refusing", "failing") else nullcontext()
    with EXECUTORS[name]() as executor, warned:
        found = shapes_of(path, n_points=2, executor=executor, progress=told.append)
    assert found == shapes_of(path, n_points=2)
    assert told == [0.0, 0.5, 1.0]


@needs_coacd
def test_concave_links_are_split_on_request(tmp_path):
    mesh = prism("angle")
    written(tmp_path, obj(mesh.vertices, mesh.faces), "angle.obj")
    path = written(tmp_path, urdf(link("base", collision('<mesh filename="angle.obj"/>', TURNED), BALL)))
    (whole, ball), (*pieces, last) = (shapes_of(path, n_points=2, split=split) for split in (False, True))
    assert ball == last
    assert len(pieces) > 1
    assert total(part.shape for part in pieces) < swept_volume(whole.shape)
    world_from_mesh = whole.pose
    points = on_triangles(mesh) @ world_from_mesh[:3, :3].T + world_from_mesh[:3, 3]
    assert farthest_outside(pieces, points) <= 1e-15 * np.abs(points).max()
    assert shapes_of(path, n_points=2, split=1.0) == (whole, ball)  # deep enough for this hollow


@pytest.mark.parametrize(
    ("options", "said"),
    [
        ({"n_points": 0}, "n_points must be 1 or more"),
        ({"n_points": "many"}, "n_points must be an integer or 'auto'"),
        ({"split": 7.0}, "concavity must be a number"),
        ({"split": "yes"}, "concavity must be a number"),
    ],
)
def test_bad_options_are_refused(tmp_path, options, said):
    with pytest.raises(ValueError, match=said):
        shapes_of(robot_of_meshes(tmp_path), **options)


def test_what_is_no_executor_is_refused(tmp_path):
    with pytest.raises(TypeError, match="executor must be"):
        shapes_of(robot_of_meshes(tmp_path), executor="processes")


@pytest.mark.long
def test_links_of_the_panda_are_inside_of_their_hulls():
    path, folder = real("panda_description/urdf/panda.urdf"), real().parents[1]
    meshes, hulls = (
        cl.Robot.from_urdf(path, package_dirs=[folder], collision=kind).links for kind in ("mesh", "swept")
    )
    for mesh_link, hull_link in zip(meshes, hulls, strict=True):
        for mesh, hull in zip(mesh_link.shapes, hull_link.shapes, strict=True):
            if isinstance(mesh.shape, cl.Mesh):
                assert farthest_outside([hull.shape], on_triangles(mesh.shape, 20)) <= 0.0
