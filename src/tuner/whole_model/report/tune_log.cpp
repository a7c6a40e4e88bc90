#include "tuner/whole_model/report/tune_log.h"

#include <fcntl.h>
#include <fmt/format.h>
#include <unistd.h>

#include <cerrno>
#include <cmath>
#include <cstring>
#include <nlohmann/json.hpp>
#include <utility>

#include "base/clock.h"
#include "base/version.h"

namespace attune::whole_model {
namespace {

using Json = nlohmann::ordered_json;

Json or_null(const std::optional<double>& value) { return value ? Json(*value) : Json(nullptr); }

// No clock is better than that, and lines stay short.
double to_microsecond(double seconds) { return std::round(seconds * 1e6) / 1e6; }

Json event(const char* name, double seconds) {
  return {{"event", name}, {"seconds", to_microsecond(seconds)}};
}

std::string line_of(const Json& json) {
  return json.dump(-1, ' ', false, Json::error_handler_t::replace) + "\n";
}

// A run that was killed may have left half a line.
bool ends_within_line(int descriptor) {
  const off_t size = ::lseek(descriptor, 0, SEEK_END);
  char last = '\n';
  return size > 0 && ::pread(descriptor, &last, 1, size - 1) == 1 && last != '\n';
}

Error cannot(const char* what, const std::string& path, int number) {
  return {ErrorCode::Io,
          fmt::format("cannot {} the log '{}': {}", what, path, std::strerror(number)),
          "name another file with --log"};
}

Json json_of(const FailedTrial& failed) {
  return {{"task", failed.task}, {"key", failed.task_key},  {"candidate", failed.candidate},
          {"kind", failed.kind}, {"reason", failed.reason}, {"trace", failed.trace}};
}

}  // namespace

Result<TuneLog> TuneLog::open(const std::string& path) {
  if (path.empty()) return TuneLog(-1);
  const int descriptor = ::open(path.c_str(), O_RDWR | O_CREAT | O_APPEND | O_CLOEXEC, 0644);
  if (descriptor < 0) return cannot("open", path, errno);
  TuneLog log(descriptor);
  if (ends_within_line(descriptor)) log.write("\n");
  return log;
}

TuneLog::TuneLog(TuneLog&& other) noexcept
    : descriptor_(std::exchange(other.descriptor_, -1)),
      status_(std::move(other.status_)),
      told_(std::move(other.told_)),
      closing_(other.closing_) {}

TuneLog::~TuneLog() {
  if (descriptor_ >= 0) ::close(descriptor_);
}

void TuneLog::write(const std::string& line) {
  if (descriptor_ < 0 || !status_.ok()) return;
  // In one piece: lines of several runs into one file do not mix.
  ssize_t written = -1;
  do {
    written = ::write(descriptor_, line.data(), line.size());
  } while (written < 0 && errno == EINTR);
  if (written == static_cast<ssize_t>(line.size())) return;
  status_ = Error{ErrorCode::Io,
                  fmt::format("the log is incomplete: {}",
                              written < 0 ? std::strerror(errno) : std::strerror(ENOSPC)),
                  "free some space, or name another file with --log"};
}

void TuneLog::began(const model::ModelOptions& model, const TuneOptions& options) {
  if (descriptor_ < 0) return;
  Json json = event("begin", 0);
  json["unix_seconds"] = static_cast<double>(unix_time_ms()) * 1e-3;
  json["model"] = model.model;
  json["target"] = model.target;
  json["precision"] = ops::name_of(model.precision.value_or(ops::Precision::F32));
  json["threads"] = model.threads > 0 ? Json(model.threads) : Json(nullptr);
  json["trials_budget"] = options.trials ? Json(*options.trials) : Json(nullptr);
  json["seconds_budget"] = or_null(options.seconds);
  json["seed"] = options.seed.value_or(0);
  json["resume"] = options.resume;
  json["version"] = version();
  write(line_of(json));
}

void TuneLog::progressed(const TuneProgress& progress) {
  if (descriptor_ < 0 || progress.begins) return;
  const double now = progress.elapsed_seconds;
  if (progress.closing && !closing_) {
    Json json = event("closing", now);
    json["trials"] = progress.trials;
    json["settled"] = progress.settled();
    json["tasks"] = progress.tasks.size();
    write(line_of(json));
    closing_ = true;
  }
  Json json = event("stage", now);
  json["stage"] = progress.stage;
  if (!progress.of_whole) {
    const TaskProgress& task = progress.tasks[progress.task];
    json["task"] = task.name;
    json["key"] = task.key;
    json["round"] = progress.round < 0 ? Json(nullptr) : Json(progress.round);
    json["trials"] = task.trials;
    json["model_quality"] = or_null(task.model_quality);
  }
  json["stage_seconds"] = to_microsecond(progress.stage_seconds);
  write(line_of(json));
  for (const FailedTrial& failed : progress.failed) {
    Json failure = event("failure", now);
    failure.update(json_of(failed));
    write(line_of(failure));
  }
  tell_tasks(progress);
}

void TuneLog::tell_tasks(const TuneProgress& progress) {
  for (const TaskProgress& task : progress.tasks) {
    Told& told = told_[task.key];
    const auto tell = [&](const char* what) {
      Json json = event(what, progress.elapsed_seconds);
      json["task"] = task.name;
      json["key"] = task.key;
      json["trials"] = task.trials;
      json["best_us"] = or_null(task.best_us);
      json["default_us"] = or_null(task.default_us);
      write(line_of(json));
    };
    if (task.best_us && (told.best_us == 0 || *task.best_us < told.best_us)) {
      told.best_us = *task.best_us;
      tell("best");
    }
    if (task.settled && !told.settled) tell("settled");
    told.settled = task.settled;
  }
}

void TuneLog::ended(const Result<TuneReport>& report, double seconds) {
  if (descriptor_ < 0) return;
  Json json = event("end", seconds);
  if (report.ok()) {
    std::int64_t trials = 0;
    for (const TunedTask& task : report->tasks) trials += task.trials;
    json["trials"] = trials;
    json["latency_ms"] = or_null(report->latency_ms);
    json["default_latency_ms"] = or_null(report->default_latency_ms);
    json["stopped"] = report->stopped;
  } else {
    json["error"] = report.error().message;
  }
  write(line_of(json));
}

Result<TuneReport> with_log(const model::ModelOptions& model, const TuneOptions& options,
                            const Progressed& progressed,
                            const std::function<Result<TuneReport>(const Progressed&)>& work) {
  const SteadyClock clock;
  const std::int64_t start = clock.now_ns();
  ATTUNE_ASSIGN(TuneLog log, TuneLog::open(options.log));
  log.began(model, options);
  Result<TuneReport> report = work([&](const TuneProgress& progress) {
    log.progressed(progress);
    if (progressed) progressed(progress);
  });
  log.ended(report, seconds_between(start, clock.now_ns()));
  if (report.ok() && !log.status().ok()) report->log_failure = log.status().error().message;
  return report;
}

}  // namespace attune::whole_model
