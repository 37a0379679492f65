"""Scenario files: what is said is what is built, and what cannot be meant is refused with its place."""

import math
import re
from dataclasses import is_dataclass

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

import clearance as cl
from clearance.simulation import scenario as settings
from clearance.simulation.scenario import Scenario, shipped_scenarios
from clearance.simulation.scenario_schema import readers_of

SHIPPED = shipped_scenarios()
BALL = "[[balls]]\nposition = [0.0, 0.0]\nradius = 0.1\n"
CITY = "[city]\ncell = 1\ncorner = [0, 0]\nstoreys = "
TRUCK = '[[robots]]\nmodel = "monster_truck"\n'
EVERYTHING = """
title = "everything of appendix B"

[world]
step = 0.002
gravity = [0.0, 0.0, -9.0]
broad_phase = "hierarchy"
seed = 7

[world.contact]
kind = "soft"
stiffness = 2e4
damping = 50.0

[surface]
friction = 0.7
rolling = 0.001

[field]
size = [10.0, 8.0]
boards = true
middle = true
board_height = 0.2

[city]
corner = [0.0, -4.0]
cell = 0.5
storey = 0.1
storeys = ["..3", "1.0"]

[[robots]]
model = "monster_truck"
name = "first truck"
position = [-2.0, 2.0]
direction_deg = 290
full_collision = false
commands = [{ speed = 1.0 }, { time = 2.0, speed = -0.5, steering_deg = 10 }]

[robots.scanner]
type = "depth"
resolution = [32, 24]
range = 4.0
rate = 4
file = "scans"

[robots.camera]
rate = 5

[[robots]]
model = "pioneer"
position = [-3.0, -2.0]
dynamics = false
commands = [{ speed = 0.4, turn_rate_deg = 20 }]

[[balls]]
position = [-1.0, -1.2, 1.2]
radius = 0.1
colour = [1, 0, 0]
mass = 0.07

[[boxes]]
position = [-1.0, 1.0]
size = [0.2, 0.3, 0.4]
direction_deg = 30

[recording]
duration = 3.0
rate = 25
precision = "float64"

[view]
position = [-10.0, -4.0, 5.0]
yaw_deg = 30
pitch_deg = 30
"""


# What is said is what is kept -----------------------------------------------------------------------------------------


def test_what_is_said_is_kept():
    found = Scenario.from_text(EVERYTHING)
    assert found.world.contact == settings.Contact("soft", stiffness=2e4, damping=50.0)
    assert found.field.size == (10.0, 8.0)
    truck, pioneer = found.robots
    assert (truck.name, truck.position, truck.direction_deg) == ("first truck", (-2.0, 2.0), 290.0)
    assert truck.scanner == settings.Scanner("depth", (32, 24), range=4.0, rate=4.0, file="scans")
    assert [command.speed for command in truck.commands] == [1.0, -0.5]
    assert not pioneer.dynamics
    assert found.balls[0].colour == "#ff0000"
    assert found.names("robots") == ["first truck", "pioneer1"]
    np.testing.assert_allclose(list(found.city.houses()), [(1.25, -3.75, 0.3), (0.25, -3.25, 0.1)])


def test_nothing_said_is_a_scenario():
    assert Scenario.from_text("") == Scenario()


@pytest.mark.parametrize("toml", [EVERYTHING, BALL, *(path.read_text("utf-8") for path in SHIPPED.values())])
def test_what_is_written_reads_the_same(toml):
    scenario = Scenario.from_text(toml)
    assert Scenario.from_text(scenario.to_toml()) == scenario


numbers = st.floats(-1e6, 1e6)
lengths = st.floats(1e-6, 1e6)
texts = st.text(st.characters(exclude_categories=["Cs"]), min_size=1).filter(str.strip)


@given(
    st.builds(
        Scenario,
        title=texts,
        world=st.builds(settings.WorldSettings, step=st.floats(1e-6, 1.0), gravity=st.tuples(*[numbers] * 3)),
        balls=st.lists(
            st.builds(
                settings.Ball,
                position=st.tuples(numbers, numbers, numbers),
                radius=lengths,
                mass=st.none() | lengths,
                density=st.none(),
                velocity=st.tuples(*[numbers] * 3),
                colour=st.sampled_from(["#d6001c", "#00ff00"]),
                surface=st.none() | st.builds(settings.Surface, friction=lengths, restitution=st.just(0.5)),
                name=st.none(),
            )
        ).map(tuple),
    )
)
def test_any_scenario_survives_its_file(scenario):
    assert Scenario.from_text(scenario.to_toml()) == scenario


def test_rows_of_a_city_are_texts_or_numbers():
    as_text, as_lists = (Scenario.from_text(CITY + rows) for rows in ('["..2", "10."]', "[[0, 0, 2], [1, 0, 0]]"))
    assert list(as_text.city.houses()) == list(as_lists.city.houses())


# What cannot be meant -------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("toml", "message"),
    [
        ("[wrold]", "the file has an unknown key 'wrold'; did you mean 'world'?"),
        (TRUCK + "postion = [0, 0]", "robots[0] has an unknown key 'postion'; did you mean 'position'?"),
        (
            TRUCK + "[robots.scanner]\nranges = 3",
            "robots[0].scanner has an unknown key 'ranges'; did you mean 'range'",
        ),
        ("[world.contact]\nkind = 'sfot'", "world.contact.kind must be one of hard, soft, elastic, but it is 'sfot'"),
        ("[[robots]]\nmodel = 'pioner'", "did you mean 'pioneer'?"),
        ("[[robots]]\nname = 'x'", "robots[0] needs a key 'model', which is missing."),
        ("[robots]\nmodel = 'pioneer'", "robots must be a list of tables"),
        ("world = 3", "world must be a table, but it is 3."),
        ("x = [", "this is no TOML"),
        ("a" * 100 + "= 1\n" + "[" * 3000, "this is no TOML"),
        ("title = ''", "title must be a text"),
        (TRUCK + "full_collision = 1", "robots[0].full_collision must be true or false, but it is 1."),
        (TRUCK + "position = [0]", "robots[0].position must be a list of 2 or 3 numbers"),
        (TRUCK + "name = 'a/b'", "robots[0].name must be printable and without a slash"),
        (TRUCK + "name = 'ground'", "robots[0] is named 'ground', and so is something of the world's own."),
        (TRUCK + "name = 'x'\n" + BALL + "name = 'x'", "balls[0] is named 'x', and so is robots[0]."),
        (TRUCK + "commands = [{ turn_rate_deg = 3 }]", "commands[0].turn_rate_deg means nothing for a monster_truck."),
        (TRUCK + "commands = [{ time = 1 }, { time = 1 }]", "commands[1].time must be after 1, but it is 1."),
        ("[[robots]]\nmodel = 'humanoid'\ncommands = [{ speed = 1 }]", "speed means nothing for a humanoid."),
        ("[[robots]]\nmodel = 'volksbot'\nscanner = {}", "scanner needs a key 'position'"),
        (TRUCK + "scanner = { range = 1, range_min = 2 }", "'range_min' must be below 'range'"),
        (TRUCK + "scanner = { file = '../x' }", "'file' must be a name without folders"),
        (TRUCK + "scanner = { resolution = [0, 1] }", "scanner.resolution[0] must be a whole number from 1"),
        (TRUCK + "scanner = { resolution = [9999, 9999] }", "'resolution' is at most 4000000 beams"),
        (TRUCK + "scanner = { fov_deg = [0, 0] }", "'fov_deg' must be above 0 across"),
        (BALL + "mass = 1\ndensity = 1", "balls[0]: 'mass' and 'density' exclude each other."),
        (BALL + "colour = 'red'", 'balls[0].colour must be like "#d6001c"'),
        ("[world]\ncontact = { kind = 'hard', stiffness = 1 }", "'stiffness' means nothing for hard contacts."),
        (
            "[city]\ncell = 1\ncorner = [0, 0]\nstoreys = ['..', '.']",
            "storeys[1] has 1 cells, but city.storeys[0] has 2.",
        ),
        ("[city]\ncell = 1\ncorner = [0, 0]\nstoreys = ['x']", "made of digits, and dots for nothing"),
        ("[city]\ncell = 1\ncorner = [0, 0]\nstoreys = [[-1]]", "storeys[0][0] must be a whole number from 0"),
        ("[terrain]\ncell = 1\nheights = [[0, 0], [0]]", "terrain.heights[1] must be a list of 2 numbers"),
        ("[view]\nnear = 2\nfar = 1", "view: 'near' must be below 'far'"),
    ],
)
def test_what_cannot_be_meant_is_named_with_its_place(toml, message):
    with pytest.raises(ValueError, match=re.escape(message)):
        Scenario.from_text(toml)


@pytest.mark.parametrize(
    ("toml", "message"),
    [
        (TRUCK + "direction = 90", "angles are in degrees and say so; write 'direction_deg'."),
        (TRUCK + "direction_rad = 1", "angles are in degrees; write 'direction_deg'."),
        (BALL + "radius_mm = 5", "lengths are in metres; write 'radius'."),
        (BALL + "mass_g = 5", "masses are in kilograms; write 'mass'."),
        ("[recording]\nduration_ms = 5", "times are in seconds; write 'duration'."),
        (
            "[[balls]]\nposition = [0, 0]\nradius = '5 mm'",
            "balls[0].radius must be a finite number above 0, without a unit",
        ),
        (TRUCK + "direction_deg = 1e3", "robots[0].direction_deg must be a finite number at least -360"),
    ],
)
def test_wrong_units_are_refused(toml, message):
    with pytest.raises(ValueError, match=re.escape(message)):
        Scenario.from_text(toml)


def number_keys():
    """Every key of every table that takes one number."""
    for kind in vars(settings).values():
        if is_dataclass(kind) and kind is not Scenario:
            for key, reader in readers_of(kind).items():
                try:
                    reader(1, "x")
                except ValueError:
                    continue
                yield kind, key, reader


@pytest.mark.parametrize(
    ("kind", "key", "reader"), list(number_keys()), ids=lambda value: getattr(value, "__name__", value)
)
@pytest.mark.parametrize("value", [math.nan, math.inf, -math.inf, True, "1", [1], None, 10**400])
def test_numbers_are_finite_and_nothing_else(kind, key, reader, value):
    with pytest.raises(ValueError, match=r"^here\."):
        reader(value, f"here.{key}")


LENGTHS = {"radius", "cell", "storey", "range", "board_height", "board_thickness", "near", "far", "step", "duration"}


def test_sizes_are_above_zero():
    found = {key for _, key, _ in number_keys()} & LENGTHS
    assert found == LENGTHS
    for _, key, reader in number_keys():
        if key in LENGTHS:
            for value in (0.0, -1.0):
                with pytest.raises(ValueError, match="above 0"):
                    reader(value, key)


def test_every_key_is_read_somewhere_in_the_examples():
    """The scenario above says something about every table there is."""
    scenario = Scenario.from_text(EVERYTHING)
    untold = {key for key in readers_of(Scenario) if getattr(scenario, key) == getattr(Scenario(), key)}
    assert untold == {"terrain"}


# Files ----------------------------------------------------------------------------------------------------------------


def test_file_is_found_with_and_without_its_ending(tmp_path):
    (tmp_path / "mine.toml").write_text(BALL)
    assert Scenario.load(tmp_path / "mine") == Scenario.load(str(tmp_path / "mine.toml")) == Scenario.from_text(BALL)


def test_missing_file_names_every_place(tmp_path):
    with pytest.raises(FileNotFoundError) as caught:
        Scenario.load(tmp_path / "mine")
    for place in (tmp_path / "mine", tmp_path / "mine.toml"):
        assert f"\n    {place}\n" in str(caught.value)
    assert all(name in str(caught.value) for name in SHIPPED)


def test_messages_begin_with_the_file(tmp_path):
    (tmp_path / "mine.toml").write_text("[wrold]")
    with pytest.raises(ValueError, match=re.escape(f"{tmp_path / 'mine.toml'}: the file has an unknown key")):
        Scenario.load(tmp_path / "mine.toml")


@pytest.mark.parametrize("data", [b"\xff\xfe", b"\x00" * 10, b"x" * 20_000_000])
def test_what_is_no_text_is_refused(tmp_path, data):
    (tmp_path / "mine.toml").write_bytes(data)
    with pytest.raises(ValueError, match=re.escape(str(tmp_path))):
        Scenario.load(tmp_path / "mine.toml")


# Worlds ---------------------------------------------------------------------------------------------------------------


def test_world_is_what_was_said():
    built = Scenario.from_text(EVERYTHING).build()
    world, vehicles, scanners = built
    assert world.step_length == 0.002
    assert world.gravity.tolist() == [0.0, 0.0, -9.0]
    assert [name for name in world.names if name.startswith("boards/")] == [
        f"boards/{side}" for side in ("front", "back", "left", "right", "middle")
    ]
    assert [name for name in world.names if name.startswith("city/")] == ["city/house1", "city/house2"]
    assert world.mass("ball1").mass == pytest.approx(0.07)
    np.testing.assert_allclose(world.pose("ball1")[:3, 3], [-1.0, -1.2, 1.2])
    np.testing.assert_allclose(world.pose("box1")[:3, 3], [-1.0, 1.0, 0.2])
    np.testing.assert_allclose(vehicles["first truck"].state, [-2.0, 2.0, np.radians(-70.0)], atol=1e-12)
    assert list(scanners) == ["first truck"]
    assert scanners["first truck"].scanner.range_max == 4.0
    assert world.motion("pioneer1/trunk") == "kinematic"


def test_boards_stand_around_the_field_without_gaps():
    world = Scenario.from_text("[field]\nsize = [4.0, 2.0]\nboards = true\nboard_thickness = 0.1").build().world
    boards = [world.shape(name).at(world.pose(name)) for name in world.names if name.startswith("boards/")]
    inside = cl.Box([4.0, 2.0, 0.1]).at([0.0, 0.0, 0.1])
    for board in boards:
        assert cl.distance(inside, board).distance == pytest.approx(0.0, abs=1e-12)
        assert sum(cl.distance(board, other).distance <= 1e-12 for other in boards) == 3  # itself and its neighbours


@pytest.mark.parametrize("name", sorted(SHIPPED))
def test_shipped_scenarios_start_apart(name):
    scenario = Scenario.load(name)
    world = scenario.build().world
    scene = world.scene()
    robots = scenario.names("robots")
    owners = [body.partition("/")[0] for body in scene.names]
    for k, body in enumerate(scene.names):
        for j in range(k):
            moves = world.motion(body) == "dynamic" or world.motion(scene.names[j]) == "dynamic"
            if moves and owners[k] != owners[j]:
                placed = [scene.shape(n).at(scene.pose(n)) for n in (body, scene.names[j])]
                assert cl.distance(*placed).distance > -1e-3, (body, scene.names[j])
    assert robots


def test_commands_beyond_a_vehicle_are_refused_before_it_starts():
    scenario = Scenario.from_text(TRUCK + "commands = [{ speed = 1 }, { time = 1, speed = 100 }]")
    with pytest.raises(ValueError, match=r"robot 'monster_truck1', commands\[1\]: "):
        scenario.build()


def test_without_full_collision_only_wheels_touch():
    text = TRUCK + 'name = "t"\nfull_collision = {}\n' + BALL + 'name = "b"\n'
    for full, stays in (("true", True), ("false", False)):
        scenario = Scenario.from_text(text.format(full).replace("position = [0.0, 0.0]", "position = [0.16, 0.0, 0.6]"))
        world = scenario.build().world
        world.step(600)
        # The ball falls onto the chassis, or through it.
        assert (world.pose("b")[2, 3] > 0.25) == stays
        assert world.pose("t/chassis")[2, 3] > 0.1


def test_vehicle_without_dynamics_follows_its_arcs():
    scenario = Scenario.from_text(
        TRUCK + 'name = "t"\ndynamics = false\ncommands = [{ speed = 1 }, { time = 1, speed = 1, steering_deg = 20 }]'
    )
    vehicle = scenario.build().vehicles["t"]
    np.testing.assert_allclose(vehicle.where(1.0), [1.0, 0.0, 0.0], atol=1e-12)
    expected = vehicle.model.drive.advance([1.0, 0.0, 0.0], 1.0, np.radians(20.0), 0.5)
    np.testing.assert_allclose(vehicle.where(1.5), expected, atol=1e-12)


@pytest.mark.parametrize("model", settings.MODELS)
def test_vehicles_start_in_the_same_place_with_and_without_dynamics(model):
    text = f"[[robots]]\nmodel = '{model}'\nname = 'r'\nposition = [1.0, 2.0, 0.3]\ndirection_deg = 40\ndynamics = "
    driven, guided = (Scenario.from_text(text + choice).build().world for choice in ("true", "false"))
    for name in guided.names:
        np.testing.assert_allclose(guided.pose(name), driven.pose(name), atol=1e-12)
    assert len(guided.names) > 1
