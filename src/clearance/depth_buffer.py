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

import itertools
import threading
from collections.abc import Collection, Sequence
from dataclasses import dataclass
from math import inf, pi
from typing import Any, NamedTuple, TypeAlias
from weakref import WeakKeyDictionary

import numpy as np
from numpy.typing import NDArray

from .shapes import Box, Cone, ConvexHull, Cylinder, Ellipsoid, HalfSpace, PointCloud, Shape
from .surfaces import is_surface, leaves, surface

__all__ = ["DepthBuffer", "Grid", "depth_buffer"]

Floats: TypeAlias = NDArray[np.float64]

MOST_KEPT = 4  # sets of bodies whose triangles stay with the graphics driver
BODIES_A_ROW = 1024  # of the texture of poses
KINDS = {"box": 0, "ellipsoid": 1, "cylinder": 2, "cone": 3, "capsule": 4, "half-space": 5}


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


class _Solid(NamedTuple):
    """A curved solid or a box: one of `KINDS`, its frame, and half its extent along the axes of that."""

    kind: str
    pose: Floats
    half: Floats


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
        common = {"SHARED": _SHARED, "HIT": _HIT}
        self._of_triangles = self._program(_VERTEX_OF_TRIANGLES, _GEOMETRY_OF_TRIANGLES, _FRAGMENT_OF_TRIANGLES, common)
        self._of_solids = self._program(_VERTEX_OF_SOLIDS, _GEOMETRY_OF_SOLIDS, _FRAGMENT_OF_SOLIDS, common)
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
        solids: list[_Solid] = []
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


def pieces_of(shape: Shape) -> tuple[Floats, list[_Solid]]:
    """Cut a shape that is no compound into triangles (m, 3, 3) and solids, whose union it is as seen from outside."""
    none = np.empty((0, 3, 3))
    if is_surface(shape):
        return shape.vertices[shape.faces], []
    if isinstance(shape, Box):
        return none, [_Solid("box", np.eye(4), 0.5 * np.array(shape.size))]
    if isinstance(shape, Ellipsoid):
        return none, [_Solid("ellipsoid", np.eye(4), np.array(shape.radii))]
    if isinstance(shape, Cylinder | Cone):
        half = np.array([shape.radius, shape.radius, 0.5 * shape.length])
        return none, [_Solid("cylinder" if isinstance(shape, Cylinder) else "cone", np.eye(4), half)]
    if isinstance(shape, HalfSpace):
        length_sq = float(shape.normal @ shape.normal)
        frame = _frame_along(np.asarray(shape.normal), shape.offset / length_sq * np.asarray(shape.normal))
        return none, [_Solid("half-space", frame, np.ones(3))]
    if isinstance(shape, PointCloud):
        return none, [_ball(point, shape.radius) for point in shape.points]
    if shape.elements:
        ((core, radius),) = shape.elements
        return _swept(core, np.array([[0, 1, 2]] if len(core) == 3 else np.empty((0, 3), dtype=np.int64)), radius)
    if isinstance(shape, ConvexHull):
        return _hull(shape)
    raise TypeError(f"a depth buffer cannot draw a {type(shape).__name__}.")


def _hull(shape: ConvexHull) -> tuple[Floats, list[_Solid]]:
    """Faces of a hull, and the balls and capsules that round it; points in a plane get some thickness."""
    hull = surface(ConvexHull(shape.points))
    corners, faces = np.asarray(hull.vertices), np.asarray(hull.faces)
    if shape.radius == 0.0:
        return corners[faces], []
    return _swept(corners, faces, shape.radius)


def _swept(core: Floats, faces: NDArray[np.int64], radius: float) -> tuple[Floats, list[_Solid]]:
    """Sweep corners, edges and faces by a ball: balls, capsules, and faces moved out to both sides."""
    triangles = core[faces]
    if radius == 0.0 and len(faces):
        return triangles, []
    normals = np.cross(triangles[:, 1] - triangles[:, 0], triangles[:, 2] - triangles[:, 0])
    normals /= np.maximum(np.linalg.norm(normals, axis=1, keepdims=True), np.finfo(np.float64).tiny)
    shift = radius * normals[:, None]
    edges = {tuple(sorted((int(face[i]), int(face[i - 1])))) for face in faces for i in range(3)}
    pairs = edges or set(itertools.combinations(range(len(core)), 2))
    solids = [_capsule(core[i], core[j], radius) for i, j in pairs] or [_ball(core[0], radius)]
    return np.concatenate([triangles + shift, triangles - shift]), solids


def _ball(centre: Floats, radius: float) -> _Solid:
    pose = np.eye(4)
    pose[:3, 3] = centre
    return _Solid("ellipsoid", pose, np.full(3, radius))


def _capsule(p: Floats, q: Floats, radius: float) -> _Solid:
    length = float(np.linalg.norm(q - p))
    if length == 0.0:
        return _ball(p, radius)
    return _Solid("capsule", _frame_along(q - p, 0.5 * (p + q)), np.array([radius, radius, 0.5 * length + radius]))


def _frame_along(axis: Floats, origin: Floats) -> Floats:
    """A pose whose z points along an axis."""
    z = axis / np.linalg.norm(axis)
    x = np.cross(z, np.eye(3)[np.argmin(np.abs(z))])
    x /= np.linalg.norm(x)
    pose = np.eye(4)
    pose[:3] = np.stack([x, np.cross(z, x), z, origin], axis=1)
    return pose


def _moderngl() -> Any:
    try:
        import moderngl
    except ImportError as error:
        raise ImportError("a depth buffer needs moderngl; get it with: pip install clearance[scan]") from error
    return moderngl


# What the graphics driver runs. ---------------------------------------------------------------------------------------

_SHARED = f"""
const float PI = {pi!r};
uniform sampler2D poses;
uniform bool is_pinhole;
uniform vec2 start;  // of the first column and row, and steps between them
uniform vec2 step_;
uniform vec2 size;
uniform bool is_again;

bool is_drawn(int body) {{
    return texelFetch(poses, ivec2(4 * (body % {BODIES_A_ROW}) + 3, body / {BODIES_A_ROW}), 0).x > 0.5;
}}

mat4 pose_of(int body) {{
    ivec2 at = ivec2(4 * (body % {BODIES_A_ROW}), body / {BODIES_A_ROW});
    mat4 rows;
    for (int k = 0; k < 3; ++k) rows[k] = texelFetch(poses, at + ivec2(k, 0), 0);
    rows[3] = vec4(0.0, 0.0, 0.0, 1.0);
    return transpose(rows);
}}

// Rows and columns that surely hold all beams into the convex hull of some points: from and to, not clipped.
vec4 covered(vec3 points[8], int count) {{
    vec3 mean = vec3(0.0);
    for (int k = 0; k < count; ++k) mean += points[k];
    vec4 all = vec4(-1.0e6, -1.0e6, 1.0e6, 1.0e6);
    if (is_pinhole) {{
        vec2 low = vec2(1.0e30), high = vec2(-1.0e30);
        float nearest = 1.0e30, farthest_x = -1.0e30, extent = 0.0;
        for (int k = 0; k < count; ++k) {{
            nearest = min(nearest, points[k].x);
            farthest_x = max(farthest_x, points[k].x);
            extent = max(extent, length(points[k]));
            vec2 seen = -points[k].yz / points[k].x;
            low = min(low, seen);
            high = max(high, seen);
        }}
        if (farthest_x < 0.0) return vec4(1.0, 1.0, -1.0, -1.0);
        if (nearest < 1.0e-4 * extent) return all;
        return vec4((low - start) / step_, (high - start) / step_);
    }}
    // No hull can go round the axis while all its points lie on one side of it.
    float length_of_mean = length(mean.xy);
    vec2 ahead = length_of_mean > 0.0 ? mean.xy / length_of_mean : vec2(1.0, 0.0);
    float nearest = 1.0e30, farthest_across = 0.0;
    vec2 left_right = vec2(1.0e30, -1.0e30), height = vec2(1.0e30, -1.0e30);
    for (int k = 0; k < count; ++k) {{
        vec2 p = points[k].xy;
        float forward = dot(p, ahead);
        float angle = atan(ahead.x * p.y - ahead.y * p.x, forward);
        left_right = vec2(min(left_right.x, angle), max(left_right.y, angle));
        height = vec2(min(height.x, points[k].z), max(height.y, points[k].z));
        nearest = min(nearest, forward);
        farthest_across = max(farthest_across, length(p));
    }}
    bool is_aside = nearest > 1.0e-4 * (farthest_across + abs(height.x) + abs(height.y));
    if (!is_aside) nearest = 0.0;
    float azimuth = atan(ahead.y, ahead.x);
    vec2 sideways = is_aside ? azimuth + left_right : vec2(-1.0e6, 1.0e6);
    float bottom = atan(height.x, height.x < 0.0 ? nearest : farthest_across);
    float top = atan(height.y, height.y > 0.0 ? nearest : farthest_across);
    vec2 columns = (sideways - start.x) / step_.x;
    vec2 rows = (vec2(bottom, top) - start.y) / step_.y;
    return vec4(columns.x, rows.x, columns.y, rows.y);
}}

// A rectangle with a margin of a pixel all round, inside the grid, as clip coordinates; empty ones are of no size.
// What reaches beyond half a turn is seen again at the other end of the grid: that is drawn another time.
vec4 clipped(vec4 from_to) {{
    bool is_all_round = from_to.z - from_to.x > 1.0e5;
    if (is_again && is_all_round) return vec4(0.0);
    float middle = 0.5 * (from_to.x + from_to.z) + start.x / step_.x;
    vec2 shift = vec2(is_again ? (middle > 0.0 ? -2.0 : 2.0) * PI / step_.x : 0.0, 0.0);
    vec2 low = max(floor(from_to.xy + shift - 0.5), vec2(0.0));
    vec2 high = min(ceil(from_to.zw + shift + 1.5), size);
    if (!(low.x < high.x && low.y < high.y)) return vec4(0.0);
    return vec4(2.0 * low / size - 1.0, 2.0 * high / size - 1.0);
}}
"""

_HIT = """
uniform sampler2D beams;
uniform float farthest;
layout(location = 0) out vec2 range_and_body;

void hit(float range, float body) {
    if (!(range >= 0.0 && range <= farthest)) discard;
    range_and_body = vec2(range, body);
    gl_FragDepth = farthest < 1.0e4 ? range / farthest : range / (range + 1.0);
}
"""

_VERTEX_OF_TRIANGLES = """
//SHARED
in vec3 a, b, c;
in float owner;
out Triangle { vec3 a, b, c; vec4 from_to; float owner; } triangle;

void main() {
    mat4 pose = pose_of(int(owner));
    vec3 points[8];
    points[0] = triangle.a = (pose * vec4(a, 1.0)).xyz;
    points[1] = triangle.b = (pose * vec4(b, 1.0)).xyz;
    points[2] = triangle.c = (pose * vec4(c, 1.0)).xyz;
    triangle.from_to = is_drawn(int(owner)) ? clipped(covered(points, 3)) : vec4(0.0);
    triangle.owner = owner;
}
"""

_GEOMETRY_OF_TRIANGLES = """
layout(points) in;
layout(triangle_strip, max_vertices = 4) out;
in Triangle { vec3 a, b, c; vec4 from_to; float owner; } triangle[];
flat out vec3 corner_a, corner_b, corner_c;
flat out float body;

void main() {
    vec4 from_to = triangle[0].from_to;
    if (from_to.x == from_to.z) return;
    for (int k = 0; k < 4; ++k) {
        corner_a = triangle[0].a;
        corner_b = triangle[0].b;
        corner_c = triangle[0].c;
        body = triangle[0].owner;
        gl_Position = vec4((k & 1) == 0 ? from_to.x : from_to.z, (k & 2) == 0 ? from_to.y : from_to.w, 0.0, 1.0);
        EmitVertex();
    }
}
"""

# Neighbours compute the same products for the edge they share, so that no beam slips through between them.
_FRAGMENT_OF_TRIANGLES = """
//HIT
flat in vec3 corner_a, corner_b, corner_c;
flat in float body;

void main() {
    vec3 beam = texelFetch(beams, ivec2(gl_FragCoord.xy), 0).xyz;
    vec3 u = normalize(cross(beam, abs(beam.z) < 0.9 ? vec3(0.0, 0.0, 1.0) : vec3(1.0, 0.0, 0.0)));
    vec3 v = cross(beam, u);
    precise vec2 a = vec2(dot(corner_a, u), dot(corner_a, v));
    precise vec2 b = vec2(dot(corner_b, u), dot(corner_b, v));
    precise vec2 c = vec2(dot(corner_c, u), dot(corner_c, v));
    precise float of_a = b.x * c.y - b.y * c.x;
    precise float of_b = c.x * a.y - c.y * a.x;
    precise float of_c = a.x * b.y - a.y * b.x;
    bool is_left = of_a >= 0.0 && of_b >= 0.0 && of_c >= 0.0;
    bool is_right = of_a <= 0.0 && of_b <= 0.0 && of_c <= 0.0;
    float whole = of_a + of_b + of_c;
    if (!(is_left || is_right) || whole == 0.0) discard;
    hit((of_a * dot(corner_a, beam) + of_b * dot(corner_b, beam) + of_c * dot(corner_c, beam)) / whole, body);
}
"""

_VERTEX_OF_SOLIDS = """
//SHARED
in vec4 x, y, z;  // rows of the pose in the frame of the body
in vec4 h;  // half extents, and the kind
in float owner;
out Solid { mat3 turn_of; vec3 eye; vec4 half_, from_to; float owner; } solid;

void main() {
    mat4 pose = pose_of(int(owner)) * transpose(mat4(x, y, z, vec4(0.0, 0.0, 0.0, 1.0)));
    vec3 points[8];
    for (int k = 0; k < 8; ++k) {
        vec3 corner = h.xyz * vec3((k & 1) == 0 ? -1.0 : 1.0, (k & 2) == 0 ? -1.0 : 1.0, (k & 4) == 0 ? -1.0 : 1.0);
        points[k] = (pose * vec4(corner, 1.0)).xyz;
    }
    solid.turn_of = transpose(mat3(pose));
    solid.eye = -(solid.turn_of * pose[3].xyz);
    bool is_all_round = h.w > 4.5 || all(lessThanEqual(abs(solid.eye), 1.001 * h.xyz));
    vec4 from_to = is_all_round ? vec4(-1.0e6, -1.0e6, 1.0e6, 1.0e6) : covered(points, 8);
    solid.from_to = is_drawn(int(owner)) ? clipped(from_to) : vec4(0.0);
    solid.half_ = h;
    solid.owner = owner;
}
"""

_GEOMETRY_OF_SOLIDS = """
layout(points) in;
layout(triangle_strip, max_vertices = 4) out;
in Solid { mat3 turn_of; vec3 eye; vec4 half_, from_to; float owner; } solid[];
flat out mat3 turn_of;
flat out vec3 eye;
flat out vec4 half_;
flat out float body;

void main() {
    vec4 from_to = solid[0].from_to;
    if (from_to.x == from_to.z) return;
    for (int k = 0; k < 4; ++k) {
        turn_of = solid[0].turn_of;
        eye = solid[0].eye;
        half_ = solid[0].half_;
        body = solid[0].owner;
        gl_Position = vec4((k & 1) == 0 ? from_to.x : from_to.z, (k & 2) == 0 ? from_to.y : from_to.w, 0.0, 1.0);
        EmitVertex();
    }
}
"""

# A solid is met during an interval of the way: entry and exit. The way starts where the beam passes the middle of the
# solid, so that what is far away loses no digits.
_FRAGMENT_OF_SOLIDS = """
//HIT
const float FAR = 3.0e38;
const vec2 ALWAYS = vec2(-FAR, FAR), NEVER = vec2(FAR, -FAR);
flat in mat3 turn_of;
flat in vec3 eye;
flat in vec4 half_;
flat in float body;

vec2 both(vec2 one, vec2 other) { return vec2(max(one.x, other.x), min(one.y, other.y)); }

vec2 between(float at, float speed, float bound) {
    if (speed == 0.0) return abs(at) <= bound ? ALWAYS : NEVER;
    vec2 times = (vec2(-bound, bound) - at) / speed;
    return vec2(min(times.x, times.y), max(times.x, times.y));
}

// Where |from + t * along| <= 1, for points or for their distances from an axis.
vec2 in_ball(vec3 from, vec3 along) {
    float along_sq = dot(along, along);
    if (along_sq == 0.0) return dot(from, from) <= 1.0 ? ALWAYS : NEVER;
    float middle = -dot(from, along) / along_sq;
    vec3 nearest = from + middle * along;
    float left = 1.0 - dot(nearest, nearest);
    if (left < 0.0) return NEVER;
    float reach = sqrt(left / along_sq);
    return middle + vec2(-reach, reach);
}

vec2 in_cone(vec3 from, vec3 along) {
    float slope = half_.x / (2.0 * half_.z), below = half_.z - from.z;
    float a = dot(along.xy, along.xy) - slope * slope * along.z * along.z;
    float b = dot(from.xy, along.xy) + slope * slope * below * along.z;
    float c = dot(from.xy, from.xy) - slope * slope * below * below;
    float root = b * b - a * c;
    if (root < 0.0) return NEVER;
    float q = -(b + (b < 0.0 ? -sqrt(root) : sqrt(root)));
    float one = a == 0.0 ? (q < 0.0 ? -FAR : FAR) : q / a, other = q == 0.0 ? one : c / q;
    vec2 times = vec2(min(one, other), max(one, other));
    if (a > 0.0) return times;
    return along.z < 0.0 ? vec2(times.y, FAR) : vec2(-FAR, times.x);
}

vec2 in_capsule(vec3 from, vec3 along) {
    float radius = half_.x, length_ = half_.z - radius;
    vec2 all_of_it = both(in_ball(vec3(from.xy, 0.0) / radius, vec3(along.xy, 0.0) / radius),
                          between(from.z, along.z, length_));
    if (all_of_it.x > all_of_it.y) all_of_it = NEVER;
    for (float end = -1.0; end <= 1.0; end += 2.0) {
        vec2 ball = in_ball((from - vec3(0.0, 0.0, end * length_)) / radius, along / radius);
        if (ball.x <= ball.y) all_of_it = vec2(min(all_of_it.x, ball.x), max(all_of_it.y, ball.y));
    }
    return all_of_it;
}

void main() {
    vec3 along = turn_of * texelFetch(beams, ivec2(gl_FragCoord.xy), 0).xyz;
    int kind = int(half_.w);
    float middle = kind == 5 ? 0.0 : -dot(eye, along);
    vec3 from = eye + middle * along;
    vec2 times = between(from.z, along.z, half_.z);
    if (kind == 0) times = both(times, both(between(from.x, along.x, half_.x), between(from.y, along.y, half_.y)));
    if (kind == 1) times = in_ball(from / half_.xyz, along / half_.xyz);
    if (kind == 2) times = both(times, in_ball(vec3(from.xy, 0.0) / half_.x, vec3(along.xy, 0.0) / half_.x));
    if (kind == 3) times = both(times, in_cone(from, along));
    if (kind == 4) times = in_capsule(from, along);
    if (kind == 5) times = along.z == 0.0 ? (from.z <= 0.0 ? ALWAYS : NEVER)
                         : along.z < 0.0 ? vec2(-from.z / along.z, FAR) : vec2(-FAR, -from.z / along.z);
    if (times.x > times.y || middle + times.y < 0.0) discard;
    hit(max(middle + times.x, 0.0), body);
}
"""
