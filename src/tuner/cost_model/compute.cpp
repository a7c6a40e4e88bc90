// Cycles of a stage from its register tile: the multiply-add pipes, the load and store ports, the
// front end and the latency of the accumulators each set a limit; the sum of eighth powers stands
// for the fact that a schedule close to two limits reaches neither.
#include <algorithm>
#include <cmath>

#include "tuner/cost_model/stage_cost.h"
#include "tuner/space/register_tile.h"

namespace attune::cost_model {
namespace {

using schedule::StageState;
using space::RegisterTile;
using space::Spans;
using space::StageNest;

constexpr double kSpilledVector = 0.1;  // of the time, for every vector that has no register
// Bodies of more instructions than this mostly fail to compile once borders and tails need copies
// of their own; the part of the time that each doubling counts for.
constexpr double kLongBody = 480, kLongCutBody = 100, kDoubled = 0.1;
constexpr double kAskedVector = 0.02;
constexpr double kAsksAhead = 0.01;      // of the time, for instructions that only ask for lines
constexpr double kTight = 0.04;          // where no register is left over
constexpr std::int64_t kManySteps = 4;   // written out: operands of the next ones are loaded early
constexpr std::int64_t kEarlyLoads = 2;  // registers that takes

struct Body {
  const schedule::State& state;
  const StageState& stage;
  const RegisterTile& tile;
  const target::Target& target;
  const MachineModel& machine;
  Spans around;              // of the body and the innermost loop around it, if there is one
  double arithmetic = 1;     // instructions per result and step
  double rounds = 1;         // runs of the body that add to the same results
  bool chained = false;      // the results of one iteration go into the next
  bool looped = false;       // there is a loop around it
  double inside = 1;         // the part of the steps that read inside of their buffers
  bool forgetful = false;    // addresses are laundered: no reads are shared between steps
  std::int64_t spilled = 0;  // vectors of a tile that the registers have no room for
  std::int64_t asked = 0;    // more that the order of the loops asks for
  bool tight = false;        // no register is left over
};

struct Reads {
  double cycles = 0;  // of the load ports
  double instructions = 0;
  double spill_factor = 1;
};

std::int64_t elements(const schedule::Access& access, const Spans& spans) {
  std::int64_t count = 1;
  for (std::size_t d = 0; d < access.dims.size(); ++d) {
    count *= space::dim_span(access.dims[d], spans, access.buffer->shape[d]);
  }
  return count;
}

double vector_bytes(const Body& body) {
  return static_cast<double>(body.tile.lanes * body.stage.stage.outputs[0]->type.bytes());
}

bool is_register(const schedule::State& state, const ir::Buffer& buffer) {
  const int producer = state.producer_of(buffer);
  return producer >= 0 &&
         state.stages[static_cast<std::size_t>(producer)]->scope == ir::Scope::Register;
}

// Cache lines that a vector of so many bytes lies in, on the average: two, mostly, of a wide one
// where rows begin anywhere.
double lines_touched(const ir::Buffer& buffer, double bytes) {
  constexpr double kLine = 64;
  const double element = static_cast<double>(buffer->type.bytes());
  const double row =
      element * static_cast<double>(buffer->shape.empty() ? 1 : buffer->shape.back());
  if (buffer->shape.size() < 2 || bytes <= element || std::fmod(row, bytes) == 0) return 1;
  return 1 + std::min(1.0, (bytes - element) / kLine);
}

// Steps of a reduction along one of its axes: a vector of terms is one.
double steps_along(const Body& body, std::size_t axis, std::int64_t span) {
  const bool vector = static_cast<int>(axis) == body.tile.vector_axis;
  return static_cast<double>(vector ? (span + body.tile.lanes - 1) / body.tile.lanes : span);
}

// Halvings that make one number of the lanes of a vector, each a shuffle and a combination; none
// where lanes are results.
double halvings(const Body& body) {
  const auto axes = static_cast<int>(body.stage.stage.axes.size());
  return body.tile.vector_axis < axes ? 0 : std::log2(static_cast<double>(body.tile.lanes));
}

Reads reads_of(const Body& body, const Spans& spans, std::int64_t results) {
  Reads reads;
  Spans step = spans;
  double steps = 1;
  for (std::size_t i = body.stage.stage.axes.size(); i < step.size; ++i) {
    steps *= steps_along(body, i, spans[i]);
    step[i] = static_cast<int>(i) == body.tile.vector_axis ? std::min(step[i], body.tile.lanes) : 1;
  }
  const double load = body.machine.load_cycles(vector_bytes(body));
  const double element = body.machine.load_cycles(0);
  for (const schedule::Access& access : body.stage.accesses) {
    if (is_register(body.state, access.buffer)) continue;
    const auto& layout = space::layout_of(body.state, access.buffer);
    const space::OperandLoads one = space::operand_loads(access, layout, body.tile, step);
    const space::OperandLoads all = space::operand_loads(access, layout, body.tile, spans);
    const bool invariant = elements(access, body.around) == elements(access, body.tile.spans);
    if (body.looped && invariant && results + all.total() < body.target.vector_registers) continue;
    double times = steps;
    const double distinct = static_cast<double>(all.total()) / static_cast<double>(one.total());
    if (distinct < steps && !body.forgetful) {
      if (results + all.total() <= body.target.vector_registers) {
        times = distinct;
      } else if (one.broadcasts > 1) {
        reads.spill_factor = 1.3;  // the compiler keeps what it cannot keep
      } else {
        times = std::sqrt(steps * distinct);  // it keeps some, and reads the rest again in place
      }
    }
    const double gather = static_cast<double>(body.tile.lanes) * 1.5;
    const double lines = layout.empty() ? lines_touched(access.buffer, vector_bytes(body)) : 1;
    reads.cycles +=
        times * (static_cast<double>(one.vectors) * load * lines +
                 (static_cast<double>(one.broadcasts) + static_cast<double>(one.gathers) * gather) *
                     element);
    reads.instructions += times * (static_cast<double>(one.vectors + one.broadcasts) +
                                   static_cast<double>(one.gathers) * gather);
  }
  return reads;
}

double eighth_power(double x) {
  const double square = x * x, fourth = square * square;
  return fourth * fourth;
}

// One run of the body whose axes have these spans.
double body_cycles(const Body& body, const Spans& spans) {
  const StageState& stage = body.stage;
  const MachineModel& machine = body.machine;
  const bool reduces = stage.stage.reduction != ir::Reduction::None;
  std::int64_t results = 1;
  double steps = 1;
  for (std::size_t i = 0; i < spans.size; ++i) {
    if (i >= stage.stage.axes.size()) {
      steps *= steps_along(body, i, spans[i]);
    } else {
      const bool vector = static_cast<int>(i) == body.tile.vector_axis;
      results *= vector ? (spans[i] + body.tile.lanes - 1) / body.tile.lanes : spans[i];
    }
  }
  const double count = static_cast<double>(results), bytes = vector_bytes(body);
  const Reads reads = reads_of(body, spans, results);
  const bool in_memory = !body.tile.in_registers;
  // What does not fit into the registers goes to the stack and comes back, step by step.
  const double spilled = steps * static_cast<double>(body.spilled);
  const double stores = (in_memory ? count : 0) + spilled;
  const double reloads = (in_memory && reduces ? count : 0) + spilled;
  // Terms in vectors are combined pairwise, then the lanes of what is left.
  const double across = 2 * halvings(body);
  const double work = count * (steps * body.arithmetic + across);
  const double pipes = work * machine.fma_cycles(bytes);
  const double loads = reads.cycles + reloads * machine.load_cycles(bytes);
  const double issue =
      (work + reads.instructions + 2 * stores + spilled + 3) / machine.issue_per_cycle;
  const double round_trip = in_memory ? 12 : 0;  // through the store buffer
  const double lines = stage.layout.empty() ? lines_touched(stage.stage.outputs[0], bytes) : 1;
  // Register tiles with short reductions overlap in the reorder window; what is summed up in memory
  // is waited for by what is computed of it.
  const double tile_length = (work + reads.instructions) * body.rounds;
  const double overlap = in_memory ? 1 : std::max(1.0, machine.reorder_window / tile_length);
  const double depth = across > 0 ? std::log2(steps) + across : steps;
  const double latency = body.chained ? (depth * machine.fma_latency + round_trip) / overlap : 1;
  const double sum = eighth_power(pipes) + eighth_power(loads) + eighth_power(issue) +
                     eighth_power(latency) +
                     eighth_power(stores * machine.store_cycles(bytes) * lines);
  // Code that spills is rearranged for the worse all over, the more the longer it is.
  const double spills = 1 + kSpilledVector * static_cast<double>(body.spilled) +
                        kAskedVector * static_cast<double>(body.asked) + (body.tight ? kTight : 0);
  const double length = work + reads.instructions;
  const double most = body.inside < 1 ? kLongCutBody : kLongBody;
  const double overlong = length > most ? 1 + kDoubled * std::log2(length / most) : 1;
  return std::sqrt(std::sqrt(std::sqrt(sum))) * reads.spill_factor * spills * overlong;
}

// Partial tiles use the pipes less well than full ones.
double tail_factor(const Body& body, const schedule::StageBounds& bounds, double full) {
  double factor = 1;
  const auto& axes = body.stage.stage.axes;
  for (std::size_t a = 0; a < axes.size(); ++a) {
    const std::int64_t rest = axes[a].extent % bounds.axes[a];
    if (rest == 0 || rest >= body.tile.spans[a]) continue;
    Spans spans = body.tile.spans;
    spans[a] = rest;
    const double tiles = static_cast<double>(axes[a].extent / bounds.axes[a]);
    const double part = static_cast<double>(rest) / static_cast<double>(bounds.axes[a]);
    factor *= (tiles + body_cycles(body, spans) / full) / (tiles + part);
  }
  return factor;
}

double instructions_per_step(const StageState& state) {
  const ir::Stage& stage = state.stage;
  double count = 0;
  for (const ir::Expr& value : stage.values) count += arithmetic(value);
  if (stage.reduction == ir::Reduction::None) return std::max(0.25, count);
  // The sum of products: one instruction does both.
  const bool fused = stage.reduction == ir::Reduction::Sum && state.accesses.size() > 1;
  return std::max(1.0, fused ? count : count + 1);
}

}  // namespace

double compute_cycles(const schedule::State& state, const schedule::StageBounds& bounds,
                      const StageNest& nest, std::size_t index, const target::Target& target,
                      const MachineModel& machine) {
  const StageState& stage = *state.stages[index];
  const RegisterTile tile = space::register_tile(stage, bounds, target);
  Body body{state, stage, tile, target, machine, tile.spans, instructions_per_step(stage)};
  double trips = 1;
  const bool reduces = stage.stage.reduction != ir::Reduction::None;
  if (tile.body > 0) {
    const int loop = stage.loops[static_cast<std::size_t>(tile.body - 1)];
    body.around = space::spans_within(stage, bounds.iters, tile.body - 1);
    body.looped = true;
    trips = static_cast<double>(bounds.iters[loop]);
    body.chained = reduces && stage.iters[loop].reduce;
  } else {
    if (nest.own > 0) body.around = nest.levels[nest.own - 1].spans, body.looped = true;
    body.chained = reduces;
  }
  for (int loop : stage.loops) {
    if (stage.iters[loop].reduce) body.rounds *= static_cast<double>(bounds.iters[loop]);
    body.forgetful |= schedule::find_note(stage.iters[loop].notes, "launder") != nullptr;
  }
  if (stage.stage.reduction == ir::Reduction::Sum) body.inside = part_inside(stage);
  body.rounds /= static_cast<double>(tile.steps);
  if (tile.in_registers && reduces) {
    const std::int64_t needed =
        space::registers_needed(state, stage, tile) + (tile.steps > kManySteps ? kEarlyLoads : 0);
    body.tight = needed >= target.vector_registers - 1;
    const std::int64_t asked = space::registers_asked_for(state, stage, bounds, tile);
    body.spilled = std::max<std::int64_t>(0, needed - target.vector_registers);
    body.asked =
        std::max<std::int64_t>(0, asked - std::max<std::int64_t>(needed, target.vector_registers));
  }
  double executions = nest.useful, entries = nest.useful;
  const std::size_t outer = nest.own + static_cast<std::size_t>(std::max(0, tile.body - 1));
  for (std::size_t i = 0; i < outer; ++i) entries *= static_cast<double>(nest.levels[i].extent);
  for (std::size_t i = 0; i < nest.own; ++i)
    executions *= static_cast<double>(nest.levels[i].extent);
  const double once = body_cycles(body, tile.spans);
  const double entry = trips > 32 ? machine.loop_entry_cycles : trips > 1 ? 4 : 1;
  const double clear = tile.in_registers
                           ? static_cast<double>(tile.kept) * machine.fma_cycles(vector_bytes(body))
                           : 0;
  const double asks = asks_ahead(stage, bounds) ? 1 + kAsksAhead : 1;
  return entries * (trips * body.inside * once * asks * tail_factor(body, bounds, once) + entry) +
         executions * clear;
}

}  // namespace attune::cost_model
