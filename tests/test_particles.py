"""Particles as a program: the same calls give the same bits, and particles and walls come and go."""

import os
import signal
import threading

import numpy as np
import pytest

import clearance as cl
from clearance import simulation as sim
from physics import CORNERS, GROUND, MODELS, material

# ---- The same bits, and the same physics from elsewhere.


def crowd(threads=1, contact=None, count=120, is_periodic=True):
    rng = np.random.default_rng(0)
    room = {"lower": (-0.6, -0.6, 0), "upper": (0.6, 0.6, 0), "periodic": [True, True, False]} if is_periodic else {}
    particles = sim.Particles(contact=contact, threads=threads, **room)
    particles.add_wall("ground", GROUND)
    shapes = [cl.Sphere(0.05), cl.Box([0.09, 0.08, 0.07]), cl.Capsule(0.03, 0.06), cl.ConvexHull(0.2 * CORNERS)]
    for k, shape in enumerate(shapes):
        places = rng.uniform([-0.6, -0.6, 0.1], [0.6, 0.6, 1.0], (count // 4, 3))
        poses = np.array([cl.poses.from_wxyz(rng.normal(size=4), place) for place in places])
        particles.add(shape, poses, rng.normal(size=(count // 4, 6)), material=material(0.2 + 0.1 * k, 0.2, 0.001))
    return particles


def bits(particles):
    return [array.tobytes() for array in (particles.ids, particles.poses, particles.velocities)]


@pytest.mark.parametrize("law", MODELS)
def test_any_number_of_threads_gives_the_same_bits(law):
    reference, contacts = crowd(1, MODELS[law]), 0
    others = [crowd(threads, MODELS[law]) for threads in (2, 3, 4)]
    for _ in range(20):
        reference.step(10)
        contacts += len(reference.contacts)
        for other in others:
            other.step(10)
            assert bits(other) == bits(reference)
            assert other.contacts.forces.tobytes() == reference.contacts.forces.tobytes()
            assert other.work == reference.work
    assert contacts > 10


def test_steps_at_once_are_steps_one_by_one():
    at_once, one_by_one = crowd(), crowd()
    at_once.step(60)
    for _ in range(60):
        one_by_one.step()
    at_once.step(0)
    assert bits(at_once) == bits(one_by_one)


def gas(places, velocities, period=1.0, radius=0.03, lower=0.0):
    particles = sim.Particles(
        gravity=(0, 0, 0), contact=sim.Elastic(), lower=[lower] * 3, upper=[lower + period] * 3, periodic=True
    )
    particles.add(cl.Sphere(radius), places, velocities)
    return particles


@pytest.fixture(scope="module")
def start():
    rng = np.random.default_rng(4)
    # Numbers of few bits, so that whole periods can be added without rounding.
    places = (np.stack(np.meshgrid(*[np.arange(5)] * 3), axis=-1).reshape(-1, 3) + 0.5) / 8 + rng.integers(
        0, 64, 3
    ) / 4096
    return places, rng.integers(-4096, 4096, (125, 3)) / 2048


def test_whole_periods_change_nothing(start):
    rng = np.random.default_rng(0)
    here, there = gas(*start), gas(start[0] + rng.integers(-3, 4, (125, 3)), start[1])
    for particles in (here, there):
        particles.step(200)
    assert bits(here)[2] == bits(there)[2]
    # Between builds, places may be a little outside of the room.
    assert np.allclose(here.positions % 1.0, there.positions % 1.0, rtol=0, atol=1e-12)
    assert np.abs(here.velocities[:, :3] - start[1]).max() > 0.5


@pytest.mark.parametrize(
    "turned",
    [
        np.diag([-1.0, 1, 1]),
        np.diag([1.0, 1, -1]),
        np.array([[0.0, -1, 0], [1, 0, 0], [0, 0, 1]]),
        np.array([[0.0, 0, 1], [1, 0, 0], [0, 1, 0]]),
        -np.eye(3),
    ],
    ids=["mirror x", "mirror z", "quarter turn", "axes in turn", "through the middle"],
)
def test_gas_seen_in_a_mirror_or_from_the_side_is_the_same(turned, start):
    here = gas(start[0] - 0.5, start[1], lower=-0.5, radius=0.015)
    there = gas((start[0] - 0.5) @ turned.T, start[1] @ turned.T, lower=-0.5, radius=0.015)
    for _ in range(150):
        for particles in (here, there):
            particles.step()
        hit = here.contacts.ids.ravel()
        assert len(set(hit.tolist())) == len(hit)  # of two hits at once, the order would matter
    # Hits multiply rounding: a few of them leave most of the digits.
    assert np.allclose(here.velocities[:, :3] @ turned.T, there.velocities[:, :3], rtol=0, atol=1e-7)
    assert np.abs(here.velocities[:, :3] - start[1]).max() > 0.5


def falling(scale, contact=None):
    """Return the same particles `scale` times as large, under gravity as much stronger: times stay the same."""
    particles = sim.Particles(gravity=(0, 0, -9.81 * scale), contact=contact)
    particles.add_wall("ground", GROUND)
    rng = np.random.default_rng(8)
    for k in range(12):
        pose = cl.poses.from_wxyz(
            rng.normal(size=4), scale * np.array([0.05 * (k % 3), 0.03 * (k % 2), 0.1 + 0.11 * k])
        )
        shape = cl.Sphere(0.05 * scale) if k % 2 else cl.Box(scale * np.array([0.1, 0.08, 0.06]))
        particles.add(shape, pose[None], [[0, 0, -0.1 * scale, 1, 2, 3]])
    return particles


@pytest.mark.parametrize("scale", [0.25, 4.0])
def test_larger_particles_under_more_gravity_are_the_same(scale):
    """Powers of two change no digit, while nothing is so deep that the speed of its recovery is limited."""
    one, other = falling(1.0), falling(scale)
    for particles in (one, other):
        particles.step(400)
    assert one.work.contacts == other.work.contacts > 5
    assert np.allclose(one.positions * scale, other.positions, rtol=0, atol=1e-6 * scale)
    assert np.allclose(one.turns, other.turns, rtol=0, atol=1e-5)


# ---- They come and go.


def test_numbers_are_never_used_again():
    particles, ball = sim.Particles(), cl.Sphere(0.1)
    assert particles.add(ball, [[0.0, 0, 0], [1, 0, 0], [2, 0, 0]]).tolist() == [0, 1, 2]
    particles.remove([2, 0])
    assert particles.add(ball, [[5.0, 0, 0]]).tolist() == [3]
    assert particles.ids.tolist() == [1, 3]
    assert particles.positions[:, 0].tolist() == [1.0, 5.0]
    particles.remove(particles.ids)
    assert len(particles) == 0
    particles.step(3)
    assert particles.add(cl.Box([1, 1, 1]), [[0.0, 0, 0]]).tolist() == [4]
    assert particles.kinds.tolist() == [1]


def test_kinds_are_shared_by_those_of_one_shape_density_and_material():
    particles, ball = sim.Particles(), cl.Sphere(0.1)
    for options in ({}, {}, {"density": 10.0}, {"material": material(0.1)}, {"material": material(0.1)}):
        particles.add(ball, [[0.0, 0, 0]], **options)
    assert particles.kinds.tolist() == [0, 0, 1, 2, 2]
    assert particles.shapes == (ball, ball, ball)
    assert particles.masses[2] == pytest.approx(0.01 * particles.masses[0])


def test_others_do_not_notice_what_comes_and_goes_far_away():
    """Contacts go on: a heap at rest stays at rest, bit by bit up to the order in which pairs are solved."""
    alone, visited = crowd(count=48), crowd(count=48)
    for particles in (alone, visited):
        particles.step(1500)
    for _ in range(5):
        visitor = visited.add(cl.Sphere(0.01), [[0.0, 0, 50.0]])
        visited.step(2)
        visited.remove(visitor)
        visited.step(3)
        alone.step(5)
    # Without what contacts remember, each change would let all of them sink by some 1e-5.
    assert np.abs(visited.positions - alone.positions).max() <= 1e-6
    assert visited.ids.tolist() == alone.ids.tolist()


def test_walls_come_and_go():
    particles = sim.Particles()
    particles.add_wall("shelf", cl.Box([1, 1, 0.1]), [0, 0, 0.95])
    particles.add_wall("ground", GROUND)
    particles.add(cl.Sphere(0.1), [[0.0, 0, 1.1]])
    particles.step(500)
    assert particles.positions[0, 2] == pytest.approx(1.1, abs=1e-4)
    assert particles.contacts.ids.tolist() == [[-1, 0]]
    particles.remove_wall("shelf")
    assert list(particles.walls) == ["ground"]
    particles.step(1000)
    assert particles.positions[0, 2] == pytest.approx(0.1, abs=1e-4)
    assert particles.contacts.ids.tolist() == [[-1, 0]]
    particles.add_wall("shelf", cl.Box([1, 1, 0.1]), [0, 0, 0.95])
    particles.step(10)
    assert particles.contacts.ids.tolist() == [[-1, 0]]
    with pytest.raises(ValueError, match="name of its own"):
        particles.add_wall("shelf", GROUND)
    with pytest.raises(KeyError, match="gate"):
        particles.remove_wall("gate")


def test_contacts_with_walls_go_on_when_another_wall_leaves():
    """A ball that leans on the second wall keeps what is remembered of it when the first one goes."""
    particles = sim.Particles(gravity=(-9.81, 0, -9.81))
    particles.add_wall("far", cl.HalfSpace([-1, 0, 0], -9.0))
    particles.add_wall("ground", GROUND)
    particles.add_wall("side", cl.HalfSpace([1, 0, 0], 0.0))
    particles.add(cl.Box([0.2, 0.2, 0.2]), [[0.1, 0, 0.1]])
    particles.step(800)
    before = particles.positions
    particles.remove_wall("far")
    particles.step(1)
    assert set(particles.contacts.ids[:, 0].tolist()) == {-1, -2}
    assert np.abs(particles.positions - before).max() <= 1e-9


@pytest.mark.parametrize("kind", ["half-space", "box", "mesh", "height field", "compound", "ball"])
def test_walls_of_every_kind_carry(kind):
    box = cl.Box([4, 4, 1])
    wall, pose = {
        "half-space": (GROUND, [0, 0, 0]),
        "box": (box, [0, 0, -0.5]),
        "mesh": (cl.Mesh(np.array([[-3.0, -3, 0], [3, -3, 0], [0, 3, 0]]), np.array([[0, 1, 2]])), [0, 0, 0]),
        "height field": (cl.HeightField(np.zeros((5, 5)), 1.0), [0, 0, 0]),
        "compound": (cl.Compound([box.at([-2, 0, 0]), box.at([2, 0, 0])]), [0, 0, -0.5]),
        "ball": (cl.Sphere(1000.0), [0, 0, -1000.0]),
    }[kind]
    particles = sim.Particles()
    particles.add_wall("wall", wall, pose)
    particles.add(cl.Sphere(0.1), [[0.2, 0.1, 0.3]])
    particles.add(cl.Box([0.2, 0.2, 0.2]), [[0.7, 0.1, 0.3]])
    particles.step(800)
    assert particles.positions[:, 2] == pytest.approx([0.1, 0.1], abs=1e-3)
    assert set(particles.contacts.ids[:, 0].tolist()) == {-1}


def test_walls_are_seen_across_the_faces_of_a_periodic_room():
    particles = sim.Particles(
        gravity=(0, 0, 0), contact=sim.Elastic(), lower=(0, 0, 0), upper=(2, 2, 2), periodic=[True] * 3
    )
    particles.add_wall("post", cl.Sphere(0.3), [0, 1, 1])
    particles.add(cl.Sphere(0.1), [[1.0, 1, 1]], [[1.0, 0, 0]])
    deepest = 0.0
    for _ in range(1200):
        particles.step()
        deepest = max(deepest, particles.contacts.depths.max(initial=0.0))
    # It touches when its centre is at 1.6, a step early or late.
    assert particles.velocities[0, 0] == pytest.approx(-1.0)
    assert deepest <= 0.002


# ---- A step that ends early, and others who look on.


def test_step_that_is_refused_has_not_been_made():
    particles = sim.Particles()
    particles.add(cl.Sphere(0.1), [[0.0, 0, 1], [9.0, 0, 1]], [[0.0, 0, 0], [1e31, 0, 0]])
    before = bits(particles)
    with pytest.raises(FloatingPointError):
        particles.step()
    assert particles.time == 0.0
    assert bits(particles) == before


@pytest.mark.parametrize("law", MODELS)
def test_refused_step_leaves_no_trace_once_its_cause_is_gone(law):
    def after(is_tried):
        particles = crowd(2, MODELS[law], is_periodic=False)
        particles.step(40)
        (fast,) = particles.add(cl.Sphere(0.1), [[500.0, 0, 1]], [[1e31, 0, 0]])
        if is_tried:
            for _ in range(2):
                with pytest.raises(FloatingPointError):
                    particles.step()
        particles.remove([fast])
        particles.step(40)
        return bits(particles), particles.time

    assert after(True) == after(False)


def test_interrupt_ends_a_long_step_and_leaves_particles_as_they_are():
    particles = crowd()
    timer = threading.Timer(0.3, os.kill, (os.getpid(), signal.SIGINT))
    timer.start()
    with pytest.raises(KeyboardInterrupt):
        particles.step(10**8)
    timer.join()
    steps = round(particles.time / particles.step_length)
    assert 0 < steps < 10**8
    expected = crowd()
    expected.step(steps)
    assert bits(particles) == bits(expected)
    particles.step(5)


def test_others_may_look_while_particles_go_on():
    """Each answer is of one moment: arrays of one call belong together."""
    particles, stop, seen = crowd(), threading.Event(), []

    def look():
        while not stop.is_set():
            seen.append((len(particles.ids), particles.poses.shape, len(particles.contacts.ids), particles.energy))

    watcher = threading.Thread(target=look)
    watcher.start()
    for _ in range(40):
        particles.step(3)
    stop.set()
    watcher.join()
    expected = crowd()
    expected.step(120)
    assert bits(particles) == bits(expected)
    assert len(seen) > 0
    assert {one[:2] for one in seen} == {(120, (120, 4, 4))}
