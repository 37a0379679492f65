"""How a command ends: exit codes, errors in one line, and what was found as text or as JSON."""

from __future__ import annotations

import functools
import json
import os
import sys
import traceback
import warnings
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from math import isfinite
from pathlib import Path
from typing import Annotated, Any, NoReturn, TypeAlias, TypeVar

import numpy as np
import typer
from numpy.typing import NDArray
from rich.console import Console
from rich.table import Table
from rich.text import Text

from ..safe_files import NoFileError
from .files import WriteError

__all__: list[str] = []

DONE, CONTACT, BAD_INPUT, FAILED, INTERRUPTED = 0, 1, 2, 3, 130
BROKEN_RULES = (ValueError, KeyError, FileNotFoundError, IsADirectoryError, FileExistsError, NoFileError)

Command = TypeVar("Command", bound=Callable[..., None])

OUTPUT = "What is written"  # a panel of the help

AsJson: TypeAlias = Annotated[
    bool, typer.Option("--json", help="Print what was found as one line of JSON.", rich_help_panel=OUTPUT)
]


def written(text: str) -> Any:
    """Make the option for a file that is written."""
    return typer.Option(metavar="FILE", help=text, rich_help_panel=OUTPUT)


def command(function: Command) -> Command:
    """Let a function end as commands do: errors become a line and an exit code, and warnings lines as well."""

    @functools.wraps(function)
    def run(*words: Any, **options: Any) -> None:
        try:
            with _told_warnings():
                function(*words, **options)
        except (typer.Exit, typer.Abort):
            raise
        except KeyboardInterrupt:
            fail("interrupted.", INTERRUPTED)
        except WriteError as error:
            fail(str(error), FAILED)
        except BROKEN_RULES as error:
            fail(_message_of(error), BAD_INPUT)
        except (OSError, ImportError, ArithmeticError, MemoryError) as error:
            fail(_message_of(error), FAILED)
        except Exception as error:  # Python would end with 1, which says that something touches
            if os.environ.get("CLEARANCE_DEBUG"):
                traceback.print_exc()
            fail(f"internal error: {type(error).__name__}: {_message_of(error)}", FAILED)

    return run  # type: ignore[return-value]


def say(message: str) -> None:
    """Tell the user something that is no result."""
    print(message, file=sys.stderr, flush=True)


def fail(message: str, code: int) -> NoReturn:
    """End with a message and a code."""
    say(message if code == INTERRUPTED else f"error: {message}")
    raise typer.Exit(code)


def end(is_clear: bool) -> NoReturn:
    """End well, or with the code that says that something touches."""
    raise typer.Exit(DONE if is_clear else CONTACT)


@contextmanager
def _told_warnings() -> Iterator[None]:
    """Warnings of the library, each as a line; those of others about their own future are none of the user's."""
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        for kind in (UserWarning, RuntimeWarning):
            warnings.simplefilter("always", kind)
        warnings.showwarning = lambda message, *_: say(f"warning: {message}")
        yield


def _message_of(error: BaseException) -> str:
    if isinstance(error, OSError) and error.strerror and error.filename is not None:
        return f"{error.filename}: {error.strerror}."
    message = str(error.args[0] if isinstance(error, KeyError) and error.args else error)
    return " ".join(message.split()) or type(error).__name__


# What was found -------------------------------------------------------------------------------------------------------


def report(found: Mapping[str, Any], lines: Iterable[str | Text | Table], as_json: bool) -> None:
    """Print what was found: as JSON if that is asked for, else as lines and tables."""
    if as_json:
        _put(json.dumps(plain(found), allow_nan=False) + "\n")
    else:
        _put("".join(_rendered(line) for line in lines))


def plain(value: Any) -> Any:
    """Turn what was found into what JSON has; numbers that are not finite become null."""
    if isinstance(value, Mapping):
        return {str(name): plain(item) for name, item in value.items()}
    if isinstance(value, np.ndarray):
        return plain(value.tolist())
    if isinstance(value, list | tuple):
        return [plain(item) for item in value]
    if isinstance(value, np.generic):
        return plain(value.item())
    if isinstance(value, float):
        return value if isfinite(value) else None
    return str(value) if isinstance(value, Path) else value


def verdict(is_good: bool, word: str, rest: str) -> Text:
    """Make the line that says how it ended."""
    return Text.assemble((word, "bold green" if is_good else "bold red"), f": {rest}")


def table(heads: Sequence[str], rows: Iterable[Sequence[str]]) -> Table:
    """Lay out a table; columns whose head begins with > are flush right."""
    laid_out = Table(box=None, pad_edge=False, padding=(0, 2, 0, 0), header_style="bold")
    for head in heads:
        laid_out.add_column(head.removeprefix(">"), justify="right" if head.startswith(">") else "left")
    for row in rows:
        laid_out.add_row(*(Text(cell) for cell in row))
    return laid_out


def files_line(*paths: Path | None) -> Iterator[str]:
    """Tell which files were written, if any were."""
    there = [str(path) for path in paths if path is not None]
    if there:
        yield f"Written: {', '.join(there)}"


def counted(count: int, what: str) -> str:
    """Say how many there are of something."""
    if count == 1:
        return f"1 {what}"
    return f"{count} {what[:-1]}ies" if what.endswith("y") else f"{count} {what}{'es' if what.endswith('h') else 's'}"


def millimetres(length: float) -> str:
    return f"{1e3 * length:z.3f} mm"


def point(xyz: NDArray[np.float64]) -> str:
    return ", ".join(f"{value:z.6f}" for value in xyz.tolist())


def _rendered(thing: str | Text | Table) -> str:
    is_terminal = sys.stdout.isatty()
    console = Console(markup=False, highlight=False, emoji=False, width=None if is_terminal else 1000)
    with console.capture() as capture:
        console.print(thing, soft_wrap=not isinstance(thing, Table))
    return "".join(f"{line.rstrip()}\n" for line in capture.get().splitlines())


def _put(text: str) -> None:
    """Print, and do not mind if whoever reads it has seen enough."""
    try:
        print(text, end="", flush=True)
    except BrokenPipeError:
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
