#include "compiler/ir/tensor_intrinsics/tensor_intrinsic.h"

namespace attune::ir {

// A tile of 4 x 4 products of 4 terms.
TensorIntrinsic mma_4x4x4_f32() {
  return {"mma_4x4x4_f32",
          R"(program mma_4x4x4_f32 {
  input a: f32[4, 4]
  input b: f32[4, 4]
  stage c(i: 4, j: 4) = sum(k: 4) a[i, k] * b[k, j]
  output c
}
)",
          {{"c", {Scope::Register, Scope::Stack}, true},
           {"a", {Scope::Shared, Scope::Register, Scope::Stack}, true},
           {"b", {Scope::Shared, Scope::Register, Scope::Stack}, true}},
          8};
}

}  // namespace attune::ir
