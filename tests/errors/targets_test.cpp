// Targets that make no sense, that LLVM does not know, or that are not this machine, and schedules,
// formats and stages that a target does not have: each with the exact sentence and its hint.
#include <gtest/gtest.h>

#include <filesystem>
#include <string>

#include "targets/cpu/device/cpu_features.h"
#include "tests/support/bad_commands.h"

namespace attune {
namespace {

class Targets : public test::BadCommands {
 protected:
  Targets() {
    directory_.write("bound.trace", "split anchor i 2\nbind anchor i.0 block.x\n");
    directory_.write("shared.trace", "parallel anchor i\n");
  }
};

TEST_F(Targets, InText) {
  const std::string hint = "write a target like 'cpu -mcpu=znver3 -threads=2'";
  expect_all({
      {"bench softmax:m=4,n=4 --target tpu", 2, "unknown target kind 'tpu'",
       "did you mean 'cpu'? the kinds are {kinds}; " + hint},
      {"bench softmax:m=4,n=4 --target cpu%-threads=1%-threads=2", 2,
       "attribute 'threads' of the target is given twice", hint},
      {"bench softmax:m=4,n=4 --target cpu%fast", 2, "'fast' is not a target attribute", hint},
      {"bench softmax:m=4,n=4 --target cpu%-speed=9", 2, "unknown target attribute 'speed'", hint},
      {"bench softmax:m=4,n=4 --target cpu%-mcpu=", 2,
       "attribute 'mcpu' of the target has no value", hint},
      {"bench softmax:m=4,n=4 --target cpu%-mcpu=pentium9", 2,
       "unknown CPU 'pentium9' for {triple}",
       "use an LLVM CPU name such as {cpus}; this machine is '{cpu}'"},
  });
}

TEST_F(Targets, Elsewhere) {
  const std::string compile = "compile mlp -o {dir}/x.attune --target cpu%-triple=";
  const std::string elsewhere = "leave --target out, or use compile, which works for any target";
  const std::string not_here = "' is not this machine, whose triple is {triple}";
  const std::string triples = "use a triple such as x86_64-linux-gnu or aarch64-linux-gnu";
  const std::string features = "write +NAME or -NAME, as in -mattr=+avx2,-avx512f";
  expect_all({
      {"bench softmax:m=4,n=4 --target cpu%-triple=riscv64-linux-gnu%-mcpu=sifive-u74", 1,
       "target 'riscv64-unknown-linux-gnu" + not_here, elsewhere},
      {"tune mlp --trials 2 --target cpu%-triple=aarch64-linux-gnu%-mcpu=cortex-a76", 1,
       "target 'aarch64-unknown-linux-gnu" + not_here, elsewhere},
      {"run mlp --target cpu%-triple=aarch64-linux-gnu%-mcpu=cortex-a72", 1,
       "target 'aarch64-unknown-linux-gnu" + not_here, elsewhere},
      {compile + "aarch64-linux-gnu%-mcpu=znver3", 2,
       "unknown CPU 'znver3' for aarch64-unknown-linux-gnu",
       "use an LLVM CPU name such as {cpus of arm}"},
      {compile + "x86_64-linux-gnu%-mcpu=haswell%-mattr=+nonsense", 2,
       "unknown CPU feature 'nonsense' for x86_64-unknown-linux-gnu", features},
      {compile + "x86_64-linux-gnu%-mcpu=haswell%-mattr=avx2", 2, "CPU feature 'avx2' has no sign",
       features},
      {compile + "riscv64-linux-gnu%-mcpu=generic-rv64", 2,
       "CPU 'generic-rv64' runs no code of 64 bits with floating point",
       "add -mattr=+m,+f,+d, or choose a CPU that has them, such as sifive-u74"},
      {compile + "x86_64-apple-darwin", 1,
       "target triple 'x86_64-apple-darwin' is not of a little-endian 64-bit Linux", triples},
      {compile + "i686-linux-gnu", 1,
       "target triple 'i686-linux-gnu' is not of a little-endian 64-bit Linux", triples},
  });
  EXPECT_FALSE(std::filesystem::exists(directory_.file("x.attune")));
}

// LLVM's own names of this machine and its system are as good as none.
TEST_F(Targets, ThisMachineInOtherWords) {
  const std::string architecture(cpu::host_architecture());
  const std::string triple = " --target cpu%-triple=" + architecture + "-linux-gnu";
  for (const std::string& target : {triple, triple + "%-mcpu=native"}) {
    const test::ProcessResult result = run("run softmax:m=4,n=4 --history none" + target);
    EXPECT_EQ(result.status, 0) << result.errors;
  }
}

TEST_F(Targets, SchedulesAndFormatsOfOthers) {
  const std::string command = "compile matmul:m=4,n=4,k=4 -o {dir}/x.so --schedule {dir}/";
  const std::string hint =
      "the schedule is for another kind of target; leave it out, or tune for this one";
  const std::string cores =
      "schedule '{dir}/shared.trace': line 1 of the trace: 'parallel anchor i' is for cores that "
      "share a loop, which programs for '";
  const std::string sources = "--format c writes no sources for the target '";
  const std::string other =
      "leave --format c out, or give a target like 'cpu -mcpu=znver3 -threads=2'";
  expect_all({
      {command + "bound.trace", 2,
       "schedule '{dir}/bound.trace': line 2 of the trace: 'bind anchor i.0 block.x' is for blocks "
       "and threads, which programs for 'cpu' do not run on",
       hint},
      {command + "shared.trace --target cuda%-arch=sm_80", 2, cores + "cuda' do not run on", hint},
      {command + "shared.trace --target sim", 2, cores + "sim' do not run on", hint},
      {"compile mlp --format c -o {dir}/c --target sim", 2, sources + "sim'", other},
      {"compile mlp --format c -o {dir}/c --target cuda%-arch=sm_80", 2,
       sources + "cuda -arch=sm_80'", other},
      // Before the model is looked at.
      {"compile {dir}/none.onnx --format c -o {dir}/c --target sim", 2, sources + "sim'", other},
  });
  for (const char* file : {"x.so", "c"}) {
    EXPECT_FALSE(std::filesystem::exists(directory_.file(file))) << file;
  }
}

TEST_F(Targets, StagesOfOthers) {
  const std::string command = "compile matmul:m=4,n=4,k=4 --default ";
  const test::ProcessResult all = run("compile --emit=zzzzzzzzzzzzzzzzzzzz mlp");
  EXPECT_EQ(all.status, 2);
  EXPECT_EQ(all.errors.find("attune: error: there is no stage 'zzzzzzzzzzzzzzzzzzzz' to emit\n"
                            "hint: the stages are import, fold_constants, "),
            0u)
      << all.errors;
  const std::string simulated =
      "the stages of their tasks are te, trace, nests, pipeline_copies, group_matrices, "
      "insert_barriers, fence_matrices, simplify, hoist_guards, tighten_loops, flatten, "
      "overlay_shared, vectorize_loops, simplify_vectors, unroll_loops, decide_guards, loops";
  expect_all({
      {command + "--target sim --emit asm", 2, "targets of kind 'sim' have no stage 'asm'",
       simulated},
      {command + "--target sim --emit=te,name_parts", 2,
       "targets of kind 'sim' have no stage 'name_parts'", simulated},
      {command + "--emit=te,cuda", 2, "targets of kind 'cpu' have no stage 'cuda'",
       "the stages of their tasks are te, trace, nests, simplify, hoist_guards, tighten_loops, "
       "name_parts, partition_loops, flatten, prefetch_loads, claim_stores, vectorize_loops, "
       "simplify_vectors, unroll_loops, loops, llvm, asm"},
      {"compile --emit=te,loops", 2,
       "'compile' needs a model: a file, a name such as resnet18, or matmul:m=1024,n=1024,k=1024",
       "for example: attune compile resnet18 -o resnet18.attune"},
  });
}

}  // namespace
}  // namespace attune
