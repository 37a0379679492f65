"""What the graphics driver runs for a depth buffer of beams: programs for triangles, and for solids in closed form."""

from math import pi

BODIES_A_ROW = 1024  # of the texture of poses

SHARED = f"""
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

HIT = """
uniform sampler2D beams;
uniform float farthest;
layout(location = 0) out vec2 range_and_body;

void hit(float range, float body) {
    if (!(range >= 0.0 && range <= farthest)) discard;
    range_and_body = vec2(range, body);
    gl_FragDepth = farthest < 1.0e4 ? range / farthest : range / (range + 1.0);
}
"""

RECTANGLE = """
layout(points) in;
layout(triangle_strip, max_vertices = 4) out;

void emit_corner(vec4 from_to, int k) {
    gl_Position = vec4((k & 1) == 0 ? from_to.x : from_to.z, (k & 2) == 0 ? from_to.y : from_to.w, 0.0, 1.0);
    EmitVertex();
}
"""

VERTEX_OF_TRIANGLES = """
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

GEOMETRY_OF_TRIANGLES = """
//RECTANGLE
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
        emit_corner(from_to, k);
    }
}
"""

# Neighbours compute the same products for the edge they share, so that no beam slips through between them.
FRAGMENT_OF_TRIANGLES = """
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

VERTEX_OF_SOLIDS = """
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

GEOMETRY_OF_SOLIDS = """
//RECTANGLE
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
        emit_corner(from_to, k);
    }
}
"""

# A solid is met during an interval of the way: entry and exit. The way starts where the beam passes the middle of the
# solid, so that what is far away loses no digits.
FRAGMENT_OF_SOLIDS = """
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
