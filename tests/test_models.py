"""The models have the parts that they are said to have, are symmetric, stand on the ground and do not overlap."""

import itertools

import numpy as np
import pytest

import clearance as cl
from clearance.simulation.descriptions import Model, ModelBody, ModelJoint, Mount
from clearance.simulation.models import MODELS, humanoid, monster_truck, pioneer, stretch_limousine, table, volksbot

COUNTS = {
    "monster_truck": (7, 10),
    "stretch_limousine": (7, 8),
    "pioneer": (8, 8),
    "volksbot": (7, 6),
    "humanoid": (22, 24),
}
MIRROR = np.diag([1.0, -1.0, 1.0])
FLOOR = cl.HalfSpace([0.0, 0.0, 1.0], 0.0)

every_model = pytest.mark.parametrize("model", [make() for make in MODELS.values()], ids=MODELS)
every_vehicle = pytest.mark.parametrize("make", [monster_truck, stretch_limousine, pioneer, volksbot])


def other_side(name):
    return name.replace("left", "?").replace("right", "left").replace("?", "right")


def wheels_of(model):
    return [body for body in model.bodies if isinstance(body.shape, cl.Ellipsoid)]


@every_model
def test_numbers_of_objects_and_joints_are_those_of_table_a1(model):
    assert (len(model.bodies), len(model.joints)) == COUNTS[model.name]
    assert [len(b) for b in zip(*((tie.name, tie.child) for tie in model.ties), strict=True)] == [len(model.ties)] * 2
    assert len({tie.name for tie in model.ties}) == len({tie.child for tie in model.ties}) == len(model.ties)


def test_the_table_has_a_line_for_every_model():
    lines = table().splitlines()
    assert len(lines) == 6
    for line, (name, counts) in zip(lines[1:], COUNTS.items(), strict=True):
        assert line.split()[:3] == [name, *map(str, counts)]


@every_model
def test_left_and_right_are_mirror_images(model):
    for body in model.bodies:
        twin = model.body(other_side(body.name))
        assert (body.mass, body.colour, body.friction) == (twin.mass, twin.colour, twin.friction)
        assert type(body.shape) is type(twin.shape)
        assert body.shape.ball[1] == twin.shape.ball[1]
        np.testing.assert_allclose(MIRROR @ body.pose[:3, 3], twin.pose[:3, 3], atol=1e-15)
        np.testing.assert_array_equal(body.pose[:3, :3], np.eye(3))  # all shapes are symmetric about the axes
    ties = {tie.name: tie for tie in model.ties}
    for tie in model.ties:
        twin = ties[other_side(tie.name)]
        np.testing.assert_allclose(MIRROR @ tie.point, twin.point, atol=1e-15)
        assert (tie.kind, tie.role, tie.torque) == (twin.kind, twin.role, twin.torque)
        assert (tie.parent, tie.child) == (other_side(twin.parent), other_side(twin.child))
        # A turn seen in a mirror turns about the axis mirrored and reversed; a shift is only mirrored.
        sign = -1.0 if tie.kind == "hinge" else 1.0
        same = np.allclose(sign * MIRROR @ tie.axis, twin.axis)
        assert (twin.lower, twin.upper) == ((tie.lower, tie.upper) if same else (-tie.upper, -tie.lower))


@every_model
def test_masses_are_plausible_and_the_middle_is_above_the_ground_that_is_touched(model):
    assert all(body.mass > 0.0 for body in model.bodies)
    assert 3.0 < model.mass < 20.0
    for body in model.bodies:
        assert 50.0 < body.mass / volume(body.shape) < 4000.0, body.name
    touching = [body for body in model.bodies if abs(cl.distance(body.shape.at(body.pose), FLOOR).distance) < 1e-12]
    halves = [0.5 * body.shape.size[:2] if isinstance(body.shape, cl.Box) else np.zeros(2) for body in touching]
    places = np.array([body.pose[:2, 3] + s * h for body, h in zip(touching, halves, strict=True) for s in (-1, 1)])
    centre = model.centre_of_mass
    assert (places.min(axis=0) <= centre[:2] + 1e-12).all()
    assert (centre[:2] - 1e-12 <= places.max(axis=0)).all()
    assert centre[2] > 0.0


def volume(shape):
    if isinstance(shape, cl.Box):
        return np.prod(shape.size)
    if isinstance(shape, cl.Cylinder):
        return np.pi * shape.radius**2 * shape.length
    radii = shape.radii if isinstance(shape, cl.Ellipsoid) else [shape.radius] * 3
    return 4.0 / 3.0 * np.pi * np.prod(radii)


@every_vehicle
def test_wheels_and_nothing_else_touch_the_ground(make):
    model = make()
    wheels = wheels_of(model)
    assert len(wheels) == {"pioneer": 3, "volksbot": 6}.get(model.name, 4)
    for body in model.bodies:
        gap = cl.distance(body.shape.at(body.pose), FLOOR).distance
        if body in wheels:
            assert gap == pytest.approx(0.0, abs=1e-12)
        else:
            assert gap > 0.04


@every_vehicle
def test_wheels_are_where_the_drive_has_them(make):
    model = make()
    driven = [joint for joint in model.joints if joint.role == "drive"]
    places = np.array([model.body(joint.child).pose[:3, 3] for joint in driven])
    np.testing.assert_allclose(places[:, :2], model.drive.wheels.reshape(-1, 2), atol=1e-15)
    np.testing.assert_allclose(places[:, 2], model.drive.wheel_radius)
    for joint in driven:
        np.testing.assert_array_equal(joint.axis, [0.0, 1.0, 0.0])
        np.testing.assert_array_equal(joint.point, model.body(joint.child).pose[:3, 3])


def test_the_caster_is_where_the_drive_has_it():
    model = pioneer()
    caster, joints = model.drive.caster, {joint.name: joint for joint in model.joints}
    assert joints["caster_swivel"].point[0] == caster.x
    np.testing.assert_allclose(model.body("caster").pose[:3, 3], [caster.x - caster.trail, 0.0, caster.radius])
    assert joints["caster_swivel"].role == joints["caster_spin"].role == "free"


def test_humanoid_stands_on_its_feet():
    model = humanoid()
    for body in model.bodies:
        gap = cl.distance(body.shape.at(body.pose), FLOOR).distance
        if body.name.endswith("foot"):
            assert gap == pytest.approx(0.0, abs=1e-12)
        else:
            assert gap > 0.02


@every_model
def test_only_bodies_that_are_tied_together_touch(model):
    tied = {frozenset((body.name, chain[0].parent)) for body in model.bodies if (chain := model.chain(body.name))}
    fixed = {frozenset((tie.parent, tie.child)) for tie in model.ties if tie.kind == "fixed"}
    for a, b in itertools.combinations(model.bodies, 2):
        gap = cl.distance(a.shape.at(a.pose), b.shape.at(b.pose)).distance
        if frozenset((a.name, b.name)) in fixed:
            assert gap == pytest.approx(0.0, abs=1e-9)
        elif frozenset((a.name, b.name)) not in tied:
            assert gap > 1e-3, (a.name, b.name)
        else:
            assert gap > -1e-3, (a.name, b.name)


@every_model
def test_kinematic_robot_has_the_bodies_where_the_model_has_them(model):
    robot = model.robot()
    assert robot.dof == len(model.joints) + (7 if model.base == "floating" else 3)
    links = {link.name: link for link in robot.links}
    for body in model.bodies:
        (shape,) = links[body.name].shapes
        assert shape.shape is body.shape or repr(shape.shape) == repr(body.shape)
        np.testing.assert_allclose(robot.pose(robot.neutral, body.name) @ shape.pose, body.pose, atol=1e-12)
    assert cl.is_clear(robot, None, robot.neutral)
    massless = [link.name for link in robot.links if link.name != "world" and not link.shapes]
    assert len(massless) == len(robot.links) - 1 - len(model.bodies)


def test_base_moves_the_whole_vehicle():
    robot = monster_truck().robot()
    moved = robot.pose({"base": [1.0, 2.0, np.pi / 2]}, "front_left")
    np.testing.assert_allclose(moved[:3, 3], [1.0 - 0.15, 2.0 + 0.32, 0.08], atol=1e-12)


@pytest.mark.parametrize("make", [monster_truck, stretch_limousine])
@pytest.mark.parametrize("side", [-1.0, 1.0])
def test_steered_wheels_keep_off_the_body(make, side):
    model = make()
    robot, drive = model.robot(), model.drive
    front = drive.wheel_angles(side * drive.max_steering)[:2]
    q = robot.configuration(dict(zip(("front_left_steer", "front_right_steer"), front, strict=True)))
    assert robot.within_limits(q)
    for wheel in wheels_of(model):
        robot.forbid(model.bodies[0].name, wheel.name)
    assert cl.is_clear(robot, None, q, margin=1e-3)


def test_axes_of_kinematic_wheels_meet_in_the_centre_of_the_turn():
    model = monster_truck()
    robot, drive = model.robot(), model.drive
    front = drive.wheel_angles(0.4)[:2]
    q = robot.configuration(dict(zip(("front_left_steer", "front_right_steer"), front, strict=True)))
    centre = [*drive.centre(0.4), drive.wheel_radius]
    for name in ("front_left", "front_right", "rear_left", "rear_right"):
        pose = robot.pose(q, name)
        to_centre = centre - pose[:3, 3]
        np.testing.assert_allclose(np.cross(to_centre, pose[:3, 1]), 0.0, atol=1e-12)


def test_sensors_sit_on_bodies():
    assert [(mount.name, mount.kind, mount.body) for mount in monster_truck().mounts] == [
        ("camera", "camera", "camera"),
        ("scanner", "scanner", "scanner"),
    ]
    assert [mount.kind for mount in pioneer().mounts] == ["camera"]
    assert len(humanoid().mounts) == 2
    assert not stretch_limousine().mounts
    with pytest.raises(KeyError, match="no mount 'radar'; there are camera, scanner"):
        monster_truck().mount("radar")


def test_humanoid_can_sit_down_and_raise_its_arms():
    robot = humanoid().robot()
    sitting = {"left_hip_pitch": -1.2, "left_knee": 1.2, "right_hip_pitch": -1.2, "right_knee": 1.2}
    arms = {"left_shoulder_roll": 1.4, "right_shoulder_roll": -1.4}
    q = robot.configuration(sitting | arms)
    assert robot.within_limits(q)
    assert cl.is_clear(robot, None, q)
    assert robot.pose(q, "left_hand")[1, 3] > 0.25
    assert robot.pose(q, "left_shank")[0, 3] > 0.08  # the knee is ahead
    random = robot.random(500, seed=1)
    assert 0.05 < cl.is_clear(robot, None, random).mean() < 0.9


BOX = ModelBody("trunk", cl.Box([1.0, 1.0, 1.0]), [0.0, 0.0, 0.5], 1.0)
BALL = ModelBody("ball", cl.Sphere(0.1), [0.0, 0.0, 1.2], 1.0)


@pytest.mark.parametrize(
    ("call", "told"),
    [
        (lambda: Model("m", [], []), "has no bodies"),
        (lambda: Model("m", [BOX, BOX], []), "two bodies of the same name"),
        (lambda: Model("m", [BOX, BALL], []), "'ball' hangs on nothing"),
        (lambda: Model("m", [BOX, BALL], [ModelJoint("j", "hinge", "neck", "ball", [0, 0, 1])]), "'neck' of 'j'"),
        (lambda: Model("m", [BOX], [], [Mount("eye", "camera", "head", [0, 0, 0])]), "no body 'head'"),
        (lambda: ModelBody("b", cl.Sphere(1.0), [0, 0, 0], 0.0), "mass must be above zero"),
        (lambda: ModelBody("b", cl.Sphere(1.0), [0, 0, 0], np.nan), "mass must be above zero"),
        (lambda: ModelBody("", cl.Sphere(1.0), [0, 0, 0], 1.0), "a string for a name"),
        (lambda: ModelBody("b", "ball", [0, 0, 0], 1.0), "shape must be a shape"),
        (lambda: ModelBody("b", cl.Sphere(1.0), np.diag([2.0, 1.0, 1.0, 1.0]), 1.0), "pose"),
        (lambda: ModelJoint("j", "screw", "a", "b", [0, 0, 0]), "kind must be one of"),
        (lambda: ModelJoint("j", "hinge", "a", "b", [0, 0, 0], role="dance"), "role one of"),
        (lambda: ModelJoint("j", "hinge", "a", "b", [0, 0]), "point must be 3"),
        (lambda: ModelJoint("j", "hinge", "a", "b", [0, 0, 0], lower=1.0, upper=-1.0), "lower at most upper"),
        (lambda: ModelJoint("j", "hinge", "a", "b", [0, 0, 0], torque=0.0), "torque must be above zero"),
    ],
)
def test_models_that_cannot_be_are_told(call, told):
    with pytest.raises((ValueError, KeyError), match=told):
        call()
