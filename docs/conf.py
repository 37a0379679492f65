"""How the documentation is built: `make docs` leaves it in build/docs, and takes every warning for an error."""

import inspect
import re
from pathlib import Path
from typing import Any

from docutils import nodes
from sphinx.addnodes import pending_xref

import clearance
from clearance import _core

project = "clearance"
author = copyright = "The clearance authors"
version = release = clearance.__version__

extensions = ["myst_parser", "sphinx.ext.autodoc", "sphinx.ext.napoleon"]
exclude_patterns = ["static"]
nitpicky = False  # docstrings name types in words: "array_like, (..., 3)"

html_theme = "furo"
html_title = "clearance"
html_static_path = ["static"]
html_css_files = ["site.css"]
html_show_sphinx = html_copy_source = False
QUIET = {
    "color-sidebar-link-text--top-level": "var(--color-foreground-secondary)",
    "color-api-name": "var(--color-brand-content)",
    "color-api-pre-name": "var(--color-foreground-secondary)",
}
html_theme_options = {
    "light_css_variables": {"color-brand-primary": "#1f5fa0", "color-brand-content": "#1f5fa0"} | QUIET,
    "dark_css_variables": {"color-brand-primary": "#7db7f0", "color-brand-content": "#7db7f0"} | QUIET,
}

myst_heading_anchors = 4  # those that GitHub gives to headings, too

# Docstrings tell types in words, signatures only names and defaults. What stands in single quotes is code, and a link
# where it names something.
default_role = "py:obj"
autodoc_typehints = "none"
autodoc_member_order = "bysource"
autodoc_default_options = {"members": True}
autodoc_mock_imports = ["gymnasium"]
maximum_signature_line_length = 100
napoleon_google_docstring = False
napoleon_custom_sections = [("Attributes", "params_style")]
napoleon_use_rtype = False

PAGES = {
    "README.md": "index.md",
    "ARCHITECTURE.md": "architecture.md",
    "CONTRIBUTING.md": "contributing.md",
    "SECURITY.md": "security.md",
    "CHANGELOG.md": "changelog.md",
}
EVERY_DECISION = "\n```{toctree}\n:hidden:\n:glob:\n\n0*\n```\n"


# Links that work on GitHub, and here ---------------------------------------------------------------------------------


def bring_home(app: Any, docname: str, source: list[str]) -> None:
    """Lead links to files outside of docs to the pages that show them, and give the list of decisions its pages."""
    up = "../" * docname.count("/")
    outside = re.compile(rf"\[([^]]*)\]\({re.escape(up)}\.\./([\w./]+)(#[\w-]+)?\)")
    source[0] = outside.sub(lambda link: shown(*link.groups(), up), source[0])
    if docname == "decisions/README":
        source[0] += EVERY_DECISION


def bring_inside(app: Any, path: Path, docname: str, source: list[str]) -> None:
    """Lead links of a file at the root, which a page here includes, to pages here."""
    outside = re.compile(r"\[([^]]*)\]\((?!https?:|#|docs/)([\w./]+)(#[\w-]+)?\)")
    source[0] = outside.sub(lambda link: shown(*link.groups(), ""), source[0]).replace("](docs/", "](")


def shown(text: str, path: str, anchor: str | None, up: str) -> str:
    """Link to the page that shows a file of the repository, or else name the file."""
    if path in PAGES:
        return f"[{text}]({up}{PAGES[path]}{anchor or ''})"
    if path.startswith("examples/"):
        return f"[{text}]({up}examples.md#{Path(path).name.replace('.', '')})"
    return text if text == path else f"{text} (`{path}`)"


# Docstrings, and what the compiled core has in place of them ----------------------------------------------------------


def core_signature(
    app: Any, what: str, name: str, thing: Any, options: Any, signature: str | None, returns: str | None
) -> tuple[str, str] | None:
    """Give what comes from the core the signature that its binding has."""
    written = getattr(thing.__init__ if inspect.isclass(thing) else thing, "__nb_signature__", None)
    if signature is None or (written is None and what != "property"):
        return None
    if what == "property":
        return "", ""
    text, _, defaults = written[0]
    text = re.sub(r"\\(\d+)", lambda k: repr(defaults[int(k[1])]), text)
    arguments, _, gives = text.partition("(self")[2].rpartition(" -> ")
    return "(" + shortened(arguments).removeprefix(", "), "" if gives == "None" else shortened(gives)


def core_docstring(app: Any, what: str, name: str, thing: Any, options: Any, lines: list[str]) -> None:
    """Take signatures out of what comes from the core, and tell types of properties; napoleon comes after this.

    Napoleon takes what stands before the first colon for the type of a property. "Metres; negative: penetration." is
    none, so every text begins with a colon.
    """
    written = getattr(getattr(thing, "fget", thing), "__nb_signature__", None)
    if written is not None:
        signature, doc, _ = written[0]
        lines[:] = (doc or "").splitlines()
        if what == "property":
            gives = shortened(signature.rpartition(" -> ")[2])
            lines[:1] = [f"*{gives}*" + (f" – {lines[0]}" if lines else "")]
    if what == "property" and lines:
        lines[0] = f": {lines[0]}"


def shortened(text: str) -> str:
    """Write types as docstrings do."""
    text = text.replace("numpy.typing.NDArray[numpy.float64]", "ndarray")
    text = re.sub(r"numpy\.typing\.NDArray\[numpy\.(\w+)\]", r"ndarray of \1", text)
    return re.sub(r"\b(?:numpy\.typing|collections\.abc|typing|os|clearance\._core)\.", "", text)


def told_already(app: Any, what: str, name: str, thing: Any, skip: bool, options: Any) -> bool | None:
    """Leave out members that the docstring of their class lists as attributes."""
    if (inspect.getdoc(thing) or "").startswith("Alias for field number"):
        return True
    if not (isinstance(thing, property) and inspect.isfunction(thing.fget)):
        return None
    owner, _, member = thing.fget.__qualname__.rpartition(".")
    doc = inspect.getdoc(getattr(inspect.getmodule(thing.fget), owner)) or ""
    listed = re.findall(r"^(\w[\w, ]*)", doc.partition("Attributes\n----------\n")[2], re.MULTILINE)
    return True if member in re.split(r"\W+", " ".join(listed)) else None


def link_classes_only(app: Any, doctree: Any) -> None:
    """Make words of described types links where they name a class, not where some method happens to have that name."""
    for reference in list(doctree.findall(pending_xref)):
        if "refspecific" in reference and not reference["reftarget"].rpartition(".")[2][:1].isupper():
            reference.replace_self(reference.children)
    for field in doctree.findall(nodes.field):
        if field[0].astext() in ("Returns", "Attributes"):
            for words in list(field[1].findall(nodes.emphasis)):
                words[:] = [linked(word) for word in re.split(r"(\W+)", words.astext()) if word]


def linked(word: str) -> nodes.Node:
    """Make a reference of a word that may name a class."""
    text = nodes.Text(word)
    if not re.match(r"[A-Z]\w*[a-z]", word):
        return text
    return pending_xref("", text, refdomain="py", reftype="class", reftarget=word, refspecific=True)


def setup(app: Any) -> None:
    """Hook into the build. Classes of the core have to have a signature before `core_signature` is asked for it."""
    for kind in vars(_core).values():
        if inspect.isclass(kind) and hasattr(kind.__init__, "__nb_signature__"):
            kind.__signature__ = inspect.Signature()
    app.connect("source-read", bring_home)
    app.connect("include-read", bring_inside)
    app.connect("autodoc-process-signature", core_signature)
    app.connect("autodoc-process-docstring", core_docstring, priority=400)  # napoleon has 500
    app.connect("autodoc-skip-member", told_already)
    app.connect("doctree-read", link_classes_only)
