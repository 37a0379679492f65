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

// ---- One ray after the other.

class RayCaster {
public:
    RayCaster(const RayTarget& target, const RayRules& rules) : target_(target), rules_(rules) {}

    void cast(const RayRows& rays, const RayColumns& out, std::size_t begin, std::size_t end, std::size_t& first_bad) {
        for (std::size_t row = begin; row < end; ++row) {
            if (row % kBlock == 0) last_part_ = seen_feature_ = -1;
            if (!read(rays, row)) {
                first_bad = row;
                return;
            }
            search(row);
            write(out, row);
        }
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
    Nearby nearby(const Vec3d& centre) const {
        const Vec3d from = origin_ - centre;
        const double at = -dot(from, along_) * per_length_sq_;
        return {from + at * along_, at};
    }

    bool read(const RayRows& rays, std::size_t row) {
        const double* o = rays.origins + row * rays.origin_stride;
        const double* d = rays.directions + row * rays.direction_stride;
        origin_ = {o[0], o[1], o[2]}, along_ = {d[0], d[1], d[2]};
        const double range = rays.ranges[row * rays.range_stride], size = largest(along_);
        // Comparisons with NaN do not hold; largest() may pass over one.
        const bool is_ray = largest(origin_) <= kLargestLength && size > 0.0 && size < kInfinity && range >= 0.0 &&
                            origin_.x == origin_.x && origin_.y == origin_.y && origin_.z == origin_.z &&
                            along_.x == along_.x && along_.y == along_.y && along_.z == along_.z;
        if (!is_ray) return false;
        along_ = scale_of(size) * along_;
        const double length_sq = norm_sq(along_);
        length_ = std::sqrt(length_sq), per_length_sq_ = 1.0 / length_sq;
        range_ = range;
        at_ = range / length_, part_ = kNothing, feature_ = kNothing;
        return true;
    }

    void search(std::size_t row) {
        if (rules_.hint_index != nullptr) begin_with(rules_.hint_index[row], rules_.hint_feature[row]);
        if (last_part_ >= 0) begin_with_part(last_part_, last_feature_);
        for (const std::int32_t k : target_.apart_)
            if (!is_done()) meet(k);
        for (const RayTree& tree : target_.trees_)
            if (!is_done()) search_tree(tree);
        // A fine mesh shows every ray another triangle: trying the one before is worth while only where that is not so.
        const bool again = part_ != kNothing && (feature_ < 0 || feature_ == seen_feature_);
        last_part_ = again ? part_ : -1, last_feature_ = seen_feature_ = feature_;
    }

    bool is_done() const { return rules_.any && part_ != kNothing; }

    // A feature of a mesh is tried by itself.
    void begin_with_part(std::int32_t k, std::int32_t feature) {
        const PlacedRayPart& part = target_.parts_[static_cast<std::size_t>(k)];
        if (part.kind != Kind::mesh) return meet(k);
        const Mesh& mesh = *surface_of(*part.part)->mesh;
        const auto features = static_cast<std::int32_t>(mesh.is_cloud() ? mesh.vertices.size() : mesh.faces.size());
        if (is_ignored(part) || feature < 0 || feature >= features) return;
        const Nearby near = nearby(part.centre);
        FeatureHit best{at_, feature_before(k)};
        if (meet_feature({mesh, line_of(part, near), near.at, rules_.any}, feature, best)) take(best.at, k, best.feature, 0);
    }

    void begin_with(std::int32_t index, std::int32_t feature) {
        const auto count = static_cast<std::int32_t>(rules_.by_part ? target_.parts_.size() : target_.bodies_.size());
        if (index < 0 || index >= count) return;
        const std::int32_t k = rules_.by_part ? index : target_.first_part_[static_cast<std::size_t>(index)];
        const std::int32_t end = rules_.by_part ? k + 1 : target_.first_part_[static_cast<std::size_t>(index) + 1];
        if (end == k + 1) begin_with_part(k, feature);
    }

    void search_tree(const RayTree& tree) {
        const Nearby near = nearby(tree.centre());
        tree_ = &tree, tree_at_ = near.at;
        const Vec3d from = tree.per_unit() * near.from;
        if (!(largest(from) <= 4.0)) return;
        const BoxRay boxes = box_ray(from, along_, bound_of(0.0, -1.0), bound_of(at_, 1.0));
        const ItemVisitor visitor{this, [](void* caster, std::int32_t item) {
                                      auto& self = *static_cast<RayCaster*>(caster);
                                      self.meet(item);
                                      return self.is_done() ? -std::numeric_limits<float>::infinity()
                                                            : self.bound_of(self.at_, 1.0);
                                  }};
        RayCounts counts;
        ray_kernels().through_world(tree.nodes(), boxes, visitor, counts);
        work.volume_tests += counts.nodes;
    }

    float bound_of(double at, double outward) const { return bound_on_ray(at, tree_at_, tree_->per_unit(), outward); }

    bool is_ignored(const PlacedRayPart& part) const {
        return rules_.ignored != nullptr && rules_.ignored[static_cast<std::size_t>(part.body)] != 0;
    }

    Line line_of(const PlacedRayPart& part, const Nearby& near) const {
        return {transposed_times(part.rotation, near.from), transposed_times(part.rotation, along_)};
    }

    // What a number of the same part must be below to win where both are equally far away.
    std::int32_t feature_before(std::int32_t k) const { return k < part_ ? kNothing : k == part_ ? feature_ : -1; }

    void meet(std::int32_t k) {
        const PlacedRayPart& part = target_.parts_[static_cast<std::size_t>(k)];
        if (is_ignored(part)) return;
        const Nearby near = part.kind == Kind::half_space ? Nearby{origin_ - part.centre, 0.0} : nearby(part.centre);
        if (part.kind == Kind::mesh) return meet_mesh(k, part, near);
        ++work.element_tests;
        if (part.kind == Kind::swept) return meet_swept(k, part, near);
        const Chord chord = chord_with(part, near);
        if (chord.is_empty() || chord.last < -near.at) return;
        const bool inside = chord.first <= -near.at;
        consider(inside ? 0.0 : near.at + chord.first, k, inside ? kInside : chord.piece);
    }

    Chord chord_with(const PlacedRayPart& part, const Nearby& near) const {
        if (part.kind == Kind::half_space) {
            const auto& [normal, offset] = std::get<HalfSpace>(part.part->shape);
            const Vec3d up = part.rotation * normal;
            return half_chord(offset - dot(up, near.from), -dot(up, along_), 0);
        }
        Line line = line_of(part, near);
        if (part.kind == Kind::box) return chord_of(Box{part.element.vertex[0]}, line);
        if (part.kind == Kind::element) return chord_of(part.element, line);
        line.from = line.from + part.in_frame;
        const ConvexCore& core = std::get<Convex>(part.part->shape).core;
        if (part.kind == Kind::cylinder) return chord_of(std::get<Cylinder>(core), line);
        if (part.kind == Kind::cone) return chord_of(std::get<Cone>(core), line);
        return chord_of(std::get<Ellipsoid>(core), line);
    }

    void meet_swept(std::int32_t k, const PlacedRayPart& part, const Nearby& near) {
        Line line = line_of(part, near);
        line.from = line.from + part.in_frame;
        const auto& [core, radius] = std::get<Convex>(part.part->shape);
        const Entry entry = entry_of(core, radius, line, -near.at, at_ - near.at);
        work.iterations += entry.iterations;
        if (!entry.is_hit) return;
        const bool inside = norm_sq(entry.normal) == 0.0;
        if (consider(inside ? 0.0 : near.at + entry.at, k, inside ? kInside : 0)) normal_ = part.rotation * entry.normal;
    }

    void meet_mesh(std::int32_t k, const PlacedRayPart& part, const Nearby& near) {
        FeatureHit best{at_, feature_before(k)};
        RayWork counts;
        if (clearance::meet({*surface_of(*part.part)->mesh, line_of(part, near), near.at, rules_.any}, *part.tree, best, counts))
            take(best.at, k, best.feature, 0);
        work.volume_tests += counts.nodes, work.triangle_tests += counts.triangles;
    }

    bool consider(double at, std::int32_t k, int piece) {
        if (!(at < at_ || (at == at_ && k < part_))) return false;
        take(at, k, -1, piece);
        return true;
    }

    void take(double at, std::int32_t k, std::int32_t feature, int piece) {
        at_ = max_of(at, 0.0), part_ = k, feature_ = feature, piece_ = piece;
    }

    void write(const RayColumns& out, std::size_t row) const {
        const auto put = [row](double* to, const Vec3d& v) {
            to[3 * row] = v.x, to[3 * row + 1] = v.y, to[3 * row + 2] = v.z;
        };
        if (part_ == kNothing) {
            out.distance[row] = kInfinity, out.index[row] = out.feature[row] = -1;
            put(out.point, {kNaN, kNaN, kNaN}), put(out.normal, {kNaN, kNaN, kNaN});
            return;
        }
        const PlacedRayPart& part = target_.parts_[static_cast<std::size_t>(part_)];
        out.distance[row] = min_of(at_ * length_, range_);
        out.index[row] = rules_.by_part ? part.index : part.body, out.feature[row] = feature_;
        put(out.point, origin_ + at_ * along_), put(out.normal, normal_at(part));
    }

    Vec3d normal_at(const PlacedRayPart& part) const {
        const Nearby near = nearby(part.centre);
        const Vec3d against = (-1.0 / length_) * along_;
        if (piece_ == kInside) return against;
        if (part.kind == Kind::swept) return normal_;
        if (part.kind == Kind::half_space) return part.rotation * std::get<HalfSpace>(part.part->shape).normal;
        if (part.kind == Kind::box) {
            const Vec3d normal = column(part.rotation, piece_);
            return dot(normal, along_) > 0.0 ? -normal : normal;
        }
        Line line = line_of(part, near);
        const Chord chord{at_ - near.at, at_ - near.at, piece_};
        if (part.kind == Kind::element) return part.rotation * normal_of(part.element, line, chord);
        if (part.kind == Kind::mesh) {
            const MeshRay ray{*surface_of(*part.part)->mesh, line, near.at, false};
            if (ray.mesh.is_cloud() && at_ == 0.0) return against;
            return part.rotation * normal_of(ray, FeatureHit{at_, feature_});
        }
        line.from = line.from + part.in_frame;
        const ConvexCore& core = std::get<Convex>(part.part->shape).core;
        if (part.kind == Kind::cylinder) return part.rotation * normal_of(std::get<Cylinder>(core), line, chord);
        if (part.kind == Kind::cone) return part.rotation * normal_of(std::get<Cone>(core), line, chord);
        return part.rotation * normal_of(std::get<Ellipsoid>(core), line, chord);
    }

    const RayTarget& target_;
    const RayRules& rules_;

    // The ray, of which the direction is about one long.
    Vec3d origin_{}, along_{};
    double length_ = 1.0, per_length_sq_ = 1.0, range_ = 0.0;

    // The first hit so far: where, in multiples of the direction, and of what.
    double at_ = 0.0;
    std::int32_t part_ = kNothing, feature_ = -1;
    int piece_ = 0;
    Vec3d normal_{};

    const RayTree* tree_ = nullptr;  // that is being searched
    double tree_at_ = 0.0;
    std::int32_t last_part_ = -1, last_feature_ = -1;  // to begin with: what the ray before has hit
    std::int32_t seen_feature_ = -1;
};

std::size_t RayTarget::cast(const RayRows& rays, const RayRules& rules, const RayColumns& out, Work& work) const {
    const std::shared_lock<std::shared_mutex> standing(mutex_);
    std::mutex sums;
    std::size_t first_bad = rays.count;
    Pool::shared().for_blocks(rays.count, kBlock, rules.threads, [&](std::size_t begin, std::size_t end) {
        RayCaster caster(*this, rules);
        std::size_t bad = rays.count;
        caster.cast(rays, out, begin, end, bad);
        const std::lock_guard<std::mutex> alone(sums);
        work += caster.work;
        first_bad = std::min(first_bad, bad);
    });
    return first_bad;
}

}  // namespace clearance
