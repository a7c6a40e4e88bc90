#include "app/verbs/jobs/jobs.h"

#include <fmt/format.h>
#include <unistd.h>

#include <cerrno>
#include <filesystem>
#include <random>

#include "app/verbs/jobs/job_options.h"
#include "app/verbs/jobs/sent_files.h"
#include "base/atomic_file.h"
#include "base/utf8.h"
#include "compiler/model/load/machine_limits.h"
#include "fleet/client/client.h"
#include "fleet/wire/state_directory.h"
#include "targets/kinds.h"
#include "tuner/whole_model/contest/side_by_side.h"
#include "tuner/whole_model/known_answer.h"

namespace attune::verbs {
namespace {

namespace fs = std::filesystem;

std::string absolute_path(const std::string& path) {
  std::error_code failure;
  const fs::path absolute = fs::absolute(path, failure);
  return failure ? path : absolute.lexically_normal().string();
}

std::string new_key() {
  std::random_device source;
  std::string key;
  for (int i = 0; i < 4; ++i) key += fmt::format("{:08x}", source());
  return key;
}

// "sizes=FILE.npy" with the file's absolute path, other values as they are.
std::string absolute_constant(const std::string& text) {
  const std::size_t equals = text.rfind('=');
  if (equals == std::string::npos || !text.ends_with(".npy")) return text;
  return text.substr(0, equals + 1) + absolute_path(text.substr(equals + 1));
}

// The model with its shapes and constants, as the job will load it.
Result<model::LoadedModel> load(const SubmitOptions& options) {
  model::ModelOptions model = options.model;
  for (const std::string& text : options.shapes) {
    ATTUNE_ASSIGN(auto shape, model::parse_shape(text));
    model.shapes.insert(std::move(shape));
  }
  for (const std::string& text : options.constants) {
    ATTUNE_ASSIGN(auto constant, model::parse_constant(text));
    model.constants.insert(std::move(constant));
  }
  for (const std::string& text : options.maxima) {
    ATTUNE_ASSIGN(auto maximum, model::parse_maximum(text));
    model.maxima.insert(std::move(maximum));
  }
  ATTUNE_ASSIGN(model::LoadedModel loaded,
                model::load_source(model, "is compiled already",
                                   "submit the model that it was compiled from"));
  if (!loaded.facts.contest && !options.output.empty()) {
    return unsupported("tuning an operator writes no artifact, so that --output has no meaning",
                       "leave it out; the result is in the records");
  }
  if (const auto read = whole_model::contest_inputs(loaded, options.inputs); !read.ok()) {
    return read.error();
  }
  ATTUNE_RETURN_IF_ERROR(model::check_runs_here(loaded.target));
  ATTUNE_RETURN_IF_ERROR(model::check_fits_memory(loaded, model::Purpose::Tune));
  return loaded;
}

// What is sent is text, in which a path of other bytes would name another file.
Status check_texts(const SubmitOptions& options, const client::JobRequest& request,
                   const JobOptions& further) {
  std::vector<std::pair<std::string_view, std::string_view>> texts = {
      {"the model", request.model},   {"--target", further.target}, {"--records", further.records},
      {"--history", further.history}, {"--output", request.output}, {"--name", request.name},
      {"--user", request.user},       {"--device", request.device}, {"--key", options.key}};
  for (const std::string& text : further.shapes) texts.emplace_back("--shape", text);
  for (const std::string& text : further.constants) texts.emplace_back("--constant", text);
  for (const std::string& text : further.maxima) texts.emplace_back("--max", text);
  for (const model::NamedFile& file : further.inputs) {
    texts.emplace_back("--input", file.name);
    texts.emplace_back("--input", file.path);
  }
  for (const auto& [option, text] : texts) {
    if (is_utf8(text)) continue;
    return invalid(
        fmt::format("{} is '{}', which is no text in UTF-8", option, as_utf8(text)),
        "a job names files by their whole paths, in UTF-8; rename the file, or link to it");
  }
  return {};
}

// Better now than after the whole budget.
Status check_output(const std::string& path) {
  std::error_code ignored;
  const fs::path folder = fs::path(path).parent_path();
  if (fs::is_directory(path, ignored)) return write_error(path, EISDIR);
  if (!fs::exists(folder, ignored)) return write_error(path, ENOENT);
  if (!fs::is_directory(folder, ignored)) return write_error(path, ENOTDIR);
  const bool there = fs::exists(path, ignored);
  // A regular file is replaced by one that is written beside it.
  if (there && ::access(path.c_str(), W_OK) != 0) return write_error(path, errno);
  if (there && !fs::is_regular_file(path, ignored)) return {};
  if (::access(folder.c_str(), W_OK | X_OK) != 0) return write_error(path, errno);
  return {};
}

// What to submit, and the model that it names.
struct LoadedRequest {
  client::JobRequest request = {};
  model::LoadedModel model = {};
};

Result<LoadedRequest> loaded_request(const SubmitOptions& options) {
  ATTUNE_ASSIGN(const target::Target target, targets::parse(options.model.target));
  ATTUNE_ASSIGN(model::LoadedModel model, load(options));
  ATTUNE_RETURN_IF_ERROR(model::history_path(options.history));
  JobOptions further{.target = options.model.target,
                     .exact = options.model.exact,
                     .precision = options.model.precision,
                     .shapes = options.shapes,
                     .maxima = options.maxima,
                     .history = options.history};
  for (const std::string& text : options.constants) {
    further.constants.push_back(absolute_constant(text));
  }
  for (const model::NamedFile& file : options.inputs) {
    further.inputs.push_back({file.name, absolute_path(file.path)});
  }
  if (!options.records.empty()) further.records = absolute_path(options.records);
  if (!options.history.empty() && options.history != "none") {
    further.history = absolute_path(options.history);
  }
  client::JobRequest request{.name = options.name,
                             .user = options.user,
                             .priority = options.priority,
                             .model = options.model.model,
                             .device = options.device.empty()
                                           ? std::string(targets::kind_of(target).device)
                                           : options.device,
                             .threads = options.model.threads,
                             .trials = options.trials.value_or(0),
                             .seconds = options.seconds.value_or(0),
                             .until_latency_ms = options.until_latency_ms.value_or(0),
                             .prefetch = options.prefetch,
                             .seed = options.seed,
                             .no_wait = options.no_wait};
  if (!model.file.empty()) request.model = absolute_path(model.file);
  if (model.facts.contest) {
    request.output = output_of(options);
    ATTUNE_RETURN_IF_ERROR(check_output(request.output));
  }
  ATTUNE_RETURN_IF_ERROR(check_texts(options, request, further));
  request.options_json = to_json(further);
  return LoadedRequest{std::move(request), std::move(model)};
}

// The answer to a goal, where records have it for as many threads as the device has.
Result<client::KnownResult> known_result(LoadedRequest loaded, const SubmitOptions& options,
                                         client::Client& client) {
  client::KnownResult none;
  const client::JobRequest& request = loaded.request;
  if (request.until_latency_ms <= 0 || loaded.model.facts.contest) return none;
  int threads = options.model.threads;
  if (threads == 0) {
    ATTUNE_ASSIGN(const client::Overview overview, client.list("", false));
    for (const client::PoolStatus& pool : overview.pools) {
      if (pool.name == request.device) threads = pool.cores;
    }
  }
  if (threads == 0) return none;
  ATTUNE_ASSIGN(model::LoadedModel model,
                model::with_threads(std::move(loaded.model), options.model, threads));
  ATTUNE_ASSIGN(const std::optional<whole_model::TuneReport> report,
                whole_model::known_answer(std::move(model), options.model,
                                          {.records = options.records, .history = options.history},
                                          request.until_latency_ms));
  if (!report) return none;
  return client::KnownResult{to_json(*report), *report->latency_ms};
}

}  // namespace

Result<client::ClientOptions> client_options(const SchedulerOptions& scheduler) {
  ATTUNE_ASSIGN(const std::string state, wire::state_directory(scheduler.state));
  client::ClientOptions options{.state = state, .patience_seconds = scheduler.patience_seconds};
  if (scheduler.waiting) {
    options.waiting = [state, tell = scheduler.waiting] { tell(state); };
  }
  return options;
}

std::string output_of(const SubmitOptions& options) {
  return absolute_path(options.output.empty() ? model::artifact_name(options.model.model)
                                              : options.output);
}

Result<client::JobRequest> job_request(const SubmitOptions& options) {
  ATTUNE_ASSIGN(LoadedRequest loaded, loaded_request(options));
  return std::move(loaded.request);
}

Result<client::Submitted> submit_job(const SubmitOptions& options,
                                     const SchedulerOptions& scheduler) {
  ATTUNE_ASSIGN(LoadedRequest loaded, loaded_request(options));
  client::JobRequest request = loaded.request;
  ATTUNE_ASSIGN(client::ClientOptions how, client_options(scheduler));
  client::Client client(std::move(how));
  ATTUNE_ASSIGN(const client::KnownResult known, known_result(std::move(loaded), options, client));
  ATTUNE_ASSIGN(const bool own, client.is_own_scheduler());
  if (!own) {
    ATTUNE_ASSIGN(SentJob sent, with_sent_files(std::move(request)));
    request = std::move(sent.request);
    if (!sent.files.empty() && known.json.empty()) {
      ATTUNE_ASSIGN(request.files, client.upload(sent.files));
    }
  }
  ATTUNE_ASSIGN(client::Submitted submitted,
                client.submit(request, options.key.empty() ? new_key() : options.key, known));
  submitted.is_fetched = !own && known.json.empty();
  return submitted;
}

Result<std::string> scheduler_token(bool worker, const SchedulerOptions& scheduler) {
  ATTUNE_ASSIGN(client::ClientOptions client, client_options(scheduler));
  return client::Client(std::move(client)).token(worker);
}

Result<client::Overview> list_jobs(const std::string& job, const SchedulerOptions& scheduler) {
  ATTUNE_ASSIGN(client::ClientOptions client, client_options(scheduler));
  return client::Client(std::move(client)).list(job, true);
}

Result<client::JobStatus> control_job(const std::string& job, client::Wish wish,
                                      const SchedulerOptions& scheduler) {
  ATTUNE_ASSIGN(client::ClientOptions client, client_options(scheduler));
  return client::Client(std::move(client)).control(job, wish);
}

Result<std::vector<client::JobStatus>> prune_jobs(double older_than_seconds, bool dry_run,
                                                  const SchedulerOptions& scheduler) {
  ATTUNE_ASSIGN(client::ClientOptions client, client_options(scheduler));
  return client::Client(std::move(client)).prune(older_than_seconds, dry_run);
}

Status watch_jobs(const std::string& job, double tick_seconds, const SchedulerOptions& scheduler,
                  const std::function<bool(const client::Overview&)>& show,
                  const std::atomic<bool>& stop) {
  ATTUNE_ASSIGN(client::ClientOptions client, client_options(scheduler));
  client.stop = &stop;
  return client::Client(std::move(client)).watch(job, tick_seconds, show);
}

}  // namespace attune::verbs
