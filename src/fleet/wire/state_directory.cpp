#include "fleet/wire/state_directory.h"

#include <arpa/inet.h>
#include <fmt/format.h>
#include <sys/socket.h>
#include <unistd.h>

#include <cstdlib>
#include <filesystem>
#include <fstream>

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
  if (given.empty()) return default_state_directory();
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
std::string address_path(const std::string& state) { return state + "/address"; }
std::string database_path(const std::string& state) { return state + "/scheduler.db"; }
std::string colocation_path(const std::string& state) { return state + "/colocation.json"; }
std::string job_path(const std::string& state, const std::string& job) {
  return state + "/jobs/" + job;
}

Result<std::string> read_address(const std::string& state) {
  std::ifstream file(address_path(state));
  std::string address;
  if (!file || !std::getline(file, address) || address.empty()) {
    return Error{ErrorCode::NotFound, fmt::format("no scheduler has served {} yet", state),
                 "start one with 'attune scheduler'"};
  }
  return address;
}

bool is_served(const std::string& state) {
  const auto address = read_address(state);
  if (!address.ok()) return false;
  const std::size_t colon = address->rfind(':');
  sockaddr_in place{};
  place.sin_family = AF_INET;
  place.sin_port = htons(static_cast<std::uint16_t>(std::atoi(address->c_str() + colon + 1)));
  if (::inet_pton(AF_INET, address->substr(0, colon).c_str(), &place.sin_addr) != 1) return false;
  const int line = ::socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0);
  if (line < 0) return false;
  const bool served = ::connect(line, reinterpret_cast<const sockaddr*>(&place), sizeof place) == 0;
  ::close(line);
  return served;
}

}  // namespace attune::wire
