"""The least distance between two groups of bodies: which they are, hints, limits, and batches of poses."""

import pickle
from itertools import product

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import clearance as cl
import mesh_oracle as oracle
import meshes
from mesh_cells import assert_nearest, brute_force, least, mesh_cell, mixed_cell, pairs_of, random_pose
from mesh_pairs import made
from meshes import sample
from strategies import rigid_motions, seeds

EPS = np.finfo(float).eps
VOLUMES = ("obb", "rss")
FLOATS = ("distance", "lower", "upper", "point_a", "point_b", "normal")
COLUMNS = (*FLOATS, "feature_a", "feature_b")
every_volume = pytest.mark.parametrize("volume", VOLUMES)


# Right answers -------------------------------------------------------------------------------------------------------


@every_volume
@settings(max_examples=15)
@given(seeds())
def test_groups_of_meshes_are_as_near_as_their_nearest_triangles(volume, seed):
    scene, arm, world = mesh_cell(np.random.default_rng(seed), volume)
    assert_nearest(scene.nearest(arm, world), scene, arm, world, brute_force(scene, arm, world))


@every_volume
@settings(max_examples=15)
@given(seeds())
def test_groups_of_anything_are_as_near_as_their_nearest_pair(volume, seed):
    scene, group_a, group_b = mixed_cell(np.random.default_rng(seed), volume)
    truth = least(scene, group_a, group_b)
    assert_nearest(scene.nearest(group_a, group_b), scene, group_a, group_b, truth, 1e-6 if truth < 0 else 1e-8)
    for search in (cl.Search(), cl.Search(order="depth"), cl.Search(front="implicit")):
        found = scene.nearest(group_a, group_b, search=search)
        assert_nearest(found, scene, group_a, group_b, truth, 1e-6 if truth < 0 else 1e-8)


def test_about_half_of_the_cells_collide():
    hits = []
    for seed in range(40):
        rng = np.random.default_rng(seed)
        scene, arm, world = mesh_cell(rng, VOLUMES[seed % 2])
        for name in world:
            pose = scene.pose(name)
            pose[:3, 3] *= rng.uniform(0.4, 1.2)
            scene.move(name, pose)
        found, truth = scene.nearest(arm, world), brute_force(scene, arm, world)
        assert abs(found.distance - truth) <= 1e-11
        hits.append(truth == 0)
    assert 0.3 <= np.mean(hits) <= 0.7


@every_volume
def test_group_of_one_is_a_pair(volume):
    scene, arm, world = mesh_cell(np.random.default_rng(1), volume)
    for a, b in product(arm, world):
        gap = cl.distance(scene.shape(a).at(scene.pose(a)), scene.shape(b).at(scene.pose(b)))
        for group_a, group_b in ((a, b), ([a], b), (a, [b]), ([a], [b]), ((a,), (b,))):
            found = scene.nearest(group_a, group_b)
            assert abs(found.distance - gap.distance) <= 1e-12
            assert (found.body_a, found.body_b) == (a, b)


@every_volume
@settings(max_examples=10)
@given(seeds())
def test_order_of_groups_and_of_names_does_not_matter(volume, seed):
    rng = np.random.default_rng(seed)
    scene, arm, world = mesh_cell(rng, volume)
    truth = scene.nearest(arm, world).distance
    assert_nearest(scene.nearest(world, arm), scene, world, arm, truth)
    other = scene.nearest(list(rng.permutation(arm)), list(rng.permutation(world)))
    assert abs(other.distance - truth) <= 1e-12


@every_volume
@settings(max_examples=10)
@given(seeds(), st.integers(1, 4))
def test_the_way_a_mesh_is_split_into_bodies_does_not_matter(volume, seed, count):
    rng = np.random.default_rng(seed)
    soup, other, pose = sample("torus", seed % 5), sample("sheet", seed % 5), random_pose(rng, 1.5)
    scene, names = cl.Scene(), []
    for k, piece in enumerate(meshes.split(rng, soup, count)):
        names.append(f"piece {k}")
        scene.add(names[-1], made(piece, volume), pose)
    scene.add("whole", made(soup, volume), pose)
    scene.add("compound", [made(piece, volume) for piece in meshes.split(rng, soup, count)], pose)
    scene.add("other", made(other, volume))
    truth = oracle.least_distance(oracle.in_the_world(soup.triangles, pose), other.triangles)
    for group in (names, "whole", "compound", ["compound", *names, "whole"]):
        assert abs(scene.nearest(group, "other").distance - truth) <= 1e-12


def test_bodies_that_are_not_named_do_not_matter():
    scene, arm, world = mesh_cell(np.random.default_rng(2), "obb")
    before = scene.nearest(arm[:2], world).distance
    scene.move(arm[2], scene.pose(world[0]))
    assert scene.nearest(arm[:2], world).distance == before
    assert scene.nearest(arm, world).distance == 0


def test_watched_and_ignored_pairs_do_not_matter():
    scene, arm, world = mesh_cell(np.random.default_rng(3), "obb")
    before = scene.nearest(arm, world)
    scene.watch_all()
    scene.distances()
    assert scene.nearest(arm, world).distance == before.distance


def test_scene_of_meshes_measures_watched_pairs():
    scene, group_a, group_b = mixed_cell(np.random.default_rng(4))
    for a, b in product(group_a, group_b):
        scene.watch(a, b)
    for step in range(3):
        table = scene.distances()
        alone = pairs_of(scene, group_a, group_b)
        for name_a, name_b, found in zip(table.name_a, table.name_b, table.distance, strict=True):
            assert abs(found - alone[name_a, name_b].distance) <= 1e-6
        scene.move(group_a[step], random_pose(np.random.default_rng(step)))


# Memory of the scene, hints, limits ----------------------------------------------------------------------------------


@every_volume
def test_scene_that_moved_away_and_back_gives_the_same_answer(volume):
    rng = np.random.default_rng(15)
    scene, arm, world = mesh_cell(rng, volume)
    home = {name: scene.pose(name) for name in arm}
    first = scene.nearest(arm, world).distance
    for _ in range(5):
        scene.move({name: random_pose(rng, 20.0) for name in arm})
        assert abs(scene.nearest(arm, world).distance - brute_force(scene, arm, world)) <= 1e-11
        scene.move(home)
        assert abs(scene.nearest(arm, world).distance - first) <= 1e-12


def test_remembered_witness_saves_work_and_a_new_search_remembers_none():
    scene, arm, world = mesh_cell(np.random.default_rng(16), "rss")
    fresh = scene.nearest(arm, world, search=cl.Search()).work
    scene.nearest(arm, world)
    assert scene.nearest(arm, world).work.volume_tests <= fresh.volume_tests
    assert scene.nearest(arm, world, search=cl.Search()).work == fresh


@every_volume
@pytest.mark.parametrize("search", [None, ("best", None), ("depth", None), ("best", "implicit"), ("depth", "explicit")])
def test_hint_right_or_wrong_does_not_change_the_answer(search, volume):
    rng = np.random.default_rng(17)
    scene, arm, world = mesh_cell(rng, volume)
    other, links, walls = mesh_cell(rng, volume, ("gear",) * 4, ("torus",) * 5)
    hints = [
        None,
        scene.nearest(arm, world),
        scene.nearest(world, arm),
        other.nearest(links, walls),
        scene.nearest(arm, world, at_most=1e-9),
    ]
    for hint in hints:
        scene.move(arm[1], random_pose(rng))
        settings_of_search = None if search is None else cl.Search(order=search[0], front=search[1])
        found = scene.nearest(arm, world, hint=hint, search=settings_of_search)
        assert_nearest(found, scene, arm, world, brute_force(scene, arm, world))


@every_volume
@settings(max_examples=10)
@given(seeds(), st.sampled_from([0.0, 0.05, 0.3, 1.0, np.inf]))
def test_groups_farther_than_asked_for_only_say_so(volume, seed, at_most):
    scene, arm, world = mesh_cell(np.random.default_rng(seed), volume)
    truth = brute_force(scene, arm, world)
    for search in (None, cl.Search(order="depth"), cl.Search(front="explicit")):
        found = scene.nearest(arm, world, at_most=at_most, search=search)
        if truth > at_most:
            assert found.distance == found.upper == np.inf
            assert at_most < found.lower <= truth + 1e-12
            assert np.isnan([*found.point_a, *found.point_b, *found.normal]).all()
        else:
            assert_nearest(found, scene, arm, world, truth)
        # What was cut off must not spoil the next answer.
        assert_nearest(scene.nearest(arm, world, search=search), scene, arm, world, truth)


# Batches -------------------------------------------------------------------------------------------------------------


@every_volume
def test_batch_of_poses_gives_what_single_calls_give(volume):
    rng = np.random.default_rng(18)
    scene, arm, world = mesh_cell(rng, volume)
    motions = {name: rigid_motions(rng, 30) for name in arm[:2]}
    before = {name: scene.pose(name) for name in scene.names}
    batch = scene.nearest(arm, world, poses=motions)
    assert all(np.array_equal(scene.pose(name), pose) for name, pose in before.items())
    assert batch.distance.shape == batch.feature_a.shape == (30,)
    assert batch.point_a.shape == batch.normal.shape == (30, 3)
    assert len(batch.body_a) == len(batch.body_b) == 30
    for k in range(30):
        scene.move({name: poses[k] for name, poses in motions.items()})
        truth = brute_force(scene, arm, world)
        assert abs(batch.distance[k] - truth) <= 1e-11
        assert batch.lower[k] - 1e-11 <= truth <= batch.upper[k] + 1e-11
        assert batch.body_a[k] in arm
        alone = pairs_of(scene, [batch.body_a[k]], [batch.body_b[k]])
        assert abs(alone[batch.body_a[k], batch.body_b[k]].distance - truth) <= 1e-11
    oracle.assert_contract(batch, 5.0, 64 * EPS)


@every_volume
def test_number_of_threads_changes_no_bit(volume):
    rng = np.random.default_rng(19)
    scene, arm, world = mesh_cell(rng, volume)
    motions = {name: rigid_motions(rng, 200) for name in arm}
    alone = scene.nearest(arm, world, poses=motions, threads=1)
    for threads in (2, 8, None):
        again = scene.nearest(arm, world, poses=motions, threads=threads)
        for name in COLUMNS:
            assert getattr(again, name).tobytes() == getattr(alone, name).tobytes(), name
        assert (again.body_a, again.body_b, again.work) == (alone.body_a, alone.body_b, alone.work)


def test_batch_of_anything_and_of_nothing():
    rng = np.random.default_rng(20)
    scene, group_a, group_b = mixed_cell(rng)
    motions = {name: rigid_motions(rng, 10) for name in group_a}
    batch = scene.nearest(group_a, group_b, poses=motions)
    for k in range(10):
        scene.move({name: poses[k] for name, poses in motions.items()})
        assert abs(batch.distance[k] - least(scene, group_a, group_b)) <= 1e-6
    nothing = scene.nearest(group_a, group_b, poses={group_a[0]: np.zeros((0, 4, 4))})
    assert nothing.distance.shape == (0,)
    assert nothing.body_a == []


def test_batch_may_be_cut_off():
    rng = np.random.default_rng(21)
    scene, arm, world = mesh_cell(rng, "obb")
    motions = {name: rigid_motions(rng, 40) for name in arm}
    exact = scene.nearest(arm, world, poses=motions)
    at_most = float(np.median(exact.distance))
    cut = scene.nearest(arm, world, poses=motions, at_most=at_most)
    far = np.isinf(cut.distance)
    assert 0 < np.sum(far) < 40
    assert np.all(~far[exact.upper <= at_most])
    assert np.all(far[exact.lower > at_most])
    assert np.all(cut.lower[far] > at_most)
    assert np.all(np.abs(cut.distance - exact.distance)[~far] <= 1e-12)


def test_bodies_without_poses_stay_where_they_are():
    rng = np.random.default_rng(22)
    scene, arm, world = mesh_cell(rng, "obb")
    here = np.stack([scene.pose(arm[0])] * 3)
    batch = scene.nearest(arm, world, poses={arm[0]: here})
    assert np.all(np.abs(batch.distance - scene.nearest(arm, world).distance) <= 1e-12)


# What cannot be searched ---------------------------------------------------------------------------------------------


@pytest.fixture
def cell():
    return mesh_cell(np.random.default_rng(24), "obb", ("box",), ("torus",))


@pytest.mark.parametrize("bad", ["nobody", ["link 0", "nobody"]])
def test_unknown_names_are_refused_by_name(bad, cell):
    scene, arm, world = cell
    for call in (lambda: scene.nearest(bad, world), lambda: scene.nearest(arm, bad)):
        with pytest.raises(KeyError, match="nobody"):
            call()
    with pytest.raises(KeyError, match="nobody"):
        scene.nearest(arm, world, poses={"nobody": np.eye(4)[None]})


@pytest.mark.parametrize("bad", [[], None, 1, [1], {}], ids=repr)
def test_what_is_no_group_is_refused(bad, cell):
    scene, arm, world = cell
    for call in (lambda: scene.nearest(bad, world), lambda: scene.nearest(arm, bad)):
        with pytest.raises((ValueError, TypeError), match="group"):
            call()


def test_body_in_both_groups_makes_no_pair_with_itself(cell):
    scene, _, world = cell
    alone, together = scene.nearest("link 0", world), scene.nearest(["link 0"], [*world, "link 0"])
    assert (together.distance, together.body_b) == (alone.distance, alone.body_b)
    with pytest.raises(ValueError, match="no pair"):
        scene.nearest("link 0", "link 0")


def test_batches_of_different_lengths_are_refused():
    scene, arm, world = mesh_cell(np.random.default_rng(25), "obb")
    with pytest.raises(ValueError, match=r"3.*4|4.*3"):
        scene.nearest(arm, world, poses={arm[0]: np.tile(np.eye(4), (3, 1, 1)), arm[1]: np.tile(np.eye(4), (4, 1, 1))})


@pytest.mark.parametrize("bad", [np.full((2, 4, 4), np.nan), 2 * np.tile(np.eye(4), (2, 1, 1)), np.eye(3), "up"])
def test_what_is_no_batch_of_poses_is_refused(bad, cell):
    scene, arm, world = cell
    with pytest.raises((ValueError, TypeError)):
        scene.nearest(arm, world, poses={arm[0]: bad})
    assert scene.nearest(arm, world).distance >= 0


def test_other_bad_questions_are_refused_by_name(cell):
    scene, arm, world = cell
    for name, bad in (("search", "best"), ("hint", 1.0), ("at_most", np.nan), ("threads", 0), ("threads", 2.5)):
        with pytest.raises((ValueError, TypeError), match=name):
            scene.nearest(arm, world, **{name: bad})


def test_two_half_spaces_are_refused():
    scene = cl.Scene()
    scene.add("floor", cl.HalfSpace([0, 0, 1], 0.0))
    scene.add("wall", cl.HalfSpace([1, 0, 0], 0.0))
    scene.add("part", made(sample("box")))
    with pytest.raises(ValueError, match=r"[Hh]alf-?[Ss]pace"):
        scene.nearest(["part", "floor"], "wall")


# Values --------------------------------------------------------------------------------------------------------------


def test_nearest_gap_can_be_copied_and_printed(cell):
    scene, arm, world = cell
    found = scene.nearest(arm, world)
    again = pickle.loads(pickle.dumps(found))
    for name in FLOATS:
        assert np.array_equal(getattr(again, name), getattr(found, name))
    assert (again.body_a, again.body_b) == (found.body_a, found.body_b) == ("link 0", "wall 0")
    assert "link 0" in repr(found)
