// Kernels printed as C compute what the interpreter computes: random loops, branches and guarded
// loads, random index arithmetic and conditions on scalars and vectors; many to a file, since a C
// compiler takes its time to start.
#include <gtest/gtest.h>

#include <cmath>

#include "compiler/ir/interpret/interpret.h"
#include "compiler/ir/text/print.h"
#include "targets/c/codegen/compiled_c_testing.h"
#include "tests/support/random/random_ir.h"

namespace attune::test {
namespace {

using namespace ir;

constexpr int kKernels = 150;
constexpr int kRows = 16;

struct Trial {
  Kernel kernel;
  std::vector<Array> arrays, expected;
};

// Keeps those kernels that the interpreter can run: an undefined program may do anything.
void add_trial(Kernel kernel, std::vector<Array> arrays, std::vector<Trial>& trials) {
  Trial trial{std::move(kernel), arrays, std::move(arrays)};
  trial.kernel.name = "k" + std::to_string(trials.size());
  if (interpret(trial.kernel, trial.expected).ok()) trials.push_back(std::move(trial));
}

void expect_agreement(const std::vector<Trial>& trials, const std::string& flags) {
  std::vector<Kernel> kernels;
  for (const Trial& trial : trials) kernels.push_back(trial.kernel);
  const c::CompiledC compiled(kernels, flags);
  for (std::size_t k = 0; k < trials.size(); ++k) {
    const std::vector<Array> got = compiled.run(k, trials[k].arrays);
    for (std::size_t i = 0; i < got.size(); ++i) {
      for (std::int64_t at = 0; at < got[i].count(); ++at) {
        const double want = trials[k].expected[i].real(at), have = got[i].real(at);
        ASSERT_TRUE(want == have || std::abs(want - have) <= 1e-5 * std::abs(want))
            << flags << "\n"
            << to_string(kernels[k]) << "\nelement " << at << " of " << kernels[k].params[i]->name
            << " is " << have << ", not " << want;
      }
    }
  }
}

void expect_agreement(const std::vector<Trial>& trials) {
  ASSERT_GT(trials.size(), kKernels / 4u);
  // Random expressions compare a variable with itself, of which compilers warn.
  expect_agreement(trials, "-O1 -w");
  expect_agreement(trials, "-O1 -w -DATTUNE_PORTABLE");
}

TEST(CCodegen, RunsKernelsLikeTheInterpreter) {
  std::vector<Trial> trials;
  for (std::uint64_t seed = 1; seed <= kKernels; ++seed) {
    RandomIr random(seed);
    Kernel kernel = random.kernel(4);
    std::vector<Array> arrays;
    for (const Buffer& buffer : kernel.params) {
      arrays.emplace_back(buffer->type, buffer->shape);
      for (std::int64_t i = 0; i < arrays.back().count(); ++i) {
        arrays.back().set_real(i, static_cast<double>(random.rng().between(-8, 8)));
      }
    }
    add_trial(std::move(kernel), std::move(arrays), trials);
  }
  expect_agreement(trials);
}

TEST(CCodegen, ComputesIndicesLikeTheInterpreter) {
  std::vector<Trial> trials;
  for (std::uint64_t seed = 1; seed <= kKernels; ++seed) {
    RandomIr random(seed);
    random.make_variables();
    const std::vector<Expr> values{random.index(4), random.condition(4), random.vector_index(4, 4),
                                   random.vector_index(3, 3), random.vector_condition(3, 8)};
    Kernel kernel = stores_of(random.variables(), values, kRows);
    std::vector<Array> arrays;
    for (const Buffer& buffer : kernel.params) arrays.emplace_back(buffer->type, buffer->shape);
    std::int64_t at = 0;
    for (int row = 0; row < kRows; ++row) {
      for (const std::int64_t value : random.point()) arrays[0].set_int(at++, value);
    }
    add_trial(std::move(kernel), std::move(arrays), trials);
  }
  expect_agreement(trials);
}

}  // namespace
}  // namespace attune::test
