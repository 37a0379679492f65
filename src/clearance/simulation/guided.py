"""Vehicles that go where they are told, whatever is in their way: kinematic bodies in a world."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from ..poses import from_translation, to_xyzw
from .ackermann import Ackermann
from .descriptions import Model, ModelJoint
from .driving import Handle
from .materials import Material
from .world import World

if TYPE_CHECKING:
    from .scenario import Command

__all__ = ["Guided"]

Floats = NDArray[np.float64]


class Guided(Handle):
    """A model in a world that is moved, not driven. Where it is at a time follows from its commands alone.

    Parameters
    ----------
    model : Model
    world : World
    name : str
        Bodies are called "name/body".
    pose : ndarray, (4, 4)
        Of the model at time zero; a vehicle stands upright.
    commands : sequence of Command
        In the order of their times.

    Examples
    --------
    >>> from clearance.simulation import World, models
    >>> from clearance.simulation.scenario import Command
    >>> world = World()
    >>> truck = Guided(models.monster_truck(), world, "truck", np.eye(4), [Command(speed=1.0)])
    >>> truck.where(2.0).round(6).tolist()
    [2.0, 0.0, 0.0]
    """

    def __init__(self, model: Model, world: World, name: str, pose: Floats, commands: Sequence[Command]) -> None:
        super().__init__(model, world, name, tuple(f"{name}/{body.name}" for body in model.bodies), ())
        self._start, self.commands, self._robot = pose, tuple(commands), model.robot()
        places = {tie.child: tie.point for tie in model.ties}
        self._links = [self._robot.link_names.index(body.name) for body in model.bodies]
        self._link_from_body = np.array(
            [from_translation(-places.get(body.name, np.zeros(3))) @ body.pose for body in model.bodies]
        )
        self._wheels = [(joint, self._wheel(joint)) for joint in model.joints if _moves_a_wheel(joint)]
        for body, at in zip(model.bodies, self.poses_at(world.time), strict=True):
            material = Material(friction=body.friction)
            world.add(f"{name}/{body.name}", body.shape, at, motion="kinematic", material=material, group=name)

    def guide(self, time: float) -> None:
        """Let all bodies get to where they are at a time during the next step."""
        for name, pose in zip(self.names, self.poses_at(time), strict=True):
            self.world.guide(name, pose)

    def where(self, time: float) -> Floats:
        """Tell where a vehicle is at a time, seen from above: x, y and yaw."""
        return self._motion(time)[0]

    def poses_at(self, time: float) -> Floats:
        """Tell where all bodies are at a time: (bodies, 4, 4)."""
        poses = self._robot.poses(self._configuration(time))[self._links] @ self._link_from_body
        if self.model.base == "planar":
            poses[:, 2, 3] += self._start[2, 3]
        return np.asarray(poses)

    def _configuration(self, time: float) -> dict[str, Any]:
        if self.model.base == "floating":
            return {"base": [*self._start[:3, 3], *to_xyzw(self._start)]}
        state, turned, steered = self._motion(time)
        q: dict[str, Any] = {"base": state}
        return q | {
            joint.name: turned[wheel] if joint.role == "drive" else steered[wheel] for joint, wheel in self._wheels
        }

    def _motion(self, time: float) -> tuple[Floats, Floats, Floats]:
        """Pose from above, how far wheels have turned and how they are steered, one command after the other."""
        drive, at = self.model.drive, self._start
        state = np.array([at[0, 3], at[1, 3], np.arctan2(at[1, 0], at[0, 0])])
        wheels = 4 if isinstance(drive, Ackermann) else 2
        turned, steered = np.zeros(wheels), np.zeros(wheels)
        for k, command in enumerate(self.commands):
            until = self.commands[k + 1].time if k + 1 < len(self.commands) else time
            span = min(until, time) - command.time
            if span < 0.0 or drive is None:
                break
            if isinstance(drive, Ackermann):
                steering = np.radians(command.steering_deg)
                state = drive.advance(state, command.speed, steering, span)
                turned = turned + span * drive.wheel_speeds(command.speed, steering)
                steered = drive.wheel_angles(steering)
            else:
                rate = np.radians(command.turn_rate_deg)
                state = drive.advance(state, command.speed, rate, span)
                turned = turned + span * drive.wheel_speeds(command.speed, rate)
        return state, turned, steered

    def _wheel(self, joint: ModelJoint) -> int:
        drive = self.model.drive
        if isinstance(drive, Ackermann):
            return int(np.argmin(np.linalg.norm(drive.wheels - joint.point[:2], axis=1)))
        return 0 if joint.point[1] > 0.0 else 1


def _moves_a_wheel(joint: ModelJoint) -> bool:
    return joint.role in ("drive", "steer") and not joint.is_locked
