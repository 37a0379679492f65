"""Long batches: however they are cut and run, the result is that of one run, or an error."""

import importlib.util
import math
import multiprocessing
import os
import shutil
import subprocess
import sys
import tracemalloc
import warnings
from concurrent.futures import ProcessPoolExecutor, ThreadPoolExecutor
from contextlib import contextmanager, nullcontext
from pathlib import Path

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

import clearance as cl
from clearance import jobs
from clearance.batches import gather, in_chunks
from executors import (
    BLOCK,
    OPEN,
    ROWS,
    WAVES,
    WHOLE,
    Awkward,
    Heavy,
    LastFirst,
    Logged,
    ShelfGaps,
    Unreliable,
    Watched,
    Waves,
    assert_whole,
    run,
)

here_only = pytest.mark.skipif(sys.platform == "win32", reason="signals and forks are those of POSIX")


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
    assert not jobs._tasks


@pytest.mark.parametrize("workers", [1, 2, 5])
def test_few_jobs_are_under_way_at_once(workers):
    with Watched(workers) as pool, silence():
        assert_whole(run(Waves(pause=0.002), chunk=BLOCK, executor=pool)[0])
    assert workers < pool.most <= 2 * workers + 1


def test_long_tasks_are_not_sent_with_every_job(monkeypatch):
    with Watched(2) as pool, silence():
        assert_whole(run(Heavy(), chunk=BLOCK, executor=pool)[0])
        assert pool.with_task <= 2 + 2 < pool.jobs
    monkeypatch.setattr(jobs, "CACHED_TASKS", -1000)  # workers forget at once
    monkeypatch.setattr(jobs, "_tasks", Forgetful())
    with Watched(2) as pool, silence():
        assert_whole(run(Heavy(), chunk=BLOCK, executor=pool)[0])
        assert pool.jobs == 26 + 24
        assert pool.with_task == 26


class Forgetful(dict):
    """A cache that never has what one asks for."""

    def get(self, key, default=None):
        return default


def test_worker_keeps_few_tasks(monkeypatch):
    monkeypatch.setattr(jobs, "_tasks", {})
    for k in range(9):
        assert jobs._work(str(k), jobs._pickled(Waves(float(k))), k, ROWS) is not None
    assert list(jobs._tasks) == ["5", "6", "7", "8"]
    assert jobs._work("0", None, 9, ROWS) is None
    assert jobs._work("8", None, 9, ROWS) is not None


def test_worker_of_another_version_is_not_trusted(monkeypatch):
    monkeypatch.setattr(cl, "__version__", "99.0")
    pickled = jobs._pickled(Waves())
    monkeypatch.undo()
    _, failure = jobs._work("other", pickled, 0, ROWS)
    assert f"the worker has version {cl.__version__} of clearance, but 99.0 is needed" in failure


def test_workers_are_counted_where_that_is_possible():
    class Secretive(Unreliable):
        @property
        def _max_workers(self):
            raise OSError("no connection")

    class Empty(Unreliable):
        _max_workers = 0

    assert jobs.count_workers(Unreliable(str)) == 2
    assert jobs.count_workers(Secretive(str)) == jobs.count_workers(Empty(str)) == os.cpu_count()
    assert_whole(run(executor=Secretive(lambda job: ""))[0])


def test_cluster_that_grows_gets_more_jobs(monkeypatch):
    monkeypatch.setattr(jobs, "LOOK_AGAIN", 0.0)
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
    assert told[0].filename == run.__code__.co_filename  # who called the library
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
        assert len(told) <= jobs.FAILURES
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


@pytest.fixture
def held():
    """Lend chunks that are held until `OPEN` is set, which happens in the end."""
    OPEN.clear()
    yield
    OPEN.set()


def test_interrupt_cancels_what_waits(tmp_path, held):
    def interrupt(fraction):
        if fraction > 0.0:
            raise KeyboardInterrupt

    out = tmp_path / "waves.npy"
    with Watched(2) as pool:
        # Five jobs are handed out at first. Two of them can end, and two are held by the workers, so one must wait.
        with pytest.raises(KeyboardInterrupt):
            run(Waves(held_from=2.0 * BLOCK), chunk=BLOCK, executor=pool, progress=interrupt, out=out)
        assert pool.cancelled > 0
        assert pool.jobs < 20
        OPEN.set()
    seen = []
    assert_whole(run(chunk=BLOCK, out=out, progress=seen.append)[0])
    assert 0.0 < seen[0] < 0.5


def test_chunks_that_nobody_wants_are_cancelled(held):
    with Watched(1) as pool:
        chunks = in_chunks(Waves(held_from=8.0), ROWS, chunk=BLOCK, executor=pool)
        next(chunks)
        chunks.close()
        OPEN.set()
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


# Memory --------------------------------------------------------------------------------------------------------------


def first_column(rows):
    return {"first": rows[:, 0], "all": rows.sum(axis=1)}


@pytest.mark.parametrize("workers", [0, 2])
def test_memory_does_not_grow_with_the_input(workers, tmp_path):
    rows = np.lib.format.open_memmap(tmp_path / "rows.npy", "w+", np.float64, (200_000, 50))  # 80 MB, all holes
    rows[::1000, 0] = np.arange(200)
    executor = ThreadPoolExecutor(workers) if workers else None
    kind = [("first", "f8"), ("all", "f8")]
    tracemalloc.start()
    try:
        columns, _ = gather(first_column, rows, kind, chunk=1000, executor=executor, out=tmp_path / "sums.npy")
        _, most = tracemalloc.get_traced_memory()
    finally:
        tracemalloc.stop()
        if executor:
            executor.shutdown()
    assert most < 3e6
    assert columns["first"].nbytes == 1.6e6
    assert (columns["all"][::1000] == np.arange(200)).all()
