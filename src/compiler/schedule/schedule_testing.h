// Test support: programs and traces from text, and states as short text.
#pragma once

#include <string>
#include <string_view>

#include "compiler/ir/text/parse.h"
#include "compiler/schedule/bounds.h"
#include "compiler/schedule/trace.h"

namespace attune::schedule {

// A product with an epilogue; nothing divides by 4.
inline constexpr const char* kProduct = R"(program product {
  input a: f32[10, 7]
  constant b: f32[7, 9]
  stage anchor(i: 10, j: 9) = sum(k: 7) a[i, k] * b[k, j]
  stage bias(i: 10, j: 9) = anchor[i, j] + 1.0f32
  stage 'output'(i: 10, j: 9) = max(bias[i, j], 0.0f32)
  output 'output'
}
)";

inline ir::Program program_from(std::string_view text) { return ir::parse_program(text).value(); }

// The program after the trace, or the error as "message / hint".
inline Result<State> schedule_text(std::string_view program, std::string_view trace) {
  ATTUNE_ASSIGN(const Trace steps, parse_trace(trace));
  return replay(program_from(program), steps);
}

inline std::string error_of(const Error& error) { return error.message + " / " + error.hint; }

// "i.0:3 i.1:4 k:7 vectorized", outermost first, with the extents that bounds inference gives.
inline std::string loops_of(const State& state, std::string_view stage) {
  const auto bounds = infer_bounds(state, Mins::Leave);
  if (!bounds.ok()) return error_of(bounds.error());
  const int index = state.find(stage);
  if (index < 0) return "no such stage";
  const StageState& s = *state.stages[index];
  std::string text;
  for (int loop : s.loops) {
    const char* const kinds[] = {"", " parallel", " vectorized", " unrolled", " bound"};
    text += (text.empty() ? "" : " ") + s.iters[loop].name + ":" +
            std::to_string((*bounds)[index].iters[loop]) +
            kinds[static_cast<int>(s.iters[loop].kind)];
  }
  return text;
}

// The loops of one stage of kProduct after the trace, or the error.
inline std::string loops_after(std::string_view stage, std::string_view trace,
                               std::string_view program = kProduct) {
  const auto state = schedule_text(program, trace);
  return state.ok() ? loops_of(*state, stage) : error_of(state.error());
}

}  // namespace attune::schedule
