#pragma once

#include "convex/drum_touch.hpp"

namespace clearance {

// Shows that no normal parts a drum and a solid that overlap with less than a certain depth. Every point of the axis, and
// every point of the solid, shows that for normals of certain latitudes; all have to be covered.
template <class Solid>
class DrumProof {
public:
    DrumProof(DrumTouch<Solid>& bodies, const Touch& touch, double depth, double rounding)
        : bodies_(bodies), touch_(touch), depth_(depth), rounding_(rounding) {}

    bool holds() { return climb(bodies_.drum()) && climb(bodies_.turned_over()); }

    // A normal that is better than that of the touch, if one was met.
    const std::optional<Vec3d>& better() const { return better_; }

private:
    static constexpr double kInfinity = std::numeric_limits<double>::infinity();
    static constexpr int kMostLooks = 60;
    static constexpr double kLeastStride = 1e-9;  // in radians
    static constexpr double kLeastEase = 1e-6;

    // Prove normals of all latitudes from that of a touch up to the pole.
    bool climb(const Drum& drum) {
        const double rise = dot(touch_.normal, drum.axis);
        const Latitude from{norm(touch_.normal - rise * drum.axis), rise};
        if (touch_.at_pole && rise > 0.0) return true;
        Latitude proved = from;
        if (point_proves(drum, touch_.on_solid, depth_ + rounding_ + 16.0 * kEpsilon * abs_of(touch_.height), proved))
            return true;
        // Balls between the discs cover more than those beyond, if they do not move back from where the touch is.
        const bool is_upright = &drum == &bodies_.drum();
        const int end = is_upright ? touch_.end : -touch_.end;
        const double height = is_upright ? touch_.height : -touch_.height;
        const double highest = end > 0 ? kInfinity : end < 0 ? drum.start_of_side() : height;
        double ease = 1.0;
        for (int step = 0; step < kMostLooks; ++step) {
            // How far to go on, as the tangent of an angle: in proportion to how far it has come.
            const double ahead = from.level * proved.level + from.rise * proved.rise;
            const double come = from.level * proved.rise - from.rise * proved.level;
            const double stride = ahead > 0.0 ? ease * max_of(come, kLeastStride) / ahead : kInfinity;
            const bool is_below = end < 0 && proved.rise < drum.kink * proved.level;
            const Disc disc = is_below ? drum.lower : drum.upper;
            double tangent = halfway_up(proved);
            if (is_below) tangent = min_of(drum.kink, tangent);
            const double across = proved.level - proved.rise * stride;
            if (across > 0.0) tangent = min_of(tangent, (proved.rise + proved.level * stride) / across);
            const double on_rim = disc.height - disc.radius * tangent, at = is_below ? on_rim : min_of(highest, on_rim);
            const PointGap seen = bodies_.look(drum, at);
            const Latitude before = proved;
            if (look_proves(drum, at, seen, proved)) return true;
            if (is_beyond(proved, before)) {
                ease = min_of(1.0, 2.0 * ease);
                continue;
            }
            if (bodies_.separation(-seen.normal) > touch_.separation) {
                better_ = -seen.normal;
                return false;
            }
            ease *= 0.3;
            if (ease < kLeastEase) return false;
        }
        return false;
    }

    // What a look from the axis proves. First, a ball with this radius would be just as deep in the solid as is to be
    // proved: normals along which a disc reaches as far as the ball part the bodies no sooner. Second, the same holds for
    // the point of the solid that was seen. If either proves all latitudes from `proved` up to the pole, true.
    bool look_proves(const Drum& drum, double height, const PointGap& seen, Latitude& proved) const {
        const double rounding = rounding_ + 16.0 * kEpsilon * abs_of(height);
        const double radius = seen.distance + depth_ + rounding;
        Latitude by_ball = proved;
        if (extends(drum.upper.radius, drum.upper.height - height, radius, by_ball) ||
            extends(drum.lower.radius, drum.lower.height - height, radius, by_ball))
            return true;
        const Vec3d foot = drum.point(height) - seen.distance * seen.normal;
        if (point_proves(drum, foot, depth_ + rounding, proved)) return true;
        if (is_beyond(by_ball, proved)) proved = by_ball;
        return false;
    }

    // A disc reaches farther than a point of the solid by at least what it does in the half-plane of that point.
    bool point_proves(const Drum& drum, const Vec3d& point, double depth, Latitude& proved) const {
        const Vec3d seen = point - drum.centre;
        const double up = dot(seen, drum.axis), out = norm(seen - up * drum.axis);
        return extends(drum.upper.radius - out, drum.upper.height - up, depth, proved) ||
               extends(drum.lower.radius - out, drum.lower.height - up, depth, proved);
    }

    DrumTouch<Solid>& bodies_;
    const Touch& touch_;
    double depth_, rounding_;
    std::optional<Vec3d> better_;
};

}  // namespace clearance
