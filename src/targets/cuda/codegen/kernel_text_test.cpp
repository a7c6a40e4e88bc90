#include "targets/cuda/codegen/kernel_text.h"

#include <fmt/format.h>
#include <gtest/gtest.h>

#include "compiler/ir/text/parse.h"
#include "targets/cuda/codegen/codegen.h"
#include "targets/cuda/codegen/limits.h"
#include "targets/cuda/codegen/waiting.h"
#include "targets/cuda/codegen/warp_kernels_testing.h"

namespace attune::cuda {
namespace {

KernelText printed(const std::string& text) {
  const auto kernel = ir::parse_kernel(text);
  EXPECT_TRUE(kernel.ok()) << kernel.error().message;
  const auto result = print_kernel(*kernel);
  EXPECT_TRUE(result.ok()) << result.error().message;
  return *result;
}

std::string refusal(const std::string& text) {
  const auto kernel = ir::parse_kernel(text);
  EXPECT_TRUE(kernel.ok()) << kernel.error().message;
  const auto result = print_kernel(*kernel);
  return result.ok() ? "none" : result.error().message;
}

TEST(CudaText, LaunchesAreFunctions) {
  const KernelText text = printed(R"(kernel reverse(A: f32[8], B: f32[8]) {
  bound for b in 2 on block.x {
    bound for t in 4 on thread.x {
      alloc S: f32[4] shared {
        S[t] = A[b * 4 + t]
        barrier shared
        B[b * 4 + t] = S[3 - t]
      }
    }
  }
})");
  EXPECT_EQ(text.text, R"(#include "attune.cuh"

extern "C" __global__ void __launch_bounds__(4)
attune_reverse(const float* __restrict__ A, float* __restrict__ B) {
  __shared__ __align__(16) float S[4];
  const int b = (int)blockIdx.x;
  const int t = (int)threadIdx.x;
  S[t] = A[b * 4 + t];
  __syncthreads();
  B[b * 4 + t] = S[t * -1 + 3];
}
)");
  ASSERT_EQ(text.launches.size(), 1u);
  EXPECT_EQ(text.launches[0].function, "attune_reverse");
  EXPECT_EQ(text.launches[0].grid, (ir::Extents3{2, 1, 1}));
  EXPECT_EQ(text.launches[0].block, (ir::Extents3{4, 1, 1}));
  EXPECT_EQ(text.launches[0].shared_bytes, 0);
  EXPECT_EQ(text.scratch_bytes, 0);
}

TEST(CudaText, RegisterTilesAreUnrolled) {
  const KernelText text = printed(R"(kernel sum(A: f32[4096], B: f32[4096]) {
  bound for t in 64 on thread.x {
    alloc r: f32[4] register {
      for i in 4 { r[i] = 0.0f32 }
      for k in 1000 { for i in 4 { r[i] = r[i] + A[k * 4 + i] } }
      for i in 4 { B[t * 4 + i] = max(r[i], 0.0f32) }
    }
  }
})");
  EXPECT_EQ(text.text, R"(#include "attune.cuh"

extern "C" __global__ void __launch_bounds__(64)
attune_sum(const float* __restrict__ A, float* __restrict__ B) {
  B = (float*)__builtin_assume_aligned(B, 64);
  const int t = (int)threadIdx.x;
  {
    float r[4];
    #pragma unroll
    for (int i = 0; i < 4; ++i) {
      r[i] = 0.0f;
    }
    #pragma unroll 4
    for (int k = 0; k < 1000; ++k) {
      #pragma unroll
      for (int i = 0; i < 4; ++i) {
        r[i] = (r[i] + A[k * 4 + i]);
      }
    }
    #pragma unroll
    for (int i = 0; i < 4; ++i) {
      B[t * 4 + i] = at_max_f32(r[i], 0.0f);
    }
  }
}
)");
}

// Of loops around registers that are too long to be written out, some iterations stand side by
// side, as many as divide their number; those of a loop with barriers do not.
TEST(CudaText, LongLoopsAroundRegistersAreUnrolledInPart) {
  const auto with = [](const std::string& loop, const std::string& first) {
    return printed(
               "kernel k(A: f32[9000], B: f32[64]) { bound for t in 64 on thread.x { alloc r: "
               "f32[300] register { alloc S: f32[64] shared { for i in 300 { r[i] = 0.0f32 } " +
               loop + " { " + first +
               " for i in 300 { r[i] = r[i] + A[k * 300 + i] } } B[t] = r[7] } } } }")
        .text;
  };
  EXPECT_NE(with("for k in 9", "").find("#pragma unroll 3\n"), std::string::npos);
  EXPECT_EQ(with("for k in 7", "").find("#pragma unroll 3\n"), std::string::npos);
  EXPECT_EQ(with("for k in 9", "S[t] = 1.0f32 barrier shared").find("#pragma unroll 3\n"),
            std::string::npos);
}

// Registers are left for the blocks that a multiprocessor holds: no more than there are, than
// shared memory has room for, and than find registers for their tiles.
TEST(CudaText, RegistersAreLeftForBlocksThatFit) {
  const auto bounds = [](int blocks, int elements, int held, const target::LaunchFacts& device) {
    const auto kernel = ir::parse_kernel(fmt::format(
        "kernel k(A: f32[4096], B: f32[256]) {{ bound for b in {} on block.x {{ bound for t in 256 "
        "on thread.x {{ alloc S: f32[{}] shared {{ alloc r: f32[{}] register {{ S[t] = A[t] "
        "barrier shared r[0] = S[255 - t] B[t] = r[0] }} }} }} }} }}",
        blocks, elements, held));
    CHECK(kernel.ok(), kernel.error().message);
    const std::string text = print_kernel(*kernel, false, device).value().text;
    const auto at = text.find("__launch_bounds__");
    return text.substr(at, text.find(')', at) - at + 1);
  };
  const target::LaunchFacts device{.multiprocessors = 10, .resident_shared_bytes = 228 << 10};
  EXPECT_EQ(bounds(40, 1 << 10, 1, device), "__launch_bounds__(256)");
  EXPECT_EQ(bounds(40, 13 << 10, 1, device), "__launch_bounds__(256, 4)");
  EXPECT_EQ(bounds(40, 25 << 10, 1, device), "__launch_bounds__(256, 2)");
  EXPECT_EQ(bounds(10, 13 << 10, 1, device), "__launch_bounds__(256, 1)");
  EXPECT_EQ(bounds(40, 13 << 10, 128, device), "__launch_bounds__(256, 2)");
  EXPECT_EQ(bounds(40, 13 << 10, 1, {}), "__launch_bounds__(256, 1)");
}

// 32 bits where they suffice, and divisions that mind no sign where there is none.
TEST(CudaText, IndicesAreAsWideAsTheyMustBe) {
  const std::string text = printed(R"(kernel k(A: f32[5000000000], B: f32[100]) {
  bound for t in 100 on thread.x {
    B[t / 7 * 7 + t % 7] = A[t * 50000000] + A[(t - 50) / 3 + 50] + A[t / 8 + t % 4]
  }
})")
                               .text;
  for (const char* part :
       {"B[at_quotient(t, 7) * 7 + at_remainder(t, 7)]", "A[(int64_t)t * 50000000]",
        "A[at_div_i32((t - 50), 3) + 50]", "A[(t >> 3) + (t & 3)]"}) {
    EXPECT_NE(text.find(part), std::string::npos) << part << " in\n" << text;
  }
}

TEST(CudaText, AlignedLanesMoveTogether) {
  const std::string text = printed(R"(kernel k(A: f32[1024], H: f16[1024], B: f32[1024]) {
  bound for t in 32 on thread.x {
    B[ramp(t * 4, 1, 4)] = A[ramp(t * 4, 1, 4)] + A[ramp(t * 2 + 2, 1, 4)] + A[ramp(t, 1, 4)]
    B[ramp(t * 8, 1, 8)] = cast<f32x8>(H[ramp(t * 8, 1, 8)])
  }
})")
                               .text;
  for (const char* part :
       {"VLOAD_WIDE(f32, 4, 16, at_t0, A + (t * 4));",
        "VLOAD_WIDE(f32, 4, 8, at_t1, A + (t * 2 + 2));", "VLOAD(f32, 4, A + (t))",
        "VSTORE_WIDE(f32, 4, 16, B + (t * 4),", "VLOAD_WIDE(u16, 8, 16, "}) {
    EXPECT_NE(text.find(part), std::string::npos) << part << " in\n" << text;
  }
}

TEST(CudaText, MemoryAroundLaunchesIsScratch) {
  const KernelText text = printed(R"(kernel k(A: f32[100], B: f32[100]) {
  alloc G: f32[100] global {
    alloc H: f32[3] global {
      bound for t in 100 on thread.x { G[t] = A[t] }
      bound for t in 3 on thread.x { H[t] = G[t] }
      bound for t in 100 on thread.x { B[t] = G[99 - t] + H[t % 3] }
    }
  }
})");
  EXPECT_EQ(text.scratch_bytes, 512 + 256);
  ASSERT_EQ(text.launches.size(), 3u);
  EXPECT_EQ(text.launches[2].function, "attune_k_2");
  const auto& arguments = text.launches[2].arguments;
  ASSERT_EQ(arguments.size(), 3u);  // B, G, H
  EXPECT_FALSE(arguments[0].scratch);
  EXPECT_EQ(arguments[0].at, 1);
  EXPECT_TRUE(arguments[1].scratch);
  EXPECT_EQ(arguments[1].at, 0);
  EXPECT_TRUE(arguments[2].scratch);
  EXPECT_EQ(arguments[2].at, 512);
  EXPECT_NE(text.text.find("const float* __restrict__ G, const float* __restrict__ H"),
            std::string::npos)
      << text.text;
}

TEST(CudaText, WhatALaunchReadsBackIsNotCalledApart) {
  const KernelText text = printed(R"(kernel k(A: f32[8], B: f32[8]) {
  bound for t in 8 on thread.x {
    B[t] = A[7 - t]
    B[t] = select(A[t] < B[t], A[t], B[t])
  }
})");
  EXPECT_EQ(text.text.find("__restrict__"), std::string::npos) << text.text;
}

TEST(CudaText, MuchSharedMemoryIsAskedFor) {
  const KernelText text = printed(R"(kernel k(A: f32[64], B: f32[64]) {
  bound for t in 64 on thread.x {
    alloc S: f32[10001] shared { alloc T: f16[9000] shared {
      S[t] = A[t]
      T[t] = cast<f16>(A[t])
      barrier shared
      B[t] = S[63 - t] + cast<f32>(T[63 - t])
    } }
  }
})");
  EXPECT_EQ(text.launches[0].shared_bytes, 40016 + 18000);
  EXPECT_EQ(text.needs[0].shared_bytes, 40016 + 18000);
  for (const char* part : {"extern __shared__ __align__(16) unsigned char at_shared[];",
                           "float* const S = (float*)(at_shared + 0);",
                           "uint16_t* const T = (uint16_t*)(at_shared + 40016);"}) {
    EXPECT_NE(text.text.find(part), std::string::npos) << part << " in\n" << text.text;
  }
}

// What is too long for an axis of the device goes along x.
TEST(CudaText, LongAxesGoOneBehindTheOther) {
  const KernelText text = printed(R"(kernel k(A: f32[400000], B: f32[400000]) {
  bound for y in 100000 on block.y { bound for x in 2 on block.x {
    bound for t in 2 on thread.x { B[y * 4 + x * 2 + t] = A[y * 4 + x * 2 + t] }
  } }
})");
  EXPECT_EQ(text.launches[0].grid, (ir::Extents3{200000, 1, 1}));
  EXPECT_NE(text.text.find("const int y = (int)(blockIdx.x / 2u % 100000u);"), std::string::npos)
      << text.text;
}

// A lane's terms are loaded at once where they lie side by side, rounded where they are not yet.
TEST(CudaText, InstructionsOfWarps) {
  const ir::TensorIntrinsic& tf32 = *ir::find_tensor_intrinsic("mma_16x8x16_tf32");
  const auto text = print_kernel(warp_kernel(tf32, false));
  ASSERT_TRUE(text.ok()) << text.error().message;
  EXPECT_NE(text->text.find(R"(
    {
      const uint4 at_t0 = *(const uint4*)(a + ((t >> 2) * 32 + (t & 3) * 4));
      const uint4 at_t1 = *(const uint4*)(a + ((t >> 2) * 32 + (t & 3) * 4 + 16));
      const uint4 at_t2 = *(const uint4*)(b + ()"),
            std::string::npos)
      << text->text;
  EXPECT_NE(text->text.find("at_mma_m16n8k8_tf32(c[0], c[1], c[2], c[3], at_round_tf32(at_t0.x), "
                            "at_round_tf32(at_t1.x), at_round_tf32(at_t0.y), "
                            "at_round_tf32(at_t1.y), at_round_tf32(at_t2.x), "
                            "at_round_tf32(at_t2.y));"),
            std::string::npos)
      << text->text;
  const auto rounded = print_kernel(warp_kernel(tf32, false, true));
  EXPECT_NE(rounded->text.find("c[3], at_t0.z, at_t1.z, at_t0.w, at_t1.w, at_t2.z, at_t2.w);"),
            std::string::npos)
      << rounded->text;
  EXPECT_EQ(rounded->text.find("at_round"), std::string::npos) << rounded->text;
  const auto halves =
      print_kernel(warp_kernel(*ir::find_tensor_intrinsic("mma_16x8x16_f16"), true));
  EXPECT_NE(halves->text.find("| (uint32_t)a["), std::string::npos) << halves->text;
}

TEST(CudaText, InstructionsOfWarpsNeedWholeWarps) {
  EXPECT_EQ(refusal(R"(kernel k(A: f32[256], B: f32[256], C: f32[4]) {
  bound for t in 16 on thread.x { alloc c: f32[4] register {
    eval @mma_16x8x8_tf32<i32>(c[0], 2, 1, A[0], 8, 1, 16, B[0], 1, 8, 16, 0)
  } }
})"),
            "kernel 'k' cannot be written as CUDA: 'mma_16x8x8_tf32' is run by 32 lanes together, "
            "and thread.x has 16");
}

TEST(CudaText, RefusesWhatIsNotLowered) {
  EXPECT_EQ(
      refusal("kernel k(B: f32[4]) { vectorized for i in 4 { B[i] = 0.0f32 } }"),
      "kernel 'k' cannot be written as CUDA: loop 'i' is still marked vectorized or unrolled");
  EXPECT_EQ(refusal("kernel k(B: f32[4]) { parallel for i in 4 { B[i] = 0.0f32 } }"),
            "kernel 'k' cannot be written as CUDA: loop 'i' is shared by cores, which a card does "
            "not have");
  EXPECT_EQ(
      refusal("kernel k(B: f32[4]) { for j in 2 { bound for i in 4 on thread.x { B[i] = "
              "0.0f32 } } }"),
      "kernel 'k' cannot be written as CUDA: loop 'i' is bound to thread.x, but stands inside "
      "of other statements");
  EXPECT_EQ(
      refusal("kernel k(B: f32[2, 2]) { for j in 2 { B[j, j] = 0.0f32 } }"),
      "kernel 'k' cannot be written as CUDA: a store to buffer 'B' has 2 indices, must have 1");
}

TEST(CudaLimits, RefuseWhatDoesNotFit) {
  const KernelText text = printed(R"(kernel k(B: f32[64]) {
  bound for t in 64 on thread.x { alloc S: f32[100] shared { alloc R: f32[8] register {
    S[t] = 0.0f32
    R[0] = S[t]
    B[t] = R[0]
  } } }
})");
  EXPECT_TRUE(check_limits("k", text, {}).ok());
  const auto refused = [&](const target::LaunchFacts& facts) {
    const Status status = check_limits("k", text, facts);
    return status.ok() ? "none" : status.error().message;
  };
  EXPECT_EQ(refused({.threads_per_block = 32}),
            "kernel 'k' needs 64 threads in a block, the device has 32");
  EXPECT_EQ(refused({.shared_bytes = 128}),
            "kernel 'k' needs 400 bytes of shared memory in a block, the device has 128");
  EXPECT_EQ(refused({.register_bytes = 16}),
            "kernel 'k' needs 32 bytes of registers in a thread, the device has 16");
}

// It waits when threads know their place, before it touches memory; room for the next is where it
// begins, or where all is computed.
TEST(CudaText, WaitsForTheWorkBeforeIt) {
  const auto kernel = ir::parse_kernel(R"(kernel k(A: f32[512], B: f32[64]) {
  bound for b in 2 on block.x { bound for t in 32 on thread.x {
    alloc sum: f32[1] register {
      sum[0] = 0.0f32
      for i in 8 { sum[0] = sum[0] + A[b * 256 + t * 8 + i] }
      B[b * 32 + t] = sum[0]
    }
  } }
}
)");
  ASSERT_TRUE(kernel.ok()) << kernel.error().message;
  const KernelText waiting = print_kernel(*kernel, true).value();
  EXPECT_TRUE(waiting.launches[0].waits);
  std::size_t before = 0;
  for (const char* part :
       {"int at_overlap) {", "if (at_overlap == 1) at_let_next_begin();", "threadIdx.x",
        "at_await_work_before();", "A[", "if (at_overlap == 2) at_let_next_begin();", "B["}) {
    const std::size_t at = waiting.text.find(part, before);
    ASSERT_NE(at, std::string::npos) << part << " in\n" << waiting.text;
    before = at;
  }
  EXPECT_EQ(waiting.text.find("A["), waiting.text.find("A[", waiting.text.find("await")));
  const KernelText plain = print_kernel(*kernel).value();
  EXPECT_FALSE(plain.launches[0].waits);
  EXPECT_EQ(plain.text.find("at_overlap"), std::string::npos) << plain.text;
}

TEST(CudaText, PtxShowsWhetherItWaitsFirst) {
  const std::string head =
      ".visible .entry f(\n\t.param .u64 f_0\n)\n{\n\tld.param.u64 %rd1, [f_0];\n";
  EXPECT_TRUE(waits_before_memory(head + "\t// begin inline asm\n\tgriddepcontrol.wait;\n"
                                         "\tld.global.nc.f32 %f1, [%rd1];\n}\n"));
  EXPECT_FALSE(waits_before_memory(head + "\t@%p1 ld.global.nc.f32 %f1, [%rd1];\n"
                                          "\tgriddepcontrol.wait;\n}\n"));
  EXPECT_FALSE(waits_before_memory(head + "\tst.global.f32 [%rd1], %f1;\n}\n"));
  EXPECT_TRUE(waits_before_memory(head + "\tret;\n}\n"));
  // Every function of a text.
  EXPECT_FALSE(waits_before_memory(head + "\tgriddepcontrol.wait;\n}\n" + head +
                                   "\tred.global.add.f32 [%rd1], %f1;\n}\n"));
}

}  // namespace
}  // namespace attune::cuda
