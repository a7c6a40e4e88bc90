#include "targets/cpu/device/cpu_features.h"

#if defined(__aarch64__)
#include <sys/auxv.h>
#endif

#include <algorithm>
#include <array>

namespace attune::cpu {
namespace {

#if defined(__x86_64__)
constexpr std::string_view kArchitecture = "x86_64";
#elif defined(__aarch64__)
constexpr std::string_view kArchitecture = "aarch64";
#elif defined(__riscv)
constexpr std::string_view kArchitecture = "riscv64";
#endif

// First those that arithmetic may use. Processors of one name differ in others, such as
// cryptography; those of them that LLVM uses in arithmetic stand behind the first.
constexpr std::size_t kX86Known = 24;
constexpr std::array<std::string_view, 30> kX86Features = {
    "sse3",       "ssse3",      "sse4.1",      "sse4.2",     "popcnt",     "avx",
    "avx2",       "fma",        "f16c",        "bmi",        "bmi2",       "lzcnt",
    "avx512f",    "avx512bw",   "avx512dq",    "avx512vl",   "avx512cd",   "avx512vnni",
    "avx512vbmi", "avx512ifma", "avx512vbmi2", "avx512bf16", "avx512fp16", "avxvnni",
    "gfni",       "movbe",      "sse4a",       "fma4",       "xop",        "tbm"};

constexpr std::size_t kAarch64Known = 10;
constexpr std::array<std::string_view, 13> kAarch64Features = {
    "neon", "fullfp16", "rdm",  "dotprod", "complxnum", "fp16fml", "i8mm",
    "bf16", "sve",      "sve2", "sha3",    "cssc",      "mops"};

std::span<const std::string_view> all_features(std::string_view architecture) {
  if (architecture == "x86_64") return kX86Features;
  if (architecture == "aarch64") return kAarch64Features;
  return {};
}

std::size_t known_count(std::string_view architecture) {
  return architecture == "x86_64" ? kX86Known : architecture == "aarch64" ? kAarch64Known : 0;
}

#if defined(__x86_64__)
// The built-in takes string literals only.
bool supported(std::size_t index) {
  __builtin_cpu_init();
  const std::array<bool, kX86Features.size()> have = {
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
      __builtin_cpu_supports("avx512fp16") > 0,  __builtin_cpu_supports("avxvnni") > 0,
      __builtin_cpu_supports("gfni") > 0,        __builtin_cpu_supports("movbe") > 0,
      __builtin_cpu_supports("sse4a") > 0,       __builtin_cpu_supports("fma4") > 0,
      __builtin_cpu_supports("xop") > 0,         __builtin_cpu_supports("tbm") > 0};
  return have[index];
}
#elif defined(__aarch64__)
// Bits of the kernel's words on the processor (Linux, arch/arm64 ELF hwcaps), which do not change.
bool supported(std::size_t index) {
  struct Bit {
    unsigned long word;
    int bit;
  };
  constexpr std::array<Bit, kAarch64Features.size()> kBits = {{{AT_HWCAP, 1},
                                                               {AT_HWCAP, 10},
                                                               {AT_HWCAP, 12},
                                                               {AT_HWCAP, 20},
                                                               {AT_HWCAP, 14},
                                                               {AT_HWCAP, 23},
                                                               {AT_HWCAP2, 13},
                                                               {AT_HWCAP2, 14},
                                                               {AT_HWCAP, 22},
                                                               {AT_HWCAP2, 1},
                                                               {AT_HWCAP, 17},
                                                               {AT_HWCAP2, 34},
                                                               {AT_HWCAP2, 43}}};
  return (getauxval(kBits[index].word) >> kBits[index].bit & 1) != 0;
}
#else
bool supported(std::size_t) { return false; }
#endif

}  // namespace

std::string_view host_architecture() { return kArchitecture; }

std::span<const std::string_view> known_features(std::string_view architecture) {
  return all_features(architecture).first(known_count(architecture));
}

std::span<const std::string_view> added_features(std::string_view architecture) {
  return all_features(architecture).subspan(known_count(architecture));
}

bool has_feature(std::string_view feature) {
  const auto known = all_features(kArchitecture);
  const auto found = std::find(known.begin(), known.end(), feature);
  return found != known.end() && supported(static_cast<std::size_t>(found - known.begin()));
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

}  // namespace attune::cpu
