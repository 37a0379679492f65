"""Exact distances between swept points, segments and triangles: slow, obvious and beyond doubt.

A double is a rational number, so cores given as doubles have rational squared distances and squared depths. Here they
are found by trying every pair of faces and every axis in integer arithmetic; only the last square root is rounded, to
fifty digits. Published methods that look exact and are not stand at the end, with pairs that prove it.
"""

from collections.abc import Callable
from decimal import Context, Decimal, localcontext
from fractions import Fraction
from itertools import combinations, compress, product
from typing import NamedTuple

import numpy as np

FIFTY_DIGITS = Context(prec=50)


# Vectors and matrices of integers ------------------------------------------------------------------------------------


def _minus(u, v):
    return tuple(x - y for x, y in zip(u, v, strict=True))


def _dot(u, v):
    return sum(x * y for x, y in zip(u, v, strict=True))


def _cross(u, v):
    return (u[1] * v[2] - u[2] * v[1], u[2] * v[0] - u[0] * v[2], u[0] * v[1] - u[1] * v[0])


def _determinant(rows):
    if not rows:
        return 1
    first, *rest = rows
    minors = ([row[:k] + row[k + 1 :] for row in rest] for k in range(len(first)))
    return sum((-1) ** k * x * _determinant(minor) for k, (x, minor) in enumerate(zip(first, minors, strict=True)))


def _integers(*cores):
    """Scale cores by the power of two that makes every coordinate an integer; return them and the scale.

    `Fraction` would reduce every intermediate result, which costs far more than the arithmetic.
    """
    ratios = [[[float(x).as_integer_ratio() for x in vertex] for vertex in core] for core in cores]
    scale = max(below for core in ratios for vertex in core for _, below in vertex)
    return *([tuple(above * (scale // below) for above, below in v) for v in core] for core in ratios), scale


# Distance and depth of cores -----------------------------------------------------------------------------------------


def core_distance_sq(a, b):
    """Return the exact squared distance of two cores, 0 where they meet.

    Parameters
    ----------
    a, b : (k, 3) array_like of float
        One, two or three vertices each; they may coincide.

    Returns
    -------
    Fraction

    Examples
    --------
    >>> core_distance_sq([[0, 0, 0.5]], [[0, 0, 0], [1, 0, 0], [0, 1, 0]])
    Fraction(1, 4)
    """
    a, b, scale = _integers(a, b)
    nearest = (_inner_distance_sq(face_a, face_b) for face_a, face_b in product(_faces(a), _faces(b)))
    return min(distance_sq for distance_sq in nearest if distance_sq is not None) / scale**2


def _faces(core):
    """Yield every non-empty subset of the vertices."""
    for count in range(1, len(core) + 1):
        yield from combinations(core, count)


def _inner_distance_sq(face_a, face_b):
    """Return the squared distance of two affine hulls if it is attained inside both faces, else None.

    Where the normal equations are singular, a closest pair can slide along both hulls at the same distance until one of
    the two points meets the border of its face. A smaller face has that minimum too, so the pair is left out.
    """
    (p, *others_a), (q, *others_b) = face_a, face_b
    # Over all weights, minimise |between + sum of weight * direction|.
    between = _minus(p, q)
    directions = [_minus(v, p) for v in others_a] + [_minus(q, v) for v in others_b]
    gram = [[_dot(u, v) for v in directions] for u in directions]
    whole = _determinant(gram)
    if whole == 0:
        return None

    # Cramer's rule gives weights times `whole`, which is positive because a Gram matrix is.
    wanted = [-_dot(u, between) for u in directions]
    weights = [
        _determinant([[*row[:k], right, *row[k + 1 :]] for row, right in zip(gram, wanted, strict=True)])
        for k in range(len(directions))
    ]
    of_p, of_q = whole - sum(weights[: len(others_a)]), whole - sum(weights[len(others_a) :])
    if min(of_p, of_q, *weights) < 0:
        return None
    shortest = [whole * x + _dot(weights, along) for x, along in zip(between, _columns(directions), strict=True)]
    return Fraction(_dot(shortest, shortest), whole**2)


def _columns(vectors):
    return list(zip(*vectors, strict=True)) or [()] * 3


def core_depth_sq(a, b):
    """Return the exact squared depth of two cores that meet: the least translation that separates them, squared.

    The differences of points of a and b form a convex body around the origin, and the depth is the distance to its
    nearest facet. A facet comes from a triangle of one core or from an edge of each, so its normal is a triangle normal
    or an edge product. A flat body has no depth: either its normal is among these, or it lies on a line and none is.

    Parameters
    ----------
    a, b : (k, 3) array_like of float

    Returns
    -------
    Fraction

    Examples
    --------
    >>> core_depth_sq([[1, 1, -2], [1, 1, 3]], [[0, 0, 0], [9, 0, 0], [0, 9, 0]])  # the edges are 1 away, the end 2
    Fraction(1, 1)
    """
    a, b, scale = _integers(a, b)
    normals = [_cross(_minus(v, u), _minus(w, u)) for core in (a, b) for u, v, w in combinations(core, 3)]
    edges_a, edges_b = ([_minus(v, u) for u, v in combinations(core, 2)] for core in (a, b))
    axes = normals + [_cross(u, v) for u, v in product(edges_a, edges_b)]
    depths_sq = [Fraction(_overlap(a, b, axis) ** 2, _dot(axis, axis)) for axis in axes if any(axis)]
    return min(depths_sq, default=Fraction(0)) / scale**2


def _overlap(a, b, axis):
    """Return how far b must be pushed, one way or the other, until the projections on the axis only touch."""
    heights_a, heights_b = ([_dot(axis, v) for v in core] for core in (a, b))
    return min(max(heights_a) - min(heights_b), max(heights_b) - min(heights_a))


def _square_root(square):
    with localcontext(FIFTY_DIGITS):
        return (Decimal(square.numerator) / Decimal(square.denominator)).sqrt()


def signed_core_distance(a, b):
    """Return the distance of two cores, or minus their depth where they meet, to fifty digits.

    Parameters
    ----------
    a, b : (k, 3) array_like of float

    Returns
    -------
    Decimal

    Examples
    --------
    >>> signed_core_distance([[0, 0, 0]], [[3, 4, 0]])
    Decimal('5')
    """
    distance_sq = core_distance_sq(a, b)
    if distance_sq > 0:
        return _square_root(distance_sq)
    return _square_root(core_depth_sq(a, b)).copy_negate()  # a minus sign would round to the caller's precision


# Swept elements ------------------------------------------------------------------------------------------------------


def signed_distance(a, radius_a, b, radius_b):
    """Return the signed distance of two swept elements, to fifty digits.

    Parameters
    ----------
    a, b : (k, 3) array_like of float
        Cores.
    radius_a, radius_b : float

    Returns
    -------
    Decimal
    """
    with localcontext(FIFTY_DIGITS):
        return signed_core_distance(a, b) - Decimal(float(radius_a)) - Decimal(float(radius_b))


def witness_error(point, core, radius):
    """Return how far a claimed witness point lies from the surface of a swept element, inside or outside of it.

    Without a radius the core is its own surface.

    Parameters
    ----------
    point : (3,) array_like of float
    core : (k, 3) array_like of float
    radius : float

    Returns
    -------
    Decimal
    """
    return signed_distance([point], 0.0, core, radius).copy_abs()


def bounding_radius(core):
    """Return the radius of the smallest sphere around a core, or around each of a batch: (..., k, 3) gives (...)."""
    core = np.asarray(core, dtype=float)
    if core.shape[-2] == 1:
        return np.zeros(core.shape[:-2])
    edges = core - np.roll(core, 1, axis=-2)
    lengths = np.linalg.norm(edges, axis=-1)
    longest = np.max(lengths, axis=-1)
    if core.shape[-2] == 2:
        return longest / 2
    # The longest edge spans the sphere unless all angles are acute; then all corners lie on it: r = abc / (4 area).
    acute = 2 * longest**2 < np.sum(lengths**2, axis=-1)
    by_length = np.take_along_axis(edges, np.argsort(lengths, axis=-1)[..., None], axis=-2)
    twice_area = np.linalg.norm(np.cross(by_length[..., 0, :], by_length[..., 1, :]), axis=-1)
    return np.where(acute, np.prod(lengths, axis=-1) / np.where(acute, 2 * twice_area, 1.0), longest / 2)


def size_of_pair(a, radius_a, b, radius_b):
    """Return the size that errors are relative to: the sum of the radii of the smallest bounding spheres.

    Parameters
    ----------
    a, b : (..., k, 3) array_like of float
    radius_a, radius_b : (...) array_like of float

    Returns
    -------
    (...) ndarray of float
    """
    return bounding_radius(a) + bounding_radius(b) + radius_a + radius_b


def allowance(a, b):
    """Return the error that rounding of world coordinates excuses: 8 eps of the farthest vertex from the origin.

    Parameters
    ----------
    a, b : (..., k, 3) array_like of float

    Returns
    -------
    (...) ndarray of float
    """
    return 8 * np.finfo(float).eps * np.maximum(*(np.linalg.norm(core, axis=-1).max(axis=-1) for core in (a, b)))


# Published methods that are not exact --------------------------------------------------------------------------------
#
# R. Poscher, Effiziente Abstandsberechnungen mit Swept-Sphere Volumen für Echtzeit Kollisionsvermeidung in der Robotik,
# B.Sc. thesis, TU München, 2020. Its point-segment, point-triangle and segment-segment tests are exact once misprints
# are mended (algorithm A.3 line 32 must ask s0 + s1 < 1, A.4 line 59 must read u² - 2 uᵀw), so they stand here in their
# shortest form.


def _point_segment(point, segment):
    start, along = segment[0], segment[1] - segment[0]
    s = np.clip((point - start) @ along / (along @ along), 0.0, 1.0)
    return np.linalg.norm(start + s * along - point)


def _segment_segment(p, q):
    u, v, w = p[1] - p[0], q[1] - q[0], q[0] - p[0]
    determinant = (u @ u) * (v @ v) - (u @ v) ** 2
    if determinant >= np.finfo(float).eps / 2 * (u @ u) * (v @ v):  # not parallel, eq. (4.28)
        s = ((v @ v) * (u @ w) - (u @ v) * (v @ w)) / determinant
        t = ((u @ v) * (u @ w) - (u @ u) * (v @ w)) / determinant
        if 0 <= s <= 1 and 0 <= t <= 1:
            return np.linalg.norm(w - s * u + t * v)
    return min([_point_segment(point, q) for point in p] + [_point_segment(point, p) for point in q])


def _plane_weights(point, triangle):
    """Return s0, s1 of the projection of a point on the plane of a triangle, eq. (4.14)."""
    return np.linalg.lstsq((triangle[1:] - triangle[0]).T, point - triangle[0], rcond=None)[0]


def _point_triangle(point, triangle):
    s0, s1 = _plane_weights(point, triangle)
    if s0 >= 0 and s1 >= 0 and s0 + s1 < 1:
        return np.linalg.norm(np.array([1 - s0 - s1, s0, s1]) @ triangle - point)
    return min(_point_segment(point, edge) for edge in _edges(triangle))


def _edges(core):
    return [core[[i, j]] for i, j in combinations(range(len(core)), 2)]


def _piercing(segment, triangle):
    """Return the parameter t of eq. (4.36) at which a line meets the plane of a triangle; None if parallel."""
    along, normal = segment[1] - segment[0], np.cross(triangle[1] - triangle[0], triangle[2] - triangle[0])
    steepness = _dot(normal, along)
    if abs(steepness) < np.finfo(float).eps / 2 * np.linalg.norm(normal) * np.linalg.norm(along):  # eq. (4.35)
        return None
    return _dot(normal, triangle[0] - segment[0]) / steepness


def poscher_segment_triangle(segment, triangle):
    """Return the distance of a segment and a triangle as algorithm A.5 with Table 4.6 of Poscher (2020) finds it.

    Exact in real arithmetic. Let y and q be closest points of triangle and segment, and p the point of the segment
    nearest to the plane. The table tests the edges that p is beyond. Were p beyond no edge through y, then p - y would
    lead into the triangle, but for a normal component no longer than that of q - y, so (q - y).(p - y) could not reach
    |q - y|² unless p = q is above the triangle (region 0). But it must, q being closest: an edge through y is tested.

    Inexact in floating point: nearly parallel to the plane, the division by n.e leaves no correct digit.

    Parameters
    ----------
    segment : (2, 3) array_like of float
    triangle : (3, 3) array_like of float
        Neither may be degenerate.

    Returns
    -------
    float
    """
    segment, triangle = np.asarray(segment, dtype=float), np.asarray(triangle, dtype=float)
    t = _piercing(segment, triangle)
    if t is None:
        edges = [_segment_segment(edge, segment) for edge in _edges(triangle)]
        return min([*edges, _point_triangle(segment[0], triangle)])

    along, e0, e1 = segment[1] - segment[0], triangle[1] - triangle[0], triangle[2] - triangle[0]
    if 0 <= t <= 1:
        w, steepness = triangle[0] - segment[0], _dot(np.cross(e0, e1), along)
        s0, s1 = _dot(np.cross(along, e1), w) / steepness, _dot(np.cross(e0, along), w) / steepness
    else:
        t = np.clip(t, 0.0, 1.0)
        s0, s1 = _plane_weights(segment[0] + t * along, triangle)

    if s0 >= 0 and s1 >= 0 and s0 + s1 < 1:  # region 0
        return np.linalg.norm(triangle[0] + s0 * e0 + s1 * e1 - (segment[0] + t * along))
    # Regions 1 to 6: beside an edge that edge is tested, beyond a corner the two edges that meet there.
    is_beyond = (s1 < 0, s0 < 0, s0 + s1 >= 1)
    return min(_segment_segment(edge, segment) for edge in compress(_edges(triangle), is_beyond))


def poscher_segment_triangle_of_the_text(segment, triangle):
    """Return the distance of a segment and a triangle as eq. (4.37) and its text in Poscher (2020) ask for it.

    Inexact: a segment that ends before the plane is replaced by its end nearest to the plane, but another point of it
    may be nearer to an edge. (Algorithm A.5 of the same thesis goes through Table 4.6 instead.)

    Parameters
    ----------
    segment : (2, 3) array_like of float
    triangle : (3, 3) array_like of float

    Returns
    -------
    float
    """
    segment, triangle = np.asarray(segment, dtype=float), np.asarray(triangle, dtype=float)
    t = _piercing(segment, triangle)
    if t is None or 0 <= t <= 1:
        return poscher_segment_triangle(segment, triangle)
    return _point_triangle(segment[0] if t < 0 else segment[1], triangle)


def poscher_triangle_triangle(a, b):
    """Return the distance of two triangles as section 4.3.6 of Poscher (2020) finds it.

    Inexact: only the edges of the first triangle are tested against the second, so a vertex of b above the inside of a,
    or an edge of b through it, goes unnoticed, and the answer depends on the order of the arguments.

    Parameters
    ----------
    a, b : (3, 3) array_like of float

    Returns
    -------
    float
    """
    return min(poscher_segment_triangle(edge, b) for edge in _edges(np.asarray(a, dtype=float)))


class Counterexample(NamedTuple):
    """A pair of cores, its exact distance, and a published method that finds another one."""

    name: str
    a: list
    b: list
    distance: float
    method: Callable


_WIDE = [[-9, -9, 0], [9, -9, 0], [0, 9, 0]]

POSCHER_COUNTEREXAMPLES = [
    # The lower end is 9 away from the triangle along x; the method answers sqrt(82). The upper end is nearer.
    Counterexample(
        "segment whose end nearest to the plane is its far end",
        [[10, 0, 1], [2, 0, 2]],
        [[0, 0, 0], [1, 0, 0], [0, 1, 0]],
        5**0.5,
        poscher_segment_triangle_of_the_text,
    ),
    # Tenths are not doubles, so the segment leaves the plane by some 1e-17; the method answers 0.95.
    Counterexample(
        "segment that runs from a corner across the triangle",
        [[-0.5, -0.4, 0.4], [0.6, 0.2, -0.3]],
        [[0.0, 0.0, 0.1], [-0.5, -0.4, 0.4], [0.2, 0.3, 0.0]],
        0.0,
        poscher_segment_triangle,
    ),
    # The next three are right with the arguments swapped; this way the method answers 3.29, 3.67 and 3.29.
    Counterexample(
        "small triangle above the inside of a wide one",
        _WIDE,
        [[0, 0, 1], [1, 0, 1], [0, 1, 1]],
        1.0,
        poscher_triangle_triangle,
    ),
    Counterexample(
        "corner of a triangle above the inside of a wide one",
        _WIDE,
        [[0, 0, 1], [9, 0, 10], [-9, 0, 10]],
        1.0,
        poscher_triangle_triangle,
    ),
    Counterexample(
        "wide triangle pierced by a small one",
        _WIDE,
        [[0, 0, -1], [1, 0, 1], [0, 1, 1]],
        0.0,
        poscher_triangle_triangle,
    ),
]
