// Cells of recurrent networks (compiler/graph/tasks/cell.h) as one launch: a product with weights
// whose columns are parts (gates), and the arithmetic that makes a state of them. A block has a few
// columns with all their parts, so that what follows the product finds everything in shared memory.
// The products of a step have few rows and read every weight once: groups of threads take a range
// of terms each, neighbours read weights that lie side by side, many of them at once, and what each
// summed up is added in shared memory.
#include <algorithm>
#include <optional>
#include <set>

#include "tuner/templates/dataflow.h"
#include "tuner/templates/inlining.h"
#include "tuner/templates/launches/launches.h"
#include "tuner/templates/launches/whole_program.h"
#include "tuner/templates/program_facts.h"

namespace attune::templates {
namespace {

constexpr double kWastedWork = 400;
constexpr std::int64_t kMostUnrolled = 64, kElement = 4;
// With more rows weights are worth keeping near, which products do.
constexpr std::int64_t kMostRows = 16;

struct Shape {
  std::int64_t rows, parts, columns, terms;
};

Shape shape_of(const ir::Program& program) {
  const ir::Stage& anchor = *program.find_stage("anchor");
  return {extent_of(anchor, "i"), extent_of(anchor, "g"), extent_of(anchor, "j"),
          extent_of(anchor, "k")};
}

Inlined inlined_of(const space::Subject& subject) {
  return inline_producers(subject, kWastedWork, {"filter"});
}

// What is left of a cell runs as its product and the stage that reads it.
bool is_cell(const ir::Program& program) {
  const auto constants = constants_of(program);
  const ir::Stage* anchor = program.find_stage("anchor");
  const auto readers = readers_of(program, *anchor);
  if (readers.size() != 1 || readers[0]->name != "output") return false;
  return std::all_of(program.stages.begin(), program.stages.end(), [&](const ir::Stage& stage) {
    return stage.name == "anchor" || stage.name == "output" ||
           constants.count(stage.outputs[0]) > 0;
  });
}

bool fits(const space::Subject& subject) {
  const ir::Program& program = subject.program;
  const ir::Stage* anchor = program.find_stage("anchor");
  const ir::Stage* output = program.find_stage("output");
  const ir::Stage* filter = program.find_stage("filter");
  if (!anchor || !output || !filter || anchor->reduction != ir::Reduction::Sum ||
      !has_axes(*anchor, {"i", "g", "j"}, {"k"}) || extent_of(*anchor, "i") > kMostRows ||
      !has_axes(*filter, {"k", "g", "j"}, {}) || !depends_on_constants(program, *filter)) {
    return false;
  }
  const auto& axes = output->axes;
  return (axes.size() == 2 || axes.size() == 3) && !reduces(*output) &&
         axes[axes.size() - 2].extent == extent_of(*anchor, "i") &&
         axes.back().extent == extent_of(*anchor, "j") && is_cell(inlined_of(subject).program);
}

// The widest vector that columns are cut into.
std::int64_t vector_of(const Shape& s) {
  return s.columns % 4 == 0 ? 4 : s.columns % 2 == 0 ? 2 : 1;
}

// Terms of one of so many groups.
std::int64_t part_of(const Shape& s, std::int64_t groups) {
  return (s.terms + groups - 1) / groups;
}

std::vector<space::Knob> knobs(const ir::Program& program, const target::Target& target) {
  const Shape s = shape_of(program);
  const std::int64_t vector = vector_of(s);
  std::vector<std::int64_t> columns, groups;
  for (const std::int64_t vectors : {1, 2, 4, 8}) {
    if (vectors == 1 || vectors * vector < 2 * s.columns) columns.push_back(vectors * vector);
  }
  for (std::int64_t count = 1; count <= std::min<std::int64_t>(128, s.terms); count *= 2) {
    if (count <= target.launch.threads_per_block) groups.push_back(count);
  }
  return {space::split_list("rows", s.rows, {1, 2, 4, 8}), space::choice_of("columns", columns),
          space::choice_of("groups", groups),
          // Terms of a thread whose reads are under way together.
          space::split_list("steps", std::max<std::int64_t>(1, s.terms / groups.back()),
                            {1, 2, 4, 8, 16})};
}

std::int64_t threads_of(const Shape& s, const space::Values& values) {
  const std::int64_t lanes =
      std::max(s.parts * values["columns"] / vector_of(s), values["columns"]);
  return lanes * std::max(values["groups"], s.parts);
}

std::optional<std::string> reject(const ir::Program& program, const target::Target& target,
                                  const space::Values& values) {
  const Shape s = shape_of(program);
  if (threads_of(s, values) > target.launch.threads_per_block) return "too many threads in a block";
  const std::int64_t sums = values["rows"] * s.parts * values["columns"];
  if (sums * (values["groups"] + 1) * kElement > target.launch.shared_bytes) {
    return "sums do not fit into shared memory";
  }
  return std::nullopt;
}

// A block for each multiprocessor, of some warps.
space::Settings default_values(const ir::Program& program, const target::Target& target) {
  constexpr std::int64_t kThreads = 256;
  const Shape s = shape_of(program);
  const std::int64_t vector = vector_of(s);
  std::int64_t columns = vector;
  while (columns < 8 * vector && s.columns / columns > target.launch.multiprocessors) columns *= 2;
  const std::int64_t lanes = std::max(s.parts * columns / vector, columns);
  return {{"rows", {{std::min<std::int64_t>(s.rows, 4)}}},
          {"columns", {{columns}}},
          {"groups", {{std::max<std::int64_t>(1, kThreads / lanes)}}},
          {"steps", {{8}}}};
}

class CellWriter {
 public:
  CellWriter(LaunchWriter& writer, const Shape& shape, const space::Values& values)
      : writer_(writer), shape_(shape), values_(values), vector_(vector_of(shape)) {}

  bool write() {
    return pack_weights() && cut_output() && share_terms() && place_sums() && place_partial() &&
           place_products();
  }

 private:
  bool perform(const schedule::Step& step) { return writer_.perform(step); }

  // Those of a block's columns in one piece, term by term.
  bool pack_weights() {
    const std::string block = std::to_string(values_["columns"]);
    return perform(schedule::Layout{"filter", {"j/" + block, "k", "g", "j%" + block}});
  }

  bool cut_output() {
    const schedule::Names axes = writer_.loops("output", false);
    const std::string j = axes.back(), i = axes[axes.size() - 2];
    if (!perform(schedule::Split{"output", i, {values_["rows"]}}) ||
        !perform(schedule::Split{"output", j, {values_["columns"]}})) {
      return false;
    }
    schedule::Names order{i + ".0", j + ".0", j + ".1"};
    order.insert(order.end(), axes.begin(), axes.end() - 2);
    order.push_back(i + ".1");
    block_ = j + ".0";
    if (!perform(schedule::Reorder{"output", order}) ||
        !perform(schedule::Bind{"output", i + ".0", "block.y"}) ||
        !perform(schedule::Bind{"output", block_, "block.x"}) ||
        !perform(schedule::Bind{"output", j + ".1", "thread.x"})) {
      return false;
    }
    for (std::size_t n = 3; n < order.size(); ++n) {
      if (!perform(schedule::Unroll{"output", order[n]})) return false;
    }
    return true;
  }

  // Every group of threads takes a range of terms.
  bool share_terms() {
    const std::int64_t part = part_of(shape_, values_["groups"]);
    return perform(schedule::Split{"anchor", "k", {part}}) &&
           perform(schedule::Rfactor{"anchor", "k.0"}) &&
           perform(schedule::CacheWrite{"rf.anchor"});
  }

  bool in_block(const std::string& stage) {
    return perform(schedule::ComputeAt{stage, "output", block_}) &&
           perform(schedule::SetScope{stage, "shared"});
  }

  // One thread for each part of each column adds up what groups found.
  bool place_sums() {
    if (!in_block("anchor") || !perform(schedule::Bind{"anchor", "g", "thread.y"}) ||
        !perform(schedule::Bind{"anchor", "j", "thread.x"})) {
      return false;
    }
    for (const std::string& loop : writer_.loops("anchor", true)) {
      if (values_["groups"] <= kMostUnrolled && !perform(schedule::Unroll{"anchor", loop})) {
        return false;
      }
    }
    return true;
  }

  bool place_partial() {
    const std::string stage = "rf.anchor";
    const std::string group = writer_.loops(stage, false).back();
    if (!in_block(stage) || !perform(schedule::Layout{stage, {group, "i", "g", "j"}}) ||
        !perform(schedule::Split{stage, "j", {vector_}}) ||
        !perform(schedule::Reorder{stage, {group, "g", "j.0", "i", "j.1"}})) {
      return false;
    }
    const std::string lanes = writer_.fused(stage, {"g", "j.0"});
    lane_ = lanes;
    return perform(schedule::Bind{stage, group, "thread.y"}) &&
           perform(schedule::Bind{stage, lanes, "thread.x"}) &&
           perform(schedule::Unroll{stage, "i"}) && run_along(stage, "j.1");
  }

  bool run_along(const std::string& stage, const std::string& loop) {
    return vector_ > 1 ? perform(schedule::Vectorize{stage, loop})
                       : perform(schedule::Unroll{stage, loop});
  }

  // Each thread's own, in registers.
  bool place_products() {
    const std::string stage = "cache.rf.anchor";
    const std::string terms = writer_.loops(stage, true).front();
    if (!perform(schedule::ComputeAt{stage, "rf.anchor", lane_}) ||
        !perform(schedule::SetScope{stage, "register"}) ||
        !perform(schedule::Split{stage, terms, {values_["steps"]}})) {
      return false;
    }
    schedule::Names own = writer_.loops(stage, false);
    std::erase(own, "j");
    schedule::Names order{terms + ".0", terms + ".1"};
    order.insert(order.end(), own.begin(), own.end());
    order.push_back("j");
    if (!perform(schedule::Reorder{stage, order}) ||
        !perform(schedule::Unroll{stage, terms + ".1"})) {
      return false;
    }
    for (const std::string& loop : own) {
      if (!perform(schedule::Unroll{stage, loop})) return false;
    }
    return run_along(stage, "j");
  }

  LaunchWriter& writer_;
  const Shape shape_;
  const space::Values& values_;
  const std::int64_t vector_;
  std::string block_;  // the loop of the output
  std::string lane_;   // of the partial sums
};

space::Written trace(const space::Subject& subject, const target::Target& target,
                     const space::Values& values) {
  const Inlined inlined = inlined_of(subject);
  LaunchWriter writer(subject, inlined.steps, target.launch);
  std::set<std::string> done;
  const Shape shape = shape_of(subject.program);
  if (writer.together([&] { return CellWriter(writer, shape, values).write(); })) {
    done = {"anchor", "output"};
  }
  write_others(writer, inlined.program, done,
               {.tiling = {.threads_y = 1, .tile_y = 1, .threads_x = 64, .tile_x = 1},
                .threads = 128,
                .per_thread = 1});
  return writer.take();
}

}  // namespace

space::Template launch_cells() { return {"cells", fits, knobs, trace, default_values, reject}; }

}  // namespace attune::templates
