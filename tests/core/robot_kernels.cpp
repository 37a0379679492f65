// What robots compute several numbers at a time: turns beside the mathematics library, balls and boxes beside what they
// stand for, and the same bits on every instruction set.
//
//     robot_kernels [effort = 1] [seed = 1]
#include <cstring>

#include "closest/kernels.hpp"
#include "robot/kernels.hpp"
#include "robot/turn.hpp"
#include "robot_samples.hpp"

using namespace clearance;
using namespace clearance::samples;

namespace {

Tally tally;

const Simd kAll[] = {Simd::scalar, Simd::sse2, Simd::avx2, Simd::avx512};

// Runs compute(kernels) on all instruction sets that this machine has; its bytes must not depend on which.
template <class Result, class Compute>
Result same_everywhere(const char* what, const Compute& compute) {
    choose_simd(best_simd());
    Result result;
    std::memset(&result, 0, sizeof result);
    compute(robot_kernels(), result);
    for (const Simd simd : kAll) {
        if (simd > best_simd()) continue;
        choose_simd(simd);
        Result again;
        std::memset(&again, 0, sizeof again);
        compute(robot_kernels(), again);
        tally.expect(std::memcmp(&result, &again, sizeof result) == 0, what);
    }
    choose_simd(best_simd());
    return result;
}

// ---- Turns.

double drawn_angle(Draw& draw) {
    const double quarter = 1.5707963267948966;
    switch (draw.below(5)) {
        case 0:
            return draw.uniform(-7.0, 7.0);
        case 1:
            return draw.below(2000) * quarter + draw.uniform(-1.0, 1.0) * draw.power(-16, 0);  // near whole quarters
        case 2:
            return draw.uniform(-1.0, 1.0) * draw.power(-300, 0);
        case 3:
            return draw.uniform(-kLargestAngle, kLargestAngle);
        default:
            return draw.chance(0.5) ? 0.0 : (draw.chance(0.5) ? kLargestAngle : -kLargestAngle);
    }
}

void check_turns(Draw& draw) {
    struct Turns {
        double sine[8], versine[8];
    };
    double angles[8];
    for (double& angle : angles) angle = drawn_angle(draw);
    const Turns found = same_everywhere<Turns>("turns are the same on every instruction set",
                                               [&](const auto& k, Turns& to) { k.turns(angles, 8, to.sine, to.versine); });
    for (int k = 0; k < 8; ++k) {
        const long double angle = angles[k], half = std::sin(angle / 2);
        const auto sine = double(std::sin(angle)), versine = double(2 * half * half);
        tally.expect(std::fabs(found.sine[k] - sine) <= 4.0 * kEpsilon * std::fabs(sine) + 1e-21 * std::fabs(angles[k]),
                     "a sine is exact", "angle %.17g: %.17g, not %.17g", angles[k], found.sine[k], sine);
        tally.expect(std::fabs(found.versine[k] - versine) <= 2.0 * kEpsilon, "so is 1 less a cosine",
                     "angle %.17g: %.17g, not %.17g", angles[k], found.versine[k], versine);
        const Turn<double> one = turn_of(angles[k]);
        tally.expect(one.sine == found.sine[k] && one.versine == found.versine[k], "one turn is as good as eight");
    }
}

// ---- Balls.

struct Balls {
    static constexpr std::size_t kCount = 40;
    float x[kCount + 8]{}, y[kCount + 8]{}, z[kCount + 8]{}, radius[kCount + 8]{}, absent[kCount];
    BallLanes lanes() const { return {x, y, z, radius}; }
    double apart(std::size_t k, const Vec3<float>& from) const {
        const double dx = double(x[k]) - from.x, dy = double(y[k]) - from.y, dz = double(z[k]) - from.z;
        return std::sqrt(dx * dx + dy * dy + dz * dz);
    }
};

void check_balls(Draw& draw) {
    Balls balls;
    const auto coordinate = [&] { return float(draw.uniform(-3.0, 3.0)); };
    for (std::size_t k = 0; k < Balls::kCount; ++k) {
        balls.x[k] = coordinate(), balls.y[k] = coordinate(), balls.z[k] = coordinate();
        balls.radius[k] = float(draw.power(-3, 0));
        balls.absent[k] = draw.chance(0.6) ? 0.0f : std::numeric_limits<float>::infinity();
    }
    const Vec3<float> from{coordinate(), coordinate(), coordinate()};
    const float radius = float(draw.power(-2, 0)), reach = float(draw.uniform(-1.5, 3.0));
    const BallRow row{std::size_t(draw.below(9)), 4};
    struct Near {
        std::uint8_t bits[4];
    };
    const Near near = same_everywhere<Near>("balls are as near on every instruction set", [&](const auto& k, Near& to) {
        k.near_balls(balls.lanes(), row, from, reach, to.bits);
    });
    const auto nearest = same_everywhere<NearestBall>("the nearest ball is the same", [&](const auto& k, NearestBall& to) {
        to = k.nearest_ball(balls.lanes(), row, balls.absent, from, radius);
    });
    double least = kInf, most = kInf;
    for (std::size_t k = 0; k < 32; ++k) {
        const double apart = balls.apart(row.first + k, from), own = balls.radius[row.first + k];
        const bool is_near = near.bits[k / 8] >> k % 8 & 1;
        if (std::fabs(apart - own - reach) > 1e-5)
            tally.expect(is_near == (apart <= own + reach), "a ball is near if its surface is", "%.9g", apart - own - reach);
        if (balls.absent[k] > 0.0f) continue;
        least = min_of(least, apart - own - radius), most = min_of(most, apart + own + radius);
    }
    if (least == kInf) return;
    const auto number = std::size_t(nearest.number);
    tally.expect(std::fabs(nearest.lower - least) < 1e-5 && std::fabs(nearest.upper - most) < 1e-5,
                 "the nearest ball is that near", "%.9g, not %.9g", double(nearest.lower), least);
    tally.expect(balls.absent[number] == 0.0f && std::fabs(balls.apart(row.first + number, from) -
                                                           balls.radius[row.first + number] - radius - least) < 1e-5,
                 "it is the one that is named");
}

// ---- Boxes.

struct TwoBoxes {
    Vec3d half[2], apart;
    Mat3 axes[2];  // rows
};

double reach_of(const TwoBoxes& boxes, int which, const Vec3d& along) {
    const Vec3d &half = boxes.half[which], seen = boxes.axes[which] * along;
    return half.x * std::fabs(seen.x) + half.y * std::fabs(seen.y) + half.z * std::fabs(seen.z);
}

double separation(const TwoBoxes& boxes, const Vec3d& along) {
    return dot(along, boxes.apart) - reach_of(boxes, 0, along) - reach_of(boxes, 1, along);
}

double exact_distance(const TwoBoxes& boxes) {
    Work work;
    const auto turned = [](const Mat3& rows) { return Pose{transposed_times(rows, kNoTurn), {0, 0, 0}}; };
    const Part a = part_of(Convex{Box{boxes.half[0]}, 0.0}, Pose{}), b = part_of(Convex{Box{boxes.half[1]}, 0.0}, Pose{});
    return gap_between({a, turned(boxes.axes[0]).rotation, {0, 0, 0}}, {b, turned(boxes.axes[1]).rotation, boxes.apart}, {},
                       work)
        .distance;
}

long overlapping = 0, exact_depths = 0;

void check_boxes(Draw& draw) {
    TwoBoxes drawn[8];
    BoxPairs pairs{};
    for (int k = 0; k < 8; ++k) {
        TwoBoxes& boxes = drawn[k];
        for (int which = 0; which < 2; ++which) {
            boxes.half[which] = {draw.power(-3, 0), draw.power(-3, 0), draw.power(-3, 0)};
            boxes.axes[which] = which == 1 && draw.chance(0.2) ? boxes.axes[0] : draw.rotation();  // parallel at times
            const Vec3d& half = boxes.half[which];
            auto* const halves = which == 0 ? pairs.half_a : pairs.half_b;
            auto* const axes = which == 0 ? pairs.axis_a : pairs.axis_b;
            halves[0][k] = float(half.x), halves[1][k] = float(half.y), halves[2][k] = float(half.z);
            for (int axis = 0; axis < 3; ++axis) {
                const Vec3d& row = boxes.axes[which].row[axis];
                axes[3 * axis][k] = float(row.x), axes[3 * axis + 1][k] = float(row.y), axes[3 * axis + 2][k] = float(row.z);
            }
        }
        boxes.apart = draw.chance(0.1) ? Vec3d{0, 0, 0} : draw.power(-3, 0.5) * draw.direction();
        pairs.apart[0][k] = float(boxes.apart.x), pairs.apart[1][k] = float(boxes.apart.y);
        pairs.apart[2][k] = float(boxes.apart.z);
    }
    struct Bounds {
        float bound[8], towards[3][8];
    };
    const Bounds found = same_everywhere<Bounds>(
        "boxes are bounded alike", [&](const auto& k, Bounds& to) { k.box_separations(pairs, to.bound, to.towards); });
    for (int k = 0; k < 8; ++k) {
        const double exact = exact_distance(drawn[k]), bound = found.bound[k];
        const Vec3d towards{found.towards[0][k], found.towards[1][k], found.towards[2][k]};
        tally.expect(bound <= exact + 1e-5, "a bound of boxes lies below their distance", "%.9g, but %.9g", bound, exact);
        tally.expect(std::fabs(norm(towards) - 1.0) < 1e-5, "a direction has length one", "%.9g", norm(towards));
        tally.expect(separation(drawn[k], towards) <= exact + 1e-5, "no direction separates more than the distance");
        if (exact >= 0.0) continue;
        // Boxes that overlap are parted along a face or two edges, which is what was tried.
        ++overlapping, exact_depths += std::fabs(bound - exact) < 1e-4;
        tally.expect(separation(drawn[k], towards) >= bound - 1e-5, "the direction proves a depth");
    }
}

}  // namespace

int main(int argc, char** argv) {
    const int effort = argc > 1 ? std::atoi(argv[1]) : 1;
    Draw draw(argc > 2 ? std::strtoul(argv[2], nullptr, 10) : 1);
    for (int k = 0; k < 5000 * effort; ++k) check_turns(draw), check_balls(draw), check_boxes(draw);
    tally.expect(double(exact_depths) >= 0.99 * double(overlapping), "depths of boxes are exact", "%ld of %ld", exact_depths,
                 overlapping);
    return tally.finish();
}
