// What a session tunes: one task, its algorithms, and what must stay true of its results.
#pragma once

#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "base/result.h"
#include "compiler/ir/nodes/tensor_expr.h"
#include "compiler/schedule/trace.h"

namespace attune::session {

// A program that computes the task; the first of a task is the direct one, the reference.
struct Algorithm {
  std::string
      name;  // as in the trace's first step `algorithm NAME`; the direct one may be left out
  std::shared_ptr<const ir::Program> program;
  double tolerance = 0;  // largest error, as a fraction of the largest magnitude of the result
  bool competes = true;  // false: it serves as the reference only
};

struct Task {
  std::string key;   // stable hash, hexadecimal
  std::string name;  // for people
  double flops = 0;
  std::vector<Algorithm> algorithms;  // at least one

  const ir::Program& reference() const { return *algorithms.front().program; }
};

// The algorithm that a trace is made for: the one its first step names, else the direct one.
Result<const Algorithm*> algorithm_of(const Task& task, const schedule::Trace& trace);

}  // namespace attune::session
