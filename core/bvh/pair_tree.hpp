#pragma once

#include <algorithm>

#include "bvh/forest.hpp"

namespace clearance {

// Rounding of everything that is computed in floats, relative to the lengths it is computed from.
constexpr double kFloatSlack = 1e-6;

// Lengths whose squares vanish in floats, in units.
constexpr double kFloatUnderflow = 1e-18;

// Trees farther apart, or more different in size, than this many units of the smaller get no bounds: squares of floats would
// overflow.
constexpr double kMostUnits = 1e15;

// Two trees seen from each other. Its nodes are pairs of slots; the larger of the two volumes is opened, that of a if they
// are equally large, so every pair of slots has one parent.
template <class TreeType>
class PairTree {
public:
    static constexpr int width = TreeType::width;

    PairTree(const TreeType& a, const TreeType& b, const Stand& at_a, const Stand& at_b, const SurfaceDepth& depth = {})
        : a_(&a), b_(&b), least_(static_cast<float>(depth.least)), into_solid_(depth.into_solid) {
        const Mat3 a_from_b = transposed_times(at_a.rotation, at_b.rotation);
        const Vec3d middle_a = at_a.rotation * a.centre, middle_b = at_b.rotation * b.centre;
        const Vec3d apart = middle_b + at_b.origin - at_a.origin - middle_a;
        // What is this far from where it is seen from is placed no better, however small it is.
        const double rounding =
            32.0 * kEpsilon * (largest(middle_a) + largest(at_a.origin) + largest(middle_b) + largest(at_b.origin));
        const Vec3d shift_in_a = transposed_times(at_a.rotation, apart);
        const Vec3d shift_in_b = -transposed_times(at_b.rotation, apart);
        a_from_b_ = motion(a_from_b, shift_in_a, a.unit, b.unit);
        b_from_a_ = motion(transposed(a_from_b), shift_in_b, b.unit, a.unit);
        unit_a_ = static_cast<float>(a.unit), unit_b_ = static_cast<float>(b.unit);
        reach_ = norm(apart) + a.root_size * a.unit + b.root_size * b.unit + depth.sweep + rounding;
        // What is rounded down to prove a distance comes nearer to zero where it is negative: twice as much makes up for it.
        const double allowed = depth.least < 0.0 ? 2.0 * kFloatSlack : kFloatSlack;
        const double slack = allowed * reach_ + kFloatUnderflow * (a.unit + b.unit) + rounding;
        slack_ = static_cast<float>(slack);
        slack_below_ = static_cast<float>(slack + depth.sweep), slack_above_ = static_cast<float>(slack - depth.sweep);
        bounded_ = reach_ <= kMostUnits * min_of(a.unit, b.unit);
    }

    const TreeType& a() const { return *a_; }
    const TreeType& b() const { return *b_; }
    float unit_b() const { return unit_b_; }
    float least() const { return least_; }        // no distance is less
    bool is_bounded() const { return bounded_; }  // otherwise floats tell nothing of distances

    // Rounding; and with it, how far distances may lie below those of the trees, and above them at most.
    float slack() const { return slack_; }
    float slack_below() const { return slack_below_; }
    float slack_above() const { return slack_above_; }
    double reach() const { return reach_; }  // their nearest points are not farther apart

    bool is_leaf(std::int32_t a, std::int32_t b) const { return a_->child(a) < 0 && b_->child(b) < 0; }
    bool opens_a(std::int32_t a, std::int32_t b) const {
        if (b_->child(b) < 0) return true;
        return a_->child(a) >= 0 && a_->size(a) * unit_a_ >= b_->size(b) * unit_b_;
    }

    // The key of any pair, by itself.
    float key(std::int32_t a, std::int32_t b) const {
        if (!bounded_) return least_;
        const Volume<float> of_a = a_->volume(a), of_b = moved(a_from_b_, b_->volume(b));
        const float bound = into_solid_ ? distance_bound<true>(of_a, of_b) : distance_bound(of_a, of_b);
        return key_of(bound, KeyRule{unit_a_, slack_below_, least_});
    }

    int child_count(std::int32_t a, std::int32_t b) const {
        const bool of_a = opens_a(a, b);
        return (of_a ? *a_ : *b_).nodes[static_cast<std::size_t>((of_a ? *a_ : *b_).child(of_a ? a : b))].count;
    }

    // The children of a pair: slot a (or b) is replaced by first + k. Keys are no less than that of the pair.
    struct Children {
        float key[width];
        std::int32_t first;
        int count;
        bool of_a;
        Opened opened;
    };
    void open(std::int32_t a, std::int32_t b, float key, float bound, Children& children) const {
        children.of_a = opens_a(a, b);
        const TreeType& opened = children.of_a ? *a_ : *b_;
        const Volume<float> other = children.of_a ? moved(a_from_b_, b_->volume(b)) : moved(b_from_a_, a_->volume(a));
        const std::int32_t node = opened.child(children.of_a ? a : b);
        const KeyRule rule{children.of_a ? unit_a_ : unit_b_, slack_below_, key};
        children.first = node * width;
        const auto& parent = opened.nodes[static_cast<std::size_t>(node)];
        children.count = parent.count;
        if (bounded_)
            children.opened = keys_of_children(opened, node, other, rule, bound, children.key);
        else
            children.opened = no_bounds(key, parent.count, children.key);
        children.opened.near &= (1u << parent.count) - 1u;
    }

    // Keys of the triangles of a leaf of a, where b is a solid.
    void keys_of_triangles(const WideLeaf& leaf, float* keys) const {
        if (!bounded_) {
            std::fill_n(keys, leaf.count, least_);
            return;
        }
        (into_solid_ ? kernels_->signed_bounds : kernels_->bounds)(leaf, moved(a_from_b_, b_->root), keys);
        const KeyRule rule{unit_a_, slack_below_, least_};
        for (int k = 0; k < leaf.count; ++k) keys[k] = key_of(keys[k], rule);
    }

    // Triangles of two leaves that may be no farther apart than `within`, in metres.
    void near_triangles(std::int32_t slot_a, std::int32_t slot_b, float within, NearTriangles& found) const {
        const WideLeaf &a = a_->leaf(slot_a), &b = b_->leaf(slot_b);
        if (!bounded_) return all_triangles(a, b, found);
        const float units = (within + slack_below_) / unit_b_ * (1.0f + 0x1p-20f);
        kernels_->near_triangles(a, b, b_->volume(slot_b), b_from_a_, units, found);
    }

    // Volumes are opened in the order of their sizes, so the one opened last is the smaller of the two parents.
    void to_parent(std::int32_t& a, std::int32_t& b) const {
        if (b == kRoot || (a != kRoot && a_->size(a_->parent(a)) * unit_a_ < b_->size(b_->parent(b)) * unit_b_))
            a = a_->parent(a);
        else
            b = b_->parent(b);
    }

private:
    static Mat3 transposed(const Mat3& m) {
        const Vec3d* r = m.row;
        return {{{r[0].x, r[1].x, r[2].x}, {r[0].y, r[1].y, r[2].y}, {r[0].z, r[1].z, r[2].z}}};
    }
    static TreeMotion motion(const Mat3& rotation, const Vec3d& shift, double unit, double unit_of_other) {
        const auto rounded = [](const Vec3d& v) {
            return Vec3<float>{static_cast<float>(v.x), static_cast<float>(v.y), static_cast<float>(v.z)};
        };
        return {{rounded(rotation.row[0]), rounded(rotation.row[1]), rounded(rotation.row[2])},
                rounded((1.0 / unit) * shift),
                static_cast<float>(unit_of_other / unit)};
    }
    Opened keys_of_children(const WideTree& tree, std::int32_t node, const Volume<float>& other, const KeyRule& rule,
                            float bound, float* keys) const {
        const auto keys_of = into_solid_ ? kernels_->signed_keys : kernels_->keys;
        return keys_of(tree.nodes[static_cast<std::size_t>(node)], other, rule, bound, keys);
    }
    static Opened keys_of_children(const RssTree& tree, std::int32_t node, const Volume<float>& other, const KeyRule& rule,
                                   float bound, float* keys) {
        Opened opened{0, std::numeric_limits<float>::infinity()};
        for (int k = 0; k < 2; ++k) {
            keys[k] = key_of(distance_bound(tree.volume(2 * node + k), other), rule);
            if (keys[k] < bound)
                opened.near |= 1u << k;
            else
                opened.least_pruned = min_of(opened.least_pruned, keys[k]);
        }
        return opened;
    }
    static Opened no_bounds(float key, int count, float* keys) {
        for (int k = 0; k < count; ++k) keys[k] = key;
        return {(1u << count) - 1u, std::numeric_limits<float>::infinity()};
    }

    static void all_triangles(const WideLeaf& a, const WideLeaf& b, NearTriangles& found) {
        found.count = 0, found.upper = std::numeric_limits<float>::infinity();
        for (int i = 0; i < a.count; ++i)
            for (int j = 0; j < b.count; ++j, ++found.count)
                found.i[found.count] = static_cast<std::uint8_t>(i), found.j[found.count] = static_cast<std::uint8_t>(j);
    }

    const TreeType *a_, *b_;
    TreeMotion a_from_b_, b_from_a_;
    float unit_a_, unit_b_, slack_, slack_below_, slack_above_, least_;
    double reach_;
    bool bounded_, into_solid_;
    const BvhKernels* kernels_ = &bvh_kernels();
};

}  // namespace clearance
