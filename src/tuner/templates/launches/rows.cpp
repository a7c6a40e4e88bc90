// Reductions of rows that lie in one piece: softmax, layer normalisation, sums and maxima. Some
// threads of a block share a row, each reduces every so-many-th element of it, and what they found
// is reduced in shared memory (lane_sums.h); all that is made of a row is one launch.
#include <algorithm>
#include <optional>
#include <set>

#include "tuner/templates/dataflow.h"
#include "tuner/templates/inlining.h"
#include "tuner/templates/launches/lane_sums.h"
#include "tuner/templates/launches/launches.h"
#include "tuner/templates/launches/whole_program.h"
#include "tuner/templates/program_facts.h"

namespace attune::templates {
namespace {

constexpr double kWastedWork = 60;
constexpr std::int64_t kShortestRow = 16;
constexpr std::int64_t kFewRows = 64, kLongRow = 16384;

std::int64_t row_of(const ir::Stage& stage) {
  std::int64_t length = 1;
  for (const ir::Axis& axis : stage.reduce_axes) length *= axis.extent;
  return length;
}

// The stages of a program of rows, after inlining.
struct Rows {
  std::vector<const ir::Stage*> reductions;
  const ir::Stage* root = nullptr;  // that is stored
  std::size_t axes = 0;             // that number the rows, of each of them
};

bool reads_rows(const ir::Stage& stage) {
  const Strides strides = strides_of(stage, stage.reduce_axes.back().name);
  return strides.contiguous > 0 && strides.scattered == 0 && row_of(stage) >= kShortestRow &&
         reads_once(stage);
}

// Nothing when the program is not of that form.
std::optional<Rows> rows_of(const ir::Program& program) {
  const auto constants = constants_of(program);
  Rows rows;
  for (const ir::Stage& stage : program.stages) {
    if (constants.count(stage.outputs[0]) > 0) continue;
    if (!reduces(stage)) {
      if (rows.root != nullptr || !is_output(program, stage)) return std::nullopt;
      rows.root = &stage;
      continue;
    }
    if (stage.outputs.size() != 1 || is_output(program, stage) || !reads_rows(stage)) {
      return std::nullopt;
    }
    rows.reductions.push_back(&stage);
  }
  if (rows.root == nullptr || rows.reductions.empty()) return std::nullopt;
  rows.axes = rows.reductions.front()->axes.size();
  if (rows.axes == 0 || rows.root->axes.size() < rows.axes) return std::nullopt;
  for (const ir::Stage* stage : rows.reductions) {
    if (stage->axes.size() != rows.axes) return std::nullopt;
    for (std::size_t a = 0; a < rows.axes; ++a) {
      if (stage->axes[a].extent != rows.root->axes[a].extent) return std::nullopt;
    }
  }
  return rows;
}

Inlined inlined_of(const space::Subject& subject) { return inline_producers(subject, kWastedWork); }

// Of a few long ones, blocks had better share each: that is what `reductions` does.
bool are_few(const Rows& rows) {
  std::int64_t count = 1;
  for (const ir::Axis& axis : rows.reductions.front()->axes) count *= axis.extent;
  return rows.reductions.size() == 1 && count <= kFewRows &&
         row_of(*rows.reductions.front()) >= kLongRow;
}

bool fits(const space::Subject& subject) {
  const Inlined inlined = inlined_of(subject);
  const auto rows = rows_of(inlined.program);
  return rows && !are_few(*rows);
}

std::vector<space::Knob> knobs(const space::Subject& subject, const target::Target& target) {
  const Inlined inlined = inlined_of(subject);
  const std::int64_t length = row_of(*rows_of(inlined.program)->reductions.front());
  std::vector<std::int64_t> lanes;
  for (std::int64_t count = 4; count <= std::min<std::int64_t>(256, 2 * length); count *= 2) {
    if (count <= target.launch.threads_per_block) lanes.push_back(count);
  }
  if (lanes.empty()) lanes.push_back(1);
  return {space::choice_of("lanes", lanes), space::choice_of("rows", {1, 2, 4, 8, 16})};
}

// A warp a row, more where rows are long.
space::Settings default_values(const space::Subject& subject, const target::Target& target) {
  const Inlined inlined = inlined_of(subject);
  const std::int64_t length = row_of(*rows_of(inlined.program)->reductions.front());
  const std::int64_t lanes = length > 32 * target.launch.warp ? 128 : target.launch.warp;
  return {{"lanes", {{lanes}}}, {"rows", {{std::max<std::int64_t>(1, 128 / lanes)}}}};
}

std::optional<std::string> reject(const ir::Program&, const target::Target& target,
                                  const space::Values& values) {
  if (values["lanes"] * values["rows"] > target.launch.threads_per_block) {
    return "too many threads in a block";
  }
  return std::nullopt;
}

class RowsWriter {
 public:
  RowsWriter(LaunchWriter& writer, const Rows& rows, const space::Values& values)
      : writer_(writer), rows_(rows), lanes_(values["lanes"]), count_(values["rows"]) {}

  bool write() {
    if (!cut_root()) return false;
    for (auto stage = rows_.reductions.rbegin(); stage != rows_.reductions.rend(); ++stage) {
      if (!share((*stage)->name)) return false;
    }
    return true;
  }

 private:
  bool perform(const schedule::Step& step) { return writer_.perform(step); }

  bool cut_root() {
    const std::string& root = rows_.root->name;
    schedule::Names axes = writer_.loops(root, false);
    const auto cut = axes.begin() + static_cast<std::ptrdiff_t>(rows_.axes);
    const schedule::Names outer(axes.begin(), cut), inner(cut, axes.end());
    const std::string rows = writer_.fused(root, outer);
    if (!perform(schedule::Split{root, rows, {count_}}) ||
        !perform(schedule::Bind{root, rows + ".0", "block.x"}) ||
        !perform(schedule::Bind{root, rows + ".1", "thread.y"})) {
      return false;
    }
    block_loop_ = rows + ".0";
    if (inner.empty()) return true;
    const std::string columns = writer_.fused(root, inner);
    return perform(schedule::Split{root, columns, {lanes_}}) &&
           perform(schedule::Bind{root, columns + ".1", "thread.x"});
  }

  bool share(const std::string& stage) {
    const LanePlace place{
        rows_.root->name, block_loop_, [&](const std::string& each, std::size_t lanes) {
          schedule::Names rows = writer_.loops(each, false);
          rows.resize(rows.size() - lanes);
          return perform(schedule::Bind{each, writer_.fused(each, rows), "thread.y"});
        }};
    return reduce_by_lanes(writer_, stage, lanes_, place);
  }

  LaunchWriter& writer_;
  const Rows& rows_;
  const std::int64_t lanes_, count_;
  std::string block_loop_;
};

space::Written trace(const space::Subject& subject, const target::Target& target,
                     const space::Values& values) {
  const Inlined inlined = inlined_of(subject);
  const Rows rows = *rows_of(inlined.program);
  LaunchWriter writer(subject, inlined.steps, target.launch);
  std::set<std::string> done;
  if (writer.together([&] { return RowsWriter(writer, rows, values).write(); })) {
    done.insert(rows.root->name);
    for (const ir::Stage* stage : rows.reductions) done.insert(stage->name);
  }
  write_others(writer, inlined.program, done,
               {.tiling = {.threads_y = 1, .tile_y = 1, .threads_x = 64, .tile_x = 1},
                .threads = 128,
                .per_thread = 1});
  return writer.take();
}

}  // namespace

space::Template launch_rows() { return {"rows", fits, knobs, trace, default_values, reject}; }

}  // namespace attune::templates
