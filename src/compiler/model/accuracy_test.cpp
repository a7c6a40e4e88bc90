// Rounding errors of long sums, against double precision: one f32 accumulator over the whole sum
// would be several times as wrong.
#include <gtest/gtest.h>

#include <cmath>

#include "base/rng.h"
#include "compiler/graph/builder.h"
#include "compiler/model/compile_model_testing.h"
#include "runtime/execution/executor.h"
#include "targets/kinds.h"

namespace attune::model {
namespace {

using graph::Builder;
using graph::ValueId;
using Ints = std::vector<std::int64_t>;

// In [0, 1): the sums only grow, and with them the errors of each addition.
std::vector<float> numbers(std::int64_t count, std::uint64_t seed) {
  Rng rng(seed);
  std::vector<float> values(static_cast<std::size_t>(count));
  for (float& value : values) value = static_cast<float>(rng.uniform());
  return values;
}

ops::ConstantPtr constant(const Ints& shape, const std::vector<float>& values) {
  ir::Array array(ir::kF32, shape);
  for (std::int64_t i = 0; i < array.count(); ++i) {
    array.set_real(i, values[static_cast<std::size_t>(i)]);
  }
  return ops::make_constant(std::move(array));
}

ops::Attributes pointwise() {
  return {{"kernel_shape", Ints{1, 1}},
          {"strides", Ints{1, 1}},
          {"pads", Ints{0, 0, 0, 0}},
          {"dilations", Ints{1, 1}},
          {"group", std::int64_t{1}}};
}

// What the compiled graph gives for one input.
std::vector<float> run(Builder&& builder, ValueId output, const Ints& shape,
                       const std::vector<float>& input, std::size_t outputs) {
  CompileOptions options;
  target::Target target;
  target.threads = 1;
  options.target = *targets::resolve(target);
  options.algorithms = {"direct"};
  const auto model = compile_model(std::move(builder).finish({output}), options);
  EXPECT_TRUE(model.ok());
  EXPECT_TRUE(model->fallbacks.empty()) << summarize(model->fallbacks);
  runtime::ArtifactContents contents{model->plan, model->weights.pieces(), {}};
  for (const auto& object : model->objects) contents.objects.emplace_back(object);
  auto artifact = runtime::Artifact::from_memory(*runtime::artifact_bytes(contents), "test");
  auto loaded = runtime::Model::from(std::move(*artifact));
  EXPECT_TRUE(loaded.ok());
  runtime::ThreadPool pool({.workers = 1});
  auto session = runtime::Session::create(*loaded, pool);
  EXPECT_TRUE(session.ok());
  const runtime::InputView in{input.data(), runtime::DType::F32, shape};
  std::vector<float> result(outputs);
  const runtime::OutputView out{result.data(), result.size() * sizeof(float)};
  EXPECT_TRUE(session->run(std::span(&in, 1), std::span(&out, 1)).ok());
  return result;
}

// Root of the mean square of the relative errors.
double error(const std::vector<float>& found, const std::vector<double>& expected) {
  double sum = 0;
  for (std::size_t i = 0; i < found.size(); ++i) {
    const double relative = found[i] / expected[i] - 1;
    sum += relative * relative;
  }
  return std::sqrt(sum / static_cast<double>(found.size()));
}

// A product with m rows, as the matrix itself and as a convolution of one pixel per row.
void expect_accurate_product(std::int64_t m, bool as_convolution, double limit) {
  const std::int64_t k = 4096, n = 32;
  const auto x = numbers(m * k, 1), w = numbers(k * n, 2);
  Builder builder("model", {});
  std::vector<float> found;
  if (as_convolution) {
    const ValueId input = builder.input("x", {ir::kF32, {1, k, 1, m}});
    const ValueId weight = builder.constant(constant({n, k, 1, 1}, w));
    const ValueId output = *builder.add("conv", {input, weight}, pointwise());
    found = run(std::move(builder), output, {1, k, 1, m}, x, static_cast<std::size_t>(m * n));
  } else {
    const ValueId input = builder.input("x", {ir::kF32, {m, k}});
    const ValueId weight = builder.constant(constant({k, n}, w));
    const ValueId output = *builder.add("matmul", {input, weight});
    found = run(std::move(builder), output, {m, k}, x, static_cast<std::size_t>(m * n));
  }
  std::vector<double> expected;
  const auto at = [](const std::vector<float>& values, std::int64_t i) {
    return double{values[static_cast<std::size_t>(i)]};
  };
  const std::int64_t rows = as_convolution ? n : m, columns = as_convolution ? m : n;
  for (std::int64_t i = 0; i < rows; ++i) {
    for (std::int64_t j = 0; j < columns; ++j) {
      double sum = 0;
      for (std::int64_t l = 0; l < k; ++l) {
        sum += as_convolution ? at(w, i * k + l) * at(x, l * m + j)
                              : at(x, i * k + l) * at(w, l * n + j);
      }
      expected.push_back(sum);
    }
  }
  EXPECT_LT(error(found, expected), limit) << m << " rows";
}

TEST(Accuracy, OfMatrixProducts) {
  expect_accurate_product(1, false, 3e-7);
  expect_accurate_product(40, false, 3e-7);
}

TEST(Accuracy, OfConvolutions) { expect_accurate_product(20, true, 3e-7); }

TEST(Accuracy, OfAverages) {
  const std::int64_t channels = 32, size = 100;
  const Ints shape{1, channels, size, size};
  const auto x = numbers(channels * size * size, 1);
  Builder builder("model", {});
  const ValueId input = builder.input("x", {ir::kF32, shape});
  // A convolution that changes nothing, so that channels lie in blocks.
  std::vector<float> identity(channels * channels);
  for (std::size_t c = 0; c < channels; ++c) identity[c * (channels + 1)] = 1;
  const ValueId weight = builder.constant(constant({channels, channels, 1, 1}, identity));
  const ValueId same = *builder.add("conv", {input, weight}, pointwise());
  const ValueId output = *builder.add("global_average_pool", {same});
  const auto found = run(std::move(builder), output, shape, x, static_cast<std::size_t>(channels));
  std::vector<double> expected(static_cast<std::size_t>(channels));
  for (std::size_t i = 0; i < x.size(); ++i) {
    expected[i / (size * size)] += double{x[i]} / (size * size);
  }
  EXPECT_LT(error(found, expected), 3e-7);
}

}  // namespace
}  // namespace attune::model
