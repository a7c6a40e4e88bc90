#include "app/calibration/calibrate.h"

#include <fmt/format.h>

#include <algorithm>
#include <filesystem>
#include <nlohmann/json.hpp>
#include <thread>

#include "app/calibration/looping_child.h"
#include "app/calibration/workload.h"
#include "app/verbs/jobs/scheduler.h"
#include "base/atomic_file.h"
#include "base/clock.h"
#include "fleet/server/private_folder.h"
#include "fleet/wire/devices.h"
#include "fleet/wire/state_directory.h"
#include "runtime/execution/affinity.h"
#include "runtime/execution/usable_cores.h"

namespace attune::calibration {
namespace {

constexpr int kRounds = 5;

// Something that runs on some cores, and what it stands for.
struct Subject {
  std::string name;
  LoopingChild child;
};

Result<Subject> subject_of(std::string_view name, const std::vector<int>& cores) {
  ATTUNE_ASSIGN(LoopingChild child,
                LoopingChild::start(std::string(name), cores, workload_like(name, cores.size())));
  return Subject{std::string(name), std::move(child)};
}

// What may run at the same time: stages of the host beside those of a device, and either beside its
// like where there are cores for two.
struct Plan {
  std::vector<Subject> subjects;
  std::vector<std::pair<std::size_t, std::size_t>> pairs;
};

Result<Plan> plan_of(const std::vector<int>& host, const std::vector<int>& devices, int count) {
  const auto each = static_cast<std::ptrdiff_t>(devices.size()) / count;
  const std::vector<int> device(devices.begin(), devices.begin() + each);
  Plan plan;
  for (const std::string_view name : {jobs::kBuilding, jobs::kLearning}) {
    ATTUNE_ASSIGN(Subject subject, subject_of(name, {host[0]}));
    plan.subjects.push_back(std::move(subject));
  }
  for (const std::string_view name : {jobs::kProfileCompute, jobs::kProfileMemory}) {
    ATTUNE_ASSIGN(Subject subject, subject_of(name, device));
    plan.subjects.push_back(std::move(subject));
  }
  plan.pairs = {{0, 2}, {0, 3}, {1, 2}, {1, 3}};
  // The two kinds of one side again, on other cores.
  const auto add_like = [&](std::size_t first, const std::vector<int>& cores) -> Status {
    const std::size_t again = plan.subjects.size();
    for (const std::size_t i : {first, first + 1}) {
      ATTUNE_ASSIGN(Subject subject, subject_of(plan.subjects[i].name, cores));
      plan.subjects.push_back(std::move(subject));
    }
    plan.pairs.insert(plan.pairs.end(),
                      {{first, again}, {first, again + 1}, {first + 1, again + 1}});
    return {};
  };
  if (host.size() > 1) ATTUNE_RETURN_IF_ERROR(add_like(0, {host[1]}));
  if (count > 1) {
    ATTUNE_RETURN_IF_ERROR(add_like(2, {devices.begin() + each, devices.begin() + 2 * each}));
  }
  return plan;
}

using Times = std::vector<double>;

// Lets these run for a while; the times of each.
std::vector<Times> let_run(const std::vector<const LoopingChild*>& children, double seconds) {
  const SteadyClock clock;
  for (const LoopingChild* child : children) child->go();
  // What was cached before is brought back first.
  const auto part = [&](double share) {
    std::this_thread::sleep_for(std::chrono::duration<double>(share * seconds));
    return clock.now_ns();
  };
  const std::int64_t begin = part(0.15), end = part(0.85);
  for (const LoopingChild* child : children) child->halt();
  std::vector<Times> times;
  for (const LoopingChild* child : children) times.push_back(child->repetitions(begin, end));
  return times;
}

jobs::CoLocationMatrix measure_pairs(const Plan& plan, double seconds,
                                     const std::function<void(const std::string&)>& told) {
  const std::size_t phases = kRounds * (plan.subjects.size() + plan.pairs.size());
  const double phase = seconds / static_cast<double>(phases);
  std::vector<std::vector<Times>> alone(plan.subjects.size());
  std::vector<std::vector<Times>> first(plan.pairs.size()), second(plan.pairs.size());
  for (int round = 0; round < kRounds; ++round) {
    told(fmt::format("round {} of {}", round + 1, kRounds));
    for (std::size_t i = 0; i < plan.subjects.size(); ++i) {
      alone[i].push_back(let_run({&plan.subjects[i].child}, phase)[0]);
    }
    for (std::size_t i = 0; i < plan.pairs.size(); ++i) {
      const auto [a, b] = plan.pairs[i];
      auto times = let_run({&plan.subjects[a].child, &plan.subjects[b].child}, phase);
      first[i].push_back(std::move(times[0]));
      second[i].push_back(std::move(times[1]));
    }
  }
  jobs::CoLocationMatrix matrix;
  for (std::size_t i = 0; i < plan.pairs.size(); ++i) {
    const auto [a, b] = plan.pairs[i];
    const std::string &one = plan.subjects[a].name, &other = plan.subjects[b].name;
    matrix.pairs.push_back({one, other, slowdown_of(alone[a], first[i])});
    matrix.pairs.push_back({other, one, slowdown_of(alone[b], second[i])});
  }
  return matrix;
}

double median(Times times) {
  const auto middle = times.begin() + static_cast<std::ptrdiff_t>(times.size() / 2);
  std::nth_element(times.begin(), middle, times.end());
  return *middle;
}

// As a scheduler gives them out.
Result<verbs::CorePlan> chosen_cores(const CalibrateOptions& options) {
  const bool named = !options.host_cores.empty() || !options.device_cores.empty();
  const std::vector<int> allowed = named ? runtime::allowed_cores() : runtime::usable_cores();
  if (allowed.size() < 2) {
    return unsupported("this process may use one core only, on which nothing runs side by side",
                       "allow it a second one");
  }
  ATTUNE_ASSIGN(verbs::CorePlan cores,
                verbs::plan_cores(allowed, options.host_cores, options.device_cores));
  for (const int core : cores.profile) {
    if (std::find(cores.host.begin(), cores.host.end(), core) == cores.host.end()) continue;
    return invalid(fmt::format("core {} would be both for host stages and for measuring", core),
                   "what shares a core is never run side by side; name others");
  }
  return cores;
}

}  // namespace

double slowdown_of(const std::vector<Times>& alone, const std::vector<Times>& beside) {
  CHECK(alone.size() == beside.size(), "rounds alone and rounds together come in pairs");
  Times ratios;
  for (std::size_t i = 0; i < alone.size(); ++i) {
    if (alone[i].empty() || beside[i].empty()) continue;
    ratios.push_back(median(beside[i]) / median(alone[i]));
  }
  return ratios.empty() ? 1 : median(ratios);
}

Result<CalibrateReport> calibrate(const CalibrateOptions& options,
                                  const std::function<void(const std::string&)>& told) {
  ATTUNE_ASSIGN(const verbs::CorePlan cores, chosen_cores(options));
  std::map<std::string, int> wanted = {{wire::kMeasuringCores, options.devices}};
  ATTUNE_ASSIGN(const int devices, verbs::take_cpu_devices(cores, wanted));
  CalibrateReport report;
  if (options.output.empty()) {
    ATTUNE_ASSIGN(const std::string state, wire::state_directory(options.state));
    ATTUNE_RETURN_IF_ERROR(server::make_private_folder(state));
    report.file = wire::colocation_path(state);
  } else {
    report.file = options.output;
  }
  told("preparing what is measured");
  ATTUNE_ASSIGN(const Plan plan, plan_of(cores.host, cores.profile, devices));
  report.matrix = measure_pairs(plan, options.seconds, told);
  report.matrix.host_cores = cores.host;
  report.matrix.device_cores = cores.profile;
  report.matrix.devices = devices;
  report.apart = jobs::kinds_apart(report.matrix, verbs::kinds_of_stages());
  ATTUNE_RETURN_IF_ERROR(write_file_atomically(report.file, jobs::to_json(report.matrix) + "\n"));
  return report;
}

std::string to_json(const CalibrateReport& report) {
  auto json = nlohmann::ordered_json::parse(jobs::to_json(report.matrix));
  json["apart"] = report.apart;
  json["file"] = report.file;
  return json.dump(2, ' ', false, nlohmann::ordered_json::error_handler_t::replace);
}

}  // namespace attune::calibration
