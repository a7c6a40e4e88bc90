#include "compiler/ir/tensor_intrinsics/tensor_intrinsic.h"

namespace attune::ir {

// A tile of 8 x 8 products of 4 terms.
TensorIntrinsic mma_8x8x4_f32() {
  return {"mma_8x8x4_f32",
          R"(program mma_8x8x4_f32 {
  input a: f32[8, 4]
  input b: f32[4, 8]
  stage c(i: 8, j: 8) = sum(k: 4) a[i, k] * b[k, j]
  output c
}
)",
          {{"c", {Scope::Register, Scope::Stack}, true},
           {"a", {Scope::Shared, Scope::Register, Scope::Stack}, true},
           {"b", {Scope::Shared, Scope::Register, Scope::Stack}, true}},
          24};
}

}  // namespace attune::ir
