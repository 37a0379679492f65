"""Distances between convex shapes: every pair of kinds against planes laid a known gap apart, and against an oracle."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

import clearance as cl
from clearance import poses
from convex_oracle import signed_distance_between, witness_error
from solids import EPS, KINDS, PAIRS, bounding_radius, draw_shape, is_curved
from strategies import rigid_motions, seeds
from tangents import tangents

FIELDS = ("distance", "lower", "upper", "point_a", "point_b", "normal", "feature_a", "feature_b")
SOLID = tuple(kind for kind in KINDS if kind != "HalfSpace")
SOLID_PAIRS = [pair for pair in PAIRS if "HalfSpace" not in pair]
every_pair = pytest.mark.parametrize("kinds", PAIRS, ids="-".join)
every_solid_pair = pytest.mark.parametrize("kinds", SOLID_PAIRS, ids="-".join)
pairs = st.sampled_from(PAIRS)


def drawn(kinds, seed, n=60, *, far=0.0, ratio=1.0):
    """Draw two shapes, b `ratio` times as large as a, and n tangent placements of them."""
    rng = np.random.default_rng([seed, PAIRS.index(kinds)])
    a, b = draw_shape(rng, kinds[0]), draw_shape(rng, kinds[1], ratio)
    return tangents(rng, a, b, n, far)


def assert_all(holds, what, t, gaps):
    """Check that something holds for all placements; print the first that breaks it, ready to be replayed."""
    if not np.all(holds):
        k = np.flatnonzero(~np.asarray(holds))[0]
        placed = f"{t.a!r}.at({t.pose_a[k].tolist()}),\n{t.b!r}.at({t.pose_b[k].tolist()})"
        found = {name: getattr(gaps, name)[k] for name in FIELDS[:6]}
        known = {name: getattr(t, name)[k] for name in ("gap", "normal", "point_a", "point_b", "exact")}
        pytest.fail(f"{what}: {np.sum(~holds)} of {len(holds)}, first\n{placed}\nfound {found}\nknown {known}")


def assert_gaps_are_true(t, gaps, tolerance=None, normals=True):
    """Check gaps of tangent placements against everything that is known of them, and the contract of a gap."""
    allowed = t.allowed if tolerance is None else tolerance * t.size + t.rounding
    assert_all(gaps.distance >= t.gap - allowed, "distance is too small", t, gaps)
    assert_all(~t.exact | (gaps.distance <= t.gap + allowed), "distance is too large", t, gaps)
    assert_all(~t.exact | (gaps.lower <= t.gap + t.rounding), "lower is beyond the truth", t, gaps)
    assert_all(gaps.upper >= t.gap - t.rounding, "the truth is beyond upper", t, gaps)
    assert_all((gaps.lower <= gaps.distance) & (gaps.distance <= gaps.upper), "distance left its bracket", t, gaps)
    assert_all(gaps.upper - gaps.lower <= allowed + 3 * t.rounding, "bracket is wide", t, gaps)
    assert_contract(t, gaps, tolerance)
    if normals:
        angle = np.linalg.norm(gaps.normal - t.normal, axis=1)
        bound = 1.7e-4 if is_curved(t.a) or is_curved(t.b) else 1.7e-6
        assert_all(~t.normal_known | (angle <= bound), "normal is off", t, gaps)
        off = [np.linalg.norm(getattr(gaps, x) - getattr(t, x), axis=1) for x in ("point_a", "point_b")]
        assert_all(~t.points_known | (np.maximum(*off) <= 1e-3 * t.size + t.rounding), "witness is off", t, gaps)


def on_the_surface(a, b, tolerance=None):
    """Return how far off witness points may be, relative to the size: those of curved bodies slide easily."""
    return tolerance or (1e-6 if is_curved(a) or is_curved(b) else 1e-9)


def assert_contract(t, gaps, tolerance):
    assert_all(np.abs(np.linalg.norm(gaps.normal, axis=1) - 1) <= 4 * EPS, "normal is no unit vector", t, gaps)
    residual = gaps.point_b - gaps.point_a - gaps.distance[:, None] * gaps.normal
    slack = t.rounding + 8 * EPS * (t.size + np.abs(gaps.distance))
    assert_all(np.linalg.norm(residual, axis=1) <= slack, "points, distance and normal disagree", t, gaps)
    off = on_the_surface(t.a, t.b, tolerance) * t.size + t.rounding
    for shape, pose, point in ((t.a, t.pose_a, gaps.point_a), (t.b, t.pose_b, gaps.point_b)):
        assert_all(witness_error(shape, pose, point) <= off, "witness off the shape", t, gaps)


def assert_same_bits(found, expected):
    for name in FIELDS:
        kind = np.int32 if name.startswith("feature") else np.float64
        x, y = (np.asarray(getattr(gap, name), dtype=kind) for gap in (found, expected))
        assert x.tobytes() == y.tobytes(), name


# Tangent planes ------------------------------------------------------------------------------------------------------


@every_pair
def test_planes_laid_a_gap_apart_measure_that_gap(kinds):
    for seed in range(4):
        t = drawn(kinds, seed)
        assert_gaps_are_true(t, cl.distance(*t.placed))


@pytest.mark.long
@every_pair
def test_planes_laid_a_gap_apart_measure_that_gap_thousands_of_times(kinds):
    for seed in range(100, 140):
        for far, ratio in ((0.0, 1.0), (1e3, 1.0), (0.0, 0.01)):
            t = drawn(kinds, seed, 1000, far=far, ratio=ratio)
            assert_gaps_are_true(t, cl.distance(*t.placed))


@every_pair
def test_nothing_is_lost_a_million_metres_from_the_origin(kinds):
    t = drawn(kinds, 10, far=1e6)
    assert_gaps_are_true(t, cl.distance(*t.placed))


@every_pair
@pytest.mark.parametrize("ratio", [1e-6, 1e-3, 1e3, 1e6])
def test_a_pebble_meets_a_mountain(kinds, ratio):
    t = drawn(kinds, 11, 20, ratio=ratio)
    assert_gaps_are_true(t, cl.distance(*t.placed), normals=False)


@given(seeds(), pairs)
def test_order_does_not_matter(seed, kinds):
    t = drawn(kinds, seed)
    assert_gaps_are_true(t.swapped(), cl.distance(*t.swapped().placed))


@given(seeds(), pairs)
def test_observer_does_not_matter(seed, kinds):
    motion = rigid_motions(np.random.default_rng(seed), 1)[0]
    t = drawn(kinds, seed).moved(motion)
    assert_gaps_are_true(t, cl.distance(*t.placed))


@given(seeds(), pairs, st.sampled_from([1e-6, 1e-3, 0.1, 7.0, 1e3, 1e6]))
def test_scale_does_not_matter(seed, kinds, factor):
    t = drawn(kinds, seed).scaled(factor)
    assert_gaps_are_true(t, cl.distance(*t.placed))


@every_pair
def test_distance_goes_smoothly_through_zero(kinds):
    t = drawn(kinds, 12, 20)
    k = np.flatnonzero(t.exact & (t.gap <= 0))[0]
    steps = 1e-4 * t.size * np.linspace(-1, 1, 201)
    path = np.tile(t.pose_b[k], (201, 1, 1))
    path[:, :3, 3] += (steps - t.gap[k])[:, None] * t.normal[k]
    found = cl.distance(t.a.at(t.pose_a[k]), t.b.at(path)).distance
    step = np.max(np.diff(steps))
    assert np.all(np.abs(np.diff(found)) <= step + 2 * np.max(t.allowed))
    assert np.all(found[:100] < step)
    assert np.all(np.abs(found[101:] - steps[101:]) <= np.max(t.allowed))


# Any placement -------------------------------------------------------------------------------------------------------


def assert_agrees_with_the_oracle(a, pose_a, b, pose_b, oracle_tolerance=1e-9, slide=1.0):
    gap = cl.distance(a.at(pose_a), b.at(pose_b))
    lower, upper = signed_distance_between(a, pose_a, b, pose_b)
    size = bounding_radius(a) + bounding_radius(b)
    allowed = (1e-7 if lower < 0 and (is_curved(a) or is_curved(b)) else 1e-9) * size
    slack = 64 * EPS * (size + np.linalg.norm(pose_a[:3, 3]) + np.linalg.norm(pose_b[:3, 3]))
    placed = f"{a!r}.at({pose_a.tolist()}),\n{b!r}.at({pose_b.tolist()})\n{gap!r}\noracle {lower!r} to {upper!r}"
    assert upper - lower <= oracle_tolerance * size, f"the oracle is lost: {placed}"
    assert lower - allowed - slack <= gap.distance <= upper + allowed + slack, placed
    assert gap.lower <= upper + slack, placed
    assert lower - slack <= gap.upper, placed
    assert gap.upper - gap.lower <= allowed + slack, placed
    for shape, pose, point in ((a, pose_a, gap.point_a), (b, pose_b, gap.point_b)):
        assert witness_error(shape, pose[None], point[None])[0] <= slide * on_the_surface(a, b) * size + slack, placed


def test_oracle_agrees_with_tangent_planes():
    for kinds in SOLID_PAIRS:
        t = drawn(kinds, 19, 2)
        for k in range(2):
            lower, upper = signed_distance_between(t.a, t.pose_a[k], t.b, t.pose_b[k])
            assert upper - lower <= 1e-9 * t.size
            assert t.gap[k] <= upper + 1e-12 * t.size
            assert not t.exact[k] or lower <= t.gap[k] + 1e-12 * t.size


@every_solid_pair
def test_any_placement_agrees_with_the_oracle(kinds):
    rng = np.random.default_rng([20, PAIRS.index(kinds)])
    for distance in (0.1, 0.3, 0.6, 1.5):
        a, b = (draw_shape(rng, kind) for kind in kinds)
        pose_a, pose_b = rigid_motions(rng, 2)
        pose_b[:3, 3] = pose_a[:3, 3] + distance * rng.normal(size=3)
        assert_agrees_with_the_oracle(a, pose_a, b, pose_b)


@every_solid_pair
def test_same_pose_for_both(kinds):
    rng = np.random.default_rng([21, PAIRS.index(kinds)])
    a, b = (draw_shape(rng, kind) for kind in kinds)
    for pose in (np.eye(4), rigid_motions(rng, 1)[0]):
        assert_agrees_with_the_oracle(a, pose, b, pose, 1e-2)


@pytest.mark.parametrize("kind", [kind for kind in SOLID if kind != "SweptTriangle"])
def test_shape_upon_itself(kind):
    shape = draw_shape(np.random.default_rng(22), kind)
    assert_agrees_with_the_oracle(shape, np.eye(4), shape, np.eye(4), 1e-2)


@every_solid_pair
def test_one_inside_the_other(kinds):
    rng = np.random.default_rng([23, PAIRS.index(kinds)])
    outer, inner = draw_shape(rng, kinds[0], 10.0), draw_shape(rng, kinds[1], 0.1)
    pose_a, pose_b = rigid_motions(rng, 2)
    pose_b[:3, 3] = pose_a[:3, 3]
    # Deep inside a round body all ways out are nearly as long: the depth is known, but the normal slides.
    assert_agrees_with_the_oracle(outer, pose_a, inner, pose_b, 1e-2, slide=10.0)


def test_about_half_of_the_random_pairs_collide():
    rng = np.random.default_rng(24)
    hits = []
    for kinds in PAIRS:
        a, b = (draw_shape(rng, kind) for kind in kinds)
        motions = rigid_motions(rng, 50)
        motions[:, :3, 3] *= 0.5
        hits.append(cl.collides(a, b.at(motions)))
    assert 0.3 <= np.mean(hits) <= 0.7


@given(seeds(), st.sampled_from(KINDS), st.floats(1e-3, 1.0))
def test_radius_grown_by_r_lowers_the_distance_by_r(seed, kind, r):
    rng = np.random.default_rng(seed)
    points, other, motions = rng.normal(size=(8, 3)) / 2, draw_shape(rng, kind), rigid_motions(rng, 30)
    thin, thick = (cl.distance(cl.ConvexHull(points, s), other.at(motions)) for s in (0.1, 0.1 + r))
    size = 3 * (1 + r)
    assert np.all(np.abs(thin.distance - r - thick.distance) <= 2e-7 * size)


@given(seeds(), pairs)
def test_shift_changes_the_distance_by_no_more_than_its_length(seed, kinds):
    rng = np.random.default_rng(seed)
    a, b = (draw_shape(rng, kind) for kind in kinds)
    motions, shift = rigid_motions(rng, 40), rng.normal(size=(40, 3)) * 10.0 ** rng.uniform(-6, 0, size=(40, 1))
    shifted = motions.copy()
    shifted[:, :3, 3] += shift
    here, there = cl.distance(a, b.at(motions)), cl.distance(a, b.at(shifted))
    length = np.linalg.norm(shift, axis=1)
    assert np.all(np.abs(here.distance - there.distance) <= length + 2e-7 * (bounding_radius(a) + bounding_radius(b)))


@given(seeds(), st.sampled_from(KINDS))
def test_larger_shape_is_never_farther(seed, kind):
    rng = np.random.default_rng(seed)
    other, motions, (u, v, w) = draw_shape(rng, kind), rigid_motions(rng, 30), rng.uniform(0.2, 1.0, size=3)
    for small, large in (
        (cl.Box([u, v, w]), cl.Box([u, v, 2 * w])),
        (cl.Cylinder(u, v), cl.Cylinder(2 * u, v)),
        (cl.Cone(u, v), cl.Cylinder(u, v)),
        (cl.Ellipsoid([u, v, w]), cl.Box([2 * u, 2 * v, 2 * w])),
        (cl.Capsule(u, v), cl.Cylinder(u, v + 2 * u)),
    ):
        near, far = cl.distance(large, other.at(motions)), cl.distance(small, other.at(motions))
        assert np.all(near.lower <= far.upper + 1e-12)


# Answers and questions -----------------------------------------------------------------------------------------------


@every_pair
def test_batch_gives_the_same_bits_as_single_calls(kinds):
    t = drawn(kinds, 30, 12)
    gaps = cl.distance(*t.placed)
    for k in range(12):
        assert_same_bits(cl.distance(t.a.at(t.pose_a[k]), t.b.at(t.pose_b[k])), gaps[k])


@pytest.mark.parametrize("kinds", [("Box", "Cone"), ("Ellipsoid", "ConvexHull"), ("HalfSpace", "Cylinder")])
def test_number_of_threads_changes_no_bit(kinds):
    t = drawn(kinds, 31, 2000)
    alone = cl.distance(*t.placed, threads=1)
    for threads in (2, 8, None):
        again = cl.distance(*t.placed, threads=threads)
        assert_same_bits(again, alone)
        assert again.work == alone.work


@given(seeds(), pairs)
def test_within_and_collides_agree_with_the_distance(seed, kinds):
    t = drawn(kinds, seed)
    gaps = cl.distance(*t.placed)
    for margin in (0.0, 1e-6, 0.1 * t.size, np.inf):
        near = cl.collides(*t.placed) if margin == 0 else cl.within(*t.placed, margin)
        assert_all(near | (gaps.upper > margin), f"not within {margin}", t, gaps)
        assert_all(~near | (gaps.lower <= margin), f"within {margin}", t, gaps)
        single = t.a.at(t.pose_a[0]), t.b.at(t.pose_b[0])
        assert cl.within(*single, margin) == cl.within(*t.placed, margin)[0]


@given(seeds(), pairs, st.floats(-0.1, 0.5))
def test_pairs_farther_than_asked_for_only_say_so(seed, kinds, at_most):
    t = drawn(kinds, seed)
    exact, cut = cl.distance(*t.placed), cl.distance(*t.placed, at_most=at_most)
    far = np.isinf(cut.distance)
    assert_all(~far | (exact.upper > at_most), "cut off though near", t, cut)
    assert_all(far | (exact.lower <= at_most), "measured though far", t, cut)
    assert_all(far | (np.abs(cut.distance - exact.distance) <= 2 * t.allowed), "measured otherwise", t, cut)
    assert_all(far | ~t.exact | (cut.lower <= t.gap + t.rounding), "lower is beyond the truth", t, cut)
    assert_all(far | (cut.upper >= t.gap - t.rounding), "the truth is beyond upper", t, cut)
    assert np.all((cut.lower[far] > at_most) & (cut.lower[far] <= exact.upper[far]))
    assert np.all(cut.upper[far] == np.inf)
    assert all(np.isnan(x[far]).all() for x in (cut.point_a, cut.point_b, cut.normal))


@every_pair
@pytest.mark.parametrize("tolerance", [1e-2, 1e-5])
def test_looser_tolerance_gives_a_true_bracket(kinds, tolerance):
    t = drawn(kinds, 32, 30)
    assert_gaps_are_true(t, cl.distance(*t.placed, tolerance=tolerance), tolerance, normals=False)
    one = cl.distance(t.a.at(t.pose_a[0]), t.b.at(t.pose_b[0]), tolerance=tolerance)
    assert one.distance == cl.distance(*t.placed, tolerance=tolerance).distance[0]


@pytest.mark.parametrize("bad", [np.nan, np.inf, -1e-9, 0.0, 2.0, "fine", [1e-9]], ids=repr)
def test_what_is_no_tolerance_is_refused(bad):
    box, batch = cl.Box([1, 1, 1]), cl.Cone(1, 1).at(np.tile(np.eye(4), (2, 1, 1)))
    for query in (cl.distance, cl.collides, lambda a, b, tolerance: cl.within(a, b, 1.0, tolerance=tolerance)):
        for other in (cl.Cone(1, 1), batch):
            with pytest.raises((ValueError, TypeError), match="tolerance"):
                query(box, other, tolerance=bad)


@given(seeds(), pairs)
def test_hint_does_not_change_the_answer(seed, kinds):
    t = drawn(kinds, seed, 20)
    gaps = cl.distance(*t.placed)
    assert_gaps_are_true(t, cl.distance(*t.placed, hint=gaps))
    for k in range(0, 20, 7):
        single = t.a.at(t.pose_a[k]), t.b.at(t.pose_b[k])
        again = cl.distance(*single, hint=cl.distance(t.a.at(t.pose_a[k - 1]), t.b.at(t.pose_b[k - 1])))
        assert abs(again.distance - gaps.distance[k]) <= 2 * t.allowed[k]


def test_two_half_spaces_are_refused():
    plane, batch = cl.HalfSpace([0, 0, 1], 0.0), cl.HalfSpace([0, 1, 0], 0.0).at(np.tile(np.eye(4), (2, 1, 1)))
    for query in (cl.distance, cl.collides, cl.contacts, lambda a, b: cl.within(a, b, 1.0)):
        for other in (plane, plane.at([1.0, 2, 3]), batch):
            with pytest.raises(ValueError, match=r"[Hh]alf-?[Ss]pace"):
                query(plane, other)


# Compounds and scenes ------------------------------------------------------------------------------------------------


@given(seeds(), st.integers(1, 4), st.integers(1, 4))
def test_compound_is_as_near_as_its_nearest_part(seed, n, m):
    rng = np.random.default_rng(seed)
    parts_a, parts_b = (
        [draw_shape(rng, kind).at(pose) for kind, pose in zip(rng.choice(SOLID, k), rigid_motions(rng, k), strict=True)]
        for k in (n, m)
    )
    shift = np.array([1.5, 0, 0])
    gap = cl.distance(cl.Compound(parts_a), cl.Compound(parts_b).at(shift))
    moved = [part.shape.at(poses.from_translation(shift) @ part.pose) for part in parts_b]
    alone = np.array([[cl.distance(a, b).distance for b in moved] for a in parts_a])
    assert abs(gap.distance - alone.min()) <= 4e-7
    assert abs(alone[gap.feature_a, gap.feature_b] - alone.min()) <= 4e-7
    assert gap.lower - 1e-12 <= alone.min() <= gap.upper + 4e-7


def test_scene_measures_what_its_pairs_measure():
    rng = np.random.default_rng(33)
    shapes, motions = [draw_shape(rng, kind) for kind in SOLID], 2 * rigid_motions(rng, len(SOLID))
    motions[:, :3, :3] /= 2
    motions[:, 3, 3] = 1
    scene = cl.Scene()
    for kind, shape, pose in zip(SOLID, shapes, motions, strict=True):
        scene.add(kind, shape, pose=pose)
    scene.add("ground", cl.HalfSpace([0, 0, 1], -3.0))
    scene.watch_all()
    for _ in range(2):
        table = scene.distances()
        placed = dict(zip(SOLID, (s.at(p) for s, p in zip(shapes, motions, strict=True)), strict=True))
        placed["ground"] = cl.HalfSpace([0, 0, 1], -3.0)
        for name_a, name_b, found in zip(table.name_a, table.name_b, table.distance, strict=True):
            assert abs(found - cl.distance(placed[name_a], placed[name_b]).distance) <= 4e-7
        motions[0, :3, 3] += 0.1
        scene.move(SOLID[0], motions[0])
