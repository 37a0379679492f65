#pragma once

#include <optional>

#include "convex/drum.hpp"
#include "convex/point_solid.hpp"

namespace clearance {

// Finds where a drum and a solid touch. Put a ball with its centre on the axis through the rim of a disc. Along all normals
// of one latitude the ball reaches as far as the disc, and the closed form of the solid tells which normal is the best for
// the ball. So one unknown is left: the latitude at which the normal that is best for the ball has this very latitude. On
// the side balls roll between the discs, and their normal has to be that of the side.
template <class Solid>
class DrumTouch {
public:
    DrumTouch(const Drum& drum, const Solid& solid, double size, int& looks)
        : drum_(drum), over_(drum.turned_over()), solid_(solid), size_(size), looks_(looks) {}

    // The touch of bodies that are apart; one that is at least good nearby where they overlap.
    Touch touch() {
        const bool up = dot(drum_.axis, drum_.centre) <= 0.0;
        const Drum &first = up ? drum_ : over_, &second = up ? over_ : drum_;
        const PointGap at_first = look(first, first.end_of_side());
        if (is_above_side(first, at_first)) return judged(on_disc(first, at_first));
        const PointGap at_second = look(second, second.end_of_side());
        if (is_above_side(second, at_second)) return judged(on_disc(second, at_second));
        return judged(on_side());
    }

    // Another touch, near a normal that is better than the last.
    Touch touch_near(const Vec3d& n) {
        const double rise = dot(n, drum_.axis);
        const double tangent = rise / max_of(norm(n - rise * drum_.axis), 1.0 / kSteep);
        const bool up = tangent >= drum_.kink;
        const Drum& drum = up ? drum_ : over_;
        const double start = max_of(drum.kink, up ? tangent : -tangent);
        const Touch rim = judged(on_rim(drum, look(drum, drum.upper.height - drum.upper.radius * start), start));
        const auto face = on_face(drum, support(solid_, -drum.axis));
        if (face && separation(face->normal) > rim.separation) return judged(*face);
        if (rim.separation >= separation(n)) return rim;
        return judged(on_side());
    }

    double separation(const Vec3d& n) const { return -drum_.reach(n) - dot(-n, support(solid_, -n)); }

    const Drum& drum() const { return drum_; }
    const Drum& turned_over() const { return over_; }

    PointGap look(const Drum& drum, double height) {
        ++looks_;
        return point_gap(solid_, drum.point(height), drum.axis);
    }

private:
    static constexpr double kInfinity = std::numeric_limits<double>::infinity();
    static constexpr int kMostLooks = DrumSearch::kMostLooks;
    static constexpr double kSettled = DrumSearch::kSettled, kSteep = DrumSearch::kSteep;

    // The normal that is best for a ball at the end of the side leads over the rim.
    static bool is_above_side(const Drum& drum, const PointGap& at) {
        const double rise = -dot(at.normal, drum.axis);
        if (drum.kink == 0.0) return rise > 0.0;
        return rise > drum.kink * norm(at.normal + rise * drum.axis);
    }

    Touch judged(Touch touch) const {
        touch.separation = separation(touch.normal);
        return touch;
    }

    // The solid stands on the disc with a point, or a face, if the axis itself is best.
    std::optional<Touch> on_face(const Drum& drum, const Vec3d& point) const {
        const Vec3d from_disc = point - drum.point(drum.upper.height);
        const double rise = dot(from_disc, drum.axis);
        if (!(norm_sq(from_disc - rise * drum.axis) <= drum.upper.radius * drum.upper.radius)) return std::nullopt;
        Touch touch{drum.axis, point - rise * drum.axis, point};
        touch.at_pole = true, touch.end = end_of(drum);
        return touch;
    }

    // A disc is met on its face if possible, or else on its rim.
    Touch on_disc(const Drum& drum, const PointGap& at) {
        if (const auto found = on_face(drum, support(solid_, -drum.axis))) return *found;
        return on_rim(drum, at, drum.kink);
    }

    Touch on_rim(const Drum& drum, PointGap at, double tangent) {
        const Disc disc = drum.upper;
        if (disc.radius == 0.0) {
            const Vec3d tip = drum.point(disc.height);
            return {-at.normal, tip, tip - at.distance * at.normal, height_in_first(drum, disc.height), end_of(drum)};
        }
        double low = drum.kink, high = kInfinity;
        for (int step = 0;; ++step) {
            const Latitude here = latitude_of(tangent);
            const double rise = -dot(at.normal, drum.axis), level = norm(at.normal + rise * drum.axis);
            // By how much the latitude of the best normal is off the one that was asked, as sine and cosine.
            const double off = rise * here.level - level * here.rise, along = level * here.level + rise * here.rise;
            (off > 0.0 ? low : high) = tangent;
            const bool is_settled = abs_of(off) * disc.radius <= kSettled * size_ * here.level;
            if (is_settled || step == kMostLooks) {
                Touch touch{-at.normal, {}, {}, height_in_first(drum, disc.height - disc.radius * tangent)};
                touch.end = end_of(drum);
                place_on_rim(drum, tangent, at, touch);
                return touch;
            }
            double next = kInfinity;
            if (level > 1.0 / kSteep) {
                next = turned(here, off, along, at.bend * disc.radius, here.level * here.level * level);
                if (!(next > low && next < high)) next = middle(low, high);
            }
            if (next > kSteep) {
                if (const auto found = on_face(drum, drum.point(disc.height) - nearest_to(drum))) return *found;
                next = kSteep;
            }
            if (next == tangent) step = kMostLooks - 1;
            tangent = next;
            at = look(drum, disc.height - disc.radius * tangent);
        }
    }

    // From the point of the solid that is nearest to the middle of the disc to that middle.
    Vec3d nearest_to(const Drum& drum) const {
        const PointGap at = point_gap(solid_, drum.point(drum.upper.height), drum.axis);
        return at.distance * at.normal;
    }

    void place_on_rim(const Drum& drum, double tangent, const PointGap& at, Touch& touch) const {
        const Disc disc = drum.upper;
        const Vec3d across = touch.normal - dot(touch.normal, drum.axis) * drum.axis;
        const Vec3d out = (disc.radius * inverse_or_zero(norm(across))) * across;
        touch.on_drum = drum.point(disc.height) + (out - dot(out, drum.axis) * drum.axis);  // steep normals blur the plane
        touch.on_solid = drum.point(disc.height - disc.radius * tangent) - at.distance * at.normal;
        if (tangent <= DrumSearch::kFarCentre) return;
        const PointGap foot = point_gap(solid_, touch.on_drum, drum.axis);
        if (foot.distance >= 0.0 || dot(foot.normal, at.normal) == 1.0)
            touch.on_solid = touch.on_drum - foot.distance * foot.normal;
    }

    // The distance of the solid is convex along the axis, and its slope is sought that belongs to the side.
    Touch on_side() {
        const Drum& drum = drum_;
        const Latitude side = latitude_of(drum.kink);
        double low = -over_.end_of_side(), high = drum.end_of_side();
        double height = max_of(low, min_of(high, -dot(drum.axis, drum.centre)));
        double low_value = 0.0, low_slope = 0.0, high_value = 0.0, high_slope = 0.0;
        bool low_known = false, high_known = false;
        for (int step = 0;; ++step) {
            const PointGap at = look(drum, height);
            const double slope = dot(at.normal, drum.axis) + side.rise;  // of the distance, less that of the radius
            const double value = at.distance + side.rise * height;
            (slope < 0.0 ? low : high) = height;
            if (slope < 0.0)
                low_value = value, low_slope = slope, low_known = true;
            else
                high_value = value, high_slope = slope, high_known = true;
            if (abs_of(slope) <= 0.1 * kSettled || !(high - low > 0.1 * kSettled * size_) || step == kMostLooks) {
                Touch touch{-at.normal, {}, {}, height};
                const double radius = drum.upper.height * side.rise + drum.upper.radius * side.level - height * side.rise;
                const Vec3d across = touch.normal - dot(touch.normal, drum.axis) * drum.axis;
                touch.on_drum =
                    drum.point(height + radius * side.rise) + (radius * side.level * inverse_or_zero(norm(across))) * across;
                touch.on_solid = drum.point(height) - at.distance * at.normal;
                return touch;
            }
            double next = at.bend > 0.0 ? height - slope / at.bend : kInfinity;
            if (!(next >= low && next <= high) || next == height) {
                // Where the tangents at both ends meet, if both are known.
                next = 0.5 * (low + high);
                if (low_known && high_known) {
                    const double meet =
                        ((low_value - low_slope * low) - (high_value - high_slope * high)) / (high_slope - low_slope);
                    if (meet > low && meet < high) next = meet;
                }
            }
            height = next;
        }
    }

    int end_of(const Drum& drum) const { return &drum == &drum_ ? 1 : -1; }
    double height_in_first(const Drum& drum, double height) const { return &drum == &drum_ ? height : -height; }

    Drum drum_, over_;
    const Solid& solid_;
    double size_;
    int& looks_;
};

}  // namespace clearance
