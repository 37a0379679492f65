"""What particles are given: wrong values are refused, and extreme ones do not break them."""

import numpy as np
import pytest

import clearance as cl
from clearance import simulation as sim
from physics import GROUND, MODELS, SHAPES, G

PYRAMID = cl.Mesh(
    np.array([[0.0, 0, 0], [1, 0, 0], [0, 1, 0], [0, 0, 1]]), np.array([[0, 1, 2], [0, 3, 1], [0, 2, 3], [1, 3, 2]])
)


@pytest.mark.parametrize(
    "poses",
    [
        [0.0, 0, 0],
        np.eye(4),
        np.zeros((2, 2)),
        np.zeros((1, 3, 3)),
        np.zeros((1, 1, 4, 4)),
        [[np.nan, 0, 0]],
        [[np.inf, 0, 0]],
        [[1e31, 0, 0]],
        [np.zeros((4, 4))],
        [np.diag([2.0, 1, 1, 1])],
        [np.diag([1.0, 1, -1, 1])],
        [np.diag([1.0, 1, 1, 2])],
        [[0.0, 0, 0], [np.nan, 0, 0]],
    ],
    ids=str,
)
def test_wrong_poses_are_refused(poses):
    particles = sim.Particles()
    with pytest.raises(ValueError, match=r"pose"):
        particles.add(cl.Sphere(0.1), poses)
    assert len(particles) == 0
    assert particles.add(cl.Sphere(0.1), [[0.0, 0, 0]]).tolist() == [0]
    particles.step()


@pytest.mark.parametrize(
    "velocities",
    [[0.0, 0, 0], [[0.0, 0]], np.zeros((2, 3)), np.zeros((1, 4)), [[np.nan, 0, 0]], [[0, 0, 0, np.inf, 0, 0]]],
    ids=str,
)
def test_wrong_velocities_are_refused(velocities):
    with pytest.raises(ValueError, match="velocities"):
        sim.Particles().add(cl.Sphere(0.1), [[0.0, 0, 0]], velocities)


@pytest.mark.parametrize(
    "shape",
    [GROUND, PYRAMID, cl.HeightField(np.zeros((3, 3)), 1.0), cl.ConvexHull([[0, 0, 0], [1, 0, 0], [0, 1, 0]])],
    ids=["half-space", "mesh", "height field", "flat hull"],
)
def test_shapes_without_an_inside_are_no_particles(shape):
    with pytest.raises(ValueError, match="inside"):
        sim.Particles().add(shape, [[0.0, 0, 0]])


@pytest.mark.parametrize(
    ("given", "error"),
    [
        ({"step": 0.0}, ValueError),
        ({"step": -1.0}, ValueError),
        ({"step": np.nan}, ValueError),
        ({"step": "a"}, TypeError),
        ({"gravity": [0, 0]}, ValueError),
        ({"gravity": [0, 0, np.nan]}, ValueError),
        ({"contact": "hard"}, TypeError),
        ({"detection": "fast"}, ValueError),
        ({"threads": -1}, ValueError),
        ({"threads": 0}, ValueError),
        ({"periodic": True}, ValueError),
        ({"periodic": True, "lower": [0, 0, 0]}, ValueError),
        ({"periodic": True, "lower": [0, 0, 0], "upper": [1, 1, 0]}, ValueError),
        ({"periodic": True, "lower": [0, 0, 0], "upper": [1, 1, np.inf]}, ValueError),
        ({"periodic": [True, False], "lower": [0, 0, 0], "upper": [1, 1, 1]}, ValueError),
        ({"periodic": 1, "lower": [0, 0, 0], "upper": [1, 1, 1]}, ValueError),
        ({"lower": [0, 0, 0], "upper": [1, 1, 1]}, ValueError),
    ],
    ids=str,
)
def test_wrong_settings_are_refused(given, error):
    with pytest.raises(error):
        sim.Particles(**given)


def test_wrong_calls_are_refused():
    particles = sim.Particles()
    particles.add(cl.Sphere(0.1), [[0.0, 0, 0]])
    for n in (-1, 1.0, True, "a", None, 10**30):
        with pytest.raises(ValueError, match="number of steps"):
            particles.step(n)
    for ids in ([1], [-1], [0, 7]):
        with pytest.raises(KeyError):
            particles.remove(ids)
    with pytest.raises(TypeError):
        particles.add("ball", [[0.0, 0, 0]])
    with pytest.raises(TypeError):
        particles.add(cl.Sphere(0.1), [[0.0, 0, 0]], material="wood")
    with pytest.raises(ValueError, match="density"):
        particles.add(cl.Sphere(0.1), [[0.0, 0, 0]], density=-1.0)
    with pytest.raises(ValueError, match="pose"):
        particles.add_wall("a", GROUND, np.eye(3))
    with pytest.raises(TypeError):
        particles.add_wall("a", "floor")
    with pytest.raises(ValueError, match="name"):
        particles.add_wall(3, GROUND)
    assert particles.ids.tolist() == [0]
    assert particles.walls == {}


@pytest.mark.parametrize("ids", [[0.5], [False], [[0.0, 0.9]]], ids=str)
def test_what_are_no_numbers_of_particles_is_refused(ids):
    particles = sim.Particles()
    particles.add(cl.Sphere(0.1), [[0.0, 0, 0]])
    with pytest.raises((TypeError, ValueError, KeyError)):
        particles.remove(ids)


def test_none_at_all():
    particles = sim.Particles()
    for _ in range(2):
        particles.step(5)
        assert len(particles) == 0
        assert particles.poses.shape == (0, 4, 4)
        assert particles.positions.shape == (0, 3)
        assert particles.velocities.shape == (0, 6)
        assert particles.turns.shape == (0, 4)
        assert particles.contacts.ids.shape == (0, 2)
        assert particles.masses.shape == particles.kinds.shape == particles.ids.shape == (0,)
        assert particles.energy == (0.0, 0.0, 0.0)
        assert particles.momentum.linear.tolist() == [0, 0, 0]
        assert particles.add(cl.Sphere(0.1), np.zeros((0, 3))).tolist() == []
        particles.remove([])


@pytest.mark.parametrize("law", MODELS)
@pytest.mark.parametrize("kind", ["sphere", "box", "capsule", "ellipsoid", "hull", "compound"])
def test_particles_at_the_same_place_stay_finite(kind, law):
    particles = sim.Particles(gravity=(0, 0, 0), contact=MODELS[law])
    particles.add(SHAPES[kind], np.zeros((3, 3)))
    particles.step(60)
    assert np.isfinite(particles.poses).all()
    assert np.isfinite(particles.velocities).all()
    assert np.abs(particles.momentum.linear).max() <= 1e-9 * particles.masses.sum()
    if law != "elastic":  # those that do not approach are not reflected
        places = particles.positions
        assert np.linalg.norm(places[:, None] - places, axis=2)[np.triu_indices(3, 1)].min() > 0.01


@pytest.mark.parametrize(
    "shape",
    [
        pytest.param(cl.Cone(0.1, 0.2), id="cone"),
        pytest.param(cl.Cylinder(0.1, 0.2), id="cylinder"),
        pytest.param(cl.Ellipsoid([0.1, 0.1, 0.1]), id="globe"),
    ],
)
def test_particles_at_the_same_place_take_no_longer_than_others(shape):
    """Steps of the solver are counted, not time: those of a thousand faces are far too many."""
    assert cl.distance(shape, shape).work.iterations < 1000
    particles = sim.Particles(gravity=(0, 0, 0), contact=sim.Elastic(), threads=1)
    particles.add(shape, np.zeros((2, 3)))
    particles.step(3)
    assert np.isfinite(particles.positions).all()


@pytest.mark.parametrize("wall", [GROUND, cl.Box([2, 2, 2]), cl.Sphere(1.0)], ids=["half-space", "box", "ball"])
@pytest.mark.parametrize("shape", [cl.Sphere(0.1), cl.Box([0.2, 0.2, 0.2])], ids=["sphere", "box"])
def test_particles_deep_in_a_wall_come_out_without_being_thrown(shape, wall):
    particles = sim.Particles()
    particles.add_wall("wall", wall, [0, 0, 0 if wall is GROUND else -1])
    particles.add(shape, [[0.0, 0, -0.5]])
    fastest = 0.0
    for _ in range(300):
        particles.step(10)
        fastest = max(fastest, np.linalg.norm(particles.velocities[0, :3]))
    assert particles.positions[0, 2] == pytest.approx(0.1, abs=1e-3)
    pushed_out = 0.5 * np.sqrt(G * 0.2)  # at the most: small steps leave some of that for a while
    assert fastest <= pushed_out / 3


def test_speeds_without_bounds_are_an_error_or_flown():
    particles = sim.Particles()
    particles.add(cl.Sphere(0.1), [[0.0, 0, 1], [0.0, 0, 2]], [[1e20, 0, 0], [0, 0, 0]])
    particles.step(3)
    assert particles.positions[0, 0] == pytest.approx(3e17)
    particles.add(cl.Sphere(0.1), [[0.0, 0, 3]], [[1e300, 0, 0]])
    with pytest.raises(FloatingPointError, match="particle 2 "):
        particles.step()
    particles.remove([2])
    particles.step(2)
    assert particles.positions[1, 0] == 0.0


def test_error_names_the_particle_that_is_too_fast():
    particles = sim.Particles()
    particles.add(cl.Sphere(0.1), [[0.0, 0, 1], [9.0, 0, 1]], [[0.0, 0, 0], [6e30, 0, 0]])
    with pytest.raises(FloatingPointError, match="particle 1 "):
        particles.step()


@pytest.mark.parametrize("size", [1e-6, 1e-3, 1.0, 1e3, 1e6])
def test_tiny_and_huge_particles_come_to_rest_alike(size):
    """In units of the size, with steps to match."""
    particles = sim.Particles(step=1e-3 * np.sqrt(10 * size))
    particles.add_wall("ground", GROUND)
    density = 1000.0 if size < 1e6 else 1e-3  # masses and inertias go to 1e30
    particles.add(cl.Sphere(size), [[0.0, 0, 1.5 * size], [8 * size, 0, 3 * size]], density=density)
    particles.add(cl.Box([size] * 3), [[5 * size, 0, size]], density=density)
    particles.step(2500)
    assert particles.positions[:, 2] / size == pytest.approx([1.0, 1.0, 0.5], abs=1e-3)
    assert np.abs(particles.velocities[:, :3]).max() <= 1e-3 * np.sqrt(9.81 * size)
