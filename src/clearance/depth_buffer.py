"""Ranges of many beams from a depth buffer: all bodies are drawn at once, one pixel for each beam.

Beams at equal angles are no picture of a pinhole camera, and no straight projection makes them one. So a geometry
shader lays a rectangle of the grid over every triangle and every solid that surely holds all beams that could meet it,
and for each pixel a fragment shader meets that very beam with the triangle or the solid. Which is nearest decides the
depth buffer. Curved solids are met in closed form; nothing is cut into facets, nothing is interpolated between beams.

Arithmetic is single precision, relative to the sensor: the error of a range is a few 1e-7 of the distances involved,
divided by the cosine of the angle at which the beam meets the surface.

It needs moderngl and EGL, but neither a graphics card nor a display: `pip install clearance[scan]`.
"""

from __future__ import annotations

import threading
from collections.abc import Collection, Sequence
from dataclasses import dataclass
from math import inf, pi
from typing import Any, TypeAlias
from weakref import WeakKeyDictionary

import numpy as np
from numpy.typing import NDArray

from .depth_pieces import KINDS, Solid, pieces_of
from .depth_shaders import (
    BODIES_A_ROW,
    FRAGMENT_OF_SOLIDS,
    FRAGMENT_OF_TRIANGLES,
    GEOMETRY_OF_SOLIDS,
    GEOMETRY_OF_TRIANGLES,
    HIT,
    RECTANGLE,
    SHARED,
    VERTEX_OF_SOLIDS,
    VERTEX_OF_TRIANGLES,
)
from .shapes import Shape
from .surfaces import leaves

__all__ = ["DepthBuffer", "Grid", "depth_buffer"]

Floats: TypeAlias = NDArray[np.float64]

MOST_KEPT = 4  # sets of bodies whose triangles stay with the graphics driver


@dataclass(frozen=True, eq=False)
class Grid:
    """Beams in rows and columns, and how to find the row and column of a direction.

    Attributes
    ----------
    directions : ndarray, (rows, columns, 3)
        Unit vectors in the frame of the sensor, x forward, y left, z up.
    is_pinhole : bool
        Whether columns and rows are equal steps of -y / x and -z / x, else of azimuth and elevation.
    start, step : tuple of float
        Of the first column and row, and from one to the next.
    """

    directions: Floats
    is_pinhole: bool
    start: tuple[float, float]
    step: tuple[float, float]

    @property
    def is_round(self) -> bool:
        """Whether a body may be seen at both ends of a row; from outside none is wider than half a turn."""
        return not self.is_pinhole and (self.directions.shape[1] - 1) * self.step[0] > pi - 4.0 * self.step[0]


def depth_buffer() -> DepthBuffer:
    """Give the depth buffer of this thread, made when it is first asked for.

    Returns
    -------
    DepthBuffer

    Raises
    ------
    ImportError, OSError
        Where moderngl, EGL or a driver for it is missing.

    Examples
    --------
    >>> depth_buffer() is depth_buffer()  # doctest: +SKIP
    True
    """
    if not hasattr(_of_thread, "buffer"):
        _of_thread.buffer = DepthBuffer()
    buffer: DepthBuffer = _of_thread.buffer
    return buffer


_of_thread = threading.local()


class DepthBuffer:
    """A place to draw beams in, and the bodies that were drawn last. It belongs to the thread that made it."""

    def __init__(self) -> None:
        moderngl = _moderngl()
        try:
            self._context = moderngl.create_context(standalone=True, backend="egl", require=410)
        except Exception as error:  # whatever loading a graphics driver may raise
            raise OSError(f"there is no OpenGL 4.1 without a display here: {error}") from error
        self._context.gc_mode = "auto"
        common = {"SHARED": SHARED, "RECTANGLE": RECTANGLE, "HIT": HIT}
        self._of_triangles = self._program(VERTEX_OF_TRIANGLES, GEOMETRY_OF_TRIANGLES, FRAGMENT_OF_TRIANGLES, common)
        self._of_solids = self._program(VERTEX_OF_SOLIDS, GEOMETRY_OF_SOLIDS, FRAGMENT_OF_SOLIDS, common)
        self._drawings: dict[tuple[int, ...], _Drawing] = {}
        self._targets: WeakKeyDictionary[Grid, tuple[Any, Any]] = WeakKeyDictionary()

    @property
    def renderer(self) -> str:
        """What draws: a graphics card, or the processor."""
        return str(self._context.info["GL_RENDERER"])

    def ranges(
        self, shapes: Sequence[Shape], poses: Floats, grid: Grid, farthest: float = inf, hidden: Collection[int] = ()
    ) -> tuple[NDArray[np.float32], NDArray[np.int32]]:
        """Measure how far away the nearest body is along every beam.

        Parameters
        ----------
        shapes : sequence of Shape
        poses : ndarray, (n, 4, 4)
            `sensor_from_body` of each of them.
        grid : Grid
        farthest : float
            In metres: the far clipping plane, here a sphere.
        hidden : collection of int
            Bodies that are not drawn.

        Returns
        -------
        ranges : ndarray of float32, (rows, columns)
            In metres, inf where there is nothing, 0 for a sensor inside of a solid with a closed form.
        index : ndarray of int32, (rows, columns)
            Which body, -1 where there is none.
        """
        with self._context:
            beams, target = self._target(grid)
            target.use()
            self._context.enable_only(_moderngl().DEPTH_TEST)
            target.clear(red=inf, green=-1.0, depth=1.0)
            at = self._poses(poses, hidden)
            at.use(0)
            beams.use(1)
            self._draw(self._drawing(shapes), grid, farthest)
            read = np.frombuffer(target.read(components=2, dtype="f4"), dtype=np.float32)
        ranges, index = np.moveaxis(read.reshape(*grid.directions.shape[:2], 2), -1, 0)
        return ranges.copy(), index.astype(np.int32)

    def _draw(self, drawing: _Drawing, grid: Grid, farthest: float) -> None:
        for program, vertices, count in (
            (self._of_triangles, drawing.triangles, drawing.triangle_count),
            (self._of_solids, drawing.solids, drawing.solid_count),
        ):
            for is_again in [False, True][: 1 + grid.is_round] if count else []:
                self._set(program, grid, farthest, is_again)
                vertices.render(_moderngl().POINTS, vertices=count)

    def _program(self, vertex: str, geometry: str, fragment: str, shared: dict[str, str]) -> Any:
        sources = []
        for source in (vertex, geometry, fragment):
            for name, text in shared.items():
                source = source.replace(f"//{name}", text)
            sources.append("#version 410 core\n" + source)
        return self._context.program(vertex_shader=sources[0], geometry_shader=sources[1], fragment_shader=sources[2])

    def _set(self, program: Any, grid: Grid, farthest: float, is_again: bool) -> None:
        rows, columns, _ = grid.directions.shape
        values = {
            "poses": 0,
            "beams": 1,
            "is_pinhole": grid.is_pinhole,
            "is_again": is_again,
            "start": grid.start,
            "step_": grid.step,
            "size": (float(columns), float(rows)),
            "farthest": min(farthest, 3.0e38),
        }
        for name, value in values.items():
            if name in program:
                program[name].value = value

    def _target(self, grid: Grid) -> tuple[Any, Any]:
        """The directions of beams as a texture, and what they are drawn into."""
        if grid not in self._targets:
            rows, columns, _ = grid.directions.shape
            most = self._context.info["GL_MAX_TEXTURE_SIZE"]
            if max(rows, columns) > most:
                raise ValueError(
                    f"a depth buffer has at most {most} rows and columns, but {rows} x {columns} are asked."
                )
            size, directions = (columns, rows), grid.directions.astype(np.float32)
            beams = self._context.texture(size, 3, directions.tobytes(), dtype="f4")
            colours = self._context.texture(size, 2, dtype="f4")
            self._targets[grid] = beams, self._context.framebuffer([colours], self._context.depth_texture(size))
        return self._targets[grid]

    def _poses(self, poses: Floats, hidden: Collection[int]) -> Any:
        """Three rows of each pose, and whether the body is drawn at all."""
        height, width = max(1, -(-len(poses) // BODIES_A_ROW)), max(1, min(len(poses), BODIES_A_ROW))
        texels = np.zeros((height * width, 4, 4), dtype=np.float32)
        texels[: len(poses), :3] = poses[:, :3]
        texels[: len(poses), 3, 0] = 1.0
        texels[list(hidden), 3, 0] = 0.0
        return self._context.texture((4 * width, height), 4, texels.tobytes(), dtype="f4")

    def _drawing(self, shapes: Sequence[Shape]) -> _Drawing:
        key = tuple(map(id, shapes))
        if key not in self._drawings:
            while len(self._drawings) >= MOST_KEPT:
                del self._drawings[next(iter(self._drawings))]
            self._drawings[key] = _Drawing(self._context, self._of_triangles, self._of_solids, shapes)
        return self._drawings[key]


class _Drawing:
    """Triangles and solids of several bodies, handed to the graphics driver."""

    def __init__(self, context: Any, of_triangles: Any, of_solids: Any, shapes: Sequence[Shape]) -> None:
        self.shapes = list(shapes)  # they live as long as they are known by their addresses
        triangles, owners = [np.empty((0, 3, 3))], [np.empty(0)]
        solids: list[Solid] = []
        owners_of_solids: list[int] = []
        for k, shape in enumerate(shapes):
            for leaf, pose in leaves(shape, np.eye(4)):
                flat, curved = pieces_of(leaf)
                triangles.append(flat @ pose[:3, :3].T + pose[:3, 3])
                owners.append(np.full(len(flat), float(k)))
                solids.extend(solid._replace(pose=pose @ solid.pose) for solid in curved)
                owners_of_solids.extend([k] * len(curved))
        self.triangle_count, self.solid_count = sum(map(len, triangles)), len(solids)
        corners = np.concatenate(triangles).reshape(-1, 9)
        self.triangles = _array(context, of_triangles, [(corners, 3)], np.concatenate(owners), "abc")
        frames = np.array([solid.pose[:3] for solid in solids]).reshape(-1, 12)
        halves = np.array([[*solid.half, KINDS[solid.kind]] for solid in solids]).reshape(-1, 4)
        self.solids = _array(
            context, of_solids, [(frames, 4), (halves, 4)], np.array(owners_of_solids, dtype=np.float64), "xyzh"
        )


def _array(context: Any, program: Any, columns: list[tuple[Floats, int]], owners: Floats, names: str) -> Any:
    """A vertex for each row: its numbers in attributes of some width, and the body that it belongs to."""
    rows = np.concatenate([*(column for column, _ in columns), owners.reshape(-1, 1)], axis=1).astype(np.float32)
    layout = " ".join(f"{width}f" for column, width in columns for _ in range(column.shape[1] // width))
    if not len(rows):
        return None
    return context.vertex_array(program, [(context.buffer(rows.tobytes()), f"{layout} 1f", *names, "owner")])


def _moderngl() -> Any:
    try:
        import moderngl
    except ImportError as error:
        raise ImportError("a depth buffer needs moderngl; get it with: pip install clearance[scan]") from error
    return moderngl
