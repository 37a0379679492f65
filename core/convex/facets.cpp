#include "convex/facets.hpp"

#include <algorithm>
#include <limits>
#include <map>
#include <utility>

#include "convex/curvature.hpp"
#include "convex/planar_hull.hpp"

namespace clearance {
namespace {

constexpr double kFlat = 1e-12;  // of the size: thinner is flat

struct Face {
    std::array<int, 3> corner;
    std::array<int, 3> neighbour;
    Vec3d normal;
    double offset;
    bool alive = true;
    std::vector<int> outside;  // points that see it and no other face
};

// Barber, Dobkin, Huhdanpaa, "The Quickhull Algorithm for Convex Hulls", 1996.
class QuickHull {
public:
    QuickHull(const std::vector<Vec3d>& points, double slack) : points_(points), slack_(slack) {}

    std::vector<Facet> facets(const std::array<int, 4>& start) {
        begin_with(start);
        for (std::size_t f = 0; f < faces_.size(); ++f)
            while (faces_[f].alive && !faces_[f].outside.empty() && grow(static_cast<int>(f))) {
            }
        return living();
    }

private:
    double height(const Face& face, int point) const {
        return dot(face.normal, points_[static_cast<std::size_t>(point)]) - face.offset;
    }

    Face face_through(int i, int j, int k) const {
        const Vec3d &p = points_[static_cast<std::size_t>(i)], &q = points_[static_cast<std::size_t>(j)],
                    &r = points_[static_cast<std::size_t>(k)];
        const Vec3d across = cross(q - p, r - p);
        const Vec3d normal = inverse_or_zero(norm(across)) * across;
        return {{i, j, k}, {-1, -1, -1}, normal, (dot(normal, p) + dot(normal, q) + dot(normal, r)) / 3.0, true, {}};
    }

    void begin_with(std::array<int, 4> c) {
        if (height(face_through(c[0], c[1], c[2]), c[3]) > 0.0) std::swap(c[1], c[2]);
        faces_ = {face_through(c[0], c[1], c[2]), face_through(c[0], c[3], c[1]), face_through(c[1], c[3], c[2]),
                  face_through(c[2], c[3], c[0])};
        constexpr int kNeighbours[4][3] = {{1, 2, 3}, {3, 2, 0}, {1, 3, 0}, {2, 1, 0}};
        for (int f = 0; f < 4; ++f)
            std::copy(kNeighbours[f], kNeighbours[f] + 3, faces_[static_cast<std::size_t>(f)].neighbour.begin());
        std::vector<int> all(points_.size());
        for (std::size_t k = 0; k < all.size(); ++k) all[k] = static_cast<int>(k);
        hand_out(all, 0);
    }

    // Give points to the first of the faces from `first` on that they lie outside of.
    void hand_out(const std::vector<int>& points, std::size_t first) {
        for (const int point : points)
            for (std::size_t f = first; f < faces_.size(); ++f)
                if (height(faces_[f], point) > slack_) {
                    faces_[f].outside.push_back(point);
                    break;
                }
    }

    // Take in the farthest point outside of a face. False if rounding leaves no proper silhouette: then its points are left.
    bool grow(int f) {
        std::vector<int>& outside = faces_[static_cast<std::size_t>(f)].outside;
        const auto farthest = std::max_element(outside.begin(), outside.end(), [&](int a, int b) {
            return height(faces_[static_cast<std::size_t>(f)], a) < height(faces_[static_cast<std::size_t>(f)], b);
        });
        const int point = *farthest;
        outside.erase(farthest);
        find_visible(f, point);
        std::map<int, int> after;  // corners of the silhouette, each with the next
        for (const auto& [from, to, beyond] : horizon_)
            if (!after.emplace(from, to).second) return false;
        const std::size_t first = faces_.size();
        std::map<int, int> face_from;
        for (const auto& [from, to, beyond] : horizon_) {
            const int number = static_cast<int>(faces_.size());
            face_from[from] = number;
            faces_.push_back(face_through(from, to, point));
            faces_.back().neighbour[0] = beyond;
            auto& back = faces_[static_cast<std::size_t>(beyond)];
            for (int e = 0; e < 3; ++e)
                if (back.corner[static_cast<std::size_t>(e)] == to) back.neighbour[static_cast<std::size_t>(e)] = number;
        }
        for (std::size_t n = first; n < faces_.size(); ++n) {
            const int next = face_from.at(faces_[n].corner[1]);
            faces_[n].neighbour[1] = next;
            faces_[static_cast<std::size_t>(next)].neighbour[2] = static_cast<int>(n);
        }
        for (const int seen : visible_) {
            Face& face = faces_[static_cast<std::size_t>(seen)];
            face.alive = false;
            const std::vector<int> orphans = std::exchange(face.outside, {});
            hand_out(orphans, first);
        }
        return true;
    }

    void find_visible(int f, int point) {
        visible_.assign(1, f);
        horizon_.clear();
        std::vector<bool>& seen = seen_;
        seen.assign(faces_.size(), false);
        seen[static_cast<std::size_t>(f)] = true;
        for (std::size_t k = 0; k < visible_.size(); ++k)
            for (const int n : faces_[static_cast<std::size_t>(visible_[k])].neighbour)
                if (!seen[static_cast<std::size_t>(n)] && height(faces_[static_cast<std::size_t>(n)], point) > 0.0)
                    seen[static_cast<std::size_t>(n)] = true, visible_.push_back(n);
        for (const int v : visible_) {
            const Face& face = faces_[static_cast<std::size_t>(v)];
            for (std::size_t e = 0; e < 3; ++e)
                if (!seen[static_cast<std::size_t>(face.neighbour[e])])
                    horizon_.push_back({face.corner[e], face.corner[(e + 1) % 3], face.neighbour[e]});
        }
    }

    std::vector<Facet> living() const {
        std::vector<int> number(faces_.size(), -1);
        int count = 0;
        for (std::size_t f = 0; f < faces_.size(); ++f)
            if (faces_[f].alive) number[f] = count++;
        std::vector<Facet> facets;
        for (const Face& face : faces_) {
            if (!face.alive) continue;
            Facet& facet = facets.emplace_back(Facet{face.corner, {}, face.normal});
            for (std::size_t e = 0; e < 3; ++e) facet.neighbour[e] = number[static_cast<std::size_t>(face.neighbour[e])];
        }
        return facets;
    }

    struct Edge {
        int from, to, beyond;
    };

    const std::vector<Vec3d>& points_;
    double slack_;
    std::vector<Face> faces_;
    std::vector<int> visible_;
    std::vector<bool> seen_;
    std::vector<Edge> horizon_;
};

// The points farthest along a function of them.
template <class Measure>
int farthest(const std::vector<Vec3d>& points, const Measure& measure) {
    int best = 0;
    double most = -std::numeric_limits<double>::infinity();
    for (std::size_t k = 0; k < points.size(); ++k)
        if (const double value = measure(points[k]); value > most) most = value, best = static_cast<int>(k);
    return best;
}

// A polygon seen from both sides.
std::vector<Facet> both_sides(const std::vector<int>& rim, const Vec3d& normal) {
    std::vector<Facet> facets;
    const int n = static_cast<int>(rim.size()), triangles = n - 2;
    const auto at = [&](int k) { return rim[static_cast<std::size_t>(k)]; };
    for (int k = 0; k < triangles; ++k) {  // (0, k + 1, k + 2): edges to the one before, the rim, the one after
        const int below = k + triangles;
        facets.push_back(
            {{at(0), at(k + 1), at(k + 2)}, {k == 0 ? below : k - 1, below, k == triangles - 1 ? below : k + 1}, normal});
    }
    for (int k = 0; k < triangles; ++k) {
        const int above = k;
        facets.push_back({{at(0), at(k + 2), at(k + 1)},
                          {k == triangles - 1 ? above : k + 1 + triangles, above, k == 0 ? above : k - 1 + triangles},
                          -normal});
    }
    return facets;
}

std::vector<Facet> flat_facets(const std::vector<Vec3d>& points, const Vec3d& middle, const Vec3d& normal) {
    const auto [e, f] = tangents_of(normal);
    Corners seen, rim;
    for (const Vec3d& p : points) seen.push_back({dot(e, p - middle), dot(f, p - middle)});
    Corners sorted = seen;
    hull_of(sorted, rim);
    if (rim.size() < 3) return {};
    std::vector<int> corners;
    for (const Vec2& corner : rim)
        for (std::size_t k = 0; k < seen.size(); ++k)
            if (seen[k].x == corner.x && seen[k].y == corner.y) {
                corners.push_back(static_cast<int>(k));
                break;
            }
    return both_sides(corners, dot(cross(e, f), normal) > 0.0 ? normal : -normal);
}

}  // namespace

std::vector<Facet> facets_of(const std::vector<Vec3d>& points) {
    const Vec3d& p = points[static_cast<std::size_t>(farthest(points, [&](const Vec3d& x) { return x.x; }))];
    const int i = farthest(points, [&](const Vec3d& x) { return norm_sq(x - p); });
    const Vec3d& a = points[static_cast<std::size_t>(i)];
    const int j = farthest(points, [&](const Vec3d& x) { return norm_sq(x - a); });
    const Vec3d& b = points[static_cast<std::size_t>(j)];
    const double size = norm(b - a);
    const int k = farthest(points, [&](const Vec3d& x) { return norm_sq(cross(b - a, x - a)); });
    const Vec3d across = cross(b - a, points[static_cast<std::size_t>(k)] - a);
    if (norm(across) <= kFlat * size * size) return {};
    const Vec3d normal = (1.0 / norm(across)) * across;
    const int l = farthest(points, [&](const Vec3d& x) { return abs_of(dot(normal, x - a)); });
    if (abs_of(dot(normal, points[static_cast<std::size_t>(l)] - a)) <= kFlat * size) return flat_facets(points, a, normal);
    return QuickHull(points, 1e-14 * size).facets({i, j, k, l});
}

}  // namespace clearance
