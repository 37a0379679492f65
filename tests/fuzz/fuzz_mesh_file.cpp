// Bytes that pass for the file of a mesh: they are refused, or what is read from them does no harm to any query.
#include <stdexcept>
#include <string>

#include "../core/mesh_checksum.hpp"
#include "bodies.hpp"
#include "bvh/extreme.hpp"
#include "bvh/front.hpp"
#include "bvh/meeting.hpp"
#include "bvh/mesh_file.hpp"
#include "contract.hpp"
#include "query/raycast.hpp"

using namespace clearance;
using namespace clearance::fuzz;

namespace {

constexpr double kInfinity = std::numeric_limits<double>::infinity();

// A sound file with some of its bytes changed, or bytes as they come.
std::string file_from(Bytes& bytes) {
    std::string file;
    if (bytes.flag()) {
        while (bytes.are_left()) file.push_back(char(bytes.byte()));
        return file;
    }
    file = bytes_of(mesh(bytes, 1.0));
    for (int changes = bytes.below(8); changes > 0; --changes) {
        const std::size_t at = std::size_t(bytes.byte() | bytes.byte() << 8) % file.size();
        file[at] = char(bytes.byte());
    }
    if (bytes.below(4) == 0) file.resize(std::size_t(bytes.byte() | bytes.byte() << 8) % (file.size() + 1));
    return file;
}

void use(Mesh read) {
    const auto mesh = std::make_shared<const Mesh>(std::move(read));
    const Mat3 quarter{{{0, -1, 0}, {1, 0, 0}, {0, 0, 1}}};
    std::vector<SurfacePair> forest{{mesh.get(), mesh.get(), nullptr, {kNoTurn, {0, 0, 0}}, {quarter, {0.3, 0.2, 0.1}}}};
    SearchWork work;
    const ForestQuestion question{kInfinity, -kInfinity};
    search(forest, question, SearchOrder::best, nullptr, work);
    search(forest, question, SearchOrder::depth, nullptr, work);
    FrontSearch front({SearchOrder::best, FrontKind::explicit_nodes, true, false});
    for (int k = 0; k < 2; ++k) front.search(forest, question, nullptr, work);
    std::vector<TrianglePair> meeting;
    meeting_triangles(forest[0], meeting, work);
    lowest_corner(*mesh, {0, 0, 1});
    const RayTarget target({shared(Body({part_of(Surface{mesh, false}, Pose{})}))}, {Pose{}});
    const double origin[3] = {0.1, 0.2, 5.0}, direction[3] = {0.0, 0.0, -1.0}, range = kInfinity;
    double distance, point[3], normal[3];
    std::int32_t index, feature;
    Work counts;
    target.cast({origin, direction, &range, 3, 3, 1, 1}, {.threads = 1}, {&distance, point, normal, &index, &feature},
                counts);
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
    Bytes bytes(data, size);
    std::string file = file_from(bytes);
    samples::set_checksum(file);  // only the checks behind it are of interest
    try {
        use(mesh_from_bytes(file.data(), file.size()));
    } catch (const std::invalid_argument&) {
    }
    return 0;
}
