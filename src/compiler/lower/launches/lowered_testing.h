// Programs and traces in text, lowered for blocks and threads.
#pragma once

#include <string>

#include "base/result.h"
#include "compiler/ir/text/parse.h"
#include "compiler/ir/text/print.h"
#include "compiler/lower/lower.h"
#include "compiler/schedule/trace.h"

namespace attune::lower {

inline Result<ir::Kernel> lowered(const std::string& program, const std::string& trace) {
  ATTUNE_ASSIGN(const ir::Program parsed, ir::parse_program(program));
  ATTUNE_ASSIGN(const schedule::Trace steps, schedule::parse_trace(trace));
  ATTUNE_ASSIGN(const schedule::State state, schedule::replay(parsed, steps));
  Options options;
  options.pipeline = launch_pipeline();
  ATTUNE_ASSIGN(const Lowered result, lower(state, options));
  return result.main;
}

// The kernel, or what is wrong.
inline std::string text_of(const std::string& program, const std::string& trace) {
  const auto kernel = lowered(program, trace);
  return kernel.ok() ? ir::to_string(*kernel) : kernel.error().message;
}

}  // namespace attune::lower
