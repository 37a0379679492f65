#pragma once

#include "convex/minkowski.hpp"

namespace clearance {

inline Vec3d support(const Hull& core, const Vec3d& along) { return core.support(along); }

// Two cores whose types are known when the loop over their farthest points is compiled.
template <class A, class B>
struct TypedPair {
    const A& a;
    const B& b;
    const CorePair& pair;

    CLEARANCE_INLINE void farthest(const Vec3d& along, Difference& found) const {
        found.a = support(a, along);
        found.b = pair.a_from_b * support(b, -transposed_times(pair.a_from_b, along)) + pair.b_origin;
        found.w = found.a - found.b;
    }
};

template <class A, class B>
TypedPair(const A&, const B&, const CorePair&) -> TypedPair<A, B>;

// Calls with the pair as it is, if both cores are polytopes.
template <class Call>
auto with_polytopes(const CorePair& pair, const Call& call) {
    const auto with_both = [&](const auto& a) {
        if (const auto* hull = std::get_if<HullPointer>(&pair.b)) return call(TypedPair{a, **hull, pair});
        if (const auto* box = std::get_if<Box>(&pair.b)) return call(TypedPair{a, *box, pair});
        return call(TypedPair{a, std::get<Element>(pair.b), pair});
    };
    if (const auto* hull = std::get_if<HullPointer>(&pair.a)) return with_both(**hull);
    if (const auto* box = std::get_if<Box>(&pair.a)) return with_both(*box);
    return with_both(std::get<Element>(pair.a));
}

}  // namespace clearance
