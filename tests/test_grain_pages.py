"""Pages of grains hold what was recorded, and browsers show it."""

import base64
import json
import re

import numpy as np
import pytest

import clearance as cl
from browser import look_at, needs_browser
from clearance.simulation.grain_page import play_grains
from clearance.simulation.grain_recordings import GrainRecorder, GrainRecording, record
from grains import FLOOR, SHAPES, Flying, poses_of, recorded, recorded_leaving


@pytest.fixture(scope="module")
def recording():
    return recorded()


@pytest.fixture(scope="module")
def leaving():
    return recorded_leaving()


@pytest.fixture(scope="module")
def page(recording, tmp_path_factory):
    pytest.importorskip("trimesh", reason="pages need the extra 'view'")
    path = tmp_path_factory.mktemp("page") / "grains.html"
    play_grains(recording, path, title="balls & <cubes>")
    return path


def data_of(page):
    return json.loads(re.search(r"^const data = (.*);$", page.read_text(encoding="utf-8"), re.MULTILINE)[1])


def unpacked(text, kind):
    return np.frombuffer(base64.b64decode(text), dtype=kind)


class Decoded:
    """The numbers of a page as they were meant, bodies in the order of the page."""

    def __init__(self, page):
        self.data = data = data_of(page)
        count, turning = data["bodies"], data["turning"]
        cells = unpacked(data["positions"], f"u{data['bits'] // 8}").reshape(-1, count, 3)
        self.present = cells[..., 0] != 2 ** data["bits"] - 1
        self.positions = np.array(data["low"]) + np.array(data["cell"]) * cells
        self.turns = unpacked(data["turns"], np.int16).reshape(len(cells), turning, 4) / 32767.0
        self.scales = unpacked(data["scales"], np.float32).reshape(count, 3)

    def order(self, recording):
        """Places in the recording, told by the first frame in which a body is there."""
        found = []
        for k in range(self.data["bodies"]):
            first = self.present[:, k].argmax()
            away = np.linalg.norm(recording.positions[first] - self.positions[first, k], axis=1)
            found.append(int(np.nanargmin(away)))
        return found


def test_page_needs_no_network(page):
    text = page.read_text(encoding="utf-8")
    assert re.findall(r"<(?:link|base|object|embed|iframe|img)\b", text) == []
    assert re.findall(r"<script\b[^>]*\bsrc\s*=", text) == []
    assert set(re.findall(r"https?://[^/\"'\s]+", text)) <= {"http://www.w3.org", "https://github.com"}
    assert "default-src 'none'" in text
    assert "<h1>balls &amp; &lt;cubes&gt;</h1>" in text


def test_page_holds_what_was_recorded(page, recording):
    decoded = Decoded(page)
    order = decoded.order(recording)
    assert sorted(order) == list(range(12))
    within = 0.51 * np.array(decoded.data["cell"])
    assert (np.abs(decoded.positions - recording.positions[:, order]) <= within).all()
    turning = order[: decoded.data["turning"]]
    assert all(not isinstance(recording.shapes[recording.kinds[k]], cl.Sphere) for k in turning)
    assert all(isinstance(recording.shapes[recording.kinds[k]], cl.Sphere) for k in order[len(turning) :])
    found = cl.poses.from_xyzw(decoded.turns, np.zeros(3))
    np.testing.assert_allclose(found, cl.poses.from_xyzw(recording.turns[:, turning], np.zeros(3)), atol=2e-4)
    assert (np.sum(decoded.turns[1:] * decoded.turns[:-1], axis=-1) > 0.0).all()


def test_meshes_have_the_size_of_bodies(page, recording):
    """Every body reaches as far along its axes as its shape does, and shapes of one kind share a mesh."""
    decoded = Decoded(page)
    order, first = decoded.order(recording), 0
    assert len(decoded.data["groups"]) == 4
    for group in decoded.data["groups"]:
        vertices = unpacked(group["vertices"], np.float32).reshape(-1, 3)
        for body in range(first, first + group["count"]):
            shape = recording.shapes[recording.kinds[order[body]]]
            reach = np.abs(vertices * decoded.scales[body]).max(axis=0)
            # No library function gives the extent of a shape: a plane along each axis is moved until it touches.
            planes = [cl.distance(shape, cl.HalfSpace(-axis, -10.0)).distance for axis in np.eye(3)]
            np.testing.assert_allclose(reach, 10.0 - np.array(planes), rtol=0.01)
        first += group["count"]
    assert first == len(order)


def test_colours_tell_kinds_and_first_heights(page, recording):
    decoded = Decoded(page)
    order = decoded.order(recording)
    kind, height = (unpacked(decoded.data["colours"][name], np.uint8).reshape(-1, 3) for name in ("kind", "height"))
    same = recording.kinds[order][:, None] == recording.kinds[order]
    np.testing.assert_array_equal((kind[:, None] == kind).all(axis=-1), same)
    upwards = np.argsort(recording.positions[0, order, 2])
    green = height[upwards, 1].astype(int)
    assert (np.diff(green) > 0).all()  # from dark violet to light yellow


def test_walls_stand_where_they_are(page, recording):
    floor, tray = data_of(page)["walls"]
    corners = unpacked(floor["vertices"], np.float32).reshape(-1, 3)[unpacked(floor["faces"], np.uint32)]
    np.testing.assert_allclose(corners[:, 2], -2.0, atol=1e-5)
    assert (corners[:, :2].min(axis=0) < recording.positions.min(axis=(0, 1))[:2]).all()
    assert (corners[:, :2].max(axis=0) > recording.positions.max(axis=(0, 1))[:2]).all()
    solid = unpacked(tray["vertices"], np.float32).reshape(-1, 3)
    np.testing.assert_allclose([solid.min(axis=0), solid.max(axis=0)], [[-1.5, -1.5, -1.85], [1.5, 1.5, -1.75]])
    assert (floor["name"], tray["name"]) == ("floor", "tray")


def test_room_much_larger_than_bodies_is_divided_more_finely(leaving, tmp_path):
    pytest.importorskip("trimesh", reason="pages need the extra 'view'")

    def lost(factor):
        far = leaving.positions.copy()
        far[-1, -1] *= factor
        return GrainRecording(leaving.times, far, leaving.turns, leaving.ids, leaving.kinds, leaving.shapes)

    for recording, bits in ((leaving, 16), (lost(1e4), 32), (lost(-1e4), 32)):
        play_grains(recording, tmp_path / "x.html")
        decoded = Decoded(tmp_path / "x.html")
        assert decoded.data["bits"] == bits
        order = decoded.order(recording)
        np.testing.assert_array_equal(decoded.present, recording.present[:, order])
        away = np.abs(decoded.positions - recording.positions[:, order])[decoded.present]
        assert away.max() < 0.01 * 0.1  # a hundredth of the smallest body
        # Whoever got lost does not make all others small.
        assert decoded.data["view"]["distance"] < 40.0
        assert np.abs(decoded.data["view"]["target"]).max() < 10.0


def test_names_cannot_break_out_of_the_page(recording, tmp_path):
    pytest.importorskip("trimesh", reason="pages need the extra 'view'")
    walls = {"</script><script>alert(1)</script>": FLOOR}
    arrays = (recording.times, recording.positions, recording.turns, recording.ids, recording.kinds)
    play_grains(GrainRecording(*arrays, recording.shapes, walls), tmp_path / "x.html", title="</title>$DATA")
    text = (tmp_path / "x.html").read_text(encoding="utf-8")
    assert "<script>alert" not in text
    assert "</title>$DATA" not in text


def test_recording_without_bodies_is_refused(tmp_path):
    with pytest.raises(ValueError, match="no frames with bodies"):
        play_grains(GrainRecorder(Flying()).finish(), tmp_path / "x.html")
    with pytest.raises(ValueError, match="no frames with bodies"):
        play_grains(record(Flying(0), 0.1), tmp_path / "x.html")


# What pages show ------------------------------------------------------------------------------------------------------

# Browsers write errors on the console like any other message; what is thrown stands out.
STRICT = "console.error = console.warn = (...words) => setTimeout(() => { throw new Error(words.join(' ')); });"
MOVE_SLIDER = """
const moved = document.getElementById("time");
moved.value = moved.max;
moved.dispatchEvent(new Event("input"));
"""
# However slow the machine is, a tenth of a second passes from picture to picture.
PLAY = """
const ticks = [];
window.requestAnimationFrame = tick => ticks.push(tick);
document.getElementById("play").click();
let moment = performance.now();
while (ticks.length) ticks.shift()(moment += 100);
"""


def seen(page, folder, script=""):
    """What a browser shows of a page in which somebody does something, between title and slider; and complaints."""
    image = pytest.importorskip("matplotlib.image", reason="pictures are read by matplotlib")
    text = page.read_text(encoding="utf-8").replace("<head>", f"<head><script>{STRICT}</script>", 1)
    copy = folder / "copy.html"
    copy.write_text(text.replace("</body>", f"<script>{script}</script></body>"), encoding="utf-8")
    shot, complaints = look_at(copy, folder)
    return image.imread(shot)[90:690, :, :3], complaints


def coloured(picture):
    """Pixels that are blue, orange and green: those of the first three kinds."""
    red, green, blue = np.moveaxis(picture, -1, 0)
    return [
        (blue > red + 0.15) & (blue > green),
        (red > blue + 0.3) & (red > green),
        (green > red + 0.1) & (green > blue),
    ]


@pytest.fixture(scope="module")
def three(tmp_path_factory):
    """A sphere that flies to the side, a box that vanishes, and an ellipsoid that stays."""
    pytest.importorskip("trimesh", reason="pages need the extra 'view'")
    positions = np.array([[[0, 0, 1], [0, 1, 0], [0, -1, 0]], [[0, 1, 1], [np.nan] * 3, [0, -1, 0]]], dtype=np.float32)
    turns = np.tile(np.array([0, 0, 0, 1], dtype=np.float32), (2, 3, 1))
    turns[1, 1] = np.nan
    count = np.arange(3)
    recording = GrainRecording(np.array([0.0, 1.0]), positions, turns, count, count, SHAPES[:3], {"floor": FLOOR})
    path = tmp_path_factory.mktemp("three") / "three.html"
    play_grains(recording, path)
    return path


@needs_browser
def test_page_shows_bodies_and_moves_them(three, tmp_path):
    before, complaints = seen(three, tmp_path)
    assert complaints == []
    assert all(pixels.sum() > 200 for pixels in coloured(before))
    after, complaints = seen(three, tmp_path, MOVE_SLIDER)
    assert complaints == []
    blue, orange, green = coloured(after)
    assert not orange.any()
    np.testing.assert_array_equal(green, coloured(before)[2])
    places = [np.argwhere(pixels).mean(axis=0) for pixels in (coloured(before)[0], blue)]
    assert places[1][1] > places[0][1] + 50.0
    played, complaints = seen(three, tmp_path, PLAY)
    assert complaints == []
    np.testing.assert_array_equal(played, after)


@needs_browser
def test_walls_and_colours_are_shown(three, tmp_path):
    picture, complaints = seen(three, tmp_path, 'colour.value = "height"; colour.dispatchEvent(new Event("change"));')
    assert complaints == []
    yellow = (picture[..., 0] > picture[..., 2] + 0.3) & (picture[..., 1] > picture[..., 2] + 0.3)
    assert yellow.sum() > 200  # the highest one
    grey = (np.ptp(picture, axis=-1) < 0.05) & (picture[..., 0] < 0.98) & (picture[..., 0] > 0.5)
    assert grey.mean() > 0.05  # the floor


@needs_browser
def test_bodies_between_frames_are_halfway(recording, tmp_path):
    """The matrices that the graphics card gets, told by throwing them."""
    pytest.importorskip("trimesh", reason="pages need the extra 'view'")
    positions = recording.positions.copy()
    positions[3:, 1, 0] -= 10.0  # it has left a periodic room and come back
    arrays = (recording.turns, recording.ids, recording.kinds, recording.shapes)
    page = tmp_path / "halfway.html"
    play_grains(GrainRecording(recording.times, positions, *arrays), page)
    tell = "show(0.25); throw new Error(JSON.stringify(groups.map(group => [...group.mesh.instanceMatrix.array])));"
    _, complaints = seen(page, tmp_path, tell)
    (line,) = complaints
    told = json.loads(re.search(r"\[\[.*?\]\]", line)[0])
    matrices = np.array([number for group in told for number in group]).reshape(-1, 4, 4).swapaxes(1, 2)

    grains = Flying()
    grains.time = 0.25
    poses = poses_of(grains)
    grains.time = 0.2
    poses[1] = poses_of(grains)[1]
    poses[[isinstance(SHAPES[kind], cl.Sphere) for kind in grains.kinds], :3, :3] = np.eye(3)
    decoded = Decoded(page)
    expected = poses[decoded.order(recording)] @ np.array([np.diag([*scale, 1.0]) for scale in decoded.scales])
    np.testing.assert_allclose(matrices, expected, atol=3e-4)
