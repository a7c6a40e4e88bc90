// Where a search for the tiles of a product begins: shapes of tiles that suit any device, with as
// many groups and splits as the device has room for, ordered by a rough measure of their time.
#pragma once

#include "tuner/templates/launches/product_schedule.h"

namespace attune::templates {

// Terms of the sum, in one step of `k_tile`.
std::int64_t terms_of_step(const ProductFacts& facts);
// Whether rows of the left operand can lie side by side in shared memory though they do not where
// they come from, to be read in vectors.
bool may_turn(const ProductFacts& facts, const ProductTiling& tiling);
// Shared memory of a block, about: operands with gaps, and what groups add up.
std::int64_t shared_bytes(const ProductFacts& facts, const ProductTiling& tiling);
// Registers of a thread: what it adds up, and what it multiplies next.
std::int64_t register_bytes(const ProductFacts& facts, const ProductTiling& tiling);

// The fastest first.
std::vector<ProductTiling> product_seeds(const ProductFacts& facts,
                                         const target::LaunchFacts& device);

}  // namespace attune::templates
