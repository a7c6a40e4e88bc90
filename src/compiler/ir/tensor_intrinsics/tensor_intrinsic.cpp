#include "compiler/ir/tensor_intrinsics/tensor_intrinsic.h"

#include "compiler/ir/text/parse.h"

namespace attune::ir {

std::span<const TensorIntrinsic> tensor_intrinsics() {
  static const std::vector<TensorIntrinsic> all = {
      mma_4x4x4_f32(),
      mma_8x8x4_f32(),
      dot_4_f32(),
  };
  return all;
}

const TensorIntrinsic* find_tensor_intrinsic(std::string_view name) {
  for (const TensorIntrinsic& intrinsic : tensor_intrinsics()) {
    if (intrinsic.name == name) return &intrinsic;
  }
  return nullptr;
}

Program TensorIntrinsic::program() const { return parse_program(meaning).value(); }

}  // namespace attune::ir
