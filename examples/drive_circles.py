"""Vehicles that drive in circles, forwards and backwards, as their wheels say.

Motors turn the wheels of four dynamic models. Speeds and angles of the wheels are those of a circle on which all of
them roll; the six-wheeled Volksbot scrubs, and its circle follows from the balance of friction. It needs equal loads on
all wheels, so the ground gives way a little. Tracks are drawn over the circles that are expected.

Run it: python examples/drive_circles.py [folder]
"""

import sys
from dataclasses import dataclass
from pathlib import Path

import numpy as np
from matplotlib.axes import Axes
from matplotlib.figure import Figure
from matplotlib.patches import Circle, Polygon
from numpy.typing import NDArray

import clearance as cl
from clearance.simulation import Ackermann, Material, Soft, World, models

Floats = NDArray[np.float64]

# Speed in m/s; the turn, which is a steering angle in radians or a turn rate in rad/s.
COMMANDS = {
    "monster_truck": (0.6, 0.35),
    "stretch_limousine": (0.9, 0.4),
    "pioneer": (0.4, 0.6),
    "volksbot": (0.2, 0.3),
}
EVERY = 20  # steps of the world between two points of a track


@dataclass
class Round:
    """A track, and the circle that it should be on."""

    name: str
    speed: float
    track: Floats  # x, y and yaw, (n, 3)
    centre: Floats
    radius: float

    @property
    def deviation(self) -> float:
        """By how much the track leaves its circle at most, as a share of the radius."""
        away = np.linalg.norm(self.track[:, :2] - self.centre, axis=1)
        return float(np.abs(away / self.radius - 1.0).max())


def drive(name: str, speed: float, turn: float) -> Round:
    """Steer at rest, get going in half a second, and drive one full circle."""
    world = World(contact=Soft())
    world.add("ground", cl.HalfSpace([0.0, 0.0, 1.0], 0.0), motion="fixed", material=Material(friction=0.8))
    vehicle = models.MODELS[name]().add_to(world, name)
    wheels = vehicle.model.drive
    is_steered = isinstance(wheels, Ackermann)
    curvature = float(wheels.curvature(turn)) if isinstance(wheels, Ackermann) else turn / speed
    vehicle.command(0.0, turn if is_steered else 0.0)
    world.step(500)
    x, y, yaw = start = vehicle.state
    centre = np.array([x - np.sin(yaw) / curvature, y + np.cos(yaw) / curvature])
    track = [start]
    steps = round(2.0 * np.pi / abs(speed * curvature) / (EVERY * world.step_length))
    for k in range(25 + steps):
        share = min(1.0, (k + 1) / 25)
        vehicle.command(share * speed, turn if is_steered else share * turn)
        world.step(EVERY)
        track.append(vehicle.state)
    return Round(name, speed, np.array(track), centre, abs(1.0 / curvature))


def draw(axes: Axes, rounds: list[Round]) -> None:
    (low_x, low_y, _), (high_x, high_y, _) = models.MODELS[rounds[0].name]().bounds
    outline = np.array([[low_x, low_y], [high_x, low_y], [high_x, high_y], [low_x, high_y]])
    for one, colour in zip(rounds, ("#1f4fd8", "#d6001c"), strict=True):
        axes.add_patch(Circle(tuple(one.centre), one.radius, fill=False, color="#b5bcc2", linewidth=4.0))
        axes.plot(
            *one.track[:, :2].T, color=colour, linewidth=1.0, label="forwards" if one.speed > 0.0 else "backwards"
        )
        for x, y, yaw in one.track[:: max(1, len(one.track) // 6)][:6]:
            c, s = np.cos(yaw), np.sin(yaw)
            axes.add_patch(Polygon(outline @ [[c, s], [-s, c]] + [x, y], fill=False, edgecolor=colour, linewidth=0.6))
    told = ", ".join(f"{100.0 * one.deviation:.2f} %" for one in rounds)
    axes.set_title(f"{rounds[0].name}: off by {told}", fontsize=9)
    axes.set(aspect="equal", xlabel="x in m", ylabel="y in m")
    axes.autoscale_view()


def main(folder: str | Path = ".") -> dict[str, list[Round]]:
    """Print by how much tracks are off, leave `drive_circles.png`, and return all rounds."""
    found = {}
    for name, (speed, turn) in COMMANDS.items():
        # Backwards about the other side, so that the tracks do not cover each other.
        back = -turn if isinstance(models.MODELS[name]().drive, Ackermann) else turn
        found[name] = [drive(name, speed, turn), drive(name, -speed, back)]
        for one in found[name]:
            print(f"{name:<18} {one.speed:5.2f} m/s, radius {one.radius:.3f} m: off by {100.0 * one.deviation:.3f} %")
    figure = Figure(figsize=(9.6, 9.6), dpi=120, layout="constrained")
    for axes, rounds in zip(figure.subplots(2, 2).flat, found.values(), strict=True):
        draw(axes, rounds)
    figure.axes[0].legend(fontsize=8, frameon=False, loc="upper right")
    picture = Path(folder) / "drive_circles.png"
    picture.parent.mkdir(parents=True, exist_ok=True)
    figure.savefig(picture)
    print(f"Picture: {picture}")
    return found


if __name__ == "__main__":
    main(*sys.argv[1:2])
