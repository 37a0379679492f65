#include "bvh/mesh_file.hpp"

#include <cmath>
#include <cstring>
#include <span>
#include <stdexcept>

#include "bvh/subtree.hpp"
#include "math/pose.hpp"

namespace clearance {
namespace {

constexpr char kMagic[16] = "clearance mesh\n";
constexpr std::uint32_t kVersion = 1, kByteOrder = 0x01020304u;

struct Header {
    char magic[16];
    std::uint32_t version, byte_order;
    std::uint64_t checksum, vertices, faces, has_rss;
    Ball ball;
};

struct TreeHeader {
    Vec3d centre;
    double unit;
    Volume<float> root;
    float root_size;
    std::int32_t root_child;
    std::uint64_t nodes, leaves;
};

std::uint64_t checksum_of(const char* bytes, std::size_t count, std::uint64_t sum = 0x9e3779b97f4a7c15u) {
    for (; count >= 8; bytes += 8, count -= 8) {
        std::uint64_t word;
        std::memcpy(&word, bytes, 8);
        sum = (sum ^ word) * 0xff51afd7ed558ccdu;
        sum ^= sum >> 32;
    }
    for (; count > 0; ++bytes, --count) sum = (sum ^ static_cast<unsigned char>(*bytes)) * 0x100000001b3u;
    return sum;
}

// Of everything but the checksum itself, which counts as zero.
std::uint64_t checksum_without_own(Header header, const char* rest, std::size_t count) {
    static_assert(sizeof(Header) % 8 == 0);
    header.checksum = 0;
    return checksum_of(rest, count, checksum_of(reinterpret_cast<const char*>(&header), sizeof header));
}

[[noreturn]] void refuse(const std::string& what) { throw std::invalid_argument("not a sound mesh file: " + what + "."); }

class Writer {
public:
    template <class T>
    void put(const T* values, std::size_t count) {
        if (count > 0) bytes_.append(reinterpret_cast<const char*>(values), count * sizeof(T));
    }
    template <class TreeType>
    void put_tree(const TreeType& tree) {
        TreeHeader header;
        std::memset(static_cast<void*>(&header), 0, sizeof header);
        header.centre = tree.centre, header.unit = tree.unit, header.root = tree.root;
        header.root_size = tree.root_size, header.root_child = tree.root_child;
        header.nodes = tree.nodes.size(), header.leaves = tree.leaves.size();
        put(&header, 1);
        put(tree.nodes.data(), tree.nodes.size());
        put(tree.leaves.data(), tree.leaves.size());
    }
    std::string& bytes() { return bytes_; }

private:
    std::string bytes_;
};

class Reader {
public:
    Reader(const char* bytes, std::size_t count) : bytes_(bytes), left_(count) {}

    template <class T>
    T get() {
        T value;
        std::memcpy(static_cast<void*>(&value), take(1, sizeof(T)), sizeof(T));
        return value;
    }
    template <class T>
    void get(std::vector<T>& values, std::uint64_t count) {
        const char* from = take(count, sizeof(T));
        values.resize(count);
        if (count > 0) std::memcpy(static_cast<void*>(values.data()), from, count * sizeof(T));
    }
    std::size_t left() const { return left_; }

private:
    const char* take(std::uint64_t count, std::size_t size) {
        if (count > left_ / size) refuse("it ends too early");
        const char* from = bytes_;
        bytes_ += count * size, left_ -= count * size;
        return from;
    }
    const char* bytes_;
    std::size_t left_;
};

// ---- What a query relies on.

void mark(std::vector<bool>& seen, std::int64_t number, const char* what) {
    if (number < 0 || number >= static_cast<std::int64_t>(seen.size()) || seen[static_cast<std::size_t>(number)])
        refuse(std::string("a ") + what + " does not exist or occurs twice");
    seen[static_cast<std::size_t>(number)] = true;
}

void check_all(const std::vector<bool>& seen, const char* what) {
    for (const bool found : seen)
        if (!found) refuse(std::string("a ") + what + " is missing");
}

// A sum knows of NaN, unlike a maximum.
template <class Real>
bool is_within(const Vec3<Real>& v, double limit) {
    return static_cast<double>(abs_of(v.x) + abs_of(v.y) + abs_of(v.z)) <= 3.0 * limit;
}

void check_finite(std::span<const float> numbers) {
    for (const float number : numbers)
        if (!std::isfinite(number)) refuse("a number of the tree is not finite");
}

template <std::size_t Rows, std::size_t Columns>
void check_finite(const float (&numbers)[Rows][Columns]) {
    for (const auto& row : numbers) check_finite(std::span(row));
}

void check_leaf(const WideLeaf& leaf, std::vector<bool>& seen) {
    if (leaf.count < 1 || leaf.count > kLeafTriangles) refuse("a leaf has " + std::to_string(leaf.count) + " triangles");
    for (int k = 0; k < leaf.count; ++k) mark(seen, leaf.triangle[k], "triangle");
    for (int k = leaf.count; k < kLeafTriangles; ++k)
        if (leaf.triangle[k] != leaf.triangle[0]) refuse("a leaf names triangles that it does not have");
    check_finite(leaf.vertex), check_finite(leaf.normal), check_finite(leaf.centre), check_finite(std::span(leaf.radius));
}
void check_leaf(const OneTriangle& leaf, std::vector<bool>& seen) { mark(seen, leaf.triangle, "triangle"); }

// Searches do not ask whether a child is there: those that are not must be far away.
template <int W>
void check_volumes(const Node<W>& node) {
    check_finite(node.centre), check_finite(node.half), check_finite(node.axis);
    check_finite(std::span(node.sweep)), check_finite(std::span(node.size));
    const Node<W> empty = empty_node<W>(node.parent);
    for (int k = node.count; k < W; ++k) {
        bool is_empty = node.child[k] == Node<W>::kNone;
        for (int row = 0; row < 3; ++row)
            is_empty &= node.centre[row][k] == empty.centre[row][k] && node.half[row][k] == empty.half[row][k];
        for (int row = 0; row < 9; ++row) is_empty &= node.axis[row][k] == empty.axis[row][k];
        if (!is_empty) refuse("a node has children that it does not count");
    }
}

void check_root(const Vec3d& centre, const Volume<float>& root, float size) {
    const auto is_sane = [](const auto& v) { return is_within(v, 8.0 * kLargestLength); };
    const bool has_axes = is_sane(root.axis[0]) && is_sane(root.axis[1]) && is_sane(root.axis[2]);
    if (!(is_sane(centre) && is_sane(root.centre) && is_sane(root.half) && has_axes && size >= 0.0f &&
          size <= 8.0 * kLargestLength && root.sweep >= 0.0f && root.sweep <= 8.0 * kLargestLength))
        refuse("the root of the tree is not finite");
}

// Children stand after their parents, everything is referred to once, and parents are known to their children.
template <class TreeType>
void check_tree(const TreeType& tree, const Mesh& mesh) {
    check_root(tree.centre, tree.root, tree.root_size);
    if (!(tree.unit > 0.0 && tree.unit <= 4.0 * kLargestLength)) refuse("the unit of the tree is out of range");
    for (const Face& face : mesh.faces)
        for (const std::int32_t k : face)
            if (!is_within(mesh.vertices[static_cast<std::size_t>(k)] - tree.centre, tree.unit))
                refuse("a triangle lies outside of the tree");
    std::vector<bool> nodes(tree.nodes.size()), leaves(tree.leaves.size()), seen(mesh.faces.size());
    const auto visit = [&](std::int32_t child, std::int64_t parent_node, std::int32_t slot) {
        if (child < 0) return mark(leaves, ~static_cast<std::int64_t>(child), "leaf");
        mark(nodes, child, "node");
        if (child <= parent_node || tree.nodes[static_cast<std::size_t>(child)].parent != slot)
            refuse("the nodes make no tree");
    };
    visit(tree.root_child, -1, kRoot);
    for (std::size_t n = 0; n < tree.nodes.size(); ++n) {
        const auto& node = tree.nodes[n];
        if (node.count < 1 || node.count > TreeType::width) refuse("a node has no children or too many");
        check_volumes(node);
        for (int k = 0; k < node.count; ++k)
            visit(node.child[k], static_cast<std::int64_t>(n), static_cast<std::int32_t>(n) * TreeType::width + k);
    }
    for (const auto& leaf : tree.leaves) check_leaf(leaf, seen);
    check_all(nodes, "node"), check_all(leaves, "leaf");
}

template <class TreeType>
void get_tree(Reader& reader, const Mesh& mesh, TreeType& tree) {
    const auto header = reader.get<TreeHeader>();
    tree.centre = header.centre, tree.unit = header.unit, tree.root = header.root;
    tree.root_size = header.root_size, tree.root_child = header.root_child;
    reader.get(tree.nodes, header.nodes);
    reader.get(tree.leaves, header.leaves);
    check_tree(tree, mesh);
}

void check_geometry(const Mesh& mesh) {
    if (mesh.vertices.empty() || mesh.faces.empty()) refuse("it has no triangles");
    for (const Vec3d& v : mesh.vertices)
        if (!(largest(v) <= kLargestLength && is_within(v, kLargestLength))) refuse("a vertex is not finite");
    for (const Face& face : mesh.faces)
        for (const std::int32_t k : face)
            if (k < 0 || static_cast<std::size_t>(k) >= mesh.vertices.size()) refuse("a face refers to a missing vertex");
    if (!(mesh.ball.radius >= 0.0 && mesh.ball.radius <= 8.0 * kLargestLength &&
          is_within(mesh.ball.centre, 8.0 * kLargestLength)))
        refuse("its bounding ball is not finite");
}

}  // namespace

std::string bytes_of(const Mesh& mesh) {
    Writer writer;
    Header header;
    std::memset(static_cast<void*>(&header), 0, sizeof header);
    std::memcpy(header.magic, kMagic, sizeof kMagic);
    header.version = kVersion, header.byte_order = kByteOrder;
    header.vertices = mesh.vertices.size(), header.faces = mesh.faces.size(), header.has_rss = mesh.rss ? 1 : 0;
    header.ball = mesh.ball;
    writer.bytes().reserve(sizeof header + mesh.bytes() + 2 * sizeof(TreeHeader));
    writer.put(&header, 1);
    writer.put(mesh.vertices.data(), mesh.vertices.size());
    writer.put(mesh.faces.data(), mesh.faces.size());
    writer.put_tree(mesh.boxes);
    if (mesh.rss) writer.put_tree(*mesh.rss);
    std::string& bytes = writer.bytes();
    header.checksum = checksum_of(bytes.data(), bytes.size());
    std::memcpy(bytes.data(), static_cast<const void*>(&header), sizeof header);
    return std::move(bytes);
}

Mesh mesh_from_bytes(const char* bytes, std::size_t count) {
    Reader reader(bytes, count);
    const auto header = reader.get<Header>();
    if (std::memcmp(header.magic, kMagic, sizeof kMagic) != 0) refuse("it does not begin like one");
    if (header.version != kVersion) refuse("it is of version " + std::to_string(header.version) + ", not 1");
    if (header.byte_order != kByteOrder) refuse("it was written by a machine of another byte order");
    if (header.checksum != checksum_without_own(header, bytes + sizeof header, count - sizeof header))
        refuse("its checksum is wrong");
    Mesh mesh{};
    mesh.ball = header.ball;
    reader.get(mesh.vertices, header.vertices);
    reader.get(mesh.faces, header.faces);
    check_geometry(mesh);
    get_tree(reader, mesh, mesh.boxes);
    if (header.has_rss != 0) get_tree(reader, mesh, mesh.rss.emplace());
    if (reader.left() != 0) refuse("there are " + std::to_string(reader.left()) + " bytes too many");
    return mesh;
}

}  // namespace clearance
