"""Clouds of balls drawn at random, and their distances by trying every ball: slow, obvious, no trees."""

import numpy as np

import clearance as cl
import solids
from clearance import poses
from meshes import sample
from strategies import rigid_motions

EPS = np.finfo(float).eps
SURFACES = ("mesh", "height field")
OTHERS = (*solids.KINDS, *SURFACES, "cloud")
GAPS = (0.0, 1e-12, 1e-9, 1e-6, 1e-3, 0.1, -1e-9, -1e-6, -1e-3, -0.05)


def draw_points(rng, n):
    """Draw n points: a blob, a sheet, a line, a lattice with duplicates, or points that all coincide."""
    family = rng.choice(["blob", "sheet", "line", "lattice", "one place"])
    points = rng.normal(size=(n, 3))
    if family == "sheet":
        points[:, 2] = 0.1 * np.sin(points[:, 0])
    if family == "line":
        points = np.outer(rng.normal(size=n), points[0])
    if family == "lattice":
        points = np.round(points)
    if family == "one place":
        points[:] = points[0]
    return points * rng.choice([0.1, 1.0])


def draw_cloud(rng, most=400):
    """Draw a cloud of 1 to `most` balls, of radius zero every third time."""
    n = int(np.round(10.0 ** rng.uniform(0.0, np.log10(most))))
    return cl.PointCloud(draw_points(rng, n), float(rng.choice([0.0, 0.01, 0.3])))


def draw_other(rng, kind):
    """Draw one of `OTHERS`."""
    if kind == "mesh":
        soup = sample(rng.choice(["torus", "box", "soup", "sheet"]), int(rng.integers(3)))
        return cl.Mesh(soup.vertices, soup.faces)
    if kind == "height field":
        return cl.HeightField(0.2 * rng.normal(size=(9, 11)), 0.25)
    return draw_cloud(rng, 100) if kind == "cloud" else solids.draw_shape(rng, kind)


def centres(cloud, pose):
    return cloud.points @ pose[:3, :3].T + pose[:3, 3]


def ball_gaps(cloud, pose, other):
    """Return the gaps of all balls of a cloud at a pose from a placed shape."""
    return cl.distance(cl.SweptPoint([0, 0, 0], cloud.radius).at(poses.from_translation(centres(cloud, pose))), other)


def brought_to(cloud, pose, other, gap):
    """Move the pose of a cloud along the normal of its nearest ball, until that is `gap` away if nothing else comes."""
    gaps = ball_gaps(cloud, pose, other)
    k = np.argmin(gaps.distance)
    moved = np.array(pose)
    moved[:3, 3] += (gaps.distance[k] - gap) * gaps.normal[k]
    return moved


def drawn_pair(rng, kind):
    """Draw a cloud with a pose and a placed shape, mostly near contact."""
    cloud, other = draw_cloud(rng), draw_other(rng, kind)
    pose, tilt = rigid_motions(rng, 2)
    placed = other.at(tilt)
    if rng.random() < 0.8:
        pose = brought_to(cloud, pose, placed, rng.choice(GAPS))
    return cloud, pose, placed


def size_of(cloud, placed):
    radius = placed.shape.ball[1]
    return cloud.ball[1] + (radius if np.isfinite(radius) else 0.0)


def rounding(cloud, pose, placed):
    """Return 8 eps of the largest coordinate, for either side."""
    reach = sum(np.abs(p[:3, 3]).max() for p in (pose, placed.pose))
    radius = placed.shape.ball[1]
    reach += np.abs(cloud.points).max() + cloud.radius + (radius if np.isfinite(radius) else 1.0)
    return 8 * EPS * (reach + np.abs(placed.shape.ball[0]).max())


def assert_gap_is_true(gap, cloud, pose, placed, relative=2e-9):
    """Check a gap with the cloud first: bracket, contract of the witness points, and the ball that it names."""
    truth = ball_gaps(cloud, pose, placed)
    least, size, slack = truth.distance.min(), size_of(cloud, placed), rounding(cloud, pose, placed)
    deep = least < 0 and solids.is_curved(placed.shape)
    allowed = (2e-7 if deep else relative) * size + slack
    assert abs(gap.distance - least) <= allowed
    assert gap.lower <= truth.upper.min() + slack
    assert gap.upper >= truth.lower.min() - slack
    assert gap.lower <= gap.distance <= gap.upper
    assert gap.upper - gap.lower <= (1e-7 if deep else 1e-9) * size + 16 * slack
    assert abs(truth.distance[gap.feature_a] - least) <= allowed
    assert abs(np.linalg.norm(gap.normal) - 1.0) <= 1e-12
    assert np.allclose(gap.point_b - gap.point_a, gap.distance * gap.normal, rtol=0, atol=4 * slack)
    if least > 0 or not isinstance(placed.shape, cl.Mesh | cl.HeightField):
        off = np.linalg.norm(gap.point_a - centres(cloud, pose)[gap.feature_a]) - cloud.radius
        assert abs(off) <= 1e-9 * size + 4 * slack  # on the surface of the ball that it names
    else:
        assert np.array_equal(gap.point_a, gap.point_b)
        assert np.linalg.norm(gap.point_a - centres(cloud, pose)[gap.feature_a]) <= cloud.radius + 4 * slack
