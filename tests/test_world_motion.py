"""Bodies that fly, fall, spin and collide: what mechanics keeps is kept, and energy never comes from nowhere."""

import numpy as np
import pytest

import clearance as cl
from clearance import simulation as sim
from physics import (
    GROUND,
    MODELS,
    SHAPES,
    G,
    X,
    Y,
    Z,
    drawn_bodies,
    floating,
    place,
    seconds,
    tumbling,
    turn_between,
    world_on_ground,
)
from solids import EPS
from strategies import rigid_motions

H = 1e-3
BRICK = cl.Box([0.1, 0.2, 0.3])


def spinning(shape, velocity, step=H, pose=None):
    world = floating(step=step)
    world.add("body", shape, pose, velocity=np.hstack([np.zeros(3), velocity]))
    return world


# Flight --------------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("step", [1e-2, 1e-3])
@pytest.mark.parametrize("name", SHAPES)
def test_free_fall(name, step):
    world = sim.World(step=step)
    world.add("body", SHAPES[name], [1.0, 2.0, 100.0])
    seconds(world, 2.0)
    assert world.time == pytest.approx(2.0, rel=1e-12)
    assert np.allclose(world.velocity("body"), [0, 0, -2 * G, 0, 0, 0], rtol=0, atol=1e-10)
    fallen = [1.0, 2.0, 100.0] - place(world, "body")
    # Semi-implicit Euler falls g h T / 2 farther, no method of first order or better falls by more than that amiss.
    assert np.allclose(fallen, [0, 0, 2 * G], rtol=0, atol=G * step * 2.0 / 2 + 1e-9)


def test_projectile_comes_down_where_parabolas_do():
    step, velocity = 1e-3, np.array([3.0, -4.0, 9.81])
    world = sim.World(step=step)
    world.add("ball", cl.Sphere(0.1), [0, 0, 0], velocity=velocity)
    seconds(world, 2.0)  # up and down again
    assert np.allclose(place(world, "ball"), [6.0, -8.0, 0.0], rtol=0, atol=G * step * 2.0 / 2 + 1e-9)
    assert np.allclose(world.velocity("ball")[:3], velocity * [1, 1, -1], rtol=0, atol=1e-10)


def test_gravity_is_any_vector():
    world = sim.World(gravity=(1.0, -2.0, 3.0))
    world.add("ball", cl.Sphere(0.1))
    seconds(world, 1.0)
    assert np.allclose(world.velocity("ball")[:3], [1, -2, 3], rtol=0, atol=1e-11)


def test_body_thrown_without_gravity_flies_straight_and_turns_evenly():
    """A ball has no other way: after T it has turned by w T about the axis of its spin.

    The turn of one step may be 2 arctan(w h / 2) for w h, which loses (w h)³ / 12 of it.
    """
    spin, step = np.array([1.0, 2.0, -2.0]), 1e-3
    world = floating(step=step)
    start = rigid_motions(np.random.default_rng(1), 1)[0]
    world.add("ball", cl.Sphere(0.3), start, velocity=np.hstack([[1.0, 2.0, 3.0], spin]))
    seconds(world, 2.0)
    expected = start.copy()
    expected[:3, :3] = cl.poses.from_axis_angle(spin, 6.0)[:3, :3] @ start[:3, :3]
    assert np.allclose(place(world, "ball") - start[:3, 3], [2, 4, 6], rtol=0, atol=1e-11)
    assert turn_between(world.pose("ball"), expected) <= 3.0**3 * step**2 * 2.0 / 12 + 1e-10


def test_pose_is_that_of_the_shape_while_the_centre_of_mass_flies():
    """A cone turns about its centre of mass, a quarter of its length below the middle of its frame."""
    world = floating()
    world.add("cone", cl.Cone(0.3, 0.8), velocity=[0, 0, 0, 0, 3.0, 0])
    for _ in range(10):
        world.step(97)
        centre = world.pose("cone") @ [0, 0, -0.2, 1]
        assert np.allclose(centre[:3], [0, 0, -0.2], rtol=0, atol=1e-11)
        assert np.allclose(world.velocity("cone")[:3], 0, rtol=0, atol=1e-12)


def test_orientations_stay_rotations():
    world = spinning(BRICK, [5.0, 7.0, -3.0])
    seconds(world, 10.0)
    rotation = world.pose("body")[:3, :3]
    assert np.allclose(rotation @ rotation.T, np.eye(3), rtol=0, atol=1e-12)


# Tops ----------------------------------------------------------------------------------------------------------------

SPIN = np.array([0.3, 4.0, 0.4])  # about the middle axis of the brick, which is not stable
INERTIA = np.diag([0.2**2 + 0.3**2, 0.1**2 + 0.3**2, 0.1**2 + 0.2**2]) * BRICK.size.prod() * 1000 / 12


def euler_spin(time, spin=SPIN):
    """Return how fast a free brick spins about its own axes: Euler's equations, to 12 digits."""
    solve_ivp = pytest.importorskip("scipy.integrate", reason="Euler's equations are solved by scipy").solve_ivp
    moments = np.diag(INERTIA)

    def turning(_, w):
        return np.cross(moments * w, w) / moments

    return solve_ivp(turning, (0, time), spin, method="DOP853", rtol=1e-12, atol=1e-12).y[:, -1]


def body_spin(world):
    return world.pose("body")[:3, :3].T @ world.velocity("body")[3:]


def test_free_brick_flips_as_euler_says():
    """The error of the spin shrinks with the step, at least in proportion."""
    flip = 3.0
    assert euler_spin(flip)[1] < -3.0  # it does flip: the middle axis has turned round
    errors = []
    for step in (2e-3, 1e-3, 5e-4):
        world = seconds(spinning(BRICK, SPIN, step), flip)
        errors.append(np.linalg.norm(body_spin(world) - euler_spin(flip)))
    assert errors[1] <= 0.6 * errors[0]
    assert errors[2] <= 0.6 * errors[1]
    # Twelve radians with an error of at most w h each, which near the middle axis grow by the turn of a whole flip.
    assert errors[2] <= 12 * 4.0 * 5e-4 * np.linalg.norm(SPIN)


def test_free_brick_keeps_its_angular_momentum_and_its_energy():
    world = spinning(BRICK, SPIN)
    (_, before), energy = world.momentum, world.energy.kinetic
    assert np.allclose(before, INERTIA @ SPIN, rtol=0, atol=1e-12)
    assert energy == pytest.approx(SPIN @ INERTIA @ SPIN / 2, rel=1e-12)
    worst = []
    for second in range(20):
        deviations = []
        for _ in range(10):
            world.step(100)
            deviations.append(abs(world.energy.kinetic / energy - 1))
        worst.append(max(deviations))
        # Every step rounds a few times, not always to the same side.
        rounded = 5 * 1000 * (second + 1) * EPS * np.linalg.norm(before)
        assert np.allclose(world.momentum[1], before, rtol=0, atol=rounded)
    # Errors of a method that does not drift come and go with (w h)² or w h, they do not add up.
    assert max(worst) <= np.linalg.norm(SPIN) * H
    assert max(worst[10:]) <= 1.5 * max(worst[:10]) + 1e-12


def test_spin_about_stable_axes_stays():
    for axis in (X, Z):
        world = spinning(BRICK, 5.0 * axis + 0.01 * Y)
        seconds(world, 5.0)
        assert np.linalg.norm(body_spin(world) - 5.0 * axis) <= 0.03


def test_heavy_top_precesses():
    """A fast top in free fall of its own weight: held at its tip, it goes round with m g d / (I w)."""
    radius, spin = 0.2, 200.0
    world = sim.World(step=1e-4)
    wheel = cl.Cylinder(radius, 0.02)
    turned = cl.poses.from_axis_angle(Y, np.pi / 2, [0.3, 0, 0])
    world.add("wheel", wheel, turned, velocity=[0, 0, 0, spin, 0, 0])
    world.join("tip", "ball", None, "wheel", [0, 0, 0])
    expected = G * 0.3 / (radius**2 / 2 * spin)  # radians per second
    half = np.pi / 2 / expected
    seconds(world, half)
    heading = np.arctan2(*place(world, "wheel")[1::-1])
    # It nods by a share of (precession / spin), and starts from rest: both are below two parts in a hundred.
    assert heading == pytest.approx(np.pi / 2, rel=0.02)


# Kinematic and fixed bodies, forces ----------------------------------------------------------------------------------


def test_kinematic_bodies_move_as_told_whatever_they_meet():
    world = world_on_ground()
    world.add("lift", cl.Box([1, 1, 0.2]), [0, 0, 0.5], motion="kinematic", velocity=[0, 0, 0.25, 0, 0, 0.5])
    world.add("load", cl.Box([0.4, 0.4, 0.4]), [0, 0, 0.8], density=1e5)
    seconds(world, 2.0)
    assert place(world, "lift") == pytest.approx([0, 0, 1.0], abs=1e-11)
    assert turn_between(world.pose("lift"), np.eye(4)) == pytest.approx(1.0, abs=1e-6)
    assert np.array_equal(world.velocity("lift"), [0, 0, 0.25, 0, 0, 0.5])
    # The load is lifted and turned with it, and sinks in by no more than a hundredth of its size.
    assert place(world, "load")[2] == pytest.approx(1.3, abs=4e-3)
    assert turn_between(world.pose("load"), world.pose("lift")) <= 0.02


def test_guided_bodies_are_there_after_a_step():
    world = sim.World()
    world.add("door", cl.Box([1, 0.1, 2]), motion="kinematic")
    for pose in rigid_motions(np.random.default_rng(2), 5):
        world.guide("door", pose)
        world.step()
        assert np.allclose(world.pose("door"), pose, rtol=0, atol=1e-9)
    world.step(10)
    assert np.allclose(world.pose("door"), pose, rtol=0, atol=1e-9)  # and stands still afterwards


def test_guided_bodies_push_and_carry():
    """A belt guided step by step takes along what lies on it, a ram what stands in its way."""
    world = world_on_ground()
    world.add("belt", cl.Box([4, 1, 0.2]), [0, 5, 0.1], motion="kinematic")
    world.add("load", cl.Box([0.4, 0.4, 0.2]), [0, 5, 0.3])
    world.add("ram", cl.Box([0.2, 1, 1]), [-0.3, 0, 0.5], motion="kinematic")
    world.add("crate", cl.Box([0.4, 0.4, 0.4]), [0, 0, 0.2])
    speed = 0.5
    for k in range(2000):
        world.guide("belt", [speed * H * (k + 1), 5, 0.1])
        world.guide("ram", [-0.3 + speed * H * (k + 1), 0, 0.5])
        world.step()
    # The load slips until friction has given it its speed: v² / (2 mu g) behind, and a step.
    assert place(world, "load")[0] == pytest.approx(1.0 - speed**2 / (2 * 0.5 * G), abs=speed * H)
    # The crate touches the ram from the start, and keeps to it.
    assert place(world, "crate")[0] == pytest.approx(-0.3 + 1.0 + 0.1 + 0.2, abs=speed * H)


def test_fixed_bodies_never_move():
    world = world_on_ground()
    world.add("wall", cl.Box([0.2, 2, 2]), [1, 0, 1], motion="fixed")
    world.add("ball", cl.Sphere(0.2), [0, 0, 1], velocity=[20, 0, 0], density=1e6)
    before = world.pose("wall")
    seconds(world, 0.5)
    assert np.array_equal(world.pose("wall"), before)
    assert np.array_equal(world.velocity("wall"), np.zeros(6))


def test_push_is_a_force_for_the_steps_of_one_call():
    world = floating()
    world.add("body", BRICK, mass=2.0)
    world.push("body", force=[4.0, 0, 0])
    world.step(500)
    assert np.allclose(world.velocity("body"), [1, 0, 0, 0, 0, 0], rtol=0, atol=1e-12)
    world.step(500)
    assert np.allclose(world.velocity("body"), [1, 0, 0, 0, 0, 0], rtol=0, atol=1e-12)
    # Half of the first second under 2 m/s², then straight on.
    assert place(world, "body")[0] == pytest.approx(0.25 + 0.5, abs=2.0 * H * 0.5)


def test_torque_turns_and_pushes_add_up():
    world = floating()
    world.add("body", cl.Sphere(0.5), mass=1.0)
    for _ in range(3):
        world.push("body", torque=[0, 0, 0.1])
    world.push("body", force=[1, 0, 0], at=[0, -0.5, 0])
    world.step(1000)
    # The point of attack goes along with the body, so its moment stays.
    assert world.velocity("body")[0] == pytest.approx(1.0, abs=1e-12)
    assert world.momentum[1][2] == pytest.approx(0.3 + 0.5, rel=1e-9)


def test_force_at_a_point_has_its_moment():
    world = floating()
    world.add("body", cl.Sphere(0.5), [1, 2, 3], mass=1.0)
    world.push("body", force=[0, 1, 0], at=[1.5, 2, 3])
    world.step()
    assert np.allclose(world.velocity("body"), [0, H, 0, 0, 0, 0.5 * H / 0.1], rtol=0, atol=1e-12)


def test_kick_changes_momentum_at_once():
    world = floating()
    world.add("body", cl.Sphere(0.5), [1, 2, 3], mass=2.0)
    world.kick("body", [0, 3, 0], at=[1.5, 2, 3])
    assert np.allclose(world.velocity("body"), [0, 1.5, 0, 0, 0, 1.5 / 0.2], rtol=0, atol=1e-12)
    linear, angular = world.momentum
    assert np.allclose(linear, [0, 3, 0], rtol=0, atol=1e-12)
    assert np.allclose(angular, np.cross([1.5, 2, 3], [0, 3, 0]), rtol=0, atol=1e-12)


# Clusters ------------------------------------------------------------------------------------------------------------


def cluster(contact, seed, friction=0.5, restitution=0.0):
    """Return a world without gravity in which bodies of every kind fly at each other."""
    world = floating(contact)
    material = sim.Material(friction=friction, restitution=restitution, rolling=0.01 * friction)
    drawn_bodies(world, np.random.default_rng(seed), 14, 2.2, 4.0, material)
    return world


def motion_scale(world):
    """Return what linear and angular momentum are made of: sums of absolute values."""
    speeds = np.linalg.norm(world.velocities[:, :3], axis=1)
    masses = np.array([world.mass(name).mass for name in world.names])
    return masses @ speeds


@pytest.mark.parametrize("model", MODELS)
@pytest.mark.parametrize("seed", range(3))
def test_isolated_cluster_keeps_its_momentum(model, seed):
    """Linear momentum is kept to rounding, and angular momentum of soft and elastic bodies.

    Hard bodies that overlap are put apart without a change of velocities: that shifts the arms of their momentum by the
    overlap, and by what iterations leave undecided of the way of a step.
    """
    world = cluster(MODELS[model], seed)
    (linear, angular), scale = world.momentum, motion_scale(world)
    felt, deepest = 0, 0.0
    for _ in range(800):
        before = world.velocities
        world.step()
        felt += np.sum(np.abs(world.velocities - before).max(axis=1) > 1e-3)
        deepest = max(deepest, world.contacts.depths.max(initial=0.0))
        assert np.allclose(world.momentum[0], linear, rtol=0, atol=1e-12 * scale)
        arms = deepest + 1e-3 * 4.0 * H if model == "hard" else 1e-12 * 2.2
        assert np.allclose(world.momentum[1], angular, rtol=0, atol=arms * scale)
    assert felt > 20
    assert model != "hard" or deepest <= 4.0 * H


@pytest.mark.parametrize("model", MODELS)
@pytest.mark.parametrize("seed", range(3))
def test_cluster_never_gains_energy(model, seed):
    world = cluster(MODELS[model], seed, friction=0.0 if model == "elastic" else 0.5)
    start = world.energy.total
    for _ in range(100):
        world.step(10)
        assert world.energy.total <= start * (1 + 1e-9) + tumbling(world)


@pytest.mark.parametrize("kinds", [(a, b) for k, a in enumerate(SHAPES) for b in list(SHAPES)[k:]], ids="-".join)
def test_pairs_that_collide_never_gain_energy(kinds):
    """Frictionless and elastic ones keep it, whatever their shape: no work is done at a point that bounces back."""
    rng = np.random.default_rng([3, *(list(SHAPES).index(kind) for kind in kinds)])
    poses = rigid_motions(rng, 2)
    for contact, restitution in ((sim.Hard(), 0.0), (sim.Hard(), 0.5), (sim.Elastic(), 1.0)):
        world = floating(contact)
        material = sim.Material(friction=0.0 if restitution == 1.0 else 0.4, restitution=restitution)
        for name, kind, pose, x in zip("ab", kinds, poses, (-1.5, 1.5), strict=True):
            pose[:3, 3] = [x, *rng.uniform(-0.1, 0.1, 2)]
            velocity = [-2 * x, 0, 0, *rng.normal(size=3)]
            world.add(name, SHAPES[kind], pose, velocity=velocity, material=material)
        start, hits, before = world.energy.kinetic, 0, world.velocities
        for _ in range(100):
            world.step(10)
            hits += not np.allclose(world.velocities[:, :3], before[:, :3], rtol=0, atol=1e-6)
            before = world.velocities
            assert world.energy.total <= start * (1 + 1e-9) + tumbling(world)
        assert hits > 0
        if restitution == 1.0:
            assert world.energy.total == pytest.approx(start, abs=1e-9 * start + 2 * tumbling(world))


# Rest ----------------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("contact", [sim.Hard(), sim.Soft(1e6, 1e4)], ids=["hard", "soft"])
@pytest.mark.parametrize("seed", range(4, 7))
def test_bodies_at_rest_gain_no_energy(contact, seed):
    """A heap that has come to rest stays at rest: in a second it gains less than lifts it by a nanometre."""
    material = sim.Material(friction=0.6, rolling=0.05)
    world = world_on_ground(contact, material=material)
    rng, weight = np.random.default_rng(seed), 0.0
    for k, (name, shape) in enumerate(SHAPES.items()):
        pose = cl.poses.from_wxyz(rng.normal(size=4), [*rng.uniform(-0.5, 0.5, 2), 0.7 + 0.7 * k])
        world.add(name, shape, pose, material=material)
        weight += world.mass(name).mass * G
    seconds(world, 6.0)
    least = world.energy.total
    for _ in range(40):
        world.step(25)
        now = world.energy.total
        assert now <= least + 1e-9 * weight
        least = min(least, now)
    assert world.energy.kinetic <= 1e-12 * weight


@pytest.mark.parametrize("model", ["hard", "soft"])
@pytest.mark.parametrize("name", SHAPES)
def test_drop_never_gives_back_more_than_it_had(name, model):
    world = world_on_ground(MODELS[model], material=sim.Material(friction=0.5))
    world.add("body", SHAPES[name], cl.poses.from_rpy([0.3, 0.4, 0.5], [0, 0, 1.5]), velocity=[1, 0, 0, 0, 2, 0])
    start, weight = world.energy.total, world.mass("body").mass * G
    # The way of one step at 6 m/s lies between touching and feeling it: that much height may be won or lost.
    allowed = weight * 6.0 * H
    for _ in range(80):
        world.step(25)
        assert world.energy.total <= start + allowed
    assert world.energy.total < 0.8 * start


def test_energy_is_what_it_should_be():
    world = sim.World()
    world.add("body", BRICK, [0, 0, 2.0], mass=3.0, velocity=[1, 2, 2, 0, 0, 0])
    assert world.energy.kinetic == pytest.approx(13.5, rel=1e-12)
    assert world.energy.potential == pytest.approx(3.0 * G * 2.0, rel=1e-12)
    assert world.energy.elastic == 0
    world.add("floor", GROUND, motion="fixed")
    assert world.energy.potential == pytest.approx(3.0 * G * 2.0, rel=1e-12)
