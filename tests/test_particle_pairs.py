"""Which particles touch: what a step finds, against all pairs in all images, one by one."""

import itertools

import numpy as np
import pytest

import clearance as cl
from clearance import simulation as sim
from physics import CORNERS, MODELS, Z

LARGEST = 0.25  # how far shapes that are looked at pair by pair reach from their frames
CLEAR = 3e-7  # nearer to touching than this, two ways to find a distance may not agree


class Room:
    def __init__(self, lower, upper, periodic):
        self.lower, self.upper = np.array(lower, dtype=float), np.array(upper, dtype=float)
        self.periodic = np.array(periodic)

    @property
    def settings(self):
        corners = {"lower": self.lower, "upper": self.upper, "periodic": self.periodic}
        return corners if self.periodic.any() else {}

    def images(self, places, others):
        """Return the shifts that bring the others to where they are near."""
        period = np.where(self.periodic, self.upper - self.lower, 1.0)
        nearest = np.where(self.periodic, np.round((places - others) / period), 0.0)
        for k in itertools.product(*[(-1, 0, 1) if axis else (0,) for axis in self.periodic]):
            yield (nearest + k) * period


def distances_of_all(shapes, kinds, poses, room):
    """Return all pairs, and how far each is apart in its nearest image."""
    i, j = np.triu_indices(len(poses), 1)
    nearest = np.full(len(i), np.inf)
    for shift in room.images(poses[i, :3, 3], poses[j, :3, 3]):
        moved = poses[j].copy()
        moved[:, :3, 3] += shift
        near = np.linalg.norm(moved[:, :3, 3] - poses[i, :3, 3], axis=1) <= 2 * LARGEST
        for a, b in set(zip(kinds[i[near]].tolist(), kinds[j[near]].tolist(), strict=True)):
            which = near & (kinds[i] == a) & (kinds[j] == b)
            gaps = cl.distance(shapes[a].at(poses[i[which]]), shapes[b].at(moved[which]))
            nearest[which] = np.minimum(nearest[which], gaps.distance)
    return i, j, nearest


def touching(particles):
    """Return the pairs of particles that overlapped before the last step, as the step has found."""
    contacts = particles.contacts
    found = contacts.ids[(contacts.depths >= 0.0) & (contacts.ids[:, 0] >= 0)]
    return {(int(a), int(b)) for a, b in found}


def assert_no_pair_is_lost(particles, room, steps):
    """Step, and return how many pairs touched."""
    count = 0
    for _ in range(steps):
        ids, kinds, poses = particles.ids, particles.kinds, particles.poses
        particles.step()
        i, j, apart = distances_of_all(particles.shapes, kinds, poses, room)
        pairs = [(int(ids[a]), int(ids[b])) for a, b in zip(i, j, strict=True)]
        must = {pair for pair, gap in zip(pairs, apart, strict=True) if gap < -CLEAR}
        may = {pair for pair, gap in zip(pairs, apart, strict=True) if gap <= CLEAR}
        found = touching(particles)
        assert must <= found <= may
        assert np.isfinite(particles.poses).all()
        count += len(must)
    return count


def sets_of_shapes(rng):
    return {
        "balls": [cl.Sphere(float(radius)) for radius in rng.uniform(0.05, 0.2, 3)],
        "a hundred times larger": [cl.Sphere(0.2), cl.Sphere(0.002), cl.Sphere(0.02), cl.Box([0.004, 0.3, 0.1])],
        "needles": [cl.Capsule(0.002, 0.4), cl.Box([0.4, 0.003, 0.003]), cl.Cylinder(0.01, 0.3)],
        "every kind": [
            cl.Sphere(0.1), cl.Box([0.1, 0.15, 0.2]), cl.Capsule(0.05, 0.1), cl.Cylinder(0.08, 0.1), cl.Cone(0.1, 0.2),
            cl.Ellipsoid([0.05, 0.1, 0.15]), cl.ConvexHull(0.4 * CORNERS), cl.ConvexHull(0.3 * CORNERS, 0.03),
            cl.Compound([cl.Box([0.2, 0.05, 0.05]).at([0.1, 0, 0]), cl.Sphere(0.05).at([0, 0.15, 0])]),
        ],
    }  # fmt: skip


def drawn_particles(rng, shapes, room, contact, count, *, aligned=False, turns=(0, 1, 10), **settings):
    """Return particles all over a room, or at places of a coarse grid, some of them some periods away."""
    particles, width = sim.Particles(contact=contact, **room.settings, **settings), room.upper - room.lower
    for shape in shapes:
        n = max(1, count // len(shapes))
        share = rng.uniform(0, 1, (n, 3))
        places = room.lower + width * (np.round(4 * share) / 4 if aligned else share)
        places += np.where(room.periodic, width * rng.integers(-2, 3, (n, 3)), 0.0)
        poses = np.array([cl.poses.from_wxyz([1, 0, 0, 0] if aligned else rng.normal(size=4), p) for p in places])
        particles.add(shape, poses, rng.choice(turns) * rng.normal(size=(n, 6)))
    return particles


def search_for_lost_pairs(seed, steps):
    rng = np.random.default_rng(seed)
    origin = np.zeros(3) if rng.random() < 0.6 else rng.choice([-1, 1], 3) * 10.0 ** rng.uniform(0, 6)
    width = rng.uniform(1.9, 2.7, 3)
    room = Room(origin - width / 2, origin + width / 2, rng.random(3) < 0.5)
    sets = sets_of_shapes(rng)
    shapes = sets[str(rng.choice(list(sets)))]
    law = {"hard": sim.Hard(4), "soft": sim.Soft(iterations=4), "elastic": sim.Elastic()}[str(rng.choice(list(MODELS)))]
    particles = drawn_particles(
        rng, shapes, room, law, int(rng.integers(10, 50)), aligned=rng.random() < 0.3,
        detection=str(rng.choice(["hybrid", "iterative"])), gravity=(0, 0, float(rng.choice([0.0, -9.81]))),
    )  # fmt: skip
    return assert_no_pair_is_lost(particles, room, steps)


@pytest.mark.parametrize("chunk", range(6))
def test_no_pair_is_lost(chunk):
    """Sizes, places, speeds and rooms of all sorts, over some steps, so that pairs are found from where they were."""
    assert sum(search_for_lost_pairs(40 * chunk + k, 8) for k in range(40)) > 300


@pytest.mark.long
def test_no_pair_is_lost_in_many_rooms():
    assert sum(search_for_lost_pairs(seed, 60) for seed in range(1000, 1600)) > 10_000


@pytest.mark.parametrize("periodic", list(itertools.product([False, True], repeat=3)))
def test_no_pair_is_lost_along_any_axes(periodic):
    rng = np.random.default_rng(7)
    room = Room([-0.6, -0.7, -0.8], [0.6, 0.7, 0.8], periodic)
    shapes = sets_of_shapes(rng)["every kind"]
    particles = drawn_particles(rng, shapes, room, sim.Hard(4), 45, gravity=(0, 0, 0), turns=(3,))
    assert assert_no_pair_is_lost(particles, room, 8) > 20


@pytest.mark.parametrize("away", list(itertools.product([-1, 0, 1], repeat=3)))
def test_pairs_meet_across_faces_edges_and_corners(away):
    """Two balls on the two sides of a face, an edge or a corner touch; the room is as narrow as it may be."""
    room = Room([0, 0, 0], [0.4401] * 3, [True] * 3)
    corner = np.where(np.array(away) == 0, 0.2, np.where(np.array(away) > 0, 0.4401, 0.0))
    towards = np.array(away) if any(away) else np.array([1, 0, 0])
    half = 0.0999 * towards / np.linalg.norm(towards)
    particles = sim.Particles(gravity=(0, 0, 0), **room.settings)
    particles.add(cl.Sphere(0.1), [corner - half, corner + half])
    assert assert_no_pair_is_lost(particles, room, 2) >= 1
    assert np.linalg.norm(particles.contacts.normals[0] - half / 0.0999) <= 1e-6
    assert particles.contacts.depths[0] <= 0.0002 + 1e-9


@pytest.mark.parametrize("place", [0.0, 0.5, 1.0, 2.0, np.nextafter(1.0, 0.0), np.nextafter(2.0, 3.0), -0.0])
@pytest.mark.parametrize("axis", range(3))
def test_pairs_meet_on_the_boundaries_of_rooms_and_blocks(axis, place):
    """At places where rooms, blocks and cells end; blocks are two reaches wide, some 0.42 m for balls of 0.1 m."""
    room = Room([0, 0, 0], [2, 2, 2], [True] * 3)
    for offset in (0.0, 0.42, 0.44, 0.84, 1.0, 0.21, 0.25):
        at = np.full(3, 0.3)
        at[axis] = place + offset
        other = at.copy()
        other[axis] += 0.1999
        particles = sim.Particles(gravity=(0, 0, 0), **room.settings)
        particles.add(cl.Sphere(0.1), [other, at])
        assert assert_no_pair_is_lost(particles, room, 1) == 1


def test_rooms_are_at_least_twice_as_wide_as_their_bodies_reach():
    """At rest, pairs reach as far as two radii and at most a tenth more."""
    for width, fits in [(0.4401, True), (0.3999, False), (0.2, False), (1e-3, False)]:
        particles = sim.Particles(
            gravity=(0, 0, 0), lower=(0, 0, 0), upper=(width, 9, 9), periodic=[True, False, False]
        )
        particles.add(cl.Sphere(0.1), [[0.0, 0, 0]])
        if fits:
            particles.step()
        else:
            with pytest.raises(ValueError, match="at least twice as wide"):
                particles.step()
            assert particles.time == 0.0
            particles.remove([0])
            particles.add(cl.Sphere(1e-4), [[0.0, 0, 0]])
            particles.step()


def test_narrow_rooms_may_be_empty():
    particles = sim.Particles(lower=(0, 0, 0), upper=(1, 1, 1), periodic=True)
    particles.step()
    assert particles.time > 0.0


def test_order_of_adding_does_not_matter_for_what_touches():
    rng = np.random.default_rng(2)
    places, sizes = rng.uniform(0, 1, (60, 3)), rng.uniform(0.03, 0.12, 60)
    room = Room([0, 0, 0], [1, 1, 1], [True] * 3)

    def contacts_in(order):
        particles = sim.Particles(gravity=(0, 0, 0), **room.settings)
        for k in order:
            particles.add(cl.Sphere(float(sizes[k])), places[k : k + 1])
        particles.step()
        return {tuple(sorted((order[a], order[b]))) for a, b in touching(particles)}

    first = contacts_in(list(range(60)))
    assert len(first) > 20
    for _ in range(3):
        assert contacts_in([int(k) for k in rng.permutation(60)]) == first


def test_contacts_say_where_how_deep_and_along_what():
    particles = sim.Particles(gravity=(0, 0, 0), contact=sim.Soft())
    particles.add(cl.Sphere(0.2), [[0.0, 0, 0]])
    particles.add(cl.Sphere(0.1), [[0.0, 0.29, 0]])
    particles.add_wall("left", cl.HalfSpace([1, 0, 0], -0.5))
    particles.add_wall("below", cl.HalfSpace([0, 0, 1], -0.18))
    particles.step()
    contacts = particles.contacts
    assert contacts.ids.tolist() == [[-2, 0], [0, 1]]
    assert len(contacts) == 2
    assert np.allclose(contacts.depths, [0.02, 0.01], rtol=0, atol=1e-12)
    assert np.allclose(contacts.normals, [Z, [0, 1, 0]], rtol=0, atol=1e-12)
    assert np.allclose(contacts.points, [[0, 0, -0.19], [0, 0.195, 0]], rtol=0, atol=1e-12)
    momentum = particles.masses[:, None] * particles.velocities[:, :3] / particles.step_length
    assert np.allclose(momentum, [contacts.forces[0] - contacts.forces[1], contacts.forces[1]], rtol=1e-9, atol=1e-9)


@pytest.mark.parametrize(
    ("shape", "speed"), [(cl.Sphere(1.0), 0.0), (cl.Sphere(0.01), 100.0)], ids=["one large", "one fast"]
)
def test_one_particle_does_not_make_all_others_pairs(shape, speed):
    """Balls 2.1 radii apart have three neighbours each; one more ball far away adds at most one pair with each."""
    particles, places = sim.Particles(), 0.021 * np.array(list(np.ndindex(10, 10, 10)))
    particles.add(cl.Sphere(0.01), places)
    particles.step()
    usual = particles.work.pairs
    particles.add(shape, [[50.0, 0, 0]], [[speed, 0, 0]])
    particles.step()
    assert particles.work.pairs <= 3 * usual + 1000
