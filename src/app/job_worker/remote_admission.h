// Admission by the scheduler: a stage that is ready is offered to it, and starts when the scheduler
// says so, on the cores that it names. Stages of one kind, of several rounds, are one stage to the
// scheduler: it is offered with the first of them, and those that become ready before it ends run
// nested in it, one after the other. So a batch of a model spans several of its tasks, whose long
// and short stages even out.
#pragma once

#include <cstdint>
#include <functional>
#include <map>
#include <memory>
#include <mutex>
#include <optional>
#include <set>
#include <string>
#include <string_view>
#include <vector>

#include "base/clock.h"
#include "fleet/server/core_groups.h"
#include "fleet/worker/stage_line.h"
#include "tuner/session/admission.h"

namespace attune::job_worker {

// How many of the stages of a job are to come, as far as is known.
struct StagesLeft {
  double beginnings = 0;  // of tasks, those of a batch together
  double batches = 0;
  double unnamed = 0;   // tasks whose winner is to be named
  double compiles = 0;  // of whole models, and races of them
  friend bool operator==(const StagesLeft&, const StagesLeft&) = default;
};

// Rounds of a model that make up a batch.
inline constexpr int kRoundsOfBatch = 4;

class RemoteAdmission final : public session::Admission {
 public:
  // `device` is the pool of what measures. With `in_turn` no two stages of the job are asked for at
  // once, and those on the host come first. Stages enter the groups of their cores, if any.
  RemoteAdmission(worker::StageLine& line, worker::Holding holding, std::string device,
                  bool in_turn, const server::CoreGroups* groups = nullptr);
  ~RemoteAdmission() override;

  std::vector<session::Work> choose(const std::vector<session::Work>& ready) override;
  Status enter(const session::Work& work) override;
  void ended(const session::Work& work, double seconds, const Status& status) override;
  void disturbed(const session::Work& work) override;
  int disturbed_repeats() const override { return 2; }
  void watch(std::function<void()> changed) override;

  // What the line says.
  void may_start(std::int64_t stage, const std::vector<int>& cores);
  void wake();

  // Says how much is to come, when that changed.
  void say_left(const StagesLeft& left);
  // Brings the calling thread to these cores.
  Status stand_on(const std::vector<int>& cores) const;
  const server::CoreGroups* groups() const { return groups_; }
  // The cores that host stages had last; empty before the first.
  std::vector<int> host_cores() const;
  // The time in which something of the job ran; it stands still while the job waits for others.
  const Clock& clock() const;

 private:
  class WorkingClock;
  // What the scheduler knows as one stage.
  struct Turn {
    session::Work first;  // that it was offered for
    bool admitted = false, running = false, disturbed = false;
    int begun = 0;  // works so far
    std::vector<int> cores = {};
    double seconds = 0;
    std::string failure = {};
  };
  using Turns = std::map<std::int64_t, Turn>;
  // The mutex is held.
  Turns::iterator turn_for(const session::Work& work, bool admitted);
  bool start(const session::Work& work);  // where it is admitted
  void ask_for(const session::Work& work);
  void leave_cores(const Turn& turn) const;
  void close(Turns::iterator turn);
  void close_idle();
  void flush();

  worker::StageLine& line_;
  worker::Holding holding_;
  std::string device_;
  bool in_turn_;
  const server::CoreGroups* groups_;
  std::unique_ptr<WorkingClock> clock_;

  mutable std::mutex mutex_;
  Turns turns_;                                    // by their number, offered or running
  std::map<session::Work, std::int64_t> running_;  // in which turn
  std::set<session::Work> unknown_;                // of kinds that the scheduler does not know
  std::vector<session::Work> wanted_;              // of the last choice, less what started
  Turns done_;                                     // not said yet: said with the offers that follow
  std::int64_t next_stage_ = 0;
  std::vector<int> host_cores_;
  std::optional<StagesLeft> left_;  // as it was said last
  std::function<void()> changed_;
};

}  // namespace attune::job_worker
