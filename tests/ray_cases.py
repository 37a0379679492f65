"""Targets of every kind, rays that are likely to go wrong, and how answers are compared."""

import numpy as np

import clearance as cl
from clearance import poses
from clouds import draw_cloud
from meshes import sample
from ray_oracle import draw_rays
from solids import KINDS, draw_shape
from strategies import rigid_motions

X, Y, Z = np.eye(3)
FINITE = tuple(kind for kind in KINDS if kind != "HalfSpace")
SURFACES = ("mesh", "height field")
EVERYTHING = (*KINDS, *SURFACES, "cloud", "compound")
FIELDS = ("distance", "point", "normal", "index", "feature")


def made(soup):
    return cl.Mesh(soup.vertices, soup.faces)


def draw_target(rng, kind):
    """Draw one of `EVERYTHING`, about a metre large."""
    if kind == "mesh":
        return made(sample(rng.choice(["torus", "box", "soup", "sheet", "gear"]), int(rng.integers(3))))
    if kind == "height field":
        return cl.HeightField(0.2 * rng.normal(size=(6, 5)), 0.25)
    if kind == "cloud":
        cloud = draw_cloud(rng, 40)
        return cl.PointCloud(cloud.points, max(cloud.radius, 0.01))
    if kind == "compound":
        return cl.Compound([draw_shape(rng, rng.choice(FINITE)).at(pose) for pose in rigid_motions(rng, 4)])
    return draw_shape(rng, kind)


def drawn(rng, kind, n=60):
    """Draw a target at a pose and rays that are likely to go wrong; a compound gets those of its parts."""
    shape = draw_target(rng, kind)
    if kind == "compound":
        rays = [draw_rays(rng, part.shape, n // len(shape.parts)) for part in shape.parts]
        moved = [moved_rays(part.pose, *own) for part, own in zip(shape.parts, rays, strict=True)]
        origins, directions = (np.concatenate(column) for column in zip(*moved, strict=True))
    else:
        origins, directions = draw_rays(rng, shape, n)
    pose = rigid_motions(rng, 1)[0] if rng.random() < 0.7 else np.eye(4)
    return shape.at(pose), *moved_rays(pose, origins, directions)


def moved_rays(pose, origins, directions):
    return origins @ pose[:3, :3].T + pose[:3, 3], directions @ pose[:3, :3].T


def room():
    """Three walls one behind the other, and a ball beside them."""
    scene = cl.Scene()
    for k, name in enumerate(["near", "middle", "far"]):
        scene.add(name, cl.Box([0.1, 2, 2]), pose=[2.0 * (k + 1), 0, 0])
    scene.add("ball", cl.Sphere(0.5), pose=[0, 5, 0])
    return scene


def apart(n):
    """Poses three metres apart along x."""
    return poses.from_translation(np.outer(3.0 * np.arange(n), X))


def assert_between(found, low, high, tolerance):
    """Check distances against a bracket; where low is inf they must be, and finite where high is."""
    wrong = ~((low - tolerance <= found) & (found <= high + tolerance))
    k = int(np.argmax(wrong))
    message = f"ray {k} of {wrong.sum()}: hit at {found[k]!r}, not between {low[k]!r} and {high[k]!r}"
    assert not wrong.any(), message


def decided(low, high, tolerance):
    """Tell which rays have only one answer."""
    with np.errstate(invalid="ignore"):
        return (high - low <= tolerance) | np.isinf(low)


def same_bits(one, other):
    return all(np.array_equal(getattr(one, name), getattr(other, name), equal_nan=True) for name in FIELDS)


def touches(points, target):
    """Return signed distances of points from a target."""
    return cl.distance(cl.SweptPoint([0, 0, 0], 0.0).at(poses.from_translation(points)), target).distance
