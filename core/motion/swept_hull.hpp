#pragma once

#include <span>

#include "closest/kernels.hpp"
#include "motion/joint_box.hpp"
#include "query/part.hpp"

namespace clearance {

// Points whose convex hull, swept by a ball, contains a convex part. Boxes, elements and hulls are met exactly; around a
// cylinder or cone stands a prism or pyramid of eight sides, around an ellipsoid a rounded box.
struct SweptPoints {
    std::vector<Vec3d> points;
    double radius;
    bool is_exact = true;  // the part itself, not something around it
};
SweptPoints swept_points(const Part& part);

// Where the points of a sphere-swept hull lie: column by column in blocks of eight, the last block filled up with its last
// point. It does not own them.
struct SweptHull {
    double* blocks;
    std::int32_t count;  // of points
    double radius;
    double extent;  // no point is farther from the origin

    std::size_t block_count() const { return blocks_for(count); }
    Vec3d point(std::size_t k) const {
        const double* at = place(k);
        return {at[0], at[kPointBlock], at[2 * kPointBlock]};
    }
    void set_point(std::size_t k, const Vec3d& p) {
        double* at = place(k);
        at[0] = p.x, at[kPointBlock] = p.y, at[2 * kPointBlock] = p.z;
    }
    void fill_up() {
        const auto used = static_cast<std::size_t>(count);
        const Vec3d last = point(used - 1);
        for (std::size_t k = used; k < kPointBlock * block_count(); ++k) set_point(k, last);
    }
    std::size_t farthest(const Vec3d& along) const {
        const std::size_t k = kernels().farthest(blocks, block_count(), along.x, along.y, along.z);
        return k < static_cast<std::size_t>(count) ? k : static_cast<std::size_t>(count) - 1;
    }

    static std::size_t blocks_for(std::int32_t count) {
        return (static_cast<std::size_t>(count) + kPointBlock - 1) / kPointBlock;
    }
    static std::size_t room_for(std::int32_t count) { return 3 * kPointBlock * blocks_for(count); }

private:
    double* place(std::size_t k) const { return blocks + 3 * kPointBlock * (k / kPointBlock) + k % kPointBlock; }
};

// How many points a joint may make of one: more of them hug its motion more closely. Revolute joints take any number, the
// others 1 or the number given here.
constexpr int most_points_of_one(JointKind kind) {
    switch (kind) {
        case JointKind::revolute:
            return 16;
        case JointKind::prismatic:
            return 2;
        case JointKind::planar:
            return 8;
        case JointKind::floating:
        case JointKind::ball:
            return 4;
        case JointKind::fixed:
            break;
    }
    return 1;
}

// A point that a joint turns, in the middle of the turn.
struct TurnedPoint {
    Vec3d level;  // the point of the axis that it goes around,
    Vec3d out;    // from there to the point,
    Vec3d along;  // and the tangent, as long as that
    double radius_sq;
};

// A hull that contains another one wherever a joint takes it, seen from the parent of the joint. After Taeubig, Baeuml and
// Frese (2011), section III, with distances from the axis of a joint instead of its origin, and for turns of any angle.
// Returns how far the points of the first hull are from the axis at most, or from the origin where there is none. There must
// be room for as many points as it has.
double sweep_hull(const JointSweep& joint, int points_of_one, const SweptHull& from, SweptHull& to, TurnedPoint* room);

}  // namespace clearance
