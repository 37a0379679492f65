#pragma once

#include <atomic>
#include <cstddef>
#include <memory>
#include <mutex>

namespace clearance {

// Threads that stay alive between calls. Work is a range that is handed out in blocks; the caller takes part. Nothing is
// copied and nothing is allocated once the threads exist.
class Pool {
public:
    // The pool of this process. It is never destroyed, and a forked child gets a new one.
    static Pool& shared();

    // Call task(begin, end) for blocks that cover 0 to count, on at most `threads` threads (0: all cores). A block has
    // `block` items. The task must not throw. Nested and concurrent calls run on the calling thread alone.
    template <class Task>
    void for_blocks(std::size_t count, std::size_t block, int threads, const Task& task) {
        run({&task, [](const void* t, std::size_t begin, std::size_t end) { (*static_cast<const Task*>(t))(begin, end); },
             count, block},
            threads);
    }

    // The same for rows that stand side by side in memory, in blocks of as many as suits them: `least` or a multiple.
    template <class Task>
    void for_rows(std::size_t count, std::size_t least, int threads, const Task& task) {
        for_blocks(count, rows_at_a_time(count, least, threads), threads, task);
    }

    ~Pool() = delete;

private:
    struct Job {
        const void* task;
        void (*call)(const void* task, std::size_t begin, std::size_t end);
        std::size_t count, block;
    };
    struct Shared;

    Pool();
    static std::size_t rows_at_a_time(std::size_t count, std::size_t least, int threads);
    void run(const Job& job, int threads);
    void start_workers(int wanted);

    std::mutex busy_;
    Shared* shared_;
    int started_ = 0;
};

// The first of several rows, whichever thread comes upon it first.
inline void lower_to(std::atomic<std::size_t>& first, std::size_t row) {
    std::size_t known = first.load();
    while (row < known && !first.compare_exchange_weak(known, row)) {
    }
}

// Cores this process may use.
int core_count();

}  // namespace clearance
