// What a program is compiled for: a kind plus attributes, in text `cpu -mcpu=znver3 -threads=2`. A
// target as the user writes it may leave attributes out; the code generator resolves it to a full
// one, and only resolved targets become part of a key.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>

#include "base/result.h"

namespace attune::ir {

struct Target {
  std::string kind = "cpu";
  std::string triple;    // "" = this machine's
  std::string cpu;       // "" = this machine's; an LLVM CPU name
  std::string features;  // LLVM feature string, "" = those of the CPU name
  int threads = 0;       // 0 = all cores

  // Facts that schedules depend on; filled when the target is resolved, not part of the text.
  int vector_bytes = 32;
  int vector_registers = 16;
  bool fma = true;
  std::int64_t l1_bytes = 32 << 10;
  std::int64_t l2_bytes = 512 << 10;
  std::int64_t l3_bytes = 16 << 20;

  int lanes(int element_bytes) const { return vector_bytes / element_bytes; }
};

// "cpu -triple=… -mcpu=… -mattr=… -threads=N", attributes that are set, in this order.
std::string to_string(const Target& target);
Result<Target> parse_target(std::string_view text);

}  // namespace attune::ir
