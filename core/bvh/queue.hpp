#pragma once

#include <utility>
#include <vector>

#include "bvh/tree.hpp"

namespace clearance {

// A pair of volumes that waits to be opened, and what is known of its distance.
struct Waiting {
    float key;
    std::int32_t a, b;  // slots
    std::int32_t pair;  // of trees
};

// A heap with four children per entry, least key first. Entries of equal keys come in no particular order.
template <class Entry>
class Queue {
public:
    explicit Queue(std::vector<Entry>& room) : heap_(room) { heap_.clear(); }

    bool empty() const { return heap_.empty(); }
    const Entry& top() const { return heap_.front(); }
    const std::vector<Entry>& entries() const { return heap_; }

    void push(const Entry& entry) {
        std::size_t hole = heap_.size();
        heap_.push_back(entry);
        while (hole > 0) {
            const std::size_t parent = (hole - 1) / 4;
            if (!(entry.key < heap_[parent].key)) break;
            heap_[hole] = heap_[parent];
            hole = parent;
        }
        heap_[hole] = entry;
    }

    Entry pop() {
        const Entry first = heap_.front(), last = heap_.back();
        heap_.pop_back();
        const std::size_t size = heap_.size();
        if (size == 0) return first;
        std::size_t hole = 0;
        for (;;) {
            const std::size_t child = 4 * hole + 1;
            if (child >= size) break;
            const std::size_t end = child + 4 < size ? child + 4 : size;
            std::size_t least = child;
            for (std::size_t k = child + 1; k < end; ++k)
                if (heap_[k].key < heap_[least].key) least = k;
            if (!(heap_[least].key < last.key)) break;
            heap_[hole] = heap_[least];
            hole = least;
        }
        heap_[hole] = last;
        return first;
    }

private:
    std::vector<Entry>& heap_;
};

}  // namespace clearance
