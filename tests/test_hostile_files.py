"""Files from strangers are read, or refused with an error that says why: no crash, no hang, no memory without end."""

import io
import json
import os
import pickle
import pickletools
import struct
import zipfile

import numpy as np
import pytest

import clearance as cl
from clearance import simulation as sim
from clearance.simulation import archives
from clearance.simulation.grain_recordings import GrainRecording
from clearance.simulation.recordings import Recorder, Recording
from clearance.simulation.scenario import Ball, Scenario
from strangers import SCENARIO, URDF, Sent, answers, gltf, good_files, ply_header, stl_binary

pytest.importorskip("resource", reason="the memory of a process is limited in this way only")
pytest.importorskip("trimesh", reason="scenes need the extra 'view'")
pytest.importorskip("collada", reason="COLLADA needs the extra 'robots'")

ARCHIVES = ("world.npz", "particles.npz", "recording.npz", "grains.npz")


@pytest.fixture(scope="module")
def good(tmp_path_factory):
    return good_files(tmp_path_factory.mktemp("good"))


def assert_refused(wanted, **options):
    for (loader, path), said in zip(wanted, answers(wanted, **options), strict=True):
        assert said != "loaded", (loader, path)
        assert len(said) > len("ValueError: "), (loader, path, said)


def beside(sent: Sent, name: str) -> str:
    """Give a path beside a good file, with its ending."""
    return str(sent.path.with_name(name + sent.path.suffix))


def test_good_files_are_good(good):
    assert answers([(sent.loader, sent.path) for sent in good.values()]) == ["loaded"] * len(good)


# Damage --------------------------------------------------------------------------------------------------------------


def cut_at(size):
    """Everywhere in a small file; here and there in a larger one, and everywhere near its ends."""
    return [k for k in range(size) if size <= 300 or k < 40 or k > size - 40 or k % 61 == 0]


def test_files_cut_off_anywhere_are_refused(good):
    tight, loose = [], []
    for name, sent in good.items():
        data = sent.path.read_bytes()
        if sent.loader == "resume":
            continue
        for k in cut_at(len(data)):
            path = beside(sent, f"cut {name} {k}")
            with open(path, "wb") as file:
                file.write(data[:k])
            (tight if sent.is_tight else loose).append((sent.loader, path))
    assert len(tight) > 1000
    assert_refused(tight)
    assert "loaded" in answers(loose)  # text may end anywhere; it is no crash that counts


def test_flipped_bits_are_refused_or_harmless(good):
    rng = np.random.default_rng(3)
    wanted = []
    for name, sent in good.items():
        data = sent.path.read_bytes()
        for k in range(60 if sent.loader != "resume" else 0):
            flipped = bytearray(data)
            for place in rng.integers(len(data), size=rng.integers(1, 4)):
                flipped[place] ^= 1 << rng.integers(8)
            path = beside(sent, f"flipped {name} {k}")
            with open(path, "wb") as file:
                file.write(flipped)
            wanted.append((sent.loader, path))
    said = answers(wanted)
    assert 0.02 < said.count("loaded") / len(said) < 0.7


def test_arrays_that_changed_behind_their_checksums_are_refused_or_harmless(good, tmp_path):
    rng = np.random.default_rng(4)
    wanted = []
    for name in ARCHIVES:
        arrays = archives.read_arrays(good[name].path.read_bytes())
        for k in range(60):
            changed = {key: array.copy() for key, array in arrays.items()}
            raw = changed[rng.choice([key for key in arrays if arrays[key].nbytes])].reshape(-1).view(np.uint8)
            raw[rng.integers(len(raw), size=3)] = rng.integers(256, size=3)
            path = tmp_path / f"{k} {name}"
            np.savez(path, **changed)
            wanted.append((good[name].loader, path))
    assert 0.02 < answers(wanted).count("loaded") / len(wanted) < 0.98


def test_bytes_of_the_other_order_are_read_as_what_they_are_or_refused(good, tmp_path):
    for name in ARCHIVES:
        arrays = archives.read_arrays(good[name].path.read_bytes())
        np.savez(tmp_path / name, **{key: array.astype(array.dtype.newbyteorder(">")) for key, array in arrays.items()})
    assert (
        sim.World.load(tmp_path / "world.npz").poses.tobytes() == sim.World.load(good["world.npz"].path).poses.tobytes()
    )
    assert Recording.load(tmp_path / "recording.npz").times[1] > 0.0
    (tmp_path / "big.stl").write_bytes(bytes(80) + (4).to_bytes(4, "big") + stl_binary()[84:])
    (tmp_path / "big.ply").write_bytes(good["binary.ply"].path.read_bytes().replace(b"little", b"big"))
    assert_refused([("mesh", tmp_path / name) for name in ("big.stl", "big.ply")])


def test_numbers_that_are_none_are_refused(good, tmp_path):
    wanted = []
    for number in ("nan", "inf", "-inf", "1e999"):
        (tmp_path / number).mkdir()
        wanted += files_with(number, good, tmp_path / number)
    assert_refused(wanted)


def files_with(number, good, folder):
    """Write good files with one number in the place of another."""
    wanted = []
    for name, old in {
        "part.obj": "1.0",
        "part.off": "1.0",
        "ascii.ply": "1.0",
        "robot.urdf": "0 0 1",
        "robot.srdf": "0.5",
    }.items():
        text = good[name].path.read_text().replace(old, number)
        (folder / name).write_text(text)
        wanted.append((good[name].loader, folder / name))
    (folder / "part.stl").write_bytes(stl_binary())
    for name, old in {"world.toml": "cell = 0.5", "truck.cfg": "posX = -2000"}.items():
        key = old.partition("=")[0]
        (folder / name).write_text(good[name].path.read_text().replace(old, f"{key}= {number}"))
        wanted.append((good[name].loader, folder / name))
    (folder / "city.txt").write_text("0 1000 -500 500 500")
    (folder / "balls.txt").write_text(f"1\n-1000 {number} 1200 100 1 0 0 0.07")
    return [*wanted, ("balls", folder / "balls.txt")]


# What is no file -----------------------------------------------------------------------------------------------------


def test_pipes_devices_and_folders_are_refused(good):
    wanted = []
    for name, sent in good.items():
        if sent.loader == "resume":
            continue
        for kind, make in {
            "pipe": os.mkfifo,
            "device": lambda path: os.symlink("/dev/zero", path),
            "folder": os.mkdir,
            "loop": lambda path: os.symlink(path, path),
            "nothing": lambda path: os.symlink("nowhere", path),
        }.items():
            make(path := beside(sent, f"{kind} {name}"))
            wanted.append((sent.loader, path))
    assert_refused(wanted, seconds=60.0)


def test_files_beyond_all_measure_are_refused_before_they_are_read(good):
    wanted = []
    for name, sent in good.items():
        path = beside(sent, f"huge {name}")
        with open(path, "wb") as file:
            file.write(sent.path.read_bytes()[:16])
            file.truncate(1 << 40)  # it takes no room on the disk
        wanted.append((sent.loader, path) if sent.loader != "resume" else ("incidents", path))
    assert_refused(wanted, seconds=60.0)


def test_names_with_odd_characters(tmp_path):
    with pytest.raises(ValueError, match="null"):
        cl.load_mesh("a\0b.stl")
    (tmp_path / "robot.urdf").write_text(URDF.format(mesh="file:///%00.stl"))
    (tmp_path / "long.urdf").write_text(URDF.format(mesh="x" * 100_000 + ".stl"))
    (tmp_path / "world.toml").write_text(SCENARIO.replace('"p"', '"\\u001b[2J"'))
    (tmp_path / "key.toml").write_text('"\\u001b[2J" = 1')
    (tmp_path / "latin.toml").write_bytes('title = "für"'.encode("latin-1"))
    wanted = [
        ("urdf", "robot.urdf"),
        ("urdf", "long.urdf"),
        *(("scenario", f"{name}.toml") for name in ("world", "key", "latin")),
    ]
    said = answers([(loader, tmp_path / name) for loader, name in wanted])
    assert not any(text == "loaded" or "\x1b" in text for text in said)


# Claims --------------------------------------------------------------------------------------------------------------


def forged_header(shape, descr="<f8"):
    header = io.BytesIO()
    np.lib.format.write_array_header_1_0(header, {"descr": descr, "fortran_order": False, "shape": shape})
    return header.getvalue()


def with_member(path, changed, name, data):
    """Copy an archive, one of its members replaced."""
    with zipfile.ZipFile(path) as whole, zipfile.ZipFile(changed, "w") as copy:
        for member in whole.namelist():
            copy.writestr(member, data if member == name else whole.read(member))
    return changed


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


# Repetition without end ----------------------------------------------------------------------------------------------

LAUGHS = "".join(f'<!ENTITY l{k} "{f"&l{k - 1};" * 10}">' for k in range(1, 10))
DOCTYPES = {
    "laughs": f'<!DOCTYPE x [<!ENTITY l0 "ha">{LAUGHS}]>',
    "quadratic": f'<!DOCTYPE x [<!ENTITY l9 "{"a" * 100_000}">]>',
    "file": '<!DOCTYPE x [<!ENTITY l9 SYSTEM "file:///etc/passwd">]>',
    "outside": '<!DOCTYPE x SYSTEM "http://127.0.0.1:1/x.dtd">',
    "parameter": '<!DOCTYPE x [<!ENTITY % p SYSTEM "file:///etc/passwd">%p;]>',
}
ASSET = '<COLLADA xmlns="http://www.collada.org/2005/11/COLLADASchema" version="1.4.1"><asset><unit meter="1"/></asset>'


def test_xml_without_end_is_refused(good, tmp_path):
    laughs = "&l9;" * 1000
    texts = {}
    for name, doctype in DOCTYPES.items():
        texts[f"{name}.urdf"] = f'{doctype}<robot name="{"r" if name == "file" else laughs}"><link name="a"/></robot>'
        texts[f"{name}.srdf"] = f'{doctype}<robot name="r">{laughs}</robot>'
        texts[f"{name}.dae"] = f"{doctype}{ASSET}<library_geometries>{laughs}</library_geometries></COLLADA>"
    for kind, root in (("urdf", "robot"), ("srdf", "robot"), ("dae", "COLLADA")):
        texts[f"deep.{kind}"] = f"<{root}>" + "<a>" * 1_000_000
        texts[f"wide.{kind}"] = f"<{root}>" + "<a/>" * 400_000 + f"</{root}>"
        texts[f"attributes.{kind}"] = f"<{root} " + " ".join(f'a{k}="1"' for k in range(100_000)) + "/>"
    digits = "1" * 1_000_000
    texts["slow.urdf"] = good["robot.urdf"].path.read_text().replace("0 0 1", f"{digits}x 0 1")
    texts["loop.dae"] = nodes_of_nodes([[1, 1], [0]])
    texts["shown.dae"] = nodes_of_nodes([[k + 1] * 10 for k in range(12)] + [[]])
    wanted = []
    for name, text in texts.items():
        (tmp_path / name).write_text(text)
        wanted.append(({"urdf": "urdf", "srdf": "srdf"}.get(name[-4:], "mesh"), tmp_path / name))
    harmless = [("srdf", tmp_path / "attributes.srdf")]
    assert_refused([case for case in wanted if case not in harmless])
    assert answers(harmless) == ["loaded"]


def nodes_of_nodes(shown):
    """Write a COLLADA file whose nodes show each other, by number."""
    nodes = "".join(
        f'<node id="n{k}">' + "".join(f'<instance_node url="#n{other}"/>' for other in others) + "</node>"
        for k, others in enumerate(shown)
    )
    scene = (
        '<library_visual_scenes><visual_scene id="s"><node id="top"><instance_node url="#n0"/></node></visual_scene>'
    )
    ends = '</library_visual_scenes><scene><instance_visual_scene url="#s"/></scene></COLLADA>'
    return f"{ASSET}<library_nodes>{nodes}</library_nodes>{scene}{ends}"


def test_scenes_that_show_their_parts_without_end_are_refused(tmp_path):
    shared = [{"children": [k + 1] * 10} for k in range(12)] + [{"mesh": 0}]
    loop = [{"children": [1]}, {"children": [0], "mesh": 0}]
    chain = [{"children": [k + 1]} for k in range(20_000)] + [{"mesh": 0}]
    wide = {"nodes": [{"mesh": 0}] * 3000, "scenes": [{"nodes": list(range(3000))}]}
    for name, scene in {
        "shared": {"nodes": shared},
        "loop": {"nodes": loop},
        "wide": wide,
        "chain": {"nodes": chain},
    }.items():
        (tmp_path / f"{name}.gltf").write_text(json.dumps(gltf(**scene)))
    (tmp_path / "deep.gltf").write_text('{"asset": ' + "[" * 100_000)
    said = answers([("mesh", tmp_path / f"{name}.gltf") for name in ("shared", "loop", "deep", "chain", "wide")])
    assert [text == "loaded" for text in said[:3]] == [False] * 3
    assert said[4] == "loaded"


def test_archives_in_place_of_collada_are_refused(tmp_path):
    with zipfile.ZipFile(tmp_path / "part.dae", "w", zipfile.ZIP_DEFLATED) as archive:
        archive.writestr("part.dae", DOCTYPES["file"] + ASSET + "</COLLADA>")
    assert "archive" in answers([("mesh", tmp_path / "part.dae")])[0]


TOML = {
    "deep list": "title = " + "[" * 100_000,
    "deep table": "x = " + "{a = " * 100_000,
    "dots": ".".join(["a"] * 100_000) + " = 1",
    "dots in a head": "[" + ".".join(["a"] * 100_000) + "]",
    "dots in a table": "world = { " + ".".join(["a"] * 100_000) + " = 1 }",
    "quoted dots": ".".join(['"a"'] * 100_000) + " = 1",
    "digits": "[world]\nstep = " + "9" * 100_000,
    "hexadecimal": "[world]\nseed = 0x" + "f" * 100_000,
    "almost a unit": '[world]\nstep = "' + "e" * 300_000 + '!"',
    "long key": "k" * 1_000_000 + " = 1",
    "long choice": '[world]\nbroad_phase = "' + "grid" * 200_000 + '"',
    "houses": '[city]\ncell = 1\ncorner = [0, 0]\nstoreys = ["' + "1" * 200_000 + '"]',
    "beams": '[[robots]]\nmodel = "pioneer"\nscanner = { position = [0, 0, 1], resolution = [2000, 2000] }\n' * 2,
    "not UTF-8": b"\xff\xfe\x00",
    "NUL": b'title = "a\0b"',
}


def test_scenarios_without_end_are_refused(tmp_path):
    wanted = []
    for name, text in TOML.items():
        (tmp_path / f"{name}.toml").write_bytes(text if isinstance(text, bytes) else text.encode())
        wanted.append(("scenario", tmp_path / f"{name}.toml"))
    assert_refused(wanted)


@pytest.mark.timeout(60)
def test_names_are_given_in_time():
    scenario = Scenario(balls=(Ball((0.0, 0.0), 1.0),) * 50_000)
    assert scenario.names("balls")[-1] == "ball50000"


def test_configurations_without_end_are_refused_or_read_in_time(tmp_path):
    texts = {
        "robots": "[general]\npioneers = 1e15",
        "spaces": "[general]\na" + " " * 300_000 + "b",
        "keys": "[general]\n" + "".join(f"key{k} = 1\n" for k in range(30_000)),
        "sections": "".join(f"[s{k}]\n" for k in range(30_000)),
        "long": "[general]\n" * 200_000,
        "link": "[field]\ncity = loop",
        "out": "[field]\ncity = out",
    }
    os.symlink("loop", tmp_path / "loop")
    os.symlink("/etc/passwd", tmp_path / "out")
    (tmp_path / "city.txt").write_text("0 10000 0 10000 1")
    wanted = []
    for name, text in texts.items():
        (tmp_path / f"{name}.cfg").write_text(text)
        wanted.append(("petersen", tmp_path / f"{name}.cfg"))
    said = answers([*wanted, ("city", tmp_path / "city.txt")], memory=600 << 20)
    assert [text == "loaded" for text in said] == [False, False, True, True, False, False, False, False]
    assert "leads out of the folder" in said[6]


def test_json_without_end_is_refused(good, tmp_path):
    deep = b"[" * 200_000
    wanted = [("incidents", tmp_path / "incidents.json")]
    (tmp_path / "incidents.json").write_bytes(deep)
    for name in ARCHIVES:
        about = forged_header((len(deep),), "|u1") + deep
        wanted.append((good[name].loader, with_member(good[name].path, tmp_path / name, "about.npy", about)))
    (tmp_path / "cut off" / "unfinished").mkdir(parents=True)
    (tmp_path / "cut off" / "unfinished" / "state.json").write_bytes(deep)
    assert_refused([*wanted, ("resume", tmp_path / "cut off" / "unfinished" / "state.json")])


# Ways out of the folder ----------------------------------------------------------------------------------------------


def test_scenes_read_only_what_lies_beside_them(good, tmp_path):
    numbers = np.array([0, 1, 2, 0], "<u2").tobytes() + np.array([0, 0, 0, 1, 0, 0, 0, 1, 0], "<f4").tobytes()
    (tmp_path / "secret.bin").write_bytes(numbers)
    inside = tmp_path / "inside"
    inside.mkdir()
    (inside / "own.bin").write_bytes(numbers)
    os.symlink(tmp_path / "secret.bin", inside / "link.bin")
    os.mkfifo(inside / "pipe.bin")
    uris = [
        "own.bin",
        "../secret.bin",
        str(tmp_path / "secret.bin"),
        "link.bin",
        "pipe.bin",
        "/dev/zero",
        "missing.bin",
    ]
    uris += ["file://" + str(tmp_path / "secret.bin"), "http://127.0.0.1:1/secret.bin", "a\0b"]
    wanted = []
    for k, uri in enumerate(uris):
        (inside / f"{k}.gltf").write_text(json.dumps(gltf(buffers=[{"byteLength": 44, "uri": uri}])))
        wanted.append(("mesh", inside / f"{k}.gltf"))
    said = answers(wanted, seconds=60.0)
    assert [text == "loaded" for text in said] == [True] + [False] * (len(uris) - 1)


def test_robots_read_only_what_lies_beside_them(good, tmp_path):
    (tmp_path / "secret.stl").write_bytes(stl_binary())
    inside = tmp_path / "inside"
    inside.mkdir()
    os.symlink(tmp_path / "secret.stl", inside / "link.stl")
    os.mkfifo(inside / "pipe.stl")
    uris = [
        "../secret.stl",
        str(tmp_path / "secret.stl"),
        "link.stl",
        "pipe.stl",
        "package://../secret.stl",
        "http://a/b.stl",
    ]
    wanted = []
    for k, uri in enumerate(uris):
        (inside / f"{k}.urdf").write_text(URDF.format(mesh=uri))
        wanted.append(("urdf", inside / f"{k}.urdf"))
    assert_refused(wanted, seconds=60.0)


def some_unfinished_recording(folder):
    world = sim.World()
    world.add("ball", cl.Sphere(0.1), [0.0, 0.0, 1.0])
    with Recorder(world, folder) as recorder:
        recorder.take()
        recorder.checkpoint()
    return folder / "unfinished"


def test_recordings_that_go_on_cut_off_no_other_file(tmp_path):
    unfinished = some_unfinished_recording(tmp_path / "run")
    (tmp_path / "precious").write_text("something of mine" * 100)
    (unfinished / "frames.bin").unlink()
    os.symlink(tmp_path / "precious", unfinished / "frames.bin")
    with pytest.raises(OSError):  # noqa: PT011
        Recorder.resume(tmp_path / "run")
    assert (tmp_path / "precious").stat().st_size == 1700


STATES = {
    "a world elsewhere": {"world": "../world"},
    "a world that is a list": {"world": []},
    "frames as a world": {"world": "frames.bin"},
    "negative steps": {"steps": -1},
    "steps as text": {"steps": "1"},
    "counts as a list": {"counts": [1]},
    "negative counts": {"counts": {"frames.bin": -5}},
    "counts of records that are not there": {"counts": {"frames.bin": 10**12}},
    "no rate": {"about": {"rate": 0.0}},
    "an endless rate": {"about": {"rate": float("inf")}},
    "objects": {"about": {"precision": "O"}},
    "names as text": {"about": {"names": "ball"}},
    "names that are numbers": {"about": {"names": [1]}},
    "beams without end": {"about": {"scans": {"r": {"shape": [2**31, 2**31], "range_max": 1.0, "shown_beams": 1}}}},
    "no about": {"about": None},
}


@pytest.mark.parametrize("what", STATES)
def test_states_that_cannot_be_are_refused(what, tmp_path):
    path = some_unfinished_recording(tmp_path / "run") / "state.json"
    state, changes = json.loads(path.read_text()), STATES[what]
    if isinstance(changes.get("about"), dict):
        changes = {"about": state["about"] | changes["about"]}
    path.write_text(json.dumps(state | changes))
    with pytest.raises((ValueError, OSError)):
        Recorder.resume(tmp_path / "run")


# Pickles -------------------------------------------------------------------------------------------------------------


class Evil:
    def __init__(self, *call):
        self.call = call

    def __reduce__(self):
        return self.call


def global_of(module, name):
    return (
        pickle.SHORT_BINUNICODE
        + bytes([len(module)])
        + module.encode()
        + pickle.SHORT_BINUNICODE
        + bytes([len(name)])
        + name.encode()
        + pickle.STACK_GLOBAL
    )


def sphere():
    return (
        global_of("clearance._core", "Sphere")
        + pickle.BINFLOAT
        + struct.pack(">d", 0.1)
        + pickle.TUPLE1
        + pickle.REDUCE
    )


START, LIST = b"\x80\x04", pickle.EMPTY_LIST
FORGED = {
    "a call": pickle.dumps([Evil(os.system, ("echo called > called",))]),
    "a call by its name": START + LIST + global_of("os", "system") + pickle.APPEND + b".",
    "a name within a name": START + LIST + global_of("clearance._core", "Sphere.at") + pickle.APPEND + b".",
    "another class": START + LIST + global_of("clearance._core", "World") + pickle.APPEND + b".",
    "a class that is changed": (
        START + global_of("clearance._core", "Sphere") + b"N}" + pickle.SHORT_BINUNICODE + b"\x02at" + b"K\3s\x86b."
    ),
    "a place in memory without end": START + sphere() + pickle.LONG_BINPUT + b"\xff\xff\xff\x7f.",
    "bytes without end": START + pickle.BYTEARRAY8 + struct.pack("<Q", 2**40) + b".",
    "a text without end": START + pickle.BINUNICODE8 + struct.pack("<Q", 2**62) + b".",
    "an old call": b"cos\nsystem\n(S'echo called > called'\ntR.",
    "an extension": START + b"\x82\1.",
    "a buffer": b"\x80\x05\x97.",
    "a persistent thing": b"\x80\x04Px\n.",
    "nothing": b"",
    "no end": START + LIST,
    "too few": START + b"R.",
    "a mark that is not there": START + b"t.",
    "a call of a shape": START + sphere() + b")R.",
    "lists of lists without end": (
        START + LIST + b"\x94" + LIST + b"(" + b"h\0" * 100 + b"e\x94" + LIST + b"(" + b"h\1" * 100 + b"e\x85\x94"
        + global_of("clearance._core", "ConvexHull") + b"h\2R."
    ),
}  # fmt: skip


def test_pickles_of_anything_but_shapes_are_refused(good, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    load = {"world": sim.World.load, "particles": sim.Particles.load, "grains": GrainRecording.load}
    wanted = []
    for name in ("world.npz", "particles.npz", "grains.npz"):
        for what, data in FORGED.items():
            shapes = forged_header((len(data),), "|u1") + data
            path = with_member(good[name].path, tmp_path / f"{what} {name}", "shapes.npy", shapes)
            wanted.append((good[name].loader, path))
            with pytest.raises(ValueError, match=r"."):
                load[good[name].loader](path)
    assert_refused(wanted, memory=200 << 20)
    assert not (tmp_path / "called").exists()
    assert callable(cl.Sphere.at)


def grown(step, levels):
    """Make shapes of shapes, each of many of those before."""
    data = START + sphere() + pickle.MEMOIZE
    for k in range(levels):
        data += step(k) + pickle.MEMOIZE
    return data + b"."


def test_shapes_made_of_each_other_without_end_are_refused(good, tmp_path):
    def compound(k):
        return global_of("clearance._core", "Compound") + b"(" + (b"h" + bytes([k])) * 100 + b"t\x85R"

    numbers = bytes(240_000)
    copies = START + LIST + b"(" + pickle.BINBYTES + struct.pack("<I", len(numbers)) + numbers + b"\x94"
    copy = global_of("clearance.simulation.archives", "array_of") + b"h\0\x8c\3<f8M\x30\x75\x85\x87R"
    for data in (grown(compound, 8), copies + copy * 3000 + b"e."):
        assert len(list(pickletools.genops(data))) > 10
        with pytest.raises(ValueError, match="more and more"):
            archives._ShapeReader(data).load()


def test_every_shape_survives_its_archive():
    triangle = cl.SweptTriangle([0, 0, 0], [1, 0, 0], [0, 1, 0], 0.1)
    field = cl.HeightField(np.arange(6.0).reshape(2, 3), 0.5)
    hull, mesh = cl.ConvexHull(np.eye(4)[:, :3]), cl.Mesh(np.eye(3), [[0, 1, 2]])
    shapes = [
        cl.Sphere(1.0),
        cl.Box([1, 2, 3]),
        cl.Capsule(1, 2),
        cl.Cylinder(1, 2),
        cl.Cone(1, 2),
        cl.Ellipsoid([1, 2, 3]),
    ]
    shapes += [cl.HalfSpace([0, 0, 1], 1.0), cl.SweptPoint([1, 2, 3], 1.0), cl.SweptSegment([0, 0, 0], [1, 0, 0], 0.5)]
    shapes += [triangle, field, hull, mesh, cl.PointCloud(np.eye(3), 0.1)]
    compound = cl.Compound(
        [*(shape for shape in shapes if not isinstance(shape, cl.HalfSpace)), mesh.at([1.0, 0.0, 0.0])]
    )
    nested = cl.Compound([compound.at([0.0, 0.0, 1.0]), compound])
    everything = [*shapes, compound, nested, nested, shapes[0].at([1.0, 2.0, 3.0])]
    _, found, _ = archives.unpacked(archives.packed({"format": "x"}, everything, {}), "x", [])
    assert found == everything
    assert found[-2] is found[-3]


# States that were not pickled -----------------------------------------------------------------------------------------


def test_worlds_whose_state_was_changed_are_refused_or_go_on(good, tmp_path):
    rng = np.random.default_rng(5)
    special = [0.0, -1.0, 1e300, -1e300, 2.0**31, 2.0**63, 0.5, 5e-324, 7.0, np.nan, np.inf]
    arrays = archives.read_arrays(good["world.npz"].path.read_bytes())
    wanted = []
    for k in range(300):
        changed = {key: array.copy() for key, array in arrays.items()}
        numbers = changed["state" if k % 4 else "anchors"]
        numbers[rng.integers(len(numbers), size=rng.integers(1, 4))] = rng.choice(special)
        if k % 7 == 0:
            changed["state"] = changed["state"][: rng.integers(len(arrays["state"]))]
        np.savez(tmp_path / f"{k}.npz", **changed)
        wanted.append(("world", tmp_path / f"{k}.npz"))
    assert 0.1 < answers(wanted).count("loaded") / len(wanted) < 0.9
