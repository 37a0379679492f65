#pragma once

#include <memory>
#include <optional>
#include <unordered_map>
#include <unordered_set>

#include "dynamics/bearing.hpp"
#include "dynamics/broad_phase.hpp"
#include "dynamics/contact_memory.hpp"
#include "dynamics/part_trees.hpp"
#include "query/contacts.hpp"

namespace clearance {

struct WorldSettings {
    Vec3d gravity{0.0, 0.0, -9.81};
    double step = 1e-3;
    ContactLaw law = ContactLaw::hard;
    int iterations = 20;
    BroadPhaseKind broad_phase = BroadPhaseKind::grid;
};

// What a step took.
struct WorldWork {
    std::int64_t pairs = 0;         // that may meet at all
    std::int64_t volume_tests = 0;  // of balls and boxes
    std::int64_t object_tests = 0;  // of shapes
    std::int64_t contacts = 0, iterations = 0;
};

struct Energy {
    double kinetic = 0.0, potential = 0.0, elastic = 0.0;
};

struct NewBody {
    std::shared_ptr<const Body> body;
    Pose pose;
    std::optional<Mass> mass;  // of dynamic bodies
    Motion motion;
    Material material;
    Vec3d velocity, spin;
    std::int32_t group;  // negative: alone
    bool collides = true;
};

// What two bodies pressed on each other with, at one point of the last step.
struct Pressed {
    std::int32_t a, b;
    Vec3d point, normal, force;  // on b
    double depth;
};

// Rigid bodies that move by the laws of mechanics, step by step. Numbers of bodies are those of their order; when one is
// removed, later ones move up. The same calls give the same bits, on any number of threads.
class World {
public:
    explicit World(const WorldSettings& settings);

    std::int32_t add(const NewBody& body);
    void remove(std::int32_t body);
    std::int32_t join(BearingKind kind, std::int32_t a, std::int32_t b, const Vec3d& point, const Vec3d& axis);
    void part(std::int32_t bearing);
    void ignore(std::int32_t a, std::int32_t b);

    // Go on by a step. Returns a body that something drove beyond all bounds, or a negative number; such a step is not
    // taken, and velocities are of no use any more.
    std::int32_t step(int threads);
    void clear_forces();  // which act in all steps until then

    std::int32_t size() const { return static_cast<std::int32_t>(rigid_.size()) - 1; }
    const Rigid& rigid(std::int32_t body) const { return rigid_[slot(body)]; }
    Rigid& rigid(std::int32_t body) { return rigid_[slot(body)]; }
    Bearing& bearing(std::int32_t k) { return bearings_[static_cast<std::size_t>(k)]; }
    double speed(std::int32_t bearing) const { return bearings_[static_cast<std::size_t>(bearing)].speed(rigid_); }
    std::int32_t bearings() const { return static_cast<std::int32_t>(bearings_.size()); }
    void move(std::int32_t body, const Pose& to);
    void guide(std::int32_t body, const Pose& to) { guided_.emplace_back(body, to); }

    std::int64_t steps() const { return steps_; }
    double time() const { return static_cast<double>(steps_) * settings_.step; }
    const WorldSettings& settings() const { return settings_; }
    const WorldWork& work() const { return work_; }
    Energy energy() const;
    std::vector<Pressed> pressed() const;

    // All that the next step depends on, but for what was added: numbers that give the same bits again.
    std::vector<double> state() const;
    void set_state(std::span<const double> state);  // throws std::invalid_argument if it is not of this world

    // Where bearings hold their bodies, in the frames of these.
    std::vector<double> anchors() const;
    void set_anchors(std::span<const double> anchors);  // throws std::invalid_argument if it is not of this world

private:
    static std::size_t slot(std::int32_t body) { return static_cast<std::size_t>(body + 1); }

    void start_guided();
    void end_guided();
    void place_bodies(int threads);
    void find_pairs();
    void find_contacts(int threads);
    Gap find_contacts_of(const BodyPair& pair, double margin, std::vector<PartPair>& near,
                         std::vector<Contact>& found) const;
    void collect_patches();
    void remember();
    void forget(std::int32_t body);
    void apply_forces(double step);
    double fastest() const;
    void solve();
    std::int32_t lost_body(bool is_solved) const;
    void advance();
    void count_pairs();
    bool is_ignored(std::int32_t a, std::int32_t b) const;

    WorldSettings settings_;
    std::vector<Rigid> rigid_;  // the ground first, which bearings without a body are fixed to
    std::vector<std::shared_ptr<const Body>> bodies_;
    std::vector<Material> materials_;
    std::vector<std::int32_t> groups_;
    std::vector<bool> collides_;
    std::vector<Bearing> bearings_;
    std::unordered_set<std::uint64_t> ignored_;  // pairs without contacts
    std::vector<std::pair<std::int32_t, Pose>> guided_;
    std::int64_t steps_ = 0;

    BroadPhase broad_phase_;
    bool is_changed_ = true;  // bodies came or went
    PartTrees part_trees_;
    std::vector<PlacedBody> placed_;
    std::vector<Pose> poses_;
    std::vector<Ball> balls_;
    std::vector<double> rooms_;
    std::vector<BodyPair> pairs_;
    std::vector<std::vector<Contact>> found_;
    ContactSolver contacts_;
    std::vector<ContactMemory> remembered_;         // of the last step,
    std::vector<BodyPair> remembered_of_;           // and whose they are, in order
    std::vector<std::pair<Vec3d, Vec3d>> undoing_;  // velocities and spins that also undo overlaps
    WorldWork work_;
};

}  // namespace clearance
