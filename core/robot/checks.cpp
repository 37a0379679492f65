#include "robot/checks.hpp"

#include <algorithm>
#include <cmath>

namespace clearance {
namespace {

constexpr double kInfinity = std::numeric_limits<double>::infinity();

}  // namespace

bool is_clear(const Cell& cell, Posture& posture, double margin, Work& work) {
    const auto limit = [&](std::int32_t pair) { return margin + cell.pairs()[static_cast<std::size_t>(pair)].margin; };
    for (const StandingPair& standing : cell.standing())
        if (standing.gap.distance <= limit(standing.pair)) return false;
    for (const NearPair& near : posture.near_all(limit, margin + cell.largest_margin(), work))
        if (posture.is_within(near, limit(near.pair), work)) return false;
    return true;
}

NearestPair nearest(const Cell& cell, Posture& posture, double at_most, Work& work) {
    NearestPair best;
    best.gap = farther_than_asked(kInfinity);
    for (const StandingPair& standing : cell.standing())
        if (standing.gap.distance <= at_most && standing.gap.distance < best.gap.distance)
            best = {standing.gap, standing.pair};
    const NearestPair moving = posture.nearest(min_of(at_most, best.gap.distance), work);
    const double lower = min_of(best.gap.lower, moving.gap.lower);
    if (moving.pair >= 0 && moving.gap.distance < best.gap.distance) best = moving;
    best.gap.lower = lower;
    return best;
}

namespace {

void put_standing(const Cell& cell, double at_most, Gap* gaps) {
    for (const StandingPair& standing : cell.standing())
        if (standing.gap.distance <= at_most) gaps[standing.pair] = standing.gap;
}

void gaps_at_most(const Cell& cell, Posture& posture, const Question& question, Gap* gaps, Work& work) {
    const double at_most = question.at_most;
    std::fill_n(gaps, cell.pairs().size(), farther_than_asked(std::nextafter(at_most, kInfinity)));
    put_standing(cell, at_most, gaps);
    for (const NearPair& near : posture.near_all_unsorted([&](std::int32_t) { return at_most; }, at_most, work))
        gaps[near.pair] = posture.gap(near.pair, question, work);
}

}  // namespace

void all_gaps(const Cell& cell, std::span<Posture* const> postures, AskedGaps& asked, Gap* gaps, Work& work) {
    const Question& question = asked.question(false);
    const std::size_t pairs = cell.pairs().size();
    if (question.at_most < kInfinity) {
        for (std::size_t k = 0; k < postures.size(); ++k) gaps_at_most(cell, *postures[k], question, gaps + k * pairs, work);
        return;
    }
    for (Posture* posture : postures) posture->ask(cell.moving(), asked);
    asked.find(work);
    for (std::size_t k = 0; k < postures.size(); ++k) {
        put_standing(cell, kInfinity, gaps + k * pairs);
        postures[k]->take(cell.moving(), asked, gaps + k * pairs, work);
    }
}

}  // namespace clearance
