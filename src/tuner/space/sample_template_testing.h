// A small matrix product and a template for it, for the tests of the layers that search spaces:
// register tile, unrolling of the reduction, and whether the right operand is packed.
#pragma once

#include <fmt/format.h>

#include "tuner/space/template_space.h"

namespace attune::space {

inline ir::Program sample_program(std::int64_t m, std::int64_t n, std::int64_t k) {
  ir::Program program{"product", {}, {}, {}};
  const ir::Buffer a = ir::add_input(program, "a", ir::kF32, {m, k});
  const ir::Buffer b = ir::add_input(program, "b", ir::kF32, {k, n});
  const ir::Expr i = ir::var("i"), j = ir::var("j");
  const ir::Buffer anchor =
      ir::add_reduce(program, "anchor", {{"i", m}, {"j", n}}, {{"k", k}}, ir::Reduction::Sum,
                     ir::load(a, {i, ir::var("k")}) * ir::load(b, {ir::var("k"), j}));
  program.outputs = {
      ir::add_compute(program, "output", {{"i", m}, {"j", n}}, ir::load(anchor, {i, j}))};
  return program;
}

inline target::Target sample_target() {
  target::Target target;
  target.threads = 1;
  return target;
}

inline bool sample_fits(const ir::Program& program) { return program.find_stage("anchor"); }

inline std::vector<Knob> sample_knobs(const ir::Program& program, const target::Target&) {
  const ir::Stage& anchor = *program.find_stage("anchor");
  return {split_even_tails("rows", anchor.axes[0].extent, 16),
          split_list("vectors", anchor.axes[1].extent, {1, 2, 3, 4, 6}),
          split_list("steps", anchor.reduce_axes[0].extent, {1, 2, 4, 8}),
          annotate_with("pack", {0, 1})};
}

inline schedule::Trace sample_trace(const ir::Program&, const target::Target& target,
                                    const Values& values) {
  using namespace schedule;
  const std::int64_t lanes = target.lanes(4), columns = values["vectors"] * lanes;
  Trace trace;
  if (values["pack"] == 1) {
    trace.push_back(CacheRead{"b", "anchor"});
    trace.push_back(
        Layout{"cache.b", {fmt::format("i1/{}", columns), "i0", fmt::format("i1%{}", columns)}});
    trace.push_back(Split{"cache.b", "i1", {lanes}});
    trace.push_back(Vectorize{"cache.b", "i1.1"});
  }
  trace.push_back(Tile{"output", "i", "j", values["rows"], columns});
  trace.push_back(Split{"output", "j.1", {lanes}});
  trace.push_back(Unroll{"output", "i.1"});
  trace.push_back(Unroll{"output", "j.1.0"});
  trace.push_back(Vectorize{"output", "j.1.1"});
  trace.push_back(ComputeAt{"anchor", "output", "j.0"});
  trace.push_back(SetScope{"anchor", "register"});
  trace.push_back(Split{"anchor", "j", {lanes}});
  trace.push_back(Split{"anchor", "k", {values["steps"]}});
  trace.push_back(Reorder{"anchor", {"k.0", "k.1", "i", "j.0", "j.1"}});
  trace.push_back(Unroll{"anchor", "k.1"});
  trace.push_back(Unroll{"anchor", "i"});
  trace.push_back(Unroll{"anchor", "j.0"});
  trace.push_back(Vectorize{"anchor", "j.1"});
  return trace;
}

inline Settings sample_defaults(const ir::Program&, const target::Target&) {
  return {{"rows", {{4}}}, {"vectors", {{3}}}, {"steps", {{4}}}, {"pack", {{1}}}};
}

inline std::optional<std::string> sample_reject(const ir::Program&, const target::Target&,
                                                const Values& values) {
  if (values["rows"] * values["vectors"] < 2) return "too few accumulators";
  return std::nullopt;
}

inline constexpr Template kSampleTemplate{"product",    sample_fits,     sample_knobs,
                                          sample_trace, sample_defaults, sample_reject};

inline TemplateSpace sample_space(std::int64_t m = 64, std::int64_t n = 96, std::int64_t k = 64) {
  return {{{"direct", sample_program(m, n, k)}}, {&kSampleTemplate, 1}, sample_target()};
}

}  // namespace attune::space
