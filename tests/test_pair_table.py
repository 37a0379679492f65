"""Tables of pairs: columns that stay what they were, and gradients."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from clearance import Scene, Sphere, poses
from strategies import random_compound, random_shapes, rigid_motions, seeds
from watched_scenes import COLUMNS, columns_of, line_of_spheres, random_pose, random_scene

# Columns -------------------------------------------------------------------------------------------------------------


@given(seeds())
def test_later_evaluations_leave_old_tables_alone(seed):
    rng = np.random.default_rng(seed)
    scene, shapes, _ = random_scene(rng, 5)
    kept, jacobians = [], {name: rng.normal(size=(6, 2)) for name in shapes}
    for step in range(6):
        scene.move(f"body {step % 5}", random_pose(rng))
        if step == 3:
            scene.ignore("body 0", "body 1")
        if step == 4:
            scene.rename("body 2", "somebody")
            scene.rename("somebody", "body 2")
        table = scene.distances(at_most=[np.inf, 1.0][step % 2])
        kept.append((table, columns_of(table), list(table.name_a), table.gradient(jacobians), table.work.pairs))
    for table, columns, names, gradient, pairs in kept:
        for name in COLUMNS:
            assert np.array_equal(getattr(table, name), columns[name], equal_nan=True)
        assert table.name_a == names
        assert np.array_equal(table.gradient(jacobians), gradient, equal_nan=True)
        assert table.work.pairs == pairs


def test_columns_outlive_table_and_scene():
    scene = line_of_spheres("abc")
    found = scene.distances().distance
    scene.move("a", [-5.0, 0, 0])
    scene.distances()
    del scene
    assert found.tolist() == [1, 4, 1]


def test_columns_are_read_only():
    table = line_of_spheres("abc").distances()
    for name in COLUMNS:
        column = getattr(table, name)
        assert not column.flags.writeable
        with pytest.raises(ValueError, match="read-only"):
            column[0] = 7
        with pytest.raises(ValueError, match="WRITEABLE"):
            column.setflags(write=True)
    with pytest.raises(AttributeError):
        table.distance = np.zeros(3)


def test_columns_have_a_row_for_every_pair():
    table = line_of_spheres("abc").distances()
    assert len(table) == 3
    assert [getattr(table, name).shape for name in COLUMNS] == [(3,)] * 3 + [(3, 3)] * 3 + [(3,)] * 2
    assert [getattr(table, name).dtype for name in COLUMNS] == [np.float64] * 6 + [np.int32] * 2
    assert list(zip(table.name_a, table.name_b, strict=True)) == [("a", "b"), ("a", "c"), ("b", "c")]


def test_table_becomes_a_dictionary_of_columns():
    table = line_of_spheres("abc").distances()
    columns = table.to_dict()
    assert set(columns) == {"name_a", "name_b", "distance", "lower", "upper"} | {
        f"{name}_{axis}" for name in ("point_a", "point_b", "normal") for axis in "xyz"
    }
    assert {len(column) for column in columns.values()} == {3}
    assert columns["distance"].tolist() == [1, 4, 1]
    assert columns["point_b_x"].tolist() == [2, 5, 5]


def test_table_is_printed_row_by_row():
    table = line_of_spheres(["palm", "b", "c"]).distances()
    lines = str(table).splitlines()
    assert len(lines) == 4
    assert len({len(line) for line in lines}) == 1
    assert lines[1].split() == ["palm", "b", "1.000000", "1.000000", "1.000000"]
    assert "3 rows" in repr(table)


def test_empty_scene_gives_an_empty_table():
    scene = Scene()
    scene.watch_all()
    for body in ("a", None, "b"):
        table = scene.distances()
        assert len(table) == 0
        assert table.distance.shape == (0,)
        assert table.normal.shape == (0, 3)
        assert len(str(table).splitlines()) == 1
        assert table.to_dict()["point_a_x"].shape == (0,)
        assert table.gradient({"a": np.zeros((6, 4))}).shape == (0, 4)
        if body:
            scene.add(body, Sphere(1.0))


# Gradients -----------------------------------------------------------------------------------------------------------


class Chain:
    """Bodies that turn and slide one on the other about random axes, and their Jacobians written down by hand."""

    def __init__(self, rng, n):
        self.axes = rng.normal(size=(n, 3))
        self.axes /= np.linalg.norm(self.axes, axis=1, keepdims=True)
        self.slides = rng.random(n) < 0.3
        self.offsets = rigid_motions(rng, n)

    def bodies(self, q):
        """Return pose and (6, n) Jacobian of every body: velocity of its origin, then angular velocity."""
        pose, joints, found = np.eye(4), [], []
        for k, (axis, slides, offset) in enumerate(zip(self.axes, self.slides, self.offsets, strict=True)):
            before = pose @ offset
            joints.append((before[:3, :3] @ axis, before[:3, 3], slides))
            motion = poses.from_translation(q[k] * axis) if slides else poses.from_axis_angle(axis, q[k])
            pose = before @ motion
            jacobian = np.zeros((6, len(q)))
            for j, (direction, at, straight) in enumerate(joints):
                jacobian[:3, j] = direction if straight else np.cross(direction, pose[:3, 3] - at)
                jacobian[3:, j] = 0 if straight else direction
            found.append((pose, jacobian))
        return found


@given(seeds(), st.integers(2, 5))
def test_gradient_is_what_finite_differences_approach(seed, n):
    rng = np.random.default_rng(seed)
    chain, q = Chain(rng, n), rng.uniform(-2, 2, size=n)
    scene = Scene()
    scene.add("wall", random_compound(rng, 2), random_pose(rng))
    names = [f"link {k}" for k in range(n)]
    for name in names:
        scene.add(name, random_shapes(rng, 2))
    scene.watch_all()

    def measured(q):
        bodies = chain.bodies(q)
        scene.move({name: pose for name, (pose, _) in zip(names, bodies, strict=True)})
        return scene.distances(), {name: jacobian for name, (_, jacobian) in zip(names, bodies, strict=True)}

    table, jacobians = measured(q)
    gradient = table.gradient(jacobians)
    assert gradient.shape == (len(table), n)
    step = 1e-6
    for k in range(n):
        plus, minus = (columns_of(measured(q + sign * step * np.eye(n)[k])[0]) for sign in (1, -1))
        found = (plus["distance"] - minus["distance"]) / (2 * step)
        # Where another witness takes over within the step there is no derivative, only one from either side.
        smooth = np.all(np.abs(plus["normal"] - minus["normal"]) < 1e-3, axis=1)
        smooth &= (plus["feature_a"] == minus["feature_a"]) & (plus["feature_b"] == minus["feature_b"])
        assert np.mean(smooth) > 0.5
        assert np.allclose(found[smooth], gradient[smooth, k], rtol=0, atol=1e-5)


def test_gradient_of_pairs_that_were_cut_off_is_nan():
    table = line_of_spheres("abc").distances(at_most=2.0)
    gradient = table.gradient({"b": np.eye(6)[:, :2]})
    assert np.array_equal(gradient, [[1, 0], [np.nan, np.nan], [-1, 0]], equal_nan=True)


def test_bodies_without_a_jacobian_do_not_move():
    table = line_of_spheres("abc").distances()
    assert np.array_equal(table.gradient({"c": np.eye(6)}), [[0] * 6, [1, 0, 0, 0, 0, 0], [1, 0, 0, 0, 0, 0]])


@pytest.mark.parametrize(
    "bad", [{}, {"a": np.zeros((3, 2))}, {"a": np.zeros(6)}, {"a": np.zeros((6, 2)), "b": np.zeros((6, 3))}]
)
def test_what_is_no_jacobian_is_refused(bad):
    with pytest.raises(ValueError, match=r"\(6, dof\)"):
        line_of_spheres("ab").distances().gradient(bad)
