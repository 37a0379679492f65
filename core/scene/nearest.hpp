#pragma once

#include <vector>

#include "query/distance.hpp"

namespace clearance {

struct NearestRules {
    double at_most = std::numeric_limits<double>::infinity();
    SearchOrder order = SearchOrder::best;
    FrontSearch* front = nullptr;
    bool starts_from_last = true;  // the triangles that were nearest give a first bound
    bool passes_over = true;       // pairs that cannot have come near since the last question, or that stand still
};

// The nearest two bodies of two groups; their numbers are negative where none are as near as asked.
struct NearestBodies {
    Gap gap;
    std::int32_t a = -1, b = -1;
    Work work;
};

// Two groups of bodies that move, and the least distance between them: one forest of all their pairs. A body in both groups
// makes no pair with itself.
//
// From one question to the next three things are kept. The nearest triangles give a first upper bound. Every pair has a
// lower bound, from which the motion of its bodies is taken away, as in H. Täubig, B. Bäuml, U. Frese, Real-time Swept
// Volume and Distance Computation for Self Collision Detection (2011), section IV: while it exceeds the best distance the
// pair is not opened. And bodies that have not moved since the first question are measured once.
class NearestQuery {
public:
    NearestQuery(const std::vector<const Body*>& a, const std::vector<const Body*>& b);

    NearestBodies find(std::span<const Pose> poses_a, std::span<const Pose> poses_b, const NearestRules& rules);

    // What the last answer was, to begin the next question with.
    void remember(const NearestBodies& answer);

private:
    struct Member {
        const Body* body;
        PlacedBody placed;
        Pose pose;
        double motion = 0.0;     // of its farthest point, since the last question
        bool has_moved = false;  // since the first
    };
    struct Pair {
        std::int32_t a, b;
        double lower;  // they are not nearer than this
    };

    void place(std::vector<Member>& members, std::span<const Pose> poses);
    double last_upper(Work& work) const;
    void measure_fixed(Work& work);
    bool is_fixed(const Pair& pair) const;
    void search(std::span<Pair*> pairs, const NearestRules& rules, NearestBodies& best);
    TrianglePair first_triangles(std::span<Pair*> pairs) const;

    std::vector<Member> a_, b_;
    std::vector<Pair> pairs_;
    NearestBodies last_, fixed_;
    bool fixed_is_known_ = false;
    int questions_ = 0;

    // Room for one question.
    std::vector<PlacedPair> surfaces_;
    std::vector<std::size_t> owner_;  // of each of them, among the pairs that are searched
    std::vector<Pair*> open_;
};

}  // namespace clearance
