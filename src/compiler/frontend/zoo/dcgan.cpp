// The generator of DCGAN (Radford et al. 2015): 100 numbers in, a 64x64 image out.
#include "compiler/frontend/zoo/builder.h"
#include "compiler/frontend/zoo/models.h"

namespace attune::zoo {

::onnx::ModelProto dcgan() {
  Builder b("dcgan");
  Value x = b.input("input", {1, 100, 1, 1});
  x = b.conv_transpose(x, {.channels = 512, .kernel = 4, .bias = false});
  for (const std::int64_t channels : {256, 128, 64, 3}) {
    // PyTorch folds batch normalisation into convolutions only, not into transposed ones.
    x = b.relu(b.batch_norm(x));
    x = b.conv_transpose(x,
                         {.channels = channels, .kernel = 4, .stride = 2, .pad = 1, .bias = false});
  }
  b.output("output", b.tanh(x));
  return b.finish();
}

}  // namespace attune::zoo
