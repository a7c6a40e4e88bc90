#include "targets/cuda/device/architecture.h"

#include <tuple>

namespace attune::cuda {

std::optional<Architecture> parse_architecture(std::string_view text) {
  constexpr std::string_view kStart = "sm_";
  if (!text.starts_with(kStart)) return std::nullopt;
  text.remove_prefix(kStart.size());
  Architecture architecture;
  if (text.ends_with('a') || text.ends_with('f')) {
    architecture.variant = text.back();
    text.remove_suffix(1);
  }
  if (text.size() < 2 || text.size() > 3 || text.front() == '0') return std::nullopt;
  for (std::size_t i = 0; i < text.size(); ++i) {
    if (text[i] < '0' || text[i] > '9') return std::nullopt;
    const int digit = text[i] - '0';
    if (i + 1 == text.size()) {
      architecture.minor = digit;
    } else {
      architecture.major = 10 * architecture.major + digit;
    }
  }
  return architecture;
}

std::string to_string(const Architecture& architecture) {
  std::string text =
      "sm_" + std::to_string(architecture.major) + std::to_string(architecture.minor);
  if (architecture.variant != 0) text += architecture.variant;
  return text;
}

bool runs_on(const Architecture& code, const Architecture& card) {
  if (code.major != card.major) return false;
  return code.variant == 'a' ? code.minor == card.minor : code.minor <= card.minor;
}

bool translates_on(const Architecture& code, const Architecture& card) {
  if (code.variant != 0) return runs_on(code, card);
  return std::tie(code.major, code.minor) <= std::tie(card.major, card.minor);
}

Architecture best_for(int major, int minor) {
  const bool has_variants = major >= 9;
  return {major, minor, has_variants ? 'a' : '\0'};
}

}  // namespace attune::cuda
