// Splicing programs: the stages of one behind those of another whose result they read.
#pragma once

#include <functional>

#include "compiler/ir/nodes/tensor_expr.h"

namespace attune::graph {

// The program with `prefix` in front of the names of its inputs and stages.
ir::Program with_prefix(const ir::Program& program, const std::string& prefix);

// What is read instead of the element of a buffer at an index.
using Replacement = std::function<ir::Expr(const std::vector<ir::Expr>& index)>;
void replace_reads(ir::Stage& stage, const ir::Buffer& buffer, const Replacement& replacement);

// Adds inputs and stages of `rest` but for its input number `between`, whose reads are replaced;
// the outputs are those of `rest`.
void splice(ir::Program& program, ir::Program rest, std::size_t between,
            const Replacement& replacement);

}  // namespace attune::graph
