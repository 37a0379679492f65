"""What the docstrings show runs, what is public is described, and the types told to checkers are those there are."""

import ast
import doctest
import importlib
import inspect
import pkgutil
import re
from pathlib import Path

import numpy as np
import pytest

import clearance
from clearance import _core
from extras import missing_extra

MODULES = sorted(
    module.name
    for folder, prefix in ((clearance, "clearance."), (clearance.simulation, "clearance.simulation."))
    for module in pkgutil.iter_modules(folder.__path__, prefix)
    if not module.name.startswith("clearance._")
)
every_module = pytest.mark.parametrize("name", ["clearance", *MODULES])


class Examples(doctest.DocTestRunner):
    """Runs examples, and lets errors through that are for want of an extra."""

    def report_unexpected_exception(self, out, test, example, exc_info):
        if missing_extra(exc_info[1]):
            raise exc_info[1]
        super().report_unexpected_exception(out, test, example, exc_info)


def public(module):
    """Return what a module offers, by name: all of `__all__` that it makes itself or takes from the core."""
    return {name: getattr(module, name) for name in getattr(module, "__all__", ())}


def python_functions(module):
    """Return public functions, and public methods and properties of public classes, that are written in Python."""
    found = {}
    for name, thing in public(module).items():
        if inspect.isfunction(inspect.unwrap(thing)):
            found[name] = thing
        elif inspect.isclass(thing) and thing.__module__ == module.__name__:
            for key, member in vars(thing).items():
                member = member.fget if isinstance(member, property) else member
                if inspect.isfunction(member) and not key.startswith("_") and member.__name__ != "<lambda>":
                    found[f"{name}.{key}"] = member
    return found


def section_of(doc, title):
    """Return the lines of one section of a numpydoc docstring, or None."""
    found = re.search(rf"^{title}\n-+\n(.*?)(?=^\w+\n-+\n|\Z)", doc, re.MULTILINE | re.DOTALL)
    return found and found[1]


@every_module
def test_examples_run_and_print_what_they_say(name, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    module = importlib.import_module(name)
    names = {"np": np, "clearance": clearance} | public(clearance) | vars(module)
    examples = Examples()
    for test in doctest.DocTestFinder().find(module, globs=names):
        examples.run(test)
    assert examples.failures == 0


@every_module
def test_names_that_are_offered_exist(name):
    module = importlib.import_module(name)
    if not hasattr(module, "__all__"):
        pytest.skip(f"{name} is run, not imported")
    assert all(hasattr(module, offered) for offered in module.__all__)
    assert sorted(set(module.__all__)) == sorted(module.__all__)


@every_module
def test_everything_public_is_described(name):
    module = importlib.import_module(name)
    assert module.__doc__
    for offered, thing in public(module).items():
        if inspect.isroutine(thing) or inspect.isclass(thing):
            assert (thing.__doc__ or "").strip(), offered
    for offered, function in python_functions(module).items():
        summary = inspect.getdoc(function) or ""
        assert summary.split("\n\n")[0].endswith("."), offered


@every_module
def test_parameters_are_described_one_by_one(name):
    for offered, function in python_functions(importlib.import_module(name)).items():
        doc = inspect.getdoc(function)
        expected = [parameter for parameter in inspect.signature(function).parameters if parameter != "self"]
        parameters = section_of(doc, "Parameters")
        if parameters is None and "." in offered and "\n" not in doc:
            continue  # a method that one line says it all about
        found = [
            n for line in re.findall(r"^(\S.*?)(?: :.*)?$", parameters or "", re.MULTILINE) for n in line.split(", ")
        ]
        assert found == expected, offered


@every_module
def test_functions_say_what_they_return_and_show_how_to_call_them(name):
    for offered, function in python_functions(importlib.import_module(name)).items():
        doc = inspect.getdoc(function)
        if "." in offered or offered == "main":
            continue  # methods are shown by their class, and programs by the command line
        gives = inspect.signature(function).return_annotation
        assert (section_of(doc, "Returns") is not None) == (gives not in (None, "None")), offered
        assert ">>>" in (section_of(doc, "Examples") or ""), offered


# The stub of the core ------------------------------------------------------------------------------------------------


@pytest.fixture(scope="module")
def stub():
    path = Path(clearance.__file__).with_name("_core.pyi")
    if not path.exists():
        pytest.skip("this build has no stub")
    return ast.parse(path.read_text(encoding="utf-8"))


def names_in(body):
    """Return the names that a class or module defines, overloads once."""
    names = [node.name for node in body if isinstance(node, ast.FunctionDef | ast.ClassDef)]
    overloaded = {
        n.name for n in body if isinstance(n, ast.FunctionDef) and any(is_overload(d) for d in n.decorator_list)
    }
    return [name for name in names if name not in overloaded] + sorted(overloaded)


def is_overload(decorator):
    return isinstance(decorator, ast.Name) and decorator.id == "overload"


def test_stub_describes_the_core_and_nothing_else(stub):
    there = {name for name in dir(_core) if not name.startswith("__")}
    assert set(names_in(stub.body)) == there
    for node in stub.body:
        if isinstance(node, ast.ClassDef):
            kind = getattr(_core, node.name)
            described = {name for name in names_in(node.body) if not name.startswith("__")}
            assert described == {name for name in vars(kind) if not name.startswith("_")}, node.name


def test_stub_describes_everything_once(stub):
    for body in (stub.body, *(node.body for node in stub.body if isinstance(node, ast.ClassDef))):
        names = names_in(body)
        assert sorted(set(names)) == sorted(names)


def test_stub_imports_only_what_there_is(stub):
    for node in ast.walk(stub):
        if isinstance(node, ast.ImportFrom):
            module = importlib.import_module(node.module)
            assert all(hasattr(module, alias.name) for alias in node.names), node.module


def test_package_says_that_it_is_typed():
    assert Path(clearance.__file__).with_name("py.typed").exists()
