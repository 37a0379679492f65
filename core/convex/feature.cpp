#include "convex/feature.hpp"

#include <algorithm>

#include "convex/curvature.hpp"

namespace clearance {
namespace {

Feature point_feature(const Vec3d& p) {
    Feature feature;
    feature.add(p);
    return feature;
}

// Points that lie within a small angle of the plane through the farthest one, as the corners of a flat polygon.
class FlatPoints {
public:
    FlatPoints(const Vec3d& n, const Vec3d& farthest)
        : n_(n), across_(tangents_of(n)), top_(dot(n, farthest)), farthest_(farthest) {}

    void consider(const Vec3d& p, double angle) {
        if (top_ - dot(n_, p) > angle * norm(p - farthest_)) return;
        if (count_ < kRoom) found_[count_++] = p;
    }

    // Their convex hull, counter-clockwise about n, by Andrew's monotone chain.
    Feature polygon() {
        std::sort(found_, found_ + count_, [this](const Vec3d& p, const Vec3d& q) {
            const double x = dot(across_.e, p) - dot(across_.e, q);
            return x != 0.0 ? x < 0.0 : dot(across_.f, p) < dot(across_.f, q);
        });
        Vec3d chain[2 * kRoom];
        int size = 0;
        for (int pass = 0; pass < 2; ++pass) {
            const int start = size;
            for (int k = 0; k < count_; ++k) {
                const Vec3d& p = found_[pass == 0 ? k : count_ - 1 - k];
                while (size >= start + 2 && turn(chain[size - 2], chain[size - 1], p) <= 0.0) --size;
                chain[size++] = p;
            }
            --size;
        }
        Feature feature;
        if (size < 1) return point_feature(farthest_);
        const int step = (size + Feature::kMostPoints - 1) / Feature::kMostPoints;
        for (int k = 0; k < size; k += step) feature.add(chain[k]);
        return feature;
    }

private:
    static constexpr int kRoom = 64;

    double turn(const Vec3d& p, const Vec3d& q, const Vec3d& r) const { return dot(n_, cross(q - p, r - p)); }

    Vec3d n_;
    Tangents across_;
    double top_;
    Vec3d farthest_;
    Vec3d found_[kRoom];
    int count_ = 0;
};

Feature feature_of(const Element& core, const Vec3d& n) {
    FlatPoints flat(n, support(core, n));
    for (int k = 0; k < core.count; ++k) flat.consider(core.vertex[k], kFacingAngle);
    return flat.polygon();
}

// Axes that n hardly leans to are free: one of them leaves an edge, two a face.
Feature feature_of(const Box& core, const Vec3d& n) {
    const Vec3d corner = support(core, n);
    const double lean[3] = {abs_of(n.x), abs_of(n.y), abs_of(n.z)};
    int free[3], count = 0;
    for (int axis = 0; axis < 3; ++axis)
        if (lean[axis] < kFacingAngle) free[count++] = axis;
    const auto flipped = [&](Vec3d p, int axis) {
        double& coordinate = axis == 0 ? p.x : axis == 1 ? p.y : p.z;
        coordinate = -coordinate;
        return p;
    };
    Feature feature = point_feature(corner);
    if (count == 0) return feature;
    feature.add(flipped(corner, free[0]));
    if (count == 1) return feature;
    feature.add(flipped(flipped(corner, free[0]), free[1]));
    feature.add(flipped(corner, free[1]));
    return feature;
}

Feature disc_feature(double radius, double z, const Vec3d& n) {
    constexpr int kCorners = Feature::kMostPoints;
    const double start = std::atan2(n.y, n.x), way = n.z < 0.0 ? -1.0 : 1.0;
    Feature feature;
    feature.centre = {0, 0, z}, feature.axis = {0, 0, 1}, feature.radius = radius;
    for (int k = 0; k < kCorners; ++k) {
        const double angle = start + way * 2.0 * 3.14159265358979323846 * k / kCorners;
        feature.add({radius * std::cos(angle), radius * std::sin(angle), z});
    }
    return feature;
}

Feature feature_of(const Cylinder& core, const Vec3d& n) {
    const double level = std::sqrt(n.x * n.x + n.y * n.y);
    const double z = std::copysign(core.half_length, n.z);
    if (level < kFacingAngle) return disc_feature(core.radius, z, n);
    const Vec3d rim = rim_point(core.radius, z, n);
    Feature feature = point_feature(rim);
    if (abs_of(n.z) < kFacingAngle) feature.add({rim.x, rim.y, -z});
    return feature;
}

Feature feature_of(const Cone& core, const Vec3d& n) {
    const double level = std::sqrt(n.x * n.x + n.y * n.y);
    if (n.z < 0.0 && level < kFacingAngle) return disc_feature(core.radius, -core.half_length, n);
    FlatPoints flat(n, support(core, n));
    flat.consider({0, 0, core.half_length}, kFacingAngle);
    flat.consider(rim_point(core.radius, -core.half_length, n), kFacingAngle);
    return flat.polygon();
}

Feature feature_of(const Ellipsoid& core, const Vec3d& n) { return point_feature(support(core, n)); }

// A hull knows no faces: its points are flat if they lie in one plane, or very nearly so.
Feature feature_of(const HullPointer& core, const Vec3d& n) {
    constexpr double kFlatAngle = 1e-3;
    FlatPoints flat(n, support(core, n));
    for (const Vec3d& p : core->points()) flat.consider(p, kFlatAngle);
    return flat.polygon();
}

}  // namespace

Feature feature_facing(const ConvexCore& core, const Vec3d& n) {
    return std::visit([&](const auto& one) { return feature_of(one, n); }, core);
}

}  // namespace clearance
