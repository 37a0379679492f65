"""Elements as arrays: how they broadcast, where results are written, what is refused."""

import re
from dataclasses import astuple, fields, replace
from itertools import combinations, product

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from clearance.elements import ElementGaps, closest
from strategies import element_pairs, kinds, seeds, tangent_pairs
from test_elements import UNIT, assert_same_bits, gaps_of, rows_of

# Arrays in, arrays out -----------------------------------------------------------------------------------------------


def test_one_pair_gives_scalars():
    gaps = closest([[0.0, 0, 0]], [[3.0, 4, 0]], 1.0, np.float32(0.5))
    assert gaps.distance.shape == gaps.lower.shape == gaps.upper.shape == ()
    assert all(x.shape == (3,) for x in (gaps.point_a, gaps.point_b, gaps.normal, gaps.weights_a, gaps.weights_b))
    assert gaps.distance == 3.5


@given(seeds(), kinds(), kinds(), st.integers(0, 4), st.integers(0, 4))
def test_leading_dimensions_broadcast(seed, ka, kb, n, m):
    rng = np.random.default_rng(seed)
    a, b = rng.normal(size=(n, 1, ka, 3)), rng.normal(size=(m, kb, 3))
    radius_a, radius_b = rng.random((n, 1)), rng.random((2, 1, m))
    gaps = closest(a, b, radius_a, radius_b)
    assert gaps.distance.shape == (2, n, m)
    assert gaps.normal.shape == gaps.weights_b.shape == (2, n, m, 3)
    for k, i, j in np.ndindex(2, n, m):
        single = closest(a[i, 0], b[j], radius_a[i, 0], radius_b[k, 0, j])
        assert_same_bits(rows_of(single), ElementGaps(*(column[k, i, j][None] for column in astuple(gaps))))


def test_one_element_serves_a_whole_batch():
    rng = np.random.default_rng(8)
    many, one = rng.normal(size=(100, 3, 3)), rng.normal(size=(2, 3))
    repeated = closest(np.tile(one, (100, 1, 1)), many, 0.1, np.full(100, 0.2))
    assert_same_bits(closest(one, many, 0.1, 0.2), repeated)
    assert_same_bits(closest(one[None], many, [0.1], np.full(100, 0.2)), repeated)


def test_results_are_written_into_an_earlier_one():
    pairs = tangent_pairs(np.random.default_rng(10), 2, 3, 50)
    expected = gaps_of(pairs)
    room = gaps_of(pairs.swapped())
    for column in astuple(room):
        column[:] = np.nan
    assert gaps_of(pairs, out=room) is room
    assert_same_bits(room, expected)


def test_room_of_another_shape_is_refused():
    pairs = tangent_pairs(np.random.default_rng(11), 2, 3, 50)
    room = gaps_of(pairs)
    with pytest.raises(ValueError, match="out"):
        closest(pairs.a[:7], pairs.b[:7], out=room)
    with pytest.raises(ValueError, match="out"):
        gaps_of(pairs, out=replace(room, normal=np.empty((50, 2))))
    with pytest.raises(ValueError, match="out"):
        gaps_of(pairs, out=replace(room, weights_a=np.empty((7, 3))))


@pytest.mark.parametrize("field", [field.name for field in fields(ElementGaps)])
@pytest.mark.parametrize("unfit", ["frozen", "strided", "transposed", "single precision", "None"])
def test_room_that_cannot_be_written_is_refused(field, unfit):
    a, b = np.zeros((4, 5, 2, 3)), UNIT + np.zeros((4, 5, 1, 1))
    room = closest(a, b)
    shape = getattr(room, field).shape
    column = {
        "frozen": np.broadcast_to(0.0, shape),
        "strided": np.empty((*shape, 2))[..., 0],
        "transposed": np.empty(shape[::-1]).T,
        "single precision": np.empty(shape, dtype=np.float32),
        "None": None,
    }[unfit]
    with pytest.raises((ValueError, TypeError), match=r"\bout\b"):
        closest(a, b, out=replace(room, **{field: column}))


@pytest.mark.parametrize("field", ["distance", "point_a", "point_b", "normal", "weights_a"])
def test_results_may_replace_what_they_are_computed_from(field):
    pairs = element_pairs(np.random.default_rng(15), 1, 3, 1000, "near_contact")
    room = gaps_of(pairs)
    expected = gaps_of(pairs)
    column = getattr(room, field)
    column[:] = pairs.radius_a if field == "distance" else pairs.a[:, 0]
    taken = {"radius_a": column} if field == "distance" else {"a": column[:, None]}
    assert_same_bits(gaps_of(replace(pairs, **taken), out=room), expected)


def test_arguments_stay_as_they_are():
    pairs = tangent_pairs(np.random.default_rng(13), 3, 3, 50)
    copies = [x.copy() for x in (pairs.a, pairs.b, pairs.radius_a, pairs.radius_b)]
    for x in (pairs.a, pairs.b, pairs.radius_a, pairs.radius_b):
        x.setflags(write=False)
    gaps_of(pairs)
    for x, copy in zip((pairs.a, pairs.b, pairs.radius_a, pairs.radius_b), copies, strict=True):
        assert np.array_equal(x, copy)


def test_any_array_of_numbers_will_do():
    core = np.arange(18).reshape(2, 3, 3)
    expected = closest(core.astype(float), UNIT, 1.0)
    for like in (
        core,
        core.tolist(),
        core.astype(np.float32),
        np.asfortranarray(core),
        np.repeat(core, 2, axis=0)[::2],
    ):
        assert_same_bits(closest(like, UNIT.tolist(), 1), expected)


def test_nothing_in_gives_nothing_out():
    for shape in ((0, 2, 3), (3, 0, 2, 3)):
        gaps = closest(np.zeros(shape), UNIT, out=closest(np.zeros(shape), UNIT))
        assert gaps.distance.shape == shape[:-2]
        assert gaps.normal.shape == (*shape[:-2], 3)


# Bad input -----------------------------------------------------------------------------------------------------------

NOT_CORES = {
    "NaN": [[np.nan, 0, 0]],
    "NaN at the end": [[0, 0, 0], [0, 0, np.nan]],
    "infinity": [[0, -np.inf, 0]],
    "beyond 1e30": [[1e31, 0, 0]],
    "far below": [[0, 0, -1e31]],
    "no vertices": np.zeros((0, 3)),
    "four vertices": np.zeros((4, 3)),
    "two coordinates": np.zeros((2, 2)),
    "a vector": np.zeros(3),
    "a number": 5.0,
    "None": None,
    "text": "abc",
    "texts": [["a", "b", "c"]],
    "objects": [[object()] * 3],
    "ragged": [[1.0, 2, 3], [1, 2]],
    "complex": np.array([[1 + 1j, 0, 0]]),
    "a dictionary": {},
}

NOT_RADII = {
    "negative": -1.0,
    "a little negative": -1e-300,
    "negative among others": [0.0, 1.0, -2.0],
    "NaN": np.nan,
    "infinity": np.inf,
    "beyond 1e30": 1e31,
    "None": None,
    "text": "abc",
    "object": object(),
    "ragged": [[1.0, 2], [3]],
    "complex": 1j,
}


@pytest.mark.parametrize("name", ["a", "b"])
@pytest.mark.parametrize("bad", NOT_CORES.values(), ids=NOT_CORES)
def test_what_is_no_core_is_refused_by_name(name, bad):
    with pytest.raises(ValueError, match=rf"^{name} "):
        closest(**{"a": UNIT, "b": UNIT, name: bad})


@pytest.mark.parametrize("name", ["radius_a", "radius_b"])
@pytest.mark.parametrize("bad", NOT_RADII.values(), ids=NOT_RADII)
def test_what_is_no_radius_is_refused_by_name(name, bad):
    with pytest.raises(ValueError, match=rf"^{name} "):
        closest(UNIT, UNIT, **{name: bad})


@pytest.mark.parametrize("kinds_of_both", list(product((1, 2, 3), repeat=2)), ids=str)
@pytest.mark.parametrize("bad", [np.nan, np.inf, -np.inf, 1e31, -1e31])
def test_no_number_slips_through_anywhere_in_a_batch(kinds_of_both, bad):
    rng = np.random.default_rng(12)
    rows = 21  # groups of eight, four and two lanes, and a last one that is not full
    good = {name: rng.normal(size=(rows, kind, 3)) for name, kind in zip("ab", kinds_of_both, strict=True)}
    for name, cores in good.items():
        for vertex, axis in np.ndindex(cores.shape[1:]):
            spoilt = cores.copy()
            spoilt[rng.integers(rows), vertex, axis] = bad
            with pytest.raises(ValueError, match=rf"^{name} "):
                closest(**good | {name: spoilt})
        with pytest.raises(ValueError, match=rf"^radius_{name} "):
            closest(**good, **{f"radius_{name}": np.where(np.arange(rows) == rng.integers(rows), bad, 0.1)})


@pytest.mark.parametrize("bad", [-1e-12, -0.1, 1e31])
def test_message_has_digits_enough_to_replay(bad):
    with pytest.raises(ValueError, match=r"^radius_a ") as error:
        closest(UNIT, UNIT, radius_a=bad)
    assert bad in [float(word) for word in re.findall(r"-?\d+(?:\.\d+)?(?:e[-+]\d+)?", str(error.value))]


@pytest.mark.parametrize("names", list(combinations(("a", "b", "radius_a", "radius_b"), 2)), ids=" and ".join)
def test_what_does_not_broadcast_is_refused_by_name(names):
    shapes = {"a": (2, 1, 3), "b": (3, 1, 3), "radius_a": (4,), "radius_b": (5,)}
    with pytest.raises(ValueError, match="broadcast") as error:
        closest(**{"a": UNIT, "b": UNIT} | {name: np.zeros(shapes[name]) for name in names})
    assert all(re.search(rf"\b{name}\b", str(error.value)) for name in names)


@pytest.mark.parametrize("threads", [0, -1, "2", 2.5, np.nan])
def test_what_is_no_number_of_threads_is_refused(threads):
    with pytest.raises((ValueError, TypeError), match="threads"):
        closest(UNIT, UNIT, threads=threads)


def test_refused_pairs_leave_no_result_behind():
    room = closest(UNIT, UNIT)
    before = [column.copy() for column in astuple(room)]
    with pytest.raises(ValueError, match="b must be finite"):
        closest(UNIT, UNIT * np.nan, out=room)
    for column, copy in zip(astuple(room), before, strict=True):
        assert np.array_equal(column, copy)
