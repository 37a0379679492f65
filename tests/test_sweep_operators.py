"""Operators of single joints against plain formulas, what they cost, and what a sweep refuses."""

import numpy as np
import pytest

import clearance as cl
import robots
import solids
import sweep_oracle as oracle
from test_sweep import assert_inside, case

OPERATORS = ("circ1", "circ2", "circ3", "circ4", "circ6", "circ9", "trans1", "trans2")
MANY = 1_000_000
AXES = ((0.0, 0.0, 1.0), (1.0, -2.0, 0.5))


def kind_of(operator):
    return "prismatic" if operator.startswith("trans") else "revolute"


def single_joint(operator, axis, hull):
    joint = cl.Joint("joint", kind_of(operator), "foot", "arm", axis=axis)
    return cl.Robot([cl.Link("foot"), cl.Link("arm", hull)], [joint])


def draw_hull(rng):
    return cl.ConvexHull(rng.normal(size=(5, 3)) * [0.3, 0.1, 0.5] + 0.3 * rng.normal(size=3), 0.05 * rng.random())


def largest_width(operator):
    """Return how far a joint may turn for the printed formula to hold."""
    count = int(operator[4:]) if operator.startswith("circ") else 1
    return {1: np.pi, 2: 2 * np.pi, 3: np.pi}.get(count, 2 * np.pi)


# The formulas --------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("operator", OPERATORS)
def test_the_formulas_cover_the_motion(operator):
    rng = np.random.default_rng(1)
    directions = solids.unit(rng.normal(size=(300, 3)))
    for k in range(20):
        low, points = rng.uniform(-3, 3), rng.normal(size=(4, 3))
        high = low + 0.999 * largest_width(operator) * rng.random()
        moved = oracle.moved_points(kind_of(operator), AXES[k % 2], np.linspace(low, high, 50), points)
        bound = oracle.extent(oracle.operator(operator, AXES[k % 2], low, high, (0.1, points)), directions)
        assert np.all(oracle.extent((0.1, moved.reshape(-1, 3)), directions) <= bound + 1e-12)


@pytest.mark.parametrize("printed", [oracle.circ1, oracle.circ2])
def test_the_distance_from_the_axis_is_never_looser_than_that_from_the_origin(printed):
    rng = np.random.default_rng(2)
    for _ in range(20):
        volume, high = (0.1, rng.normal(size=(4, 3))), rng.uniform(0, np.pi)
        assert printed([0.0, 1.0, 0.0], 0.0, high, volume)[0] <= printed([0.0, 1.0, 0.0], 0.0, high, volume, True)[0]


@pytest.mark.parametrize("operator", OPERATORS)
def test_volumes_are_no_looser_than_the_formulas(operator):
    """On average over directions; where all points share one radius, moving them within it gains in most of these."""
    rng = np.random.default_rng(3)
    directions = solids.unit(rng.normal(size=(1000, 3)))
    for k in range(20):
        hull, low = draw_hull(rng), rng.uniform(-3, 3)
        high = low + 0.99 * largest_width(operator) * rng.random()
        robot = single_joint(operator, AXES[k % 2], hull)
        (volume,) = cl.sweep(robot, [low], [high], operators={"joint": operator}).volumes("arm", "foot")
        expected = oracle.operator(operator, AXES[k % 2], low, high, (hull.radius, np.array(hull.points)))
        more = oracle.extent((volume.radius, np.array(volume.points)), directions) - oracle.extent(expected, directions)
        assert np.mean(more) <= 1e-9
        if operator != "circ2" and high - low <= largest_width(operator) / 2:
            assert np.max(more) <= 1e-9


@pytest.mark.parametrize("operator", OPERATORS)
def test_volumes_contain_what_moves(operator):
    rng = np.random.default_rng(4)
    for width in (0.0, 1e-9, 0.3, 2.0, np.pi, 3.3, 6.0, 2 * np.pi, 9.0):
        hull, low = draw_hull(rng), rng.uniform(-3, 3)
        robot = single_joint(operator, AXES[1], hull)
        (volume,) = cl.sweep(robot, [low], [low + width], operators={"joint": operator}).volumes("arm", "foot")
        surface = solids.support(hull, rng.normal(size=(20, 3)))
        moved = oracle.moved_points(kind_of(operator), AXES[1], np.linspace(low, low + width, 41), surface)
        assert_inside(moved.reshape(-1, 3), volume)


@pytest.mark.parametrize("operator", OPERATORS)
def test_operators_have_so_many_points_per_point(operator):
    robot = single_joint(operator, AXES[1], cl.ConvexHull(np.eye(3), 0.1))
    (volume,) = cl.sweep(robot, [0.1], [0.5], operators={"joint": operator}).volumes("arm", "foot")
    assert len(volume.points) <= 3 * int(operator.removeprefix("circ").removeprefix("trans"))


def test_two_points_are_chosen_unless_said_otherwise():
    robot, _, boxes = case("two arms")
    chosen = cl.sweep(robot, *boxes[2], operators=oracle.everywhere(robot, "circ2", "trans2")).lowers()
    assert cl.sweep(robot, *boxes[2], operators=None).lowers() == chosen
    assert cl.sweep(robot, *boxes[2], operators={}).lowers() == chosen


# More and fewer points -----------------------------------------------------------------------------------------------


@pytest.mark.parametrize("name", ["seven", "two arms", "stacked"])
def test_more_points_are_tighter_on_average(name):
    robot, _, _ = case(name)
    rng = np.random.default_rng(5)
    boxes = [oracle.around(robot, q, rng, 0.4) for q in robot.random(6, seed=rng)]

    def mean(circle, slide):
        choice = oracle.everywhere(robot, circle, slide)
        return np.mean(
            [list(cl.sweep(robot, *box, operators=choice, max_points=MANY).lowers().values()) for box in boxes]
        )

    assert mean("circ1", "trans1") < mean("circ2", "trans1") <= mean("circ2", "trans2")
    assert mean("circ1", "trans2") < mean("circ3", "trans2") < mean("circ5", "trans2")


@pytest.mark.parametrize("name", ["seven", "two arms", "gripper", "scara", "rover", "walker", "arm"])
@pytest.mark.parametrize("operators", ["auto", None])
def test_volumes_keep_to_the_number_of_points(name, operators):
    robot, _, boxes = case(name)
    least = cl.sweep(robot, *boxes[2], operators=operators, max_points=1).points
    for share in (1.0, 1.3, 2.0, 5.0):
        swept = cl.sweep(robot, *boxes[2], operators=operators, max_points=int(share * least))
        assert least <= swept.points <= int(share * least)


@pytest.mark.parametrize("name", ["seven", "two arms"])
def test_the_automatic_choice_is_worth_its_points(name):
    robot, _, _ = case(name)
    rng = np.random.default_rng(6)
    gains = []
    for q in robot.random(6, seed=rng):
        box = oracle.around(robot, q, rng, 0.4)
        few = cl.sweep(robot, *box, operators=oracle.everywhere(robot, "circ1", "trans1"))
        auto = cl.sweep(robot, *box, operators="auto", max_points=2 * few.points)
        gains.append(np.mean(list(auto.lowers().values())) - np.mean(list(few.lowers().values())))
    assert np.mean(gains) > 0


@pytest.mark.parametrize("name", ["seven", "two arms", "gripper", "scara", "cylindrical", "stacked"])
def test_triangles_of_a_larger_box_contain_those_of_a_smaller(name):
    """The triangle of a part of an arc lies inside that of the arc; balls about an arc have no such order."""
    robot, _, _ = case(name)
    rng, choice = np.random.default_rng(7), oracle.everywhere(robot, "circ3", "trans2")
    for q in robot.random(4, seed=rng):
        low, high = oracle.around(robot, q, rng, 0.5)
        larger = low - 0.3 * rng.random(robot.dof) * (high - low), high + 0.3 * rng.random(robot.dof) * (high - low)
        inner, outer = (
            np.array(list(cl.sweep(robot, *box, operators=choice, max_points=MANY).lowers().values()))
            for box in ((low, high), larger)
        )
        assert np.all(outer <= inner + np.where(outer < 0, 1e-7, 2e-9))


# What is refused -----------------------------------------------------------------------------------------------------


def scara_box():
    return robots.scara().robot(), np.array([0.0, 0.0, 0.1, 0.0]), np.array([0.2, 0.1, 0.2, 0.3])


def test_configurations_may_be_given_by_name():
    robot, _, high = scara_box()
    names = dict(zip(robot.joint_names, high, strict=True))
    assert cl.sweep(robot, {}, names).lowers() == cl.sweep(robot, np.zeros(4), high).lowers()


def test_ends_in_the_wrong_order_are_refused():
    robot, low, high = scara_box()
    low[1] = 0.5
    with pytest.raises(ValueError, match="elbow"):
        cl.sweep(robot, low, high)


@pytest.mark.parametrize("end", [0, 1])
@pytest.mark.parametrize("joint", range(4))
def test_values_that_are_no_numbers_are_refused(joint, end):
    robot, *box = scara_box()
    box[end][joint] = np.nan
    with pytest.raises(ValueError, match="NaN"):
        cl.sweep(robot, *box)


@pytest.mark.parametrize("end", [0, 1])
def test_sliding_without_end_is_refused(end):
    robot, *box = scara_box()
    box[end][2] = (-np.inf, np.inf)[end]
    with pytest.raises(ValueError, match="slide"):
        cl.sweep(robot, *box)


@pytest.mark.parametrize("end", [0, 1])
def test_the_wrong_number_of_values_is_refused(end):
    robot, *box = scara_box()
    box[end] = box[end][:3]
    with pytest.raises(ValueError, match="4"):
        cl.sweep(robot, *box)


@pytest.mark.parametrize(
    ("operators", "error", "word"),
    [
        ({"shoulder": "circ0"}, ValueError, "circ0"),
        ({"shoulder": "circle"}, ValueError, "circle"),
        ({"shoulder": "trans2"}, ValueError, "shoulder"),
        ({"slide": "circ2"}, ValueError, "slide"),
        ({"nobody": "circ2"}, KeyError, "nobody"),
        ("best", ValueError, "best"),
    ],
)
def test_operators_that_do_not_fit_are_refused(operators, error, word):
    robot, *box = scara_box()
    with pytest.raises(error, match=word):
        cl.sweep(robot, *box, operators=operators)


@pytest.mark.parametrize("most", [0, -3])
def test_no_points_at_all_are_refused(most):
    robot, *box = scara_box()
    with pytest.raises(ValueError, match="max_points"):
        cl.sweep(robot, *box, max_points=most)


def test_unknown_links_are_refused():
    robot, *box = scara_box()
    swept = cl.sweep(robot, *box)
    for call in (
        lambda: swept.lower("nobody", "tool"),
        lambda: swept.lower("tool", "nobody"),
        lambda: swept.volumes("nobody"),
        lambda: swept.frames("nobody"),
    ):
        with pytest.raises(KeyError, match="nobody"):
            call()
    with pytest.raises((KeyError, ValueError), match="tool"):
        swept.volumes("inner", "tool")


def test_operators_that_would_make_billions_of_points_give_way():
    robot = cl.samples.upper_body()
    q = cl.samples.upper_body_home()
    everywhere = {joint.name: "circ16" for joint in robot.joints}
    swept = cl.sweep(robot, q - 0.1, q + 0.1, operators=everywhere, max_points=5000)
    assert swept.points <= 5000
    assert cl.Guard(robot, operators=everywhere).points <= 1000
    for bad in (0, 10**9, 2.5):
        with pytest.raises(ValueError, match="max_points"):
            cl.sweep(robot, q, q, max_points=bad)
