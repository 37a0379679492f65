"""The tutorials run, print what they say, and make the pictures that they show.

Run as a script, it puts new pictures into docs/images.
"""

import contextlib
import io
import shutil
import tempfile
from pathlib import Path

import numpy as np
import pytest

from test_readme import PRINTED, blocks_of

pytest.importorskip("matplotlib", reason="tutorials end with pictures; they need the extra 'view'")
from matplotlib.image import imread

DOCS = Path(__file__).parent.parent / "docs"
NAMES = ["planning", "control", "safety", "simulation", "mobile"]
LARGEST = 200_000  # bytes of a picture


def text_of(name):
    return (DOCS / "tutorials" / f"{name}.md").read_text(encoding="utf-8")


def lines_of(name):
    """Run the blocks of a page in this folder; give what each prints beside what it says."""
    names = {"__name__": name}
    for block in blocks_of(text_of(name)):
        with contextlib.redirect_stdout(io.StringIO()) as printed:
            exec(compile(block, DOCS / "tutorials" / f"{name}.md", "exec"), names)
        yield [line.rstrip() for line in printed.getvalue().splitlines()], PRINTED.findall(block)


def thumbnail(path):
    """Means of 32 x 32 cells, so that fonts and the last pixel do not matter."""
    grey = imread(path)[..., :3].mean(axis=-1)
    return np.array([[cell.mean() for cell in np.array_split(row, 32, axis=1)] for row in np.array_split(grey, 32)])


def likeness(one, other):
    return np.corrcoef(thumbnail(one).ravel(), thumbnail(other).ravel())[0, 1]


@pytest.mark.parametrize("name", NAMES)
def test_tutorials_print_what_they_say_and_make_the_picture_that_they_show(name, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    for printed, said in lines_of(name):
        assert printed == said
    picture = f"tutorial_{name}.png"
    alike = likeness(tmp_path / picture, DOCS / "images" / picture)
    assert alike > 0.95  # in a crash one sees what changed in the last digit


@pytest.mark.parametrize("name", NAMES)
def test_tutorials_begin_with_the_installation_and_tell_where_to_go_next(name):
    text = text_of(name)
    headings = [line for line in text.splitlines() if line.startswith("## ")]
    assert headings[0] == "## Install"
    assert headings[-1] == "## Where to go next"
    assert "$ pip install" in text[: text.index("```python")]
    assert f"](../images/tutorial_{name}.png)" in text


@pytest.mark.parametrize("name", NAMES)
def test_pictures_are_small_and_differ(name):
    picture = DOCS / "images" / f"tutorial_{name}.png"
    assert picture.stat().st_size < LARGEST
    others = [DOCS / "images" / f"tutorial_{other}.png" for other in NAMES if other != name]
    assert max(likeness(picture, other) for other in others) < 0.8


if __name__ == "__main__":
    for name in NAMES:
        with tempfile.TemporaryDirectory() as folder, contextlib.chdir(folder):
            print(name, all(printed == said for printed, said in lines_of(name)))
            shutil.copy(f"tutorial_{name}.png", DOCS / "images")
