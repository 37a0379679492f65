#include "convex/coaxial.hpp"

#include <cmath>

namespace clearance {
namespace {

constexpr double kCoaxial = 1e-9;  // of the size: axes that differ by no more than this at the bodies are one
constexpr double kSame = 1e-12;    // of the size: lengths that are the same

// In the plane of the axis: `out` across it, `up` along it.
struct Meridian {
    double out, up;
};
double dot(const Meridian& a, const Meridian& b) { return a.out * b.out + a.up * b.up; }
Meridian across(const Meridian& n) { return {-n.up, n.out}; }

// Half of the outline of a cylinder or cone: from the middle of its upper disc, by the side, to that of the lower one. The
// other half is its mirror image.
struct Outline {
    Meridian top, bottom;  // the ends of the side

    Meridian side() const {
        const Meridian along{bottom.out - top.out, bottom.up - top.up};
        const double length = std::hypot(along.out, along.up);
        return {-along.up / length, along.out / length};
    }
    Outline turned_over() const { return {{bottom.out, -bottom.up}, {top.out, -top.up}}; }
    Outline moved_up(double by) const { return {{top.out, top.up + by}, {bottom.out, bottom.up + by}}; }
};

std::optional<Outline> outline_of(const ConvexCore& core) {
    if (const Cylinder* it = std::get_if<Cylinder>(&core))
        return Outline{{it->radius, it->half_length}, {it->radius, -it->half_length}};
    if (const Cone* it = std::get_if<Cone>(&core)) return Outline{{0.0, it->half_length}, {it->radius, -it->half_length}};
    return std::nullopt;
}

// What of an outline is farthest along n: how far that is, and from where to where across n.
struct Edge {
    double reach, from, to;
};
Edge farthest_edge(const Outline& outline, const Meridian& n, double same) {
    const Meridian corners[] = {
        outline.top, outline.bottom, {-outline.top.out, outline.top.up}, {-outline.bottom.out, outline.bottom.up}};
    Edge edge{-std::numeric_limits<double>::infinity(), 0.0, 0.0};
    for (const Meridian& corner : corners) edge.reach = max_of(edge.reach, dot(n, corner));
    edge.from = std::numeric_limits<double>::infinity(), edge.to = -edge.from;
    for (const Meridian& corner : corners)
        if (dot(n, corner) >= edge.reach - same)
            edge.from = min_of(edge.from, dot(across(n), corner)), edge.to = max_of(edge.to, dot(across(n), corner));
    return edge;
}

// Where a, moved out of b along n, touches it: in the middle of what of both lies against each other.
Meridian touching_point(const Outline& a, const Outline& b, const Meridian& n, double same) {
    const Edge on_a = farthest_edge(a, n, same), on_b = farthest_edge(b, {-n.out, -n.up}, same);
    const double from = max_of(on_a.from, -on_b.to), to = min_of(on_a.to, -on_b.from), at = 0.5 * (from + to);
    return {on_a.reach * n.out + at * across(n).out, on_a.reach * n.up + at * across(n).up};
}

}  // namespace

std::optional<CoreGap<double>> coaxial_gap(const CorePair& pair, double width) {
    const auto a = outline_of(pair.a), b_itself = outline_of(pair.b);
    if (!a || !b_itself) return std::nullopt;
    const Mat3& turn = pair.a_from_b;
    const double aside = std::hypot(pair.b_origin.x, pair.b_origin.y);
    const double off = aside + 2.0 * std::hypot(turn.row[0].z, turn.row[1].z) * pair.size;
    if (!(off <= kCoaxial * pair.size) || 2.0 * off > width) return std::nullopt;
    const Outline b = (turn.row[2].z < 0.0 ? b_itself->turned_over() : *b_itself).moved_up(pair.b_origin.z);

    // A - B is a solid of revolution, too, and its outline a polygon. So the best normal is that of one of its edges, which
    // come from the two outlines. Around the axis all are as good as each other, but for the little that axes differ.
    const Vec3d outward = aside > 0.0 ? Vec3d{pair.b_origin.x / aside, pair.b_origin.y / aside, 0} : Vec3d{1, 0, 0};
    const Meridian side_a = a->side(), side_b = b.side();
    const Meridian normals[] = {{0, 1}, {0, -1}, side_a, {side_b.out, -side_b.up}};
    Meridian best{};
    double separation = -std::numeric_limits<double>::infinity();
    for (const Meridian& n : normals) {
        const Vec3d along = n.out * outward + Vec3d{0, 0, n.up};
        const double found = -dot(along, pair.farthest(along).w);
        if (found > separation) separation = found, best = n;
    }
    if (!(separation + 2.0 * off < 0.0)) return std::nullopt;
    const Meridian at = touching_point(*a, b, best, kSame * pair.size);
    return CoreGap<double>{at.out * outward + Vec3d{0, 0, at.up}, best.out * outward + Vec3d{0, 0, best.up}, separation,
                           separation, separation + 2.0 * off};
}

}  // namespace clearance
