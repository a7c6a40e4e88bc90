// For tests: one tile of a product by every instruction of warps, its operands in shared memory.
#pragma once

#include <fmt/format.h>

#include <string>
#include <vector>

#include "compiler/ir/tensor_intrinsics/tensor_intrinsic.h"
#include "compiler/ir/text/parse.h"

namespace attune::cuda {

// Terms side by side in both operands, or, `turned`, rows of the left one and columns of the right.
inline ir::Kernel warp_kernel(const ir::TensorIntrinsic& intrinsic, bool turned,
                              bool rounded = false) {
  const ir::Program program = intrinsic.program();
  const auto terms = program.stages[0].reduce_axes[0].extent;
  const std::string type = ir::to_string(program.inputs[0].buffer->type);
  const std::string a =
      turned ? fmt::format("1, {}, {}", 16, 2) : fmt::format("{}, {}, {}", terms, 1, 2 * terms);
  const std::string b =
      turned ? fmt::format("{}, {}, {}", 8, 1, 2) : fmt::format("1, {}, {}", terms, 2 * terms);
  const std::string flag = intrinsic.rounding.empty() ? "" : rounded ? ", 3" : ", 0";
  const std::string text = fmt::format(
      R"(kernel {0}{8}(A: {1}[{2}], B: {1}[{3}], C: f32[128]) {{
  bound for t in 32 on thread.x {{
    alloc a: {1}[{2}] shared {{ alloc b: {1}[{3}] shared {{ alloc c: f32[4] register {{
      for i in {4} {{ a[i * 32 + t] = A[i * 32 + t] }}
      for i in {5} {{ b[i * 32 + t] = B[i * 32 + t] }}
      for i in 4 {{ c[i] = 1.0f32 }}
      barrier shared
      eval @{0}<i32>(c[0], 2, 1, a[0], {6}, b[0], {7}{9})
      for i in 2 {{ for j in 2 {{
        C[(t / 4 * 2 + i) * 8 + t % 4 * 2 + j] = c[i * 2 + j]
      }} }}
    }} }} }}
  }}
}})",
      intrinsic.name, type, 16 * terms, 8 * terms, terms / 2, terms / 4, a, b,
      turned ? "_turned" : "", flag);
  const auto kernel = ir::parse_kernel(text);
  CHECK(kernel.ok(), kernel.ok() ? "" : kernel.error().message + text);
  return *kernel;
}

// Of all instructions of warps, both ways.
inline std::vector<ir::Kernel> warp_kernels() {
  std::vector<ir::Kernel> kernels;
  for (const ir::TensorIntrinsic& intrinsic : ir::tensor_intrinsics()) {
    if (!intrinsic.warp) continue;
    for (const bool turned : {false, true}) kernels.push_back(warp_kernel(intrinsic, turned));
  }
  return kernels;
}

}  // namespace attune::cuda
