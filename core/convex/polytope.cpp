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

unsigned after(unsigned edge) { return edge == 2 ? 0 : edge + 1; }

}  // namespace

void Polytope::grow_room() {
    vertex_.resize(std::max(kUsualVertices, 2 * vertices_));
    const std::size_t faces = std::max(6 * kUsualVertices, 4 * faces_);
    face_.resize(faces), queue_.resize(faces), horizon_.resize(faces), waiting_.resize(2 * faces);
}

bool Polytope::start(const Difference (&corner)[4], double size, double worth_opening) {
    vertices_ = faces_ = queued_ = 0;
    make_room();
    size_ = size;
    doubt_ = 0.0;
    const Vec3d u = corner[1].w - corner[0].w, v = corner[2].w - corner[0].w, to_top = corner[3].w - corner[0].w;
    const Vec3d base = cross(u, v);
    const double volume = dot(base, to_top);
    if (abs_of(volume) <= kThin * norm(base) * size) return false;
    const bool turned = volume > 0.0;
    vertex_[0] = corner[0], vertex_[1] = corner[turned ? 2 : 1], vertex_[2] = corner[turned ? 1 : 2], vertex_[3] = corner[3];
    vertices_ = 4;
    add_face(0, 1, 2, nullptr), add_face(0, 3, 1, nullptr), add_face(1, 3, 2, nullptr), add_face(2, 3, 0, nullptr);
    constexpr unsigned kBeyond[4][3] = {
        {4 + 2, 8 + 2, 12 + 2}, {12 + 1, 8 + 0, 0 + 0}, {4 + 1, 12 + 0, 0 + 1}, {8 + 1, 4 + 0, 0 + 2}};
    for (unsigned f = 0; f < 4; ++f) {
        for (int edge = 0; edge < 3; ++edge) face_[f].beyond[edge] = kBeyond[f][edge];
        if (face_[f].thin) return false;
        if (face_[f].distance < worth_opening) enqueue(f);
    }
    return true;
}

void Polytope::add_face(int i, int j, int k, const Face* outside) {
    const Vec3d &p = vertex_[i].w, &q = vertex_[j].w, &r = vertex_[k].w;
    const Vec3d along = q - p, other = r - p;
    const Vec3d turn = cross(along, other);
    const double area_sq = norm_sq(turn), thin = kThin * size_;
    const double longest_sq = max_of(max_of(norm_sq(along), norm_sq(other)), norm_sq(r - q));
    const bool is_thin = area_sq <= thin * thin * longest_sq;
    const double scale = is_thin ? 0.0 : 1.0 / std::sqrt(area_sq);
    Face& face = face_[faces_++];  // written in place: a copy would wait for the parts of the original
    face.corner[0] = i, face.corner[1] = j, face.corner[2] = k;
    face.alive = true, face.thin = is_thin;
    face.normal = scale * turn;
    face.height = dot(face.normal, p);
    if (is_thin) {
        doubt_ = thin;
        if (outside != nullptr) face.normal = outside->normal, face.height = outside->height;
    }
    const double doubt = 4.0 * kEpsilon * size_ * (1.0 + scale * longest_sq);
    face.distance = face.height - doubt;
    if (doubt > kSliver * size_ && face.distance > 0.0) {
        // The plane of a sliver is uncertain, but not how far the sliver itself is from an origin that is inside for
        // certain.
        const Weights<double> at = closest(Core<double, 1>{{{0, 0, 0}}}, Core<double, 3>{{p, q, r}});
        face.distance = max_of(face.distance, norm(p + at.b1 * along + at.b2 * other) - 16.0 * kEpsilon * size_);
    }
}

void Polytope::enqueue(unsigned face) {
    queue_[queued_++] = {face_[face].distance, face};
    std::push_heap(queue_.begin(), queue_.begin() + static_cast<std::ptrdiff_t>(queued_));
}

const Polytope::Face* Polytope::nearest() {
    while (queued_ > 0) {
        const Face& face = face_[queue_.front().face];
        if (face.alive) return &face;
        std::pop_heap(queue_.begin(), queue_.begin() + static_cast<std::ptrdiff_t>(queued_));
        --queued_;
    }
    return nullptr;
}

// Walk over the faces that see w, edge by edge, and list the edges where that ends in the order in which they are met.
void Polytope::find_horizon(unsigned seen, const Vec3d& w) {
    const double level = 4.0 * kEpsilon * size_;
    face_[seen].alive = false;
    horizon_edges_ = 0;
    unsigned *const first = waiting_.data(), *waiting = first;
    for (const int edge : {2, 1, 0}) *waiting++ = face_[seen].beyond[edge];
    while (waiting != first) {
        const unsigned here = *--waiting;
        Face& face = face_[here / 4];
        if (!face.alive) continue;
        if (dot(face.normal, w) - face.height <= level) {
            horizon_[horizon_edges_++] = here;
            continue;
        }
        face.alive = false;
        const unsigned next = after(here % 4);
        *waiting++ = face.beyond[after(next)];
        *waiting++ = face.beyond[next];
    }
}

// Whether the edges of the horizon follow each other to a ring.
bool Polytope::horizon_is_closed() const {
    if (horizon_edges_ < 3) return false;
    unsigned before = horizon_[horizon_edges_ - 1];
    for (std::size_t k = 0; k < horizon_edges_; ++k) {
        const unsigned edge = horizon_[k];
        if (face_[before / 4].corner[before % 4] != face_[edge / 4].corner[after(edge % 4)]) return false;
        before = edge;
    }
    return true;
}

std::optional<Vec3d> Polytope::point_a(const Face& face) const {
    const Difference &p = vertex_[face.corner[0]], &q = vertex_[face.corner[1]], &r = vertex_[face.corner[2]];
    const Vec3d along = q.w - p.w, other = r.w - p.w, turn = cross(along, other), aside = cross(p.w, turn);
    const double scale = 1.0 / norm_sq(turn), b1 = scale * dot(other, aside), b2 = -scale * dot(along, aside);
    const double first = 1.0 - b1 - b2;
    const Vec3d foot = first * p.w + b1 * q.w + b2 * r.w;
    const bool is_on_face = min_of(first, min_of(b1, b2)) >= -8.0 * kEpsilon;
    if (!is_on_face || !(largest(foot - face.height * face.normal) <= 64.0 * kEpsilon * size_)) return std::nullopt;
    return first * p.a + b1 * q.a + b2 * r.a;
}

bool Polytope::grow(const Difference& vertex, double worth_opening) {
    make_room();
    const int w = static_cast<int>(vertices_++);
    vertex_[w] = vertex;
    find_horizon(queue_.front().face, vertex.w);
    if (!horizon_is_closed()) return false;
    const auto first = static_cast<unsigned>(faces_), count = static_cast<unsigned>(horizon_edges_);
    for (unsigned k = 0; k < count; ++k) {
        const unsigned outside = horizon_[k], made = first + k;
        Face& neighbour = face_[outside / 4];
        add_face(neighbour.corner[after(outside % 4)], neighbour.corner[outside % 4], w, &neighbour);
        Face& face = face_[made];
        face.beyond[0] = outside;
        face.beyond[1] = edge_of(k + 1 == count ? first : made + 1, 2);
        face.beyond[2] = edge_of(k == 0 ? first + count - 1 : made - 1, 1);
        neighbour.beyond[outside % 4] = edge_of(made, 0);
        if (!face.thin && face.distance < worth_opening) enqueue(made);
    }
    return true;
}

}  // namespace clearance
