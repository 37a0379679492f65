"""Sphere-swept hulls around clouds of points: nothing is left outside, and little is taken in besides."""

import importlib
import itertools
from contextlib import suppress
from functools import cache
from importlib import metadata
from math import pi

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import clearance as cl
from clearance.fit import fit_swept_hull, swept_volume
from clearance.steiner import steiner_of

pytest.importorskip("scipy", reason="fitting needs scipy")

from scipy.spatial import ConvexHull, QhullError

EPS = np.finfo(float).eps
BOX = np.array(list(itertools.product([-2.0, 2.0], [-1.0, 1.0], [-0.5, 0.5])))
ROBOT_LINKS = {
    "panda hand": "panda_description/meshes/collision/hand.stl",
    "panda link0": "panda_description/meshes/collision/link0.stl",
    "panda link7": "panda_description/meshes/collision/link7.stl",
    "ur5 base": "ur_description/meshes/ur5/collision/base.stl",
    "ur5 forearm": "ur_description/meshes/ur5/collision/forearm.stl",
}
KINDS = {
    "boxy": [1.0, 1.0, 1.0],
    "oblong": [1.0, 0.3, 0.1],
    "needle": [1.0, 1e-2, 1e-3],
    "flat": [1.0, 1.0, 0.0],
    "line": [1.0, 0.0, 0.0],
    "sheet": [1.0, 1.0, 1e-7],
    "twice": [1.0, 1.0, 1.0],
}
seeds = st.integers(0, 2**32 - 1)


# Few fits, for each of more than two points takes a second -----------------------------------------------------------


def fit(cloud, count):
    """Fit as `fit_swept_hull` does, once for each cloud and count."""
    return fit_of_bytes(np.asarray(cloud, dtype=float).tobytes(), count)


@cache
def fit_of_bytes(cloud, count):
    return fit_swept_hull(np.frombuffer(cloud).reshape(-1, 3), count)


def long(*values):
    return pytest.param(*values, marks=pytest.mark.long)


def clouds(*few):
    """Parametrise a theorem on clouds: all kinds with one point, a few with more, and all of them on request."""
    soon = [*((kind, 1, 0) for kind in KINDS), *((kind, count, 0) for kind, count in few)]
    later = [long(kind, count, seed) for kind in KINDS for count in (2, 3, 5, 8) for seed in (1, 2)]
    return pytest.mark.parametrize(("kind", "count", "seed"), soon + later)


# Clouds --------------------------------------------------------------------------------------------------------------


def unit_vectors(rng, n):
    towards = rng.standard_normal((n, 3))
    return towards / np.linalg.norm(towards, axis=1, keepdims=True)


def random_pose(rng):
    """Draw a rotation and a translation."""
    rotation = np.linalg.qr(rng.standard_normal((3, 3)))[0]
    return rotation * np.linalg.det(rotation), rng.standard_normal(3)


def random_cloud(rng, kind=None):
    """Draw a cloud of some kind, turned and moved: round, boxy, needle-thin, flat, on a line, with points twice."""
    n = int(rng.integers(1, 60))
    kind = kind or rng.choice(list(KINDS))
    is_round = kind in ("oblong", "flat", "sheet")
    cloud = (rng.standard_normal((n, 3)) if is_round else rng.uniform(-1.0, 1.0, (n, 3))) * KINDS[kind]
    if kind == "twice":
        cloud = cloud[rng.integers(0, n, 2 * n)]
    rotation, shift = random_pose(rng)
    return cloud @ rotation.T + 3.0 * shift


def on_capsule(rng, n, radius, length):
    """Draw points all over a capsule along z, its two tips and its rims among them."""
    towards = unit_vectors(rng, n)
    ends = np.where(rng.random(n) < 0.5, -0.5, 0.5) * length
    rims = radius * np.stack([np.cos(k := np.arange(12) * pi / 6), np.sin(k), 0 * k], axis=1)
    caps = radius * towards * [1.0, 1.0, 0.0] + np.outer(
        np.sign(ends) * np.abs(towards[:, 2]) * radius + ends, [0, 0, 1]
    )
    tips = [[0.0, 0.0, s * (0.5 * length + radius)] for s in (-1, 1)]
    return np.vstack([caps, tips, *(rims + s * 0.5 * length * np.eye(3)[2] for s in (-1, 1))])


def link_vertices(name):
    try:
        listed = metadata.files("example-robot-data") or []
    except metadata.PackageNotFoundError:
        listed = []
    for file in listed:
        if str(file).endswith(ROBOT_LINKS[name]):
            return cl.load_mesh(file.locate()).vertices
    pytest.skip("needs the meshes of example-robot-data")


# Measures, slow and obvious ------------------------------------------------------------------------------------------


def farthest_outside(hull, cloud):
    """How far points stick out, by the lower end of the bracket; nobody can prove that one is outside if it is <= 0."""
    poses = np.tile(np.eye(4), (len(cloud), 1, 1))
    poses[:, :3, 3] = cloud
    return cl.distance(cl.SweptPoint(np.zeros(3), 0.0).at(poses), hull, tolerance=1e-8).lower.max()


def farthest_by_support(hull, cloud, rng):
    """How far points stick out in many directions, from support functions alone."""
    towards = unit_vectors(rng, 2000)
    return ((cloud @ towards.T).max(axis=0) - (hull.points @ towards.T).max(axis=0) - hull.radius).max()


def volume_of_capsule(core, cloud):
    start, along = core[0], core[1] - core[0]
    t = np.clip((cloud - start) @ along / max(along @ along, 1e-300), 0.0, 1.0)
    radius = np.linalg.norm(cloud - start - t[:, None] * along, axis=1).max()
    return pi * radius**2 * np.linalg.norm(along) + 4 / 3 * pi * radius**3


def volume_of_principal_capsule(cloud):
    """The capsule along the longest principal axis that everybody writes first: as wide as needed, then as short."""
    middle = cloud.mean(axis=0)
    axis = np.linalg.svd(cloud - middle)[2][0]
    along = (cloud - middle) @ axis
    radius = np.linalg.norm(cloud - middle - np.outer(along, axis), axis=1).max()
    ends = [min(along.min() + radius, along.mean()), max(along.max() - radius, along.mean())]
    return volume_of_capsule(middle + np.outer(ends, axis), cloud)


# Everything is inside ------------------------------------------------------------------------------------------------


ALL_KINDS = [("boxy", 3), ("oblong", 2), ("needle", 2), ("flat", 4), ("line", 3), ("sheet", 2), ("twice", 2)]


@clouds(*ALL_KINDS)
def test_nothing_is_left_outside(kind, count, seed):
    rng = np.random.default_rng(seed)
    cloud = random_cloud(rng, kind)
    hull = fit(cloud, count)
    assert isinstance(hull, cl.ConvexHull)
    assert len(hull.points) <= count
    assert farthest_outside(hull, cloud) <= 0.0
    assert farthest_by_support(hull, cloud, rng) <= 8 * EPS * np.abs(cloud).max()


@clouds(*ALL_KINDS)
def test_volume_is_between_that_of_the_convex_hull_and_those_of_simple_bodies(kind, count, seed):
    cloud = random_cloud(np.random.default_rng(seed), kind)
    volume = swept_volume(fit(cloud, count))
    ball = swept_volume(fit(cloud, 1))
    room = 1e-9 * ball
    with suppress(QhullError, ValueError):  # flat, or too few of them
        assert volume >= ConvexHull(cloud).volume - room
    assert volume <= ball + room
    if count > 1:
        assert volume <= volume_of_principal_capsule(cloud) + room


@pytest.mark.parametrize(
    ("count", "name"),
    [
        *((1, name) for name in ROBOT_LINKS),
        *((count, "panda hand") for count in (2, 8)),
        *(long(count, name) for count in (2, 8) for name in ROBOT_LINKS if name != "panda hand"),
    ],
)
def test_links_of_robots_are_contained_and_bounded_well(name, count):
    vertices = link_vertices(name)
    hull = fit(vertices, count)
    assert farthest_outside(hull, vertices) <= 0.0
    volume, least = swept_volume(hull), ConvexHull(vertices).volume
    assert least < volume <= swept_volume(fit(vertices, 1))
    if count > 1:
        assert volume <= volume_of_principal_capsule(vertices)
    if count == 8:
        assert volume < 1.4 * least


@pytest.mark.long
@pytest.mark.parametrize("count", [2, 8])
def test_twenty_thousand_points_are_contained_tightly(count):
    rng = np.random.default_rng(3)
    cloud = unit_vectors(rng, 20_000) * [3.0, 2.0, 1.0]  # all of them corners of the hull
    hull = fit_swept_hull(cloud, count)
    assert farthest_outside(hull, cloud) <= 0.0
    assert swept_volume(hull) < (2.4 if count == 2 else 1.3) * 8 * pi


# What must not matter ------------------------------------------------------------------------------------------------


@clouds(("oblong", 2), ("needle", 2), ("line", 3), ("twice", 2))
def test_unit_of_length_does_not_matter(kind, count, seed):
    rng = np.random.default_rng(seed)
    cloud = random_cloud(rng, kind)
    exponent = int(rng.integers(-80, 81))
    hull, scaled = fit(cloud, count), fit_swept_hull(np.ldexp(cloud, exponent), count)
    assert np.array_equal(scaled.points, np.ldexp(hull.points, exponent))
    assert scaled.radius == np.ldexp(hull.radius, exponent)


@clouds(("boxy", 3), ("flat", 4), ("line", 3), ("sheet", 2))
def test_order_and_repetition_do_not_matter(kind, count, seed):
    rng = np.random.default_rng(seed)
    cloud = random_cloud(rng, kind)
    shuffled = np.concatenate([rng.permutation(cloud), cloud[:3]])
    assert fit_swept_hull(shuffled, count) == fit(cloud, count)


@pytest.mark.parametrize("count", [1, 2])
@settings(max_examples=2)
@given(seeds)
def test_frame_does_not_matter_to_balls_and_hardly_to_capsules(count, seed):
    rng = np.random.default_rng(seed)
    cloud = rng.standard_normal((40, 3)) * [1.0, 0.6, 0.3]
    rotation, shift = random_pose(rng)
    volume = swept_volume(fit_swept_hull(cloud, count))
    moved = swept_volume(fit_swept_hull(cloud @ rotation.T + shift, count))
    assert moved == pytest.approx(volume, rel=1e-9 if count == 1 else 0.02)


@pytest.mark.parametrize(("count", "seed"), [(8, 0), *(long(count, seed) for count in (3, 4, 8) for seed in (1, 2))])
def test_frame_matters_little(count, seed):
    vertices = link_vertices("panda hand")
    rotation, shift = random_pose(np.random.default_rng([count, seed]))
    moved = swept_volume(fit_swept_hull(vertices @ rotation.T + shift, count))
    assert moved == pytest.approx(swept_volume(fit(vertices, count)), rel=0.05)


@pytest.mark.parametrize("count", [2, long(5)])
def test_same_seed_gives_the_same_hull(count):
    cloud = np.random.default_rng(5).standard_normal((50, 3))
    assert fit_swept_hull(cloud, count, seed=7) == fit_swept_hull(cloud, count, seed=7)


# Known answers -------------------------------------------------------------------------------------------------------


@given(seeds)
def test_one_point_gives_the_smallest_ball(seed):
    """It rests on points that hold it from all sides: any way it moves, it loses one of them."""
    rng = np.random.default_rng(seed)
    cloud = random_cloud(rng)
    hull = fit_swept_hull(cloud, 1)
    if hull.radius <= 1e-9:
        assert np.ptp(cloud, axis=0).max() <= 1e-9
        return
    away = cloud - hull.points[0]
    resting = away[np.linalg.norm(away, axis=1) >= hull.radius * (1 - 1e-7)]
    assert (unit_vectors(rng, 500) @ resting.T).max(axis=1).min() >= -1e-6 * hull.radius


@pytest.mark.parametrize("length", [0.5, long(2.0), long(10.0)])
def test_capsule_is_found_again(length):
    rng = np.random.default_rng(11)
    rotation, shift = random_pose(rng)
    cloud = on_capsule(rng, 400, 0.4, length) @ rotation.T + shift
    hull = fit_swept_hull(cloud, 2)
    assert hull.radius == pytest.approx(0.4, rel=0.01)
    assert np.linalg.norm(np.diff(hull.points, axis=0)) == pytest.approx(length, rel=0.01)
    assert swept_volume(hull) == pytest.approx(pi * 0.4**2 * length + 4 / 3 * pi * 0.4**3, rel=0.01)


@pytest.mark.parametrize("count", [1, 2, long(5), long(8)])
def test_ball_stays_a_ball(count):
    cloud = unit_vectors(np.random.default_rng(2), 3000) + 5.0
    hull = fit_swept_hull(cloud, count)
    assert swept_volume(hull) == pytest.approx(4 / 3 * pi, rel=0.01)


@pytest.mark.parametrize("count", [8, 9, 20])
def test_corners_of_a_box_give_the_box(count):
    rotation, shift = random_pose(np.random.default_rng(4))
    cloud = BOX @ rotation.T + shift
    inside = np.random.default_rng(4).dirichlet(np.ones(8), 50) @ cloud
    hull = fit_swept_hull(np.vstack([cloud, inside]), count)
    assert swept_volume(hull) == pytest.approx(8.0, rel=1e-9)
    assert hull.radius <= 1e-12


@pytest.mark.long
def test_box_whose_corners_were_rounded_to_single_precision_is_still_a_box():
    """As STL files have it: points on its sides become corners of the hull, too."""
    rotation, shift = random_pose(np.random.default_rng(4))
    sides = [p for p in itertools.product(np.linspace(-1, 1, 7), repeat=3) if max(map(abs, p)) == 1.0]
    cloud = (sides * BOX.max(axis=0) @ rotation.T + shift).astype(np.float32)
    assert swept_volume(fit_swept_hull(cloud, 8)) == pytest.approx(8.0, rel=1e-3)


def test_box_with_rounded_edges_is_found_again():
    towards = unit_vectors(np.random.default_rng(6), 200)
    cloud = (BOX[:, None] + 0.3 * towards).reshape(-1, 3)
    rounded = swept_volume(cl.ConvexHull(BOX, 0.3))
    assert swept_volume(fit_swept_hull(cloud, 8)) == pytest.approx(rounded, rel=0.02)


@pytest.mark.parametrize("shift", [long(0.0), 100.0])
def test_triangle_with_thickness_is_found_again(shift):
    corners = np.array([[0.0, 0.0, 0.0], [3.0, 0.0, 0.0], [1.0, 2.0, 0.0]]) + shift
    cloud = (corners[:, None] + 0.4 * unit_vectors(np.random.default_rng(8), 300)).reshape(-1, 3)
    hull = fit_swept_hull(cloud, 3)
    assert swept_volume(hull) == pytest.approx(swept_volume(cl.ConvexHull(corners, 0.4)), rel=0.02)


# As many points as they are worth -------------------------------------------------------------------------------------


def regular(n):
    angle = np.arange(n) * 2 * pi / n
    return np.stack([np.cos(angle), np.sin(angle), 0 * angle], axis=1)


@pytest.mark.parametrize(
    ("name", "count"), [("point", 1), ("ball", 1), ("line", 2), ("capsule", 2), ("square", 4), ("disc", 6), ("box", 8)]
)
def test_bodies_of_few_points_are_given_as_many(name, count):
    rng = np.random.default_rng(16)
    cloud = {
        "point": np.ones((5, 3)),
        "ball": unit_vectors(rng, 2000),
        "line": np.outer(np.linspace(-1.0, 2.0, 50), [1.0, 2.0, -3.0]),
        "capsule": on_capsule(rng, 400, 0.4, 2.0),
        "square": np.concatenate([regular(4), 0.5 * regular(20)]),
        "disc": regular(90),  # of a hexagon's area and 1.03^6: less than for any other number of corners
        "box": BOX,
    }[name]
    rotation, shift = random_pose(rng)
    moved = cloud @ rotation.T + shift
    hull = fit_swept_hull(moved, "auto")
    assert len(hull.points) == count
    assert farthest_outside(hull, moved) <= 0.0


@pytest.mark.long
@pytest.mark.parametrize("kind", ["oblong", "boxy", "needle"])
def test_every_point_is_worth_three_percent_of_the_volume(kind):
    cloud = random_cloud(np.random.default_rng(17), kind)
    hull = fit_swept_hull(cloud)
    assert farthest_outside(hull, cloud) <= 0.0
    cost = swept_volume(hull) * 1.03 ** len(hull.points)
    others = [fit(cloud, count) for count in (1, 2, 3, 4, 6, 8, 10, 12)]
    assert cost <= 1.0001 * min(swept_volume(other) * 1.03 ** len(other.points) for other in others)
    assert hull in others


# Clouds that are hardly any ------------------------------------------------------------------------------------------


@pytest.mark.parametrize("count", [1, 2, 3, 8])
@pytest.mark.parametrize("times", [1, 5])
def test_a_single_point_is_its_own_hull(count, times):
    hull = fit_swept_hull(np.tile([[1.0, 2.0, 3.0]], (times, 1)), count)
    assert hull.points.tolist() == [[1.0, 2.0, 3.0]]
    assert hull.radius == 0.0


@pytest.mark.parametrize("count", [2, 3, 8])
@pytest.mark.parametrize("along", [[1.0, 0.0, 0.0], [1.0, 2.0, -3.0]])
def test_points_on_a_line_give_a_segment(count, along):
    cloud = np.outer(np.linspace(-1.0, 2.0, 50), along)
    hull = fit_swept_hull(cloud, count)
    assert len(hull.points) == 2
    assert hull.radius <= 1e-12
    assert np.linalg.norm(np.diff(hull.points, axis=0)) == pytest.approx(3.0 * np.linalg.norm(along))


@pytest.mark.parametrize(("count", "area"), [(3, 3**1.5), (4, 4.0), (6, 2 * 3**0.5), long(8, 8 * (2**0.5 - 1))])
def test_flat_disc_gives_the_smallest_polygon_around_it(count, area):
    angle = np.arange(720) * pi / 360
    rotation, shift = random_pose(np.random.default_rng(9))
    cloud = np.stack([np.cos(angle), np.sin(angle), 0 * angle], axis=1) @ rotation.T + shift
    hull = fit_swept_hull(cloud, count)
    assert len(hull.points) == count
    assert hull.radius <= 1e-12
    grown = swept_volume(cl.ConvexHull(hull.points, 1e-6)) / 2e-6
    assert grown == pytest.approx(area, rel=0.01)


def test_flat_square_gives_the_square_and_a_triangle_of_twice_its_area():
    cloud = np.array([[x, y, 7.0] for x in np.linspace(0, 1, 9) for y in np.linspace(0, 1, 9)])
    for count, area in ((3, 2.0), (4, 1.0), (5, 1.0)):
        hull = fit_swept_hull(cloud, count)
        assert hull.radius <= 1e-12
        assert swept_volume(cl.ConvexHull(hull.points, 1e-6)) / 2e-6 == pytest.approx(area, rel=0.01)


@pytest.mark.parametrize(
    ("count", "thickness"),
    [
        *((count, 1e-13) for count in (2, 3, 6)),
        (3, 1e-6),
        *(long(2, thickness) for thickness in (1e-3, 1e-6, 1e-9)),
        *(long(3, thickness) for thickness in (1e-3, 1e-9)),
        *(long(6, thickness) for thickness in (1e-3, 1e-6, 1e-9)),
    ],
)
def test_sheets_of_any_thickness_are_contained_by_sheets(thickness, count):
    rng = np.random.default_rng(12)
    cloud = rng.uniform(-1.0, 1.0, (200, 3)) * [1.0, 0.7, 0.5 * thickness]
    hull = fit_swept_hull(cloud, count)
    assert farthest_outside(hull, cloud) <= 0.0
    if count >= 3:
        assert hull.radius <= 2.0 * thickness + 1e-15
        assert swept_volume(hull) <= 12.0 * thickness


@pytest.mark.parametrize(
    ("count", "scale"),
    [
        *((1, scale) for scale in (1e-70, 1e-30, 1e-9, 1e9, 1e28)),
        *((2, scale) for scale in (1e-70, 1e28)),
        *(long(2, scale) for scale in (1e-30, 1e-9, 1e9)),
        *(long(5, scale) for scale in (1e-70, 1e-30, 1e-9, 1e9, 1e28)),
    ],
)
def test_tiny_and_huge_clouds_are_fitted_alike(scale, count):
    cloud = np.random.default_rng(13).standard_normal((30, 3)) * [1.0, 0.5, 0.2]
    hull, other = fit(cloud, count), fit_swept_hull(scale * cloud, count)
    grown = cl.ConvexHull(other.points / scale, other.radius / scale)
    assert swept_volume(grown) == pytest.approx(swept_volume(hull), rel=0.05)
    assert farthest_by_support(grown, cloud, np.random.default_rng(0)) <= 1e-13


def test_clouds_whose_squares_vanish_are_refused():
    with pytest.raises(ValueError, match="at least 1e-75"):
        fit_swept_hull(1e-200 * np.random.default_rng(13).standard_normal((30, 3)), 1)


@pytest.mark.parametrize("count", [1, 2, long(4), long(8)])
def test_clouds_far_from_the_origin_are_contained(count):
    cloud = np.random.default_rng(14).standard_normal((60, 3)) + np.array([1e6, -1e6, 1e6])
    hull = fit_swept_hull(cloud, count)
    assert farthest_outside(hull, cloud) <= 0.0
    near = swept_volume(fit_swept_hull(cloud - [1e6, -1e6, 1e6], count))
    assert swept_volume(hull) == pytest.approx(near, rel=0.05)


# Volume --------------------------------------------------------------------------------------------------------------


@given(seeds, st.integers(1, 12), st.sampled_from([0.0, 0.01, 0.3, 2.0]))
def test_volume_agrees_with_counting_points(seed, count, radius):
    rng = np.random.default_rng(seed)
    hull = cl.ConvexHull(rng.standard_normal((count, 3)) * rng.choice([0.2, 1.0], 3), radius)
    low, high = hull.points.min(axis=0) - radius, hull.points.max(axis=0) + radius
    n = 20_000
    poses = np.tile(np.eye(4), (n, 1, 1))
    poses[:, :3, 3] = rng.uniform(low, high, (n, 3))
    share = np.mean(cl.distance(cl.SweptPoint(np.zeros(3), 0.0).at(poses), hull).distance <= 0.0)
    box = np.prod(high - low)
    noise = 5.0 * np.sqrt(max(share * (1 - share), 1.0 / n) / n)
    assert abs(swept_volume(hull) - share * box) <= noise * box


@pytest.mark.parametrize("scale", [1e-9, 1.0, 1e9])
def test_volume_of_known_bodies(scale):
    r, a, b, c = 0.3, 2.0, 3.0, 5.0
    box = np.array(list(itertools.product([0.0, a], [0.0, b], [0.0, c])))
    square = box[box[:, 2] == 0.0]
    ball = 4 / 3 * pi * r**3
    known = {
        "ball": (box[:1], ball),
        "capsule": (box[:2], pi * r**2 * c + ball),
        "triangle": (square[:3], a * b * r + pi / 2 * (a + b + np.hypot(a, b)) * r**2 + ball),
        "rectangle": (square, 2 * a * b * r + pi * (a + b) * r**2 + ball),
        "rounded box": (box, a * b * c + 2 * (a * b + b * c + c * a) * r + pi * (a + b + c) * r**2 + ball),
    }
    for name, (core, volume) in known.items():
        hull = cl.ConvexHull(scale * core, scale * r)
        assert swept_volume(hull) == pytest.approx(scale**3 * volume, rel=1e-12), name
    assert swept_volume(cl.ConvexHull(box)) == pytest.approx(a * b * c, rel=1e-12)


@pytest.mark.parametrize("rank", [1, 2])
def test_volume_of_flat_hulls_of_many_points(rank):
    rng = np.random.default_rng(15)
    rotation, shift = random_pose(rng)
    corners = np.array([[0.0, 0, 0], [4, 0, 0]] if rank == 1 else [[0.0, 0, 0], [4, 0, 0], [4, 2, 0], [0, 2, 0]])
    weights = rng.dirichlet(np.ones(len(corners)), 30)
    many = np.vstack([corners, weights @ corners]) @ rotation.T + shift
    expected = swept_volume(cl.ConvexHull(corners, 0.5))
    assert swept_volume(cl.ConvexHull(many, 0.5)) == pytest.approx(expected, rel=1e-9)


@given(seeds)
def test_volume_of_nearly_flat_hulls_is_that_of_flat_ones(seed):
    rng = np.random.default_rng(seed)
    flat = rng.standard_normal((6, 3)) * [1.0, 1.0, 0.0]
    bent = flat + 10.0 ** rng.uniform(-17, -8) * rng.standard_normal((6, 3))
    rotation, shift = random_pose(rng)
    volumes = [swept_volume(cl.ConvexHull(points @ rotation.T + shift, 0.1)) for points in (flat, bent)]
    assert volumes[1] == pytest.approx(volumes[0], rel=1e-6)


@given(seeds, st.integers(2, 12), st.sampled_from([0.0, 0.3, 2.0]))
def test_slope_of_the_volume_is_that_of_small_steps(seed, count, radius):
    rng = np.random.default_rng(seed)
    core = rng.standard_normal((count, 3))
    towards, step = rng.standard_normal(3 * count + 1), 1e-5
    there, back = (
        steiner_of(core + sign * step * towards[:-1].reshape(-1, 3)).volume(radius + sign * step * towards[-1])
        for sign in (1, -1)
    )
    slope = steiner_of(core).slope(radius) @ towards
    assert (there - back) / (2 * step) == pytest.approx(slope, rel=1e-4, abs=1e-4)


# What is refused -----------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("points", "n_points", "said"),
    [
        (np.empty((0, 3)), 1, "points must have shape"),
        ([[0.0, 0.0]], 1, "points must have shape"),
        ([0.0, 0.0, 0.0], 1, "points must have shape"),
        ([[0.0, 0.0, 0.0], [0.0, np.nan, 0.0]], 1, r"points\[1\] must be finite"),
        ([[np.inf, 0.0, 0.0]], 1, r"points\[0\] must be finite"),
        ([[1e31, 0.0, 0.0]], 1, r"points\[0\] must be finite and below"),
        ("dots", 1, "points must be real numbers"),
        ([[1j, 0.0, 0.0]], 1, "points must be real numbers"),
        ([[0.0, 0.0, 0.0]], 0, "n_points must be 1 or more, but it is 0"),
        ([[0.0, 0.0, 0.0]], -3, "n_points must be 1 or more, but it is -3"),
        ([[0.0, 0.0, 0.0]], 2.5, "n_points must be an integer"),
    ],
)
def test_bad_arguments_are_refused(points, n_points, said):
    with pytest.raises(ValueError, match=said):
        fit_swept_hull(points, n_points)


def test_only_more_than_one_point_needs_scipy(monkeypatch):
    def refuse(name, *args):
        if name.startswith("scipy"):
            raise ModuleNotFoundError(f"No module named {name!r}")
        return found(name, *args)

    found = importlib.import_module
    monkeypatch.setattr(importlib, "import_module", refuse)
    assert fit_swept_hull(BOX, 1).radius == pytest.approx(np.linalg.norm([2.0, 1.0, 0.5]))
    assert swept_volume(cl.ConvexHull(BOX[:3], 0.1)) > 0.0
    with pytest.raises(ImportError, match=r"clearance\[fit\]"):
        fit_swept_hull(BOX, 4)
