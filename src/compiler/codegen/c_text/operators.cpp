#include "compiler/codegen/c_text/operators.h"

#include "base/check.h"
#include "compiler/ir/text/names.h"

namespace attune::c_text {

using ir::BinOp;
using ir::MathFn;

std::string_view function_of(BinOp op) {
  switch (op) {
    case BinOp::Add:
      return "add";
    case BinOp::Sub:
      return "sub";
    case BinOp::Mul:
      return "mul";
    case BinOp::Div:
      return "div";
    case BinOp::Mod:
      return "mod";
    case BinOp::Min:
      return "min";
    case BinOp::Max:
      return "max";
    case BinOp::Shl:
      return "shl";
    case BinOp::Shr:
      return "shr";
    default:
      CHECK(false, "the prelude has no function for this operator");
  }
}

std::string_view function_of(MathFn fn) { return fn == MathFn::BitNot ? "not" : ir::to_string(fn); }

bool keeps_integers(MathFn fn) {
  return fn == MathFn::Floor || fn == MathFn::Ceil || fn == MathFn::Round || fn == MathFn::Trunc;
}

}  // namespace attune::c_text
