#include <nanobind/stl/array.h>
#include <nanobind/stl/optional.h>
#include <nanobind/stl/pair.h>
#include <nanobind/stl/vector.h>

#include "bindings/arrays.hpp"
#include "guard/vehicle_guard.hpp"

namespace clearance {
namespace {

using Points2 = nb::ndarray<const double, nb::shape<-1, 2>, nb::c_contig, nb::device::cpu>;

constexpr const char* kLook =
    "def look(self, pose: numpy.typing.NDArray[numpy.float64], velocity: numpy.typing.NDArray[numpy.float64], "
    "command: numpy.typing.NDArray[numpy.float64] | None, scan: numpy.typing.NDArray[numpy.float64] | None) -> "
    "tuple[int, bool, int, float, float, float, numpy.typing.NDArray[numpy.float64], "
    "numpy.typing.NDArray[numpy.float64], numpy.typing.NDArray[numpy.float64]]";

Twist twist_from(const Vector3& array) { return {array(0), array(1), array(2)}; }

Corners corners_from(const Points2& array) {
    Corners corners;
    for (std::size_t k = 0; k < array.shape(0); ++k) corners.push_back({array(k, 0), array(k, 1)});
    return corners;
}

NumpyArray array_of(const Vec2& v) {
    NumpyArray result = new_array({2});
    result.data()[0] = v.x, result.data()[1] = v.y;
    return result;
}

// Numbers and shapes are checked by vehicle_guard.py.
struct VehicleGuardObject {
    VehicleGuard guard;
    PlanarPose pose;

    static PlanarSweep sweep_of(const std::vector<std::pair<Points2, double>>& footprint, const PlanarBraking& braking,
                                std::size_t pieces) {
        std::vector<FootprintPart> parts;
        for (const auto& [points, radius] : footprint) parts.push_back({corners_from(points), radius});
        return PlanarSweep(std::move(parts), braking, pieces);
    }

    VehicleGuardObject(const std::vector<std::pair<Points2, double>>& footprint, const std::vector<Points2>& outlines,
                       double latency, const Vector3& acceleration, const Vector3& deceleration,
                       const Vector3& command_error, const Vector3& uncertainty, bool is_arc, double margin,
                       double scan_radius, std::size_t pieces)
        : guard(sweep_of(footprint,
                         {latency, twist_from(acceleration), twist_from(deceleration), twist_from(command_error), is_arc},
                         pieces),
                obstacles_of(outlines), {twist_from(uncertainty), margin, scan_radius}) {}

    static std::vector<Outline> obstacles_of(const std::vector<Points2>& outlines) {
        std::vector<Outline> obstacles;
        for (const Points2& outline : outlines) obstacles.push_back(corners_from(outline));
        return obstacles;
    }

    nb::tuple look(const Vector3& at, const Vector3& velocity, const std::optional<Vector3>& command,
                   const std::optional<Points2>& scan) {
        pose = {{at(0), at(1)}, at(2)};
        guard.set_scan(scan ? scan->data() : nullptr, scan ? scan->shape(0) : 0);
        std::optional<Twist> commanded;
        if (command) commanded = twist_from(*command);
        const VehicleFinding& found = guard.look(pose, twist_from(velocity), commanded);
        return nb::make_tuple(static_cast<int>(found.proof), found.is_scanned, found.index, found.lower, found.present,
                              found.time, array_of(found.gap.other), array_of(found.gap.point), array_of(found.gap.normal));
    }

    nb::list swept() const {
        nb::list result;
        const Vec2 heading = unit_at(pose.yaw);
        for (const DiscSweptHull& hull : guard.sweep().pieces()) {
            NumpyArray corners = new_array({hull.corners().size(), 2});
            double* to = corners.data();
            for (const Vec2& corner : hull.corners()) {
                const Vec2 placed = pose.position + heading * corner;
                *to++ = placed.x, *to++ = placed.y;
            }
            result.append(nb::make_tuple(corners, hull.radius()));
        }
        return result;
    }
};

}  // namespace

void bind_vehicles(nb::module_& m) {
    nb::class_<VehicleGuardObject>(m, "VehicleGuardCore", "The guard of a vehicle, for arguments that were checked.")
        .def(nb::init<const std::vector<std::pair<Points2, double>>&, const std::vector<Points2>&, double, const Vector3&,
                      const Vector3&, const Vector3&, const Vector3&, bool, double, double, std::size_t>(),
             "footprint"_a, "outlines"_a, "latency"_a, "acceleration"_a, "deceleration"_a, "command_error"_a,
             "uncertainty"_a, "is_arc"_a, "margin"_a, "scan_radius"_a, "pieces"_a)
        .def("look", &VehicleGuardObject::look, nb::sig(kLook), "pose"_a, "velocity"_a, "command"_a.none(), "scan"_a.none())
        .def(
            "clear_factor", [](VehicleGuardObject& self, int halvings) { return self.guard.clear_factor(halvings); },
            "halvings"_a)
        .def("swept", &VehicleGuardObject::swept,
             nb::sig("def swept(self) -> list[tuple[numpy.typing.NDArray[numpy.float64], float]]"));
}

}  // namespace clearance
