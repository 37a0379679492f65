"""Tables beside what is seen: closest pairs with their brackets, contacts."""

from __future__ import annotations

import html
from collections.abc import Sequence
from typing import Any

from ..picture_parts import Manifold, Witness

__all__: list[str] = []

TABLE = (
    '<table style="width:100%;border-collapse:collapse;font-size:12px;line-height:1.35;'
    'font-variant-numeric:tabular-nums">{rows}</table>'
)
CELL = '<td style="padding:3px 6px;vertical-align:top;{more}">{text}</td>'
DOT = '<i style="display:inline-block;width:9px;height:9px;border-radius:50%;background:{colour};margin-right:5px"></i>'
NOTE = '<p style="font-size:12px;margin:0 6px 4px;opacity:0.75">{text}</p>'


class Table:
    """A table under a title, which are there while it has something to tell.

    Parameters
    ----------
    gui : viser.GuiApi
    title : str
    """

    def __init__(self, gui: Any, title: str) -> None:
        with gui.add_folder(title, visible=False) as self._folder:
            self._text = gui.add_html("")

    def show(self, text: str) -> None:
        """Show another text, or nothing."""
        self._text.content, self._folder.visible = text, bool(text)


def gap_table(witnesses: Sequence[Witness]) -> str:
    """Write closest pairs as a table: names, distance, and what is proved of it."""
    rows = [
        _row(
            DOT.format(colour=witness.colour) + html.escape(" – ".join(filter(None, (witness.name_a, witness.name_b)))),
            f"<b>{1e3 * witness.distance:z.3f}</b>",
            f"{1e3 * witness.lower:z.3f}",
            f"{1e3 * witness.upper:z.3f}",
        )
        for witness in witnesses
    ]
    return TABLE.format(rows="".join([_row("in mm", "distance", "lower", "upper", faint=True), *rows]))


def contact_table(manifolds: Sequence[Manifold]) -> str:
    """Write contacts as a table: where, how many points, how deep."""
    rows = [
        _row(
            DOT.format(colour=manifold.colour) + html.escape(manifold.name),
            str(len(manifold.found)),
            f"<b>{1e3 * manifold.deepest:z.3f}</b>",
        )
        for manifold in manifolds
    ]
    return TABLE.format(rows="".join([_row("", "points", "depth in mm", faint=True), *rows]))


def note(text: str) -> str:
    """Write a line of words."""
    return NOTE.format(text=html.escape(text))


def _row(first: str, *others: str, faint: bool = False) -> str:
    look = "opacity:0.6;" if faint else ""
    cells = [CELL.format(text=first, more=look + "overflow-wrap:anywhere")]
    cells += [CELL.format(text=text, more=look + "text-align:right;white-space:nowrap") for text in others]
    return f'<tr style="border-bottom:1px solid #8884">{"".join(cells)}</tr>'
