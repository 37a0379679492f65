"""Particles obey mechanics: closed forms, what must be kept, and what a `World` of the same bodies does."""

import numpy as np
import pytest

import clearance as cl
from clearance import simulation as sim
from physics import GROUND, MODELS, SHAPES, G, H, X, Z, material, slope, upright_on

REST = 4 / np.pi**2 * G * H**2  # how deep a body sinks that carries itself alone, with springs of a quarter of the rate
STILL = 1e-4 * G * H  # iterations end once velocities change by less
LAWS = pytest.mark.parametrize("law", MODELS)


def on_ground(ground=GROUND, **settings):
    particles = sim.Particles(**settings)
    particles.add_wall("ground", ground)
    return particles


def floating(contact=None, **settings):
    return sim.Particles(gravity=(0, 0, 0), contact=contact or sim.Hard(), **settings)


def bin_with_walls(half, **settings):
    particles = on_ground(**settings)
    for k, normal in enumerate([[1, 0, 0], [-1, 0, 0], [0, 1, 0], [0, -1, 0]]):
        particles.add_wall(f"side {k}", cl.HalfSpace(normal, -half))
    return particles


def lattice(counts, pitch, low=(0.0, 0.0, 0.0)):
    axes = [pitch * np.arange(count) for count in counts]
    return np.stack(np.meshgrid(*axes, indexing="ij"), axis=-1).reshape(-1, 3) + low


def upright(places, angles):
    return np.array([cl.poses.from_axis_angle(Z, angle, place) for place, angle in zip(places, angles, strict=True)])


# ---- One particle.


@LAWS
def test_particles_fall_freely(law):
    """Velocities are exact. A step adds to the velocity before it moves: places are off by up to g h T / 2."""
    particles, n = sim.Particles(contact=MODELS[law]), 500
    start = np.array([[0.0, 0.0, 10.0], [3.0, 0.0, 7.0]])
    thrown = np.array([[1.0, -2.0, 3.0], [0.0, 0.5, -1.0]])
    particles.add(cl.Sphere(0.1), start, thrown)
    particles.step(n)
    off = particles.positions - (start + n * H * thrown - G * (n * H) ** 2 / 2 * Z)
    assert np.allclose(off[:, :2], 0.0, rtol=0, atol=1e-11)
    assert np.abs(off[:, 2]).max() <= G * H * n * H / 2 * (1 + 1e-9)
    assert np.allclose(particles.velocities[:, :3], thrown - n * H * G * Z, rtol=0, atol=1e-12)
    assert particles.time == pytest.approx(n * H)


@pytest.mark.parametrize("kind", SHAPES)
def test_free_particles_keep_momentum_and_energy_as_they_tumble(kind):
    particles = floating()
    rng = np.random.default_rng(1)
    pose = cl.poses.from_wxyz(rng.normal(size=4), [1.0, 2.0, 3.0])
    particles.add(SHAPES[kind], pose[None], rng.normal(size=(1, 6)))
    before, energy = particles.momentum, particles.energy.kinetic
    spin = np.linalg.norm(particles.velocities[0, 3:])
    particles.step(1000)
    after = particles.momentum
    assert np.allclose(after.linear, before.linear, rtol=1e-12, atol=0)
    assert np.allclose(after.angular, before.angular, rtol=1e-9, atol=1e-9)
    assert particles.energy.kinetic == pytest.approx(energy, rel=(spin * H) ** 2 + 1e-12)


@pytest.mark.parametrize("direction", [0.0, 0.7, 2.5, 4.0])
@pytest.mark.parametrize(("angle", "friction"), [(0.3, 0.9), (0.3, 0.12), (0.8, 0.4), (0.8, 0.2), (0.5, 0.0)])
def test_balls_roll_or_slide_down_slopes(angle, friction, direction):
    """With friction above 2/7 tan they roll at 5/7 g sin; below, they slide and are spun up by friction."""
    ground, downhill, normal = slope(angle, direction)
    particles, radius = on_ground(ground), 0.1
    particles.remove_wall("ground")
    particles.add_wall("slope", ground, material=material(friction))
    particles.add(cl.Sphere(radius), [radius * normal], material=material(friction))
    particles.step(500)
    time, pull, press = 0.5, G * np.sin(angle), G * np.cos(angle)
    rolls = friction >= 2 / 7 * np.tan(angle)
    speed = (5 / 7 * pull if rolls else pull - friction * press) * time
    spin = speed / radius if rolls else 2.5 * friction * press * time / radius
    # The first steps press less than the weight, until the ball has sunk to where springs carry it: some g h.
    slack = 3 * G * H
    velocity = particles.velocities[0]
    assert velocity[:3] @ downhill == pytest.approx(speed, abs=slack)
    assert velocity[3:] @ np.cross(normal, downhill) == pytest.approx(spin, abs=2.5 * slack / radius)
    assert velocity[:3] @ np.cross(normal, downhill) == pytest.approx(0.0, abs=1e-9)


@pytest.mark.parametrize(("friction", "slides"), [(0.29, True), (0.32, False)])
def test_boxes_slide_where_the_slope_is_steeper_than_friction(friction, slides):
    angle = 0.3  # tan is 0.309
    ground, downhill, normal = slope(angle)
    particles = sim.Particles()
    particles.add_wall("slope", ground, material=material(friction))
    pose = upright_on(normal, downhill, 0.05)
    particles.add(cl.Box([0.2, 0.2, 0.1]), pose[None], material=material(friction))
    particles.step(1000)
    speed = particles.velocities[0, :3] @ downhill
    if slides:
        assert speed == pytest.approx(G * (np.sin(angle) - friction * np.cos(angle)), abs=3 * G * H)
    else:
        assert np.abs(particles.velocities).max() <= 1e-9
        assert np.linalg.norm(particles.positions[0] - pose[:3, 3]) <= 3 * G * H**2


@pytest.mark.parametrize("restitution", [0.0, 0.3, 0.8, 1.0])
def test_balls_leave_walls_with_their_restitution(restitution):
    particles = floating()
    particles.add_wall("wall", cl.HalfSpace(-X, -1.0), material=material(0.0, restitution))
    particles.add(cl.Sphere(0.1), [[0.0, 0, 0], [0.0, 1, 0]], [[2.0, 0, 0], [3.0, 0.5, -0.2]], material=material(0.0))
    particles.step(1000)
    expected = [[-2.0 * restitution, 0, 0], [-3.0 * restitution, 0.5, -0.2]]
    assert np.allclose(particles.velocities[:, :3], expected, rtol=0, atol=1e-9)


# ---- Two particles.


@pytest.mark.parametrize("detection", ["hybrid", "iterative"])
@pytest.mark.parametrize("contact", [sim.Elastic(), sim.Hard()], ids=["elastic", "hard"])
@pytest.mark.parametrize("densities", [(1000.0, 1000.0), (1000.0, 3000.0), (5000.0, 200.0)])
def test_balls_that_meet_head_on_exchange_their_motion(densities, contact, detection):
    particles, (m, n) = floating(contact, detection=detection), densities
    bounces = material(0.0, 1.0)
    particles.add(cl.Sphere(0.1), [[-1.0, 0, 0]], [[2.0, 0, 0]], density=m, material=bounces)
    particles.add(cl.Sphere(0.1), [[1.0, 0, 0]], [[-1.0, 0, 0]], density=n, material=bounces)
    particles.step(1000)
    centre = (2.0 * m - 1.0 * n) / (m + n)
    assert np.allclose(particles.velocities[:, 0], [2 * centre - 2.0, 2 * centre + 1.0], rtol=0, atol=1e-9)
    assert np.allclose(particles.velocities[:, 1:], 0.0, rtol=0, atol=1e-9)


@pytest.mark.parametrize("seed", range(6))
def test_elastic_balls_are_reflected_along_the_line_of_centres(seed):
    rng = np.random.default_rng(seed)
    particles = floating(sim.Elastic())
    radii, densities, aim = rng.uniform(0.05, 0.2, 2), rng.uniform(500, 5000, 2), rng.normal(size=3)
    aim /= np.linalg.norm(aim)
    aside = np.cross(aim, rng.normal(size=3))
    aside *= 0.6 * radii.sum() / np.linalg.norm(aside)
    particles.add(cl.Sphere(radii[0]), [-0.5 * aim], [1.5 * aim], density=densities[0])
    particles.add(cl.Sphere(radii[1]), [aside], [-0.7 * aim], density=densities[1])
    hits = 0
    for _ in range(600):
        places, before = particles.positions, particles.velocities[:, :3]
        particles.step()
        after, line = particles.velocities[:, :3], places[1] - places[0]
        if np.array_equal(after, before):
            continue
        hits += 1
        normal, (m, n) = line / np.linalg.norm(line), particles.masses
        impulse = -2 * (before[1] - before[0]) @ normal * m * n / (m + n) * normal
        assert np.linalg.norm(line) <= radii.sum()
        assert np.allclose(after, before + np.array([-impulse / m, impulse / n]), rtol=0, atol=1e-13)
    assert hits == 1


def test_balls_bounce_across_the_faces_edges_and_corners_of_a_periodic_room():
    """Two balls that only meet through the outside: they part the way they would inside."""
    for towards in np.ndindex(3, 3, 3):
        direction = np.array(towards, dtype=float) - 1.0
        if not direction.any():
            continue
        particles = floating(sim.Elastic(), lower=(-1, -1, -1), upper=(1, 1, 1), periodic=True)
        unit = direction / np.linalg.norm(direction)
        start = 0.9 * direction - 0.1 * unit
        particles.add(cl.Sphere(0.05), [start, -start], [unit, -unit])
        particles.step(300)
        assert np.allclose(particles.velocities[:, :3], [-unit, unit], rtol=0, atol=1e-12)


@pytest.mark.parametrize("friction", [0.1, 0.5])
def test_balls_that_graze_are_slowed_and_spun_by_friction(friction):
    """A ball that slides on a wall it hits loses friction times what it loses along the normal, until it rolls."""
    particles, radius = floating(), 0.1
    particles.add_wall("wall", cl.HalfSpace(-X, -1.0), material=material(friction))
    particles.add(cl.Sphere(radius), [[0.0, 0, 0]], [[2.0, 5.0, 0]], material=material(friction))
    particles.step(1000)
    lost = min(friction * 2.0, 2 / 7 * 5.0)
    velocity = particles.velocities[0]
    assert velocity[:3] == pytest.approx([0.0, 5.0 - lost, 0.0], abs=1e-9)
    assert velocity[3:] == pytest.approx([0.0, 0.0, -2.5 * lost / radius], abs=1e-7)


# ---- At rest.


@pytest.mark.parametrize("detection", ["hybrid", "iterative"])
def test_columns_of_balls_sink_by_what_they_carry(detection):
    """Contacts are springs as stiff as steps can resolve: at most 4/π² g h² deep for each effective mass they carry."""
    particles, count = on_ground(detection=detection, contact=sim.Hard(iterations=200)), 5
    particles.add(cl.Sphere(0.1), [[0, 0, 0.1 + 0.2 * k] for k in range(count)])
    particles.step(1000)
    assert np.abs(particles.velocities).max() <= 1e-9
    contacts = particles.contacts
    assert contacts.ids.tolist() == [[-1, 0], [0, 1], [1, 2], [2, 3], [3, 4]]
    # Two balls give way with half of the mass of one; the floor does not give way.
    expected = REST * np.array([5.0, 2 * 4.0, 2 * 3.0, 2 * 2.0, 2 * 1.0])
    assert (contacts.depths <= 1.001 * expected).all()
    assert np.allclose(contacts.depths / contacts.depths[0], expected / expected[0], rtol=1e-3, atol=0)
    weight = particles.masses[0] * G
    assert np.allclose(contacts.forces, weight * np.outer([5, 4, 3, 2, 1], Z), rtol=0, atol=1e-6 * weight)


@pytest.mark.parametrize("edge", [0.1, 1.0])
def test_ten_boxes_stand(edge):
    """As those of a world: each sinks into the one below by no more than its load falls in a step, and none creeps."""
    particles = on_ground(contact=sim.Hard())
    places = [[0.02 * edge * (-1) ** k, 0, (k + 0.5) * edge] for k in range(10)]
    start = upright(places, 0.05 * np.arange(10))
    particles.add(cl.Box([edge] * 3), start)
    particles.step(3000)
    settled = particles.poses
    particles.step(3000)
    assert np.abs(settled - start).max() <= 55 * G * H**2 / min(edge, 1.0)
    assert np.abs(particles.poses - settled).max() <= 0.1 * REST / min(edge, 1.0)
    assert np.abs(particles.velocities).max() <= STILL / min(edge, 1.0)


def test_many_stacks_stand_beside_each_other():
    """Stacks on their own do not know of others, wherever they stand in blocks of pairs."""
    one, many = on_ground(contact=sim.Hard()), on_ground(contact=sim.Hard())
    stack = np.array([[0, 0, 0.1 + 0.2 * k] for k in range(4)])
    one.add(cl.Box([0.2, 0.2, 0.2]), stack)
    many.add(cl.Box([0.2, 0.2, 0.2]), np.concatenate([stack + place for place in lattice((3, 3, 1), 0.7)]))
    for particles in (one, many):
        particles.step(500)
        assert np.abs(particles.velocities).max() <= 10 * STILL / 0.2
    assert np.allclose(many.positions[:, 2].reshape(9, 4), one.positions[:, 2], rtol=0, atol=2 * REST)


@pytest.mark.parametrize("shape", [cl.Sphere(0.05), cl.Box([0.09, 0.08, 0.07]), SHAPES["compound"]], ids=str)
def test_heaps_come_to_rest_and_stay_in_their_bin(shape):
    size = 0.1 if shape is not SHAPES["compound"] else 1.0
    particles = bin_with_walls(2.5 * size, step=H * np.sqrt(size / 0.1))
    places = lattice((3, 3, 5), 1.5 * size, [-1.5 * size, -1.5 * size, 0.8 * size])
    rng = np.random.default_rng(0)
    poses = np.array([cl.poses.from_wxyz(rng.normal(size=4), place) for place in places])
    particles.add(shape, poses, material=material(0.5, 0.0, 0.002 * size))
    particles.step(3000)
    before = particles.positions
    particles.step(500)
    fall = G * particles.step_length**2
    assert np.linalg.norm(particles.positions - before, axis=1).max() <= 0.05 * size
    assert np.sqrt((particles.velocities[:, :3] ** 2).mean()) <= 0.05 * np.sqrt(G * size)
    assert (particles.positions[:, 2] > 0).all()
    contacts = particles.contacts
    assert np.mean(contacts.depths) <= 45 * fall
    # The floor carries the weight of all.
    on_floor = contacts.ids[:, 0] == -1
    weight = particles.masses.sum() * G
    sides = contacts.forces[(contacts.ids[:, 0] < -1)].sum(axis=0)[2]
    assert contacts.forces[on_floor].sum(axis=0)[2] + sides == pytest.approx(weight, rel=0.02)


def test_gate_of_a_silo_opens():
    """Balls in a funnel stay as long as its gate is there, and all leave once it is gone."""
    particles = sim.Particles()
    for k, normal in enumerate([[1, 0, 1], [-1, 0, 1], [0, 1, 1], [0, -1, 1]]):
        particles.add_wall(f"side {k}", cl.Box([4, 4, 0.2]), _leaning(normal, 0.3), material=material(0.1))
    particles.add_wall("gate", cl.Box([2, 2, 0.1]), [0, 0, -0.05])
    particles.add(cl.Sphere(0.05), lattice((4, 4, 4), 0.11, [-0.165, -0.165, 0.3]), material=material(0.1))
    particles.step(1500)
    assert (particles.positions[:, 2] > 0.0).all()
    assert list(particles.walls)[-1] == "gate"
    assert -5 in particles.contacts.ids
    particles.remove_wall("gate")
    particles.step(2500)
    assert (particles.positions[:, 2] < -0.5).all()


def _leaning(normal, half_opening):
    """Return the pose of a plate whose upper face has this normal and ends above the edge of an opening at z = 0."""
    normal = np.array(normal, dtype=float) / np.linalg.norm(normal)
    downhill = normal * normal[2] - Z
    downhill /= np.linalg.norm(downhill)
    level = np.array([-normal[0], -normal[1], 0.0])
    edge = half_opening * level / np.linalg.norm(level)
    pose = upright_on(normal, downhill, 0.0)
    pose[:3, 3] = edge - 2.0 * downhill - 0.1 * normal
    return pose


# ---- The same bodies in a world.


# Closest points are found to about 1e-8, and a hit carries that into spins. Hard bodies are solved in steps of their
# own: they fall up to g h T / 2 differently, and may feel a hit of some 6 m/s a step sooner or later.
AS_IN_A_WORLD = {"hard": 0.03, "soft": 1e-3, "elastic": 1e-5}


def thrown(seed, count, spread):
    rng = np.random.default_rng(seed)
    places = spread * rng.uniform(-1, 1, (count, 3)) + [0, 0, spread + 0.6]
    poses = np.array([cl.poses.from_wxyz(rng.normal(size=4), place) for place in places])
    return poses, rng.normal(size=(count, 6)) - np.array([0, 0, 3.0, 0, 0, 0])


def side_by_side(shapes, poses, velocities, contact, ground=GROUND, surface=None, **settings):
    particles, world = sim.Particles(contact=contact, **settings), sim.World(contact=contact, **settings)
    if ground is not None:
        particles.add_wall("ground", ground, material=surface)
        world.add("ground", ground, motion="fixed", material=surface)
    for k, (shape, pose, velocity) in enumerate(zip(shapes, poses, velocities, strict=True)):
        particles.add(shape, pose[None], velocity[None], material=surface)
        world.add(f"{k}", shape, pose, velocity=velocity, material=surface)
    return particles, world


def moving_in(world):
    return world.poses[-len(world.names) + ("ground" in world.names) :]


# Where several points of hard bodies hit at once, it depends on the order of solving which of them bears how much.
AT_ONE_POINT = ("sphere", "capsule", "cylinder", "cone", "ellipsoid")
ALIKE = [(kind, law) for kind in SHAPES for law in MODELS if law != "hard" or kind in AT_ONE_POINT]


@pytest.mark.parametrize(("kind", "law"), ALIKE)
def test_one_body_falls_on_the_ground_as_in_a_world(kind, law):
    poses, velocities = thrown(len(kind), 1, 0.2)
    particles, world = side_by_side([SHAPES[kind]], poses, velocities, MODELS[law], surface=material(0.4, 0.0, 0.001))
    for _ in range(30):
        particles.step(15)
        world.step(15)
        assert np.allclose(particles.poses, moving_in(world), rtol=0, atol=AS_IN_A_WORLD[law])
    free = velocities[0, :3] - G * particles.time * Z
    assert np.linalg.norm(particles.velocities[0, :3] - free) > 1.0


@pytest.mark.parametrize(("kind", "law"), ALIKE)
def test_two_bodies_meet_as_in_a_world(kind, law):
    rng = np.random.default_rng(len(kind))
    other = SHAPES[str(rng.choice(list(AT_ONE_POINT if law == "hard" else SHAPES)))]
    poses = np.array([cl.poses.from_wxyz(rng.normal(size=4), [0.6 * s, 0.05 * s, 0]) for s in (-1, 1)])
    velocities = np.array([np.hstack([-3.0 * s * X, rng.normal(size=3)]) for s in (-1, 1)])
    particles, world = side_by_side(
        [SHAPES[kind], other], poses, velocities, MODELS[law], None, material(0.4), gravity=(0, 0, 0)
    )
    for _ in range(19):
        particles.step(10)
        world.step(10)
        assert np.allclose(particles.poses, world.poses, rtol=0, atol=AS_IN_A_WORLD[law])
    assert np.linalg.norm(particles.velocities - velocities) > 0.1


def test_heap_is_like_that_of_a_world():
    """Chaos parts single bodies; how high they lie and how deep they sink stays."""
    rng = np.random.default_rng(3)
    places = lattice((3, 3, 4), 0.14, [-0.14, -0.14, 0.1])
    poses = np.array([cl.poses.from_wxyz(rng.normal(size=4), place) for place in places])
    shapes = [cl.Sphere(0.05), cl.Box([0.1, 0.09, 0.08]), cl.Capsule(0.03, 0.05), cl.Ellipsoid([0.04, 0.05, 0.06])]
    drawn = [shapes[k % 4] for k in range(len(poses))]
    particles, world = side_by_side(drawn, poses, np.zeros((len(poses), 6)), sim.Hard())
    for k, normal in enumerate([[1, 0, 0], [-1, 0, 0], [0, 1, 0], [0, -1, 0]]):
        particles.add_wall(f"side {k}", cl.HalfSpace(normal, -0.22))
        world.add(f"side {k}", cl.HalfSpace(normal, -0.22), motion="fixed")
    particles.step(2000)
    world.step(2000)
    heights = [particles.positions[:, 2], np.array([world.pose(f"{k}")[2, 3] for k in range(len(poses))])]
    assert heights[0].mean() == pytest.approx(heights[1].mean(), rel=0.15)
    assert heights[0].max() <= 1.5 * heights[1].max()
    assert particles.contacts.depths.mean() == pytest.approx(np.mean(world.contacts.depths), abs=5 * REST)


# ---- What is kept.


def gas(contact, count=6, periodic=True, seed=0, shape=None, **settings):
    """Return particles flying about in a periodic cube of unit width."""
    rng = np.random.default_rng(seed)
    particles = floating(contact, lower=(0, 0, 0), upper=(1, 1, 1), periodic=periodic, **settings)
    places = (np.stack(np.meshgrid(*[np.arange(count)] * 3), axis=-1).reshape(-1, 3) + 0.5) / count
    shape = shape or cl.Sphere(0.3 / count)
    poses = np.array([cl.poses.from_wxyz(rng.normal(size=4), place) for place in places])
    particles.add(shape, poses, rng.normal(size=(count**3, 6)))
    return particles


@pytest.mark.parametrize("shape", [None, SHAPES["box"], SHAPES["compound"]], ids=["ball", "box", "compound"])
@LAWS
def test_momentum_is_kept_in_a_periodic_room(law, shape):
    particles = gas(MODELS[law], 3 if shape else 5, shape=shape and _shrunk(shape))
    before = particles.momentum.linear
    size = (particles.masses[:, None] * np.abs(particles.velocities[:, :3])).sum()
    start = particles.velocities[:, :3]
    particles.step(300)
    assert np.abs(particles.velocities[:, :3] - start).max() > 0.1
    assert np.abs(particles.momentum.linear - before).max() <= 1e-13 * size


def _shrunk(shape):
    if isinstance(shape, cl.Compound):
        return cl.Compound([cl.Box([0.12, 0.04, 0.04]).at([0.04, 0, 0]), cl.Sphere(0.04).at([0.0, 0.06, 0.0])])
    return cl.Box([0.1, 0.12, 0.14])


@pytest.mark.parametrize("shape", [None, SHAPES["box"], SHAPES["compound"]], ids=["ball", "box", "compound"])
@pytest.mark.parametrize("restitution", [0.0, 0.5])
def test_energy_never_grows_where_nothing_feeds_it(restitution, shape):
    particles = gas(sim.Hard(), 4 if shape is None else 3, shape=shape and _shrunk(shape))
    records = particles.poses, particles.velocities
    particles.remove(particles.ids)
    kept = particles.shapes[0]
    particles.add(kept, *records, material=material(0.5, restitution))
    spin = np.linalg.norm(particles.velocities[:, 3:], axis=1).max()
    last = first = particles.energy.kinetic
    for _ in range(300):
        particles.step()
        now = particles.energy.kinetic
        # Boxes that turn freely come and go by the square of their turn in a step.
        slack = 0.0 if shape is None else (4 * spin * H) ** 2
        assert now <= last * (1 + 1e-13 + slack)
        last = now
    assert last < 0.9 * first


def test_elastic_gas_keeps_its_energy():
    particles = gas(sim.Elastic(), 6)
    energy, speeds = particles.energy.kinetic, np.sort(np.linalg.norm(particles.velocities[:, :3], axis=1))
    particles.step(2000)
    assert particles.energy.kinetic == pytest.approx(energy, rel=1e-12)
    later = np.sort(np.linalg.norm(particles.velocities[:, :3], axis=1))
    assert np.abs(later - speeds).max() > 0.1  # they did exchange motion


def test_elastic_gas_among_walls_keeps_its_energy():
    particles = floating(sim.Elastic())
    for k, normal in enumerate([[1, 0, 0], [-1, 0, 0], [0, 1, 0], [0, -1, 0], [0, 0, 1], [0, 0, -1]]):
        particles.add_wall(f"{k}", cl.HalfSpace(normal, -0.5))
    rng = np.random.default_rng(0)
    particles.add(cl.Sphere(0.03), lattice((5, 5, 5), 0.19, [-0.38] * 3), rng.normal(size=(125, 3)))
    energy = particles.energy.kinetic
    particles.step(2000)
    assert particles.energy.kinetic == pytest.approx(energy, rel=1e-12)
    assert np.abs(particles.positions).max() <= 0.5


def test_speeds_of_a_gas_become_those_of_maxwell():
    """All at one speed in the beginning; after several hits each, squares of components have kurtosis 3."""
    particles = floating(sim.Elastic(), lower=(0, 0, 0), upper=(1, 1, 1), periodic=True)
    rng = np.random.default_rng(5)
    directions = rng.normal(size=(1000, 3))
    directions /= np.linalg.norm(directions, axis=1)[:, None]
    particles.add(cl.Sphere(0.03), lattice((10, 10, 10), 0.1, [0.05] * 3), directions)
    assert np.mean(particles.velocities[:, 0] ** 4) / np.mean(particles.velocities[:, 0] ** 2) ** 2 < 2.0
    particles.step(1500)
    component = particles.velocities[:, :3]
    kurtosis = np.mean(component**4) / np.mean(component**2) ** 2
    # Three thousand components: the error of a kurtosis is the root of 24 over their number.
    assert kurtosis == pytest.approx(3.0, abs=4 * np.sqrt(24 / 3000))
