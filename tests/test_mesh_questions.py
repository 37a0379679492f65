"""How meshes may be asked: within a limit, with a hint, many at a time, on many threads; and the work it takes."""

import numpy as np
import pytest
from hypothesis import given, settings

import clearance as cl
import meshes
from clearance import poses
from mesh_pairs import assert_true, drawn, made, measured, touching_poses, truth_of
from meshes import placements, sample
from strategies import rigid_motions, seeds

FIELDS = ("distance", "lower", "upper", "point_a", "point_b", "normal", "feature_a", "feature_b", "part_a", "part_b")
VOLUMES = ("obb", "rss")
every_volume = pytest.mark.parametrize("volume", VOLUMES)

OTHERS = {
    "mesh": made(sample("gear")),
    "box": cl.Box([0.5, 0.6, 0.7]),
    "ellipsoid": cl.Ellipsoid([0.3, 0.4, 0.5]),
    "half-space": cl.HalfSpace([0.3, 0.2, 1.0], -0.4),
    "compound": cl.Compound([cl.Sphere(0.2), cl.Cylinder(0.1, 1.0).at([0.3, 0, 0])]),
}
against_every_other = pytest.mark.parametrize("other", OTHERS.values(), ids=OTHERS)


def assert_same_bits(found, expected, fields=FIELDS):
    for name in fields:
        x, y = (np.asarray(getattr(gap, name)) for gap in (found, expected))
        assert x.astype(y.dtype).tobytes() == y.tobytes(), name


# Questions that stop early -------------------------------------------------------------------------------------------


@against_every_other
@every_volume
def test_within_and_collides_agree_with_the_distance(other, volume):
    rng = np.random.default_rng(11)
    mesh, motions = made(sample("bumpy sphere"), volume), touching_poses(rng, sample("bumpy sphere"), 40)
    gaps = cl.distance(mesh, other.at(motions))
    assert 0.1 <= np.mean(cl.collides(mesh, other.at(motions))) <= 0.95
    for margin in (0.0, 1e-6, 0.05, float(np.median(gaps.distance)), np.inf):
        near = cl.within(mesh, other.at(motions), margin)
        assert np.all(near | (gaps.upper > margin))
        assert np.all(~near | (gaps.lower <= margin))
        assert [cl.within(mesh, other.at(pose), margin) for pose in motions[:9]] == near[:9].tolist()
        if margin == 0:
            assert np.array_equal(cl.collides(mesh, other.at(motions)), near)


@against_every_other
@every_volume
@pytest.mark.parametrize("at_most", [0.0, 1e-3, 0.1, 0.5])
def test_pairs_farther_than_asked_for_only_say_so(other, volume, at_most):
    rng = np.random.default_rng(12)
    mesh, motions = made(sample("torus"), volume), touching_poses(rng, sample("torus"), 40)
    exact, cut = cl.distance(mesh, other.at(motions)), cl.distance(mesh, other.at(motions), at_most=at_most)
    far = np.isinf(cut.distance)
    assert 0 < np.sum(far) < 40 or np.all(exact.lower > at_most) or np.all(exact.upper <= at_most)
    assert np.all(~far[exact.upper <= at_most])
    assert np.all(far[exact.lower > at_most])
    assert np.all(np.abs(cut.distance - exact.distance)[~far] <= 2e-9 * 2)
    assert np.all((cut.lower[far] > at_most) & (cut.lower[far] <= exact.upper[far]))
    assert np.all(cut.upper[far] == np.inf)
    assert all(np.isnan(x[far]).all() for x in (cut.point_a, cut.point_b, cut.normal))
    assert np.all(cut.feature_a[far] == -1)
    single = cl.distance(mesh, other.at(motions[0]), at_most=at_most)
    assert np.isinf(single.distance) == far[0]


@settings(max_examples=15)
@given(seeds(), meshes.names(), meshes.names(), meshes.volumes())
def test_margin_is_decided_on_either_side_of_a_known_gap(seed, name_a, name_b, volume):
    a, b, p = drawn(seed, name_a, name_b, "tangent", 12)
    in_a, in_b = made(a, volume), made(b, volume)
    for k in np.flatnonzero(p.gap > 1e-9):
        placed = in_a.at(p.pose_a[k]), in_b.at(p.pose_b[k])
        off = 1e-11
        assert cl.within(*placed, p.gap[k] + off) is True
        assert cl.within(*placed, p.gap[k] - off) is False
        assert np.isinf(cl.distance(*placed, at_most=p.gap[k] - off).distance)
        assert abs(cl.distance(*placed, at_most=p.gap[k] + off).distance - p.gap[k]) <= off


@every_volume
def test_questions_that_stop_early_open_less(volume):
    a, b, p = drawn(13, "bumpy sphere", "torus", "around", 30)
    far = meshes.Placements(p.pose_a, p.pose_b.copy(), p.gap, p.normal)
    far.pose_b[:, 0, 3] += 5
    whole, cut = measured(a, b, far, (volume, volume)), measured(a, b, far, (volume, volume), at_most=0.5)
    assert cut.work.volume_tests < whole.work.volume_tests
    assert (cut.work.pairs, cut.work.triangle_tests) == (30, 0)


# Hints ---------------------------------------------------------------------------------------------------------------


def misleading_hints(a, b, placed):
    """Return gaps of the same pair elsewhere, of other pairs, and of one that was cut off."""
    big = made(meshes.subdivided(meshes.subdivided(sample("torus"))))
    return {
        "right": cl.distance(*placed),
        "elsewhere": cl.distance(a, b.at([0.1, 2.0, 0.3])),
        "swapped": cl.distance(*placed[::-1]),
        "features out of range": cl.distance(big.at([3.0, 0, 0]), big),
        "of spheres": cl.distance(cl.Sphere(1.0), cl.Sphere(1.0).at([9.0, 0, 0])),
        "cut off": cl.distance(a, b.at([0.0, 0, 50]), at_most=1.0),
        "none": None,
    }


@settings(max_examples=15)
@given(seeds(), meshes.names(), meshes.names(), meshes.families(), meshes.volumes(), meshes.volumes())
def test_hint_right_or_wrong_does_not_change_the_answer(seed, name_a, name_b, family, volume_a, volume_b):
    a, b, p = drawn(seed, name_a, name_b, family, 2)
    in_a, in_b = made(a, volume_a), made(b, volume_b)
    truth = truth_of(a, b, p)
    for k in range(2):
        placed = in_a.at(p.pose_a[k]), in_b.at(p.pose_b[k])
        one = meshes.Placements(*(x[k : k + 1] for x in (p.pose_a, p.pose_b, p.gap, p.normal)))
        for hint in misleading_hints(in_a, in_b, placed).values():
            assert_true(cl.distance(*placed, hint=hint), a, b, one, truth[k])


@against_every_other
def test_hint_does_not_change_the_distance_to_any_shape(other):
    mesh, motions = made(sample("sheet")), touching_poses(np.random.default_rng(14), sample("sheet"), 8)
    for pose in motions:
        gap = cl.distance(mesh, other.at(pose))
        for hint in misleading_hints(mesh, other, (mesh, other.at(pose))).values():
            assert abs(cl.distance(mesh, other.at(pose), hint=hint).distance - gap.distance) <= 4e-9


@every_volume
def test_batches_take_hints(volume):
    a, b, p = drawn(15, "bumpy sphere", "gear", "tangent", 20)
    truth, gaps = truth_of(a, b, p), measured(a, b, p, (volume, volume))
    order = np.random.default_rng(15).permutation(20)
    cut = measured(a, b, p, (volume, volume), at_most=0.01)
    for hint in (gaps, gaps[order], cut, cl.distance(made(a).at(p.pose_a[0]), made(b).at(p.pose_b[0]))):
        assert_true(measured(a, b, p, (volume, volume), hint=hint), a, b, p, truth)


@every_volume
def test_right_hint_saves_work(volume):
    a, b, p = drawn(16, "bumpy sphere", "torus", "around", 30)
    without = measured(a, b, p, (volume, volume))
    again = measured(a, b, p, (volume, volume), hint=without)
    assert again.work.volume_tests <= without.work.volume_tests


# Batches and threads -------------------------------------------------------------------------------------------------


@against_every_other
@every_volume
def test_batch_gives_the_same_bits_as_single_calls(other, volume):
    rng = np.random.default_rng(17)
    mesh, motions = made(sample("soup"), volume), touching_poses(rng, sample("soup"), 25)
    moved = rigid_motions(rng, 25)
    gaps, both = cl.distance(mesh, other.at(motions)), cl.distance(mesh.at(moved), other.at(moved @ motions))
    for k in range(0, 25, 3):
        assert_same_bits(gaps[k], cl.distance(mesh, other.at(motions[k])))
        assert_same_bits(both[k], cl.distance(mesh.at(moved[k]), other.at((moved @ motions)[k])))


def test_poses_broadcast():
    rng = np.random.default_rng(18)
    mesh, other = made(sample("sheet")), made(sample("gear"), "rss")
    motions_a, motions_b = rigid_motions(rng, 3).reshape(3, 1, 4, 4), rigid_motions(rng, 5)
    gaps = cl.distance(mesh.at(motions_a), other.at(motions_b))
    assert gaps.distance.shape == gaps.feature_b.shape == gaps.part_a.shape == (3, 5)
    assert gaps.work.pairs == 15
    for i, j in np.ndindex(3, 5):
        assert_same_bits(gaps[i, j], cl.distance(mesh.at(motions_a[i, 0]), other.at(motions_b[j])))


@against_every_other
@every_volume
def test_number_of_threads_changes_no_bit(other, volume):
    mesh, motions = made(sample("torus"), volume), touching_poses(np.random.default_rng(19), sample("torus"), 600)
    alone = cl.distance(mesh, other.at(motions), threads=1)
    for threads in (2, 8, None):
        again = cl.distance(mesh, other.at(motions), threads=threads)
        assert_same_bits(again, alone)
        assert again.work == alone.work


# Work ----------------------------------------------------------------------------------------------------------------


@every_volume
def test_work_is_counted_and_repeats(volume):
    a, b, p = drawn(20, "bumpy sphere", "torus", "tangent", 10)
    first, again = (measured(a, b, p, (volume, volume)).work for _ in range(2))
    assert first == again
    for name in ("pairs", "volume_tests", "triangle_tests", "queue_operations"):
        assert getattr(first, name) > 0, name
    assert first.pairs == 10


@every_volume
def test_trees_spare_most_tests_of_triangles(volume):
    a, b = meshes.subdivided(meshes.subdivided(sample("bumpy sphere"))), meshes.subdivided(sample("torus"))
    p = placements(np.random.default_rng(21), a, b, 20, "tangent")
    gaps = measured(a, b, p, (volume, volume))
    every = len(p) * len(a.faces) * len(b.faces)
    assert gaps.work.triangle_tests <= every // 100
    assert gaps.work.volume_tests <= every // 10


def test_volumes_are_found_by_descent_for_single_points_too():
    soup = meshes.subdivided(meshes.subdivided(meshes.subdivided(sample("bumpy sphere"))))
    at = poses.from_translation(np.random.default_rng(22).normal(size=(50, 3)))
    work = cl.distance(made(soup), cl.Sphere(0.1).at(at)).work
    tested = work.triangle_tests + work.element_tests
    assert 0 < tested <= 50 * len(soup.faces) // 20


# What cannot be asked ------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("bad", [None, 1.0, "mesh", [1]], ids=repr)
def test_what_is_no_shape_is_refused_by_name(bad):
    mesh = made(sample("box"))
    for query in (cl.distance, cl.collides, lambda a, b: cl.within(a, b, 1.0)):
        with pytest.raises(TypeError, match=r"\ba\b"):
            query(bad, mesh)
        with pytest.raises(TypeError, match=r"\bb\b"):
            query(mesh, bad)


def test_hint_must_be_a_gap():
    with pytest.raises(TypeError, match="hint"):
        cl.distance(made(sample("box")), cl.Sphere(1.0), hint=3.0)
