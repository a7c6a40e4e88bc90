// Operators that reduce rows: softmax, layer norm, reductions over the last axis, with any number
// of axes before it. Rows are independent and run in parallel; within a row each reduction keeps
// several vectors of partial results, and what the row needs more than once is computed once.
#include <algorithm>

#include "tuner/templates/dataflow.h"
#include "tuner/templates/families.h"
#include "tuner/templates/fused_stages.h"
#include "tuner/templates/program_facts.h"

namespace attune::templates {
namespace {

// Up to this length a value is computed again rather than kept: short ones, none, long ones.
constexpr std::int64_t kComputedAgain[] = {6, 0, 48};
constexpr std::int64_t kMostVectors = 8;  // written out

bool reduces(const ir::Stage& stage) { return stage.reduction != ir::Reduction::None; }

// How many axes of a stage stand for rows: those before the last that is longer than 1, which is
// the row itself unless the stage is a reduction.
std::vector<std::int64_t> row_extents(const ir::Stage& stage) {
  std::vector<std::int64_t> extents;
  for (const ir::Axis& axis : stage.axes) extents.push_back(axis.extent);
  while (!extents.empty() && extents.back() == 1) extents.pop_back();
  return extents;
}

// What the template knows of a program: how many axes of the output are rows.
std::optional<std::size_t> row_axes(const ir::Program& program) {
  if (program.stages.empty() || program.outputs.size() != 1) return {};
  const ir::Stage& output = program.stages.back();
  if (reduces(output) || program.producer(program.outputs[0]) != &output) return {};
  const std::set<ir::Buffer> constants = constants_of(program);
  std::optional<std::vector<std::int64_t>> rows;
  for (const ir::Stage& stage : program.stages) {
    if (!reduces(stage) || constants.count(stage.outputs[0]) > 0) continue;
    if (stage.reduce_axes.size() != 1) return {};
    const Strides strides = strides_of(stage, stage.reduce_axes[0].name);
    if (strides.contiguous == 0 || strides.scattered > 0) return {};
    const auto own = row_extents(stage);
    if (!rows || own.size() > rows->size()) rows = own;
  }
  if (!rows || output.axes.empty()) return {};
  // A reduction of one row has no axis longer than 1; any that is there will do.
  const std::size_t count = std::max<std::size_t>(1, rows->size());
  if (output.axes.size() < count) return {};
  for (std::size_t i = 0; i < rows->size(); ++i) {
    if (output.axes[i].extent != (*rows)[i]) return {};
  }
  if (rows->empty() && output.axes[0].extent != 1) return {};
  std::int64_t rest = 0;
  for (std::size_t i = count; i < output.axes.size(); ++i) rest += output.axes[i].extent > 1;
  if (rest > 1) return {};
  return count;
}

bool fits(const ir::Program& program) {
  const auto rows = row_axes(program);
  if (!rows) return false;
  // Everything must depend on the row alone, so that all can be computed in its loop.
  const ir::Stage& output = program.stages.back();
  const std::set<ir::Buffer> constants = constants_of(program);
  for (const ir::Stage& stage : program.stages) {
    if (constants.count(stage.outputs[0]) > 0) continue;
    if (stage.axes.size() > output.axes.size() + 1 || stage.axes.empty()) return false;
    for (std::size_t i = 0; i < std::min(*rows, stage.axes.size()); ++i) {
      if (stage.axes[i].extent != output.axes[i].extent) return false;
    }
    if (stage.axes.size() < *rows) return false;
  }
  return true;
}

// Whether the stage has a value for each element of a row.
bool runs_along(const ir::Stage& stage, std::size_t rows) {
  bool along = reduces(stage);
  for (std::size_t i = rows; i < stage.axes.size(); ++i) along |= stage.axes[i].extent > 1;
  return along;
}

// The length of the longest row that is written; 1 when none is.
std::int64_t written_length(const ir::Program& program) {
  const std::size_t rows = *row_axes(program);
  const std::set<ir::Buffer> constants = constants_of(program);
  std::int64_t longest = 1;
  for (const ir::Stage& stage : program.stages) {
    if (constants.count(stage.outputs[0]) > 0 || reduces(stage)) continue;
    for (std::size_t i = rows; i < stage.axes.size(); ++i) {
      longest = std::max(longest, stage.axes[i].extent);
    }
  }
  return longest;
}

std::vector<space::Knob> knobs(const ir::Program& program, const target::Target& target) {
  std::vector<space::Knob> list{
      space::choice_of("vectors", {1, 2, 4, 8}),
      space::choice_of("again", {std::begin(kComputedAgain), std::end(kComputedAgain)})};
  if (const std::int64_t length = written_length(program); length > 1) {
    // Vectors written out and the lanes of each, where half as many may fit the row better; and
    // what is done with the two loops.
    const std::int64_t lanes = lanes_of(program.stages.back(), target);
    list.push_back(space::split_by("row", {.extent = std::max(length, lanes),
                                           .parts = 3,
                                           .policy = space::SplitPolicy::PowersOfTwo,
                                           .tails = true,
                                           .max_factor = std::max(kMostVectors, lanes),
                                           .max_product = kMostVectors * lanes,
                                           .min_innermost = std::max<std::int64_t>(1, lanes / 2)}));
    list.push_back(space::annotate_loops("row_loops", 2, space::AnnotatePolicy::TryBoth));
  }
  // Little work is done before other threads have begun.
  if (target.threads > 1) list.push_back(space::annotate_with("parallel", {1, 0}));
  return list;
}

space::Settings default_values(const ir::Program& program, const target::Target& target) {
  return {{"vectors", {{4}}},
          {"again", {{kComputedAgain[0]}}},
          {"row", {{kMostVectors, lanes_of(program.stages.back(), target)}}},
          {"row_loops", {{1, 2}}},
          {"parallel", {{1}}}};
}

std::optional<std::string> reject(const ir::Program& program, const target::Target& target,
                                  const space::Values& values) {
  if (!values.has("row_loops")) return {};
  const auto vectorize = static_cast<std::int64_t>(space::Annotation::Vectorize);
  const bool in_vectors = values.numbers("row_loops").back() == vectorize;
  const std::int64_t lanes = lanes_of(program.stages.back(), target);
  if (!in_vectors && written_length(program) >= 2 * lanes) return "a long row without vectors";
  return {};
}

schedule::Names names_of(const std::vector<ir::Axis>& axes) {
  schedule::Names names;
  for (const ir::Axis& axis : axes) names.push_back(axis.name);
  return names;
}

// The reduction in vectors; whether that made a stage of partial results.
bool reduce_in_vectors(TraceWriter& t, const ir::Stage& stage, const target::Target& target,
                       std::int64_t vectors) {
  if (stage.outputs.size() != 1) return false;
  const std::int64_t lanes = lanes_of(stage, target);
  const std::string& j = stage.reduce_axes[0].name;
  const std::int64_t extent = stage.reduce_axes[0].extent;
  // Partial results of a short row are fewer.
  while (vectors > 1 && lanes * vectors >= extent) vectors /= 2;
  if (lanes >= extent) {
    // A single vector is combined into the result at once.
    t.split(stage.name, j, {lanes});
    t.vectorize(stage.name, j + ".1");
    return false;
  }
  t.split(stage.name, j, {lanes * vectors});
  t.rfactor(stage.name, j + ".1");
  t.vectorize("rf." + stage.name, j + "_1");
  schedule::Names order = names_of(stage.axes);
  order.insert(order.end(), {j + "_0", j + "_1"});
  t.reorder("rf." + stage.name, order);
  t.vectorize(stage.name, j + "_1");
  return true;
}

// How a row is written, whatever the type of its elements.
struct RowStyle {
  std::int64_t unroll;              // vectors written out
  std::int64_t lanes, of_register;  // of a vector, of as many that a register has
  std::span<const std::int64_t> loops;
};

// Along the row, which is the last axis that is longer than 1 behind those of the rows.
void run_along_row(TraceWriter& t, const ir::Stage& stage, std::size_t rows,
                   const target::Target& target, const RowStyle& style) {
  for (std::size_t i = rows; i < stage.axes.size(); ++i) {
    const ir::Axis& axis = stage.axes[i];
    if (axis.extent == 1) continue;
    const std::int64_t lanes =
        std::max<std::int64_t>(1, lanes_of(stage, target) * style.lanes / style.of_register);
    const std::int64_t vectors = (axis.extent + lanes - 1) / lanes;
    const schedule::Numbers factors{std::min(style.unroll, vectors), lanes};
    const schedule::Names loops = t.split_as(stage.name, axis.name, factors);
    t.annotate_as(stage.name, {loops[1], loops[2]}, style.loops);
  }
}

// Values along the row that are short, and all that are read once and not again and again.
bool is_inlined(const ir::Program& program, const ir::Stage& stage, std::size_t rows,
                std::int64_t computed_again) {
  if (reduces(stage) || is_output(program, stage)) return false;
  if (only_moves(stage)) return true;
  const bool along = runs_along(stage, rows);
  if (along && length_of(stage) <= computed_again) return true;
  const auto readers = readers_of(program, stage);
  return readers.size() == 1 && runs_along(*readers[0], rows) == along &&
         reads_of(*readers[0]).at(stage.outputs[0]) == 1;
}

schedule::Trace trace(const ir::Program& program, const target::Target& target,
                      const space::Values& values) {
  TraceWriter t;
  const std::size_t rows = *row_axes(program);
  const ir::Stage& output = program.stages.back();
  const std::set<ir::Buffer> constants = constants_of(program);
  RowStyle style{1, 1, lanes_of(output, target), {}};
  if (values.has("row")) {
    const auto row = values.numbers("row");
    style = {row[0], row[1], style.of_register, values.numbers("row_loops")};
  }
  std::vector<std::string> placed;  // last first
  for (const ir::Stage& stage : program.stages) {
    if (constants.count(stage.outputs[0]) > 0 || &stage == &output) continue;
    if (is_inlined(program, stage, rows, values["again"])) t.inline_stage(stage.name);
  }
  for (const ir::Stage& stage : program.stages) {
    if (constants.count(stage.outputs[0]) > 0 || &stage == &output) continue;
    if (is_inlined(program, stage, rows, values["again"])) continue;
    if (reduces(stage) && reduce_in_vectors(t, stage, target, values["vectors"])) {
      placed.insert(placed.begin(), "rf." + stage.name);
    }
    placed.insert(placed.begin(), stage.name);
    if (!reduces(stage)) run_along_row(t, stage, rows, target, style);
  }
  schedule::Names lead = names_of(output.axes);
  lead.resize(rows);
  if (rows > 1) t.fuse(output.name, lead);
  for (const std::string& stage : placed) t.compute_at(stage, output.name, fused_name(lead));
  run_along_row(t, output, rows, target, style);
  if (!values.has("parallel") || values["parallel"] == 1) {
    t.parallel(output.name, fused_name(lead));
  }
  return t.take();
}

}  // namespace

space::Template rows() { return {"rows", fits, knobs, trace, default_values, reject}; }

}  // namespace attune::templates
