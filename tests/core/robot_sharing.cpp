// Configurations are looked at without touching the heap, once room for them is made, and several threads that share a cell
// find what one finds.
#include <atomic>
#include <cstdlib>
#include <cstring>
#include <numeric>
#include <thread>

#include "counted_allocations.hpp"
#include "motion/check_path.hpp"
#include "robot_samples.hpp"

using namespace clearance;
using namespace clearance::samples;

namespace {

Tally tally;

struct Task {
    DrawnTree drawn;
    std::unique_ptr<Cell> cell;
    std::vector<std::vector<double>> rows;
};

Task drawn_task(Draw& draw, int obstacles, bool with_meshes, std::size_t rows) {
    Task task{drawn_tree_of(draw, {.links = 6, .size = 1.0}), nullptr, {}};
    task.cell = drawn_cell(draw, task.drawn, 1.0, {.obstacles = obstacles, .with_meshes = with_meshes});
    for (std::size_t k = 0; k < rows; ++k) task.rows.push_back(drawn_configuration(draw, task.drawn));
    return task;
}

// What one configuration gives, bit by bit.
struct Answer {
    bool is_clear;
    std::int32_t pair;
    double distance, lower;
    bool operator==(const Answer& other) const {
        return is_clear == other.is_clear && pair == other.pair &&
               std::memcmp(&distance, &other.distance, sizeof distance) == 0 &&
               std::memcmp(&lower, &other.lower, sizeof lower) == 0;
    }
};

Answer answer_of(const Cell& cell, Posture& posture, const std::vector<double>& row) {
    Work work;
    posture.take(row.data());
    const bool clear = is_clear(cell, posture, 0.01, work);
    const NearestPair found = nearest(cell, posture, kInf, work);
    return {clear, found.pair, found.gap.distance, found.gap.lower};
}

void check_allocations(Draw& draw, int obstacles, bool with_meshes) {
    tally.context = "heap, " + std::to_string(obstacles) + " obstacles";
    const Task task = drawn_task(draw, obstacles, with_meshes, 60);
    const Cell& cell = *task.cell;
    std::vector<Gap> gaps(cell.pairs().size());
    Work work;
    const auto run = [&](auto&& ask) {
        const Cell::Lease posture(cell);
        // How much room is needed depends on the configuration, so all of them warm it up.
        for (const std::vector<double>& row : task.rows) posture->take(row.data()), ask(*posture);
        const long before = allocations;
        for (const std::vector<double>& row : task.rows) posture->take(row.data()), ask(*posture);
        return allocations - before;
    };
    const long clear = run([&](Posture& posture) { is_clear(cell, posture, 0.01, work); });
    tally.expect(clear == 0, "is_clear does not allocate", "%ld times", clear);
    const long least = run([&](Posture& posture) { nearest(cell, posture, kInf, work); });
    tally.expect(least == 0, "nearest does not allocate", "%ld times", least);
    AskedGaps asked({});
    const long all = run([&](Posture& posture) {
        Posture* const one = &posture;
        all_gaps(cell, {&one, 1}, asked, gaps.data(), work);
    });
    tally.expect(all == 0, "all_gaps does not allocate", "%ld times", all);
    const long before = allocations;
    {
        const Cell::Lease posture(cell);
    }
    tally.expect(allocations == before, "room is used again", "%ld times", allocations - before);
}

void check_threads(Draw& draw, int obstacles) {
    tally.context = "threads, " + std::to_string(obstacles) + " obstacles";
    const Task task = drawn_task(draw, obstacles, true, 200);
    const Cell& cell = *task.cell;
    std::vector<Answer> expected;
    Posture alone(cell);
    for (const std::vector<double>& row : task.rows) expected.push_back(answer_of(cell, alone, row));
    std::vector<double> way;
    for (int k = 0; k < 2; ++k) way.insert(way.end(), task.rows[std::size_t(k)].begin(), task.rows[std::size_t(k)].end());
    const Waypoints path(cell.tree(), way.data(), 2);
    PathQuestion question{};
    question.tolerance = 0.05;
    const PathReport report = check_path(cell, path, question);

    constexpr std::size_t kThreads = 4;
    std::vector<std::vector<Answer>> found(kThreads, std::vector<Answer>(task.rows.size()));
    std::vector<PathReport> reports(kThreads);
    std::vector<std::thread> threads;
    for (std::size_t thread = 0; thread < kThreads; ++thread)
        threads.emplace_back([&, thread] {
            // Each in another order, and with the room of somebody else.
            for (std::size_t k = 0; k < task.rows.size(); ++k) {
                const std::size_t row = (k * (2 * thread + 1) + 37 * thread) % task.rows.size();
                const Cell::Lease posture(cell);
                found[thread][row] = answer_of(cell, *posture, task.rows[row]);
            }
            reports[thread] = check_path(cell, path, question);
        });
    for (std::thread& thread : threads) thread.join();
    for (std::size_t thread = 0; thread < kThreads; ++thread) {
        bool same = true;
        for (std::size_t k = 0; k < task.rows.size(); ++k)
            same = same && (found[thread][k] == expected[k] || std::gcd(2 * thread + 1, task.rows.size()) != 1);
        tally.expect(same, "all threads find the same");
        const PathReport& other = reports[thread];
        tally.expect(other.clear == report.clear && other.lower == report.lower && other.upper == report.upper &&
                         other.t_worst == report.t_worst && other.first_violation == report.first_violation &&
                         other.configurations == report.configurations,
                     "paths are the same in all threads");
    }
}

}  // namespace

int main(int argc, char** argv) {
    Draw draw(argc > 1 ? std::strtoul(argv[1], nullptr, 10) : 1);
    const long before = allocations;
    ::operator delete(::operator new(1));  // a new-expression might be optimised away
    tally.expect(allocations == before + 1, "the counter sees an allocation");
    for (const int obstacles : {0, 2, 5, 40})
        for (int k = 0; k < 5; ++k) {
            check_allocations(draw, obstacles, k % 2 == 0);
            check_threads(draw, obstacles);
        }
    return tally.finish();
}
