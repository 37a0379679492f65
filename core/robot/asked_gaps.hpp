#pragma once

#include "query/distance.hpp"

namespace clearance {

// Gaps of many pairs of bodies that are asked for one after the other, found side by side, and taken in the same order. It
// may be used again, and then needs no new room.
class AskedGaps {
public:
    explicit AskedGaps(const Question& question) : question_(question), are_apart_(question) {
        are_apart_.near_enough = max_of(0.0, question.near_enough);
    }
    AskedGaps(const AskedGaps&) = delete;
    AskedGaps& operator=(const AskedGaps&) = delete;

    // Hulls that stand for meshes are only asked whether they are apart: if they meet, that says nothing of the meshes.
    const Question& question(bool of_hulls) const { return of_hulls ? are_apart_ : question_; }

    // Poses, and bodies that are placed already, have to stay until the gaps are found.
    void ask(const AskedPair& pair) { pairs_.push_back(pair); }
    void ask(const AskedUnions& unions) { unions_.push_back(unions); }

    void find(Work& work) {
        gaps_of_pairs_.resize(pairs_.size()), gaps_of_unions_.resize(unions_.size());
        distances(pairs_, gaps_of_pairs_.data(), work);
        distances(unions_, gaps_of_unions_.data(), work);
        pairs_.clear(), unions_.clear();
        next_pair_ = next_unions_ = 0;
    }
    const Gap& next(bool of_unions) { return of_unions ? gaps_of_unions_[next_unions_++] : gaps_of_pairs_[next_pair_++]; }

private:
    Question question_, are_apart_;
    std::vector<AskedPair> pairs_;
    std::vector<AskedUnions> unions_;
    std::vector<Gap> gaps_of_pairs_, gaps_of_unions_;
    std::size_t next_pair_ = 0, next_unions_ = 0;
};

}  // namespace clearance
