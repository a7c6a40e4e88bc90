// The text form of expressions, statements, kernels and programs: one form for people, golden tests
// and keys. It is unambiguous and parse.h reads it back. Variables of the index type and i64
// constants are written plainly, others carry their type: `f:f32`, `2.5f32`, `3i32`. A loop runs
// `in` its extent, `from` its minimum (0 when not written).
//
//   kernel copy(A: f32[4, 8], B: f32[4, 8]) workspace 64 {
//     alloc T: f32[8] stack {
//       parallel for i in 3 from 1 with grain = '1' {
//         T[ramp(0, 1, 8)] = A[i, ramp(0, 1, 8)] * broadcast(2.0f32, 8)
//         if (i < 3) {
//           B[i, ramp(0, 1, 8)] = T[ramp(0, 1, 8)]
//         }
//       }
//     }
//   }
//
//   program dense {
//     input A: f32[4, 8]
//     constant W: f32[8, 8]
//     stage anchor(i: 4, j: 8) = sum(k: 8) A[i, k] * W[k, j]
//     output anchor
//   }
#pragma once

#include <cstdint>
#include <string>

#include "compiler/ir/nodes/stmt.h"
#include "compiler/ir/nodes/tensor_expr.h"

namespace attune::ir {

std::string to_string(const Expr& e);
// One line per statement, `indent` spaces deep.
std::string to_string(const Stmt& s, int indent = 0);
std::string to_string(const Kernel& kernel);
std::string to_string(const Program& program);

// A hash of the program's text: the same on every platform.
std::uint64_t hash(const Program& program);

}  // namespace attune::ir
