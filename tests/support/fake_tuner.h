// Workers of a real scheduler that only pretend to tune: each stage takes some milliseconds. They
// live in the test, outlive the scheduler, and go on with what they have when it comes back. A
// ledger keeps what they did and were told, for the test to compare with what the scheduler says.
#pragma once

#include <array>
#include <atomic>
#include <condition_variable>
#include <cstdint>
#include <map>
#include <mutex>
#include <set>
#include <string>
#include <thread>
#include <tuple>

#include "base/rng.h"
#include "fleet/server/worker_connection.h"

namespace attune::test {

// What the workers would keep in stores of their own.
struct Ledger {
  std::mutex mutex;
  std::map<std::string, int> done;  // stages, by job
  std::set<std::tuple<std::string, std::int64_t, std::int64_t>> known;
  std::set<std::string> known_ended;
  std::map<std::string, std::set<std::int64_t>> given;  // epochs of jobs that a worker was given
  std::array<int, 2> holders = {};                      // of the host and of the device, now
  int most_holders = 0;
  int unknown = 0;  // results that the scheduler has not said to know
  std::condition_variable one_ended;

  // Whether a stage runs, or something was said and not answered.
  bool is_in_the_middle() {
    const std::lock_guard lock(mutex);
    return holders[0] + holders[1] > 0 || unknown > 0;
  }
  // Until workers have heard of so many jobs that their end is known.
  void wait_for_known_ended(std::size_t jobs) {
    std::unique_lock lock(mutex);
    one_ended.wait(lock, [&] { return known_ended.size() >= jobs; });
  }
};

// Takes one job after the other, each of so many stages.
class FakeTuner {
 public:
  FakeTuner(std::string state, int stages, Ledger& ledger, std::uint64_t seed);
  void stop() { stopping_ = true; }
  ~FakeTuner() { thread_.join(); }
  FakeTuner(const FakeTuner&) = delete;
  FakeTuner& operator=(const FakeTuner&) = delete;

 private:
  void run();
  void hear(server::WorkerConnection& connection, const v1::ToWorker& message);
  void run_stage(server::WorkerConnection& connection);
  void say_again(server::WorkerConnection& connection);
  void go_on(server::WorkerConnection& connection);
  int done();
  void hold(int kind, int change);

  std::string state_;
  int stages_;
  Ledger& ledger_;
  Rng rng_;
  v1::Job job_;
  std::int64_t stage_ = 0;          // the next
  std::set<std::int64_t> unknown_;  // stages that are done and not said to be known
  std::atomic<bool> stopping_ = false;
  std::thread thread_;
};

}  // namespace attune::test
