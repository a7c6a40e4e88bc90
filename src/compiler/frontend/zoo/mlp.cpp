// Three dense layers for 28x28 digits.
#include "compiler/frontend/zoo/builder.h"
#include "compiler/frontend/zoo/models.h"

namespace attune::zoo {

::onnx::ModelProto mlp() {
  Builder b("mlp");
  Value x = b.input("input", {1, 784});
  x = b.relu(b.gemm(x, 1024));
  x = b.relu(b.gemm(x, 1024));
  b.output("output", b.gemm(x, 10));
  return b.finish();
}

}  // namespace attune::zoo
