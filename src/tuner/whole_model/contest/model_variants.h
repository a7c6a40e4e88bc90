// Artifacts of one model that differ in the schedules of its tasks. They are files that go with
// their owner, unless they are taken away from it.
#pragma once

#include <memory>
#include <string>
#include <vector>

#include "base/result.h"
#include "base/temporary_file.h"
#include "compiler/model/compile.h"

namespace attune::whole_model {

class ModelVariants {
 public:
  // Files are written beside `output`. `tasks` must outlive it.
  ModelVariants(const model::ModelTasks& tasks, model::CompileOptions compile, std::string output);

  // The schedules that the next distinct task may have; one at least.
  void add_task(std::vector<model::Schedule> schedules);

  // The artifact in which every task has its schedule of that number; its first one where it has
  // not so many.
  Status write(std::size_t number);
  // After the first, so many that there are `count`.
  Status write_others(std::size_t count);
  // The artifact in which each distinct task has the schedule of the artifact of that number,
  // which was written by number.
  Status write_mixed(const std::vector<std::size_t>& numbers);
  // How many make sense, by the schedules of the tasks and the size of the first artifact.
  std::size_t most_artifacts() const;
  // All but the first.
  void forget_others();

  const std::vector<std::string>& paths() const { return paths_; }
  const std::vector<model::Fallback>& fallbacks(std::size_t artifact) const {
    return fallbacks_[artifact];
  }

 private:
  const model::Schedule& schedule_of(std::size_t task, std::size_t number) const;

  const model::ModelTasks& tasks_;
  model::CompileOptions compile_;
  std::string output_;
  std::vector<std::vector<model::Schedule>> schedules_;  // of the distinct tasks
  std::vector<std::unique_ptr<TemporaryFile>> files_;
  std::vector<std::string> paths_;  // of the files
  std::vector<std::vector<model::Fallback>> fallbacks_;
  std::size_t written_ = 0;
};

}  // namespace attune::whole_model
