#include "tests/support/random/random_pipeline.h"

#include <fmt/format.h>

#include "compiler/ir/interpret/interpret.h"
#include "compiler/ir/interpret/launches.h"
#include "compiler/ir/nodes/array.h"
#include "compiler/ir/text/parse.h"
#include "compiler/ir/text/print.h"
#include "compiler/lower/lower.h"

namespace attune::test {
namespace {

template <typename T, std::size_t N>
const T& any_of(Rng& rng, const T (&list)[N]) {
  return list[rng.below(N)];
}

constexpr const char* kTypes[] = {"f32", "f32", "f16", "i32", "f64"};

// What an operand is when it is fetched: itself, scaled, or with a padding.
struct Operand {
  std::string stages, read;  // stages in front of the product, and what it reads
  std::string fetched;       // the stage that is fetched; empty: a cache_read of `read`
};

Operand operand_of(Rng& rng, const std::string& name, const std::string& type, std::int64_t rows,
                   std::int64_t columns) {
  Operand operand{fmt::format("  input {}: {}[{}, {}]\n", name, type, rows, columns), name, {}};
  if (rng.chance(0.25)) {
    operand.read = operand.fetched = "pad_" + name;
    operand.stages = fmt::format(
        "  input {0}: {1}[{2}, {3}]\n"
        "  stage pad_{0}(i: {4}, j: {3}) = select(i >= 1 && i < {5}, {0}[i - 1, j], {6})\n",
        name, type, rows - 2, columns, rows, rows - 1, type[0] == 'i' ? "0i32" : "0.0" + type);
  } else if (rng.chance(0.15)) {
    operand.read = operand.fetched = "neg_" + name;
    operand.stages +=
        fmt::format("  stage neg_{0}(i: {1}, j: {2}) = neg({0}[i, j])\n", name, rows, columns);
  }
  return operand;
}

std::string fetch(Rng& rng, const Operand& operand, std::int64_t threads_x, std::int64_t threads_y,
                  std::int64_t buffers) {
  const std::string stage = operand.fetched.empty() ? "cache." + operand.read : operand.fetched;
  const std::string i = operand.fetched.empty() ? "i0" : "i";
  const std::string j = operand.fetched.empty() ? "i1" : "j";
  std::string text =
      operand.fetched.empty() ? fmt::format("cache_read {} anchor\n", operand.read) : std::string();
  text += fmt::format("compute_at {0} anchor k.0\nset_scope {0} shared\n", stage);
  if (rng.chance(0.3)) {
    text += fmt::format("storage_align {} {} {}\n", stage, 8, rng.below(8));
  }
  if (rng.chance(0.2)) text += fmt::format("layout {0} {2} {1}\n", stage, i, j);
  constexpr std::int64_t kLanes[] = {1, 2, 4, 4, 8};
  const std::int64_t lanes = any_of(rng, kLanes);
  text += fmt::format("split {} {} {}\n", stage, i, threads_y);
  text += fmt::format("split {} {} {} {}\n", stage, j, threads_x, lanes);
  text += fmt::format("bind {0} {1}.1 thread.y\nbind {0} {2}.1 thread.x\n", stage, i, j);
  if (rng.chance(0.7)) text += fmt::format("vectorize {} {}.2\n", stage, j);
  if (rng.chance(0.85)) text += fmt::format("pipeline {} {}\n", stage, buffers);
  return text;
}

}  // namespace

PipelineCase random_pipeline(Rng& rng) {
  const std::string type = any_of(rng, kTypes);
  const std::int64_t m = rng.between(3, 24), n = rng.between(3, 24), k = rng.between(3, 40);
  const Operand a = operand_of(rng, "a", type, m, k), b = operand_of(rng, "b", type, k, n);
  const std::string wide = type == "f16" ? "f32" : type;
  const auto term = [&](const std::string& read) {
    return type == wide ? read : fmt::format("cast<{}>({})", wide, read);
  };
  PipelineCase made;
  made.program = fmt::format(
      "program product {{\n{}{}  stage anchor(i: {}, j: {}) = sum(k: {}) {} * {}\n"
      "  stage 'output'(i: {}, j: {}) = neg(anchor[i, j])\n  output 'output'\n}}\n",
      a.stages, b.stages, m, n, k, term(a.read + "[i, k]"), term(b.read + "[k, j]"), m, n);
  const std::int64_t y = rng.between(1, 4), x = rng.between(1, 4);
  std::string& t = made.trace;
  t = fmt::format("split output i {} {}\nsplit output j {} {}\n", y, rng.between(1, 4), x,
                  rng.between(1, 4));
  t += "reorder output i.0 j.0 i.1 j.1 i.2 j.2\nbind output i.0 block.y\n";
  // With a loop around the pipeline, or a block for each tile.
  if (rng.chance(0.7)) t += "bind output j.0 block.x\n";
  t += "bind output i.1 thread.y\nbind output j.1 thread.x\ncompute_at anchor output j.1\n";
  t += rng.chance(0.5) ? "set_scope anchor register\n" : "set_scope anchor stack\n";
  t += fmt::format("split anchor k {}\nreorder anchor k.0 k.1 i j\n", rng.between(1, 8));
  if (rng.chance(0.2)) t += "unroll anchor k.0\n";
  const std::int64_t buffers = rng.between(2, 5);
  t += fetch(rng, a, x, y, buffers);
  t += fetch(rng, b, x, y, buffers);
  return made;
}

namespace {

// "agreed", with " async" and " staged" where they are, "none", or what is wrong.
std::string verdict_of(const PipelineCase& c, std::uint64_t seed) {
  const auto wrong = [&](const std::string& why) {
    return fmt::format("wrong seed {}: {}\n{}{}", seed, why, c.program, c.trace);
  };
  const auto program = ir::parse_program(c.program);
  if (!program.ok()) return wrong(program.error().message);
  const auto trace = schedule::parse_trace(c.trace);
  const auto state = schedule::replay(*program, *trace);
  if (!state.ok()) return wrong(state.error().message);
  lower::Options options;
  options.pipeline = lower::launch_pipeline();
  const auto lowered = lower::lower(*state, options);
  if (!lowered.ok()) return wrong(lowered.error().message);
  std::vector<ir::Array> inputs, arrays;
  Rng rng(seed);
  for (const ir::Input& input : program->inputs) {
    inputs.emplace_back(input.buffer->type, input.buffer->shape);
    for (std::int64_t i = 0; i < inputs.back().count(); ++i) {
      inputs.back().set_real(i, static_cast<double>(rng.between(-8, 8)));
    }
    arrays.push_back(inputs.back());
    arrays.back().shape = {arrays.back().count()};
  }
  const auto expected = ir::interpret(*program, inputs);
  if (!expected.ok()) return wrong(expected.error().message);
  const ir::Array& reference = expected->front();
  arrays.emplace_back(reference.type, std::vector<std::int64_t>{reference.count()});
  const std::string text = ir::to_string(lowered->main);
  const auto findings = ir::run_launches(lowered->main, arrays, static_cast<int>(inputs.size()));
  if (!findings.ok()) return wrong(findings.error().message + "\n" + text);
  for (const ir::Finding& finding : *findings) {
    return wrong(fmt::format("{}: {}\n{}", to_string(finding.kind), finding.text, text));
  }
  if (arrays.back().data != reference.data) return wrong("other results\n" + text);
  return fmt::format("agreed{}{}", text.find("@async_copy") != std::string::npos ? " async" : "",
                     text.find(".ahead") != std::string::npos ? " staged" : "");
}

}  // namespace

PipelineCounts compare_random_pipelines(std::uint64_t seed, std::int64_t wanted) {
  PipelineCounts counts;
  for (; counts.agreed < wanted && counts.failures.empty(); ++seed) {
    Rng rng(seed);
    const std::string verdict = verdict_of(random_pipeline(rng), seed);
    if (!verdict.starts_with("agreed")) {
      counts.failures.push_back(verdict);
      continue;
    }
    ++counts.agreed;
    counts.asynchronous += verdict.find(" async") != std::string::npos;
    counts.staged += verdict.find(" staged") != std::string::npos;
  }
  return counts;
}

}  // namespace attune::test
