#include "bindings/operands.hpp"

namespace clearance {

bool is_operand(nb::handle value, Operand& found) {
    static constexpr Pose kHere{};
    if (is_made<Placed>(value)) {
        const Placed& placed = *nb::inst_ptr<Placed>(value);
        found = {placed.body, &placed.pose};
        return true;
    }
    if (!is_made<Shape>(value)) return false;
    found = {nb::inst_ptr<Shape>(value)->body.get(), &kHere};
    return true;
}

Operand operand_of(nb::handle value, const char* name) {
    Operand found;
    if (is_operand(value, found)) return found;
    throw nb::type_error(
        (std::string(name) + " must be a shape or a placed shape, but it is " + nb::cast<std::string>(nb::repr(value)) + ".")
            .c_str());
}

void fill(OperandBatch& batch, nb::handle value, const char* name) {
    if (nb::isinstance<PlacedBatch>(value)) {
        const auto& placed = nb::cast<const PlacedBatch&>(value);
        batch.body = placed.body;
        batch.poses = {placed.poses.data(), 1};
        return;
    }
    const Operand operand = operand_of(value, name);
    batch.body = operand.body;
    batch.one = *operand.pose;
    batch.poses = {&batch.one, 0};
}

void refuse_two_half_spaces(const Body& a, const Body& b) {
    if (are_half_spaces(a, b))
        throw std::invalid_argument("two half-spaces have no distance: at least one of a and b must be finite.");
}

}  // namespace clearance
