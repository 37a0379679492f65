"""What is installed: versions agree, metadata is complete, and `import clearance` brings little with it."""

import ast
import importlib.metadata
import json
import re
import subprocess
import sys
import sysconfig
import tomllib
from pathlib import Path

import pytest

import clearance
from clearance import _core

ROOT = Path(__file__).parent.parent
PACKAGE = Path(clearance.__file__).parent
CONFIGURATION = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))
PROJECT = CONFIGURATION["project"]
EXTRAS = PROJECT["optional-dependencies"]
SOURCE = ast.parse((PACKAGE / "__init__.py").read_text(encoding="utf-8"))

# None of these comes with `import clearance`: extras, what starts threads or reads files, and large rooms of our own.
HEAVY = [
    *("matplotlib", "scipy", "trimesh", "typer", "rich", "viser", "moderngl", "coacd", "collada", "xacrodoc"),
    *("rosbags", "gymnasium", "mpi4py", "meshio", "dask", "pytest"),
    *("asyncio", "concurrent.futures", "http", "importlib.metadata", "importlib.resources", "logging"),
    *("multiprocessing", "socket", "ssl", "subprocess", "tempfile", "tomllib", "unittest", "xml", "zipfile"),
    *("clearance.simulation", "clearance.samples", "clearance.viewer", "clearance.cli", "clearance.pictures"),
    *("clearance.fit", "clearance.urdf", "clearance.meshio", "clearance.jobs", "clearance.batch_files"),
    *("clearance.scanner", "clearance.range_sensors", "clearance.depth_buffer"),
]


def fresh(code):
    """Run code in an interpreter of its own, and return what it prints as JSON."""
    done = subprocess.run([sys.executable, "-P", "-c", code], capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stderr
    return json.loads(done.stdout)


# Importing ------------------------------------------------------------------------------------------------------------


def test_import_brings_nothing_heavy():
    found = fresh(
        "import json, sys, numpy, numpy.typing; before = set(sys.modules); import clearance;"
        "print(json.dumps(sorted(set(sys.modules) - before)))"
    )
    assert "clearance._core" in found
    assert [name for name in found if name in HEAVY or name.split(".")[0] in HEAVY] == []


def test_simulation_is_there_after_a_plain_import():
    assert fresh("import clearance; print(len(clearance.simulation.World(step=1e-3).names))") == 0


def test_star_import_brings_every_public_name():
    code = "import json; from clearance import *; print(json.dumps(sorted(globals())))"
    assert set(clearance.__all__) <= set(fresh(code))


def test_dir_lists_every_public_name_before_it_is_used():
    found = fresh("import json, clearance; print(json.dumps(dir(clearance)))")
    assert set(clearance.__all__) <= set(found)
    assert found == sorted(set(found))


@pytest.mark.parametrize("first", ["guard", "simulation", "viewer", "demo", "urdf"])
def test_functions_named_like_their_modules_are_functions_whatever_is_imported_first(first):
    modules = {path.stem for path in PACKAGE.glob("*.py")}
    names = sorted(name for name in clearance.__all__ if name in modules and callable(getattr(clearance, name)))
    assert len(names) >= 3
    code = f"import json, clearance.{first}; print(json.dumps([callable(getattr(clearance, n)) for n in {names}]))"
    assert all(fresh(code))


def test_names_are_kept_once_they_were_asked_for():
    code = "import clearance as c; before = 'Scan' in vars(c); c.Scan; print([int(before), int('Scan' in vars(c))])"
    assert fresh(code) == [0, 1]


def test_unknown_names_are_refused_by_name():
    with pytest.raises(AttributeError, match="module 'clearance' has no attribute 'Spere'"):
        clearance.Spere  # noqa: B018


def test_type_checkers_see_the_same_names_in_the_same_places():
    """What is imported later stands twice: where it is found at run time, and in imports that only checkers read."""
    (block,) = [node for node in SOURCE.body if isinstance(node, ast.If) and ast.unparse(node.test) == "TYPE_CHECKING"]
    seen = {
        alias.name: node.module or alias.name
        for node in block.body
        if isinstance(node, ast.ImportFrom)
        for alias in node.names
    }
    assert seen == clearance._LATER
    assert not any(isinstance(node, ast.FunctionDef) and node.name == "__getattr__" for node in SOURCE.body), (
        "a checker that reads __getattr__ takes every name for one that exists"
    )


# Metadata -------------------------------------------------------------------------------------------------------------


def test_versions_agree():
    cited = re.search(r"^version: (\S+)$", (ROOT / "CITATION.cff").read_text(encoding="utf-8"), re.MULTILINE)[1]
    assert cited == clearance.__version__ == importlib.metadata.version("clearance")


def test_version_stands_in_one_place():
    assert "version" in PROJECT["dynamic"]
    assert "version" not in PROJECT
    (entry,) = CONFIGURATION["tool"]["dynamic-metadata"]
    assert (entry["field"], entry["input"]) == ("version", "src/clearance/__init__.py")


def test_citation_and_metadata_agree():
    text = (ROOT / "CITATION.cff").read_text(encoding="utf-8")
    listed = re.search(r"^keywords:\n((?:  - .*\n)+)", text, re.MULTILINE)[1]
    assert [line.removeprefix("  - ") for line in listed.splitlines()] == PROJECT["keywords"]
    assert re.search(r"^license: (\S+)$", text, re.MULTILINE)[1] == PROJECT["license"]
    assert re.search(r"^  - name: (.+)$", text, re.MULTILINE)[1] == PROJECT["authors"][0]["name"]


def test_numpy_is_all_that_is_needed():
    needed = [line for line in importlib.metadata.requires("clearance") if "extra ==" not in line]
    assert [re.match(r"[\w-]+", line)[0] for line in needed] == ["numpy"]


def test_one_extra_holds_all_others():
    (everything,) = EXTRAS["all"]
    assert set(re.fullmatch(r"clearance\[(.+)\]", everything)[1].split(",")) == set(EXTRAS) - {"all"}


def test_every_extra_is_in_the_readme():
    text = (ROOT / "README.md").read_text(encoding="utf-8")
    assert [extra for extra in EXTRAS if f"[{extra}]'" not in text] == []


def test_a_package_has_one_least_version_wherever_it_is_named():
    """Extras and groups are installed together, so what suits one must suit all."""
    found = {}
    for lines in (PROJECT["dependencies"], *EXTRAS.values(), *CONFIGURATION["dependency-groups"].values()):
        for line in lines:
            if isinstance(line, str) and (match := re.match(r"([\w-]+)([<>=][^;]*)", line)):
                found.setdefault(match[1], set()).add(match[2].strip())
    del found["numpy"]  # builds need NumPy 2, whose headers serve 1.26 as well
    assert {name: limits for name, limits in found.items() if len(limits) > 1} == {}


def test_pythons_that_are_named_are_built_and_tested():
    classified = re.findall(r"Python :: 3\.(\d+)", "\n".join(PROJECT["classifiers"]))
    built = re.findall(r"cp3(\d+)-", CONFIGURATION["tool"]["cibuildwheel"]["build"])
    assert set(classified) <= set(built)
    assert f">=3.{min(built, key=int)}" == PROJECT["requires-python"]


def test_wheels_that_claim_the_stable_abi_are_built_for_it():
    assert CONFIGURATION["tool"]["scikit-build"]["wheel"]["py-api"] == "cp312"
    text = (ROOT / "CMakeLists.txt").read_text(encoding="utf-8")
    assert re.search(r"find_package\(Python [^)]*\$\{SKBUILD_SABI_COMPONENT\}", text)
    assert re.search(r"nanobind_add_module\(_core [^)]*\bSTABLE_ABI\b", text)
    stable = sys.version_info >= (3, 12) and not sysconfig.get_config_var("Py_GIL_DISABLED")
    assert Path(_core.__file__).name.endswith(".abi3.so") == stable


def test_wheel_holds_what_the_sources_do():
    installed = {str(path) for path in importlib.metadata.files("clearance")}
    data = [path for path in (ROOT / "src").rglob("*") if path.is_file() and "__pycache__" not in path.parts]
    assert {str(path.relative_to(ROOT / "src")) for path in data} <= installed
    assert "clearance/_core.pyi" in installed or not Path(PACKAGE, "_core.pyi").exists()
    assert {path.split("/")[0] for path in installed if not path.startswith("..")} <= {
        "clearance",
        f"clearance-{clearance.__version__}.dist-info",
    }
