"""What a world tells of its contacts, and what it must not miss: fast bodies, and bodies of many parts."""

import numpy as np
import pytest

import clearance as cl
from clearance import simulation as sim
from physics import G, Z, floating, force_on, material, place, seconds, world_on_ground


def test_contacts_are_told_with_bodies_points_normals_depths_and_forces():
    world = world_on_ground()
    world.add("box", cl.Box([1, 1, 1]), [0, 0, 0.5], mass=10.0)
    seconds(world, 0.5)
    found = world.contacts
    k = len(found.depths)
    assert k == 4
    assert found.points.shape == found.normals.shape == found.forces.shape == (k, 3)
    assert np.asarray(found.bodies).shape == (k, 2)
    first, second = (world.names[b] for b in np.asarray(found.bodies)[0])
    up = Z if (first, second) == ("ground", "box") else -Z
    assert {first, second} == {"ground", "box"}
    assert np.allclose(found.normals, up, rtol=0, atol=1e-9)
    assert np.allclose(np.abs(found.points[:, :2]), 0.5, rtol=0, atol=1e-2)
    assert np.all(np.abs(found.depths) <= 5e-3)
    assert np.allclose(force_on(world, "box"), [0, 0, 10 * G], rtol=0, atol=0.01 * 10 * G)
    assert np.all(found.forces @ up >= 0)


def test_forces_stay_in_the_cone_of_friction():
    rng, friction = np.random.default_rng(5), 0.3
    world = world_on_ground(material=material(friction))
    for k in range(12):
        pose = cl.poses.from_wxyz(rng.normal(size=4), [*rng.uniform(-0.6, 0.6, 2), 0.5 + 0.3 * k])
        velocity = [*rng.normal(size=3), *rng.normal(size=3)]
        world.add(f"body {k}", cl.Box([0.3, 0.4, 0.5]), pose, velocity=velocity, material=material(friction))
    pressed = 0
    for _ in range(60):
        world.step(20)
        found = world.contacts
        normal = np.einsum("ij,ij->i", found.forces, found.normals)
        across = np.linalg.norm(found.forces - normal[:, None] * found.normals, axis=1)
        assert np.all(normal >= -1e-9)
        # A pyramid of two tangents reaches sqrt(2) times as far in its corners.
        assert np.all(across <= friction * normal * (1 + 1e-9) + 1e-9)
        pressed += np.sum(normal > 0)
    assert pressed > 100


def test_bodies_that_are_ignored_pass_through_each_other():
    world = world_on_ground()
    for name, height in (("a", 0.5), ("b", 2.0)):
        world.add(name, cl.Box([1, 1, 1]), [0, 0, height])
    world.ignore("a", "b")
    seconds(world, 2.0)
    assert place(world, "b")[2] == pytest.approx(0.5, abs=5e-3)
    assert world.touching("b") == ["ground"]


def test_bodies_of_a_group_pass_through_each_other():
    world = world_on_ground()
    for k, group in enumerate(("robot", "robot", None)):
        world.add(f"box {k}", cl.Box([1, 1, 1]), [0, 0, 0.5 + 1.2 * k], group=group)
    seconds(world, 2.0)
    assert place(world, "box 1")[2] == pytest.approx(0.5, abs=5e-3)
    assert place(world, "box 2")[2] == pytest.approx(1.5, abs=1e-2)


@pytest.mark.parametrize("speed", [5.0, 40.0, 200.0])
def test_small_ball_does_not_tunnel_a_thin_wall(speed):
    """At 200 m/s it goes twenty times its own size in a step."""
    world = floating()
    world.add("wall", cl.Box([0.01, 1, 1]), motion="fixed")
    world.add("ball", cl.Sphere(0.005), [-0.333, 0, 0], velocity=[speed, 0, 0])
    for _ in range(100):
        world.step()
        assert place(world, "ball")[0] <= 0.0


@pytest.mark.parametrize("height", [0.515, 0.55, 0.7])
@pytest.mark.parametrize("speed", [20.0, 200.0])
def test_fast_ball_that_misses_is_not_deflected(speed, height):
    """It passes a centimetre and more above the edge of a wall one metre high; what is near is not yet met."""
    for start in np.linspace(-1.0, -0.8, 7):  # so that steps begin at every place before the edge
        world = floating()
        world.add("wall", cl.Box([0.1, 1, 1]), motion="fixed")
        world.add("ball", cl.Sphere(0.005), [start, 0, height], velocity=[speed, 0, 0])
        seconds(world, 2.0 / speed)
        assert np.allclose(world.velocity("ball"), [speed, 0, 0, 0, 0, 0], rtol=0, atol=1e-9)


@pytest.mark.parametrize("parts", [(3, 40), (40, 3), (40, 60), (1, 40)])
def test_bodies_of_many_parts_touch_where_all_of_their_parts_do(parts):
    """Trees over parts leave out nothing that the query, which tries all of them, finds."""
    rng = np.random.default_rng(sum(parts))
    touched = 0
    for _ in range(10):
        bodies = [
            cl.Compound([cl.Box(rng.uniform(0.05, 0.2, 3)).at(rng.uniform(-0.5, 0.5, 3)) for _ in range(count)])
            for count in parts
        ]
        poses = [cl.poses.from_wxyz(rng.normal(size=4), rng.uniform(-0.4, 0.4, 3)) for _ in parts]
        world = sim.World(gravity=(0, 0, 0), contact=sim.Soft())
        for k, (body, pose) in enumerate(zip(bodies, poses, strict=True)):
            world.add(f"body {k}", body, pose)
        places = world.poses
        world.step()
        expected = cl.contacts(bodies[0].at(places[0]), bodies[1].at(places[1])).points
        found = world.contacts.points
        assert len(found) == len(expected)
        touched += len(found) > 0
        order, other = (points[np.lexsort(points.T)] for points in (found, expected))
        assert np.allclose(order, other, rtol=0, atol=1e-12)
    assert touched > 2
