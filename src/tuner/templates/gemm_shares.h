// Products whose threads have shares of the reduction: where rows and columns are too few for all
// of them. Every share is summed up into a matrix of its own; these are then added up.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "compiler/target/target.h"
#include "tuner/space/config.h"
#include "tuner/templates/fused_stages.h"
#include "tuner/templates/right_matrix.h"

namespace attune::templates {

struct GemmShape {
  std::int64_t batch, m, n, k, lanes, element_bytes;
  std::int64_t part;  // of k, that one register tile sums up
  std::int64_t vectors() const { return (n + lanes - 1) / lanes; }
};

// What the loops of a product start from.
struct GemmParts {
  const GemmShape& shape;
  const Right& right;
  const FusedStages& fused;
  std::string b, i, j;  // axes of the output; b is empty without batch
};

// `shares`: how many, 0 for none.
space::Knob shares_knob(const GemmShape& s, const target::Target& target);
std::optional<std::string> shares_flaw(const GemmShape& s, const target::Target& target,
                                       const space::Values& values);
schedule::Trace shared_reduction(const target::Target& target, const space::Values& values,
                                 const GemmParts& p);

}  // namespace attune::templates
