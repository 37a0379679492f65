"""Bodies in flight, with the surface of `Particles`, and recordings of them."""

from types import SimpleNamespace

import numpy as np

import clearance as cl
from clearance.simulation.grain_recordings import GrainRecorder, record

SHAPES = (cl.Sphere(0.15), cl.Box([0.2, 0.3, 0.4]), cl.Ellipsoid([0.4, 0.2, 0.1]), cl.Capsule(0.1, 0.3), cl.Sphere(0.1))
FLOOR = cl.HalfSpace([0, 0, 1], 0.0).at([0.0, 0.0, -2.0])
TRAY = cl.Box([3.0, 3.0, 0.1]).at([0.0, 0.0, -1.8])


class Flying:
    """Bodies that go straight on and turn evenly."""

    def __init__(self, count=12, step=1e-3, seed=0):
        rng = np.random.default_rng(seed)
        self.step_length, self.time, self.shapes = step, 0.0, SHAPES
        self.ids = np.arange(count)
        self.kinds = self.ids % len(SHAPES)
        self.start, self.speed, self.spin = rng.uniform(-1.0, 1.0, (3, count, 3))
        self.walls = {"floor": FLOOR, "tray": TRAY}
        self.work = SimpleNamespace(contacts=3 * count)

    def step(self, n=1):
        self.time += n * self.step_length

    def keep(self, chosen):
        for name in ("ids", "kinds", "start", "speed", "spin"):
            setattr(self, name, getattr(self, name)[chosen])

    @property
    def positions(self):
        return self.start + self.time * self.speed

    @property
    def turns(self):
        angle = np.linalg.norm(self.spin, axis=1, keepdims=True)
        half = 0.5 * angle * self.time * 5.0
        turns = np.hstack([np.sin(half) * self.spin / angle, np.cos(half)])
        # Of two quaternions that mean the same, programs give either.
        return turns * np.where(round(10.0 * self.time) % 3 == 1, -1.0, 1.0)

    @property
    def velocities(self):
        return np.hstack([self.speed, 5.0 * self.spin])


def poses_of(grains):
    return cl.poses.from_xyzw(grains.turns, grains.positions)


def recorded():
    """Return what eleven frames show of them."""
    return record(Flying(), 1.0, fps=10.0)


def recorded_leaving():
    """Return a recording in which bodies come and go: odd ones leave, and 100 comes later."""
    grains = Flying(6)
    recorder = GrainRecorder(grains)
    recorder.take()
    grains.step(500)
    grains.keep(grains.ids % 2 == 0)
    recorder.take()
    grains.step(500)
    grains.shapes = (*SHAPES, cl.Cone(0.1, 0.2))
    grains.ids, grains.kinds = np.append(grains.ids, 100), np.append(grains.kinds, len(SHAPES))
    for name in ("start", "speed", "spin"):
        setattr(grains, name, np.vstack([getattr(grains, name), [1.0, 2.0, 3.0]]))
    recorder.take()
    return recorder.finish()
