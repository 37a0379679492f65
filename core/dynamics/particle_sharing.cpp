#include <algorithm>
#include <unordered_map>

#include "dynamics/particles.hpp"

namespace clearance {

void Particles::see(const Particle& particle) { append(particle); }

std::vector<BlockNumber> Particles::blocks_of_owned() const {
    std::vector<BlockNumber> result;
    for (std::size_t k = 1; k <= owned_; ++k) result.push_back(layout_.block_of(built_at_[k]));
    return result;
}

std::vector<BlockNumber> Particles::blocks_of_memories() const {
    std::unordered_map<std::int64_t, std::size_t> places;
    for (std::size_t k = 1; k < rigid_.size(); ++k) places.emplace(numbers_[k], k);
    std::vector<BlockNumber> result;
    for (const PairMemory& one : memories()) {
        const std::size_t b = places.at(one.b);
        result.push_back(one.a < 0 ? layout_.block_of(built_at_[b]) : block_of_pair(places.at(one.a), b));
    }
    return result;
}

std::vector<std::size_t> Particles::near(const BlockBox& box) const {
    const double halo = 0.5 * layout_.reach();
    const std::vector<Vec3d> all = shifts();
    std::vector<std::size_t> result;
    for (std::size_t k = 1; k < rigid_.size(); ++k) {
        const auto is_near = [&](const Vec3d& shift) { return layout_.distance(built_at_[k] + shift, box) <= halo; };
        if (std::any_of(all.begin(), all.end(), is_near)) result.push_back(k - 1);
    }
    return result;
}

std::vector<std::size_t> Particles::touched(int colour) const {
    std::vector<std::size_t> result;
    const auto first = colours_[static_cast<std::size_t>(colour)], last = colours_[static_cast<std::size_t>(colour) + 1];
    for (std::size_t k = first; k < last; ++k)
        for (const Pair& pair : blocks_[k].pairs) {
            if (pair.a > 0) result.push_back(static_cast<std::size_t>(pair.a - 1));
            result.push_back(static_cast<std::size_t>(pair.b - 1));
        }
    std::sort(result.begin(), result.end());
    result.erase(std::unique(result.begin(), result.end()), result.end());
    return result;
}

void Particles::read(std::span<const std::size_t> which, double* velocities) const {
    for (const std::size_t k : which) {
        const Rigid& rigid = rigid_[k + 1];
        for (const Vec3d& v : {rigid.velocity, rigid.spin}) *velocities++ = v.x, *velocities++ = v.y, *velocities++ = v.z;
    }
}

void Particles::write(std::span<const std::size_t> which, const double* velocities) {
    for (const std::size_t k : which) {
        Rigid& rigid = rigid_[k + 1];
        rigid.velocity = {velocities[0], velocities[1], velocities[2]};
        rigid.spin = {velocities[3], velocities[4], velocities[5]};
        velocities += 6;
    }
}

}  // namespace clearance
