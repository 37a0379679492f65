"""Pages for those who come from other libraries: our side prints what it says, and both sides agree."""

import re
from pathlib import Path
from types import GetSetDescriptorType
from typing import NamedTuple

import numpy as np
import pytest

import clearance as cl
from test_readme import PRINTED

PAGES = Path(__file__).parent.parent / "docs" / "migration"
BLOCK = re.compile(r"^```python(?: (\w+))?\n(.*?)^```$", re.MULTILINE | re.DOTALL)  # the word is whose side it is


class Peer(NamedTuple):
    """Another library, and the results that both sides give under the same names."""

    page: str
    module: str
    lengths: tuple[str, ...]
    tolerance: float  # of lengths, in metres
    directions: tuple[str, ...]  # points and normals, which are off by about the root of that


PEERS = [
    Peer("python_fcl", "fcl", ("distance", "depth", "time_of_contact", "distances"), 1e-5, ("point_a", "point_b")),
    Peer("coal", "coal", ("distance", "overlap", "is_near", "distances"), 1e-5, ("point_a", "point_b", "normal")),
    # Its shapes are rounded or grown by a millimetre, as its page says.
    Peer("pybullet", "pybullet", ("distance", "ranges", "clearance"), 1e-3, ("point_a", "point_b", "normal")),
]


def run(page, side, capsys):
    """Run the blocks of one side; give their names, and what they print beside what they say."""
    text = (PAGES / f"{page}.md").read_text(encoding="utf-8")
    names, printed, said = {"__name__": page}, [], []
    for block in BLOCK.finditer(text):
        if block[1] == side:
            code = "\n" * text.count("\n", 0, block.start(2)) + block[2]
            exec(compile(code, PAGES / f"{page}.md", "exec"), names)
            printed += [line.rstrip() for line in capsys.readouterr().out.splitlines()]
            said += PRINTED.findall(block[2])
    return names, printed, said


@pytest.mark.parametrize("page", [*(peer.page for peer in PEERS), "pqp"])
def test_our_side_runs_and_prints_what_it_says(page, capsys):
    _, printed, said = run(page, None, capsys)
    assert printed == said
    assert said


@pytest.mark.parametrize("peer", PEERS, ids=lambda peer: peer.page)
def test_both_sides_agree(peer, capsys):
    pytest.importorskip(peer.module, reason=f"the other side is not installed: pip install {peer.page}")
    ours, theirs = (run(peer.page, side, capsys)[0] for side in (None, peer.module))
    for name in peer.lengths:
        np.testing.assert_allclose(theirs[name], ours[name], rtol=0.0, atol=peer.tolerance, err_msg=name)
    for name in peer.directions:
        np.testing.assert_allclose(theirs[name], ours[name], rtol=0.0, atol=2e-3, err_msg=name)


def test_triangles_that_meet_are_as_many_as_pairs_without_distance(capsys):
    names, _, _ = run("pqp", None, capsys)
    cl, a, b = names["cl"], names["a"], names["b"]
    one, other = (
        mesh.vertices[mesh.faces] @ turn.T + place
        for mesh, turn, place in ((a, names["R1"], names["T1"]), (b, names["R2"], names["T3"]))
    )
    meet = cl.elements.closest(one[:, None], other[None, :]).distance <= 0.0
    assert 0 < np.count_nonzero(meet) == len(np.unique(names["hit"].features, axis=0))


# What the tables name -------------------------------------------------------------------------------------------------

OURS = {
    "cl": cl,
    "sim": cl.simulation,
    "gap": cl.Gap,
    "hits": cl.Hits,
    "robot": cl.Robot,
    "scene": cl.Scene,
    "world": cl.simulation.World,
}
THEIRS = {"python_fcl": {"fcl": "fcl"}, "coal": {"coal": "coal"}, "pybullet": {"p": "pybullet"}}


def missing_names(page, prefix, thing):
    """Return the dotted names of a page, outside of its blocks, that begin with a prefix and that a thing lacks."""
    prose = BLOCK.sub("", (PAGES / f"{page}.md").read_text(encoding="utf-8"))
    words = " ".join(re.findall(r"`([^`]+)`", prose))
    found = set(re.findall(rf"(?<![\w.]){prefix}\.([A-Za-z_][\w.]*\w)", words))
    assert found or prefix != "cl"
    return sorted(name for name in found if not has(thing, name))


def has(thing, name):
    """Tell whether a class or module has a name; what its values have in turn is not known here."""
    for part in name.split("."):
        if part in getattr(thing, "__dataclass_fields__", ()):
            return True
        if not hasattr(thing, part):
            return False
        thing = getattr(thing, part)
        if isinstance(thing, property | GetSetDescriptorType):
            return True
    return True


@pytest.mark.parametrize("page", [*(peer.page for peer in PEERS), "pqp"])
def test_tables_name_only_what_there_is(page):
    missing = {prefix: missing_names(page, prefix, thing) for prefix, thing in OURS.items()}
    assert not any(missing.values()), missing


@pytest.mark.parametrize("page", THEIRS)
def test_tables_name_only_what_the_other_library_has(page):
    for prefix, module in THEIRS[page].items():
        library = pytest.importorskip(module, reason=f"the other side is not installed: {module}")
        assert missing_names(page, prefix, library) == []
