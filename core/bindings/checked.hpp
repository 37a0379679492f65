#pragma once

#include "bindings/arrays.hpp"

namespace clearance {

// Arguments that make sense, or an error that names them and says what was found.

[[noreturn]] void refuse_length(const char* name, const char* expected, double found);
double positive(double length, const char* name);
double not_negative(double length, const char* name);

// Whether coordinates are finite and below 1e30; making the message for those that are not takes longer than to ask.
bool are_usable(const Vec3d& coordinates);

// The shape of an array as Python prints it.
std::string shape_of(nb::handle array);

// Rows of an array (n, 3), at least one.
std::vector<Vec3d> points_from(nb::handle value, const char* name);

}  // namespace clearance
