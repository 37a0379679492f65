#include "query/raycast.hpp"

#include <algorithm>
#include <bit>
#include <mutex>

#include "parallel/pool.hpp"

namespace clearance {
namespace {

constexpr double kInfinity = std::numeric_limits<double>::infinity();
constexpr double kNaN = std::numeric_limits<double>::quiet_NaN();

// A tree whose boxes reach this many times as far as half of them do would be no good to that half: what rounding takes is
// relative to the whole.
constexpr double kMostReach = 4096.0;
constexpr std::size_t kWorthATree = 3;

// Rays in a row that begin with what the one before has hit. It must not depend on the number of threads: of several things
// in range, which one of them is found may depend on it.
constexpr std::size_t kBlock = 256;

Vec3d column(const Vec3d* row, int k) {
    return k == 0   ? Vec3d{row[0].x, row[1].x, row[2].x}
           : k == 1 ? Vec3d{row[0].y, row[1].y, row[2].y}
                    : Vec3d{row[0].z, row[1].z, row[2].z};
}

// A power of two that brings a positive number to between one and two.
double scale_of(double number) {
    const std::uint64_t exponent = std::bit_cast<std::uint64_t>(number) >> 52;
    if (exponent == 0 || exponent > 2044) return std::ldexp(1.0, -std::ilogb(number));
    return std::bit_cast<double>((2046 - exponent) << 52);
}

// The largest number that gives no more than `range` when it is multiplied by `length`, rounding included: so what was found
// at a distance is found again within that range.
double last_within(double range, double length) {
    double last = range / length;
    while (last * length > range) last = std::nextafter(last, 0.0);
    for (double next; (next = std::nextafter(last, kInfinity)) * length <= range;) last = next;
    return last;
}

}  // namespace

// ---- Where things stand.

RayTarget::RayTarget(std::vector<std::shared_ptr<const Body>> bodies, const std::vector<Pose>& poses)
    : bodies_(std::move(bodies)) {
    for (const auto& body : bodies_) {
        first_part_.push_back(static_cast<std::int32_t>(parts_.size()));
        for (const Part& part : body->parts()) {
            PlacedRayPart placed{};
            placed.part = &part;
            placed.body = static_cast<std::int32_t>(first_part_.size() - 1);
            placed.index = static_cast<std::int32_t>(parts_.size()) - first_part_.back();
            if (const auto* convex = std::get_if<Convex>(&part.shape)) {
                constexpr Kind kinds[] = {Kind::element, Kind::box,       Kind::cylinder,
                                          Kind::cone,    Kind::ellipsoid, Kind::swept};
                placed.kind = kinds[convex->core.index()];
                const bool is_round = convex->radius > 0.0 && !is_element(convex->core);
                if (is_round && placed.kind != Kind::ellipsoid) placed.kind = Kind::swept;
                placed.in_frame = ball_around(convex->core).centre;
                if (const Element* element = element_of(part)) {
                    placed.element = *element;
                    for (Vec3d& vertex : placed.element.vertex) vertex = vertex - placed.in_frame;
                }
                if (const Box* box = std::get_if<Box>(&convex->core)) placed.box.half = box->half;
            } else if (const Surface* surface = surface_of(part)) {
                placed.kind = Kind::mesh;
                placed.in_frame = surface->mesh->boxes.centre;
                placed.tree = &surface->mesh->rays->of(*surface->mesh);
            } else {
                placed.kind = Kind::half_space;
            }
            parts_.push_back(placed);
        }
    }
    first_part_.push_back(static_cast<std::int32_t>(parts_.size()));
    boxes_.resize(parts_.size());
    place(poses);
    build_trees();
}

void RayTarget::move(const std::vector<Pose>& poses) {
    const std::unique_lock<std::shared_mutex> alone(mutex_);
    place(poses);
    bool fits = true;
    for (RayTree& tree : trees_) fits = tree.refit(boxes_) && fits;
    if (!fits) build_trees();
}

void RayTarget::place(const std::vector<Pose>& poses) {
    for (std::size_t k = 0; k < parts_.size(); ++k) {
        PlacedRayPart& placed = parts_[k];
        const Pose at = poses[static_cast<std::size_t>(placed.body)] * placed.part->pose;
        for (int axis = 0; axis < 3; ++axis) placed.box.row[axis] = at.rotation.row[axis];
        placed.box.centre = at * placed.in_frame;
        boxes_[k] = box_around(placed);
    }
}

RayBox RayTarget::box_around(const PlacedRayPart& placed) const {
    const Vec3d& c = placed.box.centre;
    const Vec3d(&row)[3] = placed.box.row;
    const auto around = [&](const Vec3d& half) { return RayBox{c - half, c + half}; };
    const auto reach = [](const Vec3d& row, const Vec3d& half) {
        return abs_of(row.x) * half.x + abs_of(row.y) * half.y + abs_of(row.z) * half.z;
    };
    if (placed.kind == Kind::half_space) return around({kInfinity, kInfinity, kInfinity});
    if (placed.kind == Kind::box) {
        const Vec3d& half = placed.box.half;
        return around({reach(row[0], half), reach(row[1], half), reach(row[2], half)});
    }
    if (placed.kind == Kind::mesh) {
        const Mesh& mesh = *surface_of(*placed.part)->mesh;
        const Volume<float>& root = mesh.boxes.root;
        const auto doubles = [](const Vec3<float>& v) { return Vec3d{v.x, v.y, v.z}; };
        const Vec3d middle = c + mesh.boxes.unit * placed.to_world(doubles(root.centre));
        Vec3d half{mesh.radius, mesh.radius, mesh.radius};
        for (int k = 0; k < 3; ++k) {
            const Vec3d axis = placed.to_world(doubles(root.axis[k]));
            const double length = mesh.boxes.unit * (k == 0 ? root.half.x : k == 1 ? root.half.y : root.half.z);
            half = half + length * Vec3d{abs_of(axis.x), abs_of(axis.y), abs_of(axis.z)};
        }
        return {middle - half, middle + half};
    }
    const auto& [core, radius] = std::get<Convex>(placed.part->shape);
    const auto highest = [&](const Vec3d& along) { return dot(along, support(core, along) - placed.in_frame) + radius; };
    return {c - Vec3d{highest(-row[0]), highest(-row[1]), highest(-row[2])},
            c + Vec3d{highest(row[0]), highest(row[1]), highest(row[2])}};
}

// A tree takes what is not much farther from the middle than half of all parts; the rest makes another one.
void RayTarget::build_trees() {
    trees_.clear(), apart_.clear();
    std::vector<std::int32_t> left;
    for (std::size_t k = 0; k < parts_.size(); ++k)
        (parts_[k].kind == Kind::half_space ? apart_ : left).push_back(static_cast<std::int32_t>(k));
    while (left.size() >= kWorthATree) {
        const auto box = [&](std::int32_t k) -> const RayBox& { return boxes_[static_cast<std::size_t>(k)]; };
        const auto median = [&](auto get) {
            std::vector<double> numbers;
            for (const std::int32_t k : left)
                numbers.push_back(get(box(k).low) + 0.5 * (get(box(k).high) - get(box(k).low)));
            std::nth_element(numbers.begin(), numbers.begin() + numbers.size() / 2, numbers.end());
            return numbers[numbers.size() / 2];
        };
        const Vec3d middle{median([](const Vec3d& v) { return v.x; }), median([](const Vec3d& v) { return v.y; }),
                           median([](const Vec3d& v) { return v.z; })};
        const auto reach = [&](std::int32_t k) {
            return max_of(largest(box(k).low - middle), largest(box(k).high - middle));
        };
        std::vector<double> reaches;
        for (const std::int32_t k : left) reaches.push_back(reach(k));
        std::nth_element(reaches.begin(), reaches.begin() + reaches.size() / 2, reaches.end());
        const double most = kMostReach * reaches[reaches.size() / 2];
        const auto rest = std::stable_partition(left.begin(), left.end(), [&](std::int32_t k) { return reach(k) <= most; });
        trees_.emplace_back(boxes_, std::vector<std::int32_t>(left.begin(), rest));
        left.erase(left.begin(), rest);
    }
    apart_.insert(apart_.end(), left.begin(), left.end());
}

// ---- Rays in packets.

class RayCaster {
public:
    RayCaster(const RayTarget& target, const RayRules& rules) : target_(target), rules_(rules) {}

    // Stops at a row that is no ray, and tells which it is; else gives the end.
    std::size_t cast(const RayRows& rays, const RayColumns& out, std::size_t begin, std::size_t end) {
        for (std::size_t row = begin; row < end; row += kPacket) {
            if (row % kBlock == 0) guess_ = Guess{};
            const int count = static_cast<int>(std::min<std::size_t>(kPacket, end - row));
            for (int k = 0; k < count; ++k)
                if (!read(rays, row + static_cast<std::size_t>(k), k)) return row + static_cast<std::size_t>(k);
            search(row, count);
            for (int k = 0; k < count; ++k) write(k, out, row + static_cast<std::size_t>(k));
        }
        return end;
    }

    Work work;

private:
    using Kind = RayTarget::Kind;
    using PlacedRayPart = RayTarget::PlacedRayPart;
    static constexpr std::int32_t kNothing = std::numeric_limits<std::int32_t>::max();
    static constexpr int kInside = -1;  // a piece

    // A ray about the middle of something: the point nearest to it, and where on the ray that is.
    struct Nearby {
        Vec3d from;
        double at;
    };

    // What a ray has hit first so far.
    struct Found {
        std::int32_t part, feature;
        int piece;
        Vec3d normal;  // in the world, where the search has found it
    };

    // What to begin with: what the rays before have hit.
    struct Guess {
        std::int32_t part = -1, feature = -1;
    };

    bool read(const RayRows& rays, std::size_t row, int k) {
        const double* o = rays.origins + row * rays.origin_stride;
        const double* d = rays.directions + row * rays.direction_stride;
        const Vec3d origin{o[0], o[1], o[2]};
        Vec3d along{d[0], d[1], d[2]};
        const double range = rays.ranges[row * rays.range_stride], size = largest(along);
        // Comparisons with NaN do not hold; largest() may pass over one, a sum does not.
        const bool is_ray = largest(origin) <= kLargestLength && abs_of(o[0] + o[1] + o[2]) < kInfinity && size > 0.0 &&
                            size < kInfinity && range >= 0.0;
        if (!is_ray) return false;
        along = scale_of(size) * along;
        const double length_sq = norm_sq(along);
        if (!(length_sq < kInfinity)) return false;
        const double length = std::sqrt(length_sq);
        packet_.origin[0][k] = origin.x, packet_.origin[1][k] = origin.y, packet_.origin[2][k] = origin.z;
        packet_.along[0][k] = along.x, packet_.along[1][k] = along.y, packet_.along[2][k] = along.z;
        packet_.length[k] = length, packet_.per_length_sq[k] = 1.0 / length_sq;
        packet_.at[k] = range < kInfinity ? last_within(range, length) : range;
        found_[k].part = found_[k].feature = kNothing;
        return true;
    }

    bool has_hit(int k) const { return found_[k].part != kNothing; }

    void search(std::size_t row, int count) {
        const unsigned active = (1u << count) - 1u;
        if (rules_.hint_index != nullptr)
            for (int k = 0; k < count; ++k) {
                const std::size_t own = row + static_cast<std::size_t>(k);
                begin_with(1u << k, rules_.hint_index[own], rules_.hint_feature[own]);
            }
        if (guess_.part >= 0) begin_with(waiting(active), guess_);
        for (const std::int32_t item : target_.apart_) meet(item, waiting(active));
        for (const RayTree& tree : target_.trees_) search_tree(tree, waiting(active));
        // A fine mesh shows every ray another triangle: trying the one before is worth while only where that is not so.
        const Found &last = found_[count - 1], &middle = found_[(count - 1) / 2];
        const bool again = has_hit(count - 1) && last.part == middle.part && last.feature == middle.feature;
        guess_ = again ? Guess{last.part, last.feature} : Guess{};
    }

    // Rays that still look for something.
    unsigned waiting(unsigned rays) const {
        if (rules_.any)
            for (unsigned left = rays; left != 0; left &= left - 1)
                if (has_hit(__builtin_ctz(left))) rays &= ~(left & -left);
        return rays;
    }

    // A feature of a mesh is tried by itself.
    void begin_with(unsigned rays, const Guess& guess) {
        const PlacedRayPart& part = part_of(guess.part);
        if (part.kind != Kind::mesh) return meet(guess.part, rays);
        const Mesh& mesh = *surface_of(*part.part)->mesh;
        const auto features = static_cast<std::int32_t>(mesh.is_cloud() ? mesh.vertices.size() : mesh.faces.size());
        if (is_ignored(part) || guess.feature < 0 || guess.feature >= features) return;
        MeshRays turned;
        for (; rays != 0; rays &= rays - 1) {
            const int k = __builtin_ctz(rays);
            set(turned, k, guess.part, part);
            if (meet_feature(mesh, guess.feature, k, turned)) take(k, turned.best[k], guess.part, part);
        }
    }

    void begin_with(unsigned rays, std::int32_t index, std::int32_t feature) {
        const auto count = static_cast<std::int32_t>(rules_.by_part ? target_.parts_.size() : target_.bodies_.size());
        if (index < 0 || index >= count) return;
        const std::int32_t first = rules_.by_part ? index : target_.first_part_[static_cast<std::size_t>(index)];
        const std::int32_t end = rules_.by_part ? first + 1 : target_.first_part_[static_cast<std::size_t>(index) + 1];
        if (end == first + 1) begin_with(rays, Guess{first, feature});
    }

    void search_tree(const RayTree& tree, unsigned active) {
        per_unit_ = tree.per_unit();
        active &= kernels_.approach(packet_, tree.centre(), per_unit_, tree_at_, boxes_);
        if (active == 0) return;
        const ItemVisitor visitor{this, [](void* caster, unsigned rays, std::int32_t item) {
                                      static_cast<RayCaster*>(caster)->visit(rays, item);
                                  }};
        RayCounts counts;
        kernels_.through_world(tree.nodes(), active, boxes_, visitor, counts);
        work.volume_tests += counts.nodes;
    }

    void visit(unsigned rays, std::int32_t item) {
        meet(item, rays);
        for (; rays != 0; rays &= rays - 1) {
            const int k = __builtin_ctz(rays);
            if (!has_hit(k)) continue;
            boxes_.last[k] = rules_.any ? -std::numeric_limits<float>::infinity()
                                        : bound_on_ray(packet_.at[k], tree_at_[k], per_unit_, 1.0);
        }
    }

    const PlacedRayPart& part_of(std::int32_t k) const { return target_.parts_[static_cast<std::size_t>(k)]; }

    bool is_ignored(const PlacedRayPart& part) const {
        return rules_.ignored != nullptr && rules_.ignored[static_cast<std::size_t>(part.body)] != 0;
    }

    Nearby nearby(int k, const PlacedRayPart& part) const {
        const Vec3d from = packet_.origin_of(k) - part.box.centre, along = packet_.along_of(k);
        if (part.kind == Kind::half_space) return {from, 0.0};
        const double at = -dot(from, along) * packet_.per_length_sq[k];
        return {from + at * along, at};
    }

    Line line_of(int k, const PlacedRayPart& part, const Nearby& near) const {
        return {part.to_frame(near.from), part.to_frame(packet_.along_of(k))};
    }

    void meet(std::int32_t item, unsigned rays) {
        const PlacedRayPart& part = part_of(item);
        if (rays == 0 || is_ignored(part)) return;
        if (part.kind == Kind::mesh) return meet_mesh(item, part, rays);
        work.element_tests += __builtin_popcount(rays);
        if (part.kind == Kind::box) return meet_box(item, part, rays);
        for (; rays != 0; rays &= rays - 1) meet_solid(__builtin_ctz(rays), item, part);
    }

    void meet_box(std::int32_t item, const PlacedRayPart& part, unsigned rays) {
        BoxChords chords;
        kernels_.meet_box(packet_, part.box, chords);
        for (; rays != 0; rays &= rays - 1) {
            const int k = __builtin_ctz(rays);
            consider(k, {chords.first[k], chords.last[k], static_cast<int>(chords.piece[k])}, chords.offset[k], item);
        }
    }

    void meet_solid(int k, std::int32_t item, const PlacedRayPart& part) {
        const Nearby near = nearby(k, part);
        const Line line = line_of(k, part, near);
        if (part.kind == Kind::swept) return meet_swept(k, item, part, near);
        consider(k, chord_with(part, line), near.at, item);
    }

    static Chord chord_with(const PlacedRayPart& part, Line line) {
        if (part.kind == Kind::element) return chord_of(part.element, line);
        if (part.kind == Kind::half_space) {
            const auto& [normal, offset] = std::get<HalfSpace>(part.part->shape);
            return half_chord(offset - dot(normal, line.from), -dot(normal, line.along), 0);
        }
        line.from = line.from + part.in_frame;
        const ConvexCore& core = std::get<Convex>(part.part->shape).core;
        if (part.kind == Kind::cylinder) return chord_of(std::get<Cylinder>(core), line);
        if (part.kind == Kind::cone) return chord_of(std::get<Cone>(core), line);
        return chord_of(std::get<Ellipsoid>(core), line);
    }

    void meet_swept(int k, std::int32_t item, const PlacedRayPart& part, const Nearby& near) {
        Line line = line_of(k, part, near);
        line.from = line.from + part.in_frame;
        const auto& [core, radius] = std::get<Convex>(part.part->shape);
        const double last = packet_.at[k] - near.at, rounding = 4.0 * kEpsilon * (abs_of(near.at) + abs_of(last));
        const Entry entry = entry_of(core, radius, line, -near.at, last < kInfinity ? last + rounding : last);
        work.iterations += entry.iterations;
        if (!entry.is_hit) return;
        const bool inside = norm_sq(entry.normal) == 0.0;
        if (consider(k, {inside ? -near.at : entry.at, kInfinity, 0}, near.at, item))
            found_[k].normal = part.to_world(entry.normal);
    }

    // Whether a chord begins before anything else that the ray has hit. What is compared is rounded to where it is on the
    // ray, so that the answer is the same in whatever order things are met.
    bool consider(int k, const Chord& chord, double offset, std::int32_t item) {
        if (chord.is_empty() || chord.last < -offset) return false;
        const bool inside = chord.first <= -offset;
        const double at = inside ? 0.0 : offset + chord.first;
        if (!(at < packet_.at[k] || (at == packet_.at[k] && item < found_[k].part))) return false;
        packet_.at[k] = at;
        found_[k].part = item, found_[k].feature = -1, found_[k].piece = inside ? kInside : chord.piece;
        return true;
    }

    void set(MeshRays& rays, int k, std::int32_t item, const PlacedRayPart& part) const {
        const Nearby near = nearby(k, part);
        const Found& found = found_[k];
        // What a number must be below to win where both are equally far away.
        const std::int32_t feature = item < found.part ? kNothing : item == found.part ? found.feature : -1;
        rays.line[k] = line_of(k, part, near), rays.offset[k] = near.at;
        rays.best[k] = {packet_.at[k], feature, {}};
        rays.any = rules_.any;
    }

    void take(int k, const FeatureHit& hit, std::int32_t item, const PlacedRayPart& part) {
        packet_.at[k] = hit.at;
        found_[k] = {item, hit.feature, 0, part.to_world(hit.normal)};
    }

    void meet_mesh(std::int32_t item, const PlacedRayPart& part, unsigned rays) {
        MeshRays turned;
        for (unsigned left = rays; left != 0; left &= left - 1) set(turned, __builtin_ctz(left), item, part);
        RayWork counts;
        unsigned found = clearance::meet(*surface_of(*part.part)->mesh, *part.tree, rays, turned, counts);
        for (; found != 0; found &= found - 1) take(__builtin_ctz(found), turned.best[__builtin_ctz(found)], item, part);
        work.volume_tests += counts.nodes, work.triangle_tests += counts.triangles;
    }

    void write(int k, const RayColumns& out, std::size_t row) const {
        const auto put = [row](double* to, const Vec3d& v) {
            to[3 * row] = v.x, to[3 * row + 1] = v.y, to[3 * row + 2] = v.z;
        };
        if (!has_hit(k)) {
            out.distance[row] = kInfinity, out.index[row] = out.feature[row] = -1;
            put(out.point, {kNaN, kNaN, kNaN}), put(out.normal, {kNaN, kNaN, kNaN});
            return;
        }
        const PlacedRayPart& part = part_of(found_[k].part);
        out.distance[row] = packet_.at[k] * packet_.length[k];
        out.index[row] = rules_.by_part ? part.index : part.body, out.feature[row] = found_[k].feature;
        put(out.point, packet_.origin_of(k) + packet_.at[k] * packet_.along_of(k)), put(out.normal, normal_at(k, part));
    }

    Vec3d normal_at(int k, const PlacedRayPart& part) const {
        const auto& [item, feature, piece, normal] = found_[k];
        const Vec3d along = packet_.along_of(k);
        if (part.kind == Kind::mesh) return normal;
        if (piece == kInside) return (-1.0 / packet_.length[k]) * along;
        if (part.kind == Kind::swept) return normal;
        if (part.kind == Kind::half_space) return part.to_world(std::get<HalfSpace>(part.part->shape).normal);
        if (part.kind == Kind::box) {
            const Vec3d axis = column(part.box.row, piece);
            return dot(axis, along) > 0.0 ? -axis : axis;
        }
        const Nearby near = nearby(k, part);
        Line line = line_of(k, part, near);
        const Chord chord{packet_.at[k] - near.at, packet_.at[k] - near.at, piece};
        if (part.kind == Kind::element) return part.to_world(normal_of(part.element, line, chord));
        line.from = line.from + part.in_frame;
        const ConvexCore& core = std::get<Convex>(part.part->shape).core;
        if (part.kind == Kind::cylinder) return part.to_world(normal_of(std::get<Cylinder>(core), line, chord));
        if (part.kind == Kind::cone) return part.to_world(normal_of(std::get<Cone>(core), line, chord));
        return part.to_world(normal_of(std::get<Ellipsoid>(core), line, chord));
    }

    const RayTarget& target_;
    const RayRules& rules_;
    const RayKernels& kernels_ = ray_kernels();
    RayPacket packet_{};
    Found found_[kPacket];
    Guess guess_;

    // The tree that is being searched: its unit, and where on the rays they are nearest to its centre.
    double per_unit_ = 1.0, tree_at_[kPacket];
    BoxRays boxes_;
};

std::size_t RayTarget::cast(const RayRows& rays, const RayRules& rules, const RayColumns& out, Work& work) const {
    const std::shared_lock<std::shared_mutex> standing(mutex_);
    std::mutex sums;
    std::size_t first_bad = rays.count;
    Pool::shared().for_rows(rays.count, kBlock, rules.threads, [&](std::size_t begin, std::size_t end) {
        RayCaster caster(*this, rules);
        const std::size_t stopped = caster.cast(rays, out, begin, end);
        const std::lock_guard<std::mutex> alone(sums);
        work += caster.work;
        if (stopped < end) first_bad = std::min(first_bad, stopped);
    });
    return first_bad;
}

}  // namespace clearance
