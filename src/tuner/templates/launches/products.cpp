// Products of matrices, of batches of them, and convolutions over gathered columns, with all that
// was fused behind them: tiles of blocks and threads, operands through shared memory, and a sum
// that is shared out among groups of threads and among blocks where the result alone has too little
// work for a device. Products of a few rows are the same with many groups and narrow tiles.
#include <algorithm>
#include <set>

#include "tuner/templates/dataflow.h"
#include "tuner/templates/inlining.h"
#include "tuner/templates/launches/launches.h"
#include "tuner/templates/launches/product_seeds.h"
#include "tuner/templates/launches/whole_program.h"

namespace attune::templates {
namespace {

constexpr double kWastedWork = 400;  // what stands before an operand is computed as it is fetched
constexpr std::int64_t kMostRows = 256, kMostColumns = 256;
enum Staged : std::int64_t { kNeither = 0, kLeft = 1, kBoth = 3 };

std::int64_t ceil_div(std::int64_t a, std::int64_t b) { return (a + b - 1) / b; }

bool fits(const space::Subject& subject) { return main_product(subject).has_value(); }

// Threads and, within each, elements, of `lanes` columns each.
space::Knob tiles(std::string name, std::int64_t extent, const std::vector<std::int64_t>& each,
                  std::int64_t most) {
  space::Knob knob{std::move(name), space::KnobKind::Split, {}};
  for (std::int64_t threads = 1; threads <= 64; threads *= 2) {
    for (const std::int64_t tile : each) {
      const std::int64_t all = threads * tile;
      if (all > most || (all > 1 && all >= 2 * extent)) continue;
      knob.choices.push_back({{threads, tile}});
    }
  }
  return knob;
}

std::vector<std::int64_t> up_to(std::vector<std::int64_t> numbers, std::int64_t most) {
  std::erase_if(numbers, [&](std::int64_t each) { return each > 1 && each > most; });
  return numbers;
}

// Steps of a group between two fetches: powers of two, and whole turns of a window.
std::vector<std::int64_t> slabs(const ProductFacts& facts) {
  constexpr std::int64_t kMostTerms = 64, kMostTermsOfTurns = 196;
  const std::int64_t terms = terms_of_step(facts);
  std::set<std::int64_t> all{1};
  for (std::int64_t slab = 2; slab <= 32 && slab * terms <= kMostTerms; slab *= 2) all.insert(slab);
  for (const std::int64_t turn : facts.turns) {
    for (const std::int64_t slab : {turn, 2 * turn}) {
      if (slab * terms <= kMostTermsOfTurns) all.insert(slab);
    }
  }
  return up_to({all.begin(), all.end()}, facts.k);
}

// Groups of threads: also as many as one turn of a window has turns within it.
std::vector<std::int64_t> groups(const ProductFacts& facts) {
  std::set<std::int64_t> all{1, 2, 3, 4, 6, 8, 16, 32, 64};
  for (std::size_t i = 1; i < facts.turns.size(); ++i) {
    const std::int64_t ratio = facts.turns[i] / facts.turns[i - 1];
    if (ratio < 16) all.insert(ratio);
  }
  return up_to({all.begin(), all.end()}, facts.k);
}

std::vector<space::Knob> knobs(const space::Subject& subject, const target::Target&) {
  const ProductFacts facts = *main_product(subject);
  const std::vector<std::int64_t> columns =
      facts.n_lanes > 1 ? std::vector<std::int64_t>{1, 2} : std::vector<std::int64_t>{1, 2, 4, 8};
  std::vector<space::Knob> list{
      tiles("rows", facts.m, {1, 2, 4, 6, 7, 8, 16}, kMostRows),
      tiles("columns", facts.n, columns, kMostColumns / facts.n_lanes),
      space::choice_of("slab", slabs(facts)), space::choice_of("groups", groups(facts)),
      space::choice_of("splits", up_to({1, 2, 3, 4, 6, 8, 9, 12, 16, 18, 24, 32},
                                       facts.k * terms_of_step(facts) / 32)),
      // Which operands go through shared memory.
      space::choice_of("staged", {kBoth, kLeft, kNeither}),
      // Slabs that are there or on their way at a time.
      space::choice_of("buffers", {1, 2, 3, 4}), space::choice_of("held", {1, 0})};
  if (facts.k_lane.empty() && facts.left.tiles_k()) {
    list.push_back(space::choice_of("turned", {0, 1}));
  }
  return list;
}

ProductTiling tiling_of(const space::Values& values) {
  const std::int64_t staged = values["staged"];
  return {.threads_m = values.numbers("rows")[0],
          .tile_m = values.numbers("rows")[1],
          .threads_n = values.numbers("columns")[0],
          .tile_n = values.numbers("columns")[1],
          .slab = values["slab"],
          .groups = values["groups"],
          .splits = values["splits"],
          .stage_left = staged != kNeither,
          .stage_right = staged == kBoth,
          .buffers = values["buffers"],
          .held = values["held"] == 1,
          .turned = values.has("turned") && values["turned"] == 1};
}

// A tile that is longer than its axis has no room for zeros behind the end, so that a thread has a
// condition for each of its elements.
bool cut_within_threads(std::int64_t extent, std::int64_t tile, std::int64_t of_thread) {
  return tile > extent && extent % of_thread != 0;
}

std::optional<std::string> reject(const space::Subject& subject, const target::Target& target,
                                  const space::Values& values) {
  const ProductFacts facts = *main_product(subject);
  const target::LaunchFacts& device = target.launch;
  const ProductTiling t = tiling_of(values);
  if (t.threads() > device.threads_per_block) return "too many threads in a block";
  const std::int64_t part = part_of(facts, t);
  if (part * (t.splits - 1) >= facts.k) return "a block without a part of the sum";
  if (t.groups * t.slab >= 2 * part && t.groups * t.slab > 1) return "groups without work";
  if (cut_within_threads(facts.m, t.rows(), t.tile_m) ||
      cut_within_threads(facts.n, t.columns(), t.tile_n)) {
    return "a tile that ends within a thread's";
  }
  if (t.buffers > 1 && !t.stage_left) return "buffers for nothing";
  if (t.turned && !may_turn(facts, t)) return "rows that are not read in vectors";
  if (t.buffers > 1 + ceil_div(part, t.groups * t.slab)) return "more buffers than slabs";
  if (shared_bytes(facts, t) > device.shared_bytes) return "too much shared memory";
  const std::int64_t most =
      std::min(device.register_bytes, device.resident_register_bytes / t.threads());
  if (register_bytes(facts, t) > most) return "too many registers in a thread";
  return std::nullopt;
}

space::Settings settings_of(const ProductTiling& t) {
  const std::int64_t staged = t.stage_right ? kBoth : t.stage_left ? kLeft : kNeither;
  return {{"rows", {{t.threads_m, t.tile_m}}},
          {"columns", {{t.threads_n, t.tile_n}}},
          {"slab", {{t.slab}}},
          {"groups", {{t.groups}}},
          {"splits", {{t.splits}}},
          {"staged", {{staged}}},
          {"buffers", {{t.buffers}}},
          {"held", {{1}}},
          {"turned", {{t.turned ? 1 : 0}}}};
}

// The seed that is fastest by a rough measure, of those that the knobs can express.
space::Settings default_values(const space::Subject& subject, const target::Target& target) {
  const ProductFacts facts = *main_product(subject);
  const std::vector<space::Knob> list = knobs(subject, target);
  for (const ProductTiling& seed : product_seeds(facts, target.launch)) {
    const space::Settings settings = settings_of(seed);
    const space::Values values(list, space::nearest_config(list, settings));
    if (!reject(subject, target, values)) return settings;
  }
  return settings_of({});
}

space::Written trace(const space::Subject& subject, const target::Target& target,
                     const space::Values& values) {
  ProductFacts facts = *main_product(subject);
  const std::set<std::string> operands{facts.left.buffer->name, facts.right.buffer->name};
  const Inlined inlined = inline_producers(subject, kWastedWork, operands);
  const ir::Stage& stage = *inlined.program.find_stage(facts.stage);
  LaunchWriter writer(subject, inlined.steps, target.launch);
  const auto readers = readers_of(inlined.program, stage);
  std::string host;
  std::vector<schedule::Names> read_at;
  if (readers.size() == 1 && readers[0]->reduction == ir::Reduction::None &&
      !is_output(inlined.program, stage)) {
    if (auto axes = axes_read_at(*readers[0], stage.outputs[0])) {
      host = readers[0]->name;
      read_at = std::move(*axes);
    }
  }
  schedule::Names placed;
  const ProductTiling tiling = tiling_of(values);
  if (!write_product(writer, facts, host, read_at, tiling, placed)) placed.clear();
  WholeProgram others{
      .tiling =
          {.threads_y = 4, .tile_y = 2, .threads_x = 16, .tile_x = 2, .chunk = 8, .shared = true},
      .threads = std::min<std::int64_t>(128, target.launch.threads_per_block),
      .per_thread = 1};
  write_others(writer, inlined.program, {placed.begin(), placed.end()}, others);
  return writer.take();
}

}  // namespace

space::Template launch_products() {
  return {"products", fits, knobs, trace, default_values, reject};
}

}  // namespace attune::templates
