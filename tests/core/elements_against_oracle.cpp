// The kernels of swept points, segments and triangles against the oracle, on cases most of which are nearly degenerate.
//
//     elements_against_oracle [cases per pair = 100000] [seed = 1] [pair, such as 23]
#include <algorithm>
#include <cmath>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <functional>
#include <mutex>
#include <thread>
#include <vector>

#include "closest/kernels.hpp"
#include "oracle.hpp"

using namespace clearance;
using oracle::Hull;
using oracle::Quad;
using oracle::Vec3q;

namespace {

// ---- Random numbers: every case has its own seed, so that it can be drawn again alone.

class Draw {
public:
    explicit Draw(std::uint64_t seed) : state_(seed) {}

    std::uint64_t bits() {  // splitmix64 (Steele, Lea, Flood 2014)
        std::uint64_t z = state_ += 0x9e3779b97f4a7c15u;
        z = (z ^ z >> 30) * 0xbf58476d1ce4e5b9u;
        z = (z ^ z >> 27) * 0x94d049bb133111ebu;
        return z ^ z >> 31;
    }
    double uniform(double low, double high) { return low + (high - low) * std::ldexp(double(bits() >> 11), -53); }
    double magnitude(double low, double high) { return std::pow(10.0, uniform(low, high)); }  // 10^low to 10^high
    bool chance(double probability) { return uniform(0, 1) < probability; }
    int below(int count) { return int(bits() % std::uint64_t(count)); }
    double sign() { return chance(0.5) ? 1.0 : -1.0; }
    Vec3d vector() { return {uniform(-1, 1), uniform(-1, 1), uniform(-1, 1)}; }

private:
    std::uint64_t state_;
};

// ---- Cases

enum Family {
    kAnywhere,
    kContact,
    kParallel,
    kFlat,
    kNeedles,
    kDegenerate,
    kCollinear,
    kPiercing,
    kContained,
    kShared,
    kLattice,
    kRatio,
    kFamilies
};
const char* const kFamilyNames[] = {"anywhere",  "contact",  "parallel",  "flat",   "needles", "degenerate",
                                    "collinear", "piercing", "contained", "shared", "lattice", "ratio"};

struct Element {
    Vec3d vertex[3];
    double radius;
};

struct Case {
    Element a, b;
    Family family;
};

void make_needle(Draw& draw, Element& e) {
    const double width = draw.magnitude(-12, -3), along = draw.chance(0.5) ? draw.uniform(0, 1) : double(draw.below(2));
    e.vertex[2] = e.vertex[0] + along * (e.vertex[1] - e.vertex[0]) + width * draw.vector();
    std::swap(e.vertex[2], e.vertex[draw.below(3)]);
}

void make_degenerate(Draw& draw, int count, Element& e) {
    if (count == 2 || draw.chance(0.3)) e.vertex[1] = e.vertex[0];
    if (count == 3 && draw.chance(0.5))
        e.vertex[2] = e.vertex[draw.below(2)];
    else
        e.vertex[2] = e.vertex[0] + 0.5 * (e.vertex[1] - e.vertex[0]);
    std::swap(e.vertex[2], e.vertex[draw.below(count)]);
}

Element drawn_element(Draw& draw, int count) {
    Element e{{draw.vector(), draw.vector(), draw.vector()}, draw.chance(0.5) ? 0.0 : draw.magnitude(-4, 0)};
    if (count == 3 && draw.chance(0.2))
        make_needle(draw, e);
    else if (count > 1 && draw.chance(0.03))
        make_degenerate(draw, count, e);
    return e;
}

// A small length, quite often none.
double small(Draw& draw, double high = -3) { return draw.chance(0.2) ? 0.0 : draw.magnitude(-16, high); }

// A point of the hull of the first `count` vertices; often on its boundary.
Vec3d point_of(Draw& draw, const Element& e, int count) {
    double weight[3] = {draw.uniform(0, 1), draw.uniform(0, 1), draw.uniform(0, 1)};
    if (draw.chance(0.3)) weight[draw.below(3)] = 0.0;
    double sum = 0.0;
    for (int k = 0; k < count; ++k) sum += weight[k];
    Vec3d point = e.vertex[0];
    for (int k = 1; k < count && sum > 0.0; ++k) point = point + (weight[k] / sum) * (e.vertex[k] - e.vertex[0]);
    return point;
}

void shift(Element& e, const Vec3d& by) {
    for (Vec3d& vertex : e.vertex) vertex = vertex + by;
}

void place_point_of_b_near_a(Draw& draw, int na, int nb, Case& c, const Vec3d& off) {
    shift(c.b, point_of(draw, c.a, na) - point_of(draw, c.b, nb) + off);
}

// Lay one feature on the plane z = 0, a point of it at the origin, the rest of the element on one side.
void lay_on_plane(Draw& draw, int count, double side, Element& e) {
    const int touching = 1 + draw.below(count);
    const double steepness = draw.chance(0.7) ? 1.0 : draw.magnitude(-16, 0);
    for (int k = 0; k < 3; ++k) e.vertex[k].z = k < touching ? 0.0 : side * steepness * std::fabs(e.vertex[k].z);
    shift(e, -1.0 * point_of(draw, e, touching));
    for (int k = 0; k < touching; ++k) e.vertex[k].z = 0.0;
}

void flatten(Draw& draw, double height, Element& e) {
    const double tilt = small(draw);
    for (Vec3d& vertex : e.vertex) vertex.z = height + tilt * vertex.z;
}

// One edge of b turned along one of a.
void make_parallel(Draw& draw, Case& c) {
    const int from = draw.below(2);
    const Vec3d along = c.a.vertex[1] - c.a.vertex[0];
    const double length = draw.sign() * draw.magnitude(-1, 1);
    c.b.vertex[1 - from] = c.b.vertex[from] + length * along + (length * small(draw)) * draw.vector();
}

// An edge of a goes through a point of b, the ends as deep as chance has it.
void pierce(Draw& draw, int na, int nb, Case& c) {
    const Vec3d through = point_of(draw, c.b, nb);
    Vec3d along = draw.vector();
    if (draw.chance(0.3)) along = c.b.vertex[1] - c.b.vertex[0] + small(draw) * along;
    c.a.vertex[0] = through + small(draw, 0) * along;
    if (na > 1) c.a.vertex[1] = through - small(draw, 0) * along;
}

void share_vertices(Draw& draw, int na, int nb, Case& c) {
    const int shared = 1 + draw.below(std::min(na, nb)), turn_a = draw.below(na), turn_b = draw.below(nb);
    const double off = draw.chance(0.7) ? 0.0 : small(draw, -10);
    for (int k = 0; k < shared; ++k) c.b.vertex[(turn_b + k) % nb] = c.a.vertex[(turn_a + k) % na] + off * draw.vector();
}

double lattice_coordinate(Draw& draw) { return draw.below(5) - 2; }

Case drawn_relation(Draw& draw, int na, int nb, Family family) {
    Case c{drawn_element(draw, na), drawn_element(draw, nb), family};
    switch (family) {
        case kAnywhere:
            shift(c.b, draw.uniform(0, 3) * draw.vector());
            break;
        case kContact: {
            lay_on_plane(draw, na, -1.0, c.a);
            lay_on_plane(draw, nb, 1.0, c.b);
            const double gap = small(draw), radii = draw.chance(0.5) ? 0.0 : c.a.radius + c.b.radius;
            shift(c.b, {0, 0, draw.chance(0.8) ? radii + gap : radii - gap});
            break;
        }
        case kParallel:
            make_parallel(draw, c);
            place_point_of_b_near_a(draw, na, nb, c, small(draw, 0.5) * draw.vector());
            break;
        case kFlat:
            flatten(draw, 0.0, c.a);
            flatten(draw, small(draw, 0), c.b);
            shift(c.b, draw.chance(0.6) ? Vec3d{draw.uniform(-3, 3), 0, 0} : Vec3d{0, 0, 0});
            break;
        case kNeedles:
            if (na == 3) make_needle(draw, c.a);
            if (nb == 3) make_needle(draw, c.b);
            place_point_of_b_near_a(draw, na, nb, c, small(draw, 0) * draw.vector());
            break;
        case kDegenerate:
            if (draw.chance(0.7)) make_degenerate(draw, na, c.a);
            if (draw.chance(0.7)) make_degenerate(draw, nb, c.b);
            if (draw.chance(0.7)) place_point_of_b_near_a(draw, na, nb, c, small(draw, 0) * draw.vector());
            break;
        case kCollinear: {
            const Vec3d along = draw.vector(), off = small(draw, 0) * draw.vector();
            for (Vec3d& vertex : c.a.vertex) vertex = vertex.x * along;
            for (Vec3d& vertex : c.b.vertex) vertex = off + vertex.x * along;
            break;
        }
        case kPiercing:
            pierce(draw, na, nb, c);
            break;
        case kContained: {
            flatten(draw, 0.0, c.b);
            if (draw.chance(0.6)) flatten(draw, 0.0, c.a);
            const double ratio = draw.magnitude(-6, -0.3);
            for (Vec3d& vertex : c.a.vertex) vertex = ratio * vertex;
            shift(c.a, point_of(draw, c.b, nb) + Vec3d{0, 0, draw.sign() * small(draw, 0)});
            break;
        }
        case kShared:
            share_vertices(draw, na, nb, c);
            break;
        case kLattice:
            for (Element* e : {&c.a, &c.b}) {
                for (Vec3d& vertex : e->vertex)
                    vertex = {lattice_coordinate(draw), lattice_coordinate(draw), lattice_coordinate(draw)};
                e->radius = 0.25 * draw.below(3);
            }
            break;
        case kRatio: {
            const double ratio = draw.magnitude(-6, 6);
            for (Vec3d& vertex : c.b.vertex) vertex = ratio * vertex;
            c.b.radius *= ratio;
            place_point_of_b_near_a(draw, na, nb, c, small(draw, 0) * draw.vector());
            break;
        }
        default:
            break;
    }
    return c;
}

struct Rotation {
    Vec3d row[3];
    Vec3d operator()(const Vec3d& v) const { return {dot(row[0], v), dot(row[1], v), dot(row[2], v)}; }
};

Rotation drawn_rotation(Draw& draw) {
    const auto unit = [](const Vec3d& v) { return (1.0 / norm(v)) * v; };
    const Vec3d x = unit(draw.vector()), z = unit(cross(x, draw.vector()));
    return {{x, cross(z, x), z}};
}

double largest_coordinate(const Element& e, int count) {
    double found = 0.0;
    for (int k = 0; k < count; ++k) found = std::max(found, largest(e.vertex[k]));
    return found;
}

// The whole scene turned, scaled and moved away; lattices mostly stay where their ties are exact.
Case drawn_case(std::uint64_t seed, int na, int nb) {
    Draw draw(seed);
    Case c = drawn_relation(draw, na, nb, Family(draw.below(kFamilies)));
    const bool exact = c.family == kLattice && draw.chance(0.8);
    if (!exact && draw.chance(0.6)) {
        const Rotation turn = drawn_rotation(draw);
        for (Element* e : {&c.a, &c.b})
            for (Vec3d& vertex : e->vertex) vertex = turn(vertex);
    }
    if (draw.chance(0.5)) {
        const double scale = exact ? std::ldexp(1.0, draw.below(41) - 20) : draw.magnitude(-6, 6);
        for (Element* e : {&c.a, &c.b}) {
            for (Vec3d& vertex : e->vertex) vertex = scale * vertex;
            e->radius *= scale;
        }
    }
    if (draw.chance(0.25)) {
        double away = draw.magnitude(0, 6) * std::max(largest_coordinate(c.a, na), largest_coordinate(c.b, nb));
        if (exact) away = std::ldexp(1.0, std::ilogb(away + 1.0));
        const Vec3d off = exact ? Vec3d{away, -away, away} : away * draw.vector();
        shift(c.a, off);
        shift(c.b, off);
    }
    return c;
}

// ---- Kernels in batches

struct Elements {
    int count;  // vertices of each
    std::vector<double> vertices, radii;

    Elements(int vertex_count, std::size_t rows) : count(vertex_count), vertices(3 * vertex_count * rows), radii(rows) {}
    const double* at(std::size_t row) const { return &vertices[3 * count * row]; }
    void set(std::size_t row, const Element& e) {
        std::memcpy(&vertices[3 * count * row], e.vertex, 3 * count * sizeof(double));
        radii[row] = e.radius;
    }
    ElementArray array() const { return {vertices.data(), radii.data(), std::size_t(3 * count), 1}; }
};

struct Row {
    double distance, lower, upper;
    Vec3d point_a, point_b, normal, weights_a, weights_b;
};

struct Results {
    std::vector<double> distance, lower, upper, point_a, point_b, normal, weights_a, weights_b;

    explicit Results(std::size_t rows)
        : distance(rows),
          lower(rows),
          upper(rows),
          point_a(3 * rows),
          point_b(3 * rows),
          normal(3 * rows),
          weights_a(3 * rows),
          weights_b(3 * rows) {}
    Row row(std::size_t i) const {
        const auto at = [i](const std::vector<double>& v) { return Vec3d{v[3 * i], v[3 * i + 1], v[3 * i + 2]}; };
        return {distance[i], lower[i], upper[i], at(point_a), at(point_b), at(normal), at(weights_a), at(weights_b)};
    }
};

// In two parts, so that lanes are left over in the middle as well.
Results run(Simd simd, const Elements& a, const Elements& b) {
    const std::size_t rows = a.radii.size(), part = rows / 3;
    Results out(rows);
    const GapArrays arrays{out.distance.data(), out.lower.data(),  out.upper.data(),     out.point_a.data(),
                           out.point_b.data(),  out.normal.data(), out.weights_a.data(), out.weights_b.data()};
    choose_simd(simd);
    gaps_between(a.count, a.array(), b.count, b.array(), arrays, 0, part);
    gaps_between(a.count, a.array(), b.count, b.array(), arrays, part, rows);
    return out;
}

// ---- What must hold

enum Check {
    kDistance,
    kBracketed,
    kTight,
    kUnit,
    kJoined,
    kWitnessA,
    kWitnessB,
    kSeparated,
    kOpens,
    kSameBits,
    kMiddle,
    kOracle,
    kChecks
};
const char* const kCheckNames[] = {"distance is the oracle's", "oracle lies in the bracket",   "bracket is tight",
                                   "normal is unit",           "points joined by normal",      "witness lies in a",
                                   "witness lies in b",        "normal separates by distance", "moving along normal opens",
                                   "same bits for every Simd", "parallel: middle of overlap",  "oracle proves itself"};

// Errors of the distance relative to size: what is left of them beyond the rounding of the coordinates, and all of them
// where the coordinates are no larger than ten sizes.
struct Worst {
    double beyond_rounding = 0.0, near_origin = 0.0;
};

struct Tally {
    long passed = 0, failed = 0, colliding = 0, cores_meeting = 0;
    long failures[kFamilies][kChecks] = {};
    Worst worst[kFamilies];
    double widest = 0.0, farthest = 0.0;  // bracket, and witness outside of its element; relative to size, beyond rounding

    void add(const Tally& other) {
        passed += other.passed;
        failed += other.failed;
        colliding += other.colliding;
        cores_meeting += other.cores_meeting;
        widest = std::max(widest, other.widest);
        farthest = std::max(farthest, other.farthest);
        for (int f = 0; f < kFamilies; ++f) {
            for (int c = 0; c < kChecks; ++c) failures[f][c] += other.failures[f][c];
            worst[f].beyond_rounding = std::max(worst[f].beyond_rounding, other.worst[f].beyond_rounding);
            worst[f].near_origin = std::max(worst[f].near_origin, other.worst[f].near_origin);
        }
    }
};

// One pair in one order, with the truth about it.
struct Subject {
    Hull a, b;
    double radius_a, radius_b;
    double size, rounding;  // sum of the bounding radii; what the coordinates themselves leave open
    oracle::SignedDistance cores;
    Quad distance;  // of the swept elements
};

double bounding_radius(const Hull& hull) {
    Vec3q sum{0, 0, 0};
    for (int k = 0; k < hull.count; ++k) sum = sum + hull.vertex[k];
    const Vec3q centre = (Quad(1) / hull.count) * sum;
    Quad radius = 0;
    for (int k = 0; k < hull.count; ++k) radius = std::max(radius, oracle::norm(hull.vertex[k] - centre));
    return double(radius);
}

double farthest_from_origin(const Hull& hull) {
    double found = 0.0;
    for (int k = 0; k < hull.count; ++k) found = std::max(found, double(oracle::norm(hull.vertex[k])));
    return found;
}

Subject subject_of(const Elements& a, const Elements& b, std::size_t row) {
    Subject s{
        oracle::hull_of(a.at(row), a.count), oracle::hull_of(b.at(row), b.count), a.radii[row], b.radii[row], 0, 0, {}, 0};
    s.size = bounding_radius(s.a) + bounding_radius(s.b) + s.radius_a + s.radius_b;
    s.rounding = 8 * kEpsilon * std::max(farthest_from_origin(s.a), farthest_from_origin(s.b));
    s.cores = oracle::signed_distance(s.a, s.b);
    s.distance = s.cores.distance - s.radius_a - s.radius_b;
    return s;
}

Subject swapped(const Subject& s) {
    return {s.b, s.a, s.radius_b, s.radius_a, s.size, s.rounding, {s.cores.distance, -s.cores.apart}, s.distance};
}

Vec3q quad(const Vec3d& v) { return {v.x, v.y, v.z}; }
double magnitude(Quad x) { return std::fabs(double(x)); }

// How far a point lies outside of a swept hull; negative inside.
double outside(const Vec3d& point, const Hull& hull, double radius) {
    Hull at;
    at.add(quad(point));
    return double(oracle::norm(oracle::apart(at, hull)) - radius);
}

// The middle of what two parallel segments share, as seen from a; whatever is not parallel passes.
bool is_in_the_middle(const Subject& s, const Row& found) {
    if (s.a.count != 2 || s.b.count != 2) return true;
    const Vec3q u = s.a.vertex[1] - s.a.vertex[0], v = s.b.vertex[1] - s.b.vertex[0];
    const Quad length_sq = norm_sq(u);
    if (length_sq == 0 || norm_sq(v) == 0) return true;
    if (oracle::norm(cross(u, v)) > Quad(0.5e-13) * sqrtq(length_sq * norm_sq(v))) return true;
    const auto along = [&](const Vec3q& point) {
        return std::clamp<Quad>(dot(point - s.a.vertex[0], u) / length_sq, Quad(0), Quad(1));
    };
    const Quad middle = (along(s.b.vertex[0]) + along(s.b.vertex[1])) / 2;
    const Vec3q on_core = quad(found.point_a) - Quad(s.radius_a) * quad(found.normal);
    const Quad at = dot(on_core - s.a.vertex[0], u) / length_sq;
    return magnitude((at - middle) * sqrtq(length_sq)) <= 1e-12 * s.size + s.rounding;
}

// The bracket that the closest points and the plane between them give, where they are far enough apart to have one. Points
// at the least distance are known to half of the digits only, and so is the direction between them.
bool proves_itself(const Subject& s) {
    if (s.cores.distance < 1e-6 * s.size || s.size == 0) return true;
    const Vec3q unit = (1 / s.cores.distance) * s.cores.apart;
    return s.cores.distance - oracle::separation_along(unit, s.a, s.b) <= Quad(1e-15) * s.size;
}

struct Observed {
    Row found;
    double moved;  // the distance once b has moved by `step` along the normal
    double step;
    bool same_bits;
};

unsigned failures_of(const Subject& s, const Observed& seen, double& witness_outside) {
    const Row& found = seen.found;
    const double outside_a = outside(found.point_a, s.a, s.radius_a), outside_b = outside(found.point_b, s.b, s.radius_b);
    witness_outside = std::max(outside_a, outside_b);
    const double accurate = 1e-12 * s.size + s.rounding, proven = 1e-9 * s.size + s.rounding;
    const double far = largest(found.point_a) + largest(found.point_b) + std::fabs(found.distance);
    const Vec3q normal = quad(found.normal);
    const Quad separation = oracle::separation_along(normal, s.a, s.b) - s.radius_a - s.radius_b;

    unsigned failed = 0;
    const auto check = [&failed](Check what, bool holds) { failed |= holds ? 0u : 1u << what; };
    check(kDistance, magnitude(found.distance - s.distance) <= accurate);
    check(kBracketed, found.lower <= s.distance && s.distance <= found.upper);
    check(kTight, found.upper - found.lower <= proven + 2 * kEpsilon * std::fabs(found.distance));  // one ulp at each end
    check(kUnit, magnitude(oracle::norm(normal) - 1) <= 1e-14);
    check(kJoined, largest(found.point_b - found.point_a - found.distance * found.normal) <= 4 * kEpsilon * far);
    check(kWitnessA, outside_a <= accurate);
    check(kWitnessB, outside_b <= accurate);
    check(kSeparated, magnitude(separation - found.distance) <= proven);
    // A shift changes a distance by its length at most; along the normal it must change it by all of that.
    check(kOpens, magnitude(Quad(seen.moved) - found.distance - seen.step) <= proven);
    check(kSameBits, seen.same_bits);
    check(kMiddle, is_in_the_middle(s, found));
    check(kOracle, proves_itself(s));
    return failed;
}

void measure(const Subject& s, const Row& found, double witness_outside, Family family, Tally& tally) {
    tally.colliding += s.distance <= 0;
    tally.cores_meeting += s.cores.distance <= 0;
    if (s.size == 0) return;
    const double error = magnitude(found.distance - s.distance);
    Worst& worst = tally.worst[family];
    worst.beyond_rounding = std::max(worst.beyond_rounding, (error - s.rounding) / s.size);
    if (s.rounding <= 80 * kEpsilon * s.size) worst.near_origin = std::max(worst.near_origin, error / s.size);
    tally.widest = std::max(tally.widest, (found.upper - found.lower - s.rounding) / s.size);
    tally.farthest = std::max(tally.farthest, (witness_outside - s.rounding) / s.size);
}

// ---- Reporting

std::mutex printing;
int printed[kChecks] = {};
constexpr int kPrints = 4;  // per check

void print_hull(const char* name, const Hull& hull, double radius) {
    std::printf("    %s radius %a vertices", name, radius);
    for (int k = 0; k < hull.count; ++k)
        std::printf(" {%a, %a, %a}", double(hull.vertex[k].x), double(hull.vertex[k].y), double(hull.vertex[k].z));
    std::printf("\n");
}

void print_failure(const Subject& s, const Observed& seen, Family family, unsigned failed) {
    const std::lock_guard lock(printing);
    int first = 0;
    while (!(failed >> first & 1)) ++first;
    if (printed[first]++ >= kPrints) return;
    const Row& r = seen.found;
    std::printf("FAILED %d%d %s:", s.a.count, s.b.count, kFamilyNames[family]);
    for (int c = 0; c < kChecks; ++c)
        if (failed >> c & 1) std::printf(" [%s]", kCheckNames[c]);
    std::printf("\n");
    print_hull("a", s.a, s.radius_a);
    print_hull("b", s.b, s.radius_b);
    std::printf("    size %g, oracle %.17g, error %g\n", s.size, double(s.distance), double(r.distance - s.distance));
    std::printf("    distance %.17g in [%.17g, %.17g], normal {%.17g, %.17g, %.17g}\n", r.distance, r.lower, r.upper,
                r.normal.x, r.normal.y, r.normal.z);
    std::printf("    along normal %.17g, moved by %g: %.17g\n",
                double(oracle::separation_along(quad(r.normal), s.a, s.b) - s.radius_a - s.radius_b), seen.step, seen.moved);
    std::printf("    point_a {%.17g, %.17g, %.17g}, outside a by %g\n", r.point_a.x, r.point_a.y, r.point_a.z,
                outside(r.point_a, s.a, s.radius_a));
    std::printf("    point_b {%.17g, %.17g, %.17g}, outside b by %g\n", r.point_b.x, r.point_b.y, r.point_b.z,
                outside(r.point_b, s.b, s.radius_b));
}

// ---- The whole test of a pair

const unsigned kThreads = std::max(1u, std::thread::hardware_concurrency());

void in_parallel(std::size_t rows, const std::function<void(std::size_t, std::size_t, unsigned)>& work) {
    std::vector<std::thread> threads;
    for (unsigned t = 0; t < kThreads; ++t) threads.emplace_back(work, rows * t / kThreads, rows * (t + 1) / kThreads, t);
    for (std::thread& thread : threads) thread.join();
}

// All that one order of the pair gives: the gaps, the gaps once b has moved, and whether each Simd agrees.
struct Order {
    Results gaps;
    std::vector<double> step, moved;
    std::vector<char> same_bits;

    Order(const Elements& a, const Elements& b, const std::vector<double>& sizes)
        : gaps(run(Simd::scalar, a, b)), step(sizes.size()), same_bits(sizes.size(), 1) {
        for (int simd = int(Simd::scalar) + 1; simd <= int(best_simd()); ++simd) {
            const Results other = run(Simd(simd), a, b);
            for (std::size_t i = 0; i < sizes.size(); ++i) {
                const Row ours = gaps.row(i), theirs = other.row(i);
                same_bits[i] &= std::memcmp(&ours, &theirs, sizeof ours) == 0;
            }
        }
        Elements shifted = b;
        for (std::size_t i = 0; i < sizes.size(); ++i) {
            step[i] = 0.1 * sizes[i];
            const double* const normal = &gaps.normal[3 * i];
            for (int k = 0; k < 3 * b.count; ++k) shifted.vertices[3 * b.count * i + k] += step[i] * normal[k % 3];
        }
        moved = run(Simd::scalar, a, shifted).distance;
    }
    Observed observed(std::size_t i) const { return {gaps.row(i), moved[i], step[i], same_bits[i] != 0}; }
};

Tally test_chunk(int na, int nb, std::uint64_t seed, std::size_t rows) {
    Elements a(na, rows), b(nb, rows);
    std::vector<Family> family(rows);
    std::vector<Subject> subjects(rows);
    std::vector<double> sizes(rows);
    in_parallel(rows, [&](std::size_t begin, std::size_t end, unsigned) {
        for (std::size_t i = begin; i < end; ++i) {
            const Case c = drawn_case(seed + i, na, nb);
            a.set(i, c.a);
            b.set(i, c.b);
            family[i] = c.family;
            subjects[i] = subject_of(a, b, i);
            sizes[i] = subjects[i].size;
        }
    });

    // The choice of Simd is global, so kernels run from one thread.
    const Order forward(a, b, sizes), backward(b, a, sizes);

    std::vector<Tally> tallies(kThreads);
    in_parallel(rows, [&](std::size_t begin, std::size_t end, unsigned thread) {
        Tally& tally = tallies[thread];
        for (std::size_t i = begin; i < end; ++i) {
            for (const bool mirrored : {false, true}) {
                const Subject subject = mirrored ? swapped(subjects[i]) : subjects[i];
                const Observed seen = (mirrored ? backward : forward).observed(i);
                double witness_outside = 0.0;
                const unsigned failed = failures_of(subject, seen, witness_outside);
                measure(subject, seen.found, witness_outside, family[i], tally);
                ++(failed ? tally.failed : tally.passed);
                for (int c = 0; c < kChecks; ++c) tally.failures[family[i]][c] += failed >> c & 1;
                if (failed) print_failure(subject, seen, family[i], failed);
            }
        }
    });
    Tally sum;
    for (const Tally& tally : tallies) sum.add(tally);
    return sum;
}

struct Pair {
    int na, nb;
};
constexpr Pair kPairs[] = {{1, 1}, {1, 2}, {1, 3}, {2, 2}, {2, 3}, {3, 3}};

void print_table(const char* title, const std::vector<Pair>& pairs, const std::vector<Tally>& tallies,
                 double Worst::* error) {
    std::printf("\n%s\n%-12s", title, "");
    for (const Pair& pair : pairs) std::printf("      %d%d  ", pair.na, pair.nb);
    for (int f = 0; f < kFamilies; ++f) {
        std::printf("\n%-12s", kFamilyNames[f]);
        for (const Tally& tally : tallies) std::printf("  %8.1e", tally.worst[f].*error);
    }
    std::printf("\n");
}

}  // namespace

int main(int argc, char** argv) {
    const std::size_t cases = argc > 1 ? std::strtoull(argv[1], nullptr, 10) : 100000;
    const std::uint64_t seed = argc > 2 ? std::strtoull(argv[2], nullptr, 10) : 1;
    const int only = argc > 3 ? std::atoi(argv[3]) : 0;
    constexpr std::size_t kChunk = 10000;

    std::vector<Pair> pairs;
    std::vector<Tally> tallies;
    for (const Pair& pair : kPairs) {
        const int name = 10 * pair.na + pair.nb;
        if (only != 0 && name != only) continue;
        pairs.push_back(pair);
        tallies.emplace_back();
        for (std::size_t begin = 0; begin < cases; begin += kChunk)
            tallies.back().add(
                test_chunk(pair.na, pair.nb, (seed * 100 + name) << 32 | begin, std::min(kChunk, cases - begin)));
    }

    for (std::size_t p = 0; p < pairs.size(); ++p)
        for (int f = 0; f < kFamilies; ++f)
            for (int c = 0; c < kChecks; ++c)
                if (tallies[p].failures[f][c] > 0)
                    std::printf("%d%d %-10s  %-28s fails %ld times\n", pairs[p].na, pairs[p].nb, kFamilyNames[f],
                                kCheckNames[c], tallies[p].failures[f][c]);

    print_table("largest error of the distance / size, beyond 8 epsilon of the distance from the origin", pairs, tallies,
                &Worst::beyond_rounding);
    print_table("largest error of the distance / size, where coordinates are no larger than ten sizes", pairs, tallies,
                &Worst::near_origin);
    std::printf("\n%-12s", "bracket");
    for (const Tally& tally : tallies) std::printf("  %8.1e", tally.widest);
    std::printf("\n%-12s", "witness");
    for (const Tally& tally : tallies) std::printf("  %8.1e", tally.farthest);
    const auto share = [](long part, const Tally& tally) {
        return 100.0 * double(part) / double(tally.passed + tally.failed);
    };
    std::printf("\n%-12s", "colliding");
    for (const Tally& tally : tallies) std::printf("  %6.0f %%", share(tally.colliding, tally));
    std::printf("\n%-12s", "cores meet");
    for (const Tally& tally : tallies) std::printf("  %6.0f %%", share(tally.cores_meeting, tally));
    std::printf("\n");

    long passed = 0, failed = 0;
    for (const Tally& tally : tallies) {
        passed += tally.passed;
        failed += tally.failed;
        // Cases that all collide, or never, would test little; few of them say nothing about it.
        const double hits = share(tally.colliding, tally);
        if (cases >= 1000) ++(30.0 <= hits && hits <= 70.0 ? passed : failed);
    }
    std::printf("%ld passed, %ld failed\n", passed, failed);
    return failed == 0 ? 0 : 1;
}
