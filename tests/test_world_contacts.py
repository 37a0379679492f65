"""Bodies that touch: stacks stand, blocks hold and slide, balls roll and bounce as mechanics says."""

import numpy as np
import pytest

import clearance as cl
from clearance import simulation as sim
from physics import (
    GROUND,
    G,
    X,
    Y,
    Z,
    floating,
    force_on,
    place,
    seconds,
    slope,
    turn_between,
    upright_on,
    world_on_ground,
)

H = 1e-3


def material(friction=0.5, restitution=0.0, rolling=0.0):
    return sim.Material(friction=friction, restitution=restitution, rolling=rolling)


def on_slope(angle, shape, height, friction, *, direction=0.0, contact=None, step=H, **given):
    """Put a body on a slope; return the world and the direction straight down."""
    ground, downhill, normal = slope(angle, direction)
    world = world_on_ground(contact, material=material(friction), ground=ground, step=step)
    given = {"material": material(friction), **given}
    world.add("body", shape, upright_on(normal, downhill, height), **given)
    return world, downhill


def way_down(world, downhill, time):
    """Return how far a body gets along a direction in a time, and how fast it is then."""
    start = place(world, "body")
    seconds(world, time)
    return (place(world, "body") - start) @ downhill, world.velocity("body")[:3] @ downhill


# Stacks --------------------------------------------------------------------------------------------------------------


def stack(edge, count, contact=None, shift=0.0, turn=0.0, step=H, **given):
    """Return a world with boxes upon each other, each a little beside and turned on the one below."""
    world = world_on_ground(contact, step=step)
    for k in range(count):
        pose = cl.poses.from_axis_angle(Z, k * turn, [shift * edge * (-1) ** k, 0, (k + 0.5) * edge])
        world.add(f"box {k}", cl.Box([edge] * 3), pose, **given)
    return world


def displacements(world, start):
    moved = world.poses[1:, :3, 3] - start[1:, :3, 3]
    turned = [turn_between(a, b) for a, b in zip(world.poses[1:], start[1:], strict=True)]
    return np.linalg.norm(moved, axis=1), np.array(turned)


@pytest.mark.parametrize("edge", [0.1, 1.0])
def test_ten_boxes_stand_for_ten_seconds(edge):
    """Each sinks into the one below by no more than its load falls in a step, and nothing creeps after that.

    Ten contacts carry one to ten boxes: the uppermost goes down by 55 g h² at most, half a millimetre.
    """
    world = stack(edge, 10, shift=0.02, turn=0.05)
    start = world.poses
    half_way = seconds(world, 5.0).poses
    seconds(world, 5.0)
    moved, turned = displacements(world, start)
    assert moved.max() <= 55 * G * H**2
    assert turned.max() <= 55 * G * H**2 / edge
    crept, crept_round = displacements(world, half_way)
    assert crept.max() <= 1e-9
    assert crept_round.max() <= 1e-9
    assert np.abs(world.velocities).max() <= 1e-11


def test_stack_presses_down_with_the_weight_above():
    world = seconds(stack(0.2, 6), 1.0)
    bodies = np.asarray(world.contacts.bodies)
    for k in range(6):
        low, high = world.names.index("ground" if k == 0 else f"box {k - 1}"), world.names.index(f"box {k}")
        up = (bodies == [low, high]).all(axis=1)
        down = (bodies == [high, low]).all(axis=1)
        force = world.contacts.forces[up].sum(axis=0) - world.contacts.forces[down].sum(axis=0)
        above = (6 - k) * world.mass("box 0").mass * G
        assert np.allclose(force, [0, 0, above], rtol=0, atol=1e-6 * above)


def test_soft_stack_sinks_by_the_springs_below():
    """Four springs at the corners carry each box; the lowest carry ten, and all come to rest."""
    world = stack(0.2, 10, sim.Soft(stiffness=1e6), mass=2.0)
    seconds(world, 4.0)
    assert np.abs(world.velocities).max() <= 1e-3
    heights = world.poses[1:, 2, 3]
    sunk = 0.2 * (np.arange(10) + 0.5) - heights
    each = 2.0 * G / (4 * 1e6)
    assert np.allclose(sunk, each * np.cumsum(10 - np.arange(10)), rtol=1e-3, atol=0)


@pytest.mark.parametrize("ratio", [10.0, 100.0])
def test_light_box_carries_a_heavy_one(ratio):
    world = world_on_ground()
    world.add("light", cl.Box([0.5, 0.5, 0.5]), [0, 0, 0.25], mass=1.0)
    world.add("heavy", cl.Box([0.5, 0.5, 0.5]), [0, 0, 0.75], mass=ratio)
    seconds(world, 3.0)
    # Contacts are as stiff as a step can resolve for the lighter body: it gives way by its load in falls of a step.
    assert place(world, "light") == pytest.approx([0, 0, 0.25], abs=(ratio + 1) * G * H**2)
    assert place(world, "heavy") == pytest.approx([0, 0, 0.75], abs=2 * (ratio + 1) * G * H**2)
    assert np.abs(world.velocities).max() <= 1e-6


@pytest.mark.parametrize(("share", "stands"), [(1.05, True), (0.95, False)])
def test_ladder_stands_if_friction_holds_its_foot(share, stands):
    """Against a smooth wall it needs mu (l cos + r) >= l sin / 2: the moment of its weight about its foot."""
    lean, length, radius = 0.5, 2.0, 0.05
    least = length * np.sin(lean) / (2 * (length * np.cos(lean) + radius))
    rough = material(share * least)
    world = world_on_ground(material=rough)
    world.add(
        "wall", cl.HalfSpace(-X, 0.0), cl.poses.from_translation([2, 0, 0]), motion="fixed", material=material(0.0)
    )
    middle = [2.0 - radius - length / 2 * np.sin(lean), 0, radius + length / 2 * np.cos(lean)]
    world.add("ladder", cl.Capsule(radius, length), cl.poses.from_axis_angle(Y, lean, middle), material=rough)
    start = place(world, "ladder")
    seconds(world, 1.5)
    sunk = start[2] - place(world, "ladder")[2]
    assert sunk <= 1e-3 if stands else sunk >= 0.1


# Slopes --------------------------------------------------------------------------------------------------------------

BLOCK = cl.Box([0.6, 0.5, 0.2])


@pytest.mark.parametrize("direction", [0.0, 0.7, 2.5])
@pytest.mark.parametrize("friction", [0.2, 0.5, 0.8])
def test_block_holds_below_the_friction_angle(friction, direction):
    world, downhill = on_slope(np.arctan(0.95 * friction), BLOCK, 0.1, friction, direction=direction)
    way, speed = way_down(world, downhill, 3.0)
    # It settles by the fall of a step, once; sliding freely it would get tens of metres far.
    assert abs(way) <= G * H**2
    assert abs(speed) <= 1e-12


@pytest.mark.parametrize("direction", [0.0, 0.7, 2.5])
@pytest.mark.parametrize("friction", [0.0, 0.2, 0.5, 0.8])
def test_block_slides_above_the_friction_angle(friction, direction):
    angle, time = np.arctan(friction) + 0.15, 1.0
    world, downhill = on_slope(angle, BLOCK, 0.1, friction, direction=direction)
    way, speed = way_down(world, downhill, time)
    expected = G * (np.sin(angle) - friction * np.cos(angle))
    assert speed == pytest.approx(expected * time, rel=1e-6)
    assert way == pytest.approx(expected * time**2 / 2, abs=1.1 * expected * H * time / 2)


@pytest.mark.parametrize(("ground", "block"), [(0.4, 0.9), (0.9, 0.4)])
def test_friction_of_two_materials_is_the_root_of_their_product(ground, block):
    angle = 0.7
    hill, downhill, normal = slope(angle)
    world = world_on_ground(material=material(ground), ground=hill)
    world.add("body", BLOCK, upright_on(normal, downhill, 0.1), material=material(block))
    _, speed = way_down(world, downhill, 1.0)
    assert speed == pytest.approx(G * (np.sin(angle) - 0.6 * np.cos(angle)), rel=1e-6)


@pytest.mark.parametrize("contact", [sim.Hard(), sim.Soft(stiffness=1e6)], ids=["hard", "soft"])
def test_soft_and_hard_blocks_slide_alike(contact):
    angle, friction = 0.5, 0.3
    world, downhill = on_slope(angle, BLOCK, 0.1, friction, contact=contact, mass=10.0)
    _, speed = way_down(world, downhill, 1.0)
    assert speed == pytest.approx(G * (np.sin(angle) - friction * np.cos(angle)), rel=0.01)


def test_soft_block_holds_below_the_friction_angle():
    world, downhill = on_slope(np.arctan(0.4), BLOCK, 0.1, 0.5, contact=sim.Soft(stiffness=1e6), mass=10.0)
    seconds(world, 1.0)
    way, _ = way_down(world, downhill, 2.0)
    assert abs(way) <= 1e-9


@pytest.mark.parametrize(("shape", "share"), [(cl.Sphere(0.2), 5 / 7), (cl.Cylinder(0.2, 0.6), 2 / 3)])
def test_round_bodies_roll_down(shape, share):
    """A ball rolls with 5/7 g sin, a cylinder with 2/3 g sin; way and speed are those of rolling without slipping."""
    angle = 0.3
    ground, downhill, normal = slope(angle)
    world = world_on_ground(material=material(0.6), ground=ground)
    pose = upright_on(normal, downhill, 0.2) @ cl.poses.from_axis_angle(X, np.pi / 2)
    world.add("body", shape, pose, material=material(0.6))
    way, speed = way_down(world, downhill, 1.0)
    expected = share * G * np.sin(angle)
    assert speed == pytest.approx(expected, rel=1e-4)
    assert way == pytest.approx(expected / 2, abs=1.1 * expected * H / 2)
    assert np.linalg.norm(world.velocity("body")[3:]) * 0.2 == pytest.approx(speed, rel=1e-4)


def test_ball_on_a_steep_slope_slips():
    """With mu < 2/7 tan it slides with g (sin - mu cos) and spins up with 5/2 mu g cos / r."""
    angle, friction = 0.8, 0.1
    world, downhill = on_slope(angle, cl.Sphere(0.2), 0.2, friction)
    _, speed = way_down(world, downhill, 0.5)
    assert speed == pytest.approx(0.5 * G * (np.sin(angle) - friction * np.cos(angle)), rel=1e-4)
    spin = np.linalg.norm(world.velocity("body")[3:])
    assert spin == pytest.approx(0.5 * 2.5 * friction * G * np.cos(angle) / 0.2, rel=1e-4)


@pytest.mark.parametrize("friction", [0.2, 0.45])
def test_bowling_ball_slides_then_rolls_with_five_sevenths(friction):
    """Its angular momentum about the ground is kept while it slides: whatever the friction, 5/7 of the speed stays."""
    world = world_on_ground(material=material(friction))
    world.add("ball", cl.Sphere(0.11), [0, 0, 0.11], velocity=[7.0, 0, 0], mass=7.0, material=material(friction))
    until = 2 * 7.0 / (7 * friction * G)
    seconds(world, round(0.5 * until, 3))
    assert world.velocity("ball")[0] == pytest.approx(7.0 - friction * G * round(0.5 * until, 3), rel=1e-4)
    seconds(world, round(until, 3))
    assert world.velocity("ball")[0] == pytest.approx(5.0, rel=1e-4)
    assert world.velocity("ball")[4] == pytest.approx(5.0 / 0.11, rel=1e-4)


@pytest.mark.parametrize("rolling", [0.002, 0.01])
def test_rolling_friction_stops_a_ball_after_the_predicted_way(rolling):
    """The torque rolling m g slows 7/5 m r² about the contact: a = 5/7 rolling g / r, and the way is v² / (2 a)."""
    radius, speed = 0.2, 1.0
    world = world_on_ground(material=material(0.8, rolling=rolling))
    rolls = material(0.8, rolling=rolling)
    world.add("ball", cl.Sphere(radius), [0, 0, radius], velocity=[speed, 0, 0, 0, speed / radius, 0], material=rolls)
    slowing = 5 / 7 * rolling * G / radius
    seconds(world, 1.2 * speed / slowing)
    assert np.abs(world.velocity("ball")).max() <= 1e-6
    assert place(world, "ball")[0] == pytest.approx(speed**2 / (2 * slowing), rel=0.01)


def test_ball_that_spins_on_the_spot_is_slowed_by_rolling_friction():
    """The torque rolling m g about the vertical slows 2/5 m r²."""
    radius, rolling, spin = 0.2, 0.01, 20.0
    twists = material(0.8, rolling=rolling)
    world = world_on_ground(material=twists)
    world.add("ball", cl.Sphere(radius), [0, 0, radius], velocity=[0, 0, 0, 0, 0, spin], material=twists)
    seconds(world, 1.0)
    assert world.velocity("ball")[5] == pytest.approx(spin - rolling * G / (0.4 * radius**2), abs=1e-3)
    assert np.linalg.norm(place(world, "ball")[:2]) <= 1e-6


@pytest.mark.parametrize(("share", "stays"), [(0.97, True), (1.03, False)])
def test_load_of_a_turntable_stays_while_friction_holds_it(share, stays):
    """On a disc that turns with w, a load at r needs w² r <= mu g."""
    friction, radius = 0.4, 1.0
    spin = np.sqrt(share * friction * G / radius)
    world = sim.World()
    velocity = [0, 0, 0, 0, 0, spin]
    stuff = {"material": material(friction)}
    world.add("table", cl.Cylinder(3.0, 0.2), [0, 0, -0.1], motion="kinematic", velocity=velocity, **stuff)
    moving = [0, spin * radius, 0, 0, 0, spin]
    world.add("load", cl.Box([0.1, 0.1, 0.05]), [radius, 0, 0.025], velocity=moving, **stuff)
    seconds(world, 4.0)
    crept = np.linalg.norm(place(world, "load")[:2]) - radius
    # Each step goes along the tangent, (w h)² r / 2 outwards; what is not held is metres away.
    assert abs(crept) <= 1.1 * spin**2 * radius * H * 4.0 / 2 if stays else crept >= 0.5


def test_ball_without_rolling_friction_rolls_on():
    world = world_on_ground()
    world.add("ball", cl.Sphere(0.2), [0, 0, 0.2], velocity=[1.0, 0, 0, 0, 5.0, 0])
    seconds(world, 5.0)
    assert world.velocity("ball")[0] == pytest.approx(1.0, rel=1e-3)
    assert place(world, "ball") == pytest.approx([5.0, 0, 0.2], abs=5e-3)


@pytest.mark.parametrize("direction", np.linspace(0, np.pi / 2, 7))
@pytest.mark.parametrize("contact", [sim.Hard(), sim.Soft()], ids=["hard", "soft"])
def test_friction_has_no_favourite_direction(direction, contact):
    """A body that cannot turn slides like a point: straight on, and v² / (2 mu g) far."""
    along, friction, speed = np.array([np.cos(direction), np.sin(direction), 0.0]), 0.5, 3.0
    world = world_on_ground(contact, material=material(friction))
    start = [0, 0, 0.1 - (1.0 * G / 1e5 if isinstance(contact, sim.Soft) else 0.0)]
    heavy_to_turn = {"mass": 1.0, "inertia": 1e9 * np.eye(3)}
    velocity = speed * along
    world.add("body", cl.Sphere(0.1), start, velocity=velocity, material=material(friction), **heavy_to_turn)
    seconds(world, 1.5 * speed / (friction * G))
    way = place(world, "body") - start
    expected = speed**2 / (2 * friction * G)
    assert way @ along == pytest.approx(expected, rel=0.01)
    assert abs(np.cross(along, way)[2]) <= 1e-3 * expected


@pytest.mark.parametrize("ratio", [0.96, 1.04])
def test_box_tips_where_its_centre_leaves_its_foot(ratio):
    """A column twice as high as wide tips at tan = 1/2; on a slope it leaves that angle like exp(t sqrt(g d m / I))."""
    width, height = 0.5, 1.0
    angle = np.arctan(ratio * width / height)
    world, _ = on_slope(angle, cl.Box([width, width, height]), height / 2, 2.0)
    start = world.pose("body")
    seconds(world, 2.5)
    turned = turn_between(world.pose("body"), start)
    assert turned <= 5e-3 if ratio < 1 else turned >= 0.5


# Bounces -------------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("restitution", [0.0, 0.3, 0.7, 1.0])
@pytest.mark.parametrize("shape", [cl.Sphere(0.1), cl.Box([0.2, 0.2, 0.2])], ids=["ball", "box"])
def test_height_of_a_bounce_is_the_square_of_restitution(shape, restitution):
    step, drop = 1e-4, 1.0
    world = world_on_ground(material=material(0.0, restitution), step=step)
    world.add("body", shape, [0, 0, 0.1 + drop], material=material(0.0, restitution))
    fall = np.sqrt(2 * drop / G)
    seconds(world, fall + 0.5 * restitution * fall)
    highest = 0.0
    for _ in range(round(restitution * fall / step)):
        world.step()
        highest = max(highest, place(world, "body")[2] - 0.1)
    # The hit is felt up to a step late, v h too deep and g h too fast; both count on the way down and up.
    assert highest == pytest.approx(restitution**2 * drop, abs=2 * G * fall * step)


@pytest.mark.parametrize(("a", "b"), [(0.0, 0.6), (0.6, 0.0), (0.6, 0.6)])
def test_restitution_of_two_materials_is_the_larger(a, b):
    world = floating()
    world.add("wall", cl.Box([1, 1, 1]), [1, 0, 0], motion="fixed", material=material(0.0, a))
    world.add("ball", cl.Sphere(0.1), velocity=[2.0, 0, 0], material=material(0.0, b))
    seconds(world, 0.5)
    assert world.velocity("ball")[0] == pytest.approx(-0.6 * 2.0, rel=1e-9)


@pytest.mark.parametrize("contact", [sim.Elastic(), sim.Hard()], ids=["elastic", "hard"])
@pytest.mark.parametrize("masses", [(1.0, 1.0), (1.0, 3.0), (5.0, 0.2)])
def test_balls_that_meet_head_on_exchange_their_motion(masses, contact):
    world, (m, n) = floating(contact), masses
    bounces = material(0.0, 1.0)
    world.add("a", cl.Sphere(0.1), [-1, 0, 0], velocity=[2.0, 0, 0], mass=m, material=bounces)
    world.add("b", cl.Sphere(0.1), [1, 0, 0], velocity=[-1.0, 0, 0], mass=n, material=bounces)
    seconds(world, 1.0)
    centre = (2.0 * m - 1.0 * n) / (m + n)
    assert world.velocity("a")[0] == pytest.approx(2 * centre - 2.0, rel=1e-9, abs=1e-9)
    assert world.velocity("b")[0] == pytest.approx(2 * centre + 1.0, rel=1e-9, abs=1e-9)


@pytest.mark.parametrize("offset", [0.05, 0.1, 0.15])
def test_balls_that_graze_part_at_a_right_angle(offset):
    """Equal balls without friction, one at rest: the blow goes along the line of centres, and v1 . v2 = 0."""
    world = floating(sim.Elastic(), step=1e-4)
    world.add("a", cl.Sphere(0.1), [-1, offset, 0], velocity=[2.0, 0, 0])
    world.add("b", cl.Sphere(0.1))
    seconds(world, 1.0)
    a, b = world.velocity("a")[:3], world.velocity("b")[:3]
    assert a @ b == pytest.approx(0.0, abs=1e-9)
    assert a @ a + b @ b == pytest.approx(4.0, rel=1e-9)
    # They are felt up to v h too late, which turns the line of centres by about v h / (2 r cos).
    aim = np.arcsin(offset / 0.2)
    assert np.arctan2(-b[1], b[0]) == pytest.approx(aim, abs=2.0 * 1e-4 / (0.2 * np.cos(aim)))


@pytest.mark.parametrize("pushed", [1, 2])
def test_newtons_cradle(pushed):
    """As many leave on the far side as came, all others stand; balls a little apart meet one by one."""
    world = floating(sim.Elastic(), step=1e-4)
    for k in range(5):
        speed = 1.0 if k < pushed else 0.0
        world.add(f"ball {k}", cl.Sphere(0.1), [0.2005 * k, 0, 0], velocity=[speed, 0, 0])
    seconds(world, 0.2)
    expected = np.where(np.arange(5) >= 5 - pushed, 1.0, 0.0)
    assert np.allclose(world.velocities[:, 0], expected, rtol=0, atol=1e-9)
    assert np.allclose(world.velocities[:, 1:], 0, rtol=0, atol=1e-9)


def test_elastic_ball_between_walls_keeps_its_speed():
    world = floating(sim.Elastic())
    for k, normal in enumerate((X, -X, Y, -Y, Z, -Z)):
        world.add(f"wall {k}", cl.HalfSpace(normal, -1.0), motion="fixed")
    world.add("ball", cl.Sphere(0.1), velocity=[3.0, 4.0, 12.0])
    for _ in range(50):
        world.step(200)
        assert np.linalg.norm(world.velocity("ball")[:3]) == pytest.approx(13.0, rel=1e-9)
        assert np.abs(place(world, "ball")).max() <= 0.9 + 12.0 * H


# Springs -------------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("stiffness", [1e4, 1e5, 1e6])
def test_ball_sinks_into_a_soft_ground_by_its_weight_over_the_stiffness(stiffness):
    mass = 2.0
    world = world_on_ground(sim.Soft(stiffness=stiffness, damping=np.sqrt(stiffness * mass)))
    world.add("ball", cl.Sphere(0.1), [0, 0, 0.1], mass=mass)
    seconds(world, 3.0)
    sunk = mass * G / stiffness
    assert 0.1 - place(world, "ball")[2] == pytest.approx(sunk, rel=1e-3)
    assert world.contacts.depths == pytest.approx([sunk], rel=1e-3)
    assert np.allclose(force_on(world, "ball"), [0, 0, mass * G], rtol=0, atol=1e-3 * mass * G)
    assert world.energy.elastic == pytest.approx(stiffness * sunk**2 / 2, rel=1e-2)


@pytest.mark.parametrize("share", [0.0, 0.1, 0.5])
def test_soft_ground_is_a_damped_oscillator(share):
    """A ball let go where it touches sinks and rises about m g / k: a damped oscillator of its own frequency.

    Semi-implicit Euler shifts such a motion by half a step, implicit Euler damps it by w h / 2 per radian: both move
    the ball by less than w² h t / 2 of its swing.
    """
    mass, stiffness, step = 1.0, 1e4, 1e-5
    own = np.sqrt(stiffness / mass)
    damping = 2 * share * np.sqrt(stiffness * mass)
    world = world_on_ground(sim.Soft(stiffness=stiffness, damping=damping), step=step)
    world.add("ball", cl.Sphere(0.1), [0, 0, 0.1], mass=mass)
    swing, ringing, period = mass * G / stiffness, own * np.sqrt(1 - share**2), 2 * np.pi / own
    for _ in range(12):
        world.step(round(period / 12 / step))
        t = world.time
        decay = np.exp(-share * own * t) * (np.cos(ringing * t) + share * own / ringing * np.sin(ringing * t))
        sunk = swing * (1 - decay)
        assert 0.1 - place(world, "ball")[2] == pytest.approx(sunk, abs=swing * own**2 * step * (t / 2 + 1 / own))


def test_materials_carry_springs_of_their_own():
    """Two springs one after the other give way twice as far."""
    world = world_on_ground(sim.Soft(stiffness=1e6), material=sim.Material(stiffness=2e4, damping=200.0))
    world.add("ball", cl.Sphere(0.1), [0, 0, 0.1], mass=1.0, material=sim.Material(stiffness=2e4, damping=200.0))
    seconds(world, 3.0)
    assert 0.1 - place(world, "ball")[2] == pytest.approx(G / 1e4, rel=1e-3)


# Everything on everything --------------------------------------------------------------------------------------------

CONE_LIES = np.pi / 2 + np.arctan2(0.3, 0.8)
TETRAHEDRON = cl.ConvexHull([[0, 0, 0], [1, 0, 0], [0, 1, 0], [0, 0, 1]])
STANDING = {  # shape, axis and angle of its turn, height of its frame
    "box": (cl.Box([0.5, 0.6, 0.7]), X, 0.0, 0.35),
    "box on its side": (cl.Box([0.5, 0.6, 0.7]), Y, np.pi / 2, 0.25),
    "tetrahedron": (TETRAHEDRON, X, 0.0, 0.0),
    "rounded tetrahedron": (cl.ConvexHull(TETRAHEDRON.points, 0.1), X, 0.0, 0.1),
    "cylinder standing": (cl.Cylinder(0.3, 0.8), X, 0.0, 0.4),
    "cylinder lying": (cl.Cylinder(0.3, 0.8), X, np.pi / 2, 0.3),
    "cone on its base": (cl.Cone(0.3, 0.8), X, 0.0, 0.4),
    "cone on its side": (cl.Cone(0.3, 0.8), X, CONE_LIES, 0.4 * 0.3 / np.hypot(0.3, 0.8)),
    "capsule lying": (cl.Capsule(0.3, 0.8), X, np.pi / 2, 0.3),
    "sphere": (cl.Sphere(0.3), X, 0.0, 0.3),
    "ellipsoid": (cl.Ellipsoid([0.5, 0.4, 0.3]), X, 0.0, 0.3),
    "triangle": (cl.SweptTriangle([0, 0, 0], X, Y, 0.1), X, 0.0, 0.1),
    "table": (
        cl.Compound(
            [
                cl.Box([1, 1, 0.1]),
                *(cl.Box([0.1, 0.1, 0.4]).at([x, y, -0.25]) for x in (-0.4, 0.4) for y in (-0.4, 0.4)),
            ]
        ),
        X,
        0.0,
        0.45,
    ),
}


def flat_mesh():
    """Return a level mesh of a few hundred triangles."""
    x, y = np.meshgrid(np.linspace(-9, 9, 13), np.linspace(-9, 9, 11), indexing="ij")
    corner = np.arange(13 * 11).reshape(13, 11)
    a, b, c, d = corner[:-1, :-1].ravel(), corner[1:, :-1].ravel(), corner[1:, 1:].ravel(), corner[:-1, 1:].ravel()
    faces = np.vstack([np.column_stack([a, b, c]), np.column_stack([a, c, d])])
    return cl.Mesh(np.column_stack([x.ravel(), y.ravel(), 0 * x.ravel()]), faces)


FLOORS = {
    "half-space": (GROUND, np.eye(4)),
    "box": (cl.Box([18, 18, 1]), cl.poses.from_translation([0, 0, -0.5])),
    "height field": (cl.HeightField(np.zeros((19, 19)), 1.0), np.eye(4)),
    "mesh": (flat_mesh(), np.eye(4)),
}


def set_table(floor, contact=None, lift=0.0):
    """Return a world with every body of STANDING upright on a floor, each in a place of its own."""
    shape, pose = FLOORS[floor]
    world = sim.World(contact=contact or sim.Hard())
    world.add("ground", shape, pose, motion="fixed", material=material(0.6, rolling=0.01))
    for k, (name, (body, axis, angle, height)) in enumerate(STANDING.items()):
        at = cl.poses.from_axis_angle(axis, angle, [3.1 * (k % 4) - 5.2, 3.1 * (k // 4) - 5.2, height + lift])
        world.add(name, body, at, material=material(0.6, rolling=0.01))
    return world


@pytest.mark.parametrize("floor", FLOORS)
@pytest.mark.parametrize("contact", [sim.Hard(), sim.Soft(stiffness=1e7)], ids=["hard", "soft"])
def test_every_body_rests_on_every_floor(floor, contact):
    """They stay where they were put, and are carried: the mean force of a tenth of a second is their weight.

    Points on the triangles of a floor come and go under a disc, and soft ones with them: single steps may differ.
    """
    world = set_table(floor, contact, lift=0.01)
    start, bodies = world.poses, list(STANDING)
    world.step(1900)
    carried = dict.fromkeys(bodies, 0.0)
    for _ in range(100):
        world.step()
        for name in bodies:
            carried[name] += force_on(world, name) / 100
    for name in bodies:
        k, weight = world.names.index(name), world.mass(name).mass * G
        assert np.linalg.norm(world.poses[k, :3, 3] - start[k, :3, 3] + [0, 0, 0.01]) <= 5e-3, name
        assert turn_between(world.poses[k], start[k]) <= 1e-2, name
        assert np.linalg.norm(world.velocities[k]) <= 1e-2, name
        assert np.allclose(carried[name], [0, 0, weight], rtol=0, atol=0.02 * weight), name
        assert world.touching(name) == ["ground"], name


def hill(kind, angle):
    """Return what falls towards x by an angle, as a floor of some kind and its pose."""
    if kind == "half-space":
        return slope(angle)[0], np.eye(4)
    if kind == "heights":
        along = 0.5 * (np.arange(61) - 30)
        return cl.HeightField(np.repeat(-np.tan(angle) * along[:, None], 41, axis=1), 0.5), np.eye(4)
    shape, pose = FLOORS[kind]
    return shape, cl.poses.from_axis_angle(Y, angle) @ pose


@pytest.mark.parametrize("kind", [*FLOORS, "heights"])
@pytest.mark.parametrize(
    ("shape", "height", "share"),
    [(BLOCK, 0.1, None), (cl.Sphere(0.2), 0.2, 5 / 7), (cl.Cylinder(0.2, 0.6), 0.2, 2 / 3)],
    ids=["block", "ball", "cylinder"],
)
def test_bodies_go_down_hills_of_every_kind_alike(kind, shape, height, share):
    """Sliding with g (sin - mu cos), rolling with 5/7 and 2/3 g sin, straight down, over edges and diagonals."""
    angle, friction = 0.5, 0.3
    _, downhill, normal = slope(angle)
    ground, pose = hill(kind, angle)
    world = sim.World()
    world.add("ground", ground, pose, motion="fixed", material=material(friction))
    at = upright_on(normal, downhill, height)
    at[:3, 3] += 0.237 * Y - 3.1 * downhill
    lying = np.eye(4) if share is None else cl.poses.from_axis_angle(X, np.pi / 2)
    world.add("body", shape, at @ lying, material=material(friction))
    start = place(world, "body")
    _, speed = way_down(world, downhill, 1.0)
    expected = np.sin(angle) - friction * np.cos(angle) if share is None else share * np.sin(angle)
    assert speed == pytest.approx(G * expected, rel=1e-4)
    way = place(world, "body") - start
    assert abs(way @ Y) <= 1e-4
    assert abs(way @ normal) <= 10 * G * H**2


def test_ball_rolls_over_the_edges_of_a_mesh_as_over_a_plane():
    """Inner edges of a level mesh are no bumps."""
    ways = []
    for floor in ("half-space", "mesh", "height field"):
        shape, pose = FLOORS[floor]
        world = sim.World()
        world.add("ground", shape, pose, motion="fixed")
        world.add("ball", cl.Sphere(0.3), [-4, -3.7, 0.3], velocity=[3.0, 1.0, 0, -1.0 / 0.3, 3.0 / 0.3, 0])
        seconds(world, 2.0)
        ways.append(place(world, "ball"))
    assert np.allclose(ways[0], [2.0, -1.7, 0.3], rtol=0, atol=5e-3)
    assert np.allclose(ways[1], ways[0], rtol=0, atol=5e-3)
    assert np.allclose(ways[2], ways[0], rtol=0, atol=5e-3)


def test_block_slides_over_the_edges_of_a_mesh_as_over_a_plane():
    for floor in ("half-space", "mesh", "height field"):
        shape, pose = FLOORS[floor]
        world = sim.World()
        world.add("ground", shape, pose, motion="fixed", material=material(0.2))
        world.add("block", BLOCK, [-3, -3.7, 0.1], velocity=[3.0, 0, 0], material=material(0.2))
        seconds(world, 2.0)
        assert place(world, "block")[0] == pytest.approx(-3 + 3.0**2 / (2 * 0.2 * G), rel=0.02)
        assert place(world, "block")[2] == pytest.approx(0.1, abs=5e-3)


def test_ball_in_a_valley_of_a_height_field_comes_to_its_bottom():
    x = np.arange(-10, 11) * 0.25
    heights = 0.2 * np.add.outer(x**2, x**2)
    world = sim.World()
    world.add("valley", cl.HeightField(heights, 0.25), motion="fixed", material=material(0.5, rolling=0.01))
    world.add("ball", cl.Sphere(0.3), [1.0, 0.7, 1.2], material=material(0.5, rolling=0.01))
    seconds(world, 8.0)
    # Its facets are flat within 0.2 * 0.25² of the bowl: that much may hold it beside the middle.
    assert np.linalg.norm(place(world, "ball")[:2]) <= 0.4
    assert place(world, "ball")[2] == pytest.approx(0.3, abs=0.05)


# Contacts as the world tells them ------------------------------------------------------------------------------------


def test_contacts_are_told_with_bodies_points_normals_depths_and_forces():
    world = world_on_ground()
    world.add("box", cl.Box([1, 1, 1]), [0, 0, 0.5], mass=10.0)
    seconds(world, 0.5)
    found = world.contacts
    k = len(found.depths)
    assert k == 4
    assert found.points.shape == found.normals.shape == found.forces.shape == (k, 3)
    assert np.asarray(found.bodies).shape == (k, 2)
    first, second = (world.names[b] for b in np.asarray(found.bodies)[0])
    up = Z if (first, second) == ("ground", "box") else -Z
    assert {first, second} == {"ground", "box"}
    assert np.allclose(found.normals, up, rtol=0, atol=1e-9)
    assert np.allclose(np.abs(found.points[:, :2]), 0.5, rtol=0, atol=1e-2)
    assert np.all(np.abs(found.depths) <= 5e-3)
    assert np.allclose(force_on(world, "box"), [0, 0, 10 * G], rtol=0, atol=0.01 * 10 * G)
    assert np.all(found.forces @ up >= 0)


def test_forces_stay_in_the_cone_of_friction():
    rng, friction = np.random.default_rng(5), 0.3
    world = world_on_ground(material=material(friction))
    for k in range(12):
        pose = cl.poses.from_wxyz(rng.normal(size=4), [*rng.uniform(-0.6, 0.6, 2), 0.5 + 0.3 * k])
        velocity = [*rng.normal(size=3), *rng.normal(size=3)]
        world.add(f"body {k}", cl.Box([0.3, 0.4, 0.5]), pose, velocity=velocity, material=material(friction))
    pressed = 0
    for _ in range(60):
        world.step(20)
        found = world.contacts
        normal = np.einsum("ij,ij->i", found.forces, found.normals)
        across = np.linalg.norm(found.forces - normal[:, None] * found.normals, axis=1)
        assert np.all(normal >= -1e-9)
        # A pyramid of two tangents reaches sqrt(2) times as far in its corners.
        assert np.all(across <= friction * normal * (1 + 1e-9) + 1e-9)
        pressed += np.sum(normal > 0)
    assert pressed > 100


def test_bodies_that_are_ignored_pass_through_each_other():
    world = world_on_ground()
    for name, height in (("a", 0.5), ("b", 2.0)):
        world.add(name, cl.Box([1, 1, 1]), [0, 0, height])
    world.ignore("a", "b")
    seconds(world, 2.0)
    assert place(world, "b")[2] == pytest.approx(0.5, abs=5e-3)
    assert world.touching("b") == ["ground"]


def test_bodies_of_a_group_pass_through_each_other():
    world = world_on_ground()
    for k, group in enumerate(("robot", "robot", None)):
        world.add(f"box {k}", cl.Box([1, 1, 1]), [0, 0, 0.5 + 1.2 * k], group=group)
    seconds(world, 2.0)
    assert place(world, "box 1")[2] == pytest.approx(0.5, abs=5e-3)
    assert place(world, "box 2")[2] == pytest.approx(1.5, abs=1e-2)


@pytest.mark.parametrize("speed", [5.0, 40.0, 200.0])
def test_small_ball_does_not_tunnel_a_thin_wall(speed):
    """At 200 m/s it goes twenty times its own size in a step."""
    world = floating()
    world.add("wall", cl.Box([0.01, 1, 1]), motion="fixed")
    world.add("ball", cl.Sphere(0.005), [-0.333, 0, 0], velocity=[speed, 0, 0])
    for _ in range(100):
        world.step()
        assert place(world, "ball")[0] <= 0.0


@pytest.mark.parametrize("floor", FLOORS)
@pytest.mark.parametrize("contact", [sim.Hard(), sim.Soft(1e6, 1e4), sim.Elastic()], ids=["hard", "soft", "elastic"])
def test_ball_slower_than_its_radius_per_step_passes_no_surface(floor, contact):
    """Meshes have no inside: whoever gets through is not brought back. Its centre must not get there in a step."""
    radius, (shape, pose) = 0.05, FLOORS[floor]
    for start in np.linspace(0.0, 1.0, 9):  # where in the step it meets the floor
        way = 0.9 * radius
        world = floating(contact)
        world.add("floor", shape, pose, motion="fixed")
        world.add("ball", cl.Sphere(radius), [0.31, 0.22, 0.3 + start * way], velocity=[0, 0, -way / H])
        world.step(30)
        assert place(world, "ball")[2] > -1e-3


@pytest.mark.parametrize("height", [0.515, 0.55, 0.7])
@pytest.mark.parametrize("speed", [20.0, 200.0])
def test_fast_ball_that_misses_is_not_deflected(speed, height):
    """It passes a centimetre and more above the edge of a wall one metre high; what is near is not yet met."""
    for start in np.linspace(-1.0, -0.8, 7):  # so that steps begin at every place before the edge
        world = floating()
        world.add("wall", cl.Box([0.1, 1, 1]), motion="fixed")
        world.add("ball", cl.Sphere(0.005), [start, 0, height], velocity=[speed, 0, 0])
        seconds(world, 2.0 / speed)
        assert np.allclose(world.velocity("ball"), [speed, 0, 0, 0, 0, 0], rtol=0, atol=1e-9)


@pytest.mark.long
@pytest.mark.parametrize("count", [20, 30])
def test_high_stacks_stand_for_a_minute(count):
    world = stack(0.5, count, shift=0.01)
    start = world.poses
    seconds(world, 60.0)
    moved, turned = displacements(world, start)
    assert moved.max() <= count * (count + 1) / 2 * G * H**2
    assert turned.max() <= 1e-3
    # Thirty iterations carry news about as many boxes far: waves die out slowly.
    assert np.abs(world.velocities).max() <= 1e-4


def test_bodies_dropped_in_a_bin_lie_still_and_apart():
    """They overlap by no more than the fall of a step for each that may lie above."""
    world = world_on_ground(sim.Hard())
    for k, (x, y) in enumerate(((1, 0), (-1, 0), (0, 1), (0, -1))):
        size = [0.2, 2.4, 2.0] if x else [2.4, 0.2, 2.0]
        world.add(f"side {k}", cl.Box(size), [1.1 * x, 1.1 * y, 1.0], motion="fixed")
    rng = np.random.default_rng(6)
    for k in range(25):
        pose = cl.poses.from_wxyz(rng.normal(size=4), [*rng.uniform(-0.6, 0.6, 2), 0.5 + 0.35 * k])
        world.add(f"box {k}", cl.Box([0.4, 0.3, 0.3]), pose)
    seconds(world, 5.0)
    moving = [name for name in world.names if name.startswith("box")]
    places = np.array([place(world, name) for name in moving])
    assert np.abs(places[:, :2]).max() <= 1.0
    assert places[:, 2].min() >= 0.1
    mass = sum(world.mass(name).mass for name in moving)
    assert np.sqrt(2 * world.energy.kinetic / mass) <= 1e-3
    assert world.contacts.depths.max() <= len(moving) * G * H**2
    # Ground and sides together carry them all.
    carried = sum(force_on(world, name) for name in world.names if name not in moving)
    assert np.allclose(carried, [0, 0, -mass * G], rtol=0, atol=1e-3 * mass * G)


# Many parts ----------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("parts", [(3, 40), (40, 3), (40, 60), (1, 40)])
def test_bodies_of_many_parts_touch_where_all_of_their_parts_do(parts):
    """Trees over parts leave out nothing that the query, which tries all of them, finds."""
    rng = np.random.default_rng(sum(parts))
    touched = 0
    for _ in range(10):
        bodies = [
            cl.Compound([cl.Box(rng.uniform(0.05, 0.2, 3)).at(rng.uniform(-0.5, 0.5, 3)) for _ in range(count)])
            for count in parts
        ]
        poses = [cl.poses.from_wxyz(rng.normal(size=4), rng.uniform(-0.4, 0.4, 3)) for _ in parts]
        world = sim.World(gravity=(0, 0, 0), contact=sim.Soft())
        for k, (body, pose) in enumerate(zip(bodies, poses, strict=True)):
            world.add(f"body {k}", body, pose)
        places = world.poses
        world.step()
        expected = cl.contacts(bodies[0].at(places[0]), bodies[1].at(places[1])).points
        found = world.contacts.points
        assert len(found) == len(expected)
        touched += len(found) > 0
        order, other = (points[np.lexsort(points.T)] for points in (found, expected))
        assert np.allclose(order, other, rtol=0, atol=1e-12)
    assert touched > 2
