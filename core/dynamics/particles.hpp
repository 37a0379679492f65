#pragma once

#include <memory>
#include <optional>

#include "dynamics/block_layout.hpp"
#include "dynamics/contact_memory.hpp"
#include "dynamics/hash_grid.hpp"
#include "query/contacts.hpp"

namespace clearance {

struct ParticleSettings {
    Vec3d gravity{0.0, 0.0, -9.81};
    double step = 1e-3;
    ContactLaw law = ContactLaw::hard;
    int iterations = 20;
    Room room;
    bool has_shortcuts = true;  // closed forms for pairs that have one
};

// What many particles have in common.
struct ParticleKind {
    std::shared_ptr<const Body> body;
    Mass mass;
    Material material;
};

// Where a particle is and how it moves. Numbers are never used again.
struct Particle {
    std::int64_t number;
    std::int32_t kind;
    Vec3d centre;  // of mass
    Turn turn;
    Vec3d velocity, spin;
    Vec3d built_at;      // where the centre was when pairs were last looked for,
    double slack = 0.0;  // and how far it may get until that is done again
};

// What a step took; builds are those of all steps.
struct ParticleWork {
    std::int64_t pairs = 0, contacts = 0, iterations = 0, builds = 0;
};

// What two particles pressed on each other with, at one point of the last step. Walls have the numbers -1, -2, ...
struct ParticlePressed {
    std::int64_t a, b;
    Vec3d point, normal, force;  // on b
    double depth;
};

// A contact to go on with, of two particles, or of a wall and a particle.
struct PairMemory {
    std::int64_t a, b;
    ContactMemory memory;
};

class Particles;

// Others who simulate the rest of the room. One alone has nothing to tell.
class Partners {
public:
    virtual ~Partners() = default;
    virtual double largest(double mine) { return mine; }
    virtual void rebuild(Particles& particles, int threads);  // pairs are to be looked for again
    virtual void share(int) {}                                // what blocks of this colour did to velocities
};

// Very many rigid bodies that fall, meet and come to rest, among walls that stand. Pairs that may meet are looked for
// anew only once something has moved far enough, and are solved block by block, colour after colour: so the same calls
// give the same bits, on any number of threads and of partners, whoever has which block.
class Particles {
public:
    explicit Particles(const ParticleSettings& settings) : settings_(settings), rigid_(1), numbers_(1, -1), kinds_(1, -1) {}

    std::int32_t add_kind(const ParticleKind& kind);
    void add(const Particle& particle);
    void remove(std::span<const std::int64_t> numbers);  // in order
    void add_wall(std::shared_ptr<const Body> body, const Pose& pose, const Material& material);
    void remove_wall(std::int32_t wall);

    // Go on by a step. Returns a negative number; or the number of a particle that something drove beyond all bounds, and
    // then the step has not been made.
    std::int64_t step(int threads, Partners& partners);

    std::int64_t steps() const { return steps_; }
    void set_steps(std::int64_t steps) { steps_ = steps; }
    const ParticleSettings& settings() const { return settings_; }
    const ParticleWork& work() const { return work_; }
    const std::vector<ParticleKind>& kinds() const { return kind_; }

    // Those that are here; the first `owned` of them are not only seen from a neighbouring block.
    std::size_t size() const { return rigid_.size() - 1; }
    std::size_t owned() const { return owned_; }
    Particle particle(std::size_t k) const;
    Pose pose(std::size_t k) const { return rigid_[k + 1].pose(); }
    const Rigid& rigid(std::size_t k) const { return rigid_[k + 1]; }
    std::vector<ParticlePressed> pressed() const;
    std::vector<PairMemory> memories() const;  // by numbers

    // Pairs that may meet before the next build, from where particles were at the last one: by balls around them that have
    // some room.
    double largest_ball() const { return largest_ball_; }
    const BlockLayout& layout() const { return layout_; }
    bool is_built() const { return !is_changed_; }
    double give_room();  // to each particle; returns the radius of the largest ball
    void lay_out(double largest_ball);
    void wrap();        // centres; there pairs are looked for
    void take_apart();  // those that are only seen are gone, and contacts are remembered, until there are pairs again
    void see(const Particle& particle);                            // that another owns
    void set_domain(const BlockBox& domain) { domain_ = domain; }  // blocks whose pairs belong here
    void find_pairs(std::span<const PairMemory> memories, int threads);
    void remember(std::vector<PairMemory> memories) { remembered_ = std::move(memories); }  // until there are pairs

    // Who is where, in blocks.
    std::vector<BlockNumber> blocks_of_owned() const;
    std::vector<BlockNumber> blocks_of_memories() const;       // while there are pairs: in the order of memories
    std::vector<std::size_t> near(const BlockBox& box) const;  // those that may take part in pairs of these blocks

    // Velocities of some, to be shared.
    std::vector<std::size_t> touched(int colour) const;  // by blocks of this colour
    void read(std::span<const std::size_t> which, double* velocities) const;
    void write(std::span<const std::size_t> which, const double* velocities);

private:
    struct Wall {
        std::shared_ptr<const Body> body;
        Pose pose;
        Material material;
        PlacedBody placed;
        std::optional<HalfSpace> plane;  // that it is, in the world
    };
    struct Kind {
        double radius;  // of a ball around it, about its centre of mass
        bool is_sphere;
        const Convex* convex;  // the only part that it has, if it is one
    };
    struct Pair {
        std::int32_t a, b;  // a has the smaller number; 0: a wall
        std::int32_t wall;
        std::int64_t number_a, number_b;  // of a wall: -1, -2, ...
        Vec3d shift;                      // from where b is to where it meets a
        Vec3d between{0, 0, 0};           // the direction that parted them when they were last looked at, if any did
        std::int32_t first_patch = 0, patches = 0, first_memory = 0, memories = 0;
    };
    struct Found {  // what makes a pair, and the block that it belongs to
        BlockNumber block;
        std::int32_t a, b, wall;
        std::int64_t number_a, number_b;
        Vec3d shift;
    };
    struct Block {
        std::vector<Found> found;  // while pairs are looked for
        std::vector<Pair> pairs;
        ContactSolver contacts;
        std::vector<ContactMemory> memories;
    };
    struct Unpushed {  // how a particle would move in a small step without contacts
        Vec3d velocity{0, 0, 0}, spin{0, 0, 0};
    };
    struct Kept {  // of a particle, before a step
        Vec3d centre;
        Turn turn;
        Vec3d velocity, spin;
    };
    struct Search;
    struct Ordering;
    class History;
    struct Scratch;
    class Scratches;

    void append(const Particle& particle);
    void keep_state(int threads);
    void go_back();
    void measure_rooms(int threads);
    double room_used(int threads) const;
    Vec3d shift_between(const Vec3d& a, const Vec3d& b) const;
    BlockNumber block_of_pair(std::size_t a, std::size_t b) const;
    std::vector<Vec3d> shifts() const;
    double narrowest_period() const;
    template <class Action>
    void for_images(std::size_t k, const Action& action) const;
    void add_pairs_of_particles(Search& search, int threads) const;
    static bool is_near(const Wall& wall, PlacedBody& point, const Vec3d& place, double limit);
    void add_pairs_with_walls(Search& search, int threads) const;
    void fill_blocks(const Search& search);
    Found found_at(const BlockNumber& block, std::size_t a, std::size_t b, std::int32_t wall, const Vec3d& shift) const;
    static void sort(std::vector<Found>& found);
    void deal_out(Block& block, Ordering& ordering) const;
    void put_in_order(Block& block, const History& history, Ordering& ordering) const;
    void find_contacts(int threads);
    void find_contacts(Block& block, Scratch& scratch) const;
    double margin_of(const Pair& pair) const;
    void meet(Pair& pair, Scratch& scratch) const;
    bool are_still_parted(const Pair& pair, double margin) const;
    bool meet_as_balls(const Pair& pair, Scratch& scratch) const;
    void add_contacts(Pair& pair, Block& block, Scratch& scratch) const;
    void apply_forces(double step, int threads);
    void solve(int threads, Partners& partners);
    template <class Treat>
    double for_colours(int threads, Partners& partners, const Treat& treat);
    void begin_small_step(double step, bool is_first, int threads);
    void move_by_small_step(double step, int threads);
    void solve_hard(int threads, Partners& partners);
    void solve_soft(int threads, Partners& partners);
    void reflect(int threads, Partners& partners);
    void advance(double step, int threads);
    void remember(Block& block) const;
    std::int64_t lost(int threads) const;

    ParticleSettings settings_;
    std::vector<ParticleKind> kind_;
    std::vector<Kind> about_kind_;
    std::vector<Wall> walls_;

    std::vector<Rigid> rigid_;  // what walls are part of first
    std::vector<std::int64_t> numbers_;
    std::vector<std::int32_t> kinds_;
    std::vector<Vec3d> built_at_{{0, 0, 0}};
    std::vector<double> slacks_{0.0};
    std::vector<double> rooms_;     // how far each may get in the step,
    std::vector<double> turnings_;  // and how much of that is not the way of its centre at its present velocity
    std::vector<Unpushed> unpushed_;
    std::vector<Kept> kept_;
    std::size_t owned_ = 0;
    bool is_changed_ = true;              // particles or walls came or went
    std::vector<PairMemory> remembered_;  // meanwhile

    double largest_ball_ = 0.0;
    BlockLayout layout_;
    BlockBox domain_;
    std::vector<Block> blocks_;  // by colour
    std::shared_ptr<Search> search_;
    std::shared_ptr<Scratches> scratches_;
    std::array<std::size_t, BlockLayout::kColours + 1> colours_{};
    std::int64_t steps_ = 0;
    ParticleWork work_;
};

}  // namespace clearance
