"""The page that plays a recording: offline, not blank, and it moves when its slider does."""

import base64
import json
import re

import numpy as np
import pytest

from browser import look_at, needs_browser

pytest.importorskip("trimesh", reason="pages need the extra 'view'")
pytest.importorskip("matplotlib", reason="pictures are read by matplotlib")
from matplotlib.image import imread

import clearance as cl
from clearance.simulation import World
from clearance.simulation.playback import playback
from clearance.simulation.recordings import Recorder
from clearance.simulation.runs import simulate
from clearance.simulation.scenario import Scenario

SCENE = """
title = "a truck & a <ball>"

[city]
cell = 0.5
corner = [2.0, -0.25]
storeys = ["4"]

[[robots]]
model = "monster_truck"
name = "truck"
commands = [{ speed = 1.0 }]

[robots.scanner]
resolution = [24, 3]
fov_deg = [60, 20]

[[balls]]
position = [0.5, 1.0, 0.8]
radius = 0.3
colour = "#00a000"
velocity = [0.0, -2.0, 0.0]

[recording]
duration = 0.6
rate = 20
"""


@pytest.fixture(scope="module")
def recording(tmp_path_factory):
    return simulate(Scenario.from_text(SCENE), tmp_path_factory.mktemp("run"))


@pytest.fixture(scope="module")
def page(recording, tmp_path_factory):
    path = tmp_path_factory.mktemp("page") / "playback.html"
    playback(recording, path)
    return path


def data_of(page):
    return json.loads(re.search(r"^const data = (.*);$", page.read_text(encoding="utf-8"), re.MULTILINE)[1])


def unpacked(text, kind):
    return np.frombuffer(base64.b64decode(text), dtype=kind)


def with_script(page, folder, script):
    """A copy of a page in which somebody does something."""
    copy = folder / "copy.html"
    text = page.read_text(encoding="utf-8").replace("</body>", f"<script>{script}</script></body>")
    copy.write_text(text, encoding="utf-8")
    return copy


def pixels_like(picture, colour):
    return (np.abs(picture - np.array(colour)) < 0.22).all(axis=-1)


# What is in it --------------------------------------------------------------------------------------------------------


def test_page_needs_no_network(page):
    text = page.read_text(encoding="utf-8")
    assert re.findall(r"<(?:link|base|object|embed|iframe|img)\b", text) == []
    assert re.findall(r"<script\b[^>]*\bsrc\s*=", text) == []
    assert set(re.findall(r"https?://[^/\"'\s]+", text)) <= {"http://www.w3.org", "https://github.com"}
    assert "default-src 'none'" in text


def test_title_is_told_as_text(page):
    text = page.read_text(encoding="utf-8")
    assert "<h1>a truck &amp; a &lt;ball&gt;</h1>" in text
    assert "<ball>" not in text


def test_tracks_are_the_poses_that_were_recorded(page, recording):
    data = data_of(page)
    tracks = unpacked(data["tracks"], np.float32).reshape(len(recording), data["moving"], 7)
    np.testing.assert_array_equal(unpacked(data["times"], np.float64), recording.times)
    for body in data["bodies"]:
        poses = recording.of(body["name"]).astype(np.float64)
        found = tracks[:, body["track"]] if "track" in body else np.tile(body["pose"], (len(poses), 1))
        np.testing.assert_allclose(cl.poses.from_xyzw(found[:, 3:], found[:, :3]), poses, atol=1e-6)
        assert ("track" in body) == bool(np.ptp(poses, axis=0).any())


def test_quaternions_do_not_jump(tmp_path):
    world = World(gravity=(0.0, 0.0, 0.0))
    world.add("top", cl.Box([0.1, 0.2, 0.3]), velocity=[0.0, 0.0, 0.0, 0.1, 0.0, 12.0])
    with Recorder(world, tmp_path, rate=100.0) as recorder:
        recorder.run(2.0)
        playback(recorder.finish(), tmp_path / "x.html")
    quaternions = unpacked(data_of(tmp_path / "x.html")["tracks"], np.float32).reshape(-1, 7)[:, 3:]
    assert (np.sum(quaternions[1:] * quaternions[:-1], axis=1) > 0.9).all()


def test_beams_end_where_they_hit(page, recording):
    (fan,) = data_of(page)["fans"]
    points = unpacked(fan["points"], np.float32).reshape(-1, fan["beams"] + 1, 3)
    track = recording.scans["truck"]
    np.testing.assert_allclose(points[:, 0], track.poses[:, :3, 3], atol=1e-6)
    lengths = np.linalg.norm(points[:, 1:] - points[:, :1], axis=-1)
    chosen = np.where(np.isfinite(track.ranges), track.ranges, 0.0)[:, :, [0, 6, 12, 17, 23]]
    np.testing.assert_allclose(lengths, chosen.reshape(len(points), -1), atol=1e-5)


def test_names_cannot_break_out_of_the_page(tmp_path):
    world = World()
    world.add("</script><script>alert(1)</script>", cl.Sphere(0.1))
    with Recorder(world, tmp_path) as recorder:
        recorder.take()
        playback(recorder.finish(), tmp_path / "x.html", title="</title>$DATA")
    text = (tmp_path / "x.html").read_text(encoding="utf-8")
    assert "<script>alert" not in text
    assert "</title>$DATA" not in text


def test_recording_without_frames_is_refused(tmp_path):
    world = World()
    world.add("ball", cl.Sphere(0.1))
    with Recorder(world, tmp_path) as recorder, pytest.raises(ValueError, match="no frames"):
        playback(recorder.finish(), tmp_path / "x.html")


# What it shows --------------------------------------------------------------------------------------------------------

GREEN = (0.0, 0.5, 0.0)


def place_of_ball(picture):
    """The middle of what is green: row and column."""
    return np.argwhere(pixels_like(picture[..., :3], GREEN)).mean(axis=0)


# However slow the machine is, a tenth of a second passes from picture to picture.
PLAY = """
const ticks = [];
window.requestAnimationFrame = tick => ticks.push(tick);
document.getElementById("play").click();
let moment = performance.now();
while (ticks.length) ticks.shift()(moment += 100);
"""
MOVE_SLIDER = """
const moved = document.getElementById("time");
moved.value = moved.max;
moved.dispatchEvent(new Event("input"));
"""


@needs_browser
def test_page_shows_the_scene_without_complaints(page, tmp_path):
    shot, complaints = look_at(page, tmp_path)
    assert complaints == []
    picture = imread(shot)[60:690, :, :3]  # between title and slider
    assert 0.1 < (picture < 0.97).any(axis=-1).mean() < 0.95
    assert len(np.unique((255 * picture).astype(np.uint8).reshape(-1, 3), axis=0)) > 100
    assert pixels_like(picture, GREEN).sum() > 50


@needs_browser
def test_bodies_move_when_the_slider_moves(page, tmp_path):
    for name in ("before", "after"):
        (tmp_path / name).mkdir()
    before, _ = look_at(page, tmp_path / "before")
    after, complaints = look_at(with_script(page, tmp_path, MOVE_SLIDER), tmp_path / "after")
    assert complaints == []
    places = [place_of_ball(imread(shot)) for shot in (before, after)]
    assert np.linalg.norm(places[1] - places[0]) > 30.0
    # The address may name a time, too.
    later, _ = look_at(page, tmp_path / "before", "#99")
    np.testing.assert_allclose(
        np.argwhere(pixels_like(imread(later)[..., :3], GREEN)).mean(axis=0), places[1], atol=1.0
    )


@needs_browser
def test_button_plays_and_lasers_can_be_hidden(page, tmp_path):
    hide = 'document.getElementById("lasers").click();'
    pictures = {}
    for name, script in {"played": hide + PLAY, "moved": hide + MOVE_SLIDER, "shining": MOVE_SLIDER}.items():
        (tmp_path / name).mkdir()
        shot, complaints = look_at(with_script(page, tmp_path, script), tmp_path / name)
        assert complaints == []
        pictures[name] = imread(shot)[60:690, :, :3]
    np.testing.assert_array_equal(pictures["played"], pictures["moved"])  # it has played to the end
    red = {name: ((p[..., 0] > 0.75) & (p[..., 1:] < 0.75).all(axis=-1)).sum() for name, p in pictures.items()}
    assert red["shining"] > 2 * red["moved"]
