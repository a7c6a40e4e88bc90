// Compiling a model, with every stage on the way as text: to an artifact, to C sources, or to an
// object of its kernels.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "app/verbs/compile_format.h"
#include "base/result.h"
#include "compiler/model/fallback.h"
#include "compiler/model/load/prepared_model.h"

namespace attune::verbs {

struct CompileOptions {
  model::SourceOptions source = {};
  // What to print, in any order: names of stages (stages.h).
  std::vector<std::string> emit = {};
  // Where the artifact, the object or the C sources go; empty: nowhere. See format_of().
  std::string output = {};
  FormatOptions format = {};
  // Whether defaults that may be far from what this machine can do are timed beside others
  // (whole_model/look.h); never for another machine.
  bool look = true;
};

struct EmittedStage {
  std::string name = {};
  std::string text = {};
};

struct PassTime {
  std::string name = {};
  double milliseconds = 0;
};

struct CompileReport {
  std::string model = {};
  std::string target = {};
  std::string precision = {};
  std::string schedule_text = {};         // of where its schedules come from, for a person
  std::vector<EmittedStage> stages = {};  // in the order in which they happen
  std::vector<PassTime> passes = {};
  std::size_t nodes = 0, calls = 0;
  std::vector<std::string> kernels = {};  // names of the exported functions
  std::int64_t weight_bytes = 0, arena_bytes = 0, peak_bytes = 0, code_bytes = 0;
  int vector_spills = 0;
  std::size_t looked = 0, looked_better = 0;  // tasks that were looked at, and those it paid for
  double look_seconds = 0;
  std::string look_refused = {};  // why it did not look where it would have, and what helps
  bool shared_object = false;     // what was made: else an artifact, or C sources
  model::Fallbacks fallbacks = {};
  double seconds = 0;
};

Result<CompileReport> compile(const CompileOptions& options);
// The same of a model that was loaded with these options, and is no artifact.
Result<CompileReport> compile(model::LoadedModel model, const CompileOptions& options);
std::string to_json(const CompileReport& report);

}  // namespace attune::verbs
