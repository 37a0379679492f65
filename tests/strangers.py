"""Files as strangers might send them: good ones of every kind, who reads them, and a process to read bad ones in.

Run as a program it reads a list of [loader, path] from its standard input and says of each what came of it. Its memory
is limited, so that a header which is believed ends in a MemoryError, which is no answer.
"""

import json
import subprocess
import sys
import warnings
from contextlib import suppress
from dataclasses import dataclass
from pathlib import Path

import numpy as np

import clearance as cl
from clearance import simulation as sim
from clearance import srdf, urdf
from clearance.batches import gather
from clearance.errors import NotConverged
from clearance.simulation import incidents, petersen_files, twins
from clearance.simulation.grain_recordings import GrainRecorder, GrainRecording
from clearance.simulation.recordings import Recorder, Recording
from clearance.simulation.scenario import Scenario

ANSWERS = (ValueError, OSError, KeyError, NotConverged)
MEMORY = 1 << 30  # bytes beyond what the library itself needs
BALL = cl.Sphere(0.1).at([3.0, 0.0, 0.0])

CORNERS = np.array([[0.0, 0.0, 0.0], [1.0, 0.0, 0.0], [0.0, 1.0, 0.0], [0.0, 0.0, 1.0]])
FACES = np.array([[0, 2, 1], [0, 1, 3], [0, 3, 2], [1, 2, 3]])
URDF = (
    '<robot name="r"><link name="a"><collision><geometry><mesh filename="{mesh}"/></geometry></collision></link>'
    '<link name="b"/><joint name="j" type="revolute"><parent link="a"/><child link="b"/><origin xyz="0 0 1"/>'
    '<axis xyz="0 0 1"/><limit lower="-1" upper="1" velocity="2" effort="3"/></joint></robot>'
)
SRDF = (
    '<robot name="r"><disable_collisions link1="a" link2="b" reason="Adjacent"/><group_state name="s" group="g">'
    '<joint name="j" value="0.5"/></group_state><link_sphere_approximation link="a"><sphere center="0 0 1" radius="2"/>'
    "</link_sphere_approximation></robot>"
)
SCENARIO = """[world]
contact = { kind = "soft", stiffness = 1e4 }
[city]
cell = 0.5
corner = [2, 2]
storeys = ["1.2", "..3"]
[[balls]]
position = [0, 0, 1]
radius = 0.1
[[robots]]
model = "pioneer"
name = "p"
scanner = { position = [0, 0, 1], resolution = [8, 2] }
commands = [{ speed = 0.1 }, { time = 1.0, turn_rate_deg = 5 }]"""
CFG = "[general]\npioneers = 1\n[field]\ncity = city.txt\nballs = balls.txt\n[monsterTruck1]\nposX = -2000\nlsType = 2"


# Who reads them ------------------------------------------------------------------------------------------------------


def _mesh(path):
    mesh = cl.load_mesh(path)
    cl.distance(mesh, BALL)
    cl.raycast(mesh, [[-5.0, 0.1, 0.1]], [[1.0, 0.0, 0.0]])


def _stepped(things):
    with suppress(FloatingPointError):  # what it holds may fly apart
        things.step(2)


def _recording(path):
    recording = Recording.load(path)
    _stepped(recording.world())


def _resumed(path):
    with Recorder.resume(Path(path).parent.parent) as recorder:
        recorder.take()


def _batch(path):
    out = str(path).removesuffix(".part")
    gather(np.negative, np.arange(10.0), [("x", "f8")], out=out)


LOADERS = {
    "mesh": _mesh,
    "urdf": lambda path: urdf.read(path),
    "srdf": lambda path: srdf.read(path),
    "scenario": lambda path: Scenario.load(path).build(threads=1),
    "petersen": petersen_files.load_petersen,
    "city": petersen_files.read_city,
    "balls": petersen_files.read_balls,
    "world": lambda path: _stepped(sim.World.load(path, threads=1)),
    "particles": lambda path: _stepped(sim.Particles.load(path, threads=1)),
    "recording": _recording,
    "grains": GrainRecording.load,
    "incidents": lambda path: [incidents.replay(one) for one in incidents.load_incidents(path)],
    "resume": _resumed,
}


# Good ones -----------------------------------------------------------------------------------------------------------


@dataclass(frozen=True)
class Sent:
    """A file and who reads it; whether every part of it matters, so that none can be missing."""

    loader: str
    path: Path
    is_tight: bool = True


def good_files(folder: Path) -> dict[str, Sent]:
    """Write a good file of every kind, each in a folder of its own."""
    found = {}
    for name, data, is_tight in _texts():
        path = folder / name.replace(".", "_") / name
        path.parent.mkdir(parents=True)
        path.write_bytes(data if isinstance(data, bytes) else data.encode())
        found[name] = Sent(_loader_of(name), path, is_tight)
    solid().save(found["part.obj"].path.parent / "part.mesh")
    found["part.mesh"] = Sent("mesh", found["part.obj"].path.parent / "part.mesh")
    cfg = found["truck.cfg"].path.parent
    (cfg / "city.txt").write_text("0 1000 -500 500 500\n0 3\n1 0")
    (cfg / "balls.txt").write_text("1\n-1000 -1200 1200 100 1 0 0 0.07")
    found["city.txt"], found["balls.txt"] = (Sent(name, cfg / f"{name}.txt", False) for name in ("city", "balls"))
    (found["robot.urdf"].path.parent / "part.stl").write_bytes(stl_binary())
    return found | _saved(folder)


def solid():
    return cl.Mesh(CORNERS, FACES)


def _texts():
    yield "binary.stl", stl_binary(), True
    triangle = "".join(f"vertex {x} {y} {z}\n" for x, y, z in CORNERS[:3])
    yield "ascii.stl", f"solid s\nfacet normal 0 0 1\nouter loop\n{triangle}endloop\nendfacet\nendsolid s", False
    vertices = "".join(f"v {x} {y} {z}\n" for x, y, z in CORNERS)
    yield "part.obj", vertices + "".join(f"f {a} {b} {c}\n" for a, b, c in FACES + 1), False
    rows = "".join(f"{x} {y} {z}\n" for x, y, z in CORNERS) + "".join(f"3 {a} {b} {c}\n" for a, b, c in FACES)
    yield "part.off", f"OFF\n4 4 0\n{rows}", False
    yield "ascii.ply", ply_header("ascii", 4, 4) + rows.encode(), False
    faces = b"".join(b"\3" + face.astype("<i4").tobytes() for face in FACES)
    yield "binary.ply", ply_header("binary_little_endian", 4, 4) + CORNERS.astype("<f4").tobytes() + faces, True
    yield "scene.gltf", json.dumps(gltf()), True
    yield "robot.urdf", URDF.format(mesh="part.stl"), True
    yield "robot.srdf", SRDF, True
    yield "world.toml", SCENARIO, False
    yield "truck.cfg", CFG, False


def stl_binary(count=4):
    record = np.zeros(len(FACES), np.dtype([("n", "<f4", 3), ("c", "<f4", (3, 3)), ("a", "<u2")]))
    record["c"] = CORNERS[FACES]
    return bytes(80) + count.to_bytes(4, "little") + record.tobytes()


def ply_header(form, vertices, faces):
    lines = ["ply", f"format {form} 1.0", f"element vertex {vertices}", *(f"property float {axis}" for axis in "xyz")]
    return "\n".join(
        [*lines, f"element face {faces}", "property list uchar int vertex_indices", "end_header", ""]
    ).encode()


def gltf(**changes):
    """Give a scene of one triangle, whose numbers stand in the text."""
    numbers = "data:application/octet-stream;base64,AAABAAIAAAAAAAAAAAAAAAAAAAAAAIA/AAAAAAAAAAAAAAAAAACAPwAAAAA="
    views = [{"buffer": 0, "byteOffset": 8, "byteLength": 36}, {"buffer": 0, "byteOffset": 0, "byteLength": 6}]
    accessors = [
        {"bufferView": 0, "componentType": 5126, "count": 3, "type": "VEC3"},
        {"bufferView": 1, "componentType": 5123, "count": 3, "type": "SCALAR"},
    ]
    return {
        "asset": {"version": "2.0"},
        "scene": 0,
        "scenes": [{"nodes": [0]}],
        "nodes": [{"mesh": 0}],
        "meshes": [{"primitives": [{"attributes": {"POSITION": 0}, "indices": 1}]}],
        "buffers": [{"byteLength": 44, "uri": numbers}],
        "bufferViews": views,
        "accessors": accessors,
    } | changes


def _loader_of(name):
    kind = name.rpartition(".")[2]
    return {"urdf": "urdf", "srdf": "srdf", "toml": "scenario", "cfg": "petersen"}.get(kind, "mesh")


def _saved(folder):
    """What the library itself writes."""
    world = sim.World()
    world.add("ground", cl.HalfSpace([0, 0, 1], 0.0), motion="fixed")
    world.add("box", cl.Box([0.2, 0.2, 0.2]), [0.0, 0.0, 0.1])
    world.add("part", cl.Compound([solid(), cl.Sphere(0.1).at([0, 0, 1])]), [3.0, 0.0, 2.0], motion="fixed")
    world.add("hull", cl.ConvexHull(CORNERS), [0.0, 0.0, 0.3])
    world.join("hinge", "hinge", "box", "hull", [0.0, 0.0, 0.2], [1.0, 0.0, 0.0])
    world.step(5)
    world.save(folder / "world.npz")
    with Recorder(world, folder / "finished", rate=100.0) as recorder:
        recorder.run(world.time + 0.05)
        recorder.finish()
    with Recorder(world, folder / "cut off", rate=100.0) as recorder:
        recorder.take()
        recorder.checkpoint()
    grains = sim.Particles()
    grains.add_wall("ground", cl.HalfSpace([0, 0, 1], 0.0))
    grains.add(cl.Sphere(0.1), [[0.0, 0.0, 0.1], [0.05, 0.0, 0.28]])
    grains.step(5)
    grains.save(folder / "particles.npz")
    taken = GrainRecorder(grains)
    taken.take()
    taken.finish().save(folder / "grains.npz")
    rooms = grains, twins.empty_twin(grains, "iterative")
    incident = incidents.incident_of("depth", 0.1, rooms, (0, 1), (0.0, grains._records()))
    incidents.save_incidents([incident], folder / "incidents.json")
    return {
        "world.npz": Sent("world", folder / "world.npz"),
        "particles.npz": Sent("particles", folder / "particles.npz"),
        "recording.npz": Sent("recording", folder / "finished" / "recording.npz"),
        "grains.npz": Sent("grains", folder / "grains.npz"),
        "incidents.json": Sent("incidents", folder / "incidents.json"),
        "state.json": Sent("resume", folder / "cut off" / "unfinished" / "state.json"),
    }


# A process of its own ------------------------------------------------------------------------------------------------


def answers(wanted, seconds=120.0, memory=MEMORY):
    """Read files in another process, and give what it says of each: "loaded", or the error.

    Crashes, hangs, memory without end and errors that are no answer end in an AssertionError.
    """
    wanted = [[loader, str(path)] for loader, path in wanted]
    done = subprocess.run(
        [sys.executable, __file__, str(memory)],
        input=json.dumps(wanted),
        capture_output=True,
        text=True,
        timeout=seconds,
        check=False,
    )
    said = done.stdout.splitlines()
    stopped = wanted[min(len(said), len(wanted) - 1)]
    assert done.returncode == 0, f"{stopped} ended the process with {done.returncode}: {done.stderr[-2000:]}"
    return [json.loads(line) for line in said]


def _main():
    warnings.simplefilter("ignore")
    import resource

    import collada  # noqa: F401
    import lxml.etree  # noqa: F401
    import trimesh  # noqa: F401

    taken = int(Path("/proc/self/statm").read_text().split()[0]) * resource.getpagesize()
    limit = taken + int(sys.argv[1])
    resource.setrlimit(resource.RLIMIT_AS, (limit, limit))
    for loader, path in json.load(sys.stdin):
        try:
            LOADERS[loader](path)
            said = "loaded"
        except ANSWERS as error:
            said = f"{type(error).__name__}: {error}"[:1000]
        print(json.dumps(said), flush=True)


if __name__ == "__main__":
    _main()
