"""The documentation builds without a warning, its reference is complete, and its links lead somewhere."""

import contextlib
import importlib
import io
import re
import runpy
import subprocess
import sys
from pathlib import Path
from types import ModuleType

import pytest

import clearance as cl
from test_readme import PRINTED, blocks_of

ROOT = Path(__file__).parent.parent
DOCS = ROOT / "docs"
PAGES = sorted(DOCS.glob("**/*.md"))
OF_THE_REPOSITORY = sorted(ROOT.glob("*.md"))
RUNNING = [DOCS / "index.md", DOCS / "install.md", *sorted((DOCS / "concepts").glob("*.md"))]
PUBLIC = [cl, cl.poses, cl.elements, cl.samples, cl.errors, cl.simulation, cl.simulation.models]
FENCED = re.compile(r"^(```+).*?^\1$", re.MULTILINE | re.DOTALL)
MOST_BYTES = 200_000  # of a picture of a concept


def named(path):
    return str(path.relative_to(ROOT))


def prose(path):
    """Return what a page says outside of its blocks of code."""
    return FENCED.sub("", path.read_text(encoding="utf-8"))


def anchors_of(path):
    """Return the anchors that GitHub and MyST give to the headings of a page."""
    found = []
    for heading in re.findall(r"^#+ (.*)$", prose(path), re.MULTILINE):
        plain = re.sub(r"\[([^]]*)\]\([^)]*\)", r"\1", heading).lower()
        slug = re.sub(r"[^\w\- ]", "", plain).strip().replace(" ", "-")
        found.append(f"{slug}-{found.count(slug)}" if slug in found else slug)
    return found


def links_of(path):
    """Yield file and anchor of every link and picture on a page that leads to the repository."""
    for link in re.findall(r"\]\(([^)\s]+)\)", prose(path)):
        if not re.match(r"[a-z]+:", link):
            file, _, anchor = link.partition("#")
            yield (path.parent / file).resolve() if file else path, anchor


def directives_of(path, name):
    """Yield argument and lines of every directive of a kind on a page."""
    pattern = rf"^```\{{{name}\}} ?([^\n]*)\n(.*?)^```$"
    for argument, body in re.findall(pattern, path.read_text(encoding="utf-8"), re.MULTILINE | re.DOTALL):
        yield argument, [line for line in body.splitlines() if line and not line.startswith(":")]


@pytest.mark.parametrize("page", [*PAGES, *OF_THE_REPOSITORY], ids=named)
def test_links_and_pictures_lead_somewhere(page):
    for file, anchor in links_of(page):
        assert file.exists(), file
        if anchor and file.suffix == ".md":
            assert anchor in anchors_of(file), f"{file}#{anchor}"


@pytest.mark.parametrize("page", PAGES, ids=named)
def test_files_that_a_page_shows_are_there(page):
    for kind in ("include", "literalinclude", "image"):
        for file, _ in directives_of(page, kind):
            assert (page.parent / file).is_file(), file


def test_every_page_is_in_one_table_of_contents():
    listed = ["index", *(f"decisions/{page.stem}" for page in DOCS.glob("decisions/0*.md"))]
    for page in PAGES:
        for _, entries in directives_of(page, "toctree"):
            files = [re.sub(r".*<(.*)>", r"\1", entry) for entry in entries]
            listed += [str((page.parent / file).relative_to(DOCS)) for file in files]
    assert sorted(listed) == sorted(str(page.relative_to(DOCS).with_suffix("")) for page in PAGES)


def test_every_example_is_shown():
    shown = [Path(file).name for file, _ in directives_of(DOCS / "examples.md", "literalinclude")]
    assert sorted(shown) == sorted(path.name for path in (ROOT / "examples").iterdir() if path.is_file())


def test_pictures_of_concepts_are_drawn_and_small(tmp_path):
    pytest.importorskip("matplotlib", reason="pictures need the extra 'view'")
    from matplotlib.image import imread

    runpy.run_path(str(DOCS / "concepts/pictures.py"))["main"](tmp_path)
    drawn = {path.name for path in tmp_path.iterdir()}
    shown = {file for page in DOCS.glob("concepts/*.md") for file, _ in links_of(page) if file.suffix == ".png"}
    assert drawn == {file.name for file in shown if file.name.startswith("concept_")}
    assert all((imread(tmp_path / name)[..., :3] < 0.9).any() for name in drawn)
    assert all(file.stat().st_size < MOST_BYTES for file in shown)


@pytest.mark.parametrize("page", RUNNING, ids=named)
def test_code_blocks_run_and_print_what_they_say(page):
    blocks = list(blocks_of(page.read_text(encoding="utf-8")))
    assert blocks
    names = {"__name__": page.stem}
    for block in blocks:
        with contextlib.redirect_stdout(io.StringIO()) as printed:
            exec(compile(block, page, "exec"), names)
        assert [line.rstrip() for line in printed.getvalue().splitlines()] == PRINTED.findall(block)


# The reference -------------------------------------------------------------------------------------------------------


def reference():
    """Return the full names that the pages of the reference describe, in their order."""
    found, module = [], ""
    for page in sorted((DOCS / "api").glob("*.md")):
        for kind, name in re.findall(r"^\.\. (\w+):: (\S+)$", page.read_text(encoding="utf-8"), re.MULTILINE):
            if kind == "currentmodule":
                module = name
            else:
                found.append(f"{module}.{name}")
    return found


def public_names():
    """Return the full names of everything public that is not a module."""
    for module in PUBLIC:
        for name in module.__all__:
            if not isinstance(getattr(module, name), ModuleType):
                yield f"{module.__name__}.{name}"


def thing_called(name):
    """Return what has a full name, or None."""
    module, parts = None, name.split(".")
    for k in range(1, len(parts)):
        with contextlib.suppress(ModuleNotFoundError):
            module, rest = importlib.import_module(".".join(parts[:k])), parts[k:]
    for part in rest:
        module = getattr(module, part, None)
    return module


def test_reference_describes_everything_public():
    assert sorted(set(public_names()) - set(reference())) == []


def test_reference_describes_everything_once():
    assert sorted(set(reference())) == sorted(reference())


def test_reference_describes_only_what_there_is():
    optional = {"clearance.gym.AckermannParking"}  # its module is not there without Gymnasium
    assert [name for name in reference() if name not in optional and thing_called(name) is None] == []


# The site itself -----------------------------------------------------------------------------------------------------


@pytest.fixture(scope="module")
def site(tmp_path_factory):
    """Return the folder of the site, built with every warning taken for an error."""
    for package in ("sphinx", "furo", "myst_parser"):
        pytest.importorskip(package, reason="building the site needs the dependency group 'docs'")
    folder = tmp_path_factory.mktemp("site")
    command = [sys.executable, "-m", "sphinx", "-W", "--keep-going", "-q", str(DOCS), str(folder)]
    built = subprocess.run(command, capture_output=True, text=True, check=False)
    assert built.returncode == 0, built.stderr
    return folder


def described_in(folder):
    """Return the full names of everything that a site has an anchor for."""
    from sphinx.util.inventory import InventoryFile

    with (folder / "objects.inv").open("rb") as file:
        inventory = InventoryFile.load(file, "", lambda base, path: path)
    return {name for kind, names in inventory.items() if kind.startswith("py:") for name in names}


@pytest.mark.long
def test_site_builds_and_has_an_anchor_for_every_name(site):
    assert sorted(set(reference()) - described_in(site)) == []


@pytest.mark.long
def test_site_tells_of_all_that_classes_of_the_core_have(site):
    described = described_in(site)
    for name in reference():
        kind = thing_called(name)
        if isinstance(kind, type) and kind.__module__ == "clearance._core":
            missing = [key for key in vars(kind) if key[0] != "_" and f"{name}.{key}" not in described]
            assert missing == [], name


@pytest.mark.long
def test_site_shows_signatures_of_the_core_without_their_module(site):
    text = re.sub(r"<[^>]*>", "", (site / "api/shapes.html").read_text(encoding="utf-8"))
    assert "clearance.Capsule(radius: float, length: float)" in text
    assert "_core" not in text
