#include <nanobind/nanobind.h>

#include "bindings/numpy.hpp"

namespace clearance {

void bind_elements(nanobind::module_& m);
void bind_shapes(nanobind::module_& m);
void bind_primitives(nanobind::module_& m);
void bind_meshes(nanobind::module_& m);
void bind_point_clouds(nanobind::module_& m);
void bind_queries(nanobind::module_& m);
void bind_contacts(nanobind::module_& m);
void bind_rays(nanobind::module_& m);
void bind_scene(nanobind::module_& m);
void bind_robots(nanobind::module_& m);
void bind_sweeps(nanobind::module_& m);
void bind_guards(nanobind::module_& m);
void bind_vehicles(nanobind::module_& m);
void bind_worlds(nanobind::module_& m);
void bind_particles(nanobind::module_& m);

}  // namespace clearance

NB_MODULE(_core, m) {
    clearance::import_numpy();
    nanobind::set_leak_warnings(false);  // what a script still holds when the interpreter ends is no leak
    m.doc() = "The compiled core of clearance.";
    clearance::bind_elements(m);
    clearance::bind_shapes(m);
    clearance::bind_primitives(m);
    clearance::bind_meshes(m);
    clearance::bind_point_clouds(m);
    clearance::bind_queries(m);
    clearance::bind_contacts(m);
    clearance::bind_rays(m);
    clearance::bind_scene(m);
    clearance::bind_robots(m);
    clearance::bind_sweeps(m);
    clearance::bind_guards(m);
    clearance::bind_vehicles(m);
    clearance::bind_worlds(m);
    clearance::bind_particles(m);
}
