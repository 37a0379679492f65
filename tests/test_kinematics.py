"""Where the links are and how they move: poses, Jacobians and gradients of distances."""

from pathlib import Path

import numpy as np
import pytest
from hypothesis import given, settings

import clearance as cl
import robot_oracle as oracle
import robots
from clearance import poses
from robots import MOVABLE, PLANS, JointPlan, Plan, contact_case, lift, random_q
from strategies import rigid_motions, seeds

EPS = np.finfo(float).eps
FILES = {
    "panda": "panda_description/urdf/panda.urdf",
    "ur5": "ur_description/urdf/ur5_robot.urdf",
    "talos": "talos_data/robots/talos_full_v2.urdf",
}
every_robot = pytest.mark.parametrize("name", PLANS)
every_moving_robot = pytest.mark.parametrize("name", MOVABLE)


def drawn(name, n=20, seed=0):
    """Return a plan, its robot, and configurations."""
    plan = PLANS[name]()
    return plan, plan.robot(), random_q(np.random.default_rng([seed, *name.encode()]), plan, n)


def points_near(rng, pose):
    return pose[..., :3, 3] + rng.normal(size=(*pose.shape[:-2], 3))


# Poses ---------------------------------------------------------------------------------------------------------------


@every_robot
def test_links_stand_where_plain_recursion_puts_them(name):
    plan, robot, q = drawn(name, 50)
    expected, found = oracle.link_poses(plan, q), robot.poses(q)
    assert found.shape == (50, len(plan.links), 4, 4)
    assert found.dtype == np.float64
    for k, link in enumerate(robot.link_names):
        assert np.max(np.abs(found[:, k] - expected[link])) <= 1e-13, link
        assert np.array_equal(robot.pose(q, link), found[:, k])


@every_robot
def test_poses_are_rigid_to_the_last_bits(name):
    _, robot, q = drawn(name)
    found = robot.poses(1e3 * q)
    turn = found[..., :3, :3]
    assert np.max(np.abs(turn @ np.swapaxes(turn, -1, -2) - np.eye(3))) <= 32 * EPS
    assert np.array_equal(found[..., 3, :], np.broadcast_to([0.0, 0, 0, 1], found.shape[:-1]))


@settings(max_examples=20)
@given(seeds())
def test_random_trees_stand_where_plain_recursion_puts_them(seed):
    plan = random_tree(np.random.default_rng(seed))
    robot, q = plan.robot(), random_q(np.random.default_rng(seed), plan, 7)
    assert robot.dof == oracle.dof(plan)
    assert robot.nv == oracle.nv(plan)
    expected = oracle.link_poses(plan, q)
    for link, found in zip(robot.link_names, np.moveaxis(robot.poses(q), 1, 0), strict=True):
        assert np.max(np.abs(found - expected[link])) <= 1e-13, link


def random_tree(rng):
    """Draw a tree of up to a dozen joints of every kind, named in any order; some follow others."""
    count = int(rng.integers(1, 13))
    joints = []
    for k in range(count):
        kinds = ["fixed", "revolute", "continuous", "prismatic", "planar", "floating"]
        kind = kinds[rng.choice(6, p=[0.15, 0.3, 0.15, 0.2, 0.1, 0.1])]
        axis = (0.0, 0.0, 1.0) if kind == "planar" else tuple(rng.normal(size=3))
        masters = [joint.name for joint in joints if oracle.SIZE[joint.kind] == 1 and joint.mimic is None]
        follows = oracle.SIZE[kind] == 1 and masters and rng.random() < 0.25
        mimic = (masters[rng.integers(len(masters))], rng.normal(), rng.normal()) if follows else None
        limits = {"lower": -2.0, "upper": 1.0} if kind in ("revolute", "prismatic") else {}
        parent = f"link {rng.integers(k + 1)}"
        origin = rigid_motions(rng, 1)[0]
        joints.append(JointPlan(f"joint {k}", kind, parent, f"link {k + 1}", origin, axis, mimic=mimic, **limits))
    plan = Plan("tree", {f"link {k}": () for k in range(count + 1)}, tuple(joints), rigid_motions(rng, 1)[0])
    return plan.reordered(rng)


def test_base_carries_the_whole_robot():
    plan, robot, q = drawn("two arms")
    motion = rigid_motions(np.random.default_rng(1), 1)[0]
    before = robot.poses(q)
    robot.base = motion @ plan.base
    assert np.allclose(robot.base, motion @ plan.base, rtol=0, atol=1e-15)
    assert np.max(np.abs(robot.poses(q) - motion @ before)) <= 1e-14
    robot.base = [1.0, 2.0, 3.0]
    assert np.array_equal(robot.base, poses.from_translation([1.0, 2.0, 3.0]))


def test_planar_joint_about_any_axis_moves_in_its_plane():
    axis = np.array([1.0, 2.0, -2.0]) / 3.0
    plan = Plan("slab", {"a": (), "b": ()}, (JointPlan("slide", "planar", "a", "b", axis=tuple(axis)),))
    robot, q = plan.robot(), np.random.default_rng(2).normal(size=(30, 3))
    pose = robot.pose(q, "b")
    assert np.max(np.abs(pose[:, :3, 3] @ axis)) <= 1e-14
    assert np.allclose(np.linalg.norm(pose[:, :3, 3], axis=1), np.linalg.norm(q[:, :2], axis=1), rtol=1e-13)
    assert np.allclose(pose[:, :3, :3], oracle.rotation(axis, q[:, 2]), rtol=0, atol=1e-14)
    along = robot.pose(np.eye(3)[:2], "b")[:, :3, 3]
    assert np.allclose(np.cross(*along), axis, rtol=0, atol=1e-14)
    step, local = 1e-6 * np.eye(3), np.array([0.3, -0.2, 0.5, 1.0])
    ahead, behind = ((robot.pose(q[:, None] + sign * step, "b") @ local)[..., :3] for sign in (1.0, -1.0))
    slopes = np.swapaxes(ahead - behind, -1, -2) / 2e-6
    assert np.allclose(robot.jacobian(q, "b", (pose @ local)[:, :3]), slopes, rtol=0, atol=1e-8)


def test_quaternions_of_any_length_and_sign_are_the_same_rotation():
    _, robot, q = drawn("walker")
    for factor in (-1.0, 1e-3, 7.5, 1e6):
        other = q.copy()
        other[:, 3:7] *= factor
        assert np.max(np.abs(robot.poses(other) - robot.poses(q))) <= 1e-14


def test_joints_may_leave_their_limits():
    plan, robot, _ = drawn("planar arm")
    q = np.array([4.0, -5.0, 6.0])
    assert np.allclose(robot.pose(q, "arm 2"), oracle.link_poses(plan, q)["arm 2"], rtol=0, atol=1e-14)


# Forms of q ----------------------------------------------------------------------------------------------------------


@every_robot
def test_batch_is_a_loop_bit_for_bit(name):
    plan, robot, q = drawn(name, 17)
    rng, link = np.random.default_rng(3), list(plan.links)[-1]
    points = points_near(rng, robot.pose(q, link))
    assert np.array_equal(robot.poses(q), [robot.poses(each) for each in q])
    found = robot.jacobian(q, link, points)
    assert np.array_equal(found, [robot.jacobian(each, link, point) for each, point in zip(q, points, strict=True)])
    assert np.array_equal(robot.jacobian(q, link), [robot.jacobian(each, link) for each in q])


@pytest.mark.parametrize("dims", [(), (1,), (5,), (2, 3), (2, 1, 2), (0,), (3, 0), (0, 4)])
def test_leading_dimensions_of_q_come_back(dims):
    plan, robot, _ = drawn("rover")
    q = random_q(np.random.default_rng(4), plan, int(np.prod(dims))).reshape(*dims, robot.dof)
    assert robot.poses(q).shape == (*dims, 5, 4, 4)
    assert robot.pose(q, "hand").shape == (*dims, 4, 4)
    assert robot.jacobian(q, "hand").shape == (*dims, 3, robot.nv)
    flat = robot.poses(q.reshape(-1, robot.dof))
    assert np.array_equal(robot.poses(q).reshape(flat.shape), flat)


def test_robot_without_joints_takes_configurations_of_no_length():
    plan, robot, _ = drawn("single")
    assert (robot.dof, robot.nv) == (0, 0)
    for q in ([], np.zeros((4, 0)), np.zeros((0, 0))):
        assert robot.poses(q).shape == (*np.shape(q)[:-1], 1, 4, 4)
        assert robot.jacobian(q, "stone").shape == (*np.shape(q)[:-1], 3, 0)
    assert np.array_equal(robot.pose([], "stone"), plan.base)


@pytest.mark.parametrize("name", ["seven", "walker", "gripper"])
def test_memory_of_q_does_not_matter(name):
    plan, robot, q = drawn(name, 12)
    link, expected = list(plan.links)[-1], robot.poses(q)
    frozen = q.copy()
    frozen.flags.writeable = False
    padded = np.full((24, 2 * robot.dof), np.nan)
    padded[::2, ::2] = q
    backward = np.ascontiguousarray(q[::-1, ::-1])
    for same in (frozen, np.asfortranarray(q), padded[::2, ::2], backward[::-1, ::-1], q.tolist(), q.astype(object)):
        assert np.array_equal(robot.poses(same), expected)
        assert np.array_equal(robot.jacobian(same, link), robot.jacobian(q, link))
    rounded = robot.poses(q.astype(np.float32))
    assert np.array_equal(rounded, robot.poses(q.astype(np.float32).astype(float)))
    assert np.array_equal(q, drawn(name, 12)[2])


def test_mapping_names_the_joints():
    plan, robot, _ = drawn("rover")
    q = {"bend": 0.4, "drive": [0.1, 0.2, 0.3]}
    row = [0.1, 0.2, 0.3, 0.0, 0.0, 0.4]
    assert np.array_equal(robot.configuration(q), row)
    assert np.array_equal(robot.poses(q), robot.poses(row))
    assert np.array_equal(robot.pose(q, "hand"), robot.pose(row, "hand"))
    assert np.array_equal(robot.jacobian(q, "hand"), robot.jacobian(row, "hand"))
    assert np.array_equal(robot.configuration({"pan": 1.0}, row), [0.1, 0.2, 0.3, 1.0, 0.0, 0.4])
    assert np.allclose(robot.pose(q, "hand"), oracle.link_poses(plan, row)["hand"], rtol=0, atol=1e-14)


def test_zero_of_a_floating_joint_is_no_rotation():
    _, robot, _ = drawn("walker")
    assert robot.configuration({}).tolist() == [0, 0, 0, 0, 0, 0, 1, 0, 0, 0, 0]
    assert robot.configuration({"free": [1, 2, 3, 0, 0, 1, 0], "left hip": 0.5}).tolist()[:8] == [
        1,
        2,
        3,
        0,
        0,
        1,
        0,
        0.5,
    ]


BAD_Q = [
    ([0.1, 0.2], "2"),
    ([0.1] * 4, "4"),
    (np.zeros((5, 4)), "4"),
    (0.5, "3"),
    ([0.1, np.nan, 0.3], "nan"),
    ([[0.1, 0.2, 0.3], [0.1, np.inf, 0.3]], "inf"),
    ("abc", "q"),
    (None, "q"),
    ([1j, 0, 0], "q"),
    ([[0.1, 0.2, 0.3], [0.1, 0.2]], "q"),
]


@pytest.mark.parametrize(("bad", "found"), BAD_Q, ids=[str(k) for k in range(len(BAD_Q))])
def test_what_is_no_configuration_is_refused(bad, found):
    robot = robots.planar_arm().robot()
    for ask in (
        robot.poses,
        lambda q: robot.pose(q, "arm 2"),
        lambda q: robot.jacobian(q, "arm 2"),
        robot.distances,
        lambda q: cl.is_clear(robot, None, q),
        lambda q: cl.clearances(robot, None, q),
    ):
        with pytest.raises((ValueError, TypeError), match=f"(?i){found}"):
            ask(bad)
    if not isinstance(bad, str) and np.ndim(bad if bad is None else np.array(bad, dtype=object)) == 1:
        with pytest.raises((ValueError, TypeError), match=f"(?i){found}"):
            cl.is_clear(robot, None, np.array(bad))  # one array takes a shorter way


@pytest.mark.parametrize("bad", [[0.1, 0.2], [0.1, np.nan, 0.3], [0.1, np.inf, 0.3], np.zeros((2, 3)), "abc", None])
def test_nearest_takes_one_configuration(bad):
    with pytest.raises((ValueError, TypeError), match=r"(?i)q|configuration|finite"):
        robots.planar_arm().robot().nearest(bad)


def test_unknown_names_are_refused_by_name():
    robot = robots.planar_arm().robot()
    q = [0.1, 0.2, 0.3]
    with pytest.raises(KeyError, match="nobody"):
        robot.pose(q, "nobody")
    with pytest.raises(KeyError, match="nobody"):
        robot.jacobian(q, "nobody")
    for bad in ({"nobody": 1.0}, {"hinge 0": 0.1, "nobody": 1.0}):
        with pytest.raises(KeyError, match="nobody"):
            robot.configuration(bad)
        with pytest.raises(KeyError, match="nobody"):
            robot.poses(bad)


def test_values_that_do_not_fit_their_joint_are_refused():
    robot = robots.rover().robot()
    for bad in ({"drive": 1.0}, {"drive": [1.0, 2.0]}, {"pan": [1.0, 2.0]}, {"pan": np.nan}, {"pan": "x"}):
        with pytest.raises((ValueError, TypeError), match=next(iter(bad))):
            robot.configuration(bad)


def test_mimic_and_fixed_joints_have_no_value_of_their_own():
    with pytest.raises((KeyError, ValueError), match="right"):
        robots.gripper().robot().configuration({"right": 0.01})
    with pytest.raises((KeyError, ValueError), match="bolt"):
        robots.stacked().robot().configuration({"bolt": 0.01})


def test_quaternion_of_no_length_is_refused():
    robot = robots.walker().robot()
    q = np.zeros((3, robot.dof))
    q[:, 6] = 1.0
    q[1, 3:7] = 0.0
    for bad in (q, q[1]):
        with pytest.raises(ValueError, match=r"(?i)quaternion|free"):
            robot.poses(bad)
        with pytest.raises(ValueError, match=r"(?i)quaternion|free"):
            cl.clearances(robot, None, bad)


@pytest.mark.parametrize("bad", [[1.0, 2.0], [1.0, np.nan, 0.0], "abc", np.zeros((7, 3))])
def test_what_is_no_point_is_refused(bad):
    robot = robots.planar_arm().robot()
    with pytest.raises((ValueError, TypeError), match="point"):
        robot.jacobian(np.zeros((2, 3)), "arm 2", bad)


# Jacobians -----------------------------------------------------------------------------------------------------------


@every_robot
def test_jacobian_is_the_slope_of_the_point(name):
    plan, robot, q = drawn(name, 3)
    rng = np.random.default_rng(5)
    for link in plan.links:
        points = points_near(rng, robot.pose(q, link))
        found, at_origin = robot.jacobian(q, link, points), robot.jacobian(q, link)
        assert found.shape == (3, 3, robot.nv)
        for k in range(3):
            assert np.max(np.abs(found[k] - oracle.jacobian(plan, q[k], link, points[k])), initial=0.0) <= 1e-9
            assert np.max(np.abs(at_origin[k] - oracle.jacobian(plan, q[k], link)), initial=0.0) <= 1e-9


@settings(max_examples=15)
@given(seeds())
def test_jacobian_of_random_trees_is_the_slope_of_the_point(seed):
    rng = np.random.default_rng(seed)
    plan = random_tree(rng)
    robot, q, link = plan.robot(), random_q(rng, plan, 1)[0], list(plan.links)[rng.integers(len(plan.links))]
    point = points_near(rng, robot.pose(q, link))
    assert np.max(np.abs(robot.jacobian(q, link, point) - oracle.jacobian(plan, q, link, point)), initial=0.0) <= 1e-7


def test_columns_of_mimic_joints_go_to_their_master():
    plan, robot, q = drawn("gripper", 5)
    turn = oracle.link_poses(plan, q)["palm"][:, :3, :3]
    left, right = robot.jacobian(q, "left finger"), robot.jacobian(q, "right finger")
    assert robot.joint_names == ["turn", "drive", "tip"] or robot.joint_names == ("turn", "drive", "tip")
    assert np.allclose(left[:, :, 1], turn[..., 1], rtol=0, atol=1e-14)
    assert np.allclose(right[:, :, 1], -0.8 * turn[..., 1], rtol=0, atol=1e-14)
    free = Plan(plan.name, plan.links, tuple(robots.replace(joint, mimic=None) for joint in plan.joints), plan.base)
    values = oracle.values(plan, q)
    full = np.concatenate([values[joint.name] for joint in free.joints], axis=-1)
    columns = free.robot().jacobian(full, "nail")  # turn, right, drive, fold, tip
    folded = np.stack([columns[..., 0], columns[..., 2] - 9.0 * columns[..., 3], columns[..., 4]], axis=-1)
    assert np.allclose(robot.jacobian(q, "nail"), folded, rtol=0, atol=1e-13)


@every_moving_robot
def test_what_a_joint_does_not_carry_does_not_move(name):
    plan, robot, q = drawn(name, 2)
    above, speeds = {joint.child: joint for joint in plan.joints}, oracle.drives(plan)
    columns = np.repeat([joint.name for joint in speeds], [oracle.SPEEDS[joint.kind] for joint in speeds])
    for link in plan.links:
        carriers, at = set(), link
        while at in above:
            joint = above[at]
            carriers.add(joint.mimic[0] if joint.mimic else joint.name)
            at = joint.parent
        still = [column not in carriers for column in columns]
        assert not robot.jacobian(q, link, points_near(np.random.default_rng(6), robot.pose(q, link)))[..., still].any()


def test_one_point_serves_a_batch():
    _, robot, q = drawn("seven", 4)
    point = [0.3, 0.2, 0.1]
    assert np.array_equal(robot.jacobian(q, "link 6", point), robot.jacobian(q, "link 6", np.tile(point, (4, 1))))


# Against pinocchio ---------------------------------------------------------------------------------------------------


def robot_file(name):
    pin = pytest.importorskip("pinocchio")
    parts = Path(pin.__file__).parts
    if "cmeel.prefix" not in parts:
        pytest.skip("example-robot-data is not where pinocchio is")
    path = Path(*parts[: parts.index("cmeel.prefix") + 1], "share/example-robot-data/robots", FILES[name])
    if not path.exists():
        pytest.skip("example-robot-data is not installed")
    return pin, str(path)


def of_pinocchio(name, floating, n=6):
    """Return a plan, configurations of it, the model, its data, and a function to pinocchio's q and columns."""
    pin, path = robot_file(name)
    model = pin.buildModelFromUrdf(path, pin.JointModelFreeFlyer()) if floating else pin.buildModelFromUrdf(path)
    plan = robots.plan_of_urdf(path, floating)

    def number(joint):
        return model.getJointId("root_joint" if joint == "free" else joint)

    def translated(q):
        full = pin.neutral(model)
        for joint, value in oracle.values(plan, q).items():
            at = model.idx_qs[number(joint)]
            full[at : at + len(value)] = value
        return full

    def columns(jacobian):
        """Add the columns of joints that follow others to those of their masters."""
        kept = []
        for joint in oracle.drives(plan):
            at = model.idx_vs[number(joint.name)]
            column = jacobian[:, at : at + oracle.SPEEDS[joint.kind]].copy()
            for follower in plan.joints:
                if follower.mimic and follower.mimic[0] == joint.name:
                    column += follower.mimic[1] * jacobian[:, [model.idx_vs[number(follower.name)]]]
            kept.append(column)
        return np.hstack(kept)

    return pin, plan, random_q(np.random.default_rng(len(name)), plan, n), model, translated, columns


@pytest.mark.parametrize("floating", [False, True])
@pytest.mark.parametrize("name", FILES)
def test_plain_recursion_agrees_with_pinocchio(name, floating):
    pin, plan, q, model, translated, columns = of_pinocchio(name, floating)
    data, expected = model.createData(), oracle.link_poses(plan, q)
    for k, each in enumerate(q):
        pin.framesForwardKinematics(model, data, translated(each))
        for link in plan.links:
            if link != "odom":
                found = data.oMf[model.getFrameId(link, pin.FrameType.BODY)].homogeneous
                assert np.max(np.abs(found - expected[link][k])) <= 1e-12, link
    last = list(plan.links)[-1]
    frame = model.getFrameId(last, pin.FrameType.BODY)
    full = pin.computeFrameJacobian(model, data, translated(each), frame, pin.ReferenceFrame.LOCAL_WORLD_ALIGNED)
    assert np.max(np.abs(columns(full[:3]) - oracle.jacobian(plan, each, last))) <= 1e-10


@pytest.mark.parametrize("floating", [False, True])
@pytest.mark.parametrize("name", FILES)
def test_links_stand_and_move_as_in_pinocchio(name, floating):
    pin, plan, q, model, translated, columns = of_pinocchio(name, floating)
    robot, data, rng = plan.robot(), model.createData(), np.random.default_rng(7)
    found = robot.poses(q)
    for k, each in enumerate(q):
        pin.computeJointJacobians(model, data, translated(each))
        pin.updateFramePlacements(model, data)
        for row, link in enumerate(robot.link_names):
            if link == "odom":
                continue
            frame = model.getFrameId(link, pin.FrameType.BODY)
            pose = data.oMf[frame].homogeneous
            assert np.max(np.abs(found[k, row] - pose)) <= 1e-12, link
            full = pin.getFrameJacobian(model, data, frame, pin.ReferenceFrame.LOCAL_WORLD_ALIGNED)
            arm = rng.normal(size=3)
            shifted = columns(full[:3] + np.cross(full[3:].T, arm).T)
            assert np.max(np.abs(robot.jacobian(each, link, pose[:3, 3] + arm) - shifted)) <= 1e-12, link
            assert np.max(np.abs(robot.jacobian(each, link) - columns(full[:3]))) <= 1e-12, link


# Gradients -----------------------------------------------------------------------------------------------------------


@every_moving_robot
def test_gradient_is_the_slope_of_the_distance(name):
    plan, world, q, distance = contact_case(name)
    robot, checked = plan.robot(), 0
    for each in q[distance > 1e-4]:
        gap = robot.nearest(each, robots.as_mapping(world))
        found = robot.gradient(each, gap)
        assert found.shape == (robot.nv,)

        def of_this_pair(q, pair=tuple(gap.pair)):
            return oracle.distances(plan, world, q, [pair])[..., 0]

        coarse, fine = (oracle.slopes(of_this_pair, plan, each, h) for h in (2e-4, 1e-4))
        # Where two features are equally near the distance has a kink, and its differences depend on the step.
        if np.max(np.abs(coarse - fine)) <= 1e-6:
            checked += 1
            assert np.max(np.abs(found - fine)) <= 1e-5
    assert checked >= 3


def test_gradient_of_a_batch_is_a_loop():
    plan, world, q, _ = contact_case("seven")
    robot, world = plan.robot(), robots.as_mapping(world)
    gaps = cl.clearances(robot, world, q)
    found = robot.gradient(q, gaps)
    assert found.shape == (len(q), robot.nv)
    assert np.array_equal(found, [robot.gradient(each, robot.nearest(each, world)) for each in q])


def test_gradient_of_two_links_by_hand():
    links = {"rail": (), "left": (cl.Sphere(0.1),), "right": (cl.Sphere(0.2),)}
    joints = (
        JointPlan("a", "prismatic", "rail", "left", axis=(1.0, 0.0, 0.0)),
        JointPlan("b", "prismatic", "rail", "right", lift(1.0), axis=(1.0, 0.0, 0.0)),
    )
    robot = Plan("slides", links, joints).robot()
    gap = robot.nearest([0.1, 0.0])
    assert gap.distance == pytest.approx(0.6)
    assert robot.gradient([0.1, 0.0], gap).tolist() == pytest.approx([-1.0, 1.0])
    wall = {"wall": cl.Box([1.0, 4.0, 4.0]).at([-1.0, 0.0, 0.0])}
    gap = robot.nearest([-0.3, 0.0], wall)
    assert set(gap.pair) == {"left", "wall"}
    assert gap.distance == pytest.approx(0.1)
    assert robot.gradient([-0.3, 0.0], gap).tolist() == pytest.approx([1.0, 0.0])


def test_step_along_the_gradient_opens_the_gap():
    plan, world, q, distance = contact_case("seven")
    robot, world = plan.robot(), robots.as_mapping(world)
    opened = []
    for each in q[distance > 1e-3]:
        gap = robot.nearest(each, world)
        slope = robot.gradient(each, gap)
        if np.linalg.norm(slope) < 1e-2:
            continue  # between what stands still
        after = robot.distances(each + 1e-4 * slope, world)
        row = [set(pair) for pair in after.pairs].index(set(gap.pair))
        opened.append(after.distance[row] > gap.distance)
    assert len(opened) >= 4
    assert all(opened)


def test_what_is_too_far_to_be_measured_has_no_gradient():
    robot = robots.planar_arm().robot()
    q = np.zeros((3, 3))
    assert np.isnan(robot.gradient(q[0], robot.nearest(q[0], at_most=0.1))).all()
    assert np.isnan(robot.gradient(q, cl.clearances(robot, None, q, at_most=0.1))).all()


def test_gap_that_is_none_has_no_gradient():
    robot = robots.planar_arm().robot()
    with pytest.raises((ValueError, TypeError, AttributeError)):
        robot.gradient([0.1, 0.2, 0.3], None)


def test_gradients_of_single_answers_batches_and_all_pairs_agree():
    robot, q = robots.two_arms().robot(), robots.two_arms().robot().random(5, seed=2)
    batch = robot.gradient(q, cl.clearances(robot, None, q))
    for row, expected in zip(q, batch, strict=True):
        np.testing.assert_array_equal(robot.gradient(row, robot.nearest(row)), expected)
        np.testing.assert_array_equal(robot.gradient(row, cl.clearances(robot, None, row)), expected)
    table = robot.distances(q)
    every = robot.gradient(q, table)
    assert every.shape == (5, len(robot.pairs), robot.nv)
    nearest = np.argmin(table.distance, axis=1)
    np.testing.assert_allclose(every[np.arange(5), nearest], batch, atol=1e-7)
    with pytest.raises(ValueError, match="shape"):
        robot.gradient(q[:3], cl.clearances(robot, None, q))
