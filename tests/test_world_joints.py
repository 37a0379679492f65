"""Joints: pendulums swing in time, motors pull as hard as they can, loops stay closed, momentum is kept."""

import numpy as np
import pytest

import clearance as cl
from clearance import simulation as sim
from physics import G, X, Y, Z, fingerprint, floating, place, seconds, tumbling, turn_between
from strategies import rigid_motions

ROD = cl.Box([0.1, 0.1, 1.0])
INERTIA = (0.1**2 + 1.0**2) / 12 + 0.5**2  # of the rod about its upper end, per kilogram
OWN = np.sqrt(G * 0.5 / INERTIA)  # radians per second of small swings


def hung(angle, kind="hinge", step=2e-4, axis=Y, **given):
    """Return a world with a rod of one kilogram hung at the origin, turned out of the vertical."""
    world = sim.World(step=step)
    turned = cl.poses.from_axis_angle(axis, angle) @ cl.poses.from_translation([0, 0, -0.5])
    world.add("rod", ROD, turned, mass=1.0)
    how = {"axis": axis, **given} if kind == "hinge" else given
    world.join("pivot", kind, None, "rod", [0, 0, 0], **how)
    return world


def end_of(world, name, z):
    return (world.pose(name) @ [0, 0, z, 1])[:3]


def crossings(world, duration, step):
    """Return the times at which the middle of the rod passes below the pivot."""
    times, before = [], place(world, "rod")[0]
    for _ in range(round(duration / step)):
        world.step()
        now = place(world, "rod")[0]
        if before * now < 0:
            times.append(world.time - step * now / (now - before))
        before = now
    return np.array(times)


# Pendulums -----------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("kind", ["hinge", "ball"])
@pytest.mark.parametrize("amplitude", [0.1, 1.0, 2.5])
def test_pendulum_swings_with_the_period_of_the_elliptic_integral(kind, amplitude):
    """T = 4 K(sin²(a / 2)) / w. It starts half a step ahead, and swings with an error of the order (w h)²."""
    special = pytest.importorskip("scipy.special", reason="the elliptic integral is scipy's")
    step, period = 1e-3, 4 * special.ellipk(np.sin(amplitude / 2) ** 2) / OWN
    world = hung(amplitude, kind, step)
    times = crossings(world, 1.1 * period, step)
    assert len(times) == 2
    assert times[0] == pytest.approx(period / 4, abs=0.6 * step)
    assert times[1] - times[0] == pytest.approx(period / 2, rel=(OWN * step) ** 2)
    assert np.linalg.norm(end_of(world, "rod", 0.5)) <= (OWN * step) ** 2


def test_pendulum_turned_about_any_axis_is_the_same():
    values = []
    for axis in (X, Y, [0.6, 0.8, 0.0]):
        world = hung(1.0, axis=axis)
        seconds(world, 1.0)
        values.append(world.joint_value("pivot"))
    assert np.allclose(values, values[0], rtol=0, atol=1e-6)


def test_pendulum_neither_gains_nor_loses():
    """Velocities are half a step from places: the energy comes and goes by w h / 2 of its swing, and does not drift."""
    step = 1e-3
    world = hung(1.0, step=step)
    start, lowest = world.energy.total, -0.5 * G
    swing, found = start - lowest, []
    for _ in range(4000):
        world.step(5)
        found.append(world.energy.total - start)
    assert np.abs(found).max() <= 0.6 * OWN * step * swing
    for extreme in (np.min, np.max):
        assert extreme(found[2000:]) == pytest.approx(extreme(found[:2000]), abs=(OWN * step) ** 2 * swing)


def test_ball_joint_swings_round_a_cone():
    """The conical pendulum: a small ball on a long bar, w² = g / (l cos)."""
    step, lean = 2e-4, 0.5
    world = sim.World(step=step)
    # A bar without a weight of its own: the ball is a part of a compound hung three metres below the pivot.
    spin = np.sqrt(G / (3.0 * np.cos(lean)))
    at = 3.0 * np.array([np.sin(lean), 0.0, -np.cos(lean)])
    world.add("bob", cl.Sphere(0.01), at, mass=1.0, velocity=np.hstack([np.cross(spin * Z, at), spin * Z]))
    world.join("pivot", "ball", None, "bob", [0, 0, 0])
    half = np.pi / spin
    seconds(world, round(half / step) * step)
    assert np.allclose(place(world, "bob"), at * [-1, 1, 1], rtol=0, atol=3 * spin**2 * step * half)


def double_pendulum(step):
    world = sim.World(step=step)
    for k, name in enumerate(("upper", "lower")):
        world.add(name, ROD, cl.poses.from_axis_angle(Y, np.pi / 2, [0.5 + k, 0, 0]), mass=1.0)
    world.join("shoulder", "hinge", None, "upper", [0, 0, 0], Y)
    world.join("elbow", "hinge", "upper", "lower", [1, 0, 0], Y)
    return world


def test_double_pendulum_keeps_its_energy_within_bounds():
    """It comes and goes by w h / 2 of what moves, w up to ten in its whip, however long it swings."""
    for step in (2e-3, 1e-3, 5e-4):
        world = double_pendulum(step)
        start = world.energy.total
        worst = 0.0
        for _ in range(100):
            world.step(round(0.1 / step))
            worst = max(worst, abs(world.energy.total - start))
        assert worst <= 10.0 * step / 2 * 2 * G
        assert abs(world.pose("lower")[1, 2]) <= 1e-6  # it stays in its plane


# Slides and limits ---------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("angle", [0.2, 0.8, np.pi / 2])
def test_slide_falls_along_its_axis_only(angle):
    world = sim.World()
    axis = np.array([np.cos(angle), 0.0, -np.sin(angle)])
    world.add("cart", cl.Box([0.3, 0.2, 0.1]), [0, 0, 1], mass=2.0)
    world.join("rail", "slide", None, "cart", [0, 0, 1], axis)
    start = world.pose("cart")
    seconds(world, 1.0)
    way = G * np.sin(angle) / 2
    assert np.allclose(place(world, "cart") - start[:3, 3], way * axis, rtol=0, atol=G * 1e-3)
    assert turn_between(world.pose("cart"), start) <= 1e-6
    assert world.joint_value("rail") == pytest.approx(way, abs=G * 1e-3)
    assert world.joint_speed("rail") == pytest.approx(G * np.sin(angle), rel=1e-6)


def test_limits_stop_a_hinge():
    """The rod falls against its limit and stays there; it may overshoot by what it moves in a step."""
    world = hung(1.5, step=1e-3, limits=(-2.0, 1.0))  # hung at zero: it may turn one radian on, two back
    lowest, highest = 0.0, 0.0
    for _ in range(3000):
        world.step()
        lowest, highest = min(lowest, world.joint_value("pivot")), max(highest, world.joint_value("pivot"))
    assert lowest >= -2.0 - 8.0 * 1e-3
    assert highest <= 1.0 + 8.0 * 1e-3
    assert lowest < -1.95  # past the bottom and up again until the limit


def test_limits_hold_against_gravity():
    world = hung(1.0, step=1e-3, limits=(-0.4, 0.4))
    seconds(world, 3.0)
    assert world.joint_value("pivot") == pytest.approx(-0.4, abs=5e-3)
    assert abs(world.joint_speed("pivot")) <= 1e-3


def test_limits_stop_a_slide():
    world = sim.World()
    world.add("cart", cl.Box([0.3, 0.2, 0.1]), mass=2.0)
    world.join("rail", "slide", None, "cart", [0, 0, 0], Z, limits=(-0.5, 0.5))
    seconds(world, 2.0)
    assert world.joint_value("rail") == pytest.approx(-0.5, abs=5e-3)
    assert place(world, "cart")[2] == pytest.approx(-0.5, abs=5e-3)


# Motors --------------------------------------------------------------------------------------------------------------


def wheel(gravity=(0, 0, 0), step=1e-3):
    """Return a world with a wheel of 0.02 kg m² about y."""
    world = sim.World(gravity=gravity, step=step)
    world.add("wheel", cl.Cylinder(0.2, 0.1), cl.poses.from_axis_angle(X, np.pi / 2), mass=1.0)
    world.join("axle", "hinge", None, "wheel", [0, 0, 0], Y)
    return world


def test_motor_speeds_up_with_its_torque_and_then_keeps_its_speed():
    world = wheel()
    world.drive("axle", 10.0, torque=0.1)
    world.step(1000)  # 0.1 N m on 0.02 kg m²: 5 rad/s²
    assert world.joint_speed("axle") == pytest.approx(5.0, rel=1e-6)
    assert world.joint_value("axle") == pytest.approx(2.5, abs=5.0 * 1e-3)
    world.step(2000)
    assert world.joint_speed("axle") == pytest.approx(10.0, rel=1e-9)
    world.release("axle")
    world.step(1000)
    assert world.joint_speed("axle") == pytest.approx(10.0, rel=1e-6)  # nothing slows it
    world.drive("axle", 0.0, torque=0.4)
    world.step(1000)
    assert world.joint_speed("axle") == pytest.approx(0.0, abs=1e-9)


def test_strong_motor_has_its_speed_at_once():
    world = wheel()
    world.drive("axle", -7.0)
    world.step()
    assert world.joint_speed("axle") == pytest.approx(-7.0, rel=1e-9)
    assert np.allclose(world.velocity("wheel"), [0, 0, 0, 0, -7, 0], rtol=0, atol=1e-9)


def test_joint_values_count_whole_turns():
    world = wheel()
    world.drive("axle", 20.0)
    seconds(world, 3.0)
    assert world.joint_value("axle") == pytest.approx(60.0, abs=20.0 * 1e-3)


@pytest.mark.parametrize("share", [0.5, 0.9, 1.1])
def test_motor_stalls_where_its_torque_ends(share):
    """A rod of weight m g needs m g l / 2 to pass the level; a weaker motor comes no higher than that."""
    world = hung(0.0, step=1e-3)
    most = 0.5 * G
    world.drive("pivot", 0.2, torque=share * most)
    seconds(world, 12.0)
    if share > 1:
        assert abs(world.joint_value("pivot")) == pytest.approx(2.4, abs=0.02)
    else:
        # Slowly lifted it hangs where m g l / 2 sin = torque, give or take the swing with which it arrives.
        assert abs(world.joint_value("pivot")) == pytest.approx(np.arcsin(share), abs=0.1)


def test_motor_between_bodies_turns_both():
    """Free bodies turn against each other: the total angular momentum stays zero, the speeds go with 1 / inertia."""
    world = floating()
    world.add("small", cl.Cylinder(0.1, 0.2), mass=1.0)
    world.add("large", cl.Cylinder(0.3, 0.2), [0, 0, 0.3], mass=1.0)
    world.join("axle", "hinge", "small", "large", [0, 0, 0.15], Z)
    world.drive("axle", 10.0)
    seconds(world, 0.5)
    assert world.velocity("large")[5] == pytest.approx(1.0, rel=1e-6)
    assert world.velocity("small")[5] == pytest.approx(-9.0, rel=1e-6)
    assert np.allclose(np.hstack(world.momentum), 0, rtol=0, atol=1e-12)


@pytest.mark.parametrize("angle", [-2.0, 0.3, 1.2])
def test_servo_goes_to_its_angle_and_holds_it(angle):
    world = hung(0.0, step=1e-3)
    world.hold("pivot", angle)
    seconds(world, 3.0)
    assert world.joint_value("pivot") == pytest.approx(angle, abs=2e-3)
    assert abs(world.joint_speed("pivot")) <= 1e-3


def test_weak_servo_gives_way():
    """Half of the torque it takes to hold a rod level swings it no farther than work allows: 1 - cos = angle / 2."""
    brentq = pytest.importorskip("scipy.optimize", reason="the root is found by scipy").brentq
    world = hung(0.0, step=1e-3)
    world.hold("pivot", np.pi / 2, torque=0.25 * G)
    farthest, reach = 0.0, brentq(lambda angle: 1 - np.cos(angle) - angle / 2, 0.5, 2.0)
    for _ in range(500):
        world.step(10)
        farthest = max(farthest, world.joint_value("pivot"))
    assert farthest == pytest.approx(reach, abs=0.02)
    world.hold("pivot", np.pi / 2, torque=G)
    seconds(world, 5.0)
    assert world.joint_value("pivot") == pytest.approx(np.pi / 2, abs=5e-3)


def test_servo_of_a_slide():
    world = sim.World()
    world.add("cart", cl.Box([0.3, 0.2, 0.1]), mass=2.0)
    world.join("lift", "slide", None, "cart", [0, 0, 0], Z)
    world.hold("lift", 0.7)
    seconds(world, 3.0)
    assert place(world, "cart")[2] == pytest.approx(0.7, abs=2e-3)
    world.drive("lift", 0.1)
    seconds(world, 1.0)
    assert place(world, "cart")[2] == pytest.approx(0.8, abs=3e-3)


def test_servo_of_a_ball_joint_turns_to_a_rotation():
    world = hung(0.0, "ball", step=1e-3)
    target = cl.poses.from_rpy([0.4, -0.5, 0.6])
    world.hold("pivot", target)
    seconds(world, 3.0)
    assert turn_between(world.pose("rod"), target) <= 5e-3


# Chains, loops, rigid ones -------------------------------------------------------------------------------------------


def chain(world, count=6):
    """Hang bodies on each other at random angles by joints of every kind."""
    rng, kinds = np.random.default_rng(1), ("hinge", "ball", "slide", "fixed", "hinge")
    for k, pose in enumerate(rigid_motions(rng, count)):
        pose[:3, 3] = [0.6 * k, 0.1 * (k % 2), 0]
        velocity = rng.normal(size=6)
        world.add(f"part {k}", cl.Box([0.3, 0.4, 0.5]), pose, velocity=velocity, group="chain")
        if k:
            kind = kinds[(k - 1) % len(kinds)]
            axis = {"axis": rng.normal(size=3)} if kind in ("hinge", "slide") else {}
            world.join(f"joint {k}", kind, f"part {k - 1}", f"part {k}", [0.6 * k - 0.3, 0, 0], **axis)
    return world


def test_joints_keep_momentum():
    """Whatever joints do to one body they do to the other.

    Gaps that have opened are closed without a change of velocities, which shifts the arms of angular momentum by less
    than a tenth of a millimetre.
    """
    world = chain(floating())
    before, scale = world.momentum, 0.0
    for name, velocity in zip(world.names, world.velocities, strict=True):
        scale += world.mass(name).mass * np.linalg.norm(velocity)
    for _ in range(20):
        world.step(50)
        assert np.allclose(world.momentum[0], before[0], rtol=0, atol=1e-12 * scale)
        assert np.allclose(world.momentum[1], before[1], rtol=0, atol=1e-4 * scale)


def test_joints_never_gain_energy():
    world = chain(floating())
    world.step()  # joints may be met at velocities that tear them: that motion is lost at once
    start = world.energy.kinetic
    for _ in range(40):
        world.step(25)
        assert world.energy.kinetic <= start * (1 + 1e-9) + tumbling(world)


def test_chain_holds_together():
    world = chain(floating())
    hung_up = {}
    for k in range(1, 6):
        point = np.array([0.6 * k - 0.3, 0, 0, 1])
        hung_up[k] = [cl.poses.inverse(world.pose(f"part {j}")) @ point for j in (k - 1, k)]
    seconds(world, 2.0)
    for k, ends in hung_up.items():
        if k == 3:
            continue  # a slide, whose ends move apart along its axis
        a, b = (world.pose(f"part {j}") @ end for j, end in zip((k - 1, k), ends, strict=True))
        assert np.linalg.norm(a - b) <= 2e-3


def test_fixed_joint_makes_one_body_of_two():
    """Two halves of a brick, joined, fly and tumble like the whole."""
    spin = np.array([1.0, 0.5, 2.0])
    whole, halves = floating(step=2e-4), floating(step=2e-4)
    whole.add("brick", cl.Box([0.4, 0.2, 0.1]), velocity=[0, 1, 0, *spin])
    for name, x in (("left", -0.1), ("right", 0.1)):
        velocity = np.hstack([Y + np.cross(spin, x * X), spin])
        halves.add(name, cl.Box([0.2, 0.2, 0.1]), [x, 0, 0], velocity=velocity)
    halves.join("glue", "fixed", "left", "right", [0, 0, 0])
    assert halves.energy.kinetic == pytest.approx(whole.energy.kinetic, rel=1e-12)
    for world in (whole, halves):
        seconds(world, 2.0)
    apart = cl.poses.inverse(halves.pose("left")) @ halves.pose("right")
    assert np.allclose(apart, cl.poses.from_translation([0.2, 0, 0]), rtol=0, atol=1e-4)
    # Each turn of w h is met with an error of its square: w² h T of a turn, on both.
    assert turn_between(halves.pose("left"), whole.pose("brick")) <= 2 * 2.3**2 * 2e-4 * 2.0
    middle = (place(halves, "left") + place(halves, "right")) / 2
    assert np.allclose(middle, place(whole, "brick"), rtol=0, atol=1e-9)


def test_fixed_joint_to_the_world_holds():
    world = sim.World()
    world.add("shelf", cl.Box([1.0, 0.3, 0.05]), [0.5, 0, 2], mass=5.0)
    world.join("screw", "fixed", None, "shelf", [0, 0, 2])
    world.add("book", cl.Box([0.2, 0.2, 0.2]), [0.8, 0, 2.13], mass=10.0)
    seconds(world, 3.0)
    assert place(world, "shelf") == pytest.approx([0.5, 0, 2], abs=5e-3)
    assert place(world, "book")[2] == pytest.approx(2.125, abs=1e-2)


def rocker(crank):
    """Return the angle of the rocker of a four-bar, bars of 1, 3.5 and 3 on a ground of 4, whose crank turns.

    The joint of coupler and rocker lies where circles about the end of the crank and about the far pivot meet.
    """
    end = np.array([np.cos(crank), np.sin(crank)])
    far = np.array([4.0, 0.0]) - end
    d = np.linalg.norm(far)
    along = (3.5**2 - 3.0**2 + d**2) / (2 * d)
    up = np.sqrt(3.5**2 - along**2)
    meeting = end + (along * far + up * np.array([-far[1], far[0]])) / d
    return np.arctan2(meeting[1], meeting[0] - 4.0), end, meeting


def bar(world, name, start, end):
    """Add a bar in the plane z = 0 between two points."""
    way = np.append(np.subtract(end, start), 0.0)
    pose = cl.poses.from_axis_angle(Z, np.arctan2(way[1], way[0]), np.append(np.add(start, end) / 2, 0.0))
    world.add(name, cl.Box([np.linalg.norm(way), 0.1, 0.1]), pose, group="linkage", mass=1.0)


def test_four_bar_turns_as_its_closed_form():
    world = floating(step=5e-4)
    angle, end, meeting = rocker(0.0)
    bar(world, "crank", [0, 0], end)
    bar(world, "coupler", end, meeting)
    bar(world, "rocker", [4, 0], meeting)
    world.join("drive", "hinge", None, "crank", [0, 0, 0], Z)
    world.join("a", "hinge", "crank", "coupler", [*end, 0], Z)
    world.join("b", "hinge", "coupler", "rocker", [*meeting, 0], Z)
    world.join("output", "hinge", "rocker", None, [4, 0, 0], Z)
    world.drive("drive", 2.0)
    swing = []
    for _ in range(50):
        world.step(200)
        crank = world.joint_value("drive")
        assert crank == pytest.approx(2.0 * world.time, abs=2e-3)
        turned = np.arctan2(*world.pose("rocker")[1::-1, 0])
        expected = rocker(crank)[0] - angle
        got = turned - np.arctan2(meeting[1], meeting[0] - 4.0)
        assert got == pytest.approx(expected, abs=3e-3)
        swing.append(got)
        assert abs(abs(world.joint_value("output")) - abs(got)) <= 1e-3
    assert np.ptp(swing) > 0.5


def test_joined_bodies_do_not_collide():
    world = floating()
    world.add("a", cl.Box([1, 1, 1]))
    world.add("b", cl.Box([1, 1, 1]), [0.5, 0, 0])
    world.join("pin", "hinge", "a", "b", [0.25, 0, 0], Z)
    world.step(10)
    assert len(world.contacts.depths) == 0


def test_vehicle_of_joints_stands_and_drives():
    """A cart on four wheels goes as far as its wheels roll: w r T."""
    rubber = sim.Material(friction=1.0)
    world = sim.World()
    world.add("ground", cl.HalfSpace(Z, 0.0), motion="fixed", material=rubber)
    world.add("body", cl.Box([1.0, 0.4, 0.2]), [0, 0, 0.3], group="cart", mass=10.0)
    for k, (x, y) in enumerate(((0.4, 0.3), (0.4, -0.3), (-0.4, 0.3), (-0.4, -0.3))):
        pose = cl.poses.from_axis_angle(X, np.pi / 2, [x, y, 0.2])
        world.add(f"wheel {k}", cl.Cylinder(0.2, 0.1), pose, group="cart", mass=1.0, material=rubber)
        world.join(f"axle {k}", "hinge", "body", f"wheel {k}", [x, y, 0.2], Y)
        world.drive(f"axle {k}", 0.0)
    seconds(world, 1.0)
    assert place(world, "body") == pytest.approx([0, 0, 0.3], abs=5e-3)
    start = place(world, "body")
    for k in range(4):
        world.drive(f"axle {k}", 5.0, torque=5.0)
    seconds(world, 1.0)
    at = place(world, "body")
    seconds(world, 3.0)
    assert place(world, "body")[0] - at[0] == pytest.approx(3.0, rel=0.01)
    assert abs(place(world, "body")[1] - start[1]) <= 0.01
    assert world.velocity("body")[0] == pytest.approx(1.0, rel=0.01)


@pytest.mark.parametrize("contact", [sim.Hard(), sim.Soft(1e6, 1e4)], ids=["hard", "soft"])
@pytest.mark.parametrize("step", [5e-3, 1e-3])
@pytest.mark.parametrize("seed", range(6))
def test_light_body_on_a_long_arm_does_not_take_off(seed, step, contact):
    """Twenty grams on a stick of a metre, hinged to eleven kilograms, fall and tumble: energy never comes from nowhere.

    Joints meet velocities that tear them in the first step. After that the energy may come and go by w h / 2, w the
    fastest spin at a time.
    """
    rng = np.random.default_rng(seed)
    world = sim.World(step=step, contact=contact)
    world.add("floor", cl.HalfSpace(Z, 0.0), motion="fixed")
    world.add("pin", cl.Cone(0.0132, 0.1015), [0.9, 0.25, 2.2], mass=0.02, velocity=5 * rng.normal(size=6))
    world.add("weight", cl.Capsule(0.118, 0.078), [0, 0, 1.5], mass=11.0, velocity=5 * rng.normal(size=6))
    world.join("stick", "hinge", "pin", "weight", [0, 0, 1.5], rng.normal(size=3))
    world.step(2)
    start, rest = world.energy.kinetic + world.energy.potential, 11.02 * G * 0.1
    for _ in range(300):
        world.step(2)
        assert world.energy.kinetic + world.energy.potential - rest <= 1.2 * (start - rest)
    # The stick is torn by no more than the pin goes in a step, at forty metres per second.
    assert np.linalg.norm(place(world, "weight") - place(world, "pin")) == pytest.approx(1.167, abs=40.0 * step)


# Life of joints ------------------------------------------------------------------------------------------------------


def test_joints_have_names_and_go_with_their_bodies():
    world = double_pendulum(1e-3)
    assert list(world.joints) == ["shoulder", "elbow"]
    world.remove("lower")
    assert list(world.joints) == ["shoulder"]
    with pytest.raises(KeyError, match="elbow"):
        world.joint_value("elbow")


@pytest.mark.parametrize(
    ("how", "match"),
    [
        ({"kind": "screw"}, "screw"),
        ({"name": "shoulder"}, "shoulder"),
        ({"a": "nobody"}, "nobody"),
        ({"a": None, "b": None}, "None"),
        ({"b": "upper"}, "upper"),
        ({"point": [0, 0]}, "point"),
        ({"point": [0, np.nan, 0]}, "point"),
        ({"axis": [0, 0, 0]}, "axis"),
        ({"axis": None}, "axis"),
        ({"limits": (1.0, -1.0)}, "limits"),
        ({"limits": (np.nan, 1.0)}, "limits"),
    ],
    ids=lambda value: str(value)[:24],
)
def test_bad_joints_are_refused(how, match):
    given = {"name": "new", "kind": "hinge", "a": "upper", "b": "lower", "point": [0, 0, 0], "axis": Y, **how}
    world = double_pendulum(1e-3)
    with pytest.raises((ValueError, KeyError), match=match):
        world.join(**given)
    assert list(world.joints) == ["shoulder", "elbow"]
    untouched = double_pendulum(1e-3)
    world.step(3)
    untouched.step(3)
    assert fingerprint(world) == fingerprint(untouched)


@pytest.mark.parametrize("torque", [-1.0, np.nan])
def test_motors_refuse_what_is_no_torque(torque):
    world = wheel()
    with pytest.raises(ValueError, match="torque"):
        world.drive("axle", 1.0, torque=torque)
    with pytest.raises(ValueError, match="torque"):
        world.hold("axle", 1.0, torque=torque)


def test_motors_refuse_what_is_no_speed_or_joint():
    world = wheel()
    with pytest.raises(ValueError, match="speed"):
        world.drive("axle", np.nan)
    with pytest.raises(KeyError, match="elbow"):
        world.drive("elbow", 1.0)
    with pytest.raises(KeyError, match="elbow"):
        world.release("elbow")
