// Particles in C++: balls that meet are found whatever their sizes and places, blocks of one colour never share a body, no
// pair is lost across the faces of a room, and the same bits come from any number of threads and from what was kept.
//
//     particles [effort = 1] [seed = 1]
#include "dynamics/particles.hpp"

#include <algorithm>
#include <cstring>
#include <set>

#include "dynamics/mass.hpp"
#include "robot_samples.hpp"

using namespace clearance;
using namespace clearance::samples;

namespace {

Tally tally;

using Numbers = std::pair<std::int64_t, std::int64_t>;

double& at(Vec3d& v, std::size_t axis) { return axis == 0 ? v.x : axis == 1 ? v.y : v.z; }
double at(const Vec3d& v, std::size_t axis) { return axis == 0 ? v.x : axis == 1 ? v.y : v.z; }

// ---- Balls.

// Often on the boundaries of cubes of a power of two, sometimes at one place, sometimes far away.
std::vector<Ball> drawn_balls(Draw& draw, int count) {
    const double spread = draw.power(-1.0, 1.0), ratio = draw.chance(0.5) ? 1.0 : draw.power(-6.0, 0.0);
    const Vec3d origin = draw.chance(0.5) ? Vec3d{0, 0, 0} : draw.power(0.0, 12.0) * draw.direction();
    const bool is_aligned = draw.chance(0.3);
    std::vector<Ball> balls;
    for (int k = 0; k < count; ++k) {
        Vec3d centre = spread * draw.in_cube();
        if (is_aligned)
            for (std::size_t axis = 0; axis < 3; ++axis) at(centre, axis) = std::round(2.0 * at(centre, axis)) / 2.0;
        double radius = 0.25 * (draw.chance(0.7) ? 1.0 : draw.uniform(ratio, 1.0));
        if (draw.chance(0.3)) radius *= ratio;
        if (draw.chance(0.02)) radius = 0.0;
        balls.push_back({origin + centre, radius});
    }
    return balls;
}

void check_hash_grid(Draw& draw) {
    const std::vector<Ball> balls = drawn_balls(draw, 2 + draw.below(120));
    std::vector<std::int32_t> members;
    for (std::int32_t k = 0; k < static_cast<std::int32_t>(balls.size()); ++k)
        if (draw.chance(0.95)) members.push_back(k);
    std::set<Numbers> expected;
    for (const std::int32_t a : members)
        for (const std::int32_t b : members) {
            const Ball &one = balls[std::size_t(a)], &other = balls[std::size_t(b)];
            const double reach = one.radius + other.radius;
            // Balls that touch by rounding alone may be missed.
            if (a < b && norm(one.centre - other.centre) <= reach * (1.0 - 1e-9) - 1e-15 * norm(one.centre))
                expected.insert({a, b});
        }
    HashGrid grid;
    grid.insert(balls, members);
    tally.expect(grid.size() == members.size(), "all balls are in the grid");
    std::multiset<Numbers> found;
    const auto add = [&](std::int32_t a, std::int32_t b) {
        const double reach = balls[std::size_t(a)].radius + balls[std::size_t(b)].radius;
        tally.expect(norm(balls[std::size_t(a)].centre - balls[std::size_t(b)].centre) <= reach * (1.0 + 1e-12),
                     "what meets overlaps");
        found.insert(std::minmax<std::int64_t>(a, b));
    };
    const std::size_t middle = grid.size() / 2;
    const auto any = [](std::int32_t, std::int32_t) { return true; };
    grid.for_meeting(0, middle, any, add);
    grid.for_meeting(middle, grid.size(), any, add);
    for (const Numbers& pair : expected)
        tally.expect(found.count(pair) == 1, "balls that overlap meet once", "%ld and %ld: %zu times", long(pair.first),
                     long(pair.second), found.count(pair));
    for (const Numbers& pair : found)
        tally.expect(found.count(pair) == 1 && pair.first != pair.second, "nobody meets twice");
}

// ---- Blocks.

Room drawn_room(Draw& draw, double reach) {
    Room room;
    for (std::size_t k = 0; k < 3; ++k) {
        room.is_periodic[k] = draw.chance(0.6);
        const double width = reach * (draw.chance(0.3) ? 2.0 * draw.uniform(1.0, 1.0001) : draw.uniform(2.0, 30.0));
        at(room.lower, k) = draw.chance(0.5) ? 0.0 : reach * draw.power(0.0, 7.0) * draw.uniform(-1.0, 1.0);
        at(room.upper, k) = at(room.lower, k) + width;
    }
    return room;
}

Vec3d drawn_in(Draw& draw, const Room& room, double reach) {
    Vec3d point;
    for (std::size_t k = 0; k < 3; ++k) {
        const double low = at(room.lower, k), high = at(room.upper, k);
        at(point, k) = draw.uniform(low, high);
        if (draw.chance(0.3)) at(point, k) = low + 0.5 * reach * draw.below(60);  // where blocks may end
        if (draw.chance(0.1)) at(point, k) = draw.chance(0.5) ? low : high;
    }
    return point;
}

// Midpoints of pairs that a body takes part in, wherever their other bodies are: one block for each colour.
void check_blocks(Draw& draw) {
    const double reach = draw.power(-6.0, 6.0);
    const Room room = drawn_room(draw, reach);
    BlockLayout layout;
    try {
        layout = BlockLayout(room, reach, draw.chance(0.5) ? 2.0 : draw.uniform(2.0, 9.0));
    } catch (const std::invalid_argument&) {
        return;  // twice the reach by rounding only
    }
    const BlockBox everywhere = layout.everywhere();
    for (int k = 0; k < 20; ++k) {
        const Vec3d body = layout.wrapped(drawn_in(draw, room, reach));
        for (std::size_t axis = 0; axis < 3; ++axis)
            tally.expect(
                !room.is_periodic[axis] || (at(room.lower, axis) <= at(body, axis) && at(body, axis) < at(room.upper, axis)),
                "what is wrapped is in the room");
        tally.expect(layout.distance(body, everywhere) <= 0.0, "everywhere is everywhere");
        std::array<std::optional<BlockNumber>, BlockLayout::kColours> blocks;
        for (int i = 0; i < 60; ++i) {
            const double way = draw.chance(0.5) ? 0.5 * reach : draw.uniform(0.0, 0.5 * reach);
            const Vec3d along = draw.chance(0.5) ? draw.direction() : Vec3d{1.0 - 2.0 * (i & 1), 0, 0};
            const BlockNumber block = layout.block_of(body + way * along);
            tally.expect(everywhere.contains(block), "blocks of pairs are somewhere");
            auto& known = blocks[std::size_t(layout.colour_of(block))];
            tally.expect(!known || *known == block, "blocks of one colour share no body", "%d %d %d and %d %d %d",
                         block.axis[0], block.axis[1], block.axis[2], known.value_or(block).axis[0],
                         known.value_or(block).axis[1], known.value_or(block).axis[2]);
            known = block;
        }
    }
}

void check_narrow_rooms() {
    const auto is_refused = [](double width) {
        try {
            BlockLayout({{0, 0, 0}, {9, width, 9}, {false, true, false}}, 0.5);
            return false;
        } catch (const std::invalid_argument&) {
            return true;
        }
    };
    tally.expect(!is_refused(1.0) && !is_refused(1e300), "rooms of twice the reach are wide enough");
    tally.expect(is_refused(0.999) && is_refused(0.0) && is_refused(-1.0) && is_refused(std::nan("")), "others are not");
}

// ---- Particles.

std::shared_ptr<const Body> one_part(const Convex& convex) {
    return std::make_shared<const Body>(std::vector<Part>{part_of(convex, {})});
}

std::shared_ptr<const Body> ball_of(double radius) {
    return one_part({Element{1, {{0, 0, 0}, {0, 0, 0}, {0, 0, 0}}, radius}, radius});
}

Particle drawn_particle(Draw& draw, std::int64_t number, std::int32_t kind, const Vec3d& place, double speed) {
    return {number, kind, place, turn_of(draw.rotation()), speed * draw.in_cube(), speed * draw.in_cube(), place};
}

bool same_bits(const Particles& a, const Particles& b) {
    bool is_same = a.size() == b.size() && a.steps() == b.steps();
    for (std::size_t k = 0; is_same && k < a.size(); ++k) {
        const Particle one = a.particle(k), other = b.particle(k);
        const auto are_same = [](const auto& x, const auto& y) { return std::memcmp(&x, &y, sizeof x) == 0; };
        is_same = one.number == other.number && are_same(one.centre, other.centre) && are_same(one.turn, other.turn) &&
                  are_same(one.velocity, other.velocity) && are_same(one.spin, other.spin);
    }
    return is_same;
}

// Going on from what is kept of particles, in a room with the same kinds and walls.
Particles restored(const Particles& from, const ParticleSettings& settings, std::shared_ptr<const Body> wall) {
    Particles again(settings);
    for (const ParticleKind& kind : from.kinds()) again.add_kind(kind);
    if (wall != nullptr) again.add_wall(std::move(wall), {}, {});
    for (std::size_t k = 0; k < from.size(); ++k) again.add(from.particle(k));
    again.set_steps(from.steps());
    again.lay_out(from.largest_ball());
    again.find_pairs(from.memories(), 1);
    return again;
}

struct Ballroom {
    ParticleSettings settings;
    std::vector<double> radii;  // of kinds
    double reach;
};

Ballroom drawn_ballroom(Draw& draw) {
    Ballroom result;
    const double largest = draw.power(-4.0, 4.0);
    for (const double share : {1.0, draw.uniform(0.3, 1.0), draw.chance(0.3) ? 0.01 : 0.5})
        result.radii.push_back(share * largest);
    result.reach = 3.0 * largest;
    const int law = draw.below(3);
    result.settings.law = law == 0 ? ContactLaw::hard : law == 1 ? ContactLaw::soft : ContactLaw::elastic;
    result.settings.gravity = draw.chance(0.5) ? Vec3d{0, 0, 0} : 100.0 * largest * draw.direction();
    result.settings.iterations = 4;
    result.settings.room = drawn_room(draw, result.reach);
    result.settings.has_shortcuts = draw.chance(0.8);
    return result;
}

// All pairs of balls in all images.
std::set<Numbers> overlapping(const Particles& particles, const std::vector<double>& radii, double slack) {
    const Room& room = particles.settings().room;
    const Vec3d period = room.upper - room.lower;
    std::set<Numbers> result;
    for (std::size_t i = 0; i < particles.size(); ++i)
        for (std::size_t j = 0; j < particles.size(); ++j) {
            const Particle a = particles.particle(i), b = particles.particle(j);
            if (a.number >= b.number) continue;
            Vec3d between = b.centre - a.centre;
            for (std::size_t axis = 0; axis < 3; ++axis)
                if (room.is_periodic[axis]) at(between, axis) = std::remainder(at(between, axis), at(period, axis));
            if (norm(between) <= radii[std::size_t(a.kind)] + radii[std::size_t(b.kind)] + slack)
                result.insert({a.number, b.number});
        }
    return result;
}

void check_against_all_pairs(Draw& draw) {
    const Ballroom ballroom = drawn_ballroom(draw);
    const double largest = ballroom.radii[0];
    Particles particles(ballroom.settings);
    for (const double radius : ballroom.radii) {
        const auto body = ball_of(radius);
        particles.add_kind({body, *mass_of(*body, 1.0), {0.5, 0.3, 0.0, 1e3, 1.0}});
    }
    const int count = 4 + draw.below(60);
    const double speed = largest * (draw.chance(0.3) ? 0.0 : draw.power(-2.0, 2.0));
    for (int k = 0; k < count; ++k) {
        Vec3d place = drawn_in(draw, ballroom.settings.room, largest);
        if (k > 0 && draw.chance(0.5))  // near the one before
            place = particles.particle(std::size_t(k - 1)).centre + largest * draw.uniform(0.5, 3.0) * draw.direction();
        particles.add(drawn_particle(draw, 2 * k + 5, draw.below(3), place, speed));
    }
    Partners alone;
    const double slack = 1e-9 * largest + 1e-15 * norm(ballroom.settings.room.upper);
    for (int step = 0; step < 15; ++step) {
        const std::set<Numbers> must = overlapping(particles, ballroom.radii, -slack);
        const std::set<Numbers> may = overlapping(particles, ballroom.radii, slack);
        try {
            tally.expect(particles.step(1 + step % 3, alone) < 0, "nobody is lost");
        } catch (const std::invalid_argument&) {
            return;  // too fast for the room
        }
        std::set<Numbers> found;
        for (const ParticlePressed& one : particles.pressed())
            if (one.depth >= 0.0) found.insert({one.a, one.b});
        for (const Numbers& pair : must)
            tally.expect(found.contains(pair), "no pair is lost", "%ld and %ld in step %d", long(pair.first),
                         long(pair.second), step);
        for (const Numbers& pair : found) tally.expect(may.contains(pair), "pairs that touch overlap");
    }
}

// ---- Bits.

Particles drawn_pile(Draw draw, const ParticleSettings& settings, const std::shared_ptr<const Body>& wall) {
    Particles particles(settings);
    const std::vector<std::shared_ptr<const Body>> bodies{
        ball_of(0.1), one_part({Box{{0.1, 0.08, 0.12}}, 0.0}),
        std::make_shared<const Body>(std::vector<Part>{part_of(Convex{Box{{0.1, 0.03, 0.04}}, 0.0}, {}),
                                                       part_of(Convex{Cylinder{0.05, 0.08}, 0.0}, {kNoTurn, {0.1, 0, 0}})})};
    for (const auto& body : bodies) particles.add_kind({body, *mass_of(*body, 1000.0), {0.5, 0.2, 0.001, 1e5, 1e3}});
    particles.add_wall(wall, {}, {});
    for (int k = 0; k < 60; ++k) {
        const Vec3d place{draw.uniform(-0.7, 0.7), draw.uniform(-0.7, 0.7), draw.uniform(0.1, 1.5)};
        particles.add(drawn_particle(draw, k, k % 3, place, 1.0));
    }
    return particles;
}

void go(Particles& particles, int steps, int threads) {
    Partners alone;
    for (int k = 0; k < steps; ++k) particles.step(threads, alone);
}

void check_bits(const Draw& draw, ContactLaw law) {
    const auto ground = std::make_shared<const Body>(std::vector<Part>{part_of(HalfSpace{{0, 0, 1}, 0.0}, {})});
    ParticleSettings settings;
    settings.law = law;
    settings.room = {{-0.7, -0.7, 0}, {0.7, 0.7, 0}, {true, true, false}};
    Particles reference = drawn_pile(draw, settings, ground), other = drawn_pile(draw, settings, ground);
    const std::vector<std::int64_t> gone{3, 17, 40};
    const auto change = [&](Particles& particles) {
        particles.remove(gone);
        particles.add(drawn_particle(*std::make_unique<Draw>(9), 60, 0, {0, 0, 3.0}, 1.0));
    };
    go(reference, 60, 1), go(other, 60, 3);
    tally.expect(same_bits(reference, other), "the same bits on any number of threads");
    change(reference), change(other);
    go(reference, 60, 2), go(other, 60, 4);
    tally.expect(same_bits(reference, other), "the same bits after some came and went");
    Particles again = restored(reference, settings, ground);
    go(reference, 60, 1), go(again, 60, 2);
    tally.expect(same_bits(reference, again), "the same bits from what was kept");
    tally.expect(reference.size() == 58, "those that are there are there");
    reference.remove_wall(0);
    go(reference, 10, 1);
    for (std::size_t k = 0; k < reference.size(); ++k) {
        const Vec3d& centre = reference.particle(k).centre;
        tally.expect(std::isfinite(centre.x + centre.y + centre.z), "places are finite");
    }
}

// What is driven beyond all bounds is told, again and again, and can be taken out.
void check_lost_ones() {
    Particles particles({});
    const auto body = ball_of(0.1);
    particles.add_kind({body, *mass_of(*body, 1000.0), {}});
    Draw draw(1);
    for (int k = 0; k < 4; ++k) particles.add(drawn_particle(draw, k, 0, {1.0 * k, 0, 0}, k == 2 ? 1e300 : 0.0));
    Partners alone;
    for (int k = 0; k < 3; ++k) tally.expect(particles.step(2, alone) == 2, "the one that is lost is told");
    const std::vector<std::int64_t> gone{2};
    particles.remove(gone);
    tally.expect(particles.step(2, alone) < 0 && particles.steps() == 1, "others go on");
}

}  // namespace

int main(int argc, char** argv) {
    const int effort = argc > 1 ? std::atoi(argv[1]) : 1;
    Draw draw(argc > 2 ? std::strtoul(argv[2], nullptr, 10) : 1);
    for (int k = 0; k < 300 * effort; ++k) check_hash_grid(draw);
    for (int k = 0; k < 300 * effort; ++k) check_blocks(draw);
    check_narrow_rooms();
    for (int k = 0; k < 200 * effort; ++k) check_against_all_pairs(draw);
    for (int k = 0; k < effort; ++k)
        for (const ContactLaw law : {ContactLaw::hard, ContactLaw::soft, ContactLaw::elastic})
            check_bits(draw, law), draw.in_cube();
    check_lost_ones();
    return tally.finish();
}
