"""The thesis's own files: millimetres become metres, defaults are those of appendix B, and doubts are told."""

import re
import warnings

import pytest

import petersen_listings
from clearance.simulation.petersen_files import load_petersen, read_balls, read_city
from clearance.simulation.scenario import Scenario, View


@pytest.fixture
def loaded(tmp_path):
    with warnings.catch_warnings(record=True) as told:
        warnings.simplefilter("always")
        scenario = load_petersen(petersen_listings.write(tmp_path))
    return scenario, [str(warning.message) for warning in told]


def load(tmp_path, text):
    (tmp_path / "x.cfg").write_text(text)
    return load_petersen(tmp_path / "x.cfg")


def test_listing_is_read_in_metres(loaded):
    scenario, _ = loaded
    assert scenario.names("robots") == ["MonsterTruck1", "MonsterTruck2", "Pioneer1", "Volksbot", "StretchLimo"]
    first, second, pioneer, *_ = scenario.robots
    assert (first.position, first.direction_deg) == ((-2.0, 2.0), 290.0)
    assert all(robot.full_collision for robot in scenario.robots)
    assert (first.scanner.type, first.scanner.resolution, first.scanner.rate) == ("depth", (160, 120), 5.0)
    assert (first.scanner.file, first.scanner.shown_beams, first.camera.rate) == ("LaserscannerMT1", 5, 0.0)
    # Rays are divided by five unless the file says otherwise.
    assert (second.scanner.type, second.scanner.resolution) == ("rays", (32, 24))
    assert (second.scanner.range, second.scanner.shown_beams) == (4.0, 0)
    assert (pioneer.scanner, pioneer.camera.rate) == (None, 5.0)
    assert scenario.world.step == 1 / 500
    assert scenario.world.gravity == (0.0, 0.0, -9.0)
    assert scenario.world.broad_phase == "hierarchy"
    assert scenario.field.size == (10.0, 10.0)
    assert scenario.view == View((-10.4, -4.4, 5.0), 30.0, 30.0, 0.01, 20.0, (-2.0, 4.0, 3.0))


def test_houses_stand_on_their_cells(loaded):
    houses = list(loaded[0].city.houses())
    assert len(houses) == 28
    assert houses[0] == pytest.approx((1.75, -4.75, 0.5))  # the fourth cell of the first row, five storeys
    assert houses[-1] == pytest.approx((3.75, 4.25, 0.5))


def test_listing_contradicts_itself_and_that_is_told(loaded):
    scenario, told = loaded
    # It says three balls and lists five; its city has 20 rows, of which 19 are printed.
    assert len(scenario.balls) == 3
    assert (scenario.balls[0].position, scenario.balls[0].mass) == ((-1.0, -1.2, 1.2), 0.07)
    assert [ball.colour for ball in scenario.balls] == ["#ff0000", "#00ff00", "#0000ff"]
    assert any("says that it has 3 balls, but it lists 5; the first 3 are taken" in text for text in told)
    assert any("20 rows of 10 cells are 200, but it has 190" in text for text in told)


def test_what_means_nothing_here_is_told_once_each(loaded):
    _, told = loaded
    found = [re.search(r"\[(\w+)\] (\w+) means nothing here", text) for text in told]
    assert [match.groups() for match in found if match] == [
        ("monsterTruck1", "comport"),
        ("monsterTruck1", "textureOn"),
        ("monsterTruck1", "lsWriteBack"),
        ("monsterTruck2", "camImageFile"),
        ("volksbot1", "comport"),
        ("stretch1", "textureOn"),
    ]
    assert len(told) == 8


def test_scenario_written_as_toml_is_the_same(loaded):
    scenario, _ = loaded
    assert Scenario.from_text(scenario.to_toml()) == scenario


def test_scenario_builds(loaded):
    world, vehicles, scanners = loaded[0].build()
    assert list(scanners) == ["MonsterTruck1", "MonsterTruck2"]
    assert len([name for name in world.names if name.startswith("city/")]) == 28
    assert vehicles["Pioneer1"].state[:2] == pytest.approx([-2.0, 1.0])


def test_empty_file_has_the_defaults_of_the_thesis(tmp_path):
    scenario = load(tmp_path, "")
    (truck,) = scenario.robots
    assert (truck.model, truck.position, truck.full_collision, truck.camera.rate) == (
        "monster_truck",
        (0, 0),
        False,
        5.0,
    )
    assert (truck.scanner.type, truck.scanner.range, truck.scanner.rate) == ("depth", 20.0, 5.0)
    assert (scenario.world.step, scenario.world.gravity) == (0.001, (0.0, 0.0, -9.81))
    assert scenario.world.broad_phase == "all"
    assert (scenario.field.size, scenario.field.boards, scenario.city, scenario.balls) == ((3.0, 6.0), False, None, ())
    assert scenario.view == View((-10.0, -4.0, 5.0), 30.0, 30.0, 0.01, 20.0, (0.0, 0.0, 2.0))


def test_humanoids_have_sections_of_their_own_name(tmp_path):
    text = "[general]\nmonsterTrucks = 0\nhumanoids = 2\n[hr182]\nposX = 500\ndynamicsOn = 0\n"
    first, second = load(tmp_path, text).robots
    assert (first.model, first.position, first.dynamics) == ("humanoid", (0.0, 0.0), True)
    assert (second.position, second.dynamics) == ((0.5, 0.0), False)


def test_case_and_inline_comments_do_not_matter(tmp_path):
    truck = load(tmp_path, "[MONSTERTRUCK1]\nPOSX = 250 ; a quarter\nDir=400\n").robots[0]
    assert (truck.position, truck.direction_deg) == ((0.25, 0.0), 40.0)


@pytest.mark.parametrize("factor", [1, 2, 5, 6])
def test_factor_divides_the_resolution(tmp_path, factor):
    scanner = load(tmp_path, f"[monsterTruck1]\nlsType = 2\nlsResFactor = {factor}\n").robots[0].scanner
    printed = {1: (160, 120), 2: (80, 60), 5: (32, 24), 6: (26, 20)}  # section 6.4.3
    assert scanner.resolution == printed[factor]


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("[monsterTruck1]\nposx = far", "[monsterTruck1] posX must be a number, but it is 'far'."),
        ("[monsterTruck1]\nposX = nan", "posX must be a number, but it is 'nan'."),
        ("[monsterTruck1]\nlsType = 3", "lsType must be 1 or 2, but it is '3'."),
        ("[monsterTruck1]\nlsType = 2\nlsResFactor = 0", "lsResFactor must be from 1 to 120, but it is 0."),
        ("[monsterTruck1]\nfullCollision = yes", "fullCollision must be 0 or 1, but it is 'yes'."),
        ("[dynamics]\nrate = 0", "[dynamics] rate must be positive, but it is 0."),
        ("[general]\npioneers = 1.5", "[general] pioneers must be a whole number, but it is 1.5."),
        ("[field]\nlength = -1", "field.size[0] must be a finite number above 0, but it is -0.001."),
        ("posX = 3", "is no configuration file"),
        ("[field]\ncity = ../secret.txt", "which leads out of the folder"),
        ('[field]\ncity = "/etc/passwd"', "which leads out of the folder"),
    ],
)
def test_what_is_no_number_is_refused(tmp_path, text, message):
    with pytest.raises(ValueError, match=re.escape(message)):
        load(tmp_path, text)


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("[monsterTruck1]\nposXX = 3", "[monsterTruck1] posXX is unknown; did you mean posX?"),
        ("[monsterTruck2]\nposX = 3", "[monsterTruck2] belongs to nothing that is simulated."),
        ("[nonsense]", "[nonsense] belongs to nothing that is simulated."),
        ("[general]\nshowCollisions = 1", "showCollisions means nothing here: contacts are not drawn."),
    ],
)
def test_what_is_left_over_is_told(tmp_path, text, message):
    with pytest.warns(UserWarning, match=re.escape(message)):
        scenario = load(tmp_path, text)
    assert isinstance(scenario, Scenario)  # all the same


def test_nothing_is_told_without_reason(tmp_path):
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        scenario = load(tmp_path, "[general]\nshowCollisions = 0\n[monsterTruck1]\ntextureOn = 0\n")
    assert [robot.model for robot in scenario.robots] == ["monster_truck"]


def test_missing_files_name_every_place(tmp_path):
    with pytest.raises(FileNotFoundError, match=re.escape(str(tmp_path / "no.cfg"))):
        load_petersen(tmp_path / "no.cfg")
    with pytest.raises(FileNotFoundError) as caught:
        load(tmp_path, "[field]\nballs = marbles")
    for place in ("marbles", "marbles.txt"):
        assert f"\n    {tmp_path / place}" in str(caught.value)


@pytest.mark.parametrize(
    ("read", "text", "message"),
    [
        (read_city, "0 1 2", "has 3 numbers, but the extent and the edge of a house are 5."),
        (read_city, "1 0 0 1 1", "least and greatest x and y and an edge are expected"),
        (read_city, "0 1000 0 1000 0", "least and greatest x and y and an edge are expected"),
        (read_city, "0 1000 0 1000 1000 -1", "-1 is no number of storeys"),
        (read_city, "0 1e9 0 1e9 1", "10000 are the most"),
        (read_city, "0 1000 zero", "entry 3 must be a number, but it is 'zero'"),
        (read_balls, "1 0 0 0 1 1 1", "has 6 numbers after the first, but every ball has 8."),
        (read_balls, "-1", "the number of balls is expected"),
    ],
)
def test_damaged_files_are_refused(tmp_path, read, text, message):
    (tmp_path / "x.txt").write_text(text)
    with pytest.raises(ValueError, match=re.escape(message)):
        read(tmp_path / "x.txt")


def test_fewer_balls_than_said_are_told(tmp_path):
    (tmp_path / "x.txt").write_text("2\n0 0 0 1 1 1 1 1")
    with pytest.warns(UserWarning, match="says that it has 2 balls, but it lists 1; all of them are taken"):
        assert len(read_balls(tmp_path / "x.txt")) == 1
