"""The command line: `clearance simulate`, and what else joins it. It needs the extra `clearance[cli]`."""

from __future__ import annotations

import sys
from typing import TYPE_CHECKING

from . import __version__

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
    ['simulate']
    """
    import typer

    from .cli_simulate import simulate

    app = typer.Typer(
        name="clearance",
        help="How far a robot is from touching anything, now and throughout its next movement.",
        no_args_is_help=True,
        add_completion=False,
        rich_markup_mode="markdown",
        pretty_exceptions_enable=False,
    )
    app.command()(simulate)

    @app.callback(invoke_without_command=True)
    def options(version: bool = typer.Option(False, "--version", help="Say which version this is.")) -> None:
        if version:
            print(f"clearance {__version__}")
            raise typer.Exit

    return app


def main() -> None:
    """Run the command line."""
    try:
        app = make_app()
    except ImportError as error:
        print(f"the command line needs {error.name}; get it with: pip install clearance[cli]", file=sys.stderr)
        sys.exit(1)
    app()


if __name__ == "__main__":
    main()
