"""Digits that are followed by something else are looked at once, not once for every digit."""

import pytest

from clearance.safe_xml import parse


@pytest.mark.timeout(60)
def test_long_numbers_are_refused_in_time():
    box = parse(b'<box size="' + b"1" * 300_000 + b'x"/>', "robot.urdf")
    with pytest.raises(ValueError, match="a number was expected"):
        box.number("size")
    assert parse(b'<box size="1."/>', "robot.urdf").number("size") == 1.0
