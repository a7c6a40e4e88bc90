// Hints: schedules that did well elsewhere, on another machine or under another compiler, as this
// one would write them. They are worth a try before others and nothing more: a hint never counts as
// a record, and its time is compared only with times from the same place.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>

namespace attune::records {

// Hint::source of what ships with the program.
inline constexpr std::string_view kShippedSource = "shipped";

struct Hint {
  std::string task_key;
  std::string task_name;
  std::string trace;  // as text, one step per line
  std::uint64_t trace_hash = 0;
  double time_us = 0;          // where it was measured
  std::string foreign_target;  // where that was, in the words of its source
  std::string source;          // "autotvm FILE", or kShippedSource
  std::int64_t created_at_ms = 0;
  // What tasks that are built around the same operator share with this one, and the choices that
  // make the schedule, for use there; empty when not known.
  std::string anchor_key = {};
  std::string config = {};
};

}  // namespace attune::records
