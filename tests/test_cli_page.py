"""The page about the command line shows what the commands print."""

import re
import shlex
from pathlib import Path

import pytest

pytest.importorskip("typer", reason="the command line needs the extra 'cli'")
from typer.testing import CliRunner

from clearance.cli import make_app

PAGE = (Path(__file__).parent.parent / "docs" / "command_line.md").read_text(encoding="utf-8")
FILES = re.findall(r"^`([\w.]+)`:\n\n```\w+\n(.*?)^```$", PAGE, re.MULTILINE | re.DOTALL)
BLOCKS = re.findall(r"^```console\n\$ clearance ([^\n]*)\n(.*?)^```$", PAGE, re.MULTILINE | re.DOTALL)
CODE = "; echo $?"


@pytest.fixture
def here(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    for name, text in FILES:
        (tmp_path / name).write_text(text)
    return tmp_path


def printed_by(line):
    """Run a command as a shell would, and give all that it prints."""
    done = CliRunner().invoke(make_app(), shlex.split(line.removesuffix(CODE)))
    assert line.endswith(CODE) or done.exit_code == 0, done.output
    return done.output + (f"{done.exit_code}\n" if line.endswith(CODE) else "")


def without_times(text):
    """Times that were measured differ from run to run."""
    return re.sub(r"(?m)^(.*\btook\b).*$", r"\1", text)


@pytest.mark.parametrize(("line", "shown"), BLOCKS, ids=[line for line, _ in BLOCKS])
def test_commands_print_what_the_page_shows(here, line, shown):
    if "fit" in line:
        pytest.importorskip("scipy", reason="hulls are fitted with the extra 'fit'")
    assert without_times(printed_by(line)) == without_times(shown)


def test_page_has_a_chapter_for_every_command():
    names = [command.callback.__name__ for command in make_app().registered_commands]
    assert re.findall(r"^## (\w+)$", PAGE, re.MULTILINE)[1:] == names
    assert all(f"$ clearance {name}" in PAGE for name in names)
