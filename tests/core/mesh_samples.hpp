#pragma once

// Meshes and placements for the checks of core/bvh: small enough for all pairs of triangles, and unpleasant on purpose.
#include <cmath>
#include <cstdio>
#include <limits>
#include <map>
#include <random>
#include <string>
#include <vector>

#include "bvh/forest.hpp"

namespace clearance::samples {

// ---- What holds and what does not.

// The first failures of a kind are printed, all are counted.
class Tally {
public:
    template <class... Values>
    void expect(bool holds, const char* what, const char* format = "", Values... values) {
        ++(holds ? passed_ : failed_);
        if (holds || ++failures_[what] > 3) return;
        std::printf("FAILED %s: %s; ", context.c_str(), what);
        if constexpr (sizeof...(values) > 0)
            std::printf(format, values...);
        else
            std::printf("%s", format);
        std::printf("\n");
        std::fflush(stdout);
    }
    int finish() const {
        for (const auto& [what, count] : failures_) std::printf("%ld times not so: %s\n", count, what.c_str());
        std::printf("%ld passed, %ld failed\n", passed_, failed_);
        return failed_ == 0 ? 0 : 1;
    }
    std::string context;

private:
    long passed_ = 0, failed_ = 0;
    std::map<std::string, long> failures_;
};

// ---- Chance.

class Draw {
public:
    explicit Draw(unsigned long seed) : engine_(seed) {}
    double normal() { return normal_(engine_); }
    double uniform(double low, double high) { return std::uniform_real_distribution<double>(low, high)(engine_); }
    double power(double low, double high) { return std::pow(10.0, uniform(low, high)); }
    int below(int count) { return std::uniform_int_distribution<int>(0, count - 1)(engine_); }
    bool chance(double probability) { return uniform(0.0, 1.0) < probability; }
    std::mt19937_64& engine() { return engine_; }
    Vec3d direction() {
        const Vec3d v{normal(), normal(), normal()};
        return (1.0 / norm(v)) * v;
    }
    Vec3d in_cube() { return {uniform(-1, 1), uniform(-1, 1), uniform(-1, 1)}; }
    Mat3 rotation() { return frame(direction(), direction()); }

    // Often one that is aligned, or almost: what parts of machines have.
    Mat3 rotation_of_parts() {
        const int kind = below(4);
        if (kind == 0) return Pose{}.rotation;
        if (kind == 1) return {{{0, -1, 0}, {1, 0, 0}, {0, 0, 1}}};
        if (kind == 2)
            return frame(Vec3d{1, 0, 0} + power(-9, -3) * direction(), Vec3d{0, 1, 0} + power(-9, -3) * direction());
        return rotation();
    }

private:
    static Mat3 frame(const Vec3d& u, const Vec3d& v) {
        const Vec3d x = (1.0 / norm(u)) * u, across = cross(x, v), z = (1.0 / norm(across)) * across;
        return {{x, cross(z, x), z}};
    }
    std::mt19937_64 engine_;
    std::normal_distribution<double> normal_;
};

// ---- Meshes.

struct Sample {
    const char* name;
    std::vector<Vec3d> vertices;
    std::vector<Face> faces;
    bool has_duplicates = false;

    void add(const Vec3d& a, const Vec3d& b, const Vec3d& c) {
        const auto first = static_cast<std::int32_t>(vertices.size());
        for (const Vec3d& v : {a, b, c}) vertices.push_back(v);
        faces.push_back({first, first + 1, first + 2});
    }
    Mesh built(VolumeKind kind, int threads = 1) const { return build_mesh(vertices, faces, {kind, threads, {}}); }
};

// A ball with bumps, of 2 * rings * sectors triangles.
inline Sample bumpy(Draw& draw, int rings, int sectors) {
    Sample sample{"bumpy", {}, {}};
    for (int i = 0; i <= rings; ++i)
        for (int j = 0; j < sectors; ++j) {
            const double polar = 3.14159265358979 * i / rings, around = 6.28318530717959 * j / sectors;
            const double reach = draw.uniform(0.8, 1.2);
            sample.vertices.push_back({reach * std::sin(polar) * std::cos(around),
                                       reach * std::sin(polar) * std::sin(around), reach * std::cos(polar)});
        }
    for (int i = 0; i < rings; ++i)
        for (int j = 0; j < sectors; ++j) {
            const int p = i * sectors + j, q = i * sectors + (j + 1) % sectors;
            sample.faces.push_back({p, q, p + sectors});
            sample.faces.push_back({q, q + sectors, p + sectors});
        }
    return sample;
}

// A grid of unit squares: many equal distances, exact contacts.
inline Sample grid(int side) {
    Sample sample{"grid", {}, {}};
    for (int i = 0; i <= side; ++i)
        for (int j = 0; j <= side; ++j) sample.vertices.push_back({double(i), double(j), 0.0});
    for (int i = 0; i < side; ++i)
        for (int j = 0; j < side; ++j) {
            const int p = i * (side + 1) + j, q = p + side + 1;
            sample.faces.push_back({p, q, p + 1});
            sample.faces.push_back({q, q + 1, p + 1});
        }
    return sample;
}

inline Sample steps(int count) {
    Sample sample{"steps", {}, {}};
    for (int k = 0; k < count; ++k) {
        const double x = k, z = k % 3;
        sample.add({x, 0, z}, {x + 1, 0, z}, {x, 2, z});
        sample.add({x + 1, 0, z}, {x + 1, 2, z}, {x, 2, z});
        sample.add({x + 1, 0, z}, {x + 1, 2, z}, {x + 1, 0, double((k + 1) % 3)});
    }
    return sample;
}

inline Sample soup(Draw& draw, int count) {
    Sample sample{"soup", {}, {}};
    for (int k = 0; k < count; ++k) {
        const Vec3d at = draw.in_cube();
        const double size = draw.power(-3, 0);
        sample.add(at + size * draw.in_cube(), at + size * draw.in_cube(), at + size * draw.in_cube());
    }
    return sample;
}

inline Sample needles(Draw& draw, int count) {
    Sample sample{"needles", {}, {}};
    const Vec3d along = draw.direction();
    for (int k = 0; k < count; ++k) {
        const Vec3d at = 0.1 * draw.in_cube(), side = draw.power(-9, -4) * draw.direction();
        const Vec3d way = along + draw.power(-6, -1) * draw.direction();
        sample.add(at - way, at + way, at + side);
    }
    return sample;
}

// Points and segments that pass for triangles, two of them equal.
inline Sample dust(Draw& draw, int count) {
    Sample sample{"dust", {}, {}};
    sample.has_duplicates = true;
    for (int k = 0; k < count; ++k) {
        const Vec3d p = draw.in_cube(), q = draw.chance(0.5) ? p : draw.in_cube();
        sample.add(p, q, p);
    }
    sample.add(sample.vertices[0], sample.vertices[1], sample.vertices[2]);
    return sample;
}

// One triangle many times over, its corners in any order; `others` different ones.
inline Sample copies(Draw& draw, int count, int others) {
    Sample sample{"copies", {}, {}};
    sample.has_duplicates = true;
    for (int k = 0; k < 3; ++k) sample.vertices.push_back(draw.in_cube());
    for (int k = 0; k < count; ++k) sample.faces.push_back({k % 3, (k + 1) % 3, (k + 2) % 3});
    for (int k = 0; k < others; ++k) sample.add(draw.in_cube(), draw.in_cube(), draw.in_cube());
    return sample;
}

// Crumbs far away from each other.
inline Sample crumbs(Draw& draw, int count) {
    Sample sample{"crumbs", {}, {}};
    for (int k = 0; k < count; ++k) {
        const Vec3d at = draw.power(-4, 0) * draw.direction();
        const double size = draw.power(-8, -5);
        sample.add(at + size * draw.in_cube(), at + size * draw.in_cube(), at + size * draw.in_cube());
    }
    return sample;
}

inline Sample single(Draw& draw) {
    Sample sample{"single", {}, {}};
    sample.add(draw.in_cube(), draw.in_cube(), draw.in_cube());
    return sample;
}

// Eight triangles and fewer make a tree of one leaf.
inline std::vector<Sample> all_kinds(Draw& draw) {
    std::vector<Sample> all;
    all.push_back(bumpy(draw, 4, 6));
    all.push_back(grid(4));
    all.push_back(steps(12));
    all.push_back(soup(draw, 40));
    all.push_back(soup(draw, 7));
    all.push_back(needles(draw, 25));
    all.push_back(dust(draw, 20));
    all.push_back(copies(draw, 20, 0));
    all.push_back(copies(draw, 20, 12));
    all.push_back(crumbs(draw, 30));
    all.push_back(single(draw));
    return all;
}

inline Sample scaled(Sample sample, double scale, const Vec3d& shift) {
    for (Vec3d& v : sample.vertices) v = scale * v + shift;
    return sample;
}

// ---- Trees.

inline Vec3d widened(const Vec3<float>& v) { return {v.x, v.y, v.z}; }

template <class Tree>
std::vector<std::int32_t> triangles_of(const Tree& tree, std::int32_t leaf) {
    const auto& found = tree.leaves[static_cast<std::size_t>(leaf)];
    if constexpr (Tree::width == 8)
        return {found.triangle, found.triangle + found.count};
    else
        return {found.triangle};
}

// ---- Where the meshes stand.

inline Vec3d placed(const Stand& at, const Vec3d& point) { return at.rotation * point + at.origin; }

// All distances of a pair of meshes, in doubles.
struct Distances {
    std::size_t columns = 0;
    std::vector<double> of;
    double least = std::numeric_limits<double>::infinity();
    TriangleGap nearest{};

    explicit Distances(const SurfacePair& pair) : columns(pair.b->faces.size()) {
        for (std::size_t i = 0; i < pair.a->faces.size(); ++i)
            for (std::size_t j = 0; j < columns; ++j) {
                const TriangleGap gap = measured(pair, {0, static_cast<std::int32_t>(i), static_cast<std::int32_t>(j)},
                                                 std::numeric_limits<double>::infinity());
                of.push_back(max_of(gap.distance, 0.0));
                if (of.back() < least) least = of.back(), nearest = gap;
            }
    }
    double at(std::int32_t i, std::int32_t j) const {
        return of[static_cast<std::size_t>(i) * columns + static_cast<std::size_t>(j)];
    }
};

// Move b along the nearest gap so that about `wanted` is left; meshes that meet stay as they are.
inline void bring_to(SurfacePair& pair, double wanted) {
    const Distances distances(pair);
    if (distances.least > 0.0) pair.at_b.origin = pair.at_b.origin + (wanted - distances.least) * distances.nearest.normal;
}

inline SurfacePair placed_apart(const Mesh& a, const Mesh& b, Draw& draw) {
    SurfacePair pair{&a, &b, nullptr, {draw.rotation_of_parts(), {0, 0, 0}}, {draw.rotation_of_parts(), {0, 0, 0}}};
    const double size = a.ball.radius + b.ball.radius;
    const Vec3d start = size * draw.in_cube();
    pair.at_a.origin = start - pair.at_a.rotation * a.ball.centre;
    pair.at_b.origin = start + draw.uniform(0.0, 2.0) * size * draw.direction() - pair.at_b.rotation * b.ball.centre;
    return pair;
}

}  // namespace clearance::samples
