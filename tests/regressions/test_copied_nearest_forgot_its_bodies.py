"""The names of a `Nearest` were not pickled, and the copy read names that had never been made."""

import pickle

import clearance as cl


def test_copied_nearest_forgot_its_bodies():
    scene = cl.Scene()
    scene.add("hand", cl.Sphere(1.0))
    scene.add("shelf", cl.Sphere(1.0), pose=[3.0, 0.0, 0.0])
    again = pickle.loads(pickle.dumps(scene.nearest("hand", "shelf")))
    assert (again.body_a, again.body_b, again.distance) == ("hand", "shelf", 1.0)
