"""Cylinders of a batch are brought to touch side by side, in single calls one by one: with the same bits everywhere."""

import numpy as np
import pytest

import clearance as cl

COLUMNS = ("distance", "lower", "upper", "point_a", "point_b", "normal")
RNG = np.random.default_rng(21)
TURNED_OVER = cl.poses.from_axis_angle([1.0, 0.0, 0.0], np.pi)
PAIRS = {
    "alike": (cl.Cylinder(0.1, 0.3), cl.Cylinder(0.15, 0.2)),
    "the same": (cl.Cylinder(0.2, 0.4), cl.Cylinder(0.2, 0.4)),
    "discs": (cl.Cylinder(0.5, 1e-3), cl.Cylinder(0.4, 1e-4)),
    "needles": (cl.Cylinder(1e-3, 1.0), cl.Cylinder(1e-4, 0.7)),
    "needle and disc": (cl.Cylinder(1e-3, 1.0), cl.Cylinder(0.5, 1e-3)),
    "tiny": (cl.Cylinder(1e-6, 3e-6), cl.Cylinder(2e-6, 1e-6)),
    "huge": (cl.Cylinder(1e6, 3e6), cl.Cylinder(2e6, 1e6)),
}


def placements(a, b, count=120):
    """Any poses of b around a; upright, lying and on the axis of a; and all of them near contact on both sides."""
    size = a.radius + a.length + b.radius + b.length
    axes, angles = RNG.normal(size=(count, 3)), RNG.uniform(0, np.pi, count)
    poses = cl.poses.from_axis_angle(axes, angles, translation=size * RNG.normal(size=(count, 3)))
    upright = np.tile(np.eye(4), (count // 4, 1, 1))
    upright[:, :3, 3] = 0.7 * size * RNG.normal(size=(count // 4, 3))
    above = upright.copy()
    above[:, :2, 3] = 0.0
    lying = upright @ cl.poses.from_axis_angle([0.0, 1.0, 0.0], np.pi / 2)
    poses = np.concatenate([poses, upright, above, lying, upright @ TURNED_OVER])
    near = poses
    for gap in (1e-2, 1e-6, 0.0, -1e-6, -1e-2):
        found = cl.distance(a, b.at(near))
        near = near.copy()
        near[:, :3, 3] += (gap * size - found.distance)[:, None] * found.normal
        poses = np.concatenate([poses, near])
    return poses


@pytest.mark.parametrize("name", PAIRS)
def test_batches_and_single_calls_agree_bit_by_bit(name):
    a, b = PAIRS[name]
    poses = placements(a, b)
    batch = cl.distance(a, b.at(poses))
    assert np.any(batch.distance > 0)
    assert np.any(batch.distance < 0)
    for row, pose in enumerate(poses):
        one = cl.distance(a, b.at(pose))
        for column in COLUMNS:
            np.testing.assert_array_equal(getattr(one, column), getattr(batch, column)[row], err_msg=column)


@pytest.mark.parametrize("name", PAIRS)
def test_instruction_sets_and_threads_agree_bit_by_bit(name, simd):
    a, b = PAIRS[name]
    poses = placements(a, b, count=40)
    best = cl.distance(a, b.at(poses))
    for other in ("avx2", "sse2", "scalar"):
        simd(other)
        for threads in (1, 2):
            found = cl.distance(a, b.at(poses), threads=threads)
            assert found.work.iterations == best.work.iterations
            for column in COLUMNS:
                np.testing.assert_array_equal(
                    getattr(found, column), getattr(best, column), err_msg=f"{column}, {other}"
                )


@pytest.mark.parametrize("length", [1, 3, 8, 9, 63, 64, 65, 130])
def test_it_does_not_matter_beside_whom_a_pair_is_brought_to_touch(length):
    a, b = PAIRS["alike"]
    poses = placements(a, b)
    whole = cl.distance(a, b.at(poses))
    part = cl.distance(a, b.at(poses[-length:]))
    for column in COLUMNS:
        np.testing.assert_array_equal(getattr(part, column), getattr(whole, column)[-length:])


@pytest.mark.parametrize("name", PAIRS)
def test_pairs_that_are_far_enough_or_near_enough_answer_in_batches_as_alone(name):
    a, b = PAIRS[name]
    poses = placements(a, b, count=40)
    limit = float(np.median(np.abs(cl.distance(a, b.at(poses)).distance)))
    batch = cl.distance(a, b.at(poses), at_most=limit)
    near = cl.within(a, b.at(poses), limit)
    assert 0 < np.count_nonzero(near) < len(near)
    for row, pose in enumerate(poses):
        one = cl.distance(a, b.at(pose), at_most=limit)
        assert cl.within(a, b.at(pose), limit) == near[row]
        for column in COLUMNS:
            np.testing.assert_array_equal(getattr(one, column), getattr(batch, column)[row], err_msg=column)
