#pragma once

#include "robot/posture.hpp"

namespace clearance {

// Whether all pairs are farther apart than the margin and what they ask for on top of it.
bool is_clear(const Cell& cell, Posture& posture, double margin, Work& work);

// The nearest pair, standing ones included.
NearestPair nearest(const Cell& cell, Posture& posture, double at_most, Work& work);

// Every pair by itself in some configurations, one after the other; standing pairs as they are known.
void all_gaps(const Cell& cell, std::span<Posture* const> postures, AskedGaps& asked, Gap* gaps, Work& work);

}  // namespace clearance
