#pragma once

// The checksum of a mesh file, made to fit again after bytes were changed: it tells damage, and is no signature.
#include <cstdint>
#include <cstring>
#include <string>

namespace clearance::samples {

constexpr std::size_t kChecksumAt = 24, kBodyAt = 88;

inline void set_checksum(std::string& bytes) {
    if (bytes.size() < kBodyAt) return;
    std::memset(bytes.data() + kChecksumAt, 0, 8);
    std::uint64_t sum = 0x9e3779b97f4a7c15u;
    std::size_t at = 0;
    for (; bytes.size() - at >= 8; at += 8) {
        std::uint64_t word;
        std::memcpy(&word, bytes.data() + at, 8);
        sum = (sum ^ word) * 0xff51afd7ed558ccdu;
        sum ^= sum >> 32;
    }
    for (; at < bytes.size(); ++at) sum = (sum ^ static_cast<unsigned char>(bytes[at])) * 0x100000001b3u;
    std::memcpy(bytes.data() + kChecksumAt, &sum, 8);
}

}  // namespace clearance::samples
