"""What crowds of particles give as a whole: speeds of a gas, densities of packings, and no difference of detections."""

import math
from dataclasses import replace

import numpy as np
import pytest

import clearance as cl
from clearance import simulation as sim
from clearance.simulation import comparisons, gases, packings
from clearance.simulation.experiments import brute_force, gas, packing
from clearance.simulation.incidents import load_incidents, replay, save_incidents
from clearance.simulation.twins import by_pairs, contacts_of, empty_twin, freeze_into

both_detections = pytest.mark.parametrize("detection", ["hybrid", "iterative"])


# Gases ---------------------------------------------------------------------------------------------------------------


def maxwell(speeds, speed):
    """Return the shares of a gas slower than each speed, if the mean of its squares is that of `speed`."""
    x = speeds / (speed / math.sqrt(3.0))
    return np.array([math.erf(v / math.sqrt(2.0)) for v in x]) - math.sqrt(2.0 / math.pi) * x * np.exp(-(x**2) / 2.0)


def off_maxwell(speeds, speed):
    """Return the largest difference of shares, times the root of their number: above 1.63 in one of 100 samples."""
    ranked, n = np.sort(speeds), len(speeds)
    expected = maxwell(ranked, speed)
    steps = np.arange(n + 1) / n
    return math.sqrt(n) * max(np.abs(expected - steps[1:]).max(), np.abs(expected - steps[:-1]).max())


def speeds_of(particles):
    return np.linalg.norm(particles.velocities[:, :3], axis=1)


@both_detections
def test_speeds_of_a_gas_are_those_of_maxwell(detection):
    n = 3000
    speeds = gas(n, 10.0, seed=3, detection=detection)
    assert off_maxwell(speeds, 10.0) < 1.63
    # Energy is given, which takes from the variance of speeds what goes with their squares.
    mean, spread = math.sqrt(8.0 / math.pi), math.sqrt(3.0 - 8.0 / math.pi - (8.0 / math.pi) / 6.0)
    scale = 10.0 / math.sqrt(3.0)
    assert speeds.mean() == pytest.approx(scale * mean, abs=4.0 * scale * spread / math.sqrt(n))


def test_few_collisions_do_not_make_a_gas():
    particles = gases.gas_at_start(3000)
    assert gases.collide(particles, 0.5) >= 0.5
    assert off_maxwell(speeds_of(particles), 10.0) > 4.0


@pytest.mark.parametrize("n", [8, 9, 64, 501])
def test_a_gas_keeps_energy_and_momentum(n):
    particles = gases.gas_at_start(n, 7.0, seed=n)
    np.testing.assert_allclose(speeds_of(particles), 7.0, rtol=1e-14)
    most = particles.masses.sum() * 7.0
    assert np.abs(particles.momentum.linear).max() < 1e-13 * most
    before = particles.energy.kinetic
    gases.collide(particles, 3.0)
    assert np.ptp(speeds_of(particles)) > 0.0
    assert particles.energy.kinetic == pytest.approx(before, rel=1e-12)
    assert np.abs(particles.momentum.linear).max() < 1e-12 * most


def test_a_gas_twice_as_fast_has_twice_the_speeds():
    np.testing.assert_array_equal(gas(300, 20.0), 2.0 * gas(300, 10.0))


def test_collisions_are_as_frequent_as_theory_says():
    """Spheres of diameter d that fill a share f: mean free path d / (6 sqrt(2) f g), g of Carnahan and Starling."""
    particles = gases.gas_at_start(2000)
    gases.collide(particles, 2.0)
    begin = particles.time
    had = gases.collide(particles, 8.0)
    f = gases.SOLID_FRACTION
    crowding = (1.0 - f / 2.0) / (1.0 - f) ** 3
    rate = 10.0 * math.sqrt(8.0 / (3.0 * math.pi)) * 6.0 * math.sqrt(2.0) * f * crowding / (2.0 * gases.RADIUS)
    # Spheres that graze each other within a step are not seen; with 20 steps to a diameter, these are few.
    assert had / (particles.time - begin) == pytest.approx(rate, rel=0.05)


def test_seeds_and_detections_are_told_apart_and_nonsense_is_refused():
    assert not np.array_equal(gas(50, seed=0), gas(50, seed=1))
    np.testing.assert_array_equal(gas(50), gas(50))
    with pytest.raises(ValueError, match="n must be 8 or more"):
        gas(7)
    with pytest.raises(ValueError, match="speed"):
        gas(10, -1.0)
    with pytest.raises(ValueError, match="elastic"):
        gases.collide(sim.Particles(), 1.0)


# Packings ------------------------------------------------------------------------------------------------------------

N = 80


@pytest.fixture(scope="module", params=sorted(packings.KINDS))
def packed(request):
    return packing(request.param, N, seed=1, friction=0.3)


def test_bodies_come_to_rest_in_the_box(packed):
    assert packed.is_at_rest
    assert packed.time < packings.LONGEST
    assert len(packed.particles) == N
    half, side = packings.LENGTH / 2, packings._side(N)
    # What touches a wall reaches beyond it by no more than contacts give way.
    centres, slack = packed.particles.positions, 0.01 * packings.LENGTH
    assert (centres[:, :2] > half - slack).all()
    assert (centres[:, :2] < side - half + slack).all()
    assert (centres[:, 2] > half - slack).all()


def test_walls_carry_what_lies_between_them(packed):
    found, particles = packed.particles.contacts, packed.particles
    on_bodies = found.forces[found.ids[:, 0] < 0].sum(axis=0)
    weight = 9.81 * particles.masses.sum()
    np.testing.assert_allclose(on_bodies / weight, [0.0, 0.0, 1.0], atol=0.02)


def test_reports_tell_what_contacts_are_like(packed):
    found = contacts_of(packed.particles)
    pairs, points = np.unique(found.ids[found.ids[:, 0] >= 0], axis=0, return_counts=True)
    assert packed.pairs == len(pairs) == len(packed.depths) > N
    assert packed.several_share == np.mean(points > 1)
    assert (packed.several_share == 0.0) == (packed.kind in ("spheres", "ellipsoids"))
    assert packed.neighbours == 2 * packed.pairs / N
    assert 0.0 <= packed.depths.min() <= packed.mean_depth <= packed.depths.max() < 0.01 * packings.LENGTH
    assert 0.0 < packed.bulk_fraction < 1.0
    assert 0.0 < packed.solid_fraction < 1.0


def test_both_detections_see_the_same_packing(packed):
    """Round ellipsoids are spheres to closed forms."""
    shapes = [
        cl.Sphere(shape.radii[0]) if isinstance(shape, cl.Ellipsoid) else shape for shape in packed.particles.shapes
    ]
    twin = empty_twin(packed.particles, "hybrid", shapes)
    freeze_into(twin, packed.particles._records())
    closed, general = (by_pairs(found) for found in (twin.contacts, contacts_of(packed.particles, "iterative")))
    np.testing.assert_array_equal(closed[0], general[0])
    np.testing.assert_array_equal(closed[1], general[1])
    np.testing.assert_allclose(closed[2], general[2], rtol=0.0, atol=1e-13 * packings.LENGTH)


def test_bodies_start_apart_from_each_other_and_from_the_walls():
    for kind in packings.KINDS:
        particles = packings.dropped(kind, 60, seed=2)
        assert len(contacts_of(particles)) == 0
        assert len(np.unique(particles.positions[:, 2])) == 60


def test_packings_repeat_and_refuse_nonsense():
    one, same, other = (packing("cubes", 12, seed=seed).particles.poses for seed in (0, 0, 1))
    np.testing.assert_array_equal(one, same)
    assert not np.array_equal(one, other)
    with pytest.raises(ValueError, match="kind must be one of"):
        packing("cones")
    with pytest.raises(ValueError, match="n must be 1 or more"):
        packing("cubes", 0)
    particles = sim.Particles()
    particles.add(cl.Cone(1.0, 1.0), [[0.0, 0.0, 0.0]])
    with pytest.raises(TypeError, match="Cone"):
        packings.filled_share(particles, [-1, -1, -1], [1, 1, 1])


@pytest.mark.parametrize(
    ("shape", "share"),
    [(cl.Sphere(0.5), np.pi / 6), (cl.Ellipsoid([0.5, 0.5, 0.5]), np.pi / 6), (cl.Box([1.0, 1.0, 1.0]), 1.0)],
    ids=["spheres", "ellipsoids", "cubes"],
)
def test_filled_share_of_a_cubic_lattice(shape, share):
    particles = sim.Particles()
    particles.add(shape, np.stack(np.meshgrid(*3 * [np.arange(5.0)], indexing="ij"), axis=-1).reshape(-1, 3))
    # Points of a lattice that does not fit into that of the bodies; they count a part of the surface of each wrongly.
    found = packings.filled_share(particles, 3 * [0.3], 3 * [3.3], spacing=0.0375)
    assert found == pytest.approx(share, abs=2e-3)


def test_filled_share_does_not_depend_on_turns_and_counts_overlaps_once():
    rng = np.random.default_rng(5)
    turns = packings._random_turns(rng, 20)
    shares = []
    for turn in turns:
        particles = sim.Particles()
        particles.add(cl.Box([1.0, 0.8, 0.6]), np.stack([turn, turn]))
        shares.append(packings.filled_share(particles, 3 * [-1.0], 3 * [1.0], spacing=0.03))
    np.testing.assert_allclose(shares, 0.48 / 8.0, rtol=0.02)


def test_filled_share_sees_which_way_bodies_are_turned():
    particles = sim.Particles()
    particles.add(cl.Box([4.0, 0.2, 0.2]), cl.poses.from_axis_angle([0.0, 0.0, 1.0], np.pi / 6)[None])
    along = np.array([np.cos(np.pi / 6), np.sin(np.pi / 6), 0.0])
    for place, share in ((along, 1.0), (-along, 1.0), (along * [1, -1, 1], 0.0)):
        assert packings.filled_share(particles, place - 0.05, place + 0.05, spacing=0.02) == share


@pytest.mark.long
@pytest.mark.timeout(7200)
def test_spheres_lie_as_densely_as_published_whoever_finds_contacts():
    """T. Zeiser, Simulation und Analyse von durchströmten Kugelschüttungen in engen Rohren, 2008: 55 % to 71 %."""
    found = [packing("spheres", detection=how).solid_fraction for how in ("hybrid", "iterative")]
    found.append(packing("ellipsoids").solid_fraction)
    assert all(0.55 < share < 0.71 for share in found)
    assert np.ptp(found) < 0.01


# Two detections side by side -----------------------------------------------------------------------------------------


@pytest.mark.parametrize("kinds", sorted(comparisons.CROWDS))
def test_detections_agree_in_a_crowd(kinds):
    report = brute_force(kinds, n=100, steps=150, seed=4)
    assert report.computations > 10 * report.collisions > 0 or report.computations > report.collisions > 100
    assert report.missed == report.false == 0
    assert report.incidents == ()
    assert len(report.angles) == len(report.depths) == len(report.positions)
    assert len(report.depths) + len(report.patch_depths) == report.collisions
    size = comparisons.LENGTH
    assert report.depths.max() < 1e-13 * size
    assert report.patch_depths.max(initial=0.0) < 1e-13 * size


def test_crowds_keep_their_energy():
    """Of spheres and cubes, which turn at a constant rate between two blows."""
    particles = comparisons.crowd("spheres and cubes", 60)
    before = particles.energy.kinetic
    particles.step(300)
    assert particles.energy.kinetic == pytest.approx(before, rel=1e-12)


def test_what_is_wrong_is_noticed(monkeypatch):
    """Spheres that are larger by 0.0005 to one detection only."""
    monkeypatch.setitem(comparisons.INSTEAD, "spheres", (cl.Sphere(comparisons.LENGTH / 2 + 5e-4),))
    report = brute_force("spheres", n=60, steps=12)
    reasons = [incident.reason for incident in report.incidents]
    assert report.false == reasons.count("false") > 0
    assert report.missed == reasons.count("missed") == 0
    assert reasons.count("depth") == min(report.collisions, comparisons.MOST_INCIDENTS)
    between = [i.deviation for i in report.incidents if i.reason == "depth" and i.bodies[0]["record"] is not None]
    against_walls = [i.deviation for i in report.incidents if i.reason == "depth" and i.bodies[0]["record"] is None]
    np.testing.assert_allclose(between, 1e-3, rtol=1e-9)
    np.testing.assert_allclose(against_walls, 5e-4, rtol=1e-9)
    assert reasons == sorted(reasons)


def test_incidents_can_be_seen_again_bit_by_bit(tmp_path):
    """With limits of nothing, rounding is an incident."""
    report = brute_force("spheres and capsules", n=60, steps=30, limits=comparisons.Limits(0.0, 0.0, 0.0))
    assert any(one["shapes"] != other["shapes"] for i in report.incidents for one, other in [i.bodies] if one["record"])
    assert {incident.reason for incident in report.incidents} >= {"angle", "depth", "position"}
    save_incidents(report.incidents, tmp_path / "incidents.json")
    kept = load_incidents(tmp_path / "incidents.json")
    assert tuple(kept) == report.incidents
    for incident in kept:
        hybrid, iterative = replay(incident)
        assert hybrid.depths.tolist() == incident.hybrid["depths"]
        assert iterative.points.tolist() == incident.iterative["points"]
        if incident.reason == "depth":
            assert abs(hybrid.depths.max() - iterative.depths.max()) == incident.deviation
        if incident.reason == "position":
            assert np.linalg.norm(hybrid.points[0] - iterative.points[0]) == pytest.approx(
                incident.deviation, abs=1e-30
            )


def test_incidents_are_of_the_moment_they_tell():
    report = brute_force("spheres", n=60, steps=120, limits=comparisons.Limits(0.0, 0.0, 0.0))
    first = report.incidents[0]
    again = comparisons.crowd("spheres", 60)
    again.step(round(first.time / comparisons.STEP))
    numbers = [int(body["record"][0]) for body in first.bodies if body["record"] is not None]
    for number, body in zip(reversed(numbers), reversed(first.bodies), strict=False):
        assert again._records()[number].tolist() == body["record"]
        np.testing.assert_allclose(body["pose"], again.poses[number], rtol=0.0, atol=1e-12)


def test_files_that_hold_no_incidents_are_refused(tmp_path):
    for content in (
        "",
        "[]",
        '{"format": "other"}',
        '{"format": "clearance incidents 1", "incidents": [{"reason": 1}]}',
    ):
        (tmp_path / "other.json").write_text(content)
        with pytest.raises(ValueError, match="does not hold incidents"):
            load_incidents(tmp_path / "other.json")
    with pytest.raises(ValueError, match="kinds must be one of"):
        brute_force("cones")


def test_shapes_that_cannot_be_kept_are_named():
    report = brute_force("spheres", n=30, steps=40, limits=comparisons.Limits(0.0, 0.0, 0.0))
    body = report.incidents[0].bodies[1] | {"shapes": 2 * [{"type": "Teapot"}]}
    with pytest.raises(ValueError, match="Teapot"):
        replay(replace(report.incidents[0], bodies=(report.incidents[0].bodies[0], body)))


@both_detections
def test_looking_at_particles_does_not_move_them(detection):
    particles = comparisons.crowd("cubes and capsules", 60)
    particles.step(100)
    before = particles._records()
    found = contacts_of(particles, detection)
    np.testing.assert_array_equal(particles._records(), before)
    assert not found.forces.any()
    if detection == "hybrid":
        particles.step()
        np.testing.assert_array_equal(found.ids, particles.contacts.ids)
        np.testing.assert_array_equal(found.depths, particles.contacts.depths)


def test_twins_of_periodic_rooms_see_across_the_faces():
    particles = sim.Particles(lower=[0, 0, 0], upper=[10, 10, 10], periodic=True)
    particles.add(cl.Sphere(0.5), [[0.2, 5.0, 5.0], [9.6, 5.0, 5.0]])
    for detection in ("hybrid", "iterative"):
        assert contacts_of(particles, detection).depths == pytest.approx([0.4])
