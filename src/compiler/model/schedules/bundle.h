// The bundle: the best schedules of the zoo's tasks on the machines at hand, shipped with the
// program as JSON lines, one per task, processor, number of threads and kind of weights. It holds
// what is needed to find a schedule for the same task, or for one that is much like it; no
// programs, and no records: the times are those of another machine.
#pragma once

#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "base/result.h"
#include "compiler/ir/nodes/tensor_expr.h"
#include "compiler/target/target.h"
#include "tuner/records/store.h"

namespace attune::model {

// What kind of task it is, and how large: schedules may fit other tasks of the same family. Without
// a family nothing is known.
struct TaskShape {
  std::string family;                                         // template, type and loops
  std::vector<std::pair<std::string, std::int64_t>> extents;  // of the anchor's loops
  friend bool operator==(const TaskShape&, const TaskShape&) = default;
};
TaskShape shape_of(const ir::Program& direct);
// Sum over the loops of |log2 of the ratio of their extents|; infinite for another family.
double distance(const TaskShape& a, const TaskShape& b);

struct BundledSchedule {
  std::string trace;  // as text
  double time_us = 0;
};

// Where a schedule was measured, as far as its speed depends on it. Machines of one processor
// family differ in features that no schedule uses.
struct BundledTarget {
  std::string cpu;  // an LLVM CPU name
  int vector_bytes = 0;
  int threads = 0;
  friend bool operator==(const BundledTarget&, const BundledTarget&) = default;
};
// The target must be resolved.
BundledTarget bundled_target(const target::Target& target);
std::string to_string(const BundledTarget& target);

struct BundledTask {
  std::string key, name;
  BundledTarget target;
  records::Weights weights = records::Weights::Hot;
  TaskShape shape;
  std::vector<BundledSchedule> best;  // the fastest first
};

using Bundle = std::vector<BundledTask>;

inline constexpr int kBundleSchema = 2;
std::string to_lines(const Bundle& bundle);
// The error names the line.
Result<Bundle> parse_bundle(std::string_view lines);

// The one that was linked in.
Result<Bundle> shipped_bundle();

// The `keep` fastest verified schedules of every task, target and weights of a store. A task
// without a definition has no shape: its schedules serve no other task. Targets that are not known
// here are left out, and their tasks counted.
Result<Bundle> make_bundle(records::Store& store, std::size_t keep, std::size_t& left_out);
// The tasks of both; where both have one, the `keep` fastest schedules of either.
Bundle merged(Bundle held, Bundle added, std::size_t keep);

}  // namespace attune::model
