// Where a test program finds what was built beside it, and the files of its checkout: by where it
// lies itself, so that the same object serves every clone. Programs lie in bin/ of the build
// folder, whose CMakeCache.txt names the checkout; a package (scripts/package) has none, and is
// both folders in one.
#pragma once

#include <filesystem>
#include <fstream>
#include <string>
#include <string_view>

namespace attune {

inline std::filesystem::path build_folder() {
  return std::filesystem::canonical("/proc/self/exe").parent_path().parent_path();
}

inline std::filesystem::path checkout_of(const std::filesystem::path& build) {
  constexpr std::string_view kKey = "CMAKE_HOME_DIRECTORY:INTERNAL=";
  std::ifstream cache(build / "CMakeCache.txt");
  for (std::string line; std::getline(cache, line);) {
    if (line.starts_with(kKey)) return line.substr(kKey.size());
  }
  return build;
}

// "bin/attune"
inline std::string built_path(std::string_view name) { return build_folder() / name; }
// "tests/golden"
inline std::string checkout_path(std::string_view name) {
  return checkout_of(build_folder()) / name;
}

}  // namespace attune
