#include "tests/support/emulated.h"

#include <fmt/format.h>
#include <unistd.h>

#include <filesystem>

#include "base/built_path_testing.h"

namespace attune::test {
namespace {

constexpr const char* kEmulator = "/usr/bin/qemu-aarch64-static";
constexpr const char* kLibraries = "/usr/aarch64-linux-gnu";

std::filesystem::path program_path(const std::string& program) {
  return std::filesystem::path(checkout_path("build/aarch64/bin")) / program;
}

}  // namespace

std::optional<std::string> why_not_emulated() {
  const auto missing = [](const char* path) {
    return fmt::format("there is no {}; ./test arm installs it", path);
  };
  if (access(kEmulator, X_OK) != 0) return missing(kEmulator);
  if (!std::filesystem::exists(kLibraries)) return missing(kLibraries);
  if (!std::filesystem::exists(program_path("run_kernel"))) {
    return "the runtime for aarch64 is not built; ./test arm builds it";
  }
  return std::nullopt;
}

std::string own_run_outputs() { return built_path("bin/run_outputs"); }

ProcessResult run_emulated(const std::string& program, const std::vector<std::string>& arguments,
                           const std::string& cpu) {
  std::vector<std::string> command{kEmulator, "-cpu", cpu, "-L", kLibraries, program_path(program)};
  command.insert(command.end(), arguments.begin(), arguments.end());
  return run_process(command);
}

}  // namespace attune::test
