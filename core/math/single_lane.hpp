#pragma once

#include "math/vec3.hpp"

namespace clearance {

// One of several lanes: where a lane takes something else up, or has come to an end.
template <class Real>
CLEARANCE_INLINE double& lane_of(Real& lanes, int lane) {
    return reinterpret_cast<double*>(&lanes)[lane];
}
template <class Real>
CLEARANCE_INLINE Vec3d get_lane(Vec3<Real>& lanes, int lane) {
    return {lane_of(lanes.x, lane), lane_of(lanes.y, lane), lane_of(lanes.z, lane)};
}
template <class Real>
CLEARANCE_INLINE void set_lane(Real& lanes, int lane, double value) {
    lane_of(lanes, lane) = value;
}
template <class Real>
CLEARANCE_INLINE void set_lane(Vec3<Real>& lanes, int lane, const Vec3d& value) {
    set_lane(lanes.x, lane, value.x), set_lane(lanes.y, lane, value.y), set_lane(lanes.z, lane, value.z);
}

// Those whose bits are set.
template <class Call>
CLEARANCE_INLINE void for_lanes(unsigned lanes, const Call& call) {
    for (; lanes != 0; lanes &= lanes - 1) call(__builtin_ctz(lanes));
}

}  // namespace clearance
