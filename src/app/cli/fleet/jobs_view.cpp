#include "app/cli/fleet/jobs_view.h"

#include <fmt/format.h>

#include <algorithm>
#include <vector>

#include "app/cli/printable.h"

namespace attune::cli {
namespace {

using client::JobState;
using client::JobStatus;
using client::Overview;

std::string milliseconds_text(const std::optional<double>& ms) {
  return ms ? fmt::format("{:.4g} ms", *ms) : "";
}

std::string gain_text(const JobStatus& job) {
  return job.best_ms && job.default_ms ? fmt::format("{:.2f}x", *job.default_ms / *job.best_ms)
                                       : "";
}

// When it will end or has ended, seen from `now`.
std::string end_text(const JobStatus& job, double now) {
  if (client::has_ended(job.state)) {
    return job.ended_at > 0 ? duration_text(now - job.ended_at) + " ago" : "";
  }
  if (job.predicted_end <= 0) return "";
  return "in " + duration_text(std::max(0.0, job.predicted_end - now));
}

// No control characters of others' names on this terminal; at most as many bytes.
std::string plain(const std::string& text, std::size_t most) {
  std::string shown;
  for (const char c : printable(text)) shown += c == '\n' ? '?' : c;
  if (shown.size() <= most) return shown;
  std::size_t end = most - 1;
  while (end > 0 && (static_cast<unsigned char>(shown[end]) & 0xc0) == 0x80) --end;
  return shown.substr(0, end) + "~";
}

// Without the reason, which gets a line of its own.
std::string short_state(JobStatus job) {
  job.reason.clear();
  return state_text(job);
}

bool has_reason_to_tell(const JobStatus& job) {
  const bool told = job.state == JobState::Failed || job.state == JobState::Queued;
  return told && !job.reason.empty();
}

// Of a job that goes on without having come further since; of one that ended the reason says it.
bool has_trouble_to_tell(const JobStatus& job) {
  return job.strikes > 0 && !client::has_ended(job.state);
}

std::string trouble_text(const JobStatus& job) {
  return fmt::format("{}; it is tried again", plain(job.trouble, 300));
}

std::string row_of(const JobStatus& job, double now) {
  std::string row = fmt::format(
      "{:<4} {:<20} {:<10} {:<28} {:>7} {:>11} {:>7} {:>10}\n", plain(job.id, 12),
      plain(job.request.name, 20), plain(job.request.user, 10), plain(short_state(job), 28),
      job.trials, milliseconds_text(job.best_ms), gain_text(job), end_text(job, now));
  if (has_reason_to_tell(job)) row += fmt::format("     {}\n", plain(job.reason, 400));
  if (has_trouble_to_tell(job)) row += fmt::format("     {}\n", trouble_text(job));
  return row;
}

// Done and, of a job that goes on, to come.
std::string stages_table(const JobStatus& job) {
  if (job.stages.empty()) return "";
  const bool ended = client::has_ended(job.state);
  std::string table =
      fmt::format("\n{:<16} {:<10} {:>6} {:>8}", "stage", "resource", "units", "done");
  table += ended ? "\n" : fmt::format(" {:>8} {:>10}\n", "to come", "usual");
  for (const client::StageStatus& stage : job.stages) {
    if (stage.done == 0 && (ended || stage.left == 0.0)) continue;  // not of this job
    table += fmt::format("{:<16} {:<10} {:>6} {:>8}", plain(stage.name, 16), plain(stage.pool, 10),
                         stage.amount, stage.done);
    if (!ended) {
      table +=
          fmt::format(" {:>8} {:>8.2f} s", stage.left ? fmt::format("{:.0f}", *stage.left) : "?",
                      stage.usual_seconds.value_or(0));
    }
    table += "\n";
  }
  return table;
}

}  // namespace

std::string duration_text(double seconds) {
  if (seconds < 99.5) return fmt::format("{:.0f} s", std::max(0.0, seconds));
  if (seconds < 5970) return fmt::format("{:.0f} min", seconds / 60);
  return fmt::format("{:.1f} h", seconds / 3600);
}

std::string state_text(const JobStatus& job) {
  std::string text(client::to_string(job.state));
  if (job.state == JobState::Waiting && !job.waiting_for.empty()) text += " for " + job.waiting_for;
  if (!client::has_ended(job.state) && job.queue_position > 0) {
    text += fmt::format(", number {}", job.queue_position);
  }
  if (has_reason_to_tell(job)) text += ": " + job.reason;
  return text;
}

std::string job_line(const JobStatus& job, double now) {
  std::string line =
      fmt::format("{}: {}", plain(job.request.name, 40), plain(state_text(job), 200));
  if (job.trials > 0) line += fmt::format(", {} trials", job.trials);
  if (job.best_ms) line += fmt::format(", {}", milliseconds_text(job.best_ms));
  if (const std::string gain = gain_text(job); !gain.empty()) line += fmt::format(" ({})", gain);
  if (!client::has_ended(job.state) && job.predicted_end > 0) {
    line += fmt::format(", about {} to go", duration_text(job.predicted_end - now));
  }
  return line;
}

std::string jobs_table(const Overview& overview, std::size_t ended) {
  std::vector<const JobStatus*> open, closed;
  for (const JobStatus& job : overview.jobs) {
    (client::has_ended(job.state) ? closed : open).push_back(&job);
  }
  std::stable_sort(closed.begin(), closed.end(), [](const JobStatus* a, const JobStatus* b) {
    return a->ended_at > b->ended_at;
  });
  std::string table = fmt::format("{:<4} {:<20} {:<10} {:<28} {:>7} {:>11} {:>7} {:>10}\n", "job",
                                  "name", "user", "state", "trials", "best", "gain", "end");
  for (const JobStatus* job : open) table += row_of(*job, overview.now);
  for (std::size_t i = 0; i < std::min(ended, closed.size()); ++i) {
    table += row_of(*closed[i], overview.now);
  }
  return table;
}

std::string pools_table(const Overview& overview) {
  std::string table =
      fmt::format("{:<12} {:>6} {:>8} {:>6}\n", "resource", "units", "in use", "busy");
  for (const client::PoolStatus& pool : overview.pools) {
    table += fmt::format("{:<12} {:>6} {:>8} {:>5.0f}%\n", plain(pool.name, 12), pool.capacity,
                         pool.used, 100 * pool.utilisation);
  }
  return table;
}

std::string job_page(const JobStatus& job, double now) {
  std::string page;
  const auto add = [&](std::string_view title, const std::string& value) {
    if (!value.empty()) page += fmt::format("{:<12} {}\n", title, plain(value, 400));
  };
  const client::JobRequest& request = job.request;
  add("job", fmt::format("{} ({})", request.name, job.id));
  add("model", request.model);
  add("user", fmt::format("{}, priority {:g}", request.user, request.priority));
  add("device", request.threads > 0 ? fmt::format("{}, {} threads", request.device, request.threads)
                                    : request.device);
  add("state", state_text(job));
  if (job.state != JobState::Failed && job.state != JobState::Queued) add("because", job.reason);
  if (has_trouble_to_tell(job)) {
    add("trouble", trouble_text(job));
  } else if (job.state != JobState::Failed) {
    add("trouble", job.trouble);
  }
  add("worker", job.worker.empty() ? "" : fmt::format("{}, turn {}", job.worker, job.epoch));
  add("submitted", duration_text(now - job.submitted_at) + " ago");
  if (job.started_at > 0 && job.ended_at > 0) {
    add("took", duration_text(job.ended_at - job.started_at));
  }
  add("end", end_text(job, now));
  add("trials", std::to_string(job.trials));
  add("before", milliseconds_text(job.default_ms));
  add("best", fmt::format("{}{}", milliseconds_text(job.best_ms),
                          gain_text(job).empty() ? "" : fmt::format(" ({})", gain_text(job))));
  const bool written = job.state == JobState::Done || job.state == JobState::Stopped;
  add("artifact", written && job.best_ms ? request.output : "");
  return page + stages_table(job);
}

}  // namespace attune::cli
