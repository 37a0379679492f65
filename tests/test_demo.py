"""The demo, its sample scene and its pictures."""

import html
import itertools
import os
import re
import shutil
import subprocess
import sys

import numpy as np
import pytest

import clearance as cl
from clearance import samples
from clearance.simulation.recordings import Recording

pytest.importorskip("trimesh", reason="pictures need the extra 'view'")
pytest.importorskip("matplotlib", reason="pictures need the extra 'view'")
from matplotlib.image import imread

CHROMIUM = shutil.which("chromium") or shutil.which("chromium-browser") or shutil.which("google-chrome")
FLAGS = [
    *("--headless", "--no-sandbox", "--disable-gpu", "--disable-quic", "--no-first-run", "--disable-sync"),
    *("--disable-background-networking", "--disable-component-update", "--window-size=1200,900"),
    *("--virtual-time-budget=15000", "--enable-logging=stderr"),
]


def run_demo(folder, **environment):
    command = [sys.executable, "-m", "clearance.demo", str(folder)]
    return subprocess.run(command, capture_output=True, text=True, timeout=300, env=os.environ | environment)


@pytest.fixture(scope="module")
def demo(tmp_path_factory):
    folder = tmp_path_factory.mktemp("demo") / "new" / "folder"
    done = run_demo(folder)
    assert (done.returncode, done.stderr) == (0, "")
    return folder, done.stdout


def test_demo_prints_the_closest_pairs_with_their_brackets(demo):
    _, printed = demo
    table = samples.humanoid().distances()
    rows = np.argsort(table.distance)[:10]
    lines = printed.splitlines()
    start = next(k for k, line in enumerate(lines) if line.startswith("a "))
    for row, line in zip(rows, lines[start + 1 :], strict=False):
        name_a, name_b, *numbers = line.split()
        distance, lower, upper = map(float, numbers)
        assert (name_a, name_b) == (table.name_a[row], table.name_b[row])
        assert distance == pytest.approx(1e3 * table.distance[row], abs=1e-3)
        assert lower <= upper == pytest.approx(distance, abs=1e-3)
    assert "bounds spared" in printed
    assert "19 of 189 pairs of bodies were evaluated again" in printed
    assert "touches it in 4 points" in printed
    assert printed.count("0.500 mm deep") == 4


def test_demo_prints_how_close_meshes_come(demo):
    _, printed = demo
    cell, links = samples.robot_cell(), samples.robot_cell_poses()
    table = cell.distances()
    nearest = int(np.argmin(table.distance))
    triangles = sum(len(cell.shape(name)) for name in cell.names)
    assert f"A welding robot in a car body: {len(cell.names)} bodies, {triangles} triangles.\n" in printed
    assert len(links) == 6
    found = re.search(r"Nearest are (\w+) and (\w+): ([\d.]+) mm, between ([\d.]+) and ([\d.]+);", printed)
    assert found.groups()[:2] == (table.name_a[nearest], table.name_b[nearest])
    distance, lower, upper = map(float, found.groups()[2:])
    assert distance == pytest.approx(1e3 * table.distance[nearest], abs=1e-3)
    assert lower - 1e-11 <= 1e3 * table.distance[nearest] <= upper + 1e-11  # as printed
    looked_at = int(re.search(r"million pairs of triangles (\d+) were looked at", printed)[1])
    assert 0 < looked_at < triangles


def test_demo_proves_a_path_and_brackets_what_it_comes_near_to(demo):
    _, printed = demo
    robot, cell, path = samples.arm(), samples.arm_cell(), samples.arm_path()
    report = cl.check_path(robot, cell, path, 0.01, tolerance=1e-6)
    assert report.clear
    assert "The whole path keeps a margin of 10 mm" in printed
    lower, upper = map(float, re.search(r"least clearance is between ([\d.]+) and ([\d.]+) mm", printed).groups())
    assert lower - 1e-3 <= 1e3 * report.lower <= 1e3 * report.upper <= upper + 1e-3
    rows = re.findall(r"^(\w+) +(\w+) +([\d.]+) to ([\d.]+) +([\d.]+) s$", printed, re.MULTILINE)
    assert len(rows) == 8
    assert rows[0][:2] == report.pair
    dense = np.concatenate([np.linspace(a, b, 300) for a, b in itertools.pairwise(path)])
    gaps = robot.distances(dense, cell)
    for *pair, low, high, _ in rows:
        least = 1e3 * gaps.distance[:, gaps.pairs.index(tuple(pair))].min()
        assert float(low) - 0.01 <= least <= float(high) + 0.2  # samples miss the least one by a little
    assert sorted(rows, key=lambda row: float(row[2])) == rows


def test_demo_leaves_a_plot_of_the_path(demo):
    folder, printed = demo
    assert str(folder / "path.png") in printed
    picture = imread(folder / "path.png")[..., :3]
    assert len(np.unique((255 * picture).astype(np.uint8).reshape(-1, 3), axis=0)) > 100


def test_drive_is_simulated_and_leaves_a_page_to_play(demo):
    folder, printed = demo
    assert re.search(r"in a city: 74 bodies,\n4 s of motion", printed)
    assert (folder / "city.html").read_text(encoding="utf-8").startswith("<!DOCTYPE html>")
    assert len(Recording.load(folder / "city" / "recording.npz")) == 201


def test_grains_come_to_lie_and_leave_a_page_to_play(demo):
    folder, printed = demo
    found = re.search(r"75 spheres and 75 cubes .*\nThey fill (\d+)% of it, .* overlap by (\S+) of a grain", printed)
    assert 45 <= int(found[1]) <= 75
    assert 0.0 < float(found[2]) < 1e-3
    assert (folder / "grains.html").read_text(encoding="utf-8").startswith("<!DOCTYPE html>")


@pytest.mark.parametrize("picture_name", ["scene.png", "contacts.png", "cell.png", "arm.png", "grains.png"])
def test_demo_leaves_pictures_that_are_not_blank(demo, picture_name):
    folder, printed = demo
    assert str(folder / picture_name) in printed
    picture = imread(folder / picture_name)[..., :3]
    drawn = (picture < 0.97).any(axis=-1)
    assert 0.1 < drawn.mean() < 0.6
    edge = np.concatenate([drawn[0], drawn[-1], drawn[:, 0], drawn[:, -1]])
    assert not edge.any()  # nothing is cut off


def arm_at_its_worst():
    robot, cell = samples.arm(), samples.arm_cell()
    return robot.scene(cl.check_path(robot, cell, samples.arm_path(), 0.01, tolerance=1e-4).q_worst, cell)


every_page = pytest.mark.parametrize(
    ("page_name", "build"),
    [("scene.html", samples.humanoid), ("cell.html", samples.robot_cell), ("path.html", arm_at_its_worst)],
)


@every_page
def test_page_needs_no_network_and_holds_the_table(demo, page_name, build):
    folder, printed = demo
    assert str(folder / page_name) in printed
    page = (folder / page_name).read_text(encoding="utf-8")
    around, viewer = re.sub(r'srcdoc="[^"]*"', "", page), html.unescape(re.search(r'srcdoc="([^"]*)"', page)[1])
    for text in (around, viewer):
        assert re.findall(r"<(?:link|base|object|embed)\b", text) == []
        assert re.findall(r"<(?:script|img|iframe|source)\b[^>]*\bsrc\s*=", text) == []
        assert re.findall(r"@import|url\(\s*['\"]?(?:https?:)?//|importScripts\(\s*['\"]", text) == []
    # What is left of addresses in the viewer's library: a name space and a hint in an error message.
    assert set(re.findall(r"https?://[^/\"'\s]+", viewer)) <= {"http://www.w3.org", "https://github.com"}
    assert "//" not in around
    table = build().distances()
    nearest = int(np.argmin(table.distance))
    cells = re.findall(r"<td>(?:<i [^>]*></i>)?([^<]*)</td>", page)
    assert cells[:3] == [table.name_a[nearest], table.name_b[nearest], f"{1e3 * table.distance[nearest]:.3f}"]


@pytest.mark.skipif(CHROMIUM is None, reason="Chromium is not installed, so the page is not looked at")
@pytest.mark.parametrize("page_name", ["scene.html", "cell.html", "path.html"])
def test_page_shows_the_scene_in_a_browser(demo, tmp_path, page_name):
    folder, _ = demo
    shot = tmp_path / "shot.png"
    places = [f"--user-data-dir={tmp_path / 'profile'}", f"--screenshot={shot}", (folder / page_name).as_uri()]
    plain = {
        name: value for name, value in os.environ.items() if name != "LD_PRELOAD"
    }  # sanitizers are not for browsers
    done = subprocess.run([CHROMIUM, *FLAGS, *places], capture_output=True, text=True, timeout=300, env=plain)
    # A level follows the name of the source: INFO is the chatter of software rendering.
    assert [line for line in done.stderr.splitlines() if re.search(r"(?:WARNING|ERROR):CONSOLE", line)] == []
    assert "Uncaught" not in done.stderr
    picture = imread(shot)[..., :3]
    scene = picture[:, 450:]  # beside the table of pairs
    assert 0.1 < (scene < 0.97).any(axis=-1).mean() < 0.8
    assert len(np.unique((255 * scene).astype(np.uint8).reshape(-1, 3), axis=0)) > 500
    red = (scene[..., 0] > 0.45) & (scene[..., 1:] < 0.2).all(axis=-1)
    assert red.any()  # the closest pair's witnesses


def test_demo_says_so_when_it_cannot_write(tmp_path):
    (tmp_path / "file").write_text("in the way")
    done = run_demo(tmp_path / "file" / "folder")
    assert done.returncode == 1
    assert done.stderr.startswith(f"Cannot write to {tmp_path / 'file' / 'folder'}")
    assert "Traceback" not in done.stderr


@pytest.mark.parametrize("missing", ["trimesh", "matplotlib", "scipy"])
def test_demo_says_how_to_get_what_is_missing(tmp_path, missing):
    (tmp_path / missing).mkdir()
    (tmp_path / missing / "__init__.py").write_text("raise ImportError('not here')")
    done = run_demo(tmp_path / "demo", PYTHONPATH=str(tmp_path))
    assert done.returncode == 1
    assert "right_hand" in done.stdout  # the table needs no extras
    assert done.stderr == f"No pictures: pictures need {missing}; get it with: pip install clearance[view]\n"


def test_humanoid_stands_clear_and_tall():
    scene = samples.humanoid()
    table = scene.distances()
    assert (table.lower > 0.02).all()
    assert (table.distance < 0.05).any()
    upright = samples.humanoid(dict.fromkeys(samples.humanoid_poses(), (0.0, 0.0, 0.0)))
    heights = [
        (upright.pose(name)[2, :3] @ core.T + upright.pose(name)[2, 3])[:, None] + np.array([-radius, radius])
        for name in samples.humanoid_poses()
        for core, radius in upright.shape(name).elements
    ]
    assert np.ptp(np.concatenate(heights)) == pytest.approx(1.7, abs=0.005)


def test_humanoid_watches_all_pairs_but_those_that_touch():
    scene = samples.humanoid()
    bodies, joints = len(scene.names), len(samples.humanoid_poses()) - 1
    stand = [(name, "table") for name in ("bottle", "cup", "cone", "egg")]
    stand += [(name, "ground") for name in ("left_foot", "right_foot", "table")]
    assert len(scene.pairs) == bodies * (bodies - 1) // 2 - joints - len(stand)
    watched = {frozenset(pair) for pair in scene.pairs}
    for a, b in stand:
        assert frozenset([a, b]) not in watched
        assert -1e-3 < cl.distance(*(scene.shape(name).at(scene.pose(name)) for name in (a, b))).distance < 1e-9
    assert frozenset(["left_hand", "left_forearm"]) not in watched
    assert frozenset(["left_hand", "left_upper_arm"]) in watched


def test_humanoid_takes_other_postures():
    scene = samples.humanoid()
    turns = {"left_forearm": (0.0, -1.2, 0.3)}
    scene.move(samples.humanoid_poses(turns))
    np.testing.assert_array_equal(scene.distances().distance, samples.humanoid(turns).distances().distance)
    with pytest.raises(KeyError, match="no body 'tail'"):
        samples.humanoid({"tail": (0.0, 0.0, 0.0)})


def test_robot_reaches_into_the_car_without_touching_it():
    scene = samples.robot_cell()
    links, sheets = list(samples.robot_cell_poses()), ["shell", "floor"]
    assert set(scene.names) == {*links, *sheets}
    assert len(scene.pairs) == len(links) * len(sheets)
    found, table = scene.nearest(links, sheets), scene.distances()
    assert 0.02 < found.lower <= found.upper < 0.04
    assert found.distance == pytest.approx(table.distance.min(), rel=1e-12)
    tip = scene.pose("gun")[:3, 3]
    low, high = scene.shape("shell").vertices.min(axis=0), scene.shape("shell").vertices.max(axis=0)
    assert (low < tip).all()
    assert (tip < high).all()


def test_robot_takes_other_postures():
    angles = np.linspace([-1.2, -0.3, 1.9, 0.0, 0.3, -0.4], [-0.7, 0.7, 1.4, 0.2, 0.1, -0.6], 5)
    paths = samples.robot_cell_poses(angles)
    scene, sheets = samples.robot_cell(), ["shell", "floor"]
    along = scene.nearest(paths, sheets, poses=paths)
    for k, row in enumerate(angles):
        scene.move(samples.robot_cell_poses(row))
        assert scene.nearest(paths, sheets).distance == pytest.approx(along.distance[k], rel=1e-12)
        assert samples.robot_cell(row).nearest(paths, sheets).distance == pytest.approx(along.distance[k], rel=1e-12)
    with pytest.raises(ValueError, match=r"6 joints, but the shape of the angles is \(5,\)"):
        samples.robot_cell_poses(np.zeros(5))
