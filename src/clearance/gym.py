"""A Gymnasium environment: a truck with a laser scanner drives to a place among boxes, and parks there.

Needs the extra `gym`. Importing this module registers "clearance/AckermannParking-v0".
"""

from __future__ import annotations

from collections.abc import Mapping
from math import pi
from typing import Any, Literal

import gymnasium
import numpy as np
from gymnasium.spaces import Box as BoxSpace
from numpy.typing import NDArray

from .gym_trucks import PERIOD, DrivenTruck, RollingTruck, Truck, TruckHull
from .poses import as_floats, from_axis_angle
from .rays import raycast
from .shapes import Box, Compound, Placed

__all__ = ["AckermannParking"]

Floats = NDArray[np.float64]
Numbers = NDArray[np.float32]

FIELD_OF_VIEW = 1.5 * pi
HEIGHT, WALL = 0.5, 0.1  # of boxes and walls, in metres
MARGIN = 0.3  # metres that start and goal are away from everything
ATTEMPTS = 1000  # at drawing a place that is free
NEAR, ALIGNED = 0.15, 0.3  # metres and radians that are parked
TURN_COST = 0.2  # metres that a radian of a wrong heading counts as


class AckermannParking(gymnasium.Env[Numbers, Numbers]):
    """Drive a monster truck to a place among boxes, without touching anything.

    The truck moves as its wheels roll, see `Ackermann`, or as rigid bodies with motors do; speed and steering change
    at limited rates. An action is the speed and the steering that are wanted, from -1 to 1 of the largest. An
    observation has the ranges of the scanner in metres, from right to left, those without an echo as far as it sees;
    then the goal as the truck sees it: ahead, to the left, cosine and sine of its heading; then speed and steering.
    The reward is by how much the truck came closer to its goal, where a wrong heading counts as distance, less 0.01;
    plus 10 when it is there, less 10 when it touches something. Both end the episode.

    Parameters
    ----------
    render_mode : {None, "rgb_array"}
    boxes : int
        How many stand in the arena.
    beams : int
        Of the scanner, over 270 degrees.
    size : float
        Of the arena, a square, in metres.
    range_max : float
        How far the scanner sees, in metres.
    dynamic : bool
        Whether the truck is made of rigid bodies in a `World`: it slips and tilts, and steps take longer.

    Examples
    --------
    >>> import gymnasium
    >>> env = gymnasium.make("clearance/AckermannParking-v0", boxes=3)
    >>> observation, info = env.reset(seed=1)
    >>> observation.shape, observation.dtype
    ((38,), dtype('float32'))
    >>> observation, reward, terminated, truncated, info = env.step(np.array([1.0, 0.2], dtype=np.float32))
    >>> terminated, truncated, sorted(info)
    (False, False, ['distance', 'goal', 'has_collided', 'is_parked', 'state'])
    """

    metadata = {"render_modes": ["rgb_array"], "render_fps": round(1.0 / PERIOD)}  # noqa: RUF012

    def __init__(
        self,
        render_mode: Literal["rgb_array"] | None = None,
        *,
        boxes: int = 6,
        beams: int = 32,
        size: float = 6.0,
        range_max: float = 5.0,
        dynamic: bool = False,
    ) -> None:
        if render_mode not in (None, "rgb_array"):
            raise ValueError(f'render_mode must be None or "rgb_array", but it is {render_mode!r}.')
        for name, count, least in (("boxes", boxes, 0), ("beams", beams, 1)):
            if isinstance(count, bool) or not isinstance(count, int | np.integer) or count < least:
                raise ValueError(f"{name} must be a whole number, at least {least}, but it is {count!r}.")
        if not 2.0 <= size <= 1000.0 or not 0.0 < range_max <= 1000.0:
            told = "size must be from 2 to 1000 and range_max above 0, up to 1000"
            raise ValueError(f"{told}, but they are {size!r} and {range_max!r}.")
        self.render_mode = render_mode
        self._boxes, self._size, self._range_max = int(boxes), float(size), float(range_max)
        self._hull, self._kind = TruckHull(), DrivenTruck if dynamic else RollingTruck
        bearings = FIELD_OF_VIEW * ((np.arange(beams) + 0.5) / beams - 0.5)
        self._directions = np.stack([np.cos(bearings), np.sin(bearings), np.zeros(beams)], axis=-1)
        self._goal = np.zeros(3)
        self._outlines: list[Floats] = []
        self.action_space = BoxSpace(-1.0, 1.0, (2,), np.float32)
        reach, most = 2.0 * size, [self._hull.wheels.max_speed, self._hull.wheels.max_steering]
        top = np.array([*[range_max] * beams, reach, reach, 1.0, 1.0, *most], dtype=np.float32)
        self.observation_space = BoxSpace(np.where(np.arange(beams + 6) < beams, 0.0, -top).astype(np.float32), top)

    def reset(
        self, *, seed: int | None = None, options: dict[str, Any] | None = None
    ) -> tuple[Numbers, dict[str, Any]]:
        """Draw an arena, and put the truck into it.

        Parameters
        ----------
        seed : int, optional
        options : dict, optional
            "boxes": (n, 5) places x and y, yaw, length and width; "start" and "goal": x, y and yaw. What is not given
            is drawn.

        Returns
        -------
        observation : ndarray of float32
        info : dict
        """
        super().reset(seed=seed)
        given = _options(options)
        boxes = given["boxes"] if "boxes" in given else self._draw_boxes()
        parts = [_standing(*row) for row in [*self._walls(), *boxes]]
        self._obstacles = Compound(parts)
        self._outlines = [_outline(*row) for row in boxes]
        self._goal = given["goal"] if "goal" in given else self._draw_place()
        start = given["start"] if "start" in given else self._draw_place()
        self._truck: Truck = self._kind(self._hull, self._obstacles, start)
        return self._observation(), self._info(has_collided=False)

    def step(self, action: Numbers) -> tuple[Numbers, float, bool, bool, dict[str, Any]]:
        """Drive for a tenth of a second.

        Parameters
        ----------
        action : ndarray, (2,)
            Speed and steering that are wanted, as shares of the largest.

        Returns
        -------
        observation : ndarray of float32
        reward : float
        terminated, truncated : bool
        info : dict
        """
        wanted = np.clip(as_floats(action, "action"), -1.0, 1.0)
        if wanted.shape != (2,) or not np.isfinite(wanted).all():
            raise ValueError(f"an action is 2 finite numbers, but it is {action!r}.")
        before = self._cost()
        wheels = self._hull.wheels
        has_collided = self._truck.drive(wanted[0] * wheels.max_speed, wanted[1] * (wheels.max_steering or 0.0))
        info = self._info(has_collided)
        reward = before - self._cost() - 0.01 + 10.0 * info["is_parked"] - 10.0 * has_collided
        return self._observation(), float(reward), has_collided or info["is_parked"], False, info

    def render(self) -> NDArray[np.uint8] | None:
        """Draw the arena from above: 400 x 400 pixels, or None without a render mode."""
        if self.render_mode is None:
            return None
        picture = np.full((400, 400, 3), 248, dtype=np.uint8)
        ticks = (np.arange(400) + 0.5) / 400.0 - 0.5
        places = self._size * np.stack(np.meshgrid(ticks, -ticks), axis=-1)
        for outline in self._outlines:
            picture[_inside(outline, places)] = (106, 115, 123)
        for state, colour in ((self._goal, (165, 214, 167)), (self._truck.state, (198, 40, 40))):
            outline = _placed(self._hull.corners, state)
            picture[_inside(outline, places)] = colour
            nose = _placed(self._hull.corners[1:3], state)
            picture[_inside(np.array([*nose, outline.mean(axis=0)]), places)] = (43, 47, 51)
        return picture

    def _observation(self) -> Numbers:
        at, state = self._truck.scanner, self._truck.state
        directions = self._directions @ at[:3, :3].T
        ranges = np.minimum(raycast(self._obstacles, at[:3, 3], directions, self._range_max).distance, self._range_max)
        c, s = np.cos(state[2]), np.sin(state[2])
        ahead, left = np.array([[c, s], [-s, c]]) @ (self._goal[:2] - state[:2])
        heading = self._goal[2] - state[2]
        told = [*ranges, ahead, left, np.cos(heading), np.sin(heading), self._truck.speed, self._truck.steering]
        space = self.observation_space
        assert isinstance(space, BoxSpace)
        return np.clip(np.array(told, dtype=np.float32), space.low, space.high)

    def _info(self, has_collided: bool) -> dict[str, Any]:
        away = float(np.linalg.norm(self._goal[:2] - self._truck.state[:2]))
        is_parked = not has_collided and away < NEAR and abs(self._heading()) < ALIGNED
        told = {"distance": away, "is_parked": is_parked, "has_collided": has_collided}
        return told | {"state": self._truck.state.copy(), "goal": self._goal.copy()}

    def _cost(self) -> float:
        """How far the goal is, with the turn that is left."""
        return float(np.linalg.norm(self._goal[:2] - self._truck.state[:2])) + TURN_COST * abs(self._heading())

    def _heading(self) -> float:
        """By what angle the truck has to turn, from -pi to pi."""
        return float((self._goal[2] - self._truck.state[2] + pi) % (2.0 * pi) - pi)

    def _walls(self) -> Floats:
        middle, length = 0.5 * (self._size + WALL), self._size + 2.0 * WALL
        return np.array(
            [
                [x, y, 0.5 * pi * (y == 0.0), length, WALL]
                for x, y in np.vstack([middle * np.eye(2), -middle * np.eye(2)])
            ]
        )

    def _draw_boxes(self) -> Floats:
        edge = 0.5 * self._size - 0.5
        rows = [
            [
                *self.np_random.uniform(-edge, edge, 2),
                self.np_random.uniform(0.0, pi),
                *self.np_random.uniform(0.2, 0.8, 2),
            ]
            for _ in range(self._boxes)
        ]
        return np.array(rows).reshape(-1, 5)

    def _draw_place(self) -> Floats:
        edge = 0.5 * self._size - 0.5
        for _ in range(ATTEMPTS):
            place = np.array([*self.np_random.uniform(-edge, edge, 2), self.np_random.uniform(-pi, pi)])
            if not self._hull.touches(place[None], self._obstacles, MARGIN):
                return place
        raise ValueError(f"{self._boxes} boxes leave no room for the truck in {ATTEMPTS} attempts.")


def _options(options: Mapping[str, Any] | None) -> dict[str, Floats]:
    found: dict[str, Floats] = {}
    for name, value in (options or {}).items():
        if name not in ("boxes", "start", "goal"):
            raise KeyError(f"there is no option '{name}'; there are boxes, start, goal.")
        array = as_floats(value, name)
        is_right = array.shape == (3,) if name != "boxes" else array.ndim == 2 and array.shape[1] == 5
        if not is_right or not np.isfinite(array).all():
            expected = "3 finite numbers" if name != "boxes" else "finite numbers of shape (n, 5)"
            raise ValueError(f"option '{name}' must be {expected}, but it is {value!r:.200}.")
        found[name] = array
    return found


def _standing(x: float, y: float, yaw: float, length: float, width: float) -> Placed:
    placed: Placed = Box([length, width, HEIGHT]).at(from_axis_angle([0.0, 0.0, 1.0], yaw, [x, y, 0.5 * HEIGHT]))
    return placed


def _outline(x: float, y: float, yaw: float, length: float, width: float) -> Floats:
    corners = 0.5 * np.array([[-length, -width], [length, -width], [length, width], [-length, width]])
    return _placed(corners, np.array([x, y, yaw]))


def _placed(points: Floats, state: Floats) -> Floats:
    c, s = np.cos(state[2]), np.sin(state[2])
    return np.asarray(state[:2] + points @ np.array([[c, s], [-s, c]]))


def _inside(outline: Floats, places: Floats) -> NDArray[np.bool_]:
    """Which places are inside of a convex outline, counterclockwise."""
    along = np.roll(outline, -1, axis=0) - outline
    to = places[..., None, :] - outline
    return np.asarray((along[:, 0] * to[..., 1] - along[:, 1] * to[..., 0] >= 0.0).all(axis=-1))


gymnasium.register("clearance/AckermannParking-v0", "clearance.gym:AckermannParking", max_episode_steps=300)
