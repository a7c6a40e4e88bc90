// ResNet (He et al. 2015) of 18 and 50 layers; batch normalisation is folded into the convolutions.
#include "compiler/frontend/zoo/builder.h"
#include "compiler/frontend/zoo/models.h"

namespace attune::zoo {
namespace {

// Residual branches add up over the blocks, so each adds little.
constexpr double kBranchGain = 0.2;

Value shortcut(Builder& b, const Value& x, std::int64_t channels, std::int64_t stride) {
  if (x.shape[1] == channels && stride == 1) return x;
  return b.conv(x, {.channels = channels, .kernel = 1, .stride = stride, .gain = 1});
}

// Two 3x3 convolutions.
Value basic_block(Builder& b, const Value& x, std::int64_t width, std::int64_t stride) {
  Value y = b.relu(b.conv(x, {.channels = width, .kernel = 3, .stride = stride, .pad = 1}));
  y = b.conv(y, {.channels = width, .kernel = 3, .pad = 1, .gain = kBranchGain});
  return b.relu(b.add(y, shortcut(b, x, width, stride)));
}

// A 3x3 convolution between two 1x1 ones; the stride is in the middle, as in torchvision.
Value bottleneck(Builder& b, const Value& x, std::int64_t width, std::int64_t stride) {
  Value y = b.relu(b.conv(x, {.channels = width, .kernel = 1}));
  y = b.relu(b.conv(y, {.channels = width, .kernel = 3, .stride = stride, .pad = 1}));
  y = b.conv(y, {.channels = 4 * width, .kernel = 1, .gain = kBranchGain});
  return b.relu(b.add(y, shortcut(b, x, 4 * width, stride)));
}

using Block = Value (*)(Builder&, const Value&, std::int64_t width, std::int64_t stride);

::onnx::ModelProto resnet(const std::string& name, Block block, const std::vector<int>& blocks) {
  Builder b(name);
  Value x = b.input("input", {1, 3, 224, 224});
  x = b.relu(b.conv(x, {.channels = 64, .kernel = 7, .stride = 2, .pad = 3}));
  x = b.max_pool(x, {.kernel = 3, .stride = 2, .pad = 1});
  std::int64_t width = 64;
  for (std::size_t stage = 0; stage < blocks.size(); ++stage, width *= 2) {
    for (int i = 0; i < blocks[stage]; ++i) {
      x = block(b, x, width, stage > 0 && i == 0 ? 2 : 1);
    }
  }
  x = b.flatten(b.global_average_pool(x));
  b.output("output", b.gemm(x, 1000));
  return b.finish();
}

}  // namespace

::onnx::ModelProto resnet18() { return resnet("resnet18", basic_block, {2, 2, 2, 2}); }
::onnx::ModelProto resnet50() { return resnet("resnet50", bottleneck, {3, 4, 6, 3}); }

}  // namespace attune::zoo
