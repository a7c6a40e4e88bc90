// Which schedule a task of a model is compiled with.
#pragma once

#include <functional>
#include <memory>
#include <optional>
#include <string>

#include "compiler/graph/tasks/tasks.h"
#include "compiler/schedule/trace.h"
#include "compiler/target/target.h"

namespace attune::model {

// Where a schedule comes from: a file that the user names, a record, the bundle that ships with the
// program, a template, or nowhere: the program as it is written.
enum class Origin { File, Record, Shipped, Default, Plain };
// "given", "recorded", "shipped", "default", "plain".
std::string_view name_of(Origin origin);

// Which algorithms may compute a task: all that it has, or one.
struct Algorithms {
  std::string only = {};  // empty: all
  bool allow(std::string_view name) const { return only.empty() || only == name; }
  bool exact() const { return only == "direct"; }
};

struct Schedule {
  std::string algorithm = "direct";
  schedule::Trace trace = {};  // begins with `algorithm NAME` unless that is the direct one
  Origin origin = Origin::Default;
  std::string passed_over = {};  // why a faster record was not taken; empty: there is none
  std::optional<double> measured_us = {};  // here, or where it was shipped from
  // Where the analytic model alone speaks for it: what it gives way to, without a word, when it
  // turns out too long or spills.
  std::shared_ptr<const Schedule> otherwise = {};

  // Of its record; nothing where it has none.
  std::optional<double> recorded_us() const {
    return origin == Origin::Record ? measured_us : std::nullopt;
  }
};

using ChooseSchedule = std::function<Schedule(const graph::Task& task)>;

// A schedule as records have it: a trace that may begin with its algorithm.
Schedule recorded_schedule(schedule::Trace trace);

// The program that an algorithm's name stands for; null when the task has none of that name.
const ir::Program* program_of(const graph::Task& task, const std::string& algorithm);

// The same where that one is allowed; null also where it is not.
const ir::Program* program_of(const graph::Task& task, const std::string& algorithm,
                              const Algorithms& allowed);

// The default schedule of the template, of the direct algorithm or the only one allowed.
Schedule usual_schedule(const graph::Task& task, const target::Target& target,
                        const Algorithms& algorithms);
// Without measuring: of all algorithms, what the analytic model predicts to be fastest, where
// weights come from memory at every run if they are cold. That takes milliseconds; see
// default_schedules.h.
Schedule default_schedule(const graph::Task& task, const target::Target& target,
                          const Algorithms& algorithms, bool cold_weights = false);

}  // namespace attune::model
