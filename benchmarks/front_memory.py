"""Several fronts instead of one, each for its neighbourhood of configurations: section 7.1.1 of Thorén's thesis."""

from __future__ import annotations

import numpy as np
from cell import Floats

import clearance as cl


class FrontMemory:
    """Up to `count` fronts; a query takes the one whose last configuration is nearest, and leaves it at its own."""

    def __init__(self, count: int, near: float) -> None:
        self.count, self.near = count, near
        self.places: list[Floats] = []
        self.searches: list[cl.Search] = []

    def search_for(self, poses: dict[str, Floats]) -> cl.Search:
        """Give the front for these poses: a new one while there is room and no other is near."""
        place = np.concatenate([pose[:3].ravel() for pose in poses.values()])
        apart = [float(np.linalg.norm(place - other)) for other in self.places]
        nearest = int(np.argmin(apart)) if apart else -1
        if nearest < 0 or (apart[nearest] > self.near and len(self.places) < self.count):
            self.places.append(place)
            self.searches.append(cl.Search(front="explicit"))
            return self.searches[-1]
        self.places[nearest] = place
        return self.searches[nearest]


def step_length(steps: list[dict[str, Floats]]) -> float:
    """Tell how far apart configurations usually are that follow each other."""
    places = [np.concatenate([pose[:3].ravel() for pose in step.values()]) for step in steps]
    return float(np.median(np.linalg.norm(np.diff(places, axis=0), axis=1)))
