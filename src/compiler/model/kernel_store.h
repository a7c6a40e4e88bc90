// The compiled kernels of a model's tasks, each made once: artifacts of one model that differ in
// the schedules of some tasks share the kernels of the others.
#pragma once

#include <map>
#include <memory>
#include <mutex>
#include <string>
#include <tuple>

#include "compiler/model/kernels.h"

namespace attune::model {

class KernelStore {
 public:
  explicit KernelStore(target::Target target) : target_(std::move(target)) {}

  // The task with this schedule, named `symbol`, which stands for the task: as it was compiled
  // before, or compiled now, with what prepares its constants. Threads may call it at once.
  Result<SharedKernel> kernel(const graph::Task& task, const Schedule& schedule,
                              const std::string& symbol);

 private:
  // All that the result depends on: the symbol, and the schedule with where it comes from.
  using Key = std::tuple<std::string, std::string, std::uint64_t, Origin, std::string>;

  target::Target target_;
  std::mutex mutex_;
  std::map<Key, SharedKernel> kernels_;
};

}  // namespace attune::model
