#include "bvh/raycast.hpp"

#include "convex/minkowski.hpp"

namespace clearance {
namespace {

constexpr double kInfinity = std::numeric_limits<double>::infinity();


// A mesh seen along a ray, in units of its tree: z is along the axis that the ray is steepest to.
class View {
public:
    View(const MeshRay& ray, const FeatureHit& best, RayWork& work)
        : mesh_(ray.mesh), tree_(ray.mesh.boxes), offset_(ray.offset), any_(ray.any), best_(best), work_(work) {
        per_unit_ = 1.0 / tree_.unit;
        from_ = per_unit_ * ray.line.from, along_ = ray.line.along;
        const Vec3d a{abs_of(along_.x), abs_of(along_.y), abs_of(along_.z)};
        turn_ = a.x > a.y ? (a.x > a.z ? 1 : 0) : (a.y > a.z ? 2 : 0);
        const Vec3d along = turned(along_);
        per_z_ = 1.0 / along.z;
        slope_x_ = along.x * per_z_, slope_y_ = along.y * per_z_;
        radius_ = per_unit_ * mesh_.radius;
    }

    void search() {
        TreeRay ray;
        const auto set = [](float* to, const Vec3d& v) {
            to[0] = static_cast<float>(v.x), to[1] = static_cast<float>(v.y), to[2] = static_cast<float>(v.z);
        };
        if (!(largest(from_) < 1e18 * (1.0 + radius_))) return;
        set(ray.from, from_), set(ray.along, along_);
        ray.first = bound_on_ray(0.0, offset_, per_unit_, -1.0), ray.last = bound_on_ray(best_.at, offset_, per_unit_, 1.0);
        ray.grow = static_cast<float>(min_of(1e30, radius_ * (1.0 + 1e-5) + kRayRounding));
        const TreeView tree{tree_.nodes.data(), tree_.leaves.data(), tree_.root_child, mesh_.is_cloud()};
        const LeafVisitor visitor{this, [](void* view, const WideLeaf& leaf, unsigned candidates) {
                                      return static_cast<View*>(view)->visit(leaf, candidates);
                                  }};
        ray_kernels().through_mesh(tree, ray, visitor, work_);
    }

    void meet(std::int32_t feature) {
        ++work_.triangles;
        if (mesh_.is_cloud())
            meet_ball(feature);
        else
            meet_triangle(feature);
    }

    const FeatureHit& best() const { return best_; }
    bool found() const { return found_; }

private:
    float visit(const WideLeaf& leaf, unsigned candidates) {
        for (; candidates != 0; candidates &= candidates - 1) meet(leaf.triangle[__builtin_ctz(candidates)]);
        return any_ && found_ ? -std::numeric_limits<float>::infinity() : bound_on_ray(best_.at, offset_, per_unit_, 1.0);
    }

    Vec3d turned(const Vec3d& v) const {
        return turn_ == 0 ? v : turn_ == 1 ? Vec3d{v.y, v.z, v.x} : Vec3d{v.z, v.x, v.y};
    }

    // A corner seen along the ray: x and y are zero on the ray, z is along it. It must not depend on the triangle.
    Vec3d seen(const Vec3d& corner) const {
        const Vec3d v = turned(per_unit_ * (corner - tree_.centre) - from_);
        return {v.x - slope_x_ * v.z, v.y - slope_y_ * v.z, v.z};
    }

    void meet_triangle(std::int32_t number) {
        const auto [corner] = mesh_.triangle(number);
        const Vec3d a = seen(corner[0]), b = seen(corner[1]), c = seen(corner[2]);
        const double u = c.x * b.y - c.y * b.x, v = a.x * c.y - a.y * c.x, w = b.x * a.y - b.y * a.x;
        if ((u < 0.0 || v < 0.0 || w < 0.0) && (u > 0.0 || v > 0.0 || w > 0.0)) return;
        const double area = u + v + w;
        if (area == 0.0) return meet_edgewise(number, a, b, c);
        const double at = (u * a.z + v * b.z + w * c.z) / area * per_z_;
        consider({at, at, 0}, number);
    }

    // A triangle that the ray sees as a line: from the first to the last point where it meets an edge.
    void meet_edgewise(std::int32_t number, const Vec3d& a, const Vec3d& b, const Vec3d& c) {
        double nearest = kInfinity, farthest = -kInfinity;
        const auto reach = [&](double z) {
            nearest = min_of(nearest, z * per_z_), farthest = max_of(farthest, z * per_z_);
        };
        const auto edge = [&](const Vec3d& p, const Vec3d& q) {
            if (p.x * q.x + p.y * q.y > 0.0) return;
            const double before = abs_of(p.x) + abs_of(p.y), after = abs_of(q.x) + abs_of(q.y);
            if (before == 0.0) reach(p.z);
            if (after == 0.0) reach(q.z);
            if (before > 0.0 && after > 0.0) reach(p.z + before / (before + after) * (q.z - p.z));
        };
        edge(a, b), edge(b, c), edge(c, a);
        if (nearest <= farthest) consider({nearest, farthest, 0}, number);
    }

    void meet_ball(std::int32_t number) {
        const Vec3d centre = per_unit_ * (mesh_.vertices[static_cast<std::size_t>(number)] - tree_.centre);
        const Chord chord = round_chord(from_ - centre, along_, radius_, 0);
        if (!chord.is_empty()) consider(chord, number);
    }

    // Comparing what is rounded to where it is on the ray makes the answer the same in whatever order things are met.
    void consider(const Chord& chord, std::int32_t number) {
        if (!(offset_ + tree_.unit * chord.last >= 0.0)) return;
        const double at = max_of(offset_ + tree_.unit * chord.first, 0.0);
        if (!best_.is_after(at, number)) return;
        best_ = {at, number};
        found_ = true;
    }

    const Mesh& mesh_;
    const WideTree& tree_;
    double offset_;
    bool any_, found_ = false;
    FeatureHit best_;
    RayWork& work_;
    double per_unit_, slope_x_, slope_y_, per_z_, radius_;
    Vec3d from_, along_;
    int turn_;
};

}  // namespace

bool meet(const MeshRay& ray, FeatureHit& best, RayWork& work) {
    View view(ray, best, work);
    view.search();
    best = view.best();
    return view.found();
}

bool meet_feature(const MeshRay& ray, std::int32_t feature, FeatureHit& best) {
    RayWork work;
    View view(ray, best, work);
    view.meet(feature);
    best = view.best();
    return view.found();
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
