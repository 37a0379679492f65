#include "bvh/raycast.hpp"

#include <optional>

#include "convex/minkowski.hpp"

namespace clearance {
namespace {

struct Triangle {
    Vec3d a, b, c;
};

// Of a triangle the two shorter edges span the plane best.
Vec3d normal_of(const Triangle& triangle, const Vec3d& along) {
    const Vec3d ab = triangle.b - triangle.a, bc = triangle.c - triangle.b, ca = triangle.a - triangle.c;
    const double ab_sq = norm_sq(ab), bc_sq = norm_sq(bc), ca_sq = norm_sq(ca);
    const Vec3d normal = ab_sq >= bc_sq && ab_sq >= ca_sq ? cross(bc, ca) : bc_sq >= ca_sq ? cross(ca, ab) : cross(ab, bc);
    const Vec3d unit = unit_or((-1.0 / norm(along)) * along, normal);
    return dot(unit, along) > 0.0 ? -unit : unit;
}

// The height on the ray inside of a triangle p, q, r of which pq is the longest edge as the ray sees it: along that edge,
// and then up to the share that r has. For a needle the share is noise, but so is little that it is multiplied with; weights
// of the corners would be noise, too.
double height_along(const Vec3d& p, const Vec3d& q, const Vec3d& r, double share) {
    const Vec3d edge = q - p, side = r - p;
    const double per_length_sq = 1.0 / (edge.x * edge.x + edge.y * edge.y);
    const double along = -(p.x * edge.x + p.y * edge.y) * per_length_sq;
    const double foot = (side.x * edge.x + side.y * edge.y) * per_length_sq;
    return p.z + along * edge.z + share * (side.z - foot * edge.z);
}

double height_of(const Triangle& seen, const EdgeSides<double>& sides, double area) {
    const auto& [a, b, c] = seen;
    const auto length_sq = [](const Vec3d& p, const Vec3d& q) {
        return (q.x - p.x) * (q.x - p.x) + (q.y - p.y) * (q.y - p.y);
    };
    const double ab = length_sq(a, b), bc = length_sq(b, c), ca = length_sq(c, a);
    const double height = ab >= bc && ab >= ca ? height_along(a, b, c, sides.ab / area)
                          : bc >= ca           ? height_along(b, c, a, sides.bc / area)
                                               : height_along(c, a, b, sides.ca / area);
    return max_of(min_of(a.z, min_of(b.z, c.z)), min_of(max_of(a.z, max_of(b.z, c.z)), height));
}

Vec3d column(const double (*columns)[kRayLeaf], int k) { return {columns[0][k], columns[1][k], columns[2][k]}; }

// A mesh and a ray, in units of its tree.
class Meeting {
public:
    Meeting(const Mesh& mesh, const Line& line, double offset, const FeatureHit& best)
        : mesh_(mesh),
          per_unit_(1.0 / mesh.boxes.unit),
          line_{per_unit_ * line.from, line.along},
          ray_(line_.from, line_.along, offset, mesh.boxes.unit),
          best_(best) {}

    const TriangleRay& ray() const { return ray_; }
    const FeatureHit& best() const { return best_; }
    bool found() const { return leaf_ != nullptr || ball_ != nullptr; }

    bool can_hit() const { return largest(line_.from) <= 4.0 * (1.0 + per_unit_ * mesh_.radius); }
    const Line& line() const { return line_; }
    float last() const { return bound_on_ray(best_.at, ray_.offset, per_unit_, 1.0); }

    void meet(const RayTriangles& leaf, int k) {
        const Triangle seen{corner(leaf, k, 0), corner(leaf, k, 1), corner(leaf, k, 2)};
        const EdgeSides<double> sides(seen.a, seen.b, seen.c);
        if (!sides.are_alike()) return;
        const double area = sides.bc + sides.ca + sides.ab;
        if (area == 0.0) return meet_edgewise(leaf, k, seen);
        const double at = place_on(ray_, height_of(seen, sides, area));
        if (at >= 0.0) consider(at, leaf, k);
    }

    void meet(const RayBalls& leaf) {
        for (int k = 0; k < leaf.count; ++k) {
            const Chord chord = round_chord(line_.from - column(leaf.centre, k), line_.along, per_unit_ * mesh_.radius, 0);
            if (chord.is_empty() || !(ray_.offset + ray_.unit * chord.last >= 0.0)) continue;
            const double at = max_of(ray_.offset + ray_.unit * chord.first, 0.0);
            if (!best_.is_after(at, leaf.number[k])) continue;
            best_.at = at, best_.feature = leaf.number[k];
            ball_ = &leaf, lane_ = k;
        }
    }

    // Of what was found; leaves must still be there.
    Vec3d normal() const {
        if (leaf_ != nullptr)
            return normal_of(
                {column(leaf_->vertex, lane_), column(leaf_->vertex + 3, lane_), column(leaf_->vertex + 6, lane_)},
                line_.along);
        const Vec3d against = (-1.0 / norm(line_.along)) * line_.along;
        if (best_.at == 0.0) return against;
        return unit_or(against, line_.at(per_unit_ * (best_.at - ray_.offset)) - column(ball_->centre, lane_));
    }

private:
    Vec3d corner(const RayTriangles& leaf, int k, int number) const {
        const double(*vertex)[kRayLeaf] = leaf.vertex + 3 * number;
        return seen(ray_, vertex[ray_.x][k], vertex[ray_.y][k], vertex[ray_.z][k]);
    }

    // A triangle that the ray sees as a line: from the first to the last point where it meets an edge.
    void meet_edgewise(const RayTriangles& leaf, int k, const Triangle& seen) {
        constexpr double inf = std::numeric_limits<double>::infinity();
        double nearest = inf, farthest = -inf;
        const auto reach = [&](double z) {
            nearest = min_of(nearest, place_on(ray_, z)), farthest = max_of(farthest, place_on(ray_, z));
        };
        const auto edge = [&](const Vec3d& p, const Vec3d& q) {
            if (p.x * q.x + p.y * q.y > 0.0) return;
            const double before = abs_of(p.x) + abs_of(p.y), after = abs_of(q.x) + abs_of(q.y);
            if (before == 0.0) reach(p.z);
            if (after == 0.0) reach(q.z);
            if (before > 0.0 && after > 0.0) reach(p.z + before / (before + after) * (q.z - p.z));
        };
        edge(seen.a, seen.b), edge(seen.b, seen.c), edge(seen.c, seen.a);
        if (farthest >= 0.0) consider(max_of(nearest, 0.0), leaf, k);
    }

    // Comparing what is rounded to where it is on the ray makes the answer the same in whatever order things are met.
    void consider(double at, const RayTriangles& leaf, int k) {
        if (!best_.is_after(at, leaf.number[k])) return;
        best_.at = at, best_.feature = leaf.number[k];
        leaf_ = &leaf, lane_ = k;
    }

    const Mesh& mesh_;
    double per_unit_;
    Line line_;
    TriangleRay ray_;
    FeatureHit best_;
    const RayTriangles* leaf_ = nullptr;
    const RayBalls* ball_ = nullptr;
    int lane_ = 0;
};

class Search {
public:
    Search(const Mesh& mesh, unsigned active, MeshRays& rays, RayWork& work) : rays_(rays), work_(work) {
        for (; active != 0; active &= active - 1) {
            const int k = __builtin_ctz(active);
            const Meeting& met = meeting_[k].emplace(mesh, rays.line[k], rays.offset[k], rays.best[k]);
            triangles_.ray[k] = &met.ray(), triangles_.best[k] = met.best().at;
            const auto& [from, along] = met.line();
            from_[0][k] = from.x, from_[1][k] = from.y, from_[2][k] = from.z;
            along_[0][k] = along.x, along_[1][k] = along.y, along_[2][k] = along.z;
            if (met.can_hit()) active_ |= 1u << k;
        }
        ray_kernels().look_through(from_, along_, rays.offset, triangles_.best, 1.0 / mesh.boxes.unit, boxes_);
    }

    void through_triangles(const RayMesh& tree) {
        const LeafVisitor visitor{this, [](void* self, int k, const RayTriangles& leaf, unsigned met) {
                                      static_cast<Search*>(self)->visit(k, leaf, met);
                                  }};
        ray_kernels().through_triangles(tree.nodes.data(), tree.triangles.data(), active_, boxes_, triangles_, visitor,
                                        work_);
    }

    void through_balls(const RayMesh& tree) {
        const BallVisitor visitor{
            this, [](void* self, unsigned rays, const RayBalls& leaf) { static_cast<Search*>(self)->visit(rays, leaf); }};
        ray_kernels().through_balls(tree.nodes.data(), tree.balls.data(), active_, boxes_, visitor, work_);
    }

    unsigned finish() {
        unsigned found = 0;
        for (int k = 0; k < kPacket; ++k) {
            if (!meeting_[k] || !meeting_[k]->found()) continue;
            rays_.best[k] = meeting_[k]->best();
            rays_.best[k].normal = meeting_[k]->normal();
            found |= 1u << k;
        }
        return found;
    }

private:
    void visit(int k, const RayTriangles& leaf, unsigned met) {
        for (; met != 0; met &= met - 1) {
            ++work_.triangles;
            meeting_[k]->meet(leaf, __builtin_ctz(met));
        }
        triangles_.best[k] = meeting_[k]->best().at;
        shrink(k);
    }

    void visit(unsigned rays, const RayBalls& leaf) {
        for (; rays != 0; rays &= rays - 1) {
            const int k = __builtin_ctz(rays);
            work_.triangles += leaf.count;
            meeting_[k]->meet(leaf);
            shrink(k);
        }
    }

    void shrink(int k) {
        boxes_.last[k] = rays_.any && meeting_[k]->found() ? -std::numeric_limits<float>::infinity() : meeting_[k]->last();
    }

    MeshRays& rays_;
    RayWork& work_;
    std::optional<Meeting> meeting_[kPacket];
    double from_[3][kPacket] = {}, along_[3][kPacket] = {};
    BoxRays boxes_;
    TriangleRays triangles_{};
    unsigned active_ = 0;
};

}  // namespace

unsigned meet(const Mesh& mesh, const RayMesh& tree, unsigned active, MeshRays& rays, RayWork& work) {
    Search search(mesh, active, rays, work);
    if (mesh.is_cloud())
        search.through_balls(tree);
    else
        search.through_triangles(tree);
    return search.finish();
}

bool meet_feature(const Mesh& mesh, std::int32_t feature, int ray, MeshRays& rays) {
    Meeting meeting(mesh, rays.line[ray], rays.offset[ray], rays.best[ray]);
    const RayTriangles triangle = mesh.is_cloud() ? RayTriangles{} : leaf_of_triangles(mesh, &feature, 1);
    const RayBalls ball = mesh.is_cloud() ? leaf_of_balls(mesh, &feature, 1) : RayBalls{};
    if (mesh.is_cloud())
        meeting.meet(ball);
    else
        meeting.meet(triangle, 0);
    if (!meeting.found()) return false;
    rays.best[ray] = meeting.best();
    rays.best[ray].normal = meeting.normal();
    return true;
}

}  // namespace clearance
