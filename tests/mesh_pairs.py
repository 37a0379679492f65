"""Pairs of sample meshes: made, placed, measured, and checked against all of their triangles one by one."""

import numpy as np

import clearance as cl
import mesh_oracle as oracle
from meshes import SAMPLES, placements, sample
from strategies import rigid_motions


def made(soup, volume="obb"):
    return cl.Mesh(soup.vertices, soup.faces, volume=volume)


def pair_size(a, b):
    return oracle.bounding_radius(a.triangles) + oracle.bounding_radius(b.triangles)


def pair_rounding(a, b, p):
    return oracle.rounding(a.triangles, p.pose_a) + oracle.rounding(b.triangles, p.pose_b)


def drawn(seed, name_a, name_b, family, n=10, ratio=1.0):
    """Draw two soups, b `ratio` times as large as a, and n placements of them."""
    rng = np.random.default_rng([seed, list(SAMPLES).index(name_a), list(SAMPLES).index(name_b)])
    a, b = sample(name_a, seed % 7), sample(name_b, seed % 7 + 1).scaled(ratio)
    return a, b, placements(rng, a, b, n, family)


def touching_poses(rng, soup, n):
    """Draw poses that put a convex shape of about unit size near the surface of a mesh, some upon it, some far off."""
    motions = rigid_motions(rng, n)
    on = soup.triangles[rng.integers(len(soup.faces), size=n)].mean(axis=1)
    away = rng.normal(size=(n, 3))
    away /= np.linalg.norm(away, axis=1, keepdims=True)
    motions[:, :3, 3] = on + away * rng.uniform(0, 1.6, size=(n, 1))
    return motions


def truth_of(a, b, p):
    return oracle.mesh_distances(a.triangles, p.pose_a, b.triangles, p.pose_b)


def assert_true(gaps, a, b, p, truth=None):
    """Check gaps of two meshes at many placements against all their triangles."""
    size, slack = pair_size(a, b), pair_rounding(a, b, p)
    oracle.assert_gaps_are_true(gaps, truth_of(a, b, p) if truth is None else truth, size, slack)
    allowed = 1e-9 * size + slack
    oracle.assert_witnesses_lie_on(gaps.point_a, gaps.feature_a, a.triangles, p.pose_a, allowed)
    oracle.assert_witnesses_lie_on(gaps.point_b, gaps.feature_b, b.triangles, p.pose_b, allowed)


def measured(a, b, p, volumes=("obb", "obb"), **options):
    return cl.distance(made(a, volumes[0]).at(p.pose_a), made(b, volumes[1]).at(p.pose_b), **options)
