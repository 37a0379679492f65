#pragma once

#include <cmath>

namespace clearance {

// A point or a vector of the plane, read as the complex number x + iy: a product of two turns one by the angle of the other.
struct Vec2 {
    double x = 0.0, y = 0.0;
    bool operator==(const Vec2&) const = default;
};

inline Vec2 operator+(const Vec2& a, const Vec2& b) { return {a.x + b.x, a.y + b.y}; }
inline Vec2 operator-(const Vec2& a, const Vec2& b) { return {a.x - b.x, a.y - b.y}; }
inline Vec2 operator*(double s, const Vec2& a) { return {s * a.x, s * a.y}; }
inline Vec2 operator*(const Vec2& a, const Vec2& b) { return {a.x * b.x - a.y * b.y, a.x * b.y + a.y * b.x}; }
inline Vec2 conjugate(const Vec2& a) { return {a.x, -a.y}; }
inline double dot(const Vec2& a, const Vec2& b) { return a.x * b.x + a.y * b.y; }
inline double cross(const Vec2& a, const Vec2& b) { return a.x * b.y - a.y * b.x; }
inline double norm_sq(const Vec2& a) { return dot(a, a); }
inline double norm(const Vec2& a) { return std::sqrt(norm_sq(a)); }
inline Vec2 unit_at(double angle) { return {std::cos(angle), std::sin(angle)}; }

}  // namespace clearance
