"""The files of MuRoSimF's vehicle simulation, read as scenarios: MonsterTruck.cfg, city and balls.

K. Petersen, Effiziente Kollisionserkennung und echtzeitfähige Simulation der Kinematik, Dynamik und Sensorik autonomer
Fahrzeuge, diploma thesis, TU Darmstadt, 2007, appendix B. Millimetres and degrees there; every attribute has a default,
and what means nothing here is told as a warning.
"""

from __future__ import annotations

import configparser
import difflib
import io
import itertools
import math
import os
import re
import warnings
from collections.abc import Iterator
from os import PathLike
from pathlib import Path
from typing import Any

from ..safe_files import read_whole
from .scenario import LARGEST_FILE, Scenario

__all__ = ["load_petersen", "read_balls", "read_city"]

STOREY = 0.1  # m
LARGEST_CONFIGURATION = 1_000_000  # bytes; a section of four takes a thousand in memory
MOST_ROBOTS = 1000  # of a kind
MOST_CELLS = 1_000_000  # of a city
MOST_TOLD = 20  # of what is left over in a section
PIXELS = (160, 120)  # of a scanner, before its factor divides them

# Kinds of robots: our model, the attribute that counts them, how many there are if it is absent.
ROBOTS = {
    "monsterTruck": ("monster_truck", "monsterTrucks", 1),
    "pioneer": ("pioneer", "pioneers", 0),
    "volksbot": ("volksbot", "volksbots", 0),
    "stretch": ("stretch_limousine", "stretch", 0),
    "hr18": ("humanoid", "humanoids", 0),
}
WITHOUT_MEANING = {
    "comport": "there is no serial port",
    "textureOn": "there are no textures",
    "camImageFile": "no camera pictures are taken",
    "headImageFile": "no camera pictures are taken",
    "bodyImageFile": "no camera pictures are taken",
    "fpsBodyCam": "a robot has one camera",
    "enableHeadCamBlur": "no camera pictures are taken",
    "enableBodyCamBlur": "no camera pictures are taken",
    "enableBodyCamDistortion": "no camera pictures are taken",
    "lsWriteBack": "scans are not shown in grey",
    "type": "there is one model of the humanoid",
    "dynamicsType": "there is one kind of dynamics",
    "rff": "friction is that of the scenario",
    "showCollisions": "contacts are not drawn",
}


def load_petersen(path: str | PathLike[str]) -> Scenario:
    """Read a configuration file of the thesis, with the city and balls files that it names.

    Parameters
    ----------
    path : path_like
        Like MonsterTruck.cfg. Files that it names stand in its folder, or below.

    Returns
    -------
    Scenario
        `to_toml` writes it as a file of our own.

    Raises
    ------
    FileNotFoundError
        If it, or a file that it names, is not there; all places are listed.
    ValueError
        If a number is none, or a file is none of the kind.

    Warns
    -----
    UserWarning
        For attributes that are unknown or mean nothing here, and for files that contradict themselves.

    Examples
    --------
    >>> from pathlib import Path
    >>> _ = Path("MonsterTruck.cfg").write_text("[monsterTruck1]\\nposX = -2000\\ndir = 290\\n")
    >>> truck = load_petersen("MonsterTruck.cfg").robots[0]
    >>> truck.position, truck.direction_deg, truck.full_collision
    ((-2.0, 0.0), 290.0, False)
    """
    path = Path(path)
    if not path.is_file():
        raise FileNotFoundError(f"there is no configuration file {path.absolute()}.")
    sections = _sections(path)
    general, field = sections.take("general"), sections.take("field")
    tables: dict[str, Any] = {
        "title": path.stem,
        "world": _world(general, sections.take("dynamics")),
        "field": _field(field),
        "view": _view(sections.take("camera"), sections.take("light")),
        "robots": [_robot(*found, general) for found in _robots(sections, general)],
    }
    if (city := field.text("city")) is not None:
        tables["city"] = read_city(_inside(path.parent, city, f"{path}: [field] city"))
    if (balls := field.text("balls")) is not None:
        tables["balls"] = read_balls(_inside(path.parent, balls, f"{path}: [field] balls"))
    sections.tell_what_is_left()
    return Scenario.from_dict(tables, str(path))


def read_city(path: str | PathLike[str]) -> dict[str, Any]:
    """Read a city file: its extent in x and y, the edge of a house, then storeys cell by cell.

    Parameters
    ----------
    path : path_like

    Returns
    -------
    dict
        The table [city] of a scenario.

    Examples
    --------
    >>> from pathlib import Path
    >>> _ = Path("city.txt").write_text("0 1000 -500 500 500\\n0 3\\n1 0\\n")
    >>> read_city("city.txt")["storeys"]
    [[0, 3], [1, 0]]
    """
    path = Path(path)
    numbers = _numbers(path)
    if len(numbers) < 5:
        raise ValueError(f"{path} has {len(numbers)} numbers, but the extent and the edge of a house are 5.")
    x_low, x_high, y_low, y_high, edge = numbers[:5]
    if not (x_low < x_high and y_low < y_high and edge > 0.0):
        raise ValueError(f"{path} begins with {numbers[:5]}, but least and greatest x and y and an edge are expected.")
    columns, rows = _cells(path, x_high - x_low, edge), _cells(path, y_high - y_low, edge)
    if columns * rows > MOST_CELLS:
        raise ValueError(f"{path} has {rows} rows of {columns} cells, but {MOST_CELLS} cells are the most.")
    storeys = numbers[5:]
    for storey in storeys:
        if storey < 0 or storey != int(storey):
            raise ValueError(f"{path}: {storey:g} is no number of storeys.")
    if len(storeys) != columns * rows:
        which = "the others are empty" if len(storeys) < columns * rows else "the others are left out"
        _warn(f"{path}: {rows} rows of {columns} cells are {columns * rows}, but it has {len(storeys)}; {which}.")
    filled = [int(storey) for storey in storeys[: columns * rows]] + [0] * (columns * rows - len(storeys))
    return {
        "corner": [x_low / 1e3, y_low / 1e3],
        "cell": edge / 1e3,
        "storey": STOREY,
        "storeys": [filled[k * columns : (k + 1) * columns] for k in range(rows)],
    }


def read_balls(path: str | PathLike[str]) -> list[dict[str, Any]]:
    """Read a balls file: how many there are, then place, radius, colour and mass of each.

    Parameters
    ----------
    path : path_like

    Returns
    -------
    list of dict
        The tables [[balls]] of a scenario.

    Examples
    --------
    >>> from pathlib import Path
    >>> _ = Path("balls.txt").write_text("1\\n-1000 -1200 1200 100 1 0 0 0.07\\n")
    >>> read_balls("balls.txt")[0]["position"]
    [-1.0, -1.2, 1.2]
    """
    path = Path(path)
    said, *numbers = _numbers(path) or [0.0]
    if said < 0 or said != int(said):
        raise ValueError(f"{path} begins with {said:g}, but the number of balls is expected.")
    listed, rest = divmod(len(numbers), 8)
    if rest:
        raise ValueError(f"{path} has {len(numbers)} numbers after the first, but every ball has 8.")
    if listed != said:
        which = f"the first {said:g} are taken" if said < listed else "all of them are taken"
        _warn(f"{path} says that it has {said:g} balls, but it lists {listed}; {which}.")
    balls = (numbers[k : k + 8] for k in range(0, 8 * min(listed, int(said)), 8))
    return [
        {"position": [x / 1e3, y / 1e3, z / 1e3], "radius": radius / 1e3, "colour": [red, green, blue], "mass": mass}
        for x, y, z, radius, red, green, blue, mass in balls
    ]


# --- sections ---------------------------------------------------------------------------------------------------------


class _Section:
    """Attributes of one section; those that are never asked for are left over."""

    def __init__(self, place: str, values: dict[str, str]) -> None:
        self.place = place
        self.left = {key.lower(): (key, value) for key, value in values.items()}
        self.asked: dict[str, str | None] = {}

    def text(self, key: str, default: str | None = None) -> str | None:
        if key not in self.asked:
            found = self.left.pop(key.lower(), (key, ""))[1].strip().strip('"').strip()
            self.asked[key] = found or None
        return self.asked[key] or default

    def number(self, key: str, default: float) -> float:
        found = self.text(key)
        try:
            value = default if found is None else float(found)
        except ValueError:
            value = math.nan
        if not math.isfinite(value):
            raise ValueError(f"{self.place} {key} must be a number, but it is {found!r}.")
        return value

    def metres(self, key: str, default: float) -> float:
        return self.number(key, default) / 1e3

    def flag(self, key: str, default: bool) -> bool:
        found = self.text(key, "1" if default else "0")
        if found not in ("0", "1"):
            raise ValueError(f"{self.place} {key} must be 0 or 1, but it is {found!r}.")
        return found == "1"


class _Sections:
    """All sections of a file."""

    def __init__(self, path: Path, found: dict[str, dict[str, str]]) -> None:
        self.path = path
        self.left = {name.lower(): (name, values) for name, values in found.items()}
        self.taken: list[_Section] = []

    def take(self, name: str) -> _Section:
        _, values = self.left.pop(name.lower(), (name, {}))
        self.taken.append(_Section(f"{self.path}: [{name}]", values))
        return self.taken[-1]

    def tell_what_is_left(self) -> None:
        for name, _ in itertools.islice(self.left.values(), MOST_TOLD):
            _warn(f"{self.path}: [{_printable(name)}] belongs to nothing that is simulated.")
        reasons = {key.lower(): reason for key, reason in WITHOUT_MEANING.items()}
        for section in self.taken:
            for folded, (key, value) in itertools.islice(section.left.items(), MOST_TOLD):
                if folded in reasons:
                    if value.strip() not in ("", "0"):
                        _warn(f"{section.place} {key} means nothing here: {reasons[folded]}.")
                    continue
                near = difflib.get_close_matches(key[:60], list(section.asked), n=1)
                _warn(f"{section.place} {_printable(key)} is unknown" + (f"; did you mean {near[0]}?" if near else "."))


def _sections(path: Path) -> _Sections:
    parser = configparser.RawConfigParser(
        delimiters=("=",), comment_prefixes=(";",), inline_comment_prefixes=(";",), default_section="", strict=False
    )
    parser.optionxform = str  # type: ignore[assignment, method-assign]
    try:
        # Spaces in a row, which mean nothing, would each be tried as the end of a name.
        parser.read_string(re.sub(r"[^\S\n]+", " ", _read(path, LARGEST_CONFIGURATION)), str(path))
    except configparser.Error as error:
        # All lines at fault, as they stand in the file, would be told otherwise.
        lines = [line for line, _ in getattr(error, "errors", [])] or [getattr(error, "lineno", None)]
        raise ValueError(
            f"{path} is no configuration file: line {lines[0]} is neither [name] nor key = value."
        ) from error
    return _Sections(path, {name: dict(parser.items(name)) for name in parser.sections()})


def _world(general: _Section, dynamics: _Section) -> dict[str, Any]:
    rate = dynamics.number("rate", 1000.0)
    if rate <= 0.0:
        raise ValueError(f"{dynamics.place} rate must be positive, but it is {rate:g}.")
    return {
        "step": 1.0 / rate,
        "gravity": [dynamics.metres(key, default) for key, default in (("gx", 0.0), ("gy", 0.0), ("gz", -9810.0))],
        "broad_phase": "hierarchy" if general.flag("hierarchy", False) else "all",
    }


def _field(field: _Section) -> dict[str, Any]:
    return {
        "size": [field.metres("length", 3000.0), field.metres("width", 6000.0)],
        "boards": field.flag("boards", False),
        "middle": field.flag("middle", False),
    }


def _view(camera: _Section, light: _Section) -> dict[str, Any]:
    def place(section: _Section, *defaults: float) -> list[float]:
        return [section.metres(f"pos{axis}", default) for axis, default in zip("XYZ", defaults, strict=True)]

    return {
        "position": place(camera, -10000.0, -4000.0, 5000.0),
        "yaw_deg": math.fmod(camera.number("yaw", 30.0), 360.0),
        "pitch_deg": camera.number("pitch", 30.0),
        "near": camera.metres("near", 10.0),
        "far": camera.metres("far", 20000.0),
        "light": place(light, 0.0, 0.0, 2000.0),
    }


def _robots(sections: _Sections, general: _Section) -> Iterator[tuple[str, _Section]]:
    for kind, (model, counted, default) in ROBOTS.items():
        wanted = general.number(counted, default)
        if wanted < 0 or wanted != int(wanted):
            raise ValueError(f"{general.place} {counted} must be a whole number, but it is {wanted:g}.")
        if wanted > MOST_ROBOTS:
            raise ValueError(f"{general.place} {counted} must be at most {MOST_ROBOTS}, but it is {wanted:g}.")
        for k in range(int(wanted)):
            yield model, sections.take(f"{kind}{k + 1}")


def _robot(model: str, section: _Section, general: _Section) -> dict[str, Any]:
    robot: dict[str, Any] = {
        "model": model,
        "position": [section.metres("posX", 0.0), section.metres("posY", 0.0)],
        "direction_deg": math.fmod(section.number("dir", 0.0), 360.0),
        "full_collision": section.flag("fullCollision", general.flag("fullCollision", False)),
    }
    if (name := section.text("name")) is not None:
        robot["name"] = name
    pictures = general.number("fpsCam", 5.0)
    if model in ("monster_truck", "pioneer"):
        robot["camera"] = {"rate": section.number("fpsCam", pictures)}
    if model == "monster_truck":
        robot["scanner"] = _scanner(section, general)
    if model == "humanoid":
        robot["camera"] = {"rate": section.number("fpsHeadCam", pictures)}
        robot["dynamics"] = section.flag("dynamicsOn", True)
    return robot


def _scanner(section: _Section, general: _Section) -> dict[str, Any]:
    by_rays = {"1": False, "2": True}.get(kind := section.text("lsType", "1") or "")
    if by_rays is None:
        raise ValueError(f"{section.place} lsType must be 1 or 2, but it is {kind!r}.")
    factor = section.number("lsResFactor", 5.0) if by_rays else 1.0
    if not 1.0 <= factor <= min(PIXELS):
        raise ValueError(f"{section.place} lsResFactor must be from 1 to {min(PIXELS)}, but it is {factor:g}.")
    beams = int(section.number("raysDraw", 5.0)) if general.flag("showLaserScans", False) else 0
    scanner: dict[str, Any] = {
        "type": "rays" if by_rays else "depth",
        "resolution": [int(pixels / factor) for pixels in PIXELS],
        "range": general.metres("lsReach", 20000.0),
        "rate": section.number("fpsLS", general.number("fpsLaser", 5.0)),
        "shown_beams": beams,
    }
    if (file := section.text("lsImageFile")) is not None:
        scanner["file"] = file
    return scanner


# --- files ------------------------------------------------------------------------------------------------------------


def _read(path: Path, most_bytes: int = LARGEST_FILE) -> str:
    text = read_whole(path, most_bytes).decode(errors="replace")
    return io.StringIO(text, newline=None).read()  # lines end in one way


def _numbers(path: Path) -> list[float]:
    found = []
    for k, word in enumerate(_read(path).split()):
        try:
            found.append(float(word))
        except ValueError:
            found.append(math.nan)
        if not math.isfinite(found[-1]):
            raise ValueError(f"{path}: entry {k + 1} must be a number, but it is {word[:20]!r}.")
    return found


def _cells(path: Path, extent: float, edge: float) -> int:
    cells = round(extent / edge)
    if abs(cells * edge - extent) > 1e-6 * extent:
        cells = int(extent / edge)
        _warn(f"{path}: {extent:g} mm are no multiple of the edge of a house, {edge:g} mm; {cells} cells are taken.")
    if cells > 10_000:
        raise ValueError(f"{path}: houses of {edge:g} mm on {extent:g} mm are {cells} cells, but 10000 are the most.")
    return cells


def _inside(folder: Path, name: str, place: str) -> Path:
    candidates = [folder / name, folder / f"{name}.txt"]
    for candidate in candidates:
        if not Path(os.path.realpath(candidate)).is_relative_to(os.path.realpath(folder)):
            raise ValueError(f"{place} is {name!r}, which leads out of the folder {folder.absolute()}.")
        if candidate.is_file():
            return candidate
    places = "".join(f"\n    {candidate.absolute()}" for candidate in candidates)
    raise FileNotFoundError(f"{place} is {name!r}, which is in none of these places:{places}")


def _printable(name: str) -> str:
    return repr(name[:60])[1:-1]


def _warn(message: str) -> None:
    warnings.warn(message, stacklevel=3)
