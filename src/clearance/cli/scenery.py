"""Robots and what stands around them, as the words of a command line say them."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from enum import StrEnum
from pathlib import Path
from typing import Annotated, NamedTuple, TypeAlias

import numpy as np
import typer
from numpy.typing import NDArray

from .. import samples
from ..links import Joint
from ..meshio import READERS, load_mesh
from ..poses import from_rpy
from ..robots import Robot
from ..scene import Scene
from ..simulation.petersen_files import load_petersen
from ..simulation.scenario import Scenario, shipped_scenarios
from .files import read_numbers
from .outcomes import counted

__all__: list[str] = []

Floats = NDArray[np.float64]

NOTHING_TO_CHECK = "warning: there is nothing to check: no two links that may meet, and nothing around them."
PLACES = "x,y,z or x,y,z,roll,pitch,yaw, in metres and radians"
MESHES = ", ".join(f".{kind}" for kind in READERS)


class Collision(StrEnum):
    """What becomes of the meshes of a URDF."""

    mesh = "mesh"
    hull = "hull"
    swept = "swept"


PANEL = "The robot and its cell"

RobotFile: TypeAlias = Annotated[
    Path | None, typer.Argument(metavar="ROBOT", help="A URDF or xacro file; a sample unless given.")
]
Srdf: TypeAlias = Annotated[
    Path | None,
    typer.Option(metavar="FILE", help="A MoveIt file; pairs that it disables are not checked.", rich_help_panel=PANEL),
]
Packages: TypeAlias = Annotated[
    list[Path],
    typer.Option(
        "--package",
        metavar="FOLDER",
        default_factory=list,
        show_default=False,
        help="A folder of packages, for package:// addresses; may be repeated.",
        rich_help_panel=PANEL,
    ),
]
CollisionKind: TypeAlias = Annotated[
    Collision,
    typer.Option(
        "--collision",
        help="Meshes of the robot as they are (surfaces), their convex hulls, or swept hulls of a few points.",
        rich_help_panel=PANEL,
    ),
]
Cell: TypeAlias = Annotated[
    list[str],
    typer.Option(
        "--cell",
        metavar="FILE[@PLACE]",
        default_factory=list,
        show_default=False,
        help=f"What stands around: a mesh ({MESHES}) or a scenario (.toml); may be repeated. PLACE is {PLACES}.",
        rich_help_panel=PANEL,
    ),
]
Allow: TypeAlias = Annotated[
    list[str],
    typer.Option(
        "--allow",
        metavar="A,B",
        default_factory=list,
        show_default=False,
        help="Two bodies that may touch; may be repeated.",
        rich_help_panel=PANEL,
    ),
]
Scale: TypeAlias = Annotated[
    float, typer.Option(metavar="NUMBER", help="Metres per unit of the mesh files: 0.001 for millimetres.")
]
CellScale: TypeAlias = Annotated[
    float,
    typer.Option(
        "--scale",
        metavar="NUMBER",
        help="Metres per unit of the meshes of --cell: 0.001 for millimetres; not of a URDF.",
        rich_help_panel=PANEL,
    ),
]
ShownScale: TypeAlias = Annotated[
    float,
    typer.Option(
        metavar="NUMBER",
        help="Metres per unit of meshes that are shown or of --cell: 0.001 for millimetres; not of a URDF.",
    ),
]
Margin: TypeAlias = Annotated[float, typer.Option(metavar="METRES", help="Distance to keep.")]
Threads: TypeAlias = Annotated[
    int | None, typer.Option(metavar="N", min=1, help="All cores unless given; the result does not depend on it.")
]


@dataclass(frozen=True)
class RobotWords:
    """What a command line says of a robot and its surroundings."""

    file: Path | None
    srdf: Path | None
    packages: Sequence[Path]
    collision: Collision
    cell: Sequence[str]
    scale: float
    allow: Sequence[str]

    def read(self, sample: Setting, progress: object = False) -> Setting:
        """Load them; without a file it is the robot of a sample, and without a cell what surrounds that."""
        check_scale(self.scale)
        if self.file is None and (self.srdf or self.packages):
            raise ValueError("--srdf and --package belong to a robot file, but there is none.")
        if self.file is None:
            robot = sample.robot
        else:
            robot = Robot.from_urdf(self.file, self.srdf, self.packages, self.collision.value, progress=progress)
        around = sample.world if self.file is None and not self.cell else scene_of(self.cell, self.scale)
        for words in self.allow:
            robot.allow(*_pair(words, robot, around))
        return Setting(robot, around)


class Setting(NamedTuple):
    """A robot and what stands around it."""

    robot: Robot
    world: Scene

    @property
    def is_without_pairs(self) -> bool:
        return not (self.robot.pairs or self.world.names)

    @property
    def title(self) -> str:
        robot, bodies = self.robot, len(self.world.names)
        around = f"{counted(bodies, 'body')} around it" if bodies else "nothing around it"
        return f"{robot.name}: {counted(robot.dof, 'joint value')}, {counted(len(robot.links), 'link')}, {around}"


def arm_setting() -> Setting:
    """The sample arm in its cell."""
    return Setting(samples.arm(), samples.arm_cell())


# Bodies ---------------------------------------------------------------------------------------------------------------


def check_scale(scale: float) -> None:
    """Refuse what no mesh can be multiplied by, also where there is no mesh."""
    if not np.isfinite(scale) or scale == 0.0:
        raise ValueError(f"--scale must be finite and not zero, but it is {scale}.")


def scene_of(words: Sequence[str], scale: float) -> Scene:
    """Put meshes and scenarios into one scene; bodies of meshes are named after their files."""
    check_scale(scale)
    scene = Scene()
    for word in words:
        add_to(scene, word, scale)
    return scene


def add_to(scene: Scene, word: str, scale: float) -> list[str]:
    """Add what one word says to a scene, and tell the names that it got."""
    name, place = split_place(word)
    if is_scenario(name):
        if place is not None:
            raise ValueError(f"{word!r}: a scenario stands where it says itself, it cannot be placed.")
        world = read_scenario(name).build().world.scene()
        bodies = [(body, world.shape(body), world.pose(body)) for body in world.names]
    else:
        mesh = load_mesh(Path(name), scale)
        bodies = [(Path(name).stem, mesh, np.eye(4) if place is None else place)]
    names = []
    for body, shape, pose in bodies:
        names.append(_free_name(body, scene.names))
        scene.add(names[-1], shape, pose)
    return names


def is_scenario(name: str) -> bool:
    """Tell a scenario from a mesh: by the ending, or because it comes along and no file is called so."""
    return Path(name).suffix.lower() in (".toml", ".cfg") or (name in shipped_scenarios() and not Path(name).is_file())


def read_scenario(name: str) -> Scenario:
    """Read a scenario, be it of ours or of the thesis."""
    return load_petersen(name) if name.lower().endswith(".cfg") else Scenario.load(name)


def split_place(word: str) -> tuple[str, Floats | None]:
    """Split FILE@PLACE; a file whose name has an @ in it is taken as it is."""
    name, at, place = word.rpartition("@")
    if not at or Path(word).exists():
        return word, None
    return name, pose_of(place, word)


def pose_of(place: str, word: str) -> Floats:
    """Read a place: three numbers, or six."""
    try:
        numbers = [float(number) for number in place.split(",")]
    except ValueError:
        numbers = []
    if len(numbers) not in (3, 6) or not np.isfinite(numbers).all():
        raise ValueError(f"{word!r}: a place must be {PLACES}, but it is {place!r}.")
    return from_rpy(numbers[3:] or [0.0, 0.0, 0.0], translation=numbers[:3])


def _free_name(name: str, taken: Sequence[str]) -> str:
    number, free = 1, name
    while free in taken:
        number, free = number + 1, f"{name}_{number + 1}"
    return free


def _pair(words: str, robot: Robot, world: Scene) -> list[str]:
    names = [name.strip() for name in words.split(",")]
    known = [*robot.link_names, *world.names]
    for name in names:
        if name not in known:
            raise ValueError(f"--allow {words}: there is no link or body '{name}'; there are {', '.join(known)}.")
    if len(names) != 2:
        raise ValueError(f"--allow {words}: two names were expected, with a comma between them.")
    return names


# Numbers of robots ----------------------------------------------------------------------------------------------------

POSITIONS = {
    "planar": (".x", ".y", ".yaw"),
    "floating": (".x", ".y", ".z", ".qx", ".qy", ".qz", ".qw"),
    "ball": (".qx", ".qy", ".qz", ".qw"),
}
VELOCITIES = {
    "planar": (".x", ".y", ".yaw"),
    "floating": (".vx", ".vy", ".vz", ".wx", ".wy", ".wz"),
    "ball": (".wx", ".wy", ".wz"),
}


def value_names(robot: Robot) -> list[str]:
    """Name the values of a configuration: after their joints, with a part where a joint has several."""
    return [joint.name + part for joint in _moving(robot) for part in POSITIONS.get(joint.kind, ("",))]


def velocity_names(robot: Robot) -> list[str]:
    """Name the velocities likewise."""
    return [joint.name + part for joint in _moving(robot) for part in VELOCITIES.get(joint.kind, ("",))]


def _moving(robot: Robot) -> Iterator[Joint]:
    by_name = {joint.name: joint for joint in robot.joints}
    return (by_name[name] for name in robot.joint_names)


def read_configurations(path: Path, robot: Robot) -> Floats:
    """Read configurations of a robot, one per row."""
    names, table = value_names(robot), read_numbers(path)
    table.check_known(names)
    values = table.columns(names)
    table.check_finite(names)
    return values
