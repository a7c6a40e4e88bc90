// Programs, kernels and expressions as text; what was read prints and reads back.
#include "base/check.h"
#include "compiler/ir/text/parse.h"
#include "compiler/ir/text/print.h"
#include "tests/fuzz/harness.h"

namespace attune::fuzz {

void fuzz_ir_text(std::string_view bytes) {
  if (const auto program = ir::parse_program(bytes); program.ok()) {
    const std::string text = ir::to_string(*program);
    const auto again = ir::parse_program(text);
    CHECK(again.ok() && ir::to_string(*again) == text, "a program reads back as it was printed");
  }
  (void)ir::parse_kernel(bytes);
  (void)ir::parse_stmt(bytes);
  (void)ir::parse_expr(bytes);
}

}  // namespace attune::fuzz
