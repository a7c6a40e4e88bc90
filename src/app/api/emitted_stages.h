// The stages of compiling as text: which there are, in the order in which they happen, and those of
// a model's tasks.
#pragma once

#include <string>
#include <vector>

#include "app/api/compile.h"
#include "app/deploy/model_tasks.h"
#include "app/deploy/schedules.h"
#include "base/result.h"

namespace attune::api {

// Fails for a stage that there is not.
Status check_emit(const std::vector<std::string>& emit);

// Texts of the stages that are asked for.
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

// "key  name  xUSES  algorithm" for each distinct task.
std::string tasks_text(const deploy::ModelTasks& tasks,
                       const std::vector<deploy::Schedule>& schedules);
// te, trace, the lowering passes, loops, llvm and asm of all distinct tasks.
Status emit_tasks(const deploy::ModelTasks& tasks, const std::vector<deploy::Schedule>& schedules,
                  const target::Target& target, EmittedStages& stages);

}  // namespace attune::api
