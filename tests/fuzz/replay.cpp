// Runs a fuzz target on files, without a fuzzer: everything that was kept is looked at again with every build.
//
//     <target> <file or folder> ...
#include <algorithm>
#include <cstdint>
#include <cstdio>
#include <filesystem>
#include <fstream>
#include <iterator>
#include <vector>

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size);

namespace {

namespace fs = std::filesystem;

std::vector<fs::path> files_in(const fs::path& path) {
    if (!fs::is_directory(path)) return {path};
    std::vector<fs::path> files;
    for (const fs::directory_entry& entry : fs::recursive_directory_iterator(path))
        if (entry.is_regular_file()) files.push_back(entry.path());
    std::sort(files.begin(), files.end());
    return files;
}

// A target that finds something ends the program: the last name printed is the one.
bool run(const fs::path& path) {
    std::ifstream file(path, std::ios::binary);
    const std::vector<char> text{std::istreambuf_iterator<char>(file), {}};
    if (!file.is_open() || file.bad()) return false;
    std::printf("%s\n", path.filename().c_str());
    std::fflush(stdout);
    const std::vector<std::uint8_t> bytes(text.begin(), text.end());
    LLVMFuzzerTestOneInput(bytes.data(), bytes.size());
    return true;
}

}  // namespace

int main(int argc, char** argv) {
    long passed = 0, failed = 0;
    for (int k = 1; k < argc; ++k)
        for (const fs::path& path : files_in(argv[k])) {
            const bool is_read = run(path);
            if (!is_read) std::printf("%s cannot be read\n", path.c_str());
            ++(is_read ? passed : failed);
        }
    std::printf("%ld passed, %ld failed\n", passed, failed);
    return passed > 0 && failed == 0 ? 0 : 1;
}
