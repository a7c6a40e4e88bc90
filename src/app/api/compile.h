// Compiling an operator, with every stage on the way as text.
#pragma once

#include <string>
#include <vector>

#include "app/api/known_schedule.h"
#include "app/api/model.h"
#include "base/result.h"

namespace attune::api {

struct CompileOptions {
  ModelOptions model = {};
  ScheduleOptions schedule = {};
  // What to print, in any order: te, trace, loops, llvm, asm, or the name of a lowering pass.
  std::vector<std::string> emit = {};
  std::string output = {};  // the shared object goes here; empty: nowhere
};

struct EmittedStage {
  std::string name = {};
  std::string text = {};
};

struct CompileReport {
  std::string model = {};
  std::string target = {};
  std::string schedule_text = {};
  std::vector<EmittedStage> stages = {};  // in the order in which they happen
  std::vector<std::string> kernels = {};  // names of the exported functions
  std::size_t object_bytes = 0;
  double compile_ms = 0;  // machine code and linking
  int vector_spills = 0;
};

Result<CompileReport> compile(const CompileOptions& options);

}  // namespace attune::api
