// Files of meshes that are broken in every way: bytes are refused, or what is read from them does no harm to any query.
//
//     mesh_files [effort = 1] [seed = 1] [only this part: odd, files]
#include <algorithm>
#include <cstring>
#include <memory>
#include <stdexcept>

#include "bvh/extreme.hpp"
#include "bvh/front.hpp"
#include "bvh/meeting.hpp"
#include "bvh/mesh_file.hpp"
#include "mesh_checksum.hpp"
#include "mesh_samples.hpp"

using namespace clearance;
using namespace clearance::samples;

namespace {

constexpr double kInfinity = std::numeric_limits<double>::infinity();

Tally tally;

// Whatever was read, all queries must stay within it. What they find is of no interest.
void use(const Mesh& mesh, const Mesh& sound, Draw& draw) {
    FrontSearch front({SearchOrder::best, draw.chance(0.5) ? FrontKind::implicit_nodes : FrontKind::explicit_nodes, true,
                       draw.chance(0.5)});
    for (int k = 0; k < 3; ++k) {
        std::vector<SurfacePair> forest{
            {&mesh, &sound, nullptr, {draw.rotation(), draw.in_cube()}, {draw.rotation(), draw.in_cube()}},
            {&mesh, &mesh, nullptr, {draw.rotation(), draw.in_cube()}, {draw.rotation(), 3.0 * draw.in_cube()}}};
        SearchWork work;
        const ForestQuestion question{kInfinity, -kInfinity};
        search(forest, question, SearchOrder::best, nullptr, work);
        search(forest, question, SearchOrder::depth, nullptr, work);
        front.search(forest, question, nullptr, work);
        std::vector<TrianglePair> meeting;
        meeting_triangles(forest[0], meeting, work);
        const LowestCorner lowest = lowest_corner(mesh, draw.direction());
        tally.expect(lowest.triangle >= -1 && lowest.triangle < static_cast<std::int32_t>(mesh.faces.size()),
                     "the lowest corner is of a triangle");
    }
}

// Returns whether the bytes were taken for a mesh.
bool try_bytes(const std::string& bytes, const Mesh& sound, Draw& draw) {
    std::unique_ptr<char[]> exact(new char[bytes.size()]);  // so that a sanitizer sees the first byte behind it
    std::memcpy(exact.get(), bytes.data(), bytes.size());
    std::unique_ptr<Mesh> mesh;
    try {
        mesh = std::make_unique<Mesh>(mesh_from_bytes(exact.get(), bytes.size()));
    } catch (const std::invalid_argument&) {
        return false;
    }
    exact.reset();
    use(*mesh, sound, draw);
    return true;
}

// Any of the numbers that a structure is made of: those of 4 bytes that are small or negative.
std::size_t some_number_at(const std::string& bytes, Draw& draw) {
    for (int k = 0; k < 2000; ++k) {
        const std::size_t at =
            kBodyAt - 32 + 4 * static_cast<std::size_t>(draw.below(static_cast<int>((bytes.size() - kBodyAt + 32) / 4)));
        std::int32_t value;
        std::memcpy(&value, bytes.data() + at, 4);
        if (value >= -100 && value <= 1000) return at;
    }
    return kBodyAt;
}

// ---- Bytes that are broken in every way.

void check_files(Draw& draw, int count) {
    const Mesh sound = bumpy(draw, 4, 6).built(VolumeKind::rss);
    for (const Sample& sample : {bumpy(draw, 3, 4), copies(draw, 20, 0), copies(draw, 12, 5), soup(draw, 7), grid(4)}) {
        tally.context = std::string("file of ") + sample.name;
        const Mesh mesh = sample.built(VolumeKind::rss);
        const std::string bytes = bytes_of(mesh);
        std::string again = bytes;
        set_checksum(again);
        tally.expect(again == bytes, "this check knows the checksum");
        const Mesh back = mesh_from_bytes(bytes.data(), bytes.size());
        tally.expect(bytes_of(back) == bytes, "a mesh survives a file");
        int taken = 0;
        for (int k = 0; k < count; ++k) {
            // Shorter, longer.
            std::string cut = bytes.substr(0, static_cast<std::size_t>(draw.below(static_cast<int>(bytes.size()))));
            tally.expect(!try_bytes(cut, sound, draw), "what is cut short is refused");
            set_checksum(cut);
            tally.expect(!try_bytes(cut, sound, draw), "what is cut short is refused, whatever its checksum");
            tally.expect(!try_bytes(bytes + std::string(1 + static_cast<std::size_t>(draw.below(100)), 'x'), sound, draw),
                         "what is too long is refused");
            // A bit.
            std::string flipped = bytes;
            const auto bit = static_cast<std::size_t>(draw.below(static_cast<int>(8 * bytes.size())));
            flipped[bit / 8] = static_cast<char>(flipped[bit / 8] ^ (1 << bit % 8));
            tally.expect(!try_bytes(flipped, sound, draw), "a flipped bit is noticed", "bit %zu of byte %zu", bit % 8,
                         bit / 8);
            set_checksum(flipped);
            taken += try_bytes(flipped, sound, draw);
            // Numbers of the structure, several at a time.
            std::string changed = bytes;
            for (int n = draw.below(3); n >= 0; --n) {
                const std::size_t at = some_number_at(changed, draw);
                const std::int32_t odd[] = {0, 1, -1, -2, 2, INT32_MIN, INT32_MAX, 7, 8, draw.below(100), -draw.below(100)};
                const std::int32_t value = odd[draw.below(11)];
                std::memcpy(changed.data() + at, &value, 4);
            }
            set_checksum(changed);
            taken += try_bytes(changed, sound, draw);
            // Anything at all.
            std::string random(static_cast<std::size_t>(draw.below(3000)), '\0');
            for (char& c : random) c = static_cast<char>(draw.below(256));
            if (draw.chance(0.5))
                random.replace(0, std::min(random.size(), kBodyAt), bytes.substr(0, std::min(random.size(), kBodyAt)));
            set_checksum(random);
            tally.expect(!try_bytes(random, sound, draw), "random bytes are refused");
        }
        tally.expect(taken > 0, "some changes are not seen, and do no harm");
    }
}

// ---- Trees that no builder makes.

// Sound in structure, but with volumes, sizes and units that no builder makes: also where there is no child or triangle.
template <class Tree>
void make_odd(Tree& tree, Draw& draw) {
    const auto odd = [&](float& number) {
        const float numbers[] = {NAN, INFINITY, -INFINITY, 0.0f, 1e30f, -1e30f, 1e-40f, static_cast<float>(draw.normal())};
        number = numbers[draw.below(8)];
    };
    const double share = draw.power(-3, 0);
    for (auto& node : tree.nodes)
        for (int k = 0; k < Tree::width; ++k) {
            for (auto& row : node.centre)
                if (draw.chance(share)) odd(row[k]);
            for (auto& row : node.half)
                if (draw.chance(share)) odd(row[k]);
            if (draw.chance(share)) odd(node.size[k]);
            if (k < node.count || !draw.chance(0.5)) continue;
            for (auto& row : node.centre) row[k] = 0.0f;
            node.child[k] = draw.chance(0.5) ? INT32_MIN : draw.below(1000000);
        }
    if (draw.chance(share)) odd(tree.root_size);
    if (draw.chance(share)) odd(tree.root.centre.x), odd(tree.root.half.y);
    if (draw.chance(share)) tree.centre.x = draw.chance(0.5) ? NAN : 1e300;
    if (draw.chance(share)) tree.unit = draw.power(-320, 30);
    if constexpr (Tree::width == 8)
        for (WideLeaf& leaf : tree.leaves)
            for (int k = 0; k < kLeafTriangles; ++k) {
                if (draw.chance(share)) odd(leaf.vertex[draw.below(9)][k]);
                if (draw.chance(share)) odd(leaf.centre[draw.below(3)][k]);
                if (k >= leaf.count)
                    leaf.triangle[k] = draw.below(1000000), leaf.centre[0][k] = leaf.centre[1][k] = leaf.centre[2][k] = 0.0f;
            }
}

void check_odd_trees(Draw& draw, int count) {
    const Mesh sound = bumpy(draw, 4, 6).built(VolumeKind::rss);
    tally.context = "odd trees";
    for (int k = 0; k < count; ++k) {
        Mesh mesh = (draw.chance(0.5) ? bumpy(draw, 3, 4) : copies(draw, 20, draw.below(10))).built(VolumeKind::rss);
        make_odd(mesh.boxes, draw);
        make_odd(*mesh.rss, draw);
        try_bytes(bytes_of(mesh), sound, draw);
    }
}

}  // namespace

int main(int argc, char** argv) {
    const int effort = argc > 1 ? std::atoi(argv[1]) : 1;
    Draw draw(argc > 2 ? std::strtoul(argv[2], nullptr, 10) : 1);
    const auto wanted = [&](const char* part) { return argc <= 3 || std::strcmp(argv[3], part) == 0; };
    for (int round = 0; round < effort; ++round) {
        if (wanted("odd")) check_odd_trees(draw, 150);
        if (wanted("files")) check_files(draw, 60);
    }
    return tally.finish();
}
