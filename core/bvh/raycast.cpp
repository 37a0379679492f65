#include "bvh/raycast.hpp"

#include "convex/minkowski.hpp"

namespace clearance {
namespace {

// A mesh and a ray, in units of its tree.
class Meeting {
public:
    Meeting(const MeshRay& ray, const FeatureHit& best, RayWork& work)
        : mesh_(ray.mesh),
          per_unit_(1.0 / ray.mesh.boxes.unit),
          line_{per_unit_ * ray.line.from, ray.line.along},
          ray_(line_.from, line_.along, ray.offset, ray.mesh.boxes.unit),
          any_(ray.any),
          best_(best),
          work_(work) {}

    void search(const RayMesh& tree) {
        if (!(largest(line_.from) <= 4.0 * (1.0 + per_unit_ * mesh_.radius))) return;
        const BoxRay boxes = box_ray(line_.from, line_.along, bound_on_ray(0.0, ray_.offset, per_unit_, -1.0), last());
        if (mesh_.is_cloud()) {
            const BallVisitor visitor{this, [](void* self, const RayBalls& leaf) {
                                          return static_cast<Meeting*>(self)->visit(leaf);
                                      }};
            ray_kernels().through_balls(tree.nodes.data(), tree.balls.data(), boxes, visitor, work_);
        } else {
            const LeafVisitor visitor{
                this, [](void* self, const RayTriangles& leaf, unsigned hit, const double* at, double& best) {
                    return static_cast<Meeting*>(self)->visit(leaf, hit, at, best);
                }};
            ray_kernels().through_triangles(tree.nodes.data(), tree.triangles.data(), boxes, ray_, best_.at, visitor, work_);
        }
    }

    void meet(std::int32_t feature) {
        if (mesh_.is_cloud()) return meet_ball(in_units(mesh_.vertices[static_cast<std::size_t>(feature)]), feature);
        const auto [a, b, c] = corners(feature);
        const TriangleMeeting<double> met = meeting(ray_, a, b, c);
        if (!met.is_inside) return;
        if (met.area == 0.0) return meet_edgewise(feature, a, b, c);
        if (met.at >= 0.0) consider(met.at, feature);
    }

    const FeatureHit& best() const { return best_; }
    bool found() const { return found_; }

private:
    struct Corners {
        Vec3d a, b, c;
    };

    float last() const {
        return any_ && found_ ? -std::numeric_limits<float>::infinity()
                              : bound_on_ray(best_.at, ray_.offset, per_unit_, 1.0);
    }

    float visit(const RayTriangles& leaf, unsigned hit, const double* at, double& best) {
        for (; hit != 0; hit &= hit - 1) {
            const int k = __builtin_ctz(hit);
            ++work_.triangles;
            if (at[k] >= 0.0)
                consider(at[k], leaf.number[k]);
            else
                meet(leaf.number[k]);
        }
        best = best_.at;
        return last();
    }

    float visit(const RayBalls& leaf) {
        for (int k = 0; k < leaf.count; ++k) {
            ++work_.triangles;
            meet_ball({leaf.centre[0][k], leaf.centre[1][k], leaf.centre[2][k]}, leaf.number[k]);
        }
        return last();
    }

    Vec3d in_units(const Vec3d& corner) const { return per_unit_ * (corner - mesh_.boxes.centre); }

    Corners corners(std::int32_t number) const {
        const auto [corner] = mesh_.triangle(number);
        const auto at = [&](const Vec3d& point) {
            const Vec3d v = in_units(point);
            const double coordinate[3] = {v.x, v.y, v.z};
            return seen(ray_, coordinate[ray_.x], coordinate[ray_.y], coordinate[ray_.z]);
        };
        return {at(corner[0]), at(corner[1]), at(corner[2])};
    }

    // A triangle that the ray sees as a line: from the first to the last point where it meets an edge.
    void meet_edgewise(std::int32_t number, const Vec3d& a, const Vec3d& b, const Vec3d& c) {
        constexpr double inf = std::numeric_limits<double>::infinity();
        double nearest = inf, farthest = -inf;
        const auto reach = [&](double z) {
            const double at = ray_.offset + ray_.unit * (z * ray_.per_z);
            nearest = min_of(nearest, at), farthest = max_of(farthest, at);
        };
        const auto edge = [&](const Vec3d& p, const Vec3d& q) {
            if (p.x * q.x + p.y * q.y > 0.0) return;
            const double before = abs_of(p.x) + abs_of(p.y), after = abs_of(q.x) + abs_of(q.y);
            if (before == 0.0) reach(p.z);
            if (after == 0.0) reach(q.z);
            if (before > 0.0 && after > 0.0) reach(p.z + before / (before + after) * (q.z - p.z));
        };
        edge(a, b), edge(b, c), edge(c, a);
        if (farthest >= 0.0) consider(max_of(nearest, 0.0), number);
    }

    void meet_ball(const Vec3d& centre, std::int32_t number) {
        const Chord chord = round_chord(line_.from - centre, line_.along, per_unit_ * mesh_.radius, 0);
        if (chord.is_empty() || !(ray_.offset + ray_.unit * chord.last >= 0.0)) return;
        consider(max_of(ray_.offset + ray_.unit * chord.first, 0.0), number);
    }

    // Comparing what is rounded to where it is on the ray makes the answer the same in whatever order things are met.
    void consider(double at, std::int32_t number) {
        if (!best_.is_after(at, number)) return;
        best_ = {at, number};
        found_ = true;
    }

    const Mesh& mesh_;
    double per_unit_;
    Line line_;
    TriangleRay ray_;
    bool any_, found_ = false;
    FeatureHit best_;
    RayWork& work_;
};

}  // namespace

bool meet(const MeshRay& ray, const RayMesh& tree, FeatureHit& best, RayWork& work) {
    Meeting meeting(ray, best, work);
    meeting.search(tree);
    best = meeting.best();
    return meeting.found();
}

bool meet_feature(const MeshRay& ray, std::int32_t feature, FeatureHit& best) {
    RayWork work;
    Meeting meeting(ray, best, work);
    meeting.meet(feature);
    best = meeting.best();
    return meeting.found();
}

// Of a triangle the two shorter edges span the plane best.
Vec3d normal_of(const MeshRay& ray, const FeatureHit& hit) {
    const Vec3d against = (-1.0 / norm(ray.line.along)) * ray.line.along;
    if (ray.mesh.is_cloud()) {
        const Vec3d centre = ray.mesh.vertices[static_cast<std::size_t>(hit.feature)] - ray.mesh.boxes.centre;
        return unit_or(against, ray.line.at(hit.at - ray.offset) - centre);
    }
    const auto [corner] = ray.mesh.triangle(hit.feature);
    const double per_unit = 1.0 / ray.mesh.boxes.unit;
    const Vec3d ab = per_unit * (corner[1] - corner[0]), bc = per_unit * (corner[2] - corner[1]);
    const Vec3d ca = per_unit * (corner[0] - corner[2]);
    const double ab_sq = norm_sq(ab), bc_sq = norm_sq(bc), ca_sq = norm_sq(ca);
    const Vec3d normal = ab_sq >= bc_sq && ab_sq >= ca_sq ? cross(bc, ca) : bc_sq >= ca_sq ? cross(ca, ab) : cross(ab, bc);
    const Vec3d unit = unit_or(against, normal);
    return dot(unit, ray.line.along) > 0.0 ? -unit : unit;
}

}  // namespace clearance
