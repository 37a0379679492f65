"""Laser scanners and other range sensors: what they measure, what they leave out, what they get wrong."""

import copy
import pickle

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import clearance as cl
from clearance import poses
from solids import draw_shape, unit
from strategies import rigid_motion, rigid_motions, seeds

X, Y, Z = np.eye(3)
MESSAGE = (
    "header",
    "angle_min",
    "angle_max",
    "angle_increment",
    "time_increment",
    "scan_time",
    "range_min",
    "range_max",
    "ranges",
    "intensities",
)


def room(half=3.0):
    """Four walls about the origin, a post, and a vehicle of two links under the scanner."""
    scene = cl.Scene()
    for k, name in enumerate(["front", "left", "back", "right"]):
        turn = poses.from_rpy([0, 0, k * np.pi / 2])
        scene.add(name, cl.Box([0.2, 2 * half, 2.0]), turn @ poses.from_translation([half + 0.1, 0, 0]))
    scene.add("post", cl.Cylinder(0.1, 2.0), pose=[1.5, 0.5, 0])
    scene.add("truck/chassis", cl.Box([0.6, 0.4, 0.2]))
    scene.add("truck/mast", cl.Cylinder(0.02, 1.0), pose=[-0.2, 0, 0.5])
    return scene


def many(rng, n=30, spread=4.0):
    scene = cl.Scene()
    for k, pose in enumerate(rigid_motions(rng, n)):
        pose[:3, 3] *= [spread, spread, 1]
        scene.add(f"body {k}", draw_shape(rng, rng.choice(["Box", "Sphere", "Cylinder", "Cone", "ConvexHull"])), pose)
    return scene


# Scans ---------------------------------------------------------------------------------------------------------------


def test_walls_of_a_room_are_as_far_away_as_they_are():
    scanner = cl.LaserScanner(beams=721, fov=1.5 * np.pi, range_max=10)
    scan = scanner.scan(room(), ignore=["truck", "post"])
    angles = np.linspace(-0.75 * np.pi, 0.75 * np.pi, 721)
    expected = 3.0 / np.maximum(np.abs(np.cos(angles)), np.abs(np.sin(angles)))
    np.testing.assert_allclose(scan.ranges, expected, rtol=1e-6)
    np.testing.assert_allclose(scan.angles, angles, atol=1e-12)
    assert room().names[scan.index[360]] == "front"
    assert room().names[scan.index[360 + 240]] == "left"
    assert room().names[scan.index[360 - 240]] == "right"


@given(seeds(), rigid_motion(), st.integers(1, 4))
@settings(max_examples=10)
def test_every_beam_is_a_ray(seed, body, rows):
    rng = np.random.default_rng(seed)
    scene, mount = many(rng), rigid_motions(rng, 1)[0]
    scanner = cl.LaserScanner(100, 5.0, rows=rows, vertical_fov=0.5, mount=mount, range_max=6.0)
    scan = scanner.scan(scene, body)
    sensor = body @ mount
    hits = cl.raycast(scene, sensor[:3, 3], scanner.directions @ sensor[:3, :3].T, 6.0)
    dims = (100,) if rows == 1 else (rows, 100)
    assert scan.ranges.shape == scan.index.shape == dims
    assert scan.ranges.dtype == np.float32
    assert np.array_equal(scan.ranges, hits.distance.reshape(dims).astype(np.float32))
    assert np.array_equal(scan.index, hits.index.reshape(dims))
    found = np.isfinite(scan.ranges)
    np.testing.assert_allclose(scan.points[found], hits.point.reshape(*dims, 3)[found], atol=1e-5)
    assert np.isnan(scan.points[~found]).all()


@given(seeds(), rigid_motion())
@settings(max_examples=10)
def test_observer_does_not_matter(seed, motion):
    scene, scanner = many(np.random.default_rng(seed)), cl.LaserScanner(200, 2 * np.pi)
    moved = cl.Scene()
    for name in scene.names:
        moved.add(name, scene.shape(name), motion @ scene.pose(name))
    here, there = scanner.scan(scene), scanner.scan(moved, motion)
    same = np.isclose(here.ranges, there.ranges, rtol=1e-5, atol=1e-5)
    assert np.mean(same | (np.isinf(here.ranges) & np.isinf(there.ranges))) > 0.98  # but for silhouettes
    np.testing.assert_allclose((here.points @ motion[:3, :3].T + motion[:3, 3])[same], there.points[same], atol=1e-4)


@pytest.mark.parametrize(("beams", "fov"), [(1081, 1.5 * np.pi), (2, 0.1), (360, 2 * np.pi), (7, 2 * np.pi), (1, 1.0)])
def test_angles_are_those_of_a_ros_message(beams, fov):
    scan = cl.LaserScanner(beams, fov).scan([])
    assert scan.angles.shape == scan.ranges.shape == (beams,)
    assert np.isposinf(scan.ranges).all()
    if beams == 1:
        assert (scan.angle_min, scan.angle_max, scan.angle_increment) == (0, 0, 0)
        return
    assert round((scan.angle_max - scan.angle_min) / scan.angle_increment) + 1 == beams
    assert scan.angles[-1] == pytest.approx(scan.angle_max, abs=1e-12)
    assert np.ptp(scan.angles) == pytest.approx(min(fov, 2 * np.pi * (1 - 1 / beams)), abs=1e-12)


def test_directions_run_from_right_to_left_and_from_low_to_high():
    directions = cl.LaserScanner(3, np.pi, rows=3, vertical_fov=np.pi / 2).directions
    assert directions.shape == (3, 3, 3)
    np.testing.assert_allclose(np.linalg.norm(directions, axis=-1), 1)
    np.testing.assert_allclose(directions[1], [-Y, X, Y], atol=1e-15)
    np.testing.assert_allclose(directions[2, 1], unit(X + Z), atol=1e-15)
    np.testing.assert_allclose(directions[0, 1], unit(X - Z), atol=1e-15)


def test_ranges_outside_the_limits_say_so():
    ahead = cl.Scene()
    for name, x in (("near", 0.5), ("right", 2.0), ("far", 9.0)):
        ahead.add(name, cl.Sphere(0.1), pose=[x, 0, 0])
    scanner = cl.LaserScanner(1, range_min=1.0, range_max=5.0)
    assert np.isneginf(scanner.scan(ahead).ranges[0])
    assert scanner.scan(ahead, ignore=["near"]).ranges[0] == pytest.approx(1.9)
    assert np.isposinf(scanner.scan(ahead, ignore=["near", "right"]).ranges[0])
    assert scanner.scan(ahead, ignore=["near", "right"]).index[0] == -1


def test_scanner_within_a_solid_is_too_near():
    scan = cl.LaserScanner(9, range_min=0.1).scan(cl.Box([1, 1, 1]))
    assert np.isneginf(scan.ranges).all()


def test_hidden_bodies_and_the_own_one_are_not_seen():
    scene, ahead = room(), cl.LaserScanner(1, range_max=10)
    plain = cl.LaserScanner(360, 2 * np.pi, range_max=10)
    assert np.all(plain.scan(scene).ranges == 0)  # inside its own chassis
    free = plain.scan(scene, ignore="truck")
    assert {scene.names[k] for k in free.index} == {"front", "left", "back", "right", "post"}
    camouflaged = cl.LaserScanner(360, 2 * np.pi, range_max=10, hidden=["post", "front"])
    seen = camouflaged.scan(scene, ignore=["truck/chassis", "truck/mast"])
    assert {scene.names[k] for k in seen.index if k >= 0} == {"left", "back", "right"}
    assert ahead.scan(scene, [0, 0, 0.5], ignore=["truck"]).index[0] == 0
    once = cl.LaserScanner(1, range_max=10, hidden=iter(["truck", "front"]))
    assert np.isposinf([once.scan(scene).ranges[0] for _ in range(2)]).all()
    numbers = [scene.names.index(name) for name in ("truck/chassis", "truck/mast", "front")]
    assert np.isposinf(ahead.scan(scene, ignore=numbers).ranges[0])
    with pytest.raises(KeyError, match="lorry"):
        plain.scan(scene, ignore=["lorry"])
    with pytest.raises(KeyError, match="tru"):
        plain.scan(scene, ignore=["tru"])


def test_compound_is_one_body():
    pair = cl.Compound([cl.Sphere(0.5).at([2, 0, 0]), cl.Sphere(0.5).at([-2, 0, 0])])
    scan = cl.LaserScanner(4, 2 * np.pi).scan(pair)
    assert set(scan.index.tolist()) == {0, -1}


def test_anything_with_a_ray_target_can_be_scanned():
    class World:
        def ray_target(self):
            return cl.RayTarget([cl.Sphere(1.0)], poses.from_translation([[3.0, 0, 0]]), ["ball"])

    assert cl.LaserScanner(1).scan(World()).ranges[0] == 2
    assert np.isposinf(cl.LaserScanner(1, hidden="ball").scan(World()).ranges[0])


def test_simulated_world_is_scanned_as_it_stands():
    simulation = pytest.importorskip("clearance.simulation")
    world = simulation.World()
    world.add("ground", cl.HalfSpace(Z, 0.0), motion="fixed")
    world.add("ball", cl.Sphere(0.2), [2.0, 0, 0.2], velocity=[1.0, 0, 0])
    world.add("truck/body", cl.Box([0.6, 0.4, 0.2]), [0, 0, 0.3], motion="fixed")
    world.add("ghost", cl.Box([0.2, 0.2, 0.2]), [1.0, 0, 0.2], motion="fixed", visible=False)
    ahead = cl.LaserScanner(1, mount=[0, 0, -0.1])
    for _ in range(4):
        scan = ahead.scan(world, world.pose("truck/body"), ignore="truck", time=world.time)
        assert scan.ranges[0] == pytest.approx(world.pose("ball")[0, 3] - 0.2, abs=1e-3)
        assert scan.stamp == world.time
        world.step(100)
    assert scan.ranges[0] > 1.9


# Rate ----------------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("rate", [40.0, 7.0, 100.0, 1000.0])
def test_scans_fall_due_at_the_rate(rate):
    scanner, taken, previous = cl.LaserScanner(1, rate=rate), [], None
    for k in range(1000):
        if scanner.is_due(k * 1e-3, previous):
            previous = k * 1e-3
            taken.append(previous)
    assert len(taken) == rate
    np.testing.assert_allclose(taken, np.ceil(np.arange(rate) / rate * 1e3 - 1e-6) * 1e-3, atol=1e-12)
    assert scanner.period == scanner.scan([]).scan_time == 1 / rate


# Noise ---------------------------------------------------------------------------------------------------------------


def test_noise_has_the_moments_that_were_asked_for():
    noise = cl.Noise(std=0.02, relative=0.01, bias=0.1)
    for distance in (1.0, 5.0):
        found = noise.apply(np.full(100_000, distance), np.random.default_rng(0)) - distance
        expected = np.hypot(0.02, 0.01 * distance)
        assert abs(found.mean() - 0.1) < 5 * expected / np.sqrt(1e5)
        assert found.std() == pytest.approx(expected, rel=0.02)


def test_noise_is_drawn_from_time_and_seed_or_from_a_generator():
    scene, noise = room(), cl.Noise(std=0.01)
    scanner = cl.LaserScanner(500, noise=noise)

    def ranges(scanner=scanner, **options):
        return scanner.scan(scene, ignore="truck", **options).ranges

    exact = ranges(cl.LaserScanner(500))
    assert 0.005 < np.std(ranges() - exact) < 0.02
    assert np.array_equal(ranges(time=1.0), ranges(time=1.0))
    assert not np.array_equal(ranges(time=1.0), ranges(time=1.025))
    assert not np.array_equal(ranges(), ranges(cl.LaserScanner(500, noise=cl.Noise(std=0.01, seed=1))))
    assert np.array_equal(ranges(rng=5), ranges(rng=np.random.default_rng(5)))
    assert not np.array_equal(ranges(rng=5), ranges(rng=6))
    rng = np.random.default_rng(5)
    assert not np.array_equal(ranges(rng=rng), ranges(rng=rng))


def test_ranges_come_in_steps_and_some_are_lost():
    scanner = cl.LaserScanner(2000, noise=cl.Noise(std=0, resolution=0.25, dropout=0.1))
    exact = cl.LaserScanner(2000).scan(room(), ignore="truck").ranges
    found = scanner.scan(room(), ignore="truck").ranges
    lost = np.isnan(found)
    assert 0.07 < lost.mean() < 0.13
    np.testing.assert_allclose(found[~lost] % 0.25, 0, atol=1e-6)
    assert np.abs(found - exact)[~lost].max() <= 0.125 + 1e-6


def test_noise_leaves_no_return_alone_and_keeps_to_the_limits():
    scanner = cl.LaserScanner(400, range_min=2.9, range_max=3.1, noise=cl.Noise(std=0.2))
    found = scanner.scan(cl.Sphere(3.0).at([6, 0, 0])).ranges
    finite = np.isfinite(found)
    assert np.all((found[finite] >= 2.9) & (found[finite] <= 3.1))
    assert np.isposinf(cl.LaserScanner(9, noise=cl.Noise()).scan([]).ranges).all()
    # Through noise one and the same wall may be too near, in range, or out of it.
    through = scanner.scan([cl.Mesh(*sphere_of(3.0))]).ranges
    assert np.isneginf(through).any()
    assert np.isposinf(through).any()
    assert np.isfinite(through).any()


def sphere_of(radius):
    angle = np.linspace(0, 2 * np.pi, 200, endpoint=False)
    low, high = (np.stack([radius * np.cos(angle), radius * np.sin(angle), 0 * angle + z], axis=1) for z in (-1, 1))
    k, after = np.arange(200), (np.arange(200) + 1) % 200
    return np.vstack([low, high]), np.vstack([np.c_[k, after, 200 + k], np.c_[after, 200 + after, 200 + k]])


@pytest.mark.parametrize("bad", [{"std": -1.0}, {"dropout": 1.5}, {"bias": np.nan}, {"resolution": -0.1}], ids=str)
def test_bad_noise_is_refused(bad):
    with pytest.raises(ValueError, match=next(iter(bad))):
        cl.Noise(**bad)


# Messages ------------------------------------------------------------------------------------------------------------


def test_message_has_the_fields_of_a_laser_scan_in_their_order():
    scanner = cl.LaserScanner(11, 1.0, range_min=0.1, range_max=8.0, rate=25.0, frame_id="front_laser")
    message = scanner.scan(cl.Sphere(1.0).at([4, 0, 0]), time=12.25).to_message()
    assert tuple(message) == MESSAGE
    assert message["header"] == {"stamp": {"sec": 12, "nanosec": 250_000_000}, "frame_id": "front_laser"}
    assert (message["angle_min"], message["angle_max"]) == (-0.5, 0.5)
    assert message["angle_increment"] == pytest.approx(0.1)
    assert (message["range_min"], message["range_max"], message["scan_time"]) == (0.1, 8.0, 0.04)
    assert message["time_increment"] == 0.0
    assert message["ranges"].dtype == message["intensities"].dtype == np.float32
    assert len(message["intensities"]) == 0
    assert message["ranges"][5] == 3


@pytest.mark.parametrize("stamp", [0.0, 1.9999999999, 1e-9, 123456.789, -0.25])
def test_stamps_are_seconds_and_nanoseconds(stamp):
    found = cl.LaserScanner(1).scan([], time=stamp).to_message()["header"]["stamp"]
    assert 0 <= found["nanosec"] < 10**9
    assert found["sec"] + 1e-9 * found["nanosec"] == pytest.approx(stamp, abs=1e-9)


def test_grids_become_point_clouds():
    scanner = cl.LaserScanner(12, 1.0, rows=5, vertical_fov=0.6, mount=[0, 0, 1.0])
    scan = scanner.scan(cl.Sphere(1.0).at([4, 0, 1]), pose=[0.5, 0, 0])
    with pytest.raises(ValueError, match="to_point_cloud"):
        scan.to_message()
    cloud = scan.to_point_cloud()
    assert (cloud["height"], cloud["width"], cloud["point_step"], cloud["row_step"]) == (5, 12, 12, 144)
    points = cloud["data"].view("<f4").reshape(5, 12, 3)
    found = np.isfinite(scan.ranges)
    assert 0 < found.sum() < found.size
    assert not cloud["is_dense"]
    np.testing.assert_allclose((points + scan.pose[:3, 3])[found], scan.points[found], atol=1e-5)
    np.testing.assert_allclose(np.linalg.norm(points[found] - [3.5, 0, 0], axis=1), 1, atol=1e-5)


# Values and errors ---------------------------------------------------------------------------------------------------


def test_scanners_and_scans_are_values():
    scanner = cl.LaserScanner(50, noise=cl.Noise(), mount=[0.2, 0, 0], rows=2, vertical_fov=0.1)
    scan = scanner.scan(room(), ignore="truck")
    for copied in (copy.deepcopy, lambda x: pickle.loads(pickle.dumps(x))):
        again = copied(scanner).scan(room(), ignore="truck")
        assert np.array_equal(again.ranges, scan.ranges)
        assert np.array_equal(copied(scan).points, scan.points, equal_nan=True)
    with pytest.raises(AttributeError):
        scanner.beams = 3
    assert "50" in repr(scan)


BAD = [
    ({"beams": 0}, "beams"),
    ({"beams": 2.5}, "beams"),
    ({"fov": 0.0}, "fov"),
    ({"fov": 7.0}, "fov"),
    ({"fov": np.nan}, "fov"),
    ({"rows": 0}, "rows"),
    ({"vertical_fov": -0.1}, "vertical_fov"),
    ({"range_min": -1.0}, "range_min"),
    ({"range_min": 5.0, "range_max": 5.0}, "range_max"),
    ({"range_max": np.nan}, "range_max"),
    ({"rate": 0.0}, "rate"),
    ({"method": "magic"}, "method"),
    ({"mount": np.eye(3)}, "pose"),
    ({"mount": [np.eye(4)]}, "mount"),
    ({"mount": 2 * np.eye(4)}, "mount"),
    ({"mount": np.diag([1.0, 1, -1, 1])}, "mount"),
    ({"mount": [np.nan, 0, 0]}, "mount"),
]


@pytest.mark.parametrize(("bad", "named"), BAD, ids=lambda x: str(x)[:30])
def test_bad_scanners_are_refused(bad, named):
    with pytest.raises(ValueError, match=named):
        cl.LaserScanner(**bad)


@pytest.mark.parametrize("pose", [np.eye(3), np.zeros((2, 4, 4)), 2 * np.eye(4), [np.nan, 0, 0]], ids=str)
def test_bad_poses_are_refused(pose):
    with pytest.raises(ValueError, match="pose"):
        cl.LaserScanner(3).scan([], pose)


def test_bad_times_are_refused():
    with pytest.raises(ValueError, match="time"):
        cl.LaserScanner(3).scan([], time=np.nan)


# Light barriers ------------------------------------------------------------------------------------------------------


def test_light_barrier_trips_when_something_is_in_its_beam():
    rng = np.random.default_rng(1)
    scene, tripped = many(rng, spread=1.5), []
    for pose in rigid_motions(rng, 200):
        barrier = cl.LightBarrier(2.0, mount=[0, 0, 0.1])
        start = pose @ poses.from_translation([0, 0, 0.1])
        found = barrier.is_blocked(scene, pose)
        assert found == cl.raycast(scene, start[:3, 3], start[:3, 0], 2.0).is_hit
        tripped.append(found)
    assert 0.1 < np.mean(tripped) < 0.9


def test_light_passes_through_what_is_hidden():
    scene = room()
    barrier = cl.LightBarrier(5.0, mount=[0, 0.5, 0.3])
    assert barrier.is_blocked(scene, ignore="truck")
    assert not barrier.is_blocked(scene, ignore=["truck", "post", "front"])
    assert not cl.LightBarrier(5.0, mount=[0, 0.5, 0.3], hidden=["post", "front"]).is_blocked(scene, ignore="truck")
    assert not cl.LightBarrier(1.0, mount=[0, 0.5, 0.3]).is_blocked(scene, ignore="truck")
    for length in (0.0, -1.0, np.inf):
        with pytest.raises(ValueError, match="length"):
            cl.LightBarrier(length)


# Ultrasound ----------------------------------------------------------------------------------------------------------


def dense_cone(angle, n=200_000):
    """Directions all over a cone about x."""
    rng = np.random.default_rng(0)
    turn, height = rng.uniform(0, 2 * np.pi, n), rng.uniform(np.cos(angle / 2), 1, n)
    across = np.sqrt(1 - height**2)
    return np.stack([height, across * np.cos(turn), across * np.sin(turn)], axis=1)


@given(seeds(), st.floats(0.1, 1.5))
@settings(max_examples=8)
def test_nearest_thing_in_the_cone_lies_in_the_bracket(seed, angle):
    rng = np.random.default_rng(seed)
    scene, pose = many(rng, 12), rigid_motions(rng, 1)[0]
    sonar = cl.Ultrasound(angle, range_max=6.0)
    echo = sonar.listen(scene, pose)
    seen = cl.raycast(scene, pose[:3, 3], dense_cone(angle) @ pose[:3, :3].T, 6.0).distance.min()
    assert echo.lower <= seen + 1e-9
    assert echo.lower <= echo.upper
    assert echo.upper <= echo.lower / np.cos(angle / 2) + 1e-6 or np.isinf(echo.upper)
    if np.isfinite(seen):
        assert echo.upper <= seen * (1 + angle / 4)
        assert echo.index >= 0
    if np.isfinite(echo.upper):
        gap = cl.distance(cl.SweptPoint(pose[:3, 3], echo.upper * (1 + 1e-9)), scene_compound(scene))
        assert gap.distance <= 0  # something is as near as that


def scene_compound(scene):
    return cl.Compound([scene.shape(name).at(scene.pose(name)) for name in scene.names])


def test_wire_between_rays_is_heard():
    sonar = cl.Ultrasound(0.6, range_max=5.0, rings=2)
    for k in range(20):
        wire = cl.Cylinder(1e-4, 0.2).at([2.0, 0.02 * k, 0.013])
        echo = sonar.listen(wire)
        true = np.hypot(2.0, 0.02 * k) - 1e-4
        assert echo.lower <= true <= echo.upper + 1e-3
        assert 0 <= echo.range - true <= 0.1
        assert echo.index == 0


def test_silence_and_what_is_too_near():
    sonar = cl.Ultrasound(0.5, range_min=0.2, range_max=3.0)
    nothing = sonar.listen([])
    assert (nothing.range, nothing.lower, nothing.upper, nothing.index) == (np.inf, 3.0, np.inf, -1)
    assert sonar.listen(cl.Sphere(1.0).at([0, 3, 0])).range == np.inf
    assert sonar.listen(cl.Sphere(1.0).at([-3, 0, 0])).range == np.inf
    assert sonar.listen(cl.Sphere(1.0).at([1.1, 0, 0])).range == -np.inf
    assert sonar.listen(cl.Sphere(1.0)).range == -np.inf
    assert sonar.listen(cl.HalfSpace([-1, 0, 0], -2)).range == pytest.approx(2.0)
    scene = room()
    assert sonar.listen(scene, ignore=["truck", "post", "front"]).index == -1
    assert scene.names[sonar.listen(scene, ignore=["truck", "post"]).index] == "front"
    with pytest.raises(ValueError, match="angle"):
        cl.Ultrasound(np.pi)
    with pytest.raises(ValueError, match="range_max"):
        cl.Ultrasound(1.0, range_max=np.inf)


# Depth cameras -------------------------------------------------------------------------------------------------------


def test_wall_has_the_same_depth_all_over():
    camera = cl.DepthCamera(16, 12, fov=1.2, range_max=20.0)
    image = camera.image(cl.HalfSpace([-1, 0, 0], -2.5))
    np.testing.assert_allclose(image.depth, 2.5, rtol=1e-6)
    assert image.ranges[0, 0] > image.ranges[6, 8] > 2.5
    np.testing.assert_allclose(image.points[..., 0], 2.5, rtol=1e-6)
    assert image.depth.shape == (12, 16)


def test_pixels_are_where_the_camera_matrix_says():
    camera = cl.DepthCamera(32, 24, fov=1.0, mount=poses.from_rpy([0.1, 0.2, 0.3], [0, 0, 1.0]))
    body = poses.from_rpy([0.0, 0.0, 1.0], [1, 2, 0])
    scene = cl.Sphere(1.0).at(body @ camera.mount @ poses.from_translation([4, 0.3, 0.2]))
    image = camera.image(scene, body)
    found = np.isfinite(image.depth)
    assert 0.1 < found.mean() < 0.9
    local = (
        image.points[found] @ poses.inverse(body @ camera.mount)[:3, :3].T + poses.inverse(body @ camera.mount)[:3, 3]
    )
    optical = np.stack([-local[:, 1], -local[:, 2], local[:, 0]], axis=1)
    pixels = optical @ camera.intrinsics.T
    rows, columns = np.nonzero(found)
    np.testing.assert_allclose(pixels[:, 0] / pixels[:, 2], columns, atol=1e-4)
    np.testing.assert_allclose(pixels[:, 1] / pixels[:, 2], rows, atol=1e-4)
    np.testing.assert_allclose(local[:, 0], image.depth[found], rtol=1e-5)
    np.testing.assert_allclose(np.linalg.norm(local - [4, 0.3, 0.2], axis=1), 1, atol=1e-5)
    assert np.all(image.index[found] == 0)


def test_upper_left_pixel_sees_what_is_up_and_left():
    image = cl.DepthCamera(9, 7).image([cl.Sphere(0.3).at([3, 1.2, 0.9])])
    row, column = np.argwhere(np.isfinite(image.depth))[0]
    assert row < 3
    assert column < 4


def test_limits_and_noise_of_a_depth_camera():
    wall = cl.HalfSpace([-1, 0, 0], -2.5)
    assert np.isneginf(cl.DepthCamera(8, 6, range_min=3.0).image(wall).depth).any()
    assert np.isposinf(cl.DepthCamera(8, 6, range_max=2.0).image(wall).depth).all()
    noisy = cl.DepthCamera(64, 48, noise=cl.Noise(std=0.01)).image(wall, time=2.0)
    assert 0.005 < np.std(noisy.depth) < 0.02
    assert noisy.stamp == 2.0
    for bad in ({"width": 0}, {"fov": np.pi}, {"method": "photo"}):
        with pytest.raises(ValueError, match=next(iter(bad))):
            cl.DepthCamera(**bad)
