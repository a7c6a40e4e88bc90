// Reading a whole file that the user named.
#pragma once

#include <cstdint>
#include <string>

#include "base/result.h"

namespace attune {

// Beyond that a file of text or of one tensor is refused.
inline constexpr std::uint64_t kLargestTextBytes = std::uint64_t{1} << 30;
// Settings, schedules, plans and the like, which people write or read.
inline constexpr std::uint64_t kLargestSettingBytes = std::uint64_t{1} << 24;

// Errors say which file and why. Only regular files of at most `most` bytes are read.
Result<std::string> read_text_file(const std::string& path, std::uint64_t most = kLargestTextBytes);

}  // namespace attune
