#include "app/deploy/kernels.h"

#include <fmt/format.h>

#include <algorithm>
#include <atomic>
#include <mutex>
#include <thread>

#include "compiler/lower/lower.h"
#include "tuner/templates/templates.h"

namespace attune::deploy {
namespace {

std::vector<Argument> arguments_of(const ir::Program& program, const ir::Kernel& kernel,
                                   const std::vector<std::string>& inputs, std::size_t prepared) {
  std::vector<Argument> arguments;
  for (const std::string& name : inputs) {
    const auto found =
        std::find_if(program.inputs.begin(), program.inputs.end(),
                     [&](const ir::Input& input) { return input.buffer->name == name; });
    CHECK(found != program.inputs.end(), "a kernel reads '" + name + "', which is no input");
    arguments.push_back(
        {Argument::Kind::Input, static_cast<std::size_t>(found - program.inputs.begin()), {}});
  }
  for (std::size_t i = 0; i < prepared; ++i) arguments.push_back({Argument::Kind::Prepared, i, {}});
  if (arguments.size() < kernel.params.size()) arguments.push_back({Argument::Kind::Output, 0, {}});
  CHECK(arguments.size() == kernel.params.size(),
        fmt::format("kernel '{}' has {} parameters, lowering names {}", kernel.name,
                    kernel.params.size(), arguments.size()));
  for (std::size_t i = 0; i < arguments.size(); ++i) arguments[i].buffer = kernel.params[i];
  return arguments;
}

Result<LoweredTask> lower_with(const ir::Program& program, const Schedule& schedule) {
  ATTUNE_ASSIGN(const schedule::State state, schedule::replay(program, schedule.trace));
  ATTUNE_ASSIGN(lower::Lowered lowered, lower::lower(state));
  LoweredTask task;
  task.arguments =
      arguments_of(program, lowered.main, lowered.main_inputs, lowered.prepared.size());
  task.main = std::move(lowered.main);
  if (lowered.prepare) {
    task.prepare_arguments =
        arguments_of(program, *lowered.prepare, lowered.prepare_inputs, lowered.prepared.size());
    task.prepare = std::move(lowered.prepare);
  }
  task.schedule = schedule;
  return task;
}

// What to try, in order: as asked for, by default, and the program as it is written.
std::vector<Schedule> attempts(const graph::Task& task, const Schedule& schedule,
                               const ir::Target& target) {
  std::vector<Schedule> list{schedule};
  Schedule usual{"direct", templates::default_trace(task.op.program, target)};
  if (schedule::hash(usual.trace) != schedule::hash(schedule.trace)) {
    list.push_back(std::move(usual));
  }
  list.push_back({.origin = Origin::Plain});
  return list;
}

// Makes T of the first schedule with which `make` succeeds; `failed` receives the others, up to it.
template <typename T, typename Make>
Result<T> first_that_works(const graph::Task& task, const Schedule& schedule,
                           const ir::Target& target, std::vector<Fallback>& failed,
                           const Make& make) {
  const auto failing = [&](Origin wanted, const std::string& reason) {
    failed.push_back({task.key, task.name, std::string(name_of(wanted)), {}, reason});
  };
  if (!schedule.passed_over.empty()) failing(Origin::Record, schedule.passed_over);
  Result<T> last = unsupported("");
  for (const Schedule& attempt : attempts(task, schedule, target)) {
    const ir::Program* program = program_of(task, attempt.algorithm);
    last = program != nullptr
               ? make(*program, attempt)
               : unsupported(fmt::format("the task has no algorithm '{}'", attempt.algorithm));
    if (last.ok()) {
      for (Fallback& fallback : failed) fallback.used = name_of(attempt.origin);
      return last;
    }
    failing(attempt.origin, last.error().message);
  }
  return last;
}

}  // namespace

Result<LoweredTask> lower_task(const graph::Task& task, const Schedule& schedule,
                               const ir::Target& target) {
  std::vector<Fallback> failed;
  auto lowered = first_that_works<LoweredTask>(task, schedule, target, failed, lower_with);
  if (lowered.ok()) lowered->fallbacks = std::move(failed);
  return lowered;
}

Result<CompiledTask> compile_task(const graph::Task& task, const Schedule& schedule,
                                  const ir::Target& target, const std::string& symbol) {
  const auto compile = [&](const ir::Program& program,
                           const Schedule& attempt) -> Result<CompiledTask> {
    ATTUNE_ASSIGN(LoweredTask lowered, lower_with(program, attempt));
    lowered.main.name = symbol;
    ATTUNE_ASSIGN(codegen::KernelObject object, codegen::compile_object(lowered.main, target));
    return CompiledTask{std::move(lowered), std::move(object)};
  };
  std::vector<Fallback> failed;
  auto compiled = first_that_works<CompiledTask>(task, schedule, target, failed, compile);
  if (compiled.ok()) compiled->lowered.fallbacks = std::move(failed);
  return compiled;
}

Status run_parallel(std::size_t count, int threads,
                    const std::function<Status(std::size_t index)>& work) {
  std::atomic<std::size_t> next{0};
  std::mutex mutex;
  Status first;
  const auto run = [&] {
    for (std::size_t i = next++; i < count; i = next++) {
      Status status = work(i);
      if (status.ok()) continue;
      const std::lock_guard lock(mutex);
      if (first.ok()) first = std::move(status);
      next = count;
    }
  };
  std::vector<std::thread> others;
  for (int t = 1; t < threads; ++t) others.emplace_back(run);
  run();
  for (std::thread& other : others) other.join();
  return first;
}

}  // namespace attune::deploy
