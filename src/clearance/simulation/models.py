"""Five robots to drive and to walk into: a monster truck, a stretch limousine, a Pioneer, a Volksbot and a humanoid.

They stand for those of K. Petersen, Effiziente Kollisionserkennung und echtzeitfähige Simulation der Kinematik, Dynamik
und Sensorik autonomer Fahrzeuge, 2007, appendix A, and have as many physical objects and joints as in its Table A.1.
Their sizes are not in there: they are those of toys and robots of the kind, rounded.

Wheels are ellipsoids, which touch flat ground in one point. Cylinders touch it along a line, and in a turn no more than
one point of it can roll. The rest scrubs, and the turn gets wider: that of the Pioneer by 11 percent, as if its wheels
were farther apart by the width of one.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace

import numpy as np
from numpy.typing import NDArray

from ..shapes import Box, Cylinder, Ellipsoid, Sphere
from .ackermann import Ackermann
from .descriptions import Model, ModelBody, ModelJoint, Mount
from .differential_drive import Caster, DifferentialDrive

__all__ = ["MODELS", "humanoid", "monster_truck", "pioneer", "stretch_limousine", "table", "volksbot"]

Floats = NDArray[np.float64]

X, Y, Z = np.eye(3)
SIDES = {"left": 1.0, "right": -1.0}
RED, BLUE, GREEN, WHITE, GREY, BLACK = "#c62828", "#1f4fd8", "#2e7d32", "#f2f2f0", "#3c434a", "#111417"
RUBBER = ("#2b2f33", 0.9)  # its colour and its friction
SERVO = 6.0  # N m that a servo of the humanoid can do
AHEAD = np.zeros(3)  # a sensor in the middle of its body that looks where the body does


def monster_truck() -> Model:
    """Describe a toy truck of half a metre, on large wheels, with a camera and a laser scanner on its roof.

    Every wheel has a joint to steer and one to spin, those at the rear are locked straight ahead; all four are driven.
    Camera and scanner nod.

    Returns
    -------
    Model

    Examples
    --------
    >>> truck = monster_truck()
    >>> truck
    Model('monster_truck', 7 bodies, 10 joints)
    >>> truck.drive.max_steering, [mount.name for mount in truck.mounts]
    (0.5, ['camera', 'scanner'])
    """
    drive = Ackermann(0.32, 0.30, 0.08, max_steering=0.5, max_speed=3.0, max_steering_rate=3.0)
    wheels, joints = _steered_wheels(drive, "chassis", width=0.06, mass=0.3, torque=0.5)
    bodies = [
        ModelBody("chassis", Box([0.48, 0.15, 0.10]), _at(0.16, 0.0, 0.16), 3.0, RED),
        *wheels,
        ModelBody("camera", Box([0.04, 0.05, 0.04]), _at(0.16, 0.0, 0.24), 0.1, BLACK),
        ModelBody("scanner", Cylinder(0.03, 0.06), _at(0.32, 0.0, 0.255), 0.16, BLUE),
    ]
    nods = [
        ModelJoint("camera_tilt", "hinge", "chassis", "camera", bodies[5].pose[:3, 3], Y, -0.5, 0.5),
        ModelJoint("scanner_tilt", "hinge", "chassis", "scanner", bodies[6].pose[:3, 3], Y, -0.3, 0.3),
    ]
    mounts = [Mount("camera", "camera", "camera", AHEAD), Mount("scanner", "scanner", "scanner", AHEAD)]
    return Model("monster_truck", bodies, [*joints, *nods], mounts, drive=drive)


def stretch_limousine() -> Model:
    """Describe a toy car of 1.1 m: hood, cabin and boot on four wheels, and no sensors.

    Every wheel has a joint to steer and one to spin, those at the rear are locked straight ahead; all four are driven.

    Returns
    -------
    Model

    Examples
    --------
    >>> stretch_limousine()
    Model('stretch_limousine', 7 bodies, 8 joints)
    """
    drive = Ackermann(0.75, 0.30, 0.06, max_steering=0.45, max_speed=3.0, max_steering_rate=2.0)
    wheels, joints = _steered_wheels(drive, "cabin", width=0.05, mass=0.25, torque=0.5)
    bodies = [
        ModelBody("cabin", Box([0.61, 0.30, 0.16]), _at(0.375, 0.0, 0.13), 4.0, WHITE),
        ModelBody("hood", Box([0.25, 0.18, 0.08]), _at(0.805, 0.0, 0.10), 1.0, WHITE),
        ModelBody("boot", Box([0.24, 0.22, 0.10]), _at(-0.05, 0.0, 0.11), 1.0, WHITE),
        *wheels,
    ]
    fixed = [
        ModelJoint("hood_mount", "fixed", "cabin", "hood", _at(0.68, 0.0, 0.10)),
        ModelJoint("boot_mount", "fixed", "cabin", "boot", _at(0.07, 0.0, 0.11)),
    ]
    return Model("stretch_limousine", bodies, [*fixed, *joints], drive=drive)


def pioneer() -> Model:
    """Describe a robot like the Pioneer 2-DX: two driven wheels and a caster, a gripper ahead, a camera on top.

    The swivel of the caster and its wheel turn freely; the fork between them is a massless link. Fingers slide
    inwards, the camera pans and tilts.

    Returns
    -------
    Model

    Examples
    --------
    >>> pioneer()
    Model('pioneer', 8 bodies, 8 joints)
    """
    caster = Caster(x=-0.20, trail=0.03, radius=0.0375)
    drive = DifferentialDrive(0.33, 0.0825, caster=caster, max_speed=1.6, max_turn_rate=4.0)
    swivel, wheel = np.array([caster.x, 0.0, 0.08]), np.array([caster.x - caster.trail, 0.0, caster.radius])
    bodies = [ModelBody("trunk", Box([0.40, 0.27, 0.14]), _at(-0.06, 0.0, 0.16), 8.0, RED)]
    joints = []
    for name, side in SIDES.items():
        body, joint = _spinning_wheel(f"wheel_{name}", "trunk", _at(0.0, 0.165 * side, 0.0825), 0.0825, 0.037, 0.4, 3.0)
        bodies.append(body)
        joints.append(joint)
    bodies += [
        _wheel("caster", wheel, caster.radius, 0.02, 0.1),
        ModelBody("palm", Box([0.03, 0.20, 0.07]), _at(0.155, 0.0, 0.085), 0.3, GREY),
        *(
            ModelBody(f"finger_{name}", Box([0.08, 0.015, 0.04]), _at(0.215, 0.085 * side, 0.085), 0.05, GREY)
            for name, side in SIDES.items()
        ),
        ModelBody("camera", Box([0.10, 0.10, 0.07]), _at(0.05, 0.0, 0.285), 0.3, BLACK),
    ]
    joints += [
        ModelJoint("caster_swivel", "hinge", "trunk", "fork", swivel, Z, role="free"),
        ModelJoint("caster_spin", "hinge", "fork", "caster", wheel, Y, role="free"),
        ModelJoint("palm_mount", "fixed", "trunk", "palm", _at(0.14, 0.0, 0.105)),
        *(
            ModelJoint(
                f"finger_{name}",
                "slide",
                "palm",
                f"finger_{name}",
                _at(0.17, 0.085 * side, 0.085),
                -side * Y,
                0.0,
                0.07,
            )
            for name, side in SIDES.items()
        ),
        ModelJoint("camera_pan", "hinge", "trunk", "camera_foot", _at(0.05, 0.0, 0.285), Z, -1.7, 1.7),
        ModelJoint("camera_tilt", "hinge", "camera_foot", "camera", _at(0.05, 0.0, 0.285), Y, -0.4, 0.4),
    ]
    return Model("pioneer", bodies, joints, [Mount("camera", "camera", "camera", AHEAD)], drive=drive)


def volksbot() -> Model:
    """Describe a robot like the six-wheeled Volksbot: three wheels on each side, which turn equally.

    Four of its wheels scrub in a turn, see `DifferentialDrive`.

    Returns
    -------
    Model

    Examples
    --------
    >>> model = volksbot()
    >>> model
    Model('volksbot', 7 bodies, 6 joints)
    >>> round(model.drive.effective_track, 3)
    0.692
    """
    drive = DifferentialDrive(0.44, 0.11, axles=(0.24, 0.0, -0.24), max_speed=1.5, max_turn_rate=2.0)
    bodies = [ModelBody("trunk", Box([0.56, 0.34, 0.16]), _at(0.0, 0.0, 0.14), 12.0, GREEN)]
    joints = []
    for along, x in zip(("front", "middle", "rear"), drive.axles, strict=True):
        for name, side in SIDES.items():
            place = _at(x, 0.5 * drive.track * side, drive.wheel_radius)
            body, joint = _spinning_wheel(f"{along}_{name}", "trunk", place, drive.wheel_radius, 0.06, 0.6, 5.0)
            bodies.append(body)
            joints.append(joint)
    return Model("volksbot", bodies, joints, drive=drive)


def humanoid() -> Model:
    """Describe a humanoid of 55 cm like the HR18: 24 joints, a camera in the chest and one in the head.

    Waist and hips, ankles too, have joints whose axes meet: massless links stand between these. Ahead is x; at zero it
    stands upright with hanging arms.

    Returns
    -------
    Model

    Examples
    --------
    >>> model = humanoid()
    >>> model
    Model('humanoid', 22 bodies, 24 joints)
    >>> is_clear(model.robot(), None, model.robot().neutral)
    True
    """
    bodies = [
        ModelBody("pelvis", Box([0.09, 0.16, 0.03]), _at(0.0, 0.0, 0.29), 0.4, GREY),
        ModelBody("chest", Box([0.09, 0.16, 0.11]), _at(0.0, 0.0, 0.38), 0.9, BLUE),
        ModelBody("chest_camera", Box([0.02, 0.03, 0.02]), _at(0.055, 0.0, 0.38), 0.02, BLACK),
        ModelBody("neck", Cylinder(0.015, 0.02), _at(0.0, 0.0, 0.447), 0.05, GREY),
        ModelBody("head", Sphere(0.045), _at(0.0, 0.0, 0.505), 0.2, BLUE),
        ModelBody("head_camera", Box([0.015, 0.02, 0.015]), _at(0.0525, 0.0, 0.505), 0.01, BLACK),
    ]
    joints = [
        ModelJoint("waist_yaw", "hinge", "pelvis", "waist", _at(0.0, 0.0, 0.315), Z, -1.0, 1.0),
        ModelJoint("waist_pitch", "hinge", "waist", "chest", _at(0.0, 0.0, 0.315), Y, -0.1, 0.7),
        ModelJoint("chest_camera_mount", "fixed", "chest", "chest_camera", _at(0.045, 0.0, 0.38)),
        ModelJoint("neck_pan", "hinge", "chest", "neck", _at(0.0, 0.0, 0.436), Z, -1.5, 1.5),
        ModelJoint("neck_tilt", "hinge", "neck", "head", _at(0.0, 0.0, 0.46), Y, -0.5, 0.5),
        ModelJoint("head_camera_mount", "fixed", "head", "head_camera", _at(0.045, 0.0, 0.505)),
    ]
    for name, side in SIDES.items():
        for limb_bodies, limb_joints in (_leg(name, side), _arm(name, side)):
            bodies += limb_bodies
            joints += limb_joints
    mounts = [Mount(name, "camera", name, AHEAD) for name in ("chest_camera", "head_camera")]
    return Model("humanoid", bodies, joints, mounts, base="floating")


MODELS: dict[str, Callable[[], Model]] = {
    "monster_truck": monster_truck,
    "stretch_limousine": stretch_limousine,
    "pioneer": pioneer,
    "volksbot": volksbot,
    "humanoid": humanoid,
}


def table() -> str:
    """Count physical objects and joints of all models, as Table A.1 of the thesis does.

    Returns
    -------
    str

    Examples
    --------
    >>> print(table())
    robot              objects  joints  mass in kg  size in m
    monster_truck            7      10        4.46  0.480 x 0.360 x 0.285
    stretch_limousine        7       8        7.00  1.100 x 0.350 x 0.210
    pioneer                  8       8        9.60  0.522 x 0.367 x 0.320
    volksbot                 7       6       15.60  0.700 x 0.500 x 0.220
    humanoid                22      24        3.50  0.120 x 0.260 x 0.550
    """
    lines = [f"{'robot':<17}  objects  joints  mass in kg  size in m"]
    for make in MODELS.values():
        model = make()
        size = " x ".join(f"{length:.3f}" for length in np.diff(model.bounds, axis=0)[0])
        lines.append(f"{model.name:<17}{len(model.bodies):9}{len(model.joints):8}{model.mass:12.2f}  {size}")
    return "\n".join(lines)


def _at(x: float, y: float, z: float) -> Floats:
    return np.array([x, y, z])


def _wheel(name: str, place: Floats, radius: float, width: float, mass: float) -> ModelBody:
    return ModelBody(name, Ellipsoid([radius, 0.5 * width, radius]), place, mass, *RUBBER)


def _spinning_wheel(
    name: str, carrier: str, place: Floats, radius: float, width: float, mass: float, torque: float
) -> tuple[ModelBody, ModelJoint]:
    """A driven wheel and its joint, which has the same name."""
    wheel = _wheel(name, place, radius, width, mass)
    return wheel, ModelJoint(name, "hinge", carrier, name, wheel.pose[:3, 3], Y, role="drive", torque=torque)


def _steered_wheels(
    drive: Ackermann, carrier: str, width: float, mass: float, torque: float
) -> tuple[list[ModelBody], list[ModelJoint]]:
    """Four wheels on massless knuckles that turn about an upright axis; those at the rear are locked."""
    bodies, joints = [], []
    names = [f"{along}_{side}" for along in ("front", "rear") for side in SIDES]
    for name, (x, y) in zip(names, drive.wheels, strict=True):
        place = _at(x, y, drive.wheel_radius)
        most = 0.8 if x > 0.0 else 0.0
        wheel, spin = _spinning_wheel(name, f"{name}_knuckle", place, drive.wheel_radius, width, mass, torque)
        steer = ModelJoint(f"{name}_steer", "hinge", carrier, spin.parent, place, Z, -most, most, role="steer")
        bodies.append(wheel)
        joints += [steer, replace(spin, name=f"{name}_spin")]
    return bodies, joints


def _leg(name: str, side: float) -> tuple[list[ModelBody], list[ModelJoint]]:
    hip, thigh, shank, foot = (f"{name}_{part}" for part in ("hip", "thigh", "shank", "foot"))
    y = 0.045 * side
    bodies = [
        ModelBody(hip, Box([0.05, 0.05, 0.025]), _at(0.0, y, 0.2525), 0.12, GREY),
        ModelBody(thigh, Box([0.05, 0.05, 0.07]), _at(0.0, y, 0.185), 0.2, BLUE),
        ModelBody(shank, Box([0.045, 0.045, 0.07]), _at(0.0, y, 0.085), 0.18, BLUE),
        ModelBody(foot, Box([0.12, 0.07, 0.02]), _at(0.01, y, 0.01), 0.12, *RUBBER),
    ]
    outwards = (-0.3, 0.7) if side > 0.0 else (-0.7, 0.3)
    joints = [
        _servo(f"{hip}_yaw", "pelvis", hip, _at(0.0, y, 0.27), Z, -0.8, 0.8),
        _servo(f"{hip}_roll", hip, f"{hip}_cross", _at(0.0, y, 0.23), X, *outwards),
        _servo(f"{hip}_pitch", f"{hip}_cross", thigh, _at(0.0, y, 0.23), Y, -1.6, 0.6),
        _servo(f"{name}_knee", thigh, shank, _at(0.0, y, 0.135), Y, 0.0, 2.2),
        _servo(f"{name}_ankle_pitch", shank, f"{name}_ankle_cross", _at(0.0, y, 0.035), Y, -1.2, 0.9),
        _servo(f"{name}_ankle_roll", f"{name}_ankle_cross", foot, _at(0.0, y, 0.035), X, -0.5, 0.5),
    ]
    return bodies, joints


def _arm(name: str, side: float) -> tuple[list[ModelBody], list[ModelJoint]]:
    shoulder, upper, fore, hand = (f"{name}_{part}" for part in ("shoulder", "upper_arm", "forearm", "hand"))
    y = 0.108 * side
    bodies = [
        ModelBody(shoulder, Sphere(0.022), _at(0.0, y, 0.415), 0.07, GREY),
        ModelBody(upper, Box([0.035, 0.035, 0.07]), _at(0.0, y, 0.355), 0.12, BLUE),
        ModelBody(fore, Box([0.03, 0.03, 0.06]), _at(0.0, y, 0.275), 0.1, BLUE),
        ModelBody(hand, Box([0.025, 0.03, 0.036]), _at(0.0, y, 0.22), 0.05, GREY),
    ]
    outwards = (-0.2, 1.6) if side > 0.0 else (-1.6, 0.2)
    joints = [
        _servo(f"{shoulder}_pitch", "chest", shoulder, _at(0.0, 0.083 * side, 0.415), Y, -2.5, 1.5),
        _servo(f"{shoulder}_roll", shoulder, upper, _at(0.0, y, 0.415), X, *outwards),
        _servo(f"{name}_elbow", upper, fore, _at(0.0, y, 0.3125), Y, -2.0, 0.0),
        _servo(f"{name}_wrist", fore, hand, _at(0.0, y, 0.2415), Z, -1.5, 1.5),
    ]
    return bodies, joints


def _servo(name: str, parent: str, child: str, point: Floats, axis: Floats, lower: float, upper: float) -> ModelJoint:
    return ModelJoint(name, "hinge", parent, child, point, axis, lower, upper, torque=SERVO)
