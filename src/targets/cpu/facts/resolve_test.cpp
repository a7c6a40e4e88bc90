#include <gtest/gtest.h>

#include <algorithm>

#include "targets/cpu/device/cpu_features.h"
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
  EXPECT_EQ(zen3.masked_bytes, 4);
  EXPECT_TRUE(zen3.fma);
  const target::Target skylake = cpu_target("skylake-avx512");
  EXPECT_EQ(skylake.vector_bytes, 64);
  EXPECT_EQ(skylake.vector_registers, 32);
  EXPECT_EQ(skylake.masked_bytes, 1);
  const target::Target plain = cpu_target("x86-64");
  EXPECT_EQ(plain.vector_bytes, 16);
  EXPECT_EQ(plain.masked_bytes, 0);
  EXPECT_FALSE(plain.fma);
}

target::Target arm(const char* cpu, const char* features = "") {
  target::Target target;
  target.set(kTriple, "aarch64-linux-gnu");
  target.set(kCpu, cpu);
  target.set(kFeatures, features);
  target.threads = 4;
  return resolve(target).value();
}

TEST(ResolveTarget, KnowsArmProcessors) {
  for (const char* cpu : {"cortex-a72", "cortex-a76", "neoverse-n1", "neoverse-v1", "generic"}) {
    const target::Target target = arm(cpu);
    EXPECT_EQ(target.vector_bytes, 16) << cpu;
    EXPECT_EQ(target.vector_registers, 32) << cpu;
    EXPECT_TRUE(target.fma) << cpu;
    EXPECT_EQ(target::to_string(resolve(target).value()), target::to_string(target));
  }
  EXPECT_EQ(arm("cortex-a72").l1_bytes, 32 << 10);
  EXPECT_EQ(arm("cortex-a72").l3_bytes, 1 << 20);
  EXPECT_EQ(arm("neoverse-n1").l1_bytes, 64 << 10);
  EXPECT_EQ(arm("neoverse-n1").l2_bytes, 1 << 20);
}

TEST(ResolveTarget, LeavesScalableVectorsOutUnlessTheyAreAskedFor) {
  EXPECT_EQ(arm("neoverse-v1").attribute(kFeatures), "-sve");
  EXPECT_EQ(arm("neoverse-n1").attribute(kFeatures), "");
  EXPECT_EQ(arm("neoverse-v1", "+sve").attribute(kFeatures), "+sve");
}

TEST(RequiredFeatures, AreThoseOfTheProcessorAndThoseAdded) {
  using Names = std::vector<std::string>;
  EXPECT_EQ(required_features(arm("cortex-a72")), Names{"neon"});
  EXPECT_EQ(required_features(arm("neoverse-n1")), (Names{"dotprod", "fullfp16", "neon", "rdm"}));
  const Names v1 = required_features(arm("neoverse-v1"));
  EXPECT_TRUE(std::find(v1.begin(), v1.end(), "bf16") != v1.end());
  EXPECT_TRUE(std::find(v1.begin(), v1.end(), "sve") == v1.end());
  EXPECT_EQ(required_features(cpu_target("x86-64")), Names{});
  // Code for this machine runs on this machine.
  for (const std::string& name : required_features(resolve(target::Target{}).value())) {
    EXPECT_TRUE(cpu::has_feature(name)) << name;
  }
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
  for (const char* name : {"avx", "avx2", "fma", "sse4.2"}) {
    EXPECT_TRUE(std::find(asked.features.begin(), asked.features.end(), name) !=
                asked.features.end())
        << name;
  }
}

}  // namespace
}  // namespace attune::cpu
