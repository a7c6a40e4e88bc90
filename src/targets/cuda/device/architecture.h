// Architectures of CUDA devices by their names, "sm_90a", and which card runs code for which.
#pragma once

#include <optional>
#include <string>
#include <string_view>

namespace attune::cuda {

struct Architecture {
  int major = 0, minor = 0;
  // 'a': with instructions that this one architecture has, 'f': those of its family; 0: neither.
  char variant = 0;
  bool operator==(const Architecture&) const = default;
};

// Nothing when the text is not "sm_", two or three digits and at most one of the letters.
std::optional<Architecture> parse_architecture(std::string_view text);
std::string to_string(const Architecture& architecture);

// Whether a card of compute capability major.minor runs machine code for it.
bool runs_on(const Architecture& code, const Architecture& card);
// Whether its driver can translate PTX for it.
bool translates_on(const Architecture& code, const Architecture& card);

// What code for a card is best compiled for: all that it has.
Architecture best_for(int major, int minor);

}  // namespace attune::cuda
