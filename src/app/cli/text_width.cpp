#include "app/cli/text_width.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>

namespace attune::cli {
namespace {

bool starts_character(char c) { return (static_cast<unsigned char>(c) & 0xc0) != 0x80; }

std::string blanks(std::string_view beside, std::size_t columns) {
  const std::size_t taken = text_columns(beside);
  return std::string(taken < columns ? columns - taken : 0, ' ');
}

}  // namespace

std::size_t text_columns(std::string_view text) {
  return static_cast<std::size_t>(std::count_if(text.begin(), text.end(), starts_character));
}

std::string shortened(std::string_view text, std::size_t columns) {
  if (text_columns(text) <= columns) return std::string(text);
  if (columns == 0) return {};
  std::size_t seen = 0, end = 0;
  while (!starts_character(text[end]) || seen++ < columns - 1) ++end;
  return std::string(text.substr(0, end)) + "…";
}

std::string left_aligned(std::string_view text, std::size_t columns) {
  const std::string shown = shortened(text, columns);
  return shown + blanks(shown, columns);
}

std::string right_aligned(std::string_view text, std::size_t columns) {
  const std::string shown = shortened(text, columns);
  return blanks(shown, columns) + shown;
}

std::string spelled_duration(double seconds) {
  if (seconds < 60) return fmt::format("{:.0f} s", std::ceil(seconds));
  const auto whole = static_cast<long>(seconds);
  return fmt::format("{} min {} s", whole / 60, whole % 60);
}

}  // namespace attune::cli
