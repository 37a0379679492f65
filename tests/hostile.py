"""Files that were made to do harm: what every test of them begins with, and what is expected of their readers."""

import io
import zipfile

import numpy as np
import pytest

from strangers import Sent, answers

pytest.importorskip("resource", reason="the memory of a process is limited in this way only")
pytest.importorskip("trimesh", reason="scenes need the extra 'view'")
pytest.importorskip("collada", reason="COLLADA needs the extra 'robots'")

ARCHIVES = ("world.npz", "particles.npz", "recording.npz", "grains.npz")


def assert_refused(wanted, **options):
    """Have files read in another process, which must refuse each of them with an error that says something."""
    for (loader, path), said in zip(wanted, answers(wanted, **options), strict=True):
        assert said != "loaded", (loader, path)
        assert len(said) > len("ValueError: "), (loader, path, said)


def beside(sent: Sent, name: str) -> str:
    """Give a path beside a good file, with its ending."""
    return str(sent.path.with_name(name + sent.path.suffix))


def forged_header(shape, descr="<f8"):
    """Give the header of an array, without the array."""
    header = io.BytesIO()
    np.lib.format.write_array_header_1_0(header, {"descr": descr, "fortran_order": False, "shape": shape})
    return header.getvalue()


def with_member(path, changed, name, data):
    """Copy an archive, one of its members replaced."""
    with zipfile.ZipFile(path) as whole, zipfile.ZipFile(changed, "w") as copy:
        for member in whole.namelist():
            copy.writestr(member, data if member == name else whole.read(member))
    return changed
