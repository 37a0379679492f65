"""What an SRDF file says is what is read, and what is wrong is told."""

from xml.etree import ElementTree

import pytest
from hypothesis import given
from hypothesis import strategies as st

import clearance as cl
from clearance.srdf import DisabledPair, GroupState, read
from robot_files import complaint, real, real_names, written

EVERYTHING = """<?xml version="1.0"?>
<robot name="arm">
  <group name="all"><chain base_link="base" tip_link="hand"/></group>
  <group_state name="home" group="all">
    <joint name="j1" value="0.5"/><joint name="root" value="0 0 1. 0 0 0 1"/>
  </group_state>
  <group_state name="up"/>
  <disable_default_collisions link="cable"/>
  <enable_collisions link1="cable" link2="base"/>
  <disable_collisions link1="base" link2="hand" reason="Never"/>
  <disable_collisions link1="hand" link2="wrist"/>
  <link_sphere_approximation link="hand">
    <sphere center="0 0 0.1" radius="0.25"/><sphere center="1 2 3" radius="0"/>
  </link_sphere_approximation>
  <link_sphere_approximation link="base"/>
</robot>
"""


def test_everything_is_read(tmp_path):
    found = read(written(tmp_path, EVERYTHING, "arm.srdf"))
    assert found.name == "arm"
    assert found.disabled == [DisabledPair("base", "hand", "Never"), DisabledPair("hand", "wrist", "")]
    assert found.enabled == [("cable", "base")]
    assert found.disabled_links == ["cable"]
    home = {"j1": (0.5,), "root": (0.0, 0.0, 1.0, 0.0, 0.0, 0.0, 1.0)}
    assert found.states == [GroupState("home", "all", home), GroupState("up", "", {})]
    assert found.spheres == {
        "hand": [cl.SweptPoint([0, 0, 0.1], 0.25), cl.SweptPoint([1, 2, 3], 0.0)],
        "base": [],
    }


def test_pairs_that_need_no_check(tmp_path):
    found = read(written(tmp_path, EVERYTHING, "arm.srdf"))
    pairs = found.allowed_pairs(["base", "arm", "wrist", "hand", "cable"])
    assert pairs == [("base", "hand"), ("arm", "cable"), ("wrist", "hand"), ("wrist", "cable"), ("hand", "cable")]
    with pytest.warns(UserWarning, match="names links that are not there: cable, wrist$"):
        assert found.allowed_pairs(["hand", "base"]) == [("hand", "base")]


def test_disabled_pair_stays_disabled_whatever_enables_it(tmp_path):
    """As MoveIt has it: it disables pairs last."""
    both = '<robot><{0}able_collisions link1="a" link2="b"/><{1}able_collisions link1="b" link2="a"/></robot>'
    for order in (("en", "dis"), ("dis", "en")):
        assert read(written(tmp_path, both.format(*order), "arm.srdf")).allowed_pairs("ab") == [("a", "b")]


@pytest.mark.parametrize("name", real_names(".srdf"))
def test_real_files_lose_nothing(name):
    found, tree = read(real() / name), ElementTree.parse(real() / name).getroot()
    assert found.name == tree.get("name")
    pairs = [(e.get("link1"), e.get("link2"), e.get("reason", "")) for e in tree.iter("disable_collisions")]
    assert found.disabled == pairs
    states = [
        (e.get("name"), e.get("group", ""), len({*map(str, (j.get("name") for j in e))}))
        for e in tree.iter("group_state")
    ]
    assert [(s.name, s.group, len(s.values)) for s in found.states] == states


@pytest.mark.parametrize("robot", ["panda_description/{}/panda.{}", "ur_description/{}/ur5_gripper.{}"])
def test_pairs_left_are_those_of_pinocchio(robot):
    pin = pytest.importorskip("pinocchio")
    urdf, srdf = real(robot.format("urdf", "urdf")), real(robot.format("srdf", "srdf"))
    model = pin.buildModelFromUrdf(str(urdf))
    geometry = pin.buildGeomFromUrdf(model, str(urdf), pin.COLLISION, package_dirs=[str(real().parents[1])])
    geometry.addAllCollisionPairs()
    owner = [model.frames[each.parentFrame].name for each in geometry.geometryObjects]
    before = {frozenset((owner[p.first], owner[p.second])) for p in geometry.collisionPairs}
    pin.removeCollisionPairs(model, geometry, str(srdf))
    after = {frozenset((owner[p.first], owner[p.second])) for p in geometry.collisionPairs}
    disabled = {frozenset(pair[:2]) for pair in read(srdf).disabled}
    assert before - after == before & disabled
    assert before & disabled


def test_postures_are_those_of_pinocchio():
    pin = pytest.importorskip("pinocchio")
    model = pin.buildModelFromUrdf(str(real("panda_description/urdf/panda.urdf")))
    srdf = real("panda_description/srdf/panda.srdf")
    pin.loadReferenceConfigurations(model, str(srdf), False)
    (state,) = read(srdf).states
    posture = model.referenceConfigurations[state.name]
    for joint, values in state.values.items():
        if model.existJointName(joint):
            assert posture[model.joints[model.getJointId(joint)].idx_q] == pytest.approx(values[0])


@pytest.mark.parametrize(
    ("inside", "said"),
    [
        ('<disable_collisions link1="a"/>', "<disable_collisions> of robot 'arm' has no link2"),
        ('<enable_collisions link1="" link2="b"/>', "has no link1"),
        ("<disable_default_collisions/>", "has no link"),
        ('<group_state group="g"/>', "<group_state> of robot 'arm' has no name"),
        ('<group_state name="s"><joint value="1"/></group_state>', "<joint> of group_state 's' has no name"),
        ('<group_state name="s"><joint name="j"/></group_state>', "joint 'j' has no value"),
        ('<group_state name="s"><joint name="j" value=""/></group_state>', "joint 'j' has no value"),
        (
            '<group_state name="s"><joint name="j" value="1 nan"/></group_state>',
            "value='1 nan', but numbers were expected",
        ),
        ('<group_state name="s"><joint name="j" value="0,5"/></group_state>', "numbers were expected"),
        ('<link_sphere_approximation><sphere center="0 0 0" radius="1"/></link_sphere_approximation>', "has no link"),
        ('<link_sphere_approximation link="a"><sphere radius="1"/></link_sphere_approximation>', "has no center"),
        (
            '<link_sphere_approximation link="a"><sphere center="0 0 0" radius="-1"/></link_sphere_approximation>',
            "zero or positive",
        ),
    ],
)
def test_what_is_wrong_is_told_with_its_place(tmp_path, inside, said):
    with pytest.raises(ValueError, match=r"^arm.srdf, line 2: ") as caught:
        read(written(tmp_path, f'<robot name="arm">\n{inside}</robot>', "arm.srdf"))
    assert said in str(caught.value)


def test_missing_file(tmp_path):
    with pytest.raises(FileNotFoundError):
        read(tmp_path / "nowhere.srdf")


def test_file_cut_off_anywhere_is_an_error(tmp_path):
    whole = EVERYTHING.encode().rstrip()
    for length in range(len(whole)):
        with pytest.raises(ValueError, match=r"^arm.srdf, line \d+"):
            read(written(tmp_path, whole[:length], "arm.srdf"))


@given(st.lists(st.tuples(st.integers(0, len(EVERYTHING) - 1), st.integers(0, 255)), min_size=1, max_size=3))
def test_file_with_wrong_bytes_is_read_or_refused(tmp_path, changes):
    data = bytearray(EVERYTHING.encode())
    for place, value in changes:
        data[place] = value
    assert complaint(read, written(tmp_path, bytes(data), "arm.srdf"))[:8] in ("", "arm.srdf")


def test_entities_are_refused(tmp_path):
    with pytest.raises(ValueError, match="document type"):
        read(written(tmp_path, '<!DOCTYPE robot [<!ENTITY a "b">]><robot name="&a;"/>', "arm.srdf"))
