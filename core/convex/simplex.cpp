#include "convex/simplex.hpp"

#include "closest/pairs.hpp"

namespace clearance {

namespace {

constexpr Core<double, 1> kOrigin{{{0, 0, 0}}};

// A direction this certain, in radians, needs no help.
constexpr double kNoNoise = 1e-13;

// Whether the origin lies on the same side of the plane p, q, r as s does, beyond doubt. A flat tetrahedron has no sides.
bool is_on_side_of(const Vec3d& s, const Vec3d& p, const Vec3d& q, const Vec3d& r) {
    const Vec3d u = q - p, v = r - p, normal = cross(u, v);
    const double origin = -dot(normal, p), other = dot(normal, s - p);
    const double doubt = 32.0 * kEpsilon * largest(u) * largest(v) * (largest(p) + largest(s));
    return other > 0.0 ? other > doubt && origin > doubt : other < -doubt && origin < -doubt;
}

}  // namespace

// The nearest point on some of the vertices; their numbers ascend.
struct Simplex::Nearby {
    int count;
    int vertex[4];
    double weight[4];
    Vec3d point;
};

Simplex::Nearby Simplex::nearby_on_segment() const {
    const Weights<double> at = closest(kOrigin, Core<double, 2>{{vertex_[0].w, vertex_[1].w}});
    const double first = 1.0 - at.b1;
    return {2, {0, 1, 0, 0}, {first, at.b1, 0, 0}, first * vertex_[0].w + at.b1 * vertex_[1].w};
}

// The kernel for triangles without its lanes: where the foot of the origin lies on the face, no edge is looked at.
Simplex::Nearby Simplex::nearby_on_triangle(int i, int j, int k) const {
    const Core<double, 3> triangle{{vertex_[i].w, vertex_[j].w, vertex_[k].w}};
    const Vec3d &p = triangle.vertex[0], &q = triangle.vertex[1], &r = triangle.vertex[2];
    const FacePoint<double> foot = foot_on_face(-p, frame_of(triangle));
    Weights<double> at{0.0, 0.0, foot.w1, foot.w2};
    if (!(foot.distance_sq < std::numeric_limits<double>::infinity())) {
        Nearest<double> nearest = nothing_yet<double>();
        for (int edge = 0; edge < 3; ++edge) {
            const Vec3d& start = triangle.vertex[edge];
            const Vec3d along = triangle.vertex[(edge + 1) % 3] - start;
            const double t = closest_on_segment(-start, along, inverse_or_zero(norm_sq(along)));
            weights_on_edge(edge, t, at.b1, at.b2);
            nearest.consider(norm_sq(start + t * along), at);
        }
        at = nearest.at;
    }
    const double first = 1.0 - at.b1 - at.b2;
    return {3, {i, j, k, 0}, {first, at.b1, at.b2, 0}, first * p + at.b1 * q + at.b2 * r};
}

Simplex::Nearby Simplex::nearby_on_tetrahedron() const {
    constexpr int kFaces[4][4] = {{0, 1, 3, 2}, {1, 2, 3, 0}, {0, 2, 3, 1}, {0, 1, 2, 3}};
    Nearby best{4, {0, 1, 2, 3}, {0.25, 0.25, 0.25, 0.25}, {0, 0, 0}};
    double best_sq = std::numeric_limits<double>::infinity();
    for (const auto& [i, j, k, opposite] : kFaces) {
        if (is_on_side_of(vertex_[opposite].w, vertex_[i].w, vertex_[j].w, vertex_[k].w)) continue;
        const Nearby found = nearby_on_triangle(i, j, k);
        const double found_sq = norm_sq(found.point);
        if (found_sq < best_sq) best_sq = found_sq, best = found;
    }
    return best;
}

void Simplex::take(const PolytopeWalk& walked) {
    count_ = 0, nearest_ = {0, 0, 0};
    for (int k = 0; k < walked.count; ++k) {
        const auto& [w, a] = walked.corner[k];
        const double weight = walked.count == 4 ? 0.25 : walked.weight[k];
        if (weight <= 0.0) continue;
        vertex_[count_] = {w, a, a - w};
        weight_[count_++] = weight;
        if (walked.count < 4) nearest_ = nearest_ + weight * w;
    }
    distance_ = norm(nearest_);
}

bool Simplex::extend(const Difference& by) {
    vertex_[count_] = by;
    const Nearby found = count_ == 0   ? Nearby{1, {}, {1.0, 0, 0, 0}, by.w}
                         : count_ == 1 ? nearby_on_segment()
                         : count_ == 2 ? nearby_on_triangle(0, 1, 2)
                                       : nearby_on_tetrahedron();
    const double distance = norm(found.point);
    if (!(distance < distance_)) return false;
    nearest_ = found.point;
    distance_ = distance;
    count_ = 0;
    for (int k = 0; k < found.count; ++k) {
        if (found.weight[k] <= 0.0) continue;
        if (count_ != found.vertex[k]) vertex_[count_] = vertex_[found.vertex[k]];
        weight_[count_++] = found.weight[k];
    }
    return true;
}

bool Simplex::has(const Vec3d& w) const {
    for (int k = 0; k < count_; ++k)
        if (largest(vertex_[k].w - w) == 0.0) return true;
    return false;
}

Vec3d Simplex::direction() const {
    const Vec3d out = (-1.0 / distance_) * nearest_;
    if (count_ == 1) return out;
    const Vec3d u = vertex_[1].w - vertex_[0].w;
    const double rounding = 32.0 * kEpsilon * (largest(vertex_[0].w) + largest(u));
    if (rounding < kNoNoise * distance_) return out;
    Vec3d across = out - (dot(out, u) * inverse_or_zero(norm_sq(u))) * u;
    if (count_ == 3) {
        across = cross(u, vertex_[2].w - vertex_[0].w);
        if (dot(across, out) < 0.0) across = -across;
    }
    across = unit_or(out, across);
    // The two agree as far as rounding lets the nearest point say. If they do not, that lies on the rim of the simplex.
    return largest(across - out) * distance_ <= rounding ? across : out;
}

Vec3d Simplex::point_a() const {
    Vec3d sum{0, 0, 0};
    for (int k = 0; k < count_; ++k) sum = sum + weight_[k] * vertex_[k].a;
    return sum;
}

}  // namespace clearance
