// A matrix product on blocks whose warps multiply by matrix instructions. A warp computes a tile of
// the result, spread over the registers of its lanes; all threads of a block copy the operands'
// next slab of the sum into shared memory, some iterations ahead. There it lies in panels: rows of
// as many terms as one call of the instruction takes, so that lanes which load together meet no
// bank twice. What is summed may be shared out among groups of warps, whose sums are added up in
// shared memory, and among blocks, whose sums a second launch adds up. Tiles are whole: operands
// are padded by zeros, and only stores of the result are guarded.
#pragma once

#include "tuner/templates/launches/launch_writer.h"
#include "tuner/templates/launches/matrix_units.h"
#include "tuner/templates/launches/product_facts.h"

namespace attune::templates {

struct TensorTiling {
  // Warps and, within each, tiles: of 16 rows; of as many columns as lanes that share rows have.
  std::int64_t warps_m = 2, tiles_m = 1;
  std::int64_t warps_n = 2, tiles_n = 1;
  std::int64_t panels = 1;  // of the sum that a group takes between two fetches
  std::int64_t groups = 1;  // of warps that take slabs in turn
  std::int64_t splits = 1;  // blocks that take a part of the sum each
  std::int64_t stages = 3;  // buffers of the operands
  bool bulk = false;        // the device copies packed weights by itself

  std::int64_t warps() const { return warps_m * warps_n; }
  std::int64_t threads() const { return warps() * groups * 32; }
  std::int64_t rows() const { return warps_m * tiles_m * 16; }
};

// How a product is cut for an instruction.
struct TensorShape {
  std::int64_t vector = 4;    // columns side by side of a thread: the lanes of a block, or this
  std::int64_t columns = 16;  // of a tile: those of four lanes
  std::int64_t panel = 1;     // steps of `k_tile` in a panel
  std::int64_t total_k = 1;   // of `k_tile`
  std::int64_t element_bytes = 4;
};
TensorShape tensor_shape(const ProductFacts& facts, const MatrixUse& use);

// As write_product.
bool write_tensor_product(LaunchWriter& writer, const ProductFacts& facts, const MatrixUse& use,
                          const std::string& host, const std::vector<schedule::Names>& read_at,
                          const TensorTiling& tiling, schedule::Names& done);

}  // namespace attune::templates
