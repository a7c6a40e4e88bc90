// Schedules that are hopeless on a target whatever the rest looks like: register tiles that spill,
// buffers larger than the memory, unrolled code that takes minutes to compile, blocks that a device
// has no room for.
#pragma once

#include <optional>
#include <string_view>
#include <vector>

#include "compiler/schedule/bounds.h"
#include "compiler/target/target.h"

namespace attune::space {

struct Limits {
  std::int64_t unrolled_statements = 4096;               // in one basic block
  std::int64_t workspace_bytes = std::int64_t{2} << 30;  // of one stage's buffer
  std::int64_t stack_bytes = std::int64_t{1} << 20;      // of a buffer on the stack
  bool spills = true;  // register tiles that spill are hopeless, if not fatal
};

// A few words that say why, or nothing when the schedule may be tried.
std::optional<std::string_view> find_flaw(const schedule::State& state,
                                          const std::vector<schedule::StageBounds>& bounds,
                                          const target::Target& target, const Limits& limits = {});

}  // namespace attune::space
