"""Recordings of grains keep what was, files of them read back the same, and somebody is told how far they are."""

import io
import pickle
import re
import sys
import zipfile
from pathlib import Path

import numpy as np
import pytest

import clearance as cl
from clearance.simulation.grain_recordings import GrainRecorder, GrainRecording, record
from grains import FLOOR, SHAPES, TRAY, Flying, recorded, recorded_leaving


@pytest.fixture(scope="module")
def recording():
    return recorded()


@pytest.fixture(scope="module")
def leaving():
    return recorded_leaving()


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
