"""`clearance doctor`: what is there is told, what is missing too, and a core that is wrong is found out."""

import importlib.metadata
import platform

import numpy as np
import pytest

pytest.importorskip("typer", reason="the command line needs the extra 'cli'")
pytest.importorskip("rich", reason="the command line needs the extra 'cli'")
import clearance
from clearance import _core
from clearance.cli import doctor as module
from cli_runs import run, told


def test_what_is_there_is_told():
    found = told("doctor")
    assert (found["clearance"], found["numpy"]) == (clearance.__version__, np.__version__)
    assert (found["python"], found["cores"]) == (platform.python_version(), _core.core_count())
    assert found["simd"] == _core.simd()
    assert found["simd"] in found["simd_possible"]
    assert found["extras"]["cli"]["complete"]
    assert found["extras"]["cli"]["packages"]["typer"] == importlib.metadata.version("typer")
    assert set(found["extras"]) >= {"view", "robots", "fit", "cli", "scan", "ros", "gym"}
    assert all(found["self_test"].values())
    printed = run("doctor").stdout
    assert printed.startswith(f"clearance {clearance.__version__}, Python {platform.python_version()}")
    assert "WELL: the core answers right: " in printed


def test_what_is_missing_is_told_with_the_way_to_get_it(monkeypatch):
    there = module._version
    monkeypatch.setattr(module, "_version", lambda name: None if name == "rosbags" else there(name))
    lines = run("doctor").stdout.splitlines()
    (line,) = (line for line in lines if line.startswith("ros "))
    assert line.split() == ["ros", "missing", "no", "rosbags", "pip", "install", "'clearance[ros]'"]
    assert told("doctor")["extras"]["ros"] == {"complete": False, "packages": {"rosbags": None}}


@pytest.mark.parametrize(
    ("found", "wanted", "is_enough"),
    [
        ("13.7.1", ">=13", True),
        ("0.9.3", ">=0.15", False),
        ("0.15", ">=0.15", True),
        ("2.0.0rc1", ">=1.26", True),
        ("1.9", ">=1.11", False),
        ("3.1", "", True),
    ],
)
def test_versions_are_compared_as_numbers(found, wanted, is_enough):
    assert module._is_enough(found, wanted) == is_enough


def test_package_that_is_too_old_is_missing(monkeypatch):
    there = module._version
    monkeypatch.setattr(module, "_version", lambda name: "0.1" if name == "rosbags" else there(name))
    assert not told("doctor")["extras"]["ros"]["complete"]
    assert "rosbags 0.1 (needs >=0.11)" in run("doctor").stdout


def test_core_that_is_wrong_ends_with_3(monkeypatch):
    right = module.distance

    def wrong(a, b, **options):
        gap = right(a, b, **options)
        return gap if options else type("Gap", (), {"lower": gap.lower + 1e-3, "upper": gap.upper + 1e-3})

    monkeypatch.setattr(module, "distance", wrong)
    done = run("doctor", code=3)
    assert "WRONG: the core fails at: closed forms, convex bodies, meshes.\n" in done.stdout
    assert "error: the core gives wrong answers" in done.stderr


def test_instruction_set_stays_as_it_was(simd):
    simd("scalar")
    found = told("doctor")
    assert found["simd"] == "scalar" == _core.simd()
