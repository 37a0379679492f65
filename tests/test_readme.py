"""What the documentation shows runs, and prints what it says."""

import contextlib
import io
import re
from pathlib import Path

import pytest

ROOT = Path(__file__).parent.parent
PAGES = sorted(path.relative_to(ROOT) for path in [*ROOT.glob("*.md"), *ROOT.glob("docs/**/*.md")])
RUNNING = [
    "README.md",
    *(f"docs/{name}.md" for name in ("guide", "robots", "guard", "scanners", "simulation", "packings")),
]
BLOCK = re.compile(r"^```python\n(.*?)^```$", re.MULTILINE | re.DOTALL)
PRINTED = re.compile(r"#> ?(.*)")  # in a block: one line that is printed


def blocks_of(text):
    """Yield the code blocks of a page, each moved to the line it stands on, so that tracebacks name that line."""
    for block in BLOCK.finditer(text):
        yield "\n" * text.count("\n", 0, block.start(1)) + block[1]


@pytest.mark.parametrize("name", RUNNING)
def test_code_blocks_run_and_print_what_they_say(name):
    text = (ROOT / name).read_text(encoding="utf-8")
    blocks = list(blocks_of(text))
    assert len(blocks) == text.count("```python") > 0
    names = {"__name__": name}
    for block in blocks:
        with contextlib.redirect_stdout(io.StringIO()) as printed:
            exec(compile(block, ROOT / name, "exec"), names)
        assert [line.rstrip() for line in printed.getvalue().splitlines()] == PRINTED.findall(block)


@pytest.mark.parametrize("page", PAGES, ids=str)
def test_links_lead_somewhere(page):
    links = re.findall(r"\]\((?!https?:)([^)#]+)", (ROOT / page).read_text(encoding="utf-8"))
    assert [link for link in links if not (ROOT / page.parent / link).exists()] == []
