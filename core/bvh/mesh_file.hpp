#pragma once

#include <string>

#include "bvh/mesh.hpp"

namespace clearance {

// A mesh with its trees as bytes, and back. Broken bytes throw std::invalid_argument, which says what is wrong: lengths,
// indices and a checksum are looked at, so that no file can make a query read where it must not.
std::string bytes_of(const Mesh& mesh);
Mesh mesh_from_bytes(const char* bytes, std::size_t count);

}  // namespace clearance
