#include <algorithm>

#include <fmt/format.h>

#include "base/check.h"
#include "compiler/ir/nodes/rewrite.h"
#include "compiler/ir/simplify/simplify.h"
#include "compiler/ir/verify/verify.h"
#include "compiler/lower/flatten.h"
#include "compiler/lower/lower.h"
#include "compiler/lower/nest.h"
#include "compiler/lower/statement_passes.h"

namespace attune::lower {

namespace {

// A pass over statements as a pass over a kernel.
template <ir::Stmt (*Run)(const ir::Stmt&)>
ir::Kernel on_body(const ir::Kernel& kernel, const target::Target&) {
  ir::Kernel changed = kernel;
  changed.body = Run(kernel.body);
  return changed;
}

// One that needs nothing of the target.
template <ir::Kernel (*Run)(const ir::Kernel&)>
ir::Kernel anywhere(const ir::Kernel& kernel, const target::Target&) {
  return Run(kernel);
}

ir::Stmt simplify_all(const ir::Stmt& s) { return ir::simplify(s); }

ir::Kernel vectorize(const ir::Kernel& kernel, const target::Target& target) {
  ir::Kernel changed = kernel;
  changed.body = vectorize_loops(kernel.body, {.masked_bytes = target.masked_bytes});
  return changed;
}

}  // namespace

Pipeline vector_pipeline() {
  static constexpr Pass all[] = {
      {"simplify", "canonical indices, decided conditions", on_body<simplify_all>},
      {"hoist_guards", "conditions leave the loops they do not depend on", on_body<hoist_guards>},
      {"tighten_loops", "conditions become loop ranges", on_body<tighten_loops>},
      {"name_parts", "parts of fused loops as variables", on_body<name_parts>},
      {"partition_loops", "main parts of loops without conditions", on_body<partition_loops>},
      {"flatten", "one index per access", anywhere<flatten>},
      {"prefetch_loads", "requests for what will be read later", on_body<prefetch_loads>},
      {"claim_stores", "memory that is written later is written to early", on_body<claim_stores>},
      {"vectorize_loops", "vectorised loops as vector expressions", vectorize},
      {"simplify_vectors", "canonical vector indices", on_body<simplify_all>},
      {"unroll_loops", "unrolled loops written out", on_body<unroll_loops>},
  };
  return all;
}

Pipeline launch_pipeline() {
  static constexpr Pass all[] = {
      {"pipeline_copies", "copies to shared memory run ahead of those who read them",
       on_body<pipeline_copies>},
      {"group_matrices", "instructions of warpgroups are waited for", on_body<group_matrices>},
      {"insert_barriers", "threads meet before they read what others wrote",
       on_body<insert_barriers>},
      {"fence_matrices", "warpgroups find what threads wrote to shared memory",
       on_body<fence_matrices>},
      {"simplify", "canonical indices, decided conditions", on_body<simplify_all>},
      {"hoist_guards", "conditions leave the loops they do not depend on", on_body<hoist_guards>},
      {"tighten_loops", "conditions become loop ranges", on_body<tighten_loops>},
      {"flatten", "one index per access", anywhere<flatten>},
      {"overlay_shared", "shared memory that is done with is used again", on_body<overlay_shared>},
      {"vectorize_loops", "vectorised loops as vector expressions", vectorize},
      {"simplify_vectors", "canonical vector indices", on_body<simplify_all>},
      {"unroll_loops", "unrolled loops written out", on_body<unroll_loops>},
      {"decide_guards", "conditions that ranges decide", on_body<decide_guards>},
  };
  return all;
}

namespace {

bool reads(const ir::Stmt& s, const ir::Buffer& buffer) {
  bool found = false;
  ir::visit(
      s, [](const ir::Stmt&) {},
      [&](const ir::Expr& e) {
        const auto* load = ir::as<ir::Load>(e);
        found |= load && load->buffer == buffer;
      });
  return found;
}

ir::Kernel run_passes(ir::Kernel kernel, const Options& options) {
  const auto done = [&](std::string_view pass) {
#ifndef NDEBUG
    const Status verified = ir::verify(kernel);
    CHECK(verified.ok(), fmt::format("after pass '{}': {}", pass, verified.error().message));
#endif
    if (options.observe) options.observe(pass, kernel);
  };
  done("nests");
  for (const Pass& pass : options.pipeline) {
    const auto& off = options.disabled;
    if (std::find(off.begin(), off.end(), pass.name) != off.end()) continue;
    kernel = pass.run(kernel, options.target);
    done(pass.name);
  }
  return kernel;
}

}  // namespace

Result<Lowered> lower(const schedule::State& state, const Options& options) {
  ATTUNE_ASSIGN(const Nests nests, build_nests(state));
  Lowered lowered;
  if (nests.prepare) {
    ir::Kernel prepare{state.name + "_prepare", {}, nests.prepare};
    for (const ir::Input& input : state.inputs) {
      if (!input.constant || !reads(nests.prepare, input.buffer)) continue;
      prepare.params.push_back(input.buffer);
      lowered.prepare_inputs.push_back(input.buffer->name);
    }
    for (const ir::Buffer& buffer : nests.prepared) prepare.params.push_back(buffer);
    lowered.prepare = run_passes(std::move(prepare), options);
    const auto& params = lowered.prepare->params;
    lowered.prepared.assign(params.end() - static_cast<std::ptrdiff_t>(nests.prepared.size()),
                            params.end());
  }
  ir::Kernel main{state.name, {}, nests.main};
  for (const ir::Input& input : state.inputs) {
    if (!reads(nests.main, input.buffer)) continue;
    main.params.push_back(input.buffer);
    lowered.main_inputs.push_back(input.buffer->name);
  }
  main.params.insert(main.params.end(), nests.prepared.begin(), nests.prepared.end());
  main.params.insert(main.params.end(), state.outputs.begin(), state.outputs.end());
  lowered.main = run_passes(std::move(main), options);
  return lowered;
}

}  // namespace attune::lower
