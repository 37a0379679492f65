#include "convex/epa.hpp"

#include "convex/curvature.hpp"
#include "convex/polytope.hpp"
#include "convex/ruling.hpp"

namespace clearance {
namespace {

constexpr std::size_t kMostVertices = 32768;
constexpr double kFlat = 1e-10;  // of the size: less thick than this is flat
constexpr double kFat = 1e-6;    // of the cube of the size: six times the volume of a tetrahedron that is anything but flat
constexpr int kMostNewtonSteps = 4;

// A tetrahedron of points of A - B around a simplex that touches or holds the origin. Where A - B is flat, less than four
// corners are found, and `normal` is perpendicular to all of them.
class Start {
public:
    Start(const CorePair& pair, const Simplex& simplex) : pair_(pair), enough_(kFlat * pair.size) {
        if (is_fat(simplex.vertices(), pair.size)) {
            for (const Difference& vertex : simplex.vertices()) corner[count++] = vertex;
            return;
        }
        for (const Difference& vertex : simplex.vertices()) add_if(vertex, height_over_corners(vertex.w) > enough_);
        const Vec3d axes[] = {{1, 0, 0}, {0, 1, 0}, {0, 0, 1}};
        if (count == 0) corner[count++] = pair.farthest(axes[0]);
        if (count == 1)
            for (const Vec3d& axis : axes) try_along(axis, 1);
        if (count == 1) return;
        if (count == 2) {
            const Tangents across = tangents_of(unit_or(axes[0], corner[1].w - corner[0].w));
            normal = across.e;
            try_along(across.e, 2), try_along(across.f, 2);
        }
        if (count == 2) return;
        if (count == 3) {
            normal = unit_or(axes[0], cross(corner[1].w - corner[0].w, corner[2].w - corner[0].w));
            try_along(normal, 3);
        }
    }

    Difference corner[4];
    int count = 0;
    Vec3d normal{1, 0, 0};

private:
    // A tetrahedron whose heights are all far more than what is flat.
    static bool is_fat(std::span<const Difference> points, double size) {
        if (points.size() < 4) return false;
        const Vec3d &p = points[0].w, u = points[1].w - p, v = points[2].w - p;
        return abs_of(dot(cross(u, v), points[3].w - p)) > kFat * size * size * size;
    }

    // How far a point lies from the point, line or plane of the corners so far.
    double height_over_corners(const Vec3d& w) const {
        if (count == 0) return std::numeric_limits<double>::infinity();
        const Vec3d up = w - corner[0].w;
        if (count == 1) return norm(up);
        const Vec3d line = corner[1].w - corner[0].w;
        if (count == 2) return norm(cross(unit_or(line, line), up));
        return abs_of(dot(unit_or(line, cross(line, corner[2].w - corner[0].w)), up));
    }
    void add_if(const Difference& vertex, bool wanted) {
        if (wanted && count < 4) corner[count++] = vertex;
    }
    void try_along(const Vec3d& axis, int wanted) {
        for (const Vec3d& way : {axis, -axis}) {
            if (count > wanted) return;
            const Difference found = pair_.farthest(way);
            add_if(found, height_over_corners(found.w) > enough_);
        }
    }

    const CorePair& pair_;
    double enough_;
};

class Search {
public:
    Search(const CorePair& pair, const GjkResult& start)
        : pair_(pair),
          known_upper_(start.upper),
          best_{start.normal, -std::numeric_limits<double>::infinity(), start.upper, 0} {
        if (!pair.curved) best_.lower = start.lower;  // between curved cores a better normal is searched from the first face
    }

    // Any unit vector proves a lower bound; Newton's method finds a better one nearby. `points_around` gives points
    // that are farthest along n, or nearly so.
    template <class Around>
    void consider(Vec3d n, Vec3d w, const Around& points_around) {
        double separation = -dot(n, w);
        if (separation < best_.lower) return;
        if (!pair_.curved) {
            best_.lower = separation, best_.normal = n;
            return;
        }
        const auto around = points_around();
        for (int step = 0; step < kMostNewtonSteps; ++step) {
            const std::optional<Vec3d> ruling = ruling_in_use(pair_, around, n);
            const Vec3d turned = ruling ? turned_about_ruling(pair_, n, w, *ruling) : turned_by_newton(pair_, n, w, n);
            const Vec3d farthest = pair_.farthest(turned).w;
            if (!(-dot(turned, farthest) > separation)) break;
            n = turned, w = farthest, separation = -dot(n, w);
        }
        best_.lower = separation, best_.normal = n;
    }

    // Faces farther than this from the origin change nothing any more.
    double worth_opening() const { return -best_.lower; }

    Depth run(Polytope& polytope, const DepthWidths& widths) {
        while (const Polytope::Face* nearest = polytope.nearest()) {
            ++best_.iterations;
            const Vec3d normal = nearest->normal;
            const double distance = nearest->distance, height = nearest->height;
            const Difference farthest = pair_.farthest(normal);
            consider(normal, farthest.w, [&] { return polytope.corners(*nearest); });
            // A face proves something only if the origin is inside of all of them.
            best_.upper = distance < 0.0 ? known_upper_ : min_of(known_upper_, polytope.doubt() - distance);
            const double enough = best_.upper < 0.0 ? widths.inside : widths.touching;
            const double rise = dot(normal, farthest.w) - height;
            const bool is_decided = best_.lower > widths.lower_above;
            // A corner that was found before leads nowhere but in circles, even if rounding lets it rise above a face.
            const bool is_new = rise > 8.0 * kEpsilon * pair_.size && (pair_.curved || !polytope.has(farthest.w));
            if (!is_new || best_.upper - best_.lower <= enough || is_decided) {
                const bool is_best = largest(best_.normal - normal) == 0.0;
                if (!pair_.curved && is_best && best_.upper < 0.0) best_.point_a = polytope.point_a(*nearest);
                break;
            }
            if (polytope.vertices() >= kMostVertices || !polytope.grow(farthest, worth_opening())) break;
        }
        // Where no face is left that is worth opening, none comes nearer than what was found.
        if (best_.lower < 0.0 && polytope.nearest() == nullptr) best_.upper = best_.lower + polytope.doubt();
        best_.upper = max_of(best_.lower, best_.upper);
        return best_;
    }

    // Flat cores in one plane are parted by no movement at all, perpendicular to that plane.
    Depth flat(const Vec3d& normal) {
        for (const Vec3d& n : {normal, -normal})
            consider(n, pair_.farthest(n).w, [] { return std::span<const Difference>(); });
        return best_;
    }

private:
    const CorePair& pair_;
    double known_upper_;
    Depth best_;
};

}  // namespace

Depth epa(const CorePair& pair, const GjkResult& start, const DepthWidths& widths) {
    Search search(pair, start);
    const Start tetrahedron(pair, start.simplex);
    thread_local Polytope polytope;
    if (tetrahedron.count < 4 || !polytope.start(tetrahedron.corner, pair.size, search.worth_opening()))
        return search.flat(tetrahedron.normal);
    return search.run(polytope, widths);
}

}  // namespace clearance
