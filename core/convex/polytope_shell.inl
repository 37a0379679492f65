// The polytopes that grow: included by one file per instruction set, see closest/kernel.inl for what that asks for.
#include <cstdint>

#include "closest/farthest.hpp"
#include "convex/near_simplex.hpp"

namespace clearance {
namespace {

// A polytope of a few dozen triangles, which turn counter-clockwise seen from outside. There are so few of them that all
// planes are compared with a new vertex, and all faces for the nearest, in lanes; and so are the planes of a ring of new
// faces computed. Faces lie in blocks of eight, a ring begins a new one: what was written as lanes is read as lanes. Dead
// faces keep their places.
//
// Rounding is not cared for: where it may be in the way, the polytope is not grown any more.
template <class Real>
class Shell {
    using Traits = LaneTraits<Real>;
    static constexpr unsigned kLanes = Traits::count;
    static constexpr unsigned kMostFaces = 384, kMostVertices = 64, kWidestRing = 24;
    static constexpr unsigned kRow = 32;  // faces that are looked at in one go, dead or not: most polytopes have no more
    static_assert((kMostFaces - kWidestRing) / kPointBlock + 5 <= kMostVertices);
    static constexpr unsigned kColumn = kMostFaces + 8;  // columns a power of two apart drive each other out of the cache
    static constexpr double kNever = -std::numeric_limits<double>::infinity();

    // Faces flatter than this, compared with the size, and planes more uncertain, need care. A tetrahedron is fat if six
    // times its volume is more than this, compared with the cube of the size.
    static constexpr double kThin = 1e-11, kSliver = 1e-12, kFat = 1e-6;

    static constexpr double kNumbers[kWidestRing] = {0,  1,  2,  3,  4,  5,  6,  7,  8,  9,  10, 11,
                                                     12, 13, 14, 15, 16, 17, 18, 19, 20, 21, 22, 23};

public:
    // A tetrahedron around the origin. False if it is all but flat.
    CLEARANCE_INLINE bool start(const Corner<double> (&corner)[4], double size) {
        size_ = size, faces_ = 0;
        for (std::uint32_t& row : alive_) row = 0;
        const Vec3d p = corner[0].w, u = corner[1].w - p, v = corner[2].w - p, to_top = corner[3].w - p;
        const double volume = dot(cross(u, v), to_top);
        if (!(abs_of(volume) > kFat * size * size * size)) return false;
        const bool is_turned = volume > 0.0;
        put_vertex(0, corner[0]), put_vertex(1, corner[is_turned ? 2 : 1]);
        put_vertex(2, corner[is_turned ? 1 : 2]), put_vertex(3, corner[3]);
        vertices_ = 4;
        constexpr unsigned kCorner[4][3] = {{0, 1, 2}, {0, 3, 1}, {1, 3, 2}, {2, 3, 0}};
        unsigned last[kPointBlock] = {};
        for (unsigned f = 0; f < 4; ++f) {
            put_face(f, kCorner[f][0], kCorner[f][1], kCorner[f][2]);
            rim_start_[f] = kCorner[f][0], rim_end_[f] = kCorner[f][1], last[f] = kCorner[f][2];
        }
        return add_planes(4, [&](unsigned f) { return points(last + f); });
    }

    // The face that is nearest to the origin, or that the origin is farthest outside of.
    CLEARANCE_INLINE unsigned nearest() const {
        Highest<Real> highest;
        for (unsigned row = 0; row < faces_; row += kRow)
            for (unsigned f = row; f < row + kRow; f += kPointBlock)
                for (unsigned g = 0; g < Highest<Real>::kGroups; ++g)
                    highest.consider(g, Traits::load(upper_ + f + g * kLanes));
        return static_cast<unsigned>(highest.number());
    }

    // What a face proves, if the origin is not outside of it, and its plane.
    CLEARANCE_INLINE double upper(unsigned face) const { return upper_[face]; }
    CLEARANCE_INLINE Vec3d normal(unsigned face) const { return {normal_[0][face], normal_[1][face], normal_[2][face]}; }
    CLEARANCE_INLINE double height(unsigned face) const { return height_[face]; }

    // A new vertex takes the place of the faces that it sees, in four stages. First, which are they?
    CLEARANCE_INLINE void see(const Corner<double>& vertex) {
        put_vertex(vertices_, vertex);
        Real x(vertex.w.x), y(vertex.w.y), z(vertex.w.z), level(4.0 * kEpsilon * size_);
        for (unsigned row = 0; kRow * row < faces_; ++row) {
            std::uint32_t seen = 0;
            for (unsigned f = kRow * row; f < kRow * row + kRow; f += kLanes) {
                Real rise = x * Traits::load(normal_[0] + f) + y * Traits::load(normal_[1] + f) +
                            z * Traits::load(normal_[2] + f) - Traits::load(height_ + f);
                seen |= std::uint32_t{bits_of(rise > level)} << (f % kRow);
            }
            seen_[row] = seen & alive_[row];
            alive_[row] &= ~seen;
        }
    }

    // Take them away, and list their edges to those that stay. False if these can be no ring, or one that is too wide.
    CLEARANCE_INLINE bool find_rim() {
        unsigned edges = 0;
        for (unsigned row = 0, faces = faces_; kRow * row < faces; ++row)
            for (std::uint32_t left = seen_[row]; left != 0; left &= left - 1) {
                const unsigned face = kRow * row + static_cast<unsigned>(__builtin_ctz(left));
                upper_[face] = kNever;
                if (edges > kWidestRing) continue;
                for (unsigned edge = 0; edge < 3; ++edge) {
                    const unsigned start = corner_[face][edge], end = corner_[face][edge == 2 ? 0 : edge + 1];
                    const unsigned outside = owner_[end][start];
                    rim_start_[edges] = start, rim_end_[edges] = end;
                    edges += ~seen_[outside / kRow] >> (outside % kRow) & 1u;  // no branch: it could not be foreseen
                }
            }
        edges_ = edges;
        return edges >= 3 && edges <= kWidestRing && faces_ + kWidestRing <= kMostFaces;
    }

    // Lay a triangle between each edge of the rim and the new vertex. They close the polytope if every vertex of the rim
    // begins one of its edges and ends another; that it is a single ring is not needed. False if that is not so.
    CLEARANCE_INLINE bool lay_ring() {
        const unsigned edges = edges_, faces = faces_, top = vertices_;
        std::uint64_t starts = 0, ends = 0;
        for (unsigned k = 0; k < edges; ++k) {
            const unsigned start = rim_start_[k], end = rim_end_[k];
            put_face(faces + k, start, end, top);
            starts |= std::uint64_t{1} << start, ends |= std::uint64_t{1} << end;
        }
        return count_of(starts) == edges && count_of(ends) == edges;
    }

    // The planes of the ring. False if one of its faces needs care.
    CLEARANCE_INLINE bool close() {
        const double(&w)[4] = w_[vertices_];
        const Vec3<Real> top{Real(w[0]), Real(w[1]), Real(w[2])};
        ++vertices_;
        return add_planes(edges_, [&](unsigned) { return top; });
    }

    // Where on a the foot of the origin comes from, if it lies on this face or on the other half of a parallelogram that two
    // edges span, whether that is there or not.
    CLEARANCE_INLINE bool point_a(unsigned face, Vec3d& found) const {
        const std::uint8_t(&corner)[4] = corner_[face];
        const Corner<double> p = vertex(corner[0]), q = vertex(corner[1]), r = vertex(corner[2]);
        const Vec3d along = q.w - p.w, other = r.w - p.w, turn = cross(along, other), aside = cross(p.w, turn);
        const double scale = 1.0 / norm_sq(turn), b1 = scale * dot(other, aside), b2 = -scale * dot(along, aside);
        const double b0 = 1.0 - b1 - b2;
        const Vec3d foot = b0 * p.w + b1 * q.w + b2 * r.w;
        found = b0 * p.a + b1 * q.a + b2 * r.a;
        if (!(largest(foot - height_[face] * normal(face)) <= 64.0 * kEpsilon * size_)) return false;
        constexpr double kSlack = 8.0 * kEpsilon;
        if (min_of(b0, min_of(b1, b2)) >= -kSlack) return true;
        if (max_of(b0, max_of(b1, b2)) > 1.0 + kSlack) return false;
        return b0 < -kSlack ? is_half(p, q, r) : b1 < -kSlack ? is_half(q, r, p) : is_half(r, p, q);
    }

private:
    static CLEARANCE_INLINE unsigned count_of(std::uint64_t bits) {
        return static_cast<unsigned>(__builtin_popcountll(bits));
    }

    // Whether of the sides that meet at a corner one is an edge of a and one of b: then the face is half of a parallelogram.
    CLEARANCE_INLINE bool is_half(const Corner<double>& at, const Corner<double>& one, const Corner<double>& other) const {
        const auto stays = [&](const Vec3d& side) { return largest(side) <= 4.0 * kEpsilon * size_; };
        const Vec3d one_a = one.a - at.a, other_a = other.a - at.a;
        const bool one_is_of_b = stays(one_a), other_is_of_b = stays(other_a);
        return (one_is_of_b && stays(other_a - (other.w - at.w))) || (other_is_of_b && stays(one_a - (one.w - at.w)));
    }

    CLEARANCE_INLINE void put_vertex(unsigned number, const Corner<double>& vertex) {
        __builtin_memcpy(w_[number], &vertex, sizeof w_[number]);  // at once, as it will be read, and so one number more
        a_[number] = vertex.a;
    }
    CLEARANCE_INLINE Corner<double> vertex(unsigned number) const {
        return {{w_[number][0], w_[number][1], w_[number][2]}, a_[number]};
    }
    CLEARANCE_INLINE Vec3<Real> points(const unsigned* numbers) const {
        Vec3<Real> found;
        Traits::gather3(w_, numbers, found.x, found.y, found.z);
        return found;
    }

    CLEARANCE_INLINE void put_face(unsigned face, unsigned p, unsigned q, unsigned r) {
        corner_[face][0] = static_cast<std::uint8_t>(p), corner_[face][1] = static_cast<std::uint8_t>(q);
        corner_[face][2] = static_cast<std::uint8_t>(r);
        owner_[p][q] = owner_[q][r] = owner_[r][p] = static_cast<std::uint16_t>(face);
    }

    // Places that no face has taken yet are never nearest.
    CLEARANCE_INLINE void begin_row(unsigned first) {
        for (unsigned f = first; f < first + kRow; f += kLanes) Traits::store(upper_ + f, Real(kNever));
    }

    // The planes of new faces over edges of the rim.
    template <class Last>
    CLEARANCE_INLINE bool add_planes(unsigned count, const Last& last) {
        unsigned need_care = 0;
        const unsigned places = (count + kPointBlock - 1) / kPointBlock * kPointBlock;
        Real thin_sq(kThin * size_ * kThin * size_), rounding(4.0 * kEpsilon * size_), sliver(kSliver * size_);
        for (unsigned k = 0; k < places; k += kLanes) {
            Vec3<Real> p = points(rim_start_ + k), q = points(rim_end_ + k), r = last(k);
            Vec3<Real> along = q - p, other = r - p, turn = cross(along, other);
            Real area_sq = norm_sq(turn), longest_sq = max_of(max_of(norm_sq(along), norm_sq(other)), norm_sq(r - q));
            auto is_thin = area_sq <= thin_sq * longest_sq;
            Real scale = Real(1.0) / sqrt_of(select(is_thin, Real(1.0), area_sq));
            Vec3<Real> normal = scale * turn;
            Real height = dot(normal, p), doubt = rounding * (Real(1.0) + scale * longest_sq);
            auto is_there = Traits::load(kNumbers + k) < Real(static_cast<double>(count));
            need_care |= bits_of(both(is_there, either(is_thin, doubt > sliver)));
            const unsigned f = faces_ + k;
            if (f % kRow == 0) begin_row(f);
            Traits::store(normal_[0] + f, normal.x), Traits::store(normal_[1] + f, normal.y);
            Traits::store(normal_[2] + f, normal.z), Traits::store(height_ + f, height);
            Traits::store(upper_ + f, select(is_there, doubt - height, Real(kNever)));
            alive_[f / kRow] |= std::uint32_t{bits_of(is_there)} << (f % kRow);
        }
        faces_ += places;
        return need_care == 0;
    }

    double size_;
    unsigned faces_, vertices_, edges_;                                 // edges: of the rim
    std::uint32_t alive_[kMostFaces / kRow], seen_[kMostFaces / kRow];  // a bit for each face
    alignas(64) double normal_[3][kColumn];                             // outward, unit
    alignas(64) double height_[kColumn];                                // of the planes over the origin
    alignas(64) double upper_[kColumn];                                 // minus the proved distance of the faces
    std::uint8_t corner_[kColumn][4];
    std::uint16_t owner_[kMostVertices][kMostVertices];  // the face to the left of an edge from one vertex to another
    alignas(32) double w_[kMostVertices][4];
    Vec3d a_[kMostVertices];
    unsigned rim_start_[kWidestRing + 4] = {}, rim_end_[kWidestRing + 4] = {};  // whole blocks are read
};

}  // namespace
}  // namespace clearance
