"""The example scripts run and show what they promise."""

import importlib.util
from pathlib import Path

import numpy as np
import pytest

pytest.importorskip("matplotlib", reason="examples draw; they need the extra 'view'")
from matplotlib.image import imread

EXAMPLES = Path(__file__).parent.parent / "examples"


def load(name):
    spec = importlib.util.spec_from_file_location(name, EXAMPLES / f"{name}.py")
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


def test_avoidance_keeps_the_arm_apart_where_it_would_collide(tmp_path):
    without, avoiding = load("self_avoidance").main(tmp_path)
    assert without < 0.0 < avoiding
    picture = imread(tmp_path / "self_avoidance.png")[..., :3]
    assert len(np.unique(picture.reshape(-1, 3), axis=0)) > 100


def test_both_runs_keep_the_hand_on_its_path():
    example = load("self_avoidance")
    for avoiding in (False, True):
        angles, _, errors = example.run(avoiding)
        assert errors.max() < 1e-3
        assert np.abs(np.diff(angles, axis=0)).max() < 0.02  # radians in 10 ms: no jerk at a singularity


def test_gradient_of_the_arm_agrees_with_finite_differences():
    example = load("self_avoidance")
    scene, q, h = example.build_scene(), example.REST, 1e-6

    def table_at(angles):
        scene.move(dict(zip(example.LINKS, example.forward(angles)[0], strict=True)))
        return scene.distances()

    expected = np.stack(
        [(table_at(q + h * e).distance - table_at(q - h * e).distance) / (2.0 * h) for e in np.eye(len(q))], axis=1
    )
    found = table_at(q).gradient(example.forward(q)[1])
    np.testing.assert_allclose(found, expected, atol=1e-6)


def test_bodies_rest_on_as_many_points_as_their_faces_need(tmp_path):
    found = load("resting_contacts").main(tmp_path)
    counts = {name: len(manifold) for name, manifold in found.items()}
    assert counts == {
        "box on ground": 4,
        "standing on ground": 4,
        "lying on ground": 2,
        "stone on ground": 4,
        "rod on box": 2,
        "plank on box": 4,
        "pebble on standing": 4,
    }
    for manifold in found.values():
        np.testing.assert_allclose(manifold.normal, [0.0, 0.0, 1.0], atol=1e-9)
        np.testing.assert_allclose(manifold.depths, 5e-4, atol=1e-9)
    picture = imread(tmp_path / "resting_contacts.png")[..., :3]
    assert len(np.unique(picture.reshape(-1, 3), axis=0)) > 100


def test_nearest_along_a_path_is_the_least_of_all_pairs(tmp_path):
    along, gap = load("robot_cell").main(tmp_path)
    worst = int(np.argmin(along.distance))
    assert gap.lower <= along.distance[worst] <= gap.upper
    assert (gap.body_a, gap.body_b) == (along.body_a[worst], along.body_b[worst])
    assert 0.0 < gap.lower <= gap.upper < 0.05  # close, and clear
    picture = imread(tmp_path / "robot_cell.png")[..., :3]
    assert len(np.unique(picture.reshape(-1, 3), axis=0)) > 100


def test_arm_over_a_depth_image_is_nearest_to_a_pixel(tmp_path):
    example = load("depth_camera")
    along, gap = example.main(tmp_path)
    assert gap.distance == along.distance.min()
    assert 0.0 < gap.lower <= gap.upper < 0.05
    assert 0 <= gap.feature_b < example.WIDTH * example.HEIGHT
    picture = imread(tmp_path / "depth_camera.png")[..., :3]
    assert len(np.unique(picture.reshape(-1, 3), axis=0)) > 100
