"""Meshes hug the shapes they stand for, and pictures show what they are given."""

import base64
import html
import io
import re

import numpy as np
import pytest

import clearance as cl
from clearance import picture_parts, pictures, samples

pytest.importorskip("trimesh", reason="pictures need the extra 'view'")
pytest.importorskip("matplotlib", reason="pictures need the extra 'view'")
import trimesh
from matplotlib.image import imread

RNG = np.random.default_rng(5)
CLOUD = RNG.normal(size=(40, 3))
SQUARE = np.array([[0.0, 0.0, 0.0], [1.0, 0.0, 0.0], [1.0, 1.0, 0.0], [0.0, 1.0, 0.0]])
SOLIDS = {
    "box": cl.Box([1.0, 2.0, 0.3]),
    "long box": cl.Box([1e-3, 1e-3, 1.0]),
    "cylinder": cl.Cylinder(0.3, 2.0),
    "disc": cl.Cylinder(1.0, 0.01),
    "cone": cl.Cone(0.5, 1.0),
    "ellipsoid": cl.Ellipsoid([0.2, 1.0, 0.5]),
    "hull": cl.ConvexHull(CLOUD),
    "round hull": cl.ConvexHull(CLOUD, 0.4),
    "hull far away": cl.ConvexHull(CLOUD + 1e4, 0.4),
    "round plate": cl.ConvexHull(SQUARE, 0.1),
    "round rod": cl.ConvexHull([[0.0, 0.0, k] for k in range(5)], 0.1),
    "ball": cl.ConvexHull(np.ones((4, 3)), 0.1),
}


def is_blank(path):
    return not (imread(path)[..., :3] < 0.9).any()


def heights(shape, points):
    return cl.distance(cl.SweptPoint([0.0, 0.0, 0.0], 0.0).at(cl.poses.from_translation(points)), shape).distance


@pytest.mark.parametrize("vertices", [1, 2, 3])
def test_meshes_are_closed_and_hug_the_swept_surface(vertices):
    rng = np.random.default_rng(vertices)
    for _ in range(10):
        core, radius = rng.normal(size=(vertices, 3)), float(rng.uniform(0.05, 2.0))
        shape = (cl.SweptPoint, cl.SweptSegment, cl.SweptTriangle)[vertices - 1](*core, radius)
        mesh = pictures.mesh_of(shape)
        assert mesh.is_volume
        points = np.concatenate([mesh.triangles_center, mesh.vertices])
        distances = cl.elements.closest(points[:, None, :], core, radius).distance
        assert -0.01 * radius < distances.min() <= distances.max() < 1e-9


def test_mesh_of_a_compound_has_all_its_parts():
    mesh = pictures.mesh_of(cl.Compound([cl.Sphere(0.1), cl.Capsule(0.1, 0.5).at([1.0, 0.0, 0.0])]))
    assert mesh.body_count == 2
    np.testing.assert_allclose(mesh.bounds, [[-0.1, -0.1, -0.35], [1.1, 0.1, 0.35]], atol=1e-3)


@pytest.mark.parametrize("name", SOLIDS)
def test_meshes_of_solids_are_closed_and_hug_them(name):
    shape, size = SOLIDS[name], SOLIDS[name].ball[1]
    mesh = pictures.mesh_of(shape)
    assert mesh.is_volume
    points = np.concatenate([mesh.triangles_center, mesh.vertices])
    found = heights(shape, points)
    assert -0.01 * size < found.min() <= found.max() < 2e-6 * size


@pytest.mark.parametrize("points", [SQUARE, SQUARE * [1.0, 0.0, 0.0]], ids=["plate", "rod"])
def test_flat_hulls_get_a_little_thickness(points):
    mesh = pictures.mesh_of(cl.ConvexHull(points))
    assert mesh.is_volume
    assert heights(cl.ConvexHull(points), mesh.vertices).max() < 2e-3


def test_mesh_of_a_half_space_lies_under_the_other_parts():
    ground = cl.HalfSpace([0.0, 0.0, 2.0], 1.0)  # z <= 0.5
    np.testing.assert_allclose(pictures.mesh_of(ground).bounds[:, :2], [[-1.0, -1.0], [1.0, 1.0]])
    mesh = pictures.mesh_of(cl.Compound([ground, cl.Compound([cl.Box([1.0, 1.0, 1.0]).at([3.0, 0.0, 1.0])])]))
    plate = min(mesh.split(), key=lambda part: part.bounds[1, 2])
    assert plate.bounds[1, 2] == pytest.approx(0.5)
    assert (plate.bounds[0, :2] < [2.5, -0.5]).all()
    assert (plate.bounds[1, :2] > [3.5, 0.5]).all()


def test_cut_off_pairs_are_not_drawn_and_overlaps_are(tmp_path):
    scene = cl.Scene()
    for name, x in (("a", 0.0), ("b", 0.15), ("far <away>", 5.0)):
        scene.add(name, cl.Sphere(0.1), pose=[x, 0.0, 0.0])
    scene.watch_all()
    table = scene.distances(at_most=0.1)
    pictures.draw(scene, tmp_path / "scene.png", table=table)
    pictures.page(scene, tmp_path / "scene.html", table=table)
    rows = re.search(r"<tbody>(.*?)</tbody>", (tmp_path / "scene.html").read_text(encoding="utf-8"), re.DOTALL)[1]
    assert rows.count("<tr>") == 1
    assert "-50.000" in rows


def test_pictures_refuse_what_they_cannot_show(tmp_path):
    with pytest.raises(ValueError, match="no bodies"):
        pictures.draw(cl.Scene(), tmp_path / "scene.png")
    with pytest.raises(ValueError, match="closest must be zero or positive"):
        pictures.page(samples.humanoid(), tmp_path / "scene.html", closest=-1)


def test_contacts_are_listed_on_the_page_and_drawn(tmp_path):
    scene = samples.crate_on_table()
    table, crate = (scene.shape(name).at(scene.pose(name)) for name in ("table", "crate"))
    lifted = crate.shape.at([0.0, 0.0, 5.0])
    shown = {"crate <on> table": cl.contacts(table, crate), "apart": cl.contacts(table, lifted)}
    pictures.page(scene, tmp_path / "scene.html", closest=0, contacts=shown)
    page = (tmp_path / "scene.html").read_text(encoding="utf-8")
    cells = re.findall(r"<td>(?:<i [^>]*></i>)?([^<]*)</td>", page)
    assert cells == ["crate &lt;on&gt; table", "4", "0.500", "apart", "0", "0.000"]
    assert "Closest pairs" not in page
    pictures.draw(scene, tmp_path / "with.png", closest=0, contacts=shown)
    pictures.draw(scene, tmp_path / "without.png", closest=0)
    with_marks, without = (imread(tmp_path / name)[..., :3] for name in ("with.png", "without.png"))
    red = [(p[..., 0] > 0.7) & (p[..., 1] < 0.2) for p in (with_marks, without)]
    assert red[0].any()
    assert not red[1].any()


@pytest.mark.parametrize("normal", [[0.0, 0.0, 1.0], [1.0, 1.0, 0.0], [-1.0, 0.0, 0.2]])
def test_half_spaces_are_drawn_alone_and_with_bodies_inside(tmp_path, normal):
    scene = cl.Scene()
    scene.add("wall", cl.HalfSpace(normal, 0.1))
    pictures.draw(scene, tmp_path / "alone.png")
    pictures.page(scene, tmp_path / "alone.html")
    assert not is_blank(tmp_path / "alone.png")
    scene.add("ball", cl.Sphere(0.3))
    scene.watch_all()
    pictures.draw(scene, tmp_path / "both.png")
    pictures.page(scene, tmp_path / "both.html")
    assert not is_blank(tmp_path / "both.png")


def ripples(n=41):
    x = np.linspace(-1.0, 1.0, n)
    return cl.HeightField(0.1 * np.sin(6.0 * x)[:, None] * np.cos(6.0 * x), cell_size=2.0 / (n - 1))


def test_surfaces_are_drawn_whichever_way_round_their_triangles_turn(tmp_path):
    terrain = ripples()
    for name, faces in (("up", terrain.faces), ("down", terrain.faces[:, ::-1])):
        scene = cl.Scene()
        scene.add("sheet", cl.Mesh(terrain.vertices, faces))
        pictures.draw(scene, tmp_path / f"{name}.png", closest=0)
    up, down = ((imread(tmp_path / f"{name}.png")[..., :3] < 0.97).any(axis=-1) for name in ("up", "down"))
    assert up.mean() > 0.1
    assert (up == down).mean() > 0.99


@pytest.mark.parametrize("kind", ["mesh", "height field"])
def test_pictures_with_a_surface_differ_from_those_without(tmp_path, kind):
    terrain = ripples()
    scene = cl.Scene()
    scene.add("left", cl.Sphere(0.2), pose=[-0.8, -0.8, 0.6])
    scene.add("right", cl.Sphere(0.2), pose=[0.8, 0.8, -0.6])
    pictures.draw(scene, tmp_path / "without.png", closest=0)
    pictures.page(scene, tmp_path / "without.html", closest=0)
    scene.add("sheet", terrain if kind == "height field" else cl.Mesh(terrain.vertices, terrain.faces))
    for name in ("left", "right"):
        scene.watch(name, "sheet")
    pictures.draw(scene, tmp_path / "with.png")
    pictures.page(scene, tmp_path / "with.html")
    assert not is_blank(tmp_path / "with.png")
    without, both = (imread(tmp_path / f"{name}.png")[..., :3] for name in ("without", "with"))
    assert (both < 0.97).any(axis=-1).sum() > 1.5 * (without < 0.97).any(axis=-1).sum()
    assert (tmp_path / "with.html").stat().st_size > (tmp_path / "without.html").stat().st_size + len(terrain.faces)
    nearest = 1e3 * scene.distances().distance.min()
    assert f"<td>{nearest:.3f}</td>" in (tmp_path / "with.html").read_text(encoding="utf-8")


def test_mesh_of_a_surface_is_the_surface_itself():
    terrain = ripples(5)
    for shape in (terrain, cl.Mesh(terrain.vertices, terrain.faces)):
        mesh = pictures.mesh_of(cl.Compound([shape.at([1.0, 0.0, 0.0])]))
        np.testing.assert_array_equal(mesh.faces, terrain.faces)
        np.testing.assert_allclose(mesh.vertices, terrain.vertices + np.array([1.0, 0.0, 0.0]))


def test_mesh_of_a_cloud_is_a_ball_for_every_point():
    points = RNG.normal(size=(20, 3))
    mesh = pictures.mesh_of(cl.PointCloud(points, 0.05))
    assert mesh.body_count == 20
    assert mesh.is_watertight
    found = heights(cl.PointCloud(points, 0.05), mesh.vertices)
    assert np.abs(found).max() < 1e-12 or found.max() < 1e-12  # where balls overlap, vertices are inside of others
    assert pictures.mesh_of(cl.PointCloud(points, 0.0)).extents.max() > np.ptp(points, axis=0).max()
    assert pictures.mesh_of(cl.PointCloud(points[:1], 0.0)).extents.max() > 0.0


def test_clouds_are_drawn_and_large_ones_as_a_sample(tmp_path):
    points = RNG.uniform(-1.0, 1.0, size=(30_000, 3))
    assert len(pictures.mesh_of(cl.PointCloud(points, 0.01)).faces) == 200_000
    scene = cl.Scene()
    scene.add("seen", cl.Compound([cl.PointCloud(points[:500], 0.02).at([0.0, 0.0, 1.0])]))
    scene.add("ball", cl.Sphere(0.3), pose=[0.0, 0.0, -1.0])
    scene.watch_all()
    pictures.draw(scene, tmp_path / "scene.png")
    pictures.page(scene, tmp_path / "scene.html")
    assert not is_blank(tmp_path / "scene.png")


def test_large_meshes_are_drawn_with_fewer_triangles(tmp_path, monkeypatch):
    monkeypatch.setattr(picture_parts, "MOST_TRIANGLES", 1000)
    scene = cl.Scene()
    scene.add("sheet", ripples(401))
    pieces, _ = picture_parts.pieces_of(scene)
    assert len(pieces[0].mesh.faces) < 0.5 * len(scene.shape("sheet").faces)  # although both sides are drawn
    np.testing.assert_allclose(pieces[0].mesh.bounds, [[-1.0, -1.0, -0.1], [1.0, 1.0, 0.1]], atol=0.01)


def test_what_stands_on_the_ground_does_not_share_its_colour():
    scene = samples.humanoid()
    colours = dict(zip(scene.names, picture_parts.colours_of(scene), strict=True))
    families = {
        name: next(k for k, shades in enumerate(picture_parts.FAMILIES) if c in shades) for name, c in colours.items()
    }
    assert families["left_foot"] == families["head"] != families["table"] == families["egg"]


def two_balls(x):
    scene = cl.Scene()
    scene.add("still", cl.Sphere(0.2), pose=[0.0, 0.0, 0.0])
    scene.add("moving", cl.Sphere(0.2), pose=[0.0, x, 0.0])
    scene.watch_all()
    return scene


def test_ghosts_are_seen_through_and_leave_out_what_has_not_moved(tmp_path):
    scene, ghosts = two_balls(1.0), [two_balls(2.0), two_balls(3.0), two_balls(1.0)]
    assert [[piece.body for piece in shade] for shade in picture_parts.shades_of(scene, ghosts)] == [
        ["moving"],
        ["moving"],
        [],
    ]
    pictures.draw(scene, tmp_path / "with.png", closest=0, ghosts=ghosts, view_from=[1.0, 0.0, 0.2])
    picture = imread(tmp_path / "with.png")[..., :3]
    darkness = 1.0 - picture.max(axis=-1).min(axis=0)  # column by column; bodies from left to right
    dark = np.flatnonzero(darkness > 0.02)
    blocks = [darkness[block].max() for block in np.split(dark, np.flatnonzero(np.diff(dark) > 5) + 1)]
    assert len(blocks) == 4
    assert max(blocks[2:]) < 0.6 * min(blocks[:2])
    pictures.page(scene, tmp_path / "with.html", ghosts=ghosts)
    pictures.page(scene, tmp_path / "without.html")
    assert (tmp_path / "with.html").stat().st_size > (tmp_path / "without.html").stat().st_size


def greenest(path):
    red, green, blue = np.moveaxis(imread(path)[..., :3], -1, 0)
    return float((green - np.maximum(red, blue)).max())


def green_materials(page):
    """Return how opaque what is green on a page is."""
    data = re.search('base64_data="([^"]+)"', html.unescape(page.read_text(encoding="utf-8")))[1]
    model = trimesh.load(io.BytesIO(base64.b64decode(data)), file_type="glb")
    factors = [np.array(mesh.visual.material.baseColorFactor) / 255.0 for mesh in model.geometry.values()]
    return [round(float(alpha), 2) for red, green, blue, alpha in factors if green > 0.5 > 0.1 > max(red, blue)]


def test_bodies_and_ghosts_have_the_colours_that_are_asked_for(tmp_path):
    scene, ghost = two_balls(1.0), cl.Scene()
    ghost.add("shadow", cl.Sphere(0.2), pose=[0.0, 2.0, 0.0])
    found = []
    for k, colours in enumerate([None, {"moving": "#00ff00"}, {"shadow": "#00ff00"}]):
        pictures.draw(scene, tmp_path / f"{k}.png", closest=0, ghosts=[ghost], colours=colours)
        pictures.page(scene, tmp_path / f"{k}.html", closest=0, ghosts=[ghost], colours=colours)
        found.append(greenest(tmp_path / f"{k}.png"))
    assert found[0] < 0.05
    assert found[1] > 0.8
    assert 0.2 < found[2] < 0.5  # seen through
    assert [green_materials(tmp_path / f"{k}.html") for k in range(3)] == [[], [1.0], [picture_parts.FAINT]]
    with pytest.raises(KeyError, match="there is no body 'nobody'"):
        pictures.draw(scene, tmp_path / "never.png", colours={"nobody": "#ff0000"})
    with pytest.raises(ValueError, match=r"colours\['still'\] must be like '#d6001c', but it is 'red'"):
        pictures.page(scene, tmp_path / "never.html", colours={"still": "red"})


def test_swept_volumes_stand_where_the_frame_is_that_they_are_seen_from():
    robot = samples.upper_body()
    q = samples.upper_body_home()
    swept = cl.sweep(robot, q - 0.01, q + 0.01)
    everything = pictures.swept_scene(swept, q)
    assert everything.names == [f"swept {link}" for link in swept.links if link != robot.root]
    seen = pictures.swept_scene(swept, q, "lArm0")
    assert seen.names == [f"swept lArm{k}" for k in range(1, 7)]
    for scene in (everything, seen):
        for name in scene.names:
            inside = robot.scene(q).shape(name.removeprefix("swept "))
            placed = inside.at(robot.pose(q, name.removeprefix("swept ")))
            corners = pictures.mesh_of(inside).vertices @ placed.pose[:3, :3].T + placed.pose[:3, 3]
            assert heights(scene.shape(name).at(scene.pose(name)), corners).max() < 1e-9
    with pytest.raises(KeyError):
        pictures.swept_scene(swept, q, "nowhere")


def test_scenes_are_seen_from_where_one_asks(tmp_path):
    scene = two_balls(1.0)
    widths = []
    for name, view in (("side", [1.0, 0.0, 0.1]), ("end", [0.02, 1.0, 0.1])):
        pictures.draw(scene, tmp_path / f"{name}.png", closest=0, view_from=view)
        pictures.page(scene, tmp_path / f"{name}.html", closest=0, view_from=view)
        drawn = (imread(tmp_path / f"{name}.png")[..., :3] < 0.97).any(axis=-1)
        widths.append(np.ptp(np.flatnonzero(drawn.any(axis=0))) / np.ptp(np.flatnonzero(drawn.any(axis=1))))
    assert widths[0] > 2.0 > 1.5 > widths[1]
    for view in ([0.0, 0.0, 1.0], [1.0, 0.0], [np.nan, 1.0, 0.0]):
        with pytest.raises(ValueError, match="view_from must be three numbers"):
            pictures.draw(scene, tmp_path / "never.png", view_from=view)


def test_paths_are_plotted_with_and_without_speeds(tmp_path):
    links = [cl.Link("rail"), cl.Link("tool", cl.Sphere(0.1))]
    wall = {"wall": cl.Box([0.1, 1.0, 1.0]).at([1.0, 0.0, 0.0])}
    for velocity in (np.inf, 0.5):
        slide = cl.Joint("slide", "prismatic", "rail", "tool", axis=[1, 0, 0], velocity=velocity)
        robot = cl.Robot(links, [slide])
        robot.set_margin("wall", margin=0.05)
        path = tmp_path / f"{velocity}.png"
        pictures.plot_path(robot, wall, [[0.0], [0.7], [0.3]], path, margin=0.02)
        assert len(np.unique(imread(path)[..., :3].reshape(-1, 3), axis=0)) > 50
    free = cl.Robot(links, [cl.Joint("base", "floating", "rail", "tool")])
    with pytest.raises(ValueError, match="floating"):
        pictures.plot_path(free, wall, [free.neutral, free.neutral], tmp_path / "never.png")


def test_paths_that_touch_all_along_are_plotted_and_those_of_nothing_are_refused(tmp_path):
    slide = cl.Joint("slide", "prismatic", "rail", "tool", axis=[1, 0, 0], lower=0.0, upper=1.0, velocity=1.0)
    robot = cl.Robot([cl.Link("rail"), cl.Link("tool", cl.Sphere(0.1))], [slide])
    pictures.plot_path(robot, cl.Box([4.0, 1.0, 1.0]), [[0.0], [1.0]], tmp_path / "inside.png")
    assert (tmp_path / "inside.png").stat().st_size > 10_000
    with pytest.raises(ValueError, match="nothing to plot"):
        pictures.plot_path(robot, None, [[0.0], [1.0]], tmp_path / "nothing.png")
