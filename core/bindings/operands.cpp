#include "bindings/operands.hpp"

namespace clearance {

Operand operand_of(nb::handle value, const char* name) {
    const Placed* placed;
    if (nb::try_cast(value, placed)) return {placed->body.get(), placed->pose};
    const Shape* shape;
    if (nb::try_cast(value, shape)) return {shape->body.get(), Pose{}};
    throw nb::type_error(
        (std::string(name) + " must be a shape or a placed shape, but it is " + nb::cast<std::string>(nb::repr(value)) + ".")
            .c_str());
}

void fill(OperandBatch& batch, nb::handle value, const char* name) {
    if (nb::isinstance<PlacedBatch>(value)) {
        const auto& placed = nb::cast<const PlacedBatch&>(value);
        batch.body = placed.body.get();
        batch.poses = {placed.poses.data(), 1};
        return;
    }
    const Operand operand = operand_of(value, name);
    batch.body = operand.body;
    batch.one = operand.pose;
    batch.poses = {&batch.one, 0};
}

void refuse_two_half_spaces(const Body& a, const Body& b) {
    if (!a.is_finite() && !b.is_finite())
        throw std::invalid_argument("two half-spaces have no distance: at least one of a and b must be finite.");
}

}  // namespace clearance
