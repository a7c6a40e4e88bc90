#include "app/calibration/workload.h"

#include <algorithm>
#include <memory>
#include <string>

#include "app/api/executable.h"
#include "base/clock.h"
#include "base/rng.h"
#include "fleet/jobs/simulation/colocation_file.h"
#include "tuner/model/boosted_trees.h"

namespace attune::calibration {
namespace {

using Repeat = std::function<Status()>;

Result<api::OperatorModel> operator_of(const std::string& spec, std::size_t threads) {
  return api::load_model({.model = spec, .threads = static_cast<int>(threads)});
}

// Compiles a convolution again and again.
Result<Repeat> building() {
  ATTUNE_ASSIGN(api::OperatorModel model,
                operator_of("conv2d:h=28,w=28,ic=128,oc=128,kh=3,kw=3,pad=1", 1));
  auto kept = std::make_shared<api::OperatorModel>(std::move(model));
  return Repeat([kept, known = api::default_schedule(*kept)]() -> Status {
    if (const auto built = api::build_schedule(*kept, known); !built.ok()) return built.error();
    return {};
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
    model::BoostedTrees::train({kWidth, table->features, table->labels, {}, {}}, {.depth = 6});
    return {};
  });
}

// Runs an operator as profiling does, some milliseconds at a time.
Result<Repeat> running(const std::string& spec, std::size_t threads) {
  constexpr double kSeconds = 2e-3;
  ATTUNE_ASSIGN(const api::OperatorModel model, operator_of(spec, threads));
  ATTUNE_ASSIGN(const measure::BuiltCandidate built,
                api::build_schedule(model, api::default_schedule(model)));
  ATTUNE_ASSIGN(api::Executable loaded, api::Executable::load(model, built));
  auto executable = std::make_shared<api::Executable>(std::move(loaded));
  executable->fill_inputs(1);
  ATTUNE_RETURN_IF_ERROR(executable->start_threads());
  ATTUNE_RETURN_IF_ERROR(executable->prepare());
  ATTUNE_RETURN_IF_ERROR(executable->run());
  const SteadyClock clock;
  const std::int64_t begin = clock.now_ns();
  ATTUNE_RETURN_IF_ERROR(executable->run());
  const double once = std::max(1e-7, seconds_between(begin, clock.now_ns()));
  return Repeat([executable, calls = std::max(1, static_cast<int>(kSeconds / once))]() -> Status {
    for (int i = 0; i < calls; ++i) ATTUNE_RETURN_IF_ERROR(executable->run());
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
