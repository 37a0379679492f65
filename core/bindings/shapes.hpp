#pragma once

#include <memory>

#include "bindings/arrays.hpp"
#include "query/body.hpp"

namespace clearance {

// The Python shapes share an immutable body with everything made from them.
struct Shape {
    std::shared_ptr<const Body> body;
};

// A shape at one pose, or at many.
struct Placed {
    nb::object shape;
    std::shared_ptr<const Body> body;
    Pose pose;
};
struct PlacedBatch {
    nb::object shape;
    std::shared_ptr<const Body> body;
    std::vector<Pose> poses;
    nb::tuple dims;
};

}  // namespace clearance
