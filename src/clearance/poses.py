"""Rigid transforms as `(..., 4, 4)` arrays: `world_from_b = world_from_a @ a_from_b`.

Quaternions come and go only through functions that name their order. Everything broadcasts over leading dimensions.
"""

from __future__ import annotations

from typing import Any, TypeAlias

import numpy as np
from numpy.typing import ArrayLike, NDArray

Poses: TypeAlias = NDArray[np.float64]

__all__ = [
    "Poses",
    "as_floats",
    "as_poses",
    "from_axis_angle",
    "from_rpy",
    "from_translation",
    "from_wxyz",
    "from_xyzw",
    "interpolate",
    "inverse",
    "to_wxyz",
    "to_xyzw",
]


def as_poses(value: Any) -> Poses:
    """Read a pose, or a batch of them, from whatever describes one.

    Parameters
    ----------
    value : array_like or object
        `(..., 4, 4)` matrices; a vector of length 3, which is a translation; or an object with an attribute
        `homogeneous` (pinocchio) or a method `as_matrix()` (scipy, viser) that gives such matrices.

    Returns
    -------
    ndarray of float64, (..., 4, 4)
        Contiguous. Whether the rotations are rigid is checked where the poses are used.

    Examples
    --------
    >>> as_poses([1.0, 2.0, 3.0])[:3, 3]
    array([1., 2., 3.])
    """
    if hasattr(value, "homogeneous"):
        value = value.homogeneous
    elif hasattr(value, "as_matrix"):
        value = value.as_matrix()
    array = as_floats(value, "pose")
    if array.shape == (3,):
        return from_translation(array)
    if array.ndim < 2 or array.shape[-2:] != (4, 4):
        raise ValueError(f"a pose is a (4, 4) array or a vector of length 3, but this has shape {array.shape}.")
    return array


def as_floats(value: Any, name: str) -> NDArray[np.float64]:
    """Read numbers as a contiguous array of doubles, or say which argument has none.

    Parameters
    ----------
    value : array_like
        Real numbers.
    name : str
        What it is called in an error.

    Returns
    -------
    ndarray of float64

    Examples
    --------
    >>> as_floats([1, 2], "radius")
    array([1., 2.])
    """
    try:
        array = np.asarray(value)
        if np.iscomplexobj(array):
            raise TypeError("complex numbers")
        return np.asarray(array, dtype=np.float64, order="C")
    except (TypeError, ValueError) as error:
        raise ValueError(f"{name} must be real numbers, but it is {value!r:.200}.") from error


def _assemble(rotation: NDArray[np.float64], translation: ArrayLike) -> Poses:
    shift = np.asarray(translation, dtype=np.float64)
    if shift.shape[-1:] != (3,):
        raise ValueError(f"a translation has 3 coordinates, but this has shape {shift.shape}.")
    result = np.zeros((*np.broadcast_shapes(rotation.shape[:-2], shift.shape[:-1]), 4, 4))
    result[..., :3, :3] = rotation
    result[..., :3, 3] = shift
    result[..., 3, 3] = 1.0
    return result


def from_translation(translation: ArrayLike) -> Poses:
    """Make a pose that only moves.

    Parameters
    ----------
    translation : array_like, (..., 3)
        In metres.

    Returns
    -------
    ndarray, (..., 4, 4)

    Examples
    --------
    >>> from_translation([1.0, 0.0, 0.0])[0, 3]
    np.float64(1.0)
    """
    return _assemble(np.eye(3), translation)


def from_axis_angle(axis: ArrayLike, angle: ArrayLike, translation: ArrayLike = (0.0, 0.0, 0.0)) -> Poses:
    """Make a pose that turns about an axis through the origin, then moves.

    Parameters
    ----------
    axis : array_like, (..., 3)
        Of any length but zero.
    angle : array_like, (...)
        In radians, right-handed.
    translation : array_like, (..., 3)
        In metres.

    Returns
    -------
    ndarray, (..., 4, 4)

    Examples
    --------
    >>> np.round(from_axis_angle([0, 0, 1], np.pi / 2) @ [1, 0, 0, 1], 12) + 0.0
    array([0., 1., 0., 1.])
    """
    direction = _unit(axis, "axis")
    half = 0.5 * np.asarray(angle, dtype=np.float64)[..., None]
    imaginary = np.sin(half) * direction
    real = np.broadcast_to(np.cos(half), (*imaginary.shape[:-1], 1))
    return from_wxyz(np.concatenate([real, imaginary], axis=-1), translation)


def from_rpy(rpy: ArrayLike, translation: ArrayLike = (0.0, 0.0, 0.0)) -> Poses:
    """Make a pose from roll, pitch and yaw about the fixed axes x, y, z, in this order (as URDF does).

    Parameters
    ----------
    rpy : array_like, (..., 3)
        In radians.
    translation : array_like, (..., 3)
        In metres.

    Returns
    -------
    ndarray, (..., 4, 4)

    Examples
    --------
    >>> np.round(from_rpy([0, 0, np.pi / 2]) @ [1, 0, 0, 1], 12) + 0.0
    array([0., 1., 0., 1.])
    """
    angles = np.asarray(rpy, dtype=np.float64)
    if angles.shape[-1:] != (3,):
        raise ValueError(f"roll, pitch and yaw are 3 angles, but this has shape {angles.shape}.")
    roll, pitch, yaw = (from_axis_angle(np.eye(3)[k], angles[..., k]) for k in range(3))
    return from_translation(translation) @ yaw @ pitch @ roll


def from_wxyz(quaternion: ArrayLike, translation: ArrayLike = (0.0, 0.0, 0.0)) -> Poses:
    """Make a pose from a quaternion with its real part first (MuJoCo, Drake, trimesh, viser).

    Parameters
    ----------
    quaternion : array_like, (..., 4)
        Of any length but zero.
    translation : array_like, (..., 3)
        In metres.

    Returns
    -------
    ndarray, (..., 4, 4)

    Examples
    --------
    >>> bool((from_wxyz([1, 0, 0, 0]) == np.eye(4)).all())
    True
    """
    w, x, y, z = np.moveaxis(_unit(quaternion, "quaternion", 4), -1, 0)
    rotation = np.stack(
        [
            np.stack([1 - 2 * (y * y + z * z), 2 * (x * y - w * z), 2 * (x * z + w * y)], axis=-1),
            np.stack([2 * (x * y + w * z), 1 - 2 * (x * x + z * z), 2 * (y * z - w * x)], axis=-1),
            np.stack([2 * (x * z - w * y), 2 * (y * z + w * x), 1 - 2 * (x * x + y * y)], axis=-1),
        ],
        axis=-2,
    )
    return _assemble(rotation, translation)


def from_xyzw(quaternion: ArrayLike, translation: ArrayLike = (0.0, 0.0, 0.0)) -> Poses:
    """Make a pose from a quaternion with its real part last (ROS, SciPy, pinocchio, Bullet).

    Parameters
    ----------
    quaternion : array_like, (..., 4)
        Of any length but zero.
    translation : array_like, (..., 3)
        In metres.

    Returns
    -------
    ndarray, (..., 4, 4)

    Examples
    --------
    >>> bool((from_xyzw([0, 0, 0, 1]) == np.eye(4)).all())
    True
    """
    return from_wxyz(np.roll(_unit(quaternion, "quaternion", 4), 1, axis=-1), translation)


def to_wxyz(pose: ArrayLike) -> NDArray[np.float64]:
    """Give the rotation of a pose as a unit quaternion, real part first and not negative.

    Parameters
    ----------
    pose : array_like, (..., 4, 4)

    Returns
    -------
    ndarray, (..., 4)

    Examples
    --------
    >>> to_wxyz(np.eye(4))
    array([1., 0., 0., 0.])
    """
    r = as_poses(pose)[..., :3, :3]
    trace = np.trace(r, axis1=-2, axis2=-1)[..., None]
    diagonal = np.diagonal(r, axis1=-2, axis2=-1)
    # Four times the products of each component with all components; the row of the largest one is well conditioned.
    squares = np.concatenate([1 + trace, 1 - trace + 2 * diagonal], axis=-1)
    products = np.empty((*r.shape[:-2], 4, 4))
    products[..., range(4), range(4)] = squares
    for i, j, k in ((0, 1, 2), (1, 2, 0), (2, 0, 1)):
        products[..., 0, k + 1] = products[..., k + 1, 0] = r[..., j, i] - r[..., i, j]
        products[..., i + 1, j + 1] = products[..., j + 1, i + 1] = r[..., j, i] + r[..., i, j]
    best = np.argmax(squares, axis=-1)[..., None, None]
    quaternion = np.take_along_axis(products, best, axis=-2)[..., 0, :]
    quaternion = quaternion / np.linalg.norm(quaternion, axis=-1, keepdims=True)
    return np.asarray(np.where(quaternion[..., :1] < 0, -quaternion, quaternion) + 0.0, dtype=np.float64)


def to_xyzw(pose: ArrayLike) -> NDArray[np.float64]:
    """Give the rotation of a pose as a unit quaternion, real part last and not negative.

    Parameters
    ----------
    pose : array_like, (..., 4, 4)

    Returns
    -------
    ndarray, (..., 4)

    Examples
    --------
    >>> to_xyzw(np.eye(4))
    array([0., 0., 0., 1.])
    """
    return np.roll(to_wxyz(pose), -1, axis=-1)


def inverse(pose: ArrayLike) -> Poses:
    """Invert a rigid pose: `b_from_a` from `a_from_b`.

    Parameters
    ----------
    pose : array_like, (..., 4, 4)

    Returns
    -------
    ndarray, (..., 4, 4)

    Examples
    --------
    >>> inverse(from_translation([1.0, 2.0, 3.0]))[:3, 3]
    array([-1., -2., -3.])
    """
    matrices = as_poses(pose)
    rotation = np.swapaxes(matrices[..., :3, :3], -1, -2)
    return _assemble(rotation, -(rotation @ matrices[..., :3, 3:])[..., 0] + 0.0)


def interpolate(start: ArrayLike, end: ArrayLike, t: ArrayLike) -> Poses:
    """Move from one pose to another: straight for the origin, the shortest turn at constant rate for the rotation.

    Parameters
    ----------
    start, end : array_like, (..., 4, 4)
    t : array_like, (...)
        0 at the start, 1 at the end.

    Returns
    -------
    ndarray, (..., 4, 4)

    Examples
    --------
    >>> interpolate(np.eye(4), from_translation([2.0, 0.0, 0.0]), 0.5)[0, 3]
    np.float64(1.0)
    """
    first, last = as_poses(start), as_poses(end)
    part = np.asarray(t, dtype=np.float64)
    turn = to_wxyz(inverse(first) @ last)
    sine = np.linalg.norm(turn[..., 1:], axis=-1)
    angle = 2.0 * np.arctan2(sine, turn[..., 0])
    axis = np.where(sine[..., None] > 0, turn[..., 1:], [0.0, 0.0, 1.0])
    moved = first[..., :3, 3] + part[..., None] * (last[..., :3, 3] - first[..., :3, 3])
    turned = first @ from_axis_angle(axis, part * angle)
    return _assemble(turned[..., :3, :3], moved)


def _unit(value: ArrayLike, name: str, length: int = 3) -> NDArray[np.float64]:
    array = as_floats(value, name)
    if array.shape[-1:] != (length,):
        raise ValueError(f"{name} has {length} components, but this has shape {array.shape}.")
    norm = np.linalg.norm(array, axis=-1, keepdims=True)
    if not (np.isfinite(norm).all() and (norm > 0).all()):
        raise ValueError(f"{name} must be finite and not zero, but it is {array.tolist()}.")
    return np.asarray(array / norm, dtype=np.float64)
