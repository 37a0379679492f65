"""What reaches a ray from outside: arrays of every shape, and rays and targets that are none."""

import numpy as np
import pytest

import clearance as cl
import meshes
from ray_cases import X, apart, made, room, same_bits

# Arrays --------------------------------------------------------------------------------------------------------------


def test_single_ray_gives_numbers():
    for target in (cl.Sphere(1), made(meshes.box()), [cl.Sphere(1)], room()):
        for direction in (-X, X):
            found = cl.raycast(target, [9, 0.1, 0.1], direction)
            assert isinstance(found.distance, float)
            assert isinstance(found.index, int)
            assert isinstance(found.feature, int)
            assert isinstance(found.is_hit, bool)
            assert found.point.shape == found.normal.shape == (3,)
            assert found.is_hit == (found.index >= 0) == np.isfinite(found.distance)


@pytest.mark.parametrize(
    ("origins", "directions", "limit", "dims"),
    [
        ((3,), (3,), (1,), (1,)),
        ((1, 3), (3,), (), (1,)),
        ((3,), (7, 3), (), (7,)),
        ((7, 3), (3,), (), (7,)),
        ((4, 1, 3), (7, 3), (), (4, 7)),
        ((4, 1, 3), (7, 3), (2, 1, 1), (2, 4, 7)),
        ((0, 3), (3,), (), (0,)),
        ((3,), (5, 0, 3), (), (5, 0)),
    ],
)
def test_rays_broadcast(origins, directions, limit, dims):
    rng = np.random.default_rng(30)
    origins, directions, limit = rng.normal(size=origins), rng.normal(size=directions), rng.uniform(1, 2, size=limit)
    for target in (cl.Sphere(0.5), made(meshes.box()), room()):
        found = cl.raycast(target, origins, directions, limit)
        assert found.distance.shape == found.index.shape == found.feature.shape == found.is_hit.shape == dims
        assert found.point.shape == found.normal.shape == (*dims, 3)
        flat = cl.raycast(
            target,
            np.broadcast_to(origins, (*dims, 3)).reshape(-1, 3),
            np.broadcast_to(directions, (*dims, 3)).reshape(-1, 3),
            np.broadcast_to(limit, dims).reshape(-1),
        )
        assert np.array_equal(found.distance.reshape(-1), flat.distance)


def test_inputs_may_be_anything_like_arrays_and_stay_as_they_are():
    origins = np.random.default_rng(31).normal(size=(50, 3)) + 5 * X
    kept = origins.copy()
    origins.flags.writeable = False
    expected = cl.raycast(cl.Sphere(1), origins, -X)
    assert np.array_equal(origins, kept)
    assert same_bits(cl.raycast(cl.Sphere(1), origins.tolist(), (-1, 0, 0)), expected)
    assert same_bits(cl.raycast(cl.Sphere(1), np.asfortranarray(origins), [-1, 0, 0]), expected)
    wide = np.repeat(origins, 2, axis=0)[::2]
    assert same_bits(cl.raycast(cl.Sphere(1), wide, -X.astype(np.float32)), expected)


# Errors --------------------------------------------------------------------------------------------------------------

BAD_RAYS = {
    "direction zero": (([0, 0, 0], [0, 0, 0]), {}, "directions"),
    "one of many directions zero": (([0, 0, 0], [[1, 0, 0], [0, 0, 0]]), {}, "directions"),
    "direction NaN": (([0, 0, 0], [np.nan, 0, 0]), {}, "directions"),
    "direction infinite": (([0, 0, 0], [np.inf, 0, 0]), {}, "directions"),
    "origin NaN": (([0, np.nan, 0], [1, 0, 0]), {}, "origins"),
    "origin infinite": (([0, 0, -np.inf], [1, 0, 0]), {}, "origins"),
    "origin of two numbers": (([0, 0], [1, 0, 0]), {}, "origins"),
    "direction of four numbers": (([0, 0, 0], [1, 0, 0, 0]), {}, "directions"),
    "origin a number": ((3.0, [1, 0, 0]), {}, "origins"),
    "origin text": (("here", [1, 0, 0]), {}, "origins"),
    "shapes that do not fit": ((np.zeros((3, 3)), np.ones((4, 3))), {}, None),
    "range negative": (([0, 0, 0], [1, 0, 0], -1.0), {}, "max_range"),
    "range NaN": (([0, 0, 0], [1, 0, 0], np.nan), {}, "max_range"),
    "threads zero": (([0, 0, 0], [1, 0, 0]), {"threads": 0}, "threads"),
    "hint a number": (([0, 0, 0], [1, 0, 0]), {"hint": 3}, "hint"),
}


@pytest.mark.parametrize(("rays", "options", "named"), BAD_RAYS.values(), ids=BAD_RAYS)
@pytest.mark.parametrize("target", [cl.Sphere(1), room()], ids=["sphere", "scene"])
def test_bad_rays_are_refused(target, rays, options, named):
    with pytest.raises((ValueError, TypeError), match=named):
        cl.raycast(target, *rays, **options)


@pytest.mark.parametrize("target", [None, 3, "room", [cl.Sphere(1), 3], np.zeros((4, 4))], ids=repr)
def test_bad_targets_are_refused(target):
    with pytest.raises((ValueError, TypeError)):
        cl.raycast(target, [0, 0, 0], [1, 0, 0])


def test_bad_lists_of_bodies_are_refused():
    with pytest.raises(ValueError, match=r"poses|names"):
        cl.RayTarget([cl.Sphere(1)], apart(2))
    with pytest.raises(ValueError, match="names"):
        cl.RayTarget([cl.Sphere(1)], names=["a", "b"])
    target = cl.RayTarget([cl.Sphere(1), cl.Sphere(1)], apart(2))
    for wrong in (apart(1), apart(3), apart(2) * [[2, 1, 1, 1]], apart(2) * np.nan):
        with pytest.raises(ValueError, match=r"pose|rotation"):
            target.move(wrong)
    assert target.cast([9, 0, 0], -X).distance == 5
