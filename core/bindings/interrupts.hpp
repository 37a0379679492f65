#pragma once

#include <nanobind/nanobind.h>

#include <atomic>
#include <chrono>
#include <thread>

namespace clearance {

// Lets Ctrl-C end long work that has released the GIL: the thread that began it asks Python now and then.
class Interrupts {
public:
    // Whether to stop. Any thread may ask; only the first one finds out.
    bool wanted() {
        if (std::this_thread::get_id() == caller_ && !wanted_) {
            const auto now = std::chrono::steady_clock::now();
            if (now - asked_ > std::chrono::milliseconds(100)) {
                asked_ = now;
                const nanobind::gil_scoped_acquire held;
                wanted_ = PyErr_CheckSignals() != 0;
            }
        }
        return wanted_;
    }

    // With the GIL held: passes on what Python raised.
    void raise_if_wanted() const {
        if (wanted_) throw nanobind::python_error();
    }

private:
    std::thread::id caller_ = std::this_thread::get_id();
    std::chrono::steady_clock::time_point asked_ = std::chrono::steady_clock::now();
    std::atomic<bool> wanted_ = false;
};

}  // namespace clearance
