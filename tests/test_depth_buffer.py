"""Scans from a depth buffer: beam by beam what rays give, within single precision."""

import threading
import warnings

import numpy as np
import pytest

import clearance as cl
from clearance import depth_buffer, poses, scanner
from meshes import CLOSED, sample
from solids import KINDS, draw_shape
from strategies import rigid_motions

try:
    depth_buffer.depth_buffer()
except (ImportError, OSError) as missing:
    pytest.skip(f"there is no depth buffer here: {missing}", allow_module_level=True)

EVERYTHING = (*KINDS, "mesh", "height field", "cloud", "compound")
everything = pytest.mark.parametrize("kind", EVERYTHING)
PRECISION = 2e-6  # of ranges about a metre: single precision, some twenty roundings
LOOKS = {
    "row": {"beams": 541, "fov": 1.5 * np.pi},
    "all round": {"beams": 121, "fov": 2 * np.pi, "rows": 40, "vertical_fov": 3.1},
    "ahead": {"beams": 80, "fov": 1.0, "rows": 60, "vertical_fov": 0.8},
}
every_look = pytest.mark.parametrize("look", LOOKS.values(), ids=LOOKS)


def draw_body(rng, kind):
    if kind == "mesh":
        soup = sample(rng.choice(["torus", "gear", "bumpy sphere", "soup"]))
        return cl.Mesh(soup.vertices, soup.faces)
    if kind == "height field":
        return cl.HeightField(0.2 * rng.normal(size=(8, 9)), 0.3)
    if kind == "cloud":
        return cl.PointCloud(rng.normal(size=(30, 3)), 0.1)
    if kind == "compound":
        return cl.Compound(
            [draw_shape(rng, name).at(pose) for name, pose in zip(KINDS[:4], rigid_motions(rng, 4), strict=True)]
        )
    if kind == "SweptTriangle":
        return cl.SweptTriangle(*rng.normal(size=(3, 3)) / 2, 0.1 * float(rng.integers(2)))
    return draw_shape(rng, kind)


def near(rng, kind, n=6):
    """Draw bodies about and before a sensor at the origin, some very near."""
    for pose in rigid_motions(rng, n):
        pose[:3, 3] = pose[:3, 3] * [1.0, 1.0, 0.4] + [1.2, 0.0, 0.0]
        yield draw_body(rng, kind).at(pose)


def scanners(**options):
    return (cl.LaserScanner(range_max=30.0, method=method, **options) for method in ("rays", "depth"))


def assert_alike(rays, depth, target, directions):
    """Compare two scans of one target beam by beam, and return the share of beams that hit.

    A beam that meets a surface at a slant loses as much as the slant is; one that passes a silhouette may fall on
    either side of it, if beams a few millionths of a radian beside it do so too.
    """
    found = np.isfinite(rays.ranges)
    both = found & np.isfinite(depth.ranges)
    hits = cl.raycast(target, rays.pose[:3, 3], directions @ rays.pose[:3, :3].T, 30.0)
    normal = hits.normal.reshape(*rays.ranges.shape, 3)
    slant = np.abs(np.sum(normal * (directions.reshape(normal.shape) @ rays.pose[:3, :3].T), axis=-1))
    error = np.abs(np.where(both, rays.ranges, 0.0) - np.where(both, depth.ranges, 0.0))
    size = 1.0 + np.where(found, rays.ranges, 0.0)
    suspect = (found != np.isfinite(depth.ranges)) | (both & (error * slant > PRECISION * size))
    for k in np.argwhere(suspect):
        direction = directions.reshape(*rays.ranges.shape, 3)[tuple(k)]
        assert_silhouette(target, rays, direction, depth.ranges[tuple(k)])
    assert suspect.mean() <= 0.002
    return found.mean()


def assert_silhouette(target, rays, direction, measured):
    beside = direction + 1e-5 * np.random.default_rng(0).normal(size=(200, 3))
    ranges = cl.raycast(target, rays.pose[:3, 3], beside @ rays.pose[:3, :3].T, 30.0).distance
    if np.isfinite(measured):
        assert np.min(np.abs(ranges - measured)) <= 1e-3 * (1 + measured)
    else:
        assert np.isinf(ranges).any()


# Against rays --------------------------------------------------------------------------------------------------------


@everything
@every_look
def test_depth_buffer_measures_what_rays_measure(kind, look):
    seen = []
    for body in near(np.random.default_rng(EVERYTHING.index(kind)), kind):
        by_rays, by_depth = scanners(**look)
        rays, depth = by_rays.scan(body), by_depth.scan(body)
        seen.append(assert_alike(rays, depth, [body], by_rays.directions))
        assert np.array_equal(rays.index >= 0, np.isfinite(rays.ranges))
    assert np.mean(seen) > 0


@every_look
def test_scene_of_everything(look):
    rng = np.random.default_rng(1)
    scene = cl.Scene()
    for k, kind in enumerate(EVERYTHING * 2):
        if kind != "HalfSpace":
            pose, angle = rigid_motions(rng, 1)[0], rng.uniform(-2.0, 2.0)
            pose[:3, 3] = rng.uniform(2.0, 5.0) * np.array([np.cos(angle), np.sin(angle), 0.0])
            scene.add(f"{kind} {k}", draw_body(rng, kind), pose)
    scene.add("ground", cl.HalfSpace([0, 0, 1], -1.0))
    body = poses.from_rpy([0.02, -0.03, 0.4], [0.2, 0.1, 0])
    by_rays, by_depth = scanners(**look, mount=[0.1, 0, 0.3])
    rays, depth = by_rays.scan(scene, body), by_depth.scan(scene, body)
    assert assert_alike(rays, depth, scene, by_rays.directions) > 0.3
    both = np.isfinite(rays.ranges) & np.isfinite(depth.ranges)
    assert np.mean(rays.index[both] == depth.index[both]) > 0.998
    assert len(np.unique(rays.index)) > 5


def test_depth_camera_measures_what_rays_measure():
    rng = np.random.default_rng(2)
    for kind in EVERYTHING:
        for body in near(rng, kind, 3):
            by_rays, by_depth = (cl.DepthCamera(64, 48, fov=1.8, range_max=30.0, method=m) for m in ("rays", "depth"))
            rays, depth = by_rays.image(body), by_depth.image(body)
            assert np.mean(np.isfinite(rays.depth) != np.isfinite(depth.depth)) <= 0.002
            both = np.isfinite(rays.depth) & np.isfinite(depth.depth)
            assert np.count_nonzero(np.abs(rays.points - depth.points)[both] > 1e-4) <= 0.01 * both.sum()


def test_scanner_within_a_solid_is_at_it():
    for kind in ("Sphere", "Box", "Cone", "Cylinder", "Capsule", "Ellipsoid", "ConvexHull", "rounded ConvexHull"):
        shape = draw_shape(np.random.default_rng(3), kind)
        middle = np.mean(shape.points, axis=0) if "Hull" in kind else [0, 0, 0.0]
        (scan,) = (s.scan(shape, middle) for s in scanners(beams=7) if s.method == "depth")
        assert np.all(scan.ranges == 0)
        assert np.all(scan.index == 0)


def test_range_ends_where_it_is_said_to():
    wall = cl.Box([0.1, 40, 1]).at([5.05, 0, 0])
    scan = cl.LaserScanner(401, 2.0, range_min=5.2, range_max=6.0, method="depth").scan(wall)
    expected = 5.0 / np.cos(scan.angles)
    assert np.array_equal(np.isposinf(scan.ranges), expected > 6.0)
    assert np.array_equal(np.isneginf(scan.ranges), expected < 5.2)
    unlimited = cl.LaserScanner(401, 2.0, range_max=np.inf, method="depth").scan(wall)
    np.testing.assert_allclose(unlimited.ranges, expected, rtol=1e-5)


def test_far_from_the_origin_nothing_is_lost():
    away = np.array([1e6, -2e6, 0.0])
    body = cl.Sphere(0.5).at([3, 0, 0])
    far = cl.Sphere(0.5).at(away + body.pose[:3, 3])
    (scan,) = (s.scan(body) for s in scanners(beams=101, fov=0.5) if s.method == "depth")
    (there,) = (s.scan(far, away) for s in scanners(beams=101, fov=0.5) if s.method == "depth")
    np.testing.assert_allclose(there.ranges, scan.ranges, atol=1e-5)


# Seams ---------------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("name", CLOSED)
def test_no_beam_escapes_from_a_closed_mesh(name):
    soup = sample(name)
    inside = soup.vertices.reshape(12, 7, 3).mean(axis=1)[0] if name == "torus" else np.zeros(3)
    mesh = cl.Mesh(soup.vertices - inside, soup.faces)
    grid = LOOKS["all round"]
    turns = rigid_motions(np.random.default_rng(4), 5)
    turns[:, :3, 3] = 0
    for turn in [np.eye(4), *turns]:
        (scan,) = (s.scan(mesh, turn) for s in scanners(**grid) if s.method == "depth")
        assert np.isfinite(scan.ranges).all()


def test_beams_straight_at_corners_and_edges_hit():
    """The corners of a cube seen from its middle, and the middles of its edges, lie on beams of an even grid."""
    soup = sample("box")
    cube = cl.Mesh(np.sign(soup.vertices), soup.faces)
    scan = cl.LaserScanner(8, 2 * np.pi, rows=5, vertical_fov=np.pi * 0.999, method="depth").scan(cube)
    assert np.isfinite(scan.ranges).all()
    np.testing.assert_allclose(scan.ranges[2], np.where(np.arange(8) % 2 == 0, 1, np.sqrt(2)), rtol=1e-6)


def test_circle_closes_behind():
    ring = [
        cl.Box([0.5, 3.0, 3.0]).at(poses.from_rpy([0, 0, a]) @ poses.from_translation([3, 0, 0]))
        for a in np.arange(8) * np.pi / 4
    ]
    by_rays, by_depth = scanners(beams=1000, fov=2 * np.pi)
    rays, depth = by_rays.scan(ring), by_depth.scan(ring)
    np.testing.assert_allclose(depth.ranges, rays.ranges, rtol=1e-5)
    assert rays.index[0] == depth.index[0] == 4


# Bodies --------------------------------------------------------------------------------------------------------------


def test_hidden_and_ignored_bodies_are_not_drawn():
    scene = cl.Scene()
    for k in range(1500):  # more than fit into a row of poses
        scene.add(f"post {k}", cl.Sphere(0.01), pose=[2.0 + 0.01 * k, 0, 0])
    ahead = cl.LaserScanner(1, method="depth")
    assert scene.names[ahead.scan(scene).index[0]] == "post 0"
    assert ahead.scan(scene, ignore=scene.names[:1400]).index[0] == 1400
    assert cl.LaserScanner(1, hidden="post 0", method="depth").scan(scene).index[0] == 1
    assert np.isposinf(ahead.scan(scene, ignore=scene.names).ranges[0])
    assert ahead.scan([]).index[0] == -1


def test_bodies_that_moved_are_drawn_where_they_are():
    scene = cl.Scene()
    scene.add("ball", cl.Sphere(0.5), pose=[2, 0, 0])
    ahead = cl.LaserScanner(1, method="depth")
    assert ahead.scan(scene).ranges[0] == pytest.approx(1.5)
    scene.move("ball", [4, 0, 0])
    assert ahead.scan(scene).ranges[0] == pytest.approx(3.5)
    scene.add("box", cl.Box([1, 1, 1]), pose=[2, 0, 0])
    assert ahead.scan(scene).ranges[0] == pytest.approx(1.5)
    scene.remove("box")
    assert ahead.scan(scene).ranges[0] == pytest.approx(3.5)
    for k in range(1, 20):  # sets of bodies come and go
        assert ahead.scan(cl.Sphere(0.1 * k).at([9, 0, 0])).ranges[0] == pytest.approx(9 - 0.1 * k, abs=1e-5)


def test_same_scan_in_another_thread():
    ahead, found = cl.LaserScanner(50, 1.0, method="depth"), []
    thread = threading.Thread(target=lambda: found.append(ahead.scan(cl.Sphere(0.5).at([2, 0, 0])).ranges))
    thread.start()
    thread.join()
    assert np.array_equal(found[0], ahead.scan(cl.Sphere(0.5).at([2, 0, 0])).ranges)


def test_another_context_does_no_harm():
    import moderngl

    ahead, ball = cl.LaserScanner(50, 1.0, method="depth"), cl.Sphere(0.5).at([2, 0, 0])
    expected = ahead.scan(ball).ranges
    other = moderngl.create_context(standalone=True, backend="egl")
    with other:
        other.enable_only(moderngl.CULL_FACE)
        assert np.array_equal(ahead.scan(ball).ranges, expected)
    other.release()
    assert np.array_equal(ahead.scan(ball).ranges, expected)


# Where there is none -------------------------------------------------------------------------------------------------


@pytest.fixture
def without_graphics(monkeypatch):
    def missing():
        raise OSError("no driver")

    monkeypatch.setattr(scanner, "depth_buffer", missing)
    scanner._can_draw.cache_clear()
    yield
    scanner._can_draw.cache_clear()


@pytest.mark.usefixtures("without_graphics")
def test_rays_stand_in_with_one_warning():
    ahead = cl.LaserScanner(3, 1.0, method="depth")
    with pytest.warns(RuntimeWarning, match="no driver"):
        scan = ahead.scan(cl.Sphere(0.5).at([2, 0, 0]))
    assert scan.ranges[1] == 1.5
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        assert ahead.scan(cl.Sphere(0.5).at([2, 0, 0])).ranges[1] == 1.5


def test_driver_that_fails_says_why(monkeypatch):
    import moderngl

    def failing(**options):
        raise RuntimeError("cannot detect the display")

    monkeypatch.setattr(moderngl, "create_context", failing)
    with pytest.raises(OSError, match="cannot detect the display"):
        depth_buffer.DepthBuffer()
