// Every program as launches: producers that do not reduce are inlined, reductions are computed in
// tiles of registers, by blocks that fetch their operands together, and the rest is spread over
// threads.
#include <algorithm>
#include <optional>

#include "tuner/templates/dataflow.h"
#include "tuner/templates/inlining.h"
#include "tuner/templates/launches/launches.h"
#include "tuner/templates/launches/whole_program.h"
#include "tuner/templates/program_facts.h"

namespace attune::templates {
namespace {

constexpr std::int64_t kWastedWork[] = {40, 0};

bool fits(const ir::Program&) { return true; }

// The longest reduction that runs, and the last two of its axes that are longer than one.
struct Shape {
  std::int64_t y = 1, x = 1, steps = 1;
};

std::optional<Shape> shape_of(const ir::Program& program) {
  const auto constants = constants_of(program);
  std::optional<Shape> found;
  double most = 0;
  for (const ir::Stage& stage : program.stages) {
    if (!reduces(stage) || constants.count(stage.outputs[0]) > 0) continue;
    Shape shape;
    std::vector<std::int64_t> longer;
    double work = 1;
    for (const ir::Axis& axis : stage.axes) {
      work *= static_cast<double>(axis.extent);
      if (axis.extent > 1) longer.push_back(axis.extent);
    }
    for (const ir::Axis& axis : stage.reduce_axes) {
      work *= static_cast<double>(axis.extent);
      if (shape.steps == 1) shape.steps = axis.extent;
    }
    if (!longer.empty()) shape.x = longer.back();
    if (longer.size() > 1) shape.y = longer[longer.size() - 2];
    if (work <= most) continue;
    most = work;
    found = shape;
  }
  return found;
}

// Threads and, within each, elements.
space::Knob tiles(std::string name, std::int64_t extent) {
  space::Knob knob{std::move(name), space::KnobKind::Split, {}};
  for (std::int64_t threads = 1; threads <= 32; threads *= 2) {
    for (std::int64_t tile = 1; tile <= 8; tile *= 2) {
      if (threads * tile > 1 && threads * tile >= 2 * extent) continue;
      knob.choices.push_back({{threads, tile}});
    }
  }
  return knob;
}

std::vector<space::Knob> knobs(const ir::Program& program, const target::Target& target) {
  const target::LaunchFacts& device = target.launch;
  std::vector<std::int64_t> threads;
  for (std::int64_t count = device.warp; count <= device.threads_per_block; count *= 2) {
    threads.push_back(count);
  }
  if (threads.empty()) threads.push_back(device.threads_per_block);
  std::vector<space::Knob> list{space::choice_of("threads", threads),
                                space::choice_of("per_thread", {1, 2, 4})};
  if (program.stages.size() > 1) {
    list.push_back(space::choice_of("waste", {std::begin(kWastedWork), std::end(kWastedWork)}));
  }
  if (const auto shape = shape_of(program)) {
    list.push_back(tiles("tile_y", shape->y));
    list.push_back(tiles("tile_x", shape->x));
    list.push_back(space::split_list("chunk", shape->steps, {1, 2, 4, 8, 16, 32}));
    list.push_back(space::choice_of("shared", {1, 0}));
  }
  return list;
}

// A square of threads with a small tile each.
space::Settings default_values(const ir::Program&, const target::Target&) {
  return {{"threads", {{64}}},  {"per_thread", {{1}}}, {"waste", {{kWastedWork[0]}}},
          {"tile_y", {{4, 2}}}, {"tile_x", {{16, 2}}}, {"chunk", {{8}}},
          {"shared", {{1}}}};
}

std::optional<std::string> reject(const ir::Program&, const target::Target& target,
                                  const space::Values& values) {
  if (!values.has("tile_y")) return std::nullopt;
  const std::int64_t threads = values.numbers("tile_y")[0] * values.numbers("tile_x")[0];
  if (threads > target.launch.threads_per_block) return "too many threads in a block";
  return std::nullopt;
}

WholeProgram whole_program(const space::Values& values) {
  WholeProgram how{.tiling = {}, .threads = values["threads"], .per_thread = values["per_thread"]};
  if (!values.has("tile_y")) return how;
  how.tiling = {.threads_y = values.numbers("tile_y")[0],
                .tile_y = values.numbers("tile_y")[1],
                .threads_x = values.numbers("tile_x")[0],
                .tile_x = values.numbers("tile_x")[1],
                .chunk = values["chunk"],
                .shared = values["shared"] == 1};
  return how;
}

space::Written trace(const space::Subject& subject, const target::Target& target,
                     const space::Values& values) {
  const std::int64_t waste = values.has("waste") ? values["waste"] : kWastedWork[0];
  const Inlined inlined = inline_producers(subject, static_cast<double>(waste));
  LaunchWriter writer(subject, inlined.steps, target.launch);
  write_others(writer, inlined.program, {}, whole_program(values));
  return writer.take();
}

}  // namespace

space::Template launch_any_program() {
  return {"launches", fits, knobs, trace, default_values, reject};
}

}  // namespace attune::templates
