#include "tuner/templates/launches/product_seeds.h"

#include <algorithm>
#include <cmath>

namespace attune::templates {
namespace {

constexpr std::int64_t kTermsOfSlab = 40;  // of the sum, that a group takes between two fetches
constexpr std::int64_t kBuffers = 3;
constexpr std::int64_t kSumBytes = 4;

std::int64_t ceil_div(std::int64_t a, std::int64_t b) { return (a + b - 1) / b; }
double real(std::int64_t number) { return static_cast<double>(number); }

// Threads and tiles along rows, and columns of a block and of a thread, lanes included. Odd tiles
// suit images whose sides are multiples of seven; those of one row are for products of a few.
constexpr struct {
  std::int64_t threads_m, tile_m, columns, tile_columns;
} kTiles[] = {{4, 7, 32, 4},    {8, 7, 32, 4},  {8, 4, 32, 4},  {8, 8, 32, 4},   {8, 7, 64, 8},
              {8, 8, 64, 8},    {16, 4, 64, 8}, {16, 8, 64, 8}, {16, 8, 128, 8}, {16, 6, 64, 8},
              {16, 16, 128, 8}, {4, 4, 32, 4},  {4, 4, 16, 4},  {2, 8, 32, 4},   {2, 2, 8, 4},
              {1, 8, 32, 4},    {1, 4, 32, 4},  {1, 4, 16, 4},  {1, 2, 16, 4},   {1, 1, 64, 4},
              {1, 1, 32, 4},    {1, 1, 16, 4},  {1, 1, 8, 4},   {1, 1, 16, 2},   {4, 4, 8, 1},
              {1, 1, 8, 1},     {1, 1, 1, 1}};

// Bytes of operands that a thread block has under way at a time.
double under_way(const ProductFacts& facts, const ProductTiling& t) {
  constexpr double kLoads = 4;  // of a thread that are not waited for one by one
  const double bytes = real(facts.element_bytes);
  const double columns = real(t.tile_n * facts.n_lanes);
  if (!t.stage_right) return real(t.threads()) * kLoads * std::min(16.0, columns * bytes);
  return real(std::max<std::int64_t>(1, t.buffers - 1) * t.groups * t.slab * terms_of_step(facts)) *
         real(t.rows() + t.columns() * facts.n_lanes) * bytes;
}

// How long blocks take that share the device, each as fast as its threads or its multiprocessor can
// multiply and as its operands come.
double rough_us(const ProductFacts& facts, const target::LaunchFacts& device,
                const ProductTiling& t) {
  constexpr double kThreadFmas = 0.5;    // of a thread in a cycle, waiting included
  constexpr double kSecondLaunches = 2;  // that adding up the parts of blocks is worth
  constexpr double kBeside = 0.3;        // of the shorter of the two that the longer does not hide
  const double processors = real(device.multiprocessors);
  const double terms = real(facts.k * terms_of_step(facts)) / real(t.splits);
  const double blocks =
      real(ceil_div(facts.m, t.rows()) * ceil_div(facts.n, t.columns()) * facts.others * t.splits);
  const double shared = real(std::max<std::int64_t>(1, shared_bytes(facts, t)));
  const double room = std::min(std::floor(real(device.resident_threads) / real(t.threads())),
                               std::floor(real(device.resident_shared_bytes) / shared));
  const double together = std::clamp(room, 1.0, std::ceil(blocks / processors));
  // Every multiplication of a tile takes a part of the loads of its rows and columns.
  const double rows = real(t.tile_m), columns = real(t.tile_n * facts.n_lanes);
  const double useful = rows * columns / (rows * columns + rows + columns);
  const double rate =
      useful * std::min(device.fmas_per_cycle, kThreadFmas * real(t.threads()) * together);
  const double rounds = std::ceil(blocks / (processors * together)) * together;
  const double work = real(t.rows() * t.columns() * facts.n_lanes) * terms;
  const double compute_us = rounds * work / rate / device.ghz * 1e-3;
  const double fetched =
      real(t.rows() + t.columns() * facts.n_lanes) * terms * real(facts.element_bytes) * blocks;
  const double drawn = std::min(blocks, processors * together) * under_way(facts, t) /
                       device.global_latency_ns;  // GB/s
  const double weights =
      real(facts.n * facts.n_lanes * facts.k * terms_of_step(facts)) * real(facts.element_bytes);
  const double most = weights > real(device.l2_bytes) ? device.dram_bandwidth : device.l2_bandwidth;
  const double memory_us = fetched / std::min(most, drawn) * 1e-3;
  const double groups = 0.02 * std::log2(real(t.groups)) * device.launch_us;
  // Parts of the sum are written and read again.
  const double parts = real(facts.m * facts.n * facts.n_lanes * facts.others) * kSumBytes *
                       real(2 * t.splits) / device.l2_bandwidth * 1e-3;
  return std::max(compute_us, memory_us) + kBeside * std::min(compute_us, memory_us) + groups +
         (t.splits > 1 ? kSecondLaunches * device.launch_us + parts : 0);
}

}  // namespace

std::int64_t terms_of_step(const ProductFacts& facts) { return facts.k_lanes * facts.other_k; }

bool may_turn(const ProductFacts& facts, const ProductTiling& t) {
  const std::int64_t vector = 16 / std::max<std::int64_t>(1, facts.element_bytes);
  return facts.k_lane.empty() && facts.left.tiles_k() && facts.left.tile >= 0 && t.stage_left &&
         facts.m % vector == 0 && t.tile_m % vector == 0;
}

std::int64_t shared_bytes(const ProductFacts& facts, const ProductTiling& t) {
  const std::int64_t terms = t.groups * t.slab * terms_of_step(facts);
  const std::int64_t columns = t.columns() * facts.n_lanes;
  const std::int64_t bytes = facts.element_bytes * t.buffers;
  // Gaps between the rows of a thread, or a vector at the end of each.
  const bool gaps = t.tile_m % 4 == 0 && t.threads_m > 1;
  const std::int64_t gap = t.turned ? 0
                           : facts.left.tiles_k()
                               ? 16 / std::max<std::int64_t>(1, facts.element_bytes)
                           : gaps ? ceil_div(terms, 4)
                                  : 0;
  const std::int64_t behind = t.turned ? 16 / std::max<std::int64_t>(1, facts.element_bytes) : 0;
  const std::int64_t left = t.stage_left ? (t.rows() * (terms + gap) + terms * behind) * bytes : 0;
  const std::int64_t right = t.stage_right ? columns * terms * bytes : 0;
  // What is added up lies where an operand did.
  const std::int64_t sums = t.groups > 1 ? t.groups * (t.rows() | 1) * columns * kSumBytes : 0;
  const std::int64_t lent = facts.element_bytes == kSumBytes ? std::max(left, right) : 0;
  return left + right + std::max<std::int64_t>(0, sums - lent);
}

std::int64_t register_bytes(const ProductFacts& facts, const ProductTiling& t) {
  const std::int64_t columns = t.tile_n * facts.n_lanes;
  const std::int64_t vector = 16 / std::max<std::int64_t>(1, facts.element_bytes);
  const bool vectors =
      facts.k_lane.empty() && facts.left.tiles_k() && t.slab % vector == 0 && !t.turned;
  const std::int64_t steps = facts.k_lanes * (vectors ? vector : 1);
  const std::int64_t held = t.held ? (t.tile_m + columns) * steps * facts.element_bytes : 0;
  return t.tile_m * columns * kSumBytes + held;
}

std::vector<ProductTiling> product_seeds(const ProductFacts& facts,
                                         const target::LaunchFacts& device) {
  // A whole turn of a window where it is short.
  std::int64_t slab = std::max<std::int64_t>(1, 16 / terms_of_step(facts));
  for (const std::int64_t turn : facts.turns) {
    if (turn * terms_of_step(facts) <= kTermsOfSlab) slab = turn;
  }
  slab = std::min(slab, facts.k);
  std::vector<std::pair<double, ProductTiling>> found;
  for (const auto& tile : kTiles) {
    const std::int64_t rows = tile.threads_m * tile.tile_m;
    if ((rows > 1 && rows >= 2 * facts.m) || tile.columns >= 2 * facts.n * facts.n_lanes) continue;
    for (const std::int64_t groups : {1, 2, 3, 4, 8, 16, 32, 64}) {
      for (const std::int64_t splits : {1, 2, 4, 8, 16}) {
        const std::int64_t tile_n = std::max<std::int64_t>(1, tile.tile_columns / facts.n_lanes);
        ProductTiling t{
            .threads_m = tile.threads_m,
            .tile_m = tile.tile_m,
            .threads_n = std::max<std::int64_t>(1, tile.columns / (tile_n * facts.n_lanes)),
            .tile_n = tile_n,
            .slab = slab,
            .groups = groups,
            .splits = splits};
        const std::int64_t slabs = ceil_div(part_of(facts, t), groups * slab);
        t.buffers = std::min(kBuffers, 1 + slabs);
        while (t.buffers > 1 && shared_bytes(facts, t) > device.shared_bytes) --t.buffers;
        if (shared_bytes(facts, t) <= device.shared_bytes) {
          found.emplace_back(rough_us(facts, device, t), t);
        }
        if (may_turn(facts, t)) {
          t.turned = true;
          if (shared_bytes(facts, t) <= device.shared_bytes) {
            found.emplace_back(rough_us(facts, device, t), t);
          }
          t.turned = false;
        }
        if (t.threads_m > 1) continue;
        // Weights that one row of threads reads may go straight to it.
        t.stage_right = t.stage_left = false;
        t.buffers = 1;
        found.emplace_back(rough_us(facts, device, t), t);
      }
    }
  }
  std::stable_sort(found.begin(), found.end(),
                   [](const auto& a, const auto& b) { return a.first < b.first; });
  std::vector<ProductTiling> seeds;
  for (auto& [us, tiling] : found) seeds.push_back(tiling);
  return seeds;
}

}  // namespace attune::templates
