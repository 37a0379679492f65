"""The oracle of meshes against other methods, and their samples against what they are called."""

from itertools import product

import numpy as np
import pytest

import clearance as cl
import mesh_oracle as oracle
from clearance.elements import closest
from mesh_pairs import drawn, made, truth_of
from meshes import CLOSED, FAMILIES, SAMPLES, placements, sample
from oracles import signed_core_distance

every_sample = pytest.mark.parametrize("name", SAMPLES)


@every_sample
def test_second_method_agrees_with_the_oracle(name):
    for other, family in zip(SAMPLES, [*FAMILIES] * 2, strict=True):
        a, b, p = drawn(1, name, other, family, 1)
        here = p.pose_a[0, :3, 3]
        some_a = oracle.in_the_world(a.triangles, p.pose_a[0], here)[::2]
        some_b = oracle.in_the_world(b.triangles, p.pose_b[0], here)[::2]
        second = oracle.second_distances(some_a[:, None], some_b[None])
        assert abs(np.min(second) - oracle.least_distance(some_a, some_b)) <= 1e-13
        assert np.max(np.abs(second - np.maximum(0, closest(some_a[:, None], some_b[None]).distance))) <= 1e-7


@pytest.mark.parametrize("family", FAMILIES)
def test_exact_arithmetic_agrees_with_the_oracle(family):
    a, b, p = drawn(2, "soup", "needles", family, 1)
    in_a, in_b = a.triangles, oracle.in_the_world(b.triangles, np.linalg.inv(p.pose_a[0]) @ p.pose_b[0])
    every = closest(in_a[:, None], in_b[None]).distance
    for i, j in np.argwhere(every <= np.sort(every, axis=None)[3]):
        exact = max(0.0, float(signed_core_distance(in_a[i], in_b[j])))
        assert abs(max(0.0, every[i, j]) - exact) <= 1e-14


@every_sample
def test_oracle_finds_the_gap_between_tangent_planes(name):
    for other in SAMPLES:
        a, b, p = drawn(3, name, other, "tangent", 3)
        oracle.assert_at_most(np.abs(truth_of(a, b, p) - p.gap), 1e-14, "gap is off")


def test_samples_are_what_they_are_called():
    for name in SAMPLES:
        soup = sample(name)
        assert soup.faces.max() < len(soup.vertices)
        assert 0.2 <= oracle.bounding_radius(soup.triangles) <= 2.0
    for name in CLOSED:  # every edge, told by where it is, belongs to an even number of triangles with area
        soup = sample(name)
        _, where = np.unique(np.round(soup.vertices, 12), axis=0, return_inverse=True)
        faces = np.sort(where.reshape(-1)[soup.faces], axis=1)
        faces = faces[(faces[:, 0] < faces[:, 1]) & (faces[:, 1] < faces[:, 2])]
        edges = np.vstack([faces[:, [0, 1]], faces[:, [1, 2]], faces[:, [0, 2]]])
        assert np.all(np.unique(edges, axis=0, return_counts=True)[1] % 2 == 0), name


def test_about_half_of_the_random_placements_collide():
    rng = np.random.default_rng(4)
    hits = []
    for a, b in product(SAMPLES, repeat=2):
        in_a, in_b = sample(a), sample(b, 1)
        p = placements(rng, in_a, in_b, 12, rng.choice(["upon", "around", "nested", "upright"]))
        hits.append(cl.collides(made(in_a).at(p.pose_a), made(in_b).at(p.pose_b)))
    assert 0.3 <= np.mean(hits) <= 0.7
