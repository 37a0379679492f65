"""What a URDF file says is what is read, as other readers have it."""

import subprocess
import sys

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

import clearance as cl
from clearance.poses import from_rpy, from_xyzw
from clearance.urdf import read
from robot_files import (
    OUTWARDS,
    TETRAHEDRON,
    collision,
    joint,
    link,
    obj,
    real,
    real_names,
    stl,
    urdf,
    written,
)

BALL = collision('<sphere radius="0.5"/>')
SOME = {
    "a1_description/urdf/a1.urdf",
    "baxter_description/urdf/baxter.urdf",
    "centauro_description/urdf/centauro.urdf",
    "panda_description/urdf/panda.urdf",
    "panda_description/urdf/panda_collision.urdf",
    "pr2_description/urdf/pr2.urdf",
    "simple_humanoid_description/urdf/simple_humanoid.urdf",
    "talos_data/robots/talos_reduced.urdf",
    "tiago_description/robots/tiago_dual.urdf",
    "ur_description/urdf/ur3_gripper.urdf",
}
EMPTY = "ur_description/urdf/ur3.urdf"
every_robot = pytest.mark.parametrize(
    "name",
    [pytest.param(n, marks=[] if n in SOME else pytest.mark.long) for n in real_names(".urdf") if n != EMPTY]
    or [pytest.param("", marks=pytest.mark.skip("needs example-robot-data"))],
)


def shapes_of(model, name):
    return next(tuple(each.shapes) for each in model.links if each.name == name)


# Real robots ---------------------------------------------------------------------------------------------------------


@every_robot
def test_links_and_joints_are_those_of_another_reader(name):
    yourdfpy = pytest.importorskip("yourdfpy")
    path = real() / name
    ours = read(path)
    theirs = yourdfpy.URDF.load(path, load_meshes=False, build_scene_graph=False).robot
    assert ours.name == theirs.name
    assert [a.name for a in ours.links] == [b.name for b in theirs.links]
    for a, b in zip(ours.links, theirs.links, strict=True):
        assert len(a.shapes) == len(b.collisions)
        for shape, part in zip(a.shapes, b.collisions, strict=True):
            np.testing.assert_allclose(shape.pose, np.eye(4) if part.origin is None else part.origin, atol=1e-12)
    assert [a.name for a in ours.joints] == [b.name for b in theirs.joints]
    for a, b in zip(ours.joints, theirs.joints, strict=True):
        assert (a.kind, a.parent, a.child) == (b.type, b.parent, b.child)
        np.testing.assert_allclose(a.origin, np.eye(4) if b.origin is None else b.origin, atol=1e-12)
        if a.kind in ("revolute", "prismatic"):
            assert (a.lower, a.upper) == (b.limit.lower or 0.0, b.limit.upper or 0.0)
            assert a.velocity == (b.limit.velocity or np.inf)
        if a.kind not in ("fixed", "floating"):
            axis = np.array([1.0, 0.0, 0.0]) if b.axis is None else b.axis / np.linalg.norm(b.axis)
            np.testing.assert_allclose(a.axis, axis, atol=1e-12)
        assert (a.mimic is None) == (b.mimic is None or b.type == "fixed")
        if a.mimic:
            multiplier = 1.0 if b.mimic.multiplier is None else b.mimic.multiplier
            assert tuple(a.mimic) == (b.mimic.joint, multiplier, b.mimic.offset or 0.0)


@every_robot
def test_shapes_stand_where_pinocchio_puts_them_and_fill_the_same_box(name):
    pin = pytest.importorskip("pinocchio")
    path = real() / name
    model, folders = pin.buildModelFromUrdf(str(path)), [str(real()), str(real().parents[1])]
    geometry = pin.buildGeomFromUrdf(model, str(path), pin.COLLISION, package_dirs=folders)
    theirs = {each.name: each for each in geometry.geometryObjects}
    ours = {f"{each.name}_{k}": (each.name, s) for each in read(path).links for k, s in enumerate(each.shapes)}
    assert ours.keys() == theirs.keys()
    for key, (owner, placed) in ours.items():
        joint_from_link = model.frames[model.getFrameId(owner, pin.BODY)].placement.homogeneous
        np.testing.assert_allclose(joint_from_link @ placed.pose, theirs[key].placement.homogeneous, atol=1e-9)
        if isinstance(placed.shape, cl.Mesh) and hasattr(theirs[key].geometry, "num_tris"):
            mesh, geometry = placed.shape, theirs[key].geometry
            geometry.computeLocalAABB()
            np.testing.assert_allclose(mesh.vertices.min(axis=0), geometry.aabb_local.min_, atol=1e-6)
            np.testing.assert_allclose(mesh.vertices.max(axis=0), geometry.aabb_local.max_, atol=1e-6)
            # Triangles that are but a point or a segment stay with us, and not with assimp.
            a, b, c = np.moveaxis(mesh.vertices[mesh.faces], 1, 0)
            is_thin = (a == b).all(axis=1) | (b == c).all(axis=1) | (c == a).all(axis=1)
            assert len(mesh) - is_thin.sum() <= geometry.num_tris <= len(mesh)


def test_robot_without_links_is_refused():
    with pytest.raises(ValueError, match=r"^ur3.urdf, line 6: <robot> has no <link>"):
        read(real(EMPTY))


def test_real_robot_through_a_link_or_copied_away_from_its_meshes(tmp_path):
    panda = real("panda_description/urdf/panda.urdf")
    whole = read(panda)
    (tmp_path / "elsewhere.urdf").symlink_to(panda)
    (tmp_path / "robots").symlink_to(real(), target_is_directory=True)
    for path in (tmp_path / "elsewhere.urdf", tmp_path / "robots/panda_description/urdf/panda.urdf"):
        assert [len(each.shapes) for each in read(path).links] == [len(each.shapes) for each in whole.links]
    copy = written(tmp_path, panda.read_bytes(), "copy/panda.urdf")
    with pytest.raises(FileNotFoundError, match="panda_link7") as caught:
        read(copy)
    assert str(caught.value).count("is missing") == 9  # each of its meshes
    for folder in (real().parent, real().parents[1]):
        assert read(copy, package_dirs=folder).links[0] == whole.links[0]


@pytest.mark.long
@pytest.mark.parametrize("name", [n for n in real_names(".urdf") if n != EMPTY])
def test_hulls_of_real_robots(name):
    meshes, hulls = read(real() / name), read(real() / name, collision="hull")
    for a, b in zip(meshes.links, hulls.links, strict=True):
        for mesh, hull in zip(a.shapes, b.shapes, strict=True):
            if isinstance(mesh.shape, cl.Mesh):
                np.testing.assert_array_equal(hull.shape.points.min(axis=0), mesh.shape.vertices.min(axis=0))
                np.testing.assert_array_equal(hull.shape.points.max(axis=0), mesh.shape.vertices.max(axis=0))
            else:
                assert hull == mesh


# What is written is what is read -------------------------------------------------------------------------------------

numbers = st.floats(-1e6, 1e6, allow_subnormal=False)
sizes = st.floats(1e-6, 1e6)
triples = st.tuples(numbers, numbers, numbers)


def spelt(values, separator=" "):
    return separator.join(map(repr, values))


@given(triples, triples, triples.filter(any), numbers, sizes, sizes, st.sampled_from(["revolute", "prismatic"]))
def test_joints_are_read_as_they_are_written(tmp_path, xyz, rpy, axis, lower, span, velocity, kind):
    inside = (
        f'<origin xyz="{spelt(xyz)}" rpy=" {spelt(rpy, "&#10;  ")} "/><axis xyz="{spelt(axis)}"/>'
        f'<limit lower="{lower!r}" upper="{lower + span!r}" velocity="{velocity!r}" effort="none of our business"/>'
    )
    model = read(written(tmp_path, urdf(joint("j", kind, inside), link("base"), link("hand"))))
    (found,) = model.joints
    assert (found.name, found.kind, found.parent, found.child) == ("j", kind, "base", "hand")
    assert (found.lower, found.upper, found.velocity) == (lower, lower + span, velocity)
    np.testing.assert_array_equal(found.origin, from_rpy(rpy, xyz))
    np.testing.assert_allclose(found.axis, np.array(axis) / np.linalg.norm(axis), rtol=1e-12, atol=1e-300)


@given(st.tuples(sizes, sizes, sizes), triples, triples)
def test_primitives_are_read_as_they_are_written(tmp_path, size, xyz, rpy):
    origin = f'<origin rpy="{spelt(rpy)}" xyz="{spelt(xyz)}"/>'
    a, b, _ = size
    parts = {
        f'<box size="{spelt(size)}"/>': cl.Box(size),
        f'<cylinder radius="{a!r}" length="{b!r}"/>': cl.Cylinder(a, b),
        f'<sphere radius="{a!r}"/>': cl.Sphere(a),
        f'<capsule radius="{a!r}" length="{b!r}"/>': cl.Capsule(a, b),
    }
    model = read(written(tmp_path, urdf(link("base", *(collision(part, origin) for part in parts)))))
    assert shapes_of(model, "base") == tuple(shape.at(from_rpy(rpy, xyz)) for shape in parts.values())


factors = st.floats(1e-4, 1e3).flatmap(lambda x: st.sampled_from([x, -x]))


@given(st.tuples(factors, factors, factors))
def test_scaled_and_mirrored_meshes_keep_their_outside(tmp_path, scale):
    written(tmp_path, obj(), "part.obj")
    model = read(
        written(tmp_path, urdf(link("base", collision(f'<mesh filename="part.obj" scale="{spelt(scale)}"/>'))))
    )
    mesh = shapes_of(model, "base")[0].shape
    np.testing.assert_array_equal(mesh.vertices, TETRAHEDRON * scale)
    corners = mesh.vertices[mesh.faces]
    volume = np.linalg.det(corners).sum() / 6
    assert volume == pytest.approx(0.5 * abs(np.prod(scale)))


def test_what_is_not_said_is_what_the_specification_says(tmp_path):
    limit = '<limit effort="1"/>'
    kinds = {"fixed": "", "continuous": "", "planar": "", "floating": "", "revolute": limit, "prismatic": limit}
    joints = [joint(kind, kind, inside) for kind, inside in kinds.items()]
    model = read(written(tmp_path, f"<robot>{link('base')}{''.join(joints)}</robot>"))
    assert model.name == "little"  # as the file is called
    assert [each.kind for each in model.joints] == list(kinds)
    for each in model.joints:
        np.testing.assert_array_equal(each.origin, np.eye(4))
        np.testing.assert_array_equal(each.axis, [1.0, 0.0, 0.0])
        bounds = (0.0, 0.0) if kinds[each.kind] else (-np.inf, np.inf)
        assert (each.lower, each.upper, each.velocity, each.mimic) == (*bounds, np.inf, None)
    assert shapes_of(model, "base") == ()


def test_velocity_of_continuous_joints_is_read_and_their_bounds_are_not(tmp_path):
    inside = '<limit lower="-1" upper="1" velocity="2.5"/>'
    model = read(written(tmp_path, urdf(joint("j", "continuous", inside), link("base"))))
    assert (model.joints[0].lower, model.joints[0].upper, model.joints[0].velocity) == (-np.inf, np.inf, 2.5)


def test_velocity_of_zero_means_that_it_is_not_known(tmp_path):
    inside = '<limit lower="-inf" upper="inf" velocity="0"/>'
    model = read(written(tmp_path, urdf(joint("j", "revolute", inside), link("base"))))
    assert (model.joints[0].lower, model.joints[0].upper, model.joints[0].velocity) == (-np.inf, np.inf, np.inf)


def test_mimic_joints(tmp_path):
    kinds = {"a": "", "b": '<mimic joint="a"/>', "c": '<mimic joint="b" multiplier="-2" offset="0.5"/>'}
    joints = [joint(name, "continuous", inside) for name, inside in kinds.items()]
    found = read(written(tmp_path, urdf(link("base"), *joints))).joints
    assert [each.mimic for each in found] == [None, ("a", 1.0, 0.0), ("b", -2.0, 0.5)]


def test_fixed_joint_follows_nobody_and_a_floating_one_cannot(tmp_path):
    mimic = '<mimic joint="a"/><axis xyz="0 0 0"/>'
    assert read(written(tmp_path, urdf(link("base"), joint("j", "fixed", mimic)))).joints[0].mimic is None
    with pytest.raises(ValueError, match=r"^little.urdf, line 1: joint 'j' is wrong: .* cannot mimic"):
        read(written(tmp_path, urdf(link("base"), joint("j", "floating", mimic))))


def test_quaternions_of_newer_files(tmp_path):
    inside = '<origin xyz="1 2 3" quat_xyzw="0.1 0.2 0.3 0.4"/>'
    model = read(written(tmp_path, urdf(joint("j", "fixed", inside), link("base"))))
    np.testing.assert_array_equal(model.joints[0].origin, from_xyzw([0.1, 0.2, 0.3, 0.4], [1, 2, 3]))


def test_axes_of_any_length(tmp_path):
    for axis in ("0 1e-300 0", "0 1e300 0", "0 +.5E1 -0"):
        model = read(written(tmp_path, urdf(joint("j", "continuous", f'<axis xyz="{axis}"/>'), link("base"))))
        np.testing.assert_array_equal(model.joints[0].axis, [0.0, 1.0, 0.0])


def test_only_what_stands_directly_inside_counts(tmp_path):
    extras = (
        '<transmission name="t"><joint name="j"/><link name="x"/></transmission>'
        '<gazebo><sensor:camera name="c"><joint type="?"/></sensor:camera></gazebo><xacro:if value="0"/>'
        '<link name="base"><visual><geometry><mesh filename="nowhere.stl"/></geometry></visual><inertial/></link>'
    )
    model = read(written(tmp_path, urdf(extras)))
    assert (len(model.links), len(model.joints), shapes_of(model, "base")) == (1, 0, ())


# Meshes --------------------------------------------------------------------------------------------------------------


def test_mesh_used_several_times_is_loaded_once(tmp_path, monkeypatch):
    import clearance.urdf

    loaded = []
    load = clearance.urdf.load_mesh
    monkeypatch.setattr(clearance.urdf, "load_mesh", lambda *given: loaded.append(given) or load(*given))
    for folder in ("meshes", "robot/meshes"):
        written(tmp_path, stl(), f"{folder}/part.stl")
    names = ("meshes/part.stl", "./meshes/part.stl", "package://robot/meshes/part.stl")
    parts = [collision(f'<mesh filename="{name}"/>') for name in names]
    parts.append(collision('<mesh filename="meshes/part.stl" scale="1 -1 1"/>'))
    model = read(written(tmp_path, urdf(link("a", *parts), link("b", *parts)), "robot/robot.urdf"))
    meshes = {id(placed.shape) for each in model.links for placed in each.shapes}
    assert len(loaded) == len(meshes) == 2


def test_hull_of_a_mesh_leaves_out_vertices_that_no_triangle_uses(tmp_path):
    written(tmp_path, obj([*TETRAHEDRON, [100.0, 100.0, 100.0]]), "part.obj")
    path = written(tmp_path, urdf(link("base", collision('<mesh filename="part.obj" scale="2 2 -2"/>'), BALL)))
    hull, ball = shapes_of(read(path, collision="hull"), "base")
    assert isinstance(hull.shape, cl.ConvexHull)
    assert sorted(hull.shape.points.tolist()) == sorted((TETRAHEDRON * [2, 2, -2]).tolist())
    assert ball == cl.Sphere(0.5).at(np.eye(4))


@pytest.mark.parametrize(
    ("vertices", "distance"),
    [([[0, 0, 0], [4, 0, 0], [0, 4, 0], [4, 4, 0]], 2.0), ([[0, 0, 0], [4, 4, 0]], 2.0), ([[1, 1, 0]], 2.0)],
    ids=["flat", "segment", "point"],
)
def test_hull_of_a_flat_mesh_is_flat(tmp_path, vertices, distance):
    faces = [[0, 1, 2], [1, 2, 3]] if len(vertices) == 4 else [[0, 0, len(vertices) - 1]]
    written(tmp_path, obj(np.array(vertices, dtype=float), faces), "part.obj")
    path = written(tmp_path, urdf(link("base", collision('<mesh filename="part.obj"/>'))))
    (hull,) = shapes_of(read(path, collision="hull"), "base")
    assert cl.distance(hull, cl.Sphere(0.5).at([1.0, 1.0, 2.5])).distance == pytest.approx(distance, abs=1e-8)


def test_swept_hull_of_a_mesh_contains_it(tmp_path):
    pytest.importorskip("clearance.fit")
    pytest.importorskip("scipy")
    written(tmp_path, stl(), "part.stl")
    path = written(tmp_path, urdf(link("base", collision('<mesh filename="part.stl"/>'), BALL)))
    hull, ball = shapes_of(read(path, collision="swept"), "base")
    assert len(hull.shape.points) <= 8
    assert ball == cl.Sphere(0.5).at(np.eye(4))
    for corner in TETRAHEDRON:
        assert cl.distance(hull, cl.SweptPoint(corner, 0.0)).lower <= 1e-6


def test_missing_meshes_are_told_all_at_once_or_left_out(tmp_path):
    parts = [
        collision(f'<mesh filename="{name}"/>') for name in ("here.stl", "package://far/a.stl", "../b.stl", "c.stl")
    ]
    written(tmp_path, stl(), "urdf/here.stl")
    path = written(tmp_path, urdf(link("base", *parts), link("hand", *parts, BALL)), "urdf/little.urdf")
    with pytest.raises(FileNotFoundError) as caught:
        read(path)
    message = str(caught.value)
    assert message.count("is missing") == 3
    for part in (str(tmp_path / "urdf/c.stl"), str(tmp_path / "far/a.stl"), "link 'base'", "little.urdf, line 1: "):
        assert part in message
    with pytest.warns(UserWarning, match="left out") as told:
        model = read(path, on_missing="warn")
    assert len(told) == 3
    assert [len(each.shapes) for each in model.links] == [1, 2]


def test_mesh_that_may_not_be_read_is_refused_or_left_out(tmp_path):
    written(tmp_path, stl(), "secret.stl")
    part = collision(f'<mesh filename="{tmp_path}/secret.stl"/>')
    path = written(tmp_path, urdf(link("base", part, BALL)), "robot/little.urdf")
    with pytest.raises(ValueError, match="package_dirs") as caught:
        read(path)
    assert "<mesh> of link 'base' may not be read" in str(caught.value)
    with pytest.warns(UserWarning, match="may not be read"):
        assert len(shapes_of(read(path, on_missing="warn"), "base")) == 1
    assert len(shapes_of(read(path, package_dirs=[tmp_path]), "base")) == 2


@pytest.mark.parametrize("content", [b"", b"solid x\nfacet", stl()[:-1], stl([[0, 0, np.nan]] * 3, [[0, 1, 2]])])
def test_damaged_mesh_is_an_error_that_names_link_and_file(tmp_path, content):
    written(tmp_path, content, "part.stl")
    path = written(tmp_path, urdf(link("base", collision('<mesh filename="part.stl"/>'))))
    with pytest.raises(ValueError, match=r"little.urdf, line 1: <mesh> of link 'base' is wrong: "):
        read(path)


# What it needs -------------------------------------------------------------------------------------------------------


def test_numpy_is_all_it_needs(tmp_path):
    written(tmp_path, stl(), "part.stl")
    path = written(tmp_path, urdf(link("base", collision('<mesh filename="part.stl"/>'))))
    program = (
        "import sys; from clearance.urdf import read\n"
        f"assert len(read({str(path)!r}, collision='hull').links) == 1\n"
        "print(*sorted({m.split('.')[0] for m in sys.modules} & {'trimesh', 'scipy', 'lxml', 'yourdfpy', 'xacro'}))"
    )
    done = subprocess.run([sys.executable, "-c", program], capture_output=True, text=True, check=True)
    assert done.stdout.strip() == ""


XACRO = (
    '<robot name="big" xmlns:xacro="http://www.ros.org/wiki/xacro"><xacro:include filename="{}"/>'
    '<xacro:ball name="base" radius="0.25"/></robot>'
)
MACRO = (
    '<robot xmlns:xacro="http://www.ros.org/wiki/xacro"><xacro:macro name="ball" params="name radius">'
    '<link name="${name}"><collision><geometry><sphere radius="${2 * radius}"/></geometry></collision>'
    '<collision><geometry><mesh filename="package://parts/part.stl"/></geometry></collision></link></xacro:macro></robot>'
)


@pytest.mark.parametrize("include", ["ball.xacro", "$(find parts)/ball.xacro"])
def test_xacro_files_are_expanded(tmp_path, include):
    pytest.importorskip("xacrodoc")
    for folder in ("robot", "packages/parts"):
        written(tmp_path, MACRO, f"{folder}/ball.xacro")
    written(tmp_path, stl(), "packages/parts/part.stl")
    path = written(tmp_path, XACRO.format(include), "robot/robot.urdf.xacro")
    for folder in ("packages", "packages/parts"):
        model = read(path, package_dirs=tmp_path / folder)
        assert (model.name, shapes_of(model, "base")[0].shape) == ("big", cl.Sphere(0.5))


def test_xacro_file_that_is_broken_is_an_error(tmp_path):
    pytest.importorskip("xacrodoc")
    for include in ("nowhere.xacro", "$(find nowhere_at_all)/ball.xacro", "$(find"):
        with pytest.raises(ValueError, match=r"robot.xacro: xacro cannot expand it: "):
            read(written(tmp_path, XACRO.format(include), "robot.xacro"))


def test_xacro_file_without_xacro_says_what_to_install(tmp_path, monkeypatch):
    monkeypatch.setitem(sys.modules, "xacrodoc", None)
    with pytest.raises(ImportError, match=r"pip install clearance\[robots\]"):
        read(written(tmp_path, urdf(link("base")), "robot.xacro"))


def test_triangles_of_a_mesh_are_those_of_its_file(tmp_path):
    written(tmp_path, obj(), "part.obj")
    (placed,) = shapes_of(read(written(tmp_path, urdf(link("base", collision('<mesh filename="part.obj"/>'))))), "base")
    np.testing.assert_array_equal(placed.shape.vertices, TETRAHEDRON)
    np.testing.assert_array_equal(placed.shape.faces, OUTWARDS)
