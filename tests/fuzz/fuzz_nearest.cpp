// A scene that moves: the nearest of two groups and the table of all pairs, against every pair by itself.
#include <optional>

#include "bodies.hpp"
#include "contract.hpp"
#include "scene/scene.hpp"

using namespace clearance;
using namespace clearance::fuzz;

namespace {

constexpr double kInfinity = std::numeric_limits<double>::infinity();

struct Yard {
    std::vector<std::shared_ptr<const Body>> bodies;
    std::vector<Pose> poses;
    std::vector<std::string> names;
    Scene scene;
    double rounding;

    Gap gap(std::size_t i, std::size_t j) const {
        Work work;
        return distance(*bodies[i], poses[i], *bodies[j], poses[j], {}, work);
    }
    // The nearest of all pairs of two groups, one after the other.
    Gap nearest(const std::vector<std::size_t>& a, const std::vector<std::size_t>& b) const {
        Gap best = farther_than_asked(kInfinity);
        for (const std::size_t i : a)
            for (const std::size_t j : b) {
                if (i == j) continue;
                const Gap found = gap(i, j);
                best.lower = min_of(best.lower, found.lower), best.upper = min_of(best.upper, found.upper);
            }
        return best;
    }
    Scene::Group group(const std::vector<std::size_t>& numbers) const {
        Scene::Group found;
        for (const std::size_t k : numbers) found.push_back(names[k]);
        return found;
    }
    void move(std::size_t k, const Pose& pose) {
        poses[k] = pose;
        scene.move(names[k], pose);
    }
};

void check_table(Yard& yard, double at_most) {
    const auto table = yard.scene.distances(1, at_most);
    const auto number = [&](const std::string& name) { return std::size_t(std::stoul(name)); };
    for (std::size_t row = 0; row < table->size(); ++row) {
        const Gap gap = yard.gap(number(table->names->a[row]), number(table->names->b[row]));
        require(table->lower[row] <= gap.upper + yard.rounding, "rows of the table hold", "%.17g, not %.17g",
                table->lower[row], gap.upper);
        require(table->upper[row] >= gap.lower - yard.rounding, "rows of the table hold", "%.17g, not %.17g",
                table->upper[row], gap.lower);
        require(table->lower[row] > at_most || table->upper[row] < kInfinity, "rows that are not cut off are measured");
    }
}

void check_nearest(Yard& yard, const std::vector<std::size_t>& a, const std::vector<std::size_t>& b,
                   const NearestRules& rules) {
    const Scene::NamedNearest found = yard.scene.nearest(yard.group(a), yard.group(b), rules, nullptr);
    const Gap expected = yard.nearest(a, b);
    const Gap& gap = found.nearest.gap;
    if (found.a.empty()) {
        require(expected.upper > rules.at_most - yard.rounding, "what is near is found", "%.17g of %.17g", expected.upper,
                rules.at_most);
        require(gap.lower <= expected.upper + yard.rounding, "bounds hold", "%.17g, not %.17g", gap.lower, expected.upper);
        return;
    }
    require_contract(gap, yard.rounding);
    require_common(gap, expected, yard.rounding, "the nearest is the nearest of all pairs");
    const Gap named = yard.gap(std::stoul(found.a), std::stoul(found.b));
    require_common(gap, named, yard.rounding, "the nearest is that of its names");
}

std::vector<std::size_t> some_of(Bytes& bytes, std::size_t begin, std::size_t end) {
    std::vector<std::size_t> numbers{begin};
    for (std::size_t k = begin + 1; k < end; ++k)
        if (bytes.flag()) numbers.push_back(k);
    return numbers;
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
    Bytes bytes(data, size);
    const double scale = bytes.power(-6, 6);
    Yard yard;
    const std::size_t count = 2 + std::size_t(bytes.below(5));
    double most = 0.0;
    for (std::size_t k = 0; k < count; ++k) {
        yard.bodies.push_back(shared(body(bytes, scale * bytes.power(-2, 1), k == 0 ? Parts::all : Parts::finite)));
        yard.poses.push_back(bytes.pose(3.0 * scale));
        yard.names.push_back(std::to_string(k));
        yard.scene.add(yard.names.back(), *yard.bodies.back(), yard.poses.back());
        most = max_of(most, size_of(*yard.bodies.back()) +
                                (yard.bodies.back()->is_finite() ? largest(yard.bodies.back()->ball().centre) : scale));
    }
    yard.rounding = 64.0 * kEpsilon * (most + 10.0 * scale);
    yard.scene.watch_all();
    const std::vector<std::size_t> a = some_of(bytes, 0, count), b = some_of(bytes, 1, count);
    std::optional<FrontSearch> front;
    const int kind = bytes.below(3);
    if (kind > 0)
        front.emplace(SearchSettings{bytes.flag() ? SearchOrder::best : SearchOrder::depth,
                                     kind == 1 ? FrontKind::implicit_nodes : FrontKind::explicit_nodes, bytes.flag(),
                                     bytes.flag()});
    NearestRules rules{.order = bytes.flag() ? SearchOrder::best : SearchOrder::depth,
                       .front = front ? &*front : nullptr,
                       .starts_from_last = !bytes.flag(),
                       .passes_over = !bytes.flag()};
    for (int step = 0; step < 6 && (step == 0 || bytes.are_left()); ++step) {
        rules.at_most = bytes.flag() ? scale * bytes.power(-2, 1) : kInfinity;
        check_nearest(yard, a, b, rules);
        check_table(yard, rules.at_most);
        for (int moves = bytes.below(3); moves >= 0; --moves) {
            const std::size_t k = bytes.byte() % count;
            Pose pose = bytes.pose(scale * bytes.power(-6, 0));
            pose.translation = pose.translation + yard.poses[k].translation;
            if (largest(pose.translation) < 5.0 * scale) yard.move(k, pose);
        }
    }
    return 0;
}
