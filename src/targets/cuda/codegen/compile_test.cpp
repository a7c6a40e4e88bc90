// Texts of kernels are such that NVRTC compiles them, for several architectures. Where there is no
// NVRTC, these tests say so and end.
#include <fmt/format.h>
#include <gtest/gtest.h>

#include <thread>

#include "compiler/codegen/c_text/statement_kernels_testing.h"
#include "compiler/ir/text/parse.h"
#include "targets/cuda/codegen/codegen.h"
#include "targets/cuda/codegen/kernel_text.h"
#include "targets/cuda/codegen/nvrtc.h"
#include "targets/cuda/codegen/ptxas_log.h"
#include "targets/cuda/codegen/warp_kernels_testing.h"
#include "targets/cuda/facts/facts.h"

namespace attune::cuda {
namespace {

using namespace ir;
using c_text::on_threads;

constexpr const char* kArchitectures[] = {"sm_80", "sm_89", "sm_90a"};

class CompiledCuda : public ::testing::Test {
 protected:
  void SetUp() override {
    if (!Nvrtc::here().ok()) GTEST_SKIP() << Nvrtc::here().error().message;
  }

  // One text of all that fall to an architecture, in turns.
  static void expect_compiled(const std::vector<Kernel>& kernels) {
    for (std::size_t a = 0; a < std::size(kArchitectures); ++a) {
      std::string all;
      for (std::size_t k = a; k < kernels.size(); k += std::size(kArchitectures)) {
        all += print_kernel(kernels[k]).value().text;
      }
      const auto compiled = Nvrtc::here()->compile(all, kArchitectures[a]);
      ASSERT_TRUE(compiled.ok()) << compiled.error().message;
      EXPECT_GT(compiled->cubin.size(), 1000u);
      EXPECT_EQ(parse_ptxas_log(compiled->log).spill_bytes, 0);
    }
  }
};

target::Target target_for(const std::string& architecture) {
  target::Target target;
  target.kind = "cuda";
  target.set("arch", architecture);
  return target_kind.resolve(target).value();
}

TEST_F(CompiledCuda, Arithmetic) { expect_compiled(on_threads(c_text::arithmetic_kernels())); }
TEST_F(CompiledCuda, Division) { expect_compiled(on_threads(c_text::division_kernels())); }
TEST_F(CompiledCuda, BitsAndShifts) { expect_compiled(on_threads(c_text::bit_kernels())); }
TEST_F(CompiledCuda, Functions) { expect_compiled(on_threads(c_text::function_kernels())); }
TEST_F(CompiledCuda, Casts) { expect_compiled(on_threads(c_text::cast_kernels())); }
TEST_F(CompiledCuda, TruthValues) { expect_compiled(on_threads(c_text::truth_value_kernels())); }
TEST_F(CompiledCuda, MemoryAccess) { expect_compiled(c_text::access_kernels()); }
TEST_F(CompiledCuda, Statements) { expect_compiled(c_text::statement_kernels()); }

TEST_F(CompiledCuda, InstructionsOfWarps) {
  std::string all;
  for (const Kernel& kernel : warp_kernels()) all += print_kernel(kernel).value().text;
  for (const char* architecture : kArchitectures) {
    const auto compiled = Nvrtc::here()->compile(all, architecture);
    ASSERT_TRUE(compiled.ok()) << compiled.error().message;
    EXPECT_EQ(parse_ptxas_log(compiled->log).spill_bytes, 0);
    for (const char* part :
         {"m16n8k16.row.col.f32.bf16", "m16n8k8.row.col.f32.tf32", "ld.shared.v4"}) {
      EXPECT_NE(compiled->ptx.find(part), std::string::npos) << part << "\n" << compiled->ptx;
    }
  }
}

// A product as templates schedule it: tiles of registers, operands fetched together.
constexpr const char* kProduct = R"(kernel product(A: f32[65536], B: f32[65536], C: f32[65536]) {
  bound for by in 4 on block.y { bound for bx in 4 on block.x {
    bound for ty in 8 on thread.y { bound for tx in 8 on thread.x {
      alloc c: f32[64] register {
        for i in 8 { for j in 8 { c[i * 8 + j] = 0.0f32 } }
        for k in 32 {
          alloc a: f32[512] shared { alloc b: f32[512] shared {
            for n in 2 {
              a[ramp((n * 64 + ty * 8 + tx) * 4, 1, 4)] =
                A[ramp((by * 64 + (n * 64 + ty * 8 + tx) / 2) * 256 + k * 8
                       + (n * 64 + ty * 8 + tx) % 2 * 4, 1, 4)]
            }
            for n in 2 {
              b[ramp((n * 64 + ty * 8 + tx) * 4, 1, 4)] =
                B[ramp((k * 8 + (n * 64 + ty * 8 + tx) / 16) * 256 + bx * 64
                       + (n * 64 + ty * 8 + tx) % 16 * 4, 1, 4)]
            }
            barrier shared
            for p in 8 { for i in 8 { for j in 8 {
              c[i * 8 + j] = c[i * 8 + j] + a[(ty * 8 + i) * 8 + p] * b[p * 64 + tx * 8 + j]
            } } }
            barrier shared
          } }
        }
        for i in 8 { for j in 2 {
          C[ramp((by * 64 + ty * 8 + i) * 256 + bx * 64 + tx * 8 + j * 4, 1, 4)] =
            c[ramp(i * 8 + j * 4, 1, 4)]
        } }
      }
    } }
  } }
})";

TEST_F(CompiledCuda, ProductsStayInRegisters) {
  const auto kernel = parse_kernel(kProduct);
  ASSERT_TRUE(kernel.ok()) << kernel.error().message;
  const KernelText printed = print_kernel(*kernel).value();
  const auto compiled = Nvrtc::here()->compile(printed.text, "sm_90a");
  ASSERT_TRUE(compiled.ok()) << compiled.error().message << printed.text;
  const PtxasFacts facts = parse_ptxas_log(compiled->log);
  EXPECT_EQ(facts.stack_bytes, 0) << compiled->log;
  EXPECT_EQ(facts.spill_bytes, 0) << compiled->log;
  EXPECT_LT(facts.registers, 160) << compiled->log;
  for (const char* wide : {"ld.global.nc.v4", "st.shared.v4", "st.global.v4"}) {
    EXPECT_NE(compiled->ptx.find(wide), std::string::npos) << wide << "\n" << compiled->ptx;
  }
  EXPECT_EQ(compiled->ptx.find("ld.local"), std::string::npos) << printed.text;
}

// Callers compile from several threads at once.
TEST_F(CompiledCuda, FromSeveralThreads) {
  const std::vector<Kernel> kernels = c_text::statement_kernels();
  std::vector<Result<codegen::KernelObject>> objects(4, unsupported("not run"));
  std::vector<std::thread> threads;
  for (std::size_t i = 0; i < objects.size(); ++i) {
    threads.emplace_back([&, i] {
      objects[i] = code_generator.compile(kernels[i], target_for(kArchitectures[i % 3]));
    });
  }
  for (std::thread& thread : threads) thread.join();
  for (std::size_t i = 0; i < objects.size(); ++i) {
    ASSERT_TRUE(objects[i].ok()) << objects[i].error().message;
    EXPECT_EQ(objects[i]->entry.symbol, kernels[i].name);
    EXPECT_EQ(objects[i]->entry.vector_spills, 0);
    EXPECT_GT(objects[i]->bytes.size(), 1000u);
  }
}

TEST_F(CompiledCuda, AnArchitectureNobodyHasIsAnError) {
  target::Target target = target_for("sm_90a");
  target.set("arch", "sm_1234");
  const auto object = code_generator.compile(c_text::statement_kernels()[0], target);
  ASSERT_FALSE(object.ok());
  EXPECT_NE(object.error().message.find("does not compile the kernel for sm_1234"),
            std::string::npos)
      << object.error().message;
}

TEST(CudaNvrtc, AbsenceHasAHint) {
  const auto nvrtc = Nvrtc::open({"/nowhere/libnvrtc.so"});
  ASSERT_FALSE(nvrtc.ok());
  EXPECT_EQ(nvrtc.error().message,
            "code for CUDA devices needs NVIDIA's compiler libnvrtc, which is not here");
  EXPECT_EQ(nvrtc.error().hint,
            "install the CUDA toolkit, or say in ATTUNE_NVRTC where libnvrtc.so is");
}

TEST(CudaPtxasLog, AddsUpFunctions) {
  const PtxasFacts facts = parse_ptxas_log(
      "ptxas info    : 0 bytes gmem\n"
      "ptxas info    : Compiling entry function 'a' for 'sm_90a'\n"
      "    16 bytes stack frame, 12 bytes spill stores, 20 bytes spill loads\n"
      "ptxas info    : Used 40 registers, used 1 barriers, 4096 bytes smem\n"
      "    0 bytes stack frame, 0 bytes spill stores, 4 bytes spill loads\n"
      "ptxas info    : Used 255 registers, 380 bytes cmem[0]\n");
  EXPECT_EQ(facts.registers, 255);
  EXPECT_EQ(facts.stack_bytes, 16);
  EXPECT_EQ(facts.spill_bytes, 36);
}

}  // namespace
}  // namespace attune::cuda
