// Options that several commands share, declared alike everywhere.
#pragma once

#include <functional>
#include <optional>
#include <string>
#include <vector>

#include "app/cli/command_line.h"
#include "app/cli/console.h"
#include "app/cli/verbs.h"
#include "compiler/model/fallback.h"
#include "compiler/model/load/input_files.h"
#include "compiler/model/load/model.h"
#include "compiler/model/schedules/known_schedule.h"

namespace attune::cli {

// MODEL, --target, --threads, --exact, --precision.
class ModelArguments {
 public:
  explicit ModelArguments(CommandLine& line, bool required = true);
  Result<model::ModelOptions> take() const;

 private:
  model::ModelOptions options_;
  std::optional<std::int64_t> threads_;
  std::string precision_;
};

// --shape, for whole models.
class ShapeArguments {
 public:
  explicit ShapeArguments(CommandLine& line);
  Result<model::Shapes> take() const;
  const std::vector<std::string>& texts() const { return texts_; }

 private:
  std::vector<std::string> texts_;
};

// --constant, for whole models.
class ConstantArguments {
 public:
  explicit ConstantArguments(CommandLine& line);
  Result<model::Constants> take() const;
  const std::vector<std::string>& texts() const { return texts_; }

 private:
  std::vector<std::string> texts_;
};

// --max, for whole models.
class MaximumArguments {
 public:
  explicit MaximumArguments(CommandLine& line);
  Result<model::Shapes> take() const;
  const std::vector<std::string>& texts() const { return texts_; }

 private:
  std::vector<std::string> texts_;
};

// Which model, and what of it is fixed: all of the above.
struct WholeModelArguments {
  explicit WholeModelArguments(CommandLine& line, bool required = true);
  Result<model::ModelOptions> take() const;

  ModelArguments model;
  ShapeArguments shapes;
  ConstantArguments constants;
  MaximumArguments maxima;
};

// "NAME=FILE", each.
Result<std::vector<model::NamedFile>> named_files(const std::vector<std::string>& texts);

// --input.
class InputArguments {
 public:
  explicit InputArguments(CommandLine& line);
  Result<std::vector<model::NamedFile>> take() const { return named_files(texts_); }

 private:
  std::vector<std::string> texts_;
};

// --trials, --seconds, --until-latency.
class BudgetArguments {
 public:
  BudgetArguments(CommandLine& line, const std::string& trials_meaning);
  const std::optional<std::int64_t>& trials() const { return trials_; }
  const std::optional<double>& seconds() const { return seconds_; }
  // Of "12ms", "350us", "0.5s"; milliseconds without a unit, nothing when it was not given.
  Result<std::optional<double>> until_latency_ms() const;

 private:
  std::optional<std::int64_t> trials_;
  std::optional<double> seconds_;
  std::string until_latency_;
};

// "a,b" as its words.
std::vector<std::string> words_of(const std::string& list);

// How far compiling a model is, as a line on a terminal; from any thread.
std::function<void(std::size_t done, std::size_t all)> compile_progress(Console& console);

// Tasks that were not compiled with the schedule chosen for them: all when the user asked for more,
// else one line of warning.
void tell_fallbacks(const model::Fallbacks& fallbacks, Console& console);

// --records, --history.
void add_store_options(CommandLine& line, std::string& records, std::string& history);
// The same, and --schedule, --default.
void add_schedule_options(CommandLine& line, model::ScheduleOptions& options);

// -v, -q and, where the command has it, --json.
struct Speech {
  bool json = false, verbose = false, quiet = false;
};
void add_speech_options(CommandLine& line, Speech& speech, const std::string& json_meaning);

// Parses, prints the help page when that is what was asked for, and otherwise acts.
Result<int> perform(CommandLine& line, Words arguments, const Speech& speech, Console& console,
                    const std::function<Result<int>()>& action);

// That a target has no units for the precision asked for, where that is so.
void tell_precision(const model::ModelOptions& options, std::string_view computed_in,
                    Console& console);

// What of the cage around kernels this system cannot have; nothing where all is well.
void tell_missing_cage_parts(Console& console);
// That records which will be written lie on a network file system, where that is so.
void tell_network_records(Console& console, const std::string& records);

}  // namespace attune::cli
