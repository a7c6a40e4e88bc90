// The stages of compiling as text: which there are, in the order in which they happen, and those of
// a model's tasks. "look" is what schedules there are after it.
#pragma once

#include <string>
#include <vector>

#include "app/verbs/compile.h"
#include "base/result.h"
#include "compiler/model/model_tasks.h"
#include "compiler/model/schedules/schedules.h"

namespace attune::verbs {

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

// te, trace, the lowering passes, loops, llvm and asm of all distinct tasks.
Status emit_tasks(const model::ModelTasks& tasks, const std::vector<model::Schedule>& schedules,
                  const target::Target& target, EmittedStages& stages);

}  // namespace attune::verbs
