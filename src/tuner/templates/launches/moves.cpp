// Programs that compute every element by itself or move it elsewhere. Neighbouring elements go to
// neighbouring threads, in vectors where they lie so; transposed ones go through a tile of shared
// memory, so that both sides are read and written in whole rows.
#include <algorithm>
#include <optional>
#include <set>

#include "compiler/ir/nodes/rewrite.h"
#include "tuner/templates/dataflow.h"
#include "tuner/templates/inlining.h"
#include "tuner/templates/launches/launches.h"
#include "tuner/templates/launches/whole_program.h"
#include "tuner/templates/program_facts.h"

namespace attune::templates {
namespace {

constexpr double kWastedWork = 40;
constexpr std::int64_t kTile = 32, kVectorBytes = 16, kBanks = 32;

bool fits(const ir::Program& program) {
  return std::none_of(program.stages.begin(), program.stages.end(), reduces);
}

// A tensor whose rows lie along another axis than those of the stage.
struct Transposed {
  std::string tensor;
  std::string rows, columns;  // axes of the stage: `rows` are neighbours in the tensor
  std::size_t row_dim = 0, column_dim = 0;  // of the tensor
};

std::optional<std::size_t> dimension_at(const ir::Load& load, const std::string& axis) {
  for (std::size_t d = 0; d < load.index.size(); ++d) {
    const auto* variable = ir::as<ir::Var>(load.index[d]);
    if (variable && variable->name == axis) return d;
  }
  return std::nullopt;
}

std::optional<Transposed> transposed_of(const ir::Stage& stage) {
  if (stage.axes.size() < 2) return std::nullopt;
  std::optional<Transposed> found;
  int loads = 0;
  ir::visit(stage.values[0], [&](const ir::Expr& e) {
    const auto* load = ir::as<ir::Load>(e);
    if (!load) return;
    const std::string& columns = stage.axes.back().name;
    const auto column_dim = dimension_at(*load, columns);
    if (!column_dim || *column_dim + 1 == load->index.size()) return;
    for (const ir::Axis& axis : stage.axes) {
      const auto row_dim = dimension_at(*load, axis.name);
      if (!row_dim || *row_dim + 1 != load->index.size() || axis.extent < 8) continue;
      ++loads;
      found = {load->buffer->name, axis.name, columns, *row_dim, *column_dim};
    }
  });
  return loads == 1 && stage.axes.back().extent >= 8 ? found : std::nullopt;
}

Inlined inlined_of(const space::Subject& subject) { return inline_producers(subject, kWastedWork); }

const ir::Stage& last_stage(const ir::Program& program) { return program.stages.back(); }

std::vector<space::Knob> knobs(const space::Subject& subject, const target::Target& target) {
  std::vector<std::int64_t> threads;
  for (std::int64_t count : {32, 64, 128, 256, 512, 1024}) {
    if (count <= target.launch.threads_per_block) threads.push_back(count);
  }
  if (threads.empty()) threads.push_back(target.launch.threads_per_block);
  std::vector<space::Knob> list{space::choice_of("threads", threads),
                                space::choice_of("per_thread", {1, 2, 4}),
                                space::choice_of("vectors", {1, 0})};
  const Inlined inlined = inlined_of(subject);
  if (transposed_of(last_stage(inlined.program))) {
    list.push_back(space::choice_of("tiled", {1, 0}));
  }
  return list;
}

space::Settings default_values(const ir::Program&, const target::Target&) {
  return {{"threads", {{256}}}, {"per_thread", {{1}}}, {"vectors", {{1}}}, {"tiled", {{1}}}};
}

bool write_transposed(LaunchWriter& writer, const std::string& stage, const Transposed& moved,
                      std::int64_t threads) {
  const std::int64_t lines = std::clamp<std::int64_t>(threads / kTile, 1, kTile);
  schedule::Names others = writer.loops(stage, false);
  std::erase(others, moved.rows);
  std::erase(others, moved.columns);
  schedule::Names order(others);
  order.insert(order.end(), {moved.rows + ".0", moved.columns + ".0", moved.rows + ".1",
                             moved.rows + ".2", moved.columns + ".1"});
  if (!writer.perform(schedule::Split{stage, moved.rows, {kTile / lines, lines}}) ||
      !writer.perform(schedule::Split{stage, moved.columns, {kTile}}) ||
      !writer.perform(schedule::Reorder{stage, order})) {
    return false;
  }
  if (!others.empty() &&
      !writer.perform(schedule::Bind{stage, writer.fused(stage, others), "block.z"})) {
    return false;
  }
  const std::string copy = "cache." + moved.tensor;
  if (!writer.perform(schedule::Bind{stage, moved.rows + ".0", "block.y"}) ||
      !writer.perform(schedule::Bind{stage, moved.columns + ".0", "block.x"}) ||
      !writer.perform(schedule::Bind{stage, moved.rows + ".2", "thread.y"}) ||
      !writer.perform(schedule::Bind{stage, moved.columns + ".1", "thread.x"}) ||
      !writer.perform(schedule::CacheRead{moved.tensor, stage}) ||
      !writer.perform(schedule::ComputeAt{copy, stage, moved.columns + ".0"}) ||
      !writer.perform(schedule::SetScope{copy, "shared"}) ||
      !writer.perform(schedule::StorageAlign{copy, kBanks, 1})) {
    return false;
  }
  const schedule::Names axes = writer.loops(copy, false);
  const std::string& lane = axes[moved.row_dim];
  const std::string& line = axes[moved.column_dim];
  if (!writer.perform(schedule::Split{copy, line, {lines}}) ||
      !writer.perform(schedule::Bind{copy, line + ".1", "thread.y"})) {
    return false;
  }
  return writer.perform(schedule::Bind{copy, lane, "thread.x"});
}

// In vectors along the last axis; false when its rows are not cut into whole ones.
bool write_vectors(LaunchWriter& writer, const ir::Stage& stage, std::int64_t threads,
                   std::int64_t per_thread) {
  const std::int64_t vector =
      kVectorBytes / std::max<std::int64_t>(1, stage.outputs[0]->type.bytes());
  schedule::Names axes = writer.loops(stage.name, false);
  if (axes.empty() || vector < 2 || stage.axes.back().extent % vector != 0 ||
      strides_of(stage, stage.axes.back().name).scattered > 0) {
    return false;
  }
  const std::string last = axes.back();
  return writer.together([&] {
    if (!writer.perform(schedule::Split{stage.name, last, {vector}})) return false;
    axes.back() = last + ".0";
    const std::string all = writer.fused(stage.name, axes);
    return writer.perform(schedule::Split{stage.name, all, {per_thread, threads}}) &&
           writer.perform(schedule::Bind{stage.name, all + ".0", "block.x"}) &&
           writer.perform(schedule::Bind{stage.name, all + ".2", "thread.x"}) &&
           writer.perform(schedule::Vectorize{stage.name, last + ".1"});
  });
}

space::Written trace(const space::Subject& subject, const target::Target& target,
                     const space::Values& values) {
  const Inlined inlined = inlined_of(subject);
  LaunchWriter writer(subject, inlined.steps, target.launch);
  const auto constants = constants_of(inlined.program);
  std::set<std::string> done;
  const ir::Stage& last = last_stage(inlined.program);
  const auto moved = transposed_of(last);
  if (moved && values.has("tiled") && values["tiled"] == 1 && writer.together([&] {
        return write_transposed(writer, last.name, *moved, values["threads"]);
      })) {
    done.insert(last.name);
  }
  for (const ir::Stage& stage : inlined.program.stages) {
    const bool runs = constants.count(stage.outputs[0]) == 0 || is_output(inlined.program, stage);
    if (!runs || done.count(stage.name) > 0 || values["vectors"] == 0) continue;
    if (write_vectors(writer, stage, values["threads"], values["per_thread"])) {
      done.insert(stage.name);
    }
  }
  write_others(writer, inlined.program, done,
               {.tiling = {}, .threads = values["threads"], .per_thread = values["per_thread"]});
  return writer.take();
}

}  // namespace

space::Template launch_moves() { return {"moves", fits, knobs, trace, default_values}; }

}  // namespace attune::templates
