// MobileNetV2 (Sandler et al. 2018): inverted residuals around depthwise convolutions.
#include "compiler/frontend/zoo/builder.h"
#include "compiler/frontend/zoo/models.h"

namespace attune::zoo {
namespace {

// Widens by 1x1, filters each channel by 3x3, narrows by 1x1 without an activation.
Value inverted_residual(Builder& b, const Value& x, std::int64_t expansion, std::int64_t channels,
                        std::int64_t stride) {
  const std::int64_t width = x.shape[1] * expansion;
  Value y = x;
  if (expansion != 1) y = b.relu6(b.conv(y, {.channels = width, .kernel = 1}));
  y = b.relu6(
      b.conv(y, {.channels = width, .kernel = 3, .stride = stride, .pad = 1, .groups = width}));
  const bool residual = stride == 1 && x.shape[1] == channels;
  y = b.conv(y, {.channels = channels, .kernel = 1, .gain = residual ? 0.5 : 1.0});
  return residual ? b.add(x, y) : y;
}

}  // namespace

::onnx::ModelProto mobilenet_v2() {
  Builder b("mobilenet_v2");
  Value x = b.input("input", {1, 3, 224, 224});
  x = b.relu6(b.conv(x, {.channels = 32, .kernel = 3, .stride = 2, .pad = 1}));
  struct Stage {
    std::int64_t expansion, channels, blocks, stride;
  };
  for (const auto& [expansion, channels, blocks, stride] : {Stage{1, 16, 1, 1},
                                                            {6, 24, 2, 2},
                                                            {6, 32, 3, 2},
                                                            {6, 64, 4, 2},
                                                            {6, 96, 3, 1},
                                                            {6, 160, 3, 2},
                                                            {6, 320, 1, 1}}) {
    for (std::int64_t i = 0; i < blocks; ++i) {
      x = inverted_residual(b, x, expansion, channels, i == 0 ? stride : 1);
    }
  }
  x = b.relu6(b.conv(x, {.channels = 1280, .kernel = 1}));
  x = b.flatten(b.global_average_pool(x));
  b.output("output", b.gemm(x, 1000));
  return b.finish();
}

}  // namespace attune::zoo
