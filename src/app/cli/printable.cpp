#include "app/cli/printable.h"

#include <algorithm>

namespace attune::cli {

std::string printable(std::string_view text) {
  const auto byte = [&](std::size_t i) {
    return i < text.size() ? static_cast<unsigned char>(text[i]) : 0;
  };
  std::string shown;
  for (std::size_t i = 0; i < text.size(); ++i) {
    const bool control = (byte(i) < 0x20 && byte(i) != '\n') || byte(i) == 0x7f;
    const bool two_bytes = byte(i) == 0xc2 && byte(i + 1) >= 0x80 && byte(i + 1) < 0xa0;
    shown += control || two_bytes ? '?' : text[i];
    i += two_bytes ? 1 : 0;
  }
  return shown;
}

std::string one_line(std::string_view text) {
  std::string line = printable(text);
  std::replace(line.begin(), line.end(), '\n', ' ');
  return line;
}

}  // namespace attune::cli
