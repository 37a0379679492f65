"""Poses of shapes: described in many ways, repaired if a little off, refused if not rigid."""

import numpy as np
import pytest

from clearance import Capsule, Sphere, poses
from strategies import rigid_motions

EPS = np.finfo(float).eps
TILTED = poses.from_rpy([0.3, -0.7, 1.9], [0.1, -0.2, 0.4])


class LikePinocchio:
    def __init__(self, matrix):
        self.homogeneous = matrix


class LikeViser:
    def __init__(self, matrix):
        self.matrix = matrix

    def as_matrix(self):
        return self.matrix


def frozen(array):
    array = np.array(array)
    array.setflags(write=False)
    return array


@pytest.mark.parametrize(
    "described",
    [
        np.array,
        frozen,
        np.ndarray.tolist,
        np.asfortranarray,
        lambda m: np.ascontiguousarray(m.T).T,
        lambda m: np.repeat(np.repeat(m, 2, axis=0), 3, axis=1)[::2, ::3],
        lambda m: m.astype(object),
        LikePinocchio,
        LikeViser,
    ],
)
def test_pose_may_be_described_in_many_ways(described):
    shape = Capsule(0.25, 1.5)
    assert shape.at(described(TILTED)) == shape.at(TILTED)
    many = np.stack([TILTED, np.eye(4), TILTED])
    assert np.array_equal(shape.at(described(many)).poses, shape.at(many).poses)
    assert shape.at(described(many)).dims == (3,)


def test_poses_in_single_precision_are_repaired():
    shape, single = Capsule(0.25, 1.5), TILTED.astype(np.float32)
    rotation = shape.at(single).pose[:3, :3]
    assert np.max(np.abs(rotation.T @ rotation - np.eye(3))) <= 4 * EPS
    assert np.max(np.abs(shape.at(single).pose - TILTED)) <= 1e-6


def test_vector_of_length_three_is_a_translation():
    for vector in ([1, 2, 3], (1.0, 2.0, 3.0), np.array([1, 2, 3]), np.array([1, 2, 3], dtype=np.float32)):
        assert np.array_equal(Sphere(1.0).at(vector).pose, poses.from_translation([1, 2, 3]))


def test_rotation_a_little_off_is_replaced_by_the_nearest():
    rng = np.random.default_rng(2)
    motions = rigid_motions(rng, 200)
    crooked = motions.copy()
    crooked[:, :3, :3] += rng.uniform(-1e-7, 1e-7, size=(200, 3, 3))
    repaired = Sphere(1.0).at(crooked).poses
    left, _, right = np.linalg.svd(crooked[:, :3, :3])
    assert np.max(np.abs(repaired[:, :3, :3] - left @ right)) <= 1e-14
    assert np.max(np.abs(np.swapaxes(repaired, 1, 2)[:, :3, :3] @ repaired[:, :3, :3] - np.eye(3))) <= 4 * EPS
    assert np.array_equal(repaired[:, :3, 3], motions[:, :3, 3])


def test_pose_of_a_placed_shape_places_it_there_again():
    rng = np.random.default_rng(3)
    crooked = rigid_motions(rng, 20000)
    crooked[::2, :3, :3] += rng.uniform(-3e-7, 3e-7, size=(10000, 3, 3))
    placed = Sphere(1.0).at(crooked)
    assert np.array_equal(Sphere(1.0).at(placed.poses).poses, placed.poses)


def changed(row, column, value):
    pose = np.array(TILTED)
    pose[row, column] = value
    return pose


NOT_RIGID = {
    "NaN": changed(0, 0, np.nan),
    "infinity": changed(1, 3, np.inf),
    "beyond 1e30": changed(0, 3, -1e31),
    "far beyond 1e30": changed(2, 3, 1e300),
    "scale": np.diag([2.0, 2, 2, 1]),
    "tiny scale": np.diag([1 + 1e-5, 1 + 1e-5, 1 + 1e-5, 1]),
    "shear": TILTED @ (np.eye(4) + 0.1 * np.outer(np.eye(4)[0], np.eye(4)[1])),
    "tiny shear": TILTED @ (np.eye(4) + 1e-5 * np.outer(np.eye(4)[0], np.eye(4)[1])),
    "reflection": np.diag([1.0, 1, -1, 1]),
    "inversion": np.diag([-1.0, -1, -1, 1]),
    "zero": np.zeros((4, 4)),
    "transposed": TILTED.T,
    "last entry": changed(3, 3, 2.0),
    "objects": np.full((4, 4), object()),
    "texts": np.full((4, 4), "a"),
    "complex": np.eye(4) * (1 + 0j),
}
NOT_A_POSE = NOT_RIGID | {
    "NaN translation": [0.0, np.nan, 0.0],
    "far translation": [0.0, 0.0, 1e31],
    "3 by 3": np.eye(3),
    "3 by 4": np.eye(4)[:3],
    "list of translations": np.zeros((5, 3)),
    "four numbers": np.zeros(4),
    "number": 1.0,
    "None": None,
    "text": "here",
    "ragged": [[1.0, 0, 0, 0], [0, 1]],
    "dictionary": {},
    "rotation only": LikeViser(np.eye(3)),
}


@pytest.mark.parametrize("bad", NOT_A_POSE.values(), ids=NOT_A_POSE)
def test_what_is_no_pose_is_refused(bad):
    with pytest.raises((ValueError, TypeError)):
        Sphere(1.0).at(bad)


@pytest.mark.parametrize("bad", NOT_RIGID.values(), ids=NOT_RIGID)
def test_one_bad_pose_spoils_a_batch(bad):
    with pytest.raises((ValueError, TypeError)):
        Sphere(1.0).at([np.eye(4), bad, np.eye(4)])


def test_batches_know_their_shape():
    batch = Sphere(1.0).at(np.broadcast_to(TILTED, (3, 2, 4, 4)))
    assert batch.dims == (3, 2)
    assert len(batch) == 3
    assert batch.poses.shape == (3, 2, 4, 4)
    assert batch.shape == Sphere(1.0)
    assert "(3, 2)" in repr(batch)
