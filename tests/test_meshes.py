"""Meshes as values: what they are made from, what they refuse, how they are copied, stored and read again."""

import copy
import pickle
import subprocess
import sys
from pathlib import Path

import numpy as np
import pytest

import clearance as cl
import mesh_oracle as oracle
import meshes
from meshes import SAMPLES, sample
from strategies import rigid_motions

VOLUMES = ("obb", "rss")
FIELDS = ("distance", "lower", "upper", "point_a", "point_b", "normal", "feature_a", "feature_b")
VERTICES, FACES = sample("box")
every_sample = pytest.mark.parametrize("name", SAMPLES)
every_volume = pytest.mark.parametrize("volume", VOLUMES)

COPIES = {"copy": copy.copy, "deepcopy": copy.deepcopy} | {
    f"pickle {protocol}": lambda x, protocol=protocol: pickle.loads(pickle.dumps(x, protocol))
    for protocol in range(2, pickle.HIGHEST_PROTOCOL + 1)
}


def made(name, volume="obb"):
    soup = sample(name)
    return cl.Mesh(soup.vertices, soup.faces, volume=volume)


def answers(mesh, threads=None):
    """Return distances of a mesh from a box at many poses."""
    return cl.distance(mesh, cl.Box([0.2, 0.3, 0.4]).at(rigid_motions(np.random.default_rng(1), 40)), threads=threads)


def assert_same_answers(found, expected):
    for name in FIELDS:
        assert getattr(found, name).tobytes() == getattr(expected, name).tobytes(), name
    assert found.work == expected.work


# Values --------------------------------------------------------------------------------------------------------------


@every_volume
@every_sample
def test_mesh_keeps_what_it_was_made_from(name, volume):
    soup, mesh = sample(name), made(name, volume)
    assert np.array_equal(mesh.vertices, soup.vertices)
    assert np.array_equal(mesh.faces, soup.faces)
    assert (mesh.vertices.dtype, mesh.faces.dtype) == (np.float64, np.int32)
    assert len(mesh) == len(soup.faces)
    assert mesh.volume == volume
    assert mesh.nbytes > mesh.vertices.nbytes + mesh.faces.nbytes
    assert isinstance(mesh, cl.Shape)


@every_sample
def test_ball_holds_the_mesh(name):
    mesh = made(name)
    centre, radius = mesh.ball
    used = mesh.vertices[mesh.faces].reshape(-1, 3)
    farthest = np.max(np.linalg.norm(used - centre, axis=1))
    assert farthest <= radius * (1 + 1e-12)
    assert radius <= 2 * oracle.bounding_radius(mesh.vertices[mesh.faces])


def test_bytes_grow_with_the_mesh():
    small, large = sample("torus"), meshes.subdivided(meshes.subdivided(sample("torus")))
    few, many = (cl.Mesh(*soup).nbytes for soup in (small, large))
    assert few < many <= 1000 * len(large.faces)


@every_volume
def test_what_is_printed_is_short_and_tells_the_size(volume):
    mesh = made("torus", volume)
    text = repr(mesh)
    assert "Mesh" in text
    assert str(len(mesh)) in text
    assert len(text) < 200
    assert "Mesh" in repr(mesh.at([1.0, 2.0, 3.0]))


@every_volume
@pytest.mark.parametrize("copied", COPIES.values(), ids=COPIES)
def test_copies_are_equal_and_give_the_same_answers(copied, volume):
    mesh = made("gear", volume)
    again = copied(mesh)
    assert type(again) is cl.Mesh
    assert again == mesh
    assert hash(again) == hash(mesh)
    assert again.volume == volume
    assert_same_answers(answers(again), answers(mesh))


@pytest.mark.parametrize("copied", COPIES.values(), ids=COPIES)
def test_copies_of_placed_meshes_and_compounds_are_equal(copied):
    mesh, motions = made("box"), rigid_motions(np.random.default_rng(2), 6)
    placed, compound = mesh.at(motions[0]), cl.Compound([mesh.at(motions[1]), cl.Sphere(1.0), made("soup", "rss")])
    assert copied(placed) == placed
    assert hash(copied(placed)) == hash(placed)
    assert copied(compound) == compound
    assert np.array_equal(copied(mesh.at(motions)).poses, mesh.at(motions).poses)


def test_different_meshes_differ():
    moved = VERTICES.copy()
    moved[3, 1] = np.nextafter(moved[3, 1], 1)
    built = [
        cl.Mesh(VERTICES, FACES),
        cl.Mesh(moved, FACES),
        cl.Mesh(VERTICES, FACES[:-1]),
        cl.Mesh(VERTICES, FACES[::-1]),
        cl.Mesh(VERTICES[[1, 0, *range(2, 8)]], FACES),
    ]
    assert all((a == b) == (i == j) for i, a in enumerate(built) for j, b in enumerate(built))
    assert len(set(built)) == len(built)
    assert cl.Mesh(VERTICES, FACES) == built[0]
    assert hash(cl.Mesh(VERTICES, FACES)) == hash(built[0])


@pytest.mark.parametrize("other", [None, 1.0, "Mesh", cl.Sphere(1.0), np.eye(3)], ids=repr)
def test_mesh_equals_nothing_else(other):
    mesh = cl.Mesh(VERTICES, FACES)
    assert not np.any(mesh == other)
    assert np.all(mesh != other)


def test_zero_has_no_sign():
    plus, minus = np.array([[0.0, 0, 0], [1, 0, 0], [0, 1, 0]]), np.array([[-0.0, 0, 0], [1, -0.0, 0], [0, 1, 0]])
    assert cl.Mesh(plus, [[0, 1, 2]]) == cl.Mesh(minus, [[0, 1, 2]])
    assert hash(cl.Mesh(plus, [[0, 1, 2]])) == hash(cl.Mesh(minus, [[0, 1, 2]]))


def test_mesh_cannot_be_changed():
    mesh = cl.Mesh(VERTICES, FACES)
    for name in ("vertices", "faces", "volume", "nbytes", "colour"):
        with pytest.raises(AttributeError):
            setattr(mesh, name, 1)
    for array in (mesh.vertices, mesh.faces):
        with pytest.raises(ValueError, match="read-only"):
            array[0, 0] = 7
        with pytest.raises(ValueError, match="WRITEABLE"):
            array.setflags(write=True)


def test_mesh_does_not_follow_the_arrays_it_was_made_from():
    vertices, faces = VERTICES.copy(), FACES.astype(np.int32)
    mesh = cl.Mesh(vertices, faces)
    before = answers(mesh)
    vertices[:], faces[:] = 9.0, 0
    assert mesh == cl.Mesh(VERTICES, FACES)
    assert_same_answers(answers(mesh), before)


def test_arrays_outlive_the_mesh():
    vertices, faces = (lambda mesh: (mesh.vertices, mesh.faces))(cl.Mesh(VERTICES, FACES))
    _ = [cl.Mesh(VERTICES + k, FACES) for k in range(20)]
    assert np.array_equal(vertices, VERTICES)
    assert np.array_equal(faces, FACES)


@pytest.mark.parametrize("kind", [np.int8, np.uint8, np.int16, np.int32, np.uint32, np.int64, np.uint64, list])
def test_whole_numbers_of_every_type_will_do_for_faces(kind):
    faces = FACES.tolist() if kind is list else FACES.astype(kind)
    assert cl.Mesh(VERTICES, faces) == cl.Mesh(VERTICES, FACES)


def test_arrays_of_every_layout_will_do():
    expected = cl.Mesh(VERTICES, FACES)
    twice, columns = np.repeat(VERTICES, 2, axis=0)[::2], np.asfortranarray(FACES)
    frozen = VERTICES.copy()
    frozen.setflags(write=False)
    assert cl.Mesh(twice, columns) == cl.Mesh(frozen, FACES[:]) == cl.Mesh(VERTICES.tolist(), FACES) == expected
    assert cl.Mesh(np.round(VERTICES * 8), FACES) == cl.Mesh(np.round(VERTICES * 8).astype(int), FACES)
    halves = np.float32([[0.5, 0, 0], [0, 0.25, 0], [0, 0, 2]])
    assert cl.Mesh(halves, [[0, 1, 2]]) == cl.Mesh(halves.astype(float), [[0, 1, 2]])


def test_vertices_that_no_face_uses_do_not_matter():
    mesh = cl.Mesh(np.vstack([VERTICES, [[100.0, 0, 0]]]), FACES)
    assert len(mesh.vertices) == 9
    assert abs(cl.distance(mesh, cl.Sphere(1.0).at([99.0, 0, 0])).distance - 97.5) <= 1e-12


def test_one_vertex_may_be_a_triangle():
    mesh = cl.Mesh([[1.0, 2, 3]], [[0, 0, 0]])
    assert abs(cl.distance(mesh, cl.Sphere(1.0)).distance - (np.sqrt(14) - 1)) <= 1e-12


# What is no mesh -----------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("bad", [np.nan, np.inf, -np.inf, 1e31, -1e300])
@pytest.mark.parametrize("index", [0, 5, 7])
def test_vertex_that_is_nowhere_is_refused_by_number(bad, index):
    vertices = VERTICES.copy()
    vertices[index, index % 3] = bad
    with pytest.raises(ValueError, match=rf"vertices\[{index}"):
        cl.Mesh(vertices, FACES)


@pytest.mark.parametrize("bad", [8, 240, 2**31 - 1, 2**31, 2**32, 2**40, -1, -8, -(2**31), -(2**32)])
@pytest.mark.parametrize("row", [0, 7, 11])
def test_face_that_points_nowhere_is_refused_by_number(bad, row):
    faces = FACES.astype(np.int64)
    faces[row, row % 3] = bad
    with pytest.raises(ValueError, match=rf"faces\[{row}") as error:
        cl.Mesh(VERTICES, faces)
    assert str(bad) in str(error.value)
    if bad >= 0:
        assert "8 vertices" in str(error.value)


def test_index_too_large_for_any_integer_is_refused():
    faces = FACES.astype(np.uint64)
    faces[3, 1] = 2**64 - 1
    with pytest.raises(ValueError, match="faces"):
        cl.Mesh(VERTICES, faces)


@pytest.mark.parametrize(
    ("name", "vertices", "faces"),
    [
        ("vertices", np.zeros((0, 3)), FACES),
        ("vertices", [], FACES),
        ("vertices", np.zeros((8, 2)), FACES),
        ("vertices", np.zeros(24), FACES),
        ("vertices", np.zeros((1, 8, 3)), FACES),
        ("vertices", None, FACES),
        ("vertices", "vertices", FACES),
        ("vertices", [object()] * 3, FACES),
        ("vertices", VERTICES + 0j, FACES),
        ("faces", VERTICES, np.zeros((0, 3), dtype=int)),
        ("faces", VERTICES, []),
        ("faces", VERTICES, [0, 1, 2]),
        ("faces", VERTICES, [[0, 1]]),
        ("faces", VERTICES, [[0, 1, 2, 3]]),
        ("faces", VERTICES, [[[0, 1, 2]]]),
        ("faces", VERTICES, [[0.5, 1, 2]]),
        ("faces", VERTICES, [[0, 1, 2], [0, 1, np.nan]]),
        ("faces", VERTICES, [[0, 1, np.inf]]),
        ("faces", VERTICES, [["a", "b", "c"]]),
        ("faces", VERTICES, None),
        ("faces", VERTICES, [[0, 1, 2j]]),
    ],
)
def test_what_is_no_mesh_is_refused_by_name(name, vertices, faces):
    with pytest.raises((ValueError, TypeError), match=rf"\b{name}\b"):
        cl.Mesh(vertices, faces)


@pytest.mark.parametrize("bad", ["aabb", "", "OBB", None, 1, b"obb"], ids=repr)
def test_unknown_volume_is_refused(bad):
    with pytest.raises((ValueError, TypeError), match=r"volume|obb"):
        cl.Mesh(VERTICES, FACES, volume=bad)


@pytest.mark.parametrize("bad", [0, -1, "2", 2.5, np.nan, 10**12])
def test_what_is_no_number_of_threads_is_refused(bad):
    with pytest.raises((ValueError, TypeError, OverflowError), match="threads"):
        cl.Mesh(VERTICES, FACES, threads=bad)


# Building ------------------------------------------------------------------------------------------------------------


def fine_torus(times=5):
    soup = meshes.torus(np.random.default_rng(3), 48, 14)
    while len(soup.faces) < 1344 * 4**times:
        soup = meshes.subdivided(soup)
    return soup


@every_volume
def test_progress_is_told_from_zero_to_one(volume):
    seen = []
    soup = fine_torus(2)
    mesh = cl.Mesh(soup.vertices, soup.faces, volume=volume, progress=seen.append)
    assert len(seen) >= 2
    assert seen == sorted(seen)
    assert seen[0] >= 0
    assert seen[-1] == 1
    assert_same_answers(answers(mesh), answers(cl.Mesh(soup.vertices, soup.faces, volume=volume)))


def test_progress_of_a_small_mesh_ends_with_one_too():
    seen = []
    cl.Mesh(VERTICES, FACES, progress=seen.append)
    assert seen[-1] == 1


@every_volume
def test_error_of_a_progress_callback_is_passed_on(volume):
    soup = fine_torus(1)

    def stop(fraction):
        raise KeyboardInterrupt

    for threads in (1, 2):
        with pytest.raises(KeyboardInterrupt):
            cl.Mesh(soup.vertices, soup.faces, volume=volume, progress=stop, threads=threads)
    assert len(cl.Mesh(soup.vertices, soup.faces, volume=volume)) == len(soup.faces)


@pytest.mark.parametrize("bad", [3, "yes", [1]], ids=repr)
def test_what_tells_no_progress_is_refused(bad):
    with pytest.raises((TypeError, ValueError), match="progress"):
        cl.Mesh(VERTICES, FACES, progress=bad)


@every_volume
def test_number_of_threads_builds_the_same_tree(volume, tmp_path):
    soup = fine_torus(2)
    built = {n: cl.Mesh(soup.vertices, soup.faces, volume=volume, threads=n) for n in (1, 2, 7, None)}
    for n, mesh in built.items():
        mesh.save(tmp_path / f"{n}.mesh")
        assert_same_answers(answers(mesh, threads=1), answers(built[1], threads=1))
    stored = {(tmp_path / f"{n}.mesh").read_bytes() for n in built}
    assert len(stored) == 1


@pytest.mark.timeout(60)
@every_volume
def test_building_is_not_slow(volume):
    soup = fine_torus(3)
    assert len(cl.Mesh(soup.vertices, soup.faces, volume=volume)) == 86016


# Files ---------------------------------------------------------------------------------------------------------------


@every_volume
@every_sample
def test_stored_mesh_is_read_as_it_was(name, volume, tmp_path):
    mesh = made(name, volume)
    path = tmp_path / "part.mesh"
    mesh.save(path)
    for again in (cl.load_mesh(path), cl.load_mesh(str(path))):
        assert again == mesh
        assert hash(again) == hash(mesh)
        assert again.volume == volume
        assert again.nbytes == mesh.nbytes
        assert_same_answers(answers(again), answers(mesh))
    again.save(tmp_path / "again.mesh")
    assert (tmp_path / "again.mesh").read_bytes() == path.read_bytes()


def test_stored_mesh_may_be_scaled_on_reading(tmp_path):
    mesh = made("gear")
    mesh.save(tmp_path / "part.mesh")
    small = cl.load_mesh(tmp_path / "part.mesh", scale=0.001)
    assert np.allclose(small.vertices, mesh.vertices * 0.001, rtol=1e-15, atol=0)
    assert np.array_equal(small.faces, mesh.faces)
    gap = cl.distance(small, cl.SweptPoint([0.001, 0, 0], 0.0))
    assert abs(gap.distance - cl.distance(mesh, cl.SweptPoint([1.0, 0, 0], 0.0)).distance * 0.001) <= 1e-15


def test_saving_over_a_file_replaces_it(tmp_path):
    path = tmp_path / "part.mesh"
    made("torus").save(path)
    made("box").save(path)
    assert cl.load_mesh(path) == made("box")


def test_missing_files_and_folders_are_told(tmp_path):
    with pytest.raises(FileNotFoundError, match=r"nothing\.mesh"):
        cl.load_mesh(tmp_path / "nothing.mesh")
    with pytest.raises(FileNotFoundError, match=r"nothing\.stl"):
        cl.load_mesh(tmp_path / "nothing.stl")
    with pytest.raises(OSError, match="nowhere"):
        made("box").save(tmp_path / "nowhere" / "part.mesh")
    with pytest.raises((OSError, ValueError)):
        cl.load_mesh(tmp_path)


@pytest.mark.parametrize("bad", [0.0, np.nan, np.inf, [1.0, 2.0]], ids=repr)
def test_what_is_no_scale_is_refused(bad, tmp_path):
    made("box").save(tmp_path / "part.mesh")
    with pytest.raises(ValueError, match="scale"):
        cl.load_mesh(tmp_path / "part.mesh", scale=bad)


@pytest.mark.parametrize("kind", ["stl", "obj", "ply", "off"])
def test_files_of_others_are_read(kind, tmp_path):
    trimesh = pytest.importorskip("trimesh")
    path = tmp_path / f"part.{kind}"
    trimesh.Trimesh(VERTICES, FACES, process=False).export(path)
    mesh = cl.load_mesh(path, scale=2.0, volume="rss")
    assert len(mesh) == 12
    assert mesh.volume == "rss"
    assert np.allclose(mesh.vertices.max(axis=0), [1.0, 0.8, 0.6], rtol=0, atol=1e-6)
    assert abs(cl.distance(mesh, cl.SweptPoint([2.0, 0, 0], 0.0)).distance - 1) <= 1e-6


NO_MESH = {
    "nothing": b"",
    "a word": b"solid",
    "zeros": b"\0" * 84,
    "ones": b"\xff" * 200,
    "a beginning": b"solid x\nfacet normal 0 0",
}


@pytest.mark.parametrize("content", NO_MESH.values(), ids=NO_MESH)
@pytest.mark.parametrize("kind", ["stl", "obj", "ply", "mesh", "xyz"])
def test_files_that_hold_no_mesh_are_refused(kind, content, tmp_path):
    pytest.importorskip("trimesh")
    path = tmp_path / f"part.{kind}"
    path.write_bytes(content)
    with pytest.raises(ValueError, match="part"):
        cl.load_mesh(path)


# A process of its own: what crashes there fails the test instead of the whole suite.
READ_DAMAGED_FILES = """
import sys
from pathlib import Path
import numpy as np
import clearance as cl
import mesh_oracle as oracle

target = cl.Sphere(0.1).at([2.0, 0.3, 0.1])
accepted = 0
for path in sorted(Path(sys.argv[1]).iterdir()):
    try:
        mesh = cl.load_mesh(path)
    except (ValueError, OSError, cl.errors.NotConverged):
        continue
    accepted += 1
    triangles = mesh.vertices[mesh.faces]
    truth = oracle.least_distance_to_convex(triangles, target)
    found = cl.distance(mesh, target).distance
    assert abs(found - truth) <= 1e-9 * (1 + np.max(np.abs(triangles))), (path.name, found, truth)
print("accepted", accepted)
"""


def read_in_another_process(folder):
    """Read all files of a folder; each must be refused, or answer in line with the triangles that it holds."""
    tests = Path(__file__).parent
    done = subprocess.run(
        [sys.executable, "-c", READ_DAMAGED_FILES, str(folder)], cwd=tests, capture_output=True, text=True, timeout=120
    )
    assert done.returncode == 0, done.stdout + done.stderr[-3000:]
    return int(done.stdout.split()[-1])


def damaged(rng, stored, count):
    """Yield copies of a file with single bytes changed, words overwritten, parts missing, doubled or exchanged."""
    for _ in range(count):
        at = int(rng.integers(len(stored)))
        yield stored[:at] + bytes([stored[at] ^ (1 << int(rng.integers(8)))]) + stored[at + 1 :]
        at = int(rng.integers(min(len(stored) - 8, 256)))
        word = rng.choice(np.array([0, 1, 2**31 - 1, 2**31, 2**32 - 1, 2**63 - 1, 2**63, 2**64 - 1], dtype=np.uint64))
        yield stored[:at] + word.tobytes() + stored[at + 8 :]
        at = len(stored) - 8 * int(rng.integers(1, len(stored) // 8))
        yield stored[:at] + rng.bytes(8) + stored[at + 8 :]


@every_volume
@pytest.mark.parametrize("name", ["box", "gear"])
def test_damaged_files_are_refused(name, volume, tmp_path):
    made(name, volume).save(tmp_path / "whole.mesh")
    stored = (tmp_path / "whole.mesh").read_bytes()
    folder = tmp_path / "damaged"
    folder.mkdir()
    for k, content in enumerate(damaged(np.random.default_rng(4), stored, 100)):
        if content != stored:
            (folder / f"{k}.mesh").write_bytes(content)
    assert len(list(folder.iterdir())) > 200
    assert read_in_another_process(folder) == 0


@every_volume
def test_incomplete_files_are_refused(volume, tmp_path):
    made("box", volume).save(tmp_path / "whole.mesh")
    stored = (tmp_path / "whole.mesh").read_bytes()
    folder = tmp_path / "incomplete"
    folder.mkdir()
    lengths = np.unique(np.r_[0:64, np.linspace(0, len(stored) - 1, 60).astype(int)])
    for length in lengths:
        (folder / f"{length}.mesh").write_bytes(stored[:length])
    (folder / "longer.mesh").write_bytes(stored + b"\0")
    assert read_in_another_process(folder) == 0


@every_volume
def test_every_wrong_byte_of_the_head_is_noticed(volume, tmp_path):
    made("one triangle", volume).save(tmp_path / "whole.mesh")
    stored = (tmp_path / "whole.mesh").read_bytes()
    folder = tmp_path / "damaged"
    folder.mkdir()
    for at in range(min(len(stored), 200)):
        for value in (0x00, 0x7F, 0x80, 0xFF):
            if stored[at] != value:
                (folder / f"{at}-{value}.mesh").write_bytes(stored[:at] + bytes([value]) + stored[at + 1 :])
    assert read_in_another_process(folder) == 0


def test_damaged_pickles_do_not_crash():
    stored = pickle.dumps(made("box"))
    code = (
        "import pickle, sys\nimport numpy as np\nstored = sys.stdin.buffer.read()\nrng = np.random.default_rng(5)\n"
        "import clearance as cl\n"
        "for _ in range(200):\n"
        "    at = int(rng.integers(len(stored) - 9))\n"
        "    try:\n"
        "        mesh = pickle.loads(stored[:at] + rng.bytes(8) + stored[at + 8 :])\n"
        "        cl.distance(mesh, cl.Sphere(1.0))\n"
        "    except Exception:\n"
        "        continue\n"
    )
    done = subprocess.run([sys.executable, "-c", code], input=stored, capture_output=True, timeout=120)
    assert done.returncode == 0, done.stderr[-3000:]
