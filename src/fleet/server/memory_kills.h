// Processes that the kernel ended for want of memory, by its own count.
#pragma once

#include <cstdint>
#include <optional>
#include <string>

namespace attune::server {

// Of this process's control group where that says it (version 2, memory.events), else of the whole
// machine (/proc/vmstat); nothing where neither does. `root`: where both are found.
std::optional<std::int64_t> count_memory_kills(const std::string& root = "");

}  // namespace attune::server
