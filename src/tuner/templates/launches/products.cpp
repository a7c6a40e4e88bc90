// Products of matrices, of batches of them, and convolutions over gathered columns, with all that
// was fused behind them: tiles of blocks and threads, operands through shared memory, and a sum
// that is shared out among groups of threads and among blocks where the result alone has too little
// work for a device. Products of a few rows are the same with many groups and narrow tiles.
#include <algorithm>
#include <cmath>

#include "tuner/templates/dataflow.h"
#include "tuner/templates/inlining.h"
#include "tuner/templates/launches/launches.h"
#include "tuner/templates/launches/product_schedule.h"
#include "tuner/templates/launches/whole_program.h"

namespace attune::templates {
namespace {

constexpr double kWastedWork = 400;  // what stands before an operand is computed as it is fetched
constexpr std::int64_t kMostRows = 256, kMostColumns = 256;
enum Staged : std::int64_t { kNeither = 0, kLeft = 1, kBoth = 3 };

std::int64_t ceil_div(std::int64_t a, std::int64_t b) { return (a + b - 1) / b; }

bool fits(const ir::Program& program) { return main_product(program).has_value(); }

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

std::vector<space::Knob> knobs(const ir::Program& program, const target::Target&) {
  const ProductFacts facts = *main_product(program);
  const std::int64_t steps = facts.k_lanes * facts.other_k;  // of the sum, in one of `k_tile`
  const std::vector<std::int64_t> columns =
      facts.n_lanes > 1 ? std::vector<std::int64_t>{1, 2} : std::vector<std::int64_t>{1, 2, 4, 8};
  return {tiles("rows", facts.m, {1, 2, 4, 6, 7, 8}, kMostRows),
          tiles("columns", facts.n, columns, kMostColumns / facts.n_lanes),
          // Steps of a group between two fetches.
          space::choice_of("slab", up_to({1, 2, 4, 8, 16, 32},
                                         std::min(facts.k, std::max<std::int64_t>(1, 64 / steps)))),
          space::choice_of("groups", up_to({1, 2, 4, 8, 16, 32}, facts.k)),
          space::choice_of("splits",
                           up_to({1, 2, 3, 4, 6, 8, 9, 12, 16, 18, 24, 32}, facts.k * steps / 32)),
          // Which operands go through shared memory.
          space::choice_of("staged", {kBoth, kLeft, kNeither}), space::choice_of("held", {1, 0})};
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
          .held = values["held"] == 1};
}

std::optional<std::string> reject(const ir::Program& program, const target::Target& target,
                                  const space::Values& values) {
  const ProductFacts facts = *main_product(program);
  const target::LaunchFacts& device = target.launch;
  const ProductTiling t = tiling_of(values);
  if (t.threads() > device.threads_per_block) return "too many threads in a block";
  const std::int64_t part = ceil_div(facts.k, t.splits);
  if (part * (t.splits - 1) >= facts.k) return "a block without a part of the sum";
  if (t.groups * t.slab >= 2 * part && t.groups * t.slab > 1) return "groups without work";
  const std::int64_t results = t.tile_m * t.tile_n * facts.n_lanes * 4;
  const std::int64_t most =
      std::min(device.register_bytes, device.resident_register_bytes / t.threads());
  if (results > most) return "too many registers in a thread";
  return std::nullopt;
}

// A rough measure, to choose a beginning by: how long blocks take that share the device, each as
// fast as its threads or its multiprocessor can multiply.
double rough_us(const ProductFacts& facts, const target::LaunchFacts& device,
                const ProductTiling& t) {
  constexpr double kThreadFmas = 0.5;    // of a thread in a cycle, waiting included
  constexpr double kSecondLaunches = 2;  // that adding up the parts of blocks is worth
  const double steps = static_cast<double>(facts.k * facts.k_lanes * facts.other_k);
  const double blocks = static_cast<double>(
      ceil_div(facts.m, t.rows()) * ceil_div(facts.n, t.columns()) * facts.others * t.splits);
  const double work = static_cast<double>(t.rows() * t.columns() * facts.n_lanes) * steps /
                      static_cast<double>(t.splits);
  const double together = std::clamp(
      std::floor(static_cast<double>(device.resident_threads) / static_cast<double>(t.threads())),
      1.0, std::ceil(blocks / static_cast<double>(device.multiprocessors)));
  // Every multiplication of a tile takes a part of the loads of its rows and columns.
  const double rows = static_cast<double>(t.tile_m);
  const double columns = static_cast<double>(t.tile_n * facts.n_lanes);
  const double useful = rows * columns / (rows * columns + rows + columns);
  const double rate = useful * std::min(device.fmas_per_cycle,
                                        kThreadFmas * static_cast<double>(t.threads()) * together);
  const double fetched = static_cast<double>(t.rows() + t.columns() * facts.n_lanes) * steps *
                         static_cast<double>(facts.element_bytes) / static_cast<double>(t.splits);
  const double rounds =
      std::ceil(blocks / (static_cast<double>(device.multiprocessors) * together)) * together;
  const double us =
      rounds * work / rate / device.ghz * 1e-3 + blocks * fetched / device.l2_bandwidth * 1e-3;
  const double groups = 0.02 * std::log2(static_cast<double>(t.groups)) * device.launch_us;
  return us + groups + (t.splits > 1 ? kSecondLaunches * device.launch_us : 0);
}

// Tiles that hand-written kernels do well with; columns count lanes.
constexpr struct {
  std::int64_t threads_m, tile_m, columns, tile_columns;
} kSeeds[] = {{4, 7, 32, 4},  {8, 7, 32, 4},  {8, 4, 32, 4},   {8, 8, 32, 4},  {8, 8, 64, 4},
              {8, 7, 64, 4},  {16, 8, 64, 8}, {16, 8, 128, 8}, {16, 6, 64, 8}, {1, 1, 128, 4},
              {1, 4, 128, 4}, {1, 8, 64, 4},  {2, 8, 64, 4},   {4, 4, 16, 4},  {2, 2, 8, 4}};

space::Settings settings_of(const ProductTiling& t) {
  const std::int64_t staged = t.stage_right ? kBoth : t.stage_left ? kLeft : kNeither;
  return {{"rows", {{t.threads_m, t.tile_m}}},
          {"columns", {{t.threads_n, t.tile_n}}},
          {"slab", {{t.slab}}},
          {"groups", {{t.groups}}},
          {"splits", {{t.splits}}},
          {"staged", {{staged}}},
          {"held", {{1}}}};
}

space::Settings default_values(const ir::Program& program, const target::Target& target) {
  const ProductFacts facts = *main_product(program);
  const std::vector<space::Knob> list = knobs(program, target);
  const std::int64_t steps = facts.k_lanes * facts.other_k;
  space::Settings best;
  double least = 0;
  for (const auto& seed : kSeeds) {
    for (const std::int64_t groups : {1, 2, 4, 8}) {
      for (const std::int64_t splits : {1, 2, 4, 8, 16}) {
        const std::int64_t tile_n = std::max<std::int64_t>(1, seed.tile_columns / facts.n_lanes);
        ProductTiling t{
            .threads_m = seed.threads_m,
            .tile_m = seed.tile_m,
            .threads_n = std::max<std::int64_t>(1, seed.columns / (tile_n * facts.n_lanes)),
            .tile_n = tile_n,
            .slab = std::max<std::int64_t>(1, 16 / steps),
            .groups = groups,
            .splits = splits};
        t.stage_right = t.threads_m > 1;
        // As the knobs have it.
        const space::Settings settings = settings_of(t);
        const space::Config config = space::nearest_config(list, settings);
        const space::Values values(list, config);
        if (reject(program, target, values)) continue;
        const double us = rough_us(facts, target.launch, tiling_of(values));
        if (best.empty() || us < least) least = us, best = settings;
      }
    }
  }
  return best.empty() ? settings_of({}) : best;
}

schedule::Trace trace(const ir::Program& program, const target::Target& target,
                      const space::Values& values) {
  ProductFacts facts = *main_product(program);
  const std::set<std::string> operands{facts.left.buffer->name, facts.right.buffer->name};
  const Inlined inlined = inline_producers(program, kWastedWork, operands);
  const ir::Stage& stage = *inlined.program.find_stage(facts.stage);
  LaunchWriter writer(program, inlined.steps, target.launch);
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
