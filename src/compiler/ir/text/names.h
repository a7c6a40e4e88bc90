// The words of the text form: names of enumerators, both ways, and when a name must be quoted. Used
// by printer and parser.
#pragma once

#include <optional>
#include <string>
#include <string_view>

#include "compiler/ir/nodes/expr.h"
#include "compiler/ir/nodes/stmt.h"
#include "compiler/ir/nodes/tensor_expr.h"

namespace attune::ir {

std::string_view to_string(Scope scope);
std::string_view to_string(LoopKind kind);
std::string_view to_string(MathFn fn);
std::string_view to_string(Reduction reduction);
// The infix operator, or "min" and "max".
std::string_view to_string(BinOp op);

std::optional<Scope> parse_scope(std::string_view name);
std::optional<LoopKind> parse_loop_kind(std::string_view name);
std::optional<MathFn> parse_math_fn(std::string_view name);
std::optional<Reduction> parse_reduction(std::string_view name);
std::optional<BinOp> parse_infix(std::string_view symbol);

// How strongly an infix operator binds, 1 the weakest; 0 for Min and Max, which are calls.
int precedence(BinOp op);
// "add", "mul", "min", "max": the operations of a reduction over lanes.
std::string_view reduce_name(BinOp op);
std::optional<BinOp> parse_reduce_name(std::string_view name);

// True for a name of letters, digits, '_' and '.' that is no keyword and begins with a letter or
// '_'.
bool is_plain_name(std::string_view name);
// The name itself, or in single quotes with backslash escapes.
std::string quoted_if_needed(std::string_view name);

}  // namespace attune::ir
