#include <atomic>
#include <thread>

#include "bvh/duplicates.hpp"
#include "bvh/mesh.hpp"
#include "parallel/pool.hpp"

namespace clearance {
namespace {

using Triangles = std::span<TriangleBox>;

// Subtrees of no more triangles than this are built by one thread each. It must not depend on the number of threads: the
// tree is the same whoever builds it.
std::size_t task_size(std::size_t count) { return count / 64 > 4096 ? count / 64 : 4096; }

float rounded_up(double length) { return static_cast<float>(length * (1.0 + 1e-7)); }

// ---- What the two kinds of tree do differently.

Volume<float> fitted(const WideTree*, Triangles triangles, const Moments& moments, const Corners& corners) {
    return fitted_box(triangles, moments, corners);
}
Volume<float> fitted(const RssTree*, Triangles triangles, const Moments& moments, const Corners& corners) {
    return fitted_rss(triangles, moments, corners);
}

constexpr std::size_t leaf_size(const WideTree*) { return kLeafTriangles; }
constexpr std::size_t leaf_size(const RssTree*) { return 1; }

void set_column(float (*column)[kLeafTriangles], int k, const Vec3d& v) {
    column[0][k] = static_cast<float>(v.x), column[1][k] = static_cast<float>(v.y), column[2][k] = static_cast<float>(v.z);
}

WideLeaf leaf_of(const WideTree*, Triangles triangles, const Corners& corners) {
    WideLeaf leaf{};
    const Vec3d far_away{kFarAway, kFarAway, kFarAway};
    for (int k = 0; k < kLeafTriangles; ++k) {
        const bool exists = static_cast<std::size_t>(k) < triangles.size();
        leaf.triangle[k] = exists ? triangles[static_cast<std::size_t>(k)].triangle : -1;
        Vec3d corner[3] = {far_away, far_away, far_away};
        if (exists) corners.get(leaf.triangle[k], corner);
        const Vec3d normal = cross(corner[1] - corner[0], corner[2] - corner[0]);
        const Vec3d centre = (1.0 / 3.0) * (corner[0] + corner[1] + corner[2]);
        double reach = 0.0;
        for (int c = 0; c < 3; ++c) {
            set_column(leaf.vertex + 3 * c, k, corner[c]);
            reach = max_of(reach, norm(corner[c] - centre));
        }
        set_column(leaf.normal, k, inverse_or_zero(norm(normal)) * normal);
        set_column(leaf.centre, k, centre);
        leaf.radius[k] = rounded_up(reach);
    }
    leaf.count = static_cast<std::int32_t>(triangles.size());
    return leaf;
}

OneTriangle leaf_of(const RssTree*, Triangles triangles, const Corners&) { return {triangles.front().triangle}; }

// ---- Nodes.

float size_of(const Volume<float>& volume) {
    return rounded_up(norm(Vec3d{volume.half.x, volume.half.y, volume.half.z}) + volume.sweep);
}

template <int W>
Node<W> empty_node(std::int32_t parent) {
    Node<W> node{};
    for (int k = 0; k < W; ++k) {
        for (auto& row : node.centre) row[k] = kFarAway;
        node.axis[0][k] = node.axis[4][k] = node.axis[8][k] = 1.0f;
        node.child[k] = Node<W>::kNone;
    }
    node.parent = parent;
    return node;
}

template <int W>
void set_volume(Node<W>& node, int k, const Volume<float>& volume) {
    const auto set = [k](float(*column)[W], const Vec3<float>& v) {
        column[0][k] = v.x, column[1][k] = v.y, column[2][k] = v.z;
    };
    set(node.centre, volume.centre);
    set(node.half, volume.half);
    for (int axis = 0; axis < 3; ++axis) set(node.axis + 3 * axis, volume.axis[axis]);
    if constexpr (Node<W>::is_swept) node.sweep[k] = volume.sweep;
    node.size[k] = size_of(volume);
}

// The children of a node: the triangles are split, always the largest group, until there are enough groups.
template <int W>
struct Groups {
    Triangles group[W];
    int count = 1;

    Groups(Triangles all, std::size_t leaf, const Corners& corners) {
        group[0] = without_duplicates(all, corners);
        float area[W] = {half_area_of(group[0])};
        while (count < W) {
            int largest = -1;
            for (int k = 0; k < count; ++k)
                if (group[k].size() > leaf && (largest < 0 || area[k] > area[largest])) largest = k;
            if (largest < 0) return;
            const std::size_t rest = split(group[largest], static_cast<int>(leaf));
            group[count] = group[largest].subspan(rest), group[largest] = group[largest].first(rest);
            area[largest] = half_area_of(group[largest]), area[count] = half_area_of(group[count]);
            ++count;
        }
    }
};

// Nodes and leaves of one part of the tree, numbered from zero.
template <class TreeType>
class Subtree {
public:
    using NodeType = typename decltype(TreeType::nodes)::value_type;
    static constexpr int W = TreeType::width;
    static constexpr const TreeType* kKind = nullptr;

    explicit Subtree(const Corners& corners) : corners_(corners) {}

    // Build below `parent`; gives the number of the child, and adds what the triangles weigh.
    std::int32_t build(Triangles triangles, std::int32_t parent, Moments& moments) {
        if (triangles.size() <= leaf_size(kKind)) return add_leaf(triangles, moments);
        const auto number = static_cast<std::int32_t>(nodes.size());
        nodes.push_back(empty_node<W>(parent));
        const Groups<W> groups(triangles, leaf_size(kKind), corners_);
        for (int k = 0; k < groups.count; ++k) {
            Moments own;
            const std::int32_t child = build(groups.group[k], number * W + k, own);
            NodeType& node = nodes[static_cast<std::size_t>(number)];
            set_volume(node, k, fitted(kKind, groups.group[k], own, corners_));
            node.child[k] = child;
            node.count = k + 1;
            moments += own;
        }
        return number;
    }

    std::vector<NodeType> nodes;
    std::vector<typename TreeType::Leaf> leaves;

private:
    std::int32_t add_leaf(Triangles triangles, Moments& moments) {
        Vec3d corner[3];
        for (const TriangleBox& box : triangles) {
            corners_.get(box.triangle, corner);
            moments.add(corner);
        }
        leaves.push_back(leaf_of(kKind, triangles, corners_));
        return ~static_cast<std::int32_t>(leaves.size() - 1);
    }

    const Corners& corners_;
};

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

template <class TreeType>
void build_tree(TreeType& tree, const Mesh& mesh, const BuildOptions& options) {
    const Extent extent = extent_of(mesh);
    tree.centre = extent.low + 0.5 * (extent.high - extent.low);
    const double reach = largest(extent.high - extent.low);
    tree.unit = reach > 0.0 ? std::ldexp(1.0, std::ilogb(reach) + 1) : 1.0;
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
