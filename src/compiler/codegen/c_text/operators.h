// What the prelude calls the operators and functions of expressions.
#pragma once

#include <string_view>

#include "compiler/ir/nodes/expr.h"

namespace attune::c_text {

// "add", "shl", "min": at_add_f32 is the function of one element.
std::string_view function_of(ir::BinOp op);
std::string_view function_of(ir::MathFn fn);
// Functions that round: integers are what they were.
bool keeps_integers(ir::MathFn fn);

}  // namespace attune::c_text
