"""Files from strangers that are cut off, flipped or changed are refused, or do no harm."""

import numpy as np

from clearance import simulation as sim
from clearance.simulation import archives
from clearance.simulation.recordings import Recording
from hostile import ARCHIVES, assert_refused, beside
from strangers import answers, stl_binary


def test_good_files_are_good(good):
    assert answers([(sent.loader, sent.path) for sent in good.values()]) == ["loaded"] * len(good)


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
