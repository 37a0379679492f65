#pragma once

#include <string>

#include "robot/cell.hpp"

namespace clearance {

struct CellObject {
    std::unique_ptr<Cell> cell;
    std::vector<std::string> names;  // of bodies
    std::size_t links;               // that come first
};

// The links of a robot, in the frames that they move with, and boxes around them: what all its cells have in common.
struct LinkBodies {
    std::shared_ptr<const KinematicTree> tree;
    std::vector<CellBody> bodies;
    std::vector<std::string> names;
};

// The core reads rows as they are, so they must be of the right length, finite, and have quaternions that turn.
void check_row(const KinematicTree& tree, const double* q, std::size_t row);
void check_width(const KinematicTree& tree, std::size_t width);

}  // namespace clearance
