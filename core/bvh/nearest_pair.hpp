#pragma once

#include <vector>

#include "bvh/plateau.hpp"
#include "bvh/tangent_planes.hpp"

namespace clearance {

// The best pair of triangles found so far, and the bound that everything else is compared with.
//
// Floats find candidates, doubles decide among them: whatever may be as near as the best is evaluated, so the answer does
// not depend on the order of the search. Of equals the first wins, by pair and by triangle; only of very many the rest is
// left closed, once a plane proves them to be no nearer but for rounding.
class NearestPair {
public:
    NearestPair(std::span<const SurfacePair> forest, const ForestQuestion& question, SearchWork& work);

    const ForestAnswer& answer() const { return answer_; }
    float bound() const { return bound_; }  // what cannot be nearer than this cannot matter
    bool is_settled() const { return settled_; }
    double least() const { return least_; }  // no distance of the forest can be less

    // Whether nothing below two slots is nearer than the best, as far as doubles can tell, though their key is a little
    // less. It is asked in earnest only when there have been many such pairs.
    template <class TreeType>
    bool is_tie(const PairTree<TreeType>& tree, std::int32_t pair, std::int32_t a, std::int32_t b, float key);

    // The key of two slots, raised by what is known of the solid if b is one.
    float raised_key(const PairTree<WideTree>& tree, std::int32_t pair, std::int32_t slot_a, float key) const {
        return planes_.empty() ? key : planes_.raised(tree, pair, slot_a, key);
    }
    float raised_key(const PairTree<RssTree>&, std::int32_t, std::int32_t, float key) const { return key; }

    // Nothing is farther apart than this.
    void lower_bound_to(double most);

    // Evaluate two triangles (or a triangle and a solid) in doubles.
    void evaluate(const TrianglePair& triangles);

    // Look at all triangles of two leaves. Pairs that are not ruled out wait until there are eight of them.
    void consider(const PairTree<WideTree>& tree, std::int32_t pair, std::int32_t slot_a, std::int32_t slot_b);
    void consider(const PairTree<RssTree>& tree, std::int32_t pair, std::int32_t slot_a, std::int32_t slot_b);

    // Look at what still waits, and evaluate what was put aside and may still matter.
    void finish();

private:
    struct Candidate {
        TrianglePair triangles;
        float lower;
    };
    struct Waiting {
        TrianglePair triangles;
        float unit, slack_above;
        KeyRule rule;
    };
    void add(const TrianglePair& triangles, const PairTree<WideTree>& tree, const float (*a)[8], int i, const float (*b)[8],
             int j);
    void look_at_waiting();
    double least_of(const TrianglePair& triangles) const;
    void take(const TrianglePair& triangles, const TriangleGap& gap);
    void consider_solid(const PairTree<WideTree>& tree, std::int32_t pair, const WideLeaf& leaf);

    std::span<const SurfacePair> forest_;
    ForestQuestion question_;
    SearchWork& work_;
    ForestAnswer answer_;
    double least_;
    double best_ = std::numeric_limits<double>::infinity();  // distance of the answer, if there is one
    double upper_;                                           // something is no farther than this
    float bound_;
    bool settled_ = false;
    int ties_ = 0;
    Plateau plateau_;
    TangentPlanes planes_;
    std::vector<Candidate>& candidates_;
    Octet octet_;
    Waiting waiting_[8];
    int waiting_count_ = 0;
};

}  // namespace clearance
