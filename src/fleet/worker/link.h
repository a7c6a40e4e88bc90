// A worker's line to the scheduler: it hears which job to tune and which stages may start, and says
// what is ready and what is done. It looks for the scheduler through its state directory. A line
// that broke is mended for half of the lease, with a scheduler that was started anew, too: what
// runs goes on meanwhile, and what may have been lost is said again. After that the jobs are lost.
// While no scheduler is there at all the time stands still, for two minutes at most.
#pragma once

#include <cstdint>
#include <memory>
#include <string>
#include <vector>

#include "base/result.h"
#include "fleet/client/overview.h"
#include "fleet/worker/stage_line.h"

namespace attune::worker {

struct LinkOptions {
  std::string state = {};    // the directory, absolute
  std::string version = {};  // of the product; the scheduler refuses others
  std::string name = {};
  std::string token = {};                 // what it was handed, for its first hello
  std::vector<std::string> devices = {};  // keys of those that it can measure on
  double patience_seconds = 10;           // for a scheduler that does not answer
};

// Of the kind that a job measures on.
struct Devices {
  int count = 1;
  int cores = 0;  // of one; 0: not cores of this machine
};

inline constexpr std::int64_t kOfEnded = -1;

// What the scheduler says; called on threads of the line, one call after the other. They must not
// wait for anything.
class LinkEvents {
 public:
  virtual ~LinkEvents() = default;
  virtual void assigned(const client::JobStatus& job, const Devices& devices) = 0;
  // On these cores; none: as many as its pool has.
  virtual void may_start(const Holding& holding, std::int64_t stage,
                         const std::vector<int>& cores) = 0;
  virtual void wished(const Holding& holding, client::Wish wish) = 0;
  // What was said does not count: the job is another's, or over.
  virtual void refused(const Holding& holding, std::int64_t stage, const std::string& why) = 0;
  // The scheduler has written down a finished stage, or kOfEnded.
  virtual void known(const Holding& holding, std::int64_t stage) = 0;
  // The last call: the line broke and could not be mended in time, or there was no job to keep.
  virtual void lost(const Error& why) = 0;
};

class Link final : public StageLine {
 public:
  // Returns when the scheduler has said welcome.
  static Result<std::unique_ptr<Link>> open(const LinkOptions& options, LinkEvents& events);
  ~Link() override;
  Link(const Link&) = delete;
  Link& operator=(const Link&) = delete;

  const std::string& name() const;  // as the scheduler knows this worker

  // None of these waits; they are sent in this order, and go nowhere when the line is broken.
  void say_kinds(const Holding& holding, const std::vector<KindOfStage>& kinds) override;
  void offer(const Holding& holding, std::int64_t stage, int kind) override;
  void finished(const Holding& holding, std::int64_t stage, double seconds, StageEnd end,
                const std::string& message) override;
  void progressed(const Holding& holding, std::int64_t trials, double best_ms, double default_ms);
  // `state` is Done, Stopped, Cancelled or Failed; Queued hands the job back, which could not
  // begin.
  void ended(const Holding& holding, client::JobState state, const std::string& reason,
             const std::string& result_json);

 private:
  class Line;
  explicit Link(std::unique_ptr<Line> line);
  std::unique_ptr<Line> line_;
};

}  // namespace attune::worker
