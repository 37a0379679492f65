"""A hundred thousand random configurations of an arm in its cell: which are free, and how close are the others?

Yes or no is the cheaper question: `is_clear`. Clearances come with the nearest pair and with proofs; a file on disk
takes them as they are found, so that an interrupted run goes on where it stopped.

Run it: python examples/check_configurations.py [count]
"""

import sys
import tempfile
from pathlib import Path
from time import perf_counter

import numpy as np

import clearance as cl
from clearance import samples


def main(count: int = 100_000) -> tuple[np.ndarray, cl.Clearances]:
    """Print statistics and throughput; return verdicts and clearances."""
    robot, world = samples.arm(), samples.arm_cell()
    q = robot.random(count, seed=0)

    began = perf_counter()
    free = cl.is_clear(robot, world, q)
    elapsed = perf_counter() - began
    print(f"is_clear:   {count} configurations in {elapsed:.2f} s, {count / elapsed:,.0f} a second")
    print(
        f"            {free.mean():.1%} are free; {cl.is_clear(robot, world, q, 0.02).mean():.1%} with 20 mm to spare"
    )

    began = perf_counter()
    found = cl.clearances(robot, world, q, progress=True)
    elapsed = perf_counter() - began
    print(f"clearances: {count} configurations in {elapsed:.2f} s, {count / elapsed:,.0f} a second")
    middle = np.percentile(found.distance[free], [10, 50, 90])
    print("            clearance of the free ones: " + ", ".join(f"{1e3 * value:.0f} mm" for value in middle), end="")
    print(" (tenth, half and nine tenths of them are below)")
    print(f"            brackets are at most {(found.upper - found.lower)[free].max():.1e} m wide")

    print("nearest pairs of the free ones:")
    kinds, counts = np.unique(found.pair_index[free], return_counts=True)
    for k in np.argsort(-counts)[:8]:
        a, b = found.pairs[kinds[k]]
        print(f"    {a:<13} {b:<13} {counts[k] / free.sum():6.1%}")

    with tempfile.TemporaryDirectory() as folder:
        out, few = Path(folder) / "clearances.npy", q[: count // 10]
        stored = cl.clearances(robot, world, few, out=out, progress=True)
        same = (stored.distance == found.distance[: len(few)]).all()
        print(f"{out.name}: {len(np.load(out))} records, the same as in memory: {same}")
    return free, found


if __name__ == "__main__":
    main(*map(int, sys.argv[1:2]))
