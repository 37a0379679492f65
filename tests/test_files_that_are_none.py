"""Pipes, devices, folders, files beyond all measure and odd names are refused at once."""

import os

import pytest

import clearance as cl
from hostile import assert_refused, beside
from strangers import SCENARIO, URDF, answers


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
