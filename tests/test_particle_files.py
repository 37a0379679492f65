"""Particles in files: they go on with the same bits, and whatever else a file holds is a ValueError."""

import io
import json
import os
import pickle
import struct
import subprocess
import sys
import zipfile

import numpy as np
import pytest

import clearance as cl
from clearance import simulation as sim
from physics import GROUND, MODELS, SHAPES

PYRAMID = cl.Mesh(
    np.array([[0.0, 0, 0], [1, 0, 0], [0, 1, 0], [0, 0, 1]]), np.array([[0, 1, 2], [0, 3, 1], [0, 2, 3], [1, 3, 2]])
)


def some_pile(contact=None, **settings):
    """Return a few particles of every kind in a narrow bin, some of them across the periodic face of the room."""
    room = {"lower": (-2, -2, 0), "upper": (2, 2, 0), "periodic": [True, True, False]} | settings
    particles = sim.Particles(contact=contact, **room)
    particles.add_wall("ground", GROUND)
    particles.add_wall("side", cl.HalfSpace([1, 0, 0], -0.6), material=sim.Material(friction=0.1))
    rng = np.random.default_rng(0)
    for k, shape in enumerate(SHAPES.values()):
        place = [0.5 * (k % 3), 1.9 - 0.5 * (k // 3 % 2), 0.5 + 0.35 * k]
        pose = cl.poses.from_wxyz(rng.normal(size=4), place)
        particles.add(shape, pose[None], rng.normal(size=(1, 6)), material=sim.Material(0.4, 0.1, 0.001))
    return particles


def bits(particles):
    arrays = particles.ids, particles.kinds, particles.poses, particles.turns, particles.velocities, particles.masses
    return [array.tobytes() for array in arrays] + [particles.time]


def again(particles, folder, threads=None):
    path = folder / "particles.npz"
    particles.save(path)
    return sim.Particles.load(path, threads)


def assert_go_on_alike(particles, loaded, steps=150):
    assert bits(loaded) == bits(particles)
    for _ in range(3):
        particles.step(steps // 3)
        loaded.step(steps // 3)
        assert bits(loaded) == bits(particles)
        assert np.array_equal(loaded.contacts.ids, particles.contacts.ids)
        assert loaded.contacts.forces.tobytes() == particles.contacts.forces.tobytes()


@pytest.mark.parametrize("law", MODELS)
@pytest.mark.parametrize("steps", [0, 1, 2, 150, 600])
def test_loaded_particles_go_on_with_the_same_bits(steps, law, tmp_path):
    particles = some_pile(MODELS[law])
    particles.step(steps)
    loaded = again(particles, tmp_path, threads=2)
    assert_go_on_alike(particles, loaded)


def test_fast_cubes_move_alike_however_often_they_are_saved(tmp_path):
    """What is known from before, and is not in the file, saves time and changes nothing."""
    particles = sim.Particles(1 / 160, contact=sim.Hard(iterations=10))
    particles.add_wall("ground", GROUND)
    rng = np.random.default_rng(0)
    layer, row, column = np.unravel_index(np.arange(80), (5, 4, 4))
    places = np.stack([0.03 * row, 0.03 * column, 0.035 * layer + 0.1], axis=1)
    turns = rng.normal(size=(80, 4))
    poses = cl.poses.from_xyzw(turns / np.linalg.norm(turns, axis=1, keepdims=True), places)
    velocities = rng.normal(size=(80, 6)) * [1, 1, 1, 30, 30, 30] - [0, 0, 3, 0, 0, 0]
    particles.add(cl.Box([0.02] * 3), poses, velocities)
    saved = again(particles, tmp_path)
    for _ in range(60):
        particles.step()
        saved.step()
        assert bits(saved) == bits(particles)
        saved = again(saved, tmp_path)


def test_everything_that_was_said_is_in_the_file(tmp_path):
    particles = some_pile(sim.Soft(3e4, 20.0, 7), step=2e-3, gravity=(1, 2, -3), detection="iterative")
    loaded = again(particles, tmp_path, threads=3)
    assert loaded.threads == 3
    assert loaded.contact == particles.contact
    assert loaded.detection == "iterative"
    assert loaded.step_length == 2e-3
    assert loaded.gravity.tolist() == [1, 2, -3]
    assert [pickle.dumps(shape) for shape in loaded.shapes] == [pickle.dumps(shape) for shape in particles.shapes]
    assert list(loaded.walls) == ["ground", "side"]
    assert loaded.walls["side"].material == sim.Material(friction=0.1)
    assert loaded.walls["side"].pose.tolist() == np.eye(4).tolist()


def test_files_of_files_are_the_same(tmp_path):
    particles = some_pile()
    particles.step(300)
    loaded = again(again(again(particles, tmp_path), tmp_path), tmp_path)
    assert_go_on_alike(particles, loaded)


CHANGES = {
    "add": lambda p: p.add(cl.Sphere(0.2), [[0.5, 0.0, 6.0]]),
    "add none": lambda p: p.add(cl.Sphere(0.2), np.zeros((0, 3))),
    "remove": lambda p: p.remove([4]),
    "add a wall": lambda p: p.add_wall("ceiling", cl.HalfSpace([0, 0, -1], -20.0)),
    "remove a wall": lambda p: p.remove_wall("side"),
}


@pytest.mark.parametrize("change", [change for change in CHANGES if change != "add none"])
def test_particles_saved_right_after_a_change_go_on_with_the_same_bits(change, tmp_path):
    particles = some_pile()
    particles.step(600)
    CHANGES[change](particles)
    loaded = again(particles, tmp_path)
    assert_go_on_alike(particles, loaded)


@pytest.mark.parametrize("change", CHANGES)
def test_particles_saved_a_step_after_a_change_go_on_with_the_same_bits(change, tmp_path):
    particles = some_pile()
    particles.step(600)
    CHANGES[change](particles)
    particles.step()
    loaded = again(particles, tmp_path)
    assert_go_on_alike(particles, loaded)


def test_numbers_are_not_used_again_after_loading(tmp_path):
    particles = some_pile()
    particles.remove([9])
    loaded = again(particles, tmp_path)
    assert loaded.add(cl.Sphere(0.1), [[0.0, 0, 9]]).tolist() == [10]


def test_empty_particles_are_saved(tmp_path):
    loaded = again(sim.Particles(step=0.5), tmp_path)
    assert len(loaded) == 0
    loaded.step(2)
    assert again(loaded, tmp_path).time == 1.0


def test_walls_of_every_kind_are_saved(tmp_path):
    particles = sim.Particles()
    field = cl.HeightField(np.zeros((4, 4)), 1.0)
    for k, shape in enumerate([GROUND, PYRAMID, field, *SHAPES.values()]):
        particles.add_wall(f"{k}", shape, [3.0 * k, 0, -0.1])
    particles.add(cl.Sphere(0.1), [[3.0 * k + 0.02, 0.03, 1.0] for k in range(len(particles.walls))])
    particles.step(300)
    loaded = again(particles, tmp_path)
    assert_go_on_alike(particles, loaded)


def test_a_file_is_replaced_only_by_a_complete_one(tmp_path):
    particles = some_pile()
    particles.save(tmp_path / "kept.npz")
    kept = (tmp_path / "kept.npz").read_bytes()
    with pytest.raises(OSError):  # noqa: PT011
        particles.save(tmp_path / "no such folder" / "kept.npz")
    particles.save(tmp_path / "kept.npz")
    assert (tmp_path / "kept.npz").read_bytes() == kept
    assert [path.name for path in tmp_path.iterdir()] == ["kept.npz"]


# ---- Files that are none.


@pytest.fixture(scope="module")
def parts(tmp_path_factory):
    """Arrays of a good file."""
    path = tmp_path_factory.mktemp("particles") / "good.npz"
    particles = sim.Particles()
    particles.add_wall("ground", GROUND)
    particles.add(cl.Sphere(0.1), [[0, 0, 0.1], [1, 0, 0.1], [0.05, 0, 0.28]])
    particles.add(cl.Box([0.2, 0.2, 0.2]), [[0.5, 0.5, 0.1]])
    particles.step(30)
    particles.save(path)
    with np.load(path) as file:
        return dict(file)


def written(path, parts, about=None, **changed):
    arrays = parts | changed
    if about is not None:
        told = json.loads(parts["about"].tobytes()) | about
        arrays["about"] = np.frombuffer(json.dumps(told).encode(), dtype=np.uint8)
    np.savez(path, **arrays)
    return path


def assert_refused(path):
    with pytest.raises(ValueError, match=r"."):
        sim.Particles.load(path)


def with_entry(array, place, value):
    changed = array.copy()
    changed[place] = value
    return changed


def pickled(thing):
    return np.frombuffer(pickle.dumps(thing), dtype=np.uint8)


class Evil:
    def __reduce__(self):
        return os.system, ("exit 1",)


@pytest.mark.parametrize(
    "data",
    [b"", b"P", b"PK", b"PK\x03\x04", b"\x93NUMPY", b"\x80\x04N.", b"not a zip" * 100, bytes(10_000)],
    ids=lambda data: repr(data[:8]),
)
def test_other_files_are_refused(data, tmp_path):
    (tmp_path / "other.npz").write_bytes(data)
    assert_refused(tmp_path / "other.npz")


def test_files_of_worlds_and_arrays_are_refused(tmp_path):
    sim.World().save(tmp_path / "world.npz")
    assert_refused(tmp_path / "world.npz")
    np.savez(tmp_path / "arrays.npz", a=np.zeros(3))
    assert_refused(tmp_path / "arrays.npz")
    (tmp_path / "empty folder").mkdir()
    assert_refused(tmp_path / "empty folder")


def test_truncated_files_are_refused(parts, tmp_path):
    data = written(tmp_path / "whole.npz", parts).read_bytes()
    for length in [*range(0, len(data), 97), len(data) - 1]:
        (tmp_path / "part.npz").write_bytes(data[:length])
        assert_refused(tmp_path / "part.npz")


def test_the_good_file_is_good(parts, tmp_path):
    assert len(sim.Particles.load(written(tmp_path / "good.npz", parts))) == 4


@pytest.mark.parametrize("name", ["about", "shapes", "records", "memories"])
def test_files_without_a_part_are_refused(name, parts, tmp_path):
    left = {other: array for other, array in parts.items() if other != name}
    assert_refused(written(tmp_path / "part.npz", left))


ABOUT = ["format", "step", "gravity", "contact", "periodic", "detection", "kinds", "walls", "steps", "next"]
WRONG = {"null": None, "text": "x", "dict": {}, "negative": [-1] * 3, "nothing": [], "nulls": [None] * 3}


@pytest.mark.parametrize("wrong", WRONG)
@pytest.mark.parametrize("name", ABOUT)
def test_files_that_say_something_else_are_refused(name, wrong, parts, tmp_path):
    if (name, wrong) != ("gravity", "negative"):
        assert_refused(written(tmp_path / "other.npz", parts, {name: WRONG[wrong]}))


@pytest.mark.parametrize("name", ABOUT)
def test_files_that_do_not_say_something_are_refused(name, parts, tmp_path):
    told = json.loads(parts["about"].tobytes())
    del told[name]
    about = np.frombuffer(json.dumps(told).encode(), dtype=np.uint8)
    assert_refused(written(tmp_path / "other.npz", parts | {"about": about}))


@pytest.mark.parametrize(
    "text",
    [b"", b"{", b"[1]", b"\xff\xfe", b"null", b"[" * 100_000, b'{"format": "clearance particles 9"}'],
    ids=lambda text: repr(text[:8]),
)
def test_files_that_say_nonsense_are_refused(text, parts, tmp_path):
    assert_refused(written(tmp_path / "other.npz", parts | {"about": np.frombuffer(text, dtype=np.uint8)}))


RECORDS = {
    "17 columns": lambda r: r[:, :17],
    "not finite": lambda r: with_entry(r, (1, 3), np.nan),
    "infinite": lambda r: with_entry(r, (1, 9), np.inf),
    "too far": lambda r: with_entry(r, (1, 3), 1e300),
    "negative number": lambda r: with_entry(r, (0, 0), -1),
    "negative kind": lambda r: with_entry(r, (0, 1), -1),
    "unknown kind": lambda r: with_entry(r, (0, 1), 2),
    "huge kind": lambda r: with_entry(r, (0, 1), 1e18),
    "text": lambda r: np.array(["a", "b"]),
}
LOOSE_RECORDS = {
    "one row": lambda r: r[0],
    "three axes": lambda r: r[None],
    "the same number twice": lambda r: with_entry(r, (1, 0), 0),
    "number not yet given": lambda r: with_entry(r, (3, 0), 99),
    "half a number": lambda r: with_entry(r, (0, 0), 0.5),
    "half a kind": lambda r: with_entry(r, (0, 1), 0.5),
    "no turn": lambda r: with_entry(r, (0, slice(5, 9)), 0.0),
    "turn that is no rotation": lambda r: with_entry(r, (0, slice(5, 9)), 5.0),
}


@pytest.mark.parametrize("change", RECORDS)
def test_particles_that_cannot_be_are_refused(change, parts, tmp_path):
    assert_refused(written(tmp_path / "other.npz", parts, records=RECORDS[change](parts["records"])))


@pytest.mark.parametrize("change", LOOSE_RECORDS)
def test_particles_that_cannot_be_are_refused_as_well(change, parts, tmp_path):
    assert_refused(written(tmp_path / "other.npz", parts, records=LOOSE_RECORDS[change](parts["records"])))


@pytest.mark.parametrize(
    "about",
    [
        pytest.param({name: value}, id=f"{name} {value}")
        for name, values in {
            "steps": [-1, 1.5, True, float("inf")],
            "next": [0, -5, 1.5, True, 10**30, float("inf")],
        }.items()
        for value in values
    ],
)
def test_counts_that_cannot_be_are_refused(about, parts, tmp_path):
    assert_refused(written(tmp_path / "other.npz", parts, about))


MEMORIES = {
    "5 columns": lambda m: m[:, :5],
    "not finite": lambda m: with_entry(m, (0, 7), np.nan),
    "huge part": lambda m: with_entry(m, (0, 2), 3e9),
    "huge number": lambda m: with_entry(m, (0, 1), 1e16),
    "huge impulse": lambda m: with_entry(m, (0, 7), 1e31),
}


def test_reaches_that_are_too_short_are_refused(parts, tmp_path):
    told = json.loads(parts["about"].tobytes())
    name = "reach" if "reach" in told else "largest_ball"
    assert_refused(written(tmp_path / "other.npz", parts, {name: [1e-6, 1e-6] if name == "reach" else 1e-6}))


@pytest.mark.parametrize("change", MEMORIES)
def test_memories_that_cannot_be_are_refused(change, parts, tmp_path):
    assert_refused(written(tmp_path / "other.npz", parts, memories=MEMORIES[change](parts["memories"])))


def test_memories_of_others_do_no_harm(parts, tmp_path):
    """Contacts of particles, walls and parts that are not there are never looked up."""
    for place, value in [((0, 1), 77), ((0, 0), -77), ((0, 2), -5), ((0, 3), 1000)]:
        memories = with_entry(parts["memories"], place, value)
        particles = sim.Particles.load(written(tmp_path / "other.npz", parts, memories=memories))
        particles.step(20)
        assert np.isfinite(particles.poses).all()


@pytest.mark.parametrize(
    "shapes",
    [
        3,
        None,
        [1, 2, 3],
        [cl.Sphere(0.1)] * 2,
        [cl.Sphere(0.1)] * 4,
        [cl.Sphere] * 3,
        [cl.Sphere(0.1).at([0, 0, 1])] * 3,
        {0: cl.Sphere(0.1), 1: cl.Sphere(0.1), 2: GROUND},
        [Evil(), Evil(), Evil()],
    ],
    ids=lambda shapes: str(shapes)[:20],
)
def test_pickles_of_other_things_are_refused(shapes, parts, tmp_path):
    assert_refused(written(tmp_path / "other.npz", parts, shapes=pickled(shapes)))


@pytest.mark.parametrize("shape", [GROUND, PYRAMID], ids=["half-space", "mesh"])
def test_kinds_without_an_inside_are_refused(shape, parts, tmp_path):
    assert_refused(written(tmp_path / "other.npz", parts, shapes=pickled([shape, shape, GROUND])))


def test_huge_claims_are_refused(parts, tmp_path):
    good = written(tmp_path / "good.npz", parts)
    header = io.BytesIO()
    claim = {"descr": "<f8", "fortran_order": False, "shape": (10**14, 18)}
    np.lib.format.write_array_header_1_0(header, claim)
    with zipfile.ZipFile(good) as whole, zipfile.ZipFile(tmp_path / "huge.npz", "w") as huge:
        for name in whole.namelist():
            huge.writestr(name, header.getvalue() + bytes(144) if name == "records.npy" else whole.read(name))
    assert_refused(tmp_path / "huge.npz")


def test_encrypted_archives_are_refused(parts, tmp_path):
    data = bytearray(written(tmp_path / "good.npz", parts).read_bytes())
    central = data.find(b"PK\x01\x02")
    while central >= 0:
        flags = struct.unpack_from("<H", data, central + 8)[0]
        struct.pack_into("<H", data, central + 8, flags | 1)
        central = data.find(b"PK\x01\x02", central + 4)
    (tmp_path / "locked.npz").write_bytes(data)
    assert_refused(tmp_path / "locked.npz")


LOADER = """
import sys
from clearance import simulation as sim
for path in sys.argv[1:]:
    try:
        sim.Particles.load(path).step(2)
    except (ValueError, FloatingPointError):
        pass
"""


def assert_refused_or_harmless(paths):
    """Load files in a process of their own, which ends well whatever they hold."""
    done = subprocess.run([sys.executable, "-c", LOADER, *paths], capture_output=True, text=True, check=False)
    assert (done.returncode, done.stderr) == (0, "")


def test_arrays_of_objects_are_refused(parts, tmp_path):
    shapes = parts["shapes"].tobytes()
    assert b"\x8c\x03<f8" in shapes
    for form in (b"|O8", b"<O8", b"|V8", b"<M8"):
        objects = shapes.replace(b"\x8c\x03<f8", b"\x8c\x03" + form)
        changed = parts | {"shapes": np.frombuffer(objects, dtype=np.uint8)}
        assert_refused(written(tmp_path / "objects.npz", changed))


def changed_files(parts, folder, names, count):
    """Change bytes inside of files, behind the checksums, and return the files."""
    rng = np.random.default_rng(1)
    for k in range(count):
        arrays = {name: array.copy() for name, array in parts.items()}
        raw = arrays[names[k % len(names)]].reshape(-1).view(np.uint8)
        raw[rng.integers(len(raw), size=rng.integers(1, 4))] = rng.integers(256)
        yield written(folder / f"changed {k}.npz", arrays)


def test_numbers_that_changed_are_refused_or_harmless(parts, tmp_path):
    assert_refused_or_harmless(changed_files(parts, tmp_path, ["records", "memories"], 150))


def test_shapes_that_changed_are_refused_or_harmless(parts, tmp_path):
    assert_refused_or_harmless(changed_files(parts, tmp_path, ["shapes"], 300))


@pytest.mark.long
@pytest.mark.parametrize("name", ["about", "shapes", "records", "memories"])
def test_bytes_that_changed_are_refused_or_harmless(name, parts, tmp_path):
    assert_refused_or_harmless(changed_files(parts, tmp_path, [name], 10_000))
