#pragma once

#include "math/lanes.hpp"

// One float, or eight side by side: for bounds only, answers are doubles. Machines without AVX2 take two halves of four.
namespace clearance {

CLEARANCE_INLINE float min_of(float a, float b) { return a < b ? a : b; }
CLEARANCE_INLINE float max_of(float a, float b) { return a > b ? a : b; }
CLEARANCE_INLINE float abs_of(float a) { return std::fabs(a); }
CLEARANCE_INLINE float sqrt_of(float a) { return std::sqrt(a); }
CLEARANCE_INLINE float select(bool mask, float a, float b) { return mask ? a : b; }

template <>
struct LaneTraits<float> {
    using Mask = bool;
    static constexpr int count = 1;
    static CLEARANCE_INLINE float load(const float* from) { return *from; }
    static CLEARANCE_INLINE void store(float* to, float value) { *to = value; }
};

#if defined(__AVX2__)

struct FloatMask8 {
    __m256 bits;
};

struct Float8 {
    __m256 value;
    Float8() = default;
    CLEARANCE_INLINE Float8(__m256 v) : value(v) {}
    CLEARANCE_INLINE Float8(float v) : value(_mm256_set1_ps(v)) {}
    CLEARANCE_INLINE Float8(double v) : value(_mm256_set1_ps(static_cast<float>(v))) {}
};

CLEARANCE_INLINE Float8 operator+(Float8 a, Float8 b) { return _mm256_add_ps(a.value, b.value); }
CLEARANCE_INLINE Float8 operator-(Float8 a, Float8 b) { return _mm256_sub_ps(a.value, b.value); }
CLEARANCE_INLINE Float8 operator*(Float8 a, Float8 b) { return _mm256_mul_ps(a.value, b.value); }
CLEARANCE_INLINE Float8 operator/(Float8 a, Float8 b) { return _mm256_div_ps(a.value, b.value); }
CLEARANCE_INLINE Float8 operator-(Float8 a) { return _mm256_xor_ps(a.value, _mm256_set1_ps(-0.0f)); }
CLEARANCE_INLINE FloatMask8 operator<(Float8 a, Float8 b) { return {_mm256_cmp_ps(a.value, b.value, _CMP_LT_OQ)}; }
CLEARANCE_INLINE FloatMask8 operator<=(Float8 a, Float8 b) { return {_mm256_cmp_ps(a.value, b.value, _CMP_LE_OQ)}; }
CLEARANCE_INLINE FloatMask8 operator>(Float8 a, Float8 b) { return {_mm256_cmp_ps(a.value, b.value, _CMP_GT_OQ)}; }
CLEARANCE_INLINE FloatMask8 operator>=(Float8 a, Float8 b) { return {_mm256_cmp_ps(a.value, b.value, _CMP_GE_OQ)}; }
CLEARANCE_INLINE FloatMask8 both(FloatMask8 a, FloatMask8 b) { return {_mm256_and_ps(a.bits, b.bits)}; }
CLEARANCE_INLINE FloatMask8 either(FloatMask8 a, FloatMask8 b) { return {_mm256_or_ps(a.bits, b.bits)}; }
CLEARANCE_INLINE Float8 min_of(Float8 a, Float8 b) { return _mm256_min_ps(a.value, b.value); }
CLEARANCE_INLINE Float8 max_of(Float8 a, Float8 b) { return _mm256_max_ps(a.value, b.value); }
CLEARANCE_INLINE Float8 abs_of(Float8 a) { return _mm256_andnot_ps(_mm256_set1_ps(-0.0f), a.value); }
CLEARANCE_INLINE Float8 sqrt_of(Float8 a) { return _mm256_sqrt_ps(a.value); }
CLEARANCE_INLINE Float8 select(FloatMask8 mask, Float8 a, Float8 b) { return _mm256_blendv_ps(b.value, a.value, mask.bits); }
CLEARANCE_INLINE unsigned bits_of(FloatMask8 mask) { return static_cast<unsigned>(_mm256_movemask_ps(mask.bits)); }
CLEARANCE_INLINE float least_of(Float8 a) {
    const __m128 four = _mm_min_ps(_mm256_castps256_ps128(a.value), _mm256_extractf128_ps(a.value, 1));
    const __m128 two = _mm_min_ps(four, _mm_movehl_ps(four, four));
    return _mm_cvtss_f32(_mm_min_ss(two, _mm_shuffle_ps(two, two, 1)));
}

template <>
struct LaneTraits<Float8> {
    using Mask = FloatMask8;
    static constexpr int count = 8;
    static CLEARANCE_INLINE Float8 load(const float* from) { return _mm256_loadu_ps(from); }
    static CLEARANCE_INLINE void store(float* to, Float8 value) { _mm256_storeu_ps(to, value.value); }
};

#elif defined(__SSE2__)

struct FloatMask8 {
    __m128 low, high;
};

struct Float8 {
    __m128 low, high;
    Float8() = default;
    CLEARANCE_INLINE Float8(__m128 l, __m128 h) : low(l), high(h) {}
    CLEARANCE_INLINE Float8(float v) : low(_mm_set1_ps(v)), high(low) {}
    CLEARANCE_INLINE Float8(double v) : Float8(static_cast<float>(v)) {}
};

CLEARANCE_INLINE Float8 operator+(Float8 a, Float8 b) { return {_mm_add_ps(a.low, b.low), _mm_add_ps(a.high, b.high)}; }
CLEARANCE_INLINE Float8 operator-(Float8 a, Float8 b) { return {_mm_sub_ps(a.low, b.low), _mm_sub_ps(a.high, b.high)}; }
CLEARANCE_INLINE Float8 operator*(Float8 a, Float8 b) { return {_mm_mul_ps(a.low, b.low), _mm_mul_ps(a.high, b.high)}; }
CLEARANCE_INLINE Float8 operator/(Float8 a, Float8 b) { return {_mm_div_ps(a.low, b.low), _mm_div_ps(a.high, b.high)}; }
CLEARANCE_INLINE Float8 operator-(Float8 a) {
    const __m128 sign = _mm_set1_ps(-0.0f);
    return {_mm_xor_ps(a.low, sign), _mm_xor_ps(a.high, sign)};
}
CLEARANCE_INLINE FloatMask8 operator<(Float8 a, Float8 b) {
    return {_mm_cmplt_ps(a.low, b.low), _mm_cmplt_ps(a.high, b.high)};
}
CLEARANCE_INLINE FloatMask8 operator<=(Float8 a, Float8 b) {
    return {_mm_cmple_ps(a.low, b.low), _mm_cmple_ps(a.high, b.high)};
}
CLEARANCE_INLINE FloatMask8 operator>(Float8 a, Float8 b) {
    return {_mm_cmpgt_ps(a.low, b.low), _mm_cmpgt_ps(a.high, b.high)};
}
CLEARANCE_INLINE FloatMask8 operator>=(Float8 a, Float8 b) {
    return {_mm_cmpge_ps(a.low, b.low), _mm_cmpge_ps(a.high, b.high)};
}
CLEARANCE_INLINE FloatMask8 both(FloatMask8 a, FloatMask8 b) {
    return {_mm_and_ps(a.low, b.low), _mm_and_ps(a.high, b.high)};
}
CLEARANCE_INLINE FloatMask8 either(FloatMask8 a, FloatMask8 b) {
    return {_mm_or_ps(a.low, b.low), _mm_or_ps(a.high, b.high)};
}
CLEARANCE_INLINE Float8 min_of(Float8 a, Float8 b) { return {_mm_min_ps(a.low, b.low), _mm_min_ps(a.high, b.high)}; }
CLEARANCE_INLINE Float8 max_of(Float8 a, Float8 b) { return {_mm_max_ps(a.low, b.low), _mm_max_ps(a.high, b.high)}; }
CLEARANCE_INLINE Float8 abs_of(Float8 a) {
    const __m128 sign = _mm_set1_ps(-0.0f);
    return {_mm_andnot_ps(sign, a.low), _mm_andnot_ps(sign, a.high)};
}
CLEARANCE_INLINE Float8 sqrt_of(Float8 a) { return {_mm_sqrt_ps(a.low), _mm_sqrt_ps(a.high)}; }
CLEARANCE_INLINE Float8 select(FloatMask8 mask, Float8 a, Float8 b) {
    return {_mm_or_ps(_mm_and_ps(mask.low, a.low), _mm_andnot_ps(mask.low, b.low)),
            _mm_or_ps(_mm_and_ps(mask.high, a.high), _mm_andnot_ps(mask.high, b.high))};
}
CLEARANCE_INLINE unsigned bits_of(FloatMask8 mask) {
    return static_cast<unsigned>(_mm_movemask_ps(mask.low) | _mm_movemask_ps(mask.high) << 4);
}
CLEARANCE_INLINE float least_of(Float8 a) {
    const __m128 four = _mm_min_ps(a.low, a.high);
    const __m128 two = _mm_min_ps(four, _mm_movehl_ps(four, four));
    return _mm_cvtss_f32(_mm_min_ss(two, _mm_shuffle_ps(two, two, 1)));
}

template <>
struct LaneTraits<Float8> {
    using Mask = FloatMask8;
    static constexpr int count = 8;
    static CLEARANCE_INLINE Float8 load(const float* from) { return {_mm_loadu_ps(from), _mm_loadu_ps(from + 4)}; }
    static CLEARANCE_INLINE void store(float* to, Float8 value) {
        _mm_storeu_ps(to, value.low);
        _mm_storeu_ps(to + 4, value.high);
    }
};

#else

struct FloatMask8 {
    unsigned bits;
};

struct Float8 {
    float lane[8];
    Float8() = default;
    CLEARANCE_INLINE Float8(float v) : lane{v, v, v, v, v, v, v, v} {}
    CLEARANCE_INLINE Float8(double v) : Float8(static_cast<float>(v)) {}
};

template <class Operation>
CLEARANCE_INLINE Float8 lane_by_lane(const Float8& a, const Float8& b, Operation operation) {
    Float8 result;
    for (int k = 0; k < 8; ++k) result.lane[k] = operation(a.lane[k], b.lane[k]);
    return result;
}
template <class Comparison>
CLEARANCE_INLINE FloatMask8 mask_of(const Float8& a, const Float8& b, Comparison comparison) {
    unsigned bits = 0;
    for (int k = 0; k < 8; ++k) bits |= (comparison(a.lane[k], b.lane[k]) ? 1u : 0u) << k;
    return {bits};
}

CLEARANCE_INLINE Float8 operator+(const Float8& a, const Float8& b) {
    return lane_by_lane(a, b, [](float x, float y) { return x + y; });
}
CLEARANCE_INLINE Float8 operator-(const Float8& a, const Float8& b) {
    return lane_by_lane(a, b, [](float x, float y) { return x - y; });
}
CLEARANCE_INLINE Float8 operator*(const Float8& a, const Float8& b) {
    return lane_by_lane(a, b, [](float x, float y) { return x * y; });
}
CLEARANCE_INLINE Float8 operator/(const Float8& a, const Float8& b) {
    return lane_by_lane(a, b, [](float x, float y) { return x / y; });
}
CLEARANCE_INLINE Float8 operator-(const Float8& a) {
    return lane_by_lane(a, a, [](float x, float) { return -x; });
}
CLEARANCE_INLINE FloatMask8 operator<(const Float8& a, const Float8& b) {
    return mask_of(a, b, [](float x, float y) { return x < y; });
}
CLEARANCE_INLINE FloatMask8 operator<=(const Float8& a, const Float8& b) {
    return mask_of(a, b, [](float x, float y) { return x <= y; });
}
CLEARANCE_INLINE FloatMask8 operator>(const Float8& a, const Float8& b) { return b < a; }
CLEARANCE_INLINE FloatMask8 operator>=(const Float8& a, const Float8& b) { return b <= a; }
CLEARANCE_INLINE FloatMask8 both(FloatMask8 a, FloatMask8 b) { return {a.bits & b.bits}; }
CLEARANCE_INLINE FloatMask8 either(FloatMask8 a, FloatMask8 b) { return {a.bits | b.bits}; }
CLEARANCE_INLINE Float8 min_of(const Float8& a, const Float8& b) {
    return lane_by_lane(a, b, [](float x, float y) { return min_of(x, y); });
}
CLEARANCE_INLINE Float8 max_of(const Float8& a, const Float8& b) {
    return lane_by_lane(a, b, [](float x, float y) { return max_of(x, y); });
}
CLEARANCE_INLINE Float8 abs_of(const Float8& a) {
    return lane_by_lane(a, a, [](float x, float) { return std::fabs(x); });
}
CLEARANCE_INLINE Float8 sqrt_of(const Float8& a) {
    return lane_by_lane(a, a, [](float x, float) { return std::sqrt(x); });
}
CLEARANCE_INLINE Float8 select(FloatMask8 mask, const Float8& a, const Float8& b) {
    Float8 result;
    for (int k = 0; k < 8; ++k) result.lane[k] = (mask.bits >> k & 1u) != 0 ? a.lane[k] : b.lane[k];
    return result;
}
CLEARANCE_INLINE unsigned bits_of(FloatMask8 mask) { return mask.bits; }
CLEARANCE_INLINE float least_of(const Float8& a) {
    float least = a.lane[0];
    for (int k = 1; k < 8; ++k) least = min_of(least, a.lane[k]);
    return least;
}

template <>
struct LaneTraits<Float8> {
    using Mask = FloatMask8;
    static constexpr int count = 8;
    static CLEARANCE_INLINE Float8 load(const float* from) {
        Float8 result;
        for (int k = 0; k < 8; ++k) result.lane[k] = from[k];
        return result;
    }
    static CLEARANCE_INLINE void store(float* to, const Float8& value) {
        for (int k = 0; k < 8; ++k) to[k] = value.lane[k];
    }
};

#endif

}  // namespace clearance
