// Records and definitions of tasks as lines of JSON, the format of export and import; and an
// outcome as JSON, the form in which stores keep it.
#pragma once

#include <cstddef>
#include <optional>
#include <string>
#include <string_view>
#include <variant>

#include "base/result.h"
#include "tuner/records/record.h"
#include "tuner/records/task_definition.h"

namespace attune::records {

// The "schema" field of a line says what it holds. Programs that know only one refuse lines of the
// other by their number.
inline constexpr int kRecordLineSchema = 1;
inline constexpr int kTaskLineSchema = 2;

// Without a line end. Id and session belong to one store and are left out.
std::string record_to_json_line(const Record& record);
std::string task_to_json_line(const TaskDefinition& task);

struct LineProblem {
  std::size_t line = 1;    // from 1
  std::size_t column = 1;  // from 1, in bytes
  std::string message;
};

// Problems are those of line 1.
std::variant<Record, TaskDefinition, LineProblem> parse_json_line(std::string_view line);

std::string outcome_to_json(const outcome::Outcome& outcome);
Result<outcome::Outcome> outcome_from_json(std::string_view text);

// The time with which a record competes: that of a sound timing, none for a failure.
std::optional<double> competing_time_us(const outcome::Outcome& outcome);

}  // namespace attune::records
