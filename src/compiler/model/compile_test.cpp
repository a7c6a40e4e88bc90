// Small graphs compiled, run by the runtime and compared with the interpreter, operator by
// operator.
#include "compiler/model/compile.h"

#include <gtest/gtest.h>

#include <cmath>
#include <functional>

#include "base/rng.h"
#include "compiler/graph/builder.h"
#include "compiler/model/ahead.h"
#include "compiler/model/compile_model_testing.h"
#include "runtime/execution/executor.h"
#include "targets/kinds.h"

namespace attune::model {
namespace {

using graph::Builder;
using graph::ValueId;
using Ints = std::vector<std::int64_t>;

ops::ConstantPtr random_tensor(const Ints& shape, std::uint64_t seed) {
  Rng rng(seed);
  ir::Array array(ir::kF32, shape);
  for (std::int64_t i = 0; i < array.count(); ++i) array.set_real(i, 2 * rng.uniform() - 1);
  return ops::make_constant(std::move(array));
}

// Builds the same graph twice: on run-time inputs, and on constants, which the builder computes.
struct Case {
  std::vector<Ints> inputs;
  std::function<ValueId(Builder&, const std::vector<ValueId>&)> build;
};

void expect_same(const Case& test, int threads = 2, const ChooseSchedule& choose = {}) {
  graph::Folding options{.run_host = run_host_on_constants,
                         .run_kernel = {},
                         .largest_result = 1 << 24,
                         .most_steps = 1 << 26};
  Builder reference("reference", options);
  Builder builder("model", options);
  std::vector<ops::ConstantPtr> values;
  std::vector<ValueId> constants, inputs;
  for (std::size_t i = 0; i < test.inputs.size(); ++i) {
    values.push_back(random_tensor(test.inputs[i], 100 + i));
    constants.push_back(reference.constant(values.back()));
    inputs.push_back(builder.input("in" + std::to_string(i), values.back()->type));
  }
  const ops::ConstantPtr expected = reference.constant_of(test.build(reference, constants));
  ASSERT_NE(expected, nullptr);
  const ValueId output = test.build(builder, inputs);
  CompileOptions compile;
  target::Target target;
  target.threads = threads;
  compile.target = *targets::resolve(target);
  compile.choose = choose;
  auto model = compile_model(std::move(builder).finish({output}), compile);
  ASSERT_TRUE(model.ok()) << model.error().message;

  runtime::ArtifactContents contents{model->plan, model->weights.pieces(), {}};
  for (const auto& object : model->objects) contents.objects.emplace_back(object);
  auto bytes = runtime::artifact_bytes(contents);
  ASSERT_TRUE(bytes.ok()) << bytes.error().message;
  auto artifact = runtime::Artifact::from_memory(std::move(*bytes), "test");
  ASSERT_TRUE(artifact.ok()) << artifact.error().message;
  auto loaded = runtime::Model::from(std::move(*artifact));
  ASSERT_TRUE(loaded.ok()) << loaded.error().message;
  runtime::ThreadPool pool({.workers = threads});
  auto session = runtime::Session::create(*loaded, pool);
  ASSERT_TRUE(session.ok()) << session.error().message;
  std::vector<runtime::InputView> in;
  for (const auto& value : values) {
    in.push_back({value->bytes.data(), runtime::DType::F32, value->type.shape});
  }
  std::vector<float> result(static_cast<std::size_t>(expected->type.elements()));
  const runtime::OutputView out{result.data(), result.size() * sizeof(float)};
  const Status status = session->run(in, std::span(&out, 1));
  ASSERT_TRUE(status.ok()) << status.error().message;
  double largest = 0;
  for (std::size_t i = 0; i < result.size(); ++i) {
    largest = std::max(largest, std::abs(expected->real(static_cast<std::int64_t>(i))));
  }
  for (std::size_t i = 0; i < result.size(); ++i) {
    ASSERT_NEAR(result[i], expected->real(static_cast<std::int64_t>(i)), 2e-5 * largest + 1e-7)
        << "element " << i << " of " << result.size();
  }
}

ops::Attributes conv_attributes(std::int64_t kernel, std::int64_t stride, std::int64_t pad,
                                std::int64_t group = 1) {
  return {{"kernel_shape", Ints{kernel, kernel}},
          {"strides", Ints{stride, stride}},
          {"pads", Ints{pad, pad, pad, pad}},
          {"dilations", Ints{1, 1}},
          {"group", group}};
}

ValueId conv(Builder& b, ValueId data, std::int64_t channels, std::int64_t kernel) {
  const std::int64_t from = b.shape(data)[1];
  const ValueId weight = b.constant(random_tensor({channels, from, kernel, kernel}, 7));
  return *b.add("conv", {data, weight}, conv_attributes(kernel, 1, kernel / 2));
}

TEST(CompileModel, ConvolutionWithBiasAndResidual) {
  for (const std::int64_t channels : {16, 20, 48}) {
    expect_same(
        {{{1, channels, 14, 14}}, [&](Builder& b, const std::vector<ValueId>& in) {
           const ValueId weight = b.constant(random_tensor({channels, channels, 3, 3}, 1));
           const ValueId bias = b.constant(random_tensor({channels}, 2));
           const ValueId first = *b.add("conv", {in[0], weight, bias}, conv_attributes(3, 1, 1));
           const ValueId second = *b.add("conv", {first, weight}, conv_attributes(3, 1, 1));
           const ValueId sum = *b.add("add", {second, in[0]});
           return *b.add("mul", {sum, first});
         }});
  }
}

// A chain of blocks, each with its input added: one memory holds what they have in common, unless
// something reads the sum's operand later.
TEST(CompileModel, ResidualsAreAddedInPlace) {
  const auto build = [](Builder& b, const std::vector<ValueId>& in, bool read_later) {
    const ValueId start = conv(b, in[0], 32, 3);
    ValueId value = start;
    for (int i = 0; i < 3; ++i) {
      const ValueId inner = *b.add("relu", {conv(b, value, 32, 3)});
      value = *b.add("relu", {*b.add("add", {conv(b, inner, 32, 3), value})});
    }
    value = conv(b, value, 32, 1);
    return read_later ? *b.add("mul", {value, start}) : value;
  };
  std::vector<std::int64_t> bytes;
  for (const bool read_later : {false, true}) {
    const auto again = [&](Builder& b, const std::vector<ValueId>& in) {
      return build(b, in, read_later);
    };
    expect_same({{{1, 32, 12, 12}}, again});
    Builder builder("model");
    const ValueId input = builder.input("x", {ir::kF32, {1, 32, 12, 12}});
    CompileOptions compile;
    compile.target = *targets::resolve({});
    const ValueId output = again(builder, {input});
    const auto model = compile_model(std::move(builder).finish({output}), compile);
    ASSERT_TRUE(model.ok()) << model.error().message;
    bytes.push_back(model->plan.arena_bytes);
  }
  constexpr std::int64_t kValue = 32 * 12 * 12 * 4;
  EXPECT_LE(bytes[0], 2 * kValue) << "the operand, which becomes the sum, and what lies between";
  EXPECT_GE(bytes[1], 3 * kValue);
}

TEST(CompileModel, FirstLayerPoolAndDense) {
  expect_same({{{1, 3, 32, 32}}, [](Builder& b, const std::vector<ValueId>& in) {
                 const ValueId weight = b.constant(random_tensor({24, 3, 3, 3}, 1));
                 const ValueId conv = *b.add("conv", {in[0], weight}, conv_attributes(3, 2, 1));
                 const ValueId pooled = *b.add("global_average_pool", {conv});
                 return *b.add("reshape", {pooled}, {{"shape", Ints{1, 24}}});
               }});
}

TEST(CompileModel, DepthwiseAndGroups) {
  expect_same(
      {{{1, 32, 10, 10}}, [](Builder& b, const std::vector<ValueId>& in) {
         const ValueId depthwise = b.constant(random_tensor({32, 1, 3, 3}, 1));
         const ValueId grouped = b.constant(random_tensor({24, 8, 3, 3}, 2));
         const ValueId first = *b.add("conv", {in[0], depthwise}, conv_attributes(3, 1, 1, 32));
         return *b.add("conv", {first, grouped}, conv_attributes(3, 2, 1, 4));
       }});
}

TEST(CompileModel, ConcatenatesBlockedChannels) {
  expect_same({{{1, 16, 8, 8}, {1, 20, 8, 8}}, [](Builder& b, const std::vector<ValueId>& in) {
                 const ValueId w0 = b.constant(random_tensor({16, 16, 1, 1}, 1));
                 const ValueId w1 = b.constant(random_tensor({40, 20, 1, 1}, 2));
                 const ValueId left = *b.add("conv", {in[0], w0}, conv_attributes(1, 1, 0));
                 const ValueId right = *b.add("conv", {in[1], w1}, conv_attributes(1, 1, 0));
                 const auto both = b.add_node("concat", {left, right}, {{"axis", std::int64_t{1}}});
                 const ValueId w2 = b.constant(random_tensor({8, 56, 1, 1}, 3));
                 return *b.add("conv", {both->front(), w2}, conv_attributes(1, 1, 0));
               }});
}

TEST(CompileModel, ConcatenatesInPlace) {
  expect_same(
      {{{1, 16, 8, 8}}, [](Builder& b, const std::vector<ValueId>& in) {
         const auto layer = [&](ValueId x, std::int64_t channels, std::uint64_t seed) {
           const ValueId w = b.constant(random_tensor({32, channels, 1, 1}, seed));
           return *b.add("conv", {x, w}, conv_attributes(1, 1, 0));
         };
         const ops::Attributes channels{{"axis", std::int64_t{1}}};
         const ValueId first = layer(in[0], 16, 1);
         const ValueId second = layer(first, 32, 2);
         const ValueId two = *b.add("concat", {first, second}, channels);
         const ValueId third = layer(two, 64, 3);
         const ValueId three = *b.add("concat", {first, second, third}, channels);
         const ValueId fourth = layer(three, 96, 4);
         const ValueId four = *b.add("concat", {first, second, third, fourth, in[0]}, channels);
         const ops::Attributes middle{{"starts", Ints{0, 32, 0, 0}},
                                      {"steps", Ints{1, 1, 1, 1}},
                                      {"shape", Ints{1, 64, 8, 8}}};
         return layer(*b.add("slice", {four}, middle), 64, 5);
       }});
}

TEST(CompileModel, BlocksOfDifferentSizesMeet) {
  target::Target target;
  target.threads = 2;
  target = *targets::resolve(target);
  int narrow = 0;
  // As if narrow blocks were far better for 24 channels and far worse for all others.
  const ChooseSchedule choose = [&](const graph::Task& task) {
    Schedule schedule = default_schedule(task, target, {});
    const ir::Buffer& output = task.op.program.outputs[0];
    if (output->shape.size() != 5) return schedule;
    const bool is_narrow = output->shape[4] != target.lanes(4);
    const bool wants = output->shape[1] * output->shape[4] < 48;
    narrow += is_narrow && wants;
    schedule.measured_us = is_narrow == wants ? 1 : 1000;
    return schedule;
  };
  expect_same({{{1, 48, 6, 6}},
               [](Builder& b, const std::vector<ValueId>& in) {
                 const ValueId wide = conv(b, in[0], 48, 3);
                 const ValueId narrow_one = conv(b, wide, 24, 1);
                 const ValueId sum = *b.add("add", {narrow_one, conv(b, narrow_one, 24, 3)});
                 return conv(b, sum, 48, 1);
               }},
              2, choose);
  EXPECT_GT(narrow, 0);
}

TEST(CompileModel, BroadcastsInChains) {
  expect_same({{{2, 3, 5, 7}, {5, 1}, {3, 1, 1}}, [](Builder& b, const std::vector<ValueId>& in) {
                 const ValueId sum = *b.add("add", {in[0], in[1]});
                 const ValueId product = *b.add("mul", {sum, in[2]});
                 return *b.add("sub", {product, in[0]});
               }});
}

// Heads are read where they lie: few rows without panels, many with panels packed on the way.
TEST(CompileModel, AttentionReadsHeadsInPlace) {
  for (const std::int64_t rows : {5, 100}) {
    const auto build = [&](Builder& b, const std::vector<ValueId>& in) {
      const auto heads = [&](std::int64_t number, const Ints& perm) {
        const ValueId part = *b.add("slice", {in[0]},
                                    {{"starts", Ints{0, 0, number * 24}},
                                     {"steps", Ints{1, 1, 1}},
                                     {"shape", Ints{1, rows, 24}}});
        const ValueId apart = *b.add("reshape", {part}, {{"shape", Ints{1, rows, 3, 8}}});
        return *b.add("transpose", {apart}, {{"perm", perm}});
      };
      const ValueId scores = *b.add("matmul", {heads(0, {0, 2, 1, 3}), heads(1, {0, 2, 3, 1})});
      const ValueId weights = *b.add("softmax", {scores}, {{"axis", std::int64_t{3}}});
      return *b.add("matmul", {weights, heads(2, {0, 2, 1, 3})});
    };
    expect_same({{{1, rows, 72}}, build});
  }
}

// Large products take Strassen's seven products, also with rows and sums that do not divide.
TEST(CompileModel, LargeProductsWithEpilogues) {
  for (const int threads : {1, 2}) {
    expect_same({{{70, 150}, {70, 160}},
                 [](Builder& b, const std::vector<ValueId>& in) {
                   const ValueId weight = b.constant(random_tensor({150, 160}, 3));
                   const ValueId bias = b.constant(random_tensor({160}, 4));
                   const ValueId product = *b.add("matmul", {in[0], weight});
                   const ValueId sum = *b.add("add", {product, bias});
                   return *b.add("relu", {*b.add("add", {sum, in[1]})});
                 }},
                threads);
  }
}

// A convolution and the depthwise one behind it are one kernel: with and without stride, with
// channels that do not fill their blocks, with sums in parts, behind a first layer, and beside
// others that read the same.
TEST(CompileModel, ChainsOfConvolutions) {
  struct Sizes {
    std::int64_t from, channels, kernel, stride, size;
  };
  for (const Sizes& c : {Sizes{16, 48, 3, 1, 12}, Sizes{24, 40, 3, 2, 15}, Sizes{260, 32, 5, 1, 7},
                         Sizes{3, 24, 3, 1, 9}}) {
    for (const int threads : {1, 2}) {
      expect_same({{{1, c.from, c.size, c.size}},
                   [&](Builder& b, const std::vector<ValueId>& in) {
                     const auto channels = c.channels;
                     const ValueId wide = b.constant(random_tensor({channels, c.from, 1, 1}, 1));
                     const ValueId bias = b.constant(random_tensor({channels}, 2));
                     const ValueId filters =
                         b.constant(random_tensor({channels, 1, c.kernel, c.kernel}, 3));
                     const ValueId first = *b.add(
                         "relu", {*b.add("conv", {in[0], wide, bias}, conv_attributes(1, 1, 0))});
                     const ValueId second =
                         *b.add("conv", {first, filters, bias},
                                conv_attributes(c.kernel, c.stride, c.kernel / 2, channels));
                     return *b.add("relu", {second});
                   }},
                  threads);
    }
  }
}

TEST(CompileModel, ConvolutionsOfOneTapBySevenProducts) {
  for (const std::int64_t size : {7, 8}) {
    for (const int threads : {1, 2}) {
      expect_same({{{1, 64, size, size}, {1, 96, size, size}},
                   [&](Builder& b, const std::vector<ValueId>& in) {
                     const ValueId weight = b.constant(random_tensor({96, 64, 1, 1}, 1));
                     const ValueId bias = b.constant(random_tensor({96}, 2));
                     const ValueId product =
                         *b.add("conv", {in[0], weight, bias}, conv_attributes(1, 1, 0));
                     return *b.add("relu", {*b.add("add", {product, in[1]})});
                   }},
                  threads);
    }
  }
}

TEST(CompileModel, MovesElements) {
  expect_same({{{2, 3, 8}}, [](Builder& b, const std::vector<ValueId>& in) {
                 const ValueId turned = *b.add("transpose", {in[0]}, {{"perm", Ints{2, 0, 1}}});
                 const ValueId flat = *b.add("reshape", {turned}, {{"shape", Ints{4, 12}}});
                 return *b.add("add", {flat, flat});
               }});
}

}  // namespace
}  // namespace attune::model
