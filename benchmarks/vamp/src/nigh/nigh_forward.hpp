#pragma once
// Stands in for nigh: a linear search with its interface. Planners use it, checks of configurations and motions do not.
#include <algorithm>
#include <cstddef>
#include <limits>
#include <optional>
#include <utility>
#include <vector>

namespace unc::robotics::nigh {
namespace metric {
template <int p> struct LP {};
template <typename Type, typename Metric> struct Space;
}  // namespace metric
struct NoThreadSafety {};
template <std::size_t batch> struct KDTreeBatch {};

template <typename Node, typename Space, typename Key, typename, typename> class Nigh {
public:
    using Type = typename Space::Type;
    void insert(const Node& node) { nodes_.push_back(node); }
    [[nodiscard]] std::size_t size() const { return nodes_.size(); }

    [[nodiscard]] std::optional<std::pair<Node, float>> nearest(const Type& q) const {
        std::vector<std::pair<Node, float>> found;
        nearest(found, q, 1, std::numeric_limits<float>::infinity());
        if (found.empty()) return std::nullopt;
        return found.front();
    }

    void nearest(std::vector<std::pair<Node, float>>& found, const Type& q, std::size_t k, float radius) const {
        found.clear();
        for (const auto& node : nodes_)
            if (const float distance = Space::distance(Key{}(node), q); distance <= radius) found.emplace_back(node, distance);
        const auto nearer = [](const auto& a, const auto& b) { return a.second < b.second; };
        std::sort(found.begin(), found.end(), nearer);
        if (found.size() > k) found.erase(found.begin() + static_cast<std::ptrdiff_t>(k), found.end());
    }

private:
    std::vector<Node> nodes_;
};
}  // namespace unc::robotics::nigh
