#include "tuner/templates/program_facts.h"

#include <algorithm>
#include <cmath>

namespace attune::templates {
namespace {

bool same_names(const std::vector<ir::Axis>& axes, const std::vector<std::string>& names) {
  return std::equal(
      axes.begin(), axes.end(), names.begin(), names.end(),
      [](const ir::Axis& axis, const std::string& name) { return axis.name == name; });
}

std::int64_t ceil_div(std::int64_t a, std::int64_t b) { return (a + b - 1) / b; }

constexpr std::int64_t kMostVectors = 8, kMostSteps = 16;

// Accumulators below which the latency of the arithmetic shows, unless the operator has no more to
// offer.
std::int64_t fewest_accumulators(const TileRoom& room, const target::Target& target) {
  const std::int64_t vectors = std::min(room.vectors, kMostVectors);
  return std::min<std::int64_t>(target.vector_registers / 2,
                                std::max<std::int64_t>(1, room.rows * vectors / 2));
}

}  // namespace

std::int64_t extent_of(const ir::Stage& stage, std::string_view name) {
  for (const auto* axes : {&stage.axes, &stage.reduce_axes}) {
    for (const ir::Axis& axis : *axes) {
      if (axis.name == name) return axis.extent;
    }
  }
  return 0;
}

bool has_axes(const ir::Stage& stage, const std::vector<std::string>& axes,
              const std::vector<std::string>& reduce_axes) {
  return same_names(stage.axes, axes) && same_names(stage.reduce_axes, reduce_axes);
}

bool same_extents(const ir::Stage& a, const ir::Stage& b) {
  return std::equal(a.axes.begin(), a.axes.end(), b.axes.begin(), b.axes.end(),
                    [](const ir::Axis& x, const ir::Axis& y) { return x.extent == y.extent; });
}

std::int64_t lanes_of(const ir::Stage& stage, const target::Target& target) {
  return std::max<std::int64_t>(
      1, target.lanes(static_cast<int>(stage.values[0].type().element_bytes())));
}

std::int64_t steps_of_part(const ir::Stage& stage, std::int64_t extent, std::int64_t terms,
                           std::int64_t length) {
  const bool rounds = stage.reduction == ir::Reduction::Sum && stage.values[0].type().is_float();
  if (!rounds || extent * terms < length * 3 / 2) return extent;
  const std::int64_t most = std::max<std::int64_t>(1, (length + terms / 2) / terms);
  // Equal parts spare the loops a test.
  for (std::int64_t steps = most; steps > most / 2; --steps) {
    if (extent % steps == 0) return steps;
  }
  return ceil_div(extent, ceil_div(extent, most));
}

space::Knob register_tiles(std::string name, std::int64_t rows, std::int64_t vectors,
                           const target::Target& target) {
  space::Knob knob{std::move(name), space::KnobKind::Split, {}};
  const std::int64_t registers = target.vector_registers;
  const std::int64_t most_vectors = std::min(vectors, kMostVectors);
  const std::int64_t fewest = fewest_accumulators({rows, vectors}, target);
  for (std::int64_t v = 1; v <= most_vectors; ++v) {
    for (std::int64_t r = 1; r <= std::min<std::int64_t>(rows, registers - 2); ++r) {
      if (r * v + std::min(r, v) + 1 > registers || r * v < fewest) continue;
      // Of row counts that need the same number of tiles, the smallest makes them even.
      const bool even = r == rows || ceil_div(rows, r) != ceil_div(rows, r - 1 > 0 ? r - 1 : 1);
      if (!even && r > 1 && r * v != fewest) continue;
      knob.choices.push_back({{r, v}});
    }
  }
  if (knob.choices.empty()) knob.choices.push_back({{std::min<std::int64_t>(rows, 4), 1}});
  return knob;
}

space::Knob all_register_tiles(std::string name, std::int64_t rows, std::int64_t vectors,
                               const target::Target& target) {
  space::Knob knob{std::move(name), space::KnobKind::Split, {}};
  const std::int64_t registers = target.vector_registers;
  for (std::int64_t v = 1; v <= std::min(vectors, kMostVectors); ++v) {
    for (std::int64_t r = 1; r <= std::min(rows, registers - 2) && r * v <= 2 * registers; ++r) {
      knob.choices.push_back({{r, v}});
    }
  }
  return knob;
}

std::optional<std::string> tile_flaw(std::int64_t rows, std::int64_t vectors, const TileRoom& room,
                                     const target::Target& target) {
  if (rows * vectors + std::min(rows, vectors) + 1 > target.vector_registers) {
    return "register tile spills";
  }
  if (rows * vectors < fewest_accumulators(room, target)) return "too few accumulators";
  return std::nullopt;
}

space::Knob block_sizes(std::string name, std::int64_t extent, std::int64_t most,
                        const std::vector<std::int64_t>& also) {
  space::Knob knob = space::split_even_tails(std::move(name), extent, std::min(extent, most));
  for (const std::int64_t size : also) {
    const space::Choice choice{{std::min(size, extent)}};
    if (std::find(knob.choices.begin(), knob.choices.end(), choice) == knob.choices.end()) {
      knob.choices.push_back(choice);
    }
  }
  std::sort(knob.choices.begin(), knob.choices.end(),
            [](const auto& a, const auto& b) { return a.numbers < b.numbers; });
  return knob;
}

space::Knob unroll_steps(std::string name, std::int64_t extent) {
  std::vector<std::int64_t> steps{1};
  for (std::int64_t s = 2; s <= std::min(extent, kMostSteps); s *= 2) steps.push_back(s);
  return space::split_list(std::move(name), std::max<std::int64_t>(extent, 1), steps);
}

double imbalance(std::int64_t pieces, const target::Target& target) {
  const std::int64_t threads = std::max(1, target.threads);
  return static_cast<double>(ceil_div(pieces, threads) * threads) / static_cast<double>(pieces);
}

space::Choice best_tile(const space::Knob& tiles, std::int64_t rows, std::int64_t vectors) {
  const space::Choice* best = &tiles.choices[0];
  double best_score = -1;
  for (const space::Choice& choice : tiles.choices) {
    const double r = static_cast<double>(choice.numbers[0]);
    const double v = static_cast<double>(choice.numbers[1]);
    const double covered = static_cast<double>(ceil_div(rows, choice.numbers[0])) * r *
                           static_cast<double>(ceil_div(vectors, choice.numbers[1])) * v;
    const double useful = static_cast<double>(rows * vectors) / covered;
    // Loads per multiplication are (r + v) / (r * v); one load a cycle is free.
    const double loads = (r + v) / (r * v);
    const double score = useful - std::max(0.0, loads - 0.5) + 0.002 * r * v;
    if (score > best_score) best_score = score, best = &choice;
  }
  return *best;
}

}  // namespace attune::templates
