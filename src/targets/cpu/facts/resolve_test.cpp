#include <fmt/format.h>
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

// What the error of resolving says, and its hint.
std::pair<std::string, std::string> refusal(const char* triple, const char* cpu,
                                            const char* features) {
  target::Target target;
  target.set(kTriple, triple);
  target.set(kCpu, cpu);
  target.set(kFeatures, features);
  const auto result = resolve(target);
  if (result.ok()) return {"resolved", ""};
  return {result.error().message, result.error().hint};
}

TEST(ResolveTarget, FeaturesHaveSignsAndNamesOfTheArchitecture) {
  const std::string x86_hint = "write +NAME or -NAME, as in -mattr=+avx2,-avx512f";
  const std::string arm_hint = "write +NAME or -NAME, as in -mattr=+dotprod,-sve";
  const char* const x86 = "x86_64-linux-gnu";
  const char* const arm = "aarch64-linux-gnu";
  using Said = std::pair<std::string, std::string>;
  EXPECT_EQ(refusal(x86, "znver3", "+nonsense"),
            (Said{"unknown CPU feature 'nonsense' for x86_64-unknown-linux-gnu", x86_hint}));
  EXPECT_EQ(refusal(x86, "znver3", "-fma,avx2"),
            (Said{"CPU feature 'avx2' has no sign", x86_hint}));
  EXPECT_EQ(refusal(x86, "znver3", "+avx2,"), (Said{"CPU feature '' has no sign", x86_hint}));
  EXPECT_EQ(refusal(x86, "znver3", "+help"),
            (Said{"unknown CPU feature 'help' for x86_64-unknown-linux-gnu", x86_hint}));
  EXPECT_EQ(refusal(arm, "cortex-a76", "+avx2"),
            (Said{"unknown CPU feature 'avx2' for aarch64-unknown-linux-gnu", arm_hint}));
  EXPECT_EQ(refusal(x86, "znver3", "-sse4a,+movbe,+prefer-256-bit").first, "resolved");
  EXPECT_EQ(refusal(arm, "cortex-a76", "+i8mm,-crc").first, "resolved");
  EXPECT_EQ(refusal("riscv64-linux-gnu", "generic-rv64", "+m,+f,+d").first, "resolved");
}

TEST(ResolveTarget, IsForLinuxOf64BitsWithTheLowestByteFirst) {
  for (const char* triple :
       {"x86_64-apple-darwin", "x86_64-windows-msvc", "i686-linux-gnu", "x86_64-linux-gnux32",
        "aarch64_be-linux-gnu", "aarch64-apple-darwin", "riscv32-linux-gnu", "x86_64"}) {
    const auto [message, hint] = refusal(triple, "", "");
    EXPECT_EQ(message,
              std::string("target triple '") + triple + "' is not of a little-endian 64-bit Linux");
    EXPECT_EQ(hint, "use a triple such as x86_64-linux-gnu or aarch64-linux-gnu") << triple;
  }
  for (const char* triple : {"x86_64-linux-gnu", "x86_64-alpine-linux-musl", "aarch64-linux-gnu"}) {
    EXPECT_EQ(refusal(triple, "", "").first, "resolved") << triple;
  }
  EXPECT_EQ(refusal("riscv64-linux-gnu", "sifive-u74", "").first, "resolved");
}

TEST(ResolveTarget, AnArchitectureHasOneName) {
  target::Target target;
  target.set(kTriple, "amd64-linux-gnu");
  target.set(kCpu, "haswell");
  const target::Target resolved = resolve(target).value();
  EXPECT_EQ(resolved.attribute(kTriple), "x86_64-unknown-linux-gnu");
  EXPECT_EQ(target_kind.requirements(resolved).architecture, "x86_64");
}

TEST(ResolveTarget, ProcessorsThatRunNoKernelsAreRefused) {
  const char* const triple = "x86_64-linux-gnu";
  EXPECT_EQ(refusal(triple, "pentium3", "").first,
            "CPU 'pentium3' runs no code of 64 bits with floating point");
  EXPECT_EQ(refusal(triple, "znver3", "-64bit-mode").first,
            "CPU 'znver3' runs no code of 64 bits with floating point");
  EXPECT_EQ(refusal(triple, "znver3", "+soft-float").first,
            "CPU 'znver3' runs no code of 64 bits with floating point");
  EXPECT_EQ(refusal("riscv64-linux-gnu", "generic-rv32", "").first,
            "CPU 'generic-rv32' runs no code of 64 bits with floating point");
  // They would call functions that nobody gives them.
  for (const char* features : {"", "+m", "+f,+d"}) {
    const auto [message, hint] = refusal("riscv64-linux-gnu", "generic-rv64", features);
    EXPECT_EQ(message, "CPU 'generic-rv64' runs no code of 64 bits with floating point");
    EXPECT_EQ(hint, "add -mattr=+m,+f,+d, or choose a CPU that has them, such as sifive-u74");
  }
}

// What LLVM calls AVX-512 of a processor that has none is only half of it.
TEST(ResolveTarget, AddsRegistersOf64BytesWithTheirInstructions) {
  const auto with = [](const char* cpu, const char* features) {
    target::Target target;
    target.set(kTriple, "x86_64-linux-gnu");
    target.set(kCpu, cpu);
    target.set(kFeatures, features);
    return resolve(target).value();
  };
  const target::Target wide = with("haswell", "+avx512f");
  EXPECT_EQ(wide.attribute(kFeatures), "+avx512f,+evex512");
  EXPECT_EQ(wide.vector_bytes, 64);
  EXPECT_EQ(target::to_string(resolve(wide).value()), target::to_string(wide));
  for (const auto& [cpu, features] :
       {std::pair{"skylake-avx512", "-evex512"}, {"haswell", "+avx10.1-256"}}) {
    const target::Target narrow = with(cpu, features);
    EXPECT_EQ(narrow.attribute(kFeatures), features);
    EXPECT_EQ(narrow.vector_bytes, 32);
    EXPECT_EQ(narrow.vector_registers, 32);
  }
  EXPECT_EQ(with("skylake-avx512", "+avx512vnni").attribute(kFeatures), "+avx512vnni");
}

TEST(ResolveTarget, HintsAreOfTheArchitecture) {
  const auto [message, hint] = refusal("aarch64-linux-gnu", "znver3", "");
  EXPECT_EQ(message, "unknown CPU 'znver3' for aarch64-unknown-linux-gnu");
  EXPECT_NE(hint.find("cortex-a72"), std::string::npos) << hint;
  EXPECT_EQ(hint.find("znver3"), std::string::npos) << hint;
  EXPECT_EQ(refusal("riscv64-linux-gnu", "znver3", "").second,
            "leave -mcpu out, or use LLVM's name of a riscv64");
}

TEST(RequiredFeatures, AreOnlyThoseThatCanBeMissed) {
  target::Target target;
  target.set(kTriple, "x86_64-linux-gnu");
  target.set(kCpu, "x86-64");
  target.set(kFeatures, "+sse2,+movbe,+prefer-256-bit,+gfni,-gfni");
  using Names = std::vector<std::string>;
  EXPECT_EQ(required_features(resolve(target).value()), Names{"movbe"});
}

TEST(CpuFacts, RunWhereTheirFeaturesAre) {
  const target::Target here = resolve({}).value();
  const std::string architecture(cpu::host_architecture());
  // The vendor and the libraries of the system make no difference to kernels.
  target::Target plain = here;
  plain.set(kTriple, architecture + "-linux-musl");
  EXPECT_TRUE(target_kind.check_runs_here(resolve(plain).value()).ok());
  const bool is_x86 = architecture == "x86_64";
  for (const std::string_view name : known_features(architecture)) {
    if (has_feature(name) || name.starts_with("sve")) continue;
    target::Target more = here;
    more.set(kFeatures, fmt::format("{}{}+{}", here.attribute(kFeatures),
                                    here.attribute(kFeatures).empty() ? "" : ",", name));
    const Status runs = target_kind.check_runs_here(resolve(more).value());
    ASSERT_FALSE(runs.ok()) << name;
    EXPECT_NE(runs.error().message.find("has features that this machine lacks: "),
              std::string::npos)
        << runs.error().message;
    EXPECT_EQ(runs.error().hint, "leave --target out, or use compile, which works for any target");
  }
  target::Target other;
  other.set(kTriple, is_x86 ? "aarch64-linux-gnu" : "x86_64-linux-gnu");
  EXPECT_FALSE(target_kind.check_runs_here(resolve(other).value()).ok());
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
