"""Scenarios: what stands and drives in a world, in one readable TOML file.

Metres, seconds, kilograms; angles are in degrees and their keys say so (`direction_deg`). Every key but a robot's model
and the measures of bodies may be left out. What a file cannot mean is refused with the key, its place and the nearest
key there is.
"""

from __future__ import annotations

import dataclasses
import itertools
import math
import re
import tomllib
from collections import Counter
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from importlib.resources import files
from os import PathLike
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

from .scenario_schema import (
    angle,
    choice,
    colour,
    count,
    name,
    number,
    numbers,
    read_table,
    shown,
    text,
    toml_of,
)

if TYPE_CHECKING:
    from .scenario_bodies import Built

__all__ = [
    "Ball",
    "Block",
    "Camera",
    "City",
    "Command",
    "Contact",
    "Field",
    "RecordingSettings",
    "RobotSettings",
    "Scanner",
    "Scenario",
    "Surface",
    "Terrain",
    "View",
    "WorldSettings",
    "shipped_scenarios",
]

STEERED, TURNED = ("monster_truck", "stretch_limousine"), ("pioneer", "volksbot")
MODELS = (*STEERED, *TURNED, "humanoid")
LARGEST_FILE = 16_000_000  # bytes
MOST_BEAMS = 4_000_000  # of all scanners
MOST_BODIES = 100_000  # houses, balls, boxes and robots
MOST_DOTS = 16  # in a key; none here has more than two

# Keys within keys without end: each dot costs tomllib as much as all before it.
_WORD = r"""(?:[\w-]+|"[^"\n]*"|'[^'\n]*')"""
LONG_KEY = re.compile(rf"(?:^|[\[{{,])[ \t]*(?:{_WORD}[ \t]*\.[ \t]*){{{MOST_DOTS},}}", re.MULTILINE)

Number = Annotated[float, number()]
Positive = Annotated[float, number(above=0.0)]
NotNegative = Annotated[float, number(least=0.0)]
Length = Annotated[float, number(above=0.0)]  # m
Rate = Annotated[float, number(least=0.0, most=1e5)]  # Hz
Angle = Annotated[float, angle]  # degrees
Vector = Annotated[tuple[float, ...], numbers(3)]
Place = Annotated[tuple[float, ...], numbers(2, 3)]
Size = Annotated[tuple[float, ...], numbers(3, each=number(above=0.0))]
Name = Annotated[str, name]
Text = Annotated[str, text]
Colour = Annotated[str, colour]


@dataclass(frozen=True)
class Contact:
    """How bodies push each other: [world.contact]."""

    kind: Annotated[str, choice("hard", "soft", "elastic")] = "hard"
    iterations: Annotated[int, count(1, 10_000)] | None = None
    stiffness: Positive | None = None  # N/m, of soft contacts
    damping: NotNegative | None = None  # N s/m, of soft contacts

    def __post_init__(self) -> None:
        for setting in ("stiffness", "damping"):
            if getattr(self, setting) is not None and self.kind != "soft":
                raise ValueError(f"'{setting}' means nothing for {self.kind} contacts.")


def _contact(value: Any, place: str) -> Contact:
    return read_table(Contact, {"kind": value} if isinstance(value, str) else value, place)


@dataclass(frozen=True)
class WorldSettings:
    """Time and forces: [world]."""

    step: Annotated[float, number(above=0.0, most=1.0)] = 1e-3  # s
    gravity: Vector = (0.0, 0.0, -9.81)  # m/s^2
    contact: Annotated[Contact, _contact] = Contact()
    broad_phase: Annotated[str, choice("grid", "hierarchy", "combined", "all")] = "combined"
    seed: Annotated[int, count(0, 2**31)] = 0  # of the noise of scanners


@dataclass(frozen=True)
class Surface:
    """What bodies are made of: [surface], or `surface` of one body."""

    friction: NotNegative = 0.5
    restitution: Annotated[float, number(least=0.0, most=1.0)] = 0.0
    rolling: NotNegative = 0.0  # m


@dataclass(frozen=True)
class Field:
    """The ground and the boards on it: [field]."""

    size: Annotated[tuple[float, ...], numbers(2, each=number(above=0.0))] = (3.0, 6.0)  # m, along x and y
    ground: bool = True
    boards: bool = False  # around the field
    middle: bool = False  # one more, across its middle
    board_height: Length = 0.3
    board_thickness: Length = 0.05


def _storeys(value: Any, place: str) -> tuple[Any, ...]:
    if not isinstance(value, list | tuple) or not value:
        raise ValueError(f"{place} must be a list of rows, but it is {shown(value)}.")
    rows = tuple(_row(row, f"{place}[{k}]") for k, row in enumerate(value))
    for k, row in enumerate(rows):
        if len(row) != len(rows[0]):
            raise ValueError(f"{place}[{k}] has {len(row)} cells, but {place}[0] has {len(rows[0])}.")
    return rows


def _row(value: Any, place: str) -> Any:
    if isinstance(value, str):
        if not value or not set(value) <= set(".0123456789"):
            raise ValueError(f"{place} must be made of digits, and dots for nothing, but it is {shown(value)}.")
        return value
    if not isinstance(value, list | tuple) or not value:
        raise ValueError(f"{place} must be a text of digits or a list of whole numbers, but it is {shown(value)}.")
    return tuple(count(0, 10_000)(item, f"{place}[{k}]") for k, item in enumerate(value))


@dataclass(frozen=True)
class City:
    """Houses on a grid: [city].

    Rows run along x, the first one at the least y. A number is how many storeys a house has; 0 or a dot is no house.
    """

    storeys: Annotated[tuple[Any, ...], _storeys]
    cell: Length  # m, the edge of a house
    corner: Annotated[tuple[float, ...], numbers(2)]  # m, the least x and y
    storey: Length = 0.1  # m, the height of a storey
    colour: Colour = "#b9a98f"

    def houses(self) -> Iterator[tuple[float, float, float]]:
        """Give the middle of every house and its height, row by row."""
        for j, row in enumerate(self.storeys):
            for i, storeys in enumerate(row):
                if storeys not in (".", "0", 0):
                    x, y = self.corner[0] + (i + 0.5) * self.cell, self.corner[1] + (j + 0.5) * self.cell
                    yield x, y, int(storeys) * self.storey


def _heights(value: Any, place: str) -> tuple[Any, ...]:
    if not isinstance(value, list | tuple) or len(value) < 2 or not isinstance(value[0], list | tuple):
        raise ValueError(f"{place} must be a list of at least two rows, but it is {shown(value)}.")
    row = numbers(max(len(value[0]), 2))
    return tuple(row(item, f"{place}[{k}]") for k, item in enumerate(value))


@dataclass(frozen=True)
class Terrain:
    """Ground that is not flat: [terrain]. Rows run along y, and the first one is at the least x."""

    heights: Annotated[tuple[Any, ...], _heights]  # m
    cell: Length  # m
    position: Vector = (0.0, 0.0, 0.0)  # of the middle
    colour: Colour = "#a9b8a0"


@dataclass(frozen=True)
class Ball:
    """A ball that rolls: [[balls]]."""

    position: Place  # of its centre; without a height it lies on the ground
    radius: Length
    mass: Positive | None = None  # kg
    density: Positive | None = None  # kg/m^3
    velocity: Vector = (0.0, 0.0, 0.0)  # m/s
    colour: Colour = "#d79a83"
    surface: Surface | None = None
    name: Name | None = None

    def __post_init__(self) -> None:
        _one_of(self, "mass", "density")


@dataclass(frozen=True)
class Block:
    """A box: [[boxes]]."""

    position: Place  # of its centre; without a height it stands on the ground
    size: Size
    direction_deg: Angle = 0.0  # about z
    fixed: bool = False
    mass: Positive | None = None
    density: Positive | None = None
    velocity: Vector = (0.0, 0.0, 0.0)
    colour: Colour = "#e0c28a"
    surface: Surface | None = None
    name: Name | None = None

    def __post_init__(self) -> None:
        _one_of(self, "mass", "density")
        if self.fixed and (self.mass or self.density or any(self.velocity)):
            raise ValueError("a box that is fixed has neither mass nor density nor velocity.")


def _one_of(settings: Any, first: str, second: str) -> None:
    if getattr(settings, first) is not None and getattr(settings, second) is not None:
        raise ValueError(f"'{first}' and '{second}' exclude each other.")


def _names(value: Any, place: str) -> tuple[str, ...]:
    if not isinstance(value, list | tuple):
        raise ValueError(f"{place} must be a list of names, but it is {shown(value)}.")
    return tuple(text(item, f"{place}[{k}]") for k, item in enumerate(value))


@dataclass(frozen=True)
class Scanner:
    """The laser scanner of a robot: [robots.scanner]."""

    type: Annotated[str, choice("rays", "depth")] = "rays"
    resolution: Annotated[tuple[int, ...], numbers(2, each=count(1, 10_000))] = (160, 120)  # beams in a row, rows
    fov_deg: Annotated[tuple[float, ...], numbers(2, each=number(least=0.0, most=360.0))] = (
        60.0,
        45.0,
    )  # across, and up
    range: Length = 20.0  # m
    range_min: NotNegative = 0.0
    rate: Rate = 5.0  # Hz; 0 switches it off
    position: Vector | None = None  # on the robot; where its model says, unless given
    noise: NotNegative = 0.0  # m, standard deviation
    hidden: Annotated[tuple[str, ...], _names] = ()  # bodies that it looks through
    shown_beams: Annotated[int, count(0)] = 5  # of a row, in the playback
    file: Text | None = None  # the scans go to this file, too

    def __post_init__(self) -> None:
        if self.range_min >= self.range:
            raise ValueError(f"'range_min' must be below 'range', but {self.range_min:g} is not below {self.range:g}.")
        if self.fov_deg[0] <= 0.0 or self.fov_deg[1] >= 180.0:
            raise ValueError(f"'fov_deg' must be above 0 across and below 180 upwards, but it is {list(self.fov_deg)}.")
        if self.resolution[0] * self.resolution[1] > MOST_BEAMS:
            raise ValueError(f"'resolution' is at most {MOST_BEAMS} beams, but it is {list(self.resolution)}.")
        if self.file is not None and (Path(self.file).name != self.file or self.file in (".", "..")):
            raise ValueError(f"'file' must be a name without folders, but it is {self.file!r}.")
        if self.file in ("recording", "unfinished"):
            raise ValueError(f"'file' must not be {self.file!r}, where the recording goes.")


@dataclass(frozen=True)
class Camera:
    """The camera of a robot: [robots.camera]. Its rate is kept; no pictures are taken."""

    rate: Rate = 5.0  # Hz


@dataclass(frozen=True)
class Command:
    """What a vehicle is to do from some time on: an entry of `commands`."""

    time: NotNegative = 0.0  # s
    speed: Number = 0.0  # m/s
    steering_deg: Annotated[float, number(least=-89.0, most=89.0)] = 0.0  # of vehicles that steer
    turn_rate_deg: Number = 0.0  # degrees per second, of vehicles that turn on the spot


@dataclass(frozen=True)
class RobotSettings:
    """A robot: [[robots]]."""

    model: Annotated[str, choice(*MODELS)]
    name: Name | None = None
    position: Place = (0.0, 0.0)  # a height is that of its wheels or feet
    direction_deg: Angle = 0.0  # about z; 0 looks along x
    dynamics: bool = True  # false: it goes where it is told, whatever is in its way
    full_collision: bool = True  # false: only wheels and feet touch anything
    commands: tuple[Command, ...] = ()
    colour: Colour | None = None
    scanner: Scanner | None = None
    camera: Camera | None = None

    def __post_init__(self) -> None:
        for k, (command, later) in enumerate(itertools.pairwise(self.commands)):
            if later.time <= command.time:
                raise ValueError(f"commands[{k + 1}].time must be after {command.time:g}, but it is {later.time:g}.")
        for k, command in enumerate(self.commands):
            for value, able, means in (
                (command.steering_deg, STEERED, "steering_deg"),
                (command.turn_rate_deg, TURNED, "turn_rate_deg"),
                (command.speed, (*STEERED, *TURNED), "speed"),
            ):
                if value and self.model not in able:
                    raise ValueError(f"commands[{k}].{means} means nothing for a {self.model}.")
        if self.scanner is not None and self.scanner.position is None and self.model != "monster_truck":
            raise ValueError(f"scanner needs a key 'position': a {self.model} has no place of its own for one.")


@dataclass(frozen=True)
class RecordingSettings:
    """How long it runs and what is kept: [recording]."""

    duration: Positive = 10.0  # s
    rate: Annotated[float, number(above=0.0, most=1e5)] = 50.0  # frames per second
    precision: Annotated[str, choice("float32", "float64")] = "float32"
    checkpoint_every: Positive = 10.0  # s, by the clock on the wall
    scans: bool = True


@dataclass(frozen=True)
class View:
    """Where the playback is looked at from: [view]."""

    position: Vector | None = None
    yaw_deg: Angle = 30.0  # about z; 0 looks along x
    pitch_deg: Annotated[float, number(least=-89.0, most=89.0)] = 30.0  # downwards
    near: Length | None = None
    far: Length | None = None
    light: Vector | None = None

    def __post_init__(self) -> None:
        if self.near is not None and self.far is not None and self.near >= self.far:
            raise ValueError(f"'near' must be below 'far', but {self.near:g} is not below {self.far:g}.")


@dataclass(frozen=True)
class Scenario:
    """What stands and drives in a world, and what is recorded of it.

    Examples
    --------
    >>> scenario = Scenario.from_text('''
    ... [[robots]]
    ... model = "pioneer"
    ... position = [1.0, 0.0]
    ... direction_deg = 90
    ... commands = [{ speed = 0.5 }]
    ... ''')
    >>> scenario.robots[0].direction_deg, scenario.world.step
    (90.0, 0.001)
    >>> Scenario.from_text("[wrold]")
    Traceback (most recent call last):
        ...
    ValueError: the file has an unknown key 'wrold'; did you mean 'world'?
    """

    title: Text = "a scenario"
    world: WorldSettings = WorldSettings()
    surface: Surface = Surface()
    field: Field = Field()
    terrain: Terrain | None = None
    city: City | None = None
    robots: tuple[RobotSettings, ...] = ()
    balls: tuple[Ball, ...] = ()
    boxes: tuple[Block, ...] = ()
    recording: RecordingSettings = RecordingSettings()
    view: View = View()
    source: str = dataclasses.field(default="", compare=False)  # where it was read, for messages

    def __post_init__(self) -> None:
        taken: dict[str, str] = dict.fromkeys(("ground", "terrain", "city", "boards"), "something of the world's own")
        for what in ("robots", "balls", "boxes"):
            for k, found in enumerate(self.names(what)):
                if found in taken:
                    raise ValueError(f"{what}[{k}] is named '{found}', and so is {taken[found]}.")
                taken[found] = f"{what}[{k}]"
        files = [robot.scanner.file for robot in self.robots if robot.scanner is not None and robot.scanner.file]
        for file, times in Counter(files).items():
            if times > 1:
                raise ValueError(f"more than one scanner writes to the file {file!r}.")
        beams = sum(math.prod(robot.scanner.resolution) for robot in self.robots if robot.scanner is not None)
        houses = sum(1 for _ in self.city.houses()) if self.city is not None else 0
        bodies = houses + len(self.balls) + len(self.boxes) + len(self.robots)
        for what, counted, most in (("beams", beams, MOST_BEAMS), ("bodies", bodies, MOST_BODIES)):
            if counted > most:
                raise ValueError(f"there are {counted} {what}, but {most} are the most.")

    @classmethod
    def from_text(cls, toml: str, source: str = "") -> Scenario:
        """Read a scenario.

        Parameters
        ----------
        toml : str
        source : str
            What messages call it; nothing unless given.

        Returns
        -------
        Scenario

        Raises
        ------
        ValueError
            If it is no TOML, or says what a scenario cannot mean.
        """
        try:
            if LONG_KEY.search(toml):
                raise ValueError(f"a key has more than {MOST_DOTS} dots")
            tables = tomllib.loads(toml)
        except (ValueError, RecursionError) as error:
            raise ValueError(_said(f"this is no TOML: {error}", source)) from error
        return cls.from_dict(tables, source)

    @classmethod
    def from_dict(cls, tables: Mapping[str, Any], source: str = "") -> Scenario:
        """Read a scenario from nested dictionaries, as `tomllib` gives them; otherwise as `from_text` does."""
        try:
            scenario = read_table(cls, tables, "")
        except ValueError as error:
            raise ValueError(_said(str(error), source)) from error
        object.__setattr__(scenario, "source", source)
        return scenario

    @classmethod
    def load(cls, path: str | PathLike[str]) -> Scenario:
        """Read a scenario from a file.

        Parameters
        ----------
        path : path_like
            With or without `.toml`; or the name of a scenario of this package, see `shipped_scenarios`.

        Returns
        -------
        Scenario

        Raises
        ------
        FileNotFoundError
            If it is in none of the places where it might be; they are listed.
        ValueError
            If it says what a scenario cannot mean.

        Examples
        --------
        >>> len(list(Scenario.load("city").city.houses()))
        52
        """
        found = _found(Path(path))
        if found.stat().st_size > LARGEST_FILE:
            raise ValueError(f"{found} has {found.stat().st_size} bytes, but a scenario has at most {LARGEST_FILE}.")
        try:
            return cls.from_text(found.read_text(encoding="utf-8"), str(found))
        except UnicodeDecodeError as error:
            raise ValueError(f"{found}: this is no text in UTF-8: {error}.") from error

    def to_toml(self) -> str:
        """Write the scenario as a file would hold it."""
        return toml_of(self)

    def names(self, what: str) -> list[str]:
        """Give the names of all "robots", "balls" or "boxes": their own, or made of what they are and a number."""
        things = getattr(self, what)
        counts: Counter[str] = Counter()
        found = []
        for thing in things:
            kind = thing.model if what == "robots" else {"balls": "ball", "boxes": "box"}[what]
            counts[kind] += 1
            found.append(thing.name or f"{kind}{counts[kind]}")
        return found

    def build(self, *, threads: int | None = None) -> Built:
        """Make the world.

        Parameters
        ----------
        threads : int, optional
            Of the world; all cores unless given.

        Returns
        -------
        Built
            `world`, `vehicles` and `scanners`, the latter two by the names of the robots.
        """
        from .scenario_bodies import build

        return build(self, threads)


def shipped_scenarios() -> dict[str, Path]:
    """Give the scenarios of this package: files by name.

    Returns
    -------
    dict of str to Path

    Examples
    --------
    >>> sorted(shipped_scenarios())
    ['bowling', 'city', 'indoor']
    """
    folder = Path(str(files("clearance") / "data" / "scenarios"))
    return {path.stem: path for path in sorted(folder.glob("*.toml"))}


def _found(path: Path) -> Path:
    candidates = [path, path.with_name(path.name + ".toml")] if path.name else [path]
    shipped = shipped_scenarios()
    if str(path) in shipped:
        candidates.append(shipped[str(path)])
    for candidate in candidates:
        if candidate.is_file():
            return candidate
    places = "".join(f"\n    {candidate.absolute()}" for candidate in candidates)
    raise FileNotFoundError(
        f"there is no scenario {str(path)!r} in any of these places:{places}\n"
        f"nor is it one of those that come along: {', '.join(shipped)}."
    )


def _said(message: str, source: str) -> str:
    return f"{source}: {message}" if source else message
