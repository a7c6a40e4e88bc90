#include "compiler/ops/forms/attention.h"

#include <fmt/format.h>

#include <cmath>

#include "compiler/ops/element_types.h"
#include "compiler/ops/limits.h"

namespace attune::ops {
namespace {

Status check(const AttentionOptions& options) {
  const NamedSize sizes[] = {{"b", options.b},   {"heads", options.heads},
                             {"kv", options.kv}, {"m", options.m, kFewestQueries},
                             {"n", options.n},   {"d", options.d},
                             {"e", options.e}};
  ATTUNE_RETURN_IF_ERROR(check_sizes(sizes));
  if (options.heads % options.kv != 0) {
    return invalid(fmt::format("heads={} is no multiple of kv={}", options.heads, options.kv),
                   "each head of keys and values serves equally many heads of queries");
  }
  if (options.causal && options.n < options.m) {
    return invalid(fmt::format("n={} is less than m={}, and the first queries see no key",
                               options.n, options.m),
                   "causal attention has as many keys as queries at least");
  }
  return check_dtype("attention", options.dtype, kFloatTypes);
}

// Columns less rows that count, where it is causal.
std::int64_t last_seen(const AttentionOptions& options) { return options.n - options.m; }

double scale_of(const AttentionOptions& options) {
  return 1 / std::sqrt(static_cast<double>(options.d));
}

AttentionOptions options_from(const Arguments& arguments) {
  return {.b = arguments.number("b"),
          .heads = arguments.number("heads"),
          .kv = arguments.number("kv"),
          .m = arguments.number("m"),
          .n = arguments.number("n"),
          .d = arguments.number("d"),
          .e = arguments.number("e"),
          .causal = arguments.word("causal") == "yes",
          .dtype = arguments.dtype};
}

// Heads of a group are a dimension of their own, in which keys and values are repeated.
SpecGraph graph_of(const Arguments& arguments) {
  const AttentionOptions s = options_from(arguments);
  const std::int64_t rows = s.heads / s.kv;
  const std::vector<std::int64_t> turned{0, 1, 2, 4, 3};
  SpecGraph graph{
      {{"transpose", {{"k", {s.b, s.kv, 1, s.n, s.d}}}, {{"perm", turned}}},
       {.op = "matmul", .operands = {{"q", {s.b, s.kv, rows, s.m, s.d}}}, .result_at = 1},
       {.op = "mul", .numbers = {scale_of(s)}},
       {"softmax", {}, {{"axis", std::int64_t{4}}}},
       {"matmul", {{"v", {s.b, s.kv, 1, s.n, s.e}}}}}};
  if (s.causal) {
    graph.nodes.insert(graph.nodes.begin() + 3,
                       {"band_mask", {}, {{"low", -s.m}, {"high", last_seen(s)}}});
  }
  return graph;
}

}  // namespace

double flops(const AttentionOptions& options) {
  auto seen = static_cast<double>(options.m) * static_cast<double>(options.n);
  if (options.causal)
    seen -= static_cast<double>(options.m) * static_cast<double>(options.m - 1) / 2;
  return 2.0 * static_cast<double>(options.b * options.heads) * seen *
         static_cast<double>(options.d + options.e);
}

Result<ir::Program> build_attention(const AttentionOptions& s) {
  ATTUNE_RETURN_IF_ERROR(check(s));
  const std::int64_t rows = s.heads / s.kv;
  ir::Program program{"attention", {}, {}, {}};
  const ir::Buffer k = ir::add_input(program, "k", s.dtype, {s.b, s.kv, 1, s.n, s.d});
  const ir::Buffer q = ir::add_input(program, "q", s.dtype, {s.b, s.kv, rows, s.m, s.d});
  const ir::Buffer v = ir::add_input(program, "v", s.dtype, {s.b, s.kv, 1, s.n, s.e});
  const std::vector<ir::Axis> lead{{"b", s.b}, {"g", s.kv}, {"h", rows}, {"i", s.m}};
  const auto with = [&](const ir::Axis& axis) {
    std::vector<ir::Axis> axes = lead;
    axes.push_back(axis);
    return axes;
  };
  const ir::Expr b = ir::var("b"), g = ir::var("g"), h = ir::var("h"), i = ir::var("i"),
                 j = ir::var("j"), t = ir::var("t"), none(0);
  const auto wide = [](const ir::Expr& e) { return ir::cast(ir::kF32, e); };
  const ir::Axis keys{"j", s.n};
  const ir::Buffer dots =
      ir::add_reduce(program, "dots", with(keys), {{"t", s.d}}, ir::Reduction::Sum,
                     wide(ir::load(q, {b, g, h, i, t})) * wide(ir::load(k, {b, g, none, j, t})));
  ir::Expr x = ir::load(dots, {b, g, h, i, j}) * ir::float_imm(scale_of(s));
  if (s.causal) {
    x = ir::select(j <= i + ir::Expr(last_seen(s)), x,
                   ir::identity_of(ir::Reduction::Max, ir::kF32));
  }
  const ir::Buffer greatest = ir::add_reduce(program, "max", lead, {keys}, ir::Reduction::Max, x);
  const ir::Buffer power =
      ir::add_compute(program, "exp", with(keys),
                      ir::math(ir::MathFn::Exp, {x - ir::load(greatest, {b, g, h, i})}));
  const ir::Expr weight = ir::load(power, {b, g, h, i, j});
  const ir::Buffer sum = ir::add_reduce(program, "sum", lead, {keys}, ir::Reduction::Sum, weight);
  const ir::Buffer anchor =
      ir::add_reduce(program, "anchor", with({"c", s.e}), {keys}, ir::Reduction::Sum,
                     weight * wide(ir::load(v, {b, g, none, j, ir::var("c")})));
  const ir::Expr share = ir::float_imm(1) / ir::load(sum, {b, g, h, i});
  program.outputs = {
      ir::add_compute(program, "output", with({"c", s.e}),
                      ir::cast(s.dtype, ir::load(anchor, {b, g, h, i, ir::var("c")}) * share))};
  return check_memory(std::move(program));
}

Family attention_family() {
  return {"attention",
          {{"heads"},
           {"m"},
           {"d"},
           {"n", KeyKind::Number, "=m"},
           {"e", KeyKind::Number, "=d"},
           {"kv", KeyKind::Number, "=heads"},
           {"b", KeyKind::Number, "1"},
           {"causal", KeyKind::Word, "no", {"no", "yes"}}},
          [](const Arguments& arguments) -> Result<Operator> {
            const AttentionOptions options = options_from(arguments);
            ATTUNE_ASSIGN(ir::Program program, build_attention(options));
            return Operator{.program = std::move(program),
                            .flops = flops(options),
                            .tolerance = 2 * tolerance_of(options.dtype)};
          },
          graph_of};
}

}  // namespace attune::ops
