// The first part of a chain (graph/tasks/chain.h): a convolution whose result, a few blocks of
// channels of some rows, is computed where the window behind it needs it, and stays in the cache.
#pragma once

#include "compiler/ir/nodes/tensor_expr.h"
#include "compiler/target/target.h"
#include "tuner/space/template.h"
#include "tuner/templates/trace_writer.h"

namespace attune::templates {

bool has_product_before(const ir::Program& program);
// Whether it has the form that these functions know.
bool product_fits(const ir::Program& program);
// The names of its stages.
std::vector<std::string> stages_of_product(const ir::Program& program);

// `product`: register tiles of pixels x blocks of channels; `rows`: of the window's output,
// computed in one go; `unroll`: input channels.
std::vector<space::Knob> product_knobs(const ir::Program& program, const target::Target& target);
space::Settings product_defaults(const ir::Program& program, const target::Target& target);
// Steps at the beginning of a trace, and those once the loops of the output were made: the product
// is computed at one of them. With several threads, what one writes others read: the next time it
// is not its own, and the product claims it on the side.
void prepare_product(TraceWriter& t, const ir::Program& program);
void place_product(TraceWriter& t, const ir::Program& program, const space::Values& values,
                   const std::string& loop, bool several_threads);

}  // namespace attune::templates
