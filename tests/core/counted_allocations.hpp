// Counts what is taken from the heap, by taking the place of operator new; for one file of a program.
#pragma once

#include <atomic>
#include <cstdlib>
#include <new>

namespace {
std::atomic<long> allocations{0};

void* counted(std::size_t size) {
    ++allocations;
    if (void* const memory = std::malloc(size == 0 ? 1 : size)) return memory;
    throw std::bad_alloc();
}

void* counted(std::size_t size, std::align_val_t alignment) {
    ++allocations;
    const std::size_t step = static_cast<std::size_t>(alignment);
    if (void* const memory = std::aligned_alloc(step, (size / step + 1) * step)) return memory;
    throw std::bad_alloc();
}
}  // namespace

// The array and nothrow forms of the standard library end up in these. Kept out of line: a compiler that sees malloc()
// next to delete warns of a mismatch.
[[gnu::noinline]] void* operator new(std::size_t size) { return counted(size); }
[[gnu::noinline]] void* operator new(std::size_t size, std::align_val_t alignment) { return counted(size, alignment); }
[[gnu::noinline]] void operator delete(void* memory) noexcept { std::free(memory); }
[[gnu::noinline]] void operator delete(void* memory, std::size_t) noexcept { std::free(memory); }
[[gnu::noinline]] void operator delete(void* memory, std::align_val_t) noexcept { std::free(memory); }
[[gnu::noinline]] void operator delete(void* memory, std::size_t, std::align_val_t) noexcept { std::free(memory); }
