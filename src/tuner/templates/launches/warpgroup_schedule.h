// A matrix product by instructions of warpgroups: a block has a few of these, each with tiles of 64
// rows one below the other, and all threads copy the operands' next slab of the sum into shared
// memory, where they lie in groups of eight rows of 16 bytes as the instructions read them.
#pragma once

#include "tuner/templates/launches/launch_writer.h"
#include "tuner/templates/launches/product_facts.h"

namespace attune::templates {

struct WarpgroupTiling {
  std::int64_t groups_m = 1, tiles_m = 1;   // warpgroups along the rows, and tiles of each
  std::int64_t groups_n = 1, columns = 64;  // warpgroups along the columns, and columns of each
  std::int64_t terms = 16, steps = 4;       // of an instruction, and instructions between fetches
  std::int64_t buffers = 4;
  // Blocks that share the copies of weights, which the device makes by itself; 0: threads copy.
  std::int64_t bulk = 0;
  std::string intrinsic;

  std::int64_t rows() const { return 64 * groups_m * tiles_m; }
  std::int64_t block_columns() const { return groups_n * columns; }
  std::int64_t slab() const { return terms * steps; }
  std::int64_t threads() const { return 128 * groups_m * groups_n; }
};

// `host` reads the product at the axes `read_at` names, one list for each of the product's; "" when
// the product is stored by itself. False when it cannot be scheduled so; nothing was written then.
// The stages that it placed are added to `done`.
bool write_warpgroup_product(LaunchWriter& writer, const ProductFacts& facts,
                             const std::string& host, const std::vector<schedule::Names>& read_at,
                             const WarpgroupTiling& tiling, schedule::Names& done);

}  // namespace attune::templates
