#include <gtest/gtest.h>

#include "targets/cpu/facts/facts.h"

namespace attune::cpu {
namespace {

target::Target cpu_target(const char* cpu) {
  target::Target target;
  target.set(kTriple, "x86_64-linux-gnu");
  target.set(kCpu, cpu);
  return resolve(target).value();
}

TEST(ResolveTarget, FillsThisMachine) {
  const target::Target target = resolve(target::Target{}).value();
  EXPECT_FALSE(target.attribute(kTriple).empty());
  EXPECT_FALSE(target.attribute(kCpu).empty());
  EXPECT_GE(target.threads, 1);
  EXPECT_GE(target.vector_bytes, 16);
  // What is resolved stays as it is.
  EXPECT_EQ(target::to_string(resolve(target).value()), target::to_string(target));
}

TEST(ResolveTarget, KnowsVectorsOfNamedCpus) {
  const target::Target zen3 = cpu_target("znver3");
  EXPECT_EQ(zen3.vector_bytes, 32);
  EXPECT_EQ(zen3.vector_registers, 16);
  EXPECT_TRUE(zen3.fma);
  const target::Target skylake = cpu_target("skylake-avx512");
  EXPECT_EQ(skylake.vector_bytes, 64);
  EXPECT_EQ(skylake.vector_registers, 32);
  const target::Target plain = cpu_target("x86-64");
  EXPECT_EQ(plain.vector_bytes, 16);
  EXPECT_FALSE(plain.fma);
}

TEST(ResolveTarget, UnknownNamesAreErrors) {
  target::Target target;
  target.set(kTriple, "x86_64-linux-gnu");
  target.set(kCpu, "zen99");
  auto result = resolve(target);
  ASSERT_FALSE(result.ok());
  EXPECT_EQ(result.error().message, "unknown CPU 'zen99' for x86_64-unknown-linux-gnu");
  EXPECT_NE(result.error().hint.find("znver3"), std::string::npos);
  target.set(kTriple, "vax-dec-vms");
  EXPECT_EQ(resolve(target).error().message, "unknown target triple 'vax-dec-vms'");
}

TEST(CpuFacts, WritesTheTargetAsAutoTvmDoes) {
  target::Target target;
  target.set(kTriple, "x86_64-linux-gnu");
  target.set(kCpu, "skylake-avx512");
  target.threads = 2;
  EXPECT_EQ(target_kind.autotvm_text(target),
            "llvm -keys=cpu -mtriple=x86_64-linux-gnu -mcpu=skylake-avx512 -num-cores=2");
}

TEST(CpuFacts, AnArtifactAsksForWhatTheTargetHas) {
  target::Target target;
  target.set(kTriple, "x86_64-linux-gnu");
  target.set(kFeatures, "+avx2,-sse4a,+fma");
  const target::Requirements asked = target_kind.requirements(target);
  EXPECT_EQ(asked.architecture, "x86_64");
  EXPECT_EQ(asked.features, (std::vector<std::string>{"avx2", "fma"}));
}

}  // namespace
}  // namespace attune::cpu
