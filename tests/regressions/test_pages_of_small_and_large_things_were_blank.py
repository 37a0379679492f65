"""Whoever looks at a page sees from 0.01 to 1000 units away: all must be in between, whatever its size."""

import base64
import html
import json
import re
import struct

import pytest

import clearance as cl

pytest.importorskip("trimesh", reason="pages need the extra 'view'")
import trimesh

from clearance.pages import page


def scene_of_page(path):
    """Read what three.js gets: the camera, and where everything stands."""
    packed = re.search(r'base64_data="([^"]*)"', html.unescape(path.read_text(encoding="utf-8")))
    data = base64.b64decode(packed[1])
    (length,) = struct.unpack_from("<I", data, 12)
    camera = json.loads(data[20 : 20 + length])["cameras"][0]["perspective"]
    return camera, trimesh.load_scene(trimesh.util.wrap_as_stream(data), file_type="glb")


@pytest.mark.parametrize("size", [1e-9, 2e-3, 1.0, 2e3, 1e9])
def test_whole_scene_lies_between_the_planes_of_the_camera(size, tmp_path):
    scene = cl.Scene()
    scene.add("part", cl.Box([size] * 3))
    scene.add("other", cl.Sphere(0.1 * size), [size, 0.0, 0.0])
    scene.watch_all()
    page(scene, tmp_path / "it.html")
    camera, shown = scene_of_page(tmp_path / "it.html")
    eye = shown.camera_transform[:3, 3]
    away = [float(((corner - eye) ** 2).sum() ** 0.5) for corner in shown.bounding_box.vertices]
    assert 10.0 * camera["znear"] < min(away)
    assert max(away) < 0.1 * camera.get("zfar", 1000.0)
