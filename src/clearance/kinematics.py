"""How links hang together: which is the root, who comes first, and where in a configuration a joint has its values."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from math import inf, pi
from typing import Any

import numpy as np
from numpy.typing import NDArray

from . import _core, poses
from .links import LARGEST, Joint, Link, Mimic

__all__ = ["Kinematics"]

Floats = NDArray[np.float64]


@dataclass(frozen=True)
class _Slot:
    """Where a joint reads its values from: its own, or those of the joint it follows."""

    value: int
    velocity: int
    multiplier: float = 1.0
    offset: float = 0.0


class Kinematics:
    """Links and joints in order, checked, and their tree in the core.

    Parameters
    ----------
    links : sequence of Link
    joints : sequence of Joint
        In the order of configurations.

    Examples
    --------
    >>> arm = Kinematics([Link("a"), Link("b")], [Joint("turn", "revolute", "a", "b")])
    >>> arm.root, arm.dof, arm.joint_names
    ('a', 1, ['turn'])
    """

    def __init__(self, links: Sequence[Link], joints: Sequence[Joint]) -> None:
        self.joints = tuple(joints)
        _check_all("links", Link, links)
        _check_all("joints", Joint, joints)
        if not links:
            raise ValueError("a robot has at least one link.")
        self.root = self._find_root([link.name for link in links])
        self.links = tuple(sorted(links, key=lambda link: link.name != self.root))  # the root comes first
        self.number = {link.name: k for k, link in enumerate(self.links)}
        in_order = self._parents_first()
        self.active = [joint for joint in self.joints if joint.values > 0]
        self.joint_names = [joint.name for joint in self.active]
        slots = self._slots()
        self.dof = sum(joint.values for joint in self.active)
        self.nv = sum(joint.velocities for joint in self.active)
        self.first_value = {joint.name: slots[joint.name].value for joint in self.active}
        self.tree = _core.kinematic_tree(len(self.links), [self._core_joint(joint, slots) for joint in in_order])
        self.frame = {name: self.tree.frame_of(k) for name, k in self.number.items()}
        self.parent_frame = {
            self.frame[joint.child]: self.frame[joint.parent] for joint in in_order if joint.kind != "fixed"
        }

    def limits(self) -> tuple[Floats, Floats, Floats]:
        """Give lower and upper limits of all values, and the largest speeds."""
        lower, upper = (
            np.concatenate([np.empty(0), *(_limit(joint, which) for joint in self.active)])
            for which in ("lower", "upper")
        )
        speeds = [joint.velocity for joint in self.active for _ in range(joint.velocities)]
        return lower, upper, np.array(speeds, dtype=np.float64)

    def neutral(self) -> Floats:
        """Give the configuration of zeros, with quaternions that do not turn."""
        q = np.zeros(self.dof)
        for joint in self.active:
            if joint.quaternion is not None:
                q[self.first_value[joint.name] + joint.values - 1] = 1.0
        return q

    def configuration(self, values: Mapping[str, Any], q: Floats) -> Floats:
        """Put values by name of joint into a configuration."""
        for name, value in values.items():
            if name not in self.first_value:
                raise KeyError(f"there is no joint '{name}' to set; there are {', '.join(self.joint_names)}.")
            first = self.first_value[name]
            count = next(joint.values for joint in self.active if joint.name == name)
            numbers = np.atleast_1d(poses.as_floats(value, f"the value of joint '{name}'"))
            if numbers.shape != (count,) or not np.isfinite(numbers).all():
                raise ValueError(f"joint '{name}' has {count} finite values, but it is set to {value!r:.100}.")
            q[first : first + count] = numbers
        return q

    def random(self, count: int, rng: np.random.Generator) -> Floats:
        """Draw configurations inside the limits."""
        lower, upper, _ = self.limits()
        reach = np.concatenate([np.empty(0), *(_reach(joint) for joint in self.active)])
        low = np.where(np.isfinite(lower), lower, np.where(np.isfinite(upper), upper - 2.0 * reach, -reach))
        high = np.where(np.isfinite(upper), upper, low + 2.0 * reach)
        q = rng.uniform(low, high, size=(count, self.dof))
        for joint in self.active:
            if joint.quaternion is not None:
                first = self.first_value[joint.name] + joint.quaternion.start
                turns = rng.normal(size=(count, 4))
                q[:, first : first + 4] = turns / np.linalg.norm(turns, axis=1, keepdims=True)
        return q

    def _find_root(self, names: Sequence[str]) -> str:
        parents: dict[str, str] = {}
        known = set(names)
        for joint in self.joints:
            for what in ("parent", "child"):
                if getattr(joint, what) not in known:
                    raise ValueError(f"joint '{joint.name}': its {what} '{getattr(joint, what)}' is not a link.")
            if joint.child in parents:
                raise ValueError(
                    f"link '{joint.child}' hangs on two joints, '{parents[joint.child]}' and '{joint.name}'."
                )
            parents[joint.child] = joint.name
        roots = [name for name in names if name not in parents]
        if len(roots) != 1:
            found = ", ".join(f"'{name}'" for name in roots[:8]) or "none: the joints form a circle"
            raise ValueError(f"a robot has one root, a link without a parent, but found {found}.")
        return roots[0]

    def _parents_first(self) -> list[Joint]:
        children: dict[str, list[Joint]] = {}
        for joint in self.joints:
            children.setdefault(joint.parent, []).append(joint)
        ordered: list[Joint] = []
        waiting = [self.root]
        while waiting:
            for joint in children.get(waiting.pop(), []):
                ordered.append(joint)
                waiting.append(joint.child)
        if len(ordered) != len(self.joints):
            circle = sorted({joint.name for joint in self.joints} - {joint.name for joint in ordered})
            raise ValueError(f"joints form a circle: {', '.join(circle[:8])}.")
        return ordered

    def _slots(self) -> dict[str, _Slot]:
        slots: dict[str, _Slot] = {}
        value = velocity = 0
        for joint in self.active:
            slots[joint.name] = _Slot(value, velocity)
            value, velocity = value + joint.values, velocity + joint.velocities
        by_name = {joint.name: joint for joint in self.joints}
        for joint in self.joints:
            if joint.mimic is not None:
                slots[joint.name] = self._followed(joint, joint.mimic, by_name, slots)
        return slots

    def _followed(self, joint: Joint, mimic: Mimic, by_name: Mapping[str, Joint], slots: Mapping[str, _Slot]) -> _Slot:
        multiplier, offset = mimic.multiplier, mimic.offset
        seen = {joint.name}
        while True:
            master = by_name.get(mimic.joint)
            if master is None or master.kind not in ("revolute", "continuous", "prismatic"):
                raise ValueError(f"joint '{joint.name}' mimics '{mimic.joint}', which is no joint with one value.")
            if master.name in seen:
                raise ValueError(f"joint '{joint.name}' mimics itself, by way of '{master.name}'.")
            if master.mimic is None:
                slot = slots[master.name]
                return _Slot(slot.value, slot.velocity, multiplier, offset)
            seen.add(master.name)
            mimic = master.mimic
            multiplier, offset = multiplier * mimic.multiplier, multiplier * mimic.offset + offset
            if not (abs(multiplier) <= LARGEST and abs(offset) <= LARGEST):
                raise ValueError(f"joint '{joint.name}' follows '{mimic.joint}' by more than {LARGEST:g} times.")

    def _core_joint(self, joint: Joint, slots: Mapping[str, _Slot]) -> tuple[Any, ...]:
        slot = slots.get(joint.name, _Slot(0, 0))
        parent, child = self.number[joint.parent], self.number[joint.child]
        place = (joint.kind, parent, child, joint.origin, joint.axis)
        return (*place, slot.value, slot.velocity, slot.multiplier, slot.offset)


def _check_all(what: str, kind: type[Link] | type[Joint], items: Sequence[Any]) -> None:
    """Refuse what is no link or joint, and names that come twice."""
    seen: set[str] = set()
    for item in items:
        if not isinstance(item, kind):
            raise TypeError(f"{what} must be of type {kind.__name__}, but one is {item!r:.100}.")
        if item.name in seen:
            raise ValueError(f"two {what} have the name '{item.name}'.")
        seen.add(item.name)


def _limit(joint: Joint, which: str) -> Floats:
    sign = -1.0 if which == "lower" else 1.0
    if joint.kind == "floating":
        return sign * np.array([inf, inf, inf, 1.0, 1.0, 1.0, 1.0])
    if joint.kind == "ball":
        return sign * np.ones(4)
    if joint.kind in ("planar", "continuous"):
        return np.full(joint.values, sign * inf)
    return np.array([getattr(joint, which)], dtype=np.float64)


def _reach(joint: Joint) -> Floats:
    """How far random values go where there are no limits."""
    if joint.kind == "planar":
        return np.array([1.0, 1.0, pi])
    return np.full(joint.values, pi if joint.kind in ("revolute", "continuous") else 1.0)
