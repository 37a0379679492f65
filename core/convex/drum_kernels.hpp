#pragma once

#include "convex/drum_columns.hpp"

namespace clearance {

// DrumTouch::touch() for many cylinders beside cylinders, as many side by side as there are lanes, with the same bits.
struct DrumKernels {
    // What is behind the last row, too, may be written to.
    void (*touch_many)(DrumColumns& drums, std::size_t count, TouchColumns& found);
};

// Those of the instruction set that is in use: see closest/kernels.hpp.
const DrumKernels& drum_kernels();

}  // namespace clearance
