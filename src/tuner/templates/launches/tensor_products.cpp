// Products of matrices, of batches of them, and convolutions over gathered columns on devices that
// have matrix instructions for their precision, with all that was fused behind them.
#include <algorithm>
#include <cmath>

#include "tuner/templates/dataflow.h"
#include "tuner/templates/inlining.h"
#include "tuner/templates/launches/launches.h"
#include "tuner/templates/launches/tensor_schedule.h"
#include "tuner/templates/launches/whole_program.h"

namespace attune::templates {
namespace {

constexpr double kWastedWork = 400;  // what stands before an operand is computed as it is fetched
constexpr std::int64_t kLeastRows = 8, kLeastColumns = 8, kLeastTerms = 8;
constexpr std::int64_t kMostRows = 256, kMostColumns = 256;

std::int64_t ceil_div(std::int64_t a, std::int64_t b) { return (a + b - 1) / b; }

struct Facts {
  ProductFacts product;
  MatrixUse use;
  TensorShape shape;
};

std::optional<Facts> facts_of(const space::Subject& subject, const target::Target& target) {
  const auto product = main_product(subject);
  if (!product) return std::nullopt;
  const auto use = matrix_use(*subject.program.find_stage(product->stage), target.launch);
  if (!use) return std::nullopt;
  return Facts{*product, *use, tensor_shape(*product, *use)};
}

bool fits(const space::Subject& subject) { return main_product(subject).has_value(); }

// Tensors whose terms can be cut into panels, and products that are worth a tile.
bool fits_target(const space::Subject& subject, const target::Target& target) {
  if (target.launch.matrix_units.empty()) return false;
  const auto facts = facts_of(subject, target);
  if (!facts) return false;
  const ProductFacts& p = facts->product;
  const bool whole = facts->use.terms % p.k_lanes == 0 && p.n_lanes % 2 == 0;
  const bool lanes = p.k_lane.empty() || (p.left.lane >= 0 && p.right.lane >= 0);
  const bool read =
      p.left.steps >= 0 && p.right.steps >= 0 && p.left.tile >= 0 && p.right.tile >= 0;
  return (whole || p.n_lanes == 1) && facts->use.terms % p.k_lanes == 0 && lanes && read &&
         p.m >= kLeastRows && p.n * p.n_lanes >= kLeastColumns &&
         p.k * p.k_lanes * p.other_k >= kLeastTerms;
}

// Warps and tiles of each.
space::Knob tiles(std::string name, std::int64_t extent, std::int64_t of_tile,
                  const std::vector<std::int64_t>& each, std::int64_t most) {
  space::Knob knob{std::move(name), space::KnobKind::Split, {}};
  for (std::int64_t warps = 1; warps <= 8; warps *= 2) {
    for (const std::int64_t tile : each) {
      const std::int64_t all = warps * tile * of_tile;
      if (all > most || (warps * tile > 1 && all >= 2 * extent)) continue;
      knob.choices.push_back({{warps, tile}});
    }
  }
  return knob;
}

std::vector<std::int64_t> up_to(std::vector<std::int64_t> numbers, std::int64_t most) {
  std::erase_if(numbers, [&](std::int64_t each) { return each > 1 && each > most; });
  return numbers;
}

// Whether the device can copy slabs of the weights by itself.
bool may_copy_in_bulk(const space::Subject& subject, const Facts& facts,
                      const target::Target& target) {
  return copies_in_bulk(target.launch) &&
         constants_of(subject.program).count(facts.product.right.buffer) > 0;
}

std::vector<space::Knob> knobs(const space::Subject& subject, const target::Target& target) {
  const Facts facts = *facts_of(subject, target);
  const ProductFacts& p = facts.product;
  const std::int64_t panels = ceil_div(p.k, facts.shape.panel);
  std::vector<space::Knob> list{
      tiles("rows", p.m, 16, {1, 2, 3, 4}, kMostRows),
      tiles("columns", p.n * p.n_lanes, facts.shape.columns, {1, 2, 4}, kMostColumns),
      space::choice_of("panels", up_to({1, 2, 3, 4, 6, 9}, panels)),
      space::choice_of("groups", up_to({1, 2, 3, 4, 6, 8}, panels)),
      space::choice_of("splits", up_to({1, 2, 3, 4, 6, 8, 9, 12, 16, 18}, panels / 2)),
      space::choice_of("stages", {2, 3, 4})};
  if (may_copy_in_bulk(subject, facts, target)) list.push_back(space::choice_of("bulk", {1, 0}));
  return list;
}

TensorTiling tiling_of(const space::Values& values) {
  return {.warps_m = values.numbers("rows")[0],
          .tiles_m = values.numbers("rows")[1],
          .warps_n = values.numbers("columns")[0],
          .tiles_n = values.numbers("columns")[1],
          .panels = values["panels"],
          .groups = values["groups"],
          .splits = values["splits"],
          .stages = values["stages"],
          .bulk = values.has("bulk") && values["bulk"] == 1};
}

// Bytes of shared memory that a block has.
std::int64_t shared_bytes(const Facts& facts, const TensorTiling& t) {
  const std::int64_t columns = t.warps_n * t.tiles_n * facts.shape.columns;
  const std::int64_t slab = (t.rows() + columns) * facts.use.terms * t.panels * t.groups *
                            facts.shape.element_bytes * facts.product.other_k;
  const std::int64_t sums = t.groups > 1 ? t.rows() * columns * t.groups * 4 : 0;
  return slab * t.stages + sums;
}

// Bytes of a slab of weights.
std::int64_t right_bytes(const Facts& facts, const TensorTiling& t) {
  return t.warps_n * t.tiles_n * facts.shape.columns * facts.use.terms * t.panels * t.groups *
         facts.shape.element_bytes * facts.product.other_k;
}

std::optional<std::string> reject(const space::Subject& subject, const target::Target& target,
                                  const space::Values& values) {
  const Facts facts = *facts_of(subject, target);
  const target::LaunchFacts& device = target.launch;
  const TensorTiling t = tiling_of(values);
  if (t.threads() > device.threads_per_block) return "too many threads in a block";
  if (shared_bytes(facts, t) > device.shared_bytes) return "too much shared memory in a block";
  const std::int64_t panels = ceil_div(facts.product.k, facts.shape.panel);
  const std::int64_t cut = t.splits * t.groups * t.panels;
  // Panels of zeros that would be multiplied.
  if (cut > 1 && ceil_div(panels, cut) * cut > panels + std::max<std::int64_t>(1, panels / 2)) {
    return "groups without work";
  }
  if (2 * t.tiles_m > facts.product.m) return "threads without rows";
  // What threads do not share evenly is not seen to be one piece.
  if (t.bulk && right_bytes(facts, t) % (16 * t.threads()) != 0) {
    return "weights that are not copied in bulk";
  }
  const std::int64_t results = 2 * t.tiles_m * t.tiles_n * facts.shape.vector * 4;
  const std::int64_t most = std::min<std::int64_t>(device.register_bytes / 2,
                                                   device.resident_register_bytes / t.threads());
  if (results > most) return "too many registers in a thread";
  return std::nullopt;
}

// A rough measure, to choose a beginning by.
double rough_us(const Facts& facts, const target::LaunchFacts& device, const TensorTiling& t) {
  constexpr double kWarpPart = 0.15;  // of a multiprocessor's rate that one warp reaches
  constexpr double kSecondLaunches = 2;
  const ProductFacts& p = facts.product;
  const std::int64_t columns = t.warps_n * t.tiles_n * facts.shape.columns;
  const double blocks = static_cast<double>(
      ceil_div(p.m, t.rows()) * ceil_div(p.n * p.n_lanes, columns) * p.others * t.splits);
  const double terms =
      static_cast<double>(p.k * p.k_lanes * p.other_k) / static_cast<double>(t.splits);
  const double work = static_cast<double>(t.rows() * columns) * terms;
  const double useful = std::min(1.0, 0.25 * static_cast<double>(1 + t.tiles_m * t.tiles_n));
  const double rate = facts.use.fmas_per_cycle * useful *
                      std::min(1.0, kWarpPart * static_cast<double>(t.warps() * t.groups));
  const double rounds = std::ceil(blocks / static_cast<double>(device.multiprocessors));
  const double fetched =
      static_cast<double>((t.rows() + columns) * facts.shape.element_bytes) * terms;
  const double slabs =
      terms / static_cast<double>(facts.use.terms * t.panels * t.groups);  // one behind the other
  const double us = rounds * work / rate / device.ghz * 1e-3 +
                    blocks * fetched / device.l2_bandwidth * 1e-3 +
                    slabs * 2 * device.barrier_ns * 1e-3;
  return us + (t.splits > 1 ? kSecondLaunches * device.launch_us : 0);
}

space::Settings settings_of(const TensorTiling& t) {
  return {{"rows", {{t.warps_m, t.tiles_m}}}, {"columns", {{t.warps_n, t.tiles_n}}},
          {"panels", {{t.panels}}},           {"groups", {{t.groups}}},
          {"splits", {{t.splits}}},           {"stages", {{t.stages}}},
          {"bulk", {{t.bulk ? 1 : 0}}}};
}

// Tiles that hand-written kernels do well with: rows and columns of a block, and of a warp.
constexpr struct {
  std::int64_t warps_m, tiles_m, columns, warp_columns;
} kSeeds[] = {{2, 1, 32, 16},  {1, 2, 32, 16}, {2, 2, 32, 16}, {2, 2, 32, 32},
              {2, 2, 64, 32},  {2, 2, 64, 16}, {2, 3, 64, 32}, {2, 4, 64, 32},
              {2, 4, 128, 64}, {1, 1, 64, 16}, {1, 1, 32, 16}};

space::Settings default_values(const space::Subject& subject, const target::Target& target) {
  const Facts facts = *facts_of(subject, target);
  const std::vector<space::Knob> list = knobs(subject, target);
  space::Settings best;
  double least = 0;
  for (const auto& seed : kSeeds) {
    for (const std::int64_t groups : {1, 2, 4}) {
      for (const std::int64_t splits : {1, 2, 4, 8, 16}) {
        for (const bool bulk : {true, false}) {
          TensorTiling t{.warps_m = seed.warps_m, .tiles_m = seed.tiles_m};
          t.tiles_n = std::max<std::int64_t>(1, seed.warp_columns / facts.shape.columns);
          t.warps_n = std::max<std::int64_t>(1, seed.columns / (t.tiles_n * facts.shape.columns));
          t.panels = 2, t.groups = groups, t.splits = splits, t.stages = 3, t.bulk = bulk;
          // As the knobs have it.
          const space::Settings settings = settings_of(t);
          const space::Config config = space::nearest_config(list, settings);
          const space::Values values(list, config);
          if (reject(subject, target, values)) continue;
          const double us = rough_us(facts, target.launch, tiling_of(values));
          if (best.empty() || us < least) least = us, best = settings;
        }
      }
    }
  }
  return best.empty() ? settings_of({}) : best;
}

space::Written trace(const space::Subject& subject, const target::Target& target,
                     const space::Values& values) {
  const Facts facts = *facts_of(subject, target);
  const std::set<std::string> operands{facts.product.left.buffer->name,
                                       facts.product.right.buffer->name};
  const Inlined inlined = inline_producers(subject, kWastedWork, operands);
  const ir::Stage& stage = *inlined.program.find_stage(facts.product.stage);
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
  const TensorTiling tiling = tiling_of(values);
  if (!write_tensor_product(writer, facts.product, facts.use, host, read_at, tiling, placed)) {
    placed.clear();
  }
  WholeProgram others{
      .tiling =
          {.threads_y = 4, .tile_y = 2, .threads_x = 16, .tile_x = 2, .chunk = 8, .shared = true},
      .threads = std::min<std::int64_t>(128, target.launch.threads_per_block),
      .per_thread = 1};
  write_others(writer, inlined.program, {placed.begin(), placed.end()}, others);
  return writer.take();
}

}  // namespace

space::Template launch_tensor_products() {
  return {"tensor_products", fits, knobs, trace, default_values, reject, fits_target};
}

}  // namespace attune::templates
