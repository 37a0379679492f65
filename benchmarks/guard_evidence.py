"""Try to prove the guard wrong: boxes of joint values attacked by search, and hours of random motion under its eyes.

    python benchmarks/guard_evidence.py --boxes 1000 --hours 1
    python benchmarks/guard_evidence.py --only talos --first 500 --boxes 500 --hours 0  # the second half of a thousand

The ordinary test suite does the same for fewer boxes and seconds of motion. Prints a table, and fails if a bound was
too high or a guarded robot touched itself.
"""

import argparse
import copy
import sys
from pathlib import Path

import numpy as np
from robot_models import description

import clearance as cl
from clearance.progress import reporter

sys.path.insert(0, str(Path(__file__).parent.parent / "tests"))

import sweep_oracle
from closed_loops import closed_loop

CYCLES = 6000  # per run: a minute


def show(done):
    tell = reporter(True)
    if tell is not None:  # on a terminal
        tell(done)


def slack_found(robot, low, high, lowers, seed):
    """How much more than their bounds pairs were found to be apart, at least: by 1000 corners, 10 000 configurations
    inside, and descent from the ten places, and for the pairs, where that was least. Pairs that no joint of the box
    moves against each other are measured, too, but leave these places to others."""
    rng, box = np.random.default_rng(seed), sweep_oracle.JointBox.between(robot, low, high)
    middle = box.inside((box.low + box.high)[None] / 2)
    z = np.concatenate([middle, box.corners(rng, 1000), box.samples(rng, 10_000)])
    some = robot.distances(box.configurations(z[::50])).upper
    moves = np.ptp(some, axis=0) > 1e-9
    if not moves.any():
        return some.min(axis=0) - lowers
    room = np.partition((some - lowers)[:, moves].min(axis=1), 9)[9]
    is_tight = rows_within(robot, box.configurations(z), lowers, moves, room)
    is_tight[::50] = True
    z = z[is_tight]
    gaps = robot.distances(box.configurations(z))
    slack = gaps.upper - lowers
    least = slack.min(axis=0)
    for place in np.argsort(np.where(moves, slack, np.inf), axis=None)[:10]:
        row, k = np.unravel_index(place, slack.shape)
        value, _ = sweep_oracle.descend(box, None, gaps.pairs[k], z[[row]], gaps.upper[[row], k], 40)
        least[k] = min(least[k], value - lowers[k])
    return least


def rows_within(robot, q, lowers, moves, room):
    """Tell in which rows of q a pair that moves is at most `room` above its bound. Bounds above zero become margins, so
    that most configurations are known to be clear before any distance is."""
    asking, measured = copy.deepcopy(robot), copy.deepcopy(robot)
    for pair, lower, is_moving in zip(robot.pairs, lowers, moves, strict=True):
        if is_moving and lower > 0.0:
            asking.set_margin(*pair, margin=lower)
        else:
            asking.allow(*pair)
        if not is_moving or lower > 0.0:
            measured.allow(*pair)
    is_tight = ~cl.is_clear(asking, None, q, margin=max(room, 0.0))
    if measured.pairs:
        slack = measured.distances(q).upper - lowers[moves & (lowers <= 0.0)]
        is_tight |= slack.min(axis=1) <= room
    return is_tight


def attack_boxes(robot, first, count, seed=0):
    """Count boxes whose bound is above a distance found inside, and tell how far bounds are below these on the mean."""
    rng, wrong, lost = np.random.default_rng(seed), 0, []
    for k in range(first + count):
        q = robot.random(seed=rng)
        box = sweep_oracle.around(robot, q, rng, 10.0 ** rng.uniform(-2.5, 0.0))
        if k < first:
            continue
        lowers = np.array(list(cl.sweep(robot, *box).lowers().values()))
        slack = slack_found(robot, *box, lowers, k)
        wrong += bool((slack < -1e-9).any())
        lost.append(np.median(slack))
        show((k + 1 - first) / count)
    return wrong, float(np.mean(lost))


def loops(robot, hours, budget):
    """Seconds of guarded motion, its contacts and stops; and contacts of as much unguarded motion."""
    runs = max(1, round(hours * 3600 / (0.01 * CYCLES)))
    contacts = stops = unguarded = 0
    moving = 0.0
    for seed in range(runs):
        run = closed_loop(robot, cl.Guard(robot, budget=budget), seed, CYCLES)
        contacts += run.collisions(robot)
        stops += run.stops
        moving += np.mean(run.is_moving)
        unguarded += closed_loop(robot, None, seed, CYCLES).collisions(robot)
        show((seed + 1) / runs)
    return 0.01 * CYCLES * runs, contacts, stops, moving / runs, unguarded


def fitted(name):
    """A robot of a file, its links as few points swept by a ball; what these make touch by design is allowed."""
    robot = description(name).ours("swept")
    robot.allow_by_sampling(2000)
    return robot


def robot_called(name):
    if name in ("panda", "talos"):
        return f"{name}, fitted", fitted(name)
    return name, getattr(cl.samples, name)()


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--boxes", type=int, default=20)
    parser.add_argument("--first", type=int, default=0, help="the number of the first box")
    parser.add_argument("--hours", type=float, default=1 / 60)
    parser.add_argument("--real", action="store_true", help="panda and talos as well, fitted first: that takes minutes")
    parser.add_argument("--only", choices=("upper_body", "arm", "panda", "talos"), help="one robot alone")
    args = parser.parse_args()
    names = [args.only] if args.only else ["upper_body", "arm", *(("panda", "talos") if args.real else ())]
    robots = dict(map(robot_called, names))
    failed = False
    print("| robot | boxes attacked | bounds too high | bound below least distance found, mean of medians [mm] |")
    print("|---|--:|--:|--:|")
    for name, robot in robots.items():
        wrong, lost = attack_boxes(robot, args.first, args.boxes)
        failed |= wrong > 0
        print(f"| {name} | {args.boxes} | {wrong} | {1e3 * lost:.2f} |", flush=True)
    print("\n| robot | budget | motion [s] | contacts | stops | in motion | contacts unguarded |")
    print("|---|--:|--:|--:|--:|--:|--:|")
    for name, robot in robots.items() if args.hours > 0.0 else ():
        for budget in (55_000, 10_000):
            seconds, contacts, stops, moving, unguarded = loops(robot, args.hours, budget)
            failed |= contacts > 0
            row = (name, budget, f"{seconds:.0f}", contacts, stops, f"{moving:.0%}", unguarded)
            print("| " + " | ".join(map(str, row)) + " |", flush=True)
    return int(failed)


if __name__ == "__main__":
    sys.exit(main())
