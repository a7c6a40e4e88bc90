#include "runtime/cpu_features.h"

#include <algorithm>
#include <array>

namespace attune::runtime {
namespace {

#if defined(__x86_64__)
constexpr std::string_view kArchitecture = "x86_64";
#elif defined(__aarch64__)
constexpr std::string_view kArchitecture = "aarch64";
#elif defined(__riscv)
constexpr std::string_view kArchitecture = "riscv64";
#endif

#if defined(__x86_64__)
constexpr std::array<std::string_view, 24> kFeatures = {
    "sse3",       "ssse3",      "sse4.1",      "sse4.2",     "popcnt",     "avx",
    "avx2",       "fma",        "f16c",        "bmi",        "bmi2",       "lzcnt",
    "avx512f",    "avx512bw",   "avx512dq",    "avx512vl",   "avx512cd",   "avx512vnni",
    "avx512vbmi", "avx512ifma", "avx512vbmi2", "avx512bf16", "avx512fp16", "avxvnni"};

// The built-in takes string literals only.
bool supported(std::size_t index) {
  __builtin_cpu_init();
  const std::array<bool, kFeatures.size()> have = {
      __builtin_cpu_supports("sse3") > 0,        __builtin_cpu_supports("ssse3") > 0,
      __builtin_cpu_supports("sse4.1") > 0,      __builtin_cpu_supports("sse4.2") > 0,
      __builtin_cpu_supports("popcnt") > 0,      __builtin_cpu_supports("avx") > 0,
      __builtin_cpu_supports("avx2") > 0,        __builtin_cpu_supports("fma") > 0,
      __builtin_cpu_supports("f16c") > 0,        __builtin_cpu_supports("bmi") > 0,
      __builtin_cpu_supports("bmi2") > 0,        __builtin_cpu_supports("lzcnt") > 0,
      __builtin_cpu_supports("avx512f") > 0,     __builtin_cpu_supports("avx512bw") > 0,
      __builtin_cpu_supports("avx512dq") > 0,    __builtin_cpu_supports("avx512vl") > 0,
      __builtin_cpu_supports("avx512cd") > 0,    __builtin_cpu_supports("avx512vnni") > 0,
      __builtin_cpu_supports("avx512vbmi") > 0,  __builtin_cpu_supports("avx512ifma") > 0,
      __builtin_cpu_supports("avx512vbmi2") > 0, __builtin_cpu_supports("avx512bf16") > 0,
      __builtin_cpu_supports("avx512fp16") > 0,  __builtin_cpu_supports("avxvnni") > 0};
  return have[index];
}
#else
constexpr std::array<std::string_view, 0> kFeatures = {};
bool supported(std::size_t) { return false; }
#endif

}  // namespace

std::string_view host_architecture() { return kArchitecture; }

std::span<const std::string_view> known_features() { return kFeatures; }

bool has_feature(std::string_view feature) {
  const auto* found = std::find(kFeatures.begin(), kFeatures.end(), feature);
  return found != kFeatures.end() && supported(static_cast<std::size_t>(found - kFeatures.begin()));
}

Status check_cpu(std::string_view architecture, std::span<const std::string> features) {
  const std::string hint = "compile the model for this machine, or with an older -mcpu";
  if (architecture != kArchitecture) {
    return unsupported("the code is for " + std::string(architecture) + ", this machine is " +
                           std::string(kArchitecture),
                       hint);
  }
  std::string missing;
  for (const std::string& feature : features) {
    if (has_feature(feature)) continue;
    missing += (missing.empty() ? "" : ", ") + feature;
  }
  if (!missing.empty()) {
    return unsupported("the code needs CPU features that this machine lacks: " + missing, hint);
  }
  return {};
}

}  // namespace attune::runtime
