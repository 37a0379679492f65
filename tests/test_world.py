"""The life of a world: bodies come, move and go; the same calls give the same bits; what is wrong is refused."""

import copy
import pickle
import threading

import numpy as np
import pytest

import clearance as cl
from clearance import simulation as sim
from physics import GROUND, MODELS, SHAPES, X, Z, fingerprint, floating, place, world_on_ground
from strategies import rigid_motions

BALL = cl.Sphere(0.3)


def heap(contact=None, count=20, seed=0, **settings):
    """Return a world in which bodies of every kind fall on the ground and on each other, some of them hinged."""
    world = world_on_ground(contact, **settings)
    rng, kinds = np.random.default_rng(seed), list(SHAPES)
    for k in range(count):
        pose = cl.poses.from_wxyz(rng.normal(size=4), [*rng.uniform(-1, 1, 2), 0.6 + 0.12 * k])
        world.add(f"body {k}", SHAPES[kinds[k % len(kinds)]], pose, velocity=rng.normal(size=6))
    world.join("hinge", "hinge", "body 0", "body 1", world.pose("body 0")[:3, 3], X)
    world.drive("hinge", 2.0, torque=50.0)
    return world


def stepped(world, *counts):
    for count in counts:
        world.step(count)
    return world


# Bodies --------------------------------------------------------------------------------------------------------------


def test_world_begins_empty_and_time_goes_on():
    world = sim.World()
    assert list(world.names) == []
    assert world.poses.shape == (0, 4, 4)
    assert world.velocities.shape == (0, 6)
    assert world.time == 0
    world.step(7)
    assert world.time == pytest.approx(7e-3, rel=1e-12)
    assert len(world.contacts.depths) == 0


def test_bodies_are_where_they_were_put():
    world, rng = floating(), np.random.default_rng(1)
    placed = rigid_motions(rng, len(SHAPES))
    velocities = rng.normal(size=(len(SHAPES), 6))
    for (name, shape), pose, velocity in zip(SHAPES.items(), placed, velocities, strict=True):
        world.add(name, shape, pose, velocity=velocity)
    assert list(world.names) == list(SHAPES)
    assert np.allclose(world.poses, placed, rtol=0, atol=1e-15)
    assert np.allclose(world.velocities, velocities, rtol=0, atol=1e-14)
    for k, name in enumerate(SHAPES):
        assert np.array_equal(world.pose(name), world.poses[k])
        assert np.array_equal(world.velocity(name), world.velocities[k])
        assert world.shape(name) is SHAPES[name] or world.shape(name) == SHAPES[name]


def test_poses_are_copies():
    world = floating()
    world.add("ball", BALL)
    world.poses[0, 0, 3] = 5.0
    world.pose("ball")[0, 3] = 5.0
    assert np.array_equal(world.pose("ball"), np.eye(4))


def test_velocity_of_three_numbers_does_not_turn():
    world = floating()
    world.add("ball", BALL, [1, 2, 3], velocity=[4, 5, 6])
    assert np.array_equal(world.velocity("ball"), [4, 5, 6, 0, 0, 0])


def test_bodies_can_be_set():
    world = floating()
    world.add("ball", BALL)
    pose = rigid_motions(np.random.default_rng(2), 1)[0]
    world.set("ball", pose=pose)
    assert np.allclose(world.pose("ball"), pose, rtol=0, atol=1e-15)
    assert np.array_equal(world.velocity("ball"), np.zeros(6))
    world.set("ball", velocity=[1, 0, 0, 0, 0, 2])
    assert np.allclose(world.pose("ball"), pose, rtol=0, atol=1e-15)
    assert np.array_equal(world.velocity("ball"), [1, 0, 0, 0, 0, 2])
    world.set("ball", pose=[0, 0, 9], velocity=np.zeros(3))
    assert np.array_equal(place(world, "ball"), [0, 0, 9])
    assert np.array_equal(world.velocity("ball"), np.zeros(6))


def test_bodies_can_be_removed():
    world = floating()
    for k, name in enumerate("abcd"):
        world.add(name, BALL, [k, 0, 0], velocity=[0, k, 0])
    world.remove("b")
    assert list(world.names) == ["a", "c", "d"]
    assert np.array_equal(world.poses[:, 0, 3], [0, 2, 3])
    assert np.array_equal(world.velocities[:, 1], [0, 2, 3])
    world.step(10)
    world.add("b", BALL, [5, 0, 0])
    assert list(world.names) == ["a", "c", "d", "b"]
    assert world.pose("b")[0, 3] == 5
    with pytest.raises(KeyError, match="x"):
        world.remove("x")


def test_body_that_carried_another_may_be_removed():
    world = world_on_ground()
    world.add("shelf", cl.Box([1, 1, 0.2]), [0, 0, 1], motion="fixed")
    world.add("ball", BALL, [0, 0, 1.4])
    world.step(500)
    assert world.touching("ball") == ["shelf"]
    world.remove("shelf")
    world.step(1500)
    assert world.touching("ball") == ["ground"]


def test_removing_a_body_leaves_the_others_as_if_it_had_never_been_near():
    """Bodies that never meet do not feel whether the other is there, to the last bit."""
    alone, together = world_on_ground(), world_on_ground()
    for world in (alone, together):
        world.add("box", cl.Box([1, 1, 1]), [0, 0, 0.7], velocity=[0.3, 0, 0, 0, 0.1, 0])
    together.add("far", BALL, [50, 0, 0.3])
    together.step(200)
    together.remove("far")
    together.step(200)
    alone.step(400)
    assert np.array_equal(alone.pose("box"), together.pose("box"))


def test_moved_body_meets_what_is_there():
    world = world_on_ground()
    world.add("ball", BALL, [0, 0, 5])
    world.add("table", cl.Box([2, 2, 1]), [10, 0, 0.5], motion="fixed")
    world.step(100)
    world.set("ball", pose=[10, 0, 1.31], velocity=np.zeros(6))
    world.step(500)
    assert world.touching("ball") == ["table"]
    assert place(world, "ball")[2] == pytest.approx(1.3, abs=5e-3)


def test_fixed_body_may_be_put_elsewhere():
    world = world_on_ground()
    world.add("table", cl.Box([2, 2, 1]), [10, 0, 0.5], motion="fixed")
    world.add("ball", BALL, [0, 0, 1.4])
    world.step(10)
    world.set("table", pose=[0, 0, 0.5])
    world.step(500)
    assert world.touching("ball") == ["table"]


def test_snapshot_is_a_scene_of_the_present():
    world = stepped(heap(count=6), 300)
    scene = world.scene()
    assert isinstance(scene, cl.Scene)
    assert list(scene.names) == list(world.names)
    for name in world.names:
        assert np.allclose(scene.pose(name), world.pose(name), rtol=0, atol=1e-15)


def test_robot_takes_part():
    robot = cl.samples.arm()
    world = world_on_ground()
    world.add_robot("arm", robot, np.zeros(robot.dof))
    links = [link.name for link in robot.links if link.shape is not None]
    assert {f"arm/{link}" for link in links} <= set(world.names)
    q = 0.3 * np.ones(robot.dof)
    world.guide_robot("arm", q)
    world.step()
    for k, link in enumerate(robot.links):
        if link.shape is not None:
            assert np.allclose(world.pose(f"arm/{link.name}"), robot.poses(q)[k], rtol=0, atol=1e-9)


# The same bits -------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("model", ["hard", "soft"])
def test_same_calls_give_the_same_bits(model):
    first, second = (stepped(heap(MODELS[model]), 1000) for _ in range(2))
    assert fingerprint(first) == fingerprint(second)
    assert len(first.contacts.depths) > 10


@pytest.mark.parametrize("model", ["hard", "soft"])
def test_number_of_threads_changes_no_bit(model):
    prints = {fingerprint(stepped(heap(MODELS[model], 60, threads=n), 800)) for n in (1, 2, 5, None)}
    assert len(prints) == 1


@pytest.mark.parametrize("model", ["hard", "soft"])
def test_ten_steps_are_ten_times_one(model):
    at_once, one_by_one = stepped(heap(MODELS[model]), *[10] * 80), stepped(heap(MODELS[model]), *[1] * 800)
    assert fingerprint(at_once) == fingerprint(one_by_one)
    assert np.array_equal(at_once.contacts.forces, one_by_one.contacts.forces)


def test_worlds_side_by_side_do_not_disturb_each_other():
    alone = stepped(heap(seed=3), 300)
    one, other = heap(seed=3), heap(MODELS["soft"], seed=4)
    for _ in range(30):
        one.step(10)
        other.step(10)
    assert fingerprint(one) == fingerprint(alone)


def test_python_threads_with_worlds_of_their_own_do_not_disturb_each_other():
    expected = [fingerprint(stepped(heap(seed=seed), 300)) for seed in range(4)]
    worlds, found = [heap(seed=seed) for seed in range(4)], [None] * 4

    def work(k):
        for _ in range(30):
            worlds[k].step(10)
        found[k] = fingerprint(worlds[k])

    workers = [threading.Thread(target=work, args=(k,)) for k in range(4)]
    for worker in workers:
        worker.start()
    for worker in workers:
        worker.join()
    assert found == expected


def test_reading_a_world_changes_nothing():
    quiet, watched = heap(), heap()
    for _ in range(40):
        quiet.step(10)
        watched.step(10)
        _ = watched.poses, watched.velocities, watched.contacts, watched.energy, watched.momentum, watched.work
        watched.touching("body 3")
        watched.scene()
    assert fingerprint(quiet) == fingerprint(watched)


# Saved worlds --------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("model", MODELS)
def test_saved_world_goes_on_with_the_same_bits(model, tmp_path):
    world = stepped(heap(MODELS[model]), 700)
    world.save(tmp_path / "world.npz")
    twin = sim.World.load(tmp_path / "world.npz")
    assert fingerprint(twin) == fingerprint(world)
    assert list(twin.names) == list(world.names)
    assert list(twin.joints) == list(world.joints)
    assert twin.joint_value("hinge") == world.joint_value("hinge")
    for _ in range(3):
        world.step(100)
        twin.step(100)
        assert fingerprint(twin) == fingerprint(world)
    assert np.array_equal(twin.contacts.forces, world.contacts.forces)


def test_saved_world_remembers_groups_what_is_ignored_and_materials(tmp_path):
    world = world_on_ground(material=sim.Material(friction=0.0))
    world.add("a", cl.Box([1, 1, 1]), [0, 0, 0.5], group="robot", material=sim.Material(friction=0.0))
    world.add("b", cl.Box([1, 1, 1]), [0, 0, 0.6], group="robot", velocity=[1, 0, 0])
    world.add("c", cl.Box([1, 1, 1]), [0, 0, 0.7])
    world.ignore("a", "c")
    world.ignore("b", "c")
    world.add("lift", BALL, [9, 0, 3], motion="kinematic", velocity=[0, 0, 1])
    world.save(tmp_path / "world.npz")
    twin = sim.World.load(tmp_path / "world.npz")
    for _ in range(5):
        world.step(100)
        twin.step(100)
        assert fingerprint(twin) == fingerprint(world)
    assert twin.touching("a") == ["ground"]


def test_saved_world_remembers_what_is_about_to_act(tmp_path):
    """Pushes and poses to be reached act in the next step, also in that of the twin."""
    world = floating()
    world.add("ball", BALL)
    world.add("door", cl.Box([1, 0.1, 2]), [5, 0, 0], motion="kinematic")
    world.push("ball", force=[1000.0, 0, 0], torque=[0, 10.0, 0])
    world.guide("door", [5, 0.001, 0])
    world.save(tmp_path / "world.npz")
    twin = sim.World.load(tmp_path / "world.npz")
    world.step(5)
    twin.step(5)
    assert fingerprint(twin) == fingerprint(world)


@pytest.mark.parametrize("copied", [copy.deepcopy, lambda world: pickle.loads(pickle.dumps(world))])
def test_copies_live_their_own_lives(copied):
    world = stepped(heap(), 300)
    twin = copied(world)
    assert fingerprint(twin) == fingerprint(world)
    before = fingerprint(world)
    twin.step(50)
    assert fingerprint(world) == before
    world.step(50)
    assert fingerprint(world) == fingerprint(twin)


def test_what_is_no_saved_world_is_refused(tmp_path):
    with pytest.raises(FileNotFoundError):
        sim.World.load(tmp_path / "nowhere.npz")
    (tmp_path / "text.npz").write_text("this is not a world")
    with pytest.raises(ValueError, match=r"text\.npz"):
        sim.World.load(tmp_path / "text.npz")
    whole = tmp_path / "whole.npz"
    stepped(heap(count=4), 20).save(whole)
    (tmp_path / "half.npz").write_bytes(whole.read_bytes()[: whole.stat().st_size // 2])
    with pytest.raises(ValueError, match=r"half\.npz"):
        sim.World.load(tmp_path / "half.npz")


# What is refused -----------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("given", "match"),
    [
        ({"gravity": (0, 0)}, "gravity"),
        ({"gravity": (0, 0, np.nan)}, "gravity"),
        ({"gravity": "down"}, "gravity"),
        ({"step": 0.0}, "step"),
        ({"step": -1e-3}, "step"),
        ({"step": np.inf}, "step"),
        ({"contact": "hard"}, "contact"),
        ({"contact": sim.Hard}, "contact"),
        ({"broad_phase": "sweep"}, "broad_phase"),
        ({"threads": 0}, "threads"),
        ({"threads": -2}, "threads"),
    ],
    ids=str,
)
def test_bad_worlds_are_refused(given, match):
    with pytest.raises((ValueError, TypeError), match=match):
        sim.World(**given)


@pytest.mark.parametrize(
    ("given", "match"),
    [
        ({"shape": "Box"}, "shape"),
        ({"shape": None}, "shape"),
        ({"pose": np.diag([1.0, 1.0, -1.0, 1.0])}, "pose|rotation"),
        ({"pose": np.diag([2.0, 2.0, 2.0, 1.0])}, "pose|rotation"),
        ({"pose": [0, 0, np.nan]}, "pose|finite|NaN|nan"),
        ({"pose": np.eye(3)[None]}, "pose"),
        ({"pose": np.tile(np.eye(4), (2, 1, 1))}, "pose"),
        ({"density": 0.0}, "density"),
        ({"density": -1.0}, "density"),
        ({"density": np.nan}, "density"),
        ({"mass": 0.0}, "mass"),
        ({"mass": -1.0}, "mass"),
        ({"mass": np.inf}, "mass"),
        ({"inertia": np.eye(2)}, "inertia"),
        ({"motion": "static"}, "motion"),
        ({"material": "steel"}, "material"),
        ({"velocity": [1, 2]}, "velocity"),
        ({"velocity": [0, 0, np.inf]}, "velocity"),
        ({"name": "ball"}, "ball"),
        ({"shape": GROUND}, "HalfSpace|fixed|dynamic"),
        ({"shape": cl.HeightField(np.zeros((3, 3)), 1.0)}, "HeightField|fixed|dynamic"),
        ({"shape": cl.Mesh([[0, 0, 0], [1, 0, 0], [0, 1, 0]], [[0, 1, 2]])}, "Mesh|fixed|dynamic"),
        ({"shape": cl.PointCloud([[0, 0, 0], [1, 0, 0]], 0.1)}, "PointCloud|fixed|dynamic"),
    ],
    ids=lambda value: str(value)[:30].replace("\n", " "),
)
def test_bad_bodies_are_refused_and_leave_no_trace(given, match):
    world = floating()
    world.add("ball", BALL)
    given = {"name": "new", "shape": BALL, "pose": None, **given}
    with pytest.raises((ValueError, TypeError), match=match):
        world.add(given.pop("name"), given.pop("shape"), given.pop("pose"), **given)
    assert list(world.names) == ["ball"]
    world.step()


@pytest.mark.parametrize(
    ("given", "match"),
    [
        ({"friction": -0.1}, "friction"),
        ({"friction": np.nan}, "friction"),
        ({"restitution": -0.1}, "restitution"),
        ({"restitution": 1.1}, "restitution"),
        ({"rolling": -1.0}, "rolling"),
        ({"stiffness": 0.0}, "stiffness"),
        ({"stiffness": -1.0}, "stiffness"),
        ({"damping": -1.0}, "damping"),
        ({"damping": np.nan}, "damping"),
    ],
    ids=str,
)
def test_bad_materials_are_refused(given, match):
    with pytest.raises(ValueError, match=match):
        sim.Material(**given)


@pytest.mark.parametrize(
    ("model", "given"),
    [
        (sim.Hard, {"iterations": 0}),
        (sim.Hard, {"iterations": -3}),
        (sim.Soft, {"stiffness": 0.0}),
        (sim.Soft, {"damping": -1.0}),
    ],
)
def test_bad_models_are_refused(model, given):
    with pytest.raises(ValueError, match=next(iter(given))):
        model(**given)


@pytest.mark.parametrize("n", [-1, 1.5, "ten", None])
def test_bad_numbers_of_steps_are_refused(n):
    world = floating()
    with pytest.raises((ValueError, TypeError)):
        world.step(n)
    assert world.time == 0


def test_no_step_at_all_is_allowed():
    world = stepped(heap(count=4), 50)
    before = fingerprint(world)
    world.step(0)
    assert fingerprint(world) == before


UNKNOWN = {
    "pose": lambda world: world.pose("nobody"),
    "velocity": lambda world: world.velocity("nobody"),
    "set": lambda world: world.set("nobody", pose=np.eye(4)),
    "remove": lambda world: world.remove("nobody"),
    "shape": lambda world: world.shape("nobody"),
    "mass": lambda world: world.mass("nobody"),
    "push": lambda world: world.push("nobody", force=X),
    "kick": lambda world: world.kick("nobody", X),
    "touching": lambda world: world.touching("nobody"),
    "ignore": lambda world: world.ignore("ball", "nobody"),
    "guide": lambda world: world.guide("nobody", np.eye(4)),
    "join": lambda world: world.join("pin", "ball", "ball", "nobody", [0, 0, 0]),
    "joint_value": lambda world: world.joint_value("nobody"),
    "joint_speed": lambda world: world.joint_speed("nobody"),
    "guide_robot": lambda world: world.guide_robot("nobody", [0.0]),
}


@pytest.mark.parametrize("call", UNKNOWN.values(), ids=UNKNOWN)
def test_unknown_names_are_refused_by_name(call):
    world = floating()
    world.add("ball", BALL)
    with pytest.raises(KeyError, match="nobody"):
        call(world)


BAD_CALLS = {
    "pose": (lambda world: world.set("ball", pose=np.diag([1, 1, -1, 1])), "pose|rotation"),
    "velocity": (lambda world: world.set("ball", velocity=[1, 2, 3, 4]), "velocity"),
    "nan velocity": (lambda world: world.set("ball", velocity=[np.nan, 0, 0]), "velocity"),
    "force": (lambda world: world.push("ball", force=[1, 2]), "force"),
    "nan force": (lambda world: world.push("ball", force=[np.nan, 0, 0]), "force"),
    "torque": (lambda world: world.push("ball", torque=[np.inf, 0, 0]), "torque"),
    "point": (lambda world: world.push("ball", force=X, at=[0, 0]), "at"),
    "impulse": (lambda world: world.kick("ball", [np.nan, 0, 0]), "impulse"),
    "guided dynamic body": (lambda world: world.guide("ball", np.eye(4)), "kinematic"),
    "ignored itself": (lambda world: world.ignore("ball", "ball"), "ball"),
}


@pytest.mark.parametrize(("call", "match"), BAD_CALLS.values(), ids=BAD_CALLS)
def test_bad_values_are_refused_by_name(call, match):
    world = floating()
    world.add("ball", BALL)
    before = fingerprint(world)
    with pytest.raises(ValueError, match=match):
        call(world)
    assert fingerprint(world) == before


def test_fixed_bodies_cannot_be_pushed_or_thrown():
    world = floating()
    world.add("wall", cl.Box([1, 1, 1]), motion="fixed")
    with pytest.raises(ValueError, match="wall"):
        world.push("wall", force=X)
    with pytest.raises(ValueError, match="wall"):
        world.kick("wall", X)
    with pytest.raises(ValueError, match=r"velocity|fixed"):
        world.set("wall", velocity=X)
    with pytest.raises(ValueError, match=r"velocity|fixed"):
        world.add("thrown", BALL, motion="fixed", velocity=X)


# Hard cases ----------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("model", MODELS)
def test_bodies_in_one_place_do_not_blow_up(model):
    """Bodies that start wholly inside each other part slowly or stay: nothing is thrown away, nothing is NaN."""
    world = floating(MODELS[model])
    for k in range(6):
        world.add(f"box {k}", cl.Box([0.5, 0.5, 0.5]))
    world.step(500)
    assert np.isfinite(world.poses).all()
    assert model == "soft" or np.abs(world.velocities).max() <= 20.0


@pytest.mark.parametrize("scale", [1e-3, 1e3])
@pytest.mark.parametrize("model", ["hard"])
def test_worlds_of_millimetres_and_of_kilometres_are_alike(scale, model):
    """Lengths by s, times by sqrt(s): gravity is the same, so is everything that counts no metres.

    The slop that hard contacts allow, if it is a length, does not scale: it may cost a hundredth of the size.
    """

    def fallen(s):
        world = world_on_ground(MODELS[model], step=1e-3 * np.sqrt(s))
        for k, name in enumerate(("low", "high")):
            world.add(name, cl.Box([0.5 * s] * 3), [0.1 * s * k, 0, (0.3 + 0.6 * k) * s])
        world.step(1500)
        return world.poses[1:, :3, 3] / s

    assert np.allclose(fallen(scale), fallen(1.0), rtol=0, atol=1e-2)


def test_far_from_the_origin_the_world_is_the_same():
    """A kilometre away eight digits behind the point are left."""

    def fallen(offset):
        world = world_on_ground()
        world.add("box", cl.Box([0.5, 0.5, 0.5]), [offset, 0, 0.4], velocity=[1, 0, 0])
        world.step(1000)
        return place(world, "box") - [offset, 0, 0]

    assert np.allclose(fallen(1000.0), fallen(3.0), rtol=0, atol=1e-6)


def test_observer_does_not_matter():
    """A world turned about the vertical, with everything in it, runs the same."""
    turn = cl.poses.from_axis_angle(Z, 0.7, [1, 2, 0])

    def fallen(motion):
        world = world_on_ground()
        pose = motion @ cl.poses.from_rpy([0.3, 0.2, 0.1], [0, 0, 1.0])
        world.add("box", cl.Box([0.5, 0.6, 0.7]), pose, velocity=np.hstack([motion[:3, :3] @ [1, 0, 0], np.zeros(3)]))
        world.step(700)
        return world.pose("box")

    # A tumbling box meets the ground a few times; each meeting may multiply the rounding tenfold.
    assert np.allclose(fallen(turn), turn @ fallen(np.eye(4)), rtol=0, atol=1e-6)
