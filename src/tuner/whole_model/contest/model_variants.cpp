#include "tuner/whole_model/contest/model_variants.h"

#include <fmt/format.h>
#include <unistd.h>

#include <algorithm>
#include <filesystem>
#include <utility>

#include "base/check.h"

namespace attune::whole_model {

ModelVariants::ModelVariants(const model::ModelTasks& tasks, model::CompileOptions compile,
                             std::string output)
    : tasks_(tasks), compile_(std::move(compile)), output_(std::move(output)) {}

void ModelVariants::add_task(std::vector<model::Schedule> schedules) {
  CHECK(!schedules.empty(), "every task has a schedule");
  schedules_.push_back(std::move(schedules));
}

std::size_t ModelVariants::most_artifacts() const {
  constexpr std::uintmax_t kBytes = 1'000'000'000;  // of all together
  std::size_t most = 1;
  for (const auto& schedules : schedules_) most = std::max(most, schedules.size());
  std::error_code failure;
  const std::uintmax_t bytes = std::filesystem::file_size(paths_.front(), failure);
  if (failure || bytes == 0) return 1;
  return std::clamp<std::size_t>(kBytes / bytes, 1, most);
}

const model::Schedule& ModelVariants::schedule_of(std::size_t task, std::size_t number) const {
  const auto& schedules = schedules_[task];
  return schedules[number < schedules.size() ? number : 0];
}

Status ModelVariants::write(std::size_t number) {
  return write_mixed(std::vector<std::size_t>(tasks_.distinct.size(), number));
}

Status ModelVariants::write_others(std::size_t count) {
  for (std::size_t i = 1; i < count; ++i) ATTUNE_RETURN_IF_ERROR(write(i));
  return {};
}

Status ModelVariants::write_mixed(const std::vector<std::size_t>& numbers) {
  CHECK(schedules_.size() == tasks_.distinct.size() && numbers.size() == schedules_.size(),
        "schedules are there for every task");
  std::vector<model::Schedule> schedules;
  for (std::size_t task = 0; task < numbers.size(); ++task) {
    schedules.push_back(schedule_of(task, numbers[task]));
  }
  ATTUNE_ASSIGN(model::CompiledModel model,
                model::compile_tasks(tasks_, std::move(schedules), compile_));
  auto file =
      std::make_unique<TemporaryFile>(fmt::format("{}.{}.tuned.{}", output_, getpid(), written_++));
  ATTUNE_RETURN_IF_ERROR(model::write(model, file->path()));
  paths_.push_back(file->path());
  files_.push_back(std::move(file));
  fallbacks_.push_back(std::move(model.fallbacks));
  return {};
}

void ModelVariants::forget_others() {
  files_.resize(1);
  paths_.resize(1);
  fallbacks_.resize(1);
}

}  // namespace attune::whole_model
