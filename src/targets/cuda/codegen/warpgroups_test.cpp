// Instructions of warpgroups in CUDA C++: what is printed, that NVRTC takes it, and what ptxas says
// of instructions that wait for each other.
#include "targets/cuda/codegen/warpgroups.h"

#include <gtest/gtest.h>

#include "compiler/ir/text/parse.h"
#include "targets/cuda/codegen/codegen.h"
#include "targets/cuda/codegen/kernel_text.h"
#include "targets/cuda/codegen/limits.h"
#include "targets/cuda/codegen/nvrtc.h"
#include "targets/cuda/codegen/ptxas_log.h"
#include "targets/cuda/facts/facts.h"

namespace attune::cuda {
namespace {

// One tile of 64 x 32 results over 16 terms.
std::string kernel_text(const std::string& type, const std::string& name, int elements) {
  const std::string count = std::to_string(elements);
  return "kernel tile(A: " + type + "[1024], C: f32[2048]) {\n" +
         R"(  bound for t in 128 on thread.x {
    alloc c: f32[16] register { alloc S: )" +
         type + R"([2048] shared {
      for i in 16 { c[i] = 0.0f32 }
      for i in 16 { S[i * 128 + t] = A[i % 8 * 128 + t] }
      eval @shared_fence<i32>()
      barrier shared
      eval @matrix_fence<i32>()
      eval @)" +
         name + "<i32>(c[0], 8, 1, S[0], " + count + " * 64, " + count + " * 8, S[1024], " + count +
         " * 32, " + count + R"( * 8)
      eval @matrix_commit<i32>()
      eval @matrix_wait<i32>(0)
      for i in 16 { C[t * 16 + i] = c[i] }
    } }
  }
})";
}

std::string simplified(std::string text) {
  for (const auto& [from, to] : {std::pair{"8 * 64", "512"},
                                 {"8 * 32", "256"},
                                 {"8 * 8", "64"},
                                 {"4 * 64", "256"},
                                 {"4 * 32", "128"},
                                 {"4 * 8", "32"}}) {
    for (auto at = text.find(from); at != std::string::npos; at = text.find(from)) {
      text.replace(at, std::string(from).size(), to);
    }
  }
  return text;
}

TEST(CudaWarpgroups, NameMatricesAndRegisters) {
  const auto kernel = ir::parse_kernel(simplified(kernel_text("f16", "wgmma_64x32x16_f16", 8)));
  ASSERT_TRUE(kernel.ok()) << kernel.error().message;
  const std::string text = print_kernel(*kernel).value().text;
  for (const char* part :
       {"at_shared_fence();\n", "__syncthreads();\n", "at_matrix_fence();\n",
        "at_wgmma_64x32x16_f16<8, 1>(c + (0), at_matrix<1024, 128>(S + (0)), at_matrix<512, "
        "128>(S + (1024)));\n",
        "at_matrix_commit();\n", "at_matrix_wait<0>();\n",
        "wgmma.mma_async.sync.aligned.m64n32k16.f32.f16.f16 {%0, %1,",
        "\"+f\"(c[0 * row + 0 * column]), \"+f\"(c[0 * row + 1 * column]), \"+f\"(c[1 * row + 0 * "
        "column]), "}) {
    EXPECT_NE(text.find(part), std::string::npos) << part << "\nin\n" << text;
  }
}

// Before any compiler is asked, which need not be here.
TEST(CudaWarpgroups, AreRefusedWhereTheCardHasNone) {
  const auto kernel = ir::parse_kernel(simplified(kernel_text("f16", "wgmma_64x32x16_f16", 8)));
  ASSERT_TRUE(kernel.ok()) << kernel.error().message;
  const auto refusal = [&](const char* architecture) {
    target::Target target{.kind = "cuda"};
    target.set("arch", architecture);
    const target::Target resolved = target_kind.resolve(target).value();
    const Status status = check_matrix_units(*kernel, resolved);
    if (status.ok()) return std::string();
    const auto compiled = code_generator.compile(*kernel, resolved);
    EXPECT_EQ(compiled.error().message, status.error().message);
    EXPECT_EQ(code_generator.texts[0].text(*kernel, resolved).error().message,
              status.error().message);
    EXPECT_EQ(status.error().hint,
              "the schedule is for another card; leave it out, or tune for this one");
    return status.error().message;
  };
  EXPECT_EQ(refusal("sm_90a"), "");
  EXPECT_EQ(refusal("sm_80"), "kernel 'tile' uses 'wgmma_64x32x16_f16', which sm_80 does not have");
  EXPECT_EQ(refusal("sm_90"), "kernel 'tile' uses 'wgmma_64x32x16_f16', which sm_90 does not have");
}

TEST(CudaWarpgroups, AreCompiledOneBesideTheOther) {
  if (!Nvrtc::here().ok()) GTEST_SKIP() << Nvrtc::here().error().message;
  std::string all;
  int number = 0;
  for (const auto& [type, name, elements] : {std::tuple{"f16", "wgmma_64x32x16_f16", 8},
                                             {"bf16", "wgmma_64x32x16_bf16", 8},
                                             {"f32", "wgmma_64x32x8_tf32", 4}}) {
    auto kernel = ir::parse_kernel(simplified(kernel_text(type, name, elements)));
    ASSERT_TRUE(kernel.ok()) << kernel.error().message;
    kernel->name += std::to_string(number++);
    all += print_kernel(*kernel).value().text;
  }
  const auto compiled = Nvrtc::here()->compile(all, "sm_90a");
  ASSERT_TRUE(compiled.ok()) << compiled.error().message << all;
  const PtxasFacts facts = parse_ptxas_log(compiled->log);
  EXPECT_EQ(facts.serialised, "") << compiled->log;
  EXPECT_EQ(facts.stack_bytes, 0) << compiled->log;
}

// Results are looked at before they are waited for.
TEST(CudaWarpgroups, WhatPtxasSerialisesIsSeen) {
  const PtxasFacts facts = parse_ptxas_log(
      "ptxas info    : (C7510) Potential Performance Loss: wgmma.mma_async instructions are "
      "serialized due to insufficient register resources for the wgmma pipeline in the function "
      "'k'\n"
      "ptxas info    : Used 255 registers\n");
  EXPECT_EQ(facts.serialised.substr(0, 7), "(C7510)");
  EXPECT_EQ(facts.registers, 255);
}

}  // namespace
}  // namespace attune::cuda
