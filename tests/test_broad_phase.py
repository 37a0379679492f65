"""Which pairs a world looks at: every broad phase finds the same contacts, and none misses what touches."""

import pickle
from itertools import combinations

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import clearance as cl
from clearance import simulation as sim
from physics import GROUND, SHAPES, Z, fingerprint, floating, world_on_ground
from solids import KINDS, draw_shape
from strategies import rigid_motions, seeds

PHASES = ("grid", "hierarchy", "combined", "all")
SOLIDS = [kind for kind in KINDS if kind not in ("HalfSpace", "SweptTriangle")]


def thrown(broad_phase, seed=0, count=40, contact=None):
    """Return a world of bodies of every kind and of sizes a hundredfold apart that fall on each other."""
    world = world_on_ground(contact, broad_phase=broad_phase)
    rng, kinds = np.random.default_rng(seed), list(SHAPES)
    for k in range(count):
        pose = cl.poses.from_wxyz(rng.normal(size=4), [*rng.uniform(-2, 2, 2), rng.uniform(0.4, 3)])
        group = f"robot {k % 3}" if k % 4 == 0 else None
        world.add(f"body {k}", SHAPES[kinds[k % len(kinds)]], pose, velocity=rng.normal(size=6), group=group)
    world.add("wall", cl.Box([8, 0.05, 8]), [0, 2.2, 4], motion="fixed")
    world.add("pole", cl.Cylinder(0.02, 12), [0.3, 0.2, 6], motion="fixed")
    for k in range(20):
        world.add(f"pea {k}", cl.Sphere(0.02), rng.uniform([-2, -2, 0.1], [2, 2, 3]))
    return world


def pairs_in_contact(world):
    """Return which bodies overlap, as the world told of its last step."""
    found = world.contacts
    overlap = np.asarray(found.bodies)[found.depths >= 0]
    return {frozenset(world.names[k] for k in pair) for pair in overlap.tolist()}


# Four ways, one world ------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("contact", [sim.Hard(), sim.Soft()], ids=["hard", "soft"])
def test_every_broad_phase_gives_the_same_bits(contact):
    worlds = {phase: thrown(phase, contact=contact) for phase in PHASES}
    for _ in range(8):
        for world in worlds.values():
            world.step(60)
        assert len({fingerprint(world) for world in worlds.values()}) == 1
        tables = [(w.contacts.bodies, w.contacts.points, w.contacts.depths, w.contacts.forces) for w in worlds.values()]
        for columns in zip(*tables, strict=True):
            assert all(np.array_equal(column, columns[0]) for column in columns)
    assert len(pairs_in_contact(worlds["all"])) > 20


def test_only_the_work_differs():
    counts = {}
    for phase in PHASES:
        world = thrown(phase)
        world.step(300)
        counts[phase] = world.work
    assert len({work.contacts for work in counts.values()}) == 1
    assert len({work.pairs for work in counts.values()}) == 1
    assert all(work.object_tests <= counts["all"].object_tests for work in counts.values())
    assert all(counts[phase].object_tests < 0.5 * counts["all"].object_tests for phase in PHASES[:3])


def anything(seed, **settings):
    """Return a world of anything: floors of four kinds, shapes of every kind and size, groups, joints and motors."""
    rng = np.random.default_rng(seed)
    contact = (sim.Hard(), sim.Soft(1e6, 1e4), sim.Elastic())[seed % 3]
    world = sim.World(step=rng.choice([1e-3, 2e-3, 5e-3]), contact=contact, **settings)
    field = cl.HeightField(0.2 * rng.random((30, 30)), 0.7)
    floor, pose = ((GROUND, None), (cl.Box([20, 20, 1]), [0, 0, -0.5]), (field, None))[rng.integers(3)]
    world.add("floor", floor, pose, motion="fixed")
    for k in range(rng.integers(5, 40)):
        shape = draw_shape(rng, rng.choice(SOLIDS), 10.0 ** rng.uniform(-1, 0))
        pose = cl.poses.from_wxyz(rng.normal(size=4), [*rng.uniform(-2, 2, 2), rng.uniform(0.8, 5)])
        stuff = sim.Material(rng.uniform(0, 1), rng.choice([0, 0.3, 0.8]), rng.choice([0, 0.01]))
        given = {"group": rng.choice([None, None, "group"]), "density": 10.0 ** rng.uniform(2, 4), "material": stuff}
        world.add(f"body {k}", shape, pose, velocity=rng.choice([0, 1, 5]) * rng.normal(size=6), **given)
        if k and rng.random() < 0.2:
            kind = str(rng.choice(["hinge", "ball", "fixed", "slide"]))
            world.join(f"joint {k}", kind, f"body {k - 1}", f"body {k}", pose[:3, 3], rng.normal(size=3))
            if kind in ("hinge", "slide"):
                world.drive(f"joint {k}", 3 * rng.normal(), torque=10.0 ** rng.uniform(-1, 3))
    return world


def assert_anything_is_the_same(seed):
    """Whatever the broad phase and the number of threads, and whether a world goes on or is copied: the same bits."""
    ways = [("grid", 1), ("hierarchy", 2), ("combined", 5), ("all", 1)]
    worlds = [anything(seed, broad_phase=phase, threads=threads) for phase, threads in ways]
    for _ in range(4):
        for world in worlds:
            world.step(150)
        worlds[0] = pickle.loads(pickle.dumps(worlds[0]))
        assert len({fingerprint(world) for world in worlds}) == 1
        assert np.isfinite(worlds[0].velocities).all()


@pytest.mark.parametrize("seed", range(6))
def test_worlds_of_anything_run_the_same_every_way(seed):
    assert_anything_is_the_same(seed)


@pytest.mark.long
@pytest.mark.parametrize("seed", range(6, 300))
def test_many_worlds_of_anything_run_the_same_every_way(seed):
    assert_anything_is_the_same(seed)


# Nothing is missed ---------------------------------------------------------------------------------------------------


def touching(world, poses):
    """Return all pairs of names whose shapes meet at poses, by asking all of them."""
    found = set()
    for (i, a), (j, b) in combinations(enumerate(world.names), 2):
        shapes = world.shape(a), world.shape(b)
        if all(isinstance(shape, cl.HalfSpace) for shape in shapes):
            continue
        if cl.distance(shapes[0].at(poses[i]), shapes[1].at(poses[j])).distance < -1e-9:
            found.add(frozenset((a, b)))
    return found


@pytest.mark.parametrize("phase", PHASES)
def test_contacts_are_those_of_all_pairs(phase):
    rng = np.random.default_rng(2)
    world = floating(broad_phase=phase)
    world.add("ground", GROUND, motion="fixed")
    kinds = list(SHAPES)
    for k, pose in enumerate(rigid_motions(rng, 40)):
        pose[:3, 3] = rng.uniform([-1, -1, -0.2], [1, 1, 1.8])
        world.add(f"body {k}", SHAPES[kinds[k % len(kinds)]], pose)
    expected = touching(world, world.poses)
    world.step()
    assert 40 < len(expected) < 400
    assert expected <= pairs_in_contact(world)
    extra = pairs_in_contact(world) - expected
    assert not extra  # nothing is felt that does not touch


@pytest.mark.parametrize("phase", PHASES)
@pytest.mark.parametrize("seed", range(3))
def test_what_moves_meets_what_stands(phase, seed):
    """Balls, alone and in groups, thrown into a town of fixed blocks of every size."""
    rng = np.random.default_rng(seed)
    world = floating(broad_phase=phase)
    for k in range(60):
        at, size = rng.uniform([-12, -8, 0], [12, 8, 2]), rng.uniform(0.3, 3.0, 3)
        world.add(f"block {k}", cl.Box(size), at, motion="fixed")
    for k in range(60):
        at, group = rng.uniform([-13, -9, 0], [13, 9, 2]), f"group {k // 4}" if k < 20 else None
        world.add(f"ball {k}", cl.Sphere(rng.uniform(0.05, 0.6)), at, group=group)
    groups = {f"ball {k}": k // 4 for k in range(20)}
    expected = {
        pair
        for pair in touching(world, world.poses)
        if any(name.startswith("ball") for name in pair) and len({groups.get(name, name) for name in pair}) == 2
    }
    world.step()
    assert len(expected) > 15
    assert pairs_in_contact(world) == expected


@given(seeds(), st.sampled_from(PHASES), st.integers(-4, 4))
@settings(max_examples=25)
def test_pairs_near_the_borders_of_cells_are_found(seed, phase, power):
    """Balls on a lattice of their own size, a rounding to either side of touching and of every likely cell border."""
    rng, size = np.random.default_rng(seed), 2.0**power
    world = floating(broad_phase=phase)
    places = size * (rng.integers(-3, 4, (30, 3)) + rng.choice([0.0, 1e-12, -1e-12, 0.5], (30, 3)))
    radii = size * rng.choice([0.5, 0.25, 0.500001], 30)
    for k in range(30):
        world.add(f"ball {k}", cl.Sphere(radii[k]), places[k])
    gaps = np.linalg.norm(places[:, None] - places, axis=2) - radii[:, None] - radii
    expected = {frozenset((f"ball {i}", f"ball {j}")) for i, j in np.argwhere(gaps < -1e-9 * size) if i < j}
    world.step()
    assert expected <= pairs_in_contact(world)


@pytest.mark.parametrize("phase", PHASES)
def test_huge_thin_and_tiny_bodies_meet(phase):
    world = floating(broad_phase=phase)
    world.add("plate", cl.Box([1000, 1000, 0.01]), [300, -200, 0], motion="fixed")
    world.add("needle", cl.Capsule(1e-3, 500.0), cl.poses.from_axis_angle([1, 1, 0], 1.2, [10, 10, 5]), motion="fixed")
    world.add("planet", cl.Sphere(1e4), [0, 0, -1e4 - 50], motion="fixed")
    direction = world.pose("needle")[:3, 2]
    expected = set()
    for k, t in enumerate(np.linspace(-200, 200, 9)):
        world.add(f"bead {k}", cl.Sphere(0.05), world.pose("needle")[:3, 3] + t * direction + [0, 0, 0.01])
        expected.add(frozenset((f"bead {k}", "needle")))
    for k, (x, y) in enumerate(((-199, -699), (799, 299), (0, 0), (512, -512))):
        world.add(f"crumb {k}", cl.Sphere(0.01), [x, y, 0.012])
        expected.add(frozenset((f"crumb {k}", "plate")))
    world.add("stone", cl.Sphere(1.0), [0, 0, -49.1])
    expected.add(frozenset(("stone", "planet")))
    world.step()
    assert expected <= pairs_in_contact(world)


@pytest.mark.parametrize("phase", PHASES)
def test_half_spaces_meet_everything_that_enters(phase):
    world = floating(broad_phase=phase)
    for k, normal in enumerate(([1.0, 0, 0], [0, 1.0, 0], [1.0, 1.0, 1.0])):
        world.add(f"half {k}", cl.HalfSpace(normal, -3.0 * np.linalg.norm(normal)), motion="fixed")
    rng = np.random.default_rng(3)
    for k, at in enumerate(rng.uniform(-5, 5, (30, 3))):
        world.add(f"ball {k}", cl.Sphere(0.01), at)
    expected = touching(world, world.poses)
    world.step()
    assert len(expected) > 5
    assert pairs_in_contact(world) == expected


@pytest.mark.parametrize("depth", [0.1, 1.0, 5.0, 50.0])
def test_every_broad_phase_sees_a_height_field_as_deep_as_the_others(depth):
    """A field is solid below; how far down must not depend on who asks."""
    seen = []
    for phase in PHASES:
        world = floating(broad_phase=phase)
        world.add("field", cl.HeightField(np.zeros((5, 5)), 1.0), motion="fixed")
        world.add("ball", cl.Sphere(0.2), [0.3, 0.2, -depth])
        world.step()
        seen.append((world.touching("ball"), world.pose("ball").tolist()))
    assert all(one == seen[0] for one in seen)
    assert seen[0][0] == ["field"]


@pytest.mark.parametrize("phase", PHASES)
def test_groups_meet_others_but_not_themselves(phase):
    world = floating(broad_phase=phase)
    for k in range(12):
        world.add(f"{'ab'[k % 2]} {k}", cl.Sphere(1.0), [0.1 * k, 0, 0], group="ab"[k % 2])
    expected = {pair for pair in touching(world, world.poses) if len({name[0] for name in pair}) == 2}
    world.step()
    assert len(expected) == 36
    assert pairs_in_contact(world) == expected


@pytest.mark.parametrize("phase", PHASES)
def test_moved_added_and_removed_bodies_are_found(phase):
    world = floating(broad_phase=phase)
    for k in range(20):
        world.add(f"ball {k}", cl.Sphere(0.4), [k, 0, 0])
    world.step()
    assert pairs_in_contact(world) == set()
    world.set("ball 0", pose=[15.5, 0.3, 0])
    world.remove("ball 7")
    world.add("new", cl.Sphere(0.4), [3.3, 0, 0])
    world.step()
    expected = {("ball 0", "ball 15"), ("ball 0", "ball 16"), ("new", "ball 3"), ("new", "ball 4")}
    assert pairs_in_contact(world) == {frozenset(pair) for pair in expected}


@pytest.mark.parametrize("phase", PHASES)
def test_fixed_bodies_do_not_meet_each_other(phase):
    world = world_on_ground(broad_phase=phase)
    for k in range(5):
        world.add(f"block {k}", cl.Box([1, 1, 1]), [0.5 * k, 0, 0.3], motion="fixed" if k % 2 else "kinematic")
    world.step()
    assert len(world.contacts.depths) == 0


# Work ----------------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("phase", PHASES)
def test_all_pairs_are_counted(phase):
    world = world_on_ground(broad_phase=phase)
    for k in range(30):
        world.add(f"ball {k}", cl.Sphere(0.4), [3 * k, 0, 5])
    world.step()
    assert world.work.pairs in (31 * 30 // 2, 30 * 29 // 2, 30 * 29 // 2 + 30)
    assert world.work.contacts == 0
    # Balls far from each other and high above the ground: no pair of them is worth a test, but for the plane.
    assert phase == "all" or world.work.object_tests <= 30


@pytest.mark.parametrize("phase", PHASES[:3])
def test_work_grows_with_the_bodies_not_with_their_square(phase):
    """Balls on a wide lattice, each near four others: tests per body stay the same.

    Trees are for the members of groups: bodies that are alone are held against each other, ball by ball.
    """
    tests = []
    for side in (8, 24):
        world = world_on_ground(broad_phase=phase)
        for k in range(side * side):
            world.add(f"ball {k}", cl.Sphere(0.45), [k % side, k // side, 0.46])
        world.step(2)
        tests.append(world.work.volume_tests / side**2)
        assert world.work.object_tests <= 10 * side**2
    assert phase != "grid" or tests[1] <= 1.5 * tests[0]


@pytest.mark.parametrize("phase", PHASES[:3])
def test_few_of_all_pairs_are_tested_when_many_bodies_are_spread(phase):
    """At most three in a hundred, in a town of two hundred houses and fifty vehicles of seven parts."""
    rng = np.random.default_rng(4)
    world = world_on_ground(broad_phase=phase)
    for k in range(200):
        world.add(f"house {k}", cl.Box([6, 6, 8]), [10 * (k % 20), 10 * (k // 20), 4], motion="fixed")
    for k in range(50):
        x, y = 10 * rng.integers(0, 20) + 5, 10 * rng.integers(0, 10) + rng.uniform(-4, 4)
        for part in range(7):
            world.add(f"car {k} {part}", cl.Box([0.5, 0.4, 0.3]), [x, y + 0.5 * part, 0.3], group=f"car {k}")
    world.step(3)
    assert world.work.object_tests <= 0.03 * world.work.pairs


def test_normal_of_the_ground_is_up():
    """The helpers of these tests: a ball sunk into the ground is told with its depth."""
    world = floating()
    world.add("ground", GROUND, motion="fixed")
    world.add("ball", cl.Sphere(0.5), [0, 0, 0.49])
    world.step()
    assert world.contacts.depths == pytest.approx([0.01], abs=1e-6)
    assert np.allclose(np.abs(world.contacts.normals), Z)
