"""Walking downhill: the volume of a swept hull is minimised by linear programs within a step that adapts itself."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from .elements import closest
from .steiner import Steiner, import_extra, steiner_of

__all__: list[str] = []

Floats = NDArray[np.float64]

# For clouds within the unit ball:
SMALLEST_STEP = 1e-5
SMALLEST_GAIN = 1e-5  # a share of the volume
MOST_KINKS = 8
MOST_ROWS = 120


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
        return cls._of(steiner_of(core), cloud)

    @classmethod
    def _of(cls, steiner: Steiner, cloud: Floats) -> Try:
        away = distances_from(steiner, cloud)
        radius = float(away.max())
        return cls(steiner.core, steiner, away, radius, steiner.volume(radius))

    def around(self, cloud: Floats) -> Try:
        """Sweep the same core over another cloud."""
        return self._of(self.steiner, cloud)

    @property
    def slope(self) -> Floats:
        return self.steiner.slope(self.radius)


def distances_from(steiner: Steiner, cloud: Floats) -> Floats:
    """How far points are from a core; zero inside."""
    gaps = closest(cloud[:, None, None], steiner.core[steiner.cells], threads=1)
    away: Floats = gaps.distance.min(axis=1)
    if len(steiner.planes):
        heights = cloud @ steiner.planes[:, :3].T + steiner.planes[:, 3]
        away = np.where((heights <= 0.0).all(axis=1), 0.0, away)
    return away


def pulls_on(steiner: Steiner, points: Floats) -> Floats:
    """Derivatives (m, 3 k) of the distances of points from a core, by the coordinates of the core."""
    core = steiner.core
    gaps = closest(points[:, None, None], core[steiner.cells], threads=1)
    rows = np.arange(len(points))
    nearest = gaps.distance.argmin(axis=1)
    # The nearest point of the core is a mean of its points: each is pulled as its weight there says.
    towards, cells = -gaps.normal[rows, nearest], steiner.cells[nearest]
    pulls = np.zeros((len(points), *core.shape))
    for corner in range(cells.shape[1]):
        pulls[rows, cells[:, corner]] -= gaps.weights_b[rows, nearest, corner, None] * towards
    return pulls.reshape(len(points), -1)


def descend(best: Try, cloud: Floats, step: float, rounds: int) -> tuple[Try, float]:
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
    pulls = pulls_on(best.steiner, cloud[near])
    above = np.concatenate([pulls, np.tile([-1.0, 0.0], (len(near), 1))], axis=1)
    limits = np.array([*(limit for _, limit in slopes), *(best.radius - best.away[near])])
    bounds = np.full((unknowns, 2), [-step, step])
    bounds[-2] = max(-best.radius, -4.0 * step), 4.0 * step
    bounds[-1] = -1.0, 0.0
    # Without integers among the unknowns it is a linear program; `linprog` takes longer to get ready.
    optimize = import_extra("scipy.optimize")
    rows = np.concatenate([[row for row, _ in slopes], above])
    found = optimize.milp(
        np.eye(unknowns)[-1],
        constraints=optimize.LinearConstraint(rows, -np.inf, limits),
        bounds=optimize.Bounds(*bounds.T),
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
