// Cylinders that are brought to touch side by side against the same one by one, bit by bit and for all instruction sets:
// the touches themselves, and the answers to all that may be asked of pairs in a batch.
//
//     drum_lanes [batches = 2000] [seed = 1]
#include <bit>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <deque>
#include <vector>

#include "closest/kernels.hpp"
#include "convex/drum_kernels.hpp"
#include "convex/drum_touch.hpp"
#include "drum_cases.hpp"
#include "query/distance.hpp"

using namespace clearance;

namespace {

struct Count {
    long passed = 0, failed = 0, rows = 0, known = 0, rims = 0, sides = 0, faces = 0, overlapping = 0;

    void expect(bool holds, const char* what) {
        ++(holds ? passed : failed);
        if (!holds && failed <= 20) std::printf("%s, Simd %d\n", what, static_cast<int>(kernels().simd));
    }
};

bool is_same(double a, double b) { return std::bit_cast<std::uint64_t>(a) == std::bit_cast<std::uint64_t>(b); }
bool is_same(const Vec3d& a, const Vec3d& b) { return is_same(a.x, b.x) && is_same(a.y, b.y) && is_same(a.z, b.z); }
bool is_same(const Touch& a, const Touch& b) {
    return is_same(a.normal, b.normal) && is_same(a.on_drum, b.on_drum) && is_same(a.on_solid, b.on_solid) &&
           is_same(a.height, b.height) && a.end == b.end && a.at_pole == b.at_pole && is_same(a.separation, b.separation);
}
bool is_same(const Gap& a, const Gap& b) {
    return is_same(a.distance, b.distance) && is_same(a.lower, b.lower) && is_same(a.upper, b.upper) &&
           is_same(a.point_a, b.point_a) && is_same(a.point_b, b.point_b) && is_same(a.normal, b.normal) &&
           a.feature_a == b.feature_a && a.feature_b == b.feature_b && a.part_a == b.part_a && a.part_b == b.part_b &&
           a.converged == b.converged;
}

template <class Call>
void for_all_instruction_sets(const Call& call) {
    for (const Simd simd : {Simd::sse2, Simd::avx2, Simd::avx512}) {
        if (static_cast<int>(simd) > static_cast<int>(best_simd())) continue;
        choose_simd(simd);
        call();
    }
}

// Ordinary ones, discs, and needles.
Cylinder drawn_cylinder(Draw& draw, double scale) {
    const bool is_odd = draw.below(4) == 0;
    const auto length = [&] { return scale * (is_odd ? draw.length(1e-4, 1.0) : draw.uniform(0.2, 1.0)); };
    return {length(), length()};
}

// Millimetres and kilometres, and seldom what nobody builds.
double drawn_scale(Draw& draw) {
    if (draw.below(4) != 0) return 1.0;
    return draw.below(4) == 0 ? draw.length(1e-20, 1e20) : draw.length(1e-6, 1e6);
}

Vec3d drawn_place(Draw& draw, double size) {
    const int kind = draw.below(10);
    if (kind == 0) return {0, 0, draw.sign() * draw.uniform(0.0, 2.0) * size};  // on the axis
    if (kind == 1) return {draw.sign() * draw.uniform(0.0, 2.0) * size, 0, 0};
    if (kind == 2) return {0, 0, 0};
    if (kind == 3) return (draw.length(1.0, 1e6) * size) * draw.direction();
    return (draw.uniform(0.0, 1.5) * size) * draw.direction();
}

double size_of(const Cylinder& core) { return std::hypot(core.radius, core.half_length); }

// Drums in rows, their touches one by one, and side by side.
void check_touches(Draw& draw, Count& count) {
    const auto rows = static_cast<std::size_t>(1 + draw.below(DrumColumns::kRoom));
    DrumColumns drums;
    std::vector<FoundTouch> wanted;
    for (std::size_t row = 0; row < rows; ++row) {
        const double scale = drawn_scale(draw);
        const Cylinder drum = drawn_cylinder(draw, scale), solid = drawn_cylinder(draw, scale);
        const double size = size_of(drum) + size_of(solid);
        const Vec3d axis = drawn_turn(draw).row[2], centre = drawn_place(draw, size);
        drums.set(row, axis, centre, drum, solid, size);
        int looks = 0;
        const Drum one{axis, centre, {drum.half_length, drum.radius}, {-drum.half_length, drum.radius}};
        const Touch touch = DrumTouch<Cylinder>(one, solid, size, looks).touch();
        wanted.push_back({touch, looks});
        ++(touch.end == 0 ? count.sides : touch.at_pole ? count.faces : count.rims);
        count.overlapping += touch.separation < 0.0;
    }
    for_all_instruction_sets([&] {
        TouchColumns found;
        drum_kernels().touch_many(drums, rows, found);
        for (std::size_t row = 0; row < rows; ++row) {
            ++count.rows;
            if (!found.is_known[row]) continue;
            ++count.known;
            const FoundTouch touch = found.found(row);
            count.expect(is_same(touch.touch, wanted[row].touch), "touches at the same place");
            count.expect(touch.looks == wanted[row].looks, "takes as many looks");
        }
    });
}

// Two bodies and a question, which stay where they are.
struct Encounter {
    Body a, b;
    Pose at_a, at_b;
    Question question;
};

Body drawn_body(Draw& draw, const Cylinder& core, double scale) {
    const double radius = draw.below(4) == 0 ? scale * draw.length(1e-3, 1.0) : 0.0;
    if (draw.below(8) == 0)
        return Body({part_of(Convex{Box{{core.radius, core.radius, core.half_length}}, radius}, Pose{})});
    if (draw.below(4) == 0)
        return Body({part_of(Convex{core, radius}, Pose{draw.rotation(), (0.5 * scale) * draw.direction()})});
    return Body({part_of(Convex{core, radius}, Pose{})});
}

// What may be asked, most of it near what decides it.
Question drawn_question(Draw& draw, const Gap& gap, double size) {
    const double limit = gap.distance + draw.sign() * size * draw.length(1e-16, 1.0);
    switch (draw.below(12)) {
        case 0:
            return {.at_most = limit};
        case 1:
            return {.near_enough = limit};
        case 2:
            return {.at_most = limit, .near_enough = limit};
        case 3:
            return {.tolerance = draw.length(1e-12, 1e-2)};
        case 4:
            return {.towards_b = draw.direction()};
        case 5:
            return {.at_most = limit, .parting = draw.direction()};
        case 6:
            return {.method = DepthMethod::mpr};
        case 7:
            return {.has_shortcuts = false};
        default:
            return {};
    }
}

void draw_encounter(Draw& draw, std::deque<Encounter>& to) {
    const double scale = drawn_scale(draw);
    Encounter c{drawn_body(draw, drawn_cylinder(draw, scale), scale),
                drawn_body(draw, drawn_cylinder(draw, scale), scale),
                {},
                {},
                {}};
    const double size = c.a.ball().radius + c.b.ball().radius;
    c.at_a = {draw.rotation(), draw.below(8) == 0 ? (draw.length(1.0, 1e4) * size) * draw.direction() : Vec3d{0, 0, 0}};
    c.at_b.rotation = c.at_a.rotation * drawn_turn(draw);
    c.at_b.translation = c.at_a.translation + c.at_a.rotation * drawn_place(draw, size);
    Work work;
    Gap gap = distance(c.a, c.at_a, c.b, c.at_b, {}, work);
    for (int step = draw.below(3); step > 0; --step) {
        const double wanted = draw.sign() * size * draw.length(1e-16, 0.3);
        c.at_b.translation = c.at_b.translation + (wanted - gap.distance) * gap.normal;
        gap = distance(c.a, c.at_a, c.b, c.at_b, {}, work);
    }
    c.question = drawn_question(draw, gap, size);
    to.push_back(c);
}

// A batch of many bodies and questions against single calls.
void check_answers(Draw& draw, Count& count) {
    std::deque<Encounter> encounters;
    std::vector<AskedPair> asked;
    std::vector<Gap> wanted;
    Work work;
    for (int left = 1 + draw.below(150); left > 0; --left) {
        draw_encounter(draw, encounters);
        const Encounter& c = encounters.back();
        asked.push_back({&c.a, &c.at_a, &c.b, &c.at_b, &c.question});
        wanted.push_back(distance(c.a, c.at_a, c.b, c.at_b, c.question, work));
    }
    for_all_instruction_sets([&] {
        std::vector<Gap> found(asked.size());
        Work done;
        distances(asked, found.data(), done);
        for (std::size_t k = 0; k < asked.size(); ++k)
            count.expect(is_same(found[k], wanted[k]), "a batch answers as a single call does");
        count.expect(done.iterations == work.iterations && done.pairs == work.pairs &&
                         done.element_tests == work.element_tests && done.volume_tests == work.volume_tests,
                     "a batch takes as many steps");
    });
}

}  // namespace

int main(int argc, char** argv) {
    const int batches = argc > 1 ? std::atoi(argv[1]) : 2000;
    Draw draw(argc > 2 ? std::strtoul(argv[2], nullptr, 10) : 1);
    Count count;
    for (int k = 0; k < batches; ++k) check_touches(draw, count);
    for (int k = 0; k < batches / 4; ++k) check_answers(draw, count);
    // Nothing is proved by lanes that leave the work to others.
    count.expect(10 * count.known >= 9 * count.rows, "most touches are found in lanes");
    for (const long kind : {count.rims, count.sides, count.faces, count.overlapping})
        count.expect(50 * kind >= count.rims + count.sides + count.faces, "there are touches of all kinds");
    std::printf("%ld rims, %ld sides, %ld faces; %ld of %ld in lanes\n", count.rims, count.sides, count.faces, count.known,
                count.rows);
    std::printf("%ld passed, %ld failed\n", count.passed, count.failed);
    return count.failed == 0 ? 0 : 1;
}
