#include "tests/support/fake_tuner.h"

#include <algorithm>
#include <chrono>
#include <condition_variable>
#include <utility>

#include "base/version.h"
#include "fleet/client/client.h"

namespace attune::test {
namespace {

using namespace std::chrono_literals;

// Says now and then that the worker lives, as all workers do, until it goes.
class Beats {
 public:
  explicit Beats(server::WorkerConnection& connection)
      : thread_([this, &connection] { run(connection); }) {}
  ~Beats() {
    {
      const std::lock_guard lock(mutex_);
      ending_ = true;
    }
    changed_.notify_all();
    thread_.join();
  }

 private:
  void run(server::WorkerConnection& connection) {
    v1::FromWorker beat;
    beat.mutable_beat();
    std::unique_lock lock(mutex_);
    while (!changed_.wait_for(lock, 500ms, [&] { return ending_; })) connection.send(beat);
  }

  std::mutex mutex_;
  std::condition_variable changed_;
  bool ending_ = false;
  std::thread thread_;
};

}  // namespace

FakeTuner::FakeTuner(std::string state, int stages, Ledger& ledger, std::uint64_t seed)
    : state_(std::move(state)), stages_(stages), ledger_(ledger), rng_(seed) {
  thread_ = std::thread([this] { run(); });
}

void FakeTuner::run() {
  while (!stopping_) {
    std::vector<v1::Job> holds;
    if (!job_.id().empty()) holds.push_back(job_);
    // Who has a job comes back by that.
    const Result<std::string> token =
        holds.empty() ? client::Client({.state = state_, .patience_seconds = 0}).token(true)
                      : Result<std::string>("");
    if (token.ok()) {
      server::WorkerConnection connection(state_, version(), *token, holds);
      const Beats beats(connection);
      if (!job_.id().empty()) say_again(connection);
      v1::ToWorker message;
      while (!stopping_ && connection.read(message)) hear(connection, message);
      connection.cut();
    }
    std::this_thread::sleep_for(5ms);
  }
}

void FakeTuner::hear(server::WorkerConnection& connection, const v1::ToWorker& message) {
  if (message.has_assign()) {
    job_ = message.assign().job();
    stage_ = 1;
    {
      const std::lock_guard lock(ledger_.mutex);
      ledger_.unknown -= static_cast<int>(unknown_.size());
      ledger_.given[job_.id()].insert(job_.epoch());
    }
    unknown_.clear();
    connection.send_kinds(job_, (stages_ - done()) / 2);
    go_on(connection);
  } else if (message.has_start() && message.start().stage() == stage_) {
    run_stage(connection);
  } else if (message.has_known()) {
    const v1::Known& known = message.known();
    const std::lock_guard lock(ledger_.mutex);
    if (known.stage() > 0) ledger_.known.emplace(known.job(), known.epoch(), known.stage());
    ledger_.unknown -= static_cast<int>(unknown_.erase(known.stage()));
    if (known.stage() == -1) {
      ledger_.known_ended.insert(known.job());
      ledger_.one_ended.notify_all();
      job_.Clear();
    }
  }
}

void FakeTuner::run_stage(server::WorkerConnection& connection) {
  const int kind = done() % 2;
  hold(kind, 1);
  std::this_thread::sleep_for(std::chrono::microseconds(1000 + rng_.below(6000)));
  hold(kind, -1);
  {
    const std::lock_guard lock(ledger_.mutex);
    ++ledger_.done[job_.id()];
    ++ledger_.unknown;
  }
  unknown_.insert(stage_);
  connection.finish(job_, stage_++, 0.005);
  go_on(connection);
}

void FakeTuner::say_again(server::WorkerConnection& connection) {
  connection.send_kinds(job_, (stages_ - done()) / 2);
  for (const std::int64_t stage : unknown_) connection.finish(job_, stage, 0.005);
  go_on(connection);
}

void FakeTuner::go_on(server::WorkerConnection& connection) {
  if (done() >= stages_) {
    connection.end(job_, v1::DONE);
  } else {
    connection.offer(job_, stage_, done() % 2);
  }
}

int FakeTuner::done() {
  const std::lock_guard lock(ledger_.mutex);
  return ledger_.done[job_.id()];
}

void FakeTuner::hold(int kind, int change) {
  const std::lock_guard lock(ledger_.mutex);
  int& holders = ledger_.holders[static_cast<std::size_t>(kind)];
  holders += change;
  ledger_.most_holders = std::max(ledger_.most_holders, holders);
}

}  // namespace attune::test
