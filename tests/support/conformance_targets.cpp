#include "tests/support/conformance_targets.h"

#include <cstring>

#include "compiler/kernel/element_type.h"
#include "compiler/model/compile.h"
#include "runtime/execution/executor.h"
#include "targets/devices/devices.h"
#include "targets/kinds.h"

namespace attune::test {
namespace {

Result<std::vector<ops::ConstantPtr>> run_session(const model::CompiledModel& model,
                                                  const graph::Graph& graph,
                                                  const std::vector<ops::ConstantPtr>& inputs,
                                                  int threads) {
  runtime::ArtifactContents contents{model.plan, model.weights.pieces(), {}};
  for (const auto& object : model.objects) contents.objects.emplace_back(object);
  ATTUNE_ASSIGN(auto bytes, runtime::artifact_bytes(contents));
  ATTUNE_ASSIGN(auto artifact,
                runtime::Artifact::from_memory(std::move(bytes), "sample", targets::devices()));
  ATTUNE_ASSIGN(const auto loaded, runtime::Model::from(std::move(artifact)));
  runtime::ThreadPool pool({.workers = threads});
  ATTUNE_ASSIGN(runtime::Session session, runtime::Session::create(loaded, pool));
  std::vector<runtime::InputView> in;
  for (const ops::ConstantPtr& input : inputs) {
    ATTUNE_ASSIGN(const runtime::DType type, kernel::element_type(input->type.dtype));
    in.push_back({input->bytes.data(), type, input->type.shape});
  }
  std::vector<std::vector<std::byte>> room;
  std::vector<runtime::OutputView> out;
  for (const graph::ValueId id : graph.outputs) {
    const auto size = static_cast<std::size_t>(graph.value(id).type.bytes());
    room.emplace_back(size + 1);
    out.push_back({room.back().data(), size});
  }
  ATTUNE_RETURN_IF_ERROR(session.run(in, out));
  std::vector<ops::ConstantPtr> outputs;
  for (std::size_t i = 0; i < out.size(); ++i) {
    const auto shape = session.output_shape(i);
    ir::Array array(graph.value(graph.outputs[i]).type.dtype, {shape.begin(), shape.end()});
    std::memcpy(array.data.data(), room[i].data(), array.data.size());
    outputs.push_back(ops::make_constant(std::move(array)));
  }
  return outputs;
}

Result<GraphRun> run_here(const graph::Graph& graph, const std::vector<ops::ConstantPtr>& inputs,
                          const target::Target& target) {
  model::CompileOptions options;
  options.target = target;
  options.name = graph.name;
  ATTUNE_ASSIGN(model::CompiledModel model, model::compile_model(graph, options));
  if (!model.fallbacks.empty()) return unsupported(model::summarize(model.fallbacks));
  GraphRun run;
  ATTUNE_ASSIGN(run.outputs, run_session(model, graph, inputs, target.threads));
  run.tasks = std::move(model.tasks.distinct);
  return run;
}

// Whose code runs in this process; `way` is that of single kernels.
ConformanceTarget here(const target::Target& target, Way way) {
  return {.name = to_string(target),
          .target = target,
          .run =
              [target](const graph::Graph& graph, const std::vector<ops::ConstantPtr>& inputs) {
                return run_here(graph, inputs, target);
              },
          .check =
              [target, way](const ir::Program& program, const schedule::Trace& trace,
                            const Reference& reference, double tolerance) {
                return check_trace(program, trace, target, reference, tolerance, way);
              }};
}

// This machine's own processor, and older ones of its kind with narrower vectors.
std::vector<ConformanceTarget> processors() {
  std::vector<ConformanceTarget> all;
  for (const char* cpu : {"", "haswell", "x86-64"}) {
    target::Target wanted;
    if (*cpu != 0) wanted.set("mcpu", cpu);
    wanted.threads = 2;
    const Result<target::Target> target = targets::resolve(wanted);
    if (!target.ok()) continue;
    if (!all.empty() && target->vector_bytes >= all.back().target.vector_bytes) continue;
    all.push_back(here(*target, Way::Compiled));
  }
  return all;
}

}  // namespace

Result<target::Target> card_here() {
  ATTUNE_ASSIGN(const target::Target asked, targets::parse("cuda"));
  ATTUNE_ASSIGN(target::Target card, targets::resolve(asked));
  ATTUNE_RETURN_IF_ERROR(targets::kind_of(card).check_runs_here(card));
  return card;
}

const std::vector<ConformanceTarget>& conformance_targets() {
  static const std::vector<ConformanceTarget> all = [] {
    std::vector<ConformanceTarget> list = processors();
    list.push_back(here(targets::resolve(targets::parse("sim").value()).value(), Way::Launched));
    if (const auto card = card_here(); card.ok()) list.push_back(here(*card, Way::OnDevice));
    return list;
  }();
  return all;
}

}  // namespace attune::test
