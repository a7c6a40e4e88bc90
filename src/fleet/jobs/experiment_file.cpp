#include "fleet/jobs/experiment_file.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <charconv>
#include <cmath>
#include <nlohmann/json.hpp>
#include <numeric>

namespace attune::jobs {
namespace {

using Json = nlohmann::json;

constexpr int kMostUnits = 100'000, kMostBatches = 1'000'000, kMostJobs = 100'000;
constexpr double kMostSeconds = 1e9;

Result<std::uint32_t> pool_index(const std::vector<Pool>& pools, std::string_view name) {
  std::vector<std::string_view> names;
  for (std::uint32_t i = 0; i < pools.size(); ++i) {
    if (pools[i].name == name) return i;
    names.push_back(pools[i].name);
  }
  return invalid(fmt::format("there is no pool '{}'", name),
                 fmt::format("pools are {}", fmt::join(names, ", ")));
}

Result<double> number_in(const Json& object, const char* key, double fallback, double least,
                         double most) {
  const auto found = object.find(key);
  if (found == object.end()) return fallback;
  if (!found->is_number()) {
    return invalid(fmt::format("'{}' is not a number in the experiment", key), "write it as 1.5");
  }
  const double value = found->get<double>();
  if (!(value >= least && value <= most)) {
    return invalid(fmt::format("'{}' is {} in the experiment", key, value),
                   fmt::format("choose a number from {} to {}", least, most));
  }
  return value;
}

Result<std::string> text_in(const Json& object, const char* key, std::string fallback) {
  const auto found = object.find(key);
  if (found == object.end()) return fallback;
  if (!found->is_string()) {
    return invalid(fmt::format("'{}' is not a text in the experiment", key),
                   "write it in double quotes");
  }
  return found->get<std::string>();
}

Status read_seconds(const Json& object, StageModel& stage) {
  const auto found = object.find("seconds");
  const auto fits = [](const Json& value) {
    return value.is_number() && value.get<double>() >= 0 && value.get<double>() <= kMostSeconds;
  };
  if (found != object.end() && fits(*found)) {
    stage.mean_seconds = found->get<double>();
    return {};
  }
  const bool list = found != object.end() && found->is_array() && !found->empty() &&
                    std::all_of(found->begin(), found->end(), fits);
  if (!list) {
    return invalid(fmt::format("stage '{}' has no 'seconds'", stage.name),
                   "give a mean such as 8.3, or a list of times");
  }
  stage.recorded_seconds = found->get<std::vector<double>>();
  stage.mean_seconds =
      std::accumulate(stage.recorded_seconds.begin(), stage.recorded_seconds.end(), 0.0) /
      static_cast<double>(stage.recorded_seconds.size());
  return {};
}

Result<StageModel> stage_of(const Json& object, const std::vector<Pool>& pools) {
  if (!object.is_object()) return invalid("a stage of the experiment is not an object", "");
  StageModel stage;
  ATTUNE_ASSIGN(stage.name, text_in(object, "name", "stage"));
  ATTUNE_ASSIGN(const std::string pool, text_in(object, "pool", pools.front().name));
  ATTUNE_ASSIGN(stage.pool, pool_index(pools, pool));
  ATTUNE_ASSIGN(const double amount, number_in(object, "amount", 1, 1, pools[stage.pool].capacity));
  stage.amount = static_cast<int>(amount);
  ATTUNE_RETURN_IF_ERROR(read_seconds(object, stage));
  return stage;
}

Status read_stages(const Json& object, const char* key, const std::vector<Pool>& pools,
                   std::vector<StageModel>& into) {
  const auto found = object.find(key);
  if (found == object.end()) return {};
  if (!found->is_array()) {
    return invalid(fmt::format("'{}' is not a list in the experiment", key),
                   R"(write [{"name": "build", "pool": "host", "seconds": 8.3}])");
  }
  for (const Json& stage : *found) {
    ATTUNE_ASSIGN(StageModel model, stage_of(stage, pools));
    into.push_back(std::move(model));
  }
  return {};
}

Result<MockJob> job_of(const Json& object, const std::vector<Pool>& pools) {
  MockJob job;
  ATTUNE_ASSIGN(job.name, text_in(object, "name", "job"));
  ATTUNE_ASSIGN(job.user, text_in(object, "user", ""));
  ATTUNE_ASSIGN(job.priority, number_in(object, "priority", 1, 1e-3, 1e3));
  ATTUNE_ASSIGN(job.submit_at, number_in(object, "submit_at", 0, 0, kMostSeconds));
  ATTUNE_ASSIGN(const double batches, number_in(object, "batches", 60, 1, kMostBatches));
  ATTUNE_ASSIGN(const double prefetch, number_in(object, "prefetch", 1, 1, 1000));
  job.batches = static_cast<int>(batches);
  job.prefetch = static_cast<int>(prefetch);
  const auto stages = object.find("stages");
  if (stages == object.end() || !stages->is_array() || stages->empty()) {
    return invalid(fmt::format("job '{}' has no stages", job.name),
                   R"(give "stages": [{"name": "build", "pool": "host", "seconds": 8.3}])");
  }
  ATTUNE_RETURN_IF_ERROR(read_stages(object, "stages", pools, job.stages));
  ATTUNE_RETURN_IF_ERROR(read_stages(object, "opening", pools, job.opening));
  ATTUNE_RETURN_IF_ERROR(read_stages(object, "closing", pools, job.closing));
  return job;
}

}  // namespace

Result<Experiment> parse_experiment(std::string_view text) {
  const Json document = Json::parse(text, nullptr, false);
  if (!document.is_object()) {
    return invalid("the experiment is not a JSON object", "see 'attune simulate --help'");
  }
  Experiment experiment;
  ATTUNE_ASSIGN(experiment.noise, number_in(document, "noise", 0, 0, 10));
  ATTUNE_ASSIGN(experiment.heterogeneity, number_in(document, "heterogeneity", 0, 0, 10));
  const auto pools = document.find("pools");
  if (pools == document.end() || !pools->is_object() || pools->empty()) {
    return invalid("the experiment has no pools", R"(give "pools": {"host": 2, "device": 1})");
  }
  for (const auto& [name, ignored] : pools->items()) {
    ATTUNE_ASSIGN(const double capacity, number_in(*pools, name.c_str(), 1, 1, kMostUnits));
    experiment.pools.push_back({name, static_cast<int>(capacity)});
  }
  const auto jobs = document.find("jobs");
  if (jobs == document.end() || !jobs->is_array() || jobs->empty()) {
    return invalid("the experiment has no jobs", R"(give "jobs": [{"stages": […]}])");
  }
  for (const Json& object : *jobs) {
    if (!object.is_object()) return invalid("a job of the experiment is not an object", "");
    ATTUNE_ASSIGN(MockJob job, job_of(object, experiment.pools));
    ATTUNE_ASSIGN(const double count, number_in(object, "count", 1, 1, kMostJobs));
    for (int i = 0; i < static_cast<int>(count); ++i) experiment.jobs.push_back(job);
  }
  return experiment;
}

Result<std::vector<StageModel>> parse_stages(std::string_view text,
                                             const std::vector<Pool>& pools) {
  std::vector<StageModel> stages;
  while (!text.empty()) {
    const std::string_view item = text.substr(0, text.find(','));
    text.remove_prefix(std::min(text.size(), item.size() + 1));
    const std::size_t equals = item.find('=');
    const std::string_view number =
        equals == item.npos ? std::string_view() : item.substr(equals + 1);
    StageModel stage;
    const auto end = number.data() + number.size();
    const auto [rest, error] = std::from_chars(number.data(), end, stage.mean_seconds);
    if (number.empty() || error != std::errc() || rest != end ||
        !(stage.mean_seconds >= 0 && stage.mean_seconds <= kMostSeconds)) {
      return invalid(fmt::format("stage '{}' is not NAME=SECONDS", item),
                     "write --stages build=8.3,profile=39.5,update=44");
    }
    const std::string_view place = item.substr(0, equals);
    const std::size_t at = place.find('@');
    stage.name = place.substr(0, at);
    const std::string_view usual = stage.name == "profile" ? "device" : "host";
    ATTUNE_ASSIGN(stage.pool, pool_index(pools, at == place.npos ? usual : place.substr(at + 1)));
    stages.push_back(std::move(stage));
  }
  if (stages.empty()) {
    return invalid("no stages are given", "write --stages build=8.3,profile=39.5,update=44");
  }
  return stages;
}

}  // namespace attune::jobs
