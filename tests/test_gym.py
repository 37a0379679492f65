"""The parking environment keeps the rules of Gymnasium, repeats itself by its seed, and rewards what it says."""

import warnings

import numpy as np
import pytest

pytest.importorskip("gymnasium", reason="needs the extra 'gym'")
import gymnasium
from gymnasium.utils.env_checker import check_env

from clearance.gym import AckermannParking
from clearance.simulation.models import monster_truck

NAME = "clearance/AckermannParking-v0"
EMPTY = np.empty((0, 5))
DRIVE = monster_truck().drive


def run(seed, steps=40, **settings):
    env = gymnasium.make(NAME, **settings)
    found, info = env.reset(seed=seed)
    env.action_space.seed(seed)
    told = [found, info["state"], info["goal"]]
    for _ in range(steps):
        observation, reward, terminated, truncated, _ = env.step(env.action_space.sample())
        told += [observation, reward]
        if terminated or truncated:
            told.append(env.reset()[0])
    return told


KINDS = {"rolling": {}, "driven": {"dynamic": True}}
every_kind = pytest.mark.parametrize("kind", KINDS.values(), ids=KINDS)


def placed(start, goal, boxes=EMPTY, **settings):
    env = AckermannParking(**settings)
    env.reset(seed=0, options={"start": start, "goal": goal, "boxes": boxes})
    return env


def driven(env, action, steps):
    return [env.step(np.array(action, dtype=np.float32)) for _ in range(steps)]


@pytest.mark.parametrize("render_mode", [None, "rgb_array"])
@pytest.mark.parametrize("settings", [{}, {"boxes": 0, "beams": 1, "size": 2.0}, {"dynamic": True}])
def test_gymnasium_finds_nothing_to_complain_about(render_mode, settings):
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        check_env(gymnasium.make(NAME, render_mode=render_mode, **settings).unwrapped)


def test_spaces_are_finite_and_of_single_precision():
    env = AckermannParking(beams=20)
    assert env.observation_space.shape == (26,)
    for space in (env.observation_space, env.action_space):
        assert space.dtype == np.float32
        assert np.isfinite([space.low.min(), space.high.max()]).all()


@every_kind
def test_the_same_seed_gives_the_same_episode_and_another_another(kind):
    first, again, other = run(7, **kind), run(7, **kind), run(8, **kind)
    for a, b in zip(first, again, strict=True):
        np.testing.assert_array_equal(a, b)
    assert not np.array_equal(first[0], other[0])


def test_many_at_once_do_what_each_does():
    many = gymnasium.make_vec(NAME, num_envs=3, vectorization_mode="sync")
    observations, _ = many.reset(seed=[1, 2, 3])
    assert observations.shape == (3, *AckermannParking().observation_space.shape)
    action = np.array([[1.0, 0.0], [0.5, 0.5], [-1.0, 0.2]], dtype=np.float32)
    observations, rewards, *_ = many.step(action)
    for k in range(3):
        one = gymnasium.make(NAME)
        one.reset(seed=k + 1)
        observation, reward, *_ = one.step(action[k])
        np.testing.assert_array_equal(observation, observations[k])
        assert reward == pytest.approx(rewards[k])


def test_episodes_are_cut_off():
    env = gymnasium.make(NAME)
    env.reset(seed=1, options={"start": [0.0, 0.0, 0.0], "goal": [2.0, 2.0, 0.0], "boxes": EMPTY})
    still = np.zeros(2, dtype=np.float32)
    ends = [env.step(still)[2:4] for _ in range(300)]
    assert ends[-1] == (False, True)
    assert set(ends[:-1]) == {(False, False)}


def test_start_and_goal_are_free_and_inside():
    for seed in range(10):
        env = AckermannParking(boxes=8)
        _, info = env.reset(seed=seed)
        assert np.abs([info["state"][:2], info["goal"][:2]]).max() < 3.0
        *_, terminated, _, info = env.step(np.zeros(2, dtype=np.float32))
        assert not info["has_collided"]
        assert terminated == info["is_parked"]


def test_scanner_sees_the_walls_and_boxes_that_there_are():
    env = placed([0.0, 0.0, 0.0], [2.0, 2.0, 0.0], boxes=[[1.5, 0.0, 0.0, 0.4, 1.0]], beams=3, range_max=10.0)
    observation = env.step(np.zeros(2, dtype=np.float32))[0]
    scanner = monster_truck().body("scanner").pose[0, 3]
    assert observation[1] == pytest.approx(1.3 - scanner, abs=1e-6)  # the middle beam, ahead
    np.testing.assert_allclose(observation[[0, 2]], 3.0, rtol=1e-6)  # to the right and to the left
    turned = placed([0.0, -1.0, 0.5 * np.pi], [2.0, 2.0, 0.0], beams=3, range_max=10.0)
    observation = turned.step(np.zeros(2, dtype=np.float32))[0]
    np.testing.assert_allclose(observation[:3], [3.0, 4.0 - scanner, 3.0], rtol=1e-6)
    env = placed([0.0, 0.0, 0.0], [2.0, 2.0, 0.0], beams=3, range_max=1.0)
    np.testing.assert_array_equal(env.step(np.zeros(2, dtype=np.float32))[0][:3], 1.0)


def test_goal_is_told_as_the_truck_sees_it():
    env = placed([1.0, 1.0, np.pi / 2], [0.0, 2.0, np.pi], beams=4)
    observation = env.step(np.zeros(2, dtype=np.float32))[0]
    np.testing.assert_allclose(observation[4:], [1.0, 1.0, 0.0, 1.0, 0.0, 0.0], atol=1e-6)


@every_kind
def test_driving_into_something_ends_the_episode(kind):
    env = placed([0.0, 0.0, 0.0], [2.0, 2.0, 0.0], boxes=[[1.5, 0.0, 0.0, 0.4, 1.0]], **kind)
    told = driven(env, [1.0, 0.0], 15)
    first = next(k for k, step in enumerate(told) if step[2])
    *_, info = told[first]
    assert info["has_collided"]
    assert not info["is_parked"]
    assert told[first][1] < -9.0
    bumper = monster_truck().bounds[1, 0]
    assert 1.3 - bumper - 0.1 < info["state"][0] < 1.3 - bumper + 0.3
    assert told[first - 1][4]["state"][0] < 1.3 - bumper


@every_kind
def test_arriving_ends_the_episode_with_a_reward(kind):
    env = placed([0.0, 0.0, 0.0], [1.0, 0.0, 0.0], **kind)
    told = driven(env, [0.2, 0.0], 20)
    first = next(k for k, step in enumerate(told) if step[2])
    _, reward, terminated, truncated, info = told[first]
    assert (terminated, truncated, info["is_parked"], info["has_collided"]) == (True, False, True, False)
    assert reward > 9.0
    assert info["distance"] < 0.15
    sideways = placed([0.0, 0.0, 0.0], [1.0, 0.0, np.pi / 2], **kind)
    assert not any(step[2] for step in driven(sideways, [0.2, 0.0], 20))


def test_rewards_add_up_to_the_way():
    env = placed([0.0, 0.0, 0.0], [2.0, 0.0, 0.0])
    told = driven(env, [0.5, 0.0], 10)
    assert sum(step[1] for step in told) == pytest.approx(told[-1][4]["state"][0] - 10 * 0.01)


@pytest.mark.parametrize("action", [(1.0, 1.0), (-1.0, 0.5)])
def test_the_truck_ends_up_on_the_circle_of_its_drive(action):
    env = placed([0.0, 0.0, 0.0], [20.0, 20.0, 0.0], size=60.0)
    driven(env, action, 20)  # until speed and steering are those that are wanted
    *_, info = driven(env, action, 1)[0]
    *_, later = driven(env, action, 1)[0]
    speed, steering = action[0] * DRIVE.max_speed, action[1] * DRIVE.max_steering
    np.testing.assert_allclose(later["state"], DRIVE.advance(info["state"], speed, steering, 0.1), atol=1e-9)


def test_driven_and_rolling_trucks_go_the_same_way():
    ends = []
    for kind in KINDS.values():
        env = placed([0.0, 0.0, 0.0], [20.0, 20.0, 0.0], size=60.0, **kind)
        *_, info = driven(env, [0.2, 0.6], 30)[-1]
        ends.append(info["state"])
    way = 0.6 * 2.85
    np.testing.assert_allclose(ends[0], ends[1], atol=0.02 * way)


def test_pictures_show_truck_goal_and_boxes():
    env = placed([0.0, 0.0, 0.0], [2.0, 2.0, 0.0], boxes=[[-2.0, 0.0, 0.0, 1.0, 1.0]], render_mode="rgb_array")
    picture = env.render()
    assert picture.shape == (400, 400, 3)
    assert picture.dtype == np.uint8
    np.testing.assert_array_equal(picture[200, 67], [106, 115, 123])
    np.testing.assert_array_equal(picture[200, 201], [198, 40, 40])
    np.testing.assert_array_equal(picture[67, 335], [165, 214, 167])  # up is y
    assert placed([0.0, 0.0, 0.0], [1.0, 0.0, 0.0]).render() is None


@pytest.mark.parametrize(
    ("call", "told"),
    [
        (lambda: AckermannParking("human"), "render_mode"),
        (lambda: AckermannParking(boxes=-1), "boxes"),
        (lambda: AckermannParking(beams=0), "beams"),
        (lambda: AckermannParking(size=np.nan), "size"),
        (lambda: placed([0.0, 0.0], [1.0, 0.0, 0.0]), "option 'start'"),
        (lambda: placed([0.0, 0.0, 0.0], [1.0, np.nan, 0.0]), "option 'goal'"),
        (lambda: AckermannParking().reset(options={"stat": [0, 0, 0]}), "no option 'stat'"),
        (lambda: AckermannParking(boxes=200, size=2.0).reset(seed=1), "no room"),
        (lambda: driven(placed([0, 0, 0], [1, 0, 0]), [np.nan, 0.0], 1), "an action is 2 finite numbers"),
    ],
)
def test_bad_input_is_told(call, told):
    with pytest.raises((ValueError, KeyError), match=told):
        call()
