#include "bindings/kept_blocks.hpp"

#if defined(__linux__)
#include <sys/mman.h>
#endif

#include <cstdint>
#include <mutex>
#include <new>

namespace clearance {
namespace {

// Sizes that are nearly the same are made the same.
std::size_t rounded(std::size_t bytes) {
    constexpr std::size_t kStep = std::size_t{1} << 16;
    return (bytes + kStep - 1) / kStep * kStep;
}

// Large pages are touched less often; as NumPy does it.
void ask_for_large_pages([[maybe_unused]] void* block, [[maybe_unused]] std::size_t bytes) {
#if defined(__linux__)
    constexpr std::size_t kLarge = std::size_t{1} << 22, kPage = 4096;  // bytes
    if (bytes < kLarge) return;
    const auto address = reinterpret_cast<std::uintptr_t>(block), first = (address + kPage - 1) / kPage * kPage;
    madvise(reinterpret_cast<void*>(first), bytes - (first - address), MADV_HUGEPAGE);
#endif
}

// The blocks that wait, the oldest first. Whoever finds them busy goes to the system, so that nobody waits for a lock
// that a fork has left behind.
class Waiting {
public:
    void* take(std::size_t bytes) {
        const std::unique_lock<std::mutex> lock(busy_, std::try_to_lock);
        if (!lock) return nullptr;
        for (std::size_t k = blocks_.size(); k-- > 0;)
            if (blocks_[k].bytes == bytes) return removed(k);
        return nullptr;
    }

    bool keep(void* start, std::size_t bytes) noexcept {
        const std::unique_lock<std::mutex> lock(busy_, std::try_to_lock);
        if (!lock || bytes > kKeptAtMost) return false;
        while (total_ + bytes > kKeptAtMost) ::operator delete(removed(0));
        blocks_.push_back({start, bytes});
        total_ += bytes;
        return true;
    }

private:
    struct Block {
        void* start;
        std::size_t bytes;
    };

    void* removed(std::size_t k) {
        const Block block = blocks_[k];
        blocks_.erase(blocks_.begin() + static_cast<std::ptrdiff_t>(k));
        total_ -= block.bytes;
        return block.start;
    }

    std::mutex busy_;
    std::vector<Block> blocks_ = [] {
        std::vector<Block> room;
        room.reserve(kKeptAtMost / kKeptFrom);
        return room;
    }();
    std::size_t total_ = 0;
};

// Never destroyed: arrays may outlive everything else.
Waiting& waiting() {
    static Waiting& blocks = *new Waiting;
    return blocks;
}

}  // namespace

void* take_block(std::size_t bytes) {
    if (bytes < kKeptFrom) return ::operator new(bytes);
    const std::size_t wanted = rounded(bytes);
    if (void* const kept = waiting().take(wanted)) return kept;
    void* const block = ::operator new(wanted);
    ask_for_large_pages(block, wanted);
    return block;
}

void give_block(void* block, std::size_t bytes) noexcept {
    if (bytes < kKeptFrom || !waiting().keep(block, rounded(bytes))) ::operator delete(block);
}

}  // namespace clearance
