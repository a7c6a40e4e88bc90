// Generated code computes what the interpreter computes: random kernels with loops, branches and
// guarded loads, and random index arithmetic and conditions on scalars and vectors.

#include <gtest/gtest.h>
#include <rapidcheck/gtest.h>

#include <cstring>

#include "compiler/ir/interpret/interpret.h"
#include "compiler/ir/text/print.h"
#include "runtime/execution/thread_pool.h"
#include "targets/cpu/device/kernel_module.h"
#include "targets/kinds.h"
#include "tests/support/compiled_loops.h"
#include "tests/support/random/random_ir.h"

namespace attune::test {
namespace {

using namespace ir;

constexpr int kRows = 16;

const target::Target& target() {
  static const target::Target resolved = [] {
    target::Target wanted;
    wanted.threads = 1;
    return targets::resolve(wanted).value();
  }();
  return resolved;
}

// Runs the compiled kernel on copies of the arrays.
std::vector<Array> run_compiled(const Kernel& kernel, std::vector<Array> arrays) {
  const auto compiled = compile_loops(kernel, target());
  if (!compiled.ok()) RC_FAIL(compiled.error().message);
  const auto module = cpu::KernelModule::load(compiled->code).value();
  std::vector<std::unique_ptr<char, decltype(&std::free)>> memories;
  std::vector<void*> buffers;
  const auto aligned = [&](std::size_t bytes) {
    auto* memory = static_cast<char*>(std::aligned_alloc(64, (bytes + 64) / 64 * 64));
    memories.emplace_back(memory, &std::free);
    return memory;
  };
  for (const Array& array : arrays) {
    buffers.push_back(aligned(array.data.size()));
    std::memcpy(buffers.back(), array.data.data(), array.data.size());
  }
  void* workspace = aligned(static_cast<std::size_t>(compiled->kernels[0].workspace_bytes));
  runtime::ThreadPool pool({.workers = 1, .cores = {}, .spin_us = 0});
  const auto entry = module.kernel(compiled->kernels[0].symbol).value();
  const Status status = cpu::run_kernel(entry, pool, workspace, buffers);
  if (!status.ok()) RC_FAIL(status.error().message);
  for (std::size_t i = 0; i < arrays.size(); ++i) {
    std::memcpy(arrays[i].data.data(), buffers[i], arrays[i].data.size());
  }
  return arrays;
}

void expect_agreement(const Kernel& kernel, const std::vector<Array>& arrays) {
  std::vector<Array> expected = arrays;
  if (!interpret(kernel, expected).ok()) return;  // an undefined program may do anything
  const std::vector<Array> got = run_compiled(kernel, arrays);
  for (std::size_t i = 0; i < got.size(); ++i) {
    for (std::int64_t at = 0; at < got[i].count(); ++at) {
      const double want = expected[i].real(at), have = got[i].real(at);
      if (want == have || std::abs(want - have) <= 1e-5 * std::abs(want)) continue;
      RC_FAIL(to_string(kernel) + "\nelement " + std::to_string(at) + " of " +
              kernel.params[i]->name + " is " + std::to_string(have) + ", not " +
              std::to_string(want));
    }
  }
}

RC_GTEST_PROP(Codegen, RunsKernelsLikeTheInterpreter, (std::uint64_t seed)) {
  RandomIr random(seed);
  const Kernel kernel = random.kernel(4);
  std::vector<Array> arrays;
  for (const Buffer& buffer : kernel.params) {
    arrays.emplace_back(buffer->type, buffer->shape);
    for (std::int64_t i = 0; i < arrays.back().count(); ++i) {
      arrays.back().set_real(i, static_cast<double>(random.rng().between(-8, 8)));
    }
  }
  expect_agreement(kernel, arrays);
}

RC_GTEST_PROP(Codegen, ComputesIndicesLikeTheInterpreter, (std::uint64_t seed)) {
  RandomIr random(seed);
  random.make_variables();
  std::vector<Expr> values;
  for (int i = 0; i < 4; ++i) {
    values.push_back(random.index(4));
    values.push_back(random.condition(4));
    values.push_back(random.vector_index(4, 4));
    values.push_back(random.vector_condition(3, 8));
  }
  const Kernel kernel = stores_of(random.variables(), values, kRows);
  std::vector<Array> arrays;
  for (const Buffer& buffer : kernel.params) arrays.emplace_back(buffer->type, buffer->shape);
  std::int64_t at = 0;
  for (int row = 0; row < kRows; ++row) {
    for (const std::int64_t value : random.point()) arrays[0].set_int(at++, value);
  }
  expect_agreement(kernel, arrays);
}

}  // namespace
}  // namespace attune::test
