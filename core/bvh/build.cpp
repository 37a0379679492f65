#include <atomic>
#include <thread>

#include "bvh/mesh.hpp"
#include "bvh/subtree.hpp"
#include "parallel/pool.hpp"

namespace clearance {
namespace {

// Subtrees of no more triangles than this are built by one thread each. It must not depend on the number of threads: the
// tree is the same whoever builds it.
std::size_t task_size(std::size_t count) { return count / 64 > 4096 ? count / 64 : 4096; }

// A slot of the upper part of the tree, above the subtrees that are built each by one thread.
struct UpperSlot {
    Triangles triangles;
    std::int32_t node;  // below it, or -1: a subtree
    Moments moments;
};

template <class TreeType>
class Builder {
public:
    using NodeType = typename Subtree<TreeType>::NodeType;
    static constexpr int W = TreeType::width;

    Builder(TreeType& tree, const Corners& corners, const BuildOptions& options)
        : tree_(tree), corners_(corners), options_(options) {}

    void build(Triangles all) {
        limit_ = task_size(all.size());
        total_ = all.size();
        slots_.push_back({all, -1, {}});
        split_upper(0, kRoot);
        build_subtrees();
        join_subtrees();
        fit_upper();
        limit_sizes();
    }

private:
    // Slot 0 is the root; those of upper node k are 1 + k W and following.
    static std::size_t slot_of(std::size_t node, int k) { return 1 + node * W + static_cast<std::size_t>(k); }

    void split_upper(std::size_t slot, std::int32_t parent) {
        if (slots_[slot].triangles.size() <= limit_) {
            tasks_.push_back({slot, parent});
            return;
        }
        const std::size_t number = tree_.nodes.size();
        slots_[slot].node = static_cast<std::int32_t>(number);
        tree_.nodes.push_back(empty_node<W>(parent));
        slots_.resize(slot_of(number, W));
        const Groups<W> groups(slots_[slot].triangles, leaf_size(&tree_), corners_);
        tree_.nodes.back().count = groups.count;
        for (int k = 0; k < groups.count; ++k) slots_[slot_of(number, k)] = {groups.group[k], -1, {}};
        for (int k = 0; k < groups.count; ++k) split_upper(slot_of(number, k), static_cast<std::int32_t>(number) * W + k);
    }

    void build_subtrees() {
        for (std::size_t k = 0; k < tasks_.size(); ++k) subtrees_.emplace_back(corners_);
        children_.resize(tasks_.size());
        std::atomic<std::size_t> finished{0};
        const auto caller = std::this_thread::get_id();
        Pool::shared().for_blocks(tasks_.size(), 1, options_.threads, [&](std::size_t begin, std::size_t end) {
            for (std::size_t k = begin; k < end; ++k) {
                UpperSlot& slot = slots_[tasks_[k].slot];
                children_[k] = subtrees_[k].build(slot.triangles, kRoot, slot.moments);
                finished += slot.triangles.size();
                if (options_.progress && std::this_thread::get_id() == caller)
                    options_.progress(static_cast<double>(finished) / static_cast<double>(total_));
            }
        });
    }

    void join_subtrees() {
        for (std::size_t k = 0; k < tasks_.size(); ++k) {
            Subtree<TreeType>& subtree = subtrees_[k];
            const auto first_node = static_cast<std::int32_t>(tree_.nodes.size());
            const auto first_leaf = static_cast<std::int32_t>(tree_.leaves.size());
            const auto joined = [=](std::int32_t child) {
                return child >= 0 ? child + first_node : child == NodeType::kNone ? child : ~(~child + first_leaf);
            };
            for (NodeType& node : subtree.nodes) {
                for (std::int32_t& child : node.child) child = joined(child);
                node.parent = node.parent == kRoot ? tasks_[k].parent : node.parent + first_node * W;
            }
            set_child(tasks_[k].parent, joined(children_[k]));
            tree_.nodes.insert(tree_.nodes.end(), subtree.nodes.begin(), subtree.nodes.end());
            tree_.leaves.insert(tree_.leaves.end(), subtree.leaves.begin(), subtree.leaves.end());
            subtree.nodes = {}, subtree.leaves = {};
        }
        for (const UpperSlot& slot : slots_)
            if (slot.node >= 0) set_child(tree_.nodes[static_cast<std::size_t>(slot.node)].parent, slot.node);
    }

    void set_child(std::int32_t slot, std::int32_t child) {
        if (slot == kRoot)
            tree_.root_child = child;
        else
            tree_.nodes[static_cast<std::size_t>(slot / W)].child[slot % W] = child;
    }

    // Nodes stand after their parents, so moments are complete when they are handed upwards from the last slot.
    void fit_upper() {
        for (std::size_t slot = slots_.size(); slot-- > 0;) {
            if (slots_[slot].node < 0) continue;
            for (int k = 0; k < W; ++k)
                slots_[slot].moments += slots_[slot_of(static_cast<std::size_t>(slots_[slot].node), k)].moments;
        }
        std::vector<Volume<float>> volumes(slots_.size());
        Pool::shared().for_blocks(slots_.size(), 1, options_.threads, [&](std::size_t begin, std::size_t end) {
            for (std::size_t k = begin; k < end; ++k)
                if (!slots_[k].triangles.empty())
                    volumes[k] = fitted(&tree_, slots_[k].triangles, slots_[k].moments, corners_);
        });
        tree_.root = volumes[0];
        tree_.root_size = size_of(volumes[0]);
        for (std::size_t slot = 1; slot < slots_.size(); ++slot) {
            const auto k = static_cast<int>((slot - 1) % W);
            if (!slots_[slot].triangles.empty()) set_volume(tree_.nodes[(slot - 1) / W], k, volumes[slot]);
        }
    }

    // Pairs open the larger of their volumes; on every way down sizes must not grow, so that the way up is known as well.
    void limit_sizes() {
        for (NodeType& node : tree_.nodes)
            for (float& size : node.size) size = min_of(size, tree_.size(node.parent));
    }

    struct Task {
        std::size_t slot;
        std::int32_t parent;
    };

    TreeType& tree_;
    const Corners& corners_;
    const BuildOptions& options_;
    std::size_t limit_ = 0, total_ = 0;
    std::vector<UpperSlot> slots_;
    std::vector<Task> tasks_;
    std::vector<Subtree<TreeType>> subtrees_;
    std::vector<std::int32_t> children_;
};

// ---- The mesh.

struct Extent {
    Vec3d low, high;
};

Extent extent_of(const Mesh& mesh) {
    Extent extent{mesh.triangle(0).vertex[0], mesh.triangle(0).vertex[0]};
    for (const Face& face : mesh.faces)
        for (const std::int32_t k : face) {
            const Vec3d& v = mesh.vertices[static_cast<std::size_t>(k)];
            extent.low = {min_of(extent.low.x, v.x), min_of(extent.low.y, v.y), min_of(extent.low.z, v.z)};
            extent.high = {max_of(extent.high.x, v.x), max_of(extent.high.y, v.y), max_of(extent.high.z, v.z)};
        }
    return extent;
}

std::vector<TriangleBox> boxes_of(const Mesh& mesh, const Corners& corners, int threads) {
    std::vector<TriangleBox> boxes(mesh.faces.size());
    Pool::shared().for_blocks(boxes.size(), 4096, threads, [&](std::size_t begin, std::size_t end) {
        Vec3d corner[3];
        for (std::size_t k = begin; k < end; ++k) {
            TriangleBox& box = boxes[k];
            box.triangle = static_cast<std::int32_t>(k);
            corners.get(box.triangle, corner);
            const auto set = [&](int axis, double x, double y, double z) {
                box.low[axis] = static_cast<float>(min_of(x, min_of(y, z)));
                box.high[axis] = static_cast<float>(max_of(x, max_of(y, z)));
            };
            set(0, corner[0].x, corner[1].x, corner[2].x);
            set(1, corner[0].y, corner[1].y, corner[2].y);
            set(2, corner[0].z, corner[1].z, corner[2].z);
        }
    });
    return boxes;
}

// Smaller meshes are points as far as trees are concerned; the inverse of their unit would overflow.
constexpr double kLeastReach = 1e-300;

template <class TreeType>
void build_tree(TreeType& tree, const Mesh& mesh, const BuildOptions& options) {
    const Extent extent = extent_of(mesh);
    tree.centre = extent.low + 0.5 * (extent.high - extent.low);
    const double reach = largest(extent.high - extent.low);
    tree.unit = reach > kLeastReach ? std::ldexp(1.0, std::ilogb(reach) + 1) : 1.0;
    const Corners corners{&mesh.vertices[0].x, mesh.faces[0].data(), tree.centre, 1.0 / tree.unit};
    std::vector<TriangleBox> boxes = boxes_of(mesh, corners, options.threads);
    Builder<TreeType>(tree, corners, options).build(boxes);
    tree.nodes.shrink_to_fit();
    tree.leaves.shrink_to_fit();
}

Ball ball_around(const Mesh& mesh, const Vec3d& centre) {
    double reach_sq = 0.0;
    for (const Face& face : mesh.faces)
        for (const std::int32_t k : face)
            reach_sq = max_of(reach_sq, norm_sq(mesh.vertices[static_cast<std::size_t>(k)] - centre));
    return {centre, sqrt_of(reach_sq)};
}

}  // namespace

Mesh build_mesh(std::vector<Vec3d> vertices, std::vector<Face> faces, const BuildOptions& options) {
    Mesh mesh{.vertices = std::move(vertices), .faces = std::move(faces), .boxes = {}, .rss = std::nullopt};
    const bool has_rss = options.volume == VolumeKind::rss;
    BuildOptions first = options, second = options;
    if (has_rss && options.progress) {
        first.progress = [&](double fraction) { options.progress(0.5 * fraction); };
        second.progress = [&](double fraction) { options.progress(0.5 + 0.5 * fraction); };
    }
    build_tree(mesh.boxes, mesh, first);
    if (has_rss) build_tree(mesh.rss.emplace(), mesh, second);
    mesh.ball = ball_around(mesh, mesh.boxes.centre);
    if (options.progress) options.progress(1.0);
    return mesh;
}

}  // namespace clearance
