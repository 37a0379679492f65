"""What a scenario puts into a world: ground, boards, houses, balls, boxes and robots with their scanners."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from ..poses import from_axis_angle, from_translation, inverse
from ..queries import distance
from ..scan_noise import Noise
from ..scanner import LaserScanner, Scan
from ..shapes import Box, HalfSpace, HeightField, Sphere
from . import models
from .ackermann import Ackermann
from .descriptions import Model
from .differential_drive import DifferentialDrive
from .driving import AckermannHandle, DifferentialHandle, Handle
from .guided import Guided
from .materials import Elastic, Hard, Material, Soft
from .scenario import Block, Command, Contact, RobotSettings, Scanner, Scenario, Surface
from .world import World

__all__ = ["Built", "MountedScanner", "build", "colours_of", "give_command"]

Floats = NDArray[np.float64]

UP = np.array([0.0, 0.0, 1.0])
GROUND, BOARD = "#8a949e", "#9c7a54"
DENSITY = 1000.0  # kg/m^3, of balls and boxes that say nothing else
ON_GROUND = 1e-3  # m: what is not higher stands on it


@dataclass(frozen=True)
class MountedScanner:
    """A laser scanner on a body of a vehicle, which it does not see.

    Attributes
    ----------
    scanner : LaserScanner
    vehicle : Handle
    body : str
        That carries it.
    """

    scanner: LaserScanner
    vehicle: Handle
    body: str

    @property
    def pose(self) -> Floats:
        """Where the sensor is: `world_from_sensor`."""
        return np.asarray(self.vehicle.world.pose(self.body) @ self.scanner.mount)

    def scan(self, seed: Sequence[int] | int = 0) -> Scan:
        """Scan the world as it is; the seed is that of the noise."""
        world, rng = self.vehicle.world, np.random.default_rng(seed)
        return self.scanner.scan(world, world.pose(self.body), ignore=self.vehicle.name, time=world.time, rng=rng)


class Built(NamedTuple):
    """A world with what drives in it; vehicles and scanners by the names of their robots."""

    world: World
    vehicles: dict[str, Handle]
    scanners: dict[str, MountedScanner]


def build(scenario: Scenario, threads: int | None = None) -> Built:
    """Make the world of a scenario.

    Parameters
    ----------
    scenario : Scenario
    threads : int, optional
        Of the world; all cores unless given.

    Returns
    -------
    Built

    Examples
    --------
    >>> from clearance.simulation.scenario import Scenario
    >>> balls = '[[balls]]\\nposition = [0.0, 0.0, 2.0]\\nradius = 0.1'
    >>> build(Scenario.from_text(balls)).world.names
    ['ground', 'ball1']
    """
    settings = scenario.world
    world = World(
        settings.gravity,
        settings.step,
        _contact(settings.contact),
        broad_phase=settings.broad_phase,
        threads=threads,
    )
    _add_ground(world, scenario)
    _add_houses(world, scenario)
    _add_balls(world, scenario)
    for name, box in zip(scenario.names("boxes"), scenario.boxes, strict=True):
        _add_box(world, name, box, scenario.surface)
    vehicles, scanners = {}, {}
    for name, robot in zip(scenario.names("robots"), scenario.robots, strict=True):
        vehicles[name] = _add_robot(world, name, robot)
        if robot.scanner is not None and robot.scanner.rate > 0.0:
            scanners[name] = _mounted(vehicles[name], robot.scanner)
    for name, robot in zip(vehicles, scenario.robots, strict=True):
        if not robot.full_collision:
            _let_through(world, vehicles[name])
    return Built(world, vehicles, scanners)


def give_command(vehicle: Handle, command: Command) -> None:
    """Tell a vehicle what to do.

    Parameters
    ----------
    vehicle : Handle
    command : Command

    Examples
    --------
    >>> from clearance.simulation.scenario import Scenario
    >>> built = build(Scenario.from_text('[[robots]]\\nmodel = "pioneer"\\nname = "p"'))
    >>> give_command(built.vehicles["p"], Command(speed=0.5))
    """
    if isinstance(vehicle, AckermannHandle):
        vehicle.command(command.speed, float(np.radians(command.steering_deg)))
    elif isinstance(vehicle, DifferentialHandle):
        vehicle.command(command.speed, float(np.radians(command.turn_rate_deg)))


def colours_of(scenario: Scenario) -> dict[str, str]:
    """Give the colours of what a scenario names: of bodies, or of all bodies "name/...".

    Parameters
    ----------
    scenario : Scenario

    Returns
    -------
    dict of str to str

    Examples
    --------
    >>> from clearance.simulation.scenario import Scenario
    >>> colours_of(Scenario.from_text("[field]\\nboards = true"))
    {'ground': '#8a949e', 'boards': '#9c7a54'}
    """
    found = {"ground": GROUND, "boards": BOARD}
    if scenario.city is not None:
        found["city"] = scenario.city.colour
    if scenario.terrain is not None:
        found["terrain"] = scenario.terrain.colour
    for what in ("balls", "boxes"):
        things = zip(scenario.names(what), getattr(scenario, what), strict=True)
        found |= {name: thing.colour for name, thing in things}
    for name, robot in zip(scenario.names("robots"), scenario.robots, strict=True):
        bodies = models.MODELS[robot.model]().bodies
        found |= {name: robot.colour} if robot.colour else {f"{name}/{body.name}": body.colour for body in bodies}
    return found


def _contact(contact: Contact) -> Hard | Soft | Elastic:
    kinds: Mapping[str, Any] = {"hard": Hard, "soft": Soft, "elastic": Elastic}
    given = {name: getattr(contact, name) for name in ("iterations", "stiffness", "damping")}
    made: Hard | Soft | Elastic = kinds[contact.kind](**{k: v for k, v in given.items() if v is not None})
    return made


def _material(surface: Surface) -> Material:
    return Material(friction=surface.friction, restitution=surface.restitution, rolling=surface.rolling)


def _add_ground(world: World, scenario: Scenario) -> None:
    material = _material(scenario.surface)
    if scenario.terrain is not None:
        terrain = HeightField(np.array(scenario.terrain.heights), scenario.terrain.cell)
        world.add("terrain", terrain, from_translation(scenario.terrain.position), motion="fixed", material=material)
    elif scenario.field.ground:
        world.add("ground", HalfSpace(UP, 0.0), motion="fixed", material=material)
    for name, size, position in _boards(scenario):
        world.add(f"boards/{name}", Box(size), from_translation(position), motion="fixed", material=material)


def _boards(scenario: Scenario) -> Iterator[tuple[str, Floats, Floats]]:
    field = scenario.field
    (x, y), height, thickness = field.size, field.board_height, field.board_thickness
    across, along = np.array([thickness, y, height]), np.array([x + 2.0 * thickness, thickness, height])
    if field.boards:
        for name, size, place in (
            ("front", across, (0.5 * (x + thickness), 0.0)),
            ("back", across, (-0.5 * (x + thickness), 0.0)),
            ("left", along, (0.0, 0.5 * (y + thickness))),
            ("right", along, (0.0, -0.5 * (y + thickness))),
        ):
            yield name, size, np.array([*place, 0.5 * height])
    if field.middle:
        yield "middle", across, np.array([0.0, 0.0, 0.5 * height])


def _add_houses(world: World, scenario: Scenario) -> None:
    if scenario.city is None:
        return
    cell, material = scenario.city.cell, _material(scenario.surface)
    for k, (x, y, height) in enumerate(scenario.city.houses()):
        pose = from_translation([x, y, 0.5 * height])
        house = Box([cell, cell, height])
        world.add(f"city/house{k + 1}", house, pose, motion="fixed", material=material, group="city")


def _add_balls(world: World, scenario: Scenario) -> None:
    for name, ball in zip(scenario.names("balls"), scenario.balls, strict=True):
        place = [*ball.position, ball.radius][:3]
        material, density = _material(ball.surface or scenario.surface), ball.density or DENSITY
        world.add(
            name,
            Sphere(ball.radius),
            place,
            mass=ball.mass,
            density=density,
            velocity=ball.velocity,
            material=material,
        )


def _add_box(world: World, name: str, box: Block, surface: Surface) -> None:
    pose = from_axis_angle(UP, np.radians(box.direction_deg), [*box.position, 0.5 * box.size[2]][:3])
    world.add(
        name,
        Box(box.size),
        pose,
        mass=box.mass,
        density=box.density or DENSITY,
        motion="fixed" if box.fixed else "dynamic",
        velocity=box.velocity,
        material=_material(box.surface or surface),
    )


def _add_robot(world: World, name: str, robot: RobotSettings) -> Handle:
    model = models.MODELS[robot.model]()
    for k, command in enumerate(robot.commands):
        try:
            _check_command(model, command)
        except ValueError as error:
            raise ValueError(f"robot '{name}', commands[{k}]: {error}") from error
    pose = from_axis_angle(UP, np.radians(robot.direction_deg), [*robot.position, 0.0][:3])
    return model.add_to(world, name, pose) if robot.dynamics else Guided(model, world, name, pose, robot.commands)


def _check_command(model: Model, command: Command) -> None:
    """Ask for wheels that roll that fast, which is refused beyond the limits of a vehicle."""
    if isinstance(model.drive, Ackermann):
        model.drive.wheel_speeds(command.speed, np.radians(command.steering_deg))
    elif isinstance(model.drive, DifferentialDrive):
        model.drive.wheel_speeds(command.speed, np.radians(command.turn_rate_deg))


def _let_through(world: World, vehicle: Handle) -> None:
    """Let all parts of a vehicle that do not stand on the ground pass through everything else."""
    floor = HalfSpace(UP, 0.0)
    for body in vehicle.model.bodies:
        if distance(body.shape.at(body.pose), floor).distance > ON_GROUND:
            for other in world.names:
                if other not in vehicle.names:
                    world.ignore(f"{vehicle.name}/{body.name}", other)


def _mounted(vehicle: Handle, settings: Scanner) -> MountedScanner:
    (beams, rows), (across, upwards) = settings.resolution, np.radians(settings.fov_deg)
    if settings.position is None:
        mount = vehicle.model.mount("scanner")
        body, pose = mount.body, mount.pose
    else:
        first = vehicle.model.bodies[0]
        body, pose = first.name, inverse(first.pose) @ from_translation(settings.position)
    scanner = LaserScanner(
        beams,
        across,
        rows=rows,
        vertical_fov=upwards,
        range_min=settings.range_min,
        range_max=settings.range,
        mount=pose,
        rate=settings.rate,
        noise=Noise(std=settings.noise) if settings.noise else None,
        hidden=settings.hidden,
        method=settings.type,
        frame_id=f"{vehicle.name}/laser",
    )
    return MountedScanner(scanner, vehicle, f"{vehicle.name}/{body}")
