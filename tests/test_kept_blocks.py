"""Memory of large arrays is used again: never while anybody holds the array, and never without end."""

import gc
import os
from concurrent.futures import ThreadPoolExecutor

import numpy as np
import pytest

import clearance as cl

ROWS = 40_000  # columns of several sizes, all large enough to be kept
A, B = cl.Sphere(0.3), cl.Capsule(0.1, 0.5)


def poses(seed):
    matrices = np.tile(np.eye(4), (ROWS, 1, 1))
    matrices[:, :3, 3] = np.random.default_rng(seed).uniform(-2, 2, (ROWS, 3))
    return matrices


def columns(gaps):
    return [gaps.distance, gaps.lower, gaps.upper, gaps.point_a, gaps.point_b, gaps.normal, gaps.feature_a]


def gaps_of(seed):
    return cl.distance(A, B.at(poses(seed)))


def test_arrays_that_are_held_stay_as_they_are():
    held = [gaps_of(seed) for seed in range(3)]
    before = [[column.copy() for column in columns(gaps)] for gaps in held]
    for seed in range(3, 9):
        gaps_of(seed)
    for gaps, copies in zip(held, before, strict=True):
        for column, copy in zip(columns(gaps), copies, strict=True):
            np.testing.assert_array_equal(column, copy)


def test_one_column_may_outlive_the_others():
    gaps = gaps_of(0)
    expected, kept = gaps.point_a.copy(), gaps.point_a[::2]
    del gaps
    gc.collect()
    for seed in range(1, 6):
        gaps_of(seed)
    np.testing.assert_array_equal(kept, expected[::2])


def test_placed_shapes_have_memory_of_their_own():
    placed = [B.at(poses(seed)) for seed in range(4)]
    del placed[1]
    B.at(poses(9))
    for seed, batch in zip((0, 2, 3), placed, strict=True):
        np.testing.assert_array_equal(batch.poses, poses(seed))


def test_threads_do_not_get_the_same_memory():
    with ThreadPoolExecutor(4) as executor:
        together = list(executor.map(gaps_of, [seed % 5 for seed in range(40)]))
    alone = [gaps_of(seed) for seed in range(5)]
    for k, gaps in enumerate(together):
        for column, expected in zip(columns(gaps), columns(alone[k % 5]), strict=True):
            np.testing.assert_array_equal(column, expected)


def resident():
    psutil = pytest.importorskip("psutil")
    return psutil.Process().memory_info().rss


@pytest.mark.skipif("asan" in os.environ.get("LD_PRELOAD", ""), reason="a sanitizer keeps freed memory")
def test_no_more_is_kept_than_a_little():
    rng = np.random.default_rng(5)
    gaps_of(0)
    before = resident()
    for count in rng.integers(20_000, 200_000, 60):  # sizes that hardly ever come again
        matrices = np.tile(np.eye(4), (count, 1, 1))
        cl.distance(A, B.at(matrices))
    assert resident() - before < 3 * 2**26  # what is kept at most, twice the input, and the heap of the system
