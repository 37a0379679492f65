#pragma once

// What must hold of the gap between two swept elements, judged by the oracle.
#include <algorithm>
#include <cmath>

#include "element_batches.hpp"
#include "oracle.hpp"

namespace clearance::elements {

using oracle::Hull;
using oracle::Quad;
using oracle::Vec3q;

enum Check {
    kDistance,
    kBracketed,
    kTight,
    kUnit,
    kJoined,
    kWitnessA,
    kWitnessB,
    kSeparated,
    kOpens,
    kSameBits,
    kMiddle,
    kOracle,
    kChecks
};
inline const char* const kCheckNames[] = {
    "distance is the oracle's", "oracle lies in the bracket",   "bracket is tight",
    "normal is unit",           "points joined by normal",      "witness lies in a",
    "witness lies in b",        "normal separates by distance", "moving along normal opens",
    "same bits for every Simd", "parallel: middle of overlap",  "oracle proves itself"};

// Errors of the distance relative to size: what is left of them beyond the rounding of the coordinates, and all of them
// where the coordinates are no larger than ten sizes.
struct Worst {
    double beyond_rounding = 0.0, near_origin = 0.0;
};

struct Tally {
    long passed = 0, failed = 0, colliding = 0, cores_meeting = 0;
    long failures[kFamilies][kChecks] = {};
    Worst worst[kFamilies];
    double widest = 0.0, farthest = 0.0;  // bracket, and witness outside of its element; relative to size, beyond rounding

    void add(const Tally& other) {
        passed += other.passed;
        failed += other.failed;
        colliding += other.colliding;
        cores_meeting += other.cores_meeting;
        widest = std::max(widest, other.widest);
        farthest = std::max(farthest, other.farthest);
        for (int f = 0; f < kFamilies; ++f) {
            for (int c = 0; c < kChecks; ++c) failures[f][c] += other.failures[f][c];
            worst[f].beyond_rounding = std::max(worst[f].beyond_rounding, other.worst[f].beyond_rounding);
            worst[f].near_origin = std::max(worst[f].near_origin, other.worst[f].near_origin);
        }
    }
};

// One pair in one order, with the truth about it.
struct Subject {
    Hull a, b;
    double radius_a, radius_b;
    double size, rounding;  // sum of the bounding radii; what the coordinates themselves leave open
    oracle::SignedDistance cores;
    Quad distance;  // of the swept elements
};

inline double bounding_radius(const Hull& hull) {
    Vec3q sum{0, 0, 0};
    for (int k = 0; k < hull.count; ++k) sum = sum + hull.vertex[k];
    const Vec3q centre = (Quad(1) / hull.count) * sum;
    Quad radius = 0;
    for (int k = 0; k < hull.count; ++k) radius = std::max(radius, oracle::norm(hull.vertex[k] - centre));
    return double(radius);
}

inline double farthest_from_origin(const Hull& hull) {
    double found = 0.0;
    for (int k = 0; k < hull.count; ++k) found = std::max(found, double(oracle::norm(hull.vertex[k])));
    return found;
}

inline Subject subject_of(const Elements& a, const Elements& b, std::size_t row) {
    Subject s{
        oracle::hull_of(a.at(row), a.count), oracle::hull_of(b.at(row), b.count), a.radii[row], b.radii[row], 0, 0, {}, 0};
    s.size = bounding_radius(s.a) + bounding_radius(s.b) + s.radius_a + s.radius_b;
    s.rounding = 8 * kEpsilon * std::max(farthest_from_origin(s.a), farthest_from_origin(s.b));
    s.cores = oracle::signed_distance(s.a, s.b);
    s.distance = s.cores.distance - s.radius_a - s.radius_b;
    return s;
}

inline Subject swapped(const Subject& s) {
    return {s.b, s.a, s.radius_b, s.radius_a, s.size, s.rounding, {s.cores.distance, -s.cores.apart}, s.distance};
}

inline Vec3q quad(const Vec3d& v) { return {v.x, v.y, v.z}; }
inline double magnitude(Quad x) { return std::fabs(double(x)); }

// How far a point lies outside of a swept hull; negative inside.
inline double outside(const Vec3d& point, const Hull& hull, double radius) {
    Hull at;
    at.add(quad(point));
    return double(oracle::norm(oracle::apart(at, hull)) - radius);
}

// The middle of what two parallel segments share, as seen from a; whatever is not parallel passes.
inline bool is_in_the_middle(const Subject& s, const Row& found) {
    if (s.a.count != 2 || s.b.count != 2) return true;
    const Vec3q u = s.a.vertex[1] - s.a.vertex[0], v = s.b.vertex[1] - s.b.vertex[0];
    const Quad length_sq = norm_sq(u);
    if (length_sq == 0 || norm_sq(v) == 0) return true;
    if (oracle::norm(cross(u, v)) > Quad(0.5e-13) * sqrtq(length_sq * norm_sq(v))) return true;
    const auto along = [&](const Vec3q& point) {
        return std::clamp<Quad>(dot(point - s.a.vertex[0], u) / length_sq, Quad(0), Quad(1));
    };
    const Quad middle = (along(s.b.vertex[0]) + along(s.b.vertex[1])) / 2;
    const Vec3q on_core = quad(found.point_a) - Quad(s.radius_a) * quad(found.normal);
    const Quad at = dot(on_core - s.a.vertex[0], u) / length_sq;
    return magnitude((at - middle) * sqrtq(length_sq)) <= 1e-12 * s.size + s.rounding;
}

// The bracket that the closest points and the plane between them give, where they are far enough apart to have one. Points
// at the least distance are known to half of the digits only, and so is the direction between them.
inline bool proves_itself(const Subject& s) {
    if (s.cores.distance < 1e-6 * s.size || s.size == 0) return true;
    const Vec3q unit = (1 / s.cores.distance) * s.cores.apart;
    return s.cores.distance - oracle::separation_along(unit, s.a, s.b) <= Quad(1e-15) * s.size;
}

struct Observed {
    Row found;
    double moved;  // the distance once b has moved by `step` along the normal
    double step;
    bool same_bits;
};

inline unsigned failures_of(const Subject& s, const Observed& seen, double& witness_outside) {
    const Row& found = seen.found;
    const double outside_a = outside(found.point_a, s.a, s.radius_a), outside_b = outside(found.point_b, s.b, s.radius_b);
    witness_outside = std::max(outside_a, outside_b);
    const double accurate = 1e-12 * s.size + s.rounding, proven = 1e-9 * s.size + s.rounding;
    const double far = largest(found.point_a) + largest(found.point_b) + std::fabs(found.distance);
    const Vec3q normal = quad(found.normal);
    const Quad separation = oracle::separation_along(normal, s.a, s.b) - s.radius_a - s.radius_b;

    unsigned failed = 0;
    const auto check = [&failed](Check what, bool holds) { failed |= holds ? 0u : 1u << what; };
    check(kDistance, magnitude(found.distance - s.distance) <= accurate);
    check(kBracketed, found.lower <= s.distance && s.distance <= found.upper);
    check(kTight, found.upper - found.lower <= proven + 2 * kEpsilon * std::fabs(found.distance));  // one ulp at each end
    check(kUnit, magnitude(oracle::norm(normal) - 1) <= 1e-14);
    check(kJoined, largest(found.point_b - found.point_a - found.distance * found.normal) <= 4 * kEpsilon * far);
    check(kWitnessA, outside_a <= accurate);
    check(kWitnessB, outside_b <= accurate);
    check(kSeparated, magnitude(separation - found.distance) <= proven);
    // A shift changes a distance by its length at most; along the normal it must change it by all of that.
    check(kOpens, magnitude(Quad(seen.moved) - found.distance - seen.step) <= proven);
    check(kSameBits, seen.same_bits);
    check(kMiddle, is_in_the_middle(s, found));
    check(kOracle, proves_itself(s));
    return failed;
}

inline void measure(const Subject& s, const Row& found, double witness_outside, Family family, Tally& tally) {
    tally.colliding += s.distance <= 0;
    tally.cores_meeting += s.cores.distance <= 0;
    if (s.size == 0) return;
    const double error = magnitude(found.distance - s.distance);
    Worst& worst = tally.worst[family];
    worst.beyond_rounding = std::max(worst.beyond_rounding, (error - s.rounding) / s.size);
    if (s.rounding <= 80 * kEpsilon * s.size) worst.near_origin = std::max(worst.near_origin, error / s.size);
    tally.widest = std::max(tally.widest, (found.upper - found.lower - s.rounding) / s.size);
    tally.farthest = std::max(tally.farthest, (witness_outside - s.rounding) / s.size);
}

}  // namespace clearance::elements
