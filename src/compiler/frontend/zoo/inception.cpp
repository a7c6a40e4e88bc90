// Inception v3 (Szegedy et al. 2015), 299x299, without the auxiliary head that only training uses.
#include "compiler/frontend/zoo/builder.h"
#include "compiler/frontend/zoo/models.h"

namespace attune::zoo {
namespace {

// A convolution with its folded batch normalisation and ReLU.
Value unit(Builder& b, const Value& x, std::int64_t channels, Extent kernel,
           std::int64_t stride = 1, Extent pad = 0) {
  return b.relu(b.conv(x, {.channels = channels, .kernel = kernel, .stride = stride, .pad = pad}));
}

Value average(Builder& b, const Value& x) {
  return b.average_pool(x, {.kernel = 3, .stride = 1, .pad = 1});
}

// 5x5 and stacked 3x3 filters.
Value block_a(Builder& b, const Value& x, std::int64_t pooled) {
  const Value one = unit(b, x, 64, 1);
  const Value five = unit(b, unit(b, x, 48, 1), 64, 5, 1, 2);
  const Value three = unit(b, unit(b, unit(b, x, 64, 1), 96, 3, 1, 1), 96, 3, 1, 1);
  return b.concat({one, five, three, unit(b, average(b, x), pooled, 1)}, 1);
}

Value reduction_b(Builder& b, const Value& x) {
  const Value three = unit(b, x, 384, 3, 2);
  const Value stacked = unit(b, unit(b, unit(b, x, 64, 1), 96, 3, 1, 1), 96, 3, 2);
  return b.concat({three, stacked, b.max_pool(x, {.kernel = 3, .stride = 2})}, 1);
}

// 7x7 filters as rows and columns.
Value block_c(Builder& b, const Value& x, std::int64_t width) {
  const Extent row{1, 7}, row_pad{0, 3}, column{7, 1}, column_pad{3, 0};
  const Value one = unit(b, x, 192, 1);
  Value seven = unit(b, x, width, 1);
  seven = unit(b, seven, width, row, 1, row_pad);
  seven = unit(b, seven, 192, column, 1, column_pad);
  Value twice = unit(b, x, width, 1);
  twice = unit(b, twice, width, column, 1, column_pad);
  twice = unit(b, twice, width, row, 1, row_pad);
  twice = unit(b, twice, width, column, 1, column_pad);
  twice = unit(b, twice, 192, row, 1, row_pad);
  return b.concat({one, seven, twice, unit(b, average(b, x), 192, 1)}, 1);
}

Value reduction_d(Builder& b, const Value& x) {
  const Value three = unit(b, unit(b, x, 192, 1), 320, 3, 2);
  Value seven = unit(b, x, 192, 1);
  seven = unit(b, seven, 192, {1, 7}, 1, {0, 3});
  seven = unit(b, seven, 192, {7, 1}, 1, {3, 0});
  seven = unit(b, seven, 192, 3, 2);
  return b.concat({three, seven, b.max_pool(x, {.kernel = 3, .stride = 2})}, 1);
}

// 3x3 filters as a row and a column side by side.
Value split_three(Builder& b, const Value& x) {
  const Value row = unit(b, x, 384, {1, 3}, 1, {0, 1});
  const Value column = unit(b, x, 384, {3, 1}, 1, {1, 0});
  return b.concat({row, column}, 1);
}

Value block_e(Builder& b, const Value& x) {
  const Value one = unit(b, x, 320, 1);
  const Value three = split_three(b, unit(b, x, 384, 1));
  const Value stacked = split_three(b, unit(b, unit(b, x, 448, 1), 384, 3, 1, 1));
  return b.concat({one, three, stacked, unit(b, average(b, x), 192, 1)}, 1);
}

Value stem(Builder& b, Value x) {
  x = unit(b, x, 32, 3, 2);
  x = unit(b, x, 32, 3);
  x = unit(b, x, 64, 3, 1, 1);
  x = b.max_pool(x, {.kernel = 3, .stride = 2});
  x = unit(b, x, 80, 1);
  x = unit(b, x, 192, 3);
  return b.max_pool(x, {.kernel = 3, .stride = 2});
}

}  // namespace

::onnx::ModelProto inception_v3() {
  Builder b("inception_v3");
  Value x = stem(b, b.input("input", {1, 3, 299, 299}));
  for (const std::int64_t pooled : {32, 64, 64}) x = block_a(b, x, pooled);
  x = reduction_b(b, x);
  for (const std::int64_t width : {128, 160, 160, 192}) x = block_c(b, x, width);
  x = reduction_d(b, x);
  x = block_e(b, block_e(b, x));
  x = b.flatten(b.global_average_pool(x));
  b.output("output", b.gemm(x, 1000));
  return b.finish();
}

}  // namespace attune::zoo
