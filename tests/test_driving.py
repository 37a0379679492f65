"""Dynamic models drive as their wheels say: round the circle that is predicted, straight ahead, uphill, and park."""

from dataclasses import replace

import numpy as np
import pytest

import clearance as cl
from clearance.simulation import Ackermann, Hard, Material, Soft, World, models
from clearance.simulation.descriptions import Model, ModelBody, ModelJoint, Mount

CONTACTS = {"hard": Hard(), "soft": Soft()}
# Speed in m/s; the turn, which is a steering angle in radians or a turn rate in rad/s.
COMMANDS = {
    "monster_truck": (0.6, 0.4),
    "stretch_limousine": (0.9, 0.4),
    "pioneer": (0.4, 0.6),
    "volksbot": (0.2, 0.3),
}
GROUND = Material(friction=0.8)
SETTLING = 500  # steps, until wheels have sunk in and are steered

every_direction = pytest.mark.parametrize("direction", [1.0, -1.0], ids=["forwards", "backwards"])
every_contact = pytest.mark.parametrize("contact", CONTACTS.values(), ids=CONTACTS)
every_vehicle = pytest.mark.parametrize("name", COMMANDS)


def with_flat_wheels(model):
    """The same model on wheels that are cylinders."""
    on_its_side = cl.poses.from_rpy([0.5 * np.pi, 0.0, 0.0])
    bodies = [
        replace(body, shape=cl.Cylinder(body.shape.radii[0], 2.0 * body.shape.radii[1]), pose=body.pose @ on_its_side)
        if isinstance(body.shape, cl.Ellipsoid)
        else body
        for body in model.bodies
    ]
    return Model(model.name, bodies, model.ties, model.mounts, drive=model.drive)


def put(name, contact, pose=None, ground=None, at=None):
    """A vehicle at rest on the ground."""
    world = World(contact=contact)
    flat = cl.HalfSpace([0.0, 0.0, 1.0], 0.0)
    world.add("ground", flat if ground is None else ground, at, motion="fixed", material=GROUND)
    vehicle = models.MODELS[name]().add_to(world, "it", pose)
    return world, vehicle


def settle(vehicle, steering=0.0):
    """Turn the wheels that steer, at rest, and wait until everything has come to rest; x, y and yaw then."""
    vehicle.command(0.0, steering)
    vehicle.world.step(SETTLING)
    return vehicle.state


def start(vehicle, speed, turn):
    """Go ever faster, on the same circle, for half a second, so that wheels do not spin; states on the way."""
    states = [vehicle.state]
    for share in np.linspace(0.02, 1.0, 50):
        vehicle.command(share * speed, turn if is_steered(vehicle) else share * turn)
        vehicle.world.step(10)
        states.append(vehicle.state)
    return np.array(states)


def track(vehicle, duration):
    states = []
    for _ in range(round(duration / 0.02)):
        vehicle.world.step(20)
        states.append(vehicle.state)
    return np.array(states)


def is_steered(vehicle):
    return isinstance(vehicle.model.drive, Ackermann)


def predicted(vehicle, speed, turn):
    """The twist that the wheels make: with more than two axles it depends on what each of them carries."""
    drive = vehicle.model.drive
    if is_steered(vehicle):
        return drive.twist(speed, turn)
    loads = np.array(drive.loads)
    if len(loads) > 1:
        pressed = axle_loads(vehicle)
        loads = 0.5 * (pressed + pressed[::-1])
    return replace(drive, loads=tuple(loads)).twist(drive.wheel_speeds(speed, turn))


def axle_loads(vehicle):
    """What the axles carry, from ahead to behind, in newtons."""
    drive, found = vehicle.model.drive, vehicle.world.contacts
    loads = np.zeros(len(drive.axles))
    for (a, b), force in zip(found.bodies, found.forces, strict=True):
        body = vehicle.model.body(vehicle.world.names[max(a, b)].removeprefix("it/"))
        loads[np.argmin(np.abs(np.array(drive.axles) - body.pose[0, 3]))] += abs(force[2])
    assert loads.sum() == pytest.approx(9.81 * vehicle.model.mass, rel=1e-3)
    return loads


@every_direction
@every_contact
@every_vehicle
def test_vehicles_follow_the_predicted_circle(name, contact, direction):
    _, vehicle = put(name, contact)
    speed, turn = COMMANDS[name][0] * direction, COMMANDS[name][1]
    x, y, yaw = settle(vehicle, turn if is_steered(vehicle) else 0.0)
    ahead, _, turning = predicted(vehicle, speed, turn)
    radius = ahead / turning  # negative if the centre is to the right
    centre = np.array([x - np.sin(yaw) * radius, y + np.cos(yaw) * radius])
    states = np.concatenate([start(vehicle, speed, turn), track(vehicle, 2.0 * np.pi / abs(turning))])
    away = np.linalg.norm(states[:, :2] - centre, axis=1)
    np.testing.assert_allclose(away, abs(radius), rtol=0.01)
    turned = np.unwrap(states[51:, 2])
    assert (turned[-1] - turned[0]) / ((len(turned) - 1) * 0.02) == pytest.approx(turning, rel=0.01)
    np.testing.assert_allclose(vehicle.twist, [ahead, 0.0, turning], rtol=0.01, atol=0.01 * abs(speed))


@every_vehicle
def test_odometry_tells_where_the_vehicle_is(name):
    _, vehicle = put(name, Hard())
    speed, turn = COMMANDS[name]
    believed = settle(vehicle, turn if is_steered(vehicle) else 0.0)
    turned = vehicle.turns
    start(vehicle, speed, turn)
    vehicle.world.step(3000)
    believed = vehicle.model.drive.odometry(believed, vehicle.turns - turned)
    np.testing.assert_allclose(vehicle.state, believed, atol=0.02 * 3.25 * speed)


@every_direction
@every_contact
@every_vehicle
def test_straight_ahead_is_straight(name, contact, direction):
    _, vehicle = put(name, contact)
    begin = settle(vehicle)
    speed = COMMANDS[name][0] * direction
    start(vehicle, speed, 0.0)
    states = track(vehicle, 3.0) - begin
    assert states[-1, 0] == pytest.approx(3.25 * speed, rel=0.01)
    assert vehicle.twist[0] == pytest.approx(speed, rel=0.01)
    assert np.abs(states[:, 1]).max() < 0.002 * abs(states[-1, 0])
    assert np.abs(states[:, 2]).max() < 0.002


@pytest.mark.parametrize("name", ["pioneer", "volksbot"])
def test_differential_drives_turn_on_the_spot(name):
    _, vehicle = put(name, Hard())
    begin = settle(vehicle)
    _, _, turning = predicted(vehicle, 0.0, 0.8)
    start(vehicle, 0.0, 0.8)
    states = track(vehicle, 3.0)
    turned = np.unwrap(states[:, 2])
    assert (turned[-1] - turned[0]) / ((len(turned) - 1) * 0.02) == pytest.approx(turning, rel=0.01)
    assert np.linalg.norm(states[:, :2] - begin[:2], axis=1).max() < 0.01


def test_flat_wheels_act_as_if_they_were_farther_apart():
    """A line of contact scrubs all along, and comes to rest where one of its ends rolls."""
    world, _ = put("pioneer", Hard())
    flat = with_flat_wheels(models.pioneer())
    vehicle = flat.add_to(world, "flat", [0.0, 5.0, 0.0])
    settle(vehicle)
    start(vehicle, 0.3, 0.6)
    width, track_width = flat.body("wheel_left").shape.length, flat.drive.track
    vehicle.world.step(1000)
    assert vehicle.twist[2] == pytest.approx(0.6 * track_width / (track_width + width), rel=0.01)


@pytest.mark.parametrize("yaw", [0.0, 2.0], ids=["uphill", "across"])
@every_contact
@every_vehicle
def test_parked_vehicles_do_not_creep_on_a_slope(name, contact, yaw):
    slope = cl.poses.from_rpy([0.0, -0.15, 0.0])
    _, vehicle = put(name, contact, slope @ cl.poses.from_rpy([0.0, 0.0, yaw]), at=slope)
    settle(vehicle)
    vehicle.world.step(500)
    before = vehicle.pose
    vehicle.world.step(1000)
    np.testing.assert_allclose(vehicle.pose, before, atol=1e-6)
    assert np.linalg.norm(before[:2, 3]) < 0.01


@every_contact
@every_vehicle
def test_vehicles_drive_over_hills(name, contact):
    x, y = np.meshgrid(np.arange(-40, 41) * 0.1, np.arange(-20, 21) * 0.1, indexing="ij")
    hills = cl.HeightField(0.06 * np.sin(1.5 * x) * np.cos(0.8 * y), 0.1)
    _, vehicle = put(name, contact, [-2.5, 0.0, 0.12], ground=hills)
    begin = settle(vehicle)
    speed = COMMANDS[name][0]
    start(vehicle, speed, 0.0)
    heights = []
    for _ in range(30):
        vehicle.world.step(50)
        heights.append(vehicle.pose[2, 3])
        assert vehicle.pose[2, 2] > 0.99  # upright
    moved = vehicle.state - begin
    assert moved[0] == pytest.approx(1.75 * speed, rel=0.03)  # the way along the slope is a little longer
    assert abs(moved[1]) < 0.02
    assert 0.01 < np.ptp(heights) < 0.15


@every_contact
def test_humanoid_stands(contact):
    world, robot = put("humanoid", contact)
    world.step(2000)
    np.testing.assert_allclose(robot.pose, np.eye(4), atol=5e-3)
    assert set(world.touching("ground")) == {"it/left_foot", "it/right_foot"}


def test_humanoid_takes_the_pose_that_it_is_told():
    world, robot = put("humanoid", Hard())
    angles = {
        "left_shoulder_roll": 1.2,
        "right_shoulder_roll": -1.2,
        "neck_pan": 0.5,
        "waist_yaw": 0.3,
        "waist_pitch": 0.1,
    }
    robot.hold(angles)
    world.step(2000)
    expected = robot.model.robot()
    q = expected.configuration(angles)
    for name in ("left_hand", "right_hand", "head", "chest"):
        link = next(link for link in expected.links if link.name == name)
        placed = expected.pose(q, name) @ link.shapes[0].pose
        np.testing.assert_allclose(world.pose(f"it/{name}"), robot.pose @ placed, atol=0.02)
    assert robot.pose[2, 2] > 0.99


def test_bodies_and_sensors_that_stand_askew_turn_about_the_right_axes():
    trunk = ModelBody(
        "trunk", cl.Box([0.4, 0.3, 0.2]), cl.poses.from_rpy([0.5 * np.pi, 0.0, 0.0], [0.0, 0.0, 0.15]), 9.0
    )
    head = ModelBody("head", cl.Box([0.1, 0.08, 0.06]), cl.poses.from_rpy([0.0, 0.0, 0.7], [0.0, 0.0, 0.4]), 0.3)
    joints = [
        ModelJoint("pan", "hinge", "trunk", "neck", [0.0, 0.0, 0.4], [0, 0, 1], -1.5, 1.5),
        ModelJoint("tilt", "hinge", "neck", "head", [0.0, 0.0, 0.4], [0, 1, 0], -1.0, 1.0),
    ]
    eye = Mount("eye", "camera", "head", cl.poses.from_rpy([0.0, 0.3, 0.0], [0.05, 0.0, 0.02]))
    model = Model("idol", [trunk, head], joints, [eye])
    world = World()
    world.add("ground", cl.HalfSpace([0.0, 0.0, 1.0], 0.0), motion="fixed")
    idol = model.add_to(world, "idol", cl.poses.from_rpy([0.0, 0.0, 1.0], [1.0, 2.0, 0.0]))
    idol.hold({"pan": 0.6, "tilt": 0.4})
    world.step(2000)
    robot = model.robot()
    joint = robot.pose({"pan": 0.6, "tilt": 0.4}, "head")
    placed = idol.pose @ joint @ cl.poses.from_translation([0.0, 0.0, -0.4]) @ head.pose
    np.testing.assert_allclose(world.pose("idol/head"), placed, atol=1e-3)
    np.testing.assert_allclose(idol.mount("eye"), placed @ eye.pose, atol=1e-3)
    assert idol.state[2] == pytest.approx(1.0, abs=1e-3)


def test_sensors_ride_along():
    world, truck = put("monster_truck", Hard(), cl.poses.from_rpy([0.0, 0.0, 1.0], [2.0, 3.0, 0.0]))
    truck.hold({"scanner_tilt": 0.2})
    world.step(1000)
    mount = truck.mount("scanner")
    np.testing.assert_allclose(mount[:3, 3], truck.pose[:3, :3] @ [0.32, 0.0, 0.255] + truck.pose[:3, 3], atol=1e-3)
    assert mount[2, 0] == pytest.approx(-np.sin(0.2), abs=0.01)  # nodding is looking down


def test_handles_know_their_names_and_motion():
    world, truck = put("monster_truck", Hard())
    assert truck.names[:7] == tuple(f"it/{body.name}" for body in truck.model.bodies)
    assert truck.names[7:] == ("it/front_left_knuckle", "it/front_right_knuckle")
    assert set(truck.names) | {"ground"} == set(world.names)
    assert set(truck.joints) == set(world.joints)
    assert "it/rear_left_steer" not in truck.joints
    settle(truck, 0.2)
    start(truck, 0.5, 0.2)
    world.step(500)
    before, velocity = truck.pose, truck.velocity
    world.step(1)
    np.testing.assert_allclose((truck.pose - before)[:3, 3] / 1e-3, velocity[:3], atol=5e-3)
    turn = truck.model.drive.twist(0.5, 0.2)[2]
    assert velocity[5] == pytest.approx(turn, rel=0.02)


def test_two_of_a_kind_do_not_disturb_each_other():
    world, one = put("pioneer", Hard())
    other = models.pioneer().add_to(world, "other", [0.0, 2.0, 0.0])
    one.command(0.3, 0.0)
    other.turn_wheels(2.0, -2.0)
    world.step(2000)
    assert one.state[0] > 0.5
    assert np.linalg.norm(other.state[:2] - [0.0, 2.0]) < 0.02
    assert other.state[2] < -0.5


def test_names_that_are_taken_are_told_before_anything_is_added():
    world, _ = put("pioneer", Hard())
    world.add("other/camera", cl.Sphere(0.1), [5.0, 0.0, 1.0])
    before = world.names
    for name, told in (("it", "it/camera"), ("other", "other/camera")):
        with pytest.raises(ValueError, match=f"there is a body '{told}'"):
            models.pioneer().add_to(world, name)
    assert world.names == before


def test_commands_that_cannot_be_are_told():
    _, humanoid = put("humanoid", Hard())
    with pytest.raises(TypeError, match="'humanoid' has no wheels"):
        humanoid.command(0.1, 0.0)
    _, truck = put("monster_truck", Hard())
    with pytest.raises(ValueError, match="steering must be"):
        truck.command(1.0, 0.9)
    with pytest.raises(KeyError, match="holds no joint 'front_left_steer'; there are camera_tilt, scanner_tilt"):
        truck.hold({"front_left_steer": 0.1})
    with pytest.raises(ValueError, match="camera_tilt"):
        truck.hold({"camera_tilt": 2.0})
    _, robot = put("pioneer", Hard())
    with pytest.raises(ValueError, match="left and right must be finite"):
        robot.turn_wheels(np.nan, 1.0)
