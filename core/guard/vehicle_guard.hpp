#pragma once

#include <cstdint>
#include <optional>
#include <vector>

#include "motion/planar_sweep.hpp"

namespace clearance {

// Where a vehicle is in the world.
struct PlanarPose {
    Vec2 position;
    double yaw = 0.0;
};

// What stands in the world: an outline of one point, of two (a wall), or of more (a solid of any form).
using Outline = std::vector<Vec2>;

enum class Proof : std::int32_t { clear, receding, none };

// What the way to rest comes nearest to: of all that is in the way; else of what recedes; else of everything.
struct VehicleFinding {
    Proof proof = Proof::clear;
    bool is_scanned = false;
    std::int64_t index = -1;  // of the point of the scan, or of the outline; -1: there is nothing at all
    double lower;             // no more than its distance, anywhere on the way to rest
    double present;           // no more than its distance now
    double time;              // nothing that is in the way is within the margin earlier
    PlanarGap gap;            // from the swept footprint, in the world
};

// Tells whether a vehicle that has to stop now does so without coming nearer to anything than a margin.
class VehicleGuard {
public:
    struct Settings {
        Twist uncertainty;  // of the pose, along the axes of the body
        double margin;
        double scan_radius;  // of points of the scan
    };
    VehicleGuard(PlanarSweep sweep, std::span<const Outline> obstacles, Settings settings);

    // Points as they come, x y x y ..., in the frame of the vehicle; those that are not below 1e30 are left out. Only a scan
    // with more points than any before allocates.
    void set_scan(const double* points, std::size_t count);

    const VehicleFinding& look(const PlanarPose& pose, const Twist& velocity, const std::optional<Twist>& command);
    // A factor of the velocity for which the last look would have been clear: the largest that halving an interval finds.
    double clear_factor(int halvings);

    const PlanarSweep& sweep() const { return sweep_; }

private:
    // One thing to keep away from, in the frame of the vehicle: a segment, or a point twice.
    struct Target {
        Vec2 a, b;
        std::size_t index;
    };
    struct Points {
        std::vector<double> x, y;
        std::vector<std::size_t> index;
        void reserve(std::size_t count);
        void clear() { x.clear(), y.clear(), index.clear(); }
        void add(const Vec2& point, std::size_t of) { x.push_back(point.x), y.push_back(point.y), index.push_back(of); }
        Target at(std::size_t k) const { return {{x[k], y[k]}, {x[k], y[k]}, index[k]}; }
    };
    void look_everywhere(const Twist& velocity);
    void look_at_points(const Points& points, bool is_scanned);
    double look_at_piece(const Points& points, bool is_scanned, std::size_t piece, std::size_t stride, double best);
    void look_at_walls();
    void look_at_solids();
    void settle(const Target& target, bool is_scanned, double lower, std::size_t first_piece);
    bool recedes(const Target& target, bool is_scanned) const;
    double present_lower(const Target& target, bool is_scanned) const;
    double grown(const DiscSweptHull& hull, bool is_scanned) const;
    double limit() const;
    PlanarGap nearest_gap(const Target& target, bool is_scanned) const;
    Vec2 world_from(const Vec2& point) const { return pose_.position + heading_ * point; }
    Vec2 body_from(const Vec2& point) const { return conjugate(heading_) * (point - pose_.position); }

    PlanarSweep sweep_;
    Settings settings_;
    Points scan_, posts_, posts_here_;  // points of the world, and the same seen from the vehicle
    std::vector<Target> walls_, walls_here_;
    struct Solid {
        Outline outline;
        std::size_t index;
    };
    std::vector<Solid> solids_;
    double extent_ = 0.0;  // how far from the origin of the world obstacles are

    PlanarPose pose_;
    Vec2 heading_{1.0, 0.0};
    Twist velocity_{};
    std::optional<Twist> command_;
    double rounding_ = 0.0;  // of obstacles seen from the vehicle
    VehicleFinding finding_;
    Target critical_{};
    bool is_inside_solid_ = false;
    std::vector<double> lowers_;
    std::vector<std::uint32_t> first_pieces_;
};

}  // namespace clearance
