"""Sphere-swept hulls of few points around many: the bodies of a robot, as small as they can be made.

After Täubig, Bäuml and Frese (2011), section V-B: the volume is minimised by linear programs within a step size. Here
its derivatives are exact, and a kink of it, where four corners share a face, is a row of the program for each side.
Whatever the optimisation does, the radius is measured last and with a proof, so the points are always inside.
It needs SciPy: `pip install clearance[fit]`.
"""

from __future__ import annotations

import importlib
import itertools
from collections.abc import Iterator
from dataclasses import dataclass, field
from math import frexp, inf, ldexp, pi
from operator import index
from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

from .elements import closest
from .errors import NotConverged
from .poses import as_floats
from .queries import distance
from .shapes import ConvexHull, SweptPoint

__all__ = ["fit_swept_hull", "swept_volume"]

Floats = NDArray[np.float64]
Indices = NDArray[np.integer]

EPS = float(np.finfo(np.float64).eps)
FLAT = 1e-12  # thinner than this share of its size, a cloud is as flat as its coordinates can tell
LARGEST = 1e30  # what shapes refuse
THIN = 1e-8  # how closely a core that is hard to measure is measured, as a share of its size

# Of the search, for clouds within the unit ball:
SMALLEST_STEP = 1e-5
SMALLEST_GAIN = 1e-5  # a share of the volume
MOST_KINKS = 8
MOST_ROWS = 120
MOST_CORNERS = 400  # more of them take part once they stick out
RANDOM_STARTS = 20
RELOCATIONS = 2


def fit_swept_hull(points: ArrayLike, n_points: int, *, seed: int = 0) -> ConvexHull:
    """Fit the convex hull of a few points, swept by a ball, around many points: of small volume, none left outside.

    One point gives the smallest ball. For more it is a local search from many starts. The order of the points and
    their unit of length make no difference; another frame makes little.

    Parameters
    ----------
    points : array_like, (m, 3)
        In metres: the vertices of a mesh, say. Its convex hull is what is contained.
    n_points : int
        How many points the hull may have; it has fewer where more would not help.
    seed : int
        Of the starts that are drawn at random.

    Returns
    -------
    ConvexHull

    Raises
    ------
    ImportError
        If SciPy is not there; one point does without.

    Examples
    --------
    >>> corners = [[x, y, z] for x in (0, 4) for y in (0, 2) for z in (0, 1)]
    >>> ball = fit_swept_hull(corners, 1)
    >>> ball.points.round(9).tolist(), round(ball.radius, 9)
    ([[2.0, 1.0, 0.5]], 2.291287847)
    >>> [round(swept_volume(fit_swept_hull(corners, n)), 1) for n in (1, 2, 8)]
    [50.4, 20.7, 8.0]
    """
    given, count = _checked(points, n_points)
    # A power of two changes no digit, and keeps squares and cubes in range.
    exponent = frexp(float(np.abs(given).max()))[1]
    cloud = np.unique(np.ldexp(given, -exponent), axis=0)
    centre = _ball(cloud)
    cores: list[Floats] = [centre[None]]
    if count > 1 and len(cloud) > 1:
        cores += _cores(cloud, centre, count, seed)
    fits = [ConvexHull(core, _radius(core, cloud)) for core in cores]
    best = min(fits, key=swept_volume) if len(fits) > 1 else fits[0]
    return ConvexHull(np.ldexp(best.points, exponent), ldexp(best.radius, exponent))


def swept_volume(hull: ConvexHull) -> float:
    """Compute the volume of a sphere-swept convex hull, by Steiner's formula.

    Parameters
    ----------
    hull : ConvexHull

    Returns
    -------
    float
        In cubic metres.

    Raises
    ------
    ImportError
        If SciPy is not there; up to three points do without.

    Examples
    --------
    >>> round(swept_volume(ConvexHull([[0, 0, 0], [1, 0, 0]], radius=0.5)), 9)
    1.308996939
    """
    points, radius = np.asarray(hull.points), hull.radius
    exponent = frexp(max(float(np.ptp(points, axis=0).max()), radius))[1]
    core = np.ldexp(points - points[0], -exponent)
    return ldexp(_steiner(core).volume(ldexp(radius, -exponent)), 3 * exponent)


def _checked(points: ArrayLike, n_points: int) -> tuple[Floats, int]:
    array = as_floats(points, "points")
    if array.ndim != 2 or array.shape[1] != 3 or not len(array):
        raise ValueError(f"points must have shape (m, 3) with m > 0, but it has {array.shape}.")
    usable = np.abs(array) < LARGEST  # nor is NaN
    if not usable.all():
        row = int(np.argmin(usable.all(axis=1)))
        found = tuple(array[row].tolist())
        raise ValueError(f"points[{row}] must be finite and below {LARGEST:g}, but it is {found}.")
    try:
        count = index(n_points)
    except TypeError as error:
        raise ValueError(f"n_points must be an integer, but it is {n_points!r}.") from error
    if count < 1:
        raise ValueError(f"n_points must be 1 or more, but it is {count}.")
    return array, count


def _extra(name: str) -> Any:
    try:
        return importlib.import_module(name)
    except ImportError as error:
        raise ImportError(f"fitting needs {name}; get it with: pip install clearance[fit]") from error


def _radius(core: Floats, cloud: Floats) -> float:
    """How far the core must be swept to contain a cloud: proved, and with room for the rounding of coordinates."""
    is_corner = (cloud[:, None] == core).all(axis=2).any(axis=1)  # contained without any sweep
    others = cloud[~is_corner]
    if not len(others):
        return 0.0
    poses = np.tile(np.eye(4), (len(others), 1, 1))
    poses[:, :3, 3] = others
    points, hull = SweptPoint(np.zeros(3), 0.0).at(poses), ConvexHull(core)
    try:
        away = distance(points, hull)
    except NotConverged:  # a core as thin as paper; a wider bracket is a bracket still
        away = distance(points, hull, tolerance=THIN)
    return max(float(away.upper.max()), 0.0) + 8 * EPS * float(np.abs(cloud).max())


# The smallest ball ---------------------------------------------------------------------------------------------------


def _ball(cloud: Floats) -> Floats:
    """Find the centre of the smallest ball around a cloud.

    The farthest point joins the few that the ball rests on, and the ball grows, until nothing sticks out.
    """
    size = float(np.ptp(cloud, axis=0).max())
    support: Floats = cloud[:1]
    centre: Floats = cloud[0]
    radius = 0.0
    while True:
        far = np.linalg.norm(cloud - centre, axis=1)
        worst = int(np.argmax(far))
        if far[worst] <= radius + 4 * EPS * size:
            return centre
        support, next_centre, next_radius = _ball_of_few(np.vstack([support, cloud[worst]]))
        if next_radius <= radius:  # rounding has the last word
            return centre
        centre, radius = next_centre, next_radius


def _ball_of_few(points: Floats) -> tuple[Floats, Floats, float]:
    """The smallest ball of up to five points, and which of them it rests on: one of all that rest on two to four."""
    room = 1e-12 * float(np.ptp(points, axis=0).max())
    best: tuple[Floats, Floats, float] = (points, points[0], inf)
    for count in range(2, min(len(points), 4) + 1):
        for chosen in itertools.combinations(range(len(points)), count):
            support = points[list(chosen)]
            edges = support[1:] - support[0]
            offset = np.linalg.lstsq(edges, 0.5 * (edges**2).sum(axis=1), rcond=None)[0]
            centre = support[0] + offset
            radius = float(np.linalg.norm(support - centre, axis=1).max())
            if radius < best[2] - room and np.linalg.norm(points - centre, axis=1).max() <= radius + room:
                best = support, centre, radius
    return best


# Steiner's formula ---------------------------------------------------------------------------------------------------


@dataclass(frozen=True, eq=False)
class Steiner:
    """What the volume of a swept core is made of: V + S r + M r^2 + 4/3 pi r^3, with its derivatives by the points.

    Attributes
    ----------
    terms : ndarray, (3,)
        V, S and M: volume, area and integrated mean curvature of the core.
    slopes : ndarray, (3, k, 3)
    cells : ndarray of int, (f, 1 to 3)
        Points of the simplices that the surface of the core consists of.
    planes : ndarray, (f, 4)
        Normals out of the core and offsets; none if it has no inside.
    """

    terms: Floats
    slopes: Floats
    cells: Indices
    planes: Floats = field(default_factory=lambda: np.empty((0, 4)))

    def volume(self, radius: float) -> float:
        return float(np.dot([1.0, radius, radius**2], self.terms)) + 4 / 3 * pi * radius**3

    def slope(self, radius: float) -> Floats:
        """Derivatives of the volume by all coordinates, and by the radius."""
        by_points = np.tensordot([1.0, radius, radius**2], self.slopes, 1)
        by_radius = float(np.dot([0.0, 1.0, 2 * radius], self.terms)) + 4 * pi * radius**2
        return np.append(by_points, by_radius)


def _steiner(core: Floats) -> Steiner:
    if len(core) == 1:
        return Steiner(np.zeros(3), np.zeros((3, 1, 3)), np.array([[0]]))
    if len(core) == 2:
        return _of_outline(core, np.array([0, 1]))
    if len(core) == 3:
        return _of_outline(core, np.array([0, 1, 2]))
    spatial = _extra("scipy.spatial")
    try:
        hull = spatial.ConvexHull(core)
    except spatial.QhullError:  # flatter than rounding
        hull = None
    if hull is not None and hull.volume > FLAT * hull.area * float(np.ptp(core, axis=0).max()):
        return _of_polyhedron(core, hull)
    return _of_outline(core, _outline(core @ _axes(core)[0][:2].T))


def _cross(a: Floats, b: Floats) -> Floats:
    """As `numpy.cross`, which takes five times as long for few vectors."""
    (a0, a1, a2), (b0, b1, b2) = np.moveaxis(a, -1, 0), np.moveaxis(b, -1, 0)
    return np.stack([a1 * b2 - a2 * b1, a2 * b0 - a0 * b2, a0 * b1 - a1 * b0], axis=-1)


def _axes(points: Floats) -> tuple[Floats, Floats]:
    """Principal axes as rows, the longest first, and how wide the points are along each."""
    centred = points - points.mean(axis=0)
    axes: Floats = np.linalg.svd(centred, full_matrices=len(points) < 3)[2]
    return axes, np.ptp(centred @ axes.T, axis=0)


def _outline(flat: Floats) -> Indices:
    """Corners of the convex polygon around points (n, 2), in turn; two, if they lie on a line."""
    width = np.ptp(flat, axis=0)
    if width[1] > FLAT * width[0]:
        spatial = _extra("scipy.spatial")
        try:
            corners: Indices = spatial.ConvexHull(flat).vertices
            return corners
        except spatial.QhullError:
            pass
    return np.array([np.argmin(flat[:, 0]), np.argmax(flat[:, 0])])


def _of_outline(core: Floats, corners: Indices) -> Steiner:
    """A flat core has two sides; its outline bends by half a turn."""
    terms, slopes = np.zeros(3), np.zeros((3, *core.shape))
    first, second = corners, np.roll(corners, -1)
    _add_lengths(core, np.stack([first, second], axis=1), np.full(len(corners), pi / 2), terms, slopes)
    if len(corners) == 2:
        return Steiner(terms, slopes, corners[None])
    fan = np.stack([np.full(len(corners) - 2, corners[0]), corners[1:-1], corners[2:]], axis=1)
    _add_areas(core, fan, 2.0, terms, slopes)
    return Steiner(terms, slopes, fan)


def _of_polyhedron(core: Floats, hull: Any) -> Steiner:
    terms, slopes = np.zeros(3), np.zeros((3, *core.shape))
    cells, normals = hull.simplices, hull.equations[:, :3]
    a, b, c = (core[cells[:, k]] for k in range(3))
    is_turned = (_cross(b - a, c - a) * normals).sum(axis=1) < 0.0
    outward = np.where(is_turned[:, None], cells[:, ::-1], cells)
    _add_areas(core, outward, 1.0, terms, slopes)
    origin = core.mean(axis=0)
    a, b, c = (core[outward[:, k]] - origin for k in range(3))
    for corner, across in enumerate((_cross(b, c), _cross(c, a), _cross(a, b))):
        np.add.at(slopes[0], outward[:, corner], across / 6)
    terms[0] = (a * _cross(b, c)).sum() / 6
    # Neighbour k of a triangle lies across from its corner k, so every edge is met twice. As the core moves, the sum
    # of lengths times changes of angles stays zero (Schläfli), so only changes of lengths are left in the slope of M.
    others = normals[hull.neighbors]
    sine = np.linalg.norm(_cross(normals[:, None], others), axis=2)
    bend = np.arctan2(sine, (normals[:, None] * others).sum(axis=2))
    edges = np.stack([np.roll(cells, -1, axis=1), np.roll(cells, -2, axis=1)], axis=2)
    _add_lengths(core, edges.reshape(-1, 2), 0.25 * bend.reshape(-1), terms, slopes)
    return Steiner(terms, slopes, cells, hull.equations)


def _add_lengths(core: Floats, edges: Indices, weights: Floats, terms: Floats, slopes: Floats) -> None:
    along = core[edges[:, 1]] - core[edges[:, 0]]
    length = np.linalg.norm(along, axis=1)
    pull = along * (weights / np.maximum(length, EPS))[:, None]
    terms[2] += weights @ length
    np.add.at(slopes[2], edges[:, 1], pull)
    np.add.at(slopes[2], edges[:, 0], -pull)


def _add_areas(core: Floats, cells: Indices, sides: float, terms: Floats, slopes: Floats) -> None:
    a, b, c = (core[cells[:, k]] for k in range(3))
    across = _cross(b - a, c - a)
    double = np.linalg.norm(across, axis=1)
    normals = across / np.maximum(double, EPS**2)[:, None]
    terms[1] += 0.5 * sides * double.sum()
    for corner, opposite in enumerate((c - b, a - c, b - a)):
        np.add.at(slopes[1], cells[:, corner], 0.5 * sides * _cross(normals, opposite))


# The search ----------------------------------------------------------------------------------------------------------


@dataclass(frozen=True, eq=False)
class Try:
    """A core, how far each point of the cloud is from it, and the volume once it is swept over all of them."""

    core: Floats
    steiner: Steiner
    away: Floats
    radius: float
    volume: float

    @classmethod
    def of(cls, core: Floats, cloud: Floats) -> Try:
        steiner = _steiner(core)
        away = _away(core, steiner, cloud)
        radius = float(away.max())
        return cls(core, steiner, away, radius, steiner.volume(radius))

    @property
    def slope(self) -> Floats:
        return self.steiner.slope(self.radius)


def _away(core: Floats, steiner: Steiner, cloud: Floats) -> Floats:
    """How far points are from a core; zero inside."""
    gaps = closest(cloud[:, None, None], core[steiner.cells], threads=1)
    away: Floats = gaps.distance.min(axis=1)
    if len(steiner.planes):
        heights = cloud @ steiner.planes[:, :3].T + steiner.planes[:, 3]
        away = np.where((heights <= 0.0).all(axis=1), 0.0, away)
    return away


def _pulls(core: Floats, steiner: Steiner, points: Floats) -> Floats:
    """Derivatives (m, 3 k) of the distances of points from a core, by the coordinates of the core."""
    gaps = closest(points[:, None, None], core[steiner.cells], threads=1)
    rows = np.arange(len(points))
    nearest = gaps.distance.argmin(axis=1)
    # The nearest point of the core is a mean of its points: each is pulled as its weight there says.
    towards, cells = -gaps.normal[rows, nearest], steiner.cells[nearest]
    pulls = np.zeros((len(points), *core.shape))
    for corner in range(cells.shape[1]):
        pulls[rows, cells[:, corner]] -= gaps.weights_b[rows, nearest, corner, None] * towards
    return pulls.reshape(len(points), -1)


def _descend(best: Try, cloud: Floats, step: float, rounds: int) -> tuple[Try, float]:
    """Walk downhill by linear programs within a step that adapts itself; give the step back to go on from there."""
    kinks: list[Try] = []
    for _ in range(rounds):
        if step < SMALLEST_STEP:
            break
        move, gain = _best_move(best, kinks, cloud, step)
        if gain <= SMALLEST_GAIN:
            break
        trial = Try.of(best.core + move.reshape(-1, 3), cloud)
        gained = 1.0 - trial.volume / best.volume
        if gained < 0.1 * gain:
            # Beyond a kink, or too far for a linear program: it learns the slope over there, and steps less far.
            kinks = [*kinks[-MOST_KINKS:], trial]
            step *= 0.5
            continue
        step *= 2.0 if gained > 0.6 * gain else 1.0
        kinks = [*(k for k in kinks[-MOST_KINKS:] if np.abs(k.core - trial.core).max() < step), best]
        best = trial
    return best, step


def _best_move(best: Try, kinks: list[Try], cloud: Floats, step: float) -> tuple[Floats, float]:
    """Solve the linear program for a move of the core; its promise is a share of the volume.

    Unknown are the move, the change of the radius and that of the volume.
    """
    unknowns = best.core.size + 2
    slopes = [_slope_row(best, best), *(_slope_row(kink, best) for kink in kinks)]
    near = np.flatnonzero(best.away > best.radius - 4.0 * step)
    near = near[np.argsort(-best.away[near], kind="stable")][:MOST_ROWS]
    pulls = _pulls(best.core, best.steiner, cloud[near])
    above = np.concatenate([pulls, np.tile([-1.0, 0.0], (len(near), 1))], axis=1)
    limits = np.array([*(limit for _, limit in slopes), *(best.radius - best.away[near])])
    bounds = np.full((unknowns, 2), [-step, step])
    bounds[-2] = max(-best.radius, -4.0 * step), 4.0 * step
    bounds[-1] = -1.0, 0.0
    found = _extra("scipy.optimize").linprog(
        np.eye(unknowns)[-1],
        A_ub=np.concatenate([[row for row, _ in slopes], above]),
        b_ub=limits,
        bounds=bounds,
        method="highs-ds",
    )
    if found.x is None:
        return np.zeros(best.core.size), 0.0
    return found.x[:-2], -float(found.x[-1])


def _slope_row(there: Try, here: Try) -> tuple[Floats, float]:
    """The volume near `here` as the slope `there` tells it, less what it errs by; volumes as shares of that here."""
    slope = there.slope / here.volume
    back = np.append((here.core - there.core).ravel(), here.radius - there.radius)
    error = abs(1.0 - there.volume / here.volume - slope @ back) if there is not here else 0.0
    return np.append(slope, -1.0), error


# Starts --------------------------------------------------------------------------------------------------------------


def _cores(cloud: Floats, centre: Floats, count: int, seed: int) -> list[Floats]:
    """Cores of two and of `count` points that make small hulls around a cloud."""
    axes, widths = _axes(cloud)
    origin = cloud.mean(axis=0)
    if widths[2] <= FLAT * widths[0]:
        # A flat cloud has a hull without volume, unless it may have two points only.
        flat = (cloud - origin) @ axes[:2].T
        corners = _outline(flat)
        if len(corners) <= count:
            return [cloud[corners]]
        if count > 2:
            return [origin + _polygon(flat[corners], count) @ axes[:2]]
        vertices, axes = cloud[corners], np.vstack([axes[:2], _cross(axes[0], axes[1])])
    else:
        hull = _extra("scipy.spatial").ConvexHull(cloud)
        vertices = cloud[hull.vertices]
        if len(vertices) <= count:
            return [vertices]
        axes = _axes_of_surface(cloud[hull.simplices])
    size = float(np.linalg.norm(vertices - centre, axis=1).max())
    local = (vertices - centre) @ axes.T / size
    few = _outermost(local, MOST_CORNERS)
    capsule = _search(local, few, 2, seed)
    found = [capsule] if count == 2 else [capsule, _search(local, few, count, seed, capsule)]
    return [centre + size * core @ axes for core in found]


def _axes_of_surface(triangles: Floats) -> Floats:
    """Principal axes of a closed surface, as rows: however finely it is meshed, they stay the same."""
    middles = triangles.mean(axis=1)
    areas = np.linalg.norm(_cross(triangles[:, 1] - triangles[:, 0], triangles[:, 2] - triangles[:, 0]), axis=1)
    centre = areas @ middles / areas.sum()
    # The integral of squares over a triangle, as a sum over its corners and nine times its middle.
    spread = np.concatenate([triangles, 3.0 * middles[:, None] - 2.0 * centre], axis=1) - centre
    moments = np.einsum("f,fki,fkj->ij", areas, spread, spread)
    axes: Floats = np.linalg.eigh(moments)[1].T[::-1]
    # Each axis points to where the surface is farther out, so that a turned cloud has turned axes.
    skew = (((middles - centre) @ axes.T) ** 3 * areas[:, None]).sum(axis=0)
    return axes * np.where(skew < 0.0, -1.0, 1.0)[:, None]


def _search(cloud: Floats, few: Floats, count: int, seed: int, capsule: Floats | None = None) -> Floats:
    """Try many starts, walk on from the best few, move single points elsewhere, and go all the way from the best.

    Most of it sees few points of the cloud. Those that stick out in the end join them.
    """
    rng = np.random.default_rng(seed)
    rough = _outermost(few, MOST_CORNERS // 4)
    tries = [Try.of(core, rough) for core in _starts(rough, count, rng, capsule)]
    chosen = [(Try.of(t.core, few), 0.1) for t in _unlike(tries, 8)]
    for keep, rounds in ((4, 5), (2, 8), (1, 15)):
        walked = [_descend(t, few, step, rounds) for t, step in chosen]
        chosen = sorted(walked, key=lambda walk: walk[0].volume)[:keep]
    best, step = chosen[0]
    for _ in range(RELOCATIONS if count > 2 else 0):
        moved = _unlike([Try.of(core, rough) for core in _relocated(best, few)], 3)
        walked = [_descend(Try.of(t.core, few), few, 0.1, 12) for t in moved]
        other, its_step = min(walked, key=lambda walk: walk[0].volume)
        if other.volume > best.volume * (1 - 1e-3):
            break
        best, step = other, its_step
    for _ in range(4):
        best, step = _descend(best, few, max(step, 0.01), 25)
        away = _away(best.core, best.steiner, cloud)
        outside = np.argsort(-away, kind="stable")[: MOST_CORNERS // 8]
        outside = outside[away[outside] > best.radius + 1e-6]
        if not len(outside):
            break
        few = np.unique(np.vstack([few, cloud[outside]]), axis=0)
        best = Try.of(best.core, few)
    return best.core


def _outermost(cloud: Floats, count: int) -> Floats:
    """Points of a cloud that are the farthest in one of `count` directions; all of them, if they are no more."""
    if len(cloud) <= count:
        return cloud
    chosen: Floats = cloud[np.unique(np.argmax(_directions(count) @ cloud.T, axis=1))]
    return chosen


def _relocated(best: Try, cloud: Floats) -> Iterator[Floats]:
    """Cores with one point moved to where the cloud reaches farthest."""
    resting = cloud[best.away >= 0.98 * best.radius]
    goals = _far_apart(resting, min(len(resting), 8))
    gaps = closest(goals[:, None, None], best.core[best.steiner.cells], threads=1)
    rows = np.arange(len(goals))
    nearest = gaps.point_b[rows, gaps.distance.argmin(axis=1)]
    for goal in np.concatenate([goals, 0.5 * (goals + nearest)]):
        for k in range(len(best.core)):
            yield np.vstack([best.core[:k], goal, best.core[k + 1 :]])


def _unlike(tries: list[Try], count: int) -> list[Try]:
    """The best few that differ by volume: two starts that end in one place are one too many."""
    chosen: list[Try] = []
    for t in sorted(tries, key=lambda t: t.volume):
        if all(abs(t.volume - other.volume) > 1e-3 * other.volume for other in chosen):
            chosen.append(t)
        if len(chosen) == count:
            break
    return chosen


def _starts(cloud: Floats, count: int, rng: np.random.Generator, capsule: Floats | None) -> Iterator[Floats]:
    """Draw cores: corners of the cloud, polygons and prisms along its axes, each drawn inwards more or less."""
    half = 0.5 * np.ptp(cloud, axis=0)
    middle = cloud.min(axis=0) + half
    depths = np.unique(np.outer([0.0, 0.3, 0.6, 0.95], np.sort(half)[:2]))
    for core in _forms(cloud, count, rng):
        for depth in depths:
            # Drawn in along each axis: a box becomes a plate, and then a needle.
            inner = np.sign(core - middle) * np.maximum(np.abs(core - middle) - depth, 0.0)
            yield middle + inner + 0.02 * half.min() * rng.standard_normal(core.shape)
    if capsule is not None:
        yield capsule[np.arange(count) % 2] + 0.1 * half.min() * rng.standard_normal((count, 3))


def _forms(cloud: Floats, count: int, rng: np.random.Generator) -> Iterator[Floats]:
    yield _far_apart(cloud, count)
    for axis in range(3):
        low, high = cloud[:, axis].min(), cloud[:, axis].max()
        flat = np.delete(cloud, axis, axis=1)
        if count == 2:
            yield np.insert(np.tile(0.5 * (flat.min(axis=0) + flat.max(axis=0)), (2, 1)), axis, [low, high], axis=1)
            continue
        yield np.insert(_polygon_or_less(flat, count), axis, 0.5 * (low + high), axis=1)
        if count >= 6:
            ends = (_polygon_or_less(flat, n) for n in ((count + 1) // 2, count // 2))
            yield np.concatenate([np.insert(e, axis, z, axis=1) for e, z in zip(ends, (low, high), strict=True)])
    for _ in range(RANDOM_STARTS):
        towards = rng.standard_normal((count, 3))
        yield cloud[np.argmax(cloud @ towards.T, axis=0)]


def _far_apart(cloud: Floats, count: int) -> Floats:
    chosen = [int(np.argmax((cloud**2).sum(axis=1)))]
    nearest = np.full(len(cloud), inf)
    while len(chosen) < count:
        nearest = np.minimum(nearest, ((cloud - cloud[chosen[-1]]) ** 2).sum(axis=1))
        chosen.append(int(np.argmax(nearest)))
    return cloud[chosen]


def _directions(count: int) -> Floats:
    """Unit vectors all over the sphere, on a spiral."""
    k = np.arange(count) + 0.5
    z, angle = 1.0 - 2.0 * k / count, pi * (1.0 + 5.0**0.5) * k
    ring = np.sqrt(1.0 - z**2)
    return np.stack([ring * np.cos(angle), ring * np.sin(angle), z], axis=1)


# Polygons around polygons --------------------------------------------------------------------------------------------


def _polygon_or_less(flat: Floats, count: int) -> Floats:
    corners = flat[_outline(flat)]
    return corners if len(corners) <= count else _polygon(corners, count)


def _polygon(corners: Floats, count: int) -> Floats:
    """Find a polygon of few corners and small area around a convex one of many.

    Its sides touch the polygon, so only their directions are unknown. One after the other is turned to its best place.
    """
    along = np.roll(corners, -1, axis=0) - corners
    flush = np.arctan2(-along[:, 0], along[:, 1])  # outward, for corners that go round counterclockwise
    best, least = np.empty(0), inf
    for start in range(4):
        angles, area = (np.arange(count) + start / 4) * 2 * pi / count, inf
        for _ in range(20):
            before = area
            for k in range(count):
                choices = np.repeat(np.sort(angles)[None], 36 + len(flush), axis=0)
                choices[:, k] = np.concatenate([angles[k] + np.linspace(-0.5, 0.5, 36) * 4 * pi / count, flush])
                choices[0, k] = angles[k]
                choices = np.sort(choices % (2 * pi), axis=1)
                areas = _areas_around(corners, choices)
                if areas.min() < area:
                    angles, area = choices[areas.argmin()], float(areas.min())
            if not area < before * (1 - 1e-6):
                break
        if area < least:
            best, least = angles, area
    around: Floats = _corners_around(corners, best[None])[0]
    return around


def _corners_around(corners: Floats, angles: Floats) -> Floats:
    """Where sides that touch a polygon meet: corners (n, k, 2) for the directions (n, k) of their normals, sorted."""
    normals = np.stack([np.cos(angles), np.sin(angles)], axis=-1)
    offsets = (normals @ corners.T).max(axis=-1)
    following, beyond = np.roll(normals, -1, axis=1), np.roll(offsets, -1, axis=1)
    turn = normals[..., 0] * following[..., 1] - normals[..., 1] * following[..., 0]
    turn = np.where(turn > 1e-9, turn, np.nan)  # half a turn and more: they never meet
    x = (offsets * following[..., 1] - beyond * normals[..., 1]) / turn
    y = (beyond * normals[..., 0] - offsets * following[..., 0]) / turn
    return np.stack([x, y], axis=-1)


def _areas_around(corners: Floats, angles: Floats) -> Floats:
    around = _corners_around(corners, angles)
    after = np.roll(around, -1, axis=1)
    areas = 0.5 * (around[..., 0] * after[..., 1] - around[..., 1] * after[..., 0]).sum(axis=1)
    return np.where(np.isnan(areas), inf, areas)
