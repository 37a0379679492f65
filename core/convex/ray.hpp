#pragma once

#include "convex/convex.hpp"

namespace clearance {

// A line in the frame of a shape: from + s * along, with `from` near the shape, so that no digits are lost far away, and
// `along` of a length near one.
struct Line {
    Vec3d from, along;

    Vec3d at(double s) const { return from + s * along; }
};

// What a line and a convex body have in common: everything from `first` to `last`, and nothing where first > last. `piece`
// tells which piece of the surface is entered.
struct Chord {
    double first, last;
    int piece;

    bool is_empty() const { return !(first <= last); }
};

constexpr Chord kNoChord{std::numeric_limits<double>::infinity(), -std::numeric_limits<double>::infinity(), -1};
constexpr Chord kWholeLine{-std::numeric_limits<double>::infinity(), std::numeric_limits<double>::infinity(), -1};

// Points that two bodies have in common, and those of a convex body that two others make up.
inline Chord common(const Chord& a, const Chord& b) {
    return {max_of(a.first, b.first), min_of(a.last, b.last), a.first >= b.first ? a.piece : b.piece};
}
inline Chord joined(const Chord& a, const Chord& b) {
    if (a.is_empty()) return b;
    if (b.is_empty()) return a;
    return {min_of(a.first, b.first), max_of(a.last, b.last), a.first <= b.first ? a.piece : b.piece};
}

// Where a height that changes by `rise` is between -half and half; where it is zero or more.
inline Chord slab_chord(double height, double rise, double half, int piece) {
    if (rise == 0.0) return abs_of(height) <= half ? kWholeLine : kNoChord;
    const double low = (-half - height) / rise, high = (half - height) / rise;
    return {min_of(low, high), max_of(low, high), piece};
}
inline Chord half_chord(double height, double rise, int piece) {
    constexpr double inf = std::numeric_limits<double>::infinity();
    if (rise == 0.0) return height >= 0.0 ? kWholeLine : kNoChord;
    const double at = -height / rise;
    return rise > 0.0 ? Chord{at, inf, piece} : Chord{-inf, at, piece};
}

// A ball, or a tube where only what is across it is given. |from x along| is how far the line passes, times its length:
// where it comes from a difference of squares instead, a line that grazes loses half of its digits.
inline Chord round_chord(const Vec3d& from, const Vec3d& along, double radius, int piece) {
    const double length_sq = norm_sq(along);
    if (length_sq == 0.0) return norm(from) <= radius ? kWholeLine : kNoChord;
    const double reach = radius * std::sqrt(length_sq), pass = norm(cross(from, along));
    if (!(pass <= reach)) return kNoChord;
    const double half = std::sqrt(reach - pass) * std::sqrt(reach + pass), middle = -dot(from, along);
    return {(middle - half) / length_sq, (middle + half) / length_sq, piece};
}

// Closed forms. Cores have no radius here, but for elements, whose own counts; ellipsoids are whole.
inline Chord chord_of(const Box& box, const Line& line) {
    const auto& [from, along] = line;
    return common(common(slab_chord(from.x, along.x, box.half.x, 0), slab_chord(from.y, along.y, box.half.y, 1)),
                  slab_chord(from.z, along.z, box.half.z, 2));
}
Chord chord_of(const Element& element, const Line& line);
Chord chord_of(const Cylinder& cylinder, const Line& line);
Chord chord_of(const Cone& cone, const Line& line);
Chord chord_of(const Ellipsoid& ellipsoid, const Line& line);

// The outward unit normal where a line enters. A flat element without a radius turns it against the line.
Vec3d normal_of(const Box& box, const Line& line, const Chord& chord);
Vec3d normal_of(const Element& element, const Line& line, const Chord& chord);
Vec3d normal_of(const Cylinder& cylinder, const Line& line, const Chord& chord);
Vec3d normal_of(const Cone& cone, const Line& line, const Chord& chord);
Vec3d normal_of(const Ellipsoid& ellipsoid, const Line& line, const Chord& chord);

// Where a line first meets a core swept by a sphere, between two of its points.
struct Entry {
    bool is_hit;
    double at;
    Vec3d normal;  // zero where the line begins inside
    int iterations;
};

// Any core, by its farthest points alone: every plane across the line that has the whole body behind it moves the point
// that is looked at forward to where the line crosses the plane (van den Bergen, Ray casting against general convex
// objects with application to continuous collision detection, 2004). So `at` never exceeds the true one but for rounding.
Entry entry_of(const ConvexCore& core, double radius, const Line& line, double first, double last);

}  // namespace clearance
