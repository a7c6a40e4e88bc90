// A matrix product on blocks and threads. A block computes a tile of the result, each of its
// threads a smaller tile in registers, and all of them fetch the operands' next slab of the sum
// into shared memory together. What is summed may be shared out twice: among groups of threads of a
// block, whose sums are added up in shared memory, and among blocks, whose sums a second launch
// adds up.
#pragma once

#include "tuner/templates/launches/launch_writer.h"
#include "tuner/templates/launches/product_facts.h"

namespace attune::templates {

struct ProductTiling {
  // Threads and, within each, elements: along the rows and the columns.
  std::int64_t threads_m = 8, tile_m = 4;
  std::int64_t threads_n = 8, tile_n = 4;
  std::int64_t slab = 4;    // steps of the sum that a group takes between two fetches
  std::int64_t groups = 1;  // of threads that take steps in turn
  std::int64_t splits = 1;  // blocks that take a part of the sum each
  bool stage_left = true, stage_right = true;  // through shared memory
  std::int64_t buffers = 1;  // there, for slabs that are on their way while one is multiplied
  bool held = true;          // what a thread multiplies next is fetched into registers first
  // Of a left operand whose steps lie side by side, rows do in shared memory, so that a thread
  // reads several of them at a step instead of one for several steps.
  bool turned = false;

  std::int64_t rows() const { return threads_m * tile_m; }
  std::int64_t columns() const { return threads_n * tile_n; }
  std::int64_t threads() const { return threads_m * threads_n * groups; }
};

// Steps of the sum that a block takes. Where slabs are whole turns, parts are too.
std::int64_t part_of(const ProductFacts& facts, const ProductTiling& tiling);

// `host` reads the product at the axes `read_at` names, one list for each of the product's; "" when
// the product is stored by itself. False when it cannot be scheduled so; nothing was written then.
// The stages that it placed are added to `done`.
bool write_product(LaunchWriter& writer, const ProductFacts& facts, const std::string& host,
                   const std::vector<schedule::Names>& read_at, const ProductTiling& tiling,
                   schedule::Names& done);

}  // namespace attune::templates
