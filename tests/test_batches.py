"""Long batches: however they are cut, run, interrupted and gone on with, the result is that of one run, or an error."""

import copy
import functools
import importlib.util
import itertools
import json
import math
import multiprocessing
import os
import shutil
import signal
import subprocess
import sys
import time
import tracemalloc
import warnings
from concurrent.futures import ProcessPoolExecutor, ThreadPoolExecutor
from contextlib import contextmanager, nullcontext
from dataclasses import dataclass
from pathlib import Path

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

import clearance as cl
from clearance import batches
from clearance.batches import fingerprint, gather, in_chunks
from executors import BLOCK, WAVES, Awkward, Heavy, LastFirst, Logged, ShelfGaps, Unreliable, Watched, Waves

ROWS = np.arange(203.0)[:, None] * [1.0, 0.1, 0.01]
WHOLE = Waves()(ROWS)[0]
here_only = pytest.mark.skipif(sys.platform == "win32", reason="signals and forks are those of POSIX")


def assert_whole(columns, whole=WHOLE):
    assert list(columns) == list(whole)
    for name, column in columns.items():
        assert column.dtype == whole[name].dtype
        assert column.tobytes() == whole[name].tobytes(), name


def run(task=None, rows=ROWS, **how):
    return gather(task or Waves(), rows, WAVES, block=BLOCK, **how)


@contextmanager
def silence():
    """Turn our warnings into errors, so that nothing is computed here that need not be."""
    with warnings.catch_warnings():
        warnings.simplefilter("error", RuntimeWarning)
        yield


def processes(method="fork", workers=2):
    return ProcessPoolExecutor(workers, mp_context=multiprocessing.get_context(method))


# Chunks --------------------------------------------------------------------------------------------------------------


@given(st.integers(0, 60), st.integers(1, 9), st.one_of(st.none(), st.integers(1, 70)), st.data())
def test_every_row_that_is_not_done_comes_once_and_in_whole_blocks(count, block, chunk, data):
    blocks = -(-count // block)
    chosen = data.draw(st.lists(st.booleans(), min_size=blocks, max_size=blocks))
    done = [(k * block, min((k + 1) * block, count)) for k in range(blocks) if chosen[k]]
    rows = np.arange(count)
    seen = []
    for part in in_chunks(lambda rows: {"row": rows}, rows, chunk=chunk, block=block, done=done):
        assert part.where.start % block == 0
        assert part.where.stop % block == 0 or part.where.stop == count
        assert chunk is None or part.where.stop - part.where.start < chunk + block
        assert (part.columns["row"] == rows[part.where]).all()
        seen += range(part.where.start, part.where.stop)
    assert seen == [k for k in range(count) if not chosen[k // block]]


@pytest.mark.parametrize("chunk", [1, 8, 9, 40, 203, 1000, None])
def test_chunk_changes_no_bit(chunk, tmp_path):
    for out in (None, tmp_path / "waves.npy"):
        columns, tally = run(chunk=chunk, out=out)
        assert_whole(columns)
        assert tally == {"rows": 203}


def test_block_matters_for_this_task():
    columns, _ = gather(Waves(), ROWS, WAVES, chunk=3)
    assert columns["sum"].tobytes() != WHOLE["sum"].tobytes()


@pytest.mark.parametrize("out", [None, "none.npy"])
def test_no_rows_are_a_batch_too(out, tmp_path):
    seen = []
    out = out and tmp_path / out
    columns, _ = gather(Waves().__call__, ROWS[:1][:0], WAVES, progress=seen.append, out=out)
    assert [len(column) for column in columns.values()] == [0, 0, 0]
    assert columns["sine"].shape == (0, 3)
    assert seen == [1.0]


def test_structured_arrays_and_lists_will_do():
    def doubled(rows):
        return np.rec.fromarrays([2 * rows], names="twice")

    columns, tally = gather(doubled, [1.0, 2.0, 3.0], [("twice", "f8")], chunk=2)
    assert columns["twice"].tolist() == [2.0, 4.0, 6.0]
    assert tally == {}


def test_rows_may_be_anything_with_slices():
    class Slices:
        shape = ROWS.shape

        def __len__(self):
            return len(ROWS)

        def __getitem__(self, where):
            assert where.stop - where.start <= 16
            return ROWS[where]

    assert_whole(run(rows=Slices(), chunk=16)[0])
    assert_whole(run(rows=np.asfortranarray(ROWS), chunk=16)[0])


@pytest.mark.parametrize("executor", [None, 3])
def test_progress_grows_to_one(executor, tmp_path):
    seen = []
    with Watched(executor) if executor else nullcontext() as pool:
        run(chunk=BLOCK, executor=pool, progress=seen.append, out=tmp_path / "waves.npy")
    assert seen[0] == 0.0
    assert seen[-1] == 1.0
    assert seen == sorted(set(seen))
    assert len(seen) == 1 + math.ceil(len(ROWS) / BLOCK)


def wrong_length(rows):
    return {"sum": rows[1:, 0]}


@pytest.mark.parametrize(
    ("task", "how", "error", "text"),
    [
        (wrong_length, {}, ValueError, r"'sum' of shape \(202,\) for 203 rows"),
        (lambda rows: rows, {}, TypeError, "structured array or a mapping"),
        (lambda rows: None, {}, TypeError, "it returned None"),
        (lambda rows: {"sum": rows}, {}, ValueError, r"columns \['sum'\], but \['sign', 'sine', 'sum'\]"),
        (lambda rows: Waves()(rows)[0] | {"sine": rows[:, :2]}, {}, ValueError, r"'sine' of shape \(203, 2\)"),
        (lambda rows: Waves()(rows)[0] | {"sign": rows[:, 0]}, {}, TypeError, "Cannot cast"),
        (3, {}, TypeError, "task must be callable"),
        (Waves(), {"chunk": 0}, ValueError, "chunk must be positive, but it is 0"),
        (Waves(), {"chunk": 1.5}, TypeError, "chunk must be an integer"),
        (Waves(), {"progress": 3}, TypeError, "progress"),
        (Waves(), {"executor": "pool"}, TypeError, "executor must be a concurrent.futures.Executor, but it is 'pool'"),
        (lambda rows: rows, {"executor": Unreliable(lambda job: "")}, TypeError, "a task that can be pickled"),
        (Waves(), {"out": "waves.dat"}, ValueError, "ends in .npy"),
    ],
)
def test_mistakes_are_told(task, how, error, text, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    with pytest.raises(error, match=text):
        run(task, **({"chunk": 1000} | how))
    assert not list(tmp_path.iterdir())


def test_mistakes_of_types_and_ranges_are_told():
    with pytest.raises(ValueError, match="named columns"):
        gather(Waves(), ROWS, np.float64)
    with pytest.raises(ValueError, match="named columns"):
        gather(Waves(), ROWS, [("pair", object)])
    for done, text in [([(0, 8), (4, 12)], "rows 4 to 12, but 8 to 203"), ([(4, 12)], "blocks have 8 rows")]:
        with pytest.raises(ValueError, match=text):
            in_chunks(Waves(), ROWS, block=8, done=done)


# Executors -----------------------------------------------------------------------------------------------------------


@here_only
@pytest.mark.parametrize("method", ["spawn", "fork", "forkserver"])
def test_processes_give_the_same_bits(method, tmp_path):
    with processes(method) as pool, silence():
        assert_whole(run(chunk=BLOCK, executor=pool)[0])
        assert_whole(run(chunk=BLOCK, executor=pool, out=tmp_path / "waves.npy")[0])
        columns, tally = run(Heavy(), chunk=BLOCK, executor=pool)
        assert_whole(columns)
        assert tally == {"rows": 203}


@here_only
def test_real_work_gives_the_same_bits_in_processes(tmp_path):
    rows = np.random.default_rng(0).uniform(-3.0, 3.0, (500, 3))
    kind = [("distance", "f8"), ("normal", "f8", 3)]
    task = ShelfGaps(cl.Compound([cl.Box([0.2, 0.3, 0.4]), cl.Capsule(0.1, 1.0)]), cl.Cylinder(0.5, 2.0))
    whole = task(rows)
    with processes() as pool, silence():
        assert_whole(gather(task, rows, kind, chunk=64, executor=pool)[0], whole)
    assert_whole(gather(task, rows, kind, chunk=50, out=tmp_path / "gaps.npy")[0], whole)


def test_threads_and_any_order_give_the_same_bits(tmp_path):
    with ThreadPoolExecutor(3) as pool, silence():
        assert_whole(run(chunk=BLOCK, executor=pool)[0])
    with LastFirst() as pool, silence():
        order = [part.where.start for part in in_chunks(Waves(), ROWS, chunk=BLOCK, block=BLOCK, executor=pool)]
        assert sorted(order) == list(range(0, 203, BLOCK)) != order
        assert_whole(run(chunk=BLOCK, executor=pool, out=tmp_path / "waves.npy")[0])
    assert not batches._tasks


@pytest.mark.parametrize("workers", [1, 2, 5])
def test_few_jobs_are_under_way_at_once(workers):
    with Watched(workers) as pool, silence():
        assert_whole(run(Waves(pause=0.002), chunk=BLOCK, executor=pool)[0])
    assert workers < pool.most <= 2 * workers + 1


def test_long_tasks_are_not_sent_with_every_job(monkeypatch):
    with Watched(2) as pool, silence():
        assert_whole(run(Heavy(), chunk=BLOCK, executor=pool)[0])
        assert pool.with_task <= 2 + 2 < pool.jobs
    monkeypatch.setattr(batches, "CACHED_TASKS", -1000)  # workers forget at once
    monkeypatch.setattr(batches, "_tasks", Forgetful())
    with Watched(2) as pool, silence():
        assert_whole(run(Heavy(), chunk=BLOCK, executor=pool)[0])
        assert pool.jobs == 26 + 24
        assert pool.with_task == 26


class Forgetful(dict):
    """A cache that never has what one asks for."""

    def get(self, key, default=None):
        return default


def test_worker_keeps_few_tasks(monkeypatch):
    monkeypatch.setattr(batches, "_tasks", {})
    for k in range(9):
        assert batches._work(str(k), batches._pickled(Waves(float(k))), k, ROWS) is not None
    assert list(batches._tasks) == ["5", "6", "7", "8"]
    assert batches._work("0", None, 9, ROWS) is None
    assert batches._work("8", None, 9, ROWS) is not None


def test_worker_of_another_version_is_not_trusted(monkeypatch):
    monkeypatch.setattr(cl, "__version__", "99.0")
    pickled = batches._pickled(Waves())
    monkeypatch.undo()
    _, failure, _ = batches._work("other", pickled, 0, ROWS)
    assert f"the worker has version {cl.__version__} of clearance, but 99.0 is needed" in failure


def test_workers_are_counted_where_that_is_possible():
    class Secretive(Unreliable):
        @property
        def _max_workers(self):
            raise OSError("no connection")

    class Empty(Unreliable):
        _max_workers = 0

    assert batches._workers(Unreliable(str)) == 2
    assert batches._workers(Secretive(str)) == batches._workers(Empty(str)) == os.cpu_count()
    assert_whole(run(executor=Secretive(lambda job: ""))[0])


def test_cluster_that_grows_gets_more_jobs(monkeypatch):
    monkeypatch.setattr(batches, "LOOK_AGAIN", 0.0)
    with Watched(2) as pool:
        for k, _ in enumerate(in_chunks(Waves(pause=0.01), ROWS, chunk=BLOCK, block=BLOCK, executor=pool)):
            pool._max_workers = 2 if k < 4 else 6
    assert 5 < pool.most <= 13


def test_dask_client_is_told_how_to_become_an_executor():
    class Client:
        def get_executor(self):
            pass

    with pytest.raises(TypeError, match=r"client\.get_executor\(\)"):
        run(executor=Client())


@here_only
@pytest.mark.parametrize("way", ["die", "exit"])
@pytest.mark.parametrize("row", [0, 100, 202])
def test_what_a_dead_worker_left_undone_is_done_here(way, row, tmp_path):
    task = Logged(log=str(tmp_path / "log"), at=row, way=way, times=1)
    with processes() as pool, pytest.warns(RuntimeWarning, match="failed at rows") as told:
        columns, tally = run(task, chunk=BLOCK, executor=pool, out=tmp_path / "waves.npy")
    assert_whole(columns)
    assert tally == {"rows": 203}
    assert len(told) == 1
    assert told[0].filename == __file__
    text = str(told[0].message)
    assert (
        ("BrokenProcessPool" in text and "given no more" in text) if way == "die" else f"rows {row // 8 * 8} to" in text
    )
    assert os.getpid() in {process for _, _, process in task.runs(row)}


@here_only
def test_task_that_fails_elsewhere_is_done_here(tmp_path):
    task = Logged(at=16.0, way="raise elsewhere")
    with processes() as pool:
        with pytest.warns(RuntimeWarning, match=r"rows 16 to 23 \(Awkward: code 3 at row 16\)"):
            assert_whole(run(task, chunk=BLOCK, executor=pool)[0])
        with silence():
            assert_whole(run(chunk=BLOCK, executor=pool)[0])  # and the pool is as good as before


@pytest.mark.parametrize("way", ["cancel", "fail", "refuse"])
@pytest.mark.parametrize("first", [1, 7, 26])
def test_whatever_an_executor_spoils_is_done_here(way, first, tmp_path):
    once, always = (
        Unreliable(lambda job: way if job == first else ""),
        Unreliable(lambda job: way if job >= first else ""),
    )
    for pool in (once, always):
        with pytest.warns(RuntimeWarning, match="failed at rows") as told:
            columns, tally = run(chunk=BLOCK, executor=pool, out=tmp_path / f"{id(pool)}.npy")
        assert_whole(columns)
        assert tally == {"rows": 203}
        assert f"failed at rows {8 * first - 8} to" in str(told[0].message)
        assert len(told) <= batches.FAILURES
    assert once.jobs == (first if way == "refuse" else 26)
    assert always.jobs <= first + 5


def test_executor_that_was_shut_down_is_not_needed():
    pool = ThreadPoolExecutor(1)
    pool.shutdown()
    with pytest.warns(RuntimeWarning, match="after shutdown"):
        assert_whole(run(chunk=BLOCK, executor=pool)[0])


@here_only
@pytest.mark.parametrize("kind", ["none", "processes", "last first"])
def test_error_of_a_task_is_that_of_its_first_row(kind, tmp_path):
    def pool():
        return {"none": nullcontext, "processes": processes, "last first": LastFirst}[kind]()

    task = Logged(at=24.0, way="raise")
    done = []
    with pool() as executor, silence(), pytest.raises(Awkward, match="code 3 at row 24"):
        done.extend(part.where.start for part in in_chunks(task, ROWS, chunk=BLOCK, block=BLOCK, executor=executor))
    assert {0, 8, 16} <= set(done)
    assert 24 not in done
    with pool() as executor, silence(), pytest.raises(ZeroDivisionError, match="at 8"):
        list(in_chunks(fails_from_8, ROWS, chunk=BLOCK, block=BLOCK, executor=executor))


def fails_from_8(rows):
    if rows[0, 0] >= 8:
        raise ZeroDivisionError(f"at {rows[0, 0]:g}")
    return Waves()(rows)


def test_interrupt_cancels_what_waits(tmp_path):
    def interrupt(fraction):
        if fraction > 0.2:
            raise KeyboardInterrupt

    out = tmp_path / "waves.npy"
    with Watched(2) as pool:
        with pytest.raises(KeyboardInterrupt):
            run(Waves(pause=0.01), chunk=BLOCK, executor=pool, progress=interrupt, out=out)
        assert pool.cancelled > 0
        assert pool.jobs < 20
    seen = []
    assert_whole(run(chunk=BLOCK, out=out, progress=seen.append)[0])
    assert 0.2 < seen[0] < 0.5


def test_chunks_that_nobody_wants_are_cancelled():
    with Watched(1) as pool:
        chunks = in_chunks(Waves(pause=0.01), ROWS, chunk=BLOCK, executor=pool)
        next(chunks)
        chunks.close()
    assert pool.cancelled > 0
    assert pool.jobs <= 4


@pytest.mark.skipif(importlib.util.find_spec("distributed") is None, reason="needs dask.distributed")
@here_only
def test_dask_gives_the_same_bits_and_may_lose_workers(tmp_path):
    import dask
    from distributed import Client, LocalCluster

    settings = {"distributed.scheduler.allowed-failures": 0, "distributed.worker.daemon": True}
    with (
        dask.config.set(settings),
        LocalCluster(2, threads_per_worker=1, dashboard_address=None, silence_logs=50) as cluster,
        Client(cluster) as client,
    ):
        with silence():
            assert_whole(run(chunk=BLOCK, executor=client.get_executor(), out=tmp_path / "waves.npy")[0])
            assert_whole(run(Heavy(), chunk=BLOCK, executor=client.get_executor(pure=False))[0])
        task = Logged(log=str(tmp_path / "log"), at=100.0, way="die")
        with pytest.warns(RuntimeWarning, match=r"rows \d+ to \d+ \(KilledWorker"):
            assert_whole(run(task, chunk=BLOCK, executor=client.get_executor())[0])


MPI_SCRIPT = """
import sys, warnings
warnings.simplefilter("error")
import numpy as np
from mpi4py.futures import MPIPoolExecutor
from clearance.batches import gather
from executors import BLOCK, WAVES, Heavy, Logged, Waves

class Own(Waves):
    pass

if __name__ == "__main__":
    rows = np.load("rows.npy", mmap_mode="r")
    with MPIPoolExecutor() as pool:
        gather(Logged(log="log"), rows, WAVES, block=BLOCK, chunk=BLOCK, executor=pool, out="waves.npy")
        gather(Heavy(), rows, WAVES, block=BLOCK, chunk=BLOCK, executor=pool, out="heavy.npy")
        gather(Own(), rows, WAVES, block=BLOCK, chunk=BLOCK, executor=pool, out="own.npy")
"""


@here_only
def test_mpi_gives_the_same_bits(tmp_path):
    mpiexec = shutil.which("mpiexec", path=f"{Path(sys.executable).parent}:{os.environ['PATH']}")
    if mpiexec is None or importlib.util.find_spec("mpi4py") is None:
        pytest.skip("needs mpi4py and mpiexec")
    (tmp_path / "script.py").write_text(MPI_SCRIPT)
    np.save(tmp_path / "rows.npy", ROWS)
    done = subprocess.run(
        [mpiexec, "-n", "3", sys.executable, "-m", "mpi4py.futures", "script.py"],
        cwd=tmp_path,
        env=os.environ | {"PYTHONPATH": str(Path(__file__).parent)},
        capture_output=True,
        text=True,
        timeout=100,
    )
    assert done.returncode == 0, done.stderr
    for name in ("waves", "heavy", "own"):
        found = np.load(tmp_path / f"{name}.npy")
        assert_whole({name: found[name] for name in found.dtype.names})
    assert len({process for _, _, process in Logged(log=str(tmp_path / "log")).runs()}) == 2


# Files ---------------------------------------------------------------------------------------------------------------


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
from clearance import batches
from executors import *
batches.SAVE_EVERY = 0.0
if __name__ == "__main__":
    pool = {pool}
    task = Logged(log="log", pause=0.02)
    batches.gather(task, np.load("rows.npy"), WAVES, block=BLOCK, chunk=BLOCK, executor=pool, out="waves.npy")
"""


def begun_elsewhere(folder, pool):
    """Start a run in a session of its own and wait until it has done some chunks."""
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
    with pytest.raises(BlockingIOError, match="another process is writing"):
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
        patch.setattr(batches.os, "write", write_little)
        with pytest.raises(OSError, match="No space left"):
            run(chunk=BLOCK, out=out)
    assert 0 < json.loads(part_of(out).read_text())["done"][0][1] < 203
    assert_whole(run(out=out)[0])


def test_part_that_cannot_be_saved_leaves_the_one_before(tmp_path, monkeypatch):
    out = interrupted(tmp_path / "waves.npy", 40)

    def fail(path, data):
        raise OSError(28, "No space left on device")

    monkeypatch.setattr(batches, "SAVE_EVERY", 0.0)
    with monkeypatch.context() as patch:
        patch.setattr(batches, "write_whole", fail)
        with pytest.raises(OSError, match="No space left"):
            run(Logged(), chunk=BLOCK, out=out)
    assert json.loads(part_of(out).read_text())["done"] == [[0, 40]]
    assert_whole(run(Logged(), out=out)[0])


@here_only
def test_file_that_will_not_fit_is_told_before_any_work(tmp_path):
    script = """
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
    done = subprocess.run(
        [sys.executable, "-c", script],
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


# Memory --------------------------------------------------------------------------------------------------------------


def first_column(rows):
    return {"first": rows[:, 0], "all": rows.sum(axis=1)}


@pytest.mark.parametrize("workers", [0, 2])
def test_memory_does_not_grow_with_the_input(workers, tmp_path):
    rows = np.lib.format.open_memmap(tmp_path / "rows.npy", "w+", np.float64, (500_000, 50))  # 200 MB, all holes
    rows[::1000, 0] = np.arange(500)
    executor = ThreadPoolExecutor(workers) if workers else None
    kind = [("first", "f8"), ("all", "f8")]
    tracemalloc.start()
    try:
        columns, _ = gather(first_column, rows, kind, chunk=2000, executor=executor, out=tmp_path / "sums.npy")
        _, most = tracemalloc.get_traced_memory()
    finally:
        tracemalloc.stop()
        if executor:
            executor.shutdown()
    assert most < 8e6
    assert columns["first"].nbytes == 4e6
    assert (columns["all"][::1000] == np.arange(500)).all()


# Fingerprints --------------------------------------------------------------------------------------------------------


@dataclass
class Node:
    """Something that may lead back to itself."""

    name: str
    next: object = None


def ring(*names):
    nodes = [Node(name) for name in names]
    for node, following in zip(nodes, nodes[1:] + nodes[:1], strict=True):
        node.next = following
    return nodes[0]


DIFFERENT = [
    None,
    0,
    0.0,
    -0.0,
    False,
    "",
    "0",
    b"",
    (),
    [],
    {},
    set(),
    frozenset(),
    [[], []],
    [[[]]],
    (1, 2),
    [1, 2],
    [12],
    {1: 2},
    {1, 2},
    {"a": 1, "b": 2},
    {"b": 2, "a": 1},
    float("nan"),
    np.zeros(2),
    np.zeros((2, 1)),
    np.zeros(2, np.float32),
    np.zeros(2, np.int64),
    np.zeros(4)[:0],
    np.array(["a", None], dtype=object),
    np.array(["a", 3], dtype=object),
    np.array(["a", "b"]),
    np.float64(3.0),
    math.sin,
    np.cos,
    len,
    Waves,
    fingerprint,
    Waves(),
    Waves(2.0),
    Logged(parent=0),
    Waves().__call__,
    functools.partial(gather, 1),
    functools.partial(gather, 2),
    Node("a"),
    Node("a", Node("a")),
    ring("a"),
    ring("a", "b"),
    ring("a", "b", "c"),
    Path("a"),
    Path("b"),
    slice(1, 2),
    cl.Sphere(1.0),
    cl.Sphere(2.0),
    cl.Sphere(1.0).at([0.0, 0.0, 1.0]),
    cl.Mesh([[0, 0, 0], [1, 0, 0], [0, 1, 0]], [[0, 1, 2]]),
    cl.Mesh([[0, 0, 0], [1, 0, 0], [0, 2, 0]], [[0, 1, 2]]),
]


def test_different_values_have_different_fingerprints():
    assert len({fingerprint(value) for value in DIFFERENT}) == len(DIFFERENT)


@pytest.mark.parametrize("value", DIFFERENT, ids=range(len(DIFFERENT)))
def test_equal_values_have_equal_fingerprints(value):
    assert fingerprint(batches.pickle.loads(batches.pickle.dumps(value))) == fingerprint(value)
    assert fingerprint(copy.deepcopy(value)) == fingerprint(value)


def test_fingerprints_do_not_show_what_is_one_object():
    text = "".join(["el", "bow"])
    assert fingerprint([text, text]) == fingerprint([text, "".join(["el", "bow"])])
    array = np.arange(12.0).reshape(3, 4)
    assert fingerprint(np.asfortranarray(array)) == fingerprint(array)


def test_fingerprints_are_the_same_in_every_process():
    script = "from executors import *; from clearance.batches import fingerprint; print(fingerprint(Waves()))"
    for seed in "12":
        env = os.environ | {"PYTHONPATH": str(Path(__file__).parent), "PYTHONHASHSEED": seed}
        done = subprocess.run([sys.executable, "-c", script], env=env, capture_output=True, text=True, check=True)
        assert done.stdout.strip() == fingerprint(Waves())


def test_functions_without_a_name_have_no_fingerprint(tmp_path):
    with pytest.raises(TypeError, match="cannot be told apart by name"):
        run(lambda rows: Waves()(rows), out=tmp_path / "waves.npy")
    assert not list(tmp_path.iterdir())
