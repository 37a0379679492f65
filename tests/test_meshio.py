"""What stands in a file is what is loaded: every triangle, in order, or an error that names the file."""

import importlib.util
import re
import struct
import subprocess
import sys
import textwrap

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

import clearance as cl

needs_trimesh = pytest.mark.skipif(not importlib.util.find_spec("trimesh"), reason="needs the extra 'view'")

CORNERS = np.array([[0.0, 0.0, 0.0], [1.0, 0.0, 0.0], [0.0, 2.0, 0.0], [0.25, 0.5, 1.5]])
# A tetrahedron, one of its faces once more, and a triangle without area: all of them stay.
FACES = np.array([[0, 2, 1], [0, 1, 3], [1, 2, 3], [2, 0, 3], [1, 2, 3], [0, 1, 1]])


def stl_binary(vertices, faces, header=b"solid, some programs write even here"):
    rows = [struct.pack("<12fH", 0, 0, 0, *vertices[face].ravel(), 0) for face in faces]
    return header.ljust(80) + struct.pack("<I", len(faces)) + b"".join(rows)


def stl_ascii(vertices, faces, solids=2):
    """Write triangles in some solids one after the other."""
    text = ""
    for k, part in enumerate(np.array_split(faces, solids)):
        text += f"solid part {k}\n"
        for face in part:
            corners = "".join(f"      vertex {x!r} {y!r} {z!r}\n" for x, y, z in vertices[face].tolist())
            text += f"  facet normal 0 0 1\n    outer loop\n{corners}    endloop\n  endfacet\n"
        text += f"endsolid part {k}\n"
    return text.encode()


def obj(vertices, faces):
    lines = [f"v {x!r} {y!r} {z!r}" for x, y, z in vertices.tolist()]
    lines += ["vn 0 0 1", "usemtl steel", *(f"f {a}//1 {b}//1 {c}//1" for a, b, c in (faces + 1).tolist())]
    return "\n".join(lines).encode()


def off(vertices, faces):
    lines = ["OFF", f"{len(vertices)} {len(faces)} 0", "# corners"]
    lines += [f"{x!r} {y!r} {z!r}" for x, y, z in vertices.tolist()]
    return "\n".join([*lines, *(f"3 {a} {b} {c} 255 0 0" for a, b, c in faces.tolist())]).encode()


def ply_head(form, vertices, faces):
    xyz = "".join(f"property double {axis}\n" for axis in "xyz")
    return (
        f"ply\nformat {form} 1.0\nelement vertex {len(vertices)}\n{xyz}"
        f"element face {len(faces)}\nproperty list uchar int vertex_indices\nend_header\n"
    ).encode()


def ply_ascii(vertices, faces):
    lines = [f"{x!r} {y!r} {z!r}" for x, y, z in vertices.tolist()] + [f"3 {a} {b} {c}" for a, b, c in faces.tolist()]
    return ply_head("ascii", vertices, faces) + "\n".join(lines).encode()


def ply_binary(vertices, faces):
    rows = b"".join(struct.pack("<B3i", 3, *face) for face in faces.tolist())
    return ply_head("binary_little_endian", vertices, faces) + vertices.astype("<f8").tobytes() + rows


def glb(vertices, faces, **changes):
    """Write a scene with two instances of a mesh: where it is, and mirrored, turned and shifted."""
    import json

    blob = vertices.astype("<f4").tobytes() + faces.astype("<u4").tobytes()
    split = 12 * len(vertices)
    scene = {
        "asset": {"version": "2.0"},
        "scenes": [{"nodes": [0, 1]}],
        "scene": 0,
        "nodes": [{"mesh": 0}, {"mesh": 0, "matrix": MIRRORED.T.ravel().tolist()}],
        "meshes": [{"primitives": [{"attributes": {"POSITION": 0}, "indices": 1}]}],
        "buffers": [{"byteLength": len(blob)}],
        "bufferViews": [
            {"buffer": 0, "byteLength": split},
            {"buffer": 0, "byteOffset": split, "byteLength": len(blob) - split},
        ],
        "accessors": [
            {"bufferView": 0, "componentType": 5126, "count": len(vertices), "type": "VEC3"},
            {"bufferView": 1, "componentType": 5125, "count": faces.size, "type": "SCALAR"},
        ],
    } | changes
    text = json.dumps(scene).encode()
    text += b" " * (-len(text) % 4)
    chunks = struct.pack("<I4s", len(text), b"JSON") + text + struct.pack("<I4s", len(blob), b"BIN\0") + blob
    return struct.pack("<4sII", b"glTF", 2, 12 + len(chunks)) + chunks


MIRRORED = np.array([[0.0, -1.0, 0.0, 3.0], [1.0, 0.0, 0.0, 0.0], [0.0, 0.0, -1.0, 5.0], [0.0, 0.0, 0.0, 1.0]])
PLAIN = {"binary.stl": stl_binary, "ascii.STL": stl_ascii, "part.obj": obj, "part.off": off}
WRITERS = PLAIN | {"ascii.ply": ply_ascii, "binary.ply": ply_binary, "scene.glb": glb}
names_of_all = [pytest.param(name, marks=[] if name in PLAIN else needs_trimesh) for name in WRITERS]


def loaded(folder, name, data, **options):
    (folder / name).write_bytes(data if isinstance(data, bytes) else data.encode())
    return cl.load_mesh(folder / name, **options)


def triangles(mesh):
    return mesh.vertices[mesh.faces]


def refusal(folder, name, data):
    """Give the message of the error that a file raises, which begins with the path."""
    with pytest.raises(ValueError, match=re.escape(name)) as caught:
        loaded(folder, name, data)
    path, message = str(caught.value).split(": ", 1)
    assert path == str(folder / name)
    return message


# What is there is loaded --------------------------------------------------------------------------------------------


@pytest.mark.parametrize("name", names_of_all)
def test_every_triangle_is_loaded_in_its_order(tmp_path, name):
    mesh = loaded(tmp_path, name, WRITERS[name](CORNERS, FACES))
    np.testing.assert_array_equal(triangles(mesh)[-len(FACES) :], CORNERS[FACES])
    assert len(mesh) == len(FACES) * (2 if name == "scene.glb" else 1)
    assert mesh.volume == "obb"
    assert cl.load_mesh(str(tmp_path / name), volume="rss").volume == "rss"


@pytest.mark.parametrize("name", ["ascii.STL", "part.obj", "part.off"])
def test_text_keeps_every_bit_and_vertices_that_all_but_coincide(tmp_path, name):
    rng = np.random.default_rng(3)
    vertices = rng.normal(size=(60, 3)) * 10.0 ** rng.integers(-9, 9, size=(60, 1))
    vertices[1::2] = np.nextafter(vertices[::2], np.inf)
    faces = rng.integers(0, 60, size=(200, 3))
    np.testing.assert_array_equal(triangles(loaded(tmp_path, name, WRITERS[name](vertices, faces))), vertices[faces])


@needs_trimesh
def test_parts_of_a_scene_are_put_where_they_belong(tmp_path):
    mesh = loaded(tmp_path, "scene.glb", glb(CORNERS, FACES))
    moved = CORNERS @ MIRRORED[:3, :3].T + MIRRORED[:3, 3]
    np.testing.assert_allclose(triangles(mesh)[: len(FACES)], moved[FACES[:, [0, 2, 1]]], atol=1e-12)


def test_polygons_become_fans_and_relative_numbers_count_back_from_their_line(tmp_path):
    square = "v 0 0 0\nv\t1 0 0 0.5 0.5 0.5\n  v 1 1 0\nv 0 1 \\\n 0\nf -4 -3 -2 -1\n"
    raised = "v 0 0 1\nv 1 0 1\nv 1 1 1\nf -3/1 -2/1 -1/1  # a comment\nl 1 2\n"
    mesh = loaded(tmp_path, "two.obj", square + raised)
    assert mesh.faces.tolist() == [[0, 1, 2], [0, 2, 3], [4, 5, 6]]
    pentagon = "OFF 5 1 0\n0 0 0\n1 0 0\n1.5 1 0\n0.5 2 0\n-0.5 1 0\n5 0 1 2 3 4\n"
    assert loaded(tmp_path, "five.off", pentagon).faces.tolist() == [[0, 1, 2], [0, 2, 3], [0, 3, 4]]


@given(scale=st.lists(st.sampled_from([-2.0, -1e-3, 1e-3, 1.0, 25.4]), min_size=3, max_size=3))
def test_scale_mirrors_and_keeps_the_outside_outside(tmp_path, scale):
    mesh = loaded(tmp_path, "part.obj", obj(CORNERS, FACES[:4]), scale=scale)
    np.testing.assert_allclose(np.ptp(mesh.vertices, axis=0), np.ptp(CORNERS, axis=0) * np.abs(scale))
    a, b, c = np.moveaxis(triangles(mesh), 1, 0)
    outwards = np.einsum("ni,ni->n", np.cross(b - a, c - a), a - mesh.vertices.mean(axis=0))
    assert (outwards > 0.0).all()


def test_one_scale_serves_all_axes(tmp_path):
    inches = loaded(tmp_path, "part.off", off(CORNERS, FACES), scale=0.0254)
    assert inches == loaded(tmp_path, "part.off", off(CORNERS, FACES), scale=[0.0254] * 3)


@pytest.mark.parametrize("volume", ["obb", "rss"])
def test_our_own_format_gives_back_the_mesh(tmp_path, volume):
    mesh = cl.Mesh(CORNERS, FACES, volume)
    mesh.save(tmp_path / "part.mesh")
    assert cl.load_mesh(tmp_path / "part.mesh") == mesh
    assert cl.load_mesh(tmp_path / "part.mesh", volume="rss").volume == "rss"
    smaller = cl.load_mesh(tmp_path / "part.mesh", scale=-1e-3)
    assert smaller.volume == volume
    np.testing.assert_array_equal(triangles(smaller), -1e-3 * CORNERS[FACES[:, [0, 2, 1]]])


def test_the_name_of_a_file_of_ours_does_not_matter(tmp_path):
    cl.Mesh(CORNERS, FACES).save(tmp_path / "part.stl")
    assert cl.load_mesh(tmp_path / "part.stl") == cl.Mesh(CORNERS, FACES)


# What is broken is refused ------------------------------------------------------------------------------------------


def test_missing_files_are_missing(tmp_path):
    with pytest.raises(FileNotFoundError, match=r"nowhere\.stl"):
        cl.load_mesh(tmp_path / "nowhere.stl")


@pytest.mark.parametrize("scale", [0.0, np.nan, np.inf, [1.0, 2.0], [1.0, 0.0, 1.0]])
def test_scales_that_make_no_sense_are_refused(tmp_path, scale):
    with pytest.raises(ValueError, match=r"scale must be"):
        loaded(tmp_path, "part.off", off(CORNERS, FACES), scale=scale)


def test_errors_say_what_was_found(tmp_path):
    stl = stl_binary(CORNERS, FACES)
    text = stl_ascii(CORNERS, FACES)
    assert refusal(tmp_path, "part.step", "ISO-10303-21;").startswith("the name ends in '.step', but meshes are read")
    assert refusal(tmp_path, "part", "?").startswith("the name has no ending")
    assert refusal(tmp_path, "part.obj", "") == "the file is empty."
    assert refusal(tmp_path, "part.obj", "# nothing but a comment\n") == "there are no triangles in it."
    assert "6 triangles, 384 bytes, but the file has 383" in refusal(tmp_path, "part.stl", stl[:-1])
    assert "header of a binary STL file alone takes 84" in refusal(tmp_path, "part.stl", stl[:80].replace(b"s", b"\0"))
    assert refusal(tmp_path, "part.stl", stl_binary(CORNERS, FACES[:0])) == "there are no triangles in it."
    assert "'endsolid' is missing" in refusal(tmp_path, "part.stl", text[: text.rindex(b"endsolid")])
    assert "line 4 reads 'vertex 0.0 0.0', but 3 numbers" in refusal(
        tmp_path, "part.stl", text.replace(b"0.0 0.0 0.0", b"0.0 0.0", 1)
    )
    assert "line 6 reads 'endloop', but 'vertex'" in refusal(
        tmp_path, "part.stl", text.replace(b"      vertex 1.0 0.0 0.0\n", b"", 1)
    )
    assert "line 2 reads 'f 1 2', but a face has three" in refusal(tmp_path, "part.obj", "v 0 0 0\nf 1 2\n")
    assert "but 1 vertices stand before it" in refusal(tmp_path, "part.obj", "v 0 0 0\nf -1 -2 -3\n")
    assert "but 1 vertices stand before it" in refusal(tmp_path, "part.obj", "v 0 0 0\nf 0 1 1\n")
    assert "vertex 7" in refusal(tmp_path, "part.obj", "v 0 0 0\nf 1 1 8\n")
    assert "vertex 99999999999999999999" in refusal(tmp_path, "part.obj", f"v 0 0 0\nf 1 1 {10**20}\n")
    assert "4 vertices and 7 faces, but 10 lines follow" in refusal(
        tmp_path, "part.off", off(CORNERS, FACES).replace(b"4 6 0", b"4 7 0")
    )
    assert "'OFF' as text was expected" in refusal(tmp_path, "part.off", "OFF BINARY\n")
    assert "3 integers were expected" in refusal(tmp_path, "part.off", "OFF\n1 1 0\n0 0 0\n3 0 0\n")


@pytest.mark.parametrize("number", ["nan", "inf", "1e999"])
def test_numbers_that_are_none_are_refused(tmp_path, number):
    assert refusal(tmp_path, "part.obj", f"v 0 0 {number}\nv 1 0 0\nv 0 1 0\nf 1 2 3\n")


@needs_trimesh
def test_truncated_and_inconsistent_files_are_refused_where_trimesh_reads_on(tmp_path):
    text, faces = ply_ascii(CORNERS, FACES), FACES.copy()
    faces[3, 1] = 4
    assert "6 times 'face', but ends after 5" in refusal(tmp_path, "part.ply", text[: text.rindex(b"\n")])
    assert "fewer corners" in refusal(tmp_path, "part.ply", text[:-2])
    assert "tell of 5 triangles" in refusal(tmp_path, "part.ply", text.replace(b"\n3 0 1 1", b"\n2 0 1 1"))
    assert "vertex 4, but its part has 4" in refusal(tmp_path, "part.ply", ply_ascii(CORNERS, faces))
    assert "vertex 4, but its part has 4" in refusal(tmp_path, "scene.glb", glb(CORNERS, faces))
    assert refusal(tmp_path, "part.ply", ply_ascii(CORNERS, FACES[:0])) == "there are no triangles in it."
    bare = [{"componentType": 5126, "count": 10**12, "type": "VEC3"}]
    assert "compressed, sparse" in refusal(tmp_path, "scene.glb", glb(CORNERS, FACES, accessors=bare))
    fan = [{"primitives": [{"attributes": {"POSITION": 0}, "indices": 1, "mode": 6}]}]
    assert "fans" in refusal(tmp_path, "scene.glb", glb(CORNERS, FACES, meshes=fan))


@pytest.mark.parametrize("name", [name for name in names_of_all if name.values[0] != "part.obj"])
def test_files_cut_off_anywhere_are_refused(tmp_path, name):
    # OBJ tells no counts, nor does STL how many solids there are: what is left of them may be whole.
    data = stl_ascii(CORNERS, FACES, solids=1) if name == "ascii.STL" else WRITERS[name](CORNERS, FACES)
    for end in range(1, len(data) - 20, 7):
        assert refusal(tmp_path, name, data[:end]).endswith(".")


@pytest.mark.parametrize("name", names_of_all)
@given(st.data())
def test_hostile_bytes_are_refused_or_make_a_mesh(name, tmp_path, data):
    good = WRITERS[name](CORNERS, FACES)
    places = st.lists(st.tuples(st.integers(0, len(good) - 1), st.integers(0, 255)), min_size=1, max_size=8)
    bad = bytearray(good)
    for at, byte in data.draw(places):
        bad[at] = byte
    for hostile in (bytes(bad), bytes(bad) + b"\0 garbage", data.draw(st.binary(max_size=200))):
        message = str(tmp_path / name)
        try:
            mesh = loaded(tmp_path, name, hostile)
        except ValueError as error:
            message = str(error)
        else:
            assert np.isfinite(mesh.vertices).all()
        assert message.startswith(str(tmp_path / name))


@pytest.mark.parametrize("module", ["trimesh", "collada"])
def test_what_is_not_installed_is_named_with_the_command_to_get_it(tmp_path, module):
    if module == "collada" and not importlib.util.find_spec("trimesh"):
        pytest.skip("needs the extra 'view'")
    name = {"trimesh": "part.ply", "collada": "part.dae"}[module]
    (tmp_path / name).write_bytes(ply_ascii(CORNERS, FACES))
    script = f"""
        import sys
        sys.modules[{module!r}] = None
        import clearance
        try:
            clearance.load_mesh({str(tmp_path / name)!r})
        except ImportError as error:
            print(error)
    """
    found = subprocess.run([sys.executable, "-c", textwrap.dedent(script)], capture_output=True, text=True, check=True)
    command = {"trimesh": "pip install clearance[view]", "collada": "pip install pycollada"}[module]
    assert f"{name}: this format needs {module}; get it with: {command}" in found.stdout


@needs_trimesh
def test_collada_is_loaded_in_metres(tmp_path):
    pytest.importorskip("collada", reason="COLLADA files need pycollada")
    import trimesh

    text = trimesh.Trimesh(CORNERS, FACES, process=False).export(file_type="dae")
    text = text.decode() if isinstance(text, bytes) else text
    mesh = loaded(tmp_path, "part.dae", text)
    np.testing.assert_allclose(triangles(mesh), CORNERS[FACES], rtol=1e-6)
    in_centimetres = text.replace("<up_axis>", '<unit name="centimetre" meter="0.01"/><up_axis>')
    np.testing.assert_allclose(triangles(loaded(tmp_path, "cm.dae", in_centimetres)), 0.01 * CORNERS[FACES], rtol=1e-6)
