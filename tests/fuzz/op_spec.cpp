// Operator specs, as people type them.
#include "compiler/frontend/op_spec/op_spec.h"

#include "tests/fuzz/harness.h"

namespace attune::fuzz {

void fuzz_op_spec(std::string_view bytes) {
  static const target::Target target;
  (void)op_spec::parse_op_spec(bytes, target);
}

}  // namespace attune::fuzz
