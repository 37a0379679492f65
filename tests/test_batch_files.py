"""Files of long batches: however a run is interrupted and gone on with, the file is that of one run, or an error."""

import itertools
import json
import os
import signal
import subprocess
import sys
import time
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import numpy as np
import pytest

import clearance as cl
from clearance import batch_files
from clearance.batches import gather
from executors import BLOCK, ROWS, WAVES, WHOLE, Awkward, LastFirst, Logged, Waves, assert_whole, run

here_only = pytest.mark.skipif(sys.platform == "win32", reason="signals and forks are those of POSIX")


def interrupted(out, at, *, way="raise", **how):
    """Leave a file behind that is complete up to a row, or nearly."""
    with pytest.raises((Awkward, KeyboardInterrupt)):
        run(Logged(at=float(at), way=way), **({"chunk": BLOCK} | how), out=out)
    return out


def part_of(out):
    return out.with_name(out.name + ".part")


def edit(out, **changes):
    state = json.loads(part_of(out).read_text())
    part_of(out).write_text(json.dumps(state | changes))


@pytest.mark.parametrize("way", ["raise", "interrupt"])
def test_run_goes_on_wherever_it_was_interrupted(way, tmp_path):
    for k in range(0, 203, BLOCK):
        out = interrupted(tmp_path / f"{k}.npy", k, way=way)
        assert json.loads(part_of(out).read_text())["done"] == ([[0, k]] if k else [])
        unfinished = np.load(out, mmap_mode="r")
        assert unfinished.dtype == WAVES
        assert unfinished["sum"][:k].tobytes() == WHOLE["sum"][:k].tobytes()
        task = Logged(log=str(tmp_path / f"log {k}"))
        columns, tally = run(task, chunk=3 * BLOCK, out=out)
        assert_whole(columns)
        assert tally == {"rows": 203}
        assert [start for start, _, _ in task.runs()] == list(range(k, 203, 3 * BLOCK))
        assert sum(rows for _, rows, _ in task.runs()) == 203 - k
        assert not part_of(out).exists()


def test_run_goes_on_again_and_again(tmp_path):
    out = tmp_path / "waves.npy"
    for k in (24, 80, 200):
        interrupted(out, k)
    with ThreadPoolExecutor(2) as pool:
        columns, tally = run(Logged(), executor=pool, out=out)
    assert_whole(columns)
    assert tally == {"rows": 203}
    assert sorted(path.name for path in tmp_path.iterdir()) == ["waves.npy"]


def test_rows_with_holes_between_are_gone_on_with(tmp_path):
    out = tmp_path / "waves.npy"
    with LastFirst() as pool, pytest.raises(Awkward):
        run(Logged(at=100.0, way="raise"), chunk=BLOCK, executor=pool, out=out)
    done = json.loads(part_of(out).read_text())["done"]
    task = Logged(log=str(tmp_path / "log"))
    assert_whole(run(task, chunk=BLOCK, out=out)[0])
    assert sum(rows for _, rows, _ in task.runs()) == 203 - sum(stop - start for start, stop in done)


LONG_RUN = """
from concurrent.futures import ProcessPoolExecutor
import numpy as np
from clearance import batch_files
from executors import *
batch_files.SAVE_EVERY = 0.0
if __name__ == "__main__":
    pool = {pool}
    task = Logged(log="log", held_from=80.0)
    gather(task, np.load("rows.npy"), WAVES, block=BLOCK, chunk=BLOCK, executor=pool, out="waves.npy")
"""


def begun_elsewhere(folder, pool):
    """Start a run in a session of its own and wait until it has done some chunks; it does not get beyond them."""
    np.save(folder / "rows.npy", ROWS)
    (folder / "run.py").write_text(LONG_RUN.format(pool=pool))
    env = os.environ | {"PYTHONPATH": str(Path(__file__).parent), "PYTHONHASHSEED": "7"}
    command = [sys.executable, "run.py"]
    process = subprocess.Popen(command, cwd=folder, env=env, stderr=subprocess.PIPE, text=True, start_new_session=True)
    task = Logged(log=str(folder / "log"))
    until = time.monotonic() + 60
    while not (folder / "log").exists() or len(task.runs()) < 8:
        assert time.monotonic() < until
        time.sleep(0.005)
    return process, task


@here_only
def test_run_goes_on_after_a_kill(tmp_path):
    process, task = begun_elsewhere(tmp_path, None)
    with pytest.raises(BlockingIOError, match="somebody else is writing"):
        run(out=tmp_path / "waves.npy")
    process.kill()
    process.communicate()
    before = len(task.runs())
    columns, tally = run(task, chunk=BLOCK, out=tmp_path / "waves.npy")
    assert_whole(columns)
    assert tally == {"rows": 203}
    assert 26 <= len(task.runs()) <= 27 < 26 + before


@here_only
@pytest.mark.parametrize("pool", [None, "ProcessPoolExecutor(2)"])
def test_run_goes_on_after_control_c(pool, tmp_path):
    process, task = begun_elsewhere(tmp_path, pool)
    os.killpg(process.pid, signal.SIGINT)  # as a terminal does: to workers as well
    _, text = process.communicate(timeout=30)
    assert process.returncode != 0
    assert "KeyboardInterrupt" in text
    assert len(task.runs()) < 26
    left = 203 - sum(stop - start for start, stop in json.loads(part_of(tmp_path / "waves.npy").read_text())["done"])
    task = Logged(log=str(tmp_path / "second log"))
    columns, tally = run(task, chunk=BLOCK, out=tmp_path / "waves.npy")
    assert_whole(columns)
    assert tally == {"rows": 203}
    assert sum(rows for _, rows, _ in task.runs()) == left < 203


def test_columns_of_a_file_are_views_of_it(tmp_path):
    columns, _ = run(out=tmp_path / "waves.npy")
    assert isinstance(columns["sine"], np.memmap)
    assert not columns["sine"].flags.writeable
    assert np.load(tmp_path / "waves.npy").dtype == WAVES


def test_columns_may_be_aligned(tmp_path):
    aligned = np.dtype(WAVES.descr[::-1], align=True)
    assert aligned.itemsize > WAVES.itemsize
    interrupted(tmp_path / "waves.npy", 40)
    with pytest.raises(ValueError, match="with dtype = "):
        gather(Waves(), ROWS, aligned, block=BLOCK, out=tmp_path / "waves.npy")
    columns, _ = gather(Waves(), ROWS, aligned, block=BLOCK, out=tmp_path / "aligned.npy")
    assert_whole({name: columns[name] for name in WHOLE})


@pytest.mark.parametrize(
    ("changes", "text"),
    [
        ({"task": Logged(frequency=2.5)}, "begun with frequency = 3.0, now it is 2.5. Delete"),
        ({"task": Logged(names={"elbow"})}, "begun with other values of names. Delete"),
        ({"task": Waves()}, "begun with task = executors.Logged, now it is executors.Waves"),
        ({"rows": ROWS + (np.arange(203) == 202)[:, None] * 1e-15}, "begun with other values of rows"),
        ({"rows": ROWS[:-1]}, "begun with other values of rows"),
        ({"rows": ROWS.astype(np.float32)}, "begun with other values of rows"),
        ({"block": 16}, "begun with block = 8, now it is 16"),
        ({"dtype": [*WAVES.descr, ("more", "<f8")]}, "begun with dtype = "),
    ],
)
def test_other_question_does_not_go_on(changes, text, tmp_path):
    out = interrupted(tmp_path / "waves.npy", 100)
    before = out.read_bytes(), part_of(out).read_bytes()
    call = {"task": Logged(), "rows": ROWS, "dtype": WAVES, "block": BLOCK} | changes
    with pytest.raises(ValueError, match=text):
        gather(**call, out=out)
    assert before == (out.read_bytes(), part_of(out).read_bytes())
    assert_whole(run(Logged(), out=out)[0])


def test_other_version_does_not_go_on(tmp_path, monkeypatch):
    out = interrupted(tmp_path / "waves.npy", 100)
    monkeypatch.setattr(cl, "__version__", "99.0")
    with pytest.raises(ValueError, match=r"begun with version = .*, now it is 99.0"):
        run(Logged(), out=out)


def test_complete_file_stays(tmp_path):
    out = tmp_path / "waves.npy"
    run(out=out)
    before = out.read_bytes()
    for task in (Waves(), Waves(2.0)):
        with pytest.raises(FileExistsError, match="complete"):
            run(task, out=out)
    assert out.read_bytes() == before
    reader = np.load(out, mmap_mode="r")
    columns, _ = run(Waves(2.0), out=out, overwrite=True)
    assert_whole(columns, Waves(2.0)(ROWS)[0])
    assert reader.tobytes() == before[-reader.nbytes :]  # who reads the old one keeps it
    assert [path.name for path in tmp_path.iterdir()] == ["waves.npy"]


def test_overwriting_goes_on_where_it_can(tmp_path):
    out = interrupted(tmp_path / "waves.npy", 104)
    task = Logged(log=str(tmp_path / "log"))
    assert_whole(run(task, chunk=BLOCK, out=out, overwrite=True)[0])
    assert task.runs()[0][0] == 104
    interrupted(out, 104, overwrite=True)
    assert_whole(run(Waves(2.0), out=out, overwrite=True)[0], Waves(2.0)(ROWS)[0])
    part_of(interrupted(out, 104, overwrite=True)).write_bytes(b"\xff{")
    columns, tally = run(task, out=out, overwrite=True)
    assert_whole(columns)
    assert tally == {"rows": 203}


DAMAGES = {
    "nothing": lambda text: b"",
    "noise": lambda text: os.urandom(200),
    "half": lambda text: text[: len(text) // 2],
    "list": lambda text: b"[]",
    "deep": lambda text: b"[" * 100_000,
    "other format": lambda text: text.replace(b"batch 1", b"batch 2"),
    "no done": lambda text: text.replace(b'"done"', b'"dome"'),
    "no about": lambda text: text.replace(b'"about": {', b'"about": 3, "x": {'),
    "flat about": lambda text: text.replace(b'"run": {', b'"run": [], "x": {'),
}


@pytest.mark.parametrize("damage", DAMAGES)
def test_damaged_part_is_told(damage, tmp_path):
    out = interrupted(tmp_path / "waves.npy", 104)
    part_of(out).write_bytes(DAMAGES[damage](part_of(out).read_bytes()))
    with pytest.raises(ValueError, match=r"waves.npy.part is damaged: .* Delete .*waves.npy and .*part to start anew"):
        run(Logged(), out=out)


@pytest.mark.parametrize(
    "done",
    [
        3,
        [3],
        [[0]],
        [[0, 8, 16]],
        [[8, 0]],
        [[0, 0]],
        [[-8, 8]],
        [[0, 204]],
        [[0, 208]],
        [[0, 10]],
        [[4, 8]],
        [[0, 16], [8, 24]],
        [[0, 1e400]],
        [[0, 8.0]],
        [[False, 8]],
        ["08"],
        [["0", "8"]],
        {"0": 8},
        None,
    ],
)
def test_impossible_ranges_are_told(done, tmp_path):
    out = interrupted(tmp_path / "waves.npy", 104)
    edit(out, done=done)
    with pytest.raises(ValueError, match=r"part is damaged: .* to start anew"):
        run(Logged(), out=out)


@pytest.mark.parametrize("tally", [3, [], {"rows": "many"}, {"rows": 1.5}, None])
def test_impossible_tallies_are_told(tally, tmp_path):
    out = interrupted(tmp_path / "waves.npy", 104)
    edit(out, tally=tally)
    with pytest.raises(ValueError, match=r"part is damaged: .* to start anew"):
        run(Logged(), out=out)


def test_damaged_data_are_told(tmp_path):
    out = interrupted(tmp_path / "waves.npy", 104)
    data = out.read_bytes()
    for damaged, text in [
        (data[:-1], f"has {len(data) - 1} bytes, but {len(data)} were expected"),
        (data + b"x", f"has {len(data) + 1} bytes"),
        (b"", "has 0 bytes"),
        (data[:8] + b"x" + data[9:], "its header is not that of 203 such records"),
    ]:
        out.write_bytes(damaged)
        with pytest.raises(ValueError, match=text):
            run(Logged(), out=out)
    out.unlink()
    with pytest.raises(ValueError, match="has 0 bytes"):
        run(Logged(), out=out)


def test_crash_before_the_first_rows_is_gone_on_with(tmp_path):
    """Of the two files, any or none may be there, and the data in any state: as long as nothing is said to be done."""
    out = tmp_path / "waves.npy"
    part = part_of(interrupted(out, 0)).read_bytes()
    for data in (None, b"", b"\x93NUMPY", os.urandom(100_000)):
        out.unlink(missing_ok=True)
        if data is not None:
            out.write_bytes(data)
        part_of(out).write_bytes(part)
        assert_whole(run(Logged(), out=out)[0])
        out.write_bytes(b"")
        assert_whole(run(Logged(), out=out)[0])  # created, and nothing more


def test_full_disk_is_told_and_gone_on_after(tmp_path, monkeypatch):
    out = tmp_path / "waves.npy"
    room, write = itertools.count(), os.write

    def write_little(fd, data):
        if next(room) > 30:
            raise OSError(28, "No space left on device")
        return write(fd, memoryview(data)[:200])

    with monkeypatch.context() as patch:
        patch.setattr(batch_files.os, "write", write_little)
        with pytest.raises(OSError, match="No space left"):
            run(chunk=BLOCK, out=out)
    assert 0 < json.loads(part_of(out).read_text())["done"][0][1] < 203
    assert_whole(run(out=out)[0])


def test_part_that_cannot_be_saved_leaves_the_one_before(tmp_path, monkeypatch):
    out = interrupted(tmp_path / "waves.npy", 40)

    def fail(path, data):
        raise OSError(28, "No space left on device")

    monkeypatch.setattr(batch_files, "SAVE_EVERY", 0.0)
    with monkeypatch.context() as patch:
        patch.setattr(batch_files, "write_whole", fail)
        with pytest.raises(OSError, match="No space left"):
            run(Logged(), chunk=BLOCK, out=out)
    assert json.loads(part_of(out).read_text())["done"] == [[0, 40]]
    assert_whole(run(Logged(), out=out)[0])


NO_ROOM = """
import resource
import numpy as np
from clearance.batches import gather
from executors import WAVES
resource.setrlimit(resource.RLIMIT_FSIZE, (100_000, 100_000))
try:
    gather(print, np.zeros((10_000, 3)), WAVES, out="waves.npy")
except OSError as error:
    print(error)
"""


@here_only
def test_file_that_will_not_fit_is_told_before_any_work(tmp_path):
    done = subprocess.run(
        [sys.executable, "-c", NO_ROOM],
        cwd=tmp_path,
        env=os.environ | {"PYTHONPATH": str(Path(__file__).parent)},
        capture_output=True,
        text=True,
        check=True,
    )
    assert "File too large" in done.stdout
    assert not list(tmp_path.iterdir())


def test_folder_that_is_not_there_is_told(tmp_path):
    with pytest.raises(FileNotFoundError):
        run(out=tmp_path / "nowhere" / "waves.npy")
