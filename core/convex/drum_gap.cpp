#include "convex/drum_gap.hpp"

#include "convex/drum_proof.hpp"

namespace clearance {
namespace {

constexpr int kMostRestarts = 4;      // because a better normal was met
constexpr double kOffBodies = 1e-11;  // of the size: how far a witness may lie off its body
constexpr double kConverged = 1e-11;  // of the size: width of the bracket of bodies that are apart
constexpr double kFarSide = 100.0;    // of the size: sides so flat are left to the general path

struct Answer {
    Touch touch;
    double lower, upper;
};

// What a touch says by itself: how far the bodies are apart, or that it is not good enough, or that they overlap, and how
// deep has to be proved.
enum class Verdict { apart, refused, overlapping };

// Its points are no farther from each other than `points`.
Verdict verdict_of(const Touch& touch, const CorePair& pair, const CoreQuestion& question, double& points) {
    const Vec3d apart = touch.on_solid - touch.on_drum;
    // Witnesses that were seen from far away are that much less certain.
    points = norm(apart) + 16.0 * kEpsilon * abs_of(touch.height);
    const double lower = touch.separation;
    if (touch.end == 0 && abs_of(touch.height) > kFarSide * pair.size) return Verdict::refused;
    if (lower > question.lower_above || points <= question.upper_at_most) return Verdict::apart;
    if (!(largest(apart - lower * touch.normal) <= kOffBodies * pair.size)) return Verdict::refused;
    if (!(lower > 0.0)) return Verdict::overlapping;
    return points - lower > max_of(question.width_apart, kConverged * pair.size) ? Verdict::refused : Verdict::apart;
}

// What is proved of a drum and a solid; nothing where this is not enough.
template <class Solid>
std::optional<Answer> answer(const Drum& drum, const Solid& solid, const CorePair& pair, const CoreQuestion& question,
                             int& iterations, const Touch* known) {
    DrumTouch<Solid> bodies(drum, solid, pair.size, iterations);
    Touch touch = known != nullptr ? *known : bodies.touch();
    const double rounding = 16.0 * kEpsilon * pair.reach;
    for (int restart = 0; restart < kMostRestarts; ++restart) {
        double points;
        const Verdict verdict = verdict_of(touch, pair, question, points);
        const double lower = touch.separation;
        if (verdict == Verdict::refused) return std::nullopt;
        if (verdict == Verdict::apart) return Answer{touch, lower, max_of(points, lower)};
        const double width = max_of(question.upper_at_most - lower,
                                    min_of(question.width_inside, max_of(-0.25 * lower, kConverged * pair.size)));
        DrumProof<Solid> proof(bodies, touch, -lower - width, rounding);
        if (proof.holds()) return Answer{touch, lower, min_of(points, lower + width)};
        if (!proof.better()) return std::nullopt;
        const Touch other = bodies.touch_near(*proof.better());
        if (!(other.separation > lower)) return std::nullopt;
        touch = other;
    }
    return std::nullopt;
}

std::optional<Drum> drum_of(const ConvexCore& core, const Vec3d& axis, const Vec3d& centre) {
    if (const Cylinder* it = std::get_if<Cylinder>(&core))
        return Drum{axis, centre, {it->half_length, it->radius}, {-it->half_length, it->radius}};
    if (const Cone* it = std::get_if<Cone>(&core))
        return Drum{axis, centre, {it->half_length, 0.0}, {-it->half_length, it->radius}};
    return std::nullopt;
}

std::optional<Answer> answer(const std::optional<Drum>& drum, const ConvexCore& solid, const CorePair& pair,
                             const CoreQuestion& question, int& iterations, const Touch* known) {
    if (!drum) return std::nullopt;
    if (const Cylinder* it = std::get_if<Cylinder>(&solid)) return answer(*drum, *it, pair, question, iterations, known);
    if (const Box* it = std::get_if<Box>(&solid)) return answer(*drum, *it, pair, question, iterations, known);
    if (const Cone* it = std::get_if<Cone>(&solid)) return answer(*drum, *it, pair, question, iterations, known);
    return std::nullopt;
}

// Of a drum that is a, and stands in the frame of b.
CoreGap<double> turned_back(const Touch& touch, double lower, double upper, const CorePair& pair) {
    const Vec3d on_a = pair.a_from_b * touch.on_drum + pair.b_origin;
    const Vec3d normal = pair.a_from_b * touch.normal;
    return {on_a, unit_or(normal, normal), lower, lower, upper};
}

}  // namespace

std::optional<CoreGap<double>> drum_gap(const CorePair& pair, const CoreQuestion& question, int& iterations,
                                        const FoundTouch* touched) {
    const Touch* known = nullptr;
    if (touched != nullptr) {
        iterations += touched->looks, known = &touched->touch;
        double points;
        if (verdict_of(*known, pair, question, points) == Verdict::apart)
            return turned_back(*known, known->separation, max_of(points, known->separation), pair);
    }
    // The drum is a, seen from b, or else the drum is b, seen from a.
    const auto drum_a = drum_of(pair.a, axis_of_drum(pair), centre_of_drum(pair));
    if (const auto found = answer(drum_a, pair.b, pair, question, iterations, known))
        return turned_back(found->touch, found->lower, found->upper, pair);
    const Mat3& turn = pair.a_from_b;
    const auto drum_b = drum_of(pair.b, {turn.row[0].z, turn.row[1].z, turn.row[2].z}, pair.b_origin);
    if (const auto found = answer(drum_b, pair.a, pair, question, iterations, nullptr))
        return CoreGap<double>{found->touch.on_solid, unit_or(found->touch.normal, -found->touch.normal), found->lower,
                               found->lower, found->upper};
    return std::nullopt;
}

}  // namespace clearance
