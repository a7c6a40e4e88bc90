// From what the user names to what the compiler works on: a model and a target in text become a
// task with its program and a resolved target.
#pragma once

#include <cstdint>
#include <functional>
#include <map>
#include <memory>
#include <string>
#include <vector>

#include "base/result.h"
#include "compiler/frontend/op_spec/op_spec.h"
#include "compiler/schedule/trace.h"
#include "compiler/target/target.h"

namespace attune::api {

// Shapes of inputs by name: --shape NAME=1,3,224,224.
using Shapes = std::map<std::string, std::vector<std::int64_t>, std::less<>>;

struct ModelOptions {
  std::string model = {};      // an operator spec, a file or a name of the zoo
  std::string target = "cpu";  // "cpu" alone is this machine
  int threads = 0;             // 0: as the target says, else all cores
  bool exact = false;          // direct algorithms only
};

// One way to compute a task.
struct Algorithm {
  std::string name = {};  // "direct", or as in `algorithm NAME`
  std::shared_ptr<const ir::Program> program = {};
  double tolerance = 0;  // as ops::Operator::tolerance
};

struct OperatorModel {
  op_spec::OpTask task = {};
  target::Target target = {};              // resolved
  std::vector<Algorithm> algorithms = {};  // all there are, the direct one first
  std::vector<std::string> allowed = {};   // names of those that the options leave in the race

  // The algorithm that a trace is made for: the one its first step names, else the direct one.
  Result<Algorithm> algorithm_of(const schedule::Trace& trace) const;
  std::string target_text() const { return target::to_string(target); }
};

Result<OperatorModel> load_model(const ModelOptions& options);

// Fails when the target is not this machine, or asks for more threads than this process has cores:
// such a program can be compiled, but not run here.
Status check_runs_here(const target::Target& target);
inline Status check_runs_here(const OperatorModel& model) { return check_runs_here(model.target); }
// The same where this many cores can be had.
Status check_runs_on(const target::Target& target, int cores);
// The second half of it.
Status check_threads(int threads);
Status check_threads(int threads, int cores);

// What the operator is run for: tuning also needs the interpreter's copy of every tensor.
enum class Purpose { Run, Tune };
// Fails when its tensors do not fit into this machine's memory, before anything is allocated.
Status check_fits_memory(const OperatorModel& model, Purpose purpose);

}  // namespace attune::api
