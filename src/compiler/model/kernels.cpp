#include "compiler/model/kernels.h"

#include <fmt/format.h>

#include <algorithm>
#include <atomic>
#include <mutex>
#include <thread>

#include "compiler/kernel/kernel.h"
#include "runtime/execution/usable_cores.h"
#include "tuner/tunings/tunings.h"

namespace attune::model {
namespace {

// What to try, in order: as asked for, by default, and the program as it is written.
std::vector<Schedule> attempts(const graph::Task& task, const Schedule& schedule,
                               const target::Target& target) {
  std::vector<Schedule> list{schedule};
  if (schedule.origin == Origin::File) return list;
  if (schedule.otherwise) list.push_back(*schedule.otherwise);
  Schedule direct{"direct", tunings::default_trace(task.op.program, target)};
  if (schedule::hash(direct.trace) != schedule::hash(list.back().trace)) {
    list.push_back(std::move(direct));
  }
  list.push_back({.origin = Origin::Plain});
  return list;
}

Result<CompiledTask> compile_with(const Schedule& schedule, const graph::Task& task,
                                  const target::Target& target, const std::string& symbol) {
  const ir::Program* program = program_of(task, schedule.algorithm);
  if (program == nullptr) {
    return unsupported(fmt::format("the task has no algorithm '{}'", schedule.algorithm));
  }
  ATTUNE_ASSIGN(
      kernel::Built built,
      kernel::build(*program, schedule.trace, target,
                    {.symbol = symbol,
                     .limits = schedule.otherwise ? kernel::kUsualLimits : kernel::Limits{}}));
  return CompiledTask{std::move(built.lowered), schedule, {}, std::move(built.main)};
}

}  // namespace

Result<CompiledTask> compile_task(const graph::Task& task, const Schedule& schedule,
                                  const target::Target& target, const std::string& symbol) {
  std::vector<Fallback> failed;
  const auto failing = [&](Origin wanted, const std::string& reason) {
    failed.push_back({task.key, task.name, std::string(name_of(wanted)), {}, reason});
  };
  if (!schedule.passed_over.empty()) failing(Origin::Record, schedule.passed_over);
  Result<CompiledTask> last = unsupported("");
  for (const Schedule& attempt : attempts(task, schedule, target)) {
    last = compile_with(attempt, task, target, symbol);
    if (last.ok()) {
      for (Fallback& fallback : failed) fallback.used = name_of(attempt.origin);
      last->fallbacks = std::move(failed);
      return last;
    }
    if (!attempt.otherwise) failing(attempt.origin, last.error().message);
  }
  return last;
}

int compiling_threads() { return static_cast<int>(runtime::usable_cores().size()); }

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
  const std::size_t wanted = std::min(count, static_cast<std::size_t>(std::max(1, threads)));
  for (std::size_t t = 1; t < wanted; ++t) others.emplace_back(run);
  run();
  for (std::thread& other : others) other.join();
  return first;
}

}  // namespace attune::model
