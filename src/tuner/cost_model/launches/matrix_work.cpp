#include "tuner/cost_model/launches/matrix_work.h"

#include <algorithm>

#include "compiler/ir/tensor_intrinsics/tensor_intrinsic.h"

namespace attune::cost_model {
namespace {

// Loads of 16 bytes that fill a lane's fragment, on average, and cycles of shared memory for each;
// registers that one fills and that must be rounded, half of them.
constexpr double kLoadsOfFragment = 1.5, kLoadCycles = 4, kConversions = 2;
constexpr double kMatrixLatency = 18;  // cycles until results can be added to
constexpr double kSchedulers = 4;      // of a multiprocessor, with matrix units of their own
// Of warpgroups: rows of an instruction, bytes of its terms in a row, and what shared memory
// delivers in a cycle.
constexpr double kWarpgroupRows = 64, kTermBytes = 32, kSharedBytes = 128;

double elements(const schedule::Access& access, const space::StageNest& nest, std::size_t level) {
  double count = 1;
  for (std::size_t d = 0; d < access.dims.size(); ++d) {
    count *= static_cast<double>(
        space::dim_span(access.dims[d], nest.levels[level].spans, access.buffer->shape[d]));
  }
  return count;
}

}  // namespace

bool add_matrix_calls(const schedule::StageState& stage, const space::StageNest& nest,
                      double serial, double threads, const target::LaunchFacts& device,
                      BlockWork& work) {
  if (stage.tensorized < 0) return false;
  const ir::TensorIntrinsic* intrinsic = ir::find_tensor_intrinsic(stage.intrinsic);
  const auto unit = std::find_if(device.matrix_units.begin(), device.matrix_units.end(),
                                 [&](const auto& u) { return u.intrinsic == stage.intrinsic; });
  if (!intrinsic || intrinsic->lanes() == 1 || unit == device.matrix_units.end()) return false;
  const auto position = std::find(stage.loops.begin(), stage.loops.end(), stage.tensorized);
  const auto tile_level = nest.own + static_cast<std::size_t>(position - stage.loops.begin());
  double tile = 1, together = 1;  // elements of one call, and calls between two steps of the sum
  for (std::size_t i = tile_level; i < nest.levels.size(); ++i) {
    tile *= static_cast<double>(nest.levels[i].extent);
  }
  if (intrinsic->warpgroup) {
    // It reads shared memory by itself, beside what its warps do.
    const double all = serial / tile, fmas = tile * intrinsic->lanes();
    work.instructions += all * threads / static_cast<double>(device.warp);
    work.matrix_cycles += all * threads * tile / unit->fmas_per_cycle;
    // Of every term, a row of each operand's tile: wide tiles read the least.
    const double terms = static_cast<double>(nest.levels.back().extent);
    const double columns = fmas / (kWarpgroupRows * terms);
    const double calls = all * threads / intrinsic->lanes();
    work.shared_cycles += calls * (kWarpgroupRows + columns) * kTermBytes / kSharedBytes;
    work.longest += all * fmas / unit->fmas_per_cycle / 2;
    return true;
  }
  std::size_t first = tile_level;
  const auto reduces = [&](std::size_t level) {
    return stage.iters[static_cast<std::size_t>(stage.loops[level - nest.own])].reduce;
  };
  while (first > nest.own && !reduces(first - 1)) {
    together *= static_cast<double>(nest.levels[--first].extent);
  }
  const double calls = serial / tile, warps = threads / static_cast<double>(device.warp);
  // What a call loads is used again by others of its step.
  double loads = 0;
  for (const schedule::Access& access : stage.accesses) {
    loads += kLoadsOfFragment * elements(access, nest, first) / elements(access, nest, tile_level) /
             together;
  }
  const double conversions = intrinsic->rounding.empty() ? 0 : kConversions * loads;
  const double instructions = intrinsic->warp->instructions;
  work.instructions += (instructions + loads + conversions) * calls * warps;
  work.shared_cycles += loads * kLoadCycles * calls * warps;
  const double fmas = tile * static_cast<double>(device.warp);
  work.matrix_cycles += calls * warps * fmas / unit->fmas_per_cycle;
  // A warp alone has its scheduler's units, and waits for the results that it adds to.
  const double alone =
      std::max(kSchedulers * fmas / unit->fmas_per_cycle, kMatrixLatency * instructions / together);
  work.longest += calls * (loads + conversions + alone);
  return true;
}

}  // namespace attune::cost_model
