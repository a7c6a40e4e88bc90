// The book of a scheduler: which jobs there are, which worker has which, what runs where and who is
// to hear what. It has no clock, no threads and no files: a server tells it what happened and when,
// and carries out what `settle` answers. A job belongs to one worker at a time; every time that it
// is given to one its epoch grows, and what is said in an older epoch is refused. A worker that is
// silent for too long is lost and its jobs go back to the queue; those elsewhere may outlive the
// scheduler (holds.cpp). Times are Unix seconds.
#pragma once

#include <algorithm>
#include <cstdint>
#include <deque>
#include <map>
#include <optional>
#include <set>
#include <string>
#include <unordered_map>
#include <utility>
#include <vector>

#include "base/result.h"
#include "fleet/jobs/book/effects.h"
#include "fleet/jobs/book/entry.h"
#include "fleet/jobs/book/job_names.h"
#include "fleet/jobs/book/numbered.h"
#include "fleet/jobs/book/options.h"
#include "fleet/jobs/book/retention.h"
#include "fleet/jobs/book/waiting_jobs.h"
#include "fleet/jobs/scheduler/experience.h"
#include "fleet/jobs/scheduler/scheduler.h"

namespace attune::jobs {

class Book {
 public:
  // `stored`: what was kept when the last one ended, by number.
  Book(BookOptions options, std::vector<JobRow> stored, double now);

  // Stages that ran before, oldest first, for charts and predictions.
  void recall(const std::vector<StageRow>& rows);

  // What clients want, within their rights. Answers go out when what settle() wants written is on
  // the disk.
  // `files_bytes`: of what was sent for the job.
  Result<v1::SubmitReply> submit(const Caller& caller, const v1::SubmitRequest& request, double now,
                                 std::uint64_t files_bytes = 0);
  Result<v1::Job> control(const Caller& caller, const v1::ControlRequest& request, double now);
  Result<v1::Snapshot> snapshot(const Caller& caller, const v1::ListRequest& request,
                                double now) const;
  // Jobs that have ended and are to be forgotten, of those that the caller may prune.
  Result<v1::PruneReply> prune(const Caller& caller, const v1::PruneRequest& request, double now);
  // The number of a job that has ended, whose results the caller may have.
  Result<std::string> fetched(const Caller& caller, const std::string& job) const;

  // Connections of workers.
  void joined(WorkerId worker, const Pass& pass, double now);
  void said(WorkerId worker, const v1::FromWorker& message, double now);
  void left(WorkerId worker, double now);
  // The process of a local worker has ended. Until this is said of one that left or was lost, its
  // jobs and what they ran on are given to nobody.
  void process_ended(WorkerId worker, const WorkerDeath& death, double now);
  void time_passed(double now);
  // For so long nobody could be heard or answered: leases and stages have so much longer.
  void stood_still(double seconds);

  // Retention: what may be forgotten, what is to be, and which of these jobs are.
  std::vector<EndedJob> ended_jobs() const;
  void forget(const std::vector<std::string>& ids);
  std::vector<std::string> forgotten(const std::vector<std::string>& ids) const;
  // The report of a job that ended lies in the state file: it need not be kept here.
  void report_is_written(const std::string& id);

  // Gives out jobs and resources; what is to be done now. After every group of events.
  Effects settle(double now);
  // When time_passed() and settle() have something to do although nothing happens.
  double next_deadline() const;

  // Jobs that are paused while a worker has them, which does nothing else meanwhile.
  int parked_workers() const { return static_cast<int>(parked_.size()); }
  bool knows_worker(WorkerId worker) const { return workers_.count(worker) != 0; }
  // How many jobs were ever looked at to find the one that a worker gets, or somebody's place.
  std::uint64_t jobs_ranked() const { return jobs_ranked_; }
  std::size_t groups_of_stages() const { return groups_.size(); }

 private:
  using Stage = BookStage;
  using Entry = BookEntry;
  using Worker = BookWorker;
  using Leaving = LeavingWorker;
  using Place = StagePlace;

  // book.cpp: jobs
  std::size_t add_entry(JobRow row, double now);
  Result<v1::SubmitReply> add_job(const Caller& caller, const v1::SubmitRequest& request,
                                  bool foreign, double now, std::uint64_t files_bytes = 0);
  // By id or name, where the caller has that right.
  Result<std::size_t> find(const Caller& caller, const std::string& job, Right right) const;
  bool may_see(const Caller& caller, const Entry& entry) const;
  Result<v1::JobSpec> checked(v1::JobSpec spec) const;
  std::vector<std::string> device_keys() const;
  std::uint32_t user_of(const std::string& name);
  static std::string key_of(std::uint32_t uid, const std::string& key);
  void pause(Entry& entry);
  void resume(Entry& entry, double now);
  void end(Entry& entry, v1::JobState state, const std::string& reason, double now);
  // others.cpp
  bool is_of_another(const Entry& entry) const;
  void count_in(const Entry& entry);
  void count_end(const Entry& entry);
  void count_out(const Entry& entry);
  static std::uint64_t row_bytes(const Entry& entry);
  // With a report of so many bytes, where the job ends at once.
  Status check_room(const Caller& caller, const JobRow& row, std::uint64_t report_bytes) const;
  v1::Ended with_room(const Entry& entry, const v1::Ended& ended) const;
  Status check_tuner(const Caller& caller, const v1::Register& registration) const;
  std::string why_no_offer(const Entry& entry, const v1::Offer& offered) const;
  double longest_stage(const Entry& entry) const;
  // forget.cpp
  bool may_be_forgotten(const Entry& entry) const;
  void forget(Entry& entry);
  // workers.cpp
  void hello(WorkerId id, const v1::Hello& hello);
  std::optional<Standing> standing_of_worker(const Pass& pass, const v1::Hello& hello) const;
  void send_away(WorkerId id, const std::string& why);
  void take_end(WorkerId id, const v1::Ended& ended, double now);
  void take_registration(WorkerId id, const v1::Register& registration, double now);
  void hand_back(Entry& entry, const std::string& reason, double now);
  void assign(std::size_t position, WorkerId worker, double now);
  Entry* fenced(WorkerId worker, const std::string& job, std::int64_t epoch, std::int64_t stage);
  void refuse(WorkerId worker, const std::string& job, std::int64_t epoch, std::int64_t stage,
              const std::string& why);
  void know(WorkerId worker, const Entry& entry, std::int64_t stage);
  void order(const Entry& entry);
  v1::ToWorker& send(WorkerId worker, bool acknowledges);
  // holds.cpp
  bool is_holder(const Pass& pass, const v1::Hello& hello, const v1::Holding& holding) const;
  void hold(Entry& entry, double until);
  void restore(Entry& entry, double now);
  void go_on(WorkerId id, const v1::Holding& holding);
  void write_hold(Entry& entry) const;
  // deaths.cpp
  void lose(WorkerId id, double now);
  void part_with(WorkerId id, const Worker& worker, bool by_itself, double now);
  void take_back(Entry& entry, double now);
  void say_strike(const Entry& entry);
  // deadlines.cpp
  static double deadline_of(const Stage& stage) {
    return std::min(stage.heard_at + stage.limit_seconds, stage.ends_at);
  }
  void take_alive(Entry& entry, const v1::Alive& alive, double now);
  void end_silent_stages(double now);
  void end_silent_stage(const Place& place, double now);
  double next_stage_deadline() const;
  // queue.cpp
  void relist(Entry& entry);
  double seconds_left(const WaitingJob& waiting, const View& view) const;
  Rank queue_rank(const WaitingJob& waiting, const View& view) const;
  std::vector<const WaitingJob*> queue(double now) const;
  std::optional<std::size_t> next_for(const Worker& worker, double now) const;
  int queue_position(const Entry& entry, double now) const;
  void give_out_jobs(double now);
  // stages.cpp
  bool keeps_open_kinds(const Entry& entry, const v1::Kinds& kinds) const;
  void take_kinds(Entry& entry, const v1::Kinds& kinds, double now);
  void take_offer(WorkerId worker, Entry& entry, const v1::Offer& offer, double now);
  void take_offer_back(Entry& entry, std::int64_t number);
  void take_finished(WorkerId worker, Entry& entry, const v1::Finished& finished, double now);
  void take_progress(Entry& entry, const v1::Progress& progress);
  void offer(Entry& entry, std::int64_t number, Stage& stage, double ready_at);
  void drop_stages(Entry& entry);
  void give_out_resources(double now);
  void start(const Start& start, double now);
  void tell_to_start(const Entry& entry, std::int64_t number, const Stage& stage);
  std::optional<std::uint32_t> pool_of(const std::string& name) const;
  std::uint32_t group_of(const Entry& entry, const v1::StageKind& kind, std::uint32_t pool);
  bool is_wide(const Entry& entry, std::uint32_t pool) const;
  std::vector<int> cores_of(const Entry& entry, std::uint32_t pool,
                            const std::vector<int>& slots) const;
  void keep_bar(const StageRow& row);
  void spread_usual(const std::string& name);
  double usual_seconds(const Entry& entry, const v1::StageKind& kind) const;
  // view.cpp
  struct Outlook;
  Outlook outlook(double now) const;
  Outlook outlook_of(const Entry& entry, double now) const;
  void predict_ends(Outlook& outlook) const;
  void predict_queued(Outlook& outlook) const;
  void find_pool_places(Outlook& outlook) const;
  v1::Job picture(const Entry& entry, const Outlook& outlook) const;
  v1::Job picture_at(const Entry& entry, double now) const;
  void say_what_it_waits_for(const Entry& entry, const Outlook& outlook, v1::Job& job) const;
  void add_pools(v1::Snapshot& snapshot, double now) const;
  void add_bars(const Caller& caller, const std::string& job, v1::Snapshot& snapshot) const;

  // It is to be written, and may be another job to look at than before.
  void touch(Entry& entry) {
    dirty_.insert(entry.position);
    relist(entry);
  }
  BookOptions options_;
  Scheduler scheduler_;
  Numbered<Entry> entries_;  // by the number of the job
  std::unordered_map<std::string, std::size_t> by_id_, by_key_;
  // What is looked at in place of all jobs.
  JobNames names_;
  WaitingJobs waiting_;  // for a worker
  // Not ended, held by a worker elsewhere, paused while a worker has it, with kinds of stages.
  std::set<std::size_t> open_, held_, parked_, staged_;
  mutable std::uint64_t jobs_ranked_ = 0;
  std::unordered_map<StageId, Place> places_;  // of stages that the scheduler has
  std::map<std::string, std::uint32_t> users_;
  std::map<std::uint32_t, UserTotals> totals_;   // by uid, of those who have jobs
  std::map<std::string, std::uint32_t> groups_;  // of stages, by the name of their kind
  std::set<std::uint32_t> host_groups_, wide_groups_;
  std::map<WorkerId, Worker> workers_;
  std::map<WorkerId, Leaving> leaving_;
  std::deque<v1::Bar> bars_;  // that ended of late
  Experience experience_;
  std::set<std::size_t> thinking_;  // jobs that will offer their next stage at once
  double opened_at_ = 0, hold_until_ = 0;
  std::set<std::size_t> dirty_;  // entries to write
  Effects effects_;
};

}  // namespace attune::jobs
