// Copies that run ahead of those who read them: what loops become, and that they still compute the
// same.
#include <gtest/gtest.h>

#include "compiler/ir/interpret/interpret.h"
#include "compiler/ir/interpret/launches.h"
#include "compiler/lower/launches/lowered_testing.h"

namespace attune::lower {
namespace {

std::size_t count(const std::string& text, const std::string& part) {
  std::size_t found = 0;
  for (auto at = text.find(part); at != std::string::npos; at = text.find(part, at + 1)) ++found;
  return found;
}

// Every kernel computes what its program means, with nothing to be found.
void expect_same(const std::string& program, const std::string& trace) {
  const ir::Program parsed = ir::parse_program(program).value();
  const auto kernel = lowered(program, trace);
  ASSERT_TRUE(kernel.ok()) << kernel.error().message;
  std::vector<ir::Array> inputs, arrays;
  for (const ir::Input& input : parsed.inputs) {
    inputs.emplace_back(input.buffer->type, input.buffer->shape);
    for (std::int64_t i = 0; i < inputs.back().count(); ++i) {
      inputs.back().set_real(i, static_cast<double>((i * 7 + 3) % 13) - 6);
    }
    arrays.push_back(inputs.back());
    arrays.back().shape = {arrays.back().count()};
  }
  const auto expected = ir::interpret(parsed, inputs);
  ASSERT_TRUE(expected.ok());
  arrays.emplace_back((*expected)[0].type, std::vector<std::int64_t>{(*expected)[0].count()});
  const auto findings = ir::run_launches(*kernel, arrays, static_cast<int>(inputs.size()));
  ASSERT_TRUE(findings.ok()) << findings.error().message << ir::to_string(*kernel);
  ASSERT_TRUE(findings->empty()) << to_string(findings->front().kind) << ": "
                                 << findings->front().text << "\n"
                                 << ir::to_string(*kernel);
  for (std::int64_t i = 0; i < arrays.back().count(); ++i) {
    ASSERT_EQ(arrays.back().real(i), (*expected)[0].real(i)) << i << ir::to_string(*kernel);
  }
}

constexpr const char* kRow = R"(program row {
  input x: f32[64]
  stage 'output'(i: 4) = sum(k: 16) x[k * 4 + i]
  output 'output'
}
)";
const std::string kRowTrace = R"(bind output i thread.x
split output k 4
cache_read x output
compute_at cache.x output k.0
set_scope cache.x shared
split cache.x i0 4
bind cache.x i0.0 thread.x
)";

TEST(Pipeline, CopiesRunAhead) {
  EXPECT_EQ(text_of(kRow, kRowTrace + "vectorize cache.x i0.1\npipeline cache.x 3"),
            R"(kernel row(x: f32[64], 'output': f32[4]) {
  bound for output_thread_x in 4 on thread.x {
    'output'[output_thread_x] = 0.0f32
    alloc cache.x: f32[48] shared {
      for output_k_0_ahead in 2 {
        eval @async_copy<i32>(cache.x[output_k_0_ahead * 16 + output_thread_x * 4], x[output_k_0_ahead * 16 + output_thread_x * 4], 4, true)
        eval @async_commit<i32>()
      }
      for output_k_0 in 4 {
        eval @async_wait<i32>(1)
        barrier shared
        if (output_k_0 < 2) {
          eval @async_copy<i32>(cache.x[(output_k_0 + 2) % 3 * 16 + output_thread_x * 4], x[output_k_0 * 16 + output_thread_x * 4 + 32], 4, true)
        }
        eval @async_commit<i32>()
        for output_k_1 in 4 {
          'output'[output_thread_x] = 'output'[output_thread_x] + cache.x[output_k_0 % 3 * 16 + output_k_1 * 4 + output_thread_x]
        }
      }
    }
  }
}
)");
}

TEST(Pipeline, EveryNumberOfBuffersComputesTheSame) {
  for (int buffers = 2; buffers <= 8; ++buffers) {
    const std::string step = "pipeline cache.x " + std::to_string(buffers);
    expect_same(kRow, kRowTrace + step);
    expect_same(kRow, kRowTrace + "vectorize cache.x i0.1\n" + step);
    EXPECT_EQ(count(text_of(kRow, kRowTrace + step), "barrier"), 1u);
  }
}

// Rows of 6 elements of 4 bytes: pairs are aligned, fours are not.
TEST(Pipeline, AccessesAreAsWideAsAlignmentAllows) {
  const std::string wide = kRowTrace + "vectorize cache.x i0.1\n";
  EXPECT_NE(text_of(kRow, wide + "layout cache.x i0/4 i0%4\nstorage_align cache.x 8 6\n"
                                 "pipeline cache.x 2")
                .find(", 2, true)"),
            std::string::npos);
  expect_same(kRow, wide +
                        "layout cache.x i0/4 i0%4\nstorage_align cache.x 8 6\n"
                        "pipeline cache.x 2");
  // An odd distance between rows leaves single elements.
  const std::string odd =
      wide + "layout cache.x i0/4 i0%4\nstorage_align cache.x 8 5\npipeline cache.x 2";
  EXPECT_NE(text_of(kRow, odd).find(", 1, true)"), std::string::npos) << text_of(kRow, odd);
  expect_same(kRow, odd);
}

constexpr const char* kHalves = R"(program halves {
  input x: f16[64]
  stage 'output'(i: 4) = sum(k: 16) cast<f32>(x[k * 4 + i])
  output 'output'
}
)";

// Elements of 2 bytes are copied in pairs at least; alone they go through registers.
TEST(Pipeline, NarrowElementsGoInPairsOrThroughRegisters) {
  const std::string pairs = kRowTrace + "vectorize cache.x i0.1\npipeline cache.x 3";
  EXPECT_EQ(count(text_of(kHalves, pairs), "@async_copy"), 2u) << text_of(kHalves, pairs);
  expect_same(kHalves, pairs);
  const std::string alone = kRowTrace + "pipeline cache.x 3";
  const std::string text = text_of(kHalves, alone);
  EXPECT_EQ(count(text, "@async"), 0u) << text;
  EXPECT_NE(text.find("alloc cache.x.ahead: f16[4] register"), std::string::npos) << text;
  EXPECT_EQ(count(text, "barrier"), 1u) << text;
  expect_same(kHalves, alone);
}

constexpr const char* kPadded = R"(program padded {
  input x: f32[60]
  stage pad(i: 64) = select(i >= 2 && i < 62, x[i - 2], 0.0f32)
  stage 'output'(i: 4) = sum(k: 16) pad[k * 4 + i]
  output 'output'
}
)";
const std::string kPaddedTrace = R"(bind output i thread.x
split output k 4
compute_at pad output k.0
set_scope pad shared
split pad i 4
bind pad i.0 thread.x
)";

// Zeros of a padding are written by the copies themselves.
TEST(Pipeline, PaddingIsFilledWithZeros) {
  for (const char* more : {"", "vectorize pad i.1\n"}) {
    const std::string trace = kPaddedTrace + more + "pipeline pad 3";
    const std::string text = text_of(kPadded, trace);
    EXPECT_GE(count(text, "@async_copy"), 2u) << text;
    EXPECT_EQ(count(text, "register"), 0u) << text;
    expect_same(kPadded, trace);
  }
  // The source begins two elements further: pairs are aligned, and no pair is half a padding.
  const std::string text = text_of(kPadded, kPaddedTrace + "vectorize pad i.1\npipeline pad 3");
  EXPECT_NE(text.find("- 2], 2, "), std::string::npos) << text;
}

constexpr const char* kScaled = R"(program scaled {
  input x: f32[64]
  input w: f32[64]
  stage twice(i: 64) = x[i] * 2.0f32
  stage 'output'(i: 4) = sum(k: 16) twice[k * 4 + i] * w[k * 4 + i]
  output 'output'
}
)";
const std::string kScaledTrace = R"(bind output i thread.x
split output k 4
compute_at twice output k.0
set_scope twice shared
split twice i 4
bind twice i.0 thread.x
cache_read w output
compute_at cache.w output k.0
set_scope cache.w shared
split cache.w i0 4
bind cache.w i0.0 thread.x
)";

// What is computed on the way goes through registers, beside copies that need none; and what is
// not pipelined keeps its own barrier.
TEST(Pipeline, FormsStandSideBySide) {
  const std::string both = kScaledTrace + "pipeline twice 3\npipeline cache.w 3";
  const std::string text = text_of(kScaled, both);
  EXPECT_EQ(count(text, "@async_copy"), 2u) << text;
  EXPECT_EQ(count(text, "barrier"), 1u) << text;
  EXPECT_NE(text.find("twice.ahead"), std::string::npos) << text;
  expect_same(kScaled, both);
  for (const char* one : {"pipeline twice 2", "pipeline cache.w 2"}) {
    EXPECT_EQ(count(text_of(kScaled, kScaledTrace + one), "barrier"), 2u);
    expect_same(kScaled, kScaledTrace + one);
  }
}

// A loop around the pipeline fills the first buffers again: not before all have read them.
TEST(Pipeline, BeginsAgainBehindABarrier) {
  const std::string trace = R"(bind output i thread.x
split output k 8 2
cache_read x output
compute_at cache.x output k.1
set_scope cache.x shared
split cache.x i0 2
bind cache.x i0.0 thread.x
pipeline cache.x 2
)";
  EXPECT_EQ(count(text_of(kRow, trace), "barrier"), 2u) << text_of(kRow, trace);
  expect_same(kRow, trace);
}

// Initial values of sums are stored by loops of the same names, without copies.
TEST(Pipeline, StandsInsideOfTheReduction) {
  const std::string trace = R"(cache_write output
split output i 2
bind output i.0 thread.x
compute_at cache.output output i.0
reorder cache.output k i
cache_read x cache.output
compute_at cache.x cache.output i
set_scope cache.x shared
pipeline cache.x 2
)";
  expect_same(kRow, trace);
}

TEST(Pipeline, BuffersCountAsSharedMemory) {
  for (int buffers = 2; buffers <= 4; ++buffers) {
    const auto kernel = lowered(kRow, kRowTrace + "pipeline cache.x " + std::to_string(buffers));
    EXPECT_EQ(ir::launches_of(*kernel)[0].shared_bytes, 64 * buffers);
  }
}

}  // namespace
}  // namespace attune::lower
