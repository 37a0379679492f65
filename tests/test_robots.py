"""Robots from plain data: what they say about themselves, and what is no robot."""

import copy
import pickle

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import clearance as cl
import robot_oracle as oracle
import robots
from clearance import poses
from robots import PLANS, JointPlan, Plan, lift, random_q
from strategies import seeds

every_robot = pytest.mark.parametrize("name", PLANS)


def chain(*joints, links="abcd"):
    return cl.Robot([cl.Link(name, cl.Sphere(0.1)) for name in links], list(joints))


def hinge(name="h", parent="a", child="b", **more):
    return cl.Joint(name, "revolute", parent, child, **more)


# What a robot says about itself --------------------------------------------------------------------------------------


@every_robot
def test_robot_keeps_names_and_counts(name):
    plan = PLANS[name]()
    robot = plan.robot()
    assert robot.name == plan.name
    assert robot.root == oracle.root(plan)
    assert robot.link_names[0] == robot.root
    assert [link for link in robot.link_names if link != robot.root] == [
        link for link in plan.links if link != robot.root
    ]
    assert [link.name for link in robot.links] == list(robot.link_names)
    assert list(robot.joint_names) == [joint.name for joint in oracle.drives(plan)]
    assert [joint.name for joint in robot.joints] == [joint.name for joint in plan.joints]
    assert (robot.dof, robot.nv) == (oracle.dof(plan), oracle.nv(plan))
    assert robot.lower.shape == robot.upper.shape == (robot.dof,)
    assert robot.velocity.shape == (robot.nv,)
    assert np.array_equal(robot.base, plan.base)


def test_limits_stand_in_the_order_of_q():
    robot = robots.scara().robot()
    assert robot.lower.tolist() == [-2.5, -2.7, -0.1, -np.inf]
    assert robot.upper.tolist() == [2.5, 2.7, 0.4, np.inf]
    assert robot.velocity.tolist() == [3.0, 4.0, 0.5, 9.0]
    robot = robots.gripper().robot()
    assert robot.lower.tolist() == [-3.0, -0.003, -1.0]
    assert robot.velocity.tolist() == [np.inf, 0.1, np.inf]


def test_shapes_of_a_link_may_be_given_in_any_form():
    ball, post = cl.Sphere(0.1), cl.Capsule(0.1, 1.0).at([0.0, 0.0, 0.5])
    expected = {"none": 0, "shape": 1, "placed": 1, "list": 2, "tuple": 2}
    links = [
        cl.Link("none"),
        cl.Link("shape", ball),
        cl.Link("placed", post),
        cl.Link("list", [ball, post]),
        cl.Link("tuple", (ball, post)),
    ]
    joints = [cl.Joint(f"j{k}", "fixed", "none", link.name, [k, 0.0, 0.0]) for k, link in enumerate(links[1:])]
    robot = cl.Robot(links, joints)
    assert robot.pairs == []
    floor = cl.HalfSpace([0, 0, 1], -1.0)
    found = robot.distances([], {"floor": floor})
    assert {a if b == "floor" else b for a, b in found.pairs} == {name for name, count in expected.items() if count}
    assert found.distance.tolist() == pytest.approx([0.9] * 4)


def test_origin_may_be_any_pose():
    pose = poses.from_translation([1.0, 2.0, 3.0])
    for origin in (pose, pose.tolist(), [1.0, 2.0, 3.0], np.array([1, 2, 3])):
        robot = chain(hinge(origin=origin), links="ab")
        assert np.array_equal(robot.pose([0.0], "b"), pose)


def test_length_of_an_axis_does_not_matter():
    for factor in (1e-6, 3.0, 1e9):
        slide = cl.Joint("s", "prismatic", "a", "b", axis=[0.0, 3.0 * factor, 4.0 * factor])
        assert chain(slide, links="ab").pose([2.0], "b")[:3, 3] == pytest.approx([0.0, 1.2, 1.6], rel=1e-15)


def test_mimic_may_be_named_or_a_tuple():
    for mimic in (cl.Mimic("h", 2.0, 0.5), ("h", 2.0, 0.5), cl.Mimic(joint="h", multiplier=2.0, offset=0.5)):
        robot = chain(hinge(), hinge("f", "b", "c", mimic=mimic), links="abc")
        assert robot.dof == 1
        expected = poses.from_axis_angle([0, 0, 1], 0.3 + 2.0 * 0.3 + 0.5)
        assert np.allclose(robot.pose([0.3], "c"), expected, rtol=0, atol=1e-15)
    assert cl.Mimic("h") == ("h", 1.0, 0.0)


@every_robot
def test_order_of_links_and_joints_changes_nothing_but_orders(name):
    plan = PLANS[name]()
    robot, other = plan.robot(), plan.reordered(np.random.default_rng(1)).robot()
    assert set(robot.link_names) == set(other.link_names)
    assert set(map(frozenset, robot.pairs)) == set(map(frozenset, other.pairs))
    q = random_q(np.random.default_rng(2), plan, 1)[0]
    values = {joint.name: value if len(value) > 1 else value[0] for joint, value in oracle.parts_of(plan, q)}
    for link in plan.links:
        assert np.max(np.abs(robot.pose(values, link) - other.pose(values, link))) <= 1e-14


def test_repr_counts():
    robot = robots.two_arms().robot()
    assert repr(robot) == "Robot('two arms', 7 degrees of freedom, 8 links, 21 pairs)"
    assert "1 degree" in repr(chain(hinge(), links="ab"))


def test_arrays_of_a_robot_cannot_change_it():
    plan = robots.scara()
    robot, origin = plan.robot(), lift(1.0)
    before = robot.poses(np.zeros(4))
    for array in (robot.lower, robot.upper, robot.velocity, robot.base):
        try:
            array[...] = 0.0
        except ValueError:
            continue  # read-only is as good as a copy
    assert robot.lower.tolist() == [-2.5, -2.7, -0.1, -np.inf]
    assert np.array_equal(robot.poses(np.zeros(4)), before)
    robot.pairs.clear()
    assert len(robot.pairs) == 6
    other = chain(hinge(origin=origin), links="ab")
    origin[0, 3] = 9.0
    assert other.pose([0.0], "b")[0, 3] == 1.0


# Copies --------------------------------------------------------------------------------------------------------------


def changed(plan):
    """Return a robot on which everything that can be set has been set."""
    robot = plan.robot()
    first, second = robot.pairs[:2]
    robot.allow(*first)
    robot.set_margin(*second, margin=0.03)
    robot.set_margin(robot.link_names[-1], margin=0.01)
    robot.attach(robot.link_names[-1], "load", cl.Sphere(0.02), [0.1, 0.0, 0.0])
    robot.base = lift(0.3, 0.2, 0.1) @ plan.base
    return robot


@pytest.mark.parametrize("name", ["planar arm", "two arms", "gripper", "rover", "walker", "mixed", "stacked"])
@pytest.mark.parametrize("twin", [lambda r: pickle.loads(pickle.dumps(r)), copy.deepcopy, copy.copy])
def test_copies_are_the_same_robot(name, twin):
    plan = PLANS[name]()
    robot = changed(plan)
    other = twin(robot)
    assert repr(other) == repr(robot)
    assert other.pairs == robot.pairs
    q = random_q(np.random.default_rng(3), plan, 5)
    assert np.array_equal(other.poses(q), robot.poses(q))
    found, expected = (cl.clearances(each, [cl.Sphere(0.3).at([0.6, 0.6, 0.3])], q) for each in (other, robot))
    assert np.array_equal(found.distance, expected.distance)
    for a, b in robot.pairs:
        assert other.margin(a, b) == robot.margin(a, b)


def test_deep_copies_live_their_own_lives():
    plan = robots.two_arms()
    robot = plan.robot()
    other = copy.deepcopy(robot)
    pair = robot.pairs[0]
    other.allow(*pair)
    other.base = [5.0, 0.0, 0.0]
    other.attach("left hand", "cup", cl.Sphere(0.05))
    assert pair in robot.pairs
    assert "cup" not in robot.link_names
    assert np.array_equal(robot.base, plan.base)


def test_robot_agrees_with_itself_after_its_copy_changed():
    robot = robots.two_arms().robot()
    robot.distances(np.zeros(7))
    other = copy.copy(robot)
    other.allow(*robot.pairs[0])
    other.set_margin(*robot.pairs[1], margin=9.0)
    other.attach("left hand", "cup", cl.Sphere(0.05))
    assert list(robot.distances(np.zeros(7)).pairs) == robot.pairs
    assert cl.is_clear(robot, None, np.zeros(7)) == (robot.margin(*robot.pairs[1]) == 0.0)


# Configurations ------------------------------------------------------------------------------------------------------


@every_robot
def test_random_configurations_lie_inside_the_limits(name):
    plan = PLANS[name]()
    robot = plan.robot()
    q = robot.random(200, seed=1)
    assert q.shape == (200, robot.dof)
    assert robot.random(seed=1).shape == (robot.dof,)
    assert np.all(np.isfinite(q))
    for joint, part in oracle.parts_of(plan, q):
        if joint.kind == "floating":
            assert np.allclose(np.linalg.norm(part[:, 3:], axis=1), 1.0, rtol=0, atol=8e-15)
            assert np.all(np.abs(part[:, :3]) <= 1.0)
        elif joint.kind == "planar":
            assert np.all(np.abs(part) <= [1.0, 1.0, np.pi])
        else:
            low, high = max(joint.lower, -np.pi), min(joint.upper, np.pi)
            assert np.all((low <= part) & (part <= high))
            assert np.ptp(part) >= 0.9 * (high - low)


def test_random_configurations_repeat_with_their_seed():
    robot = robots.walker().robot()
    assert np.array_equal(robot.random(5, seed=7), robot.random(5, seed=7))
    assert not np.array_equal(robot.random(5, seed=7), robot.random(5, seed=8))
    assert not np.array_equal(robot.random(5), robot.random(5))
    assert robot.random(0, seed=1).shape == (0, robot.dof)


def test_unlimited_slides_are_drawn_within_a_metre():
    robot = chain(cl.Joint("s", "prismatic", "a", "b"), cl.Joint("t", "prismatic", "b", "c", lower=2.0), links="abc")
    q = robot.random(300, seed=2)
    assert np.all(np.abs(q[:, 0]) <= 1.0)
    assert np.ptp(q[:, 0]) > 1.8
    assert np.all(q[:, 1] >= 2.0)
    assert np.all(np.isfinite(q))


def test_random_quaternions_are_uniform():
    turns = oracle.rotation_of_quaternion(robots.walker().robot().random(4000, seed=3)[:, 3:7])
    assert np.max(np.abs(turns.mean(axis=0))) <= 0.05
    assert np.max(np.abs((turns[:, :, 2] ** 2).mean(axis=0) - 1 / 3)) <= 0.03


@settings(max_examples=10)
@given(seeds(), st.sampled_from(["scara", "rover", "walker", "gripper"]))
def test_configuration_takes_apart_what_it_was_made_of(seed, name):
    plan = PLANS[name]()
    q = random_q(np.random.default_rng(seed), plan, 1)[0]
    values = {joint.name: value if len(value) > 1 else float(value[0]) for joint, value in oracle.parts_of(plan, q)}
    assert np.array_equal(plan.robot().configuration(values), q)


# What is no robot ----------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("joints", "words"),
    [
        (["h: a nobody"], "nobody"),
        (["h: nobody b"], "nobody"),
        (["h: a a"], "a"),
        (["h: a b", "g: b c", "f: c b", "e: c d"], "b"),
        (["h: a b", "g: b a", "f: c d"], r"(?i)loop|circle|cycle|root|tree"),
        (["h: a b", "g: c d"], r"(?i)root|parent|connected"),
        (["h: a b", "h: b c", "g: c d"], "h"),
        ([], r"(?i)root|parent|connected"),
    ],
)
def test_what_is_no_tree_is_refused(joints, words):
    with pytest.raises((ValueError, KeyError), match=words):
        chain(*(hinge(*joint.replace(":", "").split()) for joint in joints))


def test_links_of_one_name_are_refused():
    with pytest.raises(ValueError, match="'a'"):
        cl.Robot([cl.Link("a"), cl.Link("b"), cl.Link("a")], [hinge()])


def test_robot_without_links_is_refused():
    with pytest.raises(ValueError, match="link"):
        cl.Robot([], [])


@pytest.mark.parametrize(
    ("bad", "words"),
    [
        ({"kind": "screw"}, "screw"),
        ({"kind": None}, "kind"),
        ({"axis": [0.0, 0.0, 0.0]}, "axis"),
        ({"axis": [0.0, np.nan, 1.0]}, "axis"),
        ({"axis": [1.0, 0.0]}, "axis"),
        ({"origin": np.diag([2.0, 2.0, 2.0, 1.0])}, r"(?i)origin|pose|rigid|rotation"),
        ({"origin": [0.0, np.inf, 0.0]}, r"(?i)origin|pose|finite"),
        ({"origin": np.eye(3)}, r"(?i)origin|pose"),
        ({"lower": 1.0, "upper": -1.0}, r"(?i)lower|upper"),
        ({"lower": np.nan}, "lower"),
        ({"velocity": -1.0}, "velocity"),
        ({"velocity": np.nan}, "velocity"),
        ({"mimic": ("nobody", 1.0, 0.0)}, "nobody"),
        ({"mimic": ("h", 1.0, 0.0)}, "h"),
        ({"mimic": ("g", np.nan, 0.0)}, r"(?i)multiplier|mimic"),
        ({"mimic": ("g", 1.0, np.inf)}, r"(?i)offset|mimic"),
        ({"mimic": 3}, r"(?i)mimic"),
    ],
)
def test_what_is_no_joint_is_refused(bad, words):
    arguments = {"name": "h", "kind": "revolute", "parent": "a", "child": "b"} | bad
    with pytest.raises((ValueError, TypeError, KeyError), match=words):
        chain(cl.Joint(**arguments), hinge("g", "b", "c"), links="abc")


def test_mimic_of_a_joint_without_a_single_value_is_refused():
    for kind in ("fixed", "planar", "floating"):
        with pytest.raises((ValueError, KeyError), match="h"):
            chain(cl.Joint("h", kind, "a", "b"), hinge("g", "b", "c", mimic=("h", 1.0, 0.0)), links="abc")


def test_mimics_that_follow_each_other_in_a_ring_are_refused():
    ring = (hinge("f", mimic=("g", 1.0, 0.0)), hinge("g", "b", "c", mimic=("f", 1.0, 0.0)))
    with pytest.raises(ValueError, match="mimic"):
        chain(*ring, links="abc")


@pytest.mark.parametrize(
    "bad", ["x", 3, [None], ["x"], [[cl.Sphere(1.0)]], cl.Sphere(1.0).at([np.eye(4)] * 2)], ids=repr
)
def test_what_is_no_shape_makes_no_link(bad):
    with pytest.raises((TypeError, ValueError)):
        cl.Robot([cl.Link("a", bad)], [])


@pytest.mark.parametrize("bad", [None, 3, b"a", ["a"]])
def test_what_is_no_name_is_refused(bad):
    with pytest.raises((TypeError, ValueError)):
        cl.Robot([cl.Link(bad)], [])
    with pytest.raises((TypeError, ValueError)):
        chain(hinge(bad), links="ab")


@pytest.mark.parametrize(
    "bad", [np.diag([1.0, 1.0, -1.0, 1.0]), [np.nan, 0.0, 0.0], np.eye(3), "x", np.zeros((2, 4, 4))]
)
def test_what_is_no_pose_is_no_base(bad):
    robot = robots.planar_arm().robot()
    with pytest.raises((ValueError, TypeError)):
        robot.base = bad
    assert np.array_equal(robot.base, np.eye(4))
    with pytest.raises((ValueError, TypeError)):
        cl.Robot([cl.Link("a")], [], base=bad)


def test_links_and_joints_of_other_types_are_refused():
    with pytest.raises((TypeError, ValueError), match=r"(?i)link"):
        cl.Robot(["a", "b"], [])
    with pytest.raises((TypeError, ValueError), match=r"(?i)joint"):
        cl.Robot([cl.Link("a"), cl.Link("b")], [("h", "revolute", "a", "b")])


def test_joint_may_have_the_name_of_a_link():
    robot = Plan("twins", {"a": (), "b": ()}, (JointPlan("a", "revolute", "a", "b"),)).robot()
    assert (list(robot.joint_names), list(robot.link_names)) == (["a"], ["a", "b"])


def test_long_chains_do_not_end_the_recursion():
    count = 2000
    links = [cl.Link(f"l{k}") for k in range(count + 1)]
    joints = [cl.Joint(f"j{k}", "revolute", f"l{k}", f"l{k + 1}", [0.01, 0.0, 0.0]) for k in range(count)]
    robot = cl.Robot(links, joints)
    assert robot.pose(np.zeros(count), f"l{count}")[0, 3] == pytest.approx(0.01 * count)
