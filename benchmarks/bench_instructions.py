"""Instructions per pair of elements, convex bodies and meshes, by callgrind: no clock, the same in every run.

Valgrind has no AVX-512, so the kernels for AVX2, SSE2 and plain doubles are counted.
"""

from __future__ import annotations

import re
import shutil
import subprocess
import sys
from pathlib import Path
from tempfile import TemporaryDirectory

from measure import Agreement, Table, arguments

ROOT = Path(__file__).parent.parent
TREE = ROOT / "build" / "instructions"
SETS = ["avx2", "sse2", "scalar"]
LETTERS = "PLT"


def tool(name: str) -> str | None:
    """The tool beside this Python, or else on the path."""
    beside = Path(sys.executable).parent / name
    return str(beside) if beside.exists() else shutil.which(name)


def build() -> list[Path]:
    """Compile the core as CMakeLists.txt says, and the drivers against it."""
    cmake, compiler = tool("cmake"), shutil.which("c++")
    if cmake is None or compiler is None:
        sys.exit("bench_instructions needs cmake and a C++ compiler.")
    quiet = {"check": True, "stdout": subprocess.DEVNULL}
    subprocess.run([cmake, "-S", ROOT, "-B", TREE, "-DCLEARANCE_PYTHON=OFF", "-DCLEARANCE_TESTS=OFF"], **quiet)
    subprocess.run([cmake, "--build", TREE, "--parallel", "2"], **quiet)
    flags = ["-std=c++20", "-O2", "-Wall", "-Wextra", f"-I{ROOT / 'core'}", "-pthread"]
    drivers = [TREE / name for name in ("count_instructions", "count_convex", "count_meshes")]
    for driver in drivers:
        source = Path(__file__).with_name(f"{driver.name}.cpp")
        subprocess.run([compiler, *flags, source, TREE / "libclearance_core.a", "-o", driver], check=True)
    return drivers


def count(driver: Path, simd: str, order: str, kind: str, call: str, pairs: int) -> tuple[float, float]:
    """Return instructions per pair and the sum of all distances."""
    vertices = [str(1 + LETTERS.index(letter)) for letter in order]
    instructions, printed = run(driver, simd, *vertices, kind, call, str(pairs))
    return instructions / pairs, float(printed)


def run(driver: Path, *command: str) -> tuple[int, str]:
    """Return the instructions inside of `counted`, and what the driver printed."""
    with TemporaryDirectory() as folder:
        found = subprocess.run(
            [
                *("valgrind", "--tool=callgrind", "--toggle-collect=counted*", f"--callgrind-out-file={folder}/out"),
                *(driver, *command),
            ],
            capture_output=True,
            text=True,
            check=True,
        )
    collected = re.search(r"Collected : (\d+)", found.stderr)
    if collected is None:
        sys.exit(f"callgrind reported no count:\n{found.stderr}")
    return int(collected[1]), found.stdout


def convex_bodies(driver: Path, placements: int) -> Table:
    kinds = ["near", "far", "overlapping"]
    table = Table(
        f"Instructions per pair of convex bodies ({placements} placements), and iterations",
        ["pair", *kinds, *(f"{kind}, iterations" for kind in kinds)],
    )
    pairs = {"sphere-sphere": ("sphere", "sphere"), "sphere-box": ("sphere", "box"), "box-box": ("box", "box")}
    pairs |= {f"{name}-{name}": (name, name) for name in ("capsule", "cylinder", "ellipsoid")}
    pairs |= {f"hull-hull of {n}": (n, n) for n in ("32", "128")}
    for name, bodies in pairs.items():
        found = [run(driver, *bodies, kind, str(placements)) for kind in kinds]
        instructions = [f"{count / placements:.0f}" for count, _ in found]
        table.add(name, *instructions, *(f"{float(text.split()[1]) / placements:.1f}" for _, text in found))
    return table


def meshes(driver: Path, side: int, placements: int, agreement: Agreement) -> Table:
    table = Table(
        f"Instructions per query of two rings of {2 * side * side} triangles ({placements} placements)",
        ["search", "gap", "instructions", "volume tests", "triangle tests"],
    )
    for kind in ("far", "near", "touching"):
        distances = []
        for volume, order in (("obb", "best"), ("obb", "depth"), ("rss", "best"), ("rss", "depth")):
            count, printed = run(driver, order, volume, kind, str(side), str(placements))
            distance, volumes, triangles = map(float, printed.split())
            distances.append(distance)
            table.add(f"{volume}, {order} first", kind, *(f"{n / placements:.0f}" for n in (count, volumes, triangles)))
            # Of triangles that are equally near, another pair may win, with another rounding.
            agreement.check(f"{volume}, {order} first, {kind}", distance, distances[0], tolerance=1e-15)
    return table


def main() -> None:
    options = arguments(__doc__)
    if shutil.which("valgrind") is None:
        print("bench_instructions: skipped, valgrind is not installed.")
        return
    driver, convex_driver, mesh_driver = build()
    agreement = Agreement()
    pairs = 512 if options.quick else 8192
    table = Table(
        f"Instructions per pair ({pairs} random pairs)",
        ["pair", *SETS, "scalar / avx2", "single call", "piercing, avx2"],
    )
    for order in ["PP", "PL", "LP", "PT", "TP", "LL", "LT", "TL", "TT"]:
        counts, sums = zip(*(count(driver, simd, order, "apart", "batch", pairs) for simd in SETS), strict=True)
        single, sum_of_singles = count(driver, "scalar", order, "apart", "single", pairs)
        for name, found in zip([*SETS, "single"], [*sums, sum_of_singles], strict=True):
            agreement.check(f"{order}, {name}", found, sums[0])
        pierced = "-"
        if "P" not in order:
            pierced = f"{count(driver, 'avx2', order, 'crossing', 'batch', max(pairs // 8, 64))[0]:.0f}"
        cells = [f"{number:.1f}" for number in counts]
        table.add(order, *cells, counts[-1] / counts[0], f"{single:.0f}", pierced)
    table.show(options.markdown)
    convex_bodies(convex_driver, 64 if options.quick else 512).show(options.markdown)
    side, placements = (30, 8) if options.quick else (100, 32)
    meshes(mesh_driver, side, placements, agreement).show(options.markdown)
    agreement.exit()


if __name__ == "__main__":
    main()
