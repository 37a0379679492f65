"""Clouds of balls: the least over all of them, whatever they are measured from."""

import copy
import pickle

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import clearance as cl
import solids
from clearance import poses
from clouds import OTHERS, SURFACES, assert_gap_is_true, ball_gaps, draw_cloud, drawn_pair, size_of
from meshes import sample
from strategies import rigid_motions, seeds

EPS = np.finfo(float).eps
X, Y, Z = np.eye(3)
every_other = pytest.mark.parametrize("kind", OTHERS)
CORNERS = np.array([[0.0, 0, 0], [1.0, 0, 0], [0.0, 1, 0]])


def made(name="torus", seed=0):
    soup = sample(name, seed)
    return cl.Mesh(soup.vertices, soup.faces)


# Distance ------------------------------------------------------------------------------------------------------------


@every_other
def test_cloud_is_as_near_as_its_nearest_ball(kind):
    overlaps = []
    for seed in range(60):
        cloud, pose, other = drawn_pair(np.random.default_rng([seed, OTHERS.index(kind)]), kind)
        gap = cl.distance(cloud.at(pose), other)
        assert_gap_is_true(gap, cloud, pose, other)
        overlaps.append(gap.distance <= 0)
    assert 0.2 <= np.mean(overlaps) <= 0.8


@every_other
def test_cloud_may_come_second(kind):
    for seed in range(20):
        cloud, pose, other = drawn_pair(np.random.default_rng([seed, 1]), kind)
        here, swapped = cl.distance(cloud.at(pose), other), cl.distance(other, cloud.at(pose))
        assert abs(here.distance - swapped.distance) <= 2e-7 * size_of(cloud, other)
        assert np.allclose(swapped.point_b - swapped.point_a, swapped.distance * swapped.normal, rtol=0, atol=1e3 * EPS)
        least = ball_gaps(cloud, pose, other).distance
        assert abs(least[swapped.feature_b] - least.min()) <= 2e-7 * size_of(cloud, other)


@pytest.mark.parametrize("kind", [kind for kind in OTHERS if kind not in SURFACES])
def test_radius_that_grows_takes_as_much_off_the_distance(kind):
    for seed in range(20):
        rng = np.random.default_rng([seed, 2])
        cloud, pose, other = drawn_pair(rng, kind)
        more = float(rng.uniform(0.0, 0.5))
        thick = cl.PointCloud(cloud.points, cloud.radius + more)
        change = cl.distance(cloud.at(pose), other).distance - cl.distance(thick.at(pose), other).distance
        assert abs(change - more) <= 2e-7 * size_of(thick, other)


def test_surfaces_are_met_and_no_more():
    surface = cl.Mesh(CORNERS, [[0, 1, 2]])
    for other in (surface, cl.HeightField([[0.0, 0.0], [0.0, 0.0]], 2.0)):
        for height, distance in ((0.5, 0.4), (0.1, 0.0), (0.05, 0.0), (0.0, 0.0), (-0.3, 0.2)):
            gap = cl.distance(cl.PointCloud([[0.2, 0.2, height], [0.2, 0.2, 9.0]], 0.1), other)
            assert abs(gap.distance - distance) <= 4 * EPS
            assert gap.lower >= 0
            assert gap.feature_a == 0
            assert abs(np.linalg.norm(gap.normal) - 1) <= 4 * EPS


@pytest.mark.parametrize("radius", [0.0, 0.1])
def test_normal_has_length_one_where_centres_coincide(radius):
    cloud = cl.PointCloud([X, np.zeros(3), Y], radius)
    others = [
        cl.Sphere(0.5),
        cl.SweptPoint([0, 0, 0], 0.0),
        cl.Box([0.1, 0.1, 0.1]),
        cl.Ellipsoid([0.1, 0.2, 0.1]),
        cl.PointCloud(np.zeros((3, 3)), 0.2),
        cl.PointCloud(np.zeros((1, 3)), 0.0),
        cl.HalfSpace(Z, 0.0),
        cl.Mesh(CORNERS - 0.25 * (X + Y), [[0, 1, 2]]),
    ]
    for other in others:
        for gap in (cl.distance(cloud, other), cl.distance(other, cloud)):
            assert abs(np.linalg.norm(gap.normal) - 1) <= 4 * EPS
            assert gap.distance <= 0
            assert np.allclose(gap.point_b - gap.point_a, gap.distance * gap.normal, atol=8 * EPS)
    assert cl.distance(cloud, cl.Sphere(0.5)).feature_a == 1


def test_deepest_ball_of_many_inside_a_solid_is_found():
    rng = np.random.default_rng(3)
    cloud = cl.PointCloud(rng.uniform(-1, 1, size=(20_000, 3)), 0.01)
    for kind in solids.KINDS:
        if kind == "HalfSpace":
            continue
        pose = rigid_motions(rng, 1)[0]
        pose[:3, 3] = rng.uniform(-0.5, 0.5, size=3)
        other = solids.draw_shape(rng, kind, 1.5).at(pose)
        gap = cl.distance(cloud, other)
        assert gap.distance < 0
        assert_gap_is_true(gap, cloud, np.eye(4), other)
        assert gap.work.triangle_tests < 200


@given(seeds(), st.sampled_from(OTHERS))
@settings(max_examples=60, deadline=None)
def test_every_observer_sees_the_same_distance(seed, kind):
    rng = np.random.default_rng(seed)
    cloud, pose, other = drawn_pair(rng, kind)
    motion = rigid_motions(rng, 1)[0]
    here = cl.distance(cloud.at(pose), other)
    there = cl.distance(cloud.at(motion @ pose), other.shape.at(motion @ other.pose))
    assert abs(here.distance - there.distance) <= 2e-7 * size_of(cloud, other)
    assert_gap_is_true(there, cloud, motion @ pose, other.shape.at(motion @ other.pose))


@given(seeds(), st.sampled_from(solids.KINDS), st.sampled_from([1e-6, 1e-3, 7.0, 1e6]))
@settings(max_examples=60, deadline=None)
def test_distance_grows_with_the_scene(seed, kind, scale):
    cloud, pose, other = drawn_pair(np.random.default_rng(seed), kind)
    here = cl.distance(cloud.at(pose), other)
    larger = cl.PointCloud(cloud.points * scale, cloud.radius * scale)
    moved, tilt = np.array(pose), np.array(other.pose)
    moved[:3, 3] *= scale
    tilt[:3, 3] *= scale
    placed = solids.scaled(other.shape, scale).at(tilt)
    there = cl.distance(larger.at(moved), placed)
    assert abs(there.distance - scale * here.distance) <= 2e-7 * size_of(larger, placed)
    assert_gap_is_true(there, larger, moved, placed)


@given(seeds(), st.sampled_from(OTHERS))
@settings(max_examples=60, deadline=None)
def test_order_of_points_changes_nothing_but_their_numbers(seed, kind):
    rng = np.random.default_rng(seed)
    cloud, pose, other = drawn_pair(rng, kind)
    order = rng.permutation(len(cloud))
    here = cl.distance(cloud.at(pose), other)
    there = cl.distance(cl.PointCloud(cloud.points[order], cloud.radius).at(pose), other)
    assert abs(here.distance - there.distance) <= 2e-9 * size_of(cloud, other)
    gaps = ball_gaps(cloud, pose, other).distance
    assert abs(gaps[order[there.feature_a]] - gaps.min()) <= 2e-7 * size_of(cloud, other)


@given(seeds(), st.sampled_from(OTHERS))
@settings(max_examples=60, deadline=None)
def test_part_of_a_cloud_is_never_nearer(seed, kind):
    rng = np.random.default_rng(seed)
    cloud, pose, other = drawn_pair(rng, kind)
    some = rng.random(len(cloud)) < 0.5
    some[rng.integers(len(cloud))] = True
    part = cl.PointCloud(cloud.points[some], cloud.radius)
    more = cl.distance(part.at(pose), other).distance - cl.distance(cloud.at(pose), other).distance
    assert more >= -2e-7 * size_of(cloud, other)


def test_copies_of_a_point_count_once_and_the_first_is_named():
    points = np.concatenate([np.tile(X, (1000, 1)), np.tile(Z, (1000, 1)), [Y]])
    cloud = cl.PointCloud(points, 0.1)
    for at, number in ((2 * X, 0), (2 * Z, 1000), (2 * Y, 2000)):
        gap = cl.distance(cloud, cl.Sphere(0.5).at(at))
        assert abs(gap.distance - 0.4) <= 4 * EPS
        assert gap.feature_a == number


def test_cloud_far_from_the_origin_keeps_its_digits():
    rng = np.random.default_rng(4)
    for far in (1e3, 1e6, 1e9):
        cloud = cl.PointCloud(rng.normal(size=(50, 3)) + far, 0.1)
        other = cl.Box([1.0, 2.0, 0.5]).at(poses.from_translation([far, far, far]))
        assert_gap_is_true(cl.distance(cloud, other), cloud, np.eye(4), other)


# Questions about it --------------------------------------------------------------------------------------------------


@every_other
def test_at_most_cuts_off_what_is_farther_and_nothing_else(kind):
    for seed in range(20):
        rng = np.random.default_rng([seed, 5])
        cloud, pose, other = drawn_pair(rng, kind)
        full, size = cl.distance(cloud.at(pose), other), size_of(cloud, other) or 1.0
        for limit in (full.distance + 0.1 * size, full.distance - 0.1 * size):
            cut = cl.distance(cloud.at(pose), other, at_most=limit)
            if limit > full.distance:
                assert abs(cut.distance - full.distance) <= 2e-7 * size
            else:
                assert limit < cut.lower <= full.upper
                assert cut.distance == np.inf
                assert np.isnan(cut.normal).all()


@every_other
def test_within_and_collides_are_comparisons_of_the_distance(kind):
    for seed in range(20):
        cloud, pose, other = drawn_pair(np.random.default_rng([seed, 6]), kind)
        gap, size = cl.distance(cloud.at(pose), other), size_of(cloud, other)
        if abs(gap.distance) > 1e-8 * size:
            assert cl.collides(cloud.at(pose), other) == (gap.distance <= 0)
        for margin in (gap.distance + 0.01 * size, gap.distance - 0.01 * size):
            if margin >= 0:
                assert cl.within(cloud.at(pose), other, margin) == (margin > gap.distance)


@every_other
def test_hint_changes_no_answer(kind):
    for seed in range(20):
        rng = np.random.default_rng([seed, 7])
        cloud, pose, other = drawn_pair(rng, kind)
        before = cl.distance(cloud.at(pose), other)
        pose[:3, 3] += 0.02 * rng.normal(size=3)
        plain, hinted = cl.distance(cloud.at(pose), other), cl.distance(cloud.at(pose), other, hint=before)
        assert abs(plain.distance - hinted.distance) <= 2e-7 * size_of(cloud, other)


@every_other
def test_batches_answer_as_single_calls_do_on_any_number_of_threads(kind):
    rng = np.random.default_rng(8)
    cloud, _, other = drawn_pair(rng, kind)
    motions = rigid_motions(rng, 50)
    gaps, alone = cl.distance(cloud.at(motions), other), [cl.distance(cloud.at(pose), other) for pose in motions]
    assert np.array_equal(gaps.distance, [gap.distance for gap in alone])
    assert np.array_equal(gaps.feature_a, [gap.feature_a for gap in alone])
    for threads in (1, 2):
        again = cl.distance(cloud.at(motions), other, threads=threads)
        assert np.array_equal(gaps.point_b, again.point_b)
    assert np.array_equal(cl.collides(cloud.at(motions), other), gaps.distance <= 0)


# Compounds and scenes ------------------------------------------------------------------------------------------------


def mixed_parts(rng):
    shapes = [draw_cloud(rng), cl.Box([0.3, 0.4, 0.5]), made(), draw_cloud(rng), cl.Cone(0.2, 0.5), cl.Sphere(0.2)]
    motions = rigid_motions(rng, len(shapes))
    return [shapes[k].at(motions[k]) for k in rng.permutation(len(shapes))[:4]]


@given(seeds())
@settings(max_examples=100, deadline=None)
def test_compound_is_as_near_as_its_nearest_part(seed):
    rng = np.random.default_rng(seed)
    parts, others, shift = mixed_parts(rng), mixed_parts(rng), rigid_motions(rng, 1)[0]
    gap = cl.distance(cl.Compound(parts), cl.Compound(others).at(shift))
    moved = [part.shape.at(shift @ part.pose) for part in others]
    alone = np.array([[cl.distance(a, b).distance for b in moved] for a in parts])
    assert abs(gap.distance - alone.min()) <= 1e-6
    assert abs(alone[gap.part_a, gap.part_b] - alone.min()) <= 1e-6
    assert np.allclose(gap.point_b - gap.point_a, gap.distance * gap.normal, atol=1e-12)


def test_surface_that_is_met_does_not_hide_a_ball_that_is_deep():
    sheet = cl.Mesh(CORNERS - 0.2, [[0, 1, 2]])
    inside = cl.PointCloud([[0.0, 0, 0.1], [0.0, 0, 0.4]], 0.05)
    for parts in ([sheet, inside], [inside, sheet], [cl.Sphere(0.01).at([0.4, 0, 0]), sheet, inside]):
        gap = cl.distance(cl.Compound(parts), cl.Sphere(0.5))
        assert abs(gap.distance + 0.45) <= 4 * EPS
        assert (gap.part_a, gap.feature_a) == (parts.index(inside), 0)


def scene_with_clouds(rng):
    scene = cl.Scene()
    bodies = {
        "hull": cl.ConvexHull(0.3 * rng.normal(size=(12, 3)), 0.02),
        "link": made("gear"),
        "arm": cl.Compound([cl.Capsule(0.1, 0.5), cl.PointCloud(rng.normal(size=(20, 3)) / 4, 0.02)]),
        "seen": cl.PointCloud(rng.normal(size=(2000, 3)), 0.03),
        "wall": cl.PointCloud(np.column_stack([3 * rng.normal(size=(2000, 2)), 0.02 * rng.normal(size=2000)]), 0.0),
        "part": made("torus"),
        "box": cl.Box([0.5, 0.4, 0.3]),
    }
    for name, body in bodies.items():
        scene.add(name, body)
    return scene, ["hull", "link", "arm"], ["seen", "wall", "part", "box"]


def move_about(rng, scene, names, reach=3.0):
    for name, pose in zip(names, rigid_motions(rng, len(names)), strict=True):
        pose[:3, 3] *= reach
        scene.move(name, pose)


@pytest.mark.parametrize(
    "search",
    [None, cl.Search(), cl.Search(order="depth"), cl.Search(front="implicit"), cl.Search(front="explicit")],
    ids=["default", "best", "depth", "implicit", "explicit"],
)
def test_nearest_of_groups_is_the_least_of_all_pairs(search):
    rng = np.random.default_rng(9)
    scene, arm, world = scene_with_clouds(rng)
    move_about(rng, scene, arm + world)
    overlaps = []
    for step in range(30):
        if step % 3 == 0:
            move_about(rng, scene, arm)
        else:  # a little, so that what was true a moment ago is of use
            scene.move({name: poses.from_translation(0.02 * rng.normal(size=3)) @ scene.pose(name) for name in arm})
        found = scene.nearest(arm, world, search=search)
        placed = {name: scene.shape(name).at(scene.pose(name)) for name in arm + world}
        table = {(a, b): cl.distance(placed[a], placed[b]) for a in arm for b in world}
        least = min(gap.distance for gap in table.values())
        assert abs(found.distance - least) <= 1e-6
        assert abs(table[found.body_a, found.body_b].distance - least) <= 1e-6
        assert found.lower <= least + 1e-9 <= found.upper + 1e-6
        assert np.allclose(found.point_b - found.point_a, found.distance * found.normal, atol=1e-12)
        overlaps.append(least < 0)
    assert 0.1 < np.mean(overlaps) < 0.9


def test_batch_of_nearest_and_limits():
    rng = np.random.default_rng(10)
    scene, arm, world = scene_with_clouds(rng)
    move_about(rng, scene, arm + world)
    motions = rigid_motions(rng, 40)
    batch = scene.nearest(arm, world, poses={"hull": motions})
    for k in range(40):
        scene.move("hull", motions[k])
        found = scene.nearest(arm, world)
        assert abs(found.distance - batch.distance[k]) <= 1e-6
        limited = scene.nearest(arm, world, at_most=found.distance - 0.1)
        assert limited.lower > found.distance - 0.1
        assert limited.distance == np.inf
        assert abs(scene.nearest(arm, world, at_most=found.distance + 0.1).distance - found.distance) <= 1e-6


def test_table_of_a_scene_has_the_distances_of_its_pairs():
    rng = np.random.default_rng(11)
    scene, arm, world = scene_with_clouds(rng)
    for a in arm:
        for b in world:
            scene.watch(a, b)
    for _ in range(5):
        move_about(rng, scene, arm + world)
        table = scene.distances()
        for k, (a, b) in enumerate(scene.pairs):
            alone = cl.distance(scene.shape(a).at(scene.pose(a)), scene.shape(b).at(scene.pose(b)))
            assert abs(table.distance[k] - alone.distance) <= 1e-6
        assert np.array_equal(scene.distances(threads=1).distance, table.distance)


# Contacts ------------------------------------------------------------------------------------------------------------


@every_other
def test_every_ball_that_touches_has_contacts_and_no_other(kind):
    for seed in range(25):
        cloud, pose, other = drawn_pair(np.random.default_rng([seed, 12]), kind)
        if kind == "height field":
            other = cl.Mesh(other.shape.vertices, other.shape.faces).at(other.pose)  # without ground below
        gaps, size = ball_gaps(cloud, pose, other).distance, size_of(cloud, other)
        _, first = np.unique(cloud.points, axis=0, return_index=True)
        sure = 1e-6 * size
        for found, column in ((cl.contacts(cloud.at(pose), other), 0), (cl.contacts(other, cloud.at(pose)), 1)):
            touching = set(found.features[:, column].tolist())
            touching_points = {tuple(cloud.points[k]) for k in touching}
            assert {tuple(cloud.points[k]) for k in first if gaps[k] < -sure} <= touching_points
            assert all(gaps[k] <= sure for k in touching)
            assert np.all(found.depths >= 0)
            assert len(found) == 0 or np.allclose(np.linalg.norm(found.normals, axis=1), 1)
            if kind not in SURFACES and len(found):
                assert abs(found.depths.max() + gaps.min()) <= 10 * sure


def test_contacts_of_balls_are_where_they_touch():
    cloud = cl.PointCloud([[0.0, 0, 0.09], [1.0, 0, 0.08], [2.0, 0, 0.2], [3.0, 0, 0.0999]], 0.1)
    for ground in (cl.HalfSpace(Z, 0.0), cl.Box([10, 10, 2]).at([0.0, 0, -1]), cl.HeightField(np.zeros((9, 9)), 1.0)):
        found = cl.contacts(ground, cloud)
        assert sorted(set(found.features[:, 1].tolist())) == [0, 1, 3]
        deepest = {number: found.depths[found.features[:, 1] == number].max() for number in (0, 1, 3)}
        assert np.allclose(list(deepest.values()), [0.01, 0.02, 0.0001])
        assert np.allclose(found.normals, Z)
        back = cl.contacts(cloud, ground)
        assert np.allclose(back.normals, -Z)
        assert np.array_equal(np.sort(back.features[:, 0]), np.sort(found.features[:, 1]))


def test_ground_below_a_height_field_is_solid_for_balls():
    ground = cl.HeightField(np.zeros((5, 5)), 1.0)
    cloud = cl.PointCloud([[0.3, 0.2, -0.7], [0.4, 0.1, 3.0], [9.0, 9.0, -0.7]], 0.1)
    found = cl.contacts(ground, cloud)
    assert set(found.features[:, 1].tolist()) == {0}
    assert np.allclose(found.depths.max(), 0.8)
    assert cl.distance(ground, cloud).distance > 0.5  # but a surface for distances


def test_contacts_of_two_clouds():
    rng = np.random.default_rng(13)
    a, b = (cl.PointCloud(rng.uniform(0, 1, size=(n, 3)), r) for n, r in ((200, 0.02), (300, 0.03)))
    found = cl.contacts(a, b)
    apart = np.linalg.norm(a.points[:, None] - b.points, axis=2) - 0.05
    assert sorted(found.features.tolist()) == np.argwhere(apart <= 0).tolist()
    assert np.allclose(found.depths, -apart[tuple(found.features.T)])


# Values --------------------------------------------------------------------------------------------------------------


def test_cloud_is_a_value():
    points = np.random.default_rng(14).normal(size=(30, 3))
    cloud = cl.PointCloud(points.astype(np.float32).tolist(), 0.25)
    assert len(cloud) == 30
    assert cloud.radius == 0.25
    assert np.array_equal(cloud.points, points.astype(np.float32))
    assert repr(cloud) == "PointCloud(30 points, radius=0.25)"
    assert cloud.nbytes > cloud.points.nbytes
    with pytest.raises(ValueError, match="read-only"):
        cloud.points[0] = 1.0
    for again in (copy.copy(cloud), copy.deepcopy(cloud), pickle.loads(pickle.dumps(cloud))):
        assert again == cloud
        assert hash(again) == hash(cloud)
        assert np.array_equal(again.points, cloud.points)
    placed = pickle.loads(pickle.dumps(cloud.at([1.0, 2, 3])))
    assert placed == cloud.at([1.0, 2, 3])
    assert cloud != cl.PointCloud(points, 0.5)
    assert cl.PointCloud(points, 0.5) != cl.PointCloud(points[::-1], 0.5)
    assert cl.PointCloud(CORNERS, 0.0) != cl.Mesh(CORNERS, [[0, 0, 0], [1, 1, 1], [2, 2, 2]])


def test_ball_around_a_cloud_holds_all_its_balls():
    rng = np.random.default_rng(15)
    for _ in range(20):
        cloud = draw_cloud(rng)
        centre, radius = cloud.ball
        assert np.linalg.norm(cloud.points - centre, axis=1).max() + cloud.radius <= radius * (1 + 4 * EPS)


HOSTILE = {
    "no points": (np.zeros((0, 3)), 0.1),
    "empty list": ([], 0.1),
    "two columns": (np.zeros((5, 2)), 0.1),
    "one point, flat": ([0.0, 0.0, 0.0], 0.1),
    "three dimensions": (np.zeros((2, 5, 3)), 0.1),
    "NaN": ([[0.0, np.nan, 0.0]], 0.1),
    "infinity": ([[0.0, 0.0, np.inf]], 0.1),
    "too large": ([[0.0, 0.0, 1e31]], 0.1),
    "ragged": ([[0.0, 0.0, 0.0], [1.0]], 0.1),
    "texts": ([["a", "b", "c"]], 0.1),
    "None": (None, 0.1),
    "complex": (np.zeros((2, 3)) + 1j, 0.1),
    "negative radius": (np.zeros((1, 3)), -0.1),
    "NaN radius": (np.zeros((1, 3)), np.nan),
    "infinite radius": (np.zeros((1, 3)), np.inf),
}


@pytest.mark.parametrize(("points", "radius"), HOSTILE.values(), ids=HOSTILE)
def test_what_is_no_cloud_is_refused(points, radius):
    with pytest.raises(ValueError, match=r"points|radius"):
        cl.PointCloud(points, radius)


# Size ----------------------------------------------------------------------------------------------------------------


def test_million_points_are_asked_with_little_work():
    rng = np.random.default_rng(16)
    u, v = rng.uniform(-1, 1, size=(2, 1_000_000))
    depth = 2 + 0.3 * np.sin(3 * u) * np.cos(4 * v) + 0.005 * rng.normal(size=u.shape)
    points = np.stack([u * depth, v * depth, depth], axis=1)
    cloud = cl.PointCloud(points, 0.005)
    for kind in solids.KINDS:
        if kind == "HalfSpace":
            continue
        motions = rigid_motions(rng, 10)
        motions[:, :3, 3] = [0, 0, 1.2] + 0.2 * rng.normal(size=(10, 3))
        gaps = cl.distance(cloud, solids.draw_shape(rng, kind, 0.3).at(motions))
        assert gaps.work.triangle_tests < 500
        assert gaps.work.volume_tests < 50_000
    other = solids.draw_shape(rng, "Sphere", 0.3)
    gap = cl.distance(cloud, other)
    reach = np.linalg.norm(points, axis=1)
    assert abs(gap.distance - (reach.min() - other.radius - cloud.radius)) <= 1e-12
    assert gap.feature_a == np.argmin(reach)
