"""Pairs of swept points, segments and triangles, drawn in batches from a seed, most of them near contact.

Hypothesis draws a family and a seed, NumPy draws the batch: a property then checks a few hundred pairs at the cost of
one example, and a failure is replayed from two small values. Where the construction knows the signed distance
beforehand, `gap` holds it, up to the rounding of the coordinates.
"""

from dataclasses import dataclass, replace

import numpy as np
from hypothesis import strategies as st

import clearance

TOUCH = 1e-9  # the smallest gap drawn that is not zero, relative to elements of size one


@dataclass(frozen=True)
class ElementPairs:
    """A batch of n pairs of swept elements.

    Attributes
    ----------
    a, b : (n, ka, 3) and (n, kb, 3) ndarray
        Vertices of the cores.
    radius_a, radius_b : (n,) ndarray
    gap : (n,) ndarray
        Signed distance, NaN where it is not known beforehand.
    """

    a: np.ndarray
    b: np.ndarray
    radius_a: np.ndarray
    radius_b: np.ndarray
    gap: np.ndarray

    def __len__(self):
        return len(self.gap)

    def swapped(self):
        return ElementPairs(self.b, self.a, self.radius_b, self.radius_a, self.gap)

    def moved(self, poses):
        """Move every pair by one (4, 4) pose, or each by its own of (n, 4, 4)."""
        return replace(self, a=_transform(poses, self.a), b=_transform(poses, self.b))

    def scaled(self, factors):
        """Scale every pair by one factor, or each by its own of (n,)."""
        factors = np.broadcast_to(factors, len(self))
        lengths = {name: getattr(self, name) * factors for name in ("radius_a", "radius_b", "gap")}
        return ElementPairs(self.a * factors[:, None, None], self.b * factors[:, None, None], **lengths)


# Pieces --------------------------------------------------------------------------------------------------------------


def _transform(poses, points):
    return points @ np.swapaxes(poses[..., :3, :3], -1, -2) + poses[..., None, :3, 3]


def _log_uniform(rng, low, high, n):
    return 10.0 ** rng.uniform(np.log10(low), np.log10(high), n)


def _radii(rng, n):
    return np.where(rng.random(n) < 0.3, 0.0, _log_uniform(rng, 1e-3, 1.0, n))


def _small_gaps(rng, n):
    size = np.where(rng.random(n) < 0.1, 0.0, _log_uniform(rng, TOUCH, 0.1, n))
    return rng.choice([-1.0, 1.0], n) * size


def _convex_weights(rng, n, k, count=None):
    """Draw (n, k) convex weights of which only the first `count` of each row differ from zero."""
    raw = rng.exponential(size=(n, k))
    if count is not None:
        raw *= np.arange(k) < count[:, None]
    return raw / raw.sum(axis=-1, keepdims=True)


def _around_origin(rng, n, k, dimension, count=None):
    """Draw cores in the first `dimension` coordinates; the first `count` vertices have the origin between them."""
    core = np.zeros((n, k, 3))
    core[..., :dimension] = rng.normal(size=(n, k, dimension)) * _log_uniform(rng, 0.03, 1.0, n)[:, None, None]
    return core - np.einsum("nk,nkd->nd", _convex_weights(rng, n, k, count), core)[:, None]


def _between(rng, core, k):
    """Draw cores of k vertices inside given ones."""
    n, outer = core.shape[:2]
    return _convex_weights(rng, n * k, outer).reshape(n, k, outer) @ core


def _turned(core, angle):
    """Turn cores about the z axis, each by an angle of its own."""
    cosine, sine = np.cos(angle)[:, None], np.sin(angle)[:, None]
    x, y, z = np.moveaxis(core, -1, 0)
    return np.stack([cosine * x - sine * y, sine * x + cosine * y, z], axis=-1)


def _shuffled(rng, core):
    """Put the vertices of each core in random order."""
    order = rng.random(core.shape[:2]).argsort(axis=1)
    return np.take_along_axis(core, order[..., None], axis=1)


def rigid_motions(rng, n):
    """Draw poses with uniformly distributed rotations.

    Parameters
    ----------
    rng : numpy.random.Generator
    n : int

    Returns
    -------
    (n, 4, 4) ndarray
    """
    quaternion = rng.normal(size=(n, 4))
    w, x, y, z = (quaternion / np.linalg.norm(quaternion, axis=1, keepdims=True)).T
    poses = np.tile(np.eye(4), (n, 1, 1))
    rows = [
        [1 - 2 * (y * y + z * z), 2 * (x * y - w * z), 2 * (x * z + w * y)],
        [2 * (x * y + w * z), 1 - 2 * (x * x + z * z), 2 * (y * z - w * x)],
        [2 * (x * z - w * y), 2 * (y * z + w * x), 1 - 2 * (x * x + y * y)],
    ]
    poses[:, :3, :3] = np.moveaxis(np.array(rows), -1, 0)
    poses[:, :3, 3] = rng.normal(size=(n, 3))
    return poses


def _placed(rng, pairs):
    """Move pairs about; half of them only by exchanging axes, which keeps planes and ties exact to the last bit."""
    poses = rigid_motions(rng, len(pairs))
    exchanges = np.stack([np.roll(np.eye(3), k, axis=0) for k in range(3)])
    plain = rng.random(len(pairs)) < 0.5
    poses[plain, :3, :3] = exchanges[rng.integers(3, size=plain.sum())]
    poses[plain, :3, 3] = 0.0
    return pairs.moved(poses)


# Tangent planes: pairs whose distance is known -----------------------------------------------------------------------


def _standing(rng, n, k, count=None):
    """Draw cores that stand on z = 0 with the origin in the part that touches: a corner, an edge or the whole.

    `count` is the number of vertices that touch; it is drawn for each core if not given.
    """
    count = rng.integers(1, k + 1, size=n) if count is None else count
    core = _around_origin(rng, n, k, 2, count)
    core[..., 2] = np.where(np.arange(k) < count[:, None], 0.0, _log_uniform(rng, 1e-6, 1.0, (n, k)))
    return core


def _slab(rng, a, b):
    """Turn a upside down, lift b, and choose radii so that the slab between them leaves a small gap, or a negative one.

    Cores that stand on z = 0 with the origin below them are then as far apart as the slab is thick: its planes bound
    the distance from below, the two origins from above.
    """
    n = len(a)
    radius_a, radius_b, gap = _radii(rng, n), _radii(rng, n), _small_gaps(rng, n)
    # The slab cannot be thinner than nothing: cores that meet have a depth of their own.
    gap = np.where(gap + radius_a + radius_b >= 0, gap, -gap)
    thickness = np.zeros((n, 1, 3))
    thickness[:, 0, 2] = gap + radius_a + radius_b
    return ElementPairs(_shuffled(rng, a * [1, 1, -1]), _shuffled(rng, b + thickness), radius_a, radius_b, gap)


def tangent_pairs(rng, ka, kb, n):
    """Draw pairs near contact with tangent planes a chosen gap apart, so that every signed distance is known.

    Parameters
    ----------
    rng : numpy.random.Generator
    ka, kb : int
        Vertices of the cores, 1 to 3.
    n : int

    Returns
    -------
    ElementPairs
    """
    return _placed(rng, _slab(rng, _standing(rng, n, ka), _standing(rng, n, kb)))


# Families ------------------------------------------------------------------------------------------------------------


def _met(rng, a, b):
    """Give radii to cores that meet. The depth of cores is zero unless one is a triangle and the other pierces it."""
    radius_a, radius_b = _radii(rng, len(a)), _radii(rng, len(a))
    return ElementPairs(a, b, radius_a, radius_b, -(radius_a + radius_b))


def _unknown(pairs):
    return replace(pairs, gap=np.full(len(pairs), np.nan))


def _random(rng, ka, kb, n):
    """Nothing special. Smaller radii for larger cores let about half of the pairs collide."""
    a, b = rng.normal(size=(n, ka, 3)), rng.normal(size=(n, kb, 3))
    radius_a, radius_b = rng.uniform(0.0, 2.4 / (ka * kb) ** 0.6, size=(2, n)) * (rng.random((2, n)) < 0.9)
    return ElementPairs(a, b, radius_a, radius_b, np.full(n, np.nan))


def _flat(rng, ka, kb, n):
    """Cores side by side in one plane."""
    a, b = _standing(rng, n, ka), _standing(rng, n, kb)
    return _placed(rng, _slab(rng, a * [1, 0, 1], b * [1, 0, 1]))


def _overlapping(rng, ka, kb, n):
    """Cores in one plane that have a point in common."""
    return _placed(rng, _met(rng, _around_origin(rng, n, ka, 2), _around_origin(rng, n, kb, 2)))


def _contained(rng, ka, kb, n):
    """One core inside the other."""
    outer = _around_origin(rng, n, max(ka, kb), 2)
    inner = _between(rng, outer, min(ka, kb))
    return _placed(rng, _met(rng, outer, inner) if ka >= kb else _met(rng, inner, outer))


def _hovering(rng, ka, kb, n):
    """One core above the inside of the other, parallel to it."""
    outer = _around_origin(rng, n, max(ka, kb), 2)
    inner = _between(rng, outer, min(ka, kb))
    return _placed(rng, _slab(rng, outer, inner) if ka >= kb else _slab(rng, inner, outer))


def _aligned(core):
    """Turn cores about the z axis until their first edge lies along x."""
    if core.shape[1] == 1:
        return core
    edge = core[:, 1] - core[:, 0]
    core = _turned(core, -np.arctan2(edge[:, 1], edge[:, 0]))
    core[:, 1, 1] = core[:, 0, 1]
    return core


def _parallel_slab(rng, ka, kb, n):
    """Draw parallel faces with parallel edges; half of the pairs overlap in projection, half are shifted sideways."""
    a, b = (_aligned(_around_origin(rng, n, k, 2)) for k in (ka, kb))
    pairs = _slab(rng, a, b)
    shift = rng.normal(size=(n, 1, 3)) * [1, 1, 0] * (rng.random((n, 1, 1)) < 0.5)
    return replace(pairs, b=pairs.b + shift, gap=np.where(shift.any(axis=(1, 2)), np.nan, pairs.gap))


def _parallel(rng, ka, kb, n):
    """Parallel faces with parallel edges."""
    return _placed(rng, _parallel_slab(rng, ka, kb, n))


def _nearly_parallel(rng, ka, kb, n):
    """Faces and edges that leave parallel by an angle from rounding to a milliradian."""
    pairs = _parallel_slab(rng, ka, kb, n)
    axis, angle = rng.normal(size=(n, 1, 3)), _log_uniform(rng, 1e-17, 1e-3, n)[:, None, None]
    return _placed(rng, _unknown(replace(pairs, b=pairs.b + angle * np.cross(axis, pairs.b))))


def _needle(rng, ka, kb, n):
    """Triangles up to 1e12 times as long as wide."""

    def slim(core):
        core[..., 1] *= _log_uniform(rng, 1e-12, 1e-2, n)[:, None]
        return _turned(core, rng.uniform(0, 2 * np.pi, n))

    return _placed(rng, _slab(rng, slim(_standing(rng, n, ka)), slim(_standing(rng, n, kb))))


def _degenerate(rng, ka, kb, n):
    """Vertices that coincide with others or lie between them."""

    def collapsed(k):
        count = rng.integers(1, max(k, 2), size=n)
        core = _standing(rng, n, k, count)
        # Whatever does not touch z = 0 is put between the vertices that do, half of the time upon one of them.
        weights = _convex_weights(rng, n, k, count)
        upon = np.eye(k)[np.argmax(weights, axis=1)]
        filling = np.einsum("nk,nkd->nd", np.where(rng.random((n, 1)) < 0.5, weights, upon), core)
        return np.where((np.arange(k) < count[:, None])[..., None], core, filling[:, None])

    return _placed(rng, _slab(rng, collapsed(ka), collapsed(kb)))


def _piercing(rng, ka, kb, n):
    """Cores that have a point in common, in general position."""
    pairs = _placed(rng, _met(rng, _around_origin(rng, n, ka, 3), _around_origin(rng, n, kb, 3)))
    return _unknown(pairs) if min(ka, kb) >= 2 and ka + kb >= 5 else pairs


def _lattice(rng, ka, kb, n):
    """Small integers: exact ties, contacts and degeneracies of every kind."""
    a, b = (rng.integers(-2, 3, size=(n, k, 3)).astype(float) for k in (ka, kb))
    radius_a, radius_b = rng.choice([0.0, 0.5, 1.0], size=(2, n))
    return ElementPairs(a, b, radius_a, radius_b, np.full(n, np.nan))


def _far(rng, ka, kb, n):
    """Near contact, up to a million metres from the origin."""
    poses = np.tile(np.eye(4), (n, 1, 1))
    poses[:, :3, 3] = rng.normal(size=(n, 3)) * _log_uniform(rng, 1e2, 1e6, n)[:, None]
    return tangent_pairs(rng, ka, kb, n).moved(poses)


def _scaled(rng, ka, kb, n):
    """Near contact, from micrometres to thousands of kilometres."""
    return tangent_pairs(rng, ka, kb, n).scaled(_log_uniform(rng, 1e-6, 1e6, n))


_FAMILY = {
    "random": _random,
    "near_contact": tangent_pairs,
    "flat": _flat,
    "overlapping": _overlapping,
    "contained": _contained,
    "hovering": _hovering,
    "parallel": _parallel,
    "nearly_parallel": _nearly_parallel,
    "needle": _needle,
    "degenerate": _degenerate,
    "piercing": _piercing,
    "lattice": _lattice,
    "far": _far,
    "scaled": _scaled,
}

FAMILIES = tuple(_FAMILY)


def element_pairs(rng, ka, kb, n, family):
    """Draw a batch of pairs of swept elements.

    Parameters
    ----------
    rng : numpy.random.Generator
    ka, kb : int
        Vertices of the cores, 1 to 3.
    n : int
    family : str
        One of `FAMILIES`.

    Returns
    -------
    ElementPairs
    """
    return _FAMILY[family](rng, ka, kb, n)


# Shapes and poses ----------------------------------------------------------------------------------------------------


def random_shapes(rng, n):
    """Draw shapes of every kind that is one swept element, of about unit size.

    Parameters
    ----------
    rng : numpy.random.Generator
    n : int

    Returns
    -------
    list of Shape
    """
    makers = [
        lambda r: clearance.Sphere(r),
        lambda r: clearance.Capsule(r, rng.uniform(0.1, 1)),
        lambda r: clearance.SweptPoint(*rng.normal(size=(1, 3)) / 3, r),
        lambda r: clearance.SweptSegment(*rng.normal(size=(2, 3)) / 3, r),
        lambda r: clearance.SweptTriangle(*rng.normal(size=(3, 3)) / 3, r),
    ]
    return [makers[k](rng.uniform(0.01, 0.3)) for k in rng.integers(len(makers), size=n)]


def random_compound(rng, n):
    """Draw a compound of n parts, placed at random about the origin.

    Parameters
    ----------
    rng : numpy.random.Generator
    n : int

    Returns
    -------
    Compound
    """
    placed = zip(random_shapes(rng, n), rigid_motions(rng, n), strict=True)
    return clearance.Compound([part.at(pose) for part, pose in placed])


def cores_in_the_world(shape, pose):
    """Return vertices and radius of every element of a shape at a pose, by plain matrix products.

    Parameters
    ----------
    shape : Shape
    pose : (4, 4) ndarray

    Returns
    -------
    list of ((k, 3) ndarray, float)
    """
    return [(_transform(pose, core), radius) for core, radius in shape.elements]


# What Hypothesis draws -----------------------------------------------------------------------------------------------


def seeds():
    return st.integers(0, 2**32 - 1)


def families():
    return st.sampled_from(FAMILIES)


def kinds():
    """Draw the number of vertices of a core: a point, a segment or a triangle."""
    return st.integers(1, 3)


def rigid_motion():
    """Draw one (4, 4) pose."""
    return seeds().map(lambda seed: rigid_motions(np.random.default_rng(seed), 1)[0])
