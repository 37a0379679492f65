"""What a file claims of itself is not believed before as much is there."""

import io
import json
import struct
import zipfile

import numpy as np
import pytest

from clearance.simulation import archives
from clearance.simulation.grain_recordings import GrainRecording
from clearance.simulation.recordings import Recording
from hostile import ARCHIVES, assert_refused, forged_header, with_member
from strangers import answers, gltf, ply_header, stl_binary

SHAPES = [(2**28,), (2**31, 8), (10**14, 18), (0, -1), (-2, -3), (2**40,), (True, 3)]
KINDS = ["|O", "|V8", "<M8[s]", "<U9", [("a", "<f8"), ("b", "|O")], "<c16"]


def test_arrays_that_claim_what_is_not_there_are_refused(good, tmp_path):
    headers = [forged_header(shape) + bytes(48) for shape in SHAPES]
    headers += [forged_header((0,), kind) for kind in KINDS]
    headers += [forged_header((3,)).replace(b"(3,)", text) for text in (b"'('*", b"((((", b"----", b"3**9")]
    wanted = []
    for name in ARCHIVES:
        for member in zipfile.ZipFile(good[name].path).namelist():
            for k, header in enumerate(headers):
                path = tmp_path / f"{k} {member} {name}"
                wanted.append((good[name].loader, with_member(good[name].path, path, member, header)))
    assert_refused(wanted, memory=200 << 20)


def test_arrays_are_numbers_and_neither_shorter_nor_longer_than_they_say():
    def archive(data):
        file = io.BytesIO()
        with zipfile.ZipFile(file, "w") as made:
            made.writestr("x.npy", data)
        return file.getvalue()

    assert archives.read_arrays(archive(forged_header((6,)) + bytes(48)))["x"].tolist() == [0.0] * 6
    for shape in (5, 7):
        with pytest.raises(ValueError, match="but it has 48"):
            archives.read_arrays(archive(forged_header((shape,)) + bytes(48)))
    for kind in KINDS:
        with pytest.raises(ValueError, match="only numbers are read"):
            archives.read_arrays(archive(forged_header((0,), kind)))


def bombs(good, folder, size):
    """Archives whose first array really unfolds to that many bytes, and that say so."""
    for name in ARCHIVES:
        path = folder / f"bomb {name}"
        with zipfile.ZipFile(path, "w", zipfile.ZIP_DEFLATED) as bomb, zipfile.ZipFile(good[name].path) as whole:
            for k, member in enumerate(whole.namelist()):
                bomb.writestr(member, whole.read(member) if k else forged_header((size,), "|u1") + bytes(size))
        yield good[name].loader, path


def test_small_archives_that_unfold_without_end_are_refused(good, tmp_path):
    for loader, path in bombs(good, tmp_path, 3 << 20):
        assert path.stat().st_size < 20_000
        data = path.read_bytes()
        with pytest.raises(ValueError, match=r"it unfolds to 31\d* bytes, but 1000000 are the most"):
            archives.read_arrays(data, most_bytes=1_000_000)
        if loader in ("recording", "grains"):
            with pytest.raises(ValueError, match="are the most"):
                {"recording": Recording, "grains": GrainRecording}[loader].load(path, most_bytes=1_000_000)


def test_archives_that_claim_to_unfold_without_end_are_refused(good, tmp_path):
    """The sizes in the directory are changed: too large for any memory, and too small for what is there."""
    wanted = []
    for loader, path in bombs(good, tmp_path, 1 << 20):
        for claim in (0xFFFFFFFE, 0x7FFFFFFF, 10, 0):
            data = bytearray(path.read_bytes())
            struct.pack_into("<I", data, data.find(b"PK\1\2") + 24, claim)
            changed = path.with_name(f"{claim} {path.name}")
            changed.write_bytes(data)
            wanted.append((loader, changed))
    assert_refused(wanted, memory=200 << 20)


def test_meshes_that_claim_more_than_there_is_are_refused(good, tmp_path):
    files = {f"{count}.stl": stl_binary(count) for count in (5, 2**31, 2**32 - 1)}
    for form in ("ascii", "binary_little_endian", "binary_big_endian"):
        for vertices, faces in ((2 * 10**9, 1), (1, 2 * 10**9), (10**18, 10**18), (-1, 1)):
            files[f"{form} {vertices} {faces}.ply"] = ply_header(form, vertices, faces) + bytes(64)
    files["long list.ply"] = ply_header("binary_little_endian", 3, 1) + bytes(36) + b"\xff" + bytes(8)
    files["wide.ply"] = files["long list.ply"].replace(b"list uchar", b"list uint")
    files |= {f"{str(n)[:30]}.off": f"OFF\n{n} {n} 0\n0 0 0" for n in (2**31, 10**18, "9" * 5000)}
    files |= {
        f"{str(n)[:40]}.obj": f"v 0 0 0\nv 1 0 0\nv 0 1 0\nf 1 2 {n}"
        for n in (4, 2**31, 2**63, 10**30, "9" * 5000, "1_0")
    }
    files |= {"face.obj": "v 0 0 0\n" * 12 + "f 1 2 1_0", "vertex.obj": "v 1_0 0 0\n" * 3 + "f 1 2 3"}
    parts = gltf()["accessors"], gltf()["bufferViews"], gltf()["buffers"]
    for k, key in enumerate(("count", "byteLength", "byteLength")):
        for n in (2**31, 10**18, -1, 1e300, None):
            name = ("accessors", "bufferViews", "buffers")[k]
            changed = [parts[k][0] | {key: n}, *parts[k][1:]]
            if name == "accessors" or n != 2**31:
                files[f"{name} {n}.gltf"] = json.dumps(gltf(**{name: changed}))
    wanted = []
    for name, data in files.items():
        (tmp_path / name).write_bytes(data if isinstance(data, bytes) else data.encode())
        wanted.append(("mesh", tmp_path / name))
    said = answers(wanted, memory=400 << 20)
    loaded = [str(path.name) for (_, path), text in zip(wanted, said, strict=True) if text == "loaded"]
    assert [name for name in loaded if not name.startswith("buffer")] == []  # lengths that nobody needs do no harm


def test_our_own_meshes_that_claim_more_than_there_is_are_refused(good, tmp_path):
    data = good["part.mesh"].path.read_bytes()
    wanted = []
    for place in (32, 40, 48):  # vertices, faces, whether there is a second tree
        for claim in (5, 2**31, 2**60, 2**64 - 1):
            changed = bytearray(data)
            struct.pack_into("<Q", changed, place, claim)
            path = tmp_path / f"{place} {claim}.mesh"
            path.write_bytes(sealed(changed))
            wanted.append(("mesh", path))
    assert_refused(wanted)
    assert sealed(bytearray(data)) == data


def sealed(data):
    """Give the bytes of a mesh with their checksum made right again: it is no signature."""
    data[24:32] = bytes(8)
    words = np.frombuffer(bytes(data[: len(data) // 8 * 8]), "<u8").tolist()
    total = 0x9E3779B97F4A7C15
    for word in words:
        total = (total ^ word) * 0xFF51AFD7ED558CCD % 2**64
        total ^= total >> 32
    for byte in data[len(words) * 8 :]:
        total = (total ^ byte) * 0x100000001B3 % 2**64
    data[24:32] = total.to_bytes(8, "little")
    return bytes(data)
