// Compiling a whole model to an artifact, with its graph and tasks as text on request.
#pragma once

#include <functional>
#include <string>
#include <vector>

#include "app/api/compile.h"
#include "app/api/compile_format.h"
#include "app/api/fallbacks.h"
#include "app/api/graph_model.h"

namespace attune::api {

struct CompileGraphOptions {
  GraphOptions graph = {};
  ScheduleOptions schedule = {};
  // What to print: graph (after all passes), the name of a graph pass, tasks, plan; or te, trace,
  // loops, llvm, asm of every task.
  std::vector<std::string> emit = {};
  std::string output = {};  // the artifact, or the directory of C sources; empty: nowhere
  FormatOptions format = {};
  std::function<void(std::size_t done, std::size_t all)> progress = {};
};

struct PassTime {
  std::string name = {};
  double milliseconds = 0;
};

struct CompileGraphReport {
  std::string model = {};
  std::vector<EmittedStage> stages = {};
  std::vector<PassTime> passes = {};
  std::size_t nodes = 0, kernels = 0, calls = 0;
  std::int64_t weight_bytes = 0, arena_bytes = 0, peak_bytes = 0, code_bytes = 0;
  Fallbacks fallbacks = {};
  double seconds = 0;
};

Result<CompileGraphReport> compile_graph(const CompileGraphOptions& options);
std::string to_json(const CompileGraphReport& report);

}  // namespace attune::api
