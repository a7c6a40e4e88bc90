#include "targets/c/codegen/kernel.h"

#include <gtest/gtest.h>

#include <thread>

#include "compiler/codegen/c_text/statement_kernels_testing.h"
#include "compiler/ir/interpret/interpret.h"
#include "compiler/ir/text/print.h"
#include "targets/c/codegen/compiled_c_testing.h"

namespace attune::c {
namespace {

using namespace ir;
using c_text::kCount;

// Runs every kernel by the interpreter and as C: with vectors, stopping at what C leaves undefined,
// and without.
void expect_agreement(const std::vector<Kernel>& kernels) {
  for (const std::string flags :
       {"-O0 -fsanitize=undefined -fsanitize-undefined-trap-on-error", "-O0 -DATTUNE_PORTABLE"}) {
    const CompiledC compiled(kernels, flags);
    for (std::size_t k = 0; k < kernels.size(); ++k) {
      std::vector<Array> arrays;
      for (const Buffer& buffer : kernels[k].params) {
        arrays.push_back(c_text::interesting(buffer->type, static_cast<int>(arrays.size()) * 7));
      }
      std::vector<Array> expected = arrays;
      const Status interpreted = interpret(kernels[k], expected);
      ASSERT_TRUE(interpreted.ok()) << interpreted.error().message << to_string(kernels[k]);
      const std::vector<Array> got = compiled.run(k, arrays);
      const Array &want = expected.back(), &have = got.back();
      for (std::int64_t i = 0; i < want.count(); ++i) {
        const bool same = want.type.is_float()
                              ? c_text::agree(want.type, want.real(i), have.real(i))
                              : want.integer(i) == have.integer(i);
        ASSERT_TRUE(same) << flags << "\n"
                          << to_string(kernels[k]) << "element " << i << " is " << have.real(i)
                          << ", not " << want.real(i) << " of " << arrays[0].real(i) << " and "
                          << arrays[1].real(i);
      }
    }
  }
}

TEST(PrintC, ArithmeticAndComparisons) { expect_agreement(c_text::arithmetic_kernels()); }
TEST(PrintC, DivisionRoundsDown) { expect_agreement(c_text::division_kernels()); }
TEST(PrintC, BitsAndShifts) { expect_agreement(c_text::bit_kernels()); }
TEST(PrintC, Functions) { expect_agreement(c_text::function_kernels()); }
TEST(PrintC, CastsAndBits) { expect_agreement(c_text::cast_kernels()); }
TEST(PrintC, TruthValues) { expect_agreement(c_text::truth_value_kernels()); }
TEST(PrintC, MemoryAccess) { expect_agreement(c_text::access_kernels()); }
TEST(PrintC, Statements) { expect_agreement(c_text::statement_kernels()); }

// Serial or by the caller's threads, with memory of each worker's own: the same result.
TEST(PrintC, ParallelLoops) {
  const Buffer a = make_buffer("a", kF32, {kCount}), out = make_buffer("out", kF32, {kCount});
  const Buffer own = make_buffer("own", kF32, {4}, Scope::Global);
  const Expr i = var("i"), j = var("j"), n = var("n");
  const Stmt body = allocate(
      own, block({for_loop("j", 0, 4, store(own, {j}, load(a, {i * Expr(4) + j}) + cast(kF32, n))),
                  for_loop("j", 0, 4, store(out, {i * Expr(4) + j}, load(own, {Expr(3) - j})))}));
  const Kernel sliced{
      "sliced", {a, out}, let("n", Expr(5), for_loop("i", 0, 12, body, LoopKind::Parallel)), 0};
  const Kernel plain{
      "plain",
      {a, out},
      for_loop("i", 1, kCount - 1, store(out, {i}, load(a, {i - Expr(1)})), LoopKind::Parallel),
      0};
  struct Parallel {
    void* pool;
    void (*run)(void*, std::int64_t, void (*)(void*, std::int64_t, std::int64_t, std::int32_t),
                void*);
  };
  const Parallel threads{nullptr, [](void*, std::int64_t count, auto task, void* closure) {
                           const std::int64_t half = count / 2;
                           std::thread other([&] { task(closure, 0, half, 1); });
                           task(closure, half, count, 0);
                           other.join();
                         }};
  const CompiledC compiled({sliced, plain}, "-O2", "cc", 3);
  for (const std::size_t k : {0u, 1u}) {
    std::vector<Array> expected{Array(kF32, {kCount}), Array(kF32, {kCount})};
    for (std::int64_t at = 0; at < kCount; ++at) expected[0].set_real(at, double(at * at));
    const std::vector<Array> arrays = expected;
    ASSERT_TRUE(interpret(k == 0 ? sliced : plain, expected).ok());
    EXPECT_EQ(compiled.run(k, arrays)[1].data, expected[1].data);
    EXPECT_EQ(compiled.run(k, arrays, &threads)[1].data, expected[1].data);
  }
}

TEST(PrintC, RefusesWhatIsNotLowered) {
  const Buffer out = make_buffer("out", kF32, {4});
  const Stmt body = store(out, {var("i")}, float_imm(0));
  const Kernel kernel{"k", {out}, for_loop("i", 0, 4, body, LoopKind::Vectorized), 0};
  const auto printed = print_kernel(kernel, {.prefix = "t"});
  ASSERT_FALSE(printed.ok());
  EXPECT_EQ(printed.error().message,
            "kernel 'k' cannot be written as C: loop 'i' is still marked vectorized or unrolled");
}

}  // namespace
}  // namespace attune::c
