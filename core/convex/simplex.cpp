#include "convex/simplex.hpp"

#include "closest/pairs.hpp"

namespace clearance {
namespace {

constexpr Core<double, 1> kOrigin{{{0, 0, 0}}};

// Where the nearest point lies on some of the vertices: their numbers and weights.
struct Nearby {
    int vertex[3];
    double weight[3];
    int count;
    double distance_sq;
};

Nearby nearby_on_segment(const Difference* v) {
    const Weights<double> at = closest(kOrigin, Core<double, 2>{{v[0].w, v[1].w}});
    return {{0, 1, 0}, {1.0 - at.b1, at.b1, 0.0}, 2, 0.0};
}

Nearby nearby_on_triangle(const Difference* v, int i, int j, int k) {
    const Weights<double> at = closest(kOrigin, Core<double, 3>{{v[i].w, v[j].w, v[k].w}});
    const double first = 1.0 - at.b1 - at.b2;
    return {{i, j, k}, {first, at.b1, at.b2}, 3, norm_sq(first * v[i].w + at.b1 * v[j].w + at.b2 * v[k].w)};
}

void reduce(Simplex& simplex, const Nearby& to) {
    Simplex kept;
    for (int k = 0; k < to.count; ++k) {
        if (to.weight[k] <= 0.0) continue;
        kept.vertex[kept.count] = simplex.vertex[to.vertex[k]];
        kept.weight[kept.count++] = to.weight[k];
    }
    simplex = kept;
}

// Whether the origin lies on the same side of the plane p, q, r as s does, beyond doubt.
bool is_on_side_of(const Vec3d& s, const Vec3d& p, const Vec3d& q, const Vec3d& r) {
    const Vec3d normal = cross(q - p, r - p);
    const double origin = -dot(normal, p), other = dot(normal, s - p);
    const double doubt = 16.0 * kEpsilon * largest(normal) * (largest(p) + largest(s));
    return other > 0.0 ? origin > doubt : other < 0.0 && origin < -doubt;
}

void reduce_tetrahedron(Simplex& simplex) {
    // The last vertex is the new one, and the origin lies on its side of the face that was there before.
    constexpr int kFaces[4][4] = {{0, 1, 3, 2}, {1, 2, 3, 0}, {2, 0, 3, 1}, {0, 1, 2, 3}};
    const Difference* v = simplex.vertex;
    Nearby best{{}, {}, 0, std::numeric_limits<double>::infinity()};
    for (const auto& face : kFaces) {
        if (is_on_side_of(v[face[3]].w, v[face[0]].w, v[face[1]].w, v[face[2]].w)) continue;
        const Nearby found = nearby_on_triangle(v, face[0], face[1], face[2]);
        if (found.distance_sq < best.distance_sq) best = found;
    }
    if (best.count > 0) return reduce(simplex, best);
    simplex.holds_origin = true;
}

}  // namespace

void extend(Simplex& simplex, const Difference& vertex) {
    simplex.vertex[simplex.count++] = vertex;
    switch (simplex.count) {
        case 1:
            simplex.weight[0] = 1.0;
            break;
        case 2:
            reduce(simplex, nearby_on_segment(simplex.vertex));
            break;
        case 3:
            reduce(simplex, nearby_on_triangle(simplex.vertex, 0, 1, 2));
            break;
        default:
            reduce_tetrahedron(simplex);
    }
}

}  // namespace clearance
