"""The core is built in layers: a folder includes only the folders before it, and only the last one knows of Python."""

import re
import shutil
import subprocess
from pathlib import Path

import pytest

ROOT = Path(__file__).parent.parent
LAYERS = [
    "math",
    "parallel",
    "closest",
    "convex",
    "bvh",
    "query",
    "scene",
    "robot",
    "motion",
    "guard",
    "dynamics",
    "bindings",
]
SOURCES = sorted(path for path in (ROOT / "core").rglob("*") if path.suffix in (".hpp", ".cpp", ".inl"))
every_source = pytest.mark.parametrize("path", SOURCES, ids=lambda path: str(path.relative_to(ROOT / "core")))


def includes_of(path, marks='""'):
    opening, closing = marks
    include = rf"^\s*#\s*include\s*{opening}([^{closing}]+){closing}"
    return re.findall(include, path.read_text(encoding="utf-8"), re.MULTILINE)


def test_there_are_sources():
    assert len(SOURCES) > 30
    assert {path.relative_to(ROOT / "core").parts[0] for path in SOURCES} <= set(LAYERS)


@every_source
def test_folder_includes_only_folders_before_it(path):
    layer = LAYERS.index(path.relative_to(ROOT / "core").parts[0])
    for include in includes_of(path):
        assert (ROOT / "core" / include).is_file(), include
        assert LAYERS.index(include.split("/")[0]) <= layer, include


@every_source
def test_only_bindings_know_of_python(path):
    if path.relative_to(ROOT / "core").parts[0] == "bindings":
        return
    text = path.read_text(encoding="utf-8")
    assert not any(re.match(r"nanobind|Python\.h|pybind|numpy", include) for include in includes_of(path, "<>"))
    assert not re.search(r"\b(nanobind|nb)::|\bPy[A-Z]\w+\(", text)


def test_no_two_headers_include_each_other():
    headers = {str(path.relative_to(ROOT / "core")): includes_of(path) for path in SOURCES if path.suffix != ".cpp"}

    def reached_from(header, seen=()):
        assert header not in seen, " -> ".join([*seen, header])
        for include in headers.get(header, []):
            reached_from(include, (*seen, header))

    for header in headers:
        reached_from(header)


def test_every_source_is_built():
    listed = set(re.findall(r"(?<![\w/])core/[\w/]+\.cpp", (ROOT / "CMakeLists.txt").read_text(encoding="utf-8")))
    assert listed == {str(path.relative_to(ROOT)) for path in SOURCES if path.suffix == ".cpp"}


@pytest.mark.parametrize("name", ["avx2", "avx512"])
def test_code_of_one_instruction_set_stays_in_its_object(name):
    """A weak copy of a function compiled for AVX2 could be the one that the linker keeps for all."""
    if shutil.which("nm") is None:
        pytest.skip("needs nm")
    instrumented = {"sanitized", "fuzzed"}
    objects = [o for o in (ROOT / "build").rglob(f"*kernels_{name}*.o") if instrumented.isdisjoint(o.parts)]
    if not objects:
        pytest.skip("there are no objects in build/")
    for path in objects:
        command = ["nm", "-C", "--defined-only", path]
        listing = subprocess.run(command, capture_output=True, text=True, check=True).stdout
        symbols = [line.split(maxsplit=2)[1:] for line in listing.splitlines()]
        assert len(symbols) > 1
        shown = [symbol for kind, symbol in symbols if kind.isupper() or kind in "uvw"]
        folder = {"bvh": "Bvh", "robot": "Robot"}.get(path.parent.name, "")
        whose = path.name.partition("kernels_")[0].rstrip("_").capitalize() or folder
        assert shown == [f"clearance::k{name.capitalize()}{whose}Kernels"], path
