"""`plane="section"` is for boxes. Meshes, and clouds after them, were let through and raised RuntimeError."""

import pytest

import clearance as cl

GROUND = cl.HalfSpace([0.0, 0.0, 1.0], 0.0)
BODIES = {
    "mesh": cl.Mesh([[0.0, 0.0, -0.05], [1.0, 0.0, 0.2], [0.0, 1.0, 0.2]], [[0, 1, 2]]),
    "cloud": cl.PointCloud([[0.0, 0.0, 0.05]], 0.1),
}


@pytest.mark.parametrize("body", BODIES.values(), ids=BODIES)
def test_section_of_what_is_no_box_is_refused(body):
    with pytest.raises(ValueError, match="boxes on a half-space only"):
        cl.contacts(GROUND, body, plane="section")
    assert len(cl.contacts(GROUND, body, plane="deepest")) == 1
