// A whole model that runs: an artifact from a file, or compiled here and kept in memory.
#pragma once

#include <functional>
#include <memory>
#include <string>
#include <vector>

#include "app/api/fallbacks.h"
#include "app/api/graph_model.h"
#include "base/result.h"
#include "runtime/executor.h"
#include "runtime/tensor.h"

namespace attune::api {

struct SourceOptions {
  GraphOptions graph = {};
  ScheduleOptions schedule = {};
  std::function<void(std::size_t done, std::size_t all)> progress = {};  // of compiling
};

struct RunnableModel {
  std::string name = {};
  std::shared_ptr<const runtime::Model> model = {};
  std::string schedule_text = {};  // of where its schedules come from, for a person
  int threads = 1;
  double load_ms = 0;          // from the artifact's bytes to kernels that can be called
  double compile_seconds = 0;  // 0: that was done before
  Fallbacks fallbacks = {};    // of compiling

  const runtime::Plan& plan() const { return model->plan(); }
};

// An artifact, a file or a name of the zoo; fails when it cannot run on this machine.
Result<RunnableModel> load_runnable(const SourceOptions& options);
// A graph that was loaded with the same options, compiled with the schedules that they ask for.
Result<deploy::CompiledModel> compile_loaded(GraphModel model, const SourceOptions& options);
// What was just compiled, by way of its artifact.
Result<RunnableModel> runnable_of(const deploy::CompiledModel& compiled);

// "the default schedules", for a person.
std::string describe(const ScheduleOptions& schedule);

// Operations of one run; those in loops count once.
double flops_of(const runtime::Plan& plan);

// Random contents for an input of a model: as runtime::fill, but integers are not negative, since
// they tend to be indices.
void fill_input(runtime::Tensor& tensor, std::uint64_t seed, int index);
// One of those for every input, at its largest extents.
Result<std::vector<runtime::Tensor>> random_inputs(const runtime::Plan& plan, std::uint64_t seed);
// The shape of a tensor of the interface, at its largest extents.
std::vector<std::int64_t> largest_shape(const runtime::InterfaceTensor& tensor);

// Pinned: each thread on a core of its own, the calling one included, from then on.
Result<std::shared_ptr<runtime::ThreadPool>> make_pool(int threads, bool pinned);

// The memory and threads of one run after the other. To be made in the process that runs.
class ModelSession {
 public:
  // With threads of its own; pinned: see make_pool().
  static Result<ModelSession> create(const RunnableModel& model, bool pinned);
  // With threads that others use too, one at a time.
  static Result<ModelSession> create(const RunnableModel& model,
                                     std::shared_ptr<runtime::ThreadPool> pool);

  // In the order of the plan's inputs, which also checks types and shapes.
  Status run(const std::vector<runtime::Tensor>& inputs, runtime::Profile* profile = nullptr);
  // Of the last run, with the shapes they have.
  Result<std::vector<runtime::Tensor>> outputs() const;
  std::size_t bytes() const { return session_->bytes(); }

 private:
  std::shared_ptr<const runtime::Model> model_;
  std::shared_ptr<runtime::ThreadPool> pool_;
  std::unique_ptr<runtime::Session> session_;
  std::vector<runtime::Tensor> outputs_;  // at their largest extents
};

}  // namespace attune::api
