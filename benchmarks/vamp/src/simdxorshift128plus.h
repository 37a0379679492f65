#pragma once
/* Stands in for SIMDxorshift: four xorshift128+ streams (S. Vigna, 2014). Only the sampler `xorshift` uses it. */
#include <immintrin.h>
#include <stdint.h>
typedef struct { __m256i a, b; } avx_xorshift128plus_key_t;
static inline void avx_xorshift128plus_init(uint64_t seed_a, uint64_t seed_b, avx_xorshift128plus_key_t* key) {
    key->a = _mm256_set_epi64x(seed_a + 3, seed_a + 2, seed_a + 1, seed_a);
    key->b = _mm256_set_epi64x(seed_b * 7, seed_b * 5, seed_b * 3, seed_b);
}
static inline __m256i avx_xorshift128plus(avx_xorshift128plus_key_t* key) {
    __m256i x = key->a, y = key->b;
    key->a = y;
    x = _mm256_xor_si256(x, _mm256_slli_epi64(x, 23));
    key->b = _mm256_xor_si256(_mm256_xor_si256(x, y), _mm256_xor_si256(_mm256_srli_epi64(x, 18), _mm256_srli_epi64(y, 5)));
    return _mm256_add_epi64(key->b, y);
}
