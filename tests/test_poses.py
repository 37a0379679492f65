"""Rigid transforms: known matrices, round trips, the algebra of motions, and what is refused."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from clearance import Sphere, poses
from strategies import rigid_motions, seeds

EPS = np.finfo(float).eps
QUARTER = np.pi / 2
ABOUT_X = np.array([[1, 0, 0], [0, 0, -1], [0, 1, 0]])
ABOUT_Y = np.array([[0, 0, 1], [0, 1, 0], [-1, 0, 0]])
ABOUT_Z = np.array([[0, -1, 0], [1, 0, 0], [0, 0, 1]])
QUARTERS = pytest.mark.parametrize(("k", "rotation"), list(enumerate((ABOUT_X, ABOUT_Y, ABOUT_Z))))


def assert_rigid(matrices):
    rotation = matrices[..., :3, :3]
    # What is composed of up to four rotations, each true to 4 eps.
    assert np.max(np.abs(np.swapaxes(rotation, -1, -2) @ rotation - np.eye(3)), initial=0) <= 16 * EPS
    assert np.all(np.linalg.det(rotation) > 0)
    assert np.all(matrices[..., 3, :] == [0, 0, 0, 1])


def same(x, y, scale=1.0):
    return np.shape(x) == np.shape(y) and np.allclose(x, y, rtol=0, atol=16 * EPS * scale)


# Known matrices ------------------------------------------------------------------------------------------------------


@QUARTERS
def test_quarter_turns_are_known(k, rotation):
    axis, quaternion = np.eye(3)[k], [0.5**0.5, *(0.5**0.5 * np.eye(3)[k])]
    for pose in (
        poses.from_axis_angle(axis, QUARTER),
        poses.from_axis_angle(7 * axis, QUARTER),
        poses.from_axis_angle(-axis, -QUARTER),
        poses.from_rpy(QUARTER * axis),
        poses.from_wxyz(quaternion),
        poses.from_wxyz(np.multiply(-3, quaternion)),
        poses.from_xyzw(np.roll(quaternion, -1)),
    ):
        assert same(pose[:3, :3], rotation)
        assert np.all(pose[:3, 3] == 0)
        assert same(poses.to_wxyz(pose), quaternion)
        assert same(poses.to_xyzw(pose), np.roll(quaternion, -1))


def test_turning_comes_before_moving():
    for pose in (
        poses.from_axis_angle([0, 0, 1], QUARTER, [1, 2, 3]),
        poses.from_rpy([0, 0, QUARTER], [1, 2, 3]),
        poses.from_wxyz([1, 0, 0, 1], [1, 2, 3]),
        poses.from_xyzw([0, 0, 1, 1], [1, 2, 3]),
        poses.from_translation([1, 2, 3]) @ poses.from_axis_angle([0, 0, 1], QUARTER),
    ):
        assert same(pose @ [1, 0, 0, 1], [1, 3, 3, 1])


@given(seeds())
def test_roll_pitch_yaw_turn_about_fixed_axes_in_this_order(seed):
    rpy = np.random.default_rng(seed).uniform(-4, 4, size=(50, 3))
    roll, pitch, yaw = (poses.from_axis_angle(np.eye(3)[k], rpy[:, k]) for k in range(3))
    assert same(poses.from_rpy(rpy), yaw @ pitch @ roll)


@given(seeds())
def test_scipy_agrees(seed):
    transform = pytest.importorskip("scipy.spatial.transform")
    rng = np.random.default_rng(seed)
    quaternion, rpy, rotvec = rng.normal(size=(50, 4)), rng.uniform(-4, 4, size=(50, 3)), rng.normal(size=(50, 3))
    angle = np.linalg.norm(rotvec, axis=1)
    theirs = transform.Rotation.from_quat(quaternion)
    assert same(poses.from_xyzw(quaternion)[:, :3, :3], theirs.as_matrix())
    assert same(poses.to_xyzw(poses.from_xyzw(quaternion)), theirs.as_quat(canonical=True))
    assert same(poses.from_rpy(rpy)[:, :3, :3], transform.Rotation.from_euler("xyz", rpy).as_matrix())
    expected = transform.Rotation.from_rotvec(rotvec).as_matrix()
    assert same(poses.from_axis_angle(rotvec, angle)[:, :3, :3], expected)


@given(seeds())
def test_scipy_interpolates_to_the_same_rotation(seed):
    transform = pytest.importorskip("scipy.spatial.transform")
    start, end = rigid_motions(np.random.default_rng(seed), 2)
    t = np.linspace(0, 1, 11)
    theirs = transform.Slerp([0, 1], transform.Rotation.from_matrix([start[:3, :3], end[:3, :3]]))
    # Half a turn may go either way, and near it the axis is known less well than the angle.
    assert np.allclose(poses.interpolate(start, end, t)[:, :3, :3], theirs(t).as_matrix(), rtol=0, atol=1e-12)


def test_transforms_of_scipy_are_poses():
    transform = pytest.importorskip("scipy.spatial.transform")
    if not hasattr(transform, "RigidTransform"):
        pytest.skip("this scipy has no RigidTransform")
    matrices = rigid_motions(np.random.default_rng(1), 5)
    assert same(poses.as_poses(transform.RigidTransform.from_matrix(matrices)), matrices)
    assert same(poses.as_poses(transform.RigidTransform.from_matrix(matrices[0])), matrices[0])


# Round trips and algebra ---------------------------------------------------------------------------------------------


@given(seeds())
def test_quaternions_survive_the_round_trip(seed):
    quaternion = np.random.default_rng(seed).normal(size=(100, 4))
    unit = quaternion / np.linalg.norm(quaternion, axis=1, keepdims=True)
    upper = np.where(unit[:, :1] < 0, -unit, unit)
    assert same(poses.to_wxyz(poses.from_wxyz(quaternion)), upper)
    assert same(poses.to_xyzw(poses.from_xyzw(np.roll(quaternion, -1, axis=1))), np.roll(upper, -1, axis=1))


@given(seeds())
def test_matrices_survive_the_round_trip(seed):
    motions = rigid_motions(np.random.default_rng(seed), 100)
    assert same(poses.from_wxyz(poses.to_wxyz(motions), motions[:, :3, 3]), motions)
    assert same(poses.from_xyzw(poses.to_xyzw(motions), motions[:, :3, 3]), motions)


@pytest.mark.parametrize("angle", [0.0, 1e-9, 1e-3, np.pi - 1e-3, np.pi - 1e-9, np.pi])
@given(seeds())
def test_small_and_half_turns_lose_no_digits(angle, seed):
    axis = np.random.default_rng(seed).normal(size=(30, 3))
    quaternion = poses.to_wxyz(poses.from_axis_angle(axis, angle))
    assert np.all(np.abs(np.linalg.norm(quaternion, axis=1) - 1) <= 4 * EPS)
    assert np.all(quaternion[:, 0] >= 0)
    turned = 2 * np.arctan2(np.linalg.norm(quaternion[:, 1:], axis=1), quaternion[:, 0])
    assert np.allclose(turned, angle, rtol=0, atol=32 * EPS)


@given(seeds())
def test_everything_made_is_rigid(seed):
    rng = np.random.default_rng(seed)
    axis, angle, shift = rng.normal(size=(40, 3)), rng.uniform(-9, 9, size=40), rng.normal(size=(40, 3))
    assert_rigid(poses.from_axis_angle(axis, angle, shift))
    assert_rigid(poses.from_rpy(axis, shift))
    assert_rigid(poses.from_wxyz(rng.normal(size=(40, 4)) * 1e-3, shift))
    assert_rigid(poses.inverse(rigid_motions(rng, 40)))
    start, end = rigid_motions(rng, 40), rigid_motions(rng, 40)
    assert_rigid(poses.interpolate(start, end, rng.uniform(-1, 2, size=40)))


@given(seeds())
def test_inverse_undoes(seed):
    motions = rigid_motions(np.random.default_rng(seed), 100)
    assert same(poses.inverse(motions) @ motions, np.tile(np.eye(4), (100, 1, 1)), scale=4)
    assert np.array_equal(poses.inverse(poses.inverse(motions))[:, :3, :3], motions[:, :3, :3])
    assert np.allclose(poses.inverse(motions), np.linalg.inv(motions), rtol=0, atol=1e-13)


@given(seeds(), st.floats(0, 1))
def test_interpolation_is_even_and_straight(seed, t):
    rng = np.random.default_rng(seed)
    start, end = rigid_motions(rng, 50), rigid_motions(rng, 50)
    between = poses.interpolate(start, end, t)
    assert same(between[:, :3, 3], start[:, :3, 3] + t * (end - start)[:, :3, 3], scale=4)
    whole, part = (turn_of(poses.inverse(start) @ pose) for pose in (end, between))
    assert np.allclose(part, t * whole, rtol=0, atol=1e-13)
    # Back from the end it is the same way.
    assert np.allclose(between, poses.interpolate(end, start, 1 - t), rtol=0, atol=1e-12)


def turn_of(motions):
    quaternion = poses.to_wxyz(motions)
    return 2 * np.arctan2(np.linalg.norm(quaternion[..., 1:], axis=-1), quaternion[..., 0])


@given(seeds())
def test_interpolation_starts_at_the_start_and_ends_at_the_end(seed):
    rng = np.random.default_rng(seed)
    start, end = rigid_motions(rng, 50), rigid_motions(rng, 50)
    assert same(poses.interpolate(start, end, 0.0), start)
    assert same(poses.interpolate(start, end, 1.0), end, scale=4)
    assert same(poses.interpolate(start, start, 0.3), start)


# Arrays --------------------------------------------------------------------------------------------------------------


def test_leading_dimensions_broadcast():
    assert poses.from_translation(np.zeros((2, 5, 3))).shape == (2, 5, 4, 4)
    assert poses.from_axis_angle(np.ones((4, 1, 3)), np.zeros(5)).shape == (4, 5, 4, 4)
    assert poses.from_axis_angle([0, 0, 1], np.zeros((2, 3)), np.zeros((3, 3))).shape == (2, 3, 4, 4)
    assert poses.from_rpy(np.zeros((2, 1, 3)), np.zeros((5, 3))).shape == (2, 5, 4, 4)
    assert poses.from_wxyz([1, 0, 0, 0], np.zeros((6, 3))).shape == (6, 4, 4)
    assert poses.from_xyzw(np.ones((6, 4))).shape == (6, 4, 4)
    assert poses.to_wxyz(np.tile(np.eye(4), (2, 3, 1, 1))).shape == (2, 3, 4)
    assert poses.inverse(np.tile(np.eye(4), (2, 3, 1, 1))).shape == (2, 3, 4, 4)
    many = np.tile(np.eye(4), (7, 1, 1))
    assert poses.interpolate(np.eye(4), many, 0.5).shape == (7, 4, 4)
    assert poses.interpolate(many, np.eye(4), np.zeros((2, 1))).shape == (2, 7, 4, 4)
    assert poses.interpolate(np.eye(4), np.eye(4), np.zeros(0)).shape == (0, 4, 4)


def test_batch_gives_the_same_as_single_calls():
    rng = np.random.default_rng(2)
    axis, angle, shift = rng.normal(size=(9, 3)), rng.uniform(-3, 3, size=9), rng.normal(size=(9, 3))
    many = poses.from_axis_angle(axis, angle, shift)
    for k in range(9):
        assert np.array_equal(many[k], poses.from_axis_angle(axis[k], angle[k], shift[k]))
        assert np.array_equal(poses.to_wxyz(many)[k], poses.to_wxyz(many[k]))


def test_poses_are_read_from_what_describes_them():
    motion = rigid_motions(np.random.default_rng(3), 1)[0]

    class Described:
        homogeneous = motion

    class Given:
        def as_matrix(self):
            return motion[None]

    assert np.array_equal(poses.as_poses(Described()), motion)
    assert np.array_equal(poses.as_poses(Given()), motion[None])
    assert np.array_equal(poses.as_poses(motion.tolist()), motion)
    assert np.array_equal(poses.as_poses([1, 2, 3]), poses.from_translation([1, 2, 3]))
    for value in (motion.astype(np.float32), np.asfortranarray(motion), motion[None].repeat(4, axis=0)[::2]):
        found = poses.as_poses(value)
        assert found.dtype == np.float64
        assert found.flags.c_contiguous


# Bad input -----------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("bad", [[0, 0, 0], [np.nan, 0, 0], [np.inf, 0, 0], [[1, 0, 0], [0, 0, 0]], [1, 0], 1.0])
def test_what_is_no_axis_is_refused_by_name(bad):
    with pytest.raises(ValueError, match="axis"):
        poses.from_axis_angle(bad, 1.0)


@pytest.mark.parametrize("bad", [[0, 0, 0, 0], [1, 0, 0, np.nan], [np.inf, 0, 0, 0], [1, 0, 0], np.zeros((4, 1)), 1.0])
def test_what_is_no_quaternion_is_refused_by_name(bad):
    for made in (poses.from_wxyz, poses.from_xyzw):
        with pytest.raises(ValueError, match="quaternion"):
            made(bad)


def test_lengths_of_axes_and_quaternions_do_not_matter():
    for length in (1e-150, 1e-20, 1e20, 1e150):
        assert same(poses.from_axis_angle([0, 0, length], QUARTER)[:3, :3], ABOUT_Z)
        assert same(poses.from_wxyz([length, 0, 0, length])[:3, :3], ABOUT_Z)


@pytest.mark.parametrize("bad", [[1, 2], [1, 2, 3, 4], 1.0, np.zeros((3, 2))])
def test_what_is_no_translation_is_refused(bad):
    for made in (
        poses.from_translation,
        lambda bad: poses.from_rpy([0, 0, 0], bad),
        lambda bad: poses.from_wxyz([1, 0, 0, 0], bad),
        lambda bad: poses.from_axis_angle([0, 0, 1], 0.0, bad),
    ):
        with pytest.raises(ValueError, match="translation"):
            made(bad)


@pytest.mark.parametrize("bad", [[1, 2], 1.0, np.zeros((3, 2))])
def test_what_is_no_roll_pitch_yaw_is_refused(bad):
    with pytest.raises(ValueError, match="roll, pitch"):
        poses.from_rpy(bad)


@pytest.mark.parametrize(
    "bad", [None, 1.0, "here", np.eye(3), np.zeros((5, 3)), np.zeros((4, 3)), np.zeros(4)], ids=repr
)
def test_what_is_no_pose_is_refused(bad):
    for read in (
        poses.as_poses,
        poses.inverse,
        poses.to_wxyz,
        poses.to_xyzw,
        lambda p: poses.interpolate(p, np.eye(4), 0),
    ):
        with pytest.raises(ValueError):  # noqa: PT011 - of whichever words
            read(bad)


@pytest.mark.filterwarnings("ignore:invalid value")
@pytest.mark.parametrize("bad", [np.nan, np.inf])
def test_what_is_not_finite_never_becomes_a_pose(bad):
    crooked = np.eye(4)
    crooked[0, 3] = bad
    for made in (
        lambda: poses.from_translation([bad, 0, 0]),
        lambda: poses.from_axis_angle([0, 0, 1], bad),
        lambda: poses.from_rpy([bad, 0, 0]),
        lambda: poses.from_wxyz([1, 0, 0, 0], [0, bad, 0]),
        lambda: poses.interpolate(np.eye(4), np.eye(4), bad),
        lambda: poses.interpolate(crooked, np.eye(4), 0.5),
        lambda: poses.inverse(crooked),
    ):
        with pytest.raises(ValueError, match="finite"):
            Sphere(1.0).at(made())
