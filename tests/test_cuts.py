"""Space cut into boxes for ranks: every block belongs to one of them, and all have about as many particles."""

import threading
import tracemalloc

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from clearance.simulation.cuts import Cuts, grid_of_ranks

EVERYWHERE = np.array([-(1 << 29)] * 3 + [(1 << 29) + 1] * 3)

counts_of_ranks = st.integers(1, 24)


@st.composite
def crowds(draw, least=0):
    """Draw the blocks of particles: thin or thick, scattered or in heaps, near the origin or far from it."""
    rng = np.random.default_rng(draw(st.integers(0, 2**32 - 1)))
    count = draw(st.integers(least, 400))
    extent = rng.integers(1, draw(st.sampled_from([2, 5, 40])), 3, endpoint=True)
    blocks = rng.integers(0, extent, (count, 3))
    if draw(st.booleans()):
        blocks[rng.random(count) < 0.7] = rng.integers(0, extent)
    return blocks + draw(st.sampled_from([0, -3, 10**6, -(10**6)]))


def balanced(blocks, ranks, everywhere=EVERYWHERE):
    return Cuts.balanced(blocks, everywhere, ranks, lambda mine: [mine])


def contains(box, blocks):
    return ((box[:3] <= blocks) & (blocks < box[3:])).all(axis=1)


def surroundings(blocks):
    """Return blocks with and without particles: around some of them, at the ends of the world, and between."""
    rng = np.random.default_rng(0)
    near = rng.integers(-3, 4, (200, 3)) + (blocks[rng.integers(len(blocks), size=200)] if len(blocks) else 0)
    ends = np.stack(np.meshgrid(*[[-(1 << 29), 0, 1 << 29]] * 3), axis=-1).reshape(-1, 3)
    return np.concatenate([blocks, near, ends, rng.integers(-(1 << 29), 1 << 29, (50, 3))])


@given(crowds(), counts_of_ranks)
def test_every_block_is_in_one_box_that_of_its_owner(blocks, ranks):
    cuts = balanced(blocks, ranks)
    places = surroundings(blocks)
    inside = np.stack([contains(box, places) for box in cuts.boxes])
    assert len(cuts.boxes) == ranks
    np.testing.assert_array_equal(inside.sum(axis=0), 1)
    np.testing.assert_array_equal(inside.argmax(axis=0), cuts.owners(places))


@given(crowds(), counts_of_ranks)
def test_boxes_fill_everywhere(blocks, ranks):
    boxes = [[int(n) for n in box] for box in balanced(blocks, ranks).boxes]
    volume = sum((x1 - x0) * (y1 - y0) * (z1 - z0) for x0, y0, z0, x1, y1, z1 in boxes)
    assert all(low <= high for box in boxes for low, high in zip(box[:3], box[3:], strict=True))
    assert volume == ((1 << 30) + 1) ** 3


@given(crowds(least=1), counts_of_ranks)
def test_boxes_fill_a_periodic_room(blocks, ranks):
    blocks = blocks - blocks.min(axis=0)
    counts = blocks.max(axis=0) + 1
    cuts = balanced(blocks, ranks, np.concatenate([np.zeros(3, dtype=np.int64), counts]))
    everything = np.argwhere(np.ones(counts, dtype=bool))
    inside = np.stack([contains(box, everything) for box in cuts.boxes])
    np.testing.assert_array_equal(inside.sum(axis=0), 1)
    np.testing.assert_array_equal(inside.argmax(axis=0), cuts.owners(everything))


def largest_layer(blocks, axis):
    return np.unique(blocks[:, axis], return_counts=True)[1].max(initial=0)


@given(crowds(), counts_of_ranks)
def test_shares_differ_by_no_more_than_a_layer(blocks, ranks):
    cuts = balanced(blocks, ranks)
    nx, ny, nz = len(cuts.x) + 1, *(n + extra for n, extra in zip(cuts.z.shape[1:], (0, 1), strict=True))
    owners = cuts.owners(blocks)
    groups = [(blocks, owners // (ny * nz), nx, 0)]
    for i in range(nx):
        slab = owners // (ny * nz) == i
        groups.append((blocks[slab], owners[slab] // nz % ny, ny, 1))
        for j in range(ny):
            bar = slab & (owners // nz % ny == j)
            groups.append((blocks[bar], owners[bar] % nz, nz, 2))
    for those, parts, count, axis in groups:
        shares = np.bincount(parts, minlength=count)
        assert np.abs(shares - len(those) / count).max() <= largest_layer(those, axis)


@given(crowds(), counts_of_ranks, st.integers(1, 5), st.integers(0, 1000))
def test_ranks_that_know_a_part_cut_as_one_that_knows_all(blocks, ranks, partners, seed):
    parts = np.random.default_rng(seed).integers(partners, size=len(blocks))
    wanted = balanced(blocks, ranks)
    for found in together([blocks[parts == k] for k in range(partners)], ranks):
        for name in ("x", "y", "z"):
            np.testing.assert_array_equal(getattr(found, name), getattr(wanted, name))


def together(parts, ranks):
    """Return the cuts of threads that tell each other what they know as ranks do."""
    barrier, told, cuts = threading.Barrier(len(parts), timeout=60), [None] * len(parts), [None] * len(parts)

    def cut(rank):
        def gathered(mine):
            told[rank] = mine
            barrier.wait()
            result = list(told)
            barrier.wait()
            return result

        cuts[rank] = Cuts.balanced(parts[rank], EVERYWHERE, ranks, gathered)

    threads = [threading.Thread(target=cut, args=(rank,)) for rank in range(len(parts))]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    return cuts


@given(counts_of_ranks)
def test_without_particles_somebody_still_owns_every_block(ranks):
    cuts = balanced(np.empty((0, 3), dtype=np.int64), ranks)
    assert sum(contains(box, np.zeros((1, 3)))[0] for box in cuts.boxes) == 1


@given(st.integers(1, 200), st.tuples(*[st.floats(1.0, 1e9)] * 3))
def test_ranks_are_split_into_three_factors_with_the_least_surface(count, extent):
    sides = np.array(extent)
    found = grid_of_ranks(count, sides)
    assert np.prod(found) == count
    surfaces = [
        surface(sides / (x, y, count // (x * y)))
        for x in range(1, count + 1)
        for y in range(1, count // x + 1)
        if count % (x * y) == 0
    ]
    assert surface(sides / found) == pytest.approx(min(surfaces))


def surface(sides):
    x, y, z = sides
    return x * y + y * z + z * x


def test_memory_does_not_grow_with_the_distance_of_particles():
    tracemalloc.start()
    balanced(np.array([[0, 0, 0], [10**5, 10**5, 10**5]]), 4)
    most = tracemalloc.get_traced_memory()[1]
    tracemalloc.stop()
    assert most < 100_000  # bytes


def test_one_that_got_away_leaves_the_others_shared_out():
    blocks = np.zeros((1001, 3), dtype=np.int64)
    blocks[:1000, 0] = np.arange(1000) // 10
    blocks[-1] = [0, 0, 5000]
    shares = np.bincount(balanced(blocks, 4).owners(blocks), minlength=4)
    assert shares.max() < 1.5 * shares.mean()
