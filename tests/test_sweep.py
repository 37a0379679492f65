"""Sweeps of whole boxes of joint values: no configuration inside comes closer than `lower` says."""

from functools import lru_cache

import numpy as np
import pytest

import clearance as cl
import robots
import solids
import sweep_oracle as oracle
from robots import PLANS, JointPlan, Plan, bar, lift
from strategies import rigid_motions

ROBOTS = ("seven", "gripper", "scara", "rover", "walker", "cylindrical", "two arms", "stacked", "mixed", "arm")
WIDTHS = (0.003, 0.03, 0.1, 0.3, 1.0, 2.0, 4.0, 7.0)
ROUNDING = 1e-12

every_robot = pytest.mark.parametrize("name", ROBOTS)


def cylindrical():
    """A drum that turns and slides on a column, two joints with a link between them that is only a frame."""
    links = {
        "column": (cl.Capsule(0.06, 0.8).at([0.0, 0.0, 0.4]), cl.Box([0.5, 0.5, 0.05])),
        "sleeve": (),
        "boom": bar(0.04, 0.4, "hulls", 1),
        "hook": bar(0.03, 0.45),
    }
    joints = (
        JointPlan("turn", "continuous", "column", "sleeve", lift(z=0.4)),
        JointPlan("slide", "prismatic", "sleeve", "boom", lift(0.1), lower=-0.3, upper=0.4),
        JointPlan("fold", "revolute", "boom", "hook", lift(0.45), (0.0, 1.0, 0.3), -2.9, 2.9),
    )
    return Plan("cylindrical", links, joints, lift(0.3, 0.1, 0.0, (1.0, 0.0, 0.0), 0.2))


def plan_of(name):
    return cylindrical() if name == "cylindrical" else PLANS[name]()


@lru_cache
def case(name, count=20, seed=0):
    """Return a robot, a world, and boxes of which half contain configurations that nearly touch."""
    robot = cl.samples.arm() if name == "arm" else plan_of(name).robot()
    rng = np.random.default_rng([seed, *name.encode()])
    world = oracle.things(robot, rng)
    q = oracle.near_contact(robot, world, rng, count)
    return robot, world, [oracle.around(robot, q[k], rng, WIDTHS[k % len(WIDTHS)]) for k in range(count)]


def lowers(robot, world, swept):
    """Return the bounds of all checked pairs, in the order of `distances`."""
    inner = swept.lowers()
    assert list(inner) == robot.pairs
    around = {(a, b): swept.lower(a, body) for b, body in world.items() for a in swept.links}
    pairs = robot.distances(robot.neutral, world).pairs
    return np.array([inner[pair] if pair in inner else around[pair] for pair in pairs])


def assert_safe(robot, world, box, found, **how):
    """Assert that nothing was found below the bounds; return how far they lie below what was found."""
    bound = lowers(robot, world, cl.sweep(robot, *box, **how))
    assert not np.isnan(bound).any()
    worst = np.argmax(bound - found.least)
    assert np.all(bound <= found.least + ROUNDING), f"{found.pairs[worst]} at {found.q[worst].tolist()} in {box}"
    return found.least - bound


# Safety --------------------------------------------------------------------------------------------------------------


@every_robot
def test_nothing_in_the_box_comes_closer_than_the_bound(name):
    robot, world, boxes = case(name)
    for box in boxes:
        assert_safe(robot, world, box, oracle.attack(robot, *box, world))


@every_robot
def test_every_choice_of_operators_is_safe(name):
    robot, world, boxes = case(name)
    choices = [
        {"operators": oracle.everywhere(robot, f"circ{k}", f"trans{1 + k % 2}"), "max_points": 5000}
        for k in (1, 2, 3, 4, 7)
    ]
    choices += [{"operators": "auto", "max_points": 300}, {"operators": "auto"}, {"max_points": 1}]
    for box in boxes[:: len(boxes) // 4]:
        found = oracle.attack(robot, *box, world)
        for how in choices:
            assert_safe(robot, world, box, found, **how)


@pytest.mark.long
@every_robot
def test_a_thousand_boxes_are_safe(name):
    robot, world, boxes = case(name, 100, 1)
    for k, box in enumerate(boxes):
        assert_safe(
            robot, world, box, oracle.thorough_attack(robot, *box, world, seed=k), operators=("auto", None)[k % 2]
        )


@pytest.mark.parametrize("name", ["scara", "cylindrical", "stacked", "rover"])
def test_joints_without_end_may_turn_all_the_way(name):
    robot, world, boxes = case(name)
    for low, high in boxes[:4]:
        low, high = low.copy(), high.copy()
        for (joint, a), (_, b) in zip(oracle.parts_of(robot, low), oracle.parts_of(robot, high), strict=True):
            if joint.kind == "continuous":
                a[:], b[:] = -np.inf, np.inf
        assert np.isinf(high).any()
        found = oracle.attack(robot, low, high, world, rounds=25)
        assert_safe(robot, world, (low, high), found)
        assert_safe(robot, world, (low, high), found, operators=oracle.everywhere(robot, "circ5"))
        # Once around is as far as endlessly.
        around = cl.sweep(robot, np.where(np.isinf(low), 0.3, low), np.where(np.isinf(high), 0.3 + 2 * np.pi, high))
        assert np.max(np.abs(lowers(robot, world, around) - lowers(robot, world, cl.sweep(robot, low, high)))) <= 1e-9


def test_the_attack_of_another_seed_finds_about_the_same():
    robot, world, boxes = case("two arms")
    for box in boxes[:4]:
        one, other = (oracle.attack(robot, *box, world, seed=seed).least for seed in (0, 1))
        assert np.median(np.abs(one - other)) <= 1e-6


def test_an_attached_object_is_swept_along():
    robot = robots.two_arms().robot()
    robot.attach("left hand", "rod", cl.Capsule(0.02, 0.5), lift(0.2), touching=["left fore"])
    rng = np.random.default_rng(3)
    box = oracle.around(robot, robot.random(seed=rng), rng, 0.4)
    found = oracle.attack(robot, *box)
    assert any("rod" in pair for pair in found.pairs)
    assert_safe(robot, {}, box, found)


# Tightness -----------------------------------------------------------------------------------------------------------


def is_exact(robot, link):
    """Tell whether a link is made of polytopes swept by spheres only."""
    shapes = dict(zip(robot.link_names, robot.links, strict=True))[link].shapes
    parts = [getattr(shape, "shape", shape) for shape in ([shapes] if isinstance(shapes, cl.Shape) else shapes)]
    return all(isinstance(part, cl.Sphere | cl.Capsule | cl.Box | cl.ConvexHull) for part in parts)


@every_robot
def test_a_box_of_no_width_gives_the_distance_itself(name):
    robot, _, boxes = case(name)
    exact = [k for k, pair in enumerate(robot.pairs) if all(is_exact(robot, link) for link in pair)]
    for q, _ in boxes[:6]:
        gaps = robot.distances(q)
        bound = np.array(list(cl.sweep(robot, q, q).lowers().values()))
        assert np.all(bound <= gaps.upper + ROUNDING)
        away = np.abs(bound - gaps.distance)[exact]
        assert np.all(away <= np.where(gaps.distance[exact] < 0, 1e-7, 2e-9))


@pytest.mark.parametrize("name", ["seven", "two arms", "gripper", "walker"])
def test_small_boxes_cost_little(name):
    """For most pairs the loss falls with the square of the width, so that its share of the motion vanishes.

    Others are nearest between two points of a body, and each of these may have its worst at another configuration.
    """
    robot, world, _ = case(name)
    exact = np.array([all(is_exact(robot, link) for link in pair) for pair in robot.pairs])
    shares = {}
    for width in (0.1, 0.01):
        rng, shares[width] = np.random.default_rng(5), []
        for q in oracle.near_contact(robot, world, rng, 6):
            box = oracle.around(robot, q, rng, width)
            found = oracle.attack(robot, *box)
            lost = found.least - np.array(list(cl.sweep(robot, *box, operators=None).lowers().values()))
            moved = robot.distances(q).distance - found.least
            apart = exact & (found.least > 0)
            shares[width] += list(lost[apart] / (moved[apart] + 0.01 * width))
    assert np.median(shares[0.01]) <= 0.05
    assert np.median(shares[0.01]) <= np.median(shares[0.1]) / 3


# Symmetries ----------------------------------------------------------------------------------------------------------


def test_a_joint_that_carries_both_bodies_changes_nothing():
    robot = robots.two_arms().robot()
    rng = np.random.default_rng(6)
    waist = robot.joint_names.index("waist")
    low, high = oracle.around(robot, robot.random(seed=rng), rng, 0.3)
    expected = cl.sweep(robot, low, high).lower("left hand", "right hand")
    for ends in ((0.0, 0.0), (-0.1, 0.2), (-3.0, 3.0), (-9.0, 20.0), (-np.inf, np.inf)):
        low[waist], high[waist] = ends
        assert abs(cl.sweep(robot, low, high).lower("left hand", "right hand") - expected) <= 1e-9


@every_robot
def test_links_may_be_named_in_any_order(name):
    robot, _, boxes = case(name)
    swept = cl.sweep(robot, *boxes[2])
    for a, b in robot.pairs:
        assert abs(swept.lower(a, b) - swept.lower(b, a)) <= 1e-9


@pytest.mark.parametrize("name", [name for name in ROBOTS if name != "arm"])
def test_bounds_do_not_depend_on_where_the_robot_stands(name):
    robot, world, boxes = case(name)
    motion = rigid_motions(np.random.default_rng(7), 1)[0]
    other = plan_of(name).moved(motion).robot()
    moved = {key: body.shape.at(motion @ body.pose) for key, body in world.items()}
    for box in boxes[:4]:
        here, there = lowers(robot, world, cl.sweep(robot, *box)), lowers(other, moved, cl.sweep(other, *box))
        assert np.max(np.abs(here - there)) <= 1e-8


@pytest.mark.parametrize("name", [name for name in ROBOTS if name not in ("arm", "mixed")])
def test_bounds_grow_with_the_robot(name):
    plan = plan_of(name)
    robot, _, boxes = case(name)
    for factor in (1e-2, 50.0):
        larger = plan.scaled(factor).robot()
        for box in boxes[:3]:
            bound = np.array(list(cl.sweep(robot, *box).lowers().values()))
            there = cl.sweep(larger, *(plan.scaled_q(end, factor) for end in box))
            assert np.max(np.abs(np.array(list(there.lowers().values())) / factor - bound)) <= 1e-8


def test_several_bodies_of_a_link_give_their_least():
    parts = [cl.Sphere(0.1).at([0.5, 0.0, 0.0]), cl.Box([0.1, 0.1, 0.4]).at([0.3, 0.1, 0.0])]
    wall = cl.Box([0.1, 0.1, 0.1]).at([0.0, 0.6, 0.0])

    def bound(shapes):
        joint = cl.Joint("turn", "revolute", "post", "arm")
        return cl.sweep(cl.Robot([cl.Link("post"), cl.Link("arm", shapes)], [joint]), [-0.2], [0.4]).lower("arm", wall)

    assert abs(bound(parts) - min(bound(part) for part in parts)) <= 1e-9


# Volumes -------------------------------------------------------------------------------------------------------------


def body_points(shape, rng, count=15):
    """Return points on a shape, in the frame of its link."""
    shape = shape if isinstance(shape, cl.Placed) else shape.at(np.eye(4))
    if isinstance(shape.shape, cl.Mesh):
        points = np.array(shape.shape.vertices)
    else:
        points = solids.support(shape.shape, rng.normal(size=(count, 3)))
    return points @ shape.pose[:3, :3].T + shape.pose[:3, 3]


@pytest.mark.parametrize("name", [name for name in ROBOTS if name != "arm"])
def test_volumes_contain_their_bodies_in_every_frame(name):
    robot, _, boxes = case(name)
    rng, names = np.random.default_rng(8), robot.link_names
    for low, high in boxes[1:6]:
        swept, box = cl.sweep(robot, low, high), oracle.JointBox.between(robot, low, high)
        q = box.configurations(np.concatenate([box.corners(rng, 6), box.samples(rng, 6)]))
        placed = robot.poses(q)
        for link in swept.links:
            shapes = robot.links[names.index(link)].shapes
            assert swept.frames(link)[-1] == robot.root
            for frame in (*swept.frames(link), None):
                volumes = swept.volumes(link, frame)
                assert len(volumes) == len(shapes)
                into = np.eye(4) if frame is None else np.linalg.inv(placed[:, names.index(frame)])
                for shape, volume in zip(shapes, volumes, strict=True):
                    pose = into @ placed[:, names.index(link)]
                    points = body_points(shape, rng) @ np.swapaxes(pose[:, :3, :3], 1, 2) + pose[:, None, :3, 3]
                    assert_inside(points.reshape(-1, 3), volume)


@every_robot
def test_links_are_seen_from_themselves(name):
    robot, _, boxes = case(name)
    swept = cl.sweep(robot, *boxes[0])
    assert [swept.frames(link)[0] for link in swept.links] == list(swept.links)


def assert_inside(points, volume):
    assert isinstance(volume, cl.ConvexHull)
    point = cl.SweptPoint([0.0, 0.0, 0.0], 0.0)
    assert np.all(cl.within(point.at(cl.poses.from_translation(points)), volume, 1e-9))


@every_robot
def test_volumes_in_their_own_frame_do_not_depend_on_the_box(name):
    robot, _, boxes = case(name)
    one, other = (cl.sweep(robot, *box) for box in boxes[:2])
    for link in one.links:
        frame = one.frames(link)[0]
        for a, b in zip(one.volumes(link, frame), other.volumes(link, frame), strict=True):
            assert np.array_equal(a.points, b.points)
            assert a.radius == b.radius


@every_robot
def test_bounds_are_distances_of_volumes(name):
    """In the frame of the nearest link that carries both, or any above it where nothing in between moves."""
    robot, _, boxes = case(name)
    swept = cl.sweep(robot, *boxes[3])
    for a, b in robot.pairs:
        shared = next(frame for frame in swept.frames(a) if frame in swept.frames(b))
        volumes = [swept.volumes(link, shared) for link in (a, b)]
        least = min(cl.distance(v, w).distance for v in volumes[0] for w in volumes[1])
        assert swept.lower(a, b) <= least + ROUNDING
        assert swept.lower(a, b) >= least - (1e-7 if least < 0 else 2e-9)


def test_the_points_of_all_that_moves_are_counted():
    robot, _, boxes = case("two arms")
    swept = cl.sweep(robot, *boxes[3])
    count = sum(
        len(v.points) for link in swept.links for frame in swept.frames(link)[1:] for v in swept.volumes(link, frame)
    )
    assert swept.points == count


def test_links_without_shapes_have_no_volumes():
    swept = cl.sweep(robots.stacked().robot(), *[np.zeros(4)] * 2)
    assert set(swept.links) == {"plinth", "column", "beam", "knob", "carriage", "lamp", "camera"}
    with pytest.raises(KeyError):
        swept.volumes("rail")


def test_a_robot_without_joints_is_where_it_stands():
    robot = robots.single().robot()
    swept = cl.sweep(robot, [], [])
    wall = cl.Sphere(0.1).at([1.0, 0.0, 0.0])
    assert swept.frames("stone") == ["stone"]
    assert abs(swept.lower("stone", wall) - 0.6) <= 1e-9
