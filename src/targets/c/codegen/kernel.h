// From lowered kernels to C11 text, compiled by whoever has a C compiler. A kernel becomes one
// function, and one more for the body of each of its parallel loops; the text stands behind the
// prelude, which defines vectors (as compilers spell them), arithmetic and functions of one
// element.
#pragma once

#include <cstdint>
#include <set>
#include <string>
#include <string_view>
#include <vector>

#include "base/result.h"
#include "compiler/codegen/c_text/printer.h"
#include "compiler/ir/nodes/stmt.h"

namespace attune::c {

struct PrintOptions {
  // Begins the names of functions; PREFIX_parallel is the type of the callback (parallel_struct).
  std::string prefix;
  int threads = 1;                    // how many workers may run a parallel loop at once
  std::set<std::size_t> shared = {};  // parameters that may be the same memory as another
};

// Vector types by element tag and number of lanes; each needs a line VTYPE(tag, lanes).
using c_text::VectorTypes;

struct PrintedKernel {
  std::string declaration;  // of the function, without a semicolon
  std::string definition;   // of all functions of the kernel
  VectorTypes vectors;
  std::int64_t workspace_bytes = 0;
};

// The kernel must be lowered as for a CPU: one-dimensional buffers, no vectorized, unrolled or
// bound loops. The function is PREFIX_NAME(parallel, workspace, one pointer per parameter).
Result<PrintedKernel> print_kernel(const ir::Kernel& kernel, const PrintOptions& options);

// A part of the prelude: the text of a header. In this order: scalars, vectors, functions.
struct PreludePart {
  std::string_view name;
  std::string_view text;
};
const std::vector<PreludePart>& prelude();

// The definition of PREFIX_parallel: what the caller gives to have loops run by several threads.
std::string parallel_struct(const std::string& prefix);

// Flags with which the text becomes fast code.
inline constexpr std::string_view kCompileFlags = "-std=c11 -O3 -ffp-contract=fast -fno-math-errno";

}  // namespace attune::c
