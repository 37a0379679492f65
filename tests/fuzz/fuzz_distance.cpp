// Distances of any two bodies: the contract of a gap, and what must not change it.
#include "bodies.hpp"
#include "contract.hpp"
#include "query/distance.hpp"

using namespace clearance;
using namespace clearance::fuzz;

namespace {

constexpr double kInfinity = std::numeric_limits<double>::infinity();

// Two placed bodies, and what rounding may do to their distance.
struct Placement {
    const Body &a, &b;
    Pose at_a, at_b;

    double size() const { return size_of(a) + size_of(b); }
    double rounding() const {
        const auto reach = [](const Body& body) { return body.is_finite() ? largest(body.ball().centre) : 0.0; };
        return 64.0 * kEpsilon *
               (size() + reach(a) + reach(b) + largest(at_a.translation) + largest(at_b.translation) + plane());
    }
    // How far away a half-space may begin.
    double plane() const {
        double farthest = 0.0;
        for (const Body* body : {&a, &b})
            for (const Part& part : body->parts())
                if (const auto* half_space = std::get_if<HalfSpace>(&part.shape))
                    farthest = max_of(farthest, abs_of(half_space->offset) + largest(part.pose.translation));
        return farthest;
    }
    // What a bracket may be wide, and witness points off, where the pair is not cut off.
    double promised(double distance) const {
        const bool curved = is_curved(a) || is_curved(b);
        return (curved && distance <= 0.0 ? 1e-7 : 1e-9) * size() + 2.0 * rounding();
    }
    Gap gap(const Question& question = {}) const {
        Work work;
        return distance(a, at_a, b, at_b, question, work);
    }
};

void check_order(const Placement& p, const Gap& gap) {
    const Gap swapped = Placement{p.b, p.a, p.at_b, p.at_a}.gap();
    require_common(gap, swapped, p.rounding(), "brackets of both orders meet");
}

void check_observer(const Placement& p, const Gap& gap, const Pose& motion) {
    const Placement moved{p.a, p.b, motion * p.at_a, motion * p.at_b};
    require_common(gap, moved.gap(), p.rounding() + moved.rounding(), "the observer does not matter");
}

// The same by other ways: without closed forms, from a hint, and as bodies that are placed first.
void check_ways(const Placement& p, const Gap& gap) {
    require_common(gap, p.gap({.has_shortcuts = false}), p.rounding(), "closed forms do not matter");
    require_common(gap, p.gap({.towards_b = gap.normal, .nearest_before = &gap}), p.rounding(), "hints do not matter");
    require_common(gap, p.gap({.towards_b = -gap.normal}), p.rounding(), "wrong hints do not matter");
    PlacedBody a(p.a), b(p.b);
    a.place(p.at_a), b.place(p.at_b);
    Work work;
    require_common(gap, distance(a, b, {}, work), p.rounding(), "placing the bodies does not matter");
    for (const double limit : {gap.distance, 0.5 * gap.distance, 2.0 * gap.distance, 0.0}) {
        const bool is_near = within(a, b, limit, work);
        require(is_near ? gap.lower <= limit + p.rounding() : gap.upper > limit - p.rounding(), "within is as measured",
                "%d at %.17g of [%.17g, %.17g]", int(is_near), limit, gap.lower, gap.upper);
        const Gap cut = p.gap({.at_most = limit});
        require(cut.lower <= gap.upper + p.rounding(), "bounds of what is cut off hold", "%.17g", cut.lower);
        require(cut.lower > limit || cut.distance < kInfinity, "what is not cut off is measured", "%.17g", cut.lower);
    }
}

// Planes and points that anybody can compute.
void check_proofs(const Placement& p, const Gap& gap, Bytes& bytes) {
    if (!is_convex(p.a) || !is_convex(p.b)) return;
    const double allowed = p.rounding();
    const auto separation_along = [&](const Vec3d& normal) { return separation(p.a, p.at_a, p.b, p.at_b, normal); };
    // Along a needle a normal that is off by very little counts much.
    const double off = is_curved(p.a) || is_curved(p.b) ? 1e-6 * p.size() + allowed : p.promised(gap.distance);
    if (gap.converged)
        require(separation_along(gap.normal) >= gap.lower - off, "the normal separates", "by %.17g, not %.17g",
                separation_along(gap.normal), gap.lower);
    for (int k = 0; k < 4; ++k) {
        const Vec3d along = bytes.direction();
        const double apart = separation_along(along);
        require(gap.upper >= apart - allowed, "no plane separates farther", "%.17g, not %.17g", apart, gap.upper);
        const auto outermost = [&](const Body& body, const Pose& at, const Vec3d& towards) {
            return at * farthest(body.parts().front(), transposed_times(at.rotation, towards));
        };
        const double between = norm(outermost(p.b, p.at_b, -along) - outermost(p.a, p.at_a, along));
        require(gap.lower <= between + allowed, "no points are nearer", "%.17g, not %.17g", between, gap.lower);
    }
}

// Witness points lie on the bodies, as far as the distance of a point tells.
void check_witnesses(const Placement& p, const Gap& gap) {
    const Body spot({part_of(Convex{Element{1, {}, 0.0}, 0.0}, Pose{})});
    // Where a surface crosses a needle, the point that they have in common is known less well.
    const bool crosses = gap.distance == 0.0 && (p.a.has_surface() || p.b.has_surface());
    const double off = crosses ? 1e-3 : is_curved(p.a) || is_curved(p.b) ? 1e-5 : 1e-9;
    const double slack = off * p.size() + 1e-8 * abs_of(gap.distance) + p.rounding();
    const auto check = [&](const Body& body, const Pose& at, const Vec3d& point) {
        const Gap above = Placement{body, spot, at, {.translation = point}}.gap();
        require(above.lower <= slack, "witness points lie on the bodies", "%.3g off, not %.3g", above.lower, slack);
    };
    check(p.a, p.at_a, gap.point_a);
    check(p.b, p.at_b, gap.point_b);
}

void check(const Placement& p, Bytes& bytes) {
    const Gap gap = p.gap();
    require_contract(gap, p.rounding());
    if (gap.converged)
        require(gap.upper - gap.lower <= p.promised(gap.distance), "a bracket is as narrow as promised", "%.3g, not %.3g",
                gap.upper - gap.lower, p.promised(gap.distance));
    check_order(p, gap);
    check_ways(p, gap);
    check_proofs(p, gap, bytes);
    if (gap.converged) check_witnesses(p, gap);
    check_observer(p, gap, bytes.pose(p.size()));
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
    Bytes bytes(data, size);
    const double scale = bytes.power(-9, 9);
    const Body a = body(bytes, scale, Parts::all);
    const Body b = body(bytes, scale * bytes.power(-6, 6), a.is_finite() ? Parts::all : Parts::finite);
    const Vec3d far = bytes.flag() ? scale * bytes.power(0, 6) * bytes.in_cube() : Vec3d{0, 0, 0};
    const double apart = bytes.power(-3, 3) * (size_of(a) + size_of(b));
    Placement p{a, b, bytes.pose(scale), bytes.pose(apart)};
    p.at_a.translation = p.at_a.translation + far, p.at_b.translation = p.at_b.translation + far;
    check(p, bytes);
    // Once more where they touch, or nearly so.
    const Gap gap = p.gap();
    const double wanted = bytes.unit() * bytes.power(-16, 0) * p.size();
    p.at_b.translation = p.at_b.translation + (wanted - gap.distance) * gap.normal;
    check(p, bytes);
    return 0;
}
