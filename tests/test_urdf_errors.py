"""What is wrong with a URDF file is told, and XML from strangers is read with care."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from clearance.urdf import read
from robot_files import (
    collision,
    complaint,
    joint,
    link,
    stl,
    urdf,
    written,
)

# What is wrong is told -----------------------------------------------------------------------------------------------


def with_shape(shape, origin=""):
    return urdf(link("base", collision(shape, origin)))


def with_joint(inside="", kind="continuous"):
    return urdf(link("base"), joint("j", kind, inside))


@pytest.mark.parametrize(
    ("text", "said"),
    [
        ("<sdf/>", "outermost tag is <sdf>, but <robot>"),
        (urdf(), "robot 'little' has no <link>"),
        (urdf("<link/>"), "<link> of robot 'little' has no name"),
        (urdf('<link name=" "/>'), "has no name"),
        (urdf(link("base"), '<joint type="fixed"/>'), "<joint> of robot 'little' has no name"),
        (
            urdf(link("base"), '<joint name="j1" type="fixed"><child link="base"/></joint>'),
            "joint 'j1' has no <parent>",
        ),
        (
            urdf(link("base"), joint().replace('<child link="hand"/>', "<child/>")),
            "<child> of joint 'joint' has no link",
        ),
        (urdf(link("base"), joint().replace('type="fixed"', "")), "joint 'joint' has no type"),
        (with_joint(kind="hinge"), "has type='hinge', but one of fixed, revolute"),
        (with_joint('<parent link="base"/>'), "has 2 <parent>"),
        (with_joint(kind="revolute"), "joint 'j' has no <limit>, but a revolute joint needs one"),
        (with_joint('<limit lower="1" upper="-1"/>', "prismatic"), "has lower=1.0 above upper=-1.0"),
        (with_joint('<limit lower="nan"/>', "revolute"), "has lower='nan', but a number was expected"),
        (with_joint('<limit velocity="-1"/>'), "has velocity=-1.0, but it must not be negative"),
        (with_joint('<limit velocity="1,5"/>'), "has velocity='1,5', but a number"),
        (with_joint('<axis xyz="0 0 0"/>'), "<axis> of joint 'j' has xyz='0 0 0', but an axis"),
        (with_joint("<axis/>"), "has no xyz"),
        (with_joint('<axis xyz="0 1"/>'), "has xyz='0 1', but 3 numbers"),
        (with_joint('<origin xyz="0 0 1e400"/>'), "too large"),
        (with_joint('<origin xyz="0 0 0x10"/>'), "3 numbers were expected"),
        (with_joint('<origin xyz="0 0 1_000"/>'), "3 numbers were expected"),
        (with_joint('<origin xyz="0 0 ١"/>'), "3 numbers were expected"),
        (with_joint('<origin rpy="0 0 inf"/>'), "3 numbers were expected"),
        (with_joint('<origin rpy="0 0 0" quat_xyzw="0 0 0 1"/>'), "both rpy and quat_xyzw"),
        (with_joint('<origin quat_xyzw="0 0 0 0"/>'), "quaternion must be finite and not zero"),
        (with_joint('<mimic multiplier="2"/>'), "<mimic> of joint 'j' has no joint"),
        (with_joint('<mimic joint="k" offset="-"/>'), "has offset='-', but a number"),
        (urdf(link("base", "<collision/>")), "<collision> of link 'base' has no <geometry>"),
        (with_shape(""), "<geometry> of link 'base' holds 0 shapes"),
        (with_shape('<sphere radius="1"/><sphere radius="1"/>'), "holds 2 shapes"),
        (with_shape("<torus/>"), "holds <torus>, but one of box, cylinder, sphere, capsule, mesh"),
        (with_shape("<sphere/>"), "<sphere> of link 'base' has no radius"),
        (with_shape('<sphere radius="-1"/>'), "radius must be positive"),
        (with_shape('<sphere radius="0"/>'), "radius must be positive"),
        (with_shape('<sphere radius="1e200"/>'), "below 1e30"),
        (with_shape('<box size="1 2"/>'), "has size='1 2', but 3 numbers"),
        (with_shape('<box size="1 2 -3"/>'), "must be positive"),
        (with_shape('<cylinder radius="1"/>'), "has no length"),
        (with_shape('<sphere radius="1"/>', '<origin xyz="1e300 0 0"/>'), "1e30"),
        (with_shape("<mesh/>"), "<mesh> of link 'base' has no filename"),
        (with_shape('<mesh filename="http://a/b.stl"/>'), "must begin with package://"),
        (with_shape('<mesh filename="part.stl" scale="1 0 1"/>'), "scale must be finite and not zero"),
        (with_shape('<mesh filename="part.stl" scale="1 1"/>'), "has scale='1 1', but 3 numbers"),
    ],
)
def test_what_is_wrong_is_told_with_its_place(tmp_path, text, said):
    written(tmp_path, stl(), "part.stl")
    with pytest.raises(ValueError) as caught:  # noqa: PT011 (what it says is compared below)
        read(written(tmp_path, text))
    assert said in str(caught.value)
    assert str(caught.value).startswith("little.urdf")


def test_lines_are_counted(tmp_path):
    text = urdf(link("base", collision("<box/>"))).replace("<", "\n<")
    with pytest.raises(ValueError, match=r"^little.urdf, line 5: <box> of link 'base'"):
        read(written(tmp_path, text.strip()))


def test_arguments_are_checked(tmp_path):
    path = written(tmp_path, urdf(link("base")))
    with pytest.raises(ValueError, match="collision must be one of mesh, hull, swept"):
        read(path, collision="sphere")
    with pytest.raises(ValueError, match="on_missing must be"):
        read(path, on_missing="ignore")
    with pytest.raises(FileNotFoundError, match="package_dirs names"):
        read(path, package_dirs=[tmp_path / "nowhere"])
    for name in ("nowhere.urdf", "nowhere.xacro"):
        with pytest.raises(FileNotFoundError, match="nowhere"):
            read(tmp_path / name)


# XML from strangers --------------------------------------------------------------------------------------------------

LITTLE = (
    '<?xml version="1.0"?><!-- a robot --><robot name="little"><link name="base"><collision>'
    '<origin xyz="1 2 3"/><geometry><box size="1 2 3"/></geometry></collision></link><link name="hand"/>'
    '<joint name="j" type="revolute"><parent link="base"/><child link="hand"/>'
    '<axis xyz="0 0 1"/><limit lower="-1" upper="1" velocity="2"/></joint></robot>'
)


def test_file_cut_off_anywhere_is_an_error(tmp_path):
    whole = LITTLE.encode()
    assert len(read(written(tmp_path, whole)).joints) == 1
    for length in range(len(whole)):
        with pytest.raises(ValueError, match=r"^little.urdf, line 1, column \d+: it is not XML: "):
            read(written(tmp_path, whole[:length]))


@given(st.lists(st.tuples(st.integers(0, len(LITTLE) - 1), st.integers(0, 255)), min_size=1, max_size=3))
def test_file_with_wrong_bytes_is_read_or_refused(tmp_path, changes):
    data = bytearray(LITTLE.encode())
    for place, value in changes:
        data[place] = value
    assert complaint(read, written(tmp_path, bytes(data)))[:11] in ("", "little.urdf")


@given(st.binary(max_size=200))
def test_any_bytes_at_all_are_refused(tmp_path, data):
    with pytest.raises(ValueError, match=r"^little.urdf"):
        read(written(tmp_path, data))


LAUGHS = "".join(f'<!ENTITY l{k} "{f"&l{k - 1};" * 10 if k else "ha"}">' for k in range(10))


@pytest.mark.parametrize(
    "doctype",
    [
        f"<!DOCTYPE robot [{LAUGHS}]>",
        '<!DOCTYPE robot [<!ENTITY l9 SYSTEM "file:///etc/passwd">]>',
        '<!DOCTYPE robot SYSTEM "http://localhost:9/robot.dtd">',
        '<!DOCTYPE robot [<!ENTITY % outer SYSTEM "secret.dtd"> %outer;]>',
        "<!DOCTYPE robot>",
    ],
    ids=["laughs", "file", "network", "parameter", "bare"],
)
def test_document_types_are_refused(tmp_path, doctype):
    with pytest.raises(ValueError, match=r"^little.urdf, line 1: it has a document type"):
        read(written(tmp_path, f'{doctype}<robot name="&l9;"><link name="&l9;"/></robot>'))


def test_entities_that_nobody_declared_are_refused(tmp_path):
    with pytest.raises(ValueError, match="undefined entity"):
        read(written(tmp_path, urdf(link("&lol;"))))
    assert read(written(tmp_path, urdf(link("&lt;&amp;&#65;")))).links[0].name == "<&A"


def test_endless_nesting_is_refused(tmp_path):
    text = "<robot>" + "<a>" * 3_500_000
    for path in (written(tmp_path, text), written(tmp_path, text + "</a>" * 3_500_000 + "</robot>")):
        with pytest.raises(ValueError, match="nested deeper than 64 levels"):
            read(path)


def test_long_and_wide_files_are_read(tmp_path):
    many = "".join(link(f"l{k}") for k in range(20_000))
    padding = f"<!--{'x' * 1_000_000}--><gazebo a='{'y' * 1_000_000}'>{'z' * 1_000_000}</gazebo>"
    assert len(read(written(tmp_path, urdf(padding, many))).links) == 20_000


def test_errors_stay_short_whatever_the_file_holds(tmp_path):
    long = "9" * 1_000_000
    for text in (
        with_joint(f'<axis xyz="{long} 0 0 0"/>'),
        with_joint(f'<axis xyz="{long} 0 0"/>'),
        with_shape(f'<mesh filename="{long}.stl"/>'),
        with_shape(f"<x{long}/>"),
        with_joint(kind=long),
        urdf(link(long, "<collision/>")),
        f"<x{long}/>",
    ):
        with pytest.raises((ValueError, FileNotFoundError)) as caught:
            read(written(tmp_path, text), package_dirs=[])
        assert len(str(caught.value)) < 10_000


@pytest.mark.parametrize(
    "encode",
    [
        lambda text: b"\xef\xbb\xbf" + text.encode(),
        lambda text: text.encode("utf-16"),
        lambda text: f'<?xml version="1.0" encoding="ISO-8859-1"?>{text}'.encode("latin-1"),
        lambda text: f'<?xml version="1.0" encoding="windows-1252"?>{text}'.encode("cp1252"),
        lambda text: f"{text}\r\n\t <!-- the end -->\n".encode(),
    ],
    ids=["bom", "utf-16", "latin-1", "windows", "trailing"],
)
def test_encodings(tmp_path, encode):
    model = read(written(tmp_path, encode(urdf(link("Käfig")))))
    assert model.links[0].name == "Käfig"


@pytest.mark.parametrize(
    "data",
    [
        urdf(link("Käfig")).encode("latin-1"),
        b'<?xml version="1.0" encoding="nonsense"?><robot/>',
        b'<?xml version="1.0" encoding="utf-7"?><robot/>',
        b'<?xml version="1.0" encoding="shift-jis"?><robot/>',
        urdf(link("a\0b")).encode(),
        b"",
        b"\n\n",
    ],
)
def test_bytes_that_are_no_text_are_refused(tmp_path, data):
    with pytest.raises(ValueError, match=r"^little.urdf"):
        read(written(tmp_path, data))


def test_comments_and_instructions_anywhere_change_nothing(tmp_path):
    noise = "<!-- <link name='ghost'/> --><?php echo ?>\n some text <![CDATA[<joint/>]]>"
    clean = read(written(tmp_path, LITTLE))
    noisy = read(written(tmp_path, LITTLE.split("-->")[1].replace("><", f">{noise}<")))
    assert repr(noisy) == repr(clean)


def test_namespaces_change_nothing(tmp_path):
    text = LITTLE.replace("<robot ", '<robot xmlns="http://drake.mit.edu" xmlns:xacro="http://ros.org/wiki/xacro" ')
    assert repr(read(written(tmp_path, text))) == repr(read(written(tmp_path, LITTLE)))
