#include "robot/checks.hpp"

#include <cmath>

namespace clearance {

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
    best.gap = farther_than_asked(std::numeric_limits<double>::infinity());
    for (const StandingPair& standing : cell.standing())
        if (standing.gap.distance <= at_most && standing.gap.distance < best.gap.distance)
            best = {standing.gap, standing.pair};
    const NearestPair moving = posture.nearest(min_of(at_most, best.gap.distance), work);
    const double lower = min_of(best.gap.lower, moving.gap.lower);
    if (moving.pair >= 0 && moving.gap.distance < best.gap.distance) best = moving;
    best.gap.lower = lower;
    return best;
}

void all_gaps(const Cell& cell, Posture& posture, const Question& question, Gap* gaps, Work& work) {
    const double at_most = question.at_most;
    const double farther = std::nextafter(at_most, std::numeric_limits<double>::infinity());
    const bool are_all_asked = at_most == std::numeric_limits<double>::infinity();
    for (std::size_t k = 0; k < cell.pairs().size() && !are_all_asked; ++k) gaps[k] = farther_than_asked(farther);
    for (const StandingPair& standing : cell.standing())
        if (standing.gap.distance <= at_most) gaps[standing.pair] = standing.gap;
    if (are_all_asked) return posture.gaps(cell.moving(), question, gaps, work);
    for (const NearPair& near : posture.near_all_unsorted([&](std::int32_t) { return at_most; }, at_most, work))
        gaps[near.pair] = posture.gap(near.pair, question, work);
}

}  // namespace clearance
