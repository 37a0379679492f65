#pragma once

#include <cmath>
#include <cstddef>
#include <limits>

#include "math/inline.hpp"

#if defined(__SSE2__)
#include <immintrin.h>
#endif

// One double, or several side by side. A kernel is a template over this type, so the scalar and the SIMD versions do the
// same operations in the same order, and give the same bits.
namespace clearance {

constexpr double kEpsilon = std::numeric_limits<double>::epsilon();

// Lengths and coordinates beyond this would overflow when they are multiplied; nothing real is that large.
constexpr double kLargestLength = 1e30;

// The squares of squares of lengths shorter than this would vanish.
constexpr double kLeastLength = 1e-75;

CLEARANCE_INLINE double min_of(double a, double b) { return a < b ? a : b; }
CLEARANCE_INLINE double max_of(double a, double b) { return a > b ? a : b; }
CLEARANCE_INLINE double abs_of(double a) { return std::fabs(a); }
CLEARANCE_INLINE double larger_size(double a, double b) { return max_of(abs_of(a), abs_of(b)); }
CLEARANCE_INLINE double sqrt_of(double a) { return std::sqrt(a); }
CLEARANCE_INLINE double copysign_of(double size, double sign) { return std::copysign(size, sign); }
CLEARANCE_INLINE double select(bool mask, double a, double b) { return mask ? a : b; }
CLEARANCE_INLINE bool both(bool a, bool b) { return a & b; }
CLEARANCE_INLINE bool either(bool a, bool b) { return a | b; }
CLEARANCE_INLINE bool but_not(bool a, bool b) { return a & !b; }
CLEARANCE_INLINE unsigned bits_of(bool mask) { return mask ? 1u : 0u; }

// How lanes meet memory. load: one double per lane, in a row; gather: `stride` apart; gather2: two in a row per lane;
// gather3: for each lane the first three of a row that it names; store: lane after lane; store3: x y z of the first lane,
// then of the next; without z, zeros in its place. highest: in all lanes the highest of them.
template <class Real>
struct LaneTraits;

template <>
struct LaneTraits<double> {
    using Mask = bool;
    static constexpr int count = 1;
    static CLEARANCE_INLINE double load(const double* from) { return *from; }
    static CLEARANCE_INLINE double gather(const double* from, std::size_t) { return *from; }
    static CLEARANCE_INLINE void gather2(const double* from, std::size_t, double& x, double& y) { x = from[0], y = from[1]; }
    static CLEARANCE_INLINE void gather3(const double (*rows)[4], const unsigned* row, double& x, double& y, double& z) {
        x = rows[row[0]][0], y = rows[row[0]][1], z = rows[row[0]][2];
    }
    static CLEARANCE_INLINE void store(double* to, double value) { *to = value; }
    static CLEARANCE_INLINE void store3(double* to, double x, double y, double z) { to[0] = x, to[1] = y, to[2] = z; }
    static CLEARANCE_INLINE void store3(double* to, double x, double y) { store3(to, x, y, 0.0); }
    static CLEARANCE_INLINE double highest(double value) { return value; }
};

#if defined(__SSE2__)

struct Mask2 {
    __m128d bits;
};

struct Double2 {
    __m128d value;
    Double2() = default;
    CLEARANCE_INLINE Double2(__m128d v) : value(v) {}
    CLEARANCE_INLINE Double2(double v) : value(_mm_set1_pd(v)) {}
};

CLEARANCE_INLINE Double2 operator+(Double2 a, Double2 b) { return _mm_add_pd(a.value, b.value); }
CLEARANCE_INLINE Double2 operator-(Double2 a, Double2 b) { return _mm_sub_pd(a.value, b.value); }
CLEARANCE_INLINE Double2 operator*(Double2 a, Double2 b) { return _mm_mul_pd(a.value, b.value); }
CLEARANCE_INLINE Double2 operator/(Double2 a, Double2 b) { return _mm_div_pd(a.value, b.value); }
CLEARANCE_INLINE Double2 operator-(Double2 a) { return _mm_xor_pd(a.value, _mm_set1_pd(-0.0)); }
CLEARANCE_INLINE Mask2 operator<(Double2 a, Double2 b) { return {_mm_cmplt_pd(a.value, b.value)}; }
CLEARANCE_INLINE Mask2 operator<=(Double2 a, Double2 b) { return {_mm_cmple_pd(a.value, b.value)}; }
CLEARANCE_INLINE Mask2 operator>(Double2 a, Double2 b) { return {_mm_cmpgt_pd(a.value, b.value)}; }
CLEARANCE_INLINE Mask2 operator>=(Double2 a, Double2 b) { return {_mm_cmpge_pd(a.value, b.value)}; }
CLEARANCE_INLINE Mask2 both(Mask2 a, Mask2 b) { return {_mm_and_pd(a.bits, b.bits)}; }
CLEARANCE_INLINE Mask2 either(Mask2 a, Mask2 b) { return {_mm_or_pd(a.bits, b.bits)}; }
CLEARANCE_INLINE Mask2 but_not(Mask2 a, Mask2 b) { return {_mm_andnot_pd(b.bits, a.bits)}; }
CLEARANCE_INLINE Double2 min_of(Double2 a, Double2 b) { return _mm_min_pd(a.value, b.value); }
CLEARANCE_INLINE Double2 max_of(Double2 a, Double2 b) { return _mm_max_pd(a.value, b.value); }
CLEARANCE_INLINE Double2 abs_of(Double2 a) { return _mm_andnot_pd(_mm_set1_pd(-0.0), a.value); }
CLEARANCE_INLINE Double2 larger_size(Double2 a, Double2 b) { return max_of(abs_of(a), abs_of(b)); }
CLEARANCE_INLINE Double2 sqrt_of(Double2 a) { return _mm_sqrt_pd(a.value); }
CLEARANCE_INLINE Double2 copysign_of(Double2 size, Double2 sign) {
    return _mm_or_pd(_mm_andnot_pd(_mm_set1_pd(-0.0), size.value), _mm_and_pd(_mm_set1_pd(-0.0), sign.value));
}
CLEARANCE_INLINE Double2 select(Mask2 mask, Double2 a, Double2 b) {
    return _mm_or_pd(_mm_and_pd(mask.bits, a.value), _mm_andnot_pd(mask.bits, b.value));
}
CLEARANCE_INLINE unsigned bits_of(Mask2 mask) { return static_cast<unsigned>(_mm_movemask_pd(mask.bits)); }

template <>
struct LaneTraits<Double2> {
    using Mask = Mask2;
    static constexpr int count = 2;
    static CLEARANCE_INLINE Double2 load(const double* from) { return _mm_loadu_pd(from); }
    static CLEARANCE_INLINE Double2 gather(const double* from, std::size_t stride) {
        return _mm_set_pd(from[stride], from[0]);
    }
    static CLEARANCE_INLINE void gather2(const double* from, std::size_t stride, Double2& x, Double2& y) {
        __m128d first = _mm_loadu_pd(from), second = _mm_loadu_pd(from + stride);
        x = _mm_unpacklo_pd(first, second);
        y = _mm_unpackhi_pd(first, second);
    }
    static CLEARANCE_INLINE void gather3(const double (*rows)[4], const unsigned* row, Double2& x, Double2& y, Double2& z) {
        __m128d first = _mm_loadu_pd(rows[row[0]]), second = _mm_loadu_pd(rows[row[1]]);
        x = _mm_unpacklo_pd(first, second);
        y = _mm_unpackhi_pd(first, second);
        z = _mm_set_pd(rows[row[1]][2], rows[row[0]][2]);
    }
    static CLEARANCE_INLINE void store(double* to, Double2 value) { _mm_storeu_pd(to, value.value); }
    static CLEARANCE_INLINE void store3(double* to, Double2 x, Double2 y, Double2 z) {
        _mm_storeu_pd(to, _mm_unpacklo_pd(x.value, y.value));
        _mm_storeu_pd(to + 2, _mm_shuffle_pd(z.value, x.value, 0b10));
        _mm_storeu_pd(to + 4, _mm_unpackhi_pd(y.value, z.value));
    }
    static CLEARANCE_INLINE void store3(double* to, Double2 x, Double2 y) { store3(to, x, y, Double2(0.0)); }
    static CLEARANCE_INLINE Double2 highest(Double2 value) {
        return max_of(value, _mm_shuffle_pd(value.value, value.value, 0b01));
    }
};

#endif

#if defined(__AVX2__)

struct Mask4 {
    __m256d bits;
};

struct Double4 {
    __m256d value;
    Double4() = default;
    CLEARANCE_INLINE Double4(__m256d v) : value(v) {}
    CLEARANCE_INLINE Double4(double v) : value(_mm256_set1_pd(v)) {}
};

CLEARANCE_INLINE Double4 operator+(Double4 a, Double4 b) { return _mm256_add_pd(a.value, b.value); }
CLEARANCE_INLINE Double4 operator-(Double4 a, Double4 b) { return _mm256_sub_pd(a.value, b.value); }
CLEARANCE_INLINE Double4 operator*(Double4 a, Double4 b) { return _mm256_mul_pd(a.value, b.value); }
CLEARANCE_INLINE Double4 operator/(Double4 a, Double4 b) { return _mm256_div_pd(a.value, b.value); }
CLEARANCE_INLINE Double4 operator-(Double4 a) { return _mm256_xor_pd(a.value, _mm256_set1_pd(-0.0)); }
CLEARANCE_INLINE Mask4 operator<(Double4 a, Double4 b) { return {_mm256_cmp_pd(a.value, b.value, _CMP_LT_OQ)}; }
CLEARANCE_INLINE Mask4 operator<=(Double4 a, Double4 b) { return {_mm256_cmp_pd(a.value, b.value, _CMP_LE_OQ)}; }
CLEARANCE_INLINE Mask4 operator>(Double4 a, Double4 b) { return {_mm256_cmp_pd(a.value, b.value, _CMP_GT_OQ)}; }
CLEARANCE_INLINE Mask4 operator>=(Double4 a, Double4 b) { return {_mm256_cmp_pd(a.value, b.value, _CMP_GE_OQ)}; }
CLEARANCE_INLINE Mask4 both(Mask4 a, Mask4 b) { return {_mm256_and_pd(a.bits, b.bits)}; }
CLEARANCE_INLINE Mask4 either(Mask4 a, Mask4 b) { return {_mm256_or_pd(a.bits, b.bits)}; }
CLEARANCE_INLINE Mask4 but_not(Mask4 a, Mask4 b) { return {_mm256_andnot_pd(b.bits, a.bits)}; }
CLEARANCE_INLINE Double4 min_of(Double4 a, Double4 b) { return _mm256_min_pd(a.value, b.value); }
CLEARANCE_INLINE Double4 max_of(Double4 a, Double4 b) { return _mm256_max_pd(a.value, b.value); }
CLEARANCE_INLINE Double4 abs_of(Double4 a) { return _mm256_andnot_pd(_mm256_set1_pd(-0.0), a.value); }
CLEARANCE_INLINE Double4 larger_size(Double4 a, Double4 b) { return max_of(abs_of(a), abs_of(b)); }
CLEARANCE_INLINE Double4 sqrt_of(Double4 a) { return _mm256_sqrt_pd(a.value); }
CLEARANCE_INLINE Double4 copysign_of(Double4 size, Double4 sign) {
    return _mm256_or_pd(_mm256_andnot_pd(_mm256_set1_pd(-0.0), size.value), _mm256_and_pd(_mm256_set1_pd(-0.0), sign.value));
}
CLEARANCE_INLINE Double4 select(Mask4 mask, Double4 a, Double4 b) { return _mm256_blendv_pd(b.value, a.value, mask.bits); }
CLEARANCE_INLINE unsigned bits_of(Mask4 mask) { return static_cast<unsigned>(_mm256_movemask_pd(mask.bits)); }

template <>
struct LaneTraits<Double4> {
    using Mask = Mask4;
    static constexpr int count = 4;
    static CLEARANCE_INLINE Double4 load(const double* from) { return _mm256_loadu_pd(from); }
    static CLEARANCE_INLINE Double4 gather(const double* from, std::size_t stride) {
        return _mm256_set_pd(from[3 * stride], from[2 * stride], from[stride], from[0]);
    }
    // Even lanes in one register, odd ones in the other: what is left to do stays within 128 bits, where it is cheapest.
    static CLEARANCE_INLINE void gather2(const double* from, std::size_t stride, Double4& x, Double4& y) {
        __m256d even = _mm256_loadu2_m128d(from + 2 * stride, from);
        __m256d odd = _mm256_loadu2_m128d(from + 3 * stride, from + stride);
        x = _mm256_unpacklo_pd(even, odd);
        y = _mm256_unpackhi_pd(even, odd);
    }
    static CLEARANCE_INLINE void gather3(const double (*rows)[4], const unsigned* row, Double4& x, Double4& y, Double4& z) {
        const auto at = [&](int k) { return _mm256_loadu_pd(rows[row[k]]); };
        __m256d low = _mm256_unpacklo_pd(at(0), at(1)), next_low = _mm256_unpacklo_pd(at(2), at(3));  // x x z z
        __m256d high = _mm256_unpackhi_pd(at(0), at(1)), next_high = _mm256_unpackhi_pd(at(2), at(3));
        x = _mm256_permute2f128_pd(low, next_low, 0x20);
        y = _mm256_permute2f128_pd(high, next_high, 0x20);
        z = _mm256_permute2f128_pd(low, next_low, 0x31);
    }
    static CLEARANCE_INLINE void store(double* to, Double4 value) { _mm256_storeu_pd(to, value.value); }
    static CLEARANCE_INLINE void store3(double* to, Double4 x, Double4 y, Double4 z) {
        __m256d xy = _mm256_unpacklo_pd(x.value, y.value);         // x0 y0 x2 y2
        __m256d zx = _mm256_shuffle_pd(z.value, x.value, 0b1010);  // z0 x1 z2 x3
        __m256d yz = _mm256_unpackhi_pd(y.value, z.value);         // y1 z1 y3 z3
        _mm256_storeu_pd(to, _mm256_permute2f128_pd(xy, zx, 0x20));
        _mm256_storeu_pd(to + 4, _mm256_blend_pd(yz, xy, 0b1100));
        _mm256_storeu_pd(to + 8, _mm256_permute2f128_pd(zx, yz, 0x31));
    }
    static CLEARANCE_INLINE void store3(double* to, Double4 x, Double4 y) { store3(to, x, y, Double4(0.0)); }
    static CLEARANCE_INLINE Double4 highest(Double4 value) {
        Double4 two = max_of(value, _mm256_permute2f128_pd(value.value, value.value, 0x01));
        return max_of(two, _mm256_permute_pd(two.value, 0b0101));
    }
};

#endif

#if defined(__AVX512F__) && defined(__AVX512DQ__)

struct Mask8 {
    __mmask8 bits;
};

struct Double8 {
    __m512d value;
    Double8() = default;
    CLEARANCE_INLINE Double8(__m512d v) : value(v) {}
    CLEARANCE_INLINE Double8(double v) : value(_mm512_set1_pd(v)) {}
    CLEARANCE_INLINE Double8(Double4 low, Double4 high)
        : value(_mm512_insertf64x4(_mm512_castpd256_pd512(low.value), high.value, 1)) {}
    CLEARANCE_INLINE Double4 low() const { return _mm512_castpd512_pd256(value); }
    CLEARANCE_INLINE Double4 high() const { return _mm512_extractf64x4_pd(value, 1); }
};

CLEARANCE_INLINE Double8 operator+(Double8 a, Double8 b) { return _mm512_add_pd(a.value, b.value); }
CLEARANCE_INLINE Double8 operator-(Double8 a, Double8 b) { return _mm512_sub_pd(a.value, b.value); }
CLEARANCE_INLINE Double8 operator*(Double8 a, Double8 b) { return _mm512_mul_pd(a.value, b.value); }
CLEARANCE_INLINE Double8 operator/(Double8 a, Double8 b) { return _mm512_div_pd(a.value, b.value); }
CLEARANCE_INLINE Double8 operator-(Double8 a) { return _mm512_xor_pd(a.value, _mm512_set1_pd(-0.0)); }
CLEARANCE_INLINE Mask8 operator<(Double8 a, Double8 b) { return {_mm512_cmp_pd_mask(a.value, b.value, _CMP_LT_OQ)}; }
CLEARANCE_INLINE Mask8 operator<=(Double8 a, Double8 b) { return {_mm512_cmp_pd_mask(a.value, b.value, _CMP_LE_OQ)}; }
CLEARANCE_INLINE Mask8 operator>(Double8 a, Double8 b) { return {_mm512_cmp_pd_mask(a.value, b.value, _CMP_GT_OQ)}; }
CLEARANCE_INLINE Mask8 operator>=(Double8 a, Double8 b) { return {_mm512_cmp_pd_mask(a.value, b.value, _CMP_GE_OQ)}; }
CLEARANCE_INLINE Mask8 both(Mask8 a, Mask8 b) { return {_kand_mask8(a.bits, b.bits)}; }
CLEARANCE_INLINE Mask8 either(Mask8 a, Mask8 b) { return {_kor_mask8(a.bits, b.bits)}; }
CLEARANCE_INLINE Mask8 but_not(Mask8 a, Mask8 b) { return {_kandn_mask8(b.bits, a.bits)}; }
CLEARANCE_INLINE Double8 min_of(Double8 a, Double8 b) { return _mm512_min_pd(a.value, b.value); }
CLEARANCE_INLINE Double8 max_of(Double8 a, Double8 b) { return _mm512_max_pd(a.value, b.value); }
CLEARANCE_INLINE Double8 abs_of(Double8 a) { return _mm512_andnot_pd(_mm512_set1_pd(-0.0), a.value); }
CLEARANCE_INLINE Double8 larger_size(Double8 a, Double8 b) {
    return _mm512_range_pd(a.value, b.value, 0b1011);  // the larger one of both without their signs
}
CLEARANCE_INLINE Double8 sqrt_of(Double8 a) { return _mm512_sqrt_pd(a.value); }
CLEARANCE_INLINE Double8 copysign_of(Double8 size, Double8 sign) {
    return _mm512_or_pd(_mm512_andnot_pd(_mm512_set1_pd(-0.0), size.value), _mm512_and_pd(_mm512_set1_pd(-0.0), sign.value));
}
CLEARANCE_INLINE Double8 select(Mask8 mask, Double8 a, Double8 b) {
    return _mm512_mask_blend_pd(mask.bits, b.value, a.value);
}
CLEARANCE_INLINE unsigned bits_of(Mask8 mask) { return mask.bits; }

template <>
struct LaneTraits<Double8> {
    using Mask = Mask8;
    using Half = LaneTraits<Double4>;
    static constexpr int count = 8;
    static CLEARANCE_INLINE Double8 load(const double* from) { return _mm512_loadu_pd(from); }
    static CLEARANCE_INLINE Double8 gather(const double* from, std::size_t stride) {
        return {Half::gather(from, stride), Half::gather(from + 4 * stride, stride)};
    }
    static CLEARANCE_INLINE void gather2(const double* from, std::size_t stride, Double8& x, Double8& y) {
        __m512d even = four_pairs(from, 2 * stride), odd = four_pairs(from + stride, 2 * stride);
        x = _mm512_unpacklo_pd(even, odd);
        y = _mm512_unpackhi_pd(even, odd);
    }
    static CLEARANCE_INLINE void gather3(const double (*rows)[4], const unsigned* row, Double8& x, Double8& y, Double8& z) {
        const auto two_rows = [&](int k) {
            __m256d low = _mm256_loadu_pd(rows[row[k]]), high = _mm256_loadu_pd(rows[row[k + 2]]);
            return _mm512_insertf64x4(_mm512_castpd256_pd512(low), high, 1);
        };
        __m512d even = two_rows(0), odd = two_rows(1), next_even = two_rows(4), next_odd = two_rows(5);
        __m512d low = _mm512_unpacklo_pd(even, odd), next_low = _mm512_unpacklo_pd(next_even, next_odd);  // x x z z ...
        __m512d high = _mm512_unpackhi_pd(even, odd), next_high = _mm512_unpackhi_pd(next_even, next_odd);
        x = _mm512_shuffle_f64x2(low, next_low, 0b10001000);
        y = _mm512_shuffle_f64x2(high, next_high, 0b10001000);
        z = _mm512_shuffle_f64x2(low, next_low, 0b11011101);
    }
    static CLEARANCE_INLINE void store(double* to, Double8 value) { _mm512_storeu_pd(to, value.value); }
    static CLEARANCE_INLINE void store3(double* to, Double8 x, Double8 y, Double8 z) {
        __m512i z_at = _mm512_setr_epi64(2, 5, 0, 3, 6, 1, 4, 7);
        __m512d first = _mm512_permutex2var_pd(x.value, first_of_three(), y.value);
        __m512d second = _mm512_permutex2var_pd(x.value, second_of_three(), y.value);
        __m512d third = _mm512_permutex2var_pd(x.value, third_of_three(), y.value);
        _mm512_storeu_pd(to, _mm512_mask_permutexvar_pd(first, 0b00100100, z_at, z.value));
        _mm512_storeu_pd(to + 8, _mm512_mask_permutexvar_pd(second, 0b01001001, z_at, z.value));
        _mm512_storeu_pd(to + 16, _mm512_mask_permutexvar_pd(third, 0b10010010, z_at, z.value));
    }
    static CLEARANCE_INLINE void store3(double* to, Double8 x, Double8 y) {
        _mm512_storeu_pd(to, _mm512_maskz_permutex2var_pd(0b11011011, x.value, first_of_three(), y.value));
        _mm512_storeu_pd(to + 8, _mm512_maskz_permutex2var_pd(0b10110110, x.value, second_of_three(), y.value));
        _mm512_storeu_pd(to + 16, _mm512_maskz_permutex2var_pd(0b01101101, x.value, third_of_three(), y.value));
    }
    static CLEARANCE_INLINE Double8 highest(Double8 value) {
        Double8 four = max_of(value, _mm512_shuffle_f64x2(value.value, value.value, 0b01001110));
        Double8 two = max_of(four, _mm512_shuffle_f64x2(four.value, four.value, 0b10110001));
        return max_of(two, _mm512_permute_pd(two.value, 0b01010101));
    }

private:
    // Where x and y (plus 8) go in three registers of x y z x y z ...; z is filled in afterwards.
    static CLEARANCE_INLINE __m512i first_of_three() { return _mm512_setr_epi64(0, 8, 0, 1, 9, 0, 2, 10); }
    static CLEARANCE_INLINE __m512i second_of_three() { return _mm512_setr_epi64(0, 3, 11, 0, 4, 12, 0, 5); }
    static CLEARANCE_INLINE __m512i third_of_three() { return _mm512_setr_epi64(13, 0, 6, 14, 0, 7, 15, 0); }

    static CLEARANCE_INLINE __m512d four_pairs(const double* from, std::size_t stride) {
        __m256d low = _mm256_loadu2_m128d(from + stride, from);
        __m256d high = _mm256_loadu2_m128d(from + 3 * stride, from + 2 * stride);
        return _mm512_insertf64x4(_mm512_castpd256_pd512(low), high, 1);
    }
};

#endif

template <class Mask>
CLEARANCE_INLINE bool any_of(Mask mask) {
    return bits_of(mask) != 0;
}

template <class Real>
CLEARANCE_INLINE Real clamp_unit(Real a) {
    return min_of(max_of(a, Real(0.0)), Real(1.0));
}

// 1 / a where a is positive, 0 where it is not: a length of zero then projects everything onto its start.
template <class Real>
CLEARANCE_INLINE Real inverse_or_zero(Real a) {
    auto positive = a > Real(0.0);
    return select(positive, Real(1.0) / select(positive, a, Real(1.0)), Real(0.0));
}

}  // namespace clearance
