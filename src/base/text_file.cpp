#include "base/text_file.h"

#include <fmt/format.h>

#include <cctype>
#include <cerrno>
#include <cstring>
#include <filesystem>
#include <fstream>
#include <iterator>

namespace attune {

Result<std::string> read_text_file(const std::string& path) {
  constexpr std::uintmax_t kLargestBytes = std::uintmax_t{1} << 30;
  std::error_code failure;
  const auto cannot = [&](std::string why) {
    why[0] = static_cast<char>(std::tolower(static_cast<unsigned char>(why[0])));
    return Error{ErrorCode::Io, fmt::format("cannot read '{}': {}", path, why), {}};
  };
  if (std::filesystem::is_directory(path, failure)) return cannot("it is a directory");
  std::ifstream file(path, std::ios::binary);
  if (!file) return cannot(std::strerror(errno));
  const std::uintmax_t size = std::filesystem::file_size(path, failure);
  if (!failure && size > kLargestBytes) {
    return cannot(fmt::format("it has {} bytes, more than {}", size, kLargestBytes));
  }
  std::string text((std::istreambuf_iterator<char>(file)), std::istreambuf_iterator<char>());
  if (file.bad()) return cannot("reading failed");
  return text;
}

}  // namespace attune
