"""Files that a robot description names: where they are, and whether it may name them at all.

A description may come from a stranger. It reads what lies in its own folder, in the package that this folder belongs
to, in the packages that it names and in the folders that the caller names; nothing else, whatever `..` and links say.
"""

from __future__ import annotations

import os
import re
from collections.abc import Iterable, Iterator, Sequence
from os import PathLike
from pathlib import Path
from typing import NamedTuple
from urllib.parse import unquote
from urllib.request import url2pathname

__all__ = ["Resources"]

# Folders that a package keeps its descriptions in, beside those of its meshes.
DESCRIPTION_FOLDERS = ("urdf", "robots", "xacro")


class Candidate(NamedTuple):
    path: Path
    roots: tuple[Path, ...]  # it must stay inside one of these
    is_installed: bool = False  # then links may lead anywhere: installers make them
    proof: Path | None = None  # a file that must be there, too


class Resources:
    """Where the files are that a robot description names.

    Parameters
    ----------
    path : path_like
        The description itself.
    package_dirs : path_like or sequence of path_like
        Folders of packages, or folders that hold them; searched first.

    Raises
    ------
    FileNotFoundError
        If one of the folders is not there.

    Examples
    --------
    >>> from pathlib import Path
    >>> Path("arm/meshes").mkdir(parents=True)
    >>> _ = Path("arm/meshes/hand.stl").write_text("solid hand")
    >>> Resources("arm/arm.urdf").find("package://arm/meshes/hand.stl").name
    'hand.stl'
    """

    def __init__(
        self, path: str | PathLike[str], package_dirs: str | PathLike[str] | Iterable[str | PathLike[str]] = ()
    ) -> None:
        given = [package_dirs] if isinstance(package_dirs, str | PathLike) else package_dirs
        self.package_dirs = tuple(_absolute(folder) for folder in given)
        for folder in self.package_dirs:
            if not folder.is_dir():
                raise FileNotFoundError(f"package_dirs names {folder}, but there is no such folder.")
        # A description may be reached through a link; its meshes stand beside the one or the other.
        self.folders = _distinct(_absolute(path).parent, _real(path).parent)
        own = (root for folder in self.folders for root in (folder, *_package_of(folder)))
        self.roots = _distinct(*self.package_dirs, *own)

    def find(self, uri: str) -> Path:
        """Find a file.

        Parameters
        ----------
        uri : str
            `package://name/path`, `model://name/path`, `file:///path`, or a path; a relative one begins at the folder
            of the description.

        Returns
        -------
        Path
            Without links.

        Raises
        ------
        FileNotFoundError
            If it is in none of the places where it might be; they are listed.
        ValueError
            If it leads out of all folders that may be read.
        """
        tried: list[str] = []
        refused: list[Path] = []
        for candidate in self._candidates(uri):
            if not _stays_inside(candidate):
                refused.append(candidate.path)
            elif candidate.proof and not _is_file(candidate.proof):
                tried.append(f"{candidate.path} (no package: there is no {candidate.proof.name})")
            elif _is_file(found := _real(candidate.path)):
                return found
            else:
                tried.append(str(candidate.path))
        if refused:
            place, folders = _shortened(os.path.normpath(refused[0])), ", ".join(map(str, self.roots))
            raise ValueError(
                f"{_quoted(uri)} leads to {place}, which is outside of the folders of this robot ({folders}); "
                "to allow it, name its folder in package_dirs."
            )
        places = "".join(f"\n    {_shortened(place)}" for place in dict.fromkeys(tried))
        raise FileNotFoundError(f"{_quoted(uri)} is in none of these places:{places}")

    def packages(self) -> dict[str, Path]:
        """Give the packages around the description and in `package_dirs`, by name; the latter come first."""
        around = [above for folder in self.folders for above in _package_of(folder)]
        neighbours = [folder for package in around for folder in _inner_folders(package.parent)]
        found = [folder for folder in (*neighbours, *around) if _is_file(folder / "package.xml")]
        for folder in reversed(self.package_dirs):
            found += [*_inner_folders(folder), folder]
        return {name: folder for folder in found for name in (_said_name(folder), folder.name) if name}

    def _candidates(self, uri: str) -> Iterator[Candidate]:
        scheme, separator, rest = uri.partition("://")
        match scheme.lower() if separator else "":
            case "":
                yield from self._plain(uri)
            case "package" | "model":
                name, _, inner = rest.lstrip("/").partition("/")
                if name in ("", ".", "..") or set(name) & set("\\:"):
                    raise ValueError(f"{_quoted(uri)} names no package.")
                yield from self._packaged(name, inner.lstrip("/"))
            case "file":
                host, slash, inner = rest.partition("/")
                if host not in ("", "localhost"):
                    raise ValueError(f"{_quoted(uri)} is on another machine; only files of this one are read.")
                yield from self._plain(url2pathname(slash + inner) if os.name == "nt" else unquote(slash + inner))
            case _:
                raise ValueError(f"{_quoted(uri)} must begin with package://, model:// or file://, or be a path.")

    def _plain(self, path: str) -> Iterator[Candidate]:
        # An absolute path stands alone, whatever folder is put before it.
        for place in _distinct(*(folder / path for folder in self.folders)):
            yield Candidate(place, self.roots)
        for place in _distinct(*(folder / path for folder in self.package_dirs)):
            if _is_within(os.path.normpath(place), self.roots):
                yield Candidate(place, self.roots)
        if Path(path).is_absolute():
            for installed in (*_search_path("ROS_PACKAGE_PATH"), *_search_path("AMENT_PREFIX_PATH", "share")):
                if _is_within(path, (installed,)):
                    yield Candidate(Path(path), (installed,), is_installed=True)

    def _packaged(self, name: str, path: str) -> Iterator[Candidate]:
        for folder in self.package_dirs:
            if _is_package(folder, name):
                yield Candidate(folder / path, self.roots)
            yield Candidate(folder / name / path, self.roots)
        for above in _distinct(*(above for folder in self.folders for above in (folder, *folder.parents))):
            if _is_package(above, name) and not _holds_home(above):
                yield Candidate(above / path, (above, *self.roots))
            # A neighbour is a package only if it says so: `package://etc` must not mean a folder of the system.
            proof = None if _is_within(above / name, self.roots) else above / name / "package.xml"
            yield Candidate(above / name / path, (above / name, *self.roots), proof=proof)
        for folder in _search_path("ROS_PACKAGE_PATH"):
            if _is_package(folder, name):
                yield Candidate(folder / path, (folder,), is_installed=True)
            yield Candidate(folder / name / path, (folder,), is_installed=True)
        for folder in _search_path("AMENT_PREFIX_PATH", "share"):
            yield Candidate(folder / name / path, (folder / name,), is_installed=True)


def _package_of(folder: Path) -> Iterator[Path]:
    """Give the folder of the package that this folder belongs to, if it can be told."""
    for above in (folder, *folder.parents):
        if _is_file(above / "package.xml"):
            yield above
            return
    if folder.name in DESCRIPTION_FOLDERS and not _holds_home(folder.parent):
        yield folder.parent


def _is_package(folder: Path, name: str) -> bool:
    return name in (folder.name, _said_name(folder))


def _said_name(folder: Path) -> str | None:
    """Give the name that `package.xml` says; the folder of a download is often called differently."""
    try:
        if not _is_file(folder / "package.xml"):  # a pipe of this name would keep us waiting
            return None
        with (folder / "package.xml").open("rb") as file:
            said = re.search(rb"<name>\s*([^<\s]+)\s*</name>", file.read(1 << 16))
    except OSError:
        return None
    return said[1].decode(errors="replace") if said else None


def _inner_folders(folder: Path) -> list[Path]:
    try:
        return sorted(inner for inner in folder.iterdir() if inner.is_dir())
    except OSError:
        return []


def _holds_home(folder: Path) -> bool:
    """Tell whether a folder is so wide that it cannot be meant as a package: a home, or what homes are in."""
    return _is_within(Path.home(), (folder,))


def _search_path(variable: str, inner: str = "") -> list[Path]:
    folders = filter(None, os.environ.get(variable, "").split(os.pathsep))
    return [_absolute(folder) / inner for folder in folders]


def _stays_inside(candidate: Candidate) -> bool:
    # By its letters first, so that a path that leads away is not even looked at; then with links followed.
    if not _is_within(os.path.normpath(candidate.path), candidate.roots):
        return False
    return candidate.is_installed or _is_within(_real(candidate.path), [_real(root) for root in candidate.roots])


def _is_within(path: str | Path, roots: Sequence[Path]) -> bool:
    return any(Path(path).is_relative_to(root) for root in roots)


def _is_file(path: Path) -> bool:
    try:
        return path.is_file()
    except OSError:  # a name too long for the file system, a folder closed to us
        return False


def _absolute(path: str | PathLike[str]) -> Path:
    """Give an absolute path without `..`; links stay where they can."""
    return _real(path) if ".." in Path(path).parts else Path(path).absolute()


def _real(path: str | PathLike[str]) -> Path:
    return Path(os.path.realpath(path))


def _distinct(*paths: Path) -> tuple[Path, ...]:
    return tuple(dict.fromkeys(paths))


def _quoted(uri: str) -> str:
    return repr(_shortened(uri))


def _shortened(text: str) -> str:
    return text if len(text) <= 400 else text[:397] + "..."
