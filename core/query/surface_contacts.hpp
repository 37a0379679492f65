#pragma once

#include "query/contacts.hpp"
#include "query/surfaces.hpp"

namespace clearance {

// Where two parts touch of which at least one is a surface: one manifold for each pair of triangles or balls that meet, or
// for each that meets the solid; the ground below a height field is solid. Returns the gap of the deepest, or the nearest.
Gap contacts_of_surfaces(const PlacedPart& a, const PlacedPart& b, const ContactRules& rules, std::vector<Contact>& found,
                         Work& work);

}  // namespace clearance
