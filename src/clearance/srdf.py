"""What MoveIt's SRDF files say beyond a URDF: pairs of links that need no check, named postures, spheres around links.

Links and joints stay names; whether the robot has them is for `Robot` to say. Groups, end effectors and other tags are
passed over.
"""

from __future__ import annotations

import itertools
import warnings
from collections.abc import Iterable
from dataclasses import dataclass
from os import PathLike
from pathlib import Path
from typing import NamedTuple

from . import safe_xml
from .safe_files import read_whole
from .safe_xml import Node
from .shapes import SweptPoint

__all__ = ["DisabledPair", "GroupState", "Srdf", "read"]


class DisabledPair(NamedTuple):
    """Two links that are not checked against each other, and why: "Adjacent", "Never", ... or ""."""

    link_a: str
    link_b: str
    reason: str


class GroupState(NamedTuple):
    """A named posture. `group` is "" if it names none; `values` are one number per joint, more for a floating base."""

    name: str
    group: str
    values: dict[str, tuple[float, ...]]


@dataclass(frozen=True)
class Srdf:
    """What an SRDF file says.

    Attributes
    ----------
    name : str
        Of the robot.
    disabled : list of DisabledPair
        `disable_collisions`, in the order of the file.
    enabled : list of pairs of str
        `enable_collisions`: checked although one of them is in `disabled_links`.
    disabled_links : list of str
        `disable_default_collisions`: links that are checked only against those enabled for them.
    states : list of GroupState
    spheres : dict of str to list of SweptPoint
        `link_sphere_approximation`: by link, in its frame. A radius of zero stands for nothing.

    Examples
    --------
    >>> Srdf("arm", [DisabledPair("hand", "base", "Never")], [], [], [], {}).allowed_pairs(["base", "arm", "hand"])
    [('base', 'hand')]
    """

    name: str
    disabled: list[DisabledPair]
    enabled: list[tuple[str, str]]
    disabled_links: list[str]
    states: list[GroupState]
    spheres: dict[str, list[SweptPoint]]

    def allowed_pairs(self, links: Iterable[str]) -> list[tuple[str, str]]:
        """List the pairs that need no check, as MoveIt has them: links as a whole, less enabled pairs, then pairs.

        Parameters
        ----------
        links : iterable of str
            Names of the links that there are. The file may know others, of another version of the robot: a warning.

        Returns
        -------
        list of pairs of str
            In the order of `links`.
        """
        links = list(links)
        disabled, enabled = ({frozenset(pair[:2]) for pair in pairs} for pairs in (self.disabled, self.enabled))
        if unknown := sorted(set(self.disabled_links).union(*disabled, *enabled).difference(links)):
            warnings.warn(
                f"the SRDF of '{self.name}' names links that are not there: {', '.join(unknown)}", stacklevel=4
            )
        return [
            (a, b)
            for a, b in itertools.combinations(links, 2)
            if {a, b} in disabled or ({a, b} not in enabled and not {a, b}.isdisjoint(self.disabled_links))
        ]


def read(path: str | PathLike[str]) -> Srdf:
    """Read an SRDF file.

    Parameters
    ----------
    path : path_like

    Returns
    -------
    Srdf

    Raises
    ------
    FileNotFoundError
        If there is no such file.
    ValueError
        If something in it is wrong.

    Examples
    --------
    >>> _ = Path("arm.srdf").write_text(
    ...     '<robot name="arm"><disable_collisions link1="hand" link2="base" reason="Never"/></robot>'
    ... )
    >>> read("arm.srdf").disabled
    [DisabledPair(link_a='hand', link_b='base', reason='Never')]
    """
    path = Path(path)
    robot = safe_xml.parse(read_whole(path, safe_xml.LARGEST), path.name, "robot")
    spheres: dict[str, list[SweptPoint]] = {}
    for node in robot.all("link_sphere_approximation"):
        spheres.setdefault(node.text("link"), []).extend(_sphere(sphere) for sphere in node.all("sphere"))
    return Srdf(
        robot.attributes.get("name", "").strip() or path.stem,
        [DisabledPair(*_pair(node), node.attributes.get("reason", "")) for node in robot.all("disable_collisions")],
        [_pair(node) for node in robot.all("enable_collisions")],
        [node.text("link") for node in robot.all("disable_default_collisions")],
        [_state(node) for node in robot.all("group_state")],
        spheres,
    )


def _pair(node: Node) -> tuple[str, str]:
    return node.text("link1"), node.text("link2")


def _state(node: Node) -> GroupState:
    values = {joint.text("name"): tuple(joint.numbers("value")) for joint in node.all("joint")}
    return GroupState(node.text("name"), node.attributes.get("group", ""), values)


def _sphere(node: Node) -> SweptPoint:
    try:
        return SweptPoint(node.numbers("center", 3), node.number("radius"))
    except ValueError as error:
        raise node.located(error) from error
