"""XML from strangers: a tree of names and attributes, and errors that say where in the file something is wrong.

Document types, and with them entities, are refused. Text between tags is left out, prefixes of namespaces are part of
a name: robot descriptions keep what they say in attributes, and use prefixes that nobody declared.
"""

from __future__ import annotations

import math
import re
from collections.abc import Iterator
from xml.parsers import expat

__all__ = ["Node", "parse"]

LARGEST = 1 << 26  # bytes of a file
DEEPEST = 64  # levels of nesting; robot descriptions have ten
MOST_TAGS = 250_000  # robot descriptions have thousands; a tag of four bytes takes hundreds in memory
NUMBER = re.compile(r"[+-]?(\d+(\.\d*)?|\.\d+)([eE][+-]?\d+)?", re.ASCII)  # one way to match: no time to be lost
INFINITY = re.compile(r"[+-]?inf(inity)?", re.ASCII | re.IGNORECASE)


class Node:
    """A tag with its attributes and what stands inside of it.

    Attributes
    ----------
    tag : str
        Its name, with the prefix if there is one.
    attributes : dict of str to str
    children : list of Node
        In the order of the file.
    file : str
        The name of the file, for errors.
    line : int
        Where it begins, counted from one.

    Examples
    --------
    >>> box = parse(b'<link name="hand"><box size="1 2 x"/></link>', "arm.urdf").children[0]
    >>> box.numbers("size", 3)
    Traceback (most recent call last):
    ValueError: arm.urdf, line 1: <box> of link 'hand' has size='1 2 x', but 3 numbers were expected.
    """

    def __init__(self, tag: str, attributes: dict[str, str], file: str, line: int, parent: Node | None = None) -> None:
        self.tag, self.attributes, self.file, self.line = tag, attributes, file, line
        self.children: list[Node] = []
        name = attributes.get("name")
        # Whom errors speak of: the nearest tag outwards that has a name.
        self._owner: str = f"{tag} {_quoted(name)}" if name else parent._owner if parent else ""
        self._is_named = bool(name)

    def __str__(self) -> str:
        if self._is_named or not self._owner:
            return self._owner or f"<{self.tag}>"
        return f"<{self.tag}> of {self._owner}"

    def error(self, message: str) -> ValueError:
        """Make an error that begins with the place of this node: `raise node.error("has no <parent>.")`."""
        return ValueError(f"{self.file}, line {self.line}: {self} {message}")

    def located(self, error: ValueError) -> ValueError:
        """Say where an error comes from, unless it does so itself."""
        return error if str(error).startswith(f"{self.file}, line ") else self.error(f"is wrong: {error}")

    def all(self, tag: str) -> Iterator[Node]:
        """Walk through the children of that name."""
        return (child for child in self.children if child.tag == tag)

    def only(self, tag: str) -> Node | None:
        """Give the child of that name, or None; two of them are an error."""
        found = list(self.all(tag))
        if len(found) > 1:
            raise self.error(f"has {len(found)} <{tag}>, but at most one was expected.")
        return found[0] if found else None

    def child(self, tag: str) -> Node:
        """Give the child of that name; none and two of them are errors."""
        found = self.only(tag)
        if found is None:
            raise self.error(f"has no <{tag}>.")
        return found

    def text(self, attribute: str) -> str:
        """Give an attribute that must be there and not empty."""
        if not (found := self.attributes.get(attribute, "").strip()):
            raise self.error(f"has no {attribute}.")
        return found

    def numbers(
        self, attribute: str, count: int | None = None, default: tuple[float, ...] | None = None
    ) -> list[float]:
        """Read finite numbers.

        Parameters
        ----------
        attribute : str
        count : int, optional
            How many; one or more unless given.
        default : tuple of float, optional
            What a missing attribute stands for; it is an error unless given.

        Returns
        -------
        list of float
        """
        if default is not None and attribute not in self.attributes:
            return list(default)
        words = self.text(attribute).split()
        expected = "numbers were" if count is None else "a number was" if count == 1 else f"{count} numbers were"
        if (count is not None and len(words) != count) or not all(map(NUMBER.fullmatch, words)):
            raise self._unexpected(attribute, f"{expected} expected")
        numbers = [float(word) for word in words]
        if not all(map(math.isfinite, numbers)):
            raise self._unexpected(attribute, "that is too large for a number")
        return numbers

    def number(self, attribute: str, default: float | None = None, *, may_be_infinite: bool = False) -> float:
        """Read a number.

        Parameters
        ----------
        attribute : str
        default : float, optional
            What a missing attribute stands for; it is an error unless given.
        may_be_infinite : bool
            Whether "inf" is a number.

        Returns
        -------
        float
        """
        if may_be_infinite and INFINITY.fullmatch(self.attributes.get(attribute, "").strip()):
            return float(self.attributes[attribute])
        return self.numbers(attribute, 1, None if default is None else (default,))[0]

    def _unexpected(self, attribute: str, expectation: str) -> ValueError:
        return self.error(f"has {attribute}={_quoted(self.attributes[attribute])}, but {expectation}.")


def parse(data: bytes, file: str, root: str | None = None) -> Node:
    """Read a whole XML document.

    Parameters
    ----------
    data : bytes
    file : str
        Its name, for errors.
    root : str, optional
        What the outermost tag must be.

    Returns
    -------
    Node
        The outermost one.

    Raises
    ------
    ValueError
        If it is not well-formed, has a document type, or is nested or goes on without end.

    Examples
    --------
    >>> parse(b"<robot name='arm'/>", "arm.urdf", "robot").attributes
    {'name': 'arm'}
    """
    parser = expat.ParserCreate()
    open_nodes: list[Node] = []
    roots: list[Node] = []
    left = MOST_TAGS

    def start(tag: str, attributes: dict[str, str]) -> None:
        nonlocal left
        left -= 1
        if left < 0:
            raise ValueError(f"{file}, line {parser.CurrentLineNumber}: it has more than {MOST_TAGS} tags.")
        parent = open_nodes[-1] if open_nodes else None
        node = Node(tag, attributes, file, parser.CurrentLineNumber, parent)
        if len(open_nodes) == DEEPEST:
            raise ValueError(f"{file}, line {node.line}: tags are nested deeper than {DEEPEST} levels.")
        (parent.children if parent else roots).append(node)
        open_nodes.append(node)

    def end(_: str) -> None:
        open_nodes.pop()

    def doctype(*_: object) -> None:
        # Before the first entity: what is never declared can neither grow nor open files.
        line = parser.CurrentLineNumber
        raise ValueError(f"{file}, line {line}: it has a document type (<!DOCTYPE ...>), which is not read; remove it.")

    parser.StartElementHandler, parser.EndElementHandler, parser.StartDoctypeDeclHandler = start, end, doctype
    try:
        parser.Parse(data, True)
    except expat.ExpatError as error:
        what = expat.ErrorString(error.code)
        raise ValueError(f"{file}, line {error.lineno}, column {error.offset}: it is not XML: {what}.") from error
    except LookupError as error:
        raise ValueError(f"{file}: its encoding is not known: {error}.") from error
    except ValueError as error:
        # Those of the handlers tell the file; those of a decoder do not.
        raise error if str(error).startswith(file) else ValueError(f"{file}: it cannot be decoded: {error}.") from error
    if root is not None and roots[0].tag != root:
        raise ValueError(f"{file}: its outermost tag is <{roots[0].tag:.60}>, but <{root}> was expected.")
    return roots[0]


def _quoted(text: str) -> str:
    return repr(text if len(text) <= 60 else text[:57] + "...")
