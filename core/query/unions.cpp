#include "query/ball_pairs.hpp"
#include "query/distance.hpp"
#include "query/side_by_side.hpp"

namespace clearance {
namespace {

constexpr double kInfinity = std::numeric_limits<double>::infinity();

// Two unions whose parts wait: first the two that are probably the nearest, then all that may be nearer than these.
struct WaitingUnions {
    const AskedUnions& asked;
    BallPairs balls;
    BallPairs::Nearest first;
    Gap* to;
    std::size_t end = 0;  // of its pieces

    WaitingUnions(const AskedUnions& asked_, Gap* to_)
        : asked(asked_), balls(*asked.a, *asked.b, b_origin()), first(balls.nearest()), to(to_) {}

    Vec3d b_origin() const { return asked.b->origin() - asked.a->origin(); }
    PlacedPart part_a(std::size_t i) const { return asked.a->part(i, {0, 0, 0}); }
    PlacedPart part_b(std::size_t j) const { return asked.b->part(j, b_origin()); }
};

struct Piece {
    std::size_t i, j;
    Gap gap;

    Piece(std::size_t i_, std::size_t j_) : i(i_), j(j_) {}
};

// Unions of convex parts all of which are to be known. Elements wait for each other elsewhere.
bool can_wait(const AskedUnions& asked) {
    const PlacedBody &a = *asked.a, &b = *asked.b;
    const bool have_elements = a.has_elements() && b.has_elements();
    return !a.has_surface() && !b.has_surface() && !have_elements && asked.question->at_most == kInfinity;
}

void add(SideBySide& side_by_side, const WaitingUnions& of, std::size_t i, std::size_t j, Gap& to) {
    side_by_side.add(of.part_a(i), of.part_b(j), *of.asked.question, to);
}

// One after the other, as if the others had not been asked: what is beyond the best so far is passed over.
void keep_nearest(const WaitingUnions& of, std::span<Piece> pieces) {
    Gap& best = *of.to;
    name_parts(best, of.first.i, of.first.j);
    for (Piece& piece : pieces) {
        if (!of.balls.are_nearer_than(best.upper, piece.i, piece.j)) continue;
        name_parts(piece.gap, piece.i, piece.j);
        keep_nearer(best, piece.gap);
    }
    best.point_a = best.point_a + of.asked.a->origin();
    best.point_b = best.point_b + of.asked.a->origin();
}

}  // namespace

void distances(std::span<const AskedUnions> pairs, Gap* gaps, Work& work) {
    thread_local std::vector<WaitingUnions> waiting;
    thread_local std::vector<Piece> pieces;
    waiting.clear(), pieces.clear();
    waiting.reserve(pairs.size());
    SideBySide side_by_side(work);
    for (std::size_t k = 0; k < pairs.size(); ++k) {
        if (!can_wait(pairs[k])) {
            gaps[k] = distance(*pairs[k].a, *pairs[k].b, *pairs[k].question, work);
            continue;
        }
        WaitingUnions& added = waiting.emplace_back(pairs[k], &gaps[k]);
        add(side_by_side, added, added.first.i, added.first.j, *added.to);
        ++work.pairs, work.volume_tests += 1 + 2 * static_cast<std::int64_t>(pairs[k].a->size() * pairs[k].b->size());
    }
    side_by_side.finish();
    for (WaitingUnions& one : waiting) {
        one.balls.for_nearer_than(one.to->upper, [&](std::size_t i, std::size_t j) {
            if (i != one.first.i || j != one.first.j) pieces.emplace_back(i, j);
        });
        one.end = pieces.size();
    }
    std::size_t piece = 0;
    for (const WaitingUnions& one : waiting)
        for (; piece < one.end; ++piece) add(side_by_side, one, pieces[piece].i, pieces[piece].j, pieces[piece].gap);
    side_by_side.finish();
    std::size_t begin = 0;
    for (const WaitingUnions& one : waiting) {
        keep_nearest(one, std::span(pieces).subspan(begin, one.end - begin));
        begin = one.end;
    }
}

}  // namespace clearance
