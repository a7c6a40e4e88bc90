// VGG with 19 layers (Simonyan and Zisserman 2014), without batch normalisation.
#include "compiler/frontend/zoo/builder.h"
#include "compiler/frontend/zoo/models.h"

namespace attune::zoo {

::onnx::ModelProto vgg19() {
  Builder b("vgg19");
  Value x = b.input("input", {1, 3, 224, 224});
  struct Stage {
    std::int64_t channels;
    int layers;
  };
  for (const auto& [channels, layers] : {Stage{64, 2}, {128, 2}, {256, 4}, {512, 4}, {512, 4}}) {
    for (int i = 0; i < layers; ++i) {
      x = b.relu(b.conv(x, {.channels = channels, .kernel = 3, .pad = 1}));
    }
    x = b.max_pool(x, {.kernel = 2, .stride = 2});
  }
  // An adaptive pooling to the 7x7 that is there already: exported as a pooling of one element.
  x = b.flatten(b.average_pool(x, {.kernel = 1}));
  x = b.relu(b.gemm(x, 4096));
  x = b.relu(b.gemm(x, 4096));
  b.output("output", b.gemm(x, 1000));
  return b.finish();
}

}  // namespace attune::zoo
