#include "motion/swept_hull.hpp"

#include <cmath>
#include <numbers>
#include <stdexcept>

#include "convex/inner_points.hpp"

namespace clearance {
namespace {

constexpr double kPi = std::numbers::pi;
constexpr int kSides = 8;  // of the prism around a cylinder

void add_ring(std::vector<Vec3d>& points, double radius, double z) {
    const double around = radius / std::cos(kPi / kSides) * (1.0 + 4.0 * kEpsilon);
    for (int k = 0; k < kSides; ++k) {
        const double angle = 2.0 * kPi * k / kSides;
        points.push_back({around * std::cos(angle), around * std::sin(angle), z});
    }
}

void add_corners(std::vector<Vec3d>& points, const Vec3d& half) {
    for (const double x : {-half.x, half.x})
        for (const double y : {-half.y, half.y})
            for (const double z : {-half.z, half.z}) points.push_back({x, y, z});
}

struct PointsOf {
    std::vector<Vec3d>& points;

    void operator()(const Element& core) { points.assign(core.vertex, core.vertex + core.count); }
    void operator()(const Box& core) { add_corners(points, core.half); }
    void operator()(const Cylinder& core) {
        for (const double z : {-core.half_length, core.half_length}) add_ring(points, core.radius, z);
    }
    void operator()(const Cone& core) {
        add_ring(points, core.radius, -core.half_length);
        points.push_back({0, 0, core.half_length});
    }
    void operator()(const Ellipsoid& core) {
        const double off = core.taken;
        add_corners(points, {core.radii.x - off, core.radii.y - off, core.radii.z - off});
    }
    void operator()(const HullPointer& core) { points = without_inner_points(core->points(), core->ball().centre); }
};

std::vector<Vec3d> corners_of(const Mesh& mesh) {
    std::vector<bool> is_corner(mesh.vertices.size());
    for (const Face& face : mesh.faces)
        for (const auto vertex : face) is_corner[static_cast<std::size_t>(vertex)] = true;
    std::vector<Vec3d> corners;
    for (std::size_t k = 0; k < is_corner.size(); ++k)
        if (is_corner[k]) corners.push_back(mesh.vertices[k]);
    return without_inner_points(corners, mesh.ball.centre);
}

// A ball that points are swept by so that they cover what they stand for, and how much farther out than that they may be.
struct Cover {
    double ball, growth;
};

// Turns all points to the middle, and tells how far from the axis the farthest is.
double turn_all(const JointSweep& joint, const SweptHull& hull, TurnedPoint* turned) {
    double radius_sq = 0.0;
    for (std::size_t k = 0; k < static_cast<std::size_t>(hull.count); ++k) {
        const Vec3d at = joint.turn * hull.point(k), level = dot(joint.axis, at) * joint.axis;
        turned[k] = {joint.shift + level, at - level, cross(joint.axis, at), 0.0};
        turned[k].radius_sq = norm_sq(turned[k].out);
        radius_sq = max_of(radius_sq, turned[k].radius_sq);
    }
    return std::sqrt(radius_sq) * (1.0 + 4.0 * kEpsilon);
}

// The least ball around an arc.
Cover one_of_arc(const JointSweep& joint, std::span<const TurnedPoint> turned, SweptHull& to, double reach) {
    const bool is_half = joint.angle >= 0.5 * kPi;
    const double share = is_half ? 0.0 : joint.cosine;
    for (std::size_t k = 0; k < turned.size(); ++k) to.set_point(k, turned[k].level + share * turned[k].out);
    return {(is_half ? 1.0 : joint.sine) * reach, 1.0};
}

// Two points and a ball for each arc. In the plane of an arc of radius r, with x through its middle: it reaches from
// x = r cos to x = r, so a ball of radius R >= r (1 - cos) / 2 swept along x = c covers it between y = -s and y = s as long
// as r - R <= c <= r cos + R. Beyond that only the rest up to the end of the arc counts: circles about (c, s) leave it no
// farther than at its ends. The largest arc needs R = r (1 - cos) / 2; of smaller ones, which R covers with room to spare,
// both points move inwards. For more than half a circle the points of the largest arc, scaled, serve for all: of an arc up
// to an angle t, where u = sin(t / 2) and k = sin(angle / 2), the part beyond s must satisfy
// s >= 2 r u (1 - k k) / (sqrt(1 - u u) + sqrt(k k - u u)), which grows with u up to r sin(angle).
Cover two_of_arc(const JointSweep& joint, std::span<const TurnedPoint> turned, SweptHull& to, double reach) {
    const double versine = 2.0 * joint.half_sine * joint.half_sine;
    const double ball = 0.5 * versine * reach;
    const bool moves_inwards = joint.angle <= 0.5 * kPi;
    for (std::size_t k = 0; k < turned.size(); ++k) {
        const TurnedPoint& at = turned[k];
        double out = 1.0 - 0.5 * versine, along = joint.sine;
        if (moves_inwards && at.radius_sq > 0.0) {
            const double ahead = ball / std::sqrt(at.radius_sq);
            out = max_of(1.0 - ahead, joint.cosine);
            const double sideways = out - joint.cosine;
            along = max_of(joint.sine - std::sqrt(max_of(ahead * ahead - sideways * sideways, 0.0)), 0.0);
        }
        const Vec3d centre = at.level + out * at.out, step = along * at.along;
        to.set_point(k, centre - step), to.set_point(turned.size() + k, centre + step);
    }
    return {ball, 1.2};  // half a circle is farthest out: 5/4, squared
}

// The ends of an arc, and where the tangents of the pieces between them meet.
Cover many_of_arc(const JointSweep& joint, int points_of_one, std::span<const TurnedPoint> turned, SweptHull& to,
                  double reach) {
    const int pieces = points_of_one - 2;
    const double half_piece = joint.angle / pieces;
    const std::size_t count = turned.size();
    if (half_piece > kPi / 3.0) {  // tangents meet too far outside
        const Cover cover = two_of_arc(joint, turned, to, reach);
        for (std::size_t k = 2 * count; k < count * static_cast<std::size_t>(points_of_one); ++k)
            to.set_point(k, to.point(k % (2 * count)));
        return cover;
    }
    const double outwards = 1.0 / std::cos(half_piece);
    const auto put = [&](std::size_t row, double cosine, double sine) {
        for (std::size_t k = 0; k < count; ++k)
            to.set_point(row * count + k, turned[k].level + cosine * turned[k].out + sine * turned[k].along);
    };
    put(0, joint.cosine, -joint.sine), put(1, joint.cosine, joint.sine);
    for (int piece = 0; piece < pieces; ++piece) {
        const double angle = (2 * piece + 1) * half_piece - joint.angle;
        put(static_cast<std::size_t>(piece) + 2, outwards * std::cos(angle), outwards * std::sin(angle));
    }
    return {0.0, outwards};
}

double farthest_from_origin(const SweptHull& hull) {
    double radius_sq = 0.0;
    for (std::size_t k = 0; k < static_cast<std::size_t>(hull.count); ++k)
        radius_sq = max_of(radius_sq, norm_sq(hull.point(k)));
    return std::sqrt(radius_sq);
}

// The least ball around a patch of a sphere.
Cover one_of_patch(const JointSweep& joint, const SweptHull& from, SweptHull& to, double reach) {
    const bool is_half = joint.angle >= 0.5 * kPi;
    const double share = is_half ? 0.0 : joint.cosine;
    for (std::size_t k = 0; k < static_cast<std::size_t>(from.count); ++k)
        to.set_point(k, joint.shift + share * (joint.turn * from.point(k)));
    return {(is_half ? 1.0 : joint.sine) * reach, 1.0};
}

// A square around the rim of the patch, half way between that and its top: no point of the patch is farther from it.
Cover four_of_patch(const JointSweep& joint, const SweptHull& from, SweptHull& to, double reach) {
    const auto count = static_cast<std::size_t>(from.count);
    if (joint.angle >= 0.5 * kPi) {
        const Cover cover = one_of_patch(joint, from, to, reach);
        for (std::size_t k = count; k < 4 * count; ++k) to.set_point(k, to.point(k % count));
        return cover;
    }
    const double half_versine = joint.half_sine * joint.half_sine;
    for (std::size_t k = 0; k < count; ++k) {
        const Vec3d at = joint.turn * from.point(k);
        const Vec3d other = abs_of(at.x) <= abs_of(at.y) && abs_of(at.x) <= abs_of(at.z) ? Vec3d{1, 0, 0}
                            : abs_of(at.y) <= abs_of(at.z)                               ? Vec3d{0, 1, 0}
                                                                                         : Vec3d{0, 0, 1};
        const Vec3d side = cross(at, other), up = inverse_or_zero(norm(at)) * cross(at, side);
        const double length = norm(at), scale = joint.sine * length * inverse_or_zero(norm(side));
        const Vec3d x = scale * side, y = scale * up, centre = joint.shift + (1.0 - half_versine) * at;
        to.set_point(k, centre + x + y), to.set_point(count + k, centre + x - y);
        to.set_point(2 * count + k, centre - x + y), to.set_point(3 * count + k, centre - x - y);
    }
    return {half_versine * reach, 1.8};  // corners of a square, less high than the top
}

// The ends of every slide, in place: the points there are already stand for all of them.
void double_by_slides(const JointSweep& joint, std::size_t count, SweptHull& to) {
    for (int slide = 0; slide < joint.slides; ++slide, count *= 2)
        for (std::size_t k = 0; k < count; ++k) {
            const Vec3d at = to.point(k);
            to.set_point(count + k, at + joint.slide[slide]), to.set_point(k, at - joint.slide[slide]);
        }
}

}  // namespace

SweptPoints swept_points(const Part& part) {
    SweptPoints swept;
    if (const auto* convex = std::get_if<Convex>(&part.shape)) {
        std::visit(PointsOf{swept.points}, convex->core);
        swept.radius = convex->radius;
        swept.is_exact = !is_curved(convex->core);
    } else if (const Surface* surface = surface_of(part)) {
        swept.points = corners_of(*surface->mesh);
        swept.radius = surface->mesh->radius;
        swept.is_exact = false;
    } else {
        throw std::invalid_argument("a half-space has no swept hull.");
    }
    for (Vec3d& p : swept.points) p = part.pose * p;
    return swept;
}

double sweep_hull(const JointSweep& joint, int points_of_one, const SweptHull& from, SweptHull& to, TurnedPoint* room) {
    const bool ends_of_slides = joint.slides == 1 ? points_of_one == 2 : joint.slides == 2 && points_of_one == 8;
    const int turn_points = points_of_one / (ends_of_slides ? 1 << joint.slides : 1);
    const double reach = joint.is_patch ? farthest_from_origin(from) : turn_all(joint, from, room);
    const std::span<const TurnedPoint> turned(room, static_cast<std::size_t>(from.count));
    Cover cover{};
    if (joint.is_patch)
        cover = turn_points == 1 ? one_of_patch(joint, from, to, reach) : four_of_patch(joint, from, to, reach);
    else if (turn_points == 1)
        cover = one_of_arc(joint, turned, to, reach);
    else if (turn_points == 2)
        cover = two_of_arc(joint, turned, to, reach);
    else
        cover = many_of_arc(joint, turn_points, turned, to, reach);
    if (ends_of_slides)
        double_by_slides(joint, static_cast<std::size_t>(from.count * turn_points), to);
    else
        cover.ball += joint.slide_radius;
    to.fill_up();
    to.extent = cover.growth * from.extent + norm(joint.shift) + joint.slide_radius;
    to.radius = from.radius + cover.ball + joint.doubt * to.extent;
    return reach;
}

}  // namespace clearance
