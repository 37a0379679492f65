"""What the fuzzers of files feed: any bytes, which are read or refused with an error that is an answer."""

import functools
import io
import sys
import tempfile
import warnings
from contextlib import suppress
from pathlib import Path

import numpy as np

sys.path.insert(0, str(Path(__file__).parent.parent))

import strangers
from clearance.simulation import archives, incidents, petersen_files, world_files
from clearance.simulation.grain_recordings import GrainRecording
from clearance.simulation.recordings import Recording
from clearance.simulation.scenario import Scenario

warnings.simplefilter("ignore")

ENDINGS = ("stl", "obj", "off", "ply", "glb", "gltf", "dae", "mesh")
ARCHIVES = ("world.npz", "particles.npz", "recording.npz", "grains.npz")


@functools.cache
def folder() -> Path:
    """Give a folder for the file of the moment, in memory where there is one."""
    memory = Path("/dev/shm")
    made = tempfile.TemporaryDirectory(dir=memory if memory.is_dir() else None)
    folder.keep = made  # removed with the process
    return Path(made.name)


def written(name: str, data: bytes) -> Path:
    path = folder() / name
    path.write_bytes(data)
    return path


def changed(good: str, ending: str, data: bytes) -> Path:
    """Write beside a good file, whose neighbours may be named."""
    path = good_files()[good].with_name(f"changed.{ending}")
    path.write_bytes(data)
    return path


def meshio(data: bytes) -> None:
    """Read a mesh; the first byte says of which format."""
    if data:
        strangers.LOADERS["mesh"](written(f"part.{ENDINGS[data[0] % len(ENDINGS)]}", data[1:]))


def urdf(data: bytes) -> None:
    """Read a robot, or what SRDF says of one; the first byte says which."""
    if data:
        kind = ("urdf", "srdf")[data[0] % 2]
        strangers.LOADERS[kind](changed("robot.urdf", kind, data[1:]))


def scenario(data: bytes) -> None:
    """Read a scenario or one of the files of the thesis; the first byte says which."""
    if not data:
        return
    kind = ("toml", "cfg", "city", "balls")[data[0] % 4]
    if kind == "toml":
        found = Scenario.load(written("world.toml", data[1:]))
        assert Scenario.from_text(found.to_toml()) == found
    else:
        read = {"cfg": "load_petersen", "city": "read_city", "balls": "read_balls"}[kind]
        getattr(petersen_files, read)(changed("truck.cfg", kind, data[1:]))


def saved(data: bytes) -> None:
    """Read what was saved, one of its arrays replaced; the first bytes say of which file, and which array."""
    if len(data) < 2:
        return
    kind = data[0] % (len(ARCHIVES) + 2)
    if kind == len(ARCHIVES):
        with suppress(*(set(archives.UNREADABLE) - {MemoryError})):
            archives.read_arrays(data[1:])
    elif kind == len(ARCHIVES) + 1:
        for one in incidents.load_incidents(written("incidents.json", data[1:])):
            incidents.replay(one)
    else:
        read_archive(ARCHIVES[kind], data[1], data[2:])


def read_archive(name: str, which: int, data: bytes) -> None:
    arrays = dict(good_arrays(name))
    key = sorted(arrays)[which % len(arrays)]
    old = arrays[key]
    row = old.dtype.itemsize * int(np.prod(old.shape[1:]))
    arrays[key] = np.frombuffer(data[: len(data) // row * row], old.dtype).reshape(-1, *old.shape[1:])
    file = io.BytesIO()
    np.savez(file, **arrays)
    match name:
        case "world.npz":
            strangers._stepped(world_files.from_bytes(file.getvalue(), 1))
        case "particles.npz":
            strangers.LOADERS["particles"](written(name, file.getvalue()))
        case "recording.npz":
            Recording.load(written(name, file.getvalue())).world()
        case _:
            GrainRecording.load(written(name, file.getvalue()))


@functools.cache
def good_files() -> dict[str, Path]:
    return {name: sent.path for name, sent in strangers.good_files(folder() / "good").items()}


@functools.cache
def good_arrays(name: str) -> dict[str, np.ndarray]:
    return archives.read_arrays(good_files()[name].read_bytes())


TARGETS = {"meshio": meshio, "urdf": urdf, "scenario": scenario, "saved": saved}


def seeds(target: str) -> dict[str, bytes]:
    """Give a good input of every kind that a target reads."""
    good = {name: path.read_bytes() for name, path in good_files().items()}
    endings = {f".{ending}": bytes([k]) for k, ending in enumerate(ENDINGS)}
    match target:
        case "meshio":
            return {
                name: endings[Path(name).suffix] + data for name, data in good.items() if Path(name).suffix in endings
            }
        case "urdf":
            return {"urdf": b"\0" + good["robot.urdf"], "srdf": b"\1" + good["robot.srdf"]}
        case "scenario":
            names = ("world.toml", "truck.cfg", "city.txt", "balls.txt")
            return {name: bytes([k]) + good[name] for k, name in enumerate(names)}
        case _:
            parts = {
                f"{name} {key}": bytes([k, j]) + good_arrays(name)[key].tobytes()
                for k, name in enumerate(ARCHIVES)
                for j, key in enumerate(sorted(good_arrays(name)))
            }
            return parts | {"archive": b"\4" + good["grains.npz"], "incidents": b"\5" + good["incidents.json"]}


def answered(target: str, data: bytes) -> bool:
    """Tell whether an input was read; anything but an answer is an error."""
    try:
        TARGETS[target](data)
    except strangers.ANSWERS:
        return False
    return True
