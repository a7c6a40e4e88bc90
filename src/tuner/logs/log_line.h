// One line of an AutoTVM tuning log as plain data, without any knowledge of what its operators and
// knobs mean. The format is one JSON object per line:
//   {"input": [target, task, [arguments], {}], "config": {"index", "entity": [[name, kind,
//   value]]},
//    "result": [[seconds], error, seconds in all, Unix time], "version": 0.2, "tvm_version": …}
// with comment lines that begin with '#'. Lines of the first version of the format and of the
// auto-scheduler are recognised, not read.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <variant>
#include <vector>

#include "tuner/records/record_json.h"

namespace attune::logs {

struct Tensor {
  std::vector<std::int64_t> shape;  // -1: not fixed
  std::string dtype;                // "float32"
  friend bool operator==(const Tensor&, const Tensor&) = default;
};

// An argument of a task, or the value of a knob.
struct Value {
  using List = std::vector<Value>;
  std::variant<std::monostate, bool, std::int64_t, double, std::string, List, Tensor> data;
  friend bool operator==(const Value&, const Value&) = default;

  template <typename T>
  const T* as() const {
    return std::get_if<T>(&data);
  }
};

enum class EntityKind : std::uint8_t { Split, Reorder, Annotate, Other };

// What a knob was set to: the sizes of a split from the outermost to the innermost (the first may
// be -1), a permutation, annotations by name, or anything.
struct Entity {
  std::string name;
  EntityKind kind = EntityKind::Other;
  Value value;
  friend bool operator==(const Entity&, const Entity&) = default;
};

struct LogRecord {
  std::string target;  // "llvm -mcpu=skylake-avx512"
  std::string task;    // "conv2d_NCHWc.x86"
  Value::List arguments;
  std::vector<Entity> entities;
  std::int64_t index = 0;       // of the configuration in its own space
  std::vector<double> seconds;  // one per repeat; meaningless when `error` is set
  int error = 0;                // 0: none
  double all_seconds = 0;       // that the candidate took, with building
  double unix_seconds = 0;
  std::string tvm_version;
};

// Lines that hold no record of ours to read.
enum class Skipped : std::uint8_t { Comment, OldVersion, AutoScheduler };

using LogLine = std::variant<LogRecord, Skipped, records::LineProblem>;

// Problems are those of line 1. Empty lines count as comments.
LogLine parse_log_line(std::string_view line);
// The line of a record, without its end; parses back to the same.
std::string to_log_line(const LogRecord& record);

// The mean of the times, by which records of one place are ranked; 0 for a record without any sound
// one.
double mean_seconds(const LogRecord& record);
// "runtime error"; "" for 0.
std::string_view describe_error(int error);

// Whether a text is an AutoTVM (or auto-scheduler) log, by its first line that is no comment.
bool looks_like_log(std::string_view line);

}  // namespace attune::logs
