#include <nlohmann/json.hpp>

#include "app/verbs/jobs/jobs.h"
#include "base/read_json.h"

namespace attune::verbs {
namespace {

using Json = nlohmann::ordered_json;

template <typename T>
Json or_null(const std::optional<T>& value) {
  return value ? Json(*value) : Json(nullptr);
}
// 0 stands for "none" on the wire.
Json or_null(double value) { return value > 0 ? Json(value) : Json(nullptr); }

// Names come from others: bytes that are no text must not end the program.
std::string dumped(const Json& json, JsonForm form) {
  return json.dump(form == JsonForm::Pretty ? 2 : -1, ' ', false, Json::error_handler_t::replace);
}

Json stages_of(const client::JobStatus& job) {
  Json stages = Json::array();
  for (const client::StageStatus& stage : job.stages) {
    stages.push_back({{"name", stage.name},
                      {"pool", stage.pool},
                      {"amount", stage.amount},
                      {"done", stage.done},
                      {"left", or_null(stage.left)},
                      {"usual_seconds", or_null(stage.usual_seconds)}});
  }
  return stages;
}

Json job_json(const client::JobStatus& job, bool with_result) {
  const client::JobRequest& request = job.request;
  Json json{{"id", job.id},
            {"name", request.name},
            {"user", request.user},
            {"model", request.model},
            {"device", request.device},
            {"threads", request.threads},
            {"priority", request.priority},
            {"state", client::to_string(job.state)},
            {"reason", job.reason},
            {"trouble", job.trouble},
            {"strikes", job.strikes},
            {"waiting_for", job.waiting_for},
            {"queue_position", job.queue_position},
            {"trials", job.trials},
            {"best_ms", or_null(job.best_ms)},
            {"default_ms", or_null(job.default_ms)},
            {"submitted_at", or_null(job.submitted_at)},
            {"started_at", or_null(job.started_at)},
            {"ended_at", or_null(job.ended_at)},
            {"predicted_end", or_null(job.predicted_end)},
            {"epoch", job.epoch},
            {"worker", job.worker},
            {"attained_seconds", job.attained_seconds},
            {"stages", stages_of(job)},
            {"output", request.output}};
  if (with_result && !job.result_json.empty()) {
    Json result = read_json<Json>(job.result_json);
    json["result"] = result.is_discarded() ? Json(nullptr) : std::move(result);
  }
  return json;
}

}  // namespace

std::string to_json(const client::Overview& overview, bool with_results, JsonForm form) {
  Json jobs = Json::array(), pools = Json::array();
  for (const client::JobStatus& job : overview.jobs) jobs.push_back(job_json(job, with_results));
  for (const client::PoolStatus& pool : overview.pools) {
    pools.push_back({{"name", pool.name},
                     {"capacity", pool.capacity},
                     {"cores_each", pool.cores},
                     {"used", pool.used},
                     {"utilisation", pool.utilisation}});
  }
  return dumped({{"jobs", jobs},
                 {"pools", pools},
                 {"policy", overview.policy},
                 {"devices", overview.device_keys},
                 {"cores", overview.cores_kept},
                 {"now", overview.now}},
                form);
}

std::string to_json(const client::JobStatus& job) {
  return dumped(job_json(job, true), JsonForm::Pretty);
}

std::string pruned_json(const std::vector<client::JobStatus>& jobs, bool dry_run) {
  Json all = Json::array();
  for (const client::JobStatus& job : jobs) {
    all.push_back({{"id", job.id},
                   {"name", job.request.name},
                   {"user", job.request.user},
                   {"state", client::to_string(job.state)},
                   {"ended_at", or_null(job.ended_at)}});
  }
  return dumped({{"dry_run", dry_run}, {"jobs", all}}, JsonForm::Pretty);
}

}  // namespace attune::verbs
