"""Files that repeat themselves, nest or unfold without end are refused, or read in time."""

import json
import os
import zipfile

import pytest

from clearance.simulation.scenario import Ball, Scenario
from hostile import ARCHIVES, assert_refused, forged_header, with_member
from strangers import answers, gltf

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
