"""Little robots in plain data, worlds around them, and configurations of which most are near contact.

A `Plan` holds what a robot is made of without asking the library what it makes of that: the oracle reads the plan, the
library gets the robot built from it.
"""

from dataclasses import dataclass, field, fields, replace
from functools import lru_cache
from xml.etree import ElementTree

import numpy as np

import clearance as cl
import meshes
import robot_oracle as oracle
import solids
from clearance import poses
from strategies import rigid_motions

PI = np.pi
QUARTER = poses.from_axis_angle([0.0, 1.0, 0.0], PI / 2)  # turns z to x


@dataclass(frozen=True)
class JointPlan:
    """The arguments of a `Joint`."""

    name: str
    kind: str
    parent: str
    child: str
    origin: np.ndarray = field(default_factory=lambda: np.eye(4))
    axis: tuple = (0.0, 0.0, 1.0)
    lower: float = -np.inf
    upper: float = np.inf
    velocity: float = np.inf
    mimic: tuple | None = None

    def joint(self):
        return cl.Joint(**{each.name: getattr(self, each.name) for each in fields(self)})


@dataclass(frozen=True)
class Plan:
    """A robot in plain data: shapes by the name of the link, joints in the order of the document."""

    name: str
    links: dict
    joints: tuple
    base: np.ndarray = field(default_factory=lambda: np.eye(4))

    def robot(self):
        links = [cl.Link(name, shapes) for name, shapes in self.links.items()]
        return cl.Robot(links, [joint.joint() for joint in self.joints], name=self.name, base=self.base)

    def moved(self, motion):
        return replace(self, base=motion @ self.base)

    def scaled(self, factor):
        """Return the robot `factor` times as large; its sliding joints go `factor` times as far."""

        slides = {joint.name for joint in self.joints if joint.kind == "prismatic"}

        def longer(joint):
            length = factor if joint.name in slides else 1.0
            mimic = joint.mimic
            if mimic is not None:
                master, multiplier, offset = mimic
                mimic = (master, multiplier * length / (factor if master in slides else 1.0), offset * length)
            origin, lower, upper = scaled_pose(joint.origin, factor), joint.lower * length, joint.upper * length
            return replace(joint, origin=origin, lower=lower, upper=upper, mimic=mimic)

        links = {name: tuple(scaled_shape(shape, factor) for shape in shapes) for name, shapes in self.links.items()}
        return Plan(self.name, links, tuple(map(longer, self.joints)), scaled_pose(self.base, factor))

    def scaled_q(self, q, factor):
        """Return the configuration of the scaled robot that looks like q."""
        q = np.array(q, dtype=float)
        for joint, part in oracle.parts_of(self, q):
            part[..., {"prismatic": slice(1), "planar": slice(2), "floating": slice(3)}.get(joint.kind, slice(0))] *= (
                factor
            )
        return q

    def reordered(self, rng):
        """Return the same robot with links and joints named in another order."""
        names = list(rng.permutation(list(self.links)))
        joints = tuple(self.joints[k] for k in rng.permutation(len(self.joints)))
        return replace(self, links={name: self.links[name] for name in names}, joints=joints)


def scaled_pose(pose, factor):
    pose = np.array(pose, dtype=float)
    pose[:3, 3] *= factor
    return pose


def scaled_shape(shape, factor):
    if isinstance(shape, cl.Placed):
        return scaled_shape(shape.shape, factor).at(scaled_pose(shape.pose, factor))
    if isinstance(shape, cl.Mesh):
        return cl.Mesh(np.array(shape.vertices) * factor, shape.faces)
    return solids.scaled(shape, factor)


# Shapes of links -----------------------------------------------------------------------------------------------------


def bar(radius, length, kind="capsules", seed=0):
    """Return shapes that lie along x from 0 to `length`, all about as thick as 2 `radius`."""
    rng = np.random.default_rng(seed)
    middle, along = [length / 2, 0.0, 0.0], np.array(QUARTER)
    along[:3, 3] = middle
    if kind == "capsules":
        return (cl.Capsule(radius, length).at(along),)
    if kind == "boxes":
        return (cl.Box([length, 2 * radius, 1.5 * radius]).at(middle),)
    if kind == "hulls":
        around = rng.normal(size=(12, 3))
        around /= np.linalg.norm(around, axis=1, keepdims=True)
        return (cl.ConvexHull(around * [length / 2, radius, radius] + middle, radius / 5),)
    if kind == "meshes":
        soup = meshes.bumpy_sphere(rng, 5, 6)
        return (cl.Mesh(soup.vertices * [length, 2 * radius, 2 * radius] + middle, soup.faces),)
    if kind == "spheres":
        count = int(np.ceil(length / radius))
        return tuple(cl.Sphere(radius).at([x, 0.0, 0.0]) for x in np.linspace(0.0, length, count + 1))
    assert kind == "mixed"
    kinds = ("capsules", "boxes", "hulls", "meshes", "spheres")
    return bar(radius, length, kinds[seed % len(kinds)], seed)


def lift(x=0.0, y=0.0, z=0.0, axis=(0.0, 0.0, 1.0), angle=0.0):
    return poses.from_axis_angle(axis, angle, [x, y, z])


# The robots ----------------------------------------------------------------------------------------------------------


def planar_arm(lengths=(0.5, 0.4, 0.3), kind="capsules"):
    """An arm that moves in the plane z = 0."""
    links, joints, parent, at = {"post": (cl.Cylinder(0.08, 0.2),)}, [], "post", 0.0
    for k, length in enumerate(lengths):
        links[f"arm {k}"] = bar(0.04, length, kind, k)
        joints.append(JointPlan(f"hinge {k}", "revolute", parent, f"arm {k}", lift(at), lower=-2.9, upper=2.9))
        parent, at = f"arm {k}", length
    return Plan("planar arm", links, tuple(joints))


def scara():
    """Two hinges, a quill that slides, and a tool that turns; it stands askew."""
    links = {
        "post": (cl.Cylinder(0.07, 0.6).at([0.0, 0.0, 0.3]),),
        "inner": (cl.Box([0.5, 0.12, 0.08]).at([0.2, 0.0, 0.0]),),
        "outer": (cl.Box([0.4, 0.1, 0.08]).at([0.15, 0.0, 0.0]), cl.Cylinder(0.06, 0.1).at([0.3, 0.0, 0.0])),
        "quill": (cl.Cylinder(0.02, 0.5),),
        "tool": (cl.Cone(0.04, 0.1).at([0.03, 0.0, -0.05]), cl.Ellipsoid([0.02, 0.06, 0.03])),
    }
    joints = (
        JointPlan("shoulder", "revolute", "post", "inner", lift(z=0.65), lower=-2.5, upper=2.5, velocity=3.0),
        JointPlan("elbow", "revolute", "inner", "outer", lift(0.4, z=0.1), lower=-2.7, upper=2.7, velocity=4.0),
        JointPlan("slide", "prismatic", "outer", "quill", lift(0.3), (0.0, 0.0, -2.0), -0.1, 0.4, 0.5),
        JointPlan("spin", "continuous", "quill", "tool", lift(z=-0.28), velocity=9.0),
    )
    return Plan("scara", links, joints, lift(0.1, -0.2, 0.05, (1.0, 2.0, 0.5), 0.3))


def two_arms():
    """A torso that turns, with two arms that reach each other; the joints do not stand in the order of the tree."""
    links = {"torso": (cl.Capsule(0.12, 0.4).at([0.0, 0.0, 0.2]),), "foot": (cl.Box([0.4, 0.4, 0.1]),)}
    joints = []
    for side, sign in (("left", 1.0), ("right", -1.0)):
        upper, fore, hand = f"{side} upper", f"{side} fore", f"{side} hand"
        links[upper] = bar(0.05, 0.35, "capsules")
        links[fore] = bar(0.045, 0.3, "boxes")
        links[hand] = tuple(cl.Sphere(0.03).at([0.05 + 0.02 * k, 0.03 * (k - 1), 0.0]) for k in range(3))
        turned = lift(0.0, sign * 0.24, 0.4, angle=sign * PI / 3)
        joints += [
            JointPlan(f"{side} wrist", "continuous", fore, hand, lift(0.33), (1.0, 0.0, 0.0)),
            JointPlan(f"{side} elbow", "revolute", upper, fore, lift(0.4), (0.0, 0.0, -sign), 0.0, 2.4),
            JointPlan(f"{side} shoulder", "revolute", "torso", upper, turned, (0.0, sign, 1.0), -1.8, 1.8),
        ]
    joints.append(JointPlan("waist", "revolute", "foot", "torso", lift(z=0.2), lower=-3.0, upper=3.0))
    return Plan("two arms", links, tuple(joints))


def gripper():
    """A hand on a wrist: two fingers and a thumb that follow one drive, of which one is named before it."""
    links = {
        "wrist": (cl.Cylinder(0.05, 0.1),),
        "palm": (cl.Box([0.1, 0.2, 0.04]).at([0.05, 0.0, 0.0]),),
        "right finger": (cl.Box([0.1, 0.02, 0.03]).at([0.05, -0.01, 0.0]),),
        "left finger": (cl.Box([0.1, 0.02, 0.03]).at([0.05, 0.01, 0.0]),),
        "thumb": (cl.Capsule(0.01, 0.08).at([0.0, 0.0, 0.05]),),
        "nail": (cl.Sphere(0.012),),
    }
    joints = (
        JointPlan("turn", "revolute", "wrist", "palm", lift(0.06), (1.0, 0.0, 0.0), -3.0, 3.0),
        JointPlan(
            "right", "prismatic", "palm", "right finger", lift(0.11), (0.0, -1.0, 0.0), mimic=("drive", 0.8, 0.004)
        ),
        JointPlan("drive", "prismatic", "palm", "left finger", lift(0.11), (0.0, 1.0, 0.0), -0.003, 0.08, 0.1),
        JointPlan(
            "fold", "revolute", "palm", "thumb", lift(0.1, 0.0, 0.04), (0.0, 1.0, 0.0), mimic=("drive", -9.0, 1.5)
        ),
        JointPlan("tip", "revolute", "thumb", "nail", lift(0.0, 0.0, 0.11), (0.0, 1.0, 0.0), -1.0, 1.0),
    )
    return Plan("gripper", links, joints, lift(0.0, 0.3, 0.1, (0.0, 1.0, 1.0), 1.0))


def rover():
    """A platform that drives in the plane, with a short arm on it."""
    links = {
        "map": (),
        "platform": (cl.Box([0.5, 0.4, 0.15]),),
        "mast": (cl.Cylinder(0.04, 0.4).at([0.0, 0.0, 0.2]),),
        "arm": bar(0.04, 0.4),
        "hand": bar(0.03, 0.3, "spheres"),
    }
    joints = (
        JointPlan("drive", "planar", "map", "platform", lift(z=0.1)),
        JointPlan("pan", "continuous", "platform", "mast", lift(0.1, z=0.08)),
        JointPlan("lift", "revolute", "mast", "arm", lift(z=0.45), (0.0, 1.0, 0.0), -1.5, 1.6),
        JointPlan("bend", "revolute", "arm", "hand", lift(0.43), (0.0, 1.0, 0.0), -2.8, 2.8),
    )
    return Plan("rover", links, joints, lift(0.2, 0.1, 0.0, (0.1, 0.0, 1.0), 0.7))


def walker():
    """A trunk that floats, with two legs."""
    links = {"odom": (), "trunk": (cl.Ellipsoid([0.3, 0.15, 0.1]),)}
    joints = [JointPlan("free", "floating", "odom", "trunk", lift(0.1, 0.0, 0.2, (1.0, 0.0, 0.0), 0.2))]
    for side, sign in (("left", 1.0), ("right", -1.0)):
        links[f"{side} thigh"] = bar(0.04, 0.3)
        links[f"{side} shin"] = bar(0.03, 0.3, "hulls", 3)
        at = lift(0.05, sign * 0.2, -0.02, (0.0, 1.0, 0.0), PI / 2)
        joints += [
            JointPlan(f"{side} hip", "revolute", "trunk", f"{side} thigh", at, (0.0, 1.0, 0.0), -2.6, 2.6),
            JointPlan(
                f"{side} spread", "revolute", f"{side} thigh", f"{side} shin", lift(0.32), (0.0, 1.0, 1.0), -2.7, 2.7
            ),
        ]
    return Plan("walker", links, tuple(joints))


def arm_of(kind, count=5):
    """An arm in space of `count` hinges about changing axes; its links are of one kind of shape."""
    links, joints, parent = {"base": (cl.Cylinder(0.12, 0.2).at([0.0, 0.0, 0.1]),)}, [], "base"
    axes = ((1.0, 0.0, 0.0), (0.0, 1.0, 0.0), (0.3, 0.0, 1.0))
    at = lift(z=0.25, axis=(0.0, 1.0, 0.0), angle=-PI / 2)  # the first link points upward
    for k in range(count):
        length = 0.32 - 0.03 * k
        links[f"link {k}"] = bar(0.06 - 0.005 * k, length, kind, k)
        limits = {"lower": -2.8, "upper": 2.8} if k % 3 else {"lower": -3.1, "upper": 3.1}
        joints.append(JointPlan(f"joint {k}", "revolute", parent, f"link {k}", at, axes[k % 3], velocity=2.0, **limits))
        parent, at = f"link {k}", lift(length + 0.02)
    return Plan(f"arm of {kind}", links, tuple(joints), lift(0.05, 0.1, 0.0))


def seven():
    """Seven hinges, all links capsules."""
    return replace(arm_of("capsules", 7), name="seven")


def stacked():
    """A chain in which fixed joints hold several links together, some of them without shapes."""
    links = {
        "plinth": (cl.Box([0.3, 0.3, 0.1]),),
        "column": (cl.Cylinder(0.06, 0.4).at([0.0, 0.0, 0.25]),),
        "flange": (),
        "beam": bar(0.05, 0.5, "boxes"),
        "knob": (cl.Sphere(0.07).at([0.25, 0.0, 0.08]),),
        "rail": (),
        "carriage": (cl.Box([0.1, 0.16, 0.2]),),
        "lamp": (cl.Cone(0.08, 0.15).at([0.0, 0.0, -0.2]),),
        "gimbal": (),
        "camera": (cl.Capsule(0.03, 0.35).at([0.05, 0.0, 0.15]),),
    }
    joints = (
        JointPlan("bolt", "fixed", "plinth", "column"),
        JointPlan("weld", "fixed", "column", "flange", lift(z=0.5)),
        JointPlan("boom", "revolute", "flange", "beam", lift(), (0.0, 1.0, 1.0), -2.5, 2.5),
        JointPlan("screw", "fixed", "beam", "knob", lift(0.1)),
        JointPlan("glue", "fixed", "beam", "rail", lift(0.3, axis=(1.0, 0.0, 0.0), angle=0.5)),
        JointPlan("slide", "prismatic", "rail", "carriage", lift(), (1.0, 0.0, 0.0), -0.25, 0.3),
        JointPlan("clip", "fixed", "carriage", "lamp", lift(0.02)),
        JointPlan("tilt", "continuous", "lamp", "gimbal", lift(0.1, z=-0.1), (0.0, 1.0, 0.0)),
        JointPlan("roll", "revolute", "gimbal", "camera", lift(), (1.0, 0.0, 0.0), -3.0, 3.0),
    )
    return Plan("stacked", links, joints, lift(-0.1, 0.0, 0.05, (0.0, 0.0, 1.0), 2.0))


def single():
    """One link and no joint."""
    return Plan("single", {"stone": (cl.Box([0.3, 0.2, 0.1]), cl.Sphere(0.1).at([0.2, 0.0, 0.0]))}, ())


PLANS = {
    "planar arm": planar_arm,
    "scara": scara,
    "two arms": two_arms,
    "gripper": gripper,
    "rover": rover,
    "walker": walker,
    "seven": seven,
    "boxes": lambda: arm_of("boxes", 4),
    "hulls": lambda: arm_of("hulls", 4),
    "meshes": lambda: arm_of("meshes", 4),
    "spheres": lambda: arm_of("spheres", 4),
    "mixed": lambda: arm_of("mixed", 5),
    "stacked": stacked,
    "single": single,
}
MOVABLE = tuple(name for name in PLANS if name != "single")


# Worlds --------------------------------------------------------------------------------------------------------------


def obstacles(rng, plan, count=4, kinds=("Sphere", "Box", "Capsule", "ConvexHull", "Mesh"), size=0.2):
    """Draw bodies where links of the robot may come, none of which is hit by more than a quarter of configurations.

    Parameters
    ----------
    rng : numpy.random.Generator
    plan : Plan
    count : int
    kinds : sequence of str
        `Mesh`, or a kind of `solids`.
    size : float
        How large they are, relative to the robot.

    Returns
    -------
    dict of str to tuple of Placed
    """
    world, reach = {}, extent(plan)
    while len(world) < count:
        kind = kinds[rng.integers(len(kinds))]
        if kind == "Mesh":
            soup = meshes.torus(rng, 6, 5)
            shape = cl.Mesh(soup.vertices * size * reach, soup.faces)
        else:
            shape = solids.draw_shape(rng, kind, size * reach)
        q = random_q(rng, plan, 40)
        visited = list(oracle.link_poses(plan, q[0]).values())[rng.integers(len(plan.links))]
        pose = rigid_motions(rng, 1)[0]
        pose[:3, 3] = visited[:3, 3] + 0.15 * reach * pose[:3, 3]
        body = {f"thing {len(world)}": (shape.at(pose),)}
        # What stands upon links that hardly move would collide always.
        if np.mean(oracle.least(plan, body, q, [(link, *body) for link in plan.links]) <= 0) <= 0.25:
            world |= body
    return world


def extent(plan):
    """Return about how far a robot reaches from its root: the sum of the steps from joint to joint, or its size."""
    steps = sum(np.linalg.norm(joint.origin[:3, 3]) for joint in plan.joints if joint.kind != "fixed")
    sizes = [solids_reach(shape) for shapes in plan.links.values() for shape in shapes]
    return max(0.8 * steps, *sizes)


def solids_reach(shape):
    placed, shape = (shape.pose[:3, 3], shape.shape) if isinstance(shape, cl.Placed) else (np.zeros(3), shape)
    radius = np.max(np.linalg.norm(shape.vertices, axis=1)) if isinstance(shape, cl.Mesh) else solids.reach(shape)
    return np.linalg.norm(placed) + radius


def ground(plan, below=0.0):
    """Return a half-space whose surface is `below` under the root of the robot."""
    up = plan.base[:3, 2]
    return {"ground": (cl.HalfSpace(up, up @ plan.base[:3, 3] - below).at(np.eye(4)),)}


def as_scene(world):
    """Put a world into a scene, each body about a pose of its own."""
    scene = cl.Scene()
    for k, (name, shapes) in enumerate(world.items()):
        pose = poses.from_axis_angle([1.0, 0.0, k + 1.0], 0.1 * k, [0.1 * k, 0.0, 0.2])
        back = poses.inverse(pose)
        scene.add(name, [placed.shape.at(back @ placed.pose) for placed in shapes], pose)
    return scene


def as_mapping(world):
    """Return a mapping of names to single shapes; bodies of several become compounds."""
    return {name: shapes[0] if len(shapes) == 1 else cl.Compound(list(shapes)) for name, shapes in world.items()}


def as_list(world):
    return list(as_mapping(world).values())


def moved_world(world, motion):
    return {name: tuple(placed.shape.at(motion @ placed.pose) for placed in shapes) for name, shapes in world.items()}


def scaled_world(world, factor):
    return {name: tuple(scaled_shape(placed, factor) for placed in shapes) for name, shapes in world.items()}


# Configurations ------------------------------------------------------------------------------------------------------


def random_q(rng, plan, n):
    """Draw (n, dof) configurations inside the limits."""
    q = np.empty((n, oracle.dof(plan)))
    for joint, part in oracle.parts_of(plan, q):
        if joint.kind == "floating":
            part[:, :3] = rng.uniform(-0.6, 0.6, size=(n, 3))
            turn = rng.normal(size=(n, 4))
            part[:, 3:] = turn / np.linalg.norm(turn, axis=1, keepdims=True)
        elif joint.kind == "planar":
            part[:] = rng.uniform([-0.6, -0.6, -PI], [0.6, 0.6, PI], size=(n, 3))
        else:
            low, high = max(joint.lower, -PI), min(joint.upper, PI)
            part[:] = rng.uniform(low, high, size=(n, 1))
    return q


def near_contact(rng, plan, world, n, pairs=None):
    """Draw configurations most of which nearly touch: on the way from a clear one to one that collides.

    Parameters
    ----------
    rng : numpy.random.Generator
    plan : Plan
    world : dict of str to tuple of Placed
    n : int
    pairs : list of (str, str), optional
        Those that are checked; by the rule unless given.

    Returns
    -------
    q : (n, dof) ndarray
    distance : (n,) ndarray
        The least distance by brute force: about half of them not above zero, surfaces that cross exactly zero.
    """

    def least(q):
        return oracle.least(plan, world, q, pairs)

    drawn = random_q(rng, plan, 20 * n)
    hits = least(drawn) <= 0
    assert 2 <= hits.sum() <= len(hits) - 2, f"{hits.mean():.0%} of the configurations of {plan.name} collide"
    far, near = (drawn[mask][rng.integers(mask.sum(), size=n)] for mask in (~hits, hits))
    far = aligned(plan, far, near)
    first_far, first_near = far, near
    # A third stay anywhere; the others come to a gap between a nanometre and a centimetre, or as deep.
    gap = np.where(np.arange(n) % 2, 1.0, -1.0) * 10.0 ** rng.uniform(-9, -2, n)
    for _ in range(44):
        middle = (far + near) / 2
        distance = least(middle)
        touching = (distance <= gap) | (distance == 0)
        near, far = np.where(touching[:, None], middle, near), np.where(touching[:, None], far, middle)
    anywhere = rng.random((n, 1)) < 1 / 3
    inside, outside = np.where(anywhere, first_near, near), np.where(anywhere, first_far, far)
    q = np.where(gap[:, None] < 0, inside, outside)
    return q, least(q)


@lru_cache
def contact_case(name, seed=0, n=30):
    """Return a robot of `PLANS` with a world and configurations near contact.

    Parameters
    ----------
    name : str
    seed, n : int

    Returns
    -------
    plan : Plan
    world : dict of str to tuple of Placed
    q : (n, dof) ndarray
    distance : (n,) ndarray
        The least distance by brute force.
    """
    rng = np.random.default_rng([seed, *name.encode()])
    plan = PLANS[name]()
    world = obstacles(rng, plan)
    q, distance = near_contact(rng, plan, world, n)
    q.flags.writeable = distance.flags.writeable = False
    return plan, world, q, distance


def aligned(plan, q, other):
    """Turn the signs of quaternions in q so that the straight line to another configuration avoids zero."""
    q = np.array(q)
    for (joint, part), (_, target) in zip(oracle.parts_of(plan, q), oracle.parts_of(plan, other), strict=True):
        if joint.kind == "floating":
            part[..., 3:] *= np.where(np.sum(part[..., 3:] * target[..., 3:], axis=-1, keepdims=True) < 0, -1.0, 1.0)
    return q


# Robots from files ---------------------------------------------------------------------------------------------------


def plan_of_urdf(path, floating=False):
    """Read links without shapes and joints from a URDF file; a floating one gets a root of its own.

    Parameters
    ----------
    path : str or Path
    floating : bool

    Returns
    -------
    Plan
    """
    document = ElementTree.parse(path).getroot()

    def numbers(element, name, default):
        text = None if element is None else element.get(name)
        return default if text is None else [float(word) for word in text.split()]

    joints = []
    for element in document.findall("joint"):
        kind = element.get("type")
        origin, limit, mimic = (element.find(tag) for tag in ("origin", "limit", "mimic"))
        shift, turn = numbers(origin, "xyz", [0.0] * 3), numbers(origin, "rpy", [0.0] * 3)
        joints.append(
            JointPlan(
                element.get("name"),
                kind,
                element.find("parent").get("link"),
                element.find("child").get("link"),
                poses.from_rpy(turn, shift),
                (0.0, 0.0, 1.0) if kind == "fixed" else tuple(numbers(element.find("axis"), "xyz", [1.0, 0.0, 0.0])),
                numbers(limit, "lower", [-np.inf])[0],
                numbers(limit, "upper", [np.inf])[0],
                numbers(limit, "velocity", [np.inf])[0],
                mimic
                if mimic is None
                else (mimic.get("joint"), *numbers(mimic, "multiplier", [1.0]), *numbers(mimic, "offset", [0.0])),
            )
        )
    plan = Plan(document.get("name"), {link.get("name"): () for link in document.findall("link")}, tuple(joints))
    if not floating:
        return plan
    free = JointPlan("free", "floating", "odom", oracle.root(plan))
    return replace(plan, links={"odom": (), **plan.links}, joints=(free, *plan.joints))
