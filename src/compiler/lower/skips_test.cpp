// Loops that end early: what they leave out, what they keep, and that nothing is read that nobody
// wrote (which the interpreter refuses).
#include "compiler/lower/skips.h"

#include <fmt/format.h>
#include <gtest/gtest.h>

#include <cmath>

#include "compiler/ir/interpret/interpret.h"
#include "compiler/ir/text/parse.h"
#include "compiler/ir/text/print.h"
#include "compiler/lower/lower.h"
#include "compiler/schedule/trace.h"

namespace attune::lower {
namespace {

// Sums over the columns that a row sees, of something that is computed before.
std::string program_of(int rows, int columns, const std::string& seen) {
  return fmt::format(R"(program p {{
  input x: f32[{0}, {1}]
  input v: f32[{1}, 4]
  stage e(i: {0}, k: {1}) = select({2}, x[i, k] * 2.0f32, 0.0f32)
  stage anchor(i: {0}, j: 4) = sum(k: {1}) select({2}, e[i, k] * v[k, j], 0.0f32)
  stage 'output'(i: {0}, j: 4) = anchor[i, j] + 1.0f32
  output 'output'
}}
)",
                     rows, columns, seen);
}

// Rows in blocks, both stages within.
std::string trace_of(int block, int step, const std::string& notes) {
  return fmt::format(
      "split output i {}\ncompute_at anchor output i.0\nreorder anchor k i j\nunroll anchor i\n"
      "split anchor k {}\nunroll anchor k.1\nreorder anchor k.0 k.1 i j\n"
      "compute_at e output i.0\nreorder e k i\n{}",
      block, step, notes);
}

constexpr const char* kBoth = "annotate anchor * skip masked\nannotate e * skip masked\n";

Result<ir::Kernel> kernel_of(const std::string& program, const std::string& trace) {
  ATTUNE_ASSIGN(const schedule::Trace steps, schedule::parse_trace(trace));
  ATTUNE_ASSIGN(const ir::Program parsed, ir::parse_program(program));
  ATTUNE_ASSIGN(const schedule::State state, schedule::replay(parsed, steps));
  ATTUNE_ASSIGN(Lowered lowered, lower(state, {}));
  return std::move(lowered.main);
}

std::vector<ir::Array> inputs_of(const ir::Program& program) {
  std::vector<ir::Array> inputs;
  int number = 0;
  for (const ir::Input& input : program.inputs) {
    inputs.emplace_back(input.buffer->type, input.buffer->shape);
    for (std::int64_t i = 0; i < inputs.back().count(); ++i) {
      inputs.back().set_real(i, std::sin(0.7 * ++number));
    }
  }
  return inputs;
}

// The difference between the kernel and the program it was made of; empty when there is none.
std::string difference(const std::string& text, const std::string& trace) {
  const auto program = ir::parse_program(text);
  if (!program.ok()) return program.error().message;
  const auto kernel = kernel_of(text, trace);
  if (!kernel.ok()) return kernel.error().message;
  std::vector<ir::Array> buffers = inputs_of(*program);
  const auto wanted = ir::interpret(*program, buffers);
  if (!wanted.ok()) return wanted.error().message;
  const int initialised = static_cast<int>(buffers.size());
  ir::Array output((*wanted)[0].type, {(*wanted)[0].count()});
  for (ir::Array& buffer : buffers) buffer.shape = {buffer.count()};
  buffers.push_back(output);
  if (const Status run = ir::interpret(*kernel, buffers, initialised); !run.ok()) {
    return run.error().message;
  }
  for (std::int64_t i = 0; i < output.count(); ++i) {
    const double found = buffers.back().real(i), expected = (*wanted)[0].real(i);
    if (std::abs(found - expected) > 1e-5) return fmt::format("{}: {} {}", i, found, expected);
  }
  return "";
}

std::string text_of(const std::string& program, const std::string& trace) {
  const auto kernel = kernel_of(program, trace);
  return kernel.ok() ? ir::to_string(*kernel) : kernel.error().message;
}

TEST(Skips, LoopsEndBehindWhatTheLastRowOfABlockSees) {
  const std::string program = program_of(16, 16, "k <= i");
  const std::string text = text_of(program, trace_of(4, 1, kBoth));
  EXPECT_NE(text.find("for anchor_k_0 in output_i_0 * 4 + 4 {"), std::string::npos) << text;
  EXPECT_NE(text.find("for e_k in output_i_0 * 4 + 4 {"), std::string::npos) << text;
  EXPECT_EQ(text.find("if ("), std::string::npos) << text;
  EXPECT_EQ(difference(program, trace_of(4, 1, kBoth)), "");
}

// Otherwise every term asks for itself.
TEST(Skips, NothingIsLeftOutUnasked) {
  const std::string program = program_of(16, 16, "k <= i");
  const std::string text = text_of(program, trace_of(4, 1, ""));
  EXPECT_NE(text.find("for e_k in 15 from 1 {"), std::string::npos) << text;
  EXPECT_EQ(difference(program, trace_of(4, 1, "")), "");
}

// Who does not leave out itself reads everything, and needs it.
TEST(Skips, AReaderThatReadsEverythingKeepsEverything) {
  const std::string program = program_of(16, 16, "k <= i");
  const std::string text = text_of(program, trace_of(4, 1, "annotate e * skip masked\n"));
  EXPECT_NE(text.find("for e_k in 15 from 1 {"), std::string::npos) << text;
  EXPECT_EQ(difference(program, trace_of(4, 1, "annotate e * skip masked\n")), "");
}

TEST(Skips, AnySizesAndBands) {
  int wide = 0;
  for (const int rows : {1, 7, 16, 23}) {
    for (const int columns : {5, 16, 30}) {
      for (const int block : {1, 4, 6}) {
        for (const int step : {1, 3, 4}) {
          for (const char* seen : {"k <= i", "k <= i + 5", "i <= k + 3", "k <= i + 2 && i <= k + 4",
                                   "k + 9 <= i", "i + 8 <= k", "k + i <= 12", "2 * k <= i"}) {
            const std::string program = program_of(rows, columns, seen);
            EXPECT_EQ(difference(program, trace_of(block, step, kBoth)), "")
                << rows << "x" << columns << " " << block << " " << step << " " << seen;
            ++wide;
          }
        }
      }
    }
  }
  EXPECT_EQ(wide, 864);
}

// A condition that keeps reads inside of what they read stays, whatever e says.
TEST(Skips, ConditionsThatProtectReadsStay) {
  const std::string program = R"(program p {
  input x: f32[9, 9]
  input v: f32[9]
  stage e(i: 9, k: 9) = select(k <= i, x[i, k], 0.0f32)
  stage anchor(i: 9) = sum(k: 9) select(k <= i, e[i, k] * v[i - k], 0.0f32)
  stage 'output'(i: 9) = anchor[i] + 1.0f32
  output 'output'
}
)";
  const std::string trace =
      "split output i 3\ncompute_at anchor output i.0\nreorder anchor k i\nunroll anchor i\n"
      "compute_at e output i.0\nreorder e k i\n";
  EXPECT_EQ(difference(program, trace + kBoth), "");
}

// The condition of a sum that e does not share, and that of a maximum of zeros, say something.
TEST(Skips, ConditionsThatAreNotSharedStay) {
  for (const char* term : {"sum(k: 9) select(k <= i + 1, e[i, k], 0.0f32)",
                           "sum(k: 9) select(k + 1 <= i, e[i, k], 0.0f32)",
                           "max(k: 9) select(k <= i, e[i, k], -inf:f32)",
                           "sum(k: 9) select(k <= i, e[i, k] + 1.0f32, 0.0f32)"}) {
    const std::string program = fmt::format(R"(program p {{
  input x: f32[9, 9]
  stage e(i: 9, k: 9) = select(k <= i, x[i, k] - 3.0f32, 0.0f32)
  stage anchor(i: 9) = {}
  stage 'output'(i: 9) = anchor[i] + 1.0f32
  output 'output'
}}
)",
                                            term);
    const std::string trace =
        "split output i 3\ncompute_at anchor output i.0\nreorder anchor k i\nunroll anchor i\n"
        "compute_at e output i.0\nreorder e k i\n";
    EXPECT_EQ(difference(program, trace + kBoth), "") << term;
  }
}

// Loops in another order, and such as cannot end early.
TEST(Skips, LoopsThatCannotBeCutRunWhole) {
  const std::string program = program_of(16, 16, "k <= i");
  for (const char* steps :
       {"split output i 4\ncompute_at anchor output i.0\ncompute_at e output i.0\nunroll e k\n",
        "split output i 4\ncompute_at anchor output i.0\nsplit anchor k 4\nreorder anchor k.1 k.0 "
        "i "
        "j\ncompute_at e output i.0\n",
        "compute_at anchor output j\ncompute_at e anchor k\n",
        "compute_at anchor output i\ncompute_at e anchor j\n", ""}) {
    EXPECT_EQ(difference(program, std::string(steps) + kBoth), "") << steps;
  }
}

}  // namespace
}  // namespace attune::lower
