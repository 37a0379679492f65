"""Scenes: the distances of the watched pairs, computed again only where something moved."""

from itertools import combinations, permutations

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from clearance import Box, Capsule, Compound, HalfSpace, Scene, Sphere, distance, poses
from oracles import allowance, signed_distance, size_of_pair
from strategies import cores_in_the_world, random_shapes, seeds
from watched_scenes import COLUMNS, assert_same_table, columns_of, line_of_spheres, random_pose, random_scene, rebuilt

EPS = np.finfo(float).eps


# Right distances -----------------------------------------------------------------------------------------------------


@given(seeds(), st.integers(2, 6))
def test_distances_are_those_of_the_pairs_alone(seed, n):
    scene, shapes, motions = random_scene(np.random.default_rng(seed), n)
    table = scene.distances()
    assert len(table) == n * (n - 1) // 2
    for row, (a, b) in enumerate(zip(table.name_a, table.name_b, strict=True)):
        gap = distance(shapes[a].at(motions[a]), shapes[b].at(motions[b]))
        for name in COLUMNS:
            assert np.array_equal(getattr(table, name)[row], getattr(gap, name)), name


@given(seeds())
def test_distances_of_single_elements_are_those_of_the_pairs_alone(seed):
    rng = np.random.default_rng(seed)
    scene, shapes = Scene(), dict(zip("abcdefgh", random_shapes(rng, 8), strict=True))
    motions = {name: random_pose(rng) for name in shapes}
    for name, shape in shapes.items():
        scene.add(name, shape, motions[name])
    scene.watch_all()
    table = scene.distances()
    for row, (a, b) in enumerate(combinations(shapes, 2)):
        gap = distance(shapes[a].at(motions[a]), shapes[b].at(motions[b]))
        for name in COLUMNS:
            assert np.array_equal(getattr(table, name)[row], getattr(gap, name)), name


@settings(max_examples=10)
@given(seeds())
def test_distances_are_exact(seed):
    rng = np.random.default_rng(seed)
    scene, shapes, motions = random_scene(rng, 4)
    for name in shapes:
        motions[name] = random_pose(rng)
    scene.move(motions)
    table = scene.distances()
    for row, (a, b) in enumerate(combinations(shapes, 2)):
        pairs = [
            (*ea, *eb)
            for ea in cores_in_the_world(shapes[a], motions[a])
            for eb in cores_in_the_world(shapes[b], motions[b])
        ]
        exact = min(float(signed_distance(*pair)) for pair in pairs)
        allowed = max(1e-12 * size_of_pair(*pair) + 2 * allowance(pair[0], pair[2]) for pair in pairs)
        assert abs(table.distance[row] - exact) <= allowed
        assert table.lower[row] - allowed <= exact <= table.upper[row] + allowed


def test_witnesses_join_and_normals_have_length_one():
    scene, *_ = random_scene(np.random.default_rng(1), 12)
    table = scene.distances()
    assert np.allclose(np.linalg.norm(table.normal, axis=1), 1, rtol=0, atol=4 * EPS)
    joined = table.point_b - table.point_a - table.distance[:, None] * table.normal
    assert np.max(np.abs(joined)) <= 4 * EPS * np.max(np.abs([table.point_a, table.point_b]))


# Only what moved is computed again -----------------------------------------------------------------------------------


@given(seeds(), st.integers(2, 7))
def test_only_pairs_with_a_moved_body_are_computed_again(seed, n):
    rng = np.random.default_rng(seed)
    scene, shapes, _ = random_scene(rng, n)
    assert scene.distances().work.pairs == len(scene.pairs)
    for _ in range(5):
        moved = [name for name in shapes if rng.random() < 0.4]
        for name in moved:
            scene.move(name, random_pose(rng))
        table = scene.distances()
        assert table.work.pairs == sum(a in moved or b in moved for a, b in scene.pairs)
        assert_same_table(table, rebuilt(scene).distances())


def test_nothing_is_computed_while_nothing_moves():
    scene, *_ = random_scene(np.random.default_rng(2), 5)
    first = scene.distances()
    again = scene.distances()
    assert (again.work.pairs, again.work.element_tests, again.work.volume_tests) == (0, 0, 0)
    assert_same_table(again, first)
    assert first.work.pairs == 10


def test_new_pairs_are_computed_and_old_ones_are_not():
    scene = line_of_spheres("abc")
    scene.distances()
    scene.add("d", Sphere(1.0), [9.0, 0, 0])
    scene.watch("a", "d")
    table = scene.distances()
    assert table.work.pairs == 1
    assert table.distance.tolist() == [1, 4, 1, 7]


def test_a_body_that_moves_back_and_forth_is_measured_where_it_is():
    scene = line_of_spheres("ab")
    scene.distances()
    scene.move("b", [10.0, 0, 0])
    scene.move("b", [3.0, 0, 0])
    assert scene.distances().distance.tolist() == [1]
    scene.move("b", [4.0, 0, 0])
    assert scene.distances().distance.tolist() == [2]


def test_a_body_moved_to_where_it_stands_has_not_moved():
    scene, _, motions = random_scene(np.random.default_rng(8), 5)
    scene.distances()
    scene.move(motions)
    scene.move("body 2", motions["body 2"])
    assert scene.distances().work.pairs == 0


def test_balls_spare_most_tests_of_elements():
    rng = np.random.default_rng(3)
    scene, *_ = random_scene(rng, 10, parts=12, spread=10.0)
    every_pair_of_elements = 45 * 12 * 12
    work = scene.distances().work
    assert work.element_tests <= every_pair_of_elements // 10
    near = rebuilt(scene).distances(at_most=2.0).work
    assert near.element_tests <= work.element_tests // 2


# Farther than asked for ----------------------------------------------------------------------------------------------


@given(seeds(), st.lists(st.sampled_from([0.0, 0.5, 1.0, 2.0, 5.0, np.inf]), min_size=2, max_size=6), st.booleans())
def test_answers_do_not_depend_on_earlier_questions(seed, questions, moving):
    rng = np.random.default_rng(seed)
    scene, *_ = random_scene(rng, 5)
    for at_most in questions:
        if moving:
            scene.move("body 1", random_pose(rng))
        table, fresh = scene.distances(at_most=at_most), rebuilt(scene).distances(at_most=at_most)
        assert_same_table(table, fresh, columns=("distance", "upper", "point_a", "point_b", "normal"))
        # What is known beyond the question may be a better bound, never a wrong one.
        exact = rebuilt(scene).distances()
        far = np.isinf(table.distance)
        assert np.all(table.lower[far] > at_most)
        assert np.all(table.lower <= exact.upper)
        assert np.array_equal(table.lower[~far], exact.lower[~far])


@given(seeds(), st.floats(-0.5, 4.0))
def test_pairs_farther_than_asked_for_only_say_so(seed, at_most):
    scene, *_ = random_scene(np.random.default_rng(seed), 6)
    exact = columns_of(rebuilt(scene).distances())
    table = scene.distances(at_most=at_most)
    far = np.isinf(table.distance)
    assert np.all(far[exact["lower"] > at_most])
    assert np.all(~far[exact["upper"] <= at_most])
    assert np.all(table.upper[far] == np.inf)
    assert all(np.isnan(x[far]).all() for x in (table.point_a, table.point_b, table.normal))
    assert np.all(table.feature_a[far] == -1)
    for name in COLUMNS:
        assert np.array_equal(getattr(table, name)[~far], exact[name][~far])


def test_a_wider_question_computes_only_what_it_needs():
    scene = line_of_spheres("abcd")
    assert scene.distances(at_most=2.0).distance.tolist() == [1, np.inf, np.inf, 1, np.inf, 1]
    wider = scene.distances(at_most=5.0)
    assert wider.distance.tolist() == [1, 4, np.inf, 1, 4, 1]
    assert wider.work.pairs == 2
    narrower = scene.distances(at_most=2.0)
    assert narrower.distance.tolist() == [1, np.inf, np.inf, 1, np.inf, 1]
    assert narrower.work.pairs == 0


# Bodies and pairs come and go ----------------------------------------------------------------------------------------


def test_pairs_stand_in_the_order_of_watching():
    scene = Scene()
    for name in "abcd":
        scene.add(name, Sphere(1.0))
    scene.watch("c", "b")
    scene.watch("a", "d")
    assert scene.pairs == [("c", "b"), ("a", "d")]
    scene.watch_all()
    assert scene.pairs == [("c", "b"), ("a", "d"), ("a", "b"), ("a", "c"), ("b", "d"), ("c", "d")]
    scene.watch_all()
    assert len(scene.pairs) == 6


def test_normal_points_from_the_first_to_the_second_as_they_were_watched():
    scene = Scene()
    scene.add("left", Sphere(1.0))
    scene.add("right", Sphere(1.0), [5.0, 0, 0])
    scene.watch("right", "left")
    assert scene.distances().normal.tolist() == [[-1, 0, 0]]


def test_watch_all_leaves_out_what_is_ignored():
    scene = line_of_spheres("abc")
    scene.ignore("c", "a")
    assert scene.pairs == [("a", "b"), ("b", "c")]
    scene.watch_all()
    assert scene.pairs == [("a", "b"), ("b", "c")]
    scene.add("d", Sphere(1.0))
    scene.watch_all()
    assert ("a", "c") not in scene.pairs
    assert len(scene.pairs) == 5


def test_watching_an_ignored_pair_ends_the_ignoring():
    scene = line_of_spheres("abc")
    scene.ignore("a", "c")
    scene.watch("c", "a")
    assert scene.pairs == [("a", "b"), ("b", "c"), ("c", "a")]
    assert scene.distances().distance.tolist() == [1, 1, 4]
    scene.watch_all()
    assert len(scene.pairs) == 3


def test_ignoring_twice_or_before_watching_is_no_error():
    scene = Scene()
    for name in "ab":
        scene.add(name, Sphere(1.0))
    scene.ignore("a", "b")
    scene.ignore("b", "a")
    scene.watch_all()
    assert scene.pairs == []


def test_removing_a_body_removes_its_pairs():
    scene = line_of_spheres("abcd")
    scene.distances()
    scene.remove("b")
    assert scene.names == ["a", "c", "d"]
    assert scene.pairs == [("a", "c"), ("a", "d"), ("c", "d")]
    table = scene.distances()
    assert table.distance.tolist() == [4, 7, 1]
    assert table.work.pairs == 0
    with pytest.raises(KeyError, match="b"):
        scene.pose("b")


def test_body_added_under_the_name_of_a_removed_one_is_a_new_body():
    scene = line_of_spheres("abc")
    scene.ignore("a", "b")
    scene.distances()
    scene.remove("b")
    scene.add("b", Sphere(0.5), [0.0, 7, 0])
    assert scene.names == ["a", "c", "b"]
    scene.watch_all()
    table = scene.distances()
    assert list(zip(table.name_a, table.name_b, strict=True)) == [("a", "c"), ("a", "b"), ("c", "b")]
    assert table.distance[1] == 5.5


def test_renaming_keeps_pairs_shapes_and_what_is_ignored():
    scene = line_of_spheres("abc")
    scene.ignore("a", "c")
    before = scene.distances().distance.tolist()
    scene.rename("a", "z")
    assert scene.names == ["z", "b", "c"]
    assert scene.pairs == [("z", "b"), ("b", "c")]
    assert scene.shape("z") == Sphere(1.0)
    table = scene.distances()
    assert (table.distance.tolist(), table.name_a, table.work.pairs) == (before, ["z", "b"], 0)
    scene.watch_all()
    assert len(scene.pairs) == 2
    scene.rename("z", "z")
    scene.add("a", Sphere(1.0))
    assert scene.names == ["z", "b", "c", "a"]


@given(seeds())
def test_any_history_leaves_a_scene_like_one_built_at_once(seed):
    rng = np.random.default_rng(seed)
    scene, names = Scene(), []
    for step in range(30):
        action = rng.integers(8)
        if action < 3 or len(names) < 3:
            names.append(f"body {step}")
            scene.add(names[-1], random_shapes(rng, int(rng.integers(1, 4))), random_pose(rng))
        elif action == 3:
            scene.remove(names.pop(rng.integers(len(names))))
        elif action == 4:
            k = rng.integers(len(names))
            scene.rename(names[k], f"renamed {step}")
            names[k] = f"renamed {step}"
        elif action == 5:
            scene.ignore(*rng.choice(names, 2, replace=False))
        elif action == 6:
            scene.move({name: random_pose(rng) for name in rng.choice(names, 2, replace=False)})
        else:
            scene.watch_all()
        if rng.random() < 0.4:
            assert_same_table(scene.distances(), rebuilt(scene).distances())
    assert scene.names == names
    assert_same_table(scene.distances(), rebuilt(scene).distances())


def test_bodies_may_be_made_of_anything_placed():
    scene = Scene()
    scene.add("shape", Sphere(0.5))
    scene.add("placed", Sphere(0.5).at([0.0, 3, 0]))
    scene.add("list", [Sphere(0.5), Capsule(0.25, 1.0).at([0.0, 0, 1])], [5.0, 0, 0])
    scene.add("tuple", (Sphere(0.5),), poses.from_translation([9.0, 0, 0]))
    scene.add("generator", (Sphere(0.5) for _ in range(2)), [0.0, 0, 9])
    scene.add("compound", Compound([Sphere(0.5)]), [0.0, 0, -9])
    assert scene.shape("shape") == Sphere(0.5)
    assert scene.shape("placed") == Compound([Sphere(0.5).at([0.0, 3, 0])])
    assert scene.shape("list") == Compound([Sphere(0.5), Capsule(0.25, 1.0).at([0.0, 0, 1])])
    assert np.array_equal(scene.pose("tuple"), poses.from_translation([9.0, 0, 0]))
    scene.watch("shape", "placed")
    assert scene.distances().distance.tolist() == [2]
    assert repr(scene) == "Scene(6 bodies, 1 watched pairs)"


def test_poses_are_copied_in_and_out():
    scene, pose = line_of_spheres("ab"), poses.from_translation([5.0, 0, 0])
    scene.move("b", pose)
    pose[0, 3] = 9.0
    scene.pose("b")[0, 3] = 7.0
    assert scene.distances().distance.tolist() == [3]
    assert scene.pose("b")[0, 3] == 5.0


def test_poses_may_be_described_in_many_ways():
    class Described:
        homogeneous = poses.from_translation([4.0, 0, 0])

    scene = line_of_spheres("ab")
    for pose in ([4, 0, 0], Described(), Described.homogeneous.tolist(), Described.homogeneous.astype(np.float32)):
        scene.move("b", [9.0, 0, 0])
        scene.move("b", pose)
        assert scene.distances().distance.tolist() == [2]
        scene.move({"b": [9.0, 0, 0]})
        scene.move({"b": pose, "a": [-1, 0, 0]})
        assert scene.distances().distance.tolist() == [3]
        scene.move("a", [0.0, 0, 0])


# Errors --------------------------------------------------------------------------------------------------------------

NOT_RIGID = [np.diag([2.0, 2, 2, 1]), np.diag([1.0, 1, -1, 1]), np.full((4, 4), np.nan), [np.inf, 0, 0], [1e31, 0, 0]]
NOT_A_POSE = [*NOT_RIGID, np.eye(3), np.zeros((2, 4, 4)), np.tile(np.eye(4), (1, 1, 1)), "here", 1.0]


@pytest.mark.parametrize("method", ["remove", "pose", "shape"])
def test_unknown_names_are_refused_by_name(method):
    with pytest.raises(KeyError, match="nobody"):
        getattr(line_of_spheres("ab"), method)("nobody")


@pytest.mark.parametrize("method", ["watch", "ignore"])
@pytest.mark.parametrize("names", [("nobody", "a"), ("a", "nobody"), ("nobody", "nobody")])
def test_pairs_with_unknown_names_are_refused_by_name(method, names):
    with pytest.raises(KeyError, match="nobody"):
        getattr(line_of_spheres("ab"), method)(*names)


def test_other_uses_of_unknown_names_are_refused_by_name():
    scene = line_of_spheres("ab")
    with pytest.raises(KeyError, match="nobody"):
        scene.rename("nobody", "c")
    with pytest.raises(KeyError, match="nobody"):
        scene.move("nobody", [1.0, 0, 0])
    with pytest.raises(KeyError, match="nobody"):
        scene.move({"a": [1.0, 0, 0], "nobody": [1.0, 0, 0]})


def test_names_and_pairs_that_are_there_already_are_refused_by_name():
    scene = line_of_spheres("ab")
    with pytest.raises(ValueError, match="'a'"):
        scene.add("a", Sphere(9.0), [9.0, 0, 0])
    with pytest.raises(ValueError, match="'b'"):
        scene.rename("a", "b")
    for pair in permutations("ab"):
        with pytest.raises(ValueError, match="'a'"):
            scene.watch(*pair)
    assert scene.shape("a") == Sphere(1.0)
    assert scene.distances().distance.tolist() == [1]


@pytest.mark.parametrize("method", ["watch", "ignore"])
def test_body_is_no_pair_with_itself(method):
    with pytest.raises(ValueError, match="'a'"):
        getattr(line_of_spheres("ab"), method)("a", "a")


@pytest.mark.parametrize("bad", NOT_A_POSE, ids=range(len(NOT_A_POSE)))
def test_what_is_no_pose_moves_nothing(bad):
    scene = line_of_spheres("abc")
    before = columns_of(scene.distances())
    for move in (
        lambda: scene.move("b", bad),
        lambda: scene.move({"a": [-9.0, 0, 0], "b": bad, "c": [9.0, 0, 0]}),
        lambda: scene.add("d", Sphere(1.0), bad),
    ):
        with pytest.raises(ValueError):  # noqa: PT011 - of whichever words
            move()
    table = scene.distances()
    assert table.work.pairs == 0
    assert all(np.array_equal(getattr(table, name), before[name]) for name in COLUMNS)
    assert scene.names == ["a", "b", "c"]


def test_mapping_with_an_unknown_name_moves_nothing():
    scene = line_of_spheres("abc")
    scene.distances()
    with pytest.raises(KeyError):
        scene.move({"a": [-9.0, 0, 0], "nobody": [0.0, 0, 0], "c": [20.0, 0, 0]})
    table = scene.distances()
    assert (table.work.pairs, table.distance.tolist()) == (0, [1, 4, 1])


def test_move_needs_a_name_with_a_pose_or_a_mapping_without():
    scene = line_of_spheres("ab")
    with pytest.raises(ValueError, match="'a'"):
        scene.move("a")
    with pytest.raises(ValueError, match="mapping"):
        scene.move({"a": [1.0, 0, 0]}, [1.0, 0, 0])
    scene.move({})
    assert scene.distances().distance.tolist() == [1]


@pytest.mark.parametrize("bad", [None, 1, "x", [], ["x"], [None], Sphere(1.0).at([np.eye(4)])], ids=repr)
def test_what_is_no_shape_is_not_added(bad):
    scene = Scene()
    with pytest.raises((TypeError, ValueError)):
        scene.add("a", bad)
    assert scene.names == []


@pytest.mark.parametrize("bad", [None, 1, ["a"], b"a"])
def test_what_is_no_name_is_refused(bad):
    scene = line_of_spheres("ab")
    for call in (
        lambda: scene.add(bad, Sphere(1.0)),
        lambda: scene.remove(bad),
        lambda: scene.rename("a", bad),
        lambda: scene.watch("a", bad),
        lambda: scene.move({bad: [0.0, 0, 0]} if bad != ["a"] else bad),
    ):
        with pytest.raises((TypeError, ValueError, AttributeError)):
            call()
    assert scene.names == ["a", "b"]


@pytest.mark.parametrize("bad", [0, -3, "2", 2.5, np.nan])
def test_what_is_no_number_of_threads_is_refused(bad):
    with pytest.raises((ValueError, TypeError), match="threads"):
        line_of_spheres("ab").distances(threads=bad)


@pytest.mark.parametrize("bad", [np.nan, None, "1"])
def test_what_is_no_distance_cannot_be_asked_for(bad):
    with pytest.raises((ValueError, TypeError)):
        line_of_spheres("ab").distances(at_most=bad)


def test_two_half_spaces_cannot_be_watched():
    scene = Scene()
    scene.add("ground", HalfSpace([0, 0, 1], 0.0))
    scene.add("wall", [HalfSpace([1, 0, 0], -3.0), Box([1, 1, 1])])
    scene.add("ball", Sphere(0.5), pose=[0, 0, 2])
    with pytest.raises(ValueError, match="half-space"):
        scene.watch("ground", "wall")
    scene.watch_all()
    assert scene.pairs == [("ground", "ball"), ("wall", "ball")]
    assert scene.distances().distance[0] == pytest.approx(1.5)
