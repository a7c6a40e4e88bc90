#include <algorithm>

#include "compiler/ir/rewrite.h"
#include "compiler/ir/simplify.h"
#include "compiler/lower/flatten.h"
#include "compiler/lower/lower.h"
#include "compiler/lower/nest.h"
#include "compiler/lower/statement_passes.h"

namespace attune::lower {

std::span<const Pass> passes() {
  static constexpr Pass all[] = {
      {"simplify", "canonical indices, decided conditions", simplify_all},
      {"hoist_guards", "conditions leave the loops they do not depend on", hoist_guards},
      {"tighten_loops", "conditions become loop ranges", tighten_loops},
      {"partition_loops", "main parts of loops without conditions", partition_loops},
      {"unroll_loops", "unrolled loops written out", unroll_loops},
      {"simplify_unrolled", "constants of the copies folded", simplify_all},
      {"vectorize_loops", "vectorised loops as vector expressions", vectorize_loops},
      {"simplify_vectors", "canonical vector indices", simplify_all},
  };
  return all;
}

ir::Stmt simplify_all(const ir::Stmt& s) { return ir::simplify(s); }

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

Result<ir::Kernel> run_passes(ir::Kernel kernel, const Options& options) {
  const auto done = [&](std::string_view pass) {
    if (options.observe) options.observe(pass, kernel);
    return Status();
  };
  ATTUNE_RETURN_IF_ERROR(done("nests"));
  for (const Pass& pass : passes()) {
    const auto& off = options.disabled;
    if (std::find(off.begin(), off.end(), pass.name) != off.end()) continue;
    kernel.body = pass.run(kernel.body);
    ATTUNE_RETURN_IF_ERROR(done(pass.name));
  }
  kernel = flatten(kernel);
  ATTUNE_RETURN_IF_ERROR(done("flatten"));
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
    ATTUNE_ASSIGN(lowered.prepare, run_passes(std::move(prepare), options));
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
  ATTUNE_ASSIGN(lowered.main, run_passes(std::move(main), options));
  return lowered;
}

}  // namespace attune::lower
