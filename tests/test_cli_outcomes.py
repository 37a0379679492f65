"""What all commands have in common: help, JSON, exit codes, quiet pipes, files as a whole or not at all."""

import json
import os
import re
import shlex
import subprocess
import warnings
from pathlib import Path

import numpy as np
import pytest

import clearance
import cli_runs
from clearance.cli import make_app
from clearance.cli.files import WriteError, bar, check_writable, write_csv, write_text
from clearance.cli.outcomes import command, counted, millimetres, plain, point, report, table, verdict
from cli_runs import COMMAND, as_process, run

typer = pytest.importorskip("typer", reason="the command line needs the extra 'cli'")

COMMANDS = [callback.callback.__name__ for callback in make_app().registered_commands]
QUICK = [
    (["check"], 0),
    (["nearest"], 0),
    (["guard"], 1),
    (["scan"], 0),
    (["simulate", "--duration", "0.01"], 0),
    (["fit", "--points", "2"], 0),
    (["bench", "--seconds", "0.001", "--only", "box"], 0),
    (["doctor"], 0),
]


@pytest.fixture
def here(tmp_path, monkeypatch):
    return cli_runs.settle(tmp_path, monkeypatch)


def without_styles(text):
    return re.sub(r"\x1b\[[0-9;]*m", "", text)


# Help -----------------------------------------------------------------------------------------------------------------


def test_help_lists_all_commands():
    printed = without_styles(run("--help").stdout)
    assert all(re.search(rf"^│ {name} ", printed, re.MULTILINE) for name in COMMANDS)


@pytest.mark.parametrize("name", COMMANDS)
@pytest.mark.parametrize("width", ["80", "160"])
def test_help_has_examples_and_exit_codes_and_fits(name, width, monkeypatch):
    monkeypatch.setenv("COLUMNS", width)
    monkeypatch.setenv("TERMINAL_WIDTH", width)
    printed = without_styles(run(name, "--help").stdout)
    assert f"• clearance {name}" in printed
    assert "Exit codes: 0 " in printed
    assert "--json" in printed
    assert "class" not in printed  # no names of Python's types
    assert max(map(len, printed.splitlines())) <= int(width)


def test_help_of_simulate_names_options_and_scenarios():
    printed = without_styles(run("simulate", "--help").stdout)
    for word in ("--duration", "--out", "--resume", "--page", "--json", "--threads", "bowling", "Exit codes"):
        assert word in printed


def test_version_is_told():
    assert run("--version").stdout == f"clearance {clearance.__version__}\n"


# Processes of their own -----------------------------------------------------------------------------------------------


@pytest.mark.parametrize(("words", "code"), QUICK, ids=lambda value: value[0] if isinstance(value, list) else "")
def test_pipes_are_quiet_and_json_is_strict(here, words, code):
    done = as_process(*words, "--json")
    assert (done.returncode, done.stderr) == (code, "")
    assert done.stdout.count("\n") == 1
    json.loads(done.stdout, parse_constant=lambda word: pytest.fail(f"{word} is no JSON"))
    assert "\x1b" not in done.stdout


@pytest.mark.parametrize("words", [["check"], ["nearest"], ["scan"]], ids=lambda words: words[0])
def test_output_is_the_same_every_time(here, words):
    first, again = as_process(*words), as_process(*words)
    assert first.stdout == again.stdout
    assert "\x1b" not in first.stdout
    assert not [line for line in first.stdout.splitlines() if line != line.rstrip()]


def test_missing_extra_is_told(here):
    (here / "typer").mkdir()
    (here / "typer" / "__init__.py").write_text("raise ImportError('not here', name='typer')")
    path = os.pathsep.join([str(here), *filter(None, [os.environ.get("PYTHONPATH")])])
    done = subprocess.run(COMMAND, capture_output=True, text=True, timeout=300, env=os.environ | {"PYTHONPATH": path})
    assert done.returncode == 3
    assert done.stderr == "the command line needs typer; get it with: pip install clearance[cli]\n"


def test_missing_extra_of_a_command_is_told_before_the_work(here):
    (here / "matplotlib").mkdir()
    (here / "matplotlib" / "__init__.py").write_text("raise ImportError('not here', name='matplotlib')")
    path = os.pathsep.join([str(here), *filter(None, [os.environ.get("PYTHONPATH")])])
    done = subprocess.run(
        [*COMMAND, "check", "--plot", "it.png"],
        capture_output=True,
        text=True,
        timeout=300,
        env=os.environ | {"PYTHONPATH": path},
    )
    assert (done.returncode, done.stdout) == (3, "")
    assert done.stderr == "error: pictures need matplotlib; get it with: pip install clearance[view]\n"


def test_reader_that_has_gone_changes_nothing(here):
    command = [*COMMAND, "check", "--margin", "0.02"]
    with subprocess.Popen(command, stdout=subprocess.PIPE, stderr=subprocess.PIPE) as process:
        process.stdout.close()
        assert process.stderr.read() == b""
    assert process.returncode == 1


@pytest.mark.parametrize(("closed", "code"), [(">&-", 0), ("2>&-", 0), (">&- 2>&-", 0)])
def test_streams_that_are_closed_change_nothing(here, closed, code):
    words = f"{shlex.join([*COMMAND, 'check', 'gantry.urdf', '--cell', 'wall.obj@1,0,0'])} {closed}"
    done = subprocess.run(words, shell=True, capture_output=True, text=True, timeout=300)
    assert done.returncode == code
    assert done.stderr == ""


def test_error_without_a_stream_for_errors_is_no_result(here):
    words = f"{shlex.join([*COMMAND, 'check', 'missing.urdf'])} 2>&-"
    done = subprocess.run(words, shell=True, capture_output=True, text=True, timeout=300)
    assert (done.returncode, done.stdout) == (2, "")


@pytest.mark.skipif(not Path("/dev/full").is_char_device(), reason="there is no device that is always full")
@pytest.mark.parametrize("words", [["--version"], ["check"]], ids=lambda words: words[0])
def test_output_that_finds_no_room_is_told(here, words):
    done = subprocess.run(
        f"{shlex.join([*COMMAND, *words])} > /dev/full", shell=True, stderr=subprocess.PIPE, text=True
    )
    assert done.returncode == 3
    assert "No space left on device" in done.stderr
    assert "Traceback" not in done.stderr


# Files ----------------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("end", [KeyboardInterrupt, ValueError, SystemExit])
def test_what_is_cut_off_leaves_the_old_file(here, end):
    (here / "it.csv").write_text("old")

    def rows():
        yield [1]
        raise end

    with pytest.raises(end):
        write_csv(Path("it.csv"), ["a"], rows())
    assert (here / "it.csv").read_text() == "old"
    assert not list(here.glob("it.*.part*"))


def test_file_that_is_complete_takes_the_place_of_the_old_one(here):
    write_text(Path("it.txt"), "one")
    write_text(Path("it.txt"), "two")
    assert (here / "it.txt").read_text() == "two"
    assert len(list(here.glob("it*"))) == 1


def test_pipe_is_written_to_and_stays_a_pipe(here):
    os.mkfifo("pipe")
    reader = os.open("pipe", os.O_RDONLY | os.O_NONBLOCK)
    try:
        check_writable(Path("pipe"))
        write_text(Path("pipe"), "one")
        assert os.read(reader, 100) == b"one"
    finally:
        os.close(reader)
    assert Path("pipe").is_fifo()
    assert not list(here.glob("pipe.*"))


def test_link_stays_and_what_it_leads_to_is_replaced(here):
    (here / "elsewhere").mkdir()
    (here / "elsewhere" / "it.txt").write_text("old")
    (here / "link.txt").symlink_to("elsewhere/it.txt")
    write_text(Path("link.txt"), "new")
    assert (here / "link.txt").is_symlink()
    assert (here / "elsewhere" / "it.txt").read_text() == "new"


@pytest.mark.parametrize(
    "words",
    [
        ["check", "--plot", "it.jpg"],
        ["check", "--page", "it.pdf"],
        ["guard", "--page", "it"],
        ["nearest", "--page", "it.png"],
        ["scan", "--plot", "it.svg"],
        ["view", "--save", "it.htmlx"],
    ],
    ids=lambda words: words[0],
)
def test_names_that_promise_another_kind_of_file_are_refused(here, words):
    done = run(*words, code=2)
    assert re.search(rf"error: {words[1]} must end in \.(png|html or \.htm), but it is {words[2]}\.", done.stderr)
    assert not list(here.glob("it*"))


def test_disk_that_is_full_is_told(here):
    def rows():
        yield [1]
        raise OSError(28, "No space left on device")

    with pytest.raises(WriteError, match=r"it\.csv cannot be written: No space left on device\."):
        write_csv(Path("it.csv"), ["a"], rows())
    assert not list(here.glob("it*"))


@pytest.mark.parametrize("place", ["no/folder.csv", "gantry.urdf/it.csv"])
def test_places_are_checked_beforehand(here, place):
    with pytest.raises(WriteError, match="cannot be written: there is no folder"):
        check_writable(None, Path(place))


def test_numbers_are_written_with_all_their_digits(here):
    write_csv(Path("it.csv"), ["a", "b", "c", "d"], [[0.1 + 0.2, np.float64(np.inf), float("nan"), np.True_]])
    assert (here / "it.csv").read_text() == "a,b,c,d\n0.30000000000000004,inf,,1\n"


def test_pipes_have_no_bar(capsys):
    with bar("nothing") as progress:
        progress(0.5)
    assert capsys.readouterr() == ("", "")


# Reports and errors ---------------------------------------------------------------------------------------------------


def test_json_has_null_for_what_is_no_number():
    found = {
        "a": np.array([1.0, np.nan, -np.inf]),
        "b": (np.int32(1), np.bool_(True)),
        "c": Path("x"),
        "d": np.float32(2),
    }
    assert plain(found) == {"a": [1.0, None, None], "b": [1, True], "c": "x", "d": 2.0}
    assert json.dumps(plain(found), allow_nan=False)


def test_names_are_no_markup(capsys):
    lines = [verdict(True, "CLEAR", "a[/b] :smile: is clear"), table(["name"], [["[red]link[/red]"]]), "[bold]x"]
    report({}, lines, as_json=False)
    assert capsys.readouterr().out == "CLEAR: a[/b] :smile: is clear\nname\n[red]link[/red]\n[bold]x\n"


def test_long_lines_stay_whole_in_pipes(capsys):
    report({}, ["word " * 100 + "end", table(["a", ">b"], [["x" * 200, "1"]])], as_json=False)
    assert [len(line) for line in capsys.readouterr().out.splitlines()] == [503, 203, 203]


def test_zero_has_no_sign():
    assert millimetres(-1e-9) == "0.000 mm"
    assert point(np.array([-1e-9, 0.0, -1.0])) == "0.000000, 0.000000, -1.000000"


@pytest.mark.parametrize(("count", "said"), [(0, "0 bodies"), (1, "1 body"), (2, "2 bodies")])
def test_plurals(count, said):
    assert counted(count, "body") == said


@pytest.mark.parametrize(
    ("error", "code", "message"),
    [
        (ValueError("no such thing"), 2, "error: no such thing\n"),
        (ValueError("no such thing:\n  'x'\n"), 2, "error: no such thing: 'x'\n"),
        (KeyError("there is no body 'x'"), 2, "error: there is no body 'x'\n"),
        (FileNotFoundError(2, "No such file or directory", "x.stl"), 2, "error: x.stl: No such file or directory.\n"),
        (PermissionError(13, "Permission denied", "x.stl"), 3, "error: x.stl: Permission denied.\n"),
        (WriteError("x cannot be written"), 3, "error: x cannot be written\n"),
        (ImportError("pictures need trimesh"), 3, "error: pictures need trimesh\n"),
        (MemoryError(), 3, "error: MemoryError\n"),
        (clearance.errors.NotConverged(0.1, 0.2), 3, "error: the distance is between 0.1 and 0.2"),
        (KeyboardInterrupt(), 130, "interrupted.\n"),
    ],
)
def test_errors_become_a_line_and_a_code(capsys, error, code, message):
    @command
    def failing() -> None:
        raise error

    with pytest.raises(typer.Exit) as ended:
        failing()
    assert ended.value.exit_code == code
    assert capsys.readouterr().err.startswith(message)


@pytest.mark.parametrize("is_debugging", [False, True])
def test_errors_of_the_program_do_not_pass_for_contact(is_debugging, capsys, monkeypatch):
    monkeypatch.setenv("CLEARANCE_DEBUG", "1" if is_debugging else "")

    @command
    def failing() -> None:
        raise TypeError("a bug")

    with pytest.raises(typer.Exit) as ended:
        failing()
    assert ended.value.exit_code == 3
    told = capsys.readouterr().err
    assert told.endswith("error: internal error: TypeError: a bug\n")
    assert ("Traceback" in told) == is_debugging


def test_commands_may_end_themselves():
    @command
    def ending() -> None:
        raise typer.Exit(1)

    with pytest.raises(typer.Exit) as ended:
        ending()
    assert ended.value.exit_code == 1


def test_warnings_are_lines_and_those_of_others_are_not_shown(capsys):
    @command
    def warning() -> None:
        warnings.warn("mind the gap", UserWarning, stacklevel=1)
        warnings.warn("an old name", DeprecationWarning, stacklevel=1)

    warning()
    assert capsys.readouterr().err == "warning: mind the gap\n"
