"""Meshes are found wherever people keep them, and no description reads what lies outside of its folders."""

import os
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from clearance.resources import Resources
from robot_files import written

SEPARATOR = os.pathsep


@pytest.fixture(autouse=True)
def _no_ros(monkeypatch):
    for variable in ("ROS_PACKAGE_PATH", "AMENT_PREFIX_PATH"):
        monkeypatch.delenv(variable, raising=False)


def package(folder, name=None):
    """Write a package with a mesh; return its folder."""
    written(folder, f"<package><name> {name or folder.name} </name></package>", "package.xml")
    written(folder, b"a mesh", "meshes/part.stl")
    return folder


def found(tmp_path, uri, robot="robot/robot.urdf", **given):
    return Resources(tmp_path / robot, **given).find(uri)


def is_refused(tmp_path, uri, robot="robot/robot.urdf", **given):
    with pytest.raises(ValueError, match="package_dirs"):
        found(tmp_path, uri, robot, **given)
    return True


# Where files are -----------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("scheme", ["package://", "package:///", "PACKAGE://", "model://", "package:////"])
@pytest.mark.parametrize("folder", ["packages", "packages/arm"])
def test_package_dirs_name_packages_or_what_holds_them(tmp_path, scheme, folder):
    arm = package(tmp_path / "packages/arm")
    for dirs in (tmp_path / folder, str(tmp_path / folder), [tmp_path, tmp_path / folder]):
        assert found(tmp_path, f"{scheme}arm/meshes/part.stl", package_dirs=dirs) == arm / "meshes/part.stl"


def test_folder_called_otherwise_is_the_package_that_it_says(tmp_path):
    arm = package(tmp_path / "arm-main", "arm")
    uri = "package://arm/meshes/part.stl"
    assert found(tmp_path, uri, package_dirs=[arm]) == arm / "meshes/part.stl"
    assert found(tmp_path, uri, "arm-main/urdf/deep/robot.urdf") == arm / "meshes/part.stl"


def test_packages_above_and_beside_the_description(tmp_path):
    arm, hand = package(tmp_path / "src/arm"), package(tmp_path / "src/hand")
    robot = "src/arm/urdf/arm.urdf"
    assert found(tmp_path, "package://arm/meshes/part.stl", robot) == arm / "meshes/part.stl"
    assert found(tmp_path, "package://hand/meshes/part.stl", robot) == hand / "meshes/part.stl"
    assert found(tmp_path, "package://hand/meshes/part.stl", "src/robot.urdf") == hand / "meshes/part.stl"


def test_packages_of_ros(tmp_path, monkeypatch):
    arm, hand = package(tmp_path / "one/arm"), package(tmp_path / "two/share/hand")
    monkeypatch.setenv("ROS_PACKAGE_PATH", f"{tmp_path}/nowhere{SEPARATOR}{tmp_path}/one{SEPARATOR}")
    monkeypatch.setenv("AMENT_PREFIX_PATH", f"{SEPARATOR}{tmp_path}/two")
    assert found(tmp_path, "package://arm/meshes/part.stl") == arm / "meshes/part.stl"
    assert found(tmp_path, "package://hand/meshes/part.stl") == hand / "meshes/part.stl"
    assert found(tmp_path, f"file://{hand}/meshes/part.stl") == hand / "meshes/part.stl"
    monkeypatch.setenv("ROS_PACKAGE_PATH", str(arm))
    assert found(tmp_path, "package://arm/meshes/part.stl") == arm / "meshes/part.stl"


def test_first_place_wins(tmp_path, monkeypatch):
    given, above, ros, ament = (
        package(tmp_path / folder / "arm") for folder in ("given", "robot", "ros", "ament/share")
    )
    monkeypatch.setenv("ROS_PACKAGE_PATH", str(tmp_path / "ros"))
    monkeypatch.setenv("AMENT_PREFIX_PATH", str(tmp_path / "ament"))
    for place in (given, above, ros, ament):
        mesh = found(tmp_path, "package://arm/meshes/part.stl", package_dirs=[tmp_path / "given"])
        assert mesh == place / "meshes/part.stl"
        mesh.unlink()


@pytest.mark.parametrize("path", ["meshes/part.stl", "./meshes/../meshes/part.stl", "meshes//part.stl"])
def test_relative_paths_begin_at_the_description_or_in_package_dirs(tmp_path, path):
    part = written(tmp_path, b"a mesh", "robot/meshes/part.stl")
    assert found(tmp_path, path) == part
    assert found(tmp_path, path, "robot.urdf", package_dirs=[tmp_path / "robot"]) == part


@pytest.mark.parametrize("folder", ["robot/urdf", "robot/robots", "robot/xacro"])
def test_folders_for_descriptions_have_their_meshes_beside_them(tmp_path, folder):
    part = written(tmp_path, b"a mesh", "robot/meshes/part.stl")
    assert found(tmp_path, "../meshes/part.stl", f"{folder}/robot.urdf") == part


def test_absolute_paths_inside_of_the_folders(tmp_path):
    part = written(tmp_path, b"a mesh", "robot/a b#c%20.stl")
    for uri in (
        str(part),
        f"file://{part}".replace("%20", "%2520"),
        f"file://localhost{part.parent}/a%20b%23c%2520.stl",
    ):
        assert found(tmp_path, uri) == part


def test_description_named_by_a_relative_path(tmp_path, monkeypatch):
    part = written(tmp_path, b"a mesh", "robot/meshes/part.stl")
    (tmp_path / "robot/deep").mkdir()
    monkeypatch.chdir(tmp_path / "robot/deep")
    assert Resources("../robot.urdf", package_dirs=[".."]).find("package://robot/meshes/part.stl") == part
    assert Resources("robot.urdf", package_dirs="..").find("meshes/part.stl") == part


def test_missing_file_tells_every_place(tmp_path, monkeypatch):
    monkeypatch.setenv("ROS_PACKAGE_PATH", str(tmp_path / "ros"))
    monkeypatch.setenv("AMENT_PREFIX_PATH", str(tmp_path / "ament"))
    (tmp_path / "given").mkdir()
    with pytest.raises(FileNotFoundError) as caught:
        found(tmp_path, "package://arm/part.stl", package_dirs=[tmp_path / "given"])
    for folder in ("given", "robot", ".", "ros", "ament/share"):
        assert str(tmp_path / folder / "arm/part.stl") in str(caught.value)


@pytest.mark.parametrize("uri", ["meshes", "package://robot/meshes", "package://robot", "x" * 5000, "pipe.stl"])
def test_what_is_no_file_is_missing(tmp_path, uri):
    (tmp_path / "robot/meshes").mkdir(parents=True)
    os.mkfifo(tmp_path / "robot/pipe.stl")
    with pytest.raises(FileNotFoundError, match="is in none of these places"):
        found(tmp_path, uri)


def test_packages_by_name(tmp_path):
    arm, hand, given = (package(tmp_path / name) for name in ("src/arm", "src/hand", "given/arm"))
    (tmp_path / "src/notes").mkdir()
    robot = tmp_path / "src/arm/urdf/arm.urdf"
    assert Resources(robot).packages() == {"arm": arm, "hand": hand}
    assert Resources(robot, given.parent).packages() == {"arm": given, "hand": hand, "given": given.parent}


# What may not be read ------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    "uri",
    [
        "../secret.stl",
        "meshes/../../secret.stl",
        "package://robot/../secret.stl",
        "package:///robot/meshes/../../secret.stl",
        "model://robot/../secret.stl",
        "{}/secret.stl",
        "{}/robot/../secret.stl",
        "file://{}/secret.stl",
        "file://{}/robot/%2e%2e/secret.stl",
        "link.stl",
        "link/secret.stl",
        "package://robot/link/secret.stl",
    ],
)
def test_ways_out_are_refused_unless_the_folder_is_named(tmp_path, uri):
    secret = written(tmp_path, b"a mesh", "secret.stl")
    (tmp_path / "robot").mkdir()
    (tmp_path / "robot/link.stl").symlink_to(secret)
    (tmp_path / "robot/link").symlink_to(tmp_path, target_is_directory=True)
    uri = uri.format(tmp_path)
    assert is_refused(tmp_path, uri)
    assert is_refused(tmp_path, uri, package_dirs=[tmp_path / "robot"])
    assert found(tmp_path, uri, package_dirs=[tmp_path]) == secret


@pytest.mark.parametrize(
    "uri", ["package://../secret.stl", "package://./secret.stl", "package://", "package:////", "package://C:/x"]
)
def test_names_that_are_no_packages(tmp_path, uri):
    written(tmp_path, b"a mesh", "secret.stl")
    with pytest.raises(ValueError, match="names no package"):
        found(tmp_path, uri, package_dirs=[tmp_path])


@pytest.mark.parametrize(
    "uri", ["http://host/x.stl", "https://host/x.stl", "data://x", "ftp://x/y", "file://host/x.stl"]
)
def test_nothing_is_fetched(tmp_path, uri):
    with pytest.raises(ValueError, match=r"must begin with|another machine"):
        found(tmp_path, uri)


def test_folders_of_the_system_are_no_packages(tmp_path):
    top = Path(tmp_path.anchor)
    for inner in ("etc/passwd", "proc/self/environ"):
        if (top / inner).exists():
            with pytest.raises(FileNotFoundError, match="no package"):
                found(tmp_path, f"package://{inner}")
    assert is_refused(tmp_path, "/etc/passwd")


def test_neighbour_without_package_xml_is_no_package(tmp_path):
    written(tmp_path, b"a mesh", "private/part.stl")
    with pytest.raises(FileNotFoundError, match=r"private.part.stl \(no package"):
        found(tmp_path, "package://private/part.stl")
    assert found(tmp_path, "package://private/part.stl", package_dirs=tmp_path).name == "part.stl"


def test_home_is_no_package(tmp_path, monkeypatch):
    monkeypatch.setenv("HOME", str(tmp_path / "home/me"))
    monkeypatch.setenv("USERPROFILE", str(tmp_path / "home/me"))
    written(tmp_path, b"a mesh", "home/me/private/part.stl")
    for uri in ("package://me/private/part.stl", "package://home/me/private/part.stl"):
        with pytest.raises(FileNotFoundError):
            found(tmp_path, uri, "home/me/downloads/robot.urdf")


def test_links_that_stay_inside_are_followed(tmp_path):
    part = written(tmp_path, b"a mesh", "robot/real.stl")
    (tmp_path / "robot/link.stl").symlink_to(part)
    (tmp_path / "loop.stl").symlink_to(tmp_path / "loop.stl")
    assert found(tmp_path, "link.stl") == part
    with pytest.raises(FileNotFoundError):
        found(tmp_path, "loop.stl", "robot.urdf")


def test_packages_installed_as_links_are_read(tmp_path, monkeypatch):
    """As colcon installs them: files of the folder `install` are links to those of the folder `src`."""
    source = package(tmp_path / "src/arm")
    written(source, b"<robot/>", "urdf/arm.urdf")
    for name in ("meshes/part.stl", "urdf/arm.urdf", "package.xml"):
        link = tmp_path / "install/share/arm" / name
        link.parent.mkdir(parents=True, exist_ok=True)
        link.symlink_to(source / name)
    for uri in ("package://arm/meshes/part.stl", "../meshes/part.stl"):
        assert found(tmp_path, uri, "install/share/arm/urdf/arm.urdf") == source / "meshes/part.stl"
    assert is_refused(tmp_path, "package://arm/meshes/part.stl", package_dirs=[tmp_path / "install/share"])
    monkeypatch.setenv("AMENT_PREFIX_PATH", str(tmp_path / "install"))
    assert found(tmp_path, "package://arm/meshes/part.stl") == source / "meshes/part.stl"
    with pytest.raises(ValueError, match="outside"):
        found(tmp_path, "package://arm/../../../secret.stl")


words = st.sampled_from(
    ["..", ".", "", "robot", "inner", "link", "secret", "part.stl", "secret.stl", "%2e%2e", "~", "\\"]
)
prefixes = st.sampled_from(
    ["", "/", "package://", "package:///", "model://", "file://", "file:///", "package://robot/"]
)


@given(prefixes, st.lists(words, max_size=8), st.booleans())
def test_no_path_at_all_leads_out(tmp_path, prefix, parts, from_top):
    home = tmp_path / "a"
    if not home.exists():
        for name in ("robot/part.stl", "robot/inner/part.stl", "secret.stl", "secret/part.stl"):
            written(home, b"a mesh", name)
        (home / "robot/link").symlink_to(home, target_is_directory=True)
    top = f"{home}/" if from_top else ""
    try:
        mesh = Resources(home / "robot/robot.urdf").find(f"{prefix}{top}{'/'.join(parts)}")
    except (ValueError, FileNotFoundError):
        return
    assert mesh.resolve().is_relative_to(home / "robot")
