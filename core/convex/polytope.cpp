#include "convex/polytope.hpp"

#include <algorithm>

#include "closest/pairs.hpp"

namespace clearance {

namespace {

// Faces less high than this, compared with the whole, have no normal worth the name.
constexpr double kThin = 1e-11;

// The planes of faces more uncertain than this, compared with the size, are not trusted.
constexpr double kSliver = 1e-12;

// Room that is there from the start; few polytopes need more.
constexpr std::size_t kUsualVertices = 256;

int after(int edge) { return edge == 2 ? 0 : edge + 1; }

}  // namespace

bool Polytope::start(const Difference (&corner)[4], double size) {
    size_ = size;
    doubt_ = 0.0;
    vertex_.reserve(kUsualVertices);
    face_.reserve(6 * kUsualVertices);
    queue_.reserve(6 * kUsualVertices);
    horizon_.reserve(kUsualVertices);
    waiting_.reserve(6 * kUsualVertices);
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
        enqueue(f);
    }
    return true;
}

void Polytope::add_face(int i, int j, int k, int outside) {
    const Vec3d &p = vertex_[i].w, &q = vertex_[j].w, &r = vertex_[k].w;
    const Vec3d along = q - p, other = r - p;
    const Vec3d turn = cross(along, other);
    const double area_sq = norm_sq(turn), thin = kThin * size_;
    const double longest_sq = max_of(max_of(norm_sq(along), norm_sq(other)), norm_sq(r - q));
    const bool is_thin = area_sq <= thin * thin * longest_sq;
    const double scale = is_thin ? 0.0 : 1.0 / std::sqrt(area_sq);
    Face& face = face_.emplace_back();  // written in place: a copy would wait for the parts of the original
    face.corner[0] = i, face.corner[1] = j, face.corner[2] = k;
    face.alive = true, face.thin = is_thin;
    if (is_thin) doubt_ = thin;
    face.normal = is_thin && outside >= 0 ? face_[outside].normal : scale * turn;
    face.height = is_thin && outside >= 0 ? face_[outside].height : dot(face.normal, p);
    const double doubt = 4.0 * kEpsilon * size_ * (1.0 + scale * longest_sq);
    face.distance = face.height - doubt;
    if (doubt > kSliver * size_ && face.distance > 0.0) {
        // The plane of a sliver is uncertain, but not how far the sliver itself is from an origin that is inside for
        // certain.
        const Weights<double> at = closest(Core<double, 1>{{{0, 0, 0}}}, Core<double, 3>{{p, q, r}});
        face.distance = max_of(face.distance, norm(p + at.b1 * along + at.b2 * other) - 16.0 * kEpsilon * size_);
    }
}

void Polytope::enqueue(int face) {
    queue_.push_back({face_[face].distance, face});
    std::push_heap(queue_.begin(), queue_.end());
}

const Polytope::Face* Polytope::nearest() {
    while (!queue_.empty()) {
        const Face& face = face_[queue_.front().face];
        if (face.alive) return &face;
        std::pop_heap(queue_.begin(), queue_.end());
        queue_.pop_back();
    }
    return nullptr;
}

// The same edge, seen from the face on its other side.
Polytope::EdgeOfFace Polytope::across(int face, int edge) const {
    const int other = face_[face].neighbour[edge];
    const int* back = face_[other].neighbour;
    return {other, back[0] == face ? 0 : back[1] == face ? 1 : 2};
}

// Walk over the faces that see w, edge by edge, and list the edges where that ends in the order in which they are met.
void Polytope::find_horizon(EdgeOfFace from, const Vec3d& w) {
    waiting_.assign(1, from);
    while (!waiting_.empty()) {
        const EdgeOfFace here = waiting_.back();
        waiting_.pop_back();
        Face& face = face_[here.face];
        if (!face.alive) continue;
        if (dot(face.normal, w) - face.height <= 4.0 * kEpsilon * size_) {
            horizon_.push_back(here);
            continue;
        }
        face.alive = false;
        const int next = after(here.edge);
        waiting_.push_back(across(here.face, after(next)));
        waiting_.push_back(across(here.face, next));
    }
}

// Whether the edges of the horizon follow each other to a ring.
bool Polytope::horizon_is_closed() const {
    if (horizon_.size() < 3) return false;
    const EdgeOfFace* before = &horizon_.back();
    for (const EdgeOfFace& edge : horizon_) {
        if (face_[before->face].corner[before->edge] != face_[edge.face].corner[after(edge.edge)]) return false;
        before = &edge;
    }
    return true;
}

std::optional<Vec3d> Polytope::point_a(const Face& face) const {
    const Difference &p = vertex_[face.corner[0]], &q = vertex_[face.corner[1]], &r = vertex_[face.corner[2]];
    const Weights<double> at = closest(Core<double, 1>{{{0, 0, 0}}}, Core<double, 3>{{p.w, q.w, r.w}});
    const double first = 1.0 - at.b1 - at.b2;
    const Vec3d foot = first * p.w + at.b1 * q.w + at.b2 * r.w;
    if (largest(foot - face.height * face.normal) > 64.0 * kEpsilon * size_) return std::nullopt;
    return first * p.a + at.b1 * q.a + at.b2 * r.a;
}

bool Polytope::grow(const Difference& vertex, double worth_opening) {
    const int seen = queue_.front().face;
    const int w = static_cast<int>(vertex_.size());
    vertex_.push_back(vertex);
    horizon_.clear();
    face_[seen].alive = false;
    for (int edge = 0; edge < 3; ++edge) find_horizon(across(seen, edge), vertex.w);
    if (!horizon_is_closed()) return false;
    const int first = static_cast<int>(face_.size()), count = static_cast<int>(horizon_.size());
    for (int k = 0; k < count; ++k) {
        const EdgeOfFace outside = horizon_[k];
        const int made = first + k;
        add_face(face_[outside.face].corner[after(outside.edge)], face_[outside.face].corner[outside.edge], w, outside.face);
        Face& face = face_[made];
        face.neighbour[0] = outside.face;
        face.neighbour[1] = k + 1 == count ? first : made + 1;
        face.neighbour[2] = k == 0 ? first + count - 1 : made - 1;
        face_[outside.face].neighbour[outside.edge] = made;
        if (!face.thin && face.distance < worth_opening) enqueue(made);
    }
    return true;
}

}  // namespace clearance
