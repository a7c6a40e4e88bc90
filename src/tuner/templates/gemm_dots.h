// Products of rows with rows: where both matrices lie with the reduction innermost, and there are
// too few rows for it to pay that one of them is turned round. Vectors run along the reduction; a
// register tile is rows x columns, one vector of partial sums each, whose lanes are added up last.
#pragma once

#include <optional>
#include <string>

#include "tuner/templates/gemm_shares.h"

namespace attune::templates {

// `dots`: rows x columns of a tile, 0x0 for panels; nothing but these where the matrices lie
// otherwise.
space::Knob dots_knob(const ir::Program& program, const GemmShape& s, const Right& right,
                      const target::Target& target);
bool has_dots(const space::Values& values);
schedule::Trace product_of_dots(const target::Target& target, const space::Values& values,
                                const GemmParts& p);

}  // namespace attune::templates
