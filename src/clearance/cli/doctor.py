"""`clearance doctor`: what is installed, what is missing, and does the core answer right?"""

from __future__ import annotations

import importlib.metadata
import platform
import re
import sys
from collections.abc import Iterator
from typing import Any, NamedTuple

import numpy as np
from rich.table import Table
from rich.text import Text

from .. import __version__, _core, samples
from ..paths import check_path
from ..queries import distance
from ..rays import raycast
from ..shapes import Box, Capsule, Ellipsoid, Mesh, Sphere
from .outcomes import FAILED, AsJson, command, fail, report, table, verdict

__all__: list[str] = []

REQUIREMENT = re.compile(r"\s*([\w.-]+)\s*(?:\(?([^;)]*)\)?)?\s*;.*\bextra\s*==\s*[\"']([\w.-]+)[\"']")


class Package(NamedTuple):
    """What an extra asks for, and what is there."""

    extra: str
    name: str
    wanted: str
    found: str | None

    @property
    def is_there(self) -> bool:
        return self.found is not None and _is_enough(self.found, self.wanted)


@command
def doctor(as_json: AsJson = False) -> None:
    """Tell what is installed, which extras are missing and how to get them, and whether the core answers right.

    Examples:

    * `clearance doctor`

    * `clearance doctor --json`, to go with a report of a problem

    Exit codes: 0 all is well, though extras may be missing, 3 the core gives wrong answers, 130 interrupted.
    """
    packages, tests = _packages(), _self_test()
    told = {
        "clearance": __version__,
        "python": platform.python_version(),
        "numpy": np.__version__,
        "system": platform.platform(),
        "executable": sys.executable,
        "cores": _core.core_count(),
        "simd": _core.simd(),
        "simd_possible": _possible_simd(),
        "extras": {
            extra: {
                "complete": all(one.is_there for one in packages if one.extra == extra),
                "packages": {one.name: one.found for one in packages if one.extra == extra},
            }
            for extra in dict.fromkeys(one.extra for one in packages)
        },
        "self_test": tests,
    }
    report(told, _lines(told, packages, tests), as_json)
    if not all(tests.values()):
        fail("the core gives wrong answers; please build it anew.", FAILED)


def _self_test() -> dict[str, bool]:
    """Ask questions whose answers are known."""
    corners, faces = (
        np.array([[0, 0, 0], [1, 0, 0], [0, 1, 0], [0, 0, 1]]),
        [[0, 2, 1], [0, 1, 3], [1, 2, 3], [0, 3, 2]],
    )
    arm, cell, path = samples.arm(), samples.arm_cell(), samples.arm_path()
    closed = distance(Sphere(0.5), Capsule(0.25, 1.0).at([2.0, 0.0, 0.0]))
    solved = distance(Box([1.0, 1.0, 1.0]), Ellipsoid([0.5, 0.25, 0.25]).at([2.0, 0.0, 0.0]))
    searched = distance(Mesh(corners, faces), Mesh(corners, faces).at([0.0, 0.0, 3.0]))
    hit = raycast(Sphere(1.0), [-3.0, 0.0, 0.0], [1.0, 0.0, 0.0])
    batch = [distance(Sphere(0.5).at(_row()), Box([1.0, 1.0, 1.0]), threads=threads).distance for threads in (1, None)]
    proved = check_path(arm, cell, path, margin=0.01)
    return {
        "closed forms": closed.lower <= 1.25 <= closed.upper,
        "convex bodies": solved.lower <= 1.0 <= solved.upper and solved.upper - solved.lower < 1e-6,
        "meshes": searched.lower <= 2.0 <= searched.upper,
        "rays": abs(float(hit.distance) - 2.0) < 1e-12,
        "same bits on all cores": bool(np.array_equal(*batch)),
        "proofs of paths": proved.clear and proved.lower > 0.01,
    }


def _row() -> Any:
    poses = np.tile(np.eye(4), (1000, 1, 1))
    poses[:, 0, 3] = np.linspace(1.0, 5.0, 1000)
    return poses


def _possible_simd() -> list[str]:
    """Instruction sets that this processor has; the choice is put back."""
    before, possible = _core.simd(), list[str]()
    for name in ("scalar", "sse2", "avx2", "avx512"):
        _core.use_simd(name)
        if _core.simd() == name:
            possible.append(name)
    _core.use_simd(before)
    return possible


def _packages() -> list[Package]:
    """What extras of the installed package ask for, but for the one that is all the others."""
    try:
        lines = importlib.metadata.requires("clearance") or []
    except importlib.metadata.PackageNotFoundError:
        return []
    found = [match for line in lines if (match := REQUIREMENT.match(line)) and match[1] != "clearance"]
    return [Package(match[3], match[1], match[2].strip(), _version(match[1])) for match in found]


def _version(name: str) -> str | None:
    try:
        return importlib.metadata.version(name)
    except importlib.metadata.PackageNotFoundError:
        return None


def _is_enough(found: str, wanted: str) -> bool:
    """Compare with lower bounds only, which are all that our extras have."""
    bounds = re.findall(r">=\s*([\d.]+)", wanted)
    return all(_numbers(found) >= _numbers(bound) for bound in bounds)


def _numbers(version: str) -> list[int]:
    return [int(number) for number in re.findall(r"\d+", version.split("+")[0])[:3]]


def _lines(told: dict[str, Any], packages: list[Package], tests: dict[str, bool]) -> Iterator[str | Text | Table]:
    system = f"{platform.system()} on {platform.machine()}"
    yield f"clearance {told['clearance']}, Python {told['python']}, NumPy {told['numpy']}, {system}"
    others = ", ".join(name for name in told["simd_possible"] if name != told["simd"])
    yield f"{told['cores']} cores, instruction set {told['simd']}" + (f" (also possible: {others})" if others else "")
    yield ""
    yield table(["extra", "", "packages", "get it with"], _rows(told["extras"], packages))
    yield ""
    wrong = [name for name, is_right in tests.items() if not is_right]
    if wrong:
        yield verdict(False, "WRONG", f"the core fails at: {', '.join(wrong)}.")
    else:
        yield verdict(True, "WELL", f"the core answers right: {', '.join(tests)}.")


def _rows(extras: dict[str, Any], packages: list[Package]) -> Iterator[tuple[str, ...]]:
    for extra, about in extras.items():
        shown = [_shown(one) for one in packages if one.extra == extra]
        get = "" if about["complete"] else f"pip install 'clearance[{extra}]'"
        yield extra, "there" if about["complete"] else "missing", ", ".join(shown), get


def _shown(package: Package) -> str:
    if package.found is None:
        return f"no {package.name}"
    return f"{package.name} {package.found}" + ("" if package.is_there else f" (needs {package.wanted})")
