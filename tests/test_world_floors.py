"""Everything on everything: planes, boxes, meshes and height fields carry every body alike."""

import numpy as np
import pytest

import clearance as cl
from clearance import simulation as sim
from physics import (
    BLOCK,
    GROUND,
    G,
    H,
    X,
    Y,
    floating,
    force_on,
    material,
    place,
    seconds,
    slope,
    turn_between,
    upright_on,
    way_down,
)

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
