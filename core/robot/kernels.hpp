#pragma once

#include <cstddef>
#include <cstdint>

#include "math/vec3.hpp"

namespace clearance {

// Balls column by column. Eight are read at a time, so there is room behind the last.
struct BallLanes {
    const float *x, *y, *z, *radius;
};

// Some of them in a row: `octets` times eight, from `first` on.
struct BallRow {
    std::size_t first, octets;
};

struct NearestBall {
    float lower;          // how near it comes at least, infinite where there is none
    std::int32_t number;  // from the first of the row on
    float upper;          // no more than this lies between the farthest points of any two
};

// Eight pairs of boxes side by side: the half lengths and the axes of both in common axes, and the way between the centres.
struct BoxPairs {
    float half_a[3][8], axis_a[9][8];
    float half_b[3][8], axis_b[9][8];
    float apart[3][8];
};

// Everything that depends on the instruction set. All of them give the same bits.
struct RobotKernels {
    // What turns by angles of at most kLargestAngle are made of. The count is a multiple of eight.
    void (*turns)(const double* angles, std::size_t count, double* sines, double* versines);

    // Which balls come as near as `reach` to a point, a bit for each, but for rounding.
    void (*near_balls)(const BallLanes& balls, const BallRow& row, const Vec3<float>& point, float reach,
                       std::uint8_t* near);

    // Of the balls for which `absent` is zero and not infinite, the one nearest to another ball, but for rounding.
    NearestBall (*nearest_ball)(const BallLanes& balls, const BallRow& row, const float* absent, const Vec3<float>& centre,
                                float radius);

    // Lower bounds of the signed distances of eight pairs of boxes, but for rounding, and the direction from a to b among
    // those of faces and edges along which they overlap least or are farthest apart.
    void (*box_separations)(const BoxPairs& pairs, float* bounds, float (*towards)[8]);
};

const RobotKernels& robot_kernels();

}  // namespace clearance
