// Linked into every check by CLEARANCE_TRAPS: a division by zero ends the program, and says where it was. Infinities and NaN
// are values here, of ranges without an end and of what is not known, so comparing and subtracting them is no mistake; and
// bounds in floats may well overflow. But nothing divides by zero and hopes for the best.
#include <execinfo.h>
#include <fenv.h>
#include <signal.h>
#include <unistd.h>

#include <cstring>

namespace {

void say(const char* text) { [[maybe_unused]] const auto written = write(STDERR_FILENO, text, std::strlen(text)); }

// Only what may be called in a handler of signals.
void report(int) {
    say("a division by zero at\n");
    void* frames[32];
    backtrace_symbols_fd(frames, backtrace(frames, 32), STDERR_FILENO);
    _exit(1);
}

// Threads that are started later inherit it.
[[maybe_unused]] const bool is_armed = [] {
    signal(SIGFPE, report);
    feenableexcept(FE_DIVBYZERO);
    return true;
}();

}  // namespace
