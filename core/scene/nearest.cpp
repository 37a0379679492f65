#include "scene/nearest.hpp"

#include <cmath>

namespace clearance {
namespace {

constexpr double kInfinity = std::numeric_limits<double>::infinity();
constexpr double kSolverRoom = 1e-8;  // of the size: more than any tolerance that is promised

// How far any point of a ball can have moved. A rotation moves a point at distance r by at most r times the norm of the
// change of the matrix, which is the root of half of its sum of squares.
double motion_of(const Ball& ball, const Pose& from, const Pose& to) {
    if (ball.radius == kInfinity) return kInfinity;
    double change_sq = 0.0;
    for (int k = 0; k < 3; ++k) change_sq += norm_sq(to.rotation.row[k] - from.rotation.row[k]);
    const double motion = norm(to * ball.centre - from * ball.centre) + ball.radius * std::sqrt(0.5 * change_sq);
    return motion + 64.0 * kEpsilon * (largest(to.translation) + largest(from.translation) + largest(ball.centre));
}

Gap nothing() { return farther_than_asked(kInfinity); }

}  // namespace

NearestQuery::NearestQuery(const std::vector<const Body*>& a, const std::vector<const Body*>& b) {
    for (const Body* body : a) a_.push_back({body, PlacedBody(*body), Pose{}});
    for (const Body* body : b) b_.push_back({body, PlacedBody(*body), Pose{}});
    for (std::size_t i = 0; i < a.size(); ++i)
        for (std::size_t j = 0; j < b.size(); ++j)
            if (a[i] != b[j]) pairs_.push_back({static_cast<std::int32_t>(i), static_cast<std::int32_t>(j), -kInfinity});
    last_.gap = fixed_.gap = nothing();
}

void NearestQuery::remember(const NearestBodies& answer) {
    const auto has_part = [](const std::vector<Member>& members, std::int32_t body, std::int32_t part) {
        return body >= 0 && static_cast<std::size_t>(body) < members.size() && part >= 0 &&
               static_cast<std::size_t>(part) < members[static_cast<std::size_t>(body)].placed.size();
    };
    if (has_part(a_, answer.a, answer.gap.part_a) && has_part(b_, answer.b, answer.gap.part_b)) last_ = answer;
}

void NearestQuery::place(std::vector<Member>& members, std::span<const Pose> poses) {
    for (std::size_t k = 0; k < members.size(); ++k) {
        Member& member = members[k];
        member.motion = 0.0;
        if (questions_ > 0 && member.pose == poses[k]) continue;
        if (questions_ > 0) member.motion = motion_of(member.body->ball(), member.pose, poses[k]), member.has_moved = true;
        member.pose = poses[k];
        member.placed.place(poses[k]);
    }
}

bool NearestQuery::is_fixed(const Pair& pair) const {
    return !a_[static_cast<std::size_t>(pair.a)].has_moved && !b_[static_cast<std::size_t>(pair.b)].has_moved;
}

// Bodies that stand still need to be measured once; at the second question it shows which do.
void NearestQuery::measure_fixed(Work& work) {
    if (fixed_is_known_ && fixed_.a >= 0) {
        const Pair nearest{fixed_.a, fixed_.b, 0.0};
        if (is_fixed(nearest)) return;
    } else if (fixed_is_known_) {
        return;
    }
    std::vector<Pair*> fixed;
    for (Pair& pair : pairs_)
        if (is_fixed(pair)) fixed.push_back(&pair);
    fixed_ = {nothing(), -1, -1, {}};
    search(fixed, {}, fixed_);
    work += fixed_.work;
    fixed_is_known_ = true;
}

// How far the last answer is apart by now, with room for what the search may find differently: solvers stop where they like
// within their tolerance.
double NearestQuery::last_upper(Work& work) const {
    if (last_.a < 0) return kInfinity;
    const PlacedBody &a = a_[static_cast<std::size_t>(last_.a)].placed, &b = b_[static_cast<std::size_t>(last_.b)].placed;
    const Gap& gap = last_.gap;
    const PlacedPair pair{a.part(static_cast<std::size_t>(gap.part_a), {0, 0, 0}),
                          b.part(static_cast<std::size_t>(gap.part_b), b.origin() - a.origin()), gap.part_a, gap.part_b};
    const double size = size_of(pair.a.part, pair.b.part) + largest(pair.b.origin);
    return upper_bound(pair, gap.feature_a, gap.feature_b, work) + kSolverRoom * size;
}

TrianglePair NearestQuery::first_triangles(std::span<Pair*> pairs) const {
    for (std::size_t k = 0; k < surfaces_.size() && last_.a >= 0; ++k) {
        const Pair& pair = *pairs[owner_[k]];
        if (pair.a == last_.a && pair.b == last_.b && surfaces_[k].part_a == last_.gap.part_a &&
            surfaces_[k].part_b == last_.gap.part_b)
            return {static_cast<std::int32_t>(k), last_.gap.feature_a, last_.gap.feature_b};
    }
    return {-1, -1, -1};
}

// The nearest of some pairs; only what is nearer than `best` is looked for.
void NearestQuery::search(std::span<Pair*> pairs, const NearestRules& rules, NearestBodies& best) {
    surfaces_.clear();
    owner_.clear();
    Question question{.at_most = min_of(rules.at_most, best.gap.distance)};
    double lowest = best.gap.lower;
    for (std::size_t k = 0; k < pairs.size(); ++k) {
        Pair& pair = *pairs[k];
        const PlacedBody &a = a_[static_cast<std::size_t>(pair.a)].placed, &b = b_[static_cast<std::size_t>(pair.b)].placed;
        // A front is of the whole forest, so nothing may be left out.
        const Question asked = rules.front == nullptr ? question : Question{};
        const Gap found = distance_of_solids(a, b, asked, surfaces_, best.work);
        owner_.resize(surfaces_.size(), k);
        pair.lower = found.lower;
        lowest = min_of(lowest, found.lower);
        if (!(found.distance < best.gap.distance && found.distance <= question.at_most)) continue;
        best.gap = found;
        best.gap.point_a = found.point_a + a.origin(), best.gap.point_b = found.point_b + a.origin();
        best.a = pair.a, best.b = pair.b;
        question.at_most = min_of(question.at_most, found.distance);
    }
    if (surfaces_.empty() || question.at_most < least_distance(surfaces_)) {
        for (const std::size_t k : owner_) pairs[k]->lower = -kInfinity;
        best.gap.lower = lowest;
        return;
    }
    const SurfaceSearch how{rules.order, rules.front,
                            rules.starts_from_last ? first_triangles(pairs) : TrianglePair{-1, -1, -1}};
    const NearestSurfaces found = nearest_surfaces(surfaces_, question, how, best.work);
    for (std::size_t k = 0; k < surfaces_.size(); ++k) {
        double& lower = pairs[owner_[k]]->lower;
        lower = min_of(lower, static_cast<double>(surfaces_[k].lower));
    }
    best.gap.lower = lowest;
    if (found.pair < 0 || !(found.gap.distance <= question.at_most)) return;
    const Pair& pair = *pairs[owner_[static_cast<std::size_t>(found.pair)]];
    const Vec3d origin = a_[static_cast<std::size_t>(pair.a)].placed.origin();
    best.gap = found.gap;
    best.gap.lower = min_of(lowest, found.gap.lower);
    best.gap.point_a = found.gap.point_a + origin, best.gap.point_b = found.gap.point_b + origin;
    best.a = pair.a, best.b = pair.b;
}

NearestBodies NearestQuery::find(std::span<const Pose> poses_a, std::span<const Pose> poses_b, const NearestRules& rules) {
    place(a_, poses_a);
    place(b_, poses_b);
    NearestBodies best{nothing(), -1, -1, {}};
    const bool skips = rules.passes_over && rules.front == nullptr;
    if (skips && questions_ > 0) {
        measure_fixed(best.work);
        if (fixed_.gap.distance <= rules.at_most) best.gap = fixed_.gap, best.a = fixed_.a, best.b = fixed_.b;
    }
    NearestRules bounded = rules;
    if (skips) {
        // The last triangles are measured here, so the search need not begin with them.
        bounded.at_most = min_of(rules.at_most, last_upper(best.work));
        bounded.starts_from_last = false;
    }
    const double upper = min_of(bounded.at_most, best.gap.distance);
    open_.clear();
    for (Pair& pair : pairs_) {
        pair.lower -= a_[static_cast<std::size_t>(pair.a)].motion + b_[static_cast<std::size_t>(pair.b)].motion;
        const bool is_measured = questions_ > 0 && is_fixed(pair);
        if (!skips || !(is_measured || pair.lower > upper)) open_.push_back(&pair);
    }
    ++questions_;
    search(open_, bounded, best);
    if (best.a < 0) {
        double lower = kInfinity;
        for (const Pair& pair : pairs_) lower = min_of(lower, pair.lower);
        best.gap = farther_than_asked(max_of(lower, std::nextafter(rules.at_most, kInfinity)));
    }
    last_ = best;
    return best;
}

}  // namespace clearance
