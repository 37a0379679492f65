#include "query/side_by_side.hpp"

namespace clearance {
namespace {

constexpr std::size_t kFewTouches = 3;  // one by one, fewer take less time

const Convex* convex_of(const PlacedPart& placed) { return std::get_if<Convex>(&placed.part.shape); }

bool is_point(const ConvexCore& core) {
    const Element* element = std::get_if<Element>(&core);
    return element != nullptr && element->count == 1;
}

// Polytopes that have no closed form: a hull and anything, or a box and more than a point.
bool may_walk(const ConvexCore& a, const ConvexCore& b) {
    if (is_curved(a) || is_curved(b)) return false;
    const bool has_hull = std::holds_alternative<HullPointer>(a) || std::holds_alternative<HullPointer>(b);
    return has_hull || !((is_element(a) && is_element(b)) || is_point(a) || is_point(b));
}

}  // namespace

void SideBySide::add(const PlacedPart& a, const PlacedPart& b, const Question& question, Gap& to) {
    const Convex *convex_a = convex_of(a), *convex_b = convex_of(b);
    const bool is_parting = norm_sq(question.parting) > 0.0;
    if (convex_a == nullptr || convex_b == nullptr || is_parting) {
        to = gap_between(a, b, question, work_);
    } else if (may_walk(convex_a->core, convex_b->core)) {
        ++work_.element_tests;
        const ConvexPair& pair = walking_.make(to, *convex_a, *convex_b, a, b, question);
        if (!pair.begins_with_walk()) {
            to = pair.gap(work_);
            return;
        }
        polytopes_.put(walking_.size(), [&] { return pair.polytopes(); });
        walking_.keep();
        if (walking_.size() == kRoom) walk();
    } else if (begins_with_touch(*convex_a, *convex_b, question)) {
        ++work_.element_tests;
        touching_.make(to, *convex_a, *convex_b, a, b, question).write_drum(drums_, touching_.size());
        touching_.keep();
        if (touching_.size() == kRoom) touch();
    } else {
        to = gap_between(a, b, question, work_);
    }
}

void SideBySide::finish() {
    walk();
    touch();
}

void SideBySide::walk() {
    if (walking_.size() == 0) return;
    polytope_kernels().walk_many(polytopes_.data(), walks_.data(), walking_.size());
    grow();
    walking_.answer(work_, [&](std::size_t k) { return DoneBeside{.walk = &walks_[k], .growth = grown_[k]}; });
}

// Between those that meet.
void SideBySide::grow() {
    std::size_t meeting = 0;
    for (std::size_t k = 0; k < walking_.size(); ++k) {
        const std::optional<GrowthRule> rule = walking_[k].growth_after(walks_[k]);
        grown_[k] = rule ? growths_.data() + meeting : nullptr;
        if (rule) meetings_.make(meeting++, PolytopeMeeting{&polytopes_[k], &walks_[k], *rule});
    }
    if (meeting > 0) polytope_kernels().grow_many(meetings_.data(), growths_.data(), meeting);
}

void SideBySide::touch() {
    if (touching_.size() < kFewTouches) return touching_.answer(work_, [](std::size_t) { return DoneBeside{}; });
    drum_kernels().touch_many(drums_, touching_.size(), touches_);
    FoundTouch found;
    touching_.answer(work_, [&](std::size_t k) {
        found = touches_.found(k);
        return DoneBeside{.touch = touches_.is_known[k] ? &found : nullptr};
    });
}

}  // namespace clearance
