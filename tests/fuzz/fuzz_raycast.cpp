// Rays at a few bodies: hits lie where they are said to be, nothing stands before them, and neither company, hints nor the
// way the bodies came to where they are change an answer.
#include <cstring>

#include "bodies.hpp"
#include "contract.hpp"
#include "query/distance.hpp"
#include "query/raycast.hpp"

using namespace clearance;
using namespace clearance::fuzz;

namespace {

constexpr double kInfinity = std::numeric_limits<double>::infinity();
using BodyPointers = std::vector<std::shared_ptr<const Body>>;

struct Rays {
    std::vector<double> origins, directions, ranges;

    void add(const Vec3d& origin, const Vec3d& direction, double range) {
        origins.insert(origins.end(), {origin.x, origin.y, origin.z});
        directions.insert(directions.end(), {direction.x, direction.y, direction.z});
        ranges.push_back(range);
    }
    std::size_t count() const { return ranges.size(); }
    Vec3d origin(std::size_t k) const { return {origins[3 * k], origins[3 * k + 1], origins[3 * k + 2]}; }
    Vec3d along(std::size_t k) const {
        const Vec3d d{directions[3 * k], directions[3 * k + 1], directions[3 * k + 2]};
        const Vec3d near_one = (1.0 / largest(d)) * d;
        return (1.0 / norm(near_one)) * near_one;
    }
    Rays only(std::size_t k) const {
        Rays one;
        one.add(origin(k), {directions[3 * k], directions[3 * k + 1], directions[3 * k + 2]}, ranges[k]);
        return one;
    }
};

struct Answers {
    std::vector<double> numbers;
    std::vector<std::int32_t> index, feature;

    Answers(const RayTarget& target, const Rays& rays, RayRules rules = {})
        : numbers(7 * rays.count()), index(rays.count()), feature(rays.count()) {
        rules.threads = 1;
        double* at = numbers.data();
        const std::size_t n = rays.count();
        Work work;
        const std::size_t read = target.cast({rays.origins.data(), rays.directions.data(), rays.ranges.data(), 3, 3, 1, n},
                                             rules, {at, at + n, at + 4 * n, index.data(), feature.data()}, work);
        require(read == n, "rays are rays", "but for %d", int(read));
    }
    std::size_t count() const { return index.size(); }
    double distance(std::size_t k) const { return numbers[k]; }
    Vec3d point(std::size_t k) const { return at(count() + 3 * k); }
    Vec3d normal(std::size_t k) const { return at(4 * count() + 3 * k); }
    Vec3d at(std::size_t k) const { return {numbers[k], numbers[k + 1], numbers[k + 2]}; }
};

void require_same(const Answers& one, std::size_t i, const Answers& other, std::size_t j, const char* what) {
    const auto same = [](const Vec3d& a, const Vec3d& b) { return std::memcmp(&a, &b, sizeof a) == 0; };
    require(one.distance(i) == other.distance(j) && one.index[i] == other.index[j] && one.feature[i] == other.feature[j] &&
                same(one.point(i), other.point(j)) && same(one.normal(i), other.normal(j)),
            what, "%.17g at %d and %.17g at %d", one.distance(i), one.index[i], other.distance(j), other.index[j]);
}

struct Yard {
    BodyPointers bodies;
    std::vector<Pose> poses;
    double scale;
};

// A hit lies on the body that it names, in range, and the ray goes into it there.
void check_hit(const Yard& yard, const Rays& rays, const Answers& found, std::size_t k, double slack) {
    const double distance = found.distance(k);
    require(distance >= 0.0 && distance <= rays.ranges[k], "hits are in range", "%.17g of %.17g", distance, rays.ranges[k]);
    require_unit(found.normal(k), "normals of hits have length one");
    require(dot(found.normal(k), rays.along(k)) <= 1e-6, "normals of hits are against the ray", "%.3g",
            dot(found.normal(k), rays.along(k)));
    const double off = norm(rays.origin(k) + distance * rays.along(k) - found.point(k));
    require(off <= slack + 8.0 * kEpsilon * distance, "hits are on the ray", "%.3g off, not %.3g", off, slack);
    const auto body = std::size_t(found.index[k]);
    const Body spot({part_of(Convex{Element{1, {}, 0.0}, 0.0}, Pose{})});
    Work work;
    const Gap gap =
        clearance::distance(*yard.bodies[body], yard.poses[body], spot, {.translation = found.point(k)}, {}, work);
    require(gap.lower <= slack + 1e-6 * size_of(*yard.bodies[body]), "hits are on the body", "%.3g off", gap.lower);
}

// No solid is pierced by the ray before the hit.
void check_before(const Yard& yard, const Rays& rays, const Answers& found, std::size_t k, double slack) {
    const double last = min_of(found.distance(k), min_of(rays.ranges[k], 100.0 * yard.scale));
    if (last <= 0.0) return;
    const Vec3d from = rays.origin(k), to = from + last * rays.along(k);
    const Element path{2, {{0, 0, 0}, to - from, to - from}, 0.0};
    const Body segment({part_of(Convex{path, 0.0}, Pose{})});
    Work work;
    for (std::size_t body = 0; body < yard.bodies.size(); ++body) {
        if (!is_convex(*yard.bodies[body])) continue;
        const Gap gap = clearance::distance(*yard.bodies[body], yard.poses[body], segment, {.translation = from}, {}, work);
        require(gap.upper >= -slack - 1e-6 * size_of(*yard.bodies[body]), "no ray goes through a solid", "%.3g deep",
                gap.upper);
    }
}

Rays rays_from(Bytes& bytes, const Yard& yard) {
    Rays rays;
    const int count = 1 + bytes.below(12);
    for (int k = 0; k < count; ++k) {
        const Vec3d origin = yard.scale * bytes.power(-2, 2) * bytes.in_cube();
        Vec3d direction = bytes.direction();
        if (bytes.flag()) {
            const std::size_t body = bytes.byte() % yard.bodies.size();
            const Vec3d towards = yard.poses[body].translation - origin;
            if (largest(towards) > 0.0) direction = towards;
        }
        const double range = bytes.flag() ? yard.scale * bytes.power(-3, 3) : kInfinity;
        rays.add(origin, bytes.power(-30, 30) * direction, range);
    }
    return rays;
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
    Bytes bytes(data, size);
    Yard yard{{}, {}, bytes.power(-6, 6)};
    const int count = 1 + bytes.below(5);
    double most = yard.scale;
    for (int k = 0; k < count; ++k) {
        yard.bodies.push_back(shared(body(bytes, yard.scale * bytes.power(-3, 1), Parts::all)));
        yard.poses.push_back(bytes.pose(4.0 * yard.scale));
        most = max_of(most, size_of(*yard.bodies.back()));
    }
    const Rays rays = rays_from(bytes, yard);
    const RayTarget target(yard.bodies, yard.poses);
    const Answers found(target, rays), some(target, rays, {.any = true});
    const Answers hinted(target, rays, {.hint_index = found.index.data(), .hint_feature = found.feature.data()});
    RayTarget moved(yard.bodies, std::vector<Pose>(yard.bodies.size()));
    moved.move(yard.poses);
    const Answers after(moved, rays);
    for (std::size_t k = 0; k < rays.count(); ++k) {
        const double slack = 1e-9 * most + 64.0 * kEpsilon * largest(rays.origin(k));
        const bool is_hit = found.index[k] >= 0;
        require(is_hit == (found.distance(k) < kInfinity), "misses are infinitely far");
        require(is_hit == (some.index[k] >= 0), "some hit is found where there is one", "%.17g and %.17g", found.distance(k),
                some.distance(k));
        require_same(found, k, hinted, k, "hints do not matter");
        require_same(found, k, after, k, "motion does not matter");
        require_same(found, k, Answers(target, rays.only(k)), 0, "company does not matter");
        if (is_hit) check_hit(yard, rays, found, k, slack);
        check_before(yard, rays, found, k, slack);
    }
    return 0;
}
