"""A humanoid moves its hands towards each other until the guard says stop, and brakes in time.

In every cycle of its control loop the guard takes where all joints can get to if they brake in the next one, and proves
that nothing touches until then. The experiment is that of Täubig, Bäuml and Frese, Real-time Swept Volume and Distance
Computation for Self Collision Detection, 2011, figures 8 and 9, with a stand-in for their robot.

Run it: python examples/guarded_humanoid.py [folder]            leaves a page to turn around and a picture with a plot
        python examples/guarded_humanoid.py --live              shows it in the browser (pip install viser)
"""

import sys
from pathlib import Path
from time import sleep
from typing import Any, NamedTuple

import numpy as np
from matplotlib.axes import Axes
from matplotlib.colors import to_rgb
from matplotlib.figure import Figure
from matplotlib.image import imread
from numpy.typing import NDArray

import clearance as cl
from clearance import pictures, samples
from clearance.sample_upper_body import Approach

Floats = NDArray[np.float64]

STEP = 0.01  # seconds: a cycle, and the latency, for braking begins in the next one
ACCELERATION = 20.0  # rad/s^2, of all joints, either way
SPEED = 1.1  # m/s, at which the hands would meet
HANDS = ("lArm6", "rArm6")
RED, GREY, BLUE, GREEN, AMBER = "#d6001c", "#8a949e", "#1f4fd8", "#00796b", "#f0a020"
VIEW_FROM = (1.0, 0.1, 0.3)


class Cycle(NamedTuple):
    """One cycle of the control loop."""

    q: Floats
    qd: Floats
    verdict: cl.Verdict
    hands: float  # bound for the distance of their swept volumes


class Run(NamedTuple):
    """A whole experiment, with the numbers of the cycles in which it goes off, has to stop, and stands."""

    cycles: list[Cycle]
    go: int
    stop: int
    stand: int


def drive(q: Floats, qd: Floats, wanted: Floats) -> tuple[Floats, Floats]:
    """Move for one cycle: joints take on the wanted velocities as fast as they can."""
    push = ACCELERATION * np.sign(wanted - qd)
    while_pushed = np.minimum(np.abs(wanted - qd) / ACCELERATION, STEP)
    then = qd + push * while_pushed
    return q + 0.5 * (qd + then) * while_pushed + then * (STEP - while_pushed), then


def run(robot: cl.Robot, guard: cl.Guard, motion: Approach, rest: int = 12) -> Run:
    """Set off as soon as the guard allows it, brake as soon as it does not, and stand for some cycles."""
    q, qd, wanted = motion.start, np.zeros(robot.nv), np.zeros(robot.nv)
    cycles: list[Cycle] = []
    go = stop = stand = -1
    while stand < 0 or len(cycles) < stand + rest:
        verdict = guard.update(q, qd, time=STEP * len(cycles))
        now = len(cycles)
        cycles.append(Cycle(q, qd, verdict, guard.bounds[HANDS]))
        if go < 0 and not verdict.stop:
            go, wanted = now, motion.velocity
        elif go >= 0 > stop and verdict.stop:
            stop, wanted = now, np.zeros(robot.nv)
        elif stop >= 0 > stand and not qd.any():
            stand = now
        q, qd = drive(q, qd, wanted)
    return Run(cycles, go, stop, stand)


def distances_of_hands(robot: cl.Robot, done: Run) -> Floats:
    """Measure them in every cycle."""
    table = robot.distances(np.array([cycle.q for cycle in done.cycles]))
    return np.asarray(table.distance[:, table.pairs.index(HANDS)])


def scenes(robot: cl.Robot, cycle: Cycle, guard: cl.Guard, pair: tuple[str, str]) -> tuple[cl.Scene, cl.Scene]:
    """Show the robot, with one pair watched only, and what the guard has swept, seen from what carries that pair."""
    scene, swept = robot.scene(cycle.q), guard.sweep()
    for other in scene.pairs:
        if other != pair:
            scene.ignore(*other)
    seen_from = next(frame for frame in swept.frames(pair[0]) if frame in swept.frames(pair[1]))
    return scene, pictures.swept_scene(swept, cycle.q, seen_from)


def plot(axes: Axes, robot: cl.Robot, done: Run) -> None:
    """Distances over time, as in figure 9 of the paper."""
    time = 1e3 * STEP * np.arange(len(done.cycles))
    lower = np.array([cycle.verdict.lower for cycle in done.cycles])
    swept = np.array([cycle.hands for cycle in done.cycles])
    axes.plot(time, 1e3 * distances_of_hands(robot, done), color=RED, label="hands, actual")
    axes.plot(time, 1e3 * np.where(swept > -1.0, swept, np.nan), color=GREEN, label="hands, swept volumes")
    axes.plot(time, 1e3 * np.where(lower > -1.0, lower, np.nan), color=BLUE, label="any pair, proved until it stands")
    for k, what in ((done.go, "goes off"), (done.stop, "braking\nstarts"), (done.stand, "stands")):
        axes.axvline(time[k], color=GREY, linewidth=0.8, zorder=0)
        axes.annotate(what, (time[k], 1.01), xycoords=axes.get_xaxis_transform(), fontsize=8, color=GREY, ha="center")
    axes.axhspan(-1e3, 0.0, color=RED, alpha=0.07, linewidth=0.0)
    axes.axhline(0.0, color="black", linewidth=0.8)
    axes.set(xlabel="time in ms", ylabel="distance in mm", xlim=(0.0, time[-1]), ylim=(-60.0, 240.0))
    axes.legend(frameon=False, fontsize=8, loc="upper left", bbox_to_anchor=(0.01, 0.66))
    axes.spines[["top", "right"]].set_visible(False)


def save(robot: cl.Robot, guard: cl.Guard, done: Run, folder: Path) -> None:
    """Leave a page and a picture of the cycle in which the guard says stop."""
    critical = done.cycles[done.stop]
    guard.update(critical.q, critical.qd)
    scene, swept = scenes(robot, critical, guard, critical.verdict.pair)
    bright = {name: AMBER for link in critical.verdict.pair for name in (link, f"swept {link}")}
    shown: dict[str, Any] = {"closest": 1, "ghosts": [swept], "colours": bright, "view_from": VIEW_FROM}
    folder.mkdir(parents=True, exist_ok=True)
    page, picture = (folder / f"guarded_humanoid.{kind}" for kind in ("html", "png"))
    pictures.page(scene, page, **shown)
    pictures.draw(scene, picture, **shown)
    figure = Figure(figsize=(11.0, 4.6), dpi=130, layout="constrained")
    left, right = figure.subplots(1, 2, width_ratios=[1.0, 1.1])
    left.imshow(imread(picture))
    left.set_axis_off()
    plot(right, robot, done)
    figure.savefig(picture)
    print(f"Page to turn around: {page}; picture: {picture}")


def show_live(robot: cl.Robot, guard: cl.Guard, done: Run) -> None:
    """Show all cycles in the browser, ten times slower than they are, over and over again; only on this machine."""
    try:
        import viser
    except ImportError:
        raise SystemExit("--live needs viser: pip install viser") from None
    server = viser.ViserServer(host="127.0.0.1")
    server.initial_camera.position, server.initial_camera.look_at = (1.9, 0.3, 1.6), (0.2, 0.0, 1.0)
    still = robot.scene(done.cycles[0].q)
    bodies = {}
    for name in still.names:
        mesh = pictures.mesh_of(still.shape(name))
        bodies[name] = server.scene.add_mesh_simple(name, mesh.vertices, mesh.faces, color=_rgb(name, "#8fa9c4"))
    while True:
        guard.reset()
        for cycle in done.cycles:
            guard.update(cycle.q, cycle.qd)
            scene, swept = scenes(robot, cycle, guard, HANDS)
            with server.atomic():
                for name, body in bodies.items():
                    body.position, body.wxyz = _position_and_turn(scene.pose(name))
                for name in swept.names:
                    mesh, (position, wxyz) = pictures.mesh_of(swept.shape(name)), _position_and_turn(swept.pose(name))
                    colour = _rgb(name.removeprefix("swept "), "#5b7fd6")
                    server.scene.add_mesh_simple(
                        name, mesh.vertices, mesh.faces, color=colour, opacity=0.34, position=position, wxyz=wxyz
                    )
                found = scene.distances()
                ends = np.stack([found.point_a, found.point_b], axis=1)
                server.scene.add_line_segments("gap", ends, colors=to_rgb(RED), line_width=4.0)
            sleep(10.0 * STEP)


def _rgb(name: str, usual: str) -> tuple[float, ...]:
    return to_rgb(AMBER if name in HANDS else usual)


def _position_and_turn(pose: Floats) -> tuple[Floats, Floats]:
    return pose[:3, 3], cl.poses.to_wxyz(pose)


def main(where: str = ".") -> Run:
    """Run it, and show it live or leave `guarded_humanoid.html` and `guarded_humanoid.png`; return all cycles."""
    robot, motion = samples.upper_body(), samples.upper_body_clap(SPEED)
    braking = cl.Braking(latency=STEP, acceleration=ACCELERATION, deceleration=ACCELERATION)
    guard = cl.Guard(robot, braking=braking)
    done = run(robot, guard, motion)
    hands, pair = 1e3 * distances_of_hands(robot, done), done.cycles[done.stop].verdict.pair
    print(f"It says stop after {1e3 * STEP * done.stop:.0f} ms: {' and '.join(pair)} may touch.")
    print(f"The hands are {hands[done.stop]:.1f} mm apart then, and {hands[done.stand]:.1f} mm when they stand.")
    if where == "--live":
        show_live(robot, guard, done)
    else:
        save(robot, guard, done, Path(where))
    return done


if __name__ == "__main__":
    main(*sys.argv[1:2])
