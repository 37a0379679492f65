#pragma once

#include <cfenv>

namespace clearance::samples {

// For as long as it lives, arithmetic that CLEARANCE_TRAPS would end the program for is allowed.
class Untrapped {
public:
    Untrapped() { std::feholdexcept(&before_); }
    ~Untrapped() { std::fesetenv(&before_); }
    Untrapped(const Untrapped&) = delete;
    Untrapped& operator=(const Untrapped&) = delete;

private:
    std::fenv_t before_;
};

}  // namespace clearance::samples
