// What a scheduler says about its jobs and resources, as plain data. Times are seconds; points in
// time are Unix seconds, 0 where there is none.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "fleet/wire/devices.h"

namespace attune::client {

// What somebody wants tuned.
struct JobRequest {
  std::string name = {};  // empty: the scheduler chooses one
  std::string user = {};  // empty: who submits it
  double priority = 1;
  std::string model = {};  // files by absolute path
  std::string device = wire::kMeasuringCores;
  int threads = 0;          // of one measurement; 0: all of the device
  std::int64_t trials = 0;  // budget; 0: none
  double seconds = 0;       // the same
  double until_latency_ms = 0;
  int prefetch = 0;      // batches in flight at once; 0: as the scheduler does
  bool in_turn = false;  // no two stages at once
  std::uint64_t seed = 0;
  std::string output = {};  // the artifact, by absolute path; empty: none
  std::string options_json = {};
  std::string files = {};  // what Client::upload said: the files above are among those
  bool no_wait = false;

  friend bool operator==(const JobRequest&, const JobRequest&) = default;
};

enum class JobState { Queued, Running, Waiting, Paused, Done, Stopped, Cancelled, Failed };
// "queued", "running" …
std::string_view to_string(JobState state);
bool has_ended(JobState state);

// One kind of stage of a job.
struct StageStatus {
  std::string name = {};
  std::string pool = {};
  int amount = 1;
  std::optional<double> usual_seconds = {};  // none: the job has ended
  std::int64_t done = 0;
  std::optional<double> left = {};
};

struct JobStatus {
  std::string id = {};
  std::uint32_t uid = 0;  // whose it is
  JobRequest request = {};
  JobState state = JobState::Queued;
  std::string reason = {};       // of a failure, or what it waits for, in words
  std::string waiting_for = {};  // name of the pool
  int queue_position = 0;        // from 1; 0: does not wait
  double predicted_end = 0, submitted_at = 0, started_at = 0, ended_at = 0;
  std::int64_t trials = 0;
  std::optional<double> best_ms = {}, default_ms = {};
  std::int64_t epoch = 0;  // how often a worker took it up
  std::string worker = {};
  std::string result_json = {};  // the tuner's report, when it ended
  std::vector<StageStatus> stages = {};
  double attained_seconds = 0;
  // What went wrong with its workers last, in words, and how often since it last came further.
  std::string trouble = {};
  std::int64_t strikes = 0;
};

struct PoolStatus {
  std::string name = {};
  int capacity = 1;
  int used = 0;
  double utilisation = 0;  // of late, 0 to 1
  int cores = 0;           // of one unit; 0: not cores of this machine
};

// A stage that ran or runs.
struct StageBar {
  std::string job = {};  // its id
  std::string kind = {};
  std::string pool = {};
  std::vector<int> slots = {};
  double ready_at = 0, started_at = 0;
  double ended_at = 0;  // 0: runs
};

struct Overview {
  std::vector<JobStatus> jobs = {};
  std::vector<PoolStatus> pools = {};
  std::vector<StageBar> bars = {};
  std::string policy = {};
  double now = 0;
  std::vector<std::string> device_keys = {};  // that workers have
  std::string cores_kept = {};                // what keeps stages on their cores, in words
};

enum class Wish { Pause, Resume, Stop, Cancel };

// What meets the goal of a job already: the tuner's report, and its latency.
struct KnownResult {
  std::string json = {};  // empty: none
  double latency_ms = 0;
};

struct Submitted {
  JobStatus job = {};
  bool already_known = false;  // by its key
  bool is_fetched = false;     // what it makes does not go to its user's files by itself
};

}  // namespace attune::client
