"""Wheels roll: their axes meet in one point, their speeds fit the circles about it, and what goes round comes back."""

import pickle

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from clearance.simulation import Ackermann, Caster, DifferentialDrive

TRUCK = Ackermann(wheel_base=0.32, track=0.3, wheel_radius=0.08)
PIONEER = DifferentialDrive(track=0.33, wheel_radius=0.0825, caster=Caster(-0.2, 0.03, 0.04))
VOLKSBOT = DifferentialDrive(track=0.42, wheel_radius=0.13, axles=(0.22, 0.0, -0.22))
STATE = np.array([3.0, -2.0, 2.2])

every_drive = pytest.mark.parametrize("drive", [PIONEER, VOLKSBOT], ids=["two wheels", "six wheels"])


def lengths():
    return st.floats(0.01, 10.0)


@st.composite
def vehicles(draw):
    """A vehicle, and steering angles of which some are tiny, and some as sharp as can be."""
    vehicle = Ackermann(draw(lengths()), draw(lengths()), draw(lengths()))
    shares = [0.0, 1e-300, 1e-12, 1e-6, 0.99, *draw(st.lists(st.floats(0.001, 0.999), min_size=4, max_size=8))]
    angles = vehicle.sharpest * np.array(shares)
    return vehicle, np.concatenate([angles, -angles])


def turned(points, angles):
    c, s = np.cos(angles), np.sin(angles)
    return np.stack([c * points[..., 0] - s * points[..., 1], s * points[..., 0] + c * points[..., 1]], axis=-1)


def velocities_at(points, twist):
    """Velocities of points (n, 2) of a body that moves with a twist (..., 3): (..., n, 2)."""
    ahead, left, turning = (twist[..., None, k] for k in range(3))
    return np.stack([ahead - turning * points[:, 1], left + turning * points[:, 0]], axis=-1)


def small_steps(drive, state, command, duration, n=4000):
    """Follow a vehicle in steps along its present heading: slow and obvious, wrong by the square of a step."""
    x, y, yaw = state
    ahead, _, turning = drive.twist(*command)
    for _ in range(n):
        middle = yaw + 0.5 * turning * duration / n
        x, y = x + ahead * np.cos(middle) * duration / n, y + ahead * np.sin(middle) * duration / n
        yaw += turning * duration / n
    return np.array([x, y, yaw])


# Ackermann -----------------------------------------------------------------------------------------------------------


@given(vehicles())
def test_axes_of_all_wheels_meet_in_the_centre_of_the_turn(drawn):
    vehicle, steering = drawn
    curvature, angles = vehicle.curvature(steering), vehicle.wheel_angles(steering)
    # Scaled by the curvature, so that a centre at infinity is a point as well.
    to_centre = curvature[:, None, None] * -vehicle.wheels + [0.0, 1.0]
    heading = turned(np.broadcast_to([1.0, 0.0], to_centre.shape), angles)
    off = (to_centre * heading).sum(axis=-1)
    assert np.abs(off).max() < 1e-12 * (1.0 + np.abs(to_centre).max())
    turning = steering != 0.0
    found = vehicle.centre(steering[turning])
    np.testing.assert_allclose(found[:, 1] * curvature[turning], 1.0, rtol=1e-12)
    assert not found[:, 0].any()


@given(vehicles(), st.floats(-20.0, 20.0))
def test_wheels_roll_without_sliding_along_or_across(drawn, speed):
    vehicle, steering = drawn
    at_wheels = velocities_at(vehicle.wheels, vehicle.twist(speed, steering))
    in_wheels = turned(at_wheels, -vehicle.wheel_angles(steering))
    rolled = vehicle.wheel_radius * vehicle.wheel_speeds(speed, steering)
    scale = np.abs(at_wheels).max() + abs(speed)
    np.testing.assert_allclose(in_wheels[..., 0], rolled, atol=1e-12 * scale)
    np.testing.assert_allclose(in_wheels[..., 1], 0.0, atol=1e-12 * scale)


@given(vehicles())
def test_speeds_are_as_the_distances_from_the_centre(drawn):
    vehicle, steering = drawn
    steering = steering[np.abs(steering) > 1e-3 * vehicle.sharpest]
    away = np.linalg.norm(vehicle.wheels - vehicle.centre(steering)[:, None], axis=-1)
    speeds = vehicle.wheel_speeds(1.5, steering)
    np.testing.assert_allclose(speeds / speeds[:, :1], away / away[:, :1], rtol=1e-9)


def test_formulas_of_the_thesis_for_a_turn_to_the_right():
    """Section 6.2: R from the outer wheel's angle, then the inner wheel's, then the speeds."""
    length, width, left = TRUCK.wheel_base, TRUCK.track, 0.4
    d_left = length / np.sin(left)
    radius = np.sqrt(d_left**2 - length**2) - width
    d_right = np.hypot(length, radius)
    steering = TRUCK.steering_of_wheel(-left, wheel=0)
    np.testing.assert_allclose(
        TRUCK.wheel_angles(steering), [-left, -np.arcsin(length / d_right), 0.0, 0.0], atol=1e-12
    )
    speeds = TRUCK.wheel_speeds(1.0, steering)
    np.testing.assert_allclose(speeds / speeds[0], np.array([d_left, d_right, radius + width, radius]) / d_left)
    assert TRUCK.centre(steering)[1] == pytest.approx(-(radius + 0.5 * width), rel=1e-12)


def test_inner_wheel_steers_more_and_is_slower():
    for steering in (0.01, 0.2, 0.7):
        left, right, *_ = TRUCK.wheel_angles(steering)
        assert left > steering > right > 0.0
        front_left, front_right, rear_left, rear_right = TRUCK.wheel_speeds(1.0, steering)
        assert rear_left < front_left < front_right
        assert rear_left < rear_right < front_right


def test_straight_ahead_nothing_steers_and_all_wheels_are_equally_fast():
    for steering in (0.0, -0.0):
        np.testing.assert_array_equal(TRUCK.wheel_angles(steering), 0.0)
        np.testing.assert_array_equal(TRUCK.wheel_speeds(0.8, steering), 0.8 / 0.08)
        assert np.isinf(TRUCK.centre(steering)[1])
        np.testing.assert_allclose(
            TRUCK.advance([0.0, 0.0, np.pi / 2], 0.8, steering, 5.0), [0.0, 4.0, np.pi / 2], atol=1e-12
        )


@given(vehicles(), st.floats(-20.0, 20.0))
def test_left_and_right_are_mirror_images(drawn, speed):
    vehicle, steering = drawn
    np.testing.assert_array_equal(vehicle.wheel_angles(-steering), -vehicle.wheel_angles(steering)[:, [1, 0, 3, 2]])
    np.testing.assert_array_equal(
        vehicle.wheel_speeds(speed, -steering), vehicle.wheel_speeds(speed, steering)[:, [1, 0, 3, 2]]
    )
    moved, mirrored = (vehicle.advance([0.0, 0.0, 0.0], speed, side * steering, 1.7) for side in (1.0, -1.0))
    np.testing.assert_array_equal(mirrored, moved * [1.0, -1.0, -1.0])


@given(vehicles(), st.floats(0.1, 20.0))
def test_backwards_is_forwards_undone(drawn, speed):
    vehicle, steering = drawn
    np.testing.assert_array_equal(vehicle.wheel_speeds(-speed, steering), -vehicle.wheel_speeds(speed, steering))
    there = vehicle.advance(STATE, speed, steering, 0.9)
    back = vehicle.advance(there, -speed, steering, 0.9)
    np.testing.assert_allclose(back, np.broadcast_to(STATE, back.shape), atol=1e-12 * (10.0 + 100.0 * speed))
    np.testing.assert_array_equal(
        vehicle.advance(STATE, -speed, steering, 0.9), vehicle.advance(STATE, speed, steering, -0.9)
    )


@given(vehicles(), st.floats(-20.0, 20.0).filter(lambda speed: abs(speed) > 1e-3))
def test_inverse_undoes_forward(drawn, speed):
    vehicle, steering = drawn
    found_speed, found = vehicle.inverse(vehicle.twist(speed, steering))
    np.testing.assert_array_equal(found_speed, speed)
    np.testing.assert_allclose(found, steering, rtol=1e-12)


@pytest.mark.parametrize("wheel", [0, 1])
@given(vehicles())
def test_one_front_wheel_tells_how_all_stand(wheel, drawn):
    vehicle, steering = drawn
    found = vehicle.steering_of_wheel(vehicle.wheel_angles(steering)[:, wheel], wheel)
    np.testing.assert_allclose(found, steering, rtol=1e-9)


@pytest.mark.parametrize("speed", [0.7, -0.7])
@pytest.mark.parametrize("steering", [0.45, -0.2, 1e-4])
def test_full_circles_come_back(speed, steering):
    period = 2.0 * np.pi / abs(speed * TRUCK.curvature(steering))
    np.testing.assert_allclose(
        TRUCK.advance(STATE, speed, steering, period) - STATE,
        [0.0, 0.0, np.copysign(2.0 * np.pi, speed * steering)],
        atol=1e-9,
    )
    times = np.linspace(0.0, period, 50)
    along = TRUCK.advance(STATE, speed, steering, times)
    centre = STATE[:2] + turned(TRUCK.centre(steering), STATE[2])
    radius = 1.0 / abs(TRUCK.curvature(steering))
    np.testing.assert_allclose(np.linalg.norm(along[:, :2] - centre, axis=1), radius, rtol=1e-9)


@pytest.mark.parametrize("command", [(0.7, 0.4), (-0.7, 0.4), (1.3, -0.7), (0.5, 0.0)])
def test_arcs_are_what_small_steps_lead_to(command):
    np.testing.assert_allclose(TRUCK.advance(STATE, *command, 3.0), small_steps(TRUCK, STATE, command, 3.0), atol=1e-6)


def test_arcs_add_up():
    half = TRUCK.advance(TRUCK.advance(STATE, 0.7, 0.4, 1.1), 0.7, 0.4, 0.6)
    np.testing.assert_allclose(half, TRUCK.advance(STATE, 0.7, 0.4, 1.7), atol=1e-12)


@given(vehicles(), st.floats(-20.0, 20.0))
def test_odometry_of_the_rear_wheels_is_the_motion(drawn, speed):
    vehicle, steering = drawn
    turns = 1.3 * vehicle.wheel_speeds(speed, steering)[:, 2:]
    expected = vehicle.advance(STATE, speed, steering, 1.3)
    np.testing.assert_allclose(vehicle.odometry(STATE, turns), expected, atol=1e-10 * (1.0 + abs(expected).max()))


def test_batches_broadcast():
    states, speeds, steering = np.zeros((5, 1, 1, 3)), np.linspace(-1, 1, 4)[:, None], np.linspace(-0.5, 0.5, 3)
    found = TRUCK.advance(states, speeds, steering, 2.0)
    assert found.shape == (5, 4, 3, 3)
    np.testing.assert_array_equal(found[2, 3, 1], TRUCK.advance([0, 0, 0], speeds[3, 0], steering[1], 2.0))
    assert TRUCK.wheel_speeds(speeds, steering).shape == (4, 3, 4)
    assert VOLKSBOT.scrub(speeds, steering).shape == (4, 3, 3, 2, 2)
    assert VOLKSBOT.wheel_speeds(speeds, steering).shape == (4, 3, 2)


def test_limits_are_kept_by_clipping_and_told_otherwise():
    truck = Ackermann(0.32, 0.3, 0.08, max_steering=0.5, max_speed=2.0, max_steering_rate=1.0)
    speed, steering = truck.limited([3.0, -3.0, 1.0], [0.7, -0.7, 0.2])
    np.testing.assert_array_equal([speed, steering], [[2.0, -2.0, 1.0], [0.5, -0.5, 0.2]])
    np.testing.assert_allclose(truck.limited(1.0, [0.5, -0.5, 0.12], before=0.1, duration=0.1)[1], [0.2, 0.0, 0.12])
    assert truck.limited(1.0, 0.5, before=0.1)[1] == 0.1  # no time
    truck.wheel_speeds(2.0, 0.5)
    for bad in ((2.1, 0.0), (-2.1, 0.0), (1.0, 0.6), (1.0, -0.6)):
        with pytest.raises(ValueError, match=r"must be from -.* to"):
            truck.wheel_speeds(*bad)
    free = TRUCK.limited(1e9, [-3.0, 3.0])
    assert free[0] == 1e9
    assert np.isfinite(TRUCK.wheel_speeds(*free)).all()


def test_turns_about_a_point_between_the_wheels_are_refused():
    edge = TRUCK.sharpest
    assert TRUCK.centre(edge * (1.0 - 1e-12))[1] == pytest.approx(0.5 * TRUCK.track, rel=1e-9)
    assert np.isfinite(TRUCK.wheel_speeds(1.0, 0.999999 * edge)).all()
    for steering in (edge, -edge, 1.2 * edge, 3.0, -1.6):
        with pytest.raises(ValueError, match="between the wheels"):
            TRUCK.wheel_angles(steering)
    narrow = 1.0 / (0.49 * TRUCK.track)
    with pytest.raises(ValueError, match="between the wheels"):
        TRUCK.inverse([1.0, 0.0, narrow])
    with pytest.raises(ValueError, match="between the wheels"):
        TRUCK.steering_of_wheel(1.05 * np.arctan(TRUCK.wheel_base / TRUCK.track), wheel=1)
    with pytest.raises(ValueError, match="turns about one of its wheels"):
        Ackermann(0.32, 0.3, 0.08, max_steering=edge)


@pytest.mark.parametrize("bad", [0.0, -1.0, np.nan, np.inf, "wide", None, True])
@pytest.mark.parametrize("which", ["wheel_base", "track", "wheel_radius"])
def test_vehicles_without_size_are_refused(which, bad):
    sizes = {"wheel_base": 0.3, "track": 0.2, "wheel_radius": 0.1} | {which: bad}
    with pytest.raises(ValueError, match=which):
        Ackermann(**sizes)
    if which != "wheel_base":
        del sizes["wheel_base"]
        with pytest.raises(ValueError, match=which):
            DifferentialDrive(**sizes)


@pytest.mark.parametrize(
    ("call", "told"),
    [
        (lambda: TRUCK.wheel_angles(np.nan), "steering must be finite"),
        (lambda: TRUCK.wheel_speeds(np.inf, 0.1), "speed must be finite"),
        (lambda: TRUCK.wheel_speeds("fast", 0.1), "speed must be real numbers"),
        (lambda: TRUCK.advance([0.0, 0.0], 1.0, 0.1, 1.0), "state must have 3 numbers"),
        (lambda: TRUCK.advance([0.0, 0.0, np.nan], 1.0, 0.1, 1.0), "state must be finite"),
        (lambda: TRUCK.advance([0.0, 0.0, 0.0], 1.0, 0.1, np.nan), "duration must be finite"),
        (lambda: TRUCK.inverse([1.0, 0.1, 0.0]), "slide"),
        (lambda: TRUCK.inverse([0.0, 0.0, 1.0]), "on the spot"),
        (lambda: TRUCK.steering_of_wheel(0.1, wheel=2), "wheel must be 0"),
        (lambda: TRUCK.steering_of_wheel(1.6), "angle must be between"),
        (lambda: TRUCK.odometry([0, 0, 0], [1.0, 2.0, 3.0]), "turns must have 2 numbers"),
        (lambda: TRUCK.limited(1.0, 0.1, before=0.0, duration=-1.0), "duration must be"),
        (lambda: PIONEER.wheel_speeds(1.0, np.nan), "turn_rate must be finite"),
        (lambda: PIONEER.twist([1.0]), "wheel_speeds must have 2 numbers"),
        (lambda: PIONEER.inverse([1.0, 0.1, 0.0]), "slide"),
        (lambda: VOLKSBOT.caster_motion(1.0, 0.0), "no caster"),
        (lambda: Caster(-0.2, 0.0, 0.04), "trail must be above zero"),
        (lambda: DifferentialDrive(0.3, 0.1, axles=()), "axles"),
        (lambda: DifferentialDrive(0.3, 0.1, axles=(0.2, 0.1)), "symmetric"),
        (lambda: DifferentialDrive(0.3, 0.1, axles=(0.2, -0.2), loads=(1.0, 2.0)), "loads"),
        (lambda: DifferentialDrive(0.3, 0.1, axles=(0.2, -0.2), loads=(1.0, -1.0)), "loads"),
        (lambda: DifferentialDrive(0.3, 0.1, caster=0.2), "caster must be a Caster"),
        (lambda: DifferentialDrive(0.3, 0.1, max_speed=-1.0), "max_speed"),
    ],
)
def test_bad_input_is_told(call, told):
    with pytest.raises(ValueError, match=told):
        call()


def test_at_rest_the_wheels_stand_straight():
    assert TRUCK.inverse([0.0, 0.0, 0.0]) == (0.0, 0.0)


# Differential drive --------------------------------------------------------------------------------------------------


@every_drive
@given(st.floats(-5.0, 5.0), st.floats(-5.0, 5.0))
def test_wheels_and_motion_tell_each_other(drive, speed, turn_rate):
    speeds = drive.wheel_speeds(speed, turn_rate)
    np.testing.assert_allclose(drive.twist(speeds), [speed, 0.0, turn_rate], atol=1e-12)
    np.testing.assert_allclose(drive.inverse(drive.twist(speeds)), speeds, atol=1e-10)
    expected = drive.advance(STATE, speed, turn_rate, 1.3)
    np.testing.assert_allclose(drive.odometry(STATE, 1.3 * speeds), expected, atol=1e-10)
    np.testing.assert_array_equal(drive.wheel_speeds(-speed, -turn_rate), -speeds)
    np.testing.assert_array_equal(drive.wheel_speeds(speed, -turn_rate), speeds[::-1])


@every_drive
def test_full_circles_of_a_differential_drive_come_back(drive):
    for speed, turn_rate in ((0.4, 0.8), (-0.4, 0.8), (0.4, -0.8), (0.0, 1.0)):
        there = drive.advance(STATE, speed, turn_rate, 2.0 * np.pi / abs(turn_rate))
        np.testing.assert_allclose(there - STATE, [0.0, 0.0, np.copysign(2.0 * np.pi, turn_rate)], atol=1e-12)


def test_opposite_wheels_turn_on_the_spot_and_equal_ones_go_straight():
    np.testing.assert_allclose(PIONEER.twist([-2.0, 2.0]), [0.0, 0.0, 2.0 * 2.0 * 0.0825 / 0.33])
    np.testing.assert_allclose(PIONEER.twist([3.0, 3.0]), [3.0 * 0.0825, 0.0, 0.0])


@given(st.floats(-2.0, 2.0), st.floats(-2.0, 2.0))
def test_two_wheels_roll_without_sliding(speed, turn_rate):
    np.testing.assert_allclose(PIONEER.scrub(speed, turn_rate), 0.0, atol=1e-12)


def friction_power(drive, twist, wheel_speeds):
    """What dry friction of unit coefficient takes if the wheels turn like this and the vehicle moves like that."""
    wheels = drive.wheels.reshape(-1, 2)
    sliding = velocities_at(wheels, np.asarray(twist))
    sliding[:, 0] -= drive.wheel_radius * np.tile(wheel_speeds, len(drive.axles))
    return (np.repeat(drive.loads, 2) * np.linalg.norm(sliding, axis=1)).sum()


@pytest.mark.parametrize(
    "axles", [(0.22, 0.0, -0.22), (0.1, -0.1), (0.3, 0.0, -0.3), (0.3, 0.1, -0.1, -0.3), (0.05, 0.0, -0.05)]
)
@pytest.mark.parametrize("command", [(0.3, 0.5), (0.0, 1.0), (-0.2, 0.9)])
def test_a_vehicle_that_scrubs_moves_so_that_friction_takes_least(axles, command):
    """Forces are in balance where the power of dry friction, convex in the motion, is least."""
    drive = DifferentialDrive(0.42, 0.13, axles)
    speeds = drive.wheel_speeds(*command)
    twist = drive.twist(speeds)
    least = friction_power(drive, twist, speeds)
    rng = np.random.default_rng(7)
    others = twist + rng.normal(size=(500, 3)) * 10.0 ** rng.uniform(-5, 0, (500, 1))
    assert min(friction_power(drive, other, speeds) for other in others) >= least * (1.0 - 1e-12)


def test_effective_tracks_known_in_closed_form():
    two = DifferentialDrive(0.5, 0.1, axles=(0.2, -0.2))
    assert two.effective_track == pytest.approx(0.5 + 4.0 * 0.2**2 / 0.5, rel=1e-12)
    assert PIONEER.effective_track == PIONEER.track
    held = DifferentialDrive(0.5, 0.1, axles=(0.05, 0.0, -0.05))
    assert held.effective_track == held.track  # the middle wheels are strong enough to roll
    assert DifferentialDrive(0.5, 0.1, (0.2, 0.0, -0.2), (1.0, 100.0, 1.0)).effective_track == 0.5
    assert VOLKSBOT.effective_track > VOLKSBOT.track


def test_middle_wheels_do_not_scrub_sideways_and_the_others_do():
    sliding = VOLKSBOT.scrub(0.3, 0.8)
    np.testing.assert_allclose(sliding[:, :, 1], [[0.176, 0.176], [0.0, 0.0], [-0.176, -0.176]], atol=1e-12)
    assert np.abs(VOLKSBOT.scrub(0.3, 0.0)).max() < 1e-15


@pytest.mark.parametrize("command", [(0.4, 0.0), (0.4, 0.9), (0.4, -0.9), (-0.4, 0.5), (0.0, 1.0)])
def test_casters_swing_to_where_they_roll(command):
    caster = PIONEER.caster
    angle, wheel_speed = PIONEER.caster_motion(*command)
    behind = caster.trail * np.array([np.cos(angle), np.sin(angle)])
    contact = np.array([caster.x, 0.0]) - behind
    velocity = velocities_at(contact[None], np.array([command[0], 0.0, command[1]]))[0]
    np.testing.assert_allclose(turned(velocity, -angle), [wheel_speed * caster.radius, 0.0], atol=1e-12)
    assert wheel_speed > 0.0


def test_casters_that_find_no_rest_have_no_angle():
    drive = DifferentialDrive(0.33, 0.08, caster=Caster(0.02, 0.03, 0.04))
    assert np.isnan(drive.caster_motion(0.0, 1.0)[0])
    assert np.isnan(PIONEER.caster_motion(0.0, 0.0)[0])


def test_limits_of_a_differential_drive():
    drive = DifferentialDrive(0.33, 0.08, max_speed=1.0, max_turn_rate=2.0)
    assert drive.limited(1.5, -3.0) == (1.0, -2.0)
    with pytest.raises(ValueError, match="turn_rate"):
        drive.wheel_speeds(0.5, 2.1)


@pytest.mark.parametrize("drive", [TRUCK, PIONEER, VOLKSBOT], ids=["truck", "two wheels", "six wheels"])
def test_vehicles_are_values(drive):
    assert pickle.loads(pickle.dumps(drive)) == drive
    assert hash(drive) == hash(pickle.loads(pickle.dumps(drive)))
    with pytest.raises(AttributeError):
        drive.track = 1.0
