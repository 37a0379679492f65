"""How far a robot is from touching anything: every pair, the nearest, and whether it is clear."""

import pickle
from concurrent.futures import ThreadPoolExecutor

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import clearance as cl
import robot_oracle as oracle
import robots
from clearance import poses
from robots import MOVABLE, PLANS, as_list, as_mapping, as_scene, contact_case, random_q
from strategies import rigid_motions, seeds

EPS = np.finfo(float).eps
FLOATS = ("distance", "lower", "upper", "point_a", "point_b", "normal")
COLUMNS = (*FLOATS, "feature_a", "feature_b", "part_a", "part_b")
WORLDS = {"scene": as_scene, "list": as_list, "mapping": as_mapping}
every_moving_robot = pytest.mark.parametrize("name", MOVABLE)


def allowed(distance, size=2.0):
    """Return how far two brackets of the same distance may lie apart; depths are found less closely."""
    return size * np.where(np.asarray(distance) < 0, 2e-7, 2e-9)


def assert_same_gaps(found, expected, columns=COLUMNS):
    for name in columns:
        assert np.asarray(getattr(found, name)).tobytes() == np.asarray(getattr(expected, name)).tobytes(), name


def row_of(gaps, pair):
    return [frozenset(each) for each in gaps.pairs].index(frozenset(pair))


def same_pairs(found, expected):
    return np.array([set(a) == set(b) for a, b in zip(found.pair, expected.pair, strict=True)])


# Against brute force -------------------------------------------------------------------------------------------------


@every_moving_robot
@pytest.mark.parametrize("form", WORLDS)
def test_clearances_are_those_of_every_pair_of_shapes(name, form):
    plan, world, q, truth = contact_case(name)
    robot, gaps = plan.robot(), cl.clearances(plan.robot(), WORLDS[form](world), q)
    assert gaps.distance.shape == truth.shape
    assert np.all(np.abs(gaps.distance - truth) <= allowed(truth))
    assert np.all(gaps.lower - allowed(truth) / 20 <= truth)
    assert np.all(truth <= gaps.upper + allowed(truth) / 20)
    assert np.all((gaps.lower <= gaps.distance) & (gaps.distance <= gaps.upper))
    assert 0.3 <= np.mean(truth <= 0) <= 0.7
    # The witnesses belong to the pair that is named.
    joined = gaps.point_b - gaps.point_a - gaps.distance[:, None] * gaps.normal
    assert np.max(np.abs(joined)) <= 64 * EPS
    assert np.allclose(np.linalg.norm(gaps.normal, axis=1), 1.0, rtol=0, atol=8 * EPS)
    checked = {frozenset(pair) for pair in oracle.all_pairs(plan, world)}
    if form != "list":
        assert {frozenset(pair) for pair in gaps.pair} <= checked
        for k, pair in enumerate(gaps.pair):
            assert abs(oracle.least(plan, world, q[k], [pair]) - truth[k]) <= allowed(truth[k])
            assert tuple(gaps.pairs[gaps.pair_index[k]]) == tuple(pair)
    assert robot.pairs == plan.robot().pairs


@every_moving_robot
def test_clearances_without_a_world_are_those_of_the_robot_itself(name):
    plan = PLANS[name]()
    robot, rng = plan.robot(), np.random.default_rng(1)
    q = random_q(rng, plan, 60)
    truth = oracle.least(plan, {}, q)
    for nothing in (None, [], {}, cl.Scene()):
        found = cl.clearances(robot, nothing, q)
        assert np.all(np.abs(found.distance - truth) <= allowed(truth))
        assert np.array_equal(cl.is_clear(robot, nothing, q), found.distance > 0)


@every_moving_robot
def test_every_pair_is_measured_by_itself(name):
    plan, world, q, _ = contact_case(name)
    gaps, expected = plan.robot().distances(q, as_mapping(world)), oracle.distances(plan, world, q)
    pairs = oracle.all_pairs(plan, world)
    assert gaps.distance.shape == (len(q), len(pairs))
    assert {frozenset(pair) for pair in gaps.pairs} == {frozenset(pair) for pair in pairs}
    for k, pair in enumerate(pairs):
        row = row_of(gaps, pair)
        found = gaps.distance[:, row]
        assert np.all(np.abs(found - expected[:, k]) <= allowed(expected[:, k])), pair
        assert np.all((gaps.lower[:, row] <= found) & (found <= gaps.upper[:, row]))


@every_moving_robot
def test_witnesses_lie_on_the_links_they_are_said_to(name):
    plan, world, q, truth = contact_case(name)
    robot = plan.robot()
    for each, distance in zip(q[:8], truth[:8], strict=True):
        gap, links = robot.nearest(each, as_scene(world)), oracle.link_poses(plan, each)
        for body, point in zip(gap.pair, (gap.point_a, gap.point_b), strict=True):
            shapes = oracle.placed_shapes(plan, world, links, body)
            dot = cl.SweptPoint(point, 0.0)
            assert min(cl.distance(shape.at(pose), dot).distance for shape, pose in shapes) <= 1e-7
            if distance > 0:
                assert min(abs(cl.distance(shape.at(pose), dot).distance) for shape, pose in shapes) <= 1e-7


@every_moving_robot
def test_nearest_says_the_same_as_clearances(name):
    plan, world, q, truth = contact_case(name)
    robot = plan.robot()
    gaps = cl.clearances(robot, as_mapping(world), q)
    for k in range(10):
        gap = robot.nearest(q[k], as_mapping(world))
        assert abs(gap.distance - truth[k]) <= allowed(truth[k])
        assert (gap.link_a, gap.link_b) == tuple(gap.pair)
        assert gap.distance == gaps.distance[k]
        assert tuple(gap.pair) == tuple(gaps.pair[k])
        assert np.array_equal(gap.point_a, gaps.point_a[k])


@every_moving_robot
def test_clear_means_farther_than_the_margin(name):
    plan, world, q, truth = contact_case(name)
    robot, scene = plan.robot(), as_scene(world)
    answers = cl.is_clear(robot, scene, q)
    assert answers.dtype == bool
    sure = np.abs(truth) > allowed(truth) / 2
    crossing = truth == 0
    assert np.array_equal(answers[sure | crossing], (truth > 0)[sure | crossing])
    # Margins a hair to either side of the distance; depths cannot be asked for.
    for k in np.flatnonzero(truth > 1e-6):
        hair = 2e-9 * max(1.0, truth[k])
        assert cl.is_clear(robot, scene, q[k], margin=truth[k] - hair)
        assert not cl.is_clear(robot, scene, q[k], margin=truth[k] + hair)
    for margin in (1e-6, 1e-3, 0.05):
        sure = np.abs(truth - margin) > 2e-9
        assert np.array_equal(cl.is_clear(robot, scene, q, margin)[sure], (truth > margin)[sure])


@settings(max_examples=12)
@given(seeds(), st.sampled_from(["two arms", "seven", "mixed", "rover", "walker", "gripper", "stacked"]))
def test_clearances_in_random_worlds(seed, name):
    rng = np.random.default_rng(seed)
    plan = PLANS[name]()
    world, q = robots.obstacles(rng, plan, 6), random_q(rng, plan, 40)
    truth = oracle.least(plan, world, q)
    found = cl.clearances(plan.robot(), as_scene(world), q)
    assert np.all(np.abs(found.distance - truth) <= allowed(truth, 4.0))
    sure = np.abs(truth) > 1e-6
    assert np.array_equal(cl.is_clear(plan.robot(), as_mapping(world), q)[sure], (truth > 0)[sure])


def test_about_half_of_the_cases_collide():
    hits = [np.mean(contact_case(name)[3] <= 0) for name in MOVABLE]
    assert all(0.3 <= share <= 0.7 for share in hits)


def test_bodies_of_several_shapes_are_their_nearest_part():
    robot = robots.planar_arm().robot()
    parts = [cl.Sphere(0.1).at([0.0, 2.0, 0.0]), cl.Box([0.2, 0.2, 0.2]).at([1.6, 0.0, 0.0])]
    q = np.zeros(3)
    scene = cl.Scene()
    scene.add("parts", parts)
    for world in (scene, {"parts": cl.Compound(parts)}, parts):
        gap = robot.nearest(q, world)
        assert gap.distance == pytest.approx(0.26)
        assert gap.point_b[0] + gap.point_a[0] == pytest.approx(1.24 + 1.5)


# Worlds --------------------------------------------------------------------------------------------------------------


def stick():
    """An arm of one link that ends at x = 0.54 and has no pair of its own."""
    return robots.planar_arm((0.5,)).robot()


def test_one_shape_is_a_world():
    ball = cl.Sphere(0.1).at([1.0, 0.0, 0.0])
    assert stick().nearest([0.0], ball).distance == pytest.approx(0.36)
    assert stick().nearest([0.0], cl.ConvexHull([[1.0, 0.0, 0.0]], 0.1)).distance == pytest.approx(0.36)
    assert not cl.is_clear(stick(), cl.Sphere(0.5), [0.0])


def test_bodies_of_a_list_are_numbered():
    robot = stick()
    world = [cl.Sphere(0.1).at([2.0, 0.0, 0.0]), cl.Sphere(0.1).at([1.5, 0.0, 0.0])]
    assert set(robot.nearest([0.0], world).pair) == {"arm 0", "world_1"}
    robot.allow("world_1")
    assert set(robot.nearest([0.0], tuple(world)).pair) == {"arm 0", "world_0"}


def test_bodies_of_the_world_are_not_checked_against_each_other():
    world = {"a": cl.Sphere(1.0).at([5.0, 0.0, 0.0]), "b": cl.Sphere(1.0).at([5.5, 0.0, 0.0])}
    assert stick().nearest([0.0], world).distance == pytest.approx(3.46)
    scene = as_scene({name: (placed,) for name, placed in world.items()})
    scene.watch_all()
    assert stick().nearest([0.0], scene).distance == pytest.approx(3.46)


def test_bodies_that_moved_are_seen_where_they_are():
    plan, world, q, _ = contact_case("seven")
    robot, scene = plan.robot(), as_scene(world)
    first = cl.clearances(robot, scene, q).distance
    home = scene.pose("thing 0")
    moved = rigid_motions(np.random.default_rng(3), 1)[0]
    scene.move("thing 0", moved @ home)
    there = {**world, "thing 0": tuple(p.shape.at(moved @ p.pose) for p in world["thing 0"])}
    truth = oracle.least(plan, there, q)
    assert np.all(np.abs(cl.clearances(robot, scene, q).distance - truth) <= allowed(truth))
    assert np.array_equal(cl.is_clear(robot, scene, q), cl.clearances(robot, scene, q).distance > 0)
    assert robot.nearest(q[0], scene).distance == pytest.approx(truth[0], abs=1e-6)
    scene.remove("thing 0")
    truth = oracle.least(plan, {name: world[name] for name in world if name != "thing 0"}, q)
    assert np.all(np.abs(cl.clearances(robot, scene, q).distance - truth) <= allowed(truth))
    scene.add("thing 0", [p.shape.at(poses.inverse(home) @ p.pose) for p in world["thing 0"]], home)
    assert np.allclose(cl.clearances(robot, scene, q).distance, first, rtol=0, atol=1e-9)


def test_bodies_that_were_renamed_have_their_new_names():
    robot, scene = stick(), as_scene({"ball": (cl.Sphere(0.1).at([1.0, 0.0, 0.0]),)})
    assert set(robot.nearest([0.0], scene).pair) == {"arm 0", "ball"}
    scene.rename("ball", "moon")
    assert set(robot.nearest([0.0], scene).pair) == {"arm 0", "moon"}
    robot.allow("moon")
    assert robot.nearest([0.0], scene).distance == np.inf
    scene.rename("moon", "ball")
    assert robot.nearest([0.0], scene).distance == pytest.approx(0.36)


def test_worlds_take_turns():
    plan, world, q, truth = contact_case("seven")
    robot, other = plan.robot(), robots.obstacles(np.random.default_rng(9), plan, 2)
    forms = [as_scene(world), as_list(other), None, as_mapping(world), as_scene(other), *as_list(world)]
    first = [cl.clearances(robot, form, q).distance for form in forms]
    for _ in range(2):
        for form, distance in zip(forms, first, strict=True):
            assert np.array_equal(cl.clearances(robot, form, q).distance, distance)
            assert np.array_equal(cl.is_clear(robot, form, q), distance > 0)
    assert np.all(np.abs(first[0] - truth) <= allowed(truth))


def test_base_that_moved_is_seen_where_it_is():
    plan, world, q, _ = contact_case("boxes")
    robot, scene = plan.robot(), as_scene(world)
    cl.clearances(robot, scene, q)
    plan = plan.moved(poses.from_translation([0.3, -0.1, 0.2]))
    robot.base = plan.base
    truth = oracle.least(plan, world, q)
    assert np.all(np.abs(cl.clearances(robot, scene, q).distance - truth) <= allowed(truth))


@every_moving_robot
def test_robots_stand_on_ground_they_are_allowed_to_touch(name):
    plan = PLANS[name]()
    robot, q = plan.robot(), random_q(np.random.default_rng(4), plan, 30)
    world = robots.ground(plan, 0.01)
    pairs = oracle.all_pairs(plan, world)
    pairs = [pair for pair in pairs if set(pair) != {robot.root, "ground"}]
    robot.allow(robot.root, "ground")
    truth = oracle.least(plan, world, q, pairs)
    found = cl.clearances(robot, as_mapping(world), q)
    assert np.all(np.abs(found.distance - truth) <= allowed(truth))
    assert np.array_equal(cl.is_clear(robot, as_mapping(world), q), found.distance > 0)


def test_robot_without_pairs_and_without_a_world_is_clear():
    for plan in (robots.single(), robots.planar_arm((0.5,))):
        robot, q = plan.robot(), np.zeros((4, oracle.dof(plan)))
        assert cl.is_clear(robot, None, q, margin=1e9).tolist() == [True] * 4
        gaps = cl.clearances(robot, None, q)
        assert gaps.distance.tolist() == gaps.lower.tolist() == gaps.upper.tolist() == [np.inf] * 4
        assert np.isnan(gaps.normal).all()
        assert robot.nearest(q[0]).distance == np.inf
        assert robot.distances(q).distance.shape == (4, 0)


def test_robot_of_one_link_meets_the_world():
    plan = robots.single()
    robot, hits = plan.robot(), []
    for seed in range(40):
        rng = np.random.default_rng(seed)
        motion = rigid_motions(rng, 1)[0]
        motion[:3, 3] *= 0.2
        world = {"wall": (cl.Box([0.4, 0.3, 0.2]).at(motion),), "ball": (cl.Sphere(0.05).at([0.5, 0.0, 0.0]),)}
        truth = oracle.least(plan, world, [])
        assert robot.nearest([], as_mapping(world)).distance == pytest.approx(float(truth), abs=1e-6)
        assert cl.is_clear(robot, as_mapping(world), []) == (truth > 0)
        hits.append(truth <= 0)
    assert 0.3 <= np.mean(hits) <= 0.7


def test_height_field_is_a_world():
    field = cl.HeightField(np.zeros((5, 5)), 1.0).at([0.0, 0.0, -0.5])
    assert cl.clearances(stick(), [field], [0.0]).distance == pytest.approx(0.4)


# Batches -------------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("name", ["seven", "mixed", "meshes", "walker", "gripper"])
def test_threads_and_batches_change_no_bit(name):
    plan, world, q, _ = contact_case(name)
    robot, world = plan.robot(), as_scene(world)
    whole = cl.clearances(robot, world, q, threads=1)
    for threads in (2, 3, None):
        assert_same_gaps(cl.clearances(robot, world, q, threads=threads), whole)
        assert_same_gaps(robot.distances(q, world, threads=threads), robot.distances(q, world, threads=1))
    for size in (1, 7, 29):
        pieces = [cl.clearances(robot, world, q[k : k + size]) for k in range(0, len(q), size)]
        for column in COLUMNS:
            joined = np.concatenate([getattr(piece, column) for piece in pieces])
            assert joined.tobytes() == getattr(whole, column).tobytes(), (size, column)
    backward = cl.clearances(robot, world, q[::-1])
    assert np.array_equal(backward.distance[::-1], whole.distance)
    fresh = cl.clearances(plan.robot(), as_scene(contact_case(name)[1]), q)
    assert_same_gaps(fresh, whole)
    clear = cl.is_clear(robot, world, q, 0.01, threads=1)
    for threads in (2, None):
        assert np.array_equal(cl.is_clear(robot, world, q, 0.01, threads=threads), clear)
    assert clear.tolist() == [cl.is_clear(robot, world, each, 0.01) for each in q]


def test_threads_of_the_caller_may_share_a_robot_and_a_scene():
    plan, world, q, _ = contact_case("mixed")
    robot, scene = plan.robot(), as_scene(world)
    whole, clear = cl.clearances(robot, scene, q, threads=1), cl.is_clear(robot, scene, q, threads=1)
    fresh = plan.robot()
    with ThreadPoolExecutor(4) as executor:
        gaps = list(executor.map(lambda _: cl.clearances(fresh, scene, q), range(8)))
        singles = list(executor.map(lambda each: cl.is_clear(fresh, scene, each), q))
        found = list(executor.map(lambda each: fresh.nearest(each, scene).distance, q))
    for each in gaps:
        assert_same_gaps(each, whole)
    assert singles == clear.tolist()
    assert found == whole.distance.tolist()


@pytest.mark.parametrize("dims", [(), (1,), (6,), (2, 3), (3, 1, 2), (0,), (2, 0)])
def test_leading_dimensions_come_back(dims):
    plan, world, q, _ = contact_case("seven")
    robot, count = plan.robot(), int(np.prod(dims))
    q = q[:count].reshape(*dims, robot.dof)
    gaps, pairs = cl.clearances(robot, as_list(world), q), robot.distances(q, as_list(world))
    clear = cl.is_clear(robot, as_list(world), q)
    assert np.shape(gaps.distance) == np.shape(gaps.pair_index) == np.shape(clear) == dims
    assert np.shape(gaps.point_a) == np.shape(gaps.normal) == (*dims, 3)
    assert pairs.distance.shape == (*dims, len(pairs.pairs))
    assert pairs.point_b.shape == (*dims, len(pairs.pairs), 3)
    assert np.array_equal(gaps.distance, np.min(pairs.distance, axis=-1, initial=np.inf))
    assert np.array_equal(clear, gaps.distance > 0)


def test_one_configuration_gives_plain_answers():
    plan, world, q, _ = contact_case("planar arm")
    robot = plan.robot()
    assert isinstance(cl.is_clear(robot, as_list(world), q[0]), bool)
    gap = cl.clearances(robot, as_list(world), q[0])
    assert isinstance(gap.pair, tuple)
    assert len(gap.pair) == 2
    assert float(gap.distance) == robot.nearest(q[0], as_list(world)).distance
    named = {joint.name: value[0] for joint, value in oracle.parts_of(plan, q[0])}
    assert cl.clearances(robot, as_list(world), named).distance == gap.distance
    assert cl.is_clear(robot, as_list(world), named) == cl.is_clear(robot, as_list(world), q[0])
    assert robot.nearest(named, as_list(world)).distance == gap.distance


def test_clearances_can_be_narrowed_and_pickled():
    plan, world, q, _ = contact_case("seven")
    gaps = cl.clearances(plan.robot(), as_list(world), q)
    assert gaps[3].pair == gaps.pair[3]
    assert np.array_equal(gaps[2:5].distance, gaps.distance[2:5])
    assert len(gaps) == len(q)
    again = pickle.loads(pickle.dumps(gaps))
    assert_same_gaps(again, gaps)
    assert again.pairs == gaps.pairs


@pytest.mark.parametrize("chunk", [1, 7, 1000, None])
def test_executor_and_chunks_change_no_bit(chunk):
    plan, world, q, _ = contact_case("seven")
    robot, whole = plan.robot(), cl.clearances(plan.robot(), as_scene(world), q)
    with ThreadPoolExecutor(2) as executor:
        found = cl.clearances(robot, as_scene(world), q, executor=executor, chunk=chunk)
    assert_same_gaps(found, whole)
    assert np.array_equal(found.pair_index, whole.pair_index)
    assert found.pairs == whole.pairs
    assert_same_gaps(cl.clearances(robot, as_scene(world), q, chunk=chunk), whole)


def test_progress_goes_from_nothing_to_all():
    plan, world, q, _ = contact_case("seven")
    seen = []
    found = cl.clearances(plan.robot(), as_list(world), q, progress=seen.append, chunk=4)
    assert seen == sorted(seen)
    assert len(seen) >= 7
    assert seen[-1] == 1.0
    assert_same_gaps(found, cl.clearances(plan.robot(), as_list(world), q))


# Farther than asked for ----------------------------------------------------------------------------------------------


@pytest.mark.parametrize("name", ["seven", "mixed", "rover"])
@pytest.mark.parametrize("at_most", [-0.01, 0.0, 1e-4, 0.02, 0.3])
def test_what_is_farther_than_asked_for_only_says_so(name, at_most):
    plan, world, q, _ = contact_case(name)
    robot, world = plan.robot(), as_mapping(world)
    for ask in (lambda **k: cl.clearances(robot, world, q, **k), lambda **k: robot.distances(q, world, **k)):
        whole, cut = ask(), ask(at_most=at_most)
        far = np.isinf(cut.distance)
        assert np.all(far[whole.lower > at_most + 1e-8])
        assert not np.any(far[whole.upper <= at_most - 1e-6 * (at_most < 0)])
        assert np.all(cut.upper[far] == np.inf)
        assert np.all(cut.lower[far] > at_most)
        assert np.all(cut.lower[far] <= whole.upper[far] + (1e-9 if at_most >= 0 else 1e-6))
        assert all(np.isnan(column[far]).all() for column in (cut.point_a, cut.point_b, cut.normal))
        assert np.allclose(cut.distance[~far], whole.distance[~far], rtol=0, atol=1e-6)
    found = [robot.nearest(each, world, at_most=at_most).distance for each in q]
    assert np.array_equal(found, cl.clearances(robot, world, q, at_most=at_most).distance)


@pytest.mark.parametrize("more", [0, 1, 7, 20])
def test_depth_is_the_deepest_of_all(more):
    # The root stands a little in one ball, the link a little more in another, and it meets others as well.
    robot = robots.Plan(
        "rail",
        {"root": (cl.Sphere(0.1),), "body": (cl.Sphere(0.1).at([0.0, 0.0, 2.0]),)},
        (robots.JointPlan("slide", "prismatic", "root", "body", axis=(1.0, 0.0, 0.0)),),
    ).robot()
    world = {"shallow": cl.Sphere(0.1).at([0.0, 0.19, 0.0]), "deep": cl.Sphere(0.1).at([0.13, 0.0, 2.0])}
    world |= {f"touched {k}": cl.Sphere(0.1).at([0.0, 0.199, 2.0]) for k in range(more)}
    for at_most in (np.inf, 0.5, 0.0, -0.005, -0.05):
        gap, gaps = robot.nearest([0.0], world, at_most=at_most), robot.distances([0.0], world, at_most=at_most)
        assert gap.distance == pytest.approx(-0.07, abs=1e-9)
        assert gap.lower <= -0.07 + 1e-9
        assert set(gap.pair) == {"body", "deep"}
        assert np.min(gaps.distance) == pytest.approx(-0.07, abs=1e-9)
        alone = robot.distances([0.0], world).distance
        assert np.array_equal(np.isfinite(gaps.distance), alone <= at_most)


# Nothing depends on the observer -------------------------------------------------------------------------------------


@every_moving_robot
def test_order_of_links_does_not_matter(name):
    plan, world, q, truth = contact_case(name)
    other = plan.reordered(np.random.default_rng(5))
    robot, twin = plan.robot(), other.robot()
    for each, distance in zip(q[:10], truth[:10], strict=True):
        named = {j.name: value if len(value) > 1 else value[0] for j, value in oracle.parts_of(plan, each)}
        swapped = dict(reversed(as_mapping(world).items()))
        assert abs(twin.nearest(named, swapped).distance - distance) <= allowed(distance)
        assert abs(robot.nearest(named, swapped).distance - distance) <= allowed(distance)


@every_moving_robot
def test_robot_and_world_may_be_carried_away(name):
    plan, world, q, truth = contact_case(name)
    motion = rigid_motions(np.random.default_rng(6), 1)[0]
    motion[:3, 3] *= 10.0
    there = robots.moved_world(world, motion)
    found = cl.clearances(plan.moved(motion).robot(), as_mapping(there), q)
    assert np.all(np.abs(found.distance - truth) <= allowed(truth) + 1e-12)
    here = cl.clearances(plan.robot(), as_mapping(world), q)
    assert np.mean(same_pairs(found, here)) >= 0.8  # ties may be broken either way


@every_moving_robot
@pytest.mark.parametrize("factor", [1e-3, 1e3])
def test_large_and_small_robots_behave_alike(name, factor):
    plan, world, q, truth = contact_case(name)
    large, there = plan.scaled(factor), robots.scaled_world(world, factor)
    found = cl.clearances(large.robot(), as_mapping(there), plan.scaled_q(q, factor))
    assert np.all(np.abs(found.distance / factor - truth) <= allowed(truth))
    sure = np.abs(truth) > 1e-6
    assert np.array_equal(
        cl.is_clear(large.robot(), as_mapping(there), plan.scaled_q(q, factor), 1e-3 * factor)[sure],
        cl.is_clear(plan.robot(), as_mapping(world), q, 1e-3)[sure],
    )


@settings(max_examples=15)
@given(seeds(), st.sampled_from(["seven", "rover", "boxes", "gripper"]))
def test_another_obstacle_never_raises_the_clearance(seed, name):
    plan, world, q, _ = contact_case(name)
    robot, more = plan.robot(), robots.obstacles(np.random.default_rng(seed), plan, 3)
    world = {**as_mapping(world), **{f"more {k}": body for k, body in enumerate(as_list(more))}}
    before = np.full(len(q), np.inf)
    for count in range(len(world) + 1):
        after = cl.clearances(robot, dict(list(world.items())[:count]), q).distance
        assert np.all(after <= before + allowed(before))
        before = after


@pytest.mark.parametrize("name", ["seven", "spheres", "planar arm"])
def test_thicker_links_are_nearer_by_as_much(name):
    plan = PLANS[name]()
    world = robots.obstacles(np.random.default_rng(7), plan, kinds=("Sphere", "Box", "Capsule"))
    q = random_q(np.random.default_rng(8), plan, 50)

    def padded(shape, by):
        if isinstance(shape, cl.Placed):
            return padded(shape.shape, by).at(shape.pose)
        if isinstance(shape, cl.Sphere):
            return cl.Sphere(shape.radius + by)
        return cl.Capsule(shape.radius + by, shape.length) if isinstance(shape, cl.Capsule) else shape

    thick = robots.replace(plan, links={n: tuple(padded(s, 0.01) for s in shapes) for n, shapes in plan.links.items()})
    thin, now = (each.robot().distances(q, as_mapping(world)) for each in (plan, thick))
    assert thin.pairs == now.pairs
    for k, (a, b) in enumerate(now.pairs):
        padding = 0.01 * sum("thing" not in name and name not in ("post", "base") for name in (a, b))
        apart = now.distance[:, k] > 0
        assert np.allclose((thin.distance - now.distance)[apart, k], padding, rtol=0, atol=1e-8)
    least = (np.min(gaps.distance, axis=-1) for gaps in (thin, now))
    lost = np.subtract(*least)
    assert np.all((lost >= -1e-9) & (lost <= 0.02 + 1e-6))


# Bad input -----------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("bad", [3, "wall", object, [None], ["x"], [3.0], {"a": 3}, {3: cl.Sphere(1.0)}], ids=repr)
def test_what_is_no_world_is_refused(bad):
    robot = robots.planar_arm().robot()
    for ask in (
        lambda: cl.is_clear(robot, bad, np.zeros(3)),
        lambda: cl.clearances(robot, bad, np.zeros(3)),
        lambda: robot.nearest(np.zeros(3), bad),
        lambda: robot.distances(np.zeros(3), bad),
    ):
        with pytest.raises((TypeError, ValueError)):
            ask()


def test_batch_of_poses_is_no_world():
    robot = robots.planar_arm().robot()
    with pytest.raises((TypeError, ValueError)):
        cl.is_clear(robot, [cl.Sphere(0.1).at(np.tile(np.eye(4), (2, 1, 1)))], np.zeros(3))


def test_bodies_with_the_name_of_a_link_are_refused():
    robot = robots.planar_arm().robot()
    scene = cl.Scene()
    scene.add("arm 1", cl.Sphere(0.1), [3.0, 0.0, 0.0])
    for world in (scene, {"arm 1": cl.Sphere(0.1).at([3.0, 0.0, 0.0])}):
        for ask in (cl.is_clear, cl.clearances):
            with pytest.raises(ValueError, match="arm 1"):
                ask(robot, world, np.zeros(3))


@pytest.mark.parametrize("bad", [None, "robot", cl.Sphere(1.0), 3])
def test_what_is_no_robot_is_refused(bad):
    for ask in (cl.is_clear, cl.clearances):
        with pytest.raises((TypeError, ValueError, AttributeError)):
            ask(bad, None, np.zeros(3))


@pytest.mark.parametrize("bad", [np.nan, "x", None, [0.1, 0.2]])
def test_what_is_no_margin_is_refused(bad):
    with pytest.raises((TypeError, ValueError), match="margin"):
        cl.is_clear(robots.planar_arm().robot(), None, np.zeros(3), margin=bad)


@pytest.mark.parametrize("bad", [0, -1, 2.5, "2", np.nan])
def test_what_is_no_number_of_threads_is_refused(bad):
    robot = robots.planar_arm().robot()
    for ask in (cl.is_clear, cl.clearances):
        with pytest.raises((TypeError, ValueError), match="threads"):
            ask(robot, None, np.zeros((2, 3)), threads=bad)


@pytest.mark.parametrize("bad", [np.nan, "x", None])
def test_what_is_no_distance_cannot_be_asked_for(bad):
    robot = robots.planar_arm().robot()
    with pytest.raises((TypeError, ValueError)):
        cl.clearances(robot, None, np.zeros(3), at_most=bad)
    with pytest.raises((TypeError, ValueError)):
        robot.nearest(np.zeros(3), at_most=bad)
