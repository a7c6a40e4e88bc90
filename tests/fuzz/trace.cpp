// Schedules as text, replayed on a product of two small matrices.
#include "compiler/schedule/trace.h"

#include "base/check.h"
#include "tests/fuzz/harness.h"

namespace attune::fuzz {
namespace {

ir::Program small_product() {
  ir::Program program{"matmul", {}, {}, {}};
  const ir::Buffer a = ir::add_input(program, "a", ir::kF32, {12, 8});
  const ir::Buffer b = ir::add_input(program, "b", ir::kF32, {8, 20});
  const ir::Expr i = ir::var("i"), j = ir::var("j"), k = ir::var("k");
  const ir::Buffer sum =
      ir::add_reduce(program, "anchor", {{"i", 12}, {"j", 20}}, {{"k", 8}}, ir::Reduction::Sum,
                     ir::load(a, {i, k}) * ir::load(b, {k, j}));
  program.outputs = {
      ir::add_compute(program, "output", {{"i", 12}, {"j", 20}}, ir::load(sum, {i, j}))};
  return program;
}

}  // namespace

void fuzz_trace(std::string_view bytes) {
  static const ir::Program program = small_product();
  const auto trace = schedule::parse_trace(bytes);
  if (!trace.ok()) return;
  const std::string text = schedule::to_string(*trace);
  const auto again = schedule::parse_trace(text);
  CHECK(again.ok() && schedule::to_string(*again) == text, "a trace reads back as it was printed");
  constexpr std::size_t kManySteps = 200;
  if (trace->size() <= kManySteps) (void)schedule::replay(program, *trace);
}

}  // namespace attune::fuzz
