"""What the guard sees, for pictures: volumes that links sweep until they stand still."""

from __future__ import annotations

from .mechanisms import Configuration
from .scene import Scene
from .sweep import Swept

__all__ = ["swept_scene"]


def swept_scene(swept: Swept, q: Configuration, frame: str | None = None) -> Scene:
    """Put swept volumes into a scene: those of all links that joints move in one frame, where that is now.

    Parameters
    ----------
    swept : Swept
    q : array_like, (dof,), or mapping of str to float
        The present configuration of the robot.
    frame : str, optional
        A link, see `Swept.frames`; the root unless given. Two links are compared in the last frame that carries both.

    Returns
    -------
    Scene
        Bodies "swept LINK", none of them watched: a ghost for `draw` and `page`.

    Examples
    --------
    >>> slide = Joint("x", "prismatic", "rail", "cart", axis=[1, 0, 0])
    >>> robot = Robot([Link("rail"), Link("cart", Sphere(0.1))], [slide])
    >>> swept_scene(sweep(robot, [0.0], [0.5]), [0.0]).names
    ['swept cart']
    """
    name = swept.robot.root if frame is None else frame
    pose = swept.robot.pose(q, name)
    scene = Scene()
    for link in swept.links:
        if name in swept.frames(link)[1:]:
            scene.add(f"swept {link}", swept.volumes(link, name), pose)
    return scene
