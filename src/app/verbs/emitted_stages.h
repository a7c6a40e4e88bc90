// The texts of stages of compiling (stages.h) that are asked for, while they come.
#pragma once

#include <string>
#include <vector>

#include "app/verbs/compile.h"
#include "base/result.h"
#include "compiler/model/model_tasks.h"
#include "compiler/model/schedules/schedules.h"

namespace attune::verbs {

class EmittedStages {
 public:
  explicit EmittedStages(const std::vector<std::string>& wanted) : wanted_(wanted) {}

  bool wants(std::string_view name) const;
  // What comes again, of another task or kernel, is added to what was there.
  void add(std::string_view name, const std::string& text);
  // In their order.
  std::vector<EmittedStage> take();

 private:
  const std::vector<std::string>& wanted_;
  std::vector<EmittedStage> stages_;
};

// Those of all distinct tasks, from their expressions to the texts that the target has.
Status emit_tasks(const model::ModelTasks& tasks, const std::vector<model::Schedule>& schedules,
                  const target::Target& target, EmittedStages& stages);

}  // namespace attune::verbs
