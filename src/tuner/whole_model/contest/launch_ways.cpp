#include "tuner/whole_model/contest/launch_ways.h"

#include <algorithm>
#include <utility>

#include "base/answer_reader.h"
#include "base/isolated.h"
#include "compiler/model/load/caged_model.h"
#include "runtime/execution/model.h"
#include "runtime/format/artifact.h"
#include "targets/devices/devices.h"
#include "tuner/whole_model/contest/side_by_side.h"
#include "tuner/whole_model/contest/time_limit.h"

namespace attune::whole_model {
namespace {

// A choice is timed as models are anywhere, run by run: as often as takes about so long.
constexpr double kLookUs = 3000;
constexpr std::int64_t kFewestRuns = 3, kMostRuns = 40;

// A launch of a kernel of the plan.
struct Launch {
  std::size_t kernel = 0, launch = 0;
};

// The model in the process that runs it.
class TimedModel {
 public:
  explicit TimedModel(Contestant& contestant)
      : contestant_(contestant), state_(contestant.model.model->state()) {
    const auto& kernels = contestant_.model.plan().kernels;
    for (std::size_t k = 0; k < kernels.size(); ++k) {
      const std::vector<int> ways = code_of(k).launch_ways(state_.kernels[k]);
      for (std::size_t i = 0; i < ways.size(); ++i) {
        launches.push_back({k, i});
        counts.push_back(ways[i]);
      }
    }
  }

  Status begin() {
    ATTUNE_RETURN_IF_ERROR(contestant_.run());
    ATTUNE_ASSIGN(const double once_us, contestant_.session.time_us(contestant_.inputs));
    runs_ = std::clamp(static_cast<std::int64_t>(kLookUs / once_us), kFewestRuns, kMostRuns);
    return {};
  }

  Result<double> time_us(const WayChoice& choice) {
    for (std::size_t i = 0; i < launches.size(); ++i) {
      const auto& [kernel, launch] = launches[i];
      ATTUNE_RETURN_IF_ERROR(code_of(kernel).choose_way(state_.kernels[kernel], launch, choice[i]));
    }
    contestant_.session.forget_recordings();
    double best_us = 0;
    for (std::int64_t i = 0; i < runs_; ++i) {
      ATTUNE_ASSIGN(const double us, contestant_.session.time_us(contestant_.inputs));
      best_us = i == 0 ? us : std::min(best_us, us);
    }
    return best_us;
  }

  std::vector<Launch> launches;
  std::vector<int> counts;

 private:
  runtime::LoadedCode& code_of(std::size_t kernel) const {
    const auto& kernels = contestant_.model.plan().kernels;
    return *state_.code[static_cast<std::size_t>(kernels[kernel].object)];
  }

  Contestant& contestant_;
  runtime::Model::State& state_;
  std::int64_t runs_ = kFewestRuns;
};

Result<Bytes> choose_here(const std::string& artifact, const model::ReadInputs& inputs,
                          double seconds) {
  ATTUNE_ASSIGN(std::vector<Contestant> contestants, load_side_by_side({artifact}, inputs));
  Contestant& contestant = contestants.front();
  ATTUNE_RETURN_IF_ERROR(model::enter_cage(contestant.model));
  TimedModel timed(contestant);
  ATTUNE_RETURN_IF_ERROR(timed.begin());
  const WaySearch search{timed.counts, [&](const WayChoice& c) { return timed.time_us(c); }};
  ATTUNE_ASSIGN(const FoundWays found, search_ways(search, seconds, SteadyClock()));
  Bytes bytes;
  append_value(bytes, found.plain_us);
  append_value(bytes, found.us);
  append_value(bytes, found.choice.size());
  for (std::size_t i = 0; i < found.choice.size(); ++i) {
    append_value(bytes, timed.launches[i].kernel);
    append_value(bytes, found.choice[i]);
  }
  return bytes;
}

}  // namespace

Result<ArtifactWays> choose_ways(const std::string& artifact, const model::ReadInputs& inputs,
                                 double seconds) {
  ATTUNE_ASSIGN(const runtime::Artifact opened,
                runtime::Artifact::open(artifact, targets::devices()));
  const auto& kernels = opened.plan().kernels;
  ATTUNE_ASSIGN(const Bytes answer,
                run_isolated("choosing how launches overlap",
                             [&] { return choose_here(artifact, inputs, seconds); },
                             {.seconds = time_limit(seconds, 1), .limits_addresses = false}));
  AnswerReader reader(answer);
  ArtifactWays result;
  result.plain_us = reader.value<double>();
  result.us = reader.value<double>();
  const std::size_t count = reader.count(sizeof(std::size_t));
  for (std::size_t i = 0; i < count; ++i) {
    const auto kernel = reader.value<std::size_t>();
    const int way = reader.value<int>();
    if (kernel >= kernels.size()) {
      return Error{ErrorCode::Io, "choosing how launches overlap names a kernel that is not there",
                   ""};
    }
    result.ways[kernels[kernel].symbol].push_back(way);
  }
  ATTUNE_RETURN_IF_ERROR(reader.status());
  const bool plain = std::all_of(result.ways.begin(), result.ways.end(), [](const auto& each) {
    return std::all_of(each.second.begin(), each.second.end(), [](int way) { return way == 0; });
  });
  if (plain) result.ways.clear();
  return result;
}

bool leaves_choice(std::string_view device) {
  const auto found = runtime::find_device(targets::devices(), device);
  return found.ok() && (*found)->with_ways != nullptr;
}

Status write_with_ways(const std::string& artifact, const runtime::DeviceKind::Ways& ways,
                       const std::string& to) {
  ATTUNE_ASSIGN(const runtime::Artifact opened,
                runtime::Artifact::open(artifact, targets::devices()));
  ATTUNE_RETURN_IF_ERROR(opened.verify_all_weights());
  std::vector<std::vector<std::byte>> changed;
  for (const std::span<const std::byte> object : opened.objects()) {
    ATTUNE_ASSIGN(std::vector<std::byte> with, opened.device().with_ways(object, ways));
    changed.push_back(std::move(with));
  }
  runtime::ArtifactContents contents{opened.plan(), {}, {}};
  if (!opened.weights().empty()) contents.weights.push_back({0, opened.weights()});
  for (const auto& object : changed) contents.objects.push_back(object);
  return runtime::write_artifact(to, contents);
}

}  // namespace attune::whole_model
