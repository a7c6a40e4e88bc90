// Searches over single operators for the sake of their curves: no history, no defaults unless the
// variant asks for them, every trial kept. A search that was cut goes on: what was measured is
// taken from the file, so that the explorer decides as it did and then goes further.
#pragma once

#include <functional>
#include <map>
#include <memory>
#include <string>
#include <vector>

#include "bench/models/table.h"
#include "bench/search/curve_file.h"
#include "bench/search/variant.h"
#include "compiler/target/target.h"
#include "tuner/measure/builder/local_builder.h"
#include "tuner/measure/runner.h"
#include "tuner/session/task.h"

namespace attune::bench {

struct SearchRun {
  const session::Task& task;  // its name is that of the curve
  Variant variant;
  std::uint64_t seed = 0;
  std::size_t trials = 64;
  records::Weights weights = records::Weights::Hot;
};

// How long one search took, in this process.
struct SearchCost {
  std::size_t rounds = 0, measured = 0;  // trials that were not in the file
  double select_seconds = 0, update_seconds = 0, measure_seconds = 0;
  double longest_choice_seconds = 0;    // select and update of one round
  bool complete = true;                 // false: out of time
  std::map<std::string, int> failures;  // why candidates failed, and how many
};

class SearchBench {
 public:
  // `target` in words, e.g. "cpu -threads=1".
  static Result<std::unique_ptr<SearchBench>> start(const std::string& target);

  // What variants with history learn from: trials of other operators, or of all when they were made
  // on another target. Returns how many there are.
  Result<std::size_t> learn_from(const CurveFile& lessons, const std::string& target);
  // Adds the trials to the file. `out_of_time` is asked before each round.
  Result<SearchCost> search(const SearchRun& run, CurveFile& file,
                            const std::function<bool()>& out_of_time);
  // Times in microseconds of schedules (';' between the steps), measured in turns and built
  // whatever that costs; 0 for those that fail.
  Result<std::vector<double>> compare(const session::Task& task,
                                      const std::vector<std::string>& traces,
                                      records::Weights weights = records::Weights::Hot);
  // Of an operator spec.
  Result<session::Task> task_of(const std::string& spec) const;
  const target::Target& target() const { return target_; }

 private:
  SearchBench(target::Target target, std::unique_ptr<measure::Runner> runner);
  // Null where the variant wants none.
  Result<std::shared_ptr<const cost_model::History>> history_for(const session::Task& task,
                                                                 const Variant& variant) const;
  std::vector<measure::BuiltCandidate> build(const session::Task& task,
                                             const std::vector<schedule::Trace>& traces,
                                             bool whatever_it_costs);
  Result<std::vector<std::optional<double>>> measure(const SearchRun& run,
                                                     const std::vector<schedule::Trace>& traces,
                                                     double best_us,
                                                     std::map<std::string, int>& failures);

  target::Target target_;
  std::unique_ptr<measure::Runner> runner_;
  builder::LocalBuilder builder_;
  std::vector<Table> lessons_;
  bool lessons_of_other_target_ = false;
};

}  // namespace attune::bench
