#include "fleet/wire/state_directory.h"

#include <fmt/format.h>

#include <cstdlib>
#include <filesystem>

namespace attune::wire {
namespace fs = std::filesystem;

Result<std::string> default_state_directory(const char* xdg_data_home, const char* home) {
  // The XDG rules say that a relative path is to be ignored.
  if (xdg_data_home != nullptr && fs::path(xdg_data_home).is_absolute()) {
    return (fs::path(xdg_data_home) / "attune" / "scheduler").string();
  }
  if (home == nullptr || *home == '\0') {
    return Error{ErrorCode::NotFound,
                 "no place for the scheduler's state: neither HOME nor XDG_DATA_HOME is set",
                 "name a folder with --state DIR"};
  }
  return (fs::path(home) / ".local" / "share" / "attune" / "scheduler").string();
}

Result<std::string> default_state_directory() {
  return default_state_directory(std::getenv("XDG_DATA_HOME"), std::getenv("HOME"));
}

Result<std::string> state_directory(const std::string& given) {
  if (given.empty()) {
    ATTUNE_ASSIGN(const std::string usual, default_state_directory());
    return state_directory(usual);
  }
  std::error_code failure;
  const fs::path path = fs::absolute(given, failure).lexically_normal();
  if (failure) {
    return Error{ErrorCode::Io,
                 fmt::format("cannot find out where '{}' is: {}", given, failure.message()),
                 {}};
  }
  return path.has_filename() ? path.string() : path.parent_path().string();
}

std::string lock_path(const std::string& state) { return state + "/lock"; }
std::string database_path(const std::string& state) { return state + "/scheduler.db"; }
std::string colocation_path(const std::string& state) { return state + "/colocation.json"; }
std::string job_path(const std::string& state, const std::string& job) {
  return state + "/jobs/" + job;
}
std::string upload_path(const std::string& state, const std::string& upload) {
  return state + "/uploads/" + upload;
}

std::string shared_directory(const std::string& state) { return state + ".shared"; }
std::string socket_path(const std::string& directory) { return directory + "/socket"; }

}  // namespace attune::wire
