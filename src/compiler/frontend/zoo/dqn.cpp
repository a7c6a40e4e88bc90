// The deep Q-network of Mnih et al. 2015: four frames of a game in, the value of 18 actions out.
#include "compiler/frontend/zoo/builder.h"
#include "compiler/frontend/zoo/models.h"

namespace attune::zoo {

::onnx::ModelProto dqn() {
  Builder b("dqn");
  Value x = b.input("input", {1, 4, 84, 84});
  x = b.relu(b.conv(x, {.channels = 32, .kernel = 8, .stride = 4}));
  x = b.relu(b.conv(x, {.channels = 64, .kernel = 4, .stride = 2}));
  x = b.relu(b.conv(x, {.channels = 64, .kernel = 3}));
  x = b.relu(b.gemm(b.flatten(x), 512));
  b.output("output", b.gemm(x, 18));
  return b.finish();
}

}  // namespace attune::zoo
