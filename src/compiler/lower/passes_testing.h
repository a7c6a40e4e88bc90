// Small kernels in text, for tests of the passes over statements.
#pragma once

#include <gtest/gtest.h>

#include <string>
#include <vector>

#include "compiler/ir/interpret/interpret.h"
#include "compiler/ir/text/parse.h"
#include "compiler/ir/text/print.h"
#include "compiler/ir/verify/verify.h"
#include "compiler/lower/statement_passes.h"

namespace attune::lower {

// How many elements A and B have.
struct Sizes {
  std::int64_t read = 32, written = 32;
};

// The kernel is `kernel k(A: f32[32], B: f32[32]) { … }`; A is read, B written.
inline ir::Kernel kernel_of(const std::string& body, const Sizes& sizes = {}) {
  const std::string head = "kernel k(A: f32[" + std::to_string(sizes.read) + "], B: f32[" +
                           std::to_string(sizes.written) + "]) {\n";
  const auto kernel = ir::parse_kernel(head + body + "}\n");
  CHECK(kernel.ok(), kernel.error().message);
  return *kernel;
}

inline std::vector<ir::Array> run(const ir::Kernel& kernel, const Sizes& sizes = {}) {
  std::vector<ir::Array> arrays{ir::Array(ir::kF32, {sizes.read}),
                                ir::Array(ir::kF32, {sizes.written})};
  for (int i = 0; i < sizes.read; ++i) arrays[0].set_real(i, 0.25 * i - 2);
  for (int i = 0; i < sizes.written; ++i) arrays[1].set_real(i, -1 - i);
  const Status status = ir::interpret(kernel, arrays);
  EXPECT_TRUE(status.ok()) << status.error().message;
  return arrays;
}

// The kernel after the pass, which must be well formed and mean the same.
inline ir::Kernel changed_by(ir::Stmt (*pass)(const ir::Stmt&), const std::string& body,
                             const Sizes& sizes = {}) {
  const ir::Kernel before = kernel_of(body, sizes);
  ir::Kernel changed = before;
  changed.body = pass(before.body);
  const Status verified = ir::verify(changed);
  EXPECT_TRUE(verified.ok()) << verified.error().message;
  EXPECT_EQ(run(before, sizes)[1].data, run(changed, sizes)[1].data);
  return changed;
}

inline std::string text_of(const ir::Stmt& s) {
  const auto* block = ir::as<ir::Block>(s);
  if (!block) return ir::to_string(s);
  std::string text;
  for (const ir::Stmt& child : block->stmts) text += ir::to_string(child);
  return text;
}

// Its body.
inline std::string after(ir::Stmt (*pass)(const ir::Stmt&), const std::string& body) {
  return "\n" + text_of(changed_by(pass, body).body);
}

}  // namespace attune::lower
