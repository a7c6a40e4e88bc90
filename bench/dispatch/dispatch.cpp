// What scheduling costs: a decision with many jobs and resources, the time from a resource being
// free to the start of the next stage on it, through the real server with workers that keep both
// cores busy, and the server's share of the processor.
//
// usage: bench_dispatch DIRECTORY [STAGES [STAGE_MS [JOBS]]]
#include <fmt/core.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <chrono>
#include <csignal>
#include <cstdlib>
#include <ctime>
#include <filesystem>
#include <thread>
#include <vector>

#include "base/rng.h"
#include "fleet/jobs/book/book.h"
#include "fleet/jobs/policies/policies.h"
#include "fleet/server/server.h"
#include "fleet/server/worker_connection.h"
#include "fleet/wire/state_directory.h"
#include "runtime/execution/affinity.h"

namespace {

using namespace attune;
using Steady = std::chrono::steady_clock;

double seconds_since(Steady::time_point start) {
  return std::chrono::duration<double>(Steady::now() - start).count();
}

double quantile(std::vector<double> values, double q) {
  std::sort(values.begin(), values.end());
  return values.empty() ? 0 : values[static_cast<std::size_t>(q * double(values.size() - 1))];
}

double mean(const std::vector<double>& values) {
  double sum = 0;
  for (const double value : values) sum += value;
  return values.empty() ? 0 : sum / double(values.size());
}

// ---- decisions

constexpr int kJobs = 1000, kUnits = 50, kTurns = 2000;

v1::FromWorker hello() {
  v1::FromWorker message;
  message.mutable_hello()->add_devices("cpu");
  message.mutable_hello()->set_takes_jobs(true);
  return message;
}

template <typename Part>
v1::FromWorker about(std::uint64_t job, Part* (v1::FromWorker::*part)()) {
  v1::FromWorker message;
  (message.*part)()->set_job(fmt::format("j{}", job));
  (message.*part)()->set_epoch(1);
  return message;
}

// Every job with a worker of its own, and a stage that is ready.
jobs::Book filled_book(std::string_view policy, Rng& rng) {
  jobs::BookOptions options{.pools = {{"host", {}}, {"cpu", {}}},
                            .policy = *jobs::find_policy(policy),
                            .lease_seconds = 1e9};
  for (jobs::BookPool& pool : options.pools) pool.units.resize(kUnits);
  jobs::Book book(std::move(options), {}, 0);
  for (std::uint64_t job = 1; job <= kJobs; ++job) {
    v1::SubmitRequest request;
    request.mutable_spec()->set_model("bench");
    request.mutable_spec()->set_name(fmt::format("job-{}", job));
    request.mutable_spec()->set_user(fmt::format("user-{}", job % 20));
    if (!book.submit(jobs::Caller{}, request, 0).ok()) std::exit(1);
    book.joined(job, {.local = true, .by_token = jobs::Standing::Worker}, 0);
    book.said(job, hello(), 0);
  }
  book.settle(0);
  for (std::uint64_t job = 1; job <= kJobs; ++job) {
    v1::FromWorker kinds = about(job, &v1::FromWorker::mutable_kinds);
    for (const char* pool : {"host", "cpu"}) {
      v1::StageKind& kind = *kinds.mutable_kinds()->add_kinds();
      kind.set_name(pool);
      kind.set_pool(pool);
      kind.set_amount(1);
      kind.set_usual_seconds(10);
      kind.set_left(double(1 + rng.below(100)));
    }
    book.said(job, kinds, 0);
    v1::FromWorker offer = about(job, &v1::FromWorker::mutable_offer);
    offer.mutable_offer()->set_stage(1);
    offer.mutable_offer()->set_kind(static_cast<int>(job % 2));
    book.said(job, offer, 0);
  }
  return book;
}

// One turn: a stage finishes, its job offers the next, something is started in its place.
void bench_decisions(std::string_view policy) {
  Rng rng(1);
  jobs::Book book = filled_book(policy, rng);
  std::vector<v1::Start> running;
  const auto take = [&](const jobs::Effects& effects) {
    for (const jobs::Message& message : effects.messages) {
      if (message.what.has_start()) running.push_back(message.what.start());
    }
  };
  take(book.settle(1));
  std::vector<double> micros;
  for (int turn = 0; turn < kTurns && !running.empty(); ++turn) {
    const double now = 2 + 0.1 * turn;
    std::swap(running[rng.below(running.size())], running.back());
    const v1::Start done = running.back();
    running.pop_back();
    const std::uint64_t job = std::stoull(done.job().substr(1));
    v1::FromWorker finished = about(job, &v1::FromWorker::mutable_finished);
    finished.mutable_finished()->set_stage(done.stage());
    finished.mutable_finished()->set_seconds(10);
    v1::FromWorker offer = about(job, &v1::FromWorker::mutable_offer);
    offer.mutable_offer()->set_stage(done.stage() + 1);
    offer.mutable_offer()->set_kind(static_cast<int>(job % 2));
    const Steady::time_point start = Steady::now();
    book.said(job, finished, now);
    book.said(job, offer, now);
    book.time_passed(now);
    const jobs::Effects effects = book.settle(now);
    (void)book.next_deadline();
    micros.push_back(seconds_since(start) * 1e6);
    take(effects);
  }
  fmt::print("{:<15} {:>10.1f} {:>10.1f} {:>10.1f}\n", policy, mean(micros), quantile(micros, 0.99),
             quantile(micros, 1));
}

// ---- the server

constexpr const char* kToken = "the workers of this bench";

// In a process of its own, for its share of the processor.
[[noreturn]] void serve(const std::string& state) {
  if (!runtime::pin_current_thread(0).ok()) _exit(1);
  auto server = server::Server::start({.state = state,
                                       .version = "bench",
                                       .policy = *jobs::find_policy("makespan"),
                                       .host_cores = {0},
                                       .profile_cores = {1},
                                       .attached = kToken,
                                       .lease_seconds = 1000});  // nobody sends beats here
  if (!server.ok()) {
    fmt::print(stderr, "{}\n", server.error().message);
    _exit(1);
  }
  sigset_t signals;
  sigemptyset(&signals);
  sigaddset(&signals, SIGTERM);
  sigprocmask(SIG_BLOCK, &signals, nullptr);
  int number = 0;
  sigwait(&signals, &number);
  server->reset();
  _exit(0);
}

double processor_seconds(pid_t process) {
  clockid_t clock = 0;
  timespec time = {};
  if (clock_getcpuclockid(process, &clock) != 0 || clock_gettime(clock, &time) != 0) return 0;
  return double(time.tv_sec) + double(time.tv_nsec) * 1e-9;
}

struct Shared {
  std::mutex mutex;
  Steady::time_point freed[2] = {};  // by kind
  std::vector<double> dispatch_ms;
  double stage_seconds = 0;
};

void work(const std::string& state, int stages, double stage_seconds, Shared& shared) {
  server::WorkerConnection connection(state, "bench", kToken);
  v1::ToWorker message;
  v1::Job job;
  std::int64_t stage = 0;
  Steady::time_point offered;
  const std::vector<int> both = {0, 1};
  const auto offer = [&] {
    ++stage;
    offered = Steady::now();
    connection.offer(job, stage, static_cast<int>(stage % 2));
  };
  while (connection.read(message)) {
    if (message.has_assign()) {
      job = message.assign().job();
      connection.send_kinds(job, stages / 2);
      offer();
    } else if (message.has_start()) {
      const Steady::time_point start = Steady::now();
      const int kind = static_cast<int>(stage % 2);
      {
        const std::lock_guard lock(shared.mutex);
        const auto ready = std::max(offered, shared.freed[kind]);
        if (shared.freed[kind] != Steady::time_point()) {
          shared.dispatch_ms.push_back(std::chrono::duration<double>(start - ready).count() * 1e3);
        }
      }
      (void)runtime::pin_current_thread(message.start().cores(0));
      while (seconds_since(start) < stage_seconds) {
      }
      (void)runtime::pin_current_thread(both);
      {
        const std::lock_guard lock(shared.mutex);
        shared.freed[kind] = Steady::now();
        shared.stage_seconds += stage_seconds;
      }
      connection.finish(job, stage, stage_seconds);
      if (stage == stages) {
        connection.end(job, v1::DONE);
      } else {
        offer();
      }
    } else if (message.has_known() && message.known().stage() == -1) {
      return;
    }
  }
}

void submit_jobs(const std::string& state, int jobs) {
  const auto stub = v1::Scheduler::NewStub(server::channel_to(state));
  for (int i = 0; i < jobs; ++i) {
    grpc::ClientContext context;
    v1::SubmitRequest request;
    request.mutable_spec()->set_model("bench");
    v1::SubmitReply reply;
    if (!stub->Submit(&context, request, &reply).ok()) std::exit(1);
  }
}

void bench_server(const std::string& state, pid_t server, int jobs, int stages,
                  double stage_seconds) {
  submit_jobs(state, jobs);
  const double before = processor_seconds(server);
  const Steady::time_point start = Steady::now();
  Shared shared;
  std::vector<std::thread> threads;
  for (int i = 0; i < jobs; ++i) {
    threads.emplace_back([&] { work(state, stages / jobs, stage_seconds, shared); });
  }
  for (std::thread& thread : threads) thread.join();
  const double wall = seconds_since(start), used = processor_seconds(server) - before;
  const auto count = double(shared.dispatch_ms.size());
  fmt::print("\n{} jobs, {} stages of {:.0f} ms on 2 cores in {:.1f} s\n", jobs,
             shared.dispatch_ms.size(), stage_seconds * 1e3, wall);
  fmt::print("dispatch, from free to start: median {:.2f} ms, p99 {:.2f} ms, worst {:.2f} ms\n",
             quantile(shared.dispatch_ms, 0.5), quantile(shared.dispatch_ms, 0.99),
             quantile(shared.dispatch_ms, 1));
  fmt::print("server: {:.2f} ms of processor per stage, {:.2f} % of stage time\n",
             used / count * 1e3, 100 * used / shared.stage_seconds);
}

int number_of(int argc, char** argv, int index, int otherwise) {
  return argc > index ? std::atoi(argv[index]) : otherwise;
}

}  // namespace

int main(int argc, char** argv) {
  if (argc < 2) {
    fmt::print(stderr, "usage: bench_dispatch DIRECTORY [STAGES [STAGE_MS [JOBS]]]\n");
    return 2;
  }
  const std::string state = std::string(argv[1]) + "/dispatch-state";
  std::filesystem::remove_all(state);
  std::filesystem::create_directories(state);
  const pid_t server = fork();  // before gRPC has threads
  if (server == 0) serve(state);
  while (!wire::is_served(state)) std::this_thread::yield();
  fmt::print("decision with 1000 jobs, 100 units, microseconds\n{:<15} {:>10} {:>10} {:>10}\n",
             "policy", "mean", "p99", "worst");
  for (const jobs::Policy& policy : jobs::policies()) {
    if (policy.coordinated) bench_decisions(policy.name);
  }
  const double stage_seconds = number_of(argc, argv, 3, 100) * 1e-3;
  bench_server(state, server, number_of(argc, argv, 4, 8), number_of(argc, argv, 2, 800),
               stage_seconds);
  kill(server, SIGTERM);
  waitpid(server, nullptr, 0);
  std::filesystem::remove_all(state);
  return 0;
}
