"""The command line: `clearance check`, `nearest`, `guard` and more. It needs the extra `clearance[cli]`."""

from __future__ import annotations

import os
import signal
import sys
from typing import TYPE_CHECKING, NoReturn, TextIO

from .. import __version__

if TYPE_CHECKING:
    import typer

__all__ = ["main", "make_app"]


def make_app() -> typer.Typer:
    """Put all commands together.

    Returns
    -------
    typer.Typer

    Raises
    ------
    ImportError
        If typer or rich is missing.

    Examples
    --------
    >>> [command.callback.__name__ for command in make_app().registered_commands]
    ['check', 'nearest', 'guard', 'scan', 'simulate', 'fit', 'view', 'bench', 'doctor']
    """
    import typer

    from .bench import bench
    from .check import check
    from .doctor import doctor
    from .fit import fit
    from .guard import guard
    from .nearest import nearest
    from .scan import scan
    from .simulate import simulate
    from .view import view

    app = typer.Typer(
        name="clearance",
        help="How far a robot is from touching anything, now and throughout its next movement.\n\n"
        "Every command runs on a sample without any arguments, and prints JSON with `--json`.",
        no_args_is_help=True,
        add_completion=False,
        rich_markup_mode="markdown",
        pretty_exceptions_enable=False,
    )
    for command in (check, nearest, guard, scan, simulate, fit, view, bench, doctor):
        app.command()(command)

    @app.callback(invoke_without_command=True)
    def options(version: bool = typer.Option(False, "--version", help="Say which version this is.")) -> None:
        if version:
            print(f"clearance {__version__}")
            raise typer.Exit

    return app


def main() -> None:
    """Run the command line."""
    # A stream that the shell has closed is None, which cannot be written to.
    sys.stdout, sys.stderr = sys.stdout or _nowhere(), sys.stderr or _nowhere()
    try:
        signal.signal(signal.SIGTERM, _interrupt)
        make_app()(prog_name="clearance")
    except ImportError as error:
        print(f"the command line needs {error.name}; get it with: pip install clearance[cli]", file=sys.stderr)
        sys.exit(3)
    except OSError as error:
        print(f"error: {error.strerror or error}.", file=sys.stderr)
        sys.exit(3)
    except KeyboardInterrupt:
        sys.exit(130)


def _nowhere() -> TextIO:
    return open(os.devnull, "w", encoding="utf-8")  # until the program ends


def _interrupt(*_: object) -> NoReturn:
    """Take being told to end as Ctrl-C, so that nothing unfinished is left behind."""
    raise KeyboardInterrupt
