#include "compiler/model/load/runnable_model.h"

#include <fmt/format.h>

#include <algorithm>
#include <cstring>
#include <filesystem>

#include "base/clock.h"
#include "base/match.h"
#include "compiler/model/bound.h"
#include "compiler/model/load/machine_limits.h"
#include "compiler/model/load/plain_tensor.h"
#include "runtime/execution/affinity.h"
#include "runtime/execution/usable_cores.h"
#include "runtime/memory/fill.h"
#include "targets/devices/devices.h"
#include "targets/kinds.h"

namespace attune::model {
namespace {

using runtime::Tensor;

Result<RunnableModel> from_artifact(runtime::Artifact artifact, std::int64_t start_ns) {
  const SteadyClock clock;
  RunnableModel runnable;
  ATTUNE_ASSIGN(runnable.model, runtime::Model::from(std::move(artifact)));
  runnable.load_ms = seconds_between(start_ns, clock.now_ns()) * 1e3;
  runnable.name = runnable.plan().model;
  runnable.threads = runnable.plan().threads;
  return runnable;
}

// An artifact has work for as many threads as it was compiled for; fewer can do it too.
Status set_threads(RunnableModel& runnable, int asked) {
  const int made_for = runnable.threads;
  const int cores = static_cast<int>(runtime::usable_cores().size());
  if (asked > made_for) {
    return invalid(fmt::format("{} threads are asked for, but '{}' was compiled for {}", asked,
                               runnable.name, made_for),
                   fmt::format("compile it with --threads {}", asked));
  }
  runnable.threads = asked > 0 ? asked : std::min(made_for, cores);
  return check_threads(runnable.threads);
}

// Whether a target in text is the one that an artifact was compiled for; threads that the text does
// not name are the artifact's own.
Result<bool> names_target(const std::string& text, const std::string& compiled_for) {
  ATTUNE_ASSIGN(target::Target asked, targets::parse(text));
  const auto own = targets::parse(compiled_for);
  if (own.ok() && asked.threads == 0) asked.threads = own->threads;
  ATTUNE_ASSIGN(const target::Target resolved, targets::resolve(asked));
  return target::to_string(resolved) == compiled_for;
}

Result<RunnableModel> open_artifact(const SourceOptions& options) {
  const std::string& path = options.model.model;
  const SteadyClock clock;
  const std::int64_t start = clock.now_ns();
  ATTUNE_ASSIGN(runtime::Artifact artifact,
                runtime::Artifact::open(path, targets::devices(), options.trust));
  ATTUNE_ASSIGN(RunnableModel runnable, from_artifact(std::move(artifact), start));
  ATTUNE_RETURN_IF_ERROR(check_compiled_so(options.model, runnable.plan()));
  runnable.schedule_text = "the kernels of the artifact";
  ATTUNE_RETURN_IF_ERROR(set_threads(runnable, options.model.threads));
  return runnable;
}

double flops_of(const runtime::Block& block) {
  double flops = 0;
  for (const runtime::Instruction& instruction : block) {
    flops += std::visit(Match{[](const runtime::KernelCall& call) { return call.flops; },
                              [](const runtime::HostCall&) { return 0.0; },
                              [](const runtime::Copy&) { return 0.0; },
                              [](const runtime::If& branch) {
                                return std::max(flops_of(branch.then_block),
                                                flops_of(branch.else_block));
                              },
                              [](const runtime::Loop& loop) { return flops_of(loop.body); }},
                        instruction.kind);
  }
  return flops;
}

double tolerance_of(const graph::Task& task, const std::string& algorithm) {
  for (const ops::AlgorithmDef& other : task.op.alternatives) {
    if (other.name == algorithm) return other.tolerance;
  }
  return task.op.tolerance;
}

}  // namespace

double flops_of(const runtime::Plan& plan) { return flops_of(plan.body); }

Status check_compiled_so(const ModelOptions& options, const runtime::Plan& plan) {
  const std::string artifact = fmt::format("'{}' is an artifact, ", options.model);
  if (!options.shapes.empty() || !options.constants.empty() || !options.maxima.empty()) {
    return invalid(artifact + "whose shapes and constants are fixed",
                   "give --shape, --constant and --max when the model is compiled");
  }
  if (options.precision) {
    return invalid(artifact + "compiled in " + plan.precision,
                   "give --precision when the model is compiled");
  }
  // The default is as good as none.
  bool other = options.exact;
  if (!other && options.target != ModelOptions().target) {
    ATTUNE_ASSIGN(const bool same, names_target(options.target, plan.target));
    other = !same;
  }
  if (!other) return {};
  return invalid(fmt::format("{}compiled for '{}'", artifact, plan.target),
                 "give --target and --exact when the model is compiled");
}

Result<RunnableModel> runnable_of(const CompiledModel& compiled) {
  runtime::ArtifactContents contents{compiled.plan, compiled.weights.pieces(), {}};
  for (const auto& object : compiled.objects) contents.objects.emplace_back(object);
  ATTUNE_ASSIGN(runtime::Memory bytes, runtime::artifact_bytes(contents));
  const SteadyClock clock;
  const std::int64_t start = clock.now_ns();
  ATTUNE_ASSIGN(
      runtime::Artifact artifact,
      runtime::Artifact::from_memory(std::move(bytes), compiled.plan.model, targets::devices()));
  ATTUNE_ASSIGN(RunnableModel runnable, from_artifact(std::move(artifact), start));
  runnable.fallbacks = compiled.fallbacks;
  for (std::size_t i = 0; i < compiled.tasks.distinct.size(); ++i) {
    const graph::Task& task = compiled.tasks.distinct[i];
    runnable.kernels.push_back(
        {task.key, compiled.schedules[i], tolerance_of(task, compiled.schedules[i].algorithm)});
  }
  return runnable;
}

Result<RunnableModel> load_runnable(const SourceOptions& options) {
  ATTUNE_ASSIGN(LoadedModel model, load_model(options.model));
  return make_runnable(std::move(model), options);
}

Result<RunnableModel> make_runnable(LoadedModel model, const SourceOptions& options) {
  if (model.is_artifact) return open_artifact(options);
  const SteadyClock clock;
  const std::int64_t start = clock.now_ns();
  ATTUNE_RETURN_IF_ERROR(check_runs_here(model.target));
  ATTUNE_RETURN_IF_ERROR(check_fits_memory(model, Purpose::Run));
  const ModelFacts facts = model.facts;
  ATTUNE_ASSIGN(PreparedModel prepared, prepare_model(std::move(model), options));
  std::vector<double> bounds;
  for (const graph::Task& task : prepared.tasks.distinct) {
    bounds.push_back(bound_us(task, prepared.model.target, prepared.model.cold_weights));
  }
  ATTUNE_ASSIGN(const CompiledModel compiled, compile_prepared(std::move(prepared)));
  const double seconds = seconds_between(start, clock.now_ns());
  ATTUNE_ASSIGN(RunnableModel runnable, runnable_of(compiled));
  runnable.facts = facts;
  runnable.bounds_us = std::move(bounds);
  runnable.compile_seconds = seconds;
  runnable.schedule_text = describe(compiled.schedules, options.schedule);
  return runnable;
}

void fill_input(const runtime::InterfaceTensor& input, Tensor& tensor, std::uint64_t seed,
                int index) {
  using runtime::DType;
  const DType type = tensor.type();
  for (std::int64_t i = 0; !input.most.empty() && i < tensor.elements(); ++i) {
    const std::size_t at = std::min(static_cast<std::size_t>(i), input.most.size() - 1);
    runtime::write_element(tensor.data(), type, i, static_cast<double>(input.most[at]));
  }
  if (!input.most.empty()) return;
  runtime::fill(tensor.data(), type, tensor.elements(), seed, index);
  if (type != DType::I32 && type != DType::I64) return;
  for (std::int64_t i = 0; i < tensor.elements(); ++i) {
    const double value = runtime::read_element(tensor.data(), type, i);
    if (value < 0) runtime::write_element(tensor.data(), type, i, -value);
  }
}

Result<std::shared_ptr<runtime::ThreadPool>> make_pool(int threads, bool pinned) {
  runtime::ThreadPoolOptions pool{.workers = threads};
  if (pinned) {
    pool.cores = runtime::usable_cores(threads);
    // Cores may have been taken away since it was asked before.
    ATTUNE_RETURN_IF_ERROR(check_threads(threads, static_cast<int>(pool.cores.size())));
    pool.cores.resize(static_cast<std::size_t>(threads));
    ATTUNE_RETURN_IF_ERROR(runtime::pin_current_thread(pool.cores.front()));
  }
  return std::make_shared<runtime::ThreadPool>(pool);
}

Result<ModelSession> ModelSession::create(const RunnableModel& model, bool pinned) {
  ATTUNE_ASSIGN(auto pool, make_pool(model.threads, pinned));
  return create(model, std::move(pool));
}

Result<ModelSession> ModelSession::create(const RunnableModel& model,
                                          std::shared_ptr<runtime::ThreadPool> pool) {
  ModelSession made;
  made.model_ = model.model;
  made.pool_ = std::move(pool);
  ATTUNE_ASSIGN(runtime::Session session, runtime::Session::create(model.model, *made.pool_));
  made.session_ = std::make_unique<runtime::Session>(std::move(session));
  for (const runtime::InterfaceTensor& output : model.plan().outputs) {
    ATTUNE_ASSIGN(Tensor tensor, Tensor::allocate(output.type, largest_shape(output)));
    made.outputs_.push_back(std::move(tensor));
  }
  return made;
}

Status ModelSession::run(const std::vector<Tensor>& inputs, runtime::Profile* profile) {
  std::vector<runtime::InputView> views;
  for (const Tensor& input : inputs) views.push_back({input.data(), input.type(), input.shape()});
  std::vector<runtime::OutputView> rooms;
  for (const Tensor& output : outputs_) rooms.push_back({output.data(), output.bytes()});
  ATTUNE_RETURN_IF_ERROR(session_->run(views, rooms, profile));
  has_run_ = true;
  return {};
}

Result<double> ModelSession::time_us(const std::vector<Tensor>& inputs) {
  if (session_->is_one_recording()) {
    if (!has_run_) ATTUNE_RETURN_IF_ERROR(run(inputs));
    return session_->time_again(1);
  }
  const std::int64_t start = now_ns();
  ATTUNE_RETURN_IF_ERROR(run(inputs));
  return seconds_between(start, now_ns()) * 1e6;
}

Result<std::vector<Tensor>> ModelSession::outputs() const {
  std::vector<Tensor> outputs;
  for (std::size_t i = 0; i < outputs_.size(); ++i) {
    const std::span<const std::int64_t> shape = session_->output_shape(i);
    ATTUNE_ASSIGN(Tensor output,
                  Tensor::allocate(outputs_[i].type(), {shape.begin(), shape.end()}));
    if (output.bytes() > 0) std::memcpy(output.data(), outputs_[i].data(), output.bytes());
    outputs.push_back(std::move(output));
  }
  return outputs;
}

}  // namespace attune::model
