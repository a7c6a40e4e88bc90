#include "app/calibration/workload.h"

#include <algorithm>
#include <memory>
#include <string>

#include "base/clock.h"
#include "base/rng.h"
#include "compiler/model/kernels.h"
#include "compiler/model/load/caged_model.h"
#include "compiler/model/load/input_files.h"
#include "fleet/jobs/simulation/colocation_file.h"
#include "tuner/cost_model/boosted_trees.h"

namespace attune::calibration {
namespace {

using Repeat = std::function<Status()>;

model::SourceOptions untuned(const std::string& spec, std::size_t threads) {
  return {.model = {.model = spec, .threads = static_cast<int>(threads)},
          .schedule = {.use_default = true}};
}

// Compiles a convolution again and again.
Result<Repeat> building() {
  const model::SourceOptions source = untuned("conv2d:h=28,w=28,ic=128,oc=128,kh=3,kw=3,pad=1", 1);
  ATTUNE_ASSIGN(model::LoadedModel model, model::load_model(source.model));
  ATTUNE_ASSIGN(model::PreparedModel prepared, model::prepare_model(std::move(model), source));
  const auto kept = std::make_shared<const model::PreparedModel>(std::move(prepared));
  return Repeat([kept]() -> Status {
    const graph::Task& task = kept->tasks.distinct.front();
    const target::Target& target = kept->compile.target;
    const auto built = model::compile_task(task, model::usual_schedule(task, target, {"direct"}),
                                           target, "kernel");
    return built.ok() ? Status() : Status(built.error());
  });
}

// Trains trees as a cost model does after a few hundred trials.
Result<Repeat> learning() {
  constexpr std::size_t kRows = 512, kWidth = 64;
  struct Table {
    std::vector<float> features, labels;
  };
  auto table = std::make_shared<Table>();
  Rng rng(1);
  for (std::size_t i = 0; i < kRows * kWidth; ++i) {
    table->features.push_back(static_cast<float>(rng.uniform()));
  }
  for (std::size_t i = 0; i < kRows; ++i) {
    table->labels.push_back(table->features[i * kWidth] + table->features[i * kWidth + 1]);
  }
  return Repeat([table]() -> Status {
    cost_model::BoostedTrees::train({kWidth, table->features, table->labels, {}, {}}, {.depth = 6});
    return {};
  });
}

// Runs an operator as profiling does, some milliseconds at a time.
Result<Repeat> running(const std::string& spec, std::size_t threads) {
  constexpr double kSeconds = 2e-3;
  ATTUNE_ASSIGN(const model::RunnableModel model, model::load_runnable(untuned(spec, threads)));
  ATTUNE_ASSIGN(std::vector<runtime::Tensor> filled, model::inputs_for(model.plan(), {}, 1));
  const auto inputs = std::make_shared<const std::vector<runtime::Tensor>>(std::move(filled));
  ATTUNE_ASSIGN(model::ModelSession made, model::ModelSession::create(model, true));
  const auto session = std::make_shared<model::ModelSession>(std::move(made));
  ATTUNE_RETURN_IF_ERROR(model::enter_cage(model));
  ATTUNE_RETURN_IF_ERROR(session->run(*inputs));
  const SteadyClock clock;
  const std::int64_t begin = clock.now_ns();
  ATTUNE_RETURN_IF_ERROR(session->run(*inputs));
  const double once = std::max(1e-7, seconds_between(begin, clock.now_ns()));
  const int calls = std::max(1, static_cast<int>(kSeconds / once));
  return Repeat([session, inputs, calls]() -> Status {
    for (int i = 0; i < calls; ++i) ATTUNE_RETURN_IF_ERROR(session->run(*inputs));
    return {};
  });
}

}  // namespace

LoopingChild::Prepare workload_like(std::string_view name, std::size_t threads) {
  return [name = std::string(name), threads]() -> Result<Repeat> {
    if (name == jobs::kBuilding) return building();
    if (name == jobs::kLearning) return learning();
    if (name == jobs::kProfileCompute) return running("matmul:m=192,n=192,k=192", threads);
    CHECK(name == jobs::kProfileMemory, "work of an unknown name");
    return running("elementwise:m=4096,n=4096,op=relu", threads);
  };
}

}  // namespace attune::calibration
