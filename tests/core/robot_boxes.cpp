// A box around a body contains it and is no larger than its axes ask for: flat, thin, huge, tiny, far from its own origin.
//
//     robot_boxes [effort = 1] [seed = 1]
#include "robot_samples.hpp"

using namespace clearance;
using namespace clearance::samples;

namespace {

Tally tally;

double part_of_vector(const Vec3d& v, int k) { return k == 0 ? v.x : k == 1 ? v.y : v.z; }

double highest(const Body& body, const Vec3d& along) {
    double height = -kInf;
    for (const Part& part : body.parts()) height = max_of(height, dot(along, farthest_point(part, along)));
    return height;
}

double area_of(const Vec3d& half) { return half.x * half.y + half.y * half.z + half.z * half.x; }

void check_box(const Body& body, Draw& draw) {
    const OrientedBox box = box_around(body);
    double reach = largest(box.centre);
    std::vector<Vec3d> points = outermost_points(body, draw, 60);
    for (const Part& part : body.parts())
        for (const Vec3d& axis : box.axis)
            points.push_back(farthest_point(part, axis)), points.push_back(farthest_point(part, -axis));
    for (const Vec3d& point : points) reach = max_of(reach, largest(point));
    const double rounding = 64.0 * kEpsilon * reach;
    for (int k = 0; k < 3; ++k) {
        tally.expect(std::fabs(norm_sq(box.axis[k]) - 1.0) < 1e-12, "axes have length one", "%.17g", norm(box.axis[k]));
        tally.expect(std::fabs(dot(box.axis[k], box.axis[(k + 1) % 3])) < 1e-12, "axes are perpendicular");
        const double half = part_of_vector(box.half, k);
        double out = -kInf;
        for (const Vec3d& point : points) out = max_of(out, std::fabs(dot(box.axis[k], point - box.centre)) - half);
        tally.expect(out <= rounding, "the box contains the body", "out by %.3g, reach %.3g", out, reach);
        const double needed = 0.5 * (highest(body, box.axis[k]) + highest(body, -box.axis[k]));
        tally.expect(half <= needed + rounding, "the box is as small as its axes allow", "%.17g, %.17g needed", half,
                     needed);
    }
    Vec3d upright;
    double* const to[3] = {&upright.x, &upright.y, &upright.z};
    for (int k = 0; k < 3; ++k) {
        const Vec3d axis = kNoTurn.row[k];
        *to[k] = 0.5 * (highest(body, axis) + highest(body, -axis));
    }
    tally.expect(area_of(box.half) <= area_of(upright) + 4.0 * rounding * (norm(upright) + rounding),
                 "it is not larger than the upright box");
    tally.expect(norm(box.half) <= 2.0 * norm(upright) + rounding, "it is not absurdly long");
}

// A slanted plate, cylinder or needle: the axes of the only part are the best.
void check_tightness(Draw& draw) {
    tally.context = "one slanted box";
    const Vec3d half{draw.power(-3, 0), draw.power(-3, 0), draw.power(-3, 0)};
    const Body body({part_of(Convex{Box{half}, 0.0}, {draw.rotation(), draw.in_cube()})});
    tally.expect(area_of(box_around(body).half) <= 1.000001 * area_of(half), "a box is its own box");
}

void check_scales(Draw& draw) {
    const int kind = draw.below(4);
    const double size = kind == 0   ? draw.power(-3, 3)
                        : kind == 1 ? draw.power(-12, -6)
                        : kind == 2 ? draw.power(6, 12)
                                    : 1.0;
    tally.context = "size " + std::to_string(size);
    const Body body = drawn_body(draw, size);
    check_box(body, draw);
    std::vector<Part> parts;
    const Pose away{draw.rotation(), size * draw.power(0, 6) * draw.direction()};
    for (const Part& part : body.parts()) parts.push_back(moved(part, away));
    tally.context += ", far from its origin";
    check_box(Body(std::move(parts)), draw);
}

void check_special(Draw& draw) {
    tally.context = "half-space";
    for (const bool is_compound : {false, true}) {
        std::vector<Part> parts{part_of(HalfSpace{{0, 0, 1}, 0.5}, Pose{})};
        if (is_compound) parts.push_back(drawn_element(draw, 1.0, Pose{}));
        const OrientedBox box = box_around(Body(std::move(parts)));
        tally.expect(box.half.x == kInf && box.half.y == kInf && box.half.z == kInf, "its box is infinite");
    }
    tally.context = "a point";
    const Element point{1, {{0, 0, 0}, {0, 0, 0}, {0, 0, 0}}, 0.0};
    check_box(Body({part_of(Convex{point, 0.0}, Pose{})}), draw);
    check_box(Body({part_of(Convex{point, 0.0}, drawn_pose(draw, 1e3))}), draw);
    check_box(Body({part_of(Convex{Box{{0, 0, 0}}, 0.0}, drawn_pose(draw, 1.0))}), draw);
    tally.context = "a sphere";
    check_box(Body({part_of(Convex{Element{1, {{0, 0, 0}, {0, 0, 0}, {0, 0, 0}}, 1.0}, 1.0}, Pose{})}), draw);
    tally.context = "more parts than axes are tried of";
    std::vector<Part> parts;
    for (int k = 0; k < 40; ++k) parts.push_back(drawn_part(draw, 0.1, drawn_pose(draw, 1.0)));
    check_box(Body(std::move(parts)), draw);
}

}  // namespace

int main(int argc, char** argv) {
    const int effort = argc > 1 ? std::atoi(argv[1]) : 1;
    Draw draw(argc > 2 ? std::strtoul(argv[2], nullptr, 10) : 1);
    for (int k = 0; k < 1500 * effort; ++k) check_scales(draw);
    for (int k = 0; k < 200 * effort; ++k) check_tightness(draw);
    for (int k = 0; k < 20 * effort; ++k) check_special(draw);
    return tally.finish();
}
