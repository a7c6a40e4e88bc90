// AlexNet (Krizhevsky 2014), in torchvision's form with one column.
#include "compiler/frontend/zoo/builder.h"
#include "compiler/frontend/zoo/models.h"

namespace attune::zoo {

::onnx::ModelProto alexnet() {
  Builder b("alexnet");
  Value x = b.input("input", {1, 3, 224, 224});
  x = b.relu(b.conv(x, {.channels = 64, .kernel = 11, .stride = 4, .pad = 2}));
  x = b.max_pool(x, {.kernel = 3, .stride = 2});
  x = b.relu(b.conv(x, {.channels = 192, .kernel = 5, .pad = 2}));
  x = b.max_pool(x, {.kernel = 3, .stride = 2});
  for (const std::int64_t channels : {384, 256, 256}) {
    x = b.relu(b.conv(x, {.channels = channels, .kernel = 3, .pad = 1}));
  }
  x = b.max_pool(x, {.kernel = 3, .stride = 2});
  // An adaptive pooling to the 6x6 that is there already: exported as a pooling of one element.
  x = b.flatten(b.average_pool(x, {.kernel = 1}));
  x = b.relu(b.gemm(x, 4096));
  x = b.relu(b.gemm(x, 4096));
  b.output("output", b.gemm(x, 1000));
  return b.finish();
}

}  // namespace attune::zoo
