#pragma once

#include <array>
#include <optional>
#include <span>
#include <vector>

#include "convex/planar_hull.hpp"

namespace clearance {

// Velocities of a body in the plane along the axes of the body, or accelerations, or displacements.
using Twist = std::array<double, 3>;  // x, y, yaw

struct TwistBox {
    Twist low, high;
};

// How a vehicle comes to rest. For the time of the latency, every component of its twist changes by no more than the
// acceleration; then it brakes. On an arc the twist keeps its direction, and is gone after the longest of the times that its
// components take to vanish with their decelerations; otherwise every component vanishes for itself.
struct PlanarBraking {
    double latency;
    Twist acceleration, deceleration, command_error;
    bool is_arc;
};

struct FootprintPart {
    Corners corners;  // a convex polygon
    double radius;
};

// All that a footprint can cover while its vehicle comes to rest, in the frame that the vehicle has now: a union of
// disc-swept hulls along the way, so that the inside of a curve stays free.
//
// Points are complex numbers here, and a turn by t is a product with e^(it). On an arc with the constant direction (v, w),
// after the length L of it, a point p of the body has come to
//
//     c(L) = e^(iLw) p + L v E(Lw),    E(t) = integral of e^(its) over s from 0 to 1 = e^(it/2) sin(t/2)/(t/2).
//
// That is linear in v, so corners of the box of v suffice. In L and in w the curve lies within h^2/8 max|c''| of the chord
// of a piece of width h, where
//
//     |d2c/dL2| = |w| |iwp + v|  and  |d2c/dw2| <= L^2 |p| + L^3 |v|/3, for |E''| <= 1/3,
//
// so a piece of the arc is within the sum of both of the hull of its ends. Turns before the arc begins are chords as well.
class PlanarSweep {
public:
    // Pieces along the way, at least one.
    PlanarSweep(std::vector<FootprintPart> footprint, PlanarBraking braking, std::size_t pieces);
    PlanarSweep(PlanarSweep&&) = default;
    PlanarSweep(const PlanarSweep&) = delete;  // a copy would not have the room that cycles need

    // The velocity must be finite, below 1e6 in every component; so must the accelerations of a command. Allocates nothing.
    void set(const Twist& velocity, const std::optional<Twist>& command);

    std::span<const DiscSweptHull> pieces() const { return {pieces_.data(), used_}; }
    // No point of the vehicle gets into a piece earlier.
    double time_of(std::size_t piece) const { return times_[piece]; }
    // No point of the vehicle is ever faster.
    double top_speed() const { return top_speed_; }

    // Whether no point of a part of the footprint, on any way to rest, gets farther along a direction than the farthest is
    // now, or only so far beyond.
    bool never_advances_along(std::size_t part, const Vec2& direction, double beyond) const;

    std::span<const DiscSweptHull> footprint() const { return footprint_; }

private:
    struct Range {
        double low, high;
        double width() const { return high - low; }
    };
    struct Travel {
        double forth, back;  // not negative
    };
    Travel latency_travel(std::size_t axis) const;
    Travel whole_travel(std::size_t axis) const;
    Range turned_in_latency() const;
    void set_shifts(const Travel& x, const Travel& y, const Range& turn);
    void add_free_motion(const DiscSweptHull& part, const Range& turn, std::size_t count);
    void set_start();
    void add_arc(const DiscSweptHull& part);
    void set_level(const DiscSweptHull& part, double length, Corners& level);
    double chord_error(const DiscSweptHull& part, double length) const;
    // A piece of what the points span, anywhere that the shifts take it.
    void add_shifted(const Corners& shifts, double radius, double time);

    PlanarBraking braking_;
    std::size_t count_;
    std::vector<DiscSweptHull> footprint_, pieces_;
    std::vector<double> times_;
    std::size_t used_ = 0;

    // Of the present cycle.
    Twist now_{};
    TwistBox rates_{}, reached_{};  // accelerations, and twists at the end of the latency
    double arc_ = 0.0;              // the most that an arc can be long, in seconds at the speed it begins with
    double top_speed_ = 0.0;
    Range start_turn_{};
    Corners velocities_, start_;  // at the end of the latency; where the body can be then
    double start_radius_ = 0.0;
    std::size_t yaw_steps_ = 1;
    Corners points_, turned_, shift_, shifts_, hull_, level_, next_level_;
};

}  // namespace clearance
