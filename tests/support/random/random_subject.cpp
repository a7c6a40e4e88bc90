#include "tests/support/random/random_subject.h"

#include <fmt/format.h>

#include <algorithm>

#include "base/check.h"
#include "compiler/frontend/op_spec/op_spec.h"
#include "compiler/ir/text/parse.h"
#include "compiler/model/load/model.h"
#include "compiler/ops/forms/family.h"
#include "tests/support/own_programs.h"
#include "tuner/templates/fused_testing.h"

namespace attune::test {
namespace {

template <typename T, std::size_t N>
const T& any_of(Rng& rng, const T (&list)[N]) {
  return list[rng.below(N)];
}

std::int64_t size(Rng& rng) {
  constexpr std::int64_t kSizes[] = {1, 2, 3, 4, 5, 7, 8, 9, 13, 16, 17, 24, 31, 33};
  return any_of(rng, kSizes);
}

std::string product_spec(Rng& rng, std::string_view family) {
  std::int64_t m = size(rng), n = size(rng), k = size(rng);
  while (m * n * k > 8000) (m > n ? m : n) = (m > n ? m : n) / 2 + 1;
  const std::string batch =
      family == "batch_matmul" ? fmt::format("b={},", rng.between(1, 3)) : std::string();
  return fmt::format("{}:{}m={},n={},k={}", family, batch, m, n, k);
}

std::string convolution_spec(Rng& rng, std::string_view family) {
  const std::int64_t kernel = rng.between(1, 3), other = rng.chance(0.7) ? kernel : 4 - kernel;
  const std::int64_t stride = rng.chance(0.7) ? 1 : 2, dilation = rng.chance(0.8) ? 1 : 2;
  constexpr std::int64_t kChannels[] = {1, 3, 4, 5, 8, 9, 16};
  constexpr std::int64_t kGrouped[] = {8, 16, 32};
  std::int64_t groups = 1, ic = any_of(rng, kChannels), oc = any_of(rng, kChannels);
  if (rng.chance(0.15)) groups = 2, ic = any_of(rng, kGrouped), oc = any_of(rng, kGrouped);
  return fmt::format(
      "{}:n={},h={},w={},ic={},oc={},kh={},kw={},stride={},pad={},dilation={},groups={}", family,
      rng.chance(0.8) ? 1 : 2, rng.between(3, 7), rng.between(3, 7), ic, oc, kernel, other, stride,
      rng.between(0, 2), dilation, groups);
}

std::string window_spec(Rng& rng, std::string_view family) {
  return fmt::format("{}:n={},h={},w={},c={},k={},stride={},pad={}", family,
                     rng.chance(0.8) ? 1 : 2, rng.between(3, 9), rng.between(3, 9),
                     rng.between(1, 20), rng.between(1, 3), rng.between(1, 3), rng.between(0, 1));
}

std::string chain(Rng& rng) {
  constexpr const char* kOps[] = {"relu", "sigmoid", "gelu", "add",  "mul", "max",
                                  "bias", "scale",   "neg",  "tanh", "abs", "hard_swish"};
  std::string text = any_of(rng, kOps);
  for (std::uint64_t more = rng.below(3); more > 0; --more) {
    text += std::string("+") + any_of(rng, kOps);
  }
  return text;
}

std::string spec_of(Rng& rng, const std::string& family) {
  if (family == "matmul" || family == "dense" || family == "batch_matmul") {
    return product_spec(rng, family);
  }
  if (family == "conv2d" || family == "conv2d_transpose") return convolution_spec(rng, family);
  if (family == "depthwise" || family == "maxpool" || family == "avgpool") {
    return window_spec(rng, family);
  }
  const std::string rows =
      fmt::format("{}:m={},n={}", family, rng.between(1, 9), rng.between(1, 70));
  constexpr const char* kReductions[] = {"sum", "mean", "prod", "max", "min", "argmax", "argmin"};
  if (family == "reduce") return rows + ",op=" + any_of(rng, kReductions);
  if (family == "elementwise") return rows + ",op=" + chain(rng);
  if (family == "transpose") {
    constexpr const char* kPermutations[] = {"012", "021", "102", "120", "201", "210"};
    return fmt::format("transpose:d0={},d1={},d2={},perm={}", rng.between(1, 9), rng.between(1, 18),
                       rng.between(1, 18), any_of(rng, kPermutations));
  }
  return rows;
}

}  // namespace

std::string random_op_spec(Rng& rng, const target::Target& target) {
  constexpr const char* kTypes[] = {"f16", "bf16", "i8", "u8", "i32", "i64", "bool"};
  const auto families = ops::families();
  for (int attempt = 0; attempt < 200; ++attempt) {
    const std::string spec = spec_of(rng, families[rng.below(families.size())].name);
    const std::string typed =
        rng.chance(0.6) ? spec : fmt::format("{},dtype={}", spec, any_of(rng, kTypes));
    for (const std::string& candidate : {typed, spec}) {
      if (op_spec::parse_op_spec(candidate, target).ok()) return candidate;
    }
  }
  CHECK(false, "a valid operator among 200");
}

// What a graph might fuse around an operator.
void fuse_some(Rng& rng, Subject& subject) {
  const ir::Program& program = subject.program;
  if (program.outputs.size() != 1 || program.outputs[0]->type != ir::kF32) return;
  if (program.stages.back().outputs.size() != 1) return;
  const templates::Epilogue epilogue{.bias = rng.chance(0.5),
                                     .residual = rng.chance(0.5),
                                     .scale = rng.chance(0.3),
                                     .relu = rng.chance(0.7)};
  const bool prologue = rng.chance(0.3);
  for (ir::Program* p : {&subject.program, &subject.reference}) {
    *p = templates::with_epilogue(std::move(*p), epilogue);
    if (prologue) *p = templates::with_prologue(std::move(*p));
  }
  subject.name += " fused";
  subject.tolerance = std::max(subject.tolerance, 1e-5);
}

// Attention as graphs make it: one task of several stages.
Subject random_attention(Rng& rng, const target::Target& target) {
  const std::int64_t kv = rng.between(1, 2), queries = rng.between(8, 40);
  const bool long_rows = rng.chance(0.15), causal = rng.chance(0.7);
  const std::int64_t keys = long_rows ? rng.between(1024, 1050) : queries + rng.between(0, 30);
  model::ModelOptions options;
  options.model =
      fmt::format("attention:heads={},kv={},m={},n={},d={},e={},causal={}", kv * rng.between(1, 2),
                  kv, queries, keys, rng.between(1, 5), rng.between(1, 20), causal ? "yes" : "no");
  options.target = target::to_string(target);
  model::LoadedModel model = model::load_model(options).value();
  const model::CompileOptions compile = model::compile_options(model, options);
  const auto tasks = model::prepare_tasks(std::move(model.graph), compile);
  CHECK(tasks.ok(), tasks.ok() ? "" : tasks.error().message);
  const graph::Task& task = tasks->distinct.front();
  Subject subject{options.model, task.op.program, task.op.program, task.op.tolerance};
  if (!task.op.alternatives.empty() && rng.chance(0.7)) {
    subject.name += " algorithm " + task.op.alternatives[0].name;
    subject.program = task.op.alternatives[0].program;
  }
  return subject;
}

Subject random_operator(Rng& rng, const target::Target& target) {
  if (rng.chance(0.1)) return random_attention(rng, target);
  const std::string spec = random_op_spec(rng, target);
  op_spec::OpTask task = op_spec::parse_op_spec(spec, target).value();
  Subject subject{spec, task.program, task.program, task.tolerance};
  if (!task.alternatives.empty() && rng.chance(0.3)) {
    const auto& other = task.alternatives[rng.below(task.alternatives.size())];
    subject.name += " algorithm " + other.name;
    subject.program = other.program;
    subject.tolerance = other.tolerance;
  }
  if (rng.chance(0.3)) fuse_some(rng, subject);
  return subject;
}

Subject random_subject(Rng& rng, const target::Target& target) {
  if (rng.chance(0.75)) return random_operator(rng, target);
  const auto programs = own_programs();
  const ir::Program program = ir::parse_program(programs[rng.below(programs.size())]).value();
  return {program.name, program, program, 2e-5};
}

}  // namespace attune::test
