#include "parallel/pool.hpp"

#include <algorithm>
#include <chrono>
#include <thread>

#if defined(__linux__)
#include <pthread.h>
#include <sched.h>
#endif
#if defined(__x86_64__) || defined(_M_X64)
#include <immintrin.h>
#endif

namespace clearance {

// What callers and workers share. A worker announces itself in `inside` before it looks for a job, and the caller withdraws
// the job before it looks at `inside`; so no worker can be at a job that its caller has left.
struct Pool::Shared {
    struct alignas(64) Counter {
        std::atomic<std::size_t> value{0};
    };
    Counter next;  // first item not handed out
    alignas(64) std::atomic<const Job*> job{nullptr};
    std::atomic<int> wanted{0};  // workers that may take part
    alignas(64) std::atomic<int> inside{0};
    alignas(64) std::atomic<unsigned> round{0};  // counts jobs; workers sleep on it

    void work_through(const Job& current) {
        for (;;) {
            const std::size_t begin = next.value.fetch_add(current.block);
            if (begin >= current.count) return;
            const std::size_t end = begin + current.block;
            current.call(current.task, begin, end < current.count ? end : current.count);
        }
    }
};

namespace {

// A control loop asks again within microseconds, and waking a sleeping thread takes tens of them: look out for the next
// job for a while before falling asleep.
constexpr std::chrono::microseconds kVigil{60};

void pause() {
#if defined(__x86_64__) || defined(_M_X64)
    _mm_pause();
#endif
}

void wait_for_change(const std::atomic<unsigned>& round, unsigned seen) {
    const auto until = std::chrono::steady_clock::now() + kVigil;
    while (std::chrono::steady_clock::now() < until) {
        for (int k = 0; k < 64; ++k) {
            if (round.load() != seen) return;
            pause();
        }
    }
    round.wait(seen);
}

std::atomic<Pool*> pool_of_process{nullptr};

}  // namespace

int core_count() {
#if defined(__linux__)
    cpu_set_t allowed;
    if (sched_getaffinity(0, sizeof allowed, &allowed) == 0) return CPU_COUNT(&allowed);
#endif
    const unsigned count = std::thread::hardware_concurrency();
    return count > 0 ? static_cast<int>(count) : 1;
}

Pool::Pool() : shared_(new Shared) {}

Pool& Pool::shared() {
    static std::once_flag once;
    std::call_once(once, [] {
        pool_of_process = new Pool;
#if defined(__linux__)
        // Threads do not survive a fork: the child leaves the old pool behind.
        pthread_atfork(nullptr, nullptr, [] { pool_of_process = new Pool; });
#endif
    });
    return *pool_of_process;
}

void Pool::start_workers(int wanted) {
    for (; started_ < wanted; ++started_) {
        std::thread([shared = shared_, index = started_] {
            unsigned seen = 0;
            for (;;) {
                wait_for_change(shared->round, seen);
                seen = shared->round.load();
                if (index >= shared->wanted.load()) continue;
                shared->inside.fetch_add(1);
                if (const Job* job = shared->job.load()) shared->work_through(*job);
                shared->inside.fetch_sub(1);
            }
        }).detach();
    }
}

// Threads whose rows are neighbours take lines of the cache away from each other, so blocks are long where there are many
// rows, but short enough for all threads to end at about the same time.
std::size_t Pool::rows_at_a_time(std::size_t count, std::size_t least, int threads) {
    constexpr std::size_t kBlocksOfThread = 8, kMost = 4096;
    if (count <= least) return least;
    const std::size_t sharing = static_cast<std::size_t>(threads > 0 ? threads : core_count());
    const std::size_t fair = std::min(count / (kBlocksOfThread * sharing), kMost);
    return std::max<std::size_t>(fair / least, 1) * least;
}

void Pool::run(const Job& job, int threads) {
    const std::size_t blocks = (job.count + job.block - 1) / job.block;
    const std::size_t limit = static_cast<std::size_t>(threads > 0 ? threads : core_count());
    const int helpers = static_cast<int>(blocks < limit ? blocks : limit) - 1;
    std::unique_lock<std::mutex> alone(busy_, std::try_to_lock);
    if (helpers <= 0 || !alone.owns_lock()) {
        if (job.count > 0) job.call(job.task, 0, job.count);
        return;
    }
    start_workers(helpers);
    shared_->next.value = 0;
    shared_->wanted = helpers;
    shared_->job = &job;
    shared_->round.fetch_add(1);
    shared_->round.notify_all();
    shared_->work_through(job);
    shared_->job = nullptr;
    while (shared_->inside.load() != 0) pause();
}

}  // namespace clearance
