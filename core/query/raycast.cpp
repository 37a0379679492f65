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

Vec3d column(const Mat3& m, int k) {
    return k == 0   ? Vec3d{m.row[0].x, m.row[1].x, m.row[2].x}
           : k == 1 ? Vec3d{m.row[0].y, m.row[1].y, m.row[2].y}
                    : Vec3d{m.row[0].z, m.row[1].z, m.row[2].z};
}

// A power of two that brings a positive number to between one and two.
double scale_of(double number) {
    const std::uint64_t exponent = std::bit_cast<std::uint64_t>(number) >> 52;
    if (exponent == 0 || exponent > 2044) return std::ldexp(1.0, -std::ilogb(number));
    return std::bit_cast<double>((2046 - exponent) << 52);
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
                constexpr Kind kinds[] = {Kind::element, Kind::box, Kind::cylinder, Kind::cone, Kind::ellipsoid, Kind::swept};
                placed.kind = kinds[convex->core.index()];
                const bool is_round = convex->radius > 0.0 && !is_element(convex->core);
                if (is_round && placed.kind != Kind::ellipsoid) placed.kind = Kind::swept;
                placed.in_frame = ball_around(convex->core).centre;
                if (const Element* element = element_of(part)) {
                    placed.element = *element;
                    for (Vec3d& vertex : placed.element.vertex) vertex = vertex - placed.in_frame;
                }
                if (const Box* box = std::get_if<Box>(&convex->core)) placed.element.vertex[0] = box->half;
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
        placed.rotation = at.rotation;
        placed.centre = at * placed.in_frame;
        boxes_[k] = box_around(placed);
    }
}

RayBox RayTarget::box_around(const PlacedRayPart& placed) const {
    const Vec3d& c = placed.centre;
    const Mat3& r = placed.rotation;
    const auto around = [&](const Vec3d& half) { return RayBox{c - half, c + half}; };
    const auto reach = [](const Vec3d& row, const Vec3d& half) {
        return abs_of(row.x) * half.x + abs_of(row.y) * half.y + abs_of(row.z) * half.z;
    };
    if (placed.kind == Kind::half_space) return around({kInfinity, kInfinity, kInfinity});
    if (placed.kind == Kind::box) {
        const Vec3d& half = placed.element.vertex[0];
        return around({reach(r.row[0], half), reach(r.row[1], half), reach(r.row[2], half)});
    }
    if (placed.kind == Kind::mesh) {
        const Mesh& mesh = *surface_of(*placed.part)->mesh;
        const Volume<float>& root = mesh.boxes.root;
        const auto doubles = [](const Vec3<float>& v) { return Vec3d{v.x, v.y, v.z}; };
        const Vec3d middle = c + mesh.boxes.unit * (r * doubles(root.centre));
        Vec3d half{mesh.radius, mesh.radius, mesh.radius};
        for (int k = 0; k < 3; ++k) {
            const Vec3d axis = r * doubles(root.axis[k]);
            const double length = mesh.boxes.unit * (k == 0 ? root.half.x : k == 1 ? root.half.y : root.half.z);
            half = half + length * Vec3d{abs_of(axis.x), abs_of(axis.y), abs_of(axis.z)};
        }
        return {middle - half, middle + half};
    }
    const auto& [core, radius] = std::get<Convex>(placed.part->shape);
    const auto highest = [&](const Vec3d& along) { return dot(along, support(core, along) - placed.in_frame) + radius; };
    return {c - Vec3d{highest(-r.row[0]), highest(-r.row[1]), highest(-r.row[2])},
            c + Vec3d{highest(r.row[0]), highest(r.row[1]), highest(r.row[2])}};
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
            for (const std::int32_t k : left) numbers.push_back(get(box(k).low) + 0.5 * (get(box(k).high) - get(box(k).low)));
            std::nth_element(numbers.begin(), numbers.begin() + numbers.size() / 2, numbers.end());
            return numbers[numbers.size() / 2];
        };
        const Vec3d middle{median([](const Vec3d& v) { return v.x; }), median([](const Vec3d& v) { return v.y; }),
                           median([](const Vec3d& v) { return v.z; })};
        const auto reach = [&](std::int32_t k) { return max_of(largest(box(k).low - middle), largest(box(k).high - middle)); };
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
            if (row % kBlock == 0) first_guess_ = Guess{};
            const int count = static_cast<int>(std::min<std::size_t>(kPacket, end - row));
            for (int k = 0; k < count; ++k)
                if (!ray_[k].read(rays, row + static_cast<std::size_t>(k))) return row + static_cast<std::size_t>(k);
            search(row, count);
            for (int k = 0; k < count; ++k) write(ray_[k], out, row + static_cast<std::size_t>(k));
        }
        return end;
    }

    Work work;

private:
    using Kind = RayTarget::Kind;
    using PlacedRayPart = RayTarget::PlacedRayPart;
    static constexpr std::int32_t kNothing = std::numeric_limits<std::int32_t>::max();
    static constexpr int kInside = -1;  // a piece

    // The ray about the middle of something: the point nearest to it, and where on the ray that is.
    struct Nearby {
        Vec3d from;
        double at;
    };

    // A ray, of which the direction is about one long, and the first hit so far: where, in multiples of the direction, and
    // of what.
    struct Ray {
        Vec3d origin, along;
        double length, per_length_sq, range;
        double at;
        std::int32_t part, feature;
        int piece;
        Vec3d normal;  // where the search has found it

        bool read(const RayRows& rays, std::size_t row) {
            const double* o = rays.origins + row * rays.origin_stride;
            const double* d = rays.directions + row * rays.direction_stride;
            origin = {o[0], o[1], o[2]}, along = {d[0], d[1], d[2]}, range = rays.ranges[row * rays.range_stride];
            const double size = largest(along);
            // Comparisons with NaN do not hold; largest() may pass over one, a sum does not.
            if (!(largest(origin) <= kLargestLength && size > 0.0 && size < kInfinity && range >= 0.0)) return false;
            if (!(abs_of(o[0] + o[1] + o[2]) < kInfinity) || is_nan(d[0]) || is_nan(d[1]) || is_nan(d[2])) return false;
            along = scale_of(size) * along;
            const double length_sq = norm_sq(along);
            length = std::sqrt(length_sq), per_length_sq = 1.0 / length_sq;
            at = range / length, part = kNothing, feature = kNothing;
            return true;
        }

        static bool is_nan(double number) { return number != number; }
        bool has_hit() const { return part != kNothing; }

        Nearby nearby(const Vec3d& centre) const {
            const Vec3d from = origin - centre;
            const double nearest = -dot(from, along) * per_length_sq;
            return {from + nearest * along, nearest};
        }

        // What a number of the same part must be below to win where both are equally far away.
        std::int32_t feature_before(std::int32_t k) const { return k < part ? kNothing : k == part ? feature : -1; }

        bool consider(double here, std::int32_t k, int on_piece) {
            if (!(here < at || (here == at && k < part))) return false;
            at = here, part = k, feature = -1, piece = on_piece;
            return true;
        }
        void take(const FeatureHit& hit, std::int32_t k, const Mat3& rotation) {
            at = hit.at, part = k, feature = hit.feature, piece = 0, normal = rotation * hit.normal;
        }
    };

    // What to begin with: what the ray before has hit.
    struct Guess {
        std::int32_t part = -1, feature = -1;
    };

    void search(std::size_t row, int count) {
        active_ = (1u << count) - 1u;
        for (int k = 0; k < count; ++k) {
            if (rules_.hint_index != nullptr) {
                const std::size_t own = row + static_cast<std::size_t>(k);
                begin_with(k, rules_.hint_index[own], rules_.hint_feature[own]);
            }
            if (first_guess_.part >= 0) begin_with(k, first_guess_);
        }
        for (const std::int32_t item : target_.apart_) meet(item, waiting(active_));
        for (const RayTree& tree : target_.trees_) search_tree(tree, waiting(active_));
        // A fine mesh shows every ray another triangle: trying the one before is worth while only where that is not so.
        const Ray &last = ray_[count - 1], &middle = ray_[(count - 1) / 2];
        const bool again = last.has_hit() && last.part == middle.part && last.feature == middle.feature;
        first_guess_ = again ? Guess{last.part, last.feature} : Guess{};
    }

    // Rays that still look for something.
    unsigned waiting(unsigned rays) const {
        if (rules_.any)
            for (int k = 0; k < kPacket; ++k)
                if ((rays >> k & 1u) != 0 && ray_[k].has_hit()) rays &= ~(1u << k);
        return rays;
    }

    // A feature of a mesh is tried by itself.
    void begin_with(int k, const Guess& guess) {
        const PlacedRayPart& part = part_of(guess.part);
        if (is_ignored(part)) return;
        if (part.kind != Kind::mesh) return meet_solid(ray_[k], guess.part, part);
        const Mesh& mesh = *surface_of(*part.part)->mesh;
        const auto features = static_cast<std::int32_t>(mesh.is_cloud() ? mesh.vertices.size() : mesh.faces.size());
        if (guess.feature < 0 || guess.feature >= features) return;
        MeshRays rays;
        set(rays, k, guess.part, part);
        if (meet_feature(mesh, guess.feature, k, rays)) ray_[k].take(rays.best[k], guess.part, part.rotation);
    }

    void begin_with(int k, std::int32_t index, std::int32_t feature) {
        const auto count = static_cast<std::int32_t>(rules_.by_part ? target_.parts_.size() : target_.bodies_.size());
        if (index < 0 || index >= count) return;
        const std::int32_t first = rules_.by_part ? index : target_.first_part_[static_cast<std::size_t>(index)];
        const std::int32_t end = rules_.by_part ? first + 1 : target_.first_part_[static_cast<std::size_t>(index) + 1];
        if (end == first + 1) begin_with(k, Guess{first, feature});
    }

    void search_tree(const RayTree& tree, unsigned active) {
        tree_ = &tree;
        unsigned near_tree = 0;
        for (; active != 0; active &= active - 1) {
            const int k = __builtin_ctz(active);
            const Nearby near = ray_[k].nearby(tree.centre());
            const Vec3d from = tree.per_unit() * near.from;
            if (!(largest(from) <= 4.0)) continue;
            tree_at_[k] = near.at;
            boxes_.set(k, box_ray(from, ray_[k].along, bound_of(k, 0.0, -1.0), bound_of(k, ray_[k].at, 1.0)));
            near_tree |= 1u << k;
        }
        if (near_tree == 0) return;
        const ItemVisitor visitor{this, [](void* caster, unsigned rays, std::int32_t item) {
                                      static_cast<RayCaster*>(caster)->visit(rays, item);
                                  }};
        RayCounts counts;
        ray_kernels().through_world(tree.nodes(), near_tree, boxes_, visitor, counts);
        work.volume_tests += counts.nodes;
    }

    void visit(unsigned rays, std::int32_t item) {
        meet(item, rays);
        for (; rays != 0; rays &= rays - 1) {
            const int k = __builtin_ctz(rays);
            boxes_.last[k] = rules_.any && ray_[k].has_hit() ? -std::numeric_limits<float>::infinity()
                                                             : bound_of(k, ray_[k].at, 1.0);
        }
    }

    float bound_of(int k, double at, double outward) const {
        return bound_on_ray(at, tree_at_[k], tree_->per_unit(), outward);
    }

    const PlacedRayPart& part_of(std::int32_t k) const { return target_.parts_[static_cast<std::size_t>(k)]; }

    bool is_ignored(const PlacedRayPart& part) const {
        return rules_.ignored != nullptr && rules_.ignored[static_cast<std::size_t>(part.body)] != 0;
    }

    static Line line_of(const Ray& ray, const PlacedRayPart& part, const Nearby& near) {
        return {transposed_times(part.rotation, near.from), transposed_times(part.rotation, ray.along)};
    }

    void meet(std::int32_t item, unsigned rays) {
        const PlacedRayPart& part = part_of(item);
        if (rays == 0 || is_ignored(part)) return;
        if (part.kind == Kind::mesh) return meet_mesh(item, part, rays);
        for (; rays != 0; rays &= rays - 1) meet_solid(ray_[__builtin_ctz(rays)], item, part);
    }

    void meet_solid(Ray& ray, std::int32_t item, const PlacedRayPart& part) {
        ++work.element_tests;
        const bool is_endless = part.kind == Kind::half_space;
        const Nearby near = is_endless ? Nearby{ray.origin - part.centre, 0.0} : ray.nearby(part.centre);
        if (part.kind == Kind::swept) return meet_swept(ray, item, part, near);
        const Chord chord = chord_with(ray, part, near);
        if (chord.is_empty() || chord.last < -near.at) return;
        const bool inside = chord.first <= -near.at;
        ray.consider(inside ? 0.0 : near.at + chord.first, item, inside ? kInside : chord.piece);
    }

    static Chord chord_with(const Ray& ray, const PlacedRayPart& part, const Nearby& near) {
        Line line = line_of(ray, part, near);
        if (part.kind == Kind::box) return chord_of(Box{part.element.vertex[0]}, line);
        return other_chord(line, part);
    }

    static Chord other_chord(Line line, const PlacedRayPart& part) {
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

    void meet_swept(Ray& ray, std::int32_t item, const PlacedRayPart& part, const Nearby& near) {
        Line line = line_of(ray, part, near);
        line.from = line.from + part.in_frame;
        const auto& [core, radius] = std::get<Convex>(part.part->shape);
        const Entry entry = entry_of(core, radius, line, -near.at, ray.at - near.at);
        work.iterations += entry.iterations;
        if (!entry.is_hit) return;
        const bool inside = norm_sq(entry.normal) == 0.0;
        if (ray.consider(inside ? 0.0 : near.at + entry.at, item, inside ? kInside : 0))
            ray.normal = part.rotation * entry.normal;
    }

    void set(MeshRays& rays, int k, std::int32_t item, const PlacedRayPart& part) const {
        const Nearby near = ray_[k].nearby(part.centre);
        rays.line[k] = line_of(ray_[k], part, near), rays.offset[k] = near.at;
        rays.best[k] = {ray_[k].at, ray_[k].feature_before(item), {}};
        rays.any = rules_.any;
    }

    void meet_mesh(std::int32_t item, const PlacedRayPart& part, unsigned active) {
        MeshRays rays;
        for (unsigned left = active; left != 0; left &= left - 1) set(rays, __builtin_ctz(left), item, part);
        RayWork counts;
        unsigned found = clearance::meet(*surface_of(*part.part)->mesh, *part.tree, active, rays, counts);
        for (; found != 0; found &= found - 1)
            ray_[__builtin_ctz(found)].take(rays.best[__builtin_ctz(found)], item, part.rotation);
        work.volume_tests += counts.nodes, work.triangle_tests += counts.triangles;
    }

    void write(const Ray& ray, const RayColumns& out, std::size_t row) const {
        const auto put = [row](double* to, const Vec3d& v) {
            to[3 * row] = v.x, to[3 * row + 1] = v.y, to[3 * row + 2] = v.z;
        };
        if (!ray.has_hit()) {
            out.distance[row] = kInfinity, out.index[row] = out.feature[row] = -1;
            put(out.point, {kNaN, kNaN, kNaN}), put(out.normal, {kNaN, kNaN, kNaN});
            return;
        }
        const PlacedRayPart& part = part_of(ray.part);
        out.distance[row] = min_of(ray.at * ray.length, ray.range);
        out.index[row] = rules_.by_part ? part.index : part.body, out.feature[row] = ray.feature;
        put(out.point, ray.origin + ray.at * ray.along), put(out.normal, normal_at(ray, part));
    }

    static Vec3d normal_at(const Ray& ray, const PlacedRayPart& part) {
        if (part.kind == Kind::mesh) return ray.normal;
        if (ray.piece == kInside) return (-1.0 / ray.length) * ray.along;
        if (part.kind == Kind::swept) return ray.normal;
        if (part.kind == Kind::half_space) return part.rotation * std::get<HalfSpace>(part.part->shape).normal;
        if (part.kind == Kind::box) {
            const Vec3d normal = column(part.rotation, ray.piece);
            return dot(normal, ray.along) > 0.0 ? -normal : normal;
        }
        const Nearby near = ray.nearby(part.centre);
        Line line = line_of(ray, part, near);
        const Chord chord{ray.at - near.at, ray.at - near.at, ray.piece};
        if (part.kind == Kind::element) return part.rotation * normal_of(part.element, line, chord);
        line.from = line.from + part.in_frame;
        const ConvexCore& core = std::get<Convex>(part.part->shape).core;
        if (part.kind == Kind::cylinder) return part.rotation * normal_of(std::get<Cylinder>(core), line, chord);
        if (part.kind == Kind::cone) return part.rotation * normal_of(std::get<Cone>(core), line, chord);
        return part.rotation * normal_of(std::get<Ellipsoid>(core), line, chord);
    }

    const RayTarget& target_;
    const RayRules& rules_;
    Ray ray_[kPacket];
    unsigned active_ = 0;
    Guess first_guess_;

    const RayTree* tree_ = nullptr;  // that is being searched, and where on the rays they are nearest to its centre
    double tree_at_[kPacket];
    BoxRays boxes_;
};

std::size_t RayTarget::cast(const RayRows& rays, const RayRules& rules, const RayColumns& out, Work& work) const {
    const std::shared_lock<std::shared_mutex> standing(mutex_);
    std::mutex sums;
    std::size_t first_bad = rays.count;
    Pool::shared().for_blocks(rays.count, kBlock, rules.threads, [&](std::size_t begin, std::size_t end) {
        RayCaster caster(*this, rules);
        const std::size_t stopped = caster.cast(rays, out, begin, end);
        const std::lock_guard<std::mutex> alone(sums);
        work += caster.work;
        if (stopped < end) first_bad = std::min(first_bad, stopped);
    });
    return first_bad;
}

}  // namespace clearance
