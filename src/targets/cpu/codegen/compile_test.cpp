#include <elf.h>
#include <gtest/gtest.h>

#include <cstring>

#include "compiler/ir/text/parse.h"
#include "targets/cpu/codegen/compiled_kernel_testing.h"

namespace attune::cpu {
namespace {

TEST(Compile, CompilesForAnotherArchitecture) {
  target::Target target;
  target.set(kTriple, "aarch64-linux-gnu");
  target.set(kCpu, "cortex-a72");
  target.threads = 4;
  const target::Target resolved = resolve(target).value();
  EXPECT_EQ(resolved.vector_bytes, 16);
  const auto kernel = elementwise(ir::kF32, ir::kF32, 64, 4,
                                  [](ir::Expr x) { return ir::math(ir::MathFn::Exp, {x}); });
  const auto compiled = compile(kernel, resolved);
  ASSERT_TRUE(compiled.ok()) << compiled.error().message;
  Elf64_Ehdr header;
  std::memcpy(&header, compiled->code.data(), sizeof header);
  EXPECT_EQ(header.e_machine, EM_AARCH64);
}

// LLVM ends the process when it cannot select an instruction.
TEST(Compile, CompilesForFeaturesThatTheNameDoesNotHave) {
  for (const auto& [cpu, features] : {std::pair{"haswell", "+avx512f"},
                                      {"haswell", "+avx512vl,+avx512bw"},
                                      {"haswell", "+avx10.1-256"},
                                      {"x86-64", "+avx512f"},
                                      {"skylake-avx512", "-evex512"},
                                      {"znver3", "-sse4.1"}}) {
    target::Target target;
    target.set(kTriple, "x86_64-linux-gnu");
    target.set(kCpu, cpu);
    target.set(kFeatures, features);
    const target::Target resolved = resolve(target).value();
    const auto kernel = elementwise(ir::kF32, ir::kF32, 64, resolved.lanes(4),
                                    [](ir::Expr x) { return ir::math(ir::MathFn::Exp, {x}); });
    EXPECT_TRUE(compile(kernel, resolved).ok()) << features;
  }
}

TEST(Compile, UnloweredKernelsAreRefused) {
  const auto y = ir::make_buffer("y", ir::kF32, {8});
  ir::Kernel kernel{"k",
                    {y},
                    ir::for_loop("i", 0, 8, ir::store(y, {ir::var("i")}, ir::float_imm(1)),
                                 ir::LoopKind::Vectorized)};
  const auto result = compile(kernel, host_target());
  ASSERT_FALSE(result.ok());
  EXPECT_EQ(result.error().message,
            "kernel 'k' is not lowered for a CPU: loop 'i' is still marked vectorized");
}

TEST(Compile, KernelsOfOtherDevicesAreRefused) {
  const auto kernel =
      ir::parse_kernel("kernel k(y: f32[8]) { bound for i in 8 on block.x { y[i] = 1.0f32 } }");
  const auto result = compile(kernel.value(), host_target());
  ASSERT_FALSE(result.ok());
  EXPECT_EQ(result.error().message,
            "kernel 'k' is not lowered for a CPU: loop 'i' is bound to 'block.x', which a CPU does "
            "not have");
  EXPECT_EQ(result.error().hint, "schedules for other kinds of targets do not fit");
}

TEST(Compile, EndlessUnrollingIsRefused) {
  const auto y = ir::make_buffer("y", ir::kF32, {1});
  const std::vector<ir::Stmt> many(20001, ir::store(y, {ir::Expr(0)}, ir::float_imm(1)));
  const auto result = compile(ir::Kernel{"k", {y}, ir::block(many)}, host_target());
  ASSERT_FALSE(result.ok());
  EXPECT_EQ(result.error().message,
            "kernel 'k' has 20001 stores after unrolling, at most 20000 are compiled");
}

TEST(Compile, WhatCannotBeLinkedSaysWhatToDo) {
  codegen::KernelObject object;
  object.bytes = {'n', 'o'};
  const auto result = code_generator.link(std::span(&object, 1));
  ASSERT_FALSE(result.ok());
  EXPECT_EQ(result.error().message.find("linking a kernel failed: ld.lld: error: "), 0u)
      << result.error().message;
  EXPECT_EQ(result.error().message.find('\n'), std::string::npos) << result.error().message;
  EXPECT_EQ(result.error().hint, "leave -mattr and -triple out of the target, or choose others");
}

TEST(Compile, UnresolvedTargetsAreRefused) {
  const auto y = ir::make_buffer("y", ir::kF32, {8});
  ir::Kernel kernel{"k", {y}, ir::store(y, {ir::Expr(0)}, ir::float_imm(1))};
  EXPECT_EQ(compile(kernel, target::Target{}).error().message, "target 'cpu' is not resolved");
}

}  // namespace
}  // namespace attune::cpu
