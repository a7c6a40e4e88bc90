#include "fleet/jobs/simulation/experiment_file.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <charconv>
#include <cmath>
#include <nlohmann/json.hpp>
#include <numeric>
#include <optional>

#include "base/json_depth.h"
#include "base/nearest.h"

namespace attune::jobs {
namespace {

using Json = nlohmann::ordered_json;  // pools stay in the order of the file

constexpr int kMostUnits = 100'000, kMostBatches = 1'000'000, kMostJobs = 100'000;
constexpr std::int64_t kMostStages = 20'000'000, kMostStagesTimesJobs = 20'000'000'000;
constexpr double kMostSeconds = 1e9, kLeastSeconds = 1e-9;

Result<std::uint32_t> pool_index(const std::vector<Pool>& pools, std::string_view name) {
  std::vector<std::string_view> names;
  for (std::uint32_t i = 0; i < pools.size(); ++i) {
    if (pools[i].name == name) return i;
    names.push_back(pools[i].name);
  }
  return invalid(fmt::format("there is no pool '{}'", name),
                 fmt::format("pools are {}", fmt::join(names, ", ")));
}

// Where a stage runs that does not say it.
std::string_view usual_pool(std::string_view stage) {
  return stage == "profile" ? "device" : "host";
}

Status check_keys(const Json& object, std::string_view what,
                  const std::vector<std::string>& known) {
  for (const auto& [key, ignored] : object.items()) {
    if (std::find(known.begin(), known.end(), key) != known.end()) continue;
    const std::string guess = nearest(key, known);
    return invalid(fmt::format("{} has no key '{}'", what, key),
                   fmt::format("{}its keys are {}",
                               guess.empty() ? "" : fmt::format("did you mean '{}'? ", guess),
                               fmt::join(known, ", ")));
  }
  return {};
}

Result<double> number_in(const Json& object, const char* key, double fallback, double least,
                         double most) {
  const auto found = object.find(key);
  if (found == object.end()) return fallback;
  if (!found->is_number()) {
    return invalid(fmt::format("'{}' is not a number in the plan", key), "write it as 1.5");
  }
  const double value = found->get<double>();
  if (!(value >= least && value <= most)) {
    return invalid(fmt::format("'{}' is {} in the plan", key, value),
                   fmt::format("choose a number from {} to {}", least, most));
  }
  return value;
}

Result<int> whole_number_in(const Json& object, const char* key, int fallback, int most) {
  ATTUNE_ASSIGN(const double value, number_in(object, key, fallback, 1, most));
  if (value == std::floor(value)) return static_cast<int>(value);
  return invalid(fmt::format("'{}' is {} in the plan, which is not a whole number", key, value),
                 fmt::format("choose a whole number from 1 to {}", most));
}

Result<std::string> text_in(const Json& object, const char* key, std::string fallback) {
  const auto found = object.find(key);
  if (found == object.end()) return fallback;
  if (!found->is_string()) {
    return invalid(fmt::format("'{}' is not a text in the plan", key), "write it in double quotes");
  }
  return found->get<std::string>();
}

// `count`: how many of the stage there are; of a longer list only as many times are used.
Status read_seconds(const Json& object, int count, StageModel& stage) {
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
    return invalid(fmt::format("stage '{}' of the plan has no 'seconds'", stage.name),
                   "give a mean such as 8.3, or a list of times");
  }
  stage.recorded_seconds = found->get<std::vector<double>>();
  stage.recorded_seconds.resize(
      std::min(stage.recorded_seconds.size(), static_cast<std::size_t>(count)));
  stage.mean_seconds =
      std::accumulate(stage.recorded_seconds.begin(), stage.recorded_seconds.end(), 0.0) /
      static_cast<double>(stage.recorded_seconds.size());
  return {};
}

Result<StageModel> stage_of(const Json& object, const std::vector<Pool>& pools, int count) {
  if (!object.is_object()) {
    return invalid("a stage of the plan is not an object",
                   R"(write it as {"name": "build", "pool": "host", "seconds": 8.3})");
  }
  StageModel stage;
  ATTUNE_ASSIGN(stage.name, text_in(object, "name", "stage"));
  ATTUNE_RETURN_IF_ERROR(check_keys(object, fmt::format("stage '{}' of the plan", stage.name),
                                    {"name", "pool", "amount", "seconds"}));
  ATTUNE_ASSIGN(const std::string pool,
                text_in(object, "pool", std::string(usual_pool(stage.name))));
  ATTUNE_ASSIGN(stage.pool, pool_index(pools, pool));
  ATTUNE_ASSIGN(stage.amount, whole_number_in(object, "amount", 1, pools[stage.pool].capacity));
  ATTUNE_RETURN_IF_ERROR(read_seconds(object, count, stage));
  return stage;
}

Status read_stages(const Json& object, const char* key, const std::vector<Pool>& pools, int count,
                   std::vector<StageModel>& into) {
  const auto found = object.find(key);
  if (found == object.end()) return {};
  if (!found->is_array()) {
    return invalid(fmt::format("'{}' is not a list in the plan", key),
                   R"(write [{"name": "build", "pool": "host", "seconds": 8.3}])");
  }
  for (const Json& stage : *found) {
    ATTUNE_ASSIGN(StageModel model, stage_of(stage, pools, count));
    into.push_back(std::move(model));
  }
  return {};
}

Result<MockJob> job_of(const Json& object, const std::vector<Pool>& pools) {
  MockJob job;
  ATTUNE_ASSIGN(job.name, text_in(object, "name", "job"));
  ATTUNE_RETURN_IF_ERROR(check_keys(object, fmt::format("job '{}' of the plan", job.name),
                                    {"name", "count", "user", "priority", "submit_at", "batches",
                                     "prefetch", "opening", "stages", "closing"}));
  ATTUNE_ASSIGN(job.user, text_in(object, "user", ""));
  ATTUNE_ASSIGN(job.priority, number_in(object, "priority", 1, 1e-3, 1e3));
  ATTUNE_ASSIGN(job.submit_at, number_in(object, "submit_at", 0, 0, kMostSeconds));
  ATTUNE_ASSIGN(job.batches, whole_number_in(object, "batches", 60, kMostBatches));
  ATTUNE_ASSIGN(job.prefetch, whole_number_in(object, "prefetch", 1, 1000));
  ATTUNE_RETURN_IF_ERROR(read_stages(object, "stages", pools, job.batches, job.stages));
  ATTUNE_RETURN_IF_ERROR(read_stages(object, "opening", pools, 1, job.opening));
  ATTUNE_RETURN_IF_ERROR(read_stages(object, "closing", pools, 1, job.closing));
  if (job.stages.empty()) {
    return invalid(fmt::format("job '{}' of the plan has no stages", job.name),
                   R"(give "stages": [{"name": "build", "pool": "host", "seconds": 8.3}])");
  }
  return job;
}

// "line 3, column 7" of a byte of the text, counted from 1.
std::string place_of(std::string_view text, std::size_t byte) {
  const std::string_view before = text.substr(0, byte == 0 ? 0 : byte - 1);
  const std::size_t start = before.rfind('\n') + 1;  // of the line; npos + 1 is 0
  return fmt::format("line {}, column {}", 1 + std::count(before.begin(), before.end(), '\n'),
                     before.size() - start + 1);
}

Result<Json> document_of(std::string_view text) {
  const std::string hint = R"(write {"pools": {"host": 2, "device": 1}, "jobs": […]})";
  if (json_depth(text) > kDeepestJson) {
    return invalid(fmt::format("the plan is nested more than {} deep", kDeepestJson), hint);
  }
  Json document;
  try {
    document = Json::parse(text);
  } catch (const Json::parse_error& failure) {
    return invalid(fmt::format("the plan is not JSON from {} on", place_of(text, failure.byte)),
                   hint);
  } catch (const Json::exception&) {  // a number that no double holds
    return invalid("the plan has a number that is too large", "choose one below 1e9");
  }
  if (!document.is_object()) return invalid("the plan is not a JSON object", hint);
  ATTUNE_RETURN_IF_ERROR(
      check_keys(document, "the plan", {"pools", "jobs", "noise", "heterogeneity", "quotas"}));
  return document;
}

Status read_pools(const Json& document, std::vector<Pool>& into) {
  const auto pools = document.find("pools");
  if (pools == document.end() || !pools->is_object() || pools->empty()) {
    return invalid("the plan has no pools", R"(give "pools": {"host": 2, "device": 1})");
  }
  for (const auto& [name, ignored] : pools->items()) {
    ATTUNE_ASSIGN(const int capacity, whole_number_in(*pools, name.c_str(), 1, kMostUnits));
    into.push_back({name, capacity});
  }
  return {};
}

Status read_jobs(const Json& document, Experiment& into) {
  const auto jobs = document.find("jobs");
  if (jobs == document.end() || !jobs->is_array() || jobs->empty()) {
    return invalid("the plan has no jobs",
                   R"(give "jobs": [{"stages": [{"name": "build", "seconds": 8.3}]}])");
  }
  for (const Json& object : *jobs) {
    if (!object.is_object()) {
      return invalid("a job of the plan is not an object",
                     R"(write it as {"stages": [{"name": "build", "seconds": 8.3}]})");
    }
    ATTUNE_ASSIGN(const MockJob job, job_of(object, into.pools));
    ATTUNE_ASSIGN(const int count, whole_number_in(object, "count", 1, kMostJobs));
    ATTUNE_RETURN_IF_ERROR(add_jobs(into, job, count));
  }
  return {};
}

Status read_quotas(const Json& document, Experiment& into) {
  const auto quotas = document.find("quotas");
  if (quotas == document.end()) return {};
  if (!quotas->is_object()) {
    return invalid("'quotas' is not an object in the plan", R"(write it as {"anna": 2})");
  }
  for (const auto& [user, ignored] : quotas->items()) {
    const auto own = [name = user](const MockJob& job) { return job.user == name; };
    if (std::none_of(into.jobs.begin(), into.jobs.end(), own)) {
      return invalid(fmt::format("'quotas' of the plan names '{}', who has no job", user),
                     fmt::format(R"(give a job "user": "{}")", user));
    }
    ATTUNE_ASSIGN(into.quotas[user], whole_number_in(*quotas, user.c_str(), 1, kMostUnits));
  }
  return {};
}

bool takes_time(const MockJob& job) {
  double seconds = 0;
  for (std::size_t kind = 0; kind < job.kinds(); ++kind) seconds += job.kind(kind).mean_seconds;
  return seconds >= kLeastSeconds;
}

}  // namespace

Result<Experiment> parse_experiment(std::string_view text) {
  ATTUNE_ASSIGN(const Json document, document_of(text));
  Experiment experiment;
  ATTUNE_ASSIGN(experiment.noise, number_in(document, "noise", 0, 0, 10));
  ATTUNE_ASSIGN(experiment.heterogeneity, number_in(document, "heterogeneity", 0, 0, 10));
  ATTUNE_RETURN_IF_ERROR(read_pools(document, experiment.pools));
  ATTUNE_RETURN_IF_ERROR(read_jobs(document, experiment));
  ATTUNE_RETURN_IF_ERROR(read_quotas(document, experiment));
  return experiment;
}

Status add_jobs(Experiment& experiment, const MockJob& job, int count) {
  if (!takes_time(job)) {
    return invalid(fmt::format("the stages of job '{}' take no time", job.name),
                   "give one of them more than 0 seconds");
  }
  std::int64_t stages = count * job.stage_count();
  for (const MockJob& other : experiment.jobs) stages += other.stage_count();
  const std::int64_t jobs = static_cast<std::int64_t>(experiment.jobs.size()) + count;
  const std::int64_t most = std::min(kMostStages, kMostStagesTimesJobs / jobs);
  if (stages > most) {
    return invalid(
        fmt::format("{} stages of {} jobs are more than a simulation takes, {} of so many", stages,
                    jobs, most),
        "choose fewer jobs or batches");
  }
  for (int i = 0; i < count; ++i) {
    experiment.jobs.push_back(job);
    if (count > 1) experiment.jobs.back().name = fmt::format("{} {}", job.name, i);
  }
  return {};
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
    const std::string_view place = item.substr(0, equals);
    const std::size_t at = place.find('@');
    StageModel stage{.name = std::string(place.substr(0, at))};
    const auto end = number.data() + number.size();
    const auto [rest, error] = std::from_chars(number.data(), end, stage.mean_seconds);
    if (stage.name.empty() || number.empty() || error != std::errc() || rest != end ||
        !(stage.mean_seconds >= 0 && stage.mean_seconds <= kMostSeconds)) {
      return invalid(fmt::format("stage '{}' is not NAME=SECONDS", item),
                     "write --stages build=8.3,profile=39.5,update=44");
    }
    ATTUNE_ASSIGN(stage.pool, pool_index(pools, at == place.npos ? usual_pool(stage.name)
                                                                 : place.substr(at + 1)));
    stages.push_back(std::move(stage));
  }
  if (stages.empty()) {
    return invalid("no stages are given", "write --stages build=8.3,profile=39.5,update=44");
  }
  return stages;
}

}  // namespace attune::jobs
