#include "fleet/server/memory_kills.h"

#include <fstream>

namespace attune::server {
namespace {

std::optional<std::int64_t> read_count(const std::string& path) {
  std::ifstream file(path);
  std::string name;
  std::int64_t count = 0;
  while (file >> name >> count) {
    if (name == "oom_kill") return count;
  }
  return std::nullopt;
}

// Of version 2, from its root; nothing where there is none.
std::optional<std::string> own_group(const std::string& root) {
  std::ifstream file(root + "/proc/self/cgroup");
  for (std::string line; std::getline(file, line);) {
    if (line.starts_with("0::")) return line.substr(3);
  }
  return std::nullopt;
}

}  // namespace

std::optional<std::int64_t> count_memory_kills(const std::string& root) {
  if (const std::optional<std::string> group = own_group(root)) {
    const auto count = read_count(root + "/sys/fs/cgroup" + *group + "/memory.events");
    if (count) return count;
  }
  return read_count(root + "/proc/vmstat");
}

}  // namespace attune::server
