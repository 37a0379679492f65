#pragma once

#include "math/lanes.hpp"

namespace clearance {

// A vector of doubles, or of lanes of doubles.
template <class Real>
struct Vec3 {
    Real x, y, z;
};

using Vec3d = Vec3<double>;

template <class Real>
CLEARANCE_INLINE Vec3<Real> operator+(const Vec3<Real>& a, const Vec3<Real>& b) {
    return {a.x + b.x, a.y + b.y, a.z + b.z};
}
template <class Real>
CLEARANCE_INLINE Vec3<Real> operator-(const Vec3<Real>& a, const Vec3<Real>& b) {
    return {a.x - b.x, a.y - b.y, a.z - b.z};
}
template <class Real>
CLEARANCE_INLINE Vec3<Real> operator-(const Vec3<Real>& a) {
    return {-a.x, -a.y, -a.z};
}
template <class Real>
CLEARANCE_INLINE Vec3<Real> operator*(Real k, const Vec3<Real>& a) {
    return {k * a.x, k * a.y, k * a.z};
}
template <class Real>
CLEARANCE_INLINE Real dot(const Vec3<Real>& a, const Vec3<Real>& b) {
    return a.x * b.x + a.y * b.y + a.z * b.z;
}
template <class Real>
CLEARANCE_INLINE Vec3<Real> cross(const Vec3<Real>& a, const Vec3<Real>& b) {
    return {a.y * b.z - a.z * b.y, a.z * b.x - a.x * b.z, a.x * b.y - a.y * b.x};
}
template <class Real>
CLEARANCE_INLINE Real norm_sq(const Vec3<Real>& a) {
    return dot(a, a);
}
template <class Real>
CLEARANCE_INLINE Real norm(const Vec3<Real>& a) {
    return sqrt_of(dot(a, a));
}
// The largest coordinate: a length to measure rounding errors with.
template <class Real>
CLEARANCE_INLINE Real largest(const Vec3<Real>& a) {
    return larger_size(larger_size(a.x, a.y), a.z);
}
template <class Real, class Mask>
CLEARANCE_INLINE Vec3<Real> select(Mask mask, const Vec3<Real>& a, const Vec3<Real>& b) {
    return {select(mask, a.x, b.x), select(mask, a.y, b.y), select(mask, a.z, b.z)};
}

}  // namespace clearance
