"""Searches: whatever their order and their front, they find the same distance; the work they take is counted."""

import threading
from itertools import product

import numpy as np
import pytest

import clearance as cl
import meshes
from mesh_cells import assert_nearest, brute_force, least, mesh_cell, mixed_cell, random_pose
from mesh_pairs import made
from meshes import sample
from strategies import rigid_motions

VOLUMES = ("obb", "rss")
ORDERS, FRONTS, RAISINGS, RESETS = (
    ("best", "depth"),
    (None, "implicit", "explicit"),
    ("single", "recursive"),
    (True, False),
)
VARIANTS = list(product(ORDERS, FRONTS, RAISINGS, RESETS))
every_volume = pytest.mark.parametrize("volume", VOLUMES)
every_variant = pytest.mark.parametrize(
    ("order", "front", "raising", "reset"), VARIANTS, ids=["-".join(map(str, variant)) for variant in VARIANTS]
)


# Every search --------------------------------------------------------------------------------------------------------


def tour(rng, n):
    """Return a coherent path, the way back, jumps, and rests: what a front must survive."""
    along = meshes.path(rng, random_pose(rng, 0.8), n)
    jumps = rigid_motions(rng, n // 2)
    return [*along, *along[::-3], *jumps, *[jumps[-1]] * 2, *along[:: n // 4]]


@every_volume
@every_variant
def test_every_search_finds_the_same_distance_along_any_path(order, front, raising, reset, volume):
    rng = np.random.default_rng(5)
    scene, arm, world = mesh_cell(rng, volume, parts=("one triangle", "box"), obstacles=("torus", "lattice"))
    search = cl.Search(order=order, front=front, raising=raising, reset=reset)
    for step, pose in enumerate(tour(rng, 24)):
        scene.move({name: pose @ random_pose(np.random.default_rng(k)) for k, name in enumerate(arm)})
        truth = brute_force(scene, arm, world)
        found = scene.nearest(arm, world, search=search)
        assert_nearest(found, scene, arm, world, truth)
        again = scene.nearest(arm, world, search=search)
        assert abs(again.distance - truth) <= 1e-11, step


@every_volume
@every_variant
def test_every_search_may_be_used_with_other_groups_and_scenes(order, front, raising, reset, volume):
    search = cl.Search(order=order, front=front, raising=raising, reset=reset)
    cells = [mesh_cell(np.random.default_rng(k), volume, ("box", "torus"), ("lattice", "sheet")) for k in (6, 7)]
    rng = np.random.default_rng(8)
    for _ in range(12):
        scene, arm, world = cells[rng.integers(2)]
        group_a = list(rng.choice(arm, rng.integers(1, 3), replace=False))
        group_b = list(rng.choice(world, rng.integers(1, 3), replace=False))
        if rng.random() < 0.3:
            group_a, group_b = group_b, group_a
        scene.move(arm[0], random_pose(rng))
        found = scene.nearest(group_a, group_b, search=search)
        assert_nearest(found, scene, group_a, group_b, brute_force(scene, group_a, group_b))


@every_variant
def test_every_search_survives_changes_of_the_scene(order, front, raising, reset):
    rng = np.random.default_rng(9)
    search = cl.Search(order=order, front=front, raising=raising, reset=reset)
    scene, arm, world = mesh_cell(rng, "rss", ("box", "torus"), ("lattice", "sheet"))
    assert_nearest(scene.nearest(arm, world, search=search), scene, arm, world, brute_force(scene, arm, world))
    scene.remove("wall 1")
    scene.add("wall 1", made(sample("gear"), "rss"), random_pose(rng))
    assert_nearest(scene.nearest(arm, world, search=search), scene, arm, world, brute_force(scene, arm, world))
    scene.rename("link 0", "tip")
    arm = ["tip", "link 1"]
    assert_nearest(scene.nearest(arm, world, search=search), scene, arm, world, brute_force(scene, arm, world))
    search.clear()
    assert_nearest(scene.nearest(arm, world, search=search), scene, arm, world, brute_force(scene, arm, world))


@every_variant
def test_every_search_takes_groups_of_anything(order, front, raising, reset):
    rng = np.random.default_rng(10)
    scene, group_a, group_b = mixed_cell(rng)
    search = cl.Search(order=order, front=front, raising=raising, reset=reset)
    for _ in range(4):
        scene.move({name: random_pose(rng, 2.0) for name in group_a})
        truth = least(scene, group_a, group_b)
        found = scene.nearest(group_a, group_b, search=search)
        assert_nearest(found, scene, group_a, group_b, truth, 1e-6 if truth < 0 else 1e-8)


@pytest.mark.long
@every_volume
@every_variant
def test_every_search_finds_the_same_distance_a_thousand_times(order, front, raising, reset, volume):
    rng = np.random.default_rng(11)
    scene, arm, world = mesh_cell(rng, volume)
    search = cl.Search(order=order, front=front, raising=raising, reset=reset)
    for pose in tour(rng, 400):
        scene.move({name: pose @ random_pose(np.random.default_rng(k)) for k, name in enumerate(arm)})
        found = scene.nearest(arm, world, search=search)
        assert abs(found.distance - brute_force(scene, arm, world)) <= 1e-11


# Fronts --------------------------------------------------------------------------------------------------------------


def tracked(search, volume="rss", parts=("box", "one triangle"), obstacles=("box", "lattice"), n=40, step=0.02):
    """Move two small groups past each other with one search; yield the search after every step."""
    rng = np.random.default_rng(12)
    scene, arm, world = mesh_cell(rng, volume, parts, obstacles)
    for pose in meshes.path(rng, np.eye(4), n, step):
        scene.move(arm[0], pose)
        yield scene, scene.nearest(arm, world, search=search)


@pytest.mark.parametrize("front", ["implicit", "explicit"])
@pytest.mark.parametrize("raising", RAISINGS)
@pytest.mark.parametrize("reset", RESETS)
@pytest.mark.parametrize("order", ORDERS)
def test_front_holds_no_node_twice_and_none_below_another(order, front, raising, reset):
    """Nodes of a front that are no ancestors of each other are no more than there are pairs of triangles."""
    search = cl.Search(order=order, front=front, raising=raising, reset=reset)
    for scene, found in tracked(search, step=0.1):
        triangles_a, triangles_b = (
            sum(len(scene.shape(name)) for name in scene.names if name.startswith(kind)) for kind in ("link", "wall")
        )
        assert 1 <= search.front_size <= triangles_a * triangles_b
        assert search.front_bytes > 0
        assert found.work.front_size == search.front_size
        assert found.work.front_bytes == search.front_bytes


def test_search_without_front_keeps_none():
    search = cl.Search()
    for _, found in tracked(search, n=5):
        assert (search.front_size, search.front_bytes, found.work.front_size) == (0, 0, 0)


@pytest.mark.parametrize("front", ["implicit", "explicit"])
def test_cleared_search_has_forgotten_everything(front):
    fresh, used = cl.Search(front=front), cl.Search(front=front)
    scene, arm, world = mesh_cell(np.random.default_rng(13), "rss")
    first = scene.nearest(arm, world, search=fresh)
    for _ in tracked(used, n=10):
        pass
    assert used.front_size > 0
    used.clear()
    assert used.front_size == 0
    again = scene.nearest(arm, world, search=used)
    assert again.work == first.work
    assert again.distance == first.distance


@pytest.mark.parametrize("front", ["implicit", "explicit"])
@pytest.mark.parametrize("raising", RAISINGS)
@pytest.mark.parametrize("reset", RESETS)
def test_front_does_not_grow_while_bodies_rest(front, raising, reset):
    search = cl.Search(front=front, raising=raising, reset=reset)
    scene, arm, world = mesh_cell(np.random.default_rng(14), "rss")
    sizes = []
    for _ in range(30):
        scene.nearest(arm, world, search=search)
        sizes.append(search.front_size)
    assert max(sizes[3:]) <= max(sizes[:3])


@pytest.mark.parametrize("front", ["implicit", "explicit"])
def test_front_saves_volume_tests_along_a_coherent_path(front):
    parts = {"parts": ("torus", "gear"), "obstacles": ("bumpy sphere", "sheet"), "n": 30, "step": 1e-3}
    with_front = sum(found.work.volume_tests for _, found in tracked(cl.Search(front=front), **parts))
    without = sum(found.work.volume_tests for _, found in tracked(cl.Search(), **parts))
    assert with_front < without


# Work ----------------------------------------------------------------------------------------------------------------


@every_volume
@pytest.mark.parametrize("order", ORDERS)
def test_work_is_counted_and_repeats(order, volume):
    scene, arm, world = mesh_cell(np.random.default_rng(23), volume)
    first, again = (scene.nearest(arm, world, search=cl.Search(order=order)).work for _ in range(2))
    assert first == again
    for name in ("pairs", "volume_tests", "triangle_tests"):
        assert getattr(first, name) > 0, name
    if order == "best":
        assert first.queue_operations > 0


@every_volume
@pytest.mark.parametrize("order", ORDERS)
def test_one_forest_opens_fewer_volumes_than_separate_trees(order, volume):
    together = separate = 0
    for seed in range(6):
        scene, arm, world = mesh_cell(np.random.default_rng(seed), volume)
        together += scene.nearest(arm, world, search=cl.Search(order=order)).work.volume_tests
        pairs = product(arm, world)
        separate += sum(scene.nearest(a, b, search=cl.Search(order=order)).work.volume_tests for a, b in pairs)
    assert together < separate


@every_volume
def test_best_first_opens_no_more_than_depth_first(volume):
    opened = dict.fromkeys(ORDERS, 0)
    for seed in range(10):
        scene, arm, world = mesh_cell(np.random.default_rng(seed), volume)
        for order in ORDERS:
            opened[order] += scene.nearest(arm, world, search=cl.Search(order=order)).work.volume_tests
    assert opened["best"] <= opened["depth"]


# Settings and threads ------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("name", "bad"),
    [("order", "breadth"), ("order", None), ("front", "outer"), ("front", 1), ("raising", "double"), ("raising", None)],
)
def test_unknown_settings_are_refused_by_name(name, bad):
    with pytest.raises((ValueError, TypeError), match=name):
        cl.Search(**{name: bad})


def test_search_shows_its_settings():
    text = repr(cl.Search(order="depth", front="explicit", raising="recursive", reset=False))
    assert all(word in text for word in ("depth", "explicit", "recursive"))


def test_python_threads_with_searches_of_their_own_do_not_disturb_each_other():
    cells = [mesh_cell(np.random.default_rng(k), VOLUMES[k % 2]) for k in range(4)]
    wrong = []

    def ask(k):
        scene, arm, world = cells[k]
        truth, search = brute_force(scene, arm, world), cl.Search(front="implicit")
        for _ in range(50):
            if abs(scene.nearest(arm, world, search=search).distance - truth) > 1e-11:
                wrong.append(k)

    threads = [threading.Thread(target=ask, args=(k,)) for k in range(4)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert wrong == []
