// A look at the tasks of a model that is compiled untuned: it runs with its default schedules, and
// where one may be far from what the machine can do, the few schedules that the analytic model
// believes in most are timed beside it, tasks of which the model may gain most first, within a
// second or two in all. What is faster is remembered as a record.
#pragma once

#include <cstddef>
#include <map>
#include <string>

#include "base/result.h"
#include "compiler/model/load/prepared_model.h"

namespace attune::whole_model {

struct LookOptions {
  double seconds = 2;        // beside runs of the whole model
  std::string records = {};  // where it is remembered; empty: the default store
  bool remember = true;      // false: what is found is for this compilation alone
};

struct LookReport {
  std::size_t timed = 0;   // tasks whose default schedules ran, inside the model or alone
  std::size_t looked = 0;  // of them, those for which others were timed, too
  std::map<std::size_t, model::Schedule> better = {};  // of distinct tasks, by their numbers
  double seconds = 0;
};

// Of tasks that have nothing but a default schedule. The target must run here. Kernels that the
// model keeps are left in the store of kernels, where it has one.
Result<LookReport> look(const model::PreparedModel& prepared, const LookOptions& options);

}  // namespace attune::whole_model
