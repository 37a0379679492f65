#include "bvh/front.hpp"

#include <algorithm>

#include "bvh/bvtt.hpp"
#include "bvh/nearest_pair.hpp"
#include "bvh/queue.hpp"

namespace clearance {
namespace {

// A front of which more than this share would be raised at once is better built anew.
constexpr double kMostRaised = 0.09;

}  // namespace

struct FrontSearch::State {
    virtual ~State() = default;
    virtual ForestAnswer search(std::span<SurfacePair> forest, const ForestQuestion& question, const TrianglePair* hint,
                                SearchWork& work) = 0;
    virtual FrontSize size() const = 0;
    virtual std::vector<FrontNode> nodes() const = 0;
    virtual bool is_for(std::span<const SurfacePair> forest) const = 0;
};

namespace {

template <class TreeType, class Nodes>
class Front final : public FrontSearch::State {
public:
    using Ref = typename Nodes::Ref;

    Front(std::span<const SurfacePair> forest, const SearchSettings& settings) : settings_(settings) {
        for (const SurfacePair& pair : forest) meshes_.push_back({pair.a->number, pair.b->number});
        set_to_roots();
    }

    bool is_for(std::span<const SurfacePair> forest) const override {
        return std::equal(forest.begin(), forest.end(), meshes_.begin(), meshes_.end(),
                          [](const SurfacePair& pair, const auto& known) {
                              return pair.a->number == known.first && pair.b->number == known.second;
                          });
    }

    ForestAnswer search(std::span<SurfacePair> forest, const ForestQuestion& question, const TrianglePair* hint,
                        SearchWork& work) override {
        trees_.clear();
        const TreeType* kind = nullptr;
        for (const SurfacePair& pair : forest)
            trees_.emplace_back(tree_of(*pair.a, kind), tree_of(*pair.b, kind), pair.at_a, pair.at_b, pair.depth());
        NearestPair nearest(forest, question, work);
        for (const auto& tree : trees_) nearest.lower_bound_to(1.0001 * tree.reach());
        if (hint != nullptr) nearest.evaluate(*hint);
        bound_by_leaves(nearest, work);
        if (settings_.reset && reset_wanted_) set_to_roots();
        reset_wanted_ = false;
        partition(nearest, work);
        raise();
        sprout(nearest, work);
        nearest.finish();
        ForestAnswer answer = nearest.answer();
        if (answer.nearest.pair < 0) answer.lower = min_of(answer.lower, static_cast<double>(nearest.bound()));
        if (nearest.is_settled()) answer.lower = nearest.least();
        return answer;
    }

    FrontSize size() const override {
        const std::size_t all = rest_.size() + sprouted_.size() + leaves_.size();
        return {all, leaves_.size(), nodes_.bytes(all)};
    }

    std::vector<FrontNode> nodes() const override {
        std::vector<FrontNode> all;
        for (const auto* part : {&rest_, &sprouted_, &leaves_})
            for (const Ref& ref : *part) all.push_back({nodes_.at(ref).pair, nodes_.at(ref).a, nodes_.at(ref).b});
        return all;
    }

private:
    struct Sproutee {
        float key;
        Ref node;
    };

    void set_to_roots() {
        rest_.clear(), sprouted_.clear(), leaves_.clear();
        nodes_.clear();
        for (std::size_t k = 0; k < meshes_.size(); ++k) sprouted_.push_back(nodes_.root(static_cast<std::int32_t>(k)));
    }

    const PairTree<TreeType>& tree(const PairNode& node) const { return trees_[static_cast<std::size_t>(node.pair)]; }
    bool is_leaf(const PairNode& node) const { return tree(node).is_leaf(node.a, node.b); }
    float key(const Ref& ref, SearchWork& work) const {
        const PairNode& node = nodes_.at(ref);
        ++work.volume_tests;
        return tree(node).key(node.a, node.b);
    }
    void look_at_leaf(const PairNode& node, NearestPair& nearest) const {
        nearest.consider(tree(node), node.pair, node.a, node.b);
    }

    // Leaves that were near are likely to be near again; the last ones were the nearest.
    void bound_by_leaves(NearestPair& nearest, SearchWork& work) {
        for (auto leaf = leaves_.rbegin(); leaf != leaves_.rend() && !nearest.is_settled(); ++leaf)
            if (key(*leaf, work) < nearest.bound()) look_at_leaf(nodes_.at(*leaf), nearest);
    }

    // What may hide something nearer is sprouted; the rest may be raised.
    void partition(const NearestPair& nearest, SearchWork& work) {
        sproutees_.clear();
        const auto sort_out = [&](std::vector<Ref>& part, std::vector<Ref>& kept) {
            for (const Ref& node : part) {
                const float own = key(node, work);
                if (own < nearest.bound())
                    sproutees_.push_back({own, node});
                else
                    kept.push_back(node);
            }
        };
        std::vector<Ref> kept;
        sort_out(rest_, kept);
        sort_out(sprouted_, kept);
        rest_ = std::move(kept);
        sprouted_.clear();
    }

    int children_of(const PairNode& node) const {
        const PairTree<TreeType>& pair = tree(node);
        return pair.child_count(node.a, node.b);
    }

    // Siblings that are all in the front give way to their parent, and the parents in turn if asked to. When too many would,
    // the rest stays, and the next search starts anew.
    void raise() {
        nodes_.start_counting();
        raised_.clear();
        most_raised_ = kMostRaised * static_cast<double>(rest_.size() + leaves_.size() + sproutees_.size());
        for (const Ref& node : rest_) count_in(node);
        for (const Ref& node : leaves_) count_in(node);
        for (const Ref& parent : raised_) nodes_.count(parent) = kRaised;
        std::vector<Ref> rest, leaves;
        keep_what_stays(rest_, rest);
        keep_what_stays(leaves_, leaves);
        keep_what_stays(raised_, rest);
        for (const Ref& node : given_up_) nodes_.drop(node);
        given_up_.clear();
        rest_ = std::move(rest), leaves_ = std::move(leaves);
    }

    void count_in(const Ref& node) {
        Ref parent;
        if (reset_wanted_ || !nodes_.parent(node, tree(nodes_.at(node)), parent)) return;
        const int siblings = children_of(nodes_.at(parent));
        if (++nodes_.count(parent) < siblings) return;
        most_raised_ -= siblings;
        if (most_raised_ < 0.0) {
            reset_wanted_ = true;
            return;
        }
        raised_.push_back(parent);
        if (settings_.raise_recursively) count_in(parent);
    }

    static constexpr int kRaised = -1000;

    bool has_raised_parent(const Ref& node) {
        Ref parent;
        return nodes_.parent(node, tree(nodes_.at(node)), parent) && nodes_.count(parent) == kRaised;
    }

    void keep_what_stays(const std::vector<Ref>& part, std::vector<Ref>& kept) {
        for (const Ref& node : part) {
            if (has_raised_parent(node))
                given_up_.push_back(node);
            else
                kept.push_back(node);
        }
    }

    // Traverse below the sproutees. Where that ends is the new front.
    void sprout(NearestPair& nearest, SearchWork& work) {
        if (settings_.order == SearchOrder::best) {
            std::vector<Sproutee> room;
            Queue<Sproutee> queue(room);
            for (const Sproutee& sproutee : sproutees_) queue.push(sproutee);
            while (!queue.empty() && queue.top().key < nearest.bound() && !nearest.is_settled()) {
                work.queue_operations += 2;
                open(queue.pop(), nearest, work, [&](const Sproutee& child) { queue.push(child); });
            }
            for (const Sproutee& left : room) sprouted_.push_back(left.node);
            return;
        }
        std::vector<Sproutee>& stack = sproutees_;
        while (!stack.empty() && !nearest.is_settled()) {
            const Sproutee next = stack.back();
            stack.pop_back();
            work.queue_operations += 2;
            if (next.key >= nearest.bound()) {
                sprouted_.push_back(next.node);
                continue;
            }
            open(next, nearest, work, [&](const Sproutee& child) { stack.push_back(child); });
        }
        for (const Sproutee& left : stack) sprouted_.push_back(left.node);
    }

    template <class Push>
    void open(const Sproutee& next, NearestPair& nearest, SearchWork& work, const Push& push) {
        const PairNode node = nodes_.at(next.node);
        if (nearest.is_tie(tree(node), node.pair, node.a, node.b, next.key)) {
            sprouted_.push_back(next.node);
            return;
        }
        if (is_leaf(node)) {  // the root of two small meshes
            look_at_leaf(node, nearest);
            leaves_.push_back(next.node);
            return;
        }
        typename PairTree<TreeType>::Children children;
        tree(node).open(node.a, node.b, next.key, nearest.bound(), children);
        const int count = children.count;
        float* const keys = children.key;
        work.volume_tests += count;
        int order[TreeType::width];
        for (int k = 0; k < count; ++k) order[k] = k;
        // The nearest is opened first by a stack if it is pushed last; leaves are looked at the nearest first.
        std::stable_sort(order, order + count, [&](int i, int j) { return keys[i] < keys[j]; });
        Ref child[TreeType::width];
        bool is_done[TreeType::width] = {};
        for (int k = 0; k < count; ++k)
            child[k] = nodes_.child(next.node, {node.pair, children.of_a ? children.first + k : node.a,
                                                children.of_a ? node.b : children.first + k});
        for (int n = 0; n < count; ++n) {
            const int k = order[n];
            if (keys[k] >= nearest.bound() || nearest.is_settled() || !is_leaf(nodes_.at(child[k]))) continue;
            look_at_leaf(nodes_.at(child[k]), nearest);
            leaves_.push_back(child[k]);
            is_done[k] = true;
        }
        for (int n = count; n-- > 0;) {
            const int k = order[n];
            if (is_done[k]) continue;
            if (keys[k] < nearest.bound() && !is_leaf(nodes_.at(child[k])))
                push({keys[k], child[k]});
            else
                sprouted_.push_back(child[k]);
        }
    }

    SearchSettings settings_;
    std::vector<std::pair<std::uint64_t, std::uint64_t>> meshes_;
    std::vector<PairTree<TreeType>> trees_;
    Nodes nodes_;
    std::vector<Ref> rest_, sprouted_, leaves_;  // together they are the front
    std::vector<Ref> raised_, given_up_;
    double most_raised_ = 0.0;
    std::vector<Sproutee> sproutees_;
    bool reset_wanted_ = false;
};

std::unique_ptr<FrontSearch::State> new_front(std::span<const SurfacePair> forest, const SearchSettings& settings) {
    const bool all_rss = std::all_of(forest.begin(), forest.end(), [](const SurfacePair& pair) {
        return pair.a->rss.has_value() && pair.b->rss.has_value();
    });
    const bool is_explicit = settings.front == FrontKind::explicit_nodes;
    if (all_rss && is_explicit) return std::make_unique<Front<RssTree, ExplicitNodes>>(forest, settings);
    if (all_rss) return std::make_unique<Front<RssTree, ImplicitNodes>>(forest, settings);
    if (is_explicit) return std::make_unique<Front<WideTree, ExplicitNodes>>(forest, settings);
    return std::make_unique<Front<WideTree, ImplicitNodes>>(forest, settings);
}

}  // namespace

FrontSearch::FrontSearch(const SearchSettings& settings) : settings_(settings) {}
FrontSearch::FrontSearch(FrontSearch&&) noexcept = default;
FrontSearch::~FrontSearch() = default;

ForestAnswer FrontSearch::search(std::span<SurfacePair> forest, const ForestQuestion& question, const TrianglePair* hint,
                                 SearchWork& work) {
    if (state_ == nullptr || !state_->is_for(forest)) state_ = new_front(forest, settings_);
    return state_->search(forest, question, hint, work);
}

FrontSize FrontSearch::size() const { return state_ == nullptr ? FrontSize{0, 0, 0} : state_->size(); }
std::vector<FrontNode> FrontSearch::nodes() const { return state_ == nullptr ? std::vector<FrontNode>{} : state_->nodes(); }
void FrontSearch::clear() { state_.reset(); }

}  // namespace clearance
