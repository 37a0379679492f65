"""Which pairs are checked and how much room they need: rules, allowances, margins, loads and sampling."""

from dataclasses import replace
from itertools import permutations

import numpy as np
import pytest
from hypothesis import given, settings

import clearance as cl
import robot_oracle as oracle
import robots
from robots import PLANS, JointPlan, Plan, as_mapping, contact_case, lift, random_q
from strategies import seeds
from test_kinematics import random_tree

every_robot = pytest.mark.parametrize("name", PLANS)


def as_sets(pairs):
    found = [frozenset(pair) for pair in pairs]
    assert len(set(found)) == len(found), "a pair stands twice"
    return set(found)


def arm(count=5):
    """A chain of balls 0.2 in radius, one metre apart along x, that turns about x and so never moves them."""
    links = {f"b{k}": (cl.Sphere(0.2),) for k in range(count)}
    joints = tuple(
        JointPlan(f"j{k}", "revolute", f"b{k}", f"b{k + 1}", lift(1.0), (1.0, 0.0, 0.0)) for k in range(count - 1)
    )
    return Plan("balls", links, joints)


def checked(robot, *, world=None):
    """Return the pairs that `distances` measures."""
    return as_sets(robot.distances(np.zeros(robot.dof), world).pairs)


# The rule ------------------------------------------------------------------------------------------------------------


@every_robot
def test_pairs_follow_the_rule(name):
    plan = PLANS[name]()
    robot = plan.robot()
    assert as_sets(robot.pairs) == as_sets(oracle.pairs(plan))
    assert all(isinstance(a, str) and isinstance(b, str) for a, b in robot.pairs)


@settings(max_examples=30)
@given(seeds())
def test_pairs_of_random_trees_follow_the_rule(seed):
    rng = np.random.default_rng(seed)
    plan = random_tree(rng)
    plan = replace(plan, links={name: (cl.Sphere(0.1),) * int(rng.random() < 0.7) for name in plan.links})
    assert as_sets(plan.robot().pairs) == as_sets(oracle.pairs(plan))


def test_pairs_of_the_stacked_robot_by_hand():
    near = {("plinth", "carriage"), ("plinth", "lamp"), ("plinth", "camera"), ("column", "carriage")}
    near |= {("column", "lamp"), ("column", "camera"), ("beam", "camera"), ("knob", "camera")}
    # The gimbal has no shape, but it stands between two joints.
    near |= {("carriage", "camera"), ("lamp", "camera")}
    assert as_sets(robots.stacked().robot().pairs) == as_sets(near)


def test_every_link_meets_every_body_of_the_world():
    robot = robots.stacked().robot()
    with_shapes = ["plinth", "column", "beam", "knob", "carriage", "lamp", "camera"]
    world = {"wall": cl.Sphere(0.1).at([3.0, 0.0, 0.0]), "door": cl.Sphere(0.1).at([4.0, 0.0, 0.0])}
    expected = as_sets(robot.pairs) | {frozenset((link, body)) for link in with_shapes for body in world}
    assert checked(robot, world=world) == expected
    assert len(robot.pairs) == 10


# Allowed and forbidden -----------------------------------------------------------------------------------------------


def test_allowed_pairs_are_not_checked():
    robot = arm().robot()
    assert not robot.is_allowed("b0", "b2")
    robot.allow("b2", "b0")
    assert robot.is_allowed("b0", "b2")
    assert robot.is_allowed("b2", "b0")
    assert as_sets(robot.pairs) == as_sets(oracle.pairs(arm())) - {frozenset(("b0", "b2"))}
    assert checked(robot) == as_sets(robot.pairs)


def test_neighbours_are_allowed_until_forbidden():
    robot = arm().robot()
    assert robot.is_allowed("b1", "b2")
    robot.forbid("b1", "b2")
    assert not robot.is_allowed("b2", "b1")
    assert frozenset(("b1", "b2")) in as_sets(robot.pairs)
    assert cl.clearances(robot, None, np.zeros(4)).distance == pytest.approx(0.6)
    robot.reset("b2", "b1")
    assert robot.is_allowed("b1", "b2")
    assert as_sets(robot.pairs) == as_sets(oracle.pairs(arm()))


def test_later_word_about_a_pair_wins():
    robot = arm().robot()
    for say, allowed in ((robot.allow, True), (robot.forbid, False), (robot.allow, True), (robot.allow, True)):
        say("b0", "b3")
        assert robot.is_allowed("b3", "b0") == allowed
        assert (frozenset(("b0", "b3")) in as_sets(robot.pairs)) != allowed


def test_link_as_a_whole():
    robot = arm().robot()
    robot.allow("b0")
    assert all("b0" not in pair for pair in robot.pairs)
    assert as_sets(robot.pairs) == {frozenset(pair) for pair in oracle.pairs(arm()) if "b0" not in pair}
    assert robot.is_allowed("b0", "b4")
    robot.reset("b0")
    assert as_sets(robot.pairs) == as_sets(oracle.pairs(arm()))


@pytest.mark.parametrize("pair_first", [True, False])
def test_word_about_a_pair_outranks_one_about_a_link(pair_first):
    robot = arm().robot()
    for about_pair in (pair_first, not pair_first):
        if about_pair:
            robot.forbid("b0", "b2")
        else:
            robot.allow("b0")
    assert not robot.is_allowed("b0", "b2")
    assert robot.is_allowed("b0", "b3")
    assert frozenset(("b0", "b2")) in as_sets(robot.pairs)
    assert frozenset(("b0", "b3")) not in as_sets(robot.pairs)


@pytest.mark.parametrize("pair_first", [True, False])
def test_allowed_pair_of_a_forbidden_link_stays_allowed(pair_first):
    robot = arm().robot()
    for about_pair in (pair_first, not pair_first):
        if about_pair:
            robot.allow("b0", "b2")
        else:
            robot.forbid("b0")
    assert robot.is_allowed("b0", "b2")
    assert not robot.is_allowed("b0", "b3")


def test_between_an_allowed_and_a_forbidden_link_safety_wins():
    for order in permutations(("allow", "forbid")):
        robot = arm().robot()
        for word in order:
            getattr(robot, word)({"allow": "b0", "forbid": "b3"}[word])
        assert not robot.is_allowed("b0", "b3")
        assert robot.is_allowed("b0", "b2")
        assert not robot.is_allowed("b1", "b3")


def test_forbidden_link_is_checked_against_its_neighbours_as_well():
    robot = arm().robot()
    robot.forbid("b1")
    assert as_sets(robot.pairs) == as_sets(oracle.pairs(arm())) | {frozenset(("b0", "b1")), frozenset(("b1", "b2"))}


def test_links_without_shapes_make_no_pair_even_if_forbidden():
    robot = robots.rover().robot()
    robot.forbid("map", "hand")
    robot.forbid("map")
    assert all("map" not in pair for pair in robot.pairs)


def test_allowances_reach_bodies_of_the_world():
    robot = arm().robot()
    world = {"wall": cl.Sphere(0.5).at([0.0, 1.0, 0.0]), "lamp": cl.Sphere(0.5).at([0.0, -3.0, 0.0])}
    assert not robot.is_allowed("b0", "wall")
    assert cl.clearances(robot, world, np.zeros(4)).distance == pytest.approx(0.3)
    robot.allow("wall", "b0")
    assert robot.is_allowed("b0", "wall")
    assert cl.clearances(robot, world, np.zeros(4)).distance == pytest.approx(2**0.5 - 0.7)
    assert frozenset(("b0", "wall")) not in checked(robot, world=world)
    robot.allow("wall")
    assert all("wall" not in pair for pair in checked(robot, world=world))
    assert cl.is_clear(robot, world, np.zeros(4), margin=1.0)
    robot.reset("wall", "b0")
    robot.reset("wall")
    assert cl.clearances(robot, world, np.zeros(4)).distance == pytest.approx(0.3)


def test_everything_allowed_leaves_nothing_to_check():
    robot = arm().robot()
    for name in robot.link_names:
        robot.allow(name)
    world = {"wall": cl.Sphere(9.0)}
    assert robot.pairs == []
    assert cl.is_clear(robot, world, np.zeros(4), margin=5.0)
    assert cl.clearances(robot, world, np.zeros(4)).distance == np.inf


def test_words_about_pairs_change_answers_at_once():
    plan, world, q, distance = contact_case("two arms")
    robot, world_map = plan.robot(), as_mapping(world)
    rng = np.random.default_rng(1)
    pairs = oracle.all_pairs(plan, world)
    for _ in range(6):
        for k in rng.choice(len(pairs), 10, replace=False):
            robot.allow(*pairs[k])
        left = [pair for pair in pairs if not robot.is_allowed(*pair)]
        expected = oracle.least(plan, world, q, left)
        assert np.allclose(cl.clearances(robot, world_map, q).distance, expected, rtol=0, atol=2e-7)
    assert np.any(expected > distance + 1e-3)


@pytest.mark.parametrize("word", ["allow", "forbid", "is_allowed", "margin"])
def test_link_is_no_pair_with_itself(word):
    with pytest.raises(ValueError, match="b1"):
        getattr(arm().robot(), word)("b1", "b1")


@pytest.mark.parametrize("word", ["allow", "forbid", "reset"])
@pytest.mark.parametrize("bad", [3, None, ["b0"], b"b0"])
def test_what_is_no_name_cannot_be_allowed(word, bad):
    robot = arm().robot()
    with pytest.raises((TypeError, ValueError, KeyError)):
        getattr(robot, word)(bad, "b1")
    assert as_sets(robot.pairs) == as_sets(oracle.pairs(arm()))


# Margins -------------------------------------------------------------------------------------------------------------


def test_paddings_add_and_the_margin_of_a_pair_replaces_them():
    robot = arm().robot()
    assert robot.margin("b0", "b2") == 0.0
    robot.set_margin("b0", margin=0.02)
    robot.set_margin("b2", margin=0.03)
    assert robot.margin("b0", "b2") == robot.margin("b2", "b0") == pytest.approx(0.05)
    assert robot.margin("b0", "b3") == 0.02
    robot.set_margin("b2", "b0", margin=0.01)
    assert robot.margin("b0", "b2") == robot.margin("b2", "b0") == 0.01
    robot.set_margin("b0", margin=0.5)
    assert robot.margin("b0", "b2") == 0.01
    assert robot.margin("b0", "b3") == 0.5
    robot.set_margin("b0", margin=0.0)
    assert robot.margin("b0", "b3") == 0.0


def test_margins_are_asked_for_on_top():
    robot = arm(3).robot()  # b0 and b2 are 1.6 apart
    q = np.zeros(2)
    assert cl.is_clear(robot, None, q, margin=1.59)
    assert not cl.is_clear(robot, None, q, margin=1.61)
    robot.set_margin("b0", margin=0.5)
    robot.set_margin("b2", margin=0.3)
    assert cl.is_clear(robot, None, q, margin=0.79)
    assert not cl.is_clear(robot, None, q, margin=0.81)
    robot.set_margin("b0", "b2", margin=1.0)
    assert cl.is_clear(robot, None, q, margin=0.59)
    assert not cl.is_clear(robot, None, q, margin=0.61)
    assert robot.distances(q).distance.tolist() == pytest.approx([1.6])


def test_margins_reach_bodies_of_the_world():
    robot = arm(3).robot()
    world, q = {"wall": cl.Sphere(0.5).at([0.0, 1.0, 0.0])}, np.zeros(2)  # b0 and wall are 0.3 apart
    assert cl.is_clear(robot, world, q, margin=0.29)
    robot.set_margin("wall", margin=0.1)
    assert robot.margin("b1", "wall") == 0.1
    assert cl.is_clear(robot, world, q, margin=0.19)
    assert not cl.is_clear(robot, world, q, margin=0.21)
    robot.set_margin("wall", "b0", margin=0.0)
    assert cl.is_clear(robot, world, q, margin=0.29)
    assert not cl.is_clear(robot, world, q, margin=2**0.5 - 0.79)


@pytest.mark.parametrize("name", ["two arms", "mixed", "rover"])
def test_margins_of_every_pair_decide_together(name):
    plan, world, q, _ = contact_case(name)
    robot, rng = plan.robot(), np.random.default_rng(2)
    pairs = oracle.all_pairs(plan, world)
    needed = np.zeros(len(pairs))
    for k, pair in enumerate(pairs):
        if rng.random() < 0.5:
            needed[k] = rng.choice([0.001, 0.02, 0.1])
            robot.set_margin(*pair, margin=needed[k])
    room = np.min(oracle.distances(plan, world, q) - needed, axis=-1)
    sure = np.abs(room) > 1e-7
    assert np.array_equal(cl.is_clear(robot, as_mapping(world), q)[sure], (room > 0)[sure])
    assert 0.1 <= np.mean(room > 0) <= 0.7
    assert sure.mean() > 0.6


@pytest.mark.parametrize("bad", [np.nan, np.inf, "x", None])
def test_what_is_no_margin_is_refused(bad):
    robot = arm().robot()
    with pytest.raises((ValueError, TypeError), match="margin"):
        robot.set_margin("b0", "b2", margin=bad)
    assert robot.margin("b0", "b2") == 0.0


# Loads ---------------------------------------------------------------------------------------------------------------


def loaded(plan, link, name, shapes, pose):
    """Return the plan of a robot that carries a load."""
    joint = JointPlan(f"hold {name}", "fixed", link, name, pose)
    return replace(plan, links={**plan.links, name: shapes}, joints=(*plan.joints, joint))


@pytest.mark.parametrize(
    ("name", "link"), [("planar arm", "arm 2"), ("two arms", "left fore"), ("stacked", "lamp"), ("walker", "trunk")]
)
def test_load_is_a_link_fixed_to_another(name, link):
    plan, world, q, _ = contact_case(name)
    robot, pose = plan.robot(), lift(0.1, 0.05, 0.1, (0.0, 1.0, 0.0), 0.4)
    shapes = (cl.Box([0.2, 0.1, 0.1]), cl.Sphere(0.05).at([0.1, 0.0, 0.0]))
    expected = loaded(plan, link, "load", shapes, pose)
    names = list(robot.link_names)
    robot.attach(link, "load", shapes, pose)
    assert list(robot.link_names) == [*names, "load"]
    assert robot.dof == oracle.dof(plan)
    # Unlike a link, a load may hit what the next joint connects: only what holds it is excused.
    group = oracle.rigid_groups(expected)
    others = [other for other in plan.links if plan.links[other] and group[other] != group["load"]]
    pairs = oracle.pairs(plan) + [(other, "load") for other in others]
    assert as_sets(robot.pairs) == as_sets(pairs)
    assert np.allclose(robot.pose(q, "load"), oracle.link_poses(expected, q)["load"], rtol=0, atol=1e-14)
    found = cl.clearances(robot, as_mapping(world), q).distance
    pairs += [pair for pair in oracle.all_pairs(expected, world) if pair[1] in world]
    assert np.allclose(found, oracle.least(expected, world, q, pairs), rtol=0, atol=2e-7)
    robot.detach("load")
    assert list(robot.link_names) == names
    assert as_sets(robot.pairs) == as_sets(oracle.pairs(plan))
    found = cl.clearances(robot, as_mapping(world), q).distance
    assert np.allclose(found, oracle.least(plan, world, q), rtol=0, atol=2e-7)


def test_load_may_touch_what_it_is_allowed_to():
    plan = arm()
    robot = plan.robot()
    world = {"shelf": cl.Box([1.0, 1.0, 0.1]).at([4.0, 0.0, -0.5])}
    robot.attach("b4", "cup", cl.Sphere(0.1), [0.0, 0.0, -0.4], touching=("b2", "shelf"))
    assert robot.is_allowed("cup", "b4")
    assert robot.is_allowed("cup", "b2")
    assert robot.is_allowed("shelf", "cup")
    assert not robot.is_allowed("cup", "b0")
    assert not robot.is_allowed("b4", "shelf")
    assert cl.is_clear(robot, world, np.zeros(4))
    robot.detach("cup")
    robot.attach("b4", "cup", cl.Sphere(0.1), [0.0, 0.0, -0.4])
    assert not robot.is_allowed("cup", "b2")
    assert not robot.is_allowed("cup", "shelf")
    assert not cl.is_clear(robot, world, np.zeros(4))


def test_allowances_of_the_rest_survive_a_load():
    robot = arm().robot()
    robot.allow("b0", "b2")
    robot.set_margin("b1", "b3", margin=0.4)
    robot.attach("b4", "cup", cl.Sphere(0.1), [0.3, 0.0, 0.0])
    robot.attach("b4", "plate", [cl.Sphere(0.1), cl.Box([0.1, 0.1, 0.1])], [0.0, 0.3, 0.0])
    assert robot.is_allowed("b0", "b2")
    assert robot.is_allowed("cup", "plate")
    robot.detach("cup")
    robot.detach("plate")
    assert robot.is_allowed("b0", "b2")
    assert robot.margin("b1", "b3") == 0.4


def test_loads_that_cannot_be_are_refused():
    robot = arm().robot()
    with pytest.raises(KeyError, match="nobody"):
        robot.attach("nobody", "cup", cl.Sphere(0.1))
    with pytest.raises(ValueError, match="b1"):
        robot.attach("b4", "b1", cl.Sphere(0.1))
    with pytest.raises((TypeError, ValueError)):
        robot.attach("b4", "cup", "a cup")
    with pytest.raises((TypeError, ValueError)):
        robot.attach("b4", "cup", cl.Sphere(0.1), [np.nan, 0.0, 0.0])
    with pytest.raises(KeyError, match="cup"):
        robot.detach("cup")
    with pytest.raises((ValueError, KeyError), match="b1"):
        robot.detach("b1")
    assert list(robot.link_names) == list(arm().links)
    assert as_sets(robot.pairs) == as_sets(oracle.pairs(arm()))


def test_load_with_the_name_of_a_body_of_the_world_is_refused_where_they_meet():
    robot = arm().robot()
    robot.attach("b4", "cup", cl.Sphere(0.1), [0.5, 0.0, 0.0])
    with pytest.raises(ValueError, match="cup"):
        cl.is_clear(robot, {"cup": cl.Sphere(0.1)}, np.zeros(4))


# Sampling ------------------------------------------------------------------------------------------------------------


def knot():
    """A robot of which some pairs always collide, some never, and some now and then."""
    links = {
        "hub": (cl.Sphere(0.1),),
        "collar": (),
        "arm": (cl.Sphere(0.12), cl.Sphere(0.05).at([0.5, 0.0, 0.0])),
        "joint": (),
        "hand": robots.bar(0.05, 0.45),
        "far": (cl.Sphere(0.05).at([0.0, 0.0, 3.0]),),
    }
    joints = (
        JointPlan("a", "revolute", "hub", "collar", axis=(0.0, 1.0, 0.0), lower=-1.0, upper=1.0),
        JointPlan("b", "revolute", "collar", "arm", axis=(1.0, 0.0, 0.0), lower=-1.0, upper=1.0),
        JointPlan("c", "revolute", "arm", "joint", lift(0.5), (0.0, 0.0, 1.0), -3.1, 3.1),
        JointPlan("d", "continuous", "joint", "hand", axis=(1.0, 0.0, 0.0)),
        JointPlan("e", "revolute", "hub", "far", axis=(0.0, 0.0, 1.0), lower=-1.0, upper=1.0),
    )
    return Plan("knot", links, joints)


def test_sampling_tells_always_never_and_sometimes_apart():
    plan = knot()
    robot = plan.robot()
    robot.allow("arm", "hand")
    before = robot.pairs
    report = robot.allow_by_sampling(2000, seed=1)
    assert report.samples == 2000
    assert as_sets(report.always) == {frozenset(("hub", "arm"))}
    assert as_sets(report.sometimes) == {frozenset(("hub", "hand"))}
    assert as_sets([*report.always, *report.never, *report.sometimes]) == as_sets(before)
    assert as_sets(report.hits) == as_sets(before)
    assert all(report.hits[pair] == 2000 for pair in report.always)
    assert all(report.hits[pair] == 0 for pair in report.never)
    q = random_q(np.random.default_rng(2), plan, 4000)
    for pair in report.sometimes:
        share = np.mean(oracle.distances(plan, {}, q, [pair]) <= 0)
        assert abs(report.hits[pair] / 2000 - share) <= 5 * np.sqrt(share * (1 - share) * (1 / 2000 + 1 / 4000))
    assert robot.is_allowed("hub", "arm")
    assert as_sets(robot.pairs) == as_sets(before) - {frozenset(("hub", "arm"))}


def test_sampling_may_allow_what_never_collides():
    robot = knot().robot()
    robot.allow("arm", "hand")
    before = as_sets(robot.pairs)
    report = robot.allow_by_sampling(500, seed=3, never=True)
    assert as_sets(robot.pairs) == as_sets(report.sometimes) == {frozenset(("hub", "hand"))}
    assert as_sets(report.never) == before - as_sets(report.sometimes) - as_sets(report.always)


def test_sampling_repeats_with_its_seed():
    reports = [robots.seven().robot().allow_by_sampling(300, seed=seed) for seed in (5, 5, 6)]
    assert reports[0].hits == reports[1].hits
    assert reports[0].hits != reports[2].hits


def test_sampling_obeys_the_last_word():
    robot = knot().robot()
    robot.allow_by_sampling(100)
    robot.forbid("hub", "arm")
    assert not robot.is_allowed("hub", "arm")
    assert not cl.is_clear(robot, None, np.zeros(5))


def test_sampling_without_pairs_finds_none():
    report = robots.single().robot().allow_by_sampling(10)
    assert (report.always, report.never, report.sometimes, report.hits) == ([], [], [], {})


def test_progress_of_sampling_goes_from_nothing_to_all():
    seen = []
    robots.planar_arm().robot().allow_by_sampling(200, progress=seen.append)
    assert seen == sorted(seen)
    assert seen[-1] == 1.0


@pytest.mark.parametrize("bad", [0, -5, 2.5, "x", None])
def test_what_is_no_number_of_samples_is_refused(bad):
    with pytest.raises((ValueError, TypeError), match="samples"):
        robots.planar_arm().robot().allow_by_sampling(bad)
