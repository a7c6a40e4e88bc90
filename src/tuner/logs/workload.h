// What a task of AutoTVM computes, as an operator spec of ours. Layouts are not part of it: a
// convolution is the same layer whether its activations lie channels first, channels last or in
// blocks.
#pragma once

#include <string>
#include <variant>

#include "tuner/logs/log_line.h"

namespace attune::logs {

struct Workload {
  std::string spec;       // "conv2d:n=1,h=56,…", not canonical
  bool winograd = false;  // the task's own algorithm
};

// Why something of a log has no counterpart here, in words that group equal cases.
struct Unmapped {
  std::string reason;
};

std::variant<Workload, Unmapped> workload_of(const LogRecord& record);

// "llvm", "cuda": the kind that a target text begins with; "" when it has none.
std::string target_kind(const std::string& target);
// Whether schedules for this kind of target are loops of a CPU.
bool is_cpu(const std::string& kind);

}  // namespace attune::logs
