#include "convex/ray.hpp"

#include "closest/certificate.hpp"
#include "closest/pairs.hpp"
#include "convex/distance.hpp"

namespace clearance {
namespace {

constexpr int kFace = 3, kEdge = 0;  // pieces of elements: a flat side, or what is swept over an edge or a corner
constexpr int kSide = 0, kCap = 1;   // of cylinders and cones
constexpr double kThin = 1e-12;      // relative to the size of an element: a radius that says nothing of normals

// Balls at both ends and the tube between them. What enters the tube at its end is inside of a ball already.
Chord segment_chord(const Vec3d& start, const Vec3d& end, double radius, const Line& line) {
    const Vec3d from = line.from - start;
    const Chord balls =
        joined(round_chord(from, line.along, radius, kEdge), round_chord(line.from - end, line.along, radius, kEdge));
    const Vec3d edge = end - start;
    const double length = norm(edge);
    if (!(length > 0.0)) return balls;
    const Vec3d axis = (1.0 / length) * edge;
    const double height = dot(from, axis), rise = dot(line.along, axis);
    const Chord tube = round_chord(from - height * axis, line.along - rise * axis, radius, kEdge);
    return joined(balls, common(tube, slab_chord(height - 0.5 * length, rise, 0.5 * length, kEdge)));
}

Vec3d face_normal(const Element& element) {
    const Vec3d e01 = element.vertex[1] - element.vertex[0], e12 = element.vertex[2] - element.vertex[1];
    const Vec3d normal = cross(e01, e12);
    return inverse_or_zero(norm(normal)) * normal;
}

// The triangle moved up and down along its normal.
Chord prism_chord(const Element& element, const Line& line) {
    const Vec3d normal = face_normal(element);
    if (norm_sq(normal) == 0.0) return kNoChord;
    Chord chord = slab_chord(dot(normal, line.from - element.vertex[0]), dot(normal, line.along), element.radius, kFace);
    for (int k = 0; k < 3; ++k) {
        const Vec3d inward = cross(normal, element.vertex[(k + 1) % 3] - element.vertex[k]);
        chord = common(chord, half_chord(dot(inward, line.from - element.vertex[k]), dot(inward, line.along), kFace));
    }
    return chord;
}

Vec3d nearest_on(const Element& element, const Vec3d& point) {
    const Core<double, 3> core{{element.vertex[0], element.vertex[1], element.vertex[2]}};
    const Weights<double> at = closest(Core<double, 1>{{point}}, core);
    return point_at(core, at.b1, at.b2);
}

Vec3d against(const Vec3d& along) { return (-1.0 / norm(along)) * along; }

}  // namespace

Chord chord_of(const Element& element, const Line& line) {
    const auto& [count, vertex, radius] = element;
    if (count == 1) return round_chord(line.from - vertex[0], line.along, radius, kEdge);
    Chord chord = segment_chord(vertex[0], vertex[1], radius, line);
    if (count == 2) return chord;
    chord = joined(chord, segment_chord(vertex[1], vertex[2], radius, line));
    chord = joined(chord, segment_chord(vertex[2], vertex[0], radius, line));
    return joined(prism_chord(element, line), chord);
}

Chord chord_of(const Cylinder& cylinder, const Line& line) {
    const auto& [from, along] = line;
    return common(round_chord({from.x, from.y, 0}, {along.x, along.y, 0}, cylinder.radius, kSide),
                  slab_chord(from.z, along.z, cylinder.half_length, kCap));
}

// Seen from the tip, x^2 + y^2 <= (slope z)^2 is two cones, of which the slab keeps the lower one. The discriminant of this
// quadratic is a difference of squares of moments of the line, which are as exact as the line itself.
Chord chord_of(const Cone& cone, const Line& line) {
    constexpr double inf = std::numeric_limits<double>::infinity();
    const Vec3d from = line.from - Vec3d{0, 0, cone.half_length}, &along = line.along;
    const double slope = cone.radius / (2.0 * cone.half_length);
    const auto form = [slope](double across, double up) {
        return (across - slope * abs_of(up)) * (across + slope * abs_of(up));
    };
    const Chord slab = slab_chord(line.from.z, along.z, cone.half_length, kCap);
    const double a = form(std::sqrt(along.x * along.x + along.y * along.y), along.z);
    const double b = from.x * along.x + from.y * along.y - slope * from.z * (slope * along.z);
    const double c = form(std::sqrt(from.x * from.x + from.y * from.y), from.z);
    const Vec3d moment = cross(from, along);
    const double upright = slope * std::sqrt(moment.x * moment.x + moment.y * moment.y), flat = abs_of(moment.z);
    if (a > 0.0 && flat > upright) return kNoChord;
    const double root = flat < upright ? std::sqrt(upright - flat) * std::sqrt(upright + flat) : 0.0;
    const double sum = -(b + std::copysign(root, b));
    if (sum == 0.0 && a == 0.0) return c <= 0.0 ? slab : kNoChord;
    if (a == 0.0) return common(b < 0.0 ? Chord{c / sum, inf, kSide} : Chord{-inf, c / sum, kSide}, slab);
    const double one = sum / a, other = sum == 0.0 ? one : c / sum;
    const double low = min_of(one, other), high = max_of(one, other);
    if (a > 0.0) return common({low, high, kSide}, slab);
    return common(along.z < 0.0 ? Chord{high, inf, kSide} : Chord{-inf, low, kSide}, slab);
}

Chord chord_of(const Ellipsoid& ellipsoid, const Line& line) {
    const auto squeezed = [&](const Vec3d& v) {
        return Vec3d{v.x / ellipsoid.radii.x, v.y / ellipsoid.radii.y, v.z / ellipsoid.radii.z};
    };
    return round_chord(squeezed(line.from), squeezed(line.along), 1.0, kSide);
}

Vec3d normal_of(const Box&, const Line& line, const Chord& chord) {
    const Vec3d& along = line.along;
    return chord.piece == 0   ? Vec3d{-std::copysign(1.0, along.x), 0, 0}
           : chord.piece == 1 ? Vec3d{0, -std::copysign(1.0, along.y), 0}
                              : Vec3d{0, 0, -std::copysign(1.0, along.z)};
}

// What has hardly a radius is flat, or a line: of the directions across it the one that is most against the ray.
Vec3d normal_of(const Element& element, const Line& line, const Chord& chord) {
    const Vec3d edge = element.vertex[1] - element.vertex[0], side = element.vertex[2] - element.vertex[0];
    const Vec3d face = element.count == 3 ? face_normal(element) : Vec3d{0, 0, 0};
    const bool is_thin = !(element.radius > kThin * max_of(largest(edge), largest(side)));
    if (norm_sq(face) > 0.0 && (chord.piece == kFace || is_thin)) return dot(face, line.along) > 0.0 ? -face : face;
    const Vec3d otherwise = against(line.along);
    if (is_thin) {
        const Vec3d longer = norm_sq(edge) >= norm_sq(side) ? edge : side;
        return unit_or(otherwise, otherwise - (dot(otherwise, longer) * inverse_or_zero(norm_sq(longer))) * longer);
    }
    const Vec3d point = line.at(chord.first);
    return unit_or(otherwise, point - nearest_on(element, point));
}

Vec3d normal_of(const Cylinder&, const Line& line, const Chord& chord) {
    if (chord.piece == kCap) return {0, 0, -std::copysign(1.0, line.along.z)};
    const Vec3d point = line.at(chord.first);
    return unit_or(against(line.along), {point.x, point.y, 0});
}

Vec3d normal_of(const Cone& cone, const Line& line, const Chord& chord) {
    if (chord.piece == kCap) return {0, 0, -std::copysign(1.0, line.along.z)};
    const double height = 2.0 * cone.half_length, length = std::hypot(height, cone.radius);
    const auto flank = [&](double x, double y) {
        const double across = std::sqrt(x * x + y * y), scale = across > 0.0 ? height / (length * across) : 0.0;
        return across > 0.0 ? Vec3d{scale * x, scale * y, cone.radius / length} : Vec3d{0, 0, 1};
    };
    const Vec3d point = line.at(chord.first), normal = flank(point.x, point.y);
    // At the tip any flank may be the one that was found: the one that faces the ray is meant.
    return dot(normal, line.along) > 0.0 ? flank(-line.along.x, -line.along.y) : normal;
}

Vec3d normal_of(const Ellipsoid& ellipsoid, const Line& line, const Chord& chord) {
    const Vec3d point = line.at(chord.first), &r = ellipsoid.radii;
    return unit_or(against(line.along), {point.x / r.x / r.x, point.y / r.y / r.y, point.z / r.z / r.z});
}

namespace {

constexpr int kMostIterations = 200;
constexpr double kWidth = 1e-13;  // of a bracket, relative to the size

// The nearest point of the core to a point that moves along a line.
class Approach {
public:
    Approach(const ConvexCore& core, const Line& line, double at) : core_(core), line_(line) { move_to(at); }

    void move_to(double at) {
        point_ = line_.at(at);
        simplex_.renew([this](const Difference& vertex) { return Difference{vertex.a - point_, vertex.a, point_}; });
    }

    // How far a plane across a unit vector keeps the point from the core.
    double separation(const Vec3d& towards) {
        farthest_ = support(core_, towards);
        return dot(towards, point_ - farthest_);
    }

    // Whether the point that was farthest brings the core nearer.
    bool extend() {
        const Difference by{farthest_ - point_, farthest_, point_};
        return !simplex_.has(by.w) && !simplex_.holds_origin() && simplex_.extend(by);
    }

    // The distance of the point from the core, with a plane that proves it.
    CoreGap<double> gap(double size, int& iterations) const {
        const ConvexCore point = Element{1, {point_, point_, point_}, 0.0};
        const CorePair pair{core_, point, kNoTurn, {0, 0, 0}, size, size + largest(point_), is_curved(core_)};
        CoreQuestion question{};
        question.width_apart = question.width_inside = question.width_touching = kWidth * size;
        question.relative_width = std::numeric_limits<double>::infinity();
        question.towards_b = simplex_.direction();
        return core_gap(pair, question, iterations);
    }

    const Vec3d& point() const { return point_; }
    double distance() const { return simplex_.distance(); }
    Vec3d towards() const { return simplex_.direction(); }

private:
    const ConvexCore& core_;
    const Line& line_;
    Vec3d point_{0, 0, 0}, farthest_{0, 0, 0};
    Simplex simplex_;
};

}  // namespace

Entry entry_of(const ConvexCore& core, double radius, const Line& line, double first, double last) {
    const Ball ball = ball_around(core);
    const double size = ball.radius + radius, rounding = 8.0 * kEpsilon * size;
    const Chord around = round_chord(line.from - ball.centre, line.along, size * (1.0 + 1e-9), 0);
    Entry entry{false, max_of(first, around.first), {0, 0, 0}, 0};
    if (around.is_empty() || !(entry.at <= min_of(last, around.last))) return entry;
    Approach approach(core, line, entry.at);
    Vec3d towards = unit_or({1, 0, 0}, approach.point() - ball.centre);
    while (entry.iterations < kMostIterations) {
        ++entry.iterations;
        const double outside = approach.separation(towards) - radius;
        const bool moves = outside > rounding;
        if (moves) {
            const double rate = dot(towards, line.along);
            if (!(rate < 0.0)) return entry;
            entry.at -= outside / rate;
            if (!(entry.at <= last)) return entry;
            entry.normal = towards;
            approach.move_to(entry.at);
        }
        const bool nearer = approach.extend();
        if (approach.distance() <= radius + rounding) break;
        towards = approach.towards();
        if (moves || nearer) continue;
        // So near to an edge or a corner that the direction of the nearest point is noise.
        const CoreGap<double> gap = approach.gap(size, entry.iterations);
        if (!(gap.lower - radius > rounding)) break;
        towards = gap.normal;
    }
    // What is no larger than rounding is met where the ball around it is.
    if (entry.at > first && norm_sq(entry.normal) == 0.0) entry.normal = against(line.along);
    entry.is_hit = true;
    return entry;
}

}  // namespace clearance
