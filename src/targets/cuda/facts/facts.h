// CUDA cards as targets. `cuda` alone is the card of this machine; `cuda -arch=sm_90a` is the usual
// card of that architecture wherever it is compiled, and `cuda -card=l40s` one of those by name
// (known_cards.h). A resolved target states all that predictions depend on, and no card's name.
#pragma once

#include <cstdint>
#include <string_view>

#include "base/result.h"
#include "compiler/target/kind.h"
#include "compiler/target/target.h"

namespace attune::cuda {

inline constexpr std::string_view kCard = "card";  // gives the others; not in a resolved one
inline constexpr std::string_view kArchitecture = "arch";  // "sm_90a"
inline constexpr std::string_view kMultiprocessorCount = "multiprocessors";
inline constexpr std::string_view kSharedKb = "shared_kb";  // that a block may ask for
inline constexpr std::string_view kClockMhz = "clock_mhz";
inline constexpr std::string_view kL2Mb = "l2_mb";
inline constexpr std::string_view kDramGbps = "dram_gbps";

extern const target::Kind target_kind;

Result<target::Target> resolve(const target::Target& target);

}  // namespace attune::cuda
