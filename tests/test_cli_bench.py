"""`clearance bench`: every query is asked and timed, and others agree with the answers."""

import pytest

pytest.importorskip("typer", reason="the command line needs the extra 'cli'")
pytest.importorskip("rich", reason="the command line needs the extra 'cli'")
from clearance.cli import bench as module
from clearance.cli.bench import Query, best, queries
from cli_runs import assert_refused, run, told

QUICK = ("bench", "--seconds", "0.001")


def test_every_query_is_timed():
    found = told(*QUICK)["queries"]
    assert [one["query"] for one in found] == [query.name for query in queries()]
    assert all(one["seconds"] > 0.0 for one in found)
    assert all(one["per_second"] == pytest.approx(1.0 / one["seconds"]) for one in found)
    assert {one["agree"] for one in found} <= {True, None}
    work = {one["query"].split(",")[0]: one["work"] for one in found if one["work"]}
    assert work["check_path"].endswith("postures")
    assert work["guard"].endswith("operations")


@pytest.mark.parametrize(("module_name", "name"), [("coal", "coal"), ("fcl", "python-fcl")])
def test_others_are_asked_where_they_are_installed(module_name, name):
    pytest.importorskip(module_name)
    found = told(*QUICK, "--only", "two")["queries"]
    assert len(found) == 2
    for one in found:
        assert one["agree"]
        assert one["others"][name]["ratio"] == pytest.approx(one["others"][name]["seconds"] / one["seconds"])
    assert f"{name}" in run(*QUICK, "--only", "two capsules").stdout


def test_answer_that_differs_ends_with_3(monkeypatch):
    odd = [Query(one.name, one.ask, rivals={"coal": lambda: 0.3}) for one in queries() if "two capsules" in one.name]
    monkeypatch.setattr(module, "queries", lambda: iter(odd))
    done = run(*QUICK, code=3)
    assert "answers DIFFER" in done.stdout
    assert "error: answers differ: two capsules." in done.stderr


def test_least_time_is_that_of_one_call():
    asked = []
    seconds = best(lambda: asked.append(1), 0.01)
    assert 0.0 < seconds < 0.01
    assert len(asked) > 1


def test_bad_input_ends_with_2(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    assert_refused(
        "bench",
        "--only",
        "nonsense",
        message="no query has 'nonsense' in its name; there are: two capsules; capsules x 10000; box",
    )
    assert_refused("bench", "--seconds", "0", message="--seconds must be positive and finite, but it is 0.0.")
