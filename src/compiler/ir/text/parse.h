// Reads the text form that print.h writes. Types are checked as far as building the nodes needs;
// whether the whole makes sense is the verifier's question. Errors say line and column.
#pragma once

#include <string_view>
#include <vector>

#include "base/result.h"
#include "compiler/ir/nodes/stmt.h"
#include "compiler/ir/nodes/tensor_expr.h"

namespace attune::ir {

// `buffers` are those that loads and stores may name.
Result<Expr> parse_expr(std::string_view text, const std::vector<Buffer>& buffers = {});
Result<Stmt> parse_stmt(std::string_view text, const std::vector<Buffer>& buffers = {});
Result<Kernel> parse_kernel(std::string_view text);
Result<Program> parse_program(std::string_view text);

}  // namespace attune::ir
