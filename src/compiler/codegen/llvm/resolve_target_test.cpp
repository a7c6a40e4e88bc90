#include <elf.h>
#include <gtest/gtest.h>

#include <cstring>

#include "compiler/codegen/llvm/compiled_kernel_testing.h"

namespace attune::codegen {
namespace {

TEST(ResolveTarget, FillsThisMachine) {
  const ir::Target target = resolve_target(ir::Target{}).value();
  EXPECT_FALSE(target.triple.empty());
  EXPECT_FALSE(target.cpu.empty());
  EXPECT_GE(target.threads, 1);
  EXPECT_GE(target.vector_bytes, 16);
  // What is resolved stays as it is.
  EXPECT_EQ(ir::to_string(resolve_target(target).value()), ir::to_string(target));
}

TEST(ResolveTarget, KnowsVectorsOfNamedCpus) {
  const ir::Target zen3 = cpu_target("znver3");
  EXPECT_EQ(zen3.vector_bytes, 32);
  EXPECT_EQ(zen3.vector_registers, 16);
  EXPECT_TRUE(zen3.fma);
  const ir::Target skylake = cpu_target("skylake-avx512");
  EXPECT_EQ(skylake.vector_bytes, 64);
  EXPECT_EQ(skylake.vector_registers, 32);
  const ir::Target plain = cpu_target("x86-64");
  EXPECT_EQ(plain.vector_bytes, 16);
  EXPECT_FALSE(plain.fma);
}

TEST(ResolveTarget, UnknownNamesAreErrors) {
  ir::Target target;
  target.triple = "x86_64-linux-gnu";
  target.cpu = "zen99";
  auto result = resolve_target(target);
  ASSERT_FALSE(result.ok());
  EXPECT_EQ(result.error().message, "unknown CPU 'zen99' for x86_64-unknown-linux-gnu");
  EXPECT_NE(result.error().hint.find("znver3"), std::string::npos);
  target.triple = "vax-dec-vms";
  EXPECT_EQ(resolve_target(target).error().message, "unknown target triple 'vax-dec-vms'");
}

TEST(ResolveTarget, CompilesForAnotherArchitecture) {
  ir::Target target;
  target.triple = "aarch64-linux-gnu";
  target.cpu = "cortex-a72";
  target.threads = 4;
  const ir::Target resolved = resolve_target(target).value();
  EXPECT_EQ(resolved.vector_bytes, 16);
  const auto kernel = elementwise(ir::kF32, ir::kF32, 64, 4,
                                  [](ir::Expr x) { return ir::math(ir::MathFn::Exp, {x}); });
  const auto compiled = compile(kernel, resolved);
  ASSERT_TRUE(compiled.ok()) << compiled.error().message;
  Elf64_Ehdr header;
  std::memcpy(&header, compiled->elf.data(), sizeof header);
  EXPECT_EQ(header.e_machine, EM_AARCH64);
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

TEST(Compile, EndlessUnrollingIsRefused) {
  const auto y = ir::make_buffer("y", ir::kF32, {1});
  const std::vector<ir::Stmt> many(20001, ir::store(y, {ir::Expr(0)}, ir::float_imm(1)));
  const auto result = compile(ir::Kernel{"k", {y}, ir::block(many)}, host_target());
  ASSERT_FALSE(result.ok());
  EXPECT_EQ(result.error().message,
            "kernel 'k' has 20001 stores after unrolling, at most 20000 are compiled");
}

TEST(Compile, UnresolvedTargetsAreRefused) {
  const auto y = ir::make_buffer("y", ir::kF32, {8});
  ir::Kernel kernel{"k", {y}, ir::store(y, {ir::Expr(0)}, ir::float_imm(1))};
  EXPECT_EQ(compile(kernel, ir::Target{}).error().message, "target 'cpu' is not resolved");
}

}  // namespace
}  // namespace attune::codegen
