"""What `import clearance` costs at the start of a program, beside NumPy alone and beside other libraries.

Every time is that of a fresh interpreter, measured inside of it, so that starting Python is not counted. Libraries take
turns, and the median is what counts. Peers that are not installed are left out.
"""

from __future__ import annotations

import json
import subprocess
import sys
from importlib.util import find_spec
from statistics import median

import numpy as np
from measure import Agreement, Table, arguments, machine

PEERS = {"numpy": "NumPy", "clearance": "clearance"}
PEERS |= {"trimesh": "trimesh", "fcl": "python-fcl", "coal": "coal", "pybullet": "pybullet", "mujoco": "MuJoCo"}
LIMIT = 20.0  # milliseconds that we may add to NumPy

TIMED = """
import sys, time
{first}
before = set(sys.modules)
start = time.perf_counter()
import {module}
print([time.perf_counter() - start, len(set(sys.modules) - before)])
"""
FIRST_DISTANCE = """
import numpy, time
start = time.perf_counter()
import clearance
gap = clearance.distance(clearance.Sphere(1.0), clearance.Sphere(1.0).at([3.0, 0.0, 0.0]))
print([time.perf_counter() - start, gap.distance])
"""


def fresh(code: str) -> list[float]:
    """Run code in an interpreter of its own, and return the numbers that it prints."""
    done = subprocess.run([sys.executable, "-P", "-c", code], capture_output=True, text=True, check=True)
    numbers: list[float] = json.loads(done.stdout.splitlines()[-1])
    return numbers


def compare(repeats: int) -> Table:
    """Import every library by itself, and on top of NumPy."""
    columns = ["library", "import, ms", "least, ms", "on top of NumPy, ms", "least, ms", "modules"]
    table = Table("Import in a fresh interpreter", columns)
    peers = {module: name for module, name in PEERS.items() if find_spec(module) is not None}
    programs = {
        (module, first): TIMED.format(module=module, first=first)
        for module in peers
        for first in ("", "import numpy")
        if (module, first) != ("numpy", "import numpy")
    }
    runs = in_turns(programs, repeats)
    for module, name in peers.items():
        alone = [1e3 * seconds for seconds, _ in runs[module, ""]]
        on_top = [1e3 * seconds for seconds, _ in runs.get((module, "import numpy"), [])]
        cells = [median(on_top), min(on_top)] if on_top else ["", ""]
        table.add(name, median(alone), min(alone), *cells, str(int(runs[module, ""][0][1])))
    table.notes.append(f"Medians of {repeats} interpreters each. We want to add less than {LIMIT:.0f} ms to NumPy.")
    return table


def in_turns(programs: dict[tuple[str, str], str], repeats: int) -> dict[tuple[str, str], list[list[float]]]:
    """Run each program once to fill caches of files, then all of them in turns."""
    for program in programs.values():
        fresh(program)
    runs: dict[tuple[str, str], list[list[float]]] = {key: [] for key in programs}
    for _ in range(repeats):
        for key, program in programs.items():
            runs[key].append(fresh(program))
    return runs


def first_answer(repeats: int, agreement: Agreement) -> Table:
    """Import and ask once: nothing is left to be compiled or loaded at the first call."""
    table = Table("Import and a first distance, on top of NumPy", ["", "median, ms", "least, ms"])
    runs = np.array([fresh(FIRST_DISTANCE) for _ in range(repeats + 1)])[1:]
    agreement.check("distance of two spheres", runs[:, 1], np.ones(repeats), 1e-12)
    table.add("clearance", float(np.median(1e3 * runs[:, 0])), float(1e3 * runs[:, 0].min()))
    return table


def main() -> None:
    options = arguments(__doc__)
    agreement = Agreement()
    repeats = 3 if options.quick else 41
    print(machine())
    compare(repeats).show(options.markdown)
    first_answer(repeats, agreement).show(options.markdown)
    agreement.exit()


if __name__ == "__main__":
    main()
