// Jobs of a scheduler that is shared with others: submitted, asked about, paused, ended.
#pragma once

#include <atomic>
#include <functional>
#include <optional>
#include <string>
#include <vector>

#include "base/result.h"
#include "compiler/model/load/input_files.h"
#include "compiler/model/load/model.h"
#include "fleet/client/client.h"
#include "fleet/client/overview.h"

namespace attune::verbs {

// Which scheduler.
struct SchedulerOptions {
  std::string state = {};  // its directory; empty: the default one
  double patience_seconds = 10;
  // Told when no scheduler answers and the search for one begins.
  std::function<void(const std::string& state)> waiting = {};
};

struct SubmitOptions {
  model::ModelOptions model = {};
  // As parse_shape, parse_constant and parse_maximum read them.
  std::vector<std::string> shapes = {}, constants = {}, maxima = {};
  std::vector<model::NamedFile> inputs = {};  // as TuneOptions
  std::string records = {}, history = {};     // likewise
  std::optional<std::int64_t> trials = {};
  std::optional<double> seconds = {}, until_latency_ms = {};
  std::string name = {};    // empty: the scheduler chooses one
  std::string user = {};    // empty: who runs this; only the scheduler's user may name others
  std::string device = {};  // empty: the kind of the target
  double priority = 1;
  int prefetch = 0;  // 0: as the scheduler does
  std::uint64_t seed = 0;
  std::string output = {};  // empty: NAME.attune here, for models
  bool no_wait = false;
  std::string key = {};  // the same key again is the same job; empty: a new one
};

Result<client::ClientOptions> client_options(const SchedulerOptions& scheduler);

// What is sent: files by absolute path, everything that can be seen to be wrong refused.
Result<client::JobRequest> job_request(const SubmitOptions& options);

// To a scheduler of another user the files go along, and results are fetched (fetch.h).
Result<client::Submitted> submit_job(const SubmitOptions& options,
                                     const SchedulerOptions& scheduler);
// Where the artifact goes.
std::string output_of(const SubmitOptions& options);

// Lets one other tuner take part, in the name of who asks, or one worker; good for ten minutes.
Result<std::string> scheduler_token(bool worker, const SchedulerOptions& scheduler);
// All jobs, or the one with this id or name.
Result<client::Overview> list_jobs(const std::string& job, const SchedulerOptions& scheduler);
Result<client::JobStatus> control_job(const std::string& job, client::Wish wish,
                                      const SchedulerOptions& scheduler);
// Forgets jobs that ended so long ago, or only says which they would be.
Result<std::vector<client::JobStatus>> prune_jobs(double older_than_seconds, bool dry_run,
                                                  const SchedulerOptions& scheduler);
// The state now, whenever it changed, and after every tick without a change (0: never), until
// `show` returns false or `stop` is set.
Status watch_jobs(const std::string& job, double tick_seconds, const SchedulerOptions& scheduler,
                  const std::function<bool(const client::Overview&)>& show,
                  const std::atomic<bool>& stop);

// {"jobs": […], "pools": […], …}; with the tuner's reports of jobs that ended where asked for.
// One line, or many for a person.
enum class JsonForm { Line, Pretty };
std::string to_json(const client::Overview& overview, bool with_results, JsonForm form);
std::string to_json(const client::JobStatus& job);
// {"dry_run": …, "jobs": [{"id", "name", "user", "state", "ended_at"}, …]}
std::string pruned_json(const std::vector<client::JobStatus>& jobs, bool dry_run);

}  // namespace attune::verbs
