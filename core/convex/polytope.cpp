#include "convex/polytope.hpp"

#include <algorithm>

#include "closest/pairs.hpp"

namespace clearance {

namespace {

// Faces less high than this, compared with the whole, have no normal worth the name.
constexpr double kThin = 1e-11;

int after(int edge) { return edge == 2 ? 0 : edge + 1; }

}  // namespace

bool Polytope::start(const Difference (&corner)[4], double size) {
    size_ = size;
    vertex_.assign(corner, corner + 4);
    face_.clear();
    queue_.clear();
    const Vec3d u = corner[1].w - corner[0].w, v = corner[2].w - corner[0].w, to_top = corner[3].w - corner[0].w;
    const double volume = dot(cross(u, v), to_top);
    if (abs_of(volume) <= kThin * norm(cross(u, v)) * size) return false;
    if (volume > 0.0) std::swap(vertex_[1], vertex_[2]);
    add_face(0, 1, 2, -1), add_face(0, 3, 1, -1), add_face(1, 3, 2, -1), add_face(2, 3, 0, -1);
    constexpr int kNeighbours[4][3] = {{1, 2, 3}, {3, 2, 0}, {1, 3, 0}, {2, 1, 0}};
    for (int f = 0; f < 4; ++f) {
        std::copy(kNeighbours[f], kNeighbours[f] + 3, face_[f].neighbour);
        if (face_[f].thin) return false;
    }
    return true;
}

int Polytope::add_face(int i, int j, int k, int outside) {
    const Vec3d &p = vertex_[i].w, &q = vertex_[j].w, &r = vertex_[k].w;
    const Vec3d along = q - p, other = r - p;
    const Vec3d turn = cross(along, other);
    const double area = norm(turn);
    const double longest_sq = max_of(max_of(norm_sq(along), norm_sq(other)), norm_sq(r - q));
    Face face{{i, j, k}, {-1, -1, -1}, {}, 0.0, true, !(area > kThin * size_ * std::sqrt(longest_sq))};
    if (!face.thin) {
        face.normal = (1.0 / area) * turn;
        face.distance = dot(face.normal, p);
    } else if (outside >= 0) {
        face.normal = face_[outside].normal;
        face.distance = face_[outside].distance;
    }
    const int at = static_cast<int>(face_.size());
    face_.push_back(face);
    if (!face.thin) {
        queue_.push_back({face.distance, at});
        std::push_heap(queue_.begin(), queue_.end());
    }
    return at;
}

const Polytope::Face& Polytope::nearest() {
    while (!face_[queue_.front().face].alive) {
        std::pop_heap(queue_.begin(), queue_.end());
        queue_.pop_back();
    }
    return face_[queue_.front().face];
}

const Polytope::Face& Polytope::facing(const Vec3d& along) const {
    const Face* best = nullptr;
    for (const Face& face : face_)
        if (face.alive && !face.thin && (best == nullptr || dot(face.normal, along) > dot(best->normal, along)))
            best = &face;
    return *best;
}

// Walk over the faces that see w, edge by edge, and list the edges where that ends in the order in which they are met.
bool Polytope::find_horizon(int face, int edge, const Vec3d& w) {
    struct Step {
        int face, edge;
    };
    thread_local std::vector<Step> waiting;
    waiting.assign(1, {face, edge});
    while (!waiting.empty()) {
        const Step step = waiting.back();
        waiting.pop_back();
        Face& here = face_[step.face];
        if (!here.alive) continue;
        if (dot(here.normal, w) - here.distance <= 4.0 * kEpsilon * size_) {
            horizon_.push_back({step.face, step.edge});
            continue;
        }
        here.alive = false;
        for (const int e : {after(after(step.edge)), after(step.edge)}) {
            const int next = here.neighbour[e];
            const int* back = face_[next].neighbour;
            waiting.push_back({next, back[0] == step.face ? 0 : back[1] == step.face ? 1 : 2});
        }
    }
    return true;
}

bool Polytope::grow(const Difference& vertex) {
    const int seen = queue_.front().face;
    const int w = static_cast<int>(vertex_.size());
    vertex_.push_back(vertex);
    horizon_.clear();
    face_[seen].alive = false;
    for (int e = 0; e < 3; ++e) {
        const int next = face_[seen].neighbour[e];
        const int* back = face_[next].neighbour;
        find_horizon(next, back[0] == seen ? 0 : back[1] == seen ? 1 : 2, vertex.w);
    }
    // The edges must close to a ring around the new vertex.
    const std::size_t count = horizon_.size();
    if (count < 3) return false;
    const auto start_of = [&](const HorizonEdge& h) { return face_[h.face].corner[after(h.edge)]; };
    const auto end_of = [&](const HorizonEdge& h) { return face_[h.face].corner[h.edge]; };
    for (std::size_t k = 0; k < count; ++k)
        if (end_of(horizon_[k]) != start_of(horizon_[(k + 1) % count])) return false;
    const int first = static_cast<int>(face_.size());
    for (std::size_t k = 0; k < count; ++k) {
        const HorizonEdge h = horizon_[k];
        const int made = add_face(start_of(h), end_of(h), w, h.face);
        face_[made].neighbour[0] = h.face;
        face_[made].neighbour[1] = first + static_cast<int>((k + 1) % count);
        face_[made].neighbour[2] = first + static_cast<int>((k + count - 1) % count);
        face_[h.face].neighbour[h.edge] = made;
    }
    return true;
}

Vec3d Polytope::point_a(const Face& face) const {
    const Difference &p = vertex_[face.corner[0]], &q = vertex_[face.corner[1]], &r = vertex_[face.corner[2]];
    const Weights<double> at = closest(Core<double, 1>{{{0, 0, 0}}}, Core<double, 3>{{p.w, q.w, r.w}});
    return (1.0 - at.b1 - at.b2) * p.a + at.b1 * q.a + at.b2 * r.a;
}

}  // namespace clearance
