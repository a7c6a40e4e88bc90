#include "compiler/ir/tensor_intrinsics/tensor_intrinsic.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <map>

#include "compiler/ir/nodes/intrinsics.h"
#include "compiler/ir/nodes/rewrite.h"
#include "compiler/ir/text/parse.h"

namespace attune::ir {
namespace {

TEST(TensorIntrinsics, AreDeclaredInFull) {
  for (const TensorIntrinsic& intrinsic : tensor_intrinsics()) {
    const Program program = intrinsic.program();
    EXPECT_TRUE(verify(program).ok()) << intrinsic.name;
    ASSERT_EQ(program.stages.size(), 1u);
    ASSERT_EQ(intrinsic.operands.size(), 1 + program.inputs.size());
    EXPECT_EQ(intrinsic.operands[0].name, program.stages[0].name);
    int arguments = 1 + static_cast<int>(program.stages[0].axes.size());
    for (std::size_t i = 0; i < program.inputs.size(); ++i) {
      EXPECT_EQ(intrinsic.operands[i + 1].name, program.inputs[i].buffer->name);
      arguments += 1 + static_cast<int>(program.inputs[i].buffer->shape.size());
      arguments += intrinsic.warp ? 1 : 0;
    }
    arguments += intrinsic.rounding.empty() ? 0 : 1;
    EXPECT_GT(intrinsic.cycles, 0);
    const IntrinsicDecl* declared = find_intrinsic(intrinsic.name);
    ASSERT_NE(declared, nullptr) << intrinsic.name;
    EXPECT_EQ(declared->arg_count, arguments);
    EXPECT_EQ(declared->written_args, 1);
  }
}

// An element is seen through its rounding; loads of other types are none, whatever they are in.
TEST(TensorIntrinsics, RoundingsAreOfTheirOwnType) {
  const Expr single = load(make_buffer("single", kF32, {4}), {Expr(0)});
  const Expr half = load(make_buffer("half", kF16, {4}), {Expr(0)});
  const Expr gathered =
      load(make_buffer("single", kF32, {4}), {load(make_buffer("places", kI64, {4}), {Expr(0)})});
  int rounding = 0;
  for (const TensorIntrinsic& intrinsic : tensor_intrinsics()) {
    EXPECT_FALSE(intrinsic.before_rounding(half)) << intrinsic.name;
    EXPECT_FALSE(intrinsic.before_rounding(math(MathFn::Exp, {half}))) << intrinsic.name;
    EXPECT_FALSE(intrinsic.before_rounding(single)) << intrinsic.name;
    if (intrinsic.rounding.empty()) continue;
    ++rounding;
    const Expr of_x = parse_expr(intrinsic.rounding).value();
    for (const Expr& element : {single, gathered}) {
      const Expr found = intrinsic.before_rounding(substitute(of_x, {{"x", element}}));
      ASSERT_TRUE(found) << intrinsic.name;
      EXPECT_TRUE(equal(found, element)) << intrinsic.name;
    }
  }
  EXPECT_GT(rounding, 0);
}

// Every element of a warp's tile is loaded by one lane, and every result held by the lane that
// computes it.
TEST(TensorIntrinsics, FragmentsCoverTheTile) {
  for (const TensorIntrinsic& intrinsic : tensor_intrinsics()) {
    if (!intrinsic.warp) continue;
    const WarpForm& warp = *intrinsic.warp;
    const Program program = intrinsic.program();
    ASSERT_EQ(warp.fragments.size(), intrinsic.operands.size());
    for (std::size_t i = 0; i < warp.fragments.size(); ++i) {
      const Buffer& buffer = i == 0 ? program.stages[0].outputs[0] : program.inputs[i - 1].buffer;
      std::map<std::vector<std::int64_t>, int> loaded;
      const auto places = fragment_places(warp.fragments[i], warp.lanes);
      for (std::size_t lane = 0; lane < places.size(); ++lane) {
        for (const FragmentPlace& place : places[lane]) {
          std::vector<std::int64_t> element = place.index;
          element.push_back(i == 0 ? static_cast<std::int64_t>(lane) : place.step);
          ++loaded[element];
          for (std::size_t d = 0; d < place.index.size(); ++d) {
            EXPECT_GE(place.index[d], 0);
            EXPECT_LT(place.index[d], buffer->shape[d]);
          }
        }
      }
      const auto own = own_steps(warp.fragments[i], warp.lanes);
      const std::int64_t steps =
          i == 0 ? warp.lanes : *std::max_element(own.begin(), own.end()) + 1;
      EXPECT_EQ(std::ssize(loaded), steps * element_count(*buffer)) << intrinsic.name << " " << i;
      for (const auto& [element, times] : loaded) EXPECT_EQ(times, 1);
    }
  }
}

// The tables against the layouts of the PTX manual ("Matrix fragments for mma.m16n8k16" and
// "… mma.m16n8k8"), rows and terms renumbered as the declarations say.
TEST(TensorIntrinsics, FragmentsAreThoseOfTheInstruction) {
  const auto row = [](std::int64_t step, std::int64_t i) { return step + 8 * i; };
  for (const TensorIntrinsic& intrinsic :
       {mma_16x8x16_f16(), mma_16x8x16_bf16(), mma_16x8x32_f16(), mma_16x8x32_bf16()}) {
    const auto a = fragment_places(intrinsic.warp->fragments[1], 32);
    const auto b = fragment_places(intrinsic.warp->fragments[2], 32);
    const int count = intrinsic.warp->instructions;
    // Of a number of terms, which instruction has it and as which of its own.
    const auto of = [&](std::int64_t k) { return k % (4 * count) / 4; };
    const auto term = [&](std::int64_t k) { return k / (4 * count) * 2 + k / 2 % 2 * 8 + k % 2; };
    for (int lane = 0; lane < 32; ++lane) {
      const int group = lane / 4, thread = lane % 4;
      for (int n = 0; n < 8 * count; ++n) {
        const int e = n % 8;
        const FragmentPlace& at = a[static_cast<std::size_t>(lane)][static_cast<std::size_t>(n)];
        EXPECT_EQ(row(at.step, at.index[0]), (e < 2 || (e >= 4 && e < 6)) ? group : group + 8);
        EXPECT_EQ(of(at.index[1]), n / 8);
        EXPECT_EQ(term(at.index[1]), thread * 2 + (e & 1) + (e >= 4 ? 8 : 0));
      }
      for (int n = 0; n < 4 * count; ++n) {
        const int e = n % 4;
        const FragmentPlace& at = b[static_cast<std::size_t>(lane)][static_cast<std::size_t>(n)];
        EXPECT_EQ(of(at.index[0]), n / 4);
        EXPECT_EQ(term(at.index[0]), thread * 2 + (e & 1) + (e >= 2 ? 8 : 0));
        EXPECT_EQ(at.step * 2 + at.index[1], group);
      }
    }
  }
  for (const TensorIntrinsic& tf32 : {mma_16x8x8_tf32(), mma_16x8x16_tf32()}) {
    const auto a = fragment_places(tf32.warp->fragments[1], 32);
    const auto b = fragment_places(tf32.warp->fragments[2], 32);
    const int count = tf32.warp->instructions;
    const auto of = [&](std::int64_t k) { return k % (2 * count) / 2; };
    const auto term = [&](std::int64_t k) { return k / (2 * count) + k % 2 * 4; };
    for (int lane = 0; lane < 32; ++lane) {
      const int group = lane / 4, thread = lane % 4;
      for (int n = 0; n < 4 * count; ++n) {
        const int e = n % 4;
        const FragmentPlace& at = a[static_cast<std::size_t>(lane)][static_cast<std::size_t>(n)];
        EXPECT_EQ(row(at.step, at.index[0]), (e == 0 || e == 2) ? group : group + 8);
        EXPECT_EQ(of(at.index[1]), n / 4);
        EXPECT_EQ(term(at.index[1]), e < 2 ? thread : thread + 4);
      }
      for (int n = 0; n < 2 * count; ++n) {
        const int e = n % 2;
        const FragmentPlace& at = b[static_cast<std::size_t>(lane)][static_cast<std::size_t>(n)];
        EXPECT_EQ(of(at.index[0]), n / 2);
        EXPECT_EQ(term(at.index[0]), thread + 4 * e);
        EXPECT_EQ(at.step * 2 + at.index[1], group);
      }
    }
  }
}

// Results of all of them: rows of the lane's step, columns two and two.
TEST(TensorIntrinsics, ResultsAreTheLanesOwn) {
  for (const TensorIntrinsic& intrinsic : tensor_intrinsics()) {
    if (!intrinsic.warp) continue;
    const auto c = fragment_places(intrinsic.warp->fragments[0], 32);
    const auto rows = own_steps(intrinsic.warp->fragments[1], 32);
    const auto columns = own_steps(intrinsic.warp->fragments[2], 32);
    for (std::size_t lane = 0; lane < 32; ++lane) {
      for (std::size_t e = 0; e < 4; ++e) {
        const auto group = static_cast<std::int64_t>(lane / 4);
        EXPECT_EQ(rows[lane] + 8 * c[lane][e].index[0], e < 2 ? group : group + 8);
        EXPECT_EQ(columns[lane] * 2 + c[lane][e].index[1],
                  static_cast<std::int64_t>(lane % 4 * 2 + e % 2));
      }
    }
  }
}

// The PTX manual's layout of accumulators of wgmma, and of matrices without a swizzle: rows of 16
// bytes, eight of which are one piece. Rows and columns of a tile are the instruction's when they
// are renumbered as declarations say.
TEST(TensorIntrinsics, WarpgroupsHoldAndReadWhatTheInstructionDoes) {
  for (const TensorIntrinsic& intrinsic : tensor_intrinsics()) {
    if (!intrinsic.warpgroup) continue;
    const WarpgroupForm& form = *intrinsic.warpgroup;
    const Program program = intrinsic.program();
    const auto names = dimension_names(program);
    const std::int64_t terms = program.inputs[0].buffer->shape[1];
    const std::int64_t columns = program.inputs[1].buffer->shape[1] * 4;
    const std::int64_t unit = 16 / program.inputs[0].buffer->type.element_bytes();
    const auto rows_at = own_steps(form.inputs[0], form.lanes);
    const auto columns_at = own_steps(form.inputs[1], form.lanes);
    const auto held = fragment_places(form.result, 1)[0];
    ASSERT_EQ(std::ssize(held), columns / 2);
    EXPECT_NE(form.instruction.find("m64n" + std::to_string(columns) + "k" + std::to_string(terms)),
              std::string::npos);
    const MatrixPlaces a(form.inputs[0], names[1]), b(form.inputs[1], names[2]);
    constexpr std::int64_t kLead = 100'000, kGroup = 1000;
    const auto place = [&](std::int64_t row, std::int64_t k) {
      return row / 8 * kGroup + row % 8 * unit + k / unit * kLead + k % unit;
    };
    for (std::size_t lane = 0; lane < 128; lane += 5) {
      const auto warp = static_cast<std::int64_t>(lane / 32);
      const auto at = static_cast<std::int64_t>(lane % 32);
      for (std::size_t e = 0; e < held.size(); e += 3) {
        const auto number = static_cast<std::int64_t>(e);
        const std::int64_t row = 16 * warp + at / 4 + (number / 2 % 2) * 8;
        const std::int64_t column = at % 4 * 2 + number / 4 * 8 + number % 2;
        for (const std::int64_t k : {std::int64_t{0}, unit - 1, unit, terms - 1}) {
          EXPECT_EQ(a.at(rows_at[lane], {held[e].index[0], k}, kLead, kGroup), place(row, k))
              << intrinsic.name;
          EXPECT_EQ(b.at(columns_at[lane], {k, held[e].index[1]}, kLead, kGroup), place(column, k))
              << intrinsic.name;
        }
      }
    }
  }
}

}  // namespace
}  // namespace attune::ir
