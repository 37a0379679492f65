#include "query/distance.hpp"

#include "closest/kernels.hpp"
#include "query/ball_pairs.hpp"
#include "query/side_by_side.hpp"
#include "query/surfaces.hpp"

namespace clearance {
namespace {

constexpr double kInfinity = std::numeric_limits<double>::infinity();

double ball_bound(const Ball& a, const Ball& b, const Vec3d& b_origin) {
    return norm(b.centre + b_origin - a.centre) - a.radius - b.radius - ball_rounding(b_origin, a, b);
}

void copy_vertices(const double* from, const Vec3d& shift, double* to) {
    for (int k = 0; k < 3; ++k) {
        to[3 * k] = from[3 * k] + shift.x;
        to[3 * k + 1] = from[3 * k + 1] + shift.y;
        to[3 * k + 2] = from[3 * k + 2] + shift.z;
    }
}

// Pairs of elements of the same two kinds wait here until there are enough of them to fill the lanes of a kernel.
class Batch {
public:
    static constexpr std::size_t kRoom = 16;

    void add(const PlacedBody& a, std::size_t i, const PlacedBody& b, std::size_t j, const Vec3d& b_origin) {
        copy_vertices(a.vertices(i), {0, 0, 0}, a_ + 9 * size_);
        copy_vertices(b.vertices(j), b_origin, b_ + 9 * size_);
        radius_a_[size_] = *a.radius(i);
        radius_b_[size_] = *b.radius(j);
        i_[size_] = static_cast<std::int32_t>(i);
        j_[size_] = static_cast<std::int32_t>(j);
        ++size_;
    }
    bool full() const { return size_ == kRoom; }

    // Evaluate all that wait, and keep the nearest. Points are still about the origin of a.
    void evaluate_into(Gap& best, int count_a, int count_b, Work& work) {
        if (size_ == 0) return;
        const ElementArray a{a_, radius_a_, 9, 1}, b{b_, radius_b_, 9, 1};
        const GapArrays out{distance_, lower_, upper_, point_a_, point_b_, normal_};
        if (size_ == 1)
            gap_between(count_a, a, count_b, b, out);
        else
            gaps_between(count_a, a, count_b, b, out, 0, size_);
        for (std::size_t k = 0; k < size_; ++k) {
            best.lower = min_of(best.lower, lower_[k]);
            best.upper = min_of(best.upper, upper_[k]);
            if (!(distance_[k] < best.distance)) continue;
            best.distance = distance_[k];
            best.point_a = {point_a_[3 * k], point_a_[3 * k + 1], point_a_[3 * k + 2]};
            best.point_b = {point_b_[3 * k], point_b_[3 * k + 1], point_b_[3 * k + 2]};
            best.normal = {normal_[3 * k], normal_[3 * k + 1], normal_[3 * k + 2]};
            best.feature_a = best.part_a = i_[k];
            best.feature_b = best.part_b = j_[k];
        }
        work.element_tests += static_cast<std::int64_t>(size_);
        size_ = 0;
    }

private:
    std::size_t size_ = 0;
    double a_[9 * kRoom], b_[9 * kRoom], radius_a_[kRoom], radius_b_[kRoom];
    double distance_[kRoom], lower_[kRoom], upper_[kRoom], point_a_[3 * kRoom], point_b_[3 * kRoom], normal_[3 * kRoom];
    std::int32_t i_[kRoom], j_[kRoom];
};

// The triangles of an earlier answer, if it was about two of these parts.
TrianglePair triangles_before(std::span<const PlacedPair> pairs, const Gap* before) {
    for (std::size_t k = 0; before != nullptr && k < pairs.size(); ++k)
        if (pairs[k].part_a == before->part_a && pairs[k].part_b == before->part_b)
            return {static_cast<std::int32_t>(k), before->feature_a, before->feature_b};
    return {-1, -1, -1};
}

// Surfaces come last: what is known of the other parts bounds the search.
void keep_nearest_surfaces(Gap& best, std::span<PlacedPair> surfaces, Question question, Work& work) {
    if (surfaces.empty() || best.distance <= least_distance(surfaces)) return;
    question.at_most = min_of(question.at_most, best.upper);
    const SurfaceSearch how{.first = triangles_before(surfaces, question.nearest_before)};
    const Gap found = nearest_surfaces(surfaces, question, how, work).gap;
    if (found.distance < kInfinity)
        keep_nearer(best, found);
    else
        best.lower = min_of(best.lower, found.lower);
}

}  // namespace

Gap distance_of_solids(const PlacedBody& a, const PlacedBody& b, const Question& question, std::vector<PlacedPair>& surfaces,
                       Work& work) {
    const double at_most = question.at_most;
    const Vec3d b_origin = b.origin() - a.origin();
    ++work.pairs;
    ++work.volume_tests;
    const double bound = ball_bound(a.ball(), b.ball(), b_origin);
    if (bound > at_most) return farther_than_asked(bound);

    const BallPairs balls(a, b, b_origin);
    if (at_most < kInfinity) {
        work.volume_tests += static_cast<std::int64_t>(a.size() * b.size());
        const double tighter = balls.bound();
        if (tighter > at_most) return farther_than_asked(tighter);
    }

    Batch waiting[3][3];
    Gap best = farther_than_asked(kInfinity);
    const auto open = [&](std::size_t i, std::size_t j) {
        if (a.count(i) == 0 || b.count(j) == 0) {
            const PlacedPart part_a = a.part(i, {0, 0, 0}), part_b = b.part(j, b_origin);
            if (has_surface(part_a.part, part_b.part)) {
                surfaces.push_back({part_a, part_b, static_cast<std::int32_t>(i), static_cast<std::int32_t>(j)});
                return;
            }
            Gap found = gap_between(part_a, part_b, question, work);
            name_parts(found, i, j);
            return keep_nearer(best, found);
        }
        Batch& batch = waiting[a.count(i) - 1][b.count(j) - 1];
        batch.add(a, i, b, j, b_origin);
        if (batch.full()) batch.evaluate_into(best, a.count(i), b.count(j), work);
    };
    const auto open_all_waiting = [&] {
        for (int na = 1; na <= 3; ++na)
            for (int nb = 1; nb <= 3; ++nb) waiting[na - 1][nb - 1].evaluate_into(best, na, nb, work);
    };
    // The pair whose balls are nearest gives a first upper bound; only pairs whose balls come nearer than that are opened.
    const BallPairs::Nearest first = balls.nearest();
    open(first.i, first.j);
    open_all_waiting();
    balls.for_nearer_than(best.upper, [&](std::size_t i, std::size_t j) {
        if (i != first.i || j != first.j) open(i, j);
    });
    open_all_waiting();
    work.volume_tests += 2 * static_cast<std::int64_t>(a.size() * b.size());
    return best;
}

Gap distance(const PlacedBody& a, const PlacedBody& b, const Question& question, Work& work) {
    thread_local std::vector<PlacedPair> surfaces;
    surfaces.clear();
    Gap best = distance_of_solids(a, b, question, surfaces, work);
    keep_nearest_surfaces(best, surfaces, question, work);
    if (best.lower > question.at_most) return farther_than_asked(best.lower);
    best.point_a = best.point_a + a.origin();
    best.point_b = best.point_b + a.origin();
    return best;
}

bool within(const PlacedBody& a, const PlacedBody& b, double limit, Work& work) {
    thread_local std::vector<PlacedPair> surfaces;
    surfaces.clear();
    ++work.pairs;
    work.volume_tests += static_cast<std::int64_t>(a.size() * b.size());
    const Vec3d b_origin = b.origin() - a.origin();
    const Question question{.at_most = limit, .near_enough = limit};
    bool found = false;
    BallPairs(a, b, b_origin).for_nearer_than(limit, [&](std::size_t i, std::size_t j) {
        if (found) return;
        const PlacedPart part_a = a.part(i, {0, 0, 0}), part_b = b.part(j, b_origin);
        if (has_surface(part_a.part, part_b.part))
            surfaces.push_back({part_a, part_b, static_cast<std::int32_t>(i), static_cast<std::int32_t>(j)});
        else
            found = gap_between(part_a, part_b, question, work).distance <= limit;
    });
    return found || (!surfaces.empty() && nearest_surfaces(surfaces, question, {}, work).gap.distance <= limit);
}

namespace {

void turned_vertices(const Element& element, const Mat3& rotation, const Vec3d& shift, double* to) {
    for (int k = 0; k < element.count; ++k) {
        const Vec3d turned = rotation * element.vertex[k] + shift;
        to[3 * k] = turned.x;
        to[3 * k + 1] = turned.y;
        to[3 * k + 2] = turned.z;
    }
}

Gap distance_of_elements(const Element& a, const Pose& pose_a, const Element& b, const Pose& pose_b) {
    double vertices_a[9], vertices_b[9];
    turned_vertices(a, pose_a.rotation, {0, 0, 0}, vertices_a);
    turned_vertices(b, pose_b.rotation, pose_b.translation - pose_a.translation, vertices_b);
    Gap gap;
    gap_between(a.count, {vertices_a, &a.radius, 9, 0}, b.count, {vertices_b, &b.radius, 9, 0},
                {&gap.distance, &gap.lower, &gap.upper, &gap.point_a.x, &gap.point_b.x, &gap.normal.x});
    gap.feature_a = gap.feature_b = 0;
    return gap;
}

PlacedPart placed(const Part& part, const Mat3& rotation, const Vec3d& origin) {
    if (part.is_centred) return {part, rotation, origin};
    return {part, rotation * part.pose.rotation, rotation * part.pose.translation + origin};
}

Gap distance_of_parts(const Part& a, const Pose& pose_a, const Part& b, const Pose& pose_b, const Question& question,
                      Work& work) {
    const Element *element_a = element_of(a), *element_b = element_of(b);
    if (element_a != nullptr && element_b != nullptr) {
        ++work.element_tests;
        return distance_of_elements(*element_a, pose_a, *element_b, pose_b);
    }
    const PlacedPart at_a = placed(a, pose_a.rotation, {0, 0, 0});
    const PlacedPart at_b = placed(b, pose_b.rotation, pose_b.translation - pose_a.translation);
    if (!has_surface(a, b)) return gap_between(at_a, at_b, question, work);
    PlacedPair pair{at_a, at_b, 0, 0};
    const SurfaceSearch how{.first = triangles_before({&pair, 1}, question.nearest_before)};
    return nearest_surfaces({&pair, 1}, question, how, work).gap;
}

// From about the origin of a to the world.
void move_to_world(Gap& gap, const Pose& pose_a, const Question& question) {
    if (gap.lower > question.at_most) {
        gap = farther_than_asked(gap.lower);
        return;
    }
    gap.point_a = gap.point_a + pose_a.translation;
    gap.point_b = gap.point_b + pose_a.translation;
}

}  // namespace

Gap distance(const Body& a, const Pose& pose_a, const Body& b, const Pose& pose_b, const Question& question, Work& work) {
    if (a.parts().size() != 1 || b.parts().size() != 1) {
        PlacedBody placed_a(a), placed_b(b);
        placed_a.place(pose_a);
        placed_b.place(pose_b);
        return distance(placed_a, placed_b, question, work);
    }
    ++work.pairs;
    Gap found = distance_of_parts(a.parts().front(), pose_a, b.parts().front(), pose_b, question, work);
    move_to_world(found, pose_a, question);
    return found;
}

namespace {

// The part that a body consists of, if it is convex, or null.
const Part* only_convex(const Body& body) {
    const Part* part = body.parts().size() == 1 ? &body.parts().front() : nullptr;
    return part != nullptr && std::holds_alternative<Convex>(part->shape) ? part : nullptr;
}

bool goes_beside_others(const AskedPair& asked) {
    const Part *a = only_convex(*asked.a), *b = only_convex(*asked.b);
    return a != nullptr && b != nullptr && (element_of(*a) == nullptr || element_of(*b) == nullptr);
}

}  // namespace

void distances(std::span<const AskedPair> pairs, Gap* gaps, Work& work) {
    SideBySide side_by_side(work);
    for (std::size_t k = 0; k < pairs.size(); ++k) {
        const auto& [a, pose_a, b, pose_b, question] = pairs[k];
        if (!goes_beside_others(pairs[k])) {
            gaps[k] = distance(*a, *pose_a, *b, *pose_b, *question, work);
            continue;
        }
        ++work.pairs;
        side_by_side.add(placed(a->parts().front(), pose_a->rotation, {0, 0, 0}),
                         placed(b->parts().front(), pose_b->rotation, pose_b->translation - pose_a->translation), *question,
                         gaps[k]);
    }
    side_by_side.finish();
    for (std::size_t k = 0; k < pairs.size(); ++k)
        if (goes_beside_others(pairs[k])) move_to_world(gaps[k], *pairs[k].pose_a, *pairs[k].question);
}

void distances(const Element& a, const PoseArray& poses_a, const Element& b, const PoseArray& poses_b, const GapColumns& out,
               std::size_t begin, std::size_t end) {
    constexpr std::size_t kBlock = 64;
    double vertices_a[9 * kBlock], vertices_b[9 * kBlock];
    for (std::size_t row = begin; row < end; row += kBlock) {
        const std::size_t count = end - row < kBlock ? end - row : kBlock;
        for (std::size_t k = 0; k < count; ++k) {
            const Pose& pose_a = poses_a.poses[(row + k) * poses_a.stride];
            const Pose& pose_b = poses_b.poses[(row + k) * poses_b.stride];
            turned_vertices(a, pose_a.rotation, {0, 0, 0}, vertices_a + 9 * k);
            turned_vertices(b, pose_b.rotation, pose_b.translation - pose_a.translation, vertices_b + 9 * k);
        }
        double* const point_a = out.point_a + 3 * row;
        double* const point_b = out.point_b + 3 * row;
        gaps_between(a.count, {vertices_a, &a.radius, 9, 0}, b.count, {vertices_b, &b.radius, 9, 0},
                     {out.distance + row, out.lower + row, out.upper + row, point_a, point_b, out.normal + 3 * row}, 0,
                     count);
        for (std::size_t k = 0; k < count; ++k) {
            const Vec3d origin = poses_a.poses[(row + k) * poses_a.stride].translation;
            const double shift[3] = {origin.x, origin.y, origin.z};
            for (std::size_t c = 0; c < 3; ++c) {
                point_a[3 * k + c] += shift[c];
                point_b[3 * k + c] += shift[c];
            }
        }
    }
}

}  // namespace clearance
