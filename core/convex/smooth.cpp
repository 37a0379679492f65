#include "convex/smooth.hpp"

#include "convex/curvature.hpp"

namespace clearance {
namespace {

constexpr int kMostSteps = 12;
constexpr double kLongestStep = 0.7;  // in radians, nearly
constexpr double kTouching = 1e-10;   // of the size: nearer than this is left to the general path
constexpr double kOffBodies = 1e-11;  // of the size: how far a witness may lie off its body

// An ellipsoid along a direction of any length: its farthest point, and what second derivatives are made of.
struct Lobe {
    Vec3d point;     // farthest from the centre, of the whole ellipsoid
    double inverse;  // one over its scalar product with the direction
};

CLEARANCE_INLINE Lobe lobe_of(const Ellipsoid& core, const Vec3d& along) {
    const Vec3d stretched = scaled(core.radii, along);
    const double inverse = 1.0 / norm(stretched);
    return {inverse * scaled(core.radii, stretched), inverse};
}

// Second derivatives of the support function along two tangents of a unit vector, of which a lobe was made at a `length`.
CLEARANCE_INLINE Curvature bend_of(const Ellipsoid& core, const Lobe& lobe, double length, const Vec3d& e, const Vec3d& f) {
    const Vec3d de = scaled(core.radii, e), df = scaled(core.radii, f);
    const double pe = dot(lobe.point, e), pf = dot(lobe.point, f), inverse = length * lobe.inverse;
    return {inverse * (norm_sq(de) - pe * pe) - core.taken, inverse * (dot(de, df) - pe * pf),
            inverse * (norm_sq(df) - pf * pf) - core.taken};
}

// No farther than steps may lead.
CLEARANCE_INLINE Vec3d limited(const Vec3d& turn) {
    const double length_sq = norm_sq(turn);
    if (length_sq > kLongestStep * kLongestStep) [[unlikely]]
        return (kLongestStep / sqrt_of(length_sq)) * turn;
    return turn;
}

}  // namespace

std::optional<CoreGap<double>> smooth_gap(const CorePair& pair, const CoreQuestion& question, int& iterations) {
    const Ellipsoid *a = std::get_if<Ellipsoid>(&pair.a), *b = std::get_if<Ellipsoid>(&pair.b);
    if (a == nullptr || b == nullptr) return std::nullopt;
    const StopRule stop{question.width_apart, question.relative_width};
    Vec3d along = norm_sq(question.towards_b) > 0.0 ? question.towards_b : Vec3d{1, 0, 0};
    double lower = -std::numeric_limits<double>::infinity();
    for (int step = 0; step < kMostSteps; ++step) {
        ++iterations;
        // Roots take long: those of the lobes are taken together with that of the length.
        const Lobe on_a = lobe_of(*a, along), on_b = lobe_of(*b, transposed_times(pair.a_from_b, -along));
        const double length = norm(along);
        const Vec3d n = (1.0 / length) * along;
        const Vec3d point_a = on_a.point - a->taken * n;
        const Vec3d point_b = pair.a_from_b * on_b.point + b->taken * n + pair.b_origin;
        const Vec3d apart = point_b - point_a;
        const double separation = dot(n, apart), upper = norm(apart);
        // Newton's method climbs; where it does not, it has lost its way.
        if (!(separation > kTouching * pair.size && separation >= lower - question.width_apart)) return std::nullopt;
        lower = max_of(lower, separation);
        const bool is_decided = separation > question.lower_above || upper <= question.upper_at_most;
        if (is_decided || stop.holds(separation, upper)) {
            // Points that are not quite opposite each other would leave their cores along the normal.
            const bool is_opposite = largest(apart - separation * n) <= kOffBodies * pair.size;
            if (is_opposite) return CoreGap<double>{point_a, n, separation, separation, upper};
            return CoreGap<double>{point_a, (1.0 / upper) * apart, upper, separation, upper};
        }
        const auto [e, f] = tangents_of(n);
        const Curvature bend_a = bend_of(*a, on_a, length, e, f);
        const Curvature bend_b =
            bend_of(*b, on_b, length, transposed_times(pair.a_from_b, e), transposed_times(pair.a_from_b, f));
        const double ee = bend_a.ee + bend_b.ee + separation, ff = bend_a.ff + bend_b.ff + separation;
        const double ef = bend_a.ef + bend_b.ef, we = dot(apart, e), wf = dot(apart, f);
        const double inverse = 1.0 / (ee * ff - ef * ef);
        along = n + limited((inverse * (ff * we - ef * wf)) * e + (inverse * (ee * wf - ef * we)) * f);
    }
    return std::nullopt;
}

}  // namespace clearance
