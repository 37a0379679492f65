"""The soak test of benchmarks/soak.py for a few seconds: answers do not change, and memory that is lost would show."""

import os
import sys
from pathlib import Path

import pytest

sys.path.insert(0, str(Path(__file__).parent.parent / "benchmarks"))

import soak

LEAK = 16_000  # bytes per query that would be noticed
QUERIES = 1500


def asked_until(count):
    """Ask for a few seconds, and longer where the machine is slow."""
    for seconds in (4.0, 16.0, 64.0):
        found = soak.soak(seconds, 0.4 * seconds, threads=4)
        if found.asked_since >= count or found.errors or found.changed.total():
            break
    return found


def test_answers_do_not_change_and_memory_stays():
    found = asked_until(QUERIES)
    assert found.errors == []
    assert found.changed.total() == 0
    assert set(found.counts) == set(found.changed), "every query is asked at least once"
    assert len(found.counts) >= 15
    assert found.growth * 2**20 < LEAK * QUERIES


def test_an_answer_that_changes_is_noticed():
    answers = iter(range(10**9))
    found = soak._soak({"next": lambda: next(answers)}, 0.05, 0.01, threads=2)
    assert found.changed.total() == found.counts.total() > 0


@pytest.mark.skipif("asan" in os.environ.get("LD_PRELOAD", ""), reason="a sanitizer keeps freed memory")
def test_memory_that_is_lost_is_noticed():
    kept = []
    found = soak._soak({"keep": lambda: kept.append(bytearray(b"x") * LEAK) or 0}, 1.0, 0.2, threads=2)
    assert found.growth * 2**20 > 0.5 * LEAK * found.asked_since > 0
