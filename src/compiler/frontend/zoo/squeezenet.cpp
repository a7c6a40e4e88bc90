// SqueezeNet 1.1 (Iandola et al. 2016): layers that squeeze to few channels and expand again.
#include "compiler/frontend/zoo/builder.h"
#include "compiler/frontend/zoo/models.h"

namespace attune::zoo {
namespace {

// Squeezes to few channels, then expands by 1x1 and 3x3 side by side.
Value fire(Builder& b, const Value& x, std::int64_t squeezed, std::int64_t expanded) {
  const Value narrow = b.relu(b.conv(x, {.channels = squeezed, .kernel = 1}));
  const Value one = b.relu(b.conv(narrow, {.channels = expanded, .kernel = 1}));
  const Value three = b.relu(b.conv(narrow, {.channels = expanded, .kernel = 3, .pad = 1}));
  return b.concat({one, three}, 1);
}

}  // namespace

::onnx::ModelProto squeezenet1_1() {
  Builder b("squeezenet1_1");
  const PoolOptions halve{.kernel = 3, .stride = 2, .ceil = true};
  Value x = b.input("input", {1, 3, 224, 224});
  x = b.relu(b.conv(x, {.channels = 64, .kernel = 3, .stride = 2}));
  x = b.max_pool(x, halve);
  x = fire(b, fire(b, x, 16, 64), 16, 64);
  x = b.max_pool(x, halve);
  x = fire(b, fire(b, x, 32, 128), 32, 128);
  x = b.max_pool(x, halve);
  x = fire(b, fire(b, x, 48, 192), 48, 192);
  x = fire(b, fire(b, x, 64, 256), 64, 256);
  x = b.relu(b.conv(x, {.channels = 1000, .kernel = 1}));
  b.output("output", b.flatten(b.global_average_pool(x)));
  return b.finish();
}

}  // namespace attune::zoo
