"""`shape == None` raised TypeError instead of being false."""

import pytest

from clearance import Compound, Sphere


@pytest.mark.parametrize("value", [Sphere(1.0), Compound([Sphere(1.0)]), Sphere(1.0).at([1.0, 0, 0])], ids=repr)
def test_shape_could_not_be_compared_with_none(value):
    assert (value == None) is False  # noqa: E711
    assert (value != None) is True  # noqa: E711
    assert None not in [value]
