"""Scenes of a robot and what stands around it, and the least distance between two groups of bodies, pair by pair."""

import numpy as np

import clearance as cl
import mesh_oracle as oracle
from mesh_pairs import made
from meshes import sample
from strategies import rigid_motions

EPS = np.finfo(float).eps


def random_pose(rng, spread=1.0):
    pose = rigid_motions(rng, 1)[0]
    pose[:3, 3] *= spread
    return pose


def mesh_cell(rng, volume, parts=("torus", "bumpy sphere", "gear"), obstacles=("sheet", "soup", "box", "plate")):
    """Build a scene of a robot of some meshes near some others; return it with the two groups."""
    scene = cl.Scene()
    arm, world = [f"link {k}" for k in range(len(parts))], [f"wall {k}" for k in range(len(obstacles))]
    for k, (name, part) in enumerate(zip(arm, parts, strict=True)):
        scene.add(name, made(sample(part, k), volume), random_pose(rng))
    for k, (name, part) in enumerate(zip(world, obstacles, strict=True)):
        pose = random_pose(rng)
        pose[:3, 3] *= 2.5 / np.linalg.norm(pose[:3, 3])
        scene.add(name, made(sample(part, k + 10), volume), pose)
    return scene, arm, world


def mixed_cell(rng, volume="obb"):
    """Build a scene with a body of every kind in both groups."""

    def some(k):
        return {
            "mesh": made(sample("torus", k), volume),
            "other mesh": made(sample("sheet", k), "rss" if volume == "obb" else "obb"),
            "box": cl.Box([0.3, 0.4, 0.5]),
            "ellipsoid": cl.Ellipsoid([0.2, 0.3, 0.4]),
            "compound": cl.Compound([cl.Capsule(0.1, 0.5), made(sample("box", k), volume).at([0.5, 0.2, 0])]),
        }

    scene, groups = cl.Scene(), ([], [])
    for k, group in enumerate(groups):
        for name, shape in some(k).items():
            group.append(f"{name} {k}")
            scene.add(group[-1], shape, random_pose(rng, 2.0))
    scene.add("ground", cl.HalfSpace([0, 0, 1], -4.0))
    groups[1].append("ground")
    return scene, *groups


def pairs_of(scene, group_a, group_b):
    """Return the gaps of all pairs, one by one, by the names of the bodies."""

    def placed(name):
        return scene.shape(name).at(scene.pose(name))

    return {(a, b): cl.distance(placed(a), placed(b)) for a in group_a for b in group_b}


def least(scene, group_a, group_b):
    return min(gap.distance for gap in pairs_of(scene, group_a, group_b).values())


def brute_force(scene, group_a, group_b):
    """Return the least distance of groups of meshes over all their triangles."""

    def triangles(group):
        placed = [(scene.shape(name), scene.pose(name)) for name in group]
        return np.concatenate([oracle.in_the_world(m.vertices[m.faces], pose) for m, pose in placed])

    return oracle.least_distance(triangles(group_a), triangles(group_b))


def assert_nearest(found, scene, group_a, group_b, truth, allowed=1e-11):
    """Check the gap of two groups against the truth, and that the bodies named are those that are nearest."""
    assert abs(found.distance - truth) <= allowed
    assert found.lower - allowed <= truth <= found.upper + allowed
    assert found.lower <= found.distance <= found.upper
    oracle.assert_contract(found, 5.0, 64 * EPS)
    assert found.body_a in group_a
    assert found.body_b in group_b
    pair = pairs_of(scene, [found.body_a], [found.body_b])[found.body_a, found.body_b]
    assert abs(pair.distance - truth) <= allowed
    for name, point, feature in (
        (found.body_a, found.point_a, found.feature_a),
        (found.body_b, found.point_b, found.feature_b),
    ):
        shape = scene.shape(name)
        if isinstance(shape, cl.Mesh):
            triangles = shape.vertices[shape.faces]
            oracle.assert_witnesses_lie_on(point, feature, triangles, scene.pose(name), 1e-8)
