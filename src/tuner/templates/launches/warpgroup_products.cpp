// Large products with packed weights where the device has instructions of warpgroups for them.
#include <fmt/format.h>

#include <algorithm>
#include <cmath>

#include "compiler/ir/tensor_intrinsics/tensor_intrinsic.h"
#include "tuner/templates/dataflow.h"
#include "tuner/templates/inlining.h"
#include "tuner/templates/launches/launches.h"
#include "tuner/templates/launches/warpgroup_schedule.h"
#include "tuner/templates/launches/whole_program.h"

namespace attune::templates {
namespace {

constexpr double kWastedWork = 400;  // what stands before an operand is computed as it is fetched
constexpr std::int64_t kColumns[] = {32, 64, 96, 128, 192, 256};
constexpr std::int64_t kStepBytes = 32;  // terms of an instruction

// The product as instructions of warpgroups could compute it; nothing for others.
struct LargeProduct {
  ProductFacts facts;
  std::string type;  // as intrinsics are named by
  std::int64_t terms = 16;
};

// Whether a factor of the product is rounded to what instructions of tf32 compute with.
bool rounds(const ir::Stage& stage) {
  const auto* product = ir::as<ir::Binary>(stage.values[0]);
  const auto known = ir::tensor_intrinsics();
  return product && std::any_of(known.begin(), known.end(), [&](const ir::TensorIntrinsic& each) {
           return static_cast<bool>(each.before_rounding(product->lhs)) ||
                  static_cast<bool>(each.before_rounding(product->rhs));
         });
}

std::optional<LargeProduct> large_product(const space::Subject& subject) {
  auto facts = main_product(subject);
  if (!facts || !facts->n_lane.empty() || !facts->k_lane.empty() || facts->other_k != 1) return {};
  const ir::DType type = facts->left.buffer->type;
  const bool both = type == facts->right.buffer->type && type.is_float();
  const bool dimensions = facts->left.tiles_k() && facts->left.tile >= 0 &&
                          facts->right.tile >= 0 && facts->right.steps >= 0;
  const bool tf32 = type == ir::kF32 && rounds(*subject.program.find_stage(facts->stage));
  if (!both || (type.bits != 16 && !tf32) || !dimensions) return {};
  const bool packed = constants_of(subject.program).count(facts->right.buffer) > 0;
  if (!packed && !facts->right.tiles_k()) return {};
  return LargeProduct{std::move(*facts), tf32 ? "tf32" : ir::to_string(type),
                      kStepBytes / type.bytes()};
}

std::string intrinsic_of(const LargeProduct& product, std::int64_t columns) {
  return fmt::format("wgmma_64x{}x{}_{}", columns, product.terms, product.type);
}

const target::MatrixUnit* unit_of(const target::Target& target, const std::string& intrinsic) {
  const auto& units = target.launch.matrix_units;
  const auto found = std::find_if(units.begin(), units.end(), [&](const target::MatrixUnit& unit) {
    return unit.intrinsic == intrinsic;
  });
  return found == units.end() ? nullptr : &*found;
}

bool fits(const ir::Program&) { return false; }

// Whole tiles of at least one shape.
bool beside(const space::Subject& subject, const target::Target& target) {
  const auto product = large_product(subject);
  if (!product || product->facts.m % 64 != 0) return false;
  return std::any_of(std::begin(kColumns), std::end(kColumns), [&](std::int64_t columns) {
    return product->facts.n % columns == 0 && unit_of(target, intrinsic_of(*product, columns)) &&
           product->facts.k % product->terms == 0;
  });
}

std::vector<space::Knob> knobs(const space::Subject& subject, const target::Target& target) {
  const LargeProduct product = *large_product(subject);
  space::Knob rows{"rows", space::KnobKind::Split, {}},
      columns{"columns", space::KnobKind::Split, {}};
  for (const auto& [groups, tiles] : {std::pair{1, 1}, {2, 1}, {1, 2}, {2, 2}, {3, 1}, {4, 1}}) {
    if (product.facts.m % (64 * groups * tiles) == 0) rows.choices.push_back({{groups, tiles}});
  }
  for (const std::int64_t groups : {1, 2}) {
    for (const std::int64_t each : kColumns) {
      if (product.facts.n % (groups * each) != 0) continue;
      if (unit_of(target, intrinsic_of(product, each))) columns.choices.push_back({{groups, each}});
    }
  }
  std::vector<std::int64_t> steps;
  for (const std::int64_t count : {1, 2, 4, 8}) {
    if (product.facts.k % (count * product.terms) == 0) steps.push_back(count);
  }
  return {std::move(rows), std::move(columns), space::choice_of("steps", steps),
          space::choice_of("buffers", {2, 3, 4, 5, 6, 8}),
          // Blocks that share copies of weights; 0: threads copy them.
          space::choice_of("bulk", {1, 0, 2})};
}

WarpgroupTiling tiling_of(const LargeProduct& product, const space::Values& values) {
  WarpgroupTiling t{.groups_m = values.numbers("rows")[0],
                    .tiles_m = values.numbers("rows")[1],
                    .groups_n = values.numbers("columns")[0],
                    .columns = values.numbers("columns")[1],
                    .terms = product.terms,
                    .steps = values["steps"],
                    .buffers = values["buffers"],
                    .bulk = values["bulk"],
                    .intrinsic = {}};
  t.intrinsic = intrinsic_of(product, t.columns);
  return t;
}

std::optional<std::string> reject(const space::Subject& subject, const target::Target& target,
                                  const space::Values& values) {
  constexpr std::int64_t kOtherRegisterBytes = 40 * 4;
  const LargeProduct product = *large_product(subject);
  const target::LaunchFacts& device = target.launch;
  const WarpgroupTiling t = tiling_of(product, values);
  if (t.threads() > device.threads_per_block) return "too many threads in a block";
  if (t.bulk > 1 && product.facts.m / t.rows() % t.bulk != 0) return "a cluster that is not whole";
  const std::int64_t results = t.tiles_m * t.columns * 2;  // bytes of a lane
  const std::int64_t most =
      std::min(device.register_bytes, device.resident_register_bytes / t.threads());
  if (results + kOtherRegisterBytes > most) return "too many registers in a thread";
  // With the gaps between rows, and counters.
  const std::int64_t slab =
      (t.rows() + 1 + t.block_columns()) * t.slab() * product.facts.element_bytes;
  const std::int64_t bytes = (slab + 16) * t.buffers;
  if (bytes > device.shared_bytes) return "too much shared memory in a block";
  return std::nullopt;
}

// How long blocks take that share the device: as fast as instructions go, or as the second-level
// cache delivers.
double rough_us(const LargeProduct& product, const target::Target& target,
                const WarpgroupTiling& t) {
  constexpr double kStart = 1500;  // cycles of a block besides its sum
  const target::LaunchFacts& device = target.launch;
  const ProductFacts& facts = product.facts;
  const double blocks = static_cast<double>(facts.m / t.rows()) *
                        static_cast<double>(facts.n / t.block_columns()) *
                        static_cast<double>(facts.others);
  const double work = static_cast<double>(t.rows() * t.block_columns() * facts.k) /
                      unit_of(target, t.intrinsic)->fmas_per_cycle;
  const double fetched =
      (static_cast<double>(t.rows()) + static_cast<double>(t.block_columns()) /
                                           static_cast<double>(std::max<std::int64_t>(1, t.bulk))) *
      static_cast<double>(facts.k * facts.element_bytes);
  const double rounds = std::ceil(blocks / static_cast<double>(device.multiprocessors));
  return std::max(rounds * (work + kStart) / device.ghz * 1e-3,
                  blocks * fetched / device.l2_bandwidth * 1e-3);
}

space::Settings settings_of(const WarpgroupTiling& t) {
  return {{"rows", {{t.groups_m, t.tiles_m}}},
          {"columns", {{t.groups_n, t.columns}}},
          {"steps", {{t.steps}}},
          {"buffers", {{t.buffers}}},
          {"bulk", {{t.bulk}}}};
}

// Tiles that hand-written kernels do well with, the largest first.
std::vector<WarpgroupTiling> seeds() {
  std::vector<WarpgroupTiling> all;
  for (const std::int64_t steps : {4, 2}) {
    for (const std::int64_t buffers : {4, 3}) {
      for (const auto& [rows, columns] :
           {std::pair<std::int64_t, std::int64_t>{2, 256}, {2, 128}, {2, 64}, {1, 128}, {1, 64}}) {
        WarpgroupTiling t;
        t.groups_m = rows, t.columns = columns, t.steps = steps, t.buffers = buffers, t.bulk = 1;
        all.push_back(t);
      }
    }
  }
  return all;
}

space::Settings default_values(const space::Subject& subject, const target::Target& target) {
  const LargeProduct product = *large_product(subject);
  const std::vector<space::Knob> list = knobs(subject, target);
  space::Settings best;
  double least = 0;
  for (const WarpgroupTiling& seed : seeds()) {
    const space::Settings settings = settings_of(seed);
    const space::Values values(list, space::nearest_config(list, settings));
    if (reject(subject, target, values)) continue;
    const double us = rough_us(product, target, tiling_of(product, values));
    if (best.empty() || us < least) least = us, best = settings;
  }
  return best.empty() ? settings_of({}) : best;
}

space::Written trace(const space::Subject& subject, const target::Target& target,
                     const space::Values& values) {
  const LargeProduct product = *large_product(subject);
  const ProductFacts& facts = product.facts;
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
  const WarpgroupTiling tiling = tiling_of(product, values);
  if (!write_warpgroup_product(writer, facts, host, read_at, tiling, placed)) placed.clear();
  WholeProgram others{
      .tiling =
          {.threads_y = 4, .tile_y = 2, .threads_x = 16, .tile_x = 2, .chunk = 8, .shared = true},
      .threads = std::min<std::int64_t>(128, target.launch.threads_per_block),
      .per_thread = 1};
  write_others(writer, inlined.program, {placed.begin(), placed.end()}, others);
  return writer.take();
}

}  // namespace

space::Template launch_warpgroup_products() {
  return {"warpgroup_products", fits, knobs, trace, default_values, reject, nullptr, beside};
}

}  // namespace attune::templates
