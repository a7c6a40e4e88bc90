#include "tests/support/conformance_targets.h"

#include <algorithm>
#include <cstring>

#include "compiler/kernel/element_type.h"
#include "compiler/model/compile_model_testing.h"
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

// Processors have narrower forms, in which their kinds' vectors differ.
constexpr const char* kNarrower[] = {"cpu -mcpu=haswell", "cpu -mcpu=x86-64"};

// Whether vectors of the target are narrower than those of all others of its kind.
bool is_narrower(const target::Target& target, const std::vector<ConformanceTarget>& others) {
  return std::none_of(others.begin(), others.end(), [&](const ConformanceTarget& other) {
    return other.target.kind == target.kind && other.target.vector_bytes <= target.vector_bytes;
  });
}

std::vector<ConformanceTarget> all_here() {
  std::vector<ConformanceTarget> all;
  for (const target::Kind* kind : targets::kinds()) {
    if (auto plain = conformance_target(kind->name); plain.ok()) all.push_back(std::move(*plain));
  }
  for (const char* text : kNarrower) {
    auto narrower = conformance_target(text);
    if (narrower.ok() && is_narrower(narrower->target, all)) all.push_back(std::move(*narrower));
  }
  return all;
}

}  // namespace

Result<ConformanceTarget> conformance_target(std::string_view text) {
  ATTUNE_ASSIGN(target::Target wanted, targets::parse(text));
  wanted.threads = 2;
  ATTUNE_ASSIGN(const target::Target target, targets::resolve(wanted));
  ATTUNE_RETURN_IF_ERROR(targets::kind_of(target).check_runs_here(target));
  return ConformanceTarget{
      .name = to_string(target),
      .target = target,
      .run =
          [target](const graph::Graph& graph, const std::vector<ops::ConstantPtr>& inputs) {
            return run_here(graph, inputs, target);
          },
      .check =
          [target](const ir::Program& program, const schedule::Trace& trace,
                   const Reference& reference, double tolerance) {
            return check_trace(program, trace, target, reference, tolerance, Way::Compiled);
          }};
}

const std::vector<ConformanceTarget>& conformance_targets() {
  static const std::vector<ConformanceTarget> all = all_here();
  return all;
}

}  // namespace attune::test
