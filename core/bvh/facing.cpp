#include "bvh/facing.hpp"

#include <algorithm>

#include "bvh/pair_tree.hpp"
#include "convex/curvature.hpp"

namespace clearance {
namespace {

constexpr int kMostTriangles = 1024, kMostPairs = 16384;

Vec3<float> in_floats(const Vec3d& v) { return {static_cast<float>(v.x), static_cast<float>(v.y), static_cast<float>(v.z)}; }

// Axes to see a mesh along: the first points away from the other mesh, so that what is near to it is low.
struct View {
    Vec3d up, x, y;
};

// Two directions perpendicular to n. Long parts that lie along one of them stay narrow when they are seen along the other.
struct Aside {
    Vec3d x, y;
};
Aside aside_of(const SurfacePair& pair, const Vec3d& n) {
    Vec3d longest{0, 0, 0};
    double length = 0.0;
    const auto look_at = [&](const Mesh& mesh, const Stand& at) {
        const Volume<float>& root = mesh.boxes.root;
        const float half[3] = {root.half.x, root.half.y, root.half.z};
        for (int k = 0; k < 3; ++k) {
            const Vec3d axis = at.rotation * Vec3d{root.axis[k].x, root.axis[k].y, root.axis[k].z};
            const Vec3d across = axis - dot(axis, n) * n;
            const double seen = mesh.boxes.unit * half[k] * norm(across);
            if (seen > length) length = seen, longest = across;
        }
    };
    look_at(*pair.a, pair.at_a), look_at(*pair.b, pair.at_b);
    const Vec3d x = unit_or(tangents_of(n).e, longest);
    return {x, cross(n, x)};
}

// Triangles of a mesh that reach down to a plane, as they are seen: how far above it they stay, how far they go aside, and
// where their corners are, those of the first coming first.
struct LowTriangles {
    std::int32_t triangle[kMostTriangles];
    alignas(64) float height[kMostTriangles], low_x[kMostTriangles], high_x[kMostTriangles], low_y[kMostTriangles],
        high_y[kMostTriangles];
    float corner[kMostTriangles][9];  // up, x, y of each
    int count = 0;

    void move(int from, int to) {
        triangle[to] = triangle[from], height[to] = height[from];
        low_x[to] = low_x[from], high_x[to] = high_x[from], low_y[to] = low_y[from], high_y[to] = high_y[from];
        std::copy_n(corner[from], 9, corner[to]);
    }
};

// One coordinate of a mesh, in its own units about its middle.
struct Axis {
    Vec3<float> along;
    float shift, unit;

    Axis(const Vec3d& world, const Mesh& mesh, const Stand& at, const Vec3d& origin)
        : along(in_floats(transposed_times(at.rotation, world))),
          shift(static_cast<float>(dot(world, at.rotation * mesh.boxes.centre + at.origin - origin))),
          unit(static_cast<float>(mesh.boxes.unit)) {}

    float of(const float (*point)[kLeafTriangles], int k) const {
        return shift + unit * (along.x * point[0][k] + along.y * point[1][k] + along.z * point[2][k]);
    }
};

// Finds the triangles of a mesh that come as low as a limit; false if there are too many.
class LowSearch {
public:
    LowSearch(const Mesh& mesh, const Stand& at, const View& view, const Vec3d& origin, float limit)
        : tree_(mesh.boxes),
          up_(view.up, mesh, at, origin),
          x_(view.x, mesh, at, origin),
          y_(view.y, mesh, at, origin),
          limit_(limit) {}

    bool find(LowTriangles& found, SearchWork& work) const {
        found.count = 0;
        constexpr int kMostWaiting = 256;
        std::int32_t waiting[kMostWaiting];
        int count = 0;
        waiting[count++] = tree_.root_child;
        while (count > 0) {
            const std::int32_t next = waiting[--count];
            if (next < 0) {
                if (!add(tree_.leaves[static_cast<std::size_t>(~next)], found)) return false;
                continue;
            }
            const Node<8>& node = tree_.nodes[static_cast<std::size_t>(next)];
            float lowest[8];
            bound(node, lowest);
            work.volume_tests += node.count;
            if (count + node.count > kMostWaiting) return false;
            for (int k = 0; k < node.count; ++k)
                if (lowest[k] <= limit_) waiting[count++] = node.child[k];
        }
        return true;
    }

private:
    void bound(const Node<8>& node, float* lowest) const {
        const Vec3<float>& up = up_.along;
        for (int k = 0; k < 8; ++k) {
            float reach = 0.0f;
            for (int axis = 0; axis < 3; ++axis) {
                const float(*column)[8] = node.axis + 3 * axis;
                reach += abs_of(up.x * column[0][k] + up.y * column[1][k] + up.z * column[2][k]) * node.half[axis][k];
            }
            lowest[k] = up_.of(node.centre, k) - up_.unit * reach;
        }
    }

    bool add(const WideLeaf& leaf, LowTriangles& found) const {
        float seen[9][kLeafTriangles];  // up, x, y of each corner
        const Axis* axes[3] = {&up_, &x_, &y_};
        for (int row = 0; row < 9; ++row)
            for (int k = 0; k < kLeafTriangles; ++k) seen[row][k] = axes[row % 3]->of(leaf.vertex + row / 3 * 3, k);
        for (int k = 0; k < leaf.count; ++k) {
            const auto low = [&](int axis) { return min_of(min_of(seen[axis][k], seen[axis + 3][k]), seen[axis + 6][k]); };
            const auto high = [&](int axis) { return max_of(max_of(seen[axis][k], seen[axis + 3][k]), seen[axis + 6][k]); };
            if (low(0) > limit_) continue;
            if (found.count == kMostTriangles) return false;
            const int at = found.count++;
            found.triangle[at] = leaf.triangle[k], found.height[at] = low(0);
            found.low_x[at] = low(1), found.high_x[at] = high(1), found.low_y[at] = low(2), found.high_y[at] = high(2);
            for (int row = 0; row < 9; ++row) found.corner[at][row] = seen[row][k];
        }
        return true;
    }

    const WideTree& tree_;
    Axis up_, x_, y_;
    float limit_;
};

// How far aside they go together.
struct Rectangle {
    float low_x, high_x, low_y, high_y;
};
Rectangle around(const LowTriangles& low) {
    constexpr float kFar = std::numeric_limits<float>::infinity();
    Rectangle all{kFar, -kFar, kFar, -kFar};
    for (int k = 0; k < low.count; ++k) {
        all.low_x = min_of(all.low_x, low.low_x[k]), all.high_x = max_of(all.high_x, low.high_x[k]);
        all.low_y = min_of(all.low_y, low.low_y[k]), all.high_y = max_of(all.high_y, low.high_y[k]);
    }
    return all;
}

// Only triangles that may be near to something over a rectangle.
void keep_near(LowTriangles& low, const Rectangle& other, float apart, float most) {
    int kept = 0;
    for (int k = 0; k < low.count; ++k) {
        const float x = max_of(0.0f, max_of(low.low_x[k] - other.high_x, other.low_x - low.high_x[k]));
        const float y = max_of(0.0f, max_of(low.low_y[k] - other.high_y, other.low_y - low.high_y[k]));
        const float down = apart + low.height[k];
        low.move(k, kept);
        kept += x * x + y * y + down * down <= most * most;
    }
    low.count = kept;
}

// Squares of what one triangle of a keeps from those of b: the planes and what they are away from these, and what they are
// aside of each other.
void bound_all(const LowTriangles& a, int i, const LowTriangles& b, float apart, float* __restrict squares) {
    const float low_x = a.low_x[i], high_x = a.high_x[i], low_y = a.low_y[i], high_y = a.high_y[i];
    const float height = apart + a.height[i];
    for (int j = 0; j < b.count; ++j) {
        const float x = max_of(0.0f, max_of(low_x - b.high_x[j], b.low_x[j] - high_x));
        const float y = max_of(0.0f, max_of(low_y - b.high_y[j], b.low_y[j] - high_y));
        const float down = height + b.height[j];
        squares[j] = x * x + y * y + down * down;
    }
}

// Looks at the pairs of one triangle with the four others that may be nearest to it.
template <class Look>
void look_at_least(const LowTriangles& one, int number, const LowTriangles& others, float apart, const Look& look) {
    float squares[kMostTriangles];
    bound_all(one, number, others, apart, squares);
    for (int k = 0; k < std::min(4, others.count); ++k) {
        float* const least = std::min_element(squares, squares + others.count);
        look(static_cast<std::int16_t>(number), static_cast<std::int16_t>(least - squares));
        *least = std::numeric_limits<float>::infinity();
    }
}

int number_in(const LowTriangles& low, std::int32_t triangle) {
    const std::int32_t* const end = low.triangle + low.count;
    const std::int32_t* const found = std::find(low.triangle, end, triangle);
    return found == end ? 0 : static_cast<int>(found - low.triangle);
}

struct Candidate {
    float square;
    std::int16_t i, j;

    bool operator<(const Candidate& other) const { return square < other.square; }
};

// Two triangles, and what floats tell of their distance.
struct Finalist {
    float lower;
    TrianglePair triangles;
};

// Room that is kept between queries: no query allocates once it has grown.
struct Room {
    LowTriangles a, b;
    std::vector<Candidate> candidates;
    std::vector<Finalist> finalists;
};

// Looks at pairs of triangles in floats, eight at a time, and measures those that may be the nearest.
class Contest {
public:
    Contest(const SurfacePair& pair, Room& room, float apart, double slack, const ForestAnswer& first, SearchWork& work)
        : pair_(pair),
          room_(room),
          apart_(apart),
          slack_(static_cast<float>(slack)),
          most_(static_cast<float>(first.gap.distance) + slack_),
          best_(first),
          work_(work) {
        room_.finalists.clear();
    }

    float most() const { return most_; }  // what is farther apart than this is not the nearest

    void add(std::int16_t i, std::int16_t j) {
        const float *a = room_.a.corner[i], *b = room_.b.corner[j];
        for (int row = 0; row < 9; ++row) {
            octet_.a[row][count_] = row % 3 == 0 ? -a[row] : a[row];
            octet_.b[row][count_] = row % 3 == 0 ? apart_ + b[row] : b[row];
        }
        waiting_[count_++] = {0, room_.a.triangle[i], room_.b.triangle[j]};
        if (count_ == 8) look_at_waiting();
    }

    void look_at_waiting() {
        if (count_ == 0) return;
        for (int lane = count_; lane < 8; ++lane)
            for (int row = 0; row < 9; ++row) octet_.a[row][lane] = octet_.a[row][0], octet_.b[row][lane] = octet_.b[row][0];
        float lower[8], upper[8];
        bvh_kernels().look_closely(octet_, lower, upper);
        work_.triangle_tests += count_;
        for (int k = 0; k < count_; ++k) most_ = min_of(most_, upper[k] + slack_);
        for (int k = 0; k < count_; ++k)
            if (lower[k] <= most_) room_.finalists.push_back({lower[k], waiting_[k]});
        count_ = 0;
    }

    const ForestAnswer& best() {
        look_at_waiting();
        TrianglePair some[kMostMeasured];
        std::size_t count = 0;
        for (const Finalist& each : room_.finalists) {
            if (each.lower > most_) continue;
            some[count++] = each.triangles;
            if (count == kMostMeasured) measure_all({some, count}), count = 0;
        }
        measure_all({some, count});
        return best_;
    }

private:
    void measure_all(std::span<const TrianglePair> triangles) {
        TriangleGap gaps[kMostMeasured];
        measure({&pair_, 1}, triangles, gaps);
        for (std::size_t k = 0; k < triangles.size(); ++k) {
            best_.lower = min_of(best_.lower, gaps[k].lower);
            if (gaps[k].distance < best_.gap.distance) best_.gap = gaps[k], best_.nearest = triangles[k];
        }
    }

    const SurfacePair& pair_;
    Room& room_;
    float apart_, slack_, most_;
    ForestAnswer best_;
    SearchWork& work_;
    Octet octet_;
    TrianglePair waiting_[8];
    int count_ = 0;
};

}  // namespace

std::optional<ForestAnswer> nearest_facing(const SurfacePair& pair, const ParallelPlanes& planes, const TrianglePair& first,
                                           SearchWork& work) {
    const Vec3d middle_b = pair.at_b.rotation * pair.b->boxes.centre + pair.at_b.origin;
    const double reach = largest(middle_b - planes.point_a) + pair.a->boxes.unit + pair.b->boxes.unit;
    if (!(reach <= kMostUnits * min_of(pair.a->boxes.unit, pair.b->boxes.unit))) return std::nullopt;
    const double slack = 4.0 * kFloatSlack * reach;
    const TriangleGap of_first = measured(pair, first, std::numeric_limits<double>::infinity());
    ++work.triangle_tests;

    thread_local Room room;
    const Vec3d n = planes.normal, point_b = planes.point_a + planes.apart * n;
    const Aside aside = aside_of(pair, n);
    const float limit = static_cast<float>(of_first.upper - planes.apart + slack);
    const LowSearch low_a(*pair.a, pair.at_a, {-n, aside.x, aside.y}, planes.point_a, limit);
    const LowSearch low_b(*pair.b, pair.at_b, {n, aside.x, aside.y}, point_b, limit);
    LowTriangles &a = room.a, &b = room.b;
    if (!low_a.find(a, work) || !low_b.find(b, work) || a.count == 0 || b.count == 0) return std::nullopt;
    const float apart = static_cast<float>(planes.apart);
    Contest contest(pair, room, apart, slack, {first, of_first, of_first.lower, 0}, work);
    // Before all pairs are looked at, those of the first triangles tell how near they have to be.
    look_at_least(a, number_in(a, first.triangle_a), b, apart, [&](std::int16_t i, std::int16_t j) { contest.add(i, j); });
    look_at_least(b, number_in(b, first.triangle_b), a, apart, [&](std::int16_t j, std::int16_t i) { contest.add(i, j); });
    contest.look_at_waiting();
    const float most = contest.most();
    keep_near(a, around(b), apart, most);
    keep_near(b, around(a), apart, most);
    if (a.count * b.count > kMostPairs) return std::nullopt;

    // Which pairs are near cannot be foreseen: there is no branch for it.
    room.candidates.resize(static_cast<std::size_t>(a.count * b.count));
    Candidate* const begin = room.candidates.data();
    Candidate* end = begin;
    for (int i = 0; i < a.count; ++i) {
        float squares[kMostTriangles];
        bound_all(a, i, b, apart, squares);
        for (int j = 0; j < b.count; ++j) {
            *end = {squares[j], static_cast<std::int16_t>(i), static_cast<std::int16_t>(j)};
            end += squares[j] <= most * most;
        }
    }
    // The most promising ones make many of the others needless.
    std::nth_element(begin, begin + std::min<std::ptrdiff_t>(8, end - begin), end);
    for (const Candidate* next = begin; next != end; ++next)
        if (next->square <= contest.most() * contest.most()) contest.add(next->i, next->j);
    return contest.best();
}

}  // namespace clearance
