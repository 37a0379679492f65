"""Particles on ranks of MPI: the same bits as alone, from any checkpoint on, and an end whatever goes wrong."""

import functools
import importlib.util
import signal
import subprocess
import sys
import time
from pathlib import Path

import numpy as np
import pytest

import clearance as cl
import distributed_runs
from clearance import simulation as sim
from clearance.simulation.particle_runs import run
from distributed_runs import AFTER, CASES, END, EVERY, FAR, FLEEING, KEPT, LAWS, STEP, lattice, results, spheres

MPIEXEC = Path(sys.executable).with_name("mpiexec")
LONGEST = 300  # seconds, that a program may take on a machine with much else to do
GRACE = 4  # seconds, that other ranks may live on after one has failed

if importlib.util.find_spec("mpi4py") is None or not MPIEXEC.exists():
    pytest.skip("no mpi4py, or no mpiexec beside Python", allow_module_level=True)

RANKS = (1, 2, 3, 4)
BUSY = [name for name in CASES if any(word in name for word in ("walls", "periodic", "fast", "corners", "go"))]
USUAL = [name for name in CASES if name != "large and small"]
FEW = [*KEPT, "elastic, fast", "corners of four", "come and go", "squeezed"]  # ranks that share a core take their time
GROUPS = {name: FEW if name in FEW else [name for name in USUAL if name not in FEW] for name in USUAL}
EVERYWHERE = [
    pytest.param(ranks, name, marks=() if ranks < 3 or name in FEW else pytest.mark.long)
    for ranks in RANKS
    for name in USUAL
]


def command(ranks, program, *arguments):
    return [str(MPIEXEC), "-n", str(ranks), sys.executable, distributed_runs.__file__, program, *map(str, arguments)]


def launch(ranks, program, *arguments):
    return subprocess.run(command(ranks, program, *arguments), capture_output=True, text=True, timeout=LONGEST)


def finish(ranks, program, out, *arguments):
    """Return the arrays that a program wrote, after it has come to a good end."""
    done = launch(ranks, program, out, *arguments)
    assert done.returncode == 0, done.stderr[-3000:]
    with np.load(out) as arrays:
        return dict(arrays)


@functools.cache
def alone(name):
    return results(CASES[name].finish(CASES[name].begin(sim.Particles, (0, 1), threads=2), (0, 1)))


def assert_same(found, wanted, prefix):
    assert_equal({key: found[f"{prefix}/{key}"] for key in wanted}, wanted)


def assert_equal(found, wanted):
    for key, value in wanted.items():
        np.testing.assert_array_equal(found[key], value, err_msg=key)


@pytest.fixture(scope="module")
def home(tmp_path_factory):
    return tmp_path_factory.mktemp("ranks")


@pytest.fixture(scope="module")
def on_ranks(home):
    """Lend what a case comes to on some number of ranks: it is run once, with others of its group."""

    @functools.cache
    def ran(ranks, group):
        folder = home / str(ranks)
        folder.mkdir(exist_ok=True)
        return finish(ranks, "run_cases", folder / "out.npz", ";".join(group))

    return lambda ranks, name: ran(ranks, tuple(GROUPS[name]))


@pytest.mark.parametrize(("ranks", "name"), EVERYWHERE)
def test_ranks_give_the_bits_of_particles_alone(on_ranks, ranks, name):
    found = on_ranks(ranks, name)
    assert_same(found, alone(name), name)
    assert found[f"{name}/shares"].sum() == len(alone(name)["ids"])
    if name in BUSY and ranks > 1:
        assert np.count_nonzero(found[f"{name}/shares"]) > 1
        assert found[f"{name}/bytes"].sum() > 0


@pytest.mark.parametrize(
    ("ranks", "first", "last"),
    [
        pytest.param(2, 0, 10),
        pytest.param(2, 10, 400, marks=pytest.mark.long),
        pytest.param(3, 400, 430, marks=pytest.mark.long),
        pytest.param(4, 430, 460, marks=pytest.mark.long),
    ],
)
def test_whatever_happens_ranks_give_the_bits_of_particles_alone(tmp_path, ranks, first, last):
    found = finish(ranks, "run_at_random", tmp_path / "out.npz", first, last)
    wanted = {key: value for key, value in found.items() if key.startswith("alone/")}
    assert len(wanted) >= 4 * (last - first)  # few rooms are too small for what flies in them
    assert_equal({key: found[key.replace("alone", "ranks", 1)] for key in wanted}, wanted)


def test_ranks_may_be_part_of_others(tmp_path):
    found = finish(3, "run_apart", tmp_path / "out.npz")
    for prefix in ("of 1", "of 2"):
        assert_same(found, alone("hard, periodic"), prefix)


def test_particles_have_the_numbers_that_their_rank_was_told(tmp_path):
    found = finish(3, "number", tmp_path / "out.npz")
    assert found["ids"].tolist() == list(range(6))
    assert found["more"].tolist() == [6, 7, 8]
    np.testing.assert_array_equal(found["places"][found["ids"]], found["given"])


def test_what_is_gathered_goes_on_counting():
    particles = sim.DistributedParticles()
    particles.add(cl.Sphere(0.1), [[0.0, 0.0, 0.0], [1.0, 0.0, 0.0]])
    particles.remove([1])
    assert particles.gather().add(cl.Sphere(0.1), [[2.0, 0.0, 0.0]]).tolist() == [2]


def test_numbers_that_are_not_there_cannot_be_removed():
    particles = sim.DistributedParticles()
    particles.add(cl.Sphere(0.1), [[0.0, 0.0, 0.0]])
    with pytest.raises(KeyError, match="only 1"):
        particles.remove([0, 7])
    assert len(particles) == 1


def test_cases_are_about_contacts():
    for name in BUSY:
        particles = CASES[name].begin(sim.Particles, (0, 1))
        touched = 0
        for _ in range(CASES[name].steps - AFTER):
            particles.step()
            touched += len(particles.contacts)
        assert touched > 0, name


@pytest.mark.parametrize("ranks", [2, 3, 4])
def test_cuts_follow_the_particles(on_ranks, ranks):
    places = alone("squeezed")["poses"][:, 0, 3]
    before = np.quantile(0.05 * np.arange(120.0), np.arange(1, ranks) / ranks)
    left_behind = np.bincount(np.searchsorted(before, places), minlength=ranks)
    assert left_behind.max() > 1.4 * left_behind.mean()  # had cuts stayed
    shares = on_ranks(ranks, "squeezed")["squeezed/shares"]
    assert shares.max() < 1.25 * shares.mean()


def test_large_and_small_particles_on_different_ranks(home):
    found = finish(2, "run_cases", home / "sizes.npz", "large and small")
    assert_same(found, alone("large and small"), "large and small")


# Each number of ranks goes on from two others; from all of them takes longer.
FROM = {1: (2, 4), 2: (1, 3), 3: (2, 4), 4: (1, 3)}
PAIRS = [pytest.param(ranks, before, id=str(ranks)) for ranks, before in FROM.items()]
MORE_PAIRS = [pytest.param(ranks, RANKS, marks=pytest.mark.long, id=f"{ranks} from any") for ranks in RANKS]


@pytest.mark.parametrize(("ranks", "earlier"), PAIRS + MORE_PAIRS)
def test_a_checkpoint_goes_on_with_any_number_of_ranks(on_ranks, home, ranks, earlier):
    for before in earlier:
        on_ranks(before, KEPT[0])
    found = finish(ranks, "go_on", home / f"go on with {ranks}.npz", *(home / str(before) for before in earlier))
    for before in earlier:
        for name in KEPT:
            assert_same(found, alone(name), f"{before}/{name}")


@pytest.mark.parametrize("name", KEPT)
@pytest.mark.parametrize("before", RANKS)
def test_a_checkpoint_goes_on_alone(on_ranks, home, before, name):
    on_ranks(before, name)
    particles = sim.Particles.load(home / str(before) / name)
    assert_same(
        {f"alone/{k}": v for k, v in results(CASES[name].finish(particles, (0, 1))).items()}, alone(name), "alone"
    )


@functools.cache
def undisturbed():
    particles = distributed_runs.started(None)
    particles.step(round(END / STEP))
    return results(particles)


DEATHS = [
    ("step", 1, 300),
    ("step", -1, 500),
    ("writing", -1, 2),
    ("renaming", 0, 2),
    ("removing", 0, 1),
]
MORE_DEATHS = [("step", 0, 1), ("step", 0, 600), ("writing", 0, 1), ("writing", 1, 3), ("renaming", 0, 1)]


@pytest.mark.parametrize(("where", "who", "when"), DEATHS)
def test_a_run_whose_ranks_are_killed_ends_with_the_same_bits(tmp_path, where, who, when):
    folder, out = tmp_path / "run", tmp_path / "out.npz"
    done = launch(2, "killed", out, folder, where, who, when)
    assert done.returncode != 0
    assert not out.exists()
    found = finish(2, "killed", out, folder, "never", -1, 0)
    assert_same(found, undisturbed(), "run")
    assert [path.name.partition("_")[0] for path in folder.iterdir()] == ["checkpoint"]


@pytest.mark.long
@pytest.mark.parametrize("ranks", RANKS)
@pytest.mark.parametrize(("where", "who", "when"), DEATHS + MORE_DEATHS)
def test_a_killed_run_goes_on_with_other_numbers_of_ranks(tmp_path, where, who, when, ranks):
    folder, out = tmp_path / "run", tmp_path / "out.npz"
    assert launch(3, "killed", out, folder, where, who, when).returncode != 0
    assert_same(finish(ranks, "killed", out, folder, "never", -1, 0), undisturbed(), "run")


@pytest.mark.long
def test_a_run_that_dies_again_and_again_gets_there(tmp_path):
    folder, out = tmp_path / "run", tmp_path / "out.npz"
    deaths = 0
    while launch(2, "killed", out, folder, "writing", 1, 2).returncode != 0:
        deaths += 1
        assert deaths < 10
    with np.load(out) as found:
        assert_same(found, undisturbed(), "run")
    assert deaths == 3  # four checkpoints; each attempt leaves one


ONE = """
import sys
from clearance.simulation.particle_runs import run
from distributed_runs import started
run(lambda: started(None), sys.argv[1], 1e5, every=0.003)
"""


def test_one_process_that_is_killed_ends_with_the_same_bits(tmp_path):
    folder = tmp_path / "run"
    process = subprocess.Popen([sys.executable, "-c", ONE, str(folder)], cwd=Path(__file__).parent)
    try:
        end = time.monotonic() + LONGEST
        while not list(folder.glob("checkpoint_*[3-9]")):
            assert process.poll() is None
            assert time.monotonic() < end
            time.sleep(0.001)
    finally:
        process.kill()
        assert process.wait(timeout=LONGEST) == -signal.SIGKILL
    wanted = distributed_runs.started(None)
    reached = sim.Particles.load(folder)
    until = round(reached.time / STEP) + 3
    wanted.step(until)
    ended = run(never, folder, until * STEP, every=EVERY)
    assert_equal(results(ended), results(wanted))


def never():
    raise AssertionError("there is a checkpoint")


def test_a_run_is_the_same_whatever_the_checkpoints(tmp_path):
    ends = [
        run(lambda: distributed_runs.started(None), tmp_path / str(every), END, every=every) for every in (1e-9, 1.0)
    ]
    for end in ends:
        for key, value in undisturbed().items():
            np.testing.assert_array_equal(results(end)[key], value, err_msg=key)


def test_a_run_tells_how_far_it_is(tmp_path):
    told = []
    run(lambda: distributed_runs.started(None), tmp_path / "run", END, every=EVERY, progress=told.append)
    assert told == sorted(told)
    assert told[-1] == 1.0
    assert run(never, tmp_path / "run", END, progress=told.append).time == pytest.approx(END)


def test_only_the_first_rank_tells(tmp_path):
    done = launch(2, "tell_progress", tmp_path / "out", tmp_path / "run")
    assert done.returncode == 0, done.stderr
    assert done.stderr.count("100%") == 1
    assert "54 bodies" in done.stderr  # of both ranks


def test_a_run_refuses_what_it_cannot_do(tmp_path):
    run(lambda: distributed_runs.started(None), tmp_path / "run", 0.01)
    with pytest.raises(ValueError, match=r"0\.01 s, but they are wanted at 0\.005 s"):
        run(never, tmp_path / "run", 0.005)
    with pytest.raises(TypeError, match="start must make Particles"):
        run(lambda: None, tmp_path / "other", 0.01)
    for wrong in ({"seconds": -1.0}, {"seconds": np.nan}, {"seconds": 1.0, "every": 0.0}):
        with pytest.raises(ValueError, match="must be"):
            run(never, tmp_path / "other", **wrong)
    with pytest.raises(TypeError, match="progress"):
        run(never, tmp_path / "other", 1.0, progress="loud")
    (tmp_path / "file").write_text("no folder")
    with pytest.raises(FileExistsError):
        run(never, tmp_path / "file", 1.0)


def whole_checkpoint(folder):
    distributed_runs.started(None).save(folder.with_suffix(".npz"))
    run(lambda: distributed_runs.started(None), folder, 0.003)
    return next(folder.glob("checkpoint_*"))


def halve(folder):
    piece = next(whole_checkpoint(folder).iterdir())
    piece.write_bytes(piece.read_bytes()[: piece.stat().st_size // 2])


def lose_a_piece(folder):
    piece = next(whole_checkpoint(folder).iterdir())
    piece.rename(piece.with_name("000000_of_000002.npz"))


def leave_partial(folder):
    whole_checkpoint(folder).rename(folder / "partial")


def empty(folder):
    next(whole_checkpoint(folder).iterdir()).unlink()


def put_something_else(folder):
    np.savez(next(whole_checkpoint(folder).iterdir()), about=np.zeros(3))


@pytest.mark.parametrize("damage", [Path.mkdir, halve, lose_a_piece, leave_partial, empty, put_something_else])
def test_what_is_no_complete_checkpoint_is_refused(tmp_path, damage):
    folder = tmp_path / "run"
    damage(folder)
    for load in (sim.Particles.load, sim.DistributedParticles.load):
        with pytest.raises(ValueError, match="run"):
            load(folder)


@pytest.mark.parametrize("damage", [halve, lose_a_piece, empty, put_something_else])
def test_a_run_does_not_begin_anew_over_a_damaged_checkpoint(tmp_path, damage):
    damage(tmp_path / "run")
    with pytest.raises(ValueError, match="run"):
        run(never, tmp_path / "run", 0.01)


def test_a_run_begins_anew_where_no_checkpoint_was_completed(tmp_path):
    leave_partial(tmp_path / "run")
    ended = run(lambda: distributed_runs.started(None), tmp_path / "run", END)
    np.testing.assert_array_equal(ended.poses, undisturbed()["poses"])


def test_damaged_bytes_are_noticed(tmp_path):
    piece = next(whole_checkpoint(tmp_path / "run").iterdir())
    good, rng = piece.read_bytes(), np.random.default_rng(0)
    for place in rng.integers(0, len(good), 60):
        bad = bytearray(good)
        bad[place] ^= 1 << rng.integers(8)
        piece.write_bytes(bad)
        try:
            found = sim.Particles.load(tmp_path / "run")
        except ValueError:
            continue
        found.step(round(END / STEP) - 3)  # what does not matter, does not
        np.testing.assert_array_equal(found.poses, undisturbed()["poses"])


def ends_soon(tmp_path, where):
    """Tell whether all ranks end, with an error, soon after one has failed."""
    log = tmp_path / "log"
    with log.open("w") as told:
        process = subprocess.Popen(
            command(2, "fail", tmp_path / "folder", where), stdout=told, stderr=told, start_new_session=True
        )
        try:
            end = time.monotonic() + LONGEST
            while process.poll() is None and "Error" not in log.read_text():
                assert time.monotonic() < end
                time.sleep(0.05)
            return process.wait(GRACE) != 0
        except subprocess.TimeoutExpired:
            return False
        finally:
            if process.poll() is None:
                process.terminate()  # and with it all ranks
                process.wait(LONGEST)


@pytest.mark.parametrize(
    "where",
    [
        "step",
        "start of a run",
        "checkpoint of a run",
        "going on with a run",
        "add",
        "save",
        "load",
    ],
)
def test_if_one_rank_fails_all_end(tmp_path, where):
    assert ends_soon(tmp_path, where)


def test_ranks_agree_on_the_time_at_which_a_particle_was_lost(tmp_path):
    found = finish(2, "lose", tmp_path / "out.npz")
    assert all("beyond all bounds" in told for told in found["told"])
    assert len(set(found["times"])) == 1


def test_an_error_names_the_particle_that_is_lost():
    particles = sim.Particles(**FLEEING.settings)
    FLEEING.fill(particles, (0, 1))
    with pytest.raises(FloatingPointError, match="particle 6 is"):
        particles.step(FLEEING.steps)


def test_a_room_that_is_wide_enough_for_a_step_is_not_refused():
    particles = sim.Particles(gravity=(0.0, 0.0, 0.0), lower=[0.0] * 3, upper=[0.1] * 3, periodic=True)
    particles.add(cl.Sphere(0.02), [[0.05, 0.05, 0.05]], [[4.0, 0.0, 0.0]])  # twice the body and its way: 0.088 m
    particles.step()
    np.testing.assert_allclose(particles.positions, [[0.054, 0.05, 0.05]], rtol=1e-12)
    assert len(particles.contacts) == 0  # not even with its own image
    particles.add(cl.Sphere(0.02), [[0.05, 0.05, 0.0]], [[20.0, 0.0, 0.0]])  # 0.12 m
    with pytest.raises(ValueError, match="at least twice as wide"):
        particles.step()


def test_steps_leave_messages_of_others_alone(tmp_path):
    assert finish(2, "post", tmp_path / "out.npz")["got"].tolist() == [8.0, 7.0]


def test_a_particle_may_be_very_far_away(tmp_path):
    found = finish(2, "fly_far", tmp_path / "out.npz")
    assert_same(found, results(FAR.begin(sim.Particles, (0, 1))), "far")


@pytest.mark.parametrize("made", [sim.Particles, sim.DistributedParticles])
@pytest.mark.parametrize(
    "change",
    [
        lambda particles: particles.add(cl.Sphere(0.02), [[1.0, 1.0, 1.0]]),
        lambda particles: particles.remove([0]),
        lambda particles: particles.add_wall("far", cl.HalfSpace([1.0, 0.0, 0.0], -5.0)),
    ],
)
def test_a_checkpoint_right_after_a_change_goes_on_with_the_same_bits(tmp_path, made, change):
    particles = made(contact=LAWS["hard"])
    particles.add_wall("floor", cl.HalfSpace([0.0, 0.0, 1.0], 0.0))
    spheres(lattice((3, 3, 3), 0.0399))(particles, (0, 1))
    particles.step(40)
    change(particles)
    particles.save(tmp_path / "kept")
    again = made.load(tmp_path / "kept")
    for one in (particles, again):
        one.step(20)
    np.testing.assert_array_equal(again.poses, particles.poses)


def test_saving_removes_nothing_of_others(tmp_path):
    (tmp_path / "partial").mkdir()
    (tmp_path / "partial" / "results.csv").write_text("years of work")
    sim.DistributedParticles().save(tmp_path)
    assert (tmp_path / "partial" / "results.csv").exists()


@pytest.mark.parametrize("n", [-1, True, 2.5])
def test_the_number_of_steps_is_checked(n):
    with pytest.raises(ValueError, match="number of steps"):
        sim.DistributedParticles().step(n)
