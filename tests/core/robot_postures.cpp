// One configuration: bounds lie below the gaps of all pairs, nothing near is missed, and yes-or-no answers, nearest pairs
// and all gaps agree with every pair measured by itself.
//
//     robot_postures [effort = 1] [seed = 1]
#include <algorithm>

#include "robot_samples.hpp"

using namespace clearance;
using namespace clearance::samples;

namespace {

Tally tally;

// A cell at a configuration, with the gaps of all its pairs.
struct Stood {
    Stood(const Cell& of, const double* q) : cell(of), posture(of) {
        posture.take(q);
        for (std::size_t k = 0; k < cell.pairs().size(); ++k) gaps.push_back(exact_gap(cell, posture, std::int32_t(k)));
        double reach = 0.0;
        for (std::size_t k = 0; k < cell.bodies().size(); ++k)
            reach = max_of(reach, largest(posture.pose(int(k)).translation));
        rounding = 64.0 * kEpsilon * reach;
    }
    const Gap& gap(std::int32_t pair) const { return gaps[std::size_t(pair)]; }
    double margin(std::int32_t pair) const { return cell.pairs()[std::size_t(pair)].margin; }

    const Cell& cell;
    Posture posture;
    std::vector<Gap> gaps;
    double rounding;  // of positions
};

// How exactly a gap is known.
double doubt(const Stood& at, std::int32_t pair) {
    const Gap& gap = at.gap(pair);
    return at.rounding + (gap.upper - gap.lower) + 1e-12 * std::fabs(gap.distance);
}

template <class Limit>
void check_near(const Stood& at, std::span<const NearPair> near, std::span<const std::int32_t> asked, const Limit& limit) {
    std::vector<char> is_near(at.gaps.size(), 0);
    double last = -kInf;
    for (const NearPair& one : near) {
        tally.expect(!is_near[std::size_t(one.pair)], "a pair is near once", "pair %d", one.pair);
        is_near[std::size_t(one.pair)] = 1;
        tally.expect(one.lower >= last, "nearest bounds come first", "%.9g after %.9g", one.lower, last);
        last = one.lower;
        tally.expect(one.lower <= at.gap(one.pair).upper + at.rounding, "a bound lies below the gap",
                     "%.17g, but the gap is %.17g", one.lower, at.gap(one.pair).upper);
        tally.expect(one.lower <= limit(one.pair), "what is proved to be farther is left out");
        tally.expect(std::find(asked.begin(), asked.end(), one.pair) != asked.end(),
                     "only pairs that were asked for are near");
    }
    for (const std::int32_t pair : asked)
        if (at.gap(pair).distance <= limit(pair) - doubt(at, pair))
            tally.expect(is_near[std::size_t(pair)], "nothing near is missed", "gap %.17g, limit %.17g",
                         at.gap(pair).distance, limit(pair));
}

long bounds_seen = 0, bounds_useless = 0;

void check_all_near(Stood& at, Draw& draw, double size) {
    const std::span<const std::int32_t> moving = at.cell.moving();
    std::vector<double> limits{kInf, 0.0, size * draw.power(-6, 1), -size * draw.power(-6, 0), -kInf};
    if (!moving.empty()) limits.push_back(at.gap(moving[std::size_t(draw.below(int(moving.size())))]).distance);
    std::vector<std::int32_t> some;
    for (const std::int32_t pair : moving)
        if (draw.chance(0.5)) some.push_back(pair);
    std::shuffle(some.begin(), some.end(), draw.engine());
    Work work;
    for (const double most : limits) {
        const auto same = [&](std::int32_t) { return most; };
        const auto each = [&](std::int32_t pair) { return most - (pair % 3) * 0.1 * size; };
        check_near(at, at.posture.near(moving, same, work), moving, same);
        check_near(at, at.posture.near(some, each, work), some, each);
        check_near(at, at.posture.near_all(same, most, work), moving, same);
        check_near(at, at.posture.near_all(each, most, work), moving, each);
        // Among few pairs that are listed, and many that are in a tree, none differs by how it was asked for.
        const auto by_list = at.posture.near(moving, same, work);
        if (most == kInf) tally.expect(by_list.size() == moving.size(), "all pairs are nearer than infinity");
    }
    for (const NearPair& one : at.posture.near(moving, [](std::int32_t) { return kInf; }, work))
        ++bounds_seen, bounds_useless += one.lower < -0.0 && at.gap(one.pair).lower > size;
}

void check_is_clear(Stood& at, Draw& draw, double size) {
    double least = kInf;
    std::int32_t critical = -1;
    for (std::size_t k = 0; k < at.gaps.size(); ++k) {
        const double clearance = at.gaps[k].distance - at.margin(int(k));
        if (clearance < least) least = clearance, critical = std::int32_t(k);
    }
    std::vector<double> margins{0.0, size * draw.power(-6, 0)};
    if (critical >= 0)
        for (const double by : {0.0, 1e-9, 1e-6, 1e-3})
            margins.push_back(least + by * size), margins.push_back(least - by * size);
    Work work;
    for (const double margin : margins) {
        if (margin < 0.0) continue;
        bool must_be = true, cannot_be = false;
        for (std::size_t k = 0; k < at.gaps.size(); ++k) {
            const double limit = margin + at.margin(int(k)), unsure = doubt(at, int(k)) + 1e-12 * size;
            must_be = must_be && at.gaps[k].distance > limit + unsure;
            cannot_be = cannot_be || at.gaps[k].distance <= limit - unsure;
        }
        const bool found = is_clear(at.cell, at.posture, margin, work);
        tally.expect(!(must_be && !found), "a clear configuration is clear", "margin %.9g, clearance %.9g", margin, least);
        tally.expect(!(cannot_be && found), "one that is not clear is not", "margin %.9g, clearance %.9g", margin, least);
        for (const std::int32_t pair : at.cell.moving()) {
            const double limit = margin + at.margin(pair), unsure = doubt(at, pair) + 1e-12 * size;
            if (std::fabs(at.gap(pair).distance - limit) > unsure)
                tally.expect(at.posture.is_within(pair, limit, work) == (at.gap(pair).distance <= limit),
                             "a pair is within a limit if its gap is", "gap %.17g, limit %.17g", at.gap(pair).distance,
                             limit);
        }
    }
}

long deep = 0, all = 0;

void check_nearest(Stood& at, Draw& draw, double size) {
    double least = kInf;
    std::int32_t which = -1;
    for (std::size_t k = 0; k < at.gaps.size(); ++k)
        if (at.gaps[k].distance < least) least = at.gaps[k].distance, which = std::int32_t(k);
    ++all, deep += least < 0.0;
    Work work;
    std::vector<double> limits{kInf, 0.0, size * draw.power(-3, 1), -size * draw.power(-3, 0)};
    if (which >= 0) limits.push_back(least), limits.push_back(least + 1e-3 * size), limits.push_back(least - 1e-3 * size);
    for (const double at_most : limits) {
        const NearestPair found = nearest(at.cell, at.posture, at_most, work);
        if (found.pair < 0) {
            const double unsure = which < 0 ? 0.0 : doubt(at, which) + 1e-12 * size;
            tally.expect(least > at_most - unsure || which < 0, "a nearest pair is found",
                         "least %.17g, at most %.17g, %zu pairs", least, at_most, at.gaps.size());
            tally.expect(found.gap.lower <= least + unsure, "what is not found is bounded", "%.17g, gap %.17g",
                         found.gap.lower, least);
            continue;
        }
        const double unsure = doubt(at, which) + doubt(at, found.pair) + 1e-12 * size;
        tally.expect(std::fabs(found.gap.distance - least) <= unsure, "the nearest pair is the nearest of all",
                     "%.17g (pair %d), but %.17g (pair %d), at most %.9g", found.gap.distance, found.pair, least, which,
                     at_most);
        tally.expect(std::fabs(found.gap.distance - at.gap(found.pair).distance) <= unsure, "its gap is that of its pair",
                     "%.17g, not %.17g", found.gap.distance, at.gap(found.pair).distance);
        tally.expect(found.gap.lower <= least + unsure && found.gap.upper >= least - unsure,
                     "its bracket holds the least gap", "[%.17g, %.17g], least %.17g", found.gap.lower, found.gap.upper,
                     least);
        tally.expect(found.gap.distance <= at_most, "it is no farther than asked");
        const Vec3d apart = found.gap.point_b - found.gap.point_a;
        tally.expect(norm(apart - found.gap.distance * found.gap.normal) <= 1e-9 * size + 16.0 * at.rounding,
                     "its points are a distance apart", "off by %.3g", norm(apart - found.gap.distance * found.gap.normal));
    }
}

// Parts exist, and so do the triangles of surfaces; the feature of anything else is its part.
void check_features(const Stood& at, std::int32_t pair, const Gap& gap) {
    const CellPair& of = at.cell.pairs()[std::size_t(pair)];
    const auto is_there = [&](std::int32_t body, std::int32_t part, std::int32_t feature) {
        const std::vector<Part>& parts = at.cell.bodies()[std::size_t(body)].body.parts();
        if (part < 0 || std::size_t(part) >= parts.size()) return false;
        const Surface* surface = surface_of(parts[std::size_t(part)]);
        return surface == nullptr ? feature == part : feature >= 0 && std::size_t(feature) < surface->mesh->faces.size();
    };
    tally.expect(is_there(of.a, gap.part_a, gap.feature_a) && is_there(of.b, gap.part_b, gap.feature_b),
                 "parts and features exist", "pair %d", pair);
}

void check_all_gaps(Stood& at, Draw& draw, double size) {
    Work work;
    std::vector<Gap> gaps(at.gaps.size());
    for (const double at_most : {kInf, 0.0, size * draw.power(-3, 1), -size * draw.power(-4, -1)}) {
        AskedGaps asked({.at_most = at_most});
        Posture* const one = &at.posture;
        all_gaps(at.cell, {&one, 1}, asked, gaps.data(), work);
        for (std::size_t k = 0; k < gaps.size(); ++k) {
            const double truth = at.gaps[k].distance, unsure = doubt(at, int(k)) + 1e-12 * size;
            if (gaps[k].distance == kInf && truth < kInf) {
                tally.expect(truth > at_most - unsure, "gaps as small as asked are known", "%.17g, at most %.17g", truth,
                             at_most);
                tally.expect(gaps[k].lower <= truth + unsure, "others are bounded", "%.17g, gap %.17g", gaps[k].lower,
                             truth);
            } else {
                const Gap& gap = gaps[k];
                tally.expect(std::fabs(gap.distance - truth) <= unsure || truth == gap.distance,
                             "every gap is that of its pair", "%.17g, not %.17g", gap.distance, truth);
                tally.expect(gap.lower <= truth + unsure && truth <= gap.upper + unsure, "a bracket holds the gap",
                             "[%.17g, %.17g], gap %.17g", gap.lower, gap.upper, truth);
                check_features(at, std::int32_t(k), gap);
            }
        }
    }
}

void check_cell(Draw& draw, const CellOptions& options, double size, int configurations) {
    const DrawnTree drawn = drawn_tree_of(draw, {.links = 2 + draw.below(6), .size = size});
    const std::unique_ptr<Cell> cell = drawn_cell(draw, drawn, size, options);
    tally.expect(cell->moving().size() + cell->standing().size() == cell->pairs().size(), "a pair moves or stands still");
    for (int k = 0; k < configurations; ++k) {
        Stood at(*cell, drawn_configuration(draw, drawn).data());
        check_all_near(at, draw, size);
        check_is_clear(at, draw, size);
        check_nearest(at, draw, size);
        check_all_gaps(at, draw, size);
    }
}

// Obstacles without any size at one place: a tree of nothing.
void check_heaps(Draw& draw) {
    tally.context = "heaps of points";
    const bool is_at_origin = draw.chance(0.5);
    const double away = draw.power(-2, 3);
    const auto tree =
        std::make_shared<const KinematicTree>(2, std::vector<Joint>{{JointKind::prismatic, 0, 1, {}, draw.direction()}});
    const Body ball({part_of(Convex{Element{1, {}, 0.1 * away}, 0.1 * away}, Pose{})});
    const Body point({part_of(Convex{Element{1, {}, 0.0}, 0.0}, Pose{})});
    std::vector<CellBody> bodies{{ball, 1, {}, box_around(ball)}};
    std::vector<CellPair> pairs;
    const Vec3d place = is_at_origin ? Vec3d{0, 0, 0} : away * draw.in_cube();
    for (std::int32_t k = 1; k <= 6; ++k) {
        bodies.push_back({point, 0, {kNoTurn, place}, box_around(point)});
        pairs.push_back({0, k, 0.0});
    }
    const Cell cell(tree, Pose{}, std::move(bodies), std::move(pairs));
    const double q = away * draw.uniform(-2, 2);
    Stood at(cell, &q);
    check_all_near(at, draw, away);
    check_is_clear(at, draw, away);
    check_nearest(at, draw, away);
    check_all_gaps(at, draw, away);
}

// A link that is, or has, a half-space.
void check_moving_half_space(Draw& draw) {
    tally.context = "moving half-space";
    const auto tree = std::make_shared<const KinematicTree>(
        3, std::vector<Joint>{{JointKind::revolute, 0, 1, drawn_pose(draw, 1.0), draw.direction()},
                              {JointKind::prismatic, 1, 2, drawn_pose(draw, 1.0), draw.direction(), 1, 1}});
    std::vector<Part> parts{part_of(HalfSpace{draw.direction(), draw.uniform(-2, 0)}, Pose{})};
    if (draw.chance(0.5)) parts.push_back(drawn_element(draw, 0.5, Pose{}));
    const Body space(std::move(parts));
    std::vector<CellBody> bodies{{space, 2, {}, box_around(space)}};
    std::vector<CellPair> pairs;
    const int count = 1 + draw.below(8);
    for (std::int32_t k = 1; k <= count; ++k) {
        const Body body = drawn_body(draw, 0.3);
        bodies.push_back({body, k == 1 ? 1 : 0, drawn_pose(draw, 2.0), box_around(body)});
        pairs.push_back({0, k, 0.0});
    }
    const Cell cell(tree, Pose{}, std::move(bodies), std::move(pairs));
    const double q[2] = {draw.uniform(-3, 3), draw.uniform(-1, 1)};
    Stood at(cell, q);
    check_all_near(at, draw, 1.0);
    check_is_clear(at, draw, 1.0);
    check_nearest(at, draw, 1.0);
    check_all_gaps(at, draw, 1.0);
}

// Answers depend on nothing that was asked before, and a lease gives the same room back.
void check_repeats(Draw& draw) {
    tally.context = "asked again";
    const DrawnTree drawn = drawn_tree_of(draw, {.links = 5, .size = 1.0});
    const std::unique_ptr<Cell> cell = drawn_cell(draw, drawn, 1.0, {.obstacles = 12});
    const std::vector<double> q = drawn_configuration(draw, drawn), other = drawn_configuration(draw, drawn);
    Work work;
    const auto ask = [&](Posture& posture) {
        posture.take(q.data());
        return nearest(*cell, posture, kInf, work);
    };
    Posture fresh(*cell);
    const NearestPair first = ask(fresh);
    const Cell::Lease lease(*cell);
    lease->take(other.data());
    is_clear(*cell, *lease, 0.1, work), nearest(*cell, *lease, 0.3, work);
    const NearestPair again = ask(*lease);
    tally.expect(first.pair == again.pair &&
                     (first.pair < 0 || (first.gap.distance == again.gap.distance && first.gap.lower == again.gap.lower &&
                                         norm(first.gap.point_a - again.gap.point_a) == 0.0)),
                 "the answer is the same, bit by bit");
}

}  // namespace

int main(int argc, char** argv) {
    const int effort = argc > 1 ? std::atoi(argv[1]) : 1;
    Draw draw(argc > 2 ? std::strtoul(argv[2], nullptr, 10) : 1);
    for (int k = 0; k < 150 * effort; ++k) {
        const double size = draw.power(-3, 3);
        CellOptions options{.obstacles = draw.below(8)};
        tally.context = "few obstacles";
        check_cell(draw, options, size, 3);
        tally.context = "few obstacles, far from the origin";
        options.far = size * draw.power(0, 6);
        check_cell(draw, options, size, 2);
        tally.context = "deep in each other";
        check_cell(draw, {.obstacles = 3 + draw.below(8), .body = 1.5, .room = 1.0}, size, 2);
    }
    for (int k = 0; k < 12 * effort; ++k) {
        const double size = draw.power(-3, 3);
        tally.context = "many obstacles";
        check_cell(draw, {.obstacles = 9 + draw.below(292), .room = 4.0}, size, 1);
        tally.context = "many obstacles, far from the origin";
        check_cell(draw, {.obstacles = 9 + draw.below(100), .room = 10.0, .far = size * draw.power(0, 6)}, size, 1);
        tally.context = "many obstacles, sparse";
        check_cell(draw, {.obstacles = 64 + draw.below(100), .body = 0.05, .room = 100.0}, size, 1);
    }
    for (int k = 0; k < 100 * effort; ++k) check_heaps(draw);
    for (int k = 0; k < 200 * effort; ++k) check_moving_half_space(draw);
    for (int k = 0; k < 50 * effort; ++k) check_repeats(draw);
    std::printf("%.0f %% of configurations touch; %ld of %ld bounds say nothing about pairs that are far apart\n",
                100.0 * double(deep) / double(all), bounds_useless, bounds_seen);
    return tally.finish();
}
