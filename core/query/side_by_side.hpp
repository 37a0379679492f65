#pragma once

#include "convex/drum_kernels.hpp"
#include "convex/polytope_kernels.hpp"
#include "query/convex_pair.hpp"

namespace clearance {

// Room for a number of things that are made one after the other, and never cleaned away.
template <class T, std::size_t count>
class Room {
    static_assert(std::is_trivially_destructible_v<T>);

public:
    template <class... Arguments>
    T& make(std::size_t k, const Arguments&... arguments) {
        return *std::construct_at(data() + k, arguments...);
    }
    // What a function gives, made where it is to stay.
    template <class Function>
    void put(std::size_t k, const Function& function) {
        ::new (static_cast<void*>(data() + k)) T(function());
    }
    T* data() { return reinterpret_cast<T*>(bytes_); }
    T& operator[](std::size_t k) { return *std::launder(data() + k); }

private:
    alignas(T) std::byte bytes_[count * sizeof(T)];
};

// Gaps of many pairs of parts, found together: what can be begun in lanes waits until there are enough of its kind. Nothing
// else changes, not a bit. Questions have to stay where they are until the end.
class SideBySide {
public:
    explicit SideBySide(Work& work) : work_(work) {}
    SideBySide(const SideBySide&) = delete;
    SideBySide& operator=(const SideBySide&) = delete;

    // What gap_between tells of two parts is written to `to`: now, or later, but not after finish().
    void add(const PlacedPart& a, const PlacedPart& b, const Question& question, Gap& to);
    void finish();

private:
    static constexpr std::size_t kRoom = 128;

    // Convex pairs that wait, and where their gaps are to be written.
    class Waiting {
    public:
        template <class... Arguments>
        ConvexPair& make(Gap& to, const Arguments&... arguments) {
            to_[size_] = &to;
            return pairs_.make(size_, arguments...);
        }
        void keep() { ++size_; }
        std::size_t size() const { return size_; }
        const ConvexPair& operator[](std::size_t k) { return pairs_[k]; }

        // All of them are answered, from what `done` tells.
        template <class Done>
        void answer(Work& work, const Done& done) {
            for (std::size_t k = 0; k < size_; ++k) ::new (static_cast<void*>(to_[k])) Gap(pairs_[k].gap(work, done(k)));
            size_ = 0;
        }

    private:
        Room<ConvexPair, kRoom> pairs_;
        Gap* to_[kRoom];
        std::size_t size_ = 0;
    };

    void walk();
    void grow();
    void touch();

    Work& work_;

    // Polytopes, which are walked over together; and those that meet, between which others grow.
    Waiting walking_;
    Room<PolytopePair, kRoom> polytopes_;
    Room<PolytopeWalk, kRoom> walks_;
    Room<PolytopeMeeting, kRoom> meetings_;
    Room<PolytopeGrowth, kRoom> growths_;
    const PolytopeGrowth* grown_[kRoom];

    // Cylinders, which are brought to touch together.
    static_assert(kRoom <= DrumColumns::kRoom);
    Waiting touching_;
    DrumColumns drums_;
    TouchColumns touches_;
};

}  // namespace clearance
