#include "tuner/whole_model/contest/kernel_times.h"

#include <algorithm>
#include <map>

#include "base/answer_reader.h"
#include "base/clock.h"
#include "base/isolated.h"
#include "compiler/model/load/caged_model.h"
#include "tuner/whole_model/contest/side_by_side.h"
#include "tuner/whole_model/contest/time_limit.h"

namespace attune::whole_model {
namespace {

constexpr const char* kUneven =
    "a child process gave the times of other kernels than it was asked for";

// What the kernels of a model took, over all of its runs.
struct Profiled {
  Contestant contestant;
  runtime::Profile profile = {};
  std::int64_t runs = 0;
  Repeats repeats = {};

  // The first run brings code and weights into memory and the caches; it counts where there is time
  // for no other.
  Status sample_once(double seconds) {
    const SteadyClock clock;
    const std::int64_t start = clock.now_ns();
    ATTUNE_RETURN_IF_ERROR(contestant.run(&profile));
    runs = 1;
    const double first = seconds_between(start, clock.now_ns());
    if (!runs_again(first, seconds)) return {};
    profile.clear();
    runs = 0;
    return sample_again(seconds - first);
  }

  // Once at least, after a run that brings code and weights back into the caches.
  Status sample(double seconds) {
    const SteadyClock clock;
    const std::int64_t start = clock.now_ns();
    ATTUNE_RETURN_IF_ERROR(contestant.run());
    return sample_again(seconds - seconds_between(start, clock.now_ns()));
  }

  Status sample_again(double seconds) {
    const SteadyClock clock;
    const std::int64_t start = clock.now_ns();
    do {
      const std::int64_t begin = contestant.session.now_ns();
      ATTUNE_RETURN_IF_ERROR(contestant.run(&profile));
      repeats.add(static_cast<double>(contestant.session.now_ns() - begin));
      ++runs;
    } while (seconds_between(start, clock.now_ns()) < seconds);
    return {};
  }

  KernelTimes times() const {
    std::map<std::string_view, double> by_symbol;
    for (const runtime::LayerTime& layer : profile.layers()) {
      const double calls = static_cast<double>(layer.calls) / static_cast<double>(runs);
      by_symbol[layer.what] += static_cast<double>(layer.fastest_ns) * 1e-3 * calls;
    }
    KernelTimes result;
    for (const runtime::Kernel& kernel : contestant.model.plan().kernels) {
      result.push_back(by_symbol[kernel.symbol]);
    }
    return result;
  }
};

Result<std::vector<KernelTimes>> time_here(const std::vector<std::string>& artifacts,
                                           const model::ReadInputs& inputs,
                                           const KernelTimesOptions& options) {
  ATTUNE_ASSIGN(std::vector<Contestant> contestants, load_side_by_side(artifacts, inputs));
  if (!contestants.empty()) {
    ATTUNE_RETURN_IF_ERROR(model::enter_cage(contestants.front().model));
  }
  std::vector<Profiled> models;
  for (Contestant& contestant : contestants) models.push_back({std::move(contestant)});
  const auto exact = [](const Profiled& model) { return model.repeats.exact(); };
  for (int round = 0; round < options.rounds; ++round) {
    if (std::all_of(models.begin(), models.end(), exact)) break;
    for (Profiled& model : models) {
      ATTUNE_RETURN_IF_ERROR(model.sample(options.seconds / options.rounds));
    }
  }
  std::vector<KernelTimes> times;
  for (const Profiled& model : models) times.push_back(model.times());
  return times;
}

void append_times(const KernelTimes& times, Bytes& bytes) {
  append_value(bytes, times.size());
  for (const double us : times) append_value(bytes, us);
}

KernelTimes take_times(AnswerReader& reader) {
  KernelTimes times(reader.count(sizeof(double)));
  for (double& us : times) us = reader.value<double>();
  return times;
}

}  // namespace

Result<std::vector<KernelTimes>> time_kernels(const std::vector<std::string>& artifacts,
                                              const model::ReadInputs& inputs,
                                              const KernelTimesOptions& options) {
  const auto work = [&]() -> Result<Bytes> {
    ATTUNE_ASSIGN(const std::vector<KernelTimes> times, time_here(artifacts, inputs, options));
    Bytes bytes;
    for (const KernelTimes& each : times) append_times(each, bytes);
    return bytes;
  };
  // The cage limits addresses, when the models are known.
  const auto count = static_cast<double>(artifacts.size());
  ATTUNE_ASSIGN(const Bytes answer,
                run_isolated("the comparison of kernels in a model", work,
                             {.seconds = time_limit(count * options.seconds, artifacts.size()),
                              .limits_addresses = false}));
  AnswerReader reader(answer);
  std::vector<KernelTimes> times(artifacts.size());
  for (KernelTimes& each : times) {
    each = take_times(reader);
    if (each.size() != times.front().size()) return Error{ErrorCode::Io, kUneven, ""};
  }
  ATTUNE_RETURN_IF_ERROR(reader.status());
  return times;
}

Result<KernelTimes> time_kernels(const model::RunnableModel& model, double seconds) {
  const auto work = [&]() -> Result<Bytes> {
    ATTUNE_ASSIGN(std::vector<Contestant> alone, side_by_side({model}, {}));
    ATTUNE_RETURN_IF_ERROR(model::enter_cage(alone.front().model));
    Profiled profiled{std::move(alone.front())};
    ATTUNE_RETURN_IF_ERROR(profiled.sample_once(seconds));
    Bytes bytes;
    append_times(profiled.times(), bytes);
    return bytes;
  };
  ATTUNE_ASSIGN(const Bytes answer,
                run_isolated(model.name, work, model::limits_for(model, time_limit(seconds, 1))));
  AnswerReader reader(answer);
  KernelTimes times = take_times(reader);
  ATTUNE_RETURN_IF_ERROR(reader.status());
  if (times.size() != model.plan().kernels.size()) return Error{ErrorCode::Io, kUneven, ""};
  return times;
}

bool runs_again(double first_seconds, double seconds) {
  constexpr double kMostOfTwo = 1;
  return first_seconds < seconds || 2 * first_seconds <= kMostOfTwo;
}

std::vector<std::size_t> fastest_artifacts(const std::vector<KernelTimes>& times) {
  constexpr double kDoubt = 0.01;  // a share of the time, about what such minima vary by
  CHECK(!times.empty(), "something was timed");
  std::vector<std::size_t> fastest;
  for (std::size_t kernel = 0; kernel < times.front().size(); ++kernel) {
    std::size_t best = 0;
    for (std::size_t i = 1; i < times.size(); ++i) {
      CHECK(times[i].size() == times.front().size(), "all artifacts have the same kernels");
      if (times[i][kernel] < times[best][kernel]) best = i;
    }
    const bool sure = times[best][kernel] < (1 - kDoubt) * times.front()[kernel];
    fastest.push_back(sure ? best : 0);
  }
  return fastest;
}

}  // namespace attune::whole_model
