// What a book knows of each job, of the stages of those that run, and of each worker.
#pragma once

#include <cstdint>
#include <limits>
#include <map>
#include <optional>
#include <set>
#include <string>
#include <vector>

#include "fleet/jobs/book/effects.h"
#include "fleet/jobs/book/strikes.h"
#include "fleet/jobs/scheduler/view.h"

namespace attune::jobs {

struct BookStage {
  std::uint32_t kind = 0;
  StageId id = 0;  // 0: held back while the job is paused
  double ready_at = 0;
  bool runs = false;
  double started_at = 0;
  double heard_at = 0;       // of it, last
  double limit_seconds = 0;  // that it may be silent for
  // When it is ended, whatever is heard of it.
  double ends_at = std::numeric_limits<double>::infinity();
};

struct BookEntry {
  JobRow row = {};
  std::size_t position = 0;
  JobIndex index = kNoJob;  // none: has ended
  WorkerId worker = 0;      // none: 0
  bool paused = false;
  std::map<std::int64_t, BookStage> stages = {};       // offered or running, by the worker's number
  std::set<std::int64_t> finished = {};                // in this epoch
  std::map<std::string, std::int64_t> completed = {};  // stages of each kind, by this worker
  bool kinds_said = false;                             // in this epoch
  double last_finished = -1;
  WorkerId leaving = 0;     // its last worker, whose process has not ended yet; none: 0
  double held_until = -1;   // by a worker elsewhere that may come back; -1: by none
  std::string secret = {};  // which that worker will say
  bool ended() const { return row.job.state() >= v1::DONE; }
  const std::string& id() const { return row.job.id(); }
};

struct BookWorker {
  v1::Hello hello = {};
  std::string name = {};  // empty: has not said hello
  Pass pass = {};
  Standing standing = Standing::Tuner;  // Worker or Tuner
  double heard_at = 0;
  std::vector<std::size_t> jobs = {};
  std::optional<WorkerDeath> death = {};  // its connection has not ended yet
};

// A local worker whose connection has ended, while its process may not have.
struct LeavingWorker {
  std::vector<std::size_t> jobs = {};
  bool by_itself = false;  // how it ended tells of its jobs; else it was the scheduler's wish
};

// What one user has of the book.
struct UserTotals {
  std::uint64_t described = 0;  // bytes, of all jobs
  std::uint64_t files = 0;      // bytes that were sent for jobs that have not ended
  std::uint64_t reports = 0;    // bytes, of jobs that have ended
};

struct StagePlace {
  std::size_t entry = 0;
  std::int64_t stage = 0;
};

}  // namespace attune::jobs
