#include <cmath>
#include <mutex>

#include "dynamics/encounters.hpp"
#include "dynamics/particles.hpp"
#include "parallel/pool.hpp"

namespace clearance {
namespace {

constexpr double kSamePlace = 0.05;   // of the smaller particle: contact points nearer than this are one
constexpr double kStiffest = 2.5;     // of the rate of steps: how fast overlaps are undone, however small the small steps
constexpr double kRecovery = 0.5;     // of the speed after a fall by half its radius: the most at which overlaps are undone
constexpr double kBounceSteps = 2.0;  // slower than what gravity does in this many steps, nothing bounces
constexpr double kDoubt = 1e-8;       // of lengths: more than what distances are found to
constexpr std::size_t kBlocksAtOnce = 4;

// Whether balls that are apart by `between` come within `reach` while they move against each other by `way`.
bool come_within(const Vec3d& between, const Vec3d& way, double reach) {
    const double along = -dot(between, way), way_sq = norm_sq(way);
    const double share = along <= 0.0 ? 0.0 : along >= way_sq ? 1.0 : along / way_sq;
    return norm_sq(between + share * way) <= reach * reach;
}

}  // namespace

// What a thread needs to look at pairs one after the other.
struct Particles::Scratch {
    explicit Scratch(const Particles& particles) {
        for (const ParticleKind& kind : particles.kind_) a.emplace_back(*kind.body), b.emplace_back(*kind.body);
    }
    std::vector<PlacedBody> a, b;  // of each kind
    std::vector<Contact> found;
    Work work;
};

// One for each thread that is at work, kept from step to step.
class Particles::Scratches {
public:
    explicit Scratches(const Particles& particles) : kinds(particles.kind_.size()) {}

    std::unique_ptr<Scratch> take(const Particles& particles) {
        const std::lock_guard<std::mutex> lock(mutex_);
        if (free_.empty()) return std::make_unique<Scratch>(particles);
        std::unique_ptr<Scratch> one = std::move(free_.back());
        free_.pop_back();
        return one;
    }
    void give_back(std::unique_ptr<Scratch> one) {
        const std::lock_guard<std::mutex> lock(mutex_);
        free_.push_back(std::move(one));
    }

    const std::size_t kinds;

private:
    std::mutex mutex_;
    std::vector<std::unique_ptr<Scratch>> free_;
};

void Particles::find_contacts(int threads) {
    const bool is_hard = settings_.law == ContactLaw::hard;
    const double gravity = norm(settings_.gravity);
    const ContactSettings settings{.law = settings_.law,
                                   .step = is_hard ? settings_.step / settings_.iterations : settings_.step,
                                   .stiffest = kStiffest / settings_.step,
                                   .slowest_bounce = kBounceSteps * gravity * settings_.step,
                                   .fastest_recovery = gravity > 0.0 ? kRecovery * std::sqrt(gravity * largest_ball_) : 3.0,
                                   .bounces_last = true};
    if (!scratches_ || scratches_->kinds != kind_.size()) scratches_ = std::make_shared<Scratches>(*this);
    Pool::shared().for_blocks(blocks_.size(), kBlocksAtOnce, threads, [&](std::size_t begin, std::size_t end) {
        std::unique_ptr<Scratch> scratch = scratches_->take(*this);
        for (std::size_t k = begin; k < end; ++k) {
            find_contacts(blocks_[k], *scratch);
            blocks_[k].contacts.prepare(rigid_, settings);
        }
        scratches_->give_back(std::move(scratch));
    });
    work_.contacts = 0;
    for (const Block& block : blocks_) work_.contacts += static_cast<std::int64_t>(block.contacts.points.size());
}

void Particles::find_contacts(Block& block, Scratch& scratch) const {
    block.contacts.clear();
    for (Pair& pair : block.pairs) {
        scratch.found.clear();
        if (!settings_.has_shortcuts || !meet_as_balls(pair, scratch)) meet(pair, scratch);
        pair.first_patch = static_cast<std::int32_t>(block.contacts.patches.size());
        if (!scratch.found.empty()) add_contacts(pair, block, scratch);
        pair.patches = static_cast<std::int32_t>(block.contacts.patches.size()) - pair.first_patch;
    }
}

void Particles::add_contacts(Pair& pair, Block& block, Scratch& scratch) const {
    const auto a = static_cast<std::size_t>(pair.a), b = static_cast<std::size_t>(pair.b);
    const auto kind_b = static_cast<std::size_t>(kinds_[b]);
    const bool is_wall = a == 0;
    const auto kind_a = is_wall ? kind_b : static_cast<std::size_t>(kinds_[a]);
    const Material& material = is_wall ? walls_[static_cast<std::size_t>(pair.wall)].material : kind_[kind_a].material;
    // Balls touch at one point, wherever that moves.
    const bool is_one = about_kind_[kind_b].is_sphere && (is_wall || about_kind_[kind_a].is_sphere);
    const double size = min_of(about_kind_[kind_a].radius, about_kind_[kind_b].radius);
    const std::span<ContactMemory> memories(block.memories.data() + pair.first_memory,
                                            static_cast<std::size_t>(pair.memories));
    add_patches(block.contacts, rigid_,
                {pair.a, pair.b, scratch.found, together(material, kind_[kind_b].material), pair.shift, true}, memories,
                is_one ? 4.0 * size : kSamePlace * size);
}

// Two balls, or a ball and a plane. Says whether the pair is one of these.
bool Particles::meet_as_balls(const Pair& pair, Scratch& scratch) const {
    const auto a = static_cast<std::size_t>(pair.a), b = static_cast<std::size_t>(pair.b);
    const Kind& kind_b = about_kind_[static_cast<std::size_t>(kinds_[b])];
    if (!kind_b.is_sphere) return false;
    const Vec3d centre_b = rigid_[b].centre + pair.shift;
    if (a == 0) {
        const std::optional<HalfSpace>& plane = walls_[static_cast<std::size_t>(pair.wall)].plane;
        if (!plane) return false;
        const Vec3d& normal = plane->normal;
        const double gap = dot(normal, centre_b) - plane->offset - kind_b.radius;
        if (gap <= rooms_[b]) scratch.found.push_back({centre_b - (kind_b.radius + 0.5 * gap) * normal, -gap, normal, 0, 0});
        return true;
    }
    const Kind& kind_a = about_kind_[static_cast<std::size_t>(kinds_[a])];
    if (!kind_a.is_sphere) return false;
    const Vec3d between = centre_b - rigid_[a].centre;
    const double reach = kind_a.radius + kind_b.radius, margin = rooms_[a] + rooms_[b], distance_sq = norm_sq(between);
    if (distance_sq > (reach + margin) * (reach + margin)) return true;
    const double distance = std::sqrt(distance_sq), gap = distance - reach;
    if (gap > 0.0 && !come_within(between, settings_.step * (rigid_[b].velocity - rigid_[a].velocity), reach)) return true;
    const Vec3d normal = distance > 0.0 ? (1.0 / distance) * between : Vec3d{0, 0, 1};
    scratch.found.push_back({rigid_[a].centre + (kind_a.radius + 0.5 * gap) * normal, -gap, normal, 0, 0});
    return true;
}

// Whether the direction that parted two convex particles before still does, and proves that there is nothing to find: what
// is found must not depend on what is known from before.
bool Particles::are_still_parted(const Pair& pair, double margin) const {
    const auto a = static_cast<std::size_t>(pair.a), b = static_cast<std::size_t>(pair.b);
    const Vec3d& n = pair.between;
    if (a == 0 || norm_sq(n) == 0.0) return false;
    const auto farthest = [&](std::size_t k, const Vec3d& direction) {
        const Part& part = kind_[static_cast<std::size_t>(kinds_[k])].body->parts()[0];
        const Convex& convex = *about_kind_[static_cast<std::size_t>(kinds_[k])].convex;
        const Mat3 rotation = rigid_[k].rotation * part.pose.rotation;
        const Vec3d origin = rigid_[k].pose() * part.pose.translation;
        return dot(direction, origin + rotation * support(convex.core, transposed_times(rotation, direction))) +
               convex.radius;
    };
    const double doubt = kDoubt * (abs_of(dot(n, rigid_[a].centre)) + largest_ball_);
    return dot(n, pair.shift) - farthest(b, -n) - farthest(a, n) > margin + doubt;
}

// How much nearer to each other two may come in the step.
double Particles::margin_of(const Pair& pair) const {
    if (settings_.law != ContactLaw::hard) return 0.0;
    const auto a = static_cast<std::size_t>(pair.a), b = static_cast<std::size_t>(pair.b);
    if (a == 0) return rooms_[b];
    return norm(rigid_[b].velocity - rigid_[a].velocity) * settings_.step + turnings_[a] + turnings_[b];
}

void Particles::meet(Pair& pair, Scratch& scratch) const {
    const auto a = static_cast<std::size_t>(pair.a), b = static_cast<std::size_t>(pair.b);
    const double margin = margin_of(pair);
    if (are_still_parted(pair, margin)) return;
    const Vec3d fall = settings_.step * settings_.gravity;
    const auto kind_b = static_cast<std::size_t>(kinds_[b]);
    Pose pose_b = rigid_[b].pose();
    pose_b.translation = pose_b.translation + pair.shift;
    scratch.b[kind_b].place(pose_b);
    const Passing passing_b{*kind_[kind_b].body, scratch.b[kind_b], pose_b, rigid_[b].velocity + fall};
    const auto meet_with = [&](const Passing& passing_a) {
        const ContactRules rules{
            .margin = margin, .only_near = true, .has_shortcuts = settings_.has_shortcuts, .field_peaks = true};
        const Gap gap = contacts(passing_a.placed, passing_b.placed, rules, scratch.found, scratch.work);
        const bool are_convex = a > 0 && about_kind_[static_cast<std::size_t>(kinds_[a])].convex != nullptr &&
                                about_kind_[kind_b].convex != nullptr;
        pair.between = are_convex && gap.lower > 0.0 ? gap.normal : Vec3d{0, 0, 0};
        if (passing_a.body.has_surface()) drop_side_contacts(passing_a, passing_b, scratch.found);
        if (gap.distance > 0.0 && !scratch.found.empty() &&
            !meet_within_step(passing_a, passing_b, gap, margin, settings_.step))
            scratch.found.clear();
    };
    if (a == 0) {
        const Wall& wall = walls_[static_cast<std::size_t>(pair.wall)];
        meet_with({*wall.body, wall.placed, wall.pose, {0, 0, 0}});
        return;
    }
    const auto kind_a = static_cast<std::size_t>(kinds_[a]);
    scratch.a[kind_a].place(rigid_[a].pose());
    meet_with({*kind_[kind_a].body, scratch.a[kind_a], rigid_[a].pose(), rigid_[a].velocity + fall});
}

}  // namespace clearance
