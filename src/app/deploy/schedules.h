// Which schedule a task of a model is compiled with.
#pragma once

#include <functional>
#include <optional>
#include <string>

#include "compiler/graph/tasks.h"
#include "compiler/schedule/trace.h"
#include "compiler/target/target.h"

namespace attune::deploy {

// Where a schedule comes from: a record, the bundle that ships with the program, a template, or
// nowhere: the program as it is written.
enum class Origin { Record, Shipped, Default, Plain };
// "recorded", "shipped", "default", "plain".
std::string_view name_of(Origin origin);

struct Schedule {
  std::string algorithm = "direct";
  schedule::Trace trace = {};  // begins with `algorithm NAME` unless that is the direct one
  Origin origin = Origin::Default;
  std::string passed_over = {};  // why a faster record was not taken; empty: there is none
  std::optional<double> measured_us = {};  // here, or where it was shipped from
};

using ChooseSchedule = std::function<Schedule(const graph::Task& task)>;

// A schedule as records have it: a trace that may begin with its algorithm.
Schedule recorded_schedule(schedule::Trace trace);

// The program that an algorithm's name stands for; null when the task has none of that name.
const ir::Program* program_of(const graph::Task& task, const std::string& algorithm);

// Without measuring: an algorithm with fewer multiplications where that pays as a rule, and the
// default schedule of its template. `exact` allows the direct algorithm only.
Schedule default_schedule(const graph::Task& task, const target::Target& target, bool exact);

}  // namespace attune::deploy
