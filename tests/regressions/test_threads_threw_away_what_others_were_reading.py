"""Several threads ask one robot about more worlds than it remembers, while its rules change."""

import sys
import threading

import numpy as np

import clearance as cl
from clearance import robots


def test_many_worlds_on_many_threads(monkeypatch):
    monkeypatch.setattr(robots, "MOST_CELLS", 3)
    before = sys.getswitchinterval()
    sys.setswitchinterval(1e-5)
    along = cl.Joint("x", "prismatic", "rail", "tool", axis=[1, 0, 0])
    robot = cl.Robot([cl.Link("rail"), cl.Link("tool", cl.Sphere(0.1))], [along])
    worlds = [cl.Sphere(0.1).at([0.1 * k + 0.3, 0.0, 0.0]) for k in range(12)]
    q, failures = np.zeros(1), []

    def ask(seed):
        try:
            for k in np.random.default_rng(seed).integers(0, len(worlds), 400):
                assert cl.is_clear(robot, worlds[k], q)
                assert not cl.is_clear(robot, worlds[k], np.array([0.1 * k + 0.3]))
        except Exception as error:
            failures.append(error)

    def change():
        for _ in range(300):
            robot.set_margin("rail", margin=0.01)
            robot.attach("rail", "far", cl.Sphere(0.01), [0.0, 50.0, 0.0])
            robot.detach("far")

    threads = [threading.Thread(target=ask, args=(seed,)) for seed in range(3)] + [threading.Thread(target=change)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    sys.setswitchinterval(before)
    assert failures == []
