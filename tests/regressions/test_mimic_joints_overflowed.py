"""Multipliers that overflow made poses of NaN, which nothing is near to."""

import pytest

import clearance as cl


@pytest.mark.parametrize("multiplier", [1e300, float("inf"), float("nan")])
def test_multiplier_too_large(multiplier):
    with pytest.raises(ValueError, match="mimic"):
        cl.Joint("b", "revolute", "x", "z", mimic=("a", multiplier))


def test_product_of_multipliers_too_large():
    links = [cl.Link(name) for name in "wxyz"]
    joints = [
        cl.Joint("a", "revolute", "w", "x"),
        cl.Joint("b", "revolute", "x", "y", mimic=("a", 1e8)),
        cl.Joint("c", "revolute", "y", "z", mimic=("b", 1e8)),
    ]
    with pytest.raises(ValueError, match="'c'"):
        cl.Robot(links, joints)
