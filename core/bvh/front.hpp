#pragma once

#include <memory>

#include "bvh/search.hpp"

namespace clearance {

enum class FrontKind { none, implicit_nodes, explicit_nodes };

struct SearchSettings {
    SearchOrder order = SearchOrder::best;
    FrontKind front = FrontKind::none;
    bool raise_recursively = false;
    bool reset = true;
};

// A pair of slots at which an earlier search ended.
struct FrontNode {
    std::int32_t pair, a, b;
};

struct FrontSize {
    std::size_t nodes, leaves, bytes;
};

// Where searches of one forest ended, so that the next one begins there: generalised front tracking, as in J. Thorén,
// Accelerating Proximity Queries for Non-convex Geometries in a Robot Cell Context (thesis, Chalmers, 2018), chapter 3,
// for nodes of any number of children. The front belongs to whoever asks; the meshes know nothing of it.
class FrontSearch {
public:
    explicit FrontSearch(const SearchSettings& settings);
    FrontSearch(FrontSearch&&) noexcept;
    ~FrontSearch();

    // As search() does. A forest of other meshes than the last one starts anew. Solids are not allowed.
    ForestAnswer search(std::span<SurfacePair> forest, const ForestQuestion& question, const TrianglePair* hint,
                        SearchWork& work);

    FrontSize size() const;
    std::vector<FrontNode> nodes() const;
    void clear();

    struct State;

private:
    SearchSettings settings_;
    std::unique_ptr<State> state_;
};

}  // namespace clearance
