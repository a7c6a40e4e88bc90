// A look at the tasks of a model that is compiled untuned: where a default schedule may be far from
// what the machine can do, the few schedules that the analytic model believes in most are timed
// beside it, within a second or two in all. What is faster is remembered as a record.
#pragma once

#include <cstddef>
#include <map>
#include <string>

#include "base/result.h"
#include "compiler/model/load/prepared_model.h"

namespace attune::whole_model {

struct LookOptions {
  double seconds = 1.5;
  std::string records = {};  // where it is remembered; empty: the default store
};

struct LookReport {
  std::size_t timed = 0;   // tasks whose default was timed
  std::size_t looked = 0;  // of them, those for which others were timed, too
  std::map<std::string, model::Schedule> better = {};  // by the key of the task
  double seconds = 0;
};

// Of tasks that have nothing but a default schedule. The target must run here.
Result<LookReport> look(const model::PreparedModel& prepared, const LookOptions& options);

}  // namespace attune::whole_model
