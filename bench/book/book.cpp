// How the book of a scheduler grows: what an event costs, how much memory jobs take and how long a
// restart takes, with 100, 1,000 and 10,000 jobs that have not ended, as many that have, and up to
// 100 workers.
//
// usage: bench_book DIRECTORY [JOBS]...
#include <fmt/core.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <chrono>
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <functional>
#include <map>
#include <string>
#include <vector>

#include "base/rng.h"
#include "fleet/jobs/book/book.h"
#include "fleet/jobs/policies/policies.h"
#include "fleet/server/server.h"
#include "fleet/server/state_file.h"
#include "fleet/wire/state_directory.h"

namespace {

using namespace attune;
using Steady = std::chrono::steady_clock;

constexpr std::size_t kMostWorkers = 100, kUnits = 50, kTurns = 2000;
constexpr std::size_t kReportBytes = 4096;  // of a job that ended
constexpr int kStagesOfAJob = 20;
const jobs::Caller kMe{.uid = static_cast<std::uint32_t>(::geteuid()), .user = "me"};

double micros_since(Steady::time_point start) {
  return std::chrono::duration<double, std::micro>(Steady::now() - start).count();
}

double quantile(std::vector<double> values, double q) {
  std::sort(values.begin(), values.end());
  return values.empty() ? 0 : values[static_cast<std::size_t>(q * double(values.size() - 1))];
}

double memory_mb() {
  std::ifstream file("/proc/self/status");
  for (std::string line; std::getline(file, line);) {
    if (line.starts_with("VmRSS:")) return std::atof(line.c_str() + 6) / 1024;
  }
  return 0;
}

template <typename Part>
v1::FromWorker about(const std::string& job, std::int64_t epoch, Part* (v1::FromWorker::*part)()) {
  v1::FromWorker message;
  (message.*part)()->set_job(job);
  (message.*part)()->set_epoch(epoch);
  return message;
}

v1::FromWorker hello() {
  v1::FromWorker message;
  message.mutable_hello()->set_name("w");
  message.mutable_hello()->add_devices("cpu");
  message.mutable_hello()->set_takes_jobs(true);
  return message;
}

v1::FromWorker kinds_of(const v1::Job& job) {
  v1::FromWorker message = about(job.id(), job.epoch(), &v1::FromWorker::mutable_kinds);
  for (const char* pool : {"host", "cpu"}) {
    v1::StageKind& kind = *message.mutable_kinds()->add_kinds();
    kind.set_name(pool);
    kind.set_pool(pool);
    kind.set_amount(1);
    kind.set_usual_seconds(10);
    kind.set_left(100);
  }
  return message;
}

// A book and its workers, each with a job and a stage that is ready or runs; all others wait.
class Bench {
 public:
  Bench(std::size_t jobs, std::string_view policy) : book_(options(policy), {}, 0) {
    for (std::size_t i = 0; i < jobs; ++i) submit();
    for (jobs::WorkerId id = 1; id <= std::min(jobs, kMostWorkers); ++id) {
      book_.joined(id, {.caller = kMe, .local = true, .by_token = jobs::Standing::Worker}, now_);
      book_.said(id, hello(), now_);
      turn("join", [] {});
    }
    times_.erase("join");
  }

  void run() {
    Rng rng(1);
    for (std::size_t i = 0; i < kTurns && !running_.empty(); ++i) {
      std::swap(running_[rng.below(running_.size())], running_.back());
      const v1::Start done = running_.back();
      running_.pop_back();
      finish(done);
      if (i % 10 == 0) end(done.job());
      if (i % 20 == 0) cancel();
      if (i % 20 == 0) submit();
      turn("beat", [&] { book_.said(1, beat_, now_); });
    }
  }

  void print(std::size_t jobs) const {
    for (const auto& [name, micros] : times_) {
      fmt::print("{:>8}  {:<8} {:>8} {:>10.1f} {:>10.1f} {:>10.1f}\n", jobs, name, micros.size(),
                 quantile(micros, 0.5), quantile(micros, 0.99), quantile(micros, 1));
    }
  }

 private:
  static jobs::BookOptions options(std::string_view policy) {
    jobs::BookOptions options{.pools = {{"host", {}}, {"cpu", {}}},
                              .policy = *jobs::find_policy(policy),
                              .uid = kMe.uid,
                              .lease_seconds = 1e9};
    for (jobs::BookPool& pool : options.pools) pool.units.resize(kUnits);
    return options;
  }

  // All that the event loop does for a group of events, timed.
  void turn(const std::string& name, const std::function<void()>& events) {
    now_ += 0.01;
    const Steady::time_point start = Steady::now();
    events();
    book_.time_passed(now_);
    const jobs::Effects effects = book_.settle(now_);
    (void)book_.next_deadline();
    (void)book_.parked_workers();
    times_[name].push_back(micros_since(start));
    std::vector<jobs::Message> assigned;
    for (const jobs::Message& message : effects.messages) {
      if (message.what.has_start()) running_.push_back(message.what.start());
      if (message.what.has_assign()) assigned.push_back(message);
    }
    for (const jobs::Message& message : assigned) begin(message.worker, message.what.assign());
  }

  void begin(jobs::WorkerId worker, const v1::Assign& assigned) {
    const v1::Job& job = assigned.job();
    workers_[job.id()] = worker;
    epochs_[job.id()] = job.epoch();
    turn("begin", [&] {
      book_.said(worker, kinds_of(job), now_);
      offer(job.id(), 1);
    });
  }

  void offer(const std::string& job, std::int64_t stage) {
    v1::FromWorker message = about(job, epochs_[job], &v1::FromWorker::mutable_offer);
    message.mutable_offer()->set_stage(stage);
    message.mutable_offer()->set_kind(static_cast<int>(stage % 2));
    book_.said(workers_[job], message, now_);
  }

  void finish(const v1::Start& done) {
    v1::FromWorker message = about(done.job(), done.epoch(), &v1::FromWorker::mutable_finished);
    message.mutable_finished()->set_stage(done.stage());
    message.mutable_finished()->set_seconds(10);
    turn("finish", [&] {
      book_.said(workers_[done.job()], message, now_);
      offer(done.job(), done.stage() + 1);
    });
  }

  void end(const std::string& job) {
    v1::FromWorker message = about(job, epochs_[job], &v1::FromWorker::mutable_ended);
    message.mutable_ended()->set_state(v1::DONE);
    message.mutable_ended()->set_result_json(std::string(kReportBytes, ' '));
    std::erase_if(running_, [&](const v1::Start& start) { return start.job() == job; });
    turn("end", [&] { book_.said(workers_[job], message, now_); });
    workers_.erase(job);
  }

  void submit() {
    v1::SubmitRequest request;
    request.mutable_spec()->set_model("bench");
    request.set_idempotency_key(fmt::format("key {}", submitted_++));
    turn("submit", [&] {
      if (!book_.submit(kMe, request, now_).ok()) std::exit(1);
    });
  }

  void cancel() {
    v1::ControlRequest request;
    request.set_job(fmt::format("j{}", submitted_));
    request.set_wish(v1::CANCEL);
    turn("cancel", [&] { (void)book_.control(kMe, request, now_); });
  }

  jobs::Book book_;
  std::vector<v1::Start> running_;
  std::map<std::string, jobs::WorkerId> workers_;  // by job
  std::map<std::string, std::int64_t> epochs_;
  std::map<std::string, std::vector<double>> times_;
  v1::FromWorker beat_ = [] {
    v1::FromWorker message;
    message.mutable_beat();
    return message;
  }();
  std::size_t submitted_ = 0;
  double now_ = 0;
};

// As many jobs that ended as jobs that wait.
std::vector<jobs::JobRow> rows_of(std::size_t jobs) {
  std::vector<jobs::JobRow> rows;
  for (std::size_t i = 1; i <= 2 * jobs; ++i) {
    jobs::JobRow row{.number = static_cast<std::int64_t>(i), .key = fmt::format("key {}", i)};
    row.job.set_id(fmt::format("j{}", i));
    row.job.set_uid(kMe.uid);
    v1::JobSpec& spec = *row.job.mutable_spec();
    spec.set_name(fmt::format("bench-{}", i));
    spec.set_user("me");
    spec.set_model("bench");
    spec.set_device("cpu");
    spec.set_priority(1);
    spec.set_prefetch(2);
    row.job.set_submitted_at(double(i));
    if (i <= jobs) {
      row.job.set_state(v1::DONE);
      row.job.set_started_at(double(i));
      row.job.set_ended_at(double(i + 1));
      row.job.set_result_json(std::string(kReportBytes, ' '));
    }
    rows.push_back(std::move(row));
  }
  return rows;
}

std::vector<jobs::StageRow> stages_of(std::size_t jobs) {
  std::vector<jobs::StageRow> rows;
  for (std::size_t i = 1; i <= jobs; ++i) {
    for (int stage = 0; stage < kStagesOfAJob; ++stage) {
      jobs::StageRow row{.epoch = 1, .stage = stage};
      row.bar.set_job(fmt::format("j{}", i));
      row.bar.set_kind(stage % 2 == 0 ? "host" : "cpu");
      row.bar.set_pool(row.bar.kind());
      row.bar.add_slots(0);
      row.bar.set_ready_at(double(i));
      row.bar.set_started_at(double(i));
      row.bar.set_ended_at(double(i + 1));
      rows.push_back(std::move(row));
    }
  }
  return rows;
}

// A scheduler that finds all of it again.
void bench_restart(const std::string& state, std::size_t jobs) {
  std::filesystem::remove_all(state);
  std::filesystem::create_directories(state);
  std::filesystem::permissions(state, std::filesystem::perms::owner_all);
  {
    auto file = server::StateFile::open(wire::database_path(state));
    if (!file.ok() || !file->write({.jobs = rows_of(jobs), .stages = stages_of(jobs)}).ok())
      std::exit(1);
  }
  const double before = memory_mb();
  const Steady::time_point start = Steady::now();
  const auto server = server::Server::start({.state = state,
                                             .version = "bench",
                                             .policy = *jobs::find_policy("makespan"),
                                             .host_cores = {0},
                                             .profile_cores = {1}});
  const double seconds = micros_since(start) * 1e-6;
  if (!server.ok()) {
    fmt::print(stderr, "{}\n", server.error().message);
    std::exit(1);
  }
  fmt::print("{:>8}  restart {:.2f} s, {:.0f} MB ({:.0f} MB before)\n", jobs, seconds, memory_mb(),
             before);
}

// In a process of its own, whose memory is its own.
void apart(const std::function<void()>& act) {
  std::fflush(stdout);
  const pid_t child = ::fork();
  if (child == 0) {
    act();
    std::fflush(stdout);
    ::_exit(0);
  }
  int status = 0;
  ::waitpid(child, &status, 0);
  if (status != 0) std::exit(1);
}

}  // namespace

int main(int argc, char** argv) {
  if (argc < 2) {
    fmt::print(stderr, "usage: bench_book DIRECTORY [JOBS]...\n");
    return 2;
  }
  std::vector<std::size_t> sizes;
  for (int i = 2; i < argc; ++i) sizes.push_back(std::strtoull(argv[i], nullptr, 10));
  if (sizes.empty()) sizes = {100, 1000, 10000};
  for (const char* policy : {"makespan", "fair-share"}) {
    fmt::print("an event, with {} and up to {} workers, microseconds\n", policy, kMostWorkers);
    fmt::print("{:>8}  {:<8} {:>8} {:>10} {:>10} {:>10}\n", "jobs", "event", "times", "median",
               "p99", "worst");
    for (const std::size_t jobs : sizes) {
      apart([&] {
        Bench bench(jobs, policy);
        bench.run();
        bench.print(jobs);
        fmt::print("{:>8}  memory of the process {:.0f} MB\n", jobs, memory_mb());
      });
    }
  }
  const std::string state = std::string(argv[1]) + "/book-state";
  for (const std::size_t jobs : sizes) apart([&] { bench_restart(state, jobs); });
  std::filesystem::remove_all(state);
  return 0;
}
