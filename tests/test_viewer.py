"""Things in a real browser: they are seen, they move when sliders do, and saved pages show the same offline."""

import contextlib
import io
import re
import socket
import sys
import threading
import time
from pathlib import Path

import numpy as np
import pytest

import clearance as cl
from browser import needs_browser, shared_browser
from clearance import samples
from clearance.simulation import Particles, World
from clearance.simulation.grain_recordings import record
from clearance.simulation.recordings import Recorder

pytest.importorskip("viser", reason="the viewer needs the extra 'view'")
pytest.importorskip("trimesh", reason="the viewer needs the extra 'view'")
pytest.importorskip("matplotlib", reason="pictures are read by matplotlib")
from matplotlib.image import imread

from clearance.viewer import view
from test_examples import load
from test_readme import PRINTED, blocks_of

# What viser says of its own parts.
OF_VISER = re.compile(r"THREE\.Clock: This module has been deprecated")
FLOOR = cl.HalfSpace([0.0, 0.0, 1.0], 0.0)
BLOCK = cl.Box([0.4, 0.4, 0.4]).at([1.0, 0.0, 0.0])


def slide(limits=(-0.5, 0.5)):
    """A ball on a rail along y, as simple as a robot can be."""
    joint = cl.Joint("y", "prismatic", "rail", "ball", axis=[0, 1, 0], lower=limits[0], upper=limits[1])
    return cl.Robot([cl.Link("rail"), cl.Link("ball", cl.Sphere(0.1))], [joint], name="slide")


def complaints(tab):
    return [words for words in tab.complaints if not OF_VISER.search(words)]


def comes_true(question, seconds=60.0):
    """Whether something is true, or becomes so in a while: threads and browsers take their time."""
    deadline = time.monotonic() + seconds
    while not question() and time.monotonic() < deadline:
        time.sleep(0.02)
    return question()


def is_free(port):
    with socket.socket() as listener:
        listener.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
        with contextlib.suppress(OSError):
            listener.bind(("127.0.0.1", port))
            return True
    return False


# What is shown ------------------------------------------------------------------------------------------------------


def falling_ball(folder):
    world = World()
    world.add("floor", FLOOR, motion="fixed")
    world.add("ball", cl.Sphere(0.1), [0.0, 0.0, 0.5])
    with Recorder(world, folder, rate=20.0) as recorder:
        recorder.run(0.3)
        return recorder.finish()


def grains():
    particles = Particles()
    particles.add_wall("floor", FLOOR)
    particles.add(cl.Sphere(0.1), [[0.0, 0.0, 0.2], [0.0, 0.3, 0.5]])
    particles.add(cl.Box([0.1, 0.2, 0.1]), [[0.3, 0.0, 0.5]])
    return particles


def stack():
    world = World()
    world.add("floor", FLOOR, motion="fixed")
    world.add("crate", cl.Box([0.2, 0.2, 0.2]), [0.0, 0.0, 0.1])
    return world


SCANNER = cl.LaserScanner(beams=31, fov=np.pi, range_min=0.01, range_max=5.0)
SUNK = cl.Box([0.4, 0.4, 0.4]).at([0.0, 0.0, 0.19])
THINGS = {
    "shape": lambda _: [cl.Capsule(0.1, 0.5)],
    "every shape": lambda _: [
        cl.Sphere(0.1),
        cl.Cylinder(0.1, 0.2).at([0.5, 0.0, 0.0]),
        cl.Cone(0.1, 0.2).at([1.0, 0.0, 0.0]),
        cl.Ellipsoid([0.1, 0.2, 0.3]).at([1.5, 0.0, 0.0]),
        cl.ConvexHull(np.eye(3), 0.1).at([2.0, 0.0, 0.0]),
        cl.PointCloud(np.eye(3), 0.1),
        cl.HeightField(np.eye(4), 0.1),
        cl.Mesh(np.eye(3), [[0, 1, 2]]),
        cl.Compound([cl.Sphere(0.1), cl.Mesh(np.eye(3), [[0, 1, 2]]), FLOOR]),
        FLOOR,
    ],
    "batch": lambda _: [cl.Sphere(0.1).at(cl.poses.from_translation(np.eye(3)))],
    "scene": lambda _: [samples.crate_on_table()],
    "robot": lambda _: [slide(), BLOCK],
    "gap": lambda _: [cl.distance(cl.Sphere(0.1), BLOCK)],
    "gaps": lambda _: [cl.distance(cl.Sphere(0.1).at(cl.poses.from_translation(2.0 * np.eye(3))), BLOCK)],
    "contacts": lambda _: [SUNK, FLOOR, cl.contacts(FLOOR, SUNK)],
    "swept": lambda _: [cl.sweep(slide(), [-0.2], [0.3])],
    "hits": lambda _: [BLOCK, cl.raycast(BLOCK, np.zeros(3), [[1.0, 0.0, 0.0], [1.0, 0.1, 0.0]])],
    "scan": lambda _: [BLOCK, SCANNER.scan(BLOCK)],
    "depth image": lambda _: [BLOCK, cl.DepthCamera(16, 12, fov=1.0, range_max=5.0).image(BLOCK)],
    "mapping": lambda _: [{"block": BLOCK, "more": [cl.Sphere(0.1), FLOOR]}],
    "world": lambda _: [stack()],
    "particles": lambda _: [grains()],
    "recording": lambda folder: [falling_ball(folder)],
    "grain recording": lambda _: [record(grains(), 0.2, fps=20.0)],
}


@pytest.mark.parametrize("kind", THINGS)
def test_everything_can_be_viewed_and_saved(kind, tmp_path):
    with view(*THINGS[kind](tmp_path / "run"), port=0) as viewer:
        viewer.save(tmp_path / "page.html")
    page = (tmp_path / "page.html").read_text(encoding="utf-8")
    assert page.startswith("<!DOCTYPE html>")
    assert set(re.findall(r"(?:src|href)\s*=\s*[\"']?(https?:[^\"'\s>]+)", page)) == set()


def test_saved_page_has_the_title(tmp_path):
    with view(BLOCK, port=0, title="a block & more") as viewer:
        viewer.save(tmp_path / "page.html")
    assert "<title>a block &amp; more</title>" in (tmp_path / "page.html").read_text(encoding="utf-8")


@pytest.mark.parametrize(
    ("things", "more", "error", "words"),
    [
        (["box"], {}, TypeError, r"things must be a Shape, .*, but one is 'box'"),
        ([slide(), slide()], {}, ValueError, "2 robots, but one can be moved"),
        ([BLOCK], {"world": BLOCK}, ValueError, "no robot among things"),
        ([grains(), BLOCK], {}, ValueError, "shown alone"),
        ([slide()], {"q": [0.0, 1.0]}, ValueError, "q must have 1 values"),
        ([slide()], {"q": [np.nan]}, ValueError, "q must be one configuration of 1 finite values"),
        ([BLOCK], {"closest": -1}, ValueError, "closest must be zero or positive"),
        ([BLOCK], {"colours": {"ball": "#ffffff"}}, KeyError, "no body 'ball'"),
        ([BLOCK], {"view_from": [0.0, 0.0, 1.0]}, ValueError, "view_from must be three numbers"),
        ([BLOCK], {"host": "203.0.113.7"}, ValueError, "host must be an address of this machine"),
        ([BLOCK], {"port": 70000}, ValueError, "port must be a number from 0 to 65535"),
    ],
)
def test_what_cannot_be_viewed_is_told_and_leaves_no_server(things, more, error, words):
    threads = threading.active_count()
    with pytest.raises(error, match=words):
        view(*things, **{"port": 0} | more)
    assert comes_true(lambda: threading.active_count() <= threads)


def test_missing_viser_is_named_with_what_brings_it(monkeypatch):
    monkeypatch.setitem(sys.modules, "viser", None)
    with pytest.raises(ImportError, match=r"viser; get it with: pip install clearance\[view\]"):
        view(BLOCK)


def test_page_about_the_viewer_runs_and_prints_what_it_says(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    page = Path(__file__).parent.parent / "docs" / "viewer.md"
    names = {"__name__": "viewer.md"}
    for block in blocks_of(page.read_text(encoding="utf-8")):
        with contextlib.redirect_stdout(io.StringIO()) as printed:
            exec(compile(block, page, "exec"), names)
        assert printed.getvalue().splitlines() == PRINTED.findall(block)
    assert {path.name for path in tmp_path.iterdir()} == {"arm.html", "two.html"}


def test_example_shows_the_arm_where_it_is_nearest(tmp_path, capsys):
    page = tmp_path / "robot.html"
    gap = load("view_robot").main(page)
    report = cl.check_path(samples.arm(), samples.arm_cell(), samples.arm_path())
    assert report.lower <= gap.distance <= report.upper + 1e-9
    assert f"<td>{1e3 * gap.distance:.3f}</td>" in page.read_text(encoding="utf-8")
    assert f"{report.pair[0]} and {report.pair[1]} come nearest" in capsys.readouterr().out


# Servers --------------------------------------------------------------------------------------------------------------


def test_only_this_machine_is_listened_to_and_closing_frees_the_port():
    psutil = pytest.importorskip("psutil", reason="sockets are told by psutil")
    with view(BLOCK, port=0) as viewer:
        port = int(viewer.url.rpartition(":")[2])
        assert viewer.url == f"http://127.0.0.1:{port}"
        heard = [c.laddr for c in psutil.Process().net_connections("inet") if c.status == psutil.CONN_LISTEN]
        assert {address.ip for address in heard if address.port == port} == {"127.0.0.1"}
        assert not is_free(port)
        assert "closed" not in repr(viewer)
    assert comes_true(lambda: is_free(port))
    assert "closed" in repr(viewer)
    viewer.close()


def test_a_second_viewer_takes_the_next_port(capsys):
    with view(BLOCK, port=0) as one, view(BLOCK, port=int(one.url.rpartition(":")[2])) as other:
        assert other.url != one.url
        assert capsys.readouterr().out == ""


def test_nobody_shares_the_viewer_with_the_world():
    with view(BLOCK, port=0) as viewer:
        assert viewer.server.request_share_url() is None


def test_waiting_ends_when_the_viewer_is_closed(capsys):
    viewer = view(BLOCK, port=0)
    threading.Timer(0.2, viewer.close).start()
    viewer.wait()
    assert viewer.url in capsys.readouterr().out


# Robots ---------------------------------------------------------------------------------------------------------------


def sliders(viewer):
    return [slider for group in viewer._shown._joints._sliders for slider in group]


def line_of(viewer):
    """Ends of the line between the closest pair, as the browser gets them."""
    lines, _ = viewer._shown._marks._nodes["gaps"]
    return np.array(lines.points[0])


def test_sliders_stay_within_limits_and_mimics_follow():
    robot = samples.arm()
    with view(robot, port=0) as viewer:
        knobs = sliders(viewer)
        assert [knob.label for knob in knobs] == robot.joint_names  # the second finger follows the first
        np.testing.assert_allclose([knob.min for knob in knobs], robot.lower, atol=1e-3)
        np.testing.assert_allclose([knob.max for knob in knobs], robot.upper, atol=1e-3)
        assert all(robot.lower <= [knob.min for knob in knobs])
        assert all(robot.upper >= [knob.max for knob in knobs])


def test_sliders_that_move_while_a_page_is_saved_are_drawn_afterwards():
    robot = slide()
    with view(robot, world={"block": BLOCK}, q=[0.1], port=0) as viewer:
        with viewer._shown.standing():
            viewer.move([0.4])
        gap = robot.nearest([0.4], {"block": BLOCK})
        np.testing.assert_allclose(line_of(viewer), [gap.point_a, gap.point_b], atol=1e-6)


def test_moving_the_robot_moves_sliders_bodies_and_the_line_between_the_closest_pair():
    robot = slide()
    with view(robot, world={"block": BLOCK}, q=[0.1], port=0) as viewer:
        for q in (0.4, -0.45):
            viewer.move([q])
            (knob,) = sliders(viewer)
            assert knob.value == pytest.approx(q)
            gap = robot.nearest([q], {"block": BLOCK})
            np.testing.assert_allclose(line_of(viewer), [gap.point_a, gap.point_b], atol=1e-6)
            told = viewer._shown._gaps._text.content
            assert "ball – block" in told
            for value in (gap.distance, gap.lower, gap.upper):
                assert f"{1e3 * value:.3f}" in told
        np.testing.assert_array_equal(viewer.q, [-0.45])


def test_moving_a_slider_moves_the_robot():
    with view(slide(), BLOCK, port=0) as viewer:
        before = line_of(viewer)
        sliders(viewer)[0].value = 0.3
        np.testing.assert_allclose(viewer.q, [0.3])
        assert np.linalg.norm(line_of(viewer)[0] - before[0]) > 0.1


def test_what_slider_cannot_show_is_kept_until_one_is_moved():
    with view(slide(), BLOCK, q=[0.12345678], port=0) as viewer:
        np.testing.assert_array_equal(viewer.q, [0.12345678])
        viewer.move([0.7])  # beyond the limits, which is for the user to say
        np.testing.assert_array_equal(viewer.q, [0.7])
        assert sliders(viewer)[0].value == 0.5


def test_quaternions_are_turned_by_roll_pitch_and_yaw():
    robot = cl.Robot(
        [cl.Link("world"), cl.Link("body", cl.Box([0.1, 0.2, 0.3]))], [cl.Joint("free", "floating", "world", "body")]
    )
    pose = cl.poses.from_rpy([0.3, -0.4, 0.5], [0.1, 0.2, 0.3])
    q = np.concatenate([pose[:3, 3], cl.poses.to_xyzw(pose)])
    with view(robot, BLOCK, q=q, port=0) as viewer:
        knobs = sliders(viewer)
        np.testing.assert_allclose([knob.value for knob in knobs], [0.1, 0.2, 0.3, 0.3, -0.4, 0.5], atol=1e-3)
        knobs[5].value = 1.0
        expected = cl.poses.from_rpy([0.3, -0.4, 1.0], [0.1, 0.2, 0.3])
        np.testing.assert_allclose(robot.pose(viewer.q, "body"), expected, atol=1e-3)


def test_links_are_red_where_they_touch_and_quiet_where_they_are_far():
    with view(slide((-3.0, 3.0)), cl.Box([0.4, 0.4, 0.4]), q=[0.3], near=0.2, port=0) as viewer:
        shown = viewer._shown

        def colour():
            return shown.colours(shown.scene.distances())["ball"]

        assert colour() == "#d6001c"  # they touch
        viewer.move([2.0])
        quiet = colour()
        viewer.move([0.4])  # half way
        mixed = [int(colour()[k : k + 2], 16) for k in (1, 3, 5)]
        ends = [[int(end[k : k + 2], 16) for k in (1, 3, 5)] for end in ("#d6001c", quiet)]
        np.testing.assert_allclose(mixed, np.mean(ends, axis=0), atol=1.0)


# Recordings -----------------------------------------------------------------------------------------------------------


def test_time_of_a_recording_is_sought_and_played(tmp_path):
    recording = falling_ball(tmp_path)
    with view(recording, port=0) as viewer:
        frame = viewer._shown._shown._bodies._shown["ball"].frame
        for k in (3, 0, len(recording) - 1):
            viewer.seek(recording.times[k])
            np.testing.assert_allclose(frame.position, recording.of("ball")[k, :3, 3], atol=1e-6)
        viewer.play()  # from the beginning, since it is over
        assert comes_true(lambda: viewer.time == recording.times[-1])
        np.testing.assert_allclose(frame.position, recording.of("ball")[-1, :3, 3], atol=1e-6)


def test_grains_that_move_on_are_seen_again():
    particles = grains()
    with view(particles, port=0) as viewer:
        particles.step(200)
        viewer.update()
        (balls, members), _ = viewer._shown._shown._groups
        np.testing.assert_allclose(balls.batched_positions, particles.positions[members], atol=1e-6)
        particles.remove([0])
        viewer.update()
        assert [len(group) for _, group in viewer._shown._shown._groups] == [1, 1]


def test_scenes_that_move_are_seen_again():
    scene = samples.crate_on_table()
    with view(scene, port=0) as viewer:
        scene.move("crate", [0.0, 0.0, 2.0])
        viewer.update()
        np.testing.assert_allclose(viewer._shown._bodies._shown["crate"].frame.position, [0.0, 0.0, 2.0])
        scene.remove("crate")
        viewer.update()
        assert set(viewer._shown._bodies._shown) == {"table"}
        with pytest.raises(TypeError, match="move is for a robot"):
            viewer.move([0.0])
        with pytest.raises(TypeError, match="play is for a recording"):
            viewer.play()


# In the browser -------------------------------------------------------------------------------------------------------


@pytest.fixture(scope="module")
def looked_at():
    """A ball on a rail in front of a block, and the page that shows them."""
    with (
        view(slide(), world={"block": BLOCK}, near=0.0, closest=1, port=0) as viewer,
        shared_browser().open(viewer.url) as tab,
    ):
        tab.wait_for("document.querySelector('[role=slider]')?.getBoundingClientRect().width > 0", "slider")
        yield viewer, tab


def gap_in(tab, folder):
    """What is beside the panel and below notices, and the middle of all that has the colour of the closest pair."""
    picture = imread(tab.picture(folder / "shot.png"))[170:, :600, :3]
    red = (np.abs(picture - np.array([0xD6, 0x00, 0x1C]) / 255.0) < 0.12).all(axis=-1)
    return picture, np.argwhere(red).mean(axis=0) if red.sum() > 20 else np.full(2, np.nan)


def is_blank(picture):
    return len(np.unique((255 * picture).astype(np.uint8).reshape(-1, 3), axis=0)) < 20


@needs_browser
def test_browser_tells_complaints_and_nothing_else(tmp_path):
    page = tmp_path / "page.html"
    loud = "console.log('fine'); console.warn('careful'); console.error('wrong'); undefined.worse;"
    page.write_text(f"<!DOCTYPE html><title>page</title><script>{loud}</script>", encoding="utf-8")
    with shared_browser().open(page.as_uri()) as tab:
        careful, wrong, worse = tab.complaints
    assert careful == "warning: careful"
    assert wrong == "error: wrong"
    assert re.match("Uncaught: TypeError: .*worse", worse)


@needs_browser
def test_page_shows_the_scene_and_tells_what_is_closest(looked_at, tmp_path):
    viewer, tab = looked_at
    assert comes_true(lambda: np.isfinite(gap_in(tab, tmp_path)[1]).all(), 120.0)
    picture, _ = gap_in(tab, tmp_path)
    assert not is_blank(picture)
    assert 0.02 < (picture < 0.97).any(axis=-1).mean() < 0.95
    gap = slide().nearest(viewer.q, {"block": BLOCK})
    told = tab.evaluate("document.body.innerText")
    assert "ball – block" in told
    assert f"{1e3 * gap.distance:.3f}" in told
    assert complaints(tab) == []


@needs_browser
def test_slider_of_the_page_moves_the_robot_and_the_line_between_the_closest_pair(looked_at, tmp_path):
    viewer, tab = looked_at
    viewer.move([0.0])
    before = np.full(2, -1e3)
    for key, end in (("End", 0.5), ("Home", -0.5)):
        tab.evaluate("document.querySelector('[role=slider]').focus()")
        tab.press(key)
        assert comes_true(lambda end=end: abs(viewer.q[0] - end) < 1e-3)
        distance = f"{1e3 * slide().nearest([end], {'block': BLOCK}).distance:.3f}"
        tab.wait_for(f"document.body.innerText.includes('{distance}')", "new distance in the table")
        # The ball has gone from one side of the block to the other, and so has the line.
        assert comes_true(lambda before=before: np.linalg.norm(gap_in(tab, tmp_path)[1] - before) > 60.0, 120.0)
        _, before = gap_in(tab, tmp_path)
    assert complaints(tab) == []


@needs_browser
@pytest.mark.parametrize("kind", ["robot", "contacts", "swept", "scan", "recording", "grain recording"])
def test_saved_page_shows_the_same_without_a_network(kind, tmp_path):
    with view(*THINGS[kind](tmp_path / "run"), port=0) as viewer:
        viewer.save(tmp_path / "page.html")
    with shared_browser().open("about:blank") as tab:
        tab.go_offline()
        tab.go_to((tmp_path / "page.html").as_uri())
        assert comes_true(lambda: not is_blank(imread(tab.picture(tmp_path / "shot.png"))[:680, 400:, :3]))
        picture = imread(tmp_path / "shot.png")[:680, 400:, :3]
        assert (picture < 0.97).any(axis=-1).mean() > 0.01
        assert tab.complaints == []
