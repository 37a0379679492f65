#include "bvh/search.hpp"

#include <algorithm>

#include "bvh/nearest_pair.hpp"
#include "bvh/queue.hpp"

namespace clearance {
namespace {

// Room that is kept between queries: no query allocates once it has grown.
template <class TreeType>
struct Room {
    std::vector<PairTree<TreeType>> trees;
    std::vector<Waiting> waiting;
    std::vector<WideTree> solids;
};

template <class TreeType>
Room<TreeType>& room_of_thread() {
    thread_local Room<TreeType> room;
    return room;
}

template <class TreeType>
class Search {
public:
    Search(std::span<SurfacePair> forest, const ForestQuestion& question, SearchWork& work)
        : forest_(forest),
          nearest_(forest, question, work),
          work_(work),
          room_(room_of_thread<TreeType>()),
          trees_(room_.trees),
          queue_(room_.waiting),
          solids_(room_.solids) {
        trees_.clear();
        solids_.clear();
        solids_.reserve(static_cast<std::size_t>(
            std::count_if(forest.begin(), forest.end(), [](const SurfacePair& pair) { return pair.b == nullptr; })));
        for (const SurfacePair& pair : forest) add_tree(pair);
        for (const auto& tree : trees_) nearest_.lower_bound_to(1.0001 * tree.reach());
    }

    ForestAnswer best_first(const TrianglePair* hint) {
        if (hint != nullptr) nearest_.evaluate(*hint);
        push_roots();
        while (!queue_.empty() && queue_.top().key < nearest_.bound() && !nearest_.is_settled()) {
            ++work_.queue_operations;
            follow(queue_.pop());
        }
        for (const Waiting& left : queue_.entries()) prune(left.pair, left.key);
        return finished();
    }

    ForestAnswer depth_first(const TrianglePair* hint) {
        if (hint != nullptr) nearest_.evaluate(*hint);
        push_roots();
        std::vector<Waiting>& stack = room_.waiting;
        std::sort(stack.begin(), stack.end(), [](const Waiting& x, const Waiting& y) { return x.key > y.key; });
        while (!stack.empty() && !nearest_.is_settled()) {
            const Waiting next = stack.back();
            stack.pop_back();
            ++work_.queue_operations;
            if (next.key >= nearest_.bound()) {
                prune(next.pair, next.key);
                continue;
            }
            Children children;
            if (!open(next, children)) continue;
            const auto begin = static_cast<std::ptrdiff_t>(stack.size());
            for (unsigned near = children.opened.near; near != 0; near &= near - 1)
                stack.push_back(child(next, children, __builtin_ctz(near)));
            std::sort(stack.begin() + begin, stack.end(), [](const Waiting& x, const Waiting& y) { return x.key > y.key; });
        }
        for (const Waiting& left : stack) prune(left.pair, left.key);
        return finished();
    }

private:
    using Children = typename PairTree<TreeType>::Children;

    void add_tree(const SurfacePair& pair) {
        const TreeType& a = tree_of(*pair.a, static_cast<const TreeType*>(nullptr));
        if constexpr (std::is_same_v<TreeType, WideTree>) {
            if (pair.b == nullptr) {
                solids_.push_back(tree_of(*pair.solid));
                trees_.emplace_back(a, solids_.back(), pair.at_a, pair.at_b, pair.depth());
                return;
            }
        }
        const TreeType& b = tree_of(*pair.b, static_cast<const TreeType*>(nullptr));
        trees_.emplace_back(a, b, pair.at_a, pair.at_b, pair.depth());
    }

    void push_roots() {
        for (std::size_t k = 0; k < trees_.size(); ++k) {
            ++work_.volume_tests;
            forest_[k].lower = std::numeric_limits<float>::infinity();
            const float key = trees_[k].key(kRoot, kRoot);
            if (key < nearest_.bound())
                queue_.push({key, kRoot, kRoot, static_cast<std::int32_t>(k)});
            else
                prune(static_cast<std::int32_t>(k), key);
        }
    }

    void prune(std::int32_t pair, float key) {
        float& lower = forest_[static_cast<std::size_t>(pair)].lower;
        lower = min_of(lower, key);
    }

    static Waiting child(const Waiting& parent, const Children& children, int k) {
        const std::int32_t slot = children.first + k;
        return {children.key[k], children.of_a ? slot : parent.a, children.of_a ? parent.b : slot, parent.pair};
    }

    // The children of a pair of volumes. Two leaves have none: their triangles are looked at. Ties need none.
    bool open(const Waiting& next, Children& children) {
        const PairTree<TreeType>& tree = trees_[static_cast<std::size_t>(next.pair)];
        const float key = nearest_.raised_key(tree, next.pair, next.a, next.key);
        if (key >= nearest_.bound() || nearest_.is_tie(tree, next.pair, next.a, next.b, next.key)) {
            prune(next.pair, key);
            return false;
        }
        if (tree.is_leaf(next.a, next.b)) {
            nearest_.consider(tree, next.pair, next.a, next.b);
            prune(next.pair, next.key);
            return false;
        }
        tree.open(next.a, next.b, next.key, nearest_.bound(), children);
        work_.volume_tests += children.count;
        prune(next.pair, children.opened.least_pruned);
        return true;
    }

    // Open a pair, and go on with its nearest child as long as nothing in the queue is nearer: most of the way down needs
    // no queue.
    void follow(Waiting next) {
        Children children;
        while (open(next, children)) {
            unsigned near = children.opened.near;
            if (near == 0) return;
            int nearest = __builtin_ctz(near);
            for (near &= near - 1; near != 0; near &= near - 1) {
                const int other = __builtin_ctz(near);
                const bool is_nearer = children.key[other] < children.key[nearest];
                queue_.push(child(next, children, is_nearer ? nearest : other));
                nearest = is_nearer ? other : nearest;
                ++work_.queue_operations;
            }
            next = child(next, children, nearest);
            if (!queue_.empty() && queue_.top().key < next.key) {
                ++work_.queue_operations;
                return queue_.push(next);
            }
        }
    }

    ForestAnswer finished() {
        nearest_.finish();
        ForestAnswer answer = nearest_.answer();
        const bool is_complete =
            answer.nearest.pair >= 0 && (!nearest_.is_settled() || answer.gap.distance <= nearest_.least());
        if (is_complete) return answer;
        for (const SurfacePair& pair : forest_) answer.lower = min_of(answer.lower, static_cast<double>(pair.lower));
        return answer;
    }

    std::span<SurfacePair> forest_;
    NearestPair nearest_;
    SearchWork& work_;
    Room<TreeType>& room_;
    std::vector<PairTree<TreeType>>& trees_;
    Queue<Waiting> queue_;
    std::vector<WideTree>& solids_;
};

template <class TreeType>
ForestAnswer search_in(std::span<SurfacePair> forest, const ForestQuestion& question, SearchOrder order,
                       const TrianglePair* hint, SearchWork& work) {
    Search<TreeType> search(forest, question, work);
    return order == SearchOrder::best ? search.best_first(hint) : search.depth_first(hint);
}

}  // namespace

ForestAnswer search(std::span<SurfacePair> forest, const ForestQuestion& question, SearchOrder order,
                    const TrianglePair* hint, SearchWork& work) {
    const bool all_rss = std::all_of(forest.begin(), forest.end(), [](const SurfacePair& pair) {
        return pair.b != nullptr && pair.a->rss.has_value() && pair.b->rss.has_value();
    });
    return all_rss ? search_in<RssTree>(forest, question, order, hint, work)
                   : search_in<WideTree>(forest, question, order, hint, work);
}

}  // namespace clearance
