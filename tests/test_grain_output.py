"""Output of grains: recordings keep what was, pages show it, and files for ParaView read back the same."""

import base64
import io
import json
import pickle
import re
import sys
import zipfile
from pathlib import Path
from types import SimpleNamespace
from xml.etree import ElementTree

import numpy as np
import pytest

import clearance as cl
from browser import look_at, needs_browser
from clearance.simulation.grain_export import write_vtk, write_vtk_series
from clearance.simulation.grain_page import play_grains
from clearance.simulation.grain_recordings import GrainRecorder, GrainRecording, record

SHAPES = (cl.Sphere(0.15), cl.Box([0.2, 0.3, 0.4]), cl.Ellipsoid([0.4, 0.2, 0.1]), cl.Capsule(0.1, 0.3), cl.Sphere(0.1))
FLOOR = cl.HalfSpace([0, 0, 1], 0.0).at([0.0, 0.0, -2.0])
TRAY = cl.Box([3.0, 3.0, 0.1]).at([0.0, 0.0, -1.8])


class Flying:
    """Bodies that go straight on and turn evenly, with the surface of `Particles`."""

    def __init__(self, count=12, step=1e-3, seed=0):
        rng = np.random.default_rng(seed)
        self.step_length, self.time, self.shapes = step, 0.0, SHAPES
        self.ids = np.arange(count)
        self.kinds = self.ids % len(SHAPES)
        self.start, self.speed, self.spin = rng.uniform(-1.0, 1.0, (3, count, 3))
        self.walls = {"floor": FLOOR, "tray": TRAY}
        self.work = SimpleNamespace(contacts=3 * count)

    def step(self, n=1):
        self.time += n * self.step_length

    def keep(self, chosen):
        for name in ("ids", "kinds", "start", "speed", "spin"):
            setattr(self, name, getattr(self, name)[chosen])

    @property
    def positions(self):
        return self.start + self.time * self.speed

    @property
    def turns(self):
        angle = np.linalg.norm(self.spin, axis=1, keepdims=True)
        half = 0.5 * angle * self.time * 5.0
        turns = np.hstack([np.sin(half) * self.spin / angle, np.cos(half)])
        # Of two quaternions that mean the same, programs give either.
        return turns * np.where(round(10.0 * self.time) % 3 == 1, -1.0, 1.0)

    @property
    def velocities(self):
        return np.hstack([self.speed, 5.0 * self.spin])


def poses_of(grains):
    return cl.poses.from_xyzw(grains.turns, grains.positions)


@pytest.fixture(scope="module")
def recording():
    return record(Flying(), 1.0, fps=10.0)


@pytest.fixture(scope="module")
def leaving():
    """A recording in which bodies come and go: odd ones leave, and 100 comes later."""
    grains = Flying(6)
    recorder = GrainRecorder(grains)
    recorder.take()
    grains.step(500)
    grains.keep(grains.ids % 2 == 0)
    recorder.take()
    grains.step(500)
    grains.shapes = (*SHAPES, cl.Cone(0.1, 0.2))
    grains.ids, grains.kinds = np.append(grains.ids, 100), np.append(grains.kinds, len(SHAPES))
    for name in ("start", "speed", "spin"):
        setattr(grains, name, np.vstack([getattr(grains, name), [1.0, 2.0, 3.0]]))
    recorder.take()
    return recorder.finish()


# Recordings -----------------------------------------------------------------------------------------------------------


def test_frames_are_what_was_at_their_times():
    recording, grains = record(Flying(), 0.5, fps=40.0), Flying()
    np.testing.assert_allclose(recording.times, np.arange(21) / 40.0)
    for k, time in enumerate(recording.times):
        grains.time = time
        np.testing.assert_array_equal(recording.positions[k], grains.positions.astype(np.float32))
        np.testing.assert_array_equal(recording.turns[k], grains.turns.astype(np.float32))
    assert [recording.shapes[k] for k in recording.kinds] == [SHAPES[k] for k in grains.kinds]
    assert recording.walls == grains.walls


def test_last_frame_is_of_the_end_whatever_the_rate():
    grains = Flying()
    grains.step(70)
    recording = record(grains, 0.25, fps=30.0)
    assert grains.time == pytest.approx(0.32)
    assert recording.times[-1] == pytest.approx(0.32)
    assert recording.times[0] == pytest.approx(0.07)
    gaps = np.diff(recording.times)
    assert (np.abs(gaps[:-1] - 1.0 / 30.0) < 1.1e-3).all()
    assert gaps[-1] < gaps[0]
    assert len(record(Flying(), 0.01, fps=1000.0)) == 11


def test_bodies_come_and_go(leaving):
    assert leaving.ids.tolist() == [0, 1, 2, 3, 4, 5, 100]
    there = [[True] * 6 + [False], [True, False] * 3 + [False], [True, False] * 3 + [True]]
    assert leaving.present.tolist() == there
    assert np.isnan(leaving.positions[~leaving.present]).all()
    assert np.isnan(leaving.turns[~leaving.present]).all()
    assert [leaving.shapes[k] for k in leaving.kinds[:6]] == [*SHAPES, SHAPES[0]]
    assert leaving.shapes[leaving.kinds[6]] == cl.Cone(0.1, 0.2)
    last, grains = leaving.frame(-1), Flying(6)
    grains.time = 1.0
    assert (last.time, last.ids.tolist()) == (pytest.approx(1.0), [0, 2, 4, 100])
    np.testing.assert_allclose(last.positions[:3], grains.positions[::2], atol=1e-6)


def test_shapes_that_change_their_places_are_refused():
    grains = Flying()
    recorder = GrainRecorder(grains)
    recorder.take()
    grains.shapes = SHAPES[::-1]
    grains.keep(grains.ids > 3)
    with pytest.raises(ValueError, match="shapes must stay where they are"):
        recorder.take()


def test_saved_recording_is_the_same(leaving, tmp_path):
    leaving.save(tmp_path / "grains.npz")
    again = GrainRecording.load(tmp_path / "grains.npz")
    for name in ("times", "positions", "turns", "ids", "kinds"):
        np.testing.assert_array_equal(getattr(again, name), getattr(leaving, name))
        assert getattr(again, name).dtype == getattr(leaving, name).dtype
    assert again.shapes == leaving.shapes
    assert again.walls == leaving.walls
    assert [path.name for path in tmp_path.iterdir()] == ["grains.npz"]


class Exploding:
    def __reduce__(self):
        return Path.touch, (Path("exploded"),)


def parts_of(recording, folder):
    recording.save(folder / "whole.npz")
    with np.load(folder / "whole.npz") as arrays:
        return dict(arrays)


def as_bytes(value):
    return np.frombuffer(value, dtype=np.uint8)


@pytest.mark.parametrize(
    ("name", "spoiled"),
    [
        ("shapes", lambda _: as_bytes(pickle.dumps([[Exploding()], []]))),
        ("shapes", lambda _: as_bytes(pickle.dumps([[1.0] * 5, [FLOOR, TRAY]]))),
        ("shapes", lambda _: as_bytes(pickle.dumps([list(SHAPES), [FLOOR]]))),
        ("shapes", lambda _: as_bytes(pickle.dumps([list(SHAPES), [FLOOR, SHAPES[0]]]))),
        ("about", lambda _: as_bytes(b'{"format": "clearance world 1", "walls": []}')),
        ("about", lambda _: as_bytes(b"[]")),
        ("kinds", lambda kinds: kinds + len(SHAPES)),
        ("kinds", lambda kinds: kinds - 1),
        ("ids", lambda ids: ids[::-1]),
        ("ids", lambda ids: ids[1:]),
        ("times", lambda times: times[::-1]),
        ("times", lambda times: times * np.nan),
        ("positions", lambda positions: positions.astype(np.float64)),
        ("positions", lambda positions: positions[..., :2]),
        ("positions", lambda positions: positions * np.float32(np.inf)),
        ("turns", lambda turns: turns * np.float32(2.0)),
        ("turns", lambda turns: turns * np.float32(np.nan)),
        ("turns", lambda turns: np.array([Exploding()], dtype=object)),
    ],
    ids=lambda value: value if isinstance(value, str) else "",
)
def test_what_is_no_recording_is_refused(name, spoiled, recording, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    parts = parts_of(recording, tmp_path)
    np.savez("spoiled.npz", **parts | {name: spoiled(parts[name])})
    with pytest.raises(ValueError, match=r"spoiled\.npz"):
        GrainRecording.load("spoiled.npz")
    assert not Path("exploded").exists()


def with_broken_header(archive):
    """A copy of an archive in which the description of every array ends too early."""
    copy = io.BytesIO()
    with zipfile.ZipFile(io.BytesIO(archive)) as old, zipfile.ZipFile(copy, "w") as new:
        for name in old.namelist():
            new.writestr(name, old.read(name).replace(b"}", b"(", 1))
    return copy.getvalue()


def test_damaged_files_are_refused(recording, tmp_path):
    with pytest.raises(FileNotFoundError):
        GrainRecording.load(tmp_path / "nowhere.npz")
    parts_of(recording, tmp_path)
    whole = (tmp_path / "whole.npz").read_bytes()
    for data in (b"", b"text", whole[: len(whole) // 2], whole[:-1], with_broken_header(whole)):
        (tmp_path / "half.npz").write_bytes(data)
        with pytest.raises(ValueError, match=r"half\.npz"):
            GrainRecording.load(tmp_path / "half.npz")


@pytest.mark.parametrize(
    ("given", "match"),
    [
        ({"seconds": 0.0}, "seconds"),
        ({"seconds": np.inf}, "seconds"),
        ({"seconds": "long"}, "seconds"),
        ({"fps": 0.0}, "fps"),
        ({"fps": np.nan}, "fps"),
        ({"fps": 1001.0}, "fps"),
        ({"progress": "please"}, "progress"),
    ],
    ids=str,
)
def test_bad_arguments_are_refused(given, match):
    grains = Flying()
    with pytest.raises((ValueError, TypeError), match=match):
        record(grains, **{"seconds": 1.0} | given)
    assert grains.time == 0.0


# Progress -------------------------------------------------------------------------------------------------------------


class Terminal(io.StringIO):
    def isatty(self):
        return True


def test_function_is_told_how_far_it_is():
    told = []
    record(Flying(), 0.1, fps=50.0, progress=told.append)
    np.testing.assert_allclose(told, [0.2, 0.4, 0.6, 0.8, 1.0])


def test_bar_tells_of_bodies_contacts_and_speed(monkeypatch):
    monkeypatch.setattr("sys.stderr", Terminal())
    ticks = iter([0.0, 0.5, 0.75])
    monkeypatch.setattr("time.perf_counter", lambda: next(ticks))
    record(Flying(), 0.2, fps=10.0, progress=True)
    first, second = sys.stderr.getvalue().strip("\r\n").split("\r")
    assert re.fullmatch(r"\[={10} {10}\]  50%  12 bodies, 36 contacts, 0\.2 s/s *", first)
    assert re.fullmatch(r"\[={20}\] 100%  12 bodies, 36 contacts, 0\.4 s/s *", second)
    assert len(first) < 80
    assert sys.stderr.getvalue().count("\n") == 1


def test_nobody_is_told_where_there_is_no_terminal(capsys):
    record(Flying(), 0.1, progress=True)
    assert capsys.readouterr() == ("", "")


# Pages ----------------------------------------------------------------------------------------------------------------


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


# VTK ------------------------------------------------------------------------------------------------------------------


def test_file_for_paraview_reads_back_the_same(tmp_path):
    meshio = pytest.importorskip("meshio", reason="files .vtu need the extra 'vtk'")
    grains = Flying()
    grains.step(300)
    write_vtk(grains, tmp_path / "grains.vtu")
    mesh = meshio.read(tmp_path / "grains.vtu")
    data = mesh.point_data
    np.testing.assert_array_equal(mesh.points, grains.positions)
    np.testing.assert_array_equal(data["id"], grains.ids)
    np.testing.assert_array_equal(data["kind"], grains.kinds)
    np.testing.assert_array_equal(data["turn"], grains.turns)
    np.testing.assert_array_equal(np.hstack([data["velocity"], data["spin"]]), grains.velocities)
    radii = [0.15, 0.5 * np.sqrt(0.29), 0.4, 0.25, 0.1]
    np.testing.assert_allclose(data["radius"], np.array(radii)[grains.kinds])
    turned = cl.poses.from_wxyz(data["orientation"], mesh.points)
    np.testing.assert_allclose(turned, poses_of(grains), atol=1e-12)
    (cells,) = mesh.cells
    assert (cells.type, cells.data.tolist()) == ("vertex", [[k] for k in range(12)])
    assert [path.name for path in tmp_path.iterdir()] == ["grains.vtu"]


def test_series_has_a_file_per_frame_and_an_index(leaving, tmp_path):
    meshio = pytest.importorskip("meshio", reason="files .vtu need the extra 'vtk'")
    index = write_vtk_series(leaving, tmp_path / "new" / "series")
    sets = ElementTree.parse(index).getroot().findall("Collection/DataSet")
    assert [float(one.get("timestep")) for one in sets] == leaving.times.tolist()
    assert sorted(path.name for path in index.parent.glob("*.vtu")) == [one.get("file") for one in sets]
    for k, one in enumerate(sets):
        mesh, frame = meshio.read(index.parent / one.get("file")), leaving.frame(k)
        np.testing.assert_array_equal(mesh.points, frame.positions.astype(np.float64))
        np.testing.assert_array_equal(mesh.point_data["id"], frame.ids)
        assert set(mesh.point_data) == {"id", "kind", "radius", "turn", "orientation"}


def test_no_bodies_at_all_are_written_too(tmp_path):
    pytest.importorskip("meshio", reason="files .vtu need the extra 'vtk'")
    write_vtk(Flying(0), tmp_path / "empty.vtu")
    piece = ElementTree.parse(tmp_path / "empty.vtu").getroot().find("UnstructuredGrid/Piece")
    assert piece.get("NumberOfPoints") == "0"


def test_other_endings_are_refused(tmp_path):
    pytest.importorskip("meshio", reason="files .vtu need the extra 'vtk'")
    with pytest.raises(ValueError, match=r"\.vtu"):
        write_vtk(Flying(), tmp_path / "grains.vtk")


def test_missing_library_is_named(recording, tmp_path, monkeypatch):
    monkeypatch.setitem(sys.modules, "meshio", None)
    with pytest.raises(ImportError, match=r"clearance\[vtk\]"):
        write_vtk(Flying(), tmp_path / "grains.vtu")
    with pytest.raises(ImportError, match=r"clearance\[vtk\]"):
        write_vtk_series(recording, tmp_path / "series")
    assert list(tmp_path.iterdir()) == []
