#include "compiler/ir/tensor_intrinsics/tensor_intrinsic.h"

namespace attune::ir {

// The dot product of two vectors of 4.
TensorIntrinsic dot_4_f32() {
  return {"dot_4_f32",
          R"(program dot_4_f32 {
  input a: f32[4]
  input b: f32[4]
  stage c(one: 1) = sum(k: 4) a[k] * b[k]
  output c
}
)",
          {{"c", {Scope::Register, Scope::Stack}, true},
           {"a", {Scope::Shared, Scope::Register, Scope::Stack}, true},
           {"b", {Scope::Shared, Scope::Register, Scope::Stack}, true}},
          2};
}

}  // namespace attune::ir
