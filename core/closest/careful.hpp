#pragma once

#include "closest/certificate.hpp"

namespace clearance {

struct CarefulGap {
    CoreGap<double> gap;  // signed: minus the depth where the cores pierce each other
    Weights<double> at;
};

// The slow path of a pair of cores, for those that touch, pierce each other, or share a region of closest points.
//
// The signed distance of two convex sets is the largest separation over all directions. For points, segments and triangles
// the best direction is a face normal, a product of two edges, perpendicular to an edge, or along the closest points; all
// of them are tried, each of them is a proof by itself, and the best one is the normal of the gap.
template <int NA, int NB>
CarefulGap careful_gap(const Core<double, NA>& a, const Core<double, NB>& b);

extern template CarefulGap careful_gap(const Core<double, 1>&, const Core<double, 1>&);
extern template CarefulGap careful_gap(const Core<double, 1>&, const Core<double, 2>&);
extern template CarefulGap careful_gap(const Core<double, 1>&, const Core<double, 3>&);
extern template CarefulGap careful_gap(const Core<double, 2>&, const Core<double, 2>&);
extern template CarefulGap careful_gap(const Core<double, 2>&, const Core<double, 3>&);
extern template CarefulGap careful_gap(const Core<double, 3>&, const Core<double, 3>&);

}  // namespace clearance
