#pragma once

#include <cstddef>
#include <vector>

namespace clearance {

// Blocks of memory that were let go are kept for the next array of their size. Otherwise every batch gets its pages from
// the system and gives them back, which can take longer than its answers.
constexpr std::size_t kKeptFrom = std::size_t{1} << 17;    // bytes; the system's heap keeps smaller ones itself
constexpr std::size_t kKeptAtMost = std::size_t{1} << 26;  // bytes, of all blocks that wait

void* take_block(std::size_t bytes);
void give_block(void* block, std::size_t bytes) noexcept;

// For rows that are written before they are read: they are not initialised.
template <class T>
struct KeptBlocks {
    using value_type = T;

    KeptBlocks() = default;
    template <class Other>
    KeptBlocks(const KeptBlocks<Other>&) {}

    T* allocate(std::size_t count) { return static_cast<T*>(take_block(count * sizeof(T))); }
    void deallocate(T* rows, std::size_t count) noexcept { give_block(rows, count * sizeof(T)); }
    template <class Row>
    void construct(Row*) noexcept {}
    template <class Row, class... From>
    void construct(Row* row, From&&... from) {
        ::new (static_cast<void*>(row)) Row(static_cast<From&&>(from)...);
    }
    bool operator==(const KeptBlocks&) const { return true; }
};

template <class T>
using KeptRows = std::vector<T, KeptBlocks<T>>;

}  // namespace clearance
