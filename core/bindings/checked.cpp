#include "bindings/checked.hpp"

namespace clearance {

void refuse_length(const char* name, const char* expected, double found) {
    throw std::invalid_argument(std::string(name) + " must be " + expected + " and below 1e30, but it is " +
                                printed_number(found) + ".");
}

namespace {

double not_tiny(double length, const char* name) {
    if (length > 0.0 && length < kLeastLength)
        throw std::invalid_argument(std::string(name) + " must be at least 1e-75, but it is " + printed_number(length) +
                                    ".");
    return length;
}

}  // namespace

double positive(double length, const char* name) {
    if (!(length > 0.0 && length <= kLargestLength)) refuse_length(name, "positive", length);
    return not_tiny(length, name);
}

double not_negative(double length, const char* name) {
    if (!(length >= 0.0 && length <= kLargestLength)) refuse_length(name, "zero or positive", length);
    return not_tiny(length, name);
}

bool are_usable(const Vec3d& coordinates) {
    const auto& [x, y, z] = coordinates;
    return abs_of(x) <= kLargestLength && abs_of(y) <= kLargestLength && abs_of(z) <= kLargestLength;
}

std::string shape_of(nb::handle array) { return nb::cast<std::string>(nb::repr(array.attr("shape"))); }

std::vector<Vec3d> points_from(nb::handle value, const char* name) {
    const nb::object array = nb::module_::import_("clearance.poses").attr("as_floats")(value, name);
    nb::ndarray<const double, nb::shape<-1, 3>, nb::c_contig, nb::device::cpu> rows;
    if (!nb::try_cast(array, rows) || rows.shape(0) == 0)
        throw std::invalid_argument(std::string(name) + " must be an array (n, 3) of at least one point, but its shape is " +
                                    shape_of(array) + ".");
    std::vector<Vec3d> points(rows.shape(0));
    for (std::size_t k = 0; k < points.size(); ++k) {
        points[k] = {rows(k, 0), rows(k, 1), rows(k, 2)};
        if (!are_usable(points[k]))
            check_coordinates(points[k], (std::string(name) + "[" + std::to_string(k) + "]").c_str());
    }
    return points;
}

}  // namespace clearance
