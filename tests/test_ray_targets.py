"""What rays are cast at: scenes that change, lists, targets that move, and nothing at all."""

import numpy as np
import pytest

import clearance as cl
from clearance import poses
from ray_cases import FINITE, X, apart, draw_target, room, same_bits
from strategies import rigid_motions


def test_scene_is_hit_where_its_nearest_body_is():
    rng = np.random.default_rng(28)
    kinds = rng.choice([*FINITE, "mesh", "height field", "cloud"], size=25)
    bodies = [draw_target(rng, kind).at(pose) for kind, pose in zip(kinds, rigid_motions(rng, 25), strict=True)]
    bodies = [body.shape.at(poses.from_translation(4 * body.pose[:3, 3]) @ body.pose) for body in bodies]
    scene = cl.Scene()
    for k, body in enumerate(bodies):
        scene.add(f"body {k}", body.shape, body.pose)
    origins = 8 * rng.normal(size=(400, 3))
    aims = np.array([bodies[k].pose[:3, 3] for k in rng.integers(25, size=400)])
    directions = aims + 0.3 * rng.normal(size=(400, 3)) - origins
    each = [cl.raycast(body, origins, directions) for body in bodies]
    least = np.min([one.distance for one in each], axis=0)
    target = cl.RayTarget([body.shape for body in bodies], [body.pose for body in bodies], scene.names)
    for found in (
        cl.raycast(scene, origins, directions),
        cl.raycast(bodies, origins, directions),
        cl.raycast(iter(bodies), origins, directions),
        cl.raycast(target, origins, directions),
        target.cast(origins, directions),
    ):
        assert 0.3 < found.is_hit.mean() < 0.95
        assert np.array_equal(found.is_hit, np.isfinite(least))
        hit = found.is_hit
        assert np.allclose(found.distance[hit], least[hit], rtol=0, atol=1e-9)
        for k in np.flatnonzero(hit):
            own = each[found.index[k]]
            assert abs(own.distance[k] - found.distance[k]) <= 1e-9
            assert own.feature[k] == found.feature[k] or kinds[found.index[k]] == "mesh"


def test_names_that_are_ignored_let_rays_pass():
    scene = room()
    assert cl.raycast(scene, [0, 0, 0], X).index == 0
    passed = cl.raycast(scene, [0, 0, 0], X, ignore=["near"])
    assert (passed.index, round(passed.distance, 12)) == (1, 3.95)
    assert cl.raycast(scene, [0, 0, 0], X, ignore=("near", "middle")).index == 2
    assert not cl.raycast(scene, [0, 0, 0], X, ignore=scene.names).is_hit
    assert cl.raycast(scene, [0, 0, 0], X).index == 0
    with pytest.raises(KeyError, match="door"):
        cl.raycast(scene, [0, 0, 0], X, ignore=["door"])


def test_items_that_are_ignored_let_rays_pass():
    items = [cl.Sphere(0.5).at([x, 0, 0]) for x in (2, 4, 6)]
    assert cl.raycast(items, [0, 0, 0], X, ignore=[0]).index == 1
    assert cl.raycast(items, [0, 0, 0], X, ignore=[0, 1]).distance == 5.5
    assert not cl.raycast(items, [0, 0, 0], X, ignore=[0, 1, 2]).is_hit
    assert cl.raycast(items, [0, 0, 0], X, ignore=[2], any_hit=True).index in (0, 1)
    with pytest.raises((KeyError, ValueError), match="3"):
        cl.raycast(items, [0, 0, 0], X, ignore=[3])


def test_scene_is_looked_at_anew_after_every_change():
    scene = room()

    def seen():
        found = cl.raycast(scene, [0, 0, 0], X)
        return (scene.names[found.index], round(found.distance, 12)) if found.is_hit else None

    assert seen() == ("near", 1.95)
    scene.move("near", [0.0, 9, 0])
    assert seen() == ("middle", 3.95)
    scene.move({"near": [3.0, 0, 0], "ball": [1.5, 0, 0]})
    assert seen() == ("ball", 1.0)
    scene.rename("ball", "globe")
    assert seen() == ("globe", 1.0)
    assert cl.raycast(scene, [0, 0, 0], X, ignore=["globe"]).distance == pytest.approx(2.95)
    scene.remove("globe")
    assert seen() == ("near", 2.95)
    scene.add("door", cl.Box([0.2, 2, 2]), pose=[1, 0, 0])
    assert seen() == ("door", 0.9)
    for name in scene.names:
        scene.remove(name)
    assert seen() is None


def test_earlier_scenes_are_forgotten_and_not_mixed_up():
    for k in range(50):
        scene = cl.Scene()
        scene.add("ball", cl.Sphere(0.5), pose=[k + 1.0, 0, 0])
        assert cl.raycast(scene, [0, 0, 0], X).distance == pytest.approx(k + 0.5, rel=1e-14)


def test_target_moves_with_its_bodies():
    rng = np.random.default_rng(29)
    shapes = [draw_target(rng, kind) for kind in ("mesh", "Box", "cloud", "height field", "Cone", "compound")]
    first, second = rigid_motions(rng, 6), rigid_motions(rng, 6)
    origins = 5 * rng.normal(size=(300, 3))
    directions = rng.normal(size=(300, 3)) - origins
    target = cl.RayTarget(shapes, first)
    before = target.cast(origins, directions)
    target.move(second)
    fresh = cl.RayTarget(shapes, second)
    assert same_bits(target.cast(origins, directions), fresh.cast(origins, directions))
    target.move(first)
    assert same_bits(target.cast(origins, directions), before)


def test_target_gives_its_bodies_back():
    shapes, motions = [cl.Sphere(1), cl.Box([1, 1, 1])], rigid_motions(np.random.default_rng(33), 4)
    target = cl.RayTarget(shapes, motions[:2])
    assert list(target.shapes) == shapes
    assert np.array_equal(target.poses, motions[:2])
    target.move(motions[2:])
    assert np.array_equal(target.poses, motions[2:])
    assert np.array_equal(cl.RayTarget(shapes).poses, [np.eye(4)] * 2)


def test_target_names_its_bodies():
    target = cl.RayTarget([cl.Sphere(1), cl.Box([1, 1, 1])], apart(2), ["ball", "box"])
    assert list(target.names) == ["ball", "box"]
    assert target.cast([9, 0, 0], -X).index == 1
    assert target.cast([9, 0, 0], -X, ignore=["box"]).index == 0
    assert target.cast([9, 0, 0], -X, max_range=1.0).index == -1


def test_anything_that_gives_a_target_is_one():
    class World:
        def ray_target(self):
            return cl.RayTarget([cl.Sphere(1)], names=["ball"])

    assert cl.raycast(World(), [3, 0, 0], -X).distance == 2
    assert not cl.raycast(World(), [3, 0, 0], -X, ignore=["ball"]).is_hit


@pytest.mark.parametrize("target", [[], cl.Scene()], ids=["list", "scene"])
def test_nothing_is_never_hit(target):
    found = cl.raycast(target, np.zeros((5, 3)), X)
    assert not found.is_hit.any()
    assert np.all(found.index == -1)
