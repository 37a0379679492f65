"""Scenes among threads: any number gives the same bits, several may share a scene, copies live their own lives."""

import copy
import pickle
import threading

import numpy as np
import pytest

from clearance import Sphere
from watched_scenes import assert_same_table, columns_of, line_of_spheres, random_pose, random_scene, rebuilt


def test_number_of_threads_changes_no_bit():
    rng = np.random.default_rng(4)
    scene, shapes, _ = random_scene(rng, 40, parts=6)
    for step in range(3):
        scene.move({name: random_pose(rng) for name in shapes})
        alone = rebuilt(scene).distances(threads=1)
        for threads in (2, 8, None):
            table = rebuilt(scene).distances(threads=threads)
            assert_same_table(table, alone)
            assert table.work == alone.work
        assert_same_table(scene.distances(threads=[2, 8, None][step]), alone)


def test_python_threads_with_scenes_of_their_own_do_not_disturb_each_other():
    scenes = [random_scene(np.random.default_rng(k), 15)[0] for k in range(6)]
    motions = np.random.default_rng(5).normal(size=(6, 10, 3))
    expected = [one_after_the_other(copy.deepcopy(scene), motions[k]) for k, scene in enumerate(scenes)]
    found = [None] * 6

    def work(k):
        found[k] = one_after_the_other(scenes[k], motions[k])

    run_together([lambda k=k: work(k) for k in range(6)])
    assert all(np.array_equal(x, y) for x, y in zip(found, expected, strict=True))


def one_after_the_other(scene, shifts):
    distances = []
    for shift in shifts:
        scene.move("body 3", shift)
        distances.append(np.array(scene.distances().distance))
    return distances


def run_together(tasks):
    errors = []

    def guarded(task):
        try:
            task()
        except Exception as error:
            errors.append(error)

    workers = [threading.Thread(target=guarded, args=(task,)) for task in tasks]
    for worker in workers:
        worker.start()
    for worker in workers:
        worker.join()
    assert errors == []


def test_python_threads_may_share_a_scene():
    scene, _, motions = random_scene(np.random.default_rng(6), 12)
    right = {"still": columns_of(scene.distances())["distance"]}
    scene.move("body 3", [9.0, 0, 0])
    right["moved"] = columns_of(scene.distances())["distance"]
    scene.move("body 3", motions["body 3"])
    others = [k for k, pair in enumerate(scene.pairs) if "body 3" not in pair]

    def measure():
        for _ in range(200):
            found = scene.distances().distance
            assert any(np.array_equal(found, expected) for expected in right.values())
            assert np.array_equal(found[others], right["still"][others])

    def wander():
        for _ in range(100):
            scene.move("body 3", [9.0, 0, 0])
            scene.move("body 3", motions["body 3"])

    run_together([measure, measure, measure, wander, wander])
    assert np.array_equal(scene.distances().distance, right["still"])


def test_python_threads_may_add_and_remove_bodies():
    scene = line_of_spheres("abcd")

    def come_and_go(name):
        for _ in range(100):
            scene.add(name, Sphere(1.0), [0.0, 9, 0])
            scene.watch("a", name)
            scene.remove(name)

    def measure():
        for _ in range(200):
            assert scene.distances().distance[:6].tolist() == [1, 4, 7, 1, 4, 1]
            assert scene.names[:4] == ["a", "b", "c", "d"]

    run_together([lambda: come_and_go("x"), lambda: come_and_go("y"), measure, measure])
    assert scene.names == ["a", "b", "c", "d"]
    assert len(scene.distances()) == 6


@pytest.mark.parametrize("copied", [copy.copy, copy.deepcopy, lambda scene: pickle.loads(pickle.dumps(scene))])
def test_copies_give_the_same_answers_and_live_their_own_lives(copied):
    rng = np.random.default_rng(7)
    scene, *_ = random_scene(rng, 20)
    scene.ignore("body 3", "body 5")
    scene.rename("body 7", "seven")
    table = scene.distances()
    twin = copied(scene)
    assert (twin.names, twin.pairs) == (scene.names, scene.pairs)
    assert_same_table(twin.distances(), table)
    twin.move("seven", [50.0, 0, 0])
    twin.remove("body 1")
    assert_same_table(scene.distances(), table)
    assert scene.distances().work.pairs == 0


def test_copies_keep_what_is_ignored():
    scene = line_of_spheres("abc")
    scene.ignore("a", "b")
    twin = pickle.loads(pickle.dumps(scene))
    twin.watch_all()
    assert twin.pairs == scene.pairs
