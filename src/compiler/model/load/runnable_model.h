// A model that runs: an artifact from a file, or compiled here and kept in memory.
#pragma once

#include <memory>
#include <string>
#include <vector>

#include "base/clock.h"
#include "base/result.h"
#include "compiler/model/fallback.h"
#include "compiler/model/load/prepared_model.h"
#include "runtime/execution/executor.h"
#include "runtime/memory/tensor.h"

namespace attune::model {

// A task of a model and the schedule that it was compiled with.
struct KernelSource {
  std::string key = {};
  Schedule schedule = {};
  double tolerance = 0;  // of its algorithm; see ops::Operator
};

struct RunnableModel {
  std::string name = {};
  ModelFacts facts = {};  // of an artifact those of any model
  std::shared_ptr<const runtime::Model> model = {};
  std::vector<KernelSource> kernels = {};  // in the plan's order; of an artifact nothing is known
  std::vector<double> bounds_us = {};      // of one call of each (bound.h); likewise
  std::string schedule_text = {};          // of where its schedules come from, for a person
  int threads = 1;
  double load_ms = 0;          // from the artifact's bytes to kernels that can be called
  double compile_seconds = 0;  // 0: that was done before
  Fallbacks fallbacks = {};    // of compiling

  const runtime::Plan& plan() const { return model->plan(); }
};

// Any model; fails when it cannot run on this machine.
Result<RunnableModel> load_runnable(const SourceOptions& options);
// The same of one that was loaded with these options.
Result<RunnableModel> make_runnable(LoadedModel model, const SourceOptions& options);
// Fails where options ask an artifact for what only compiling can do: other shapes, constants,
// precision, algorithms, or another target.
Status check_compiled_so(const ModelOptions& options, const runtime::Plan& plan);
// What was just compiled, by way of its artifact.
Result<RunnableModel> runnable_of(const CompiledModel& compiled);

// Operations of one run; those in loops count once.
double flops_of(const runtime::Plan& plan);

// Random contents for an input of a model: as runtime::fill, but wide integers are not negative,
// since they tend to be indices. What bounds a size is as large as it can be.
void fill_input(const runtime::InterfaceTensor& input, runtime::Tensor& tensor, std::uint64_t seed,
                int index);

// Pinned: each thread on a core of its own, the calling one included, from then on.
Result<std::shared_ptr<runtime::ThreadPool>> make_pool(int threads, bool pinned);

// The memory and threads of one run after the other, and the clock of the device that runs them. To
// be made in the process that runs.
class ModelSession final : public Clock {
 public:
  // With threads of its own; pinned: see make_pool().
  static Result<ModelSession> create(const RunnableModel& model, bool pinned);
  // With threads that others use too, one at a time.
  static Result<ModelSession> create(const RunnableModel& model,
                                     std::shared_ptr<runtime::ThreadPool> pool);

  // In the order of the plan's inputs, which also checks types and shapes.
  Status run(const std::vector<runtime::Tensor>& inputs, runtime::Profile* profile = nullptr);
  // How long a run takes, in microseconds, by the clock of the device: the one time of whole models
  // that is compared and told. Where the device records all of a run, that is from inputs that are
  // there to outputs that are there; elsewhere it is all that run() does.
  Result<double> time_us(const std::vector<runtime::Tensor>& inputs);
  // Whether time_us() leaves out copies of inputs and outputs.
  bool is_one_recording() { return session_->is_one_recording(); }
  // The kernels alone, once more on what the last run was given.
  Status run_again() { return session_->run_again(); }
  // The same so many times: microseconds of one.
  Result<double> time_again(std::int64_t runs) { return session_->time_again(runs); }
  void forget_recordings() { session_->forget_recordings(); }
  // Of the last run, with the shapes they have.
  Result<std::vector<runtime::Tensor>> outputs() const;
  std::int64_t now_ns() const override { return session_->now_ns(); }
  std::size_t bytes() const { return session_->bytes(); }

 private:
  std::shared_ptr<const runtime::Model> model_;
  std::shared_ptr<runtime::ThreadPool> pool_;
  std::unique_ptr<runtime::Session> session_;
  std::vector<runtime::Tensor> outputs_;  // at their largest extents
  bool has_run_ = false;
};

}  // namespace attune::model
