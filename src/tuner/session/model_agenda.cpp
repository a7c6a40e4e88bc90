#include "tuner/session/model_agenda.h"

#include <algorithm>
#include <deque>
#include <utility>

namespace attune::session {
namespace {

std::vector<TaskWeight> weights_of(const std::vector<WeightedSession>& sessions) {
  std::vector<TaskWeight> weights;
  for (const WeightedSession& each : sessions) weights.push_back(each.weight);
  return weights;
}

class ModelAgenda final : public Agenda {
 public:
  ModelAgenda(const std::vector<WeightedSession>& sessions, const ModelBudget& budget,
              const Clock& clock, const std::function<void(const ModelProgress&)>& progressed)
      : sessions_(sessions),
        budget_(budget),
        clock_(clock),
        progressed_(progressed),
        start_ns_(clock.now_ns()),
        allotment_(weights_of(sessions), budget.allotment) {
    for (std::size_t task = 0; task < sessions_.size(); ++task) {
      adopt(task);
      seen_.push_back(sessions_[task].session->progress());
    }
    gained_before_us_ = allotment_.gained_us();
    give_out();
  }

  std::vector<Job> ready() override {
    if (!closing_ && (out_of_time() || enough())) close();
    std::vector<Job> jobs;
    std::vector<bool> seen(sessions_.size(), false);
    const auto add = [&](std::size_t task) {
      if (seen[task]) return;
      seen[task] = true;
      for (const Stage& stage : sessions_[task].session->ready_stages()) {
        if (stage.kind == StageKind::Update && !is_next_to_end(task)) continue;
        jobs.push_back({task, stage});
      }
    };
    for (const Grant& grant : grants_) add(grant.task);
    add_done(add);
    return jobs;
  }

  void ended(const Job& job, double seconds) override {
    const Session& session = *sessions_[job.session].session;
    const bool updated = job.stage.kind == StageKind::Update;
    if (updated) mark_ended(job.session, session.last_round());
    if (!session.wants_rounds()) give_up_unselected(job.session);
    take_in_order();
    tell(job, seconds);
  }

 private:
  // Tasks of which no more rounds are wanted: what is left is to name their winners.
  void add_done(const std::function<void(std::size_t)>& add) const {
    for (std::size_t task = 0; task < sessions_.size(); ++task) {
      if (closing_ || is_done(task)) add(task);
    }
  }
  bool is_done(std::size_t task) const {
    const Session& session = *sessions_[task].session;
    return !session.wants_rounds() && session.open_rounds() == 0 && session.last_round();
  }

  // A round that was given out and has not ended, or not in its turn.
  struct Grant {
    std::size_t task = 0;
    bool ended = false;
    std::optional<RoundSummary> summary = {};
  };

  // What an earlier run left: its last result, and rounds that it did not finish.
  void adopt(std::size_t task) {
    const Session& session = *sessions_[task].session;
    if (const auto last = session.last_round()) {
      allotment_.grant(task);
      allotment_.finish(task, last, session.wants_rounds());
    }
    for (std::int64_t open = session.open_rounds(); open > 0; --open) {
      allotment_.grant(task);
      grants_.push_back({.task = task});
    }
  }

  // Rounds end in the order in which they were given out, so that which selections come before an
  // update does not depend on how long stages take.
  bool is_next_to_end(std::size_t task) const { return closing_ || grants_.front().task == task; }

  void give_out() {
    if (!closing_ && goal_is_reached()) {
      if (budget_.goal->reached != nullptr) *budget_.goal->reached = true;
      close();
    }
    if (static_cast<int>(grants_.size()) > budget_.window - budget_.batch) return;
    while (!closing_ && static_cast<int>(grants_.size()) < budget_.window) {
      const auto task = allotment_.next();
      if (!task) break;
      allotment_.grant(*task);
      sessions_[*task].session->grant_round();
      grants_.push_back({.task = *task});
    }
    if (grants_.empty()) close();
  }

  bool goal_is_reached() const {
    if (!budget_.goal) return false;
    const double gained_us = allotment_.gained_us() - gained_before_us_;
    return budget_.goal->before_us - gained_us <= budget_.goal->until_us;
  }

  std::int64_t waiting(std::size_t task) const {
    return std::count_if(grants_.begin(), grants_.end(),
                         [&](const Grant& grant) { return grant.task == task && !grant.ended; });
  }

  void mark_ended(std::size_t task, std::optional<RoundSummary> summary) {
    const auto grant = std::find_if(grants_.begin(), grants_.end(), [&](const Grant& each) {
      return each.task == task && !each.ended;
    });
    if (grant == grants_.end()) return;
    grant->ended = true;
    grant->summary = std::move(summary);
  }

  // The last rounds of a session that has nothing left to select.
  void give_up_unselected(std::size_t task) {
    std::int64_t unselected = waiting(task) - sessions_[task].session->open_rounds();
    for (auto grant = grants_.rbegin(); grant != grants_.rend() && unselected > 0; ++grant) {
      if (grant->task != task || grant->ended) continue;
      grant->ended = true;
      --unselected;
    }
  }

  void take_in_order() {
    while (!grants_.empty() && grants_.front().ended) {
      const Grant grant = std::move(grants_.front());
      grants_.pop_front();
      allotment_.finish(grant.task, grant.summary,
                        sessions_[grant.task].session->wants_rounds() && grant.summary);
      ++rounds_ended_;
      give_out();
    }
  }

  double elapsed() const { return seconds_between(start_ns_, clock_.now_ns()); }

  std::int64_t unfinished() const {
    return std::count_if(sessions_.begin(), sessions_.end(),
                         [](const WeightedSession& each) { return !each.session->finished(); });
  }

  // What naming the winners takes is set aside, and what the rounds under way still need; but not
  // the most of a small budget.
  bool out_of_time() const {
    const double closing = budget_.closing_seconds * static_cast<double>(unfinished());
    const double now = elapsed();
    const double open = rounds_ended_ == 0 ? 0
                                           : now / static_cast<double>(rounds_ended_) *
                                                 static_cast<double>(grants_.size());
    const double reserved =
        budget_.reserved_seconds == nullptr ? 0 : budget_.reserved_seconds->load();
    const double all = std::max(budget_.seconds - reserved, 0.25 * budget_.seconds);
    return now >= all - std::min(0.5 * all, closing) - std::min(0.25 * all, open);
  }

  bool enough() const { return budget_.enough != nullptr && budget_.enough->load(); }

  void close() {
    closing_ = true;
    for (const WeightedSession& each : sessions_) each.session->end_selection();
  }

  void tell(const Job& job, double seconds) {
    if (!progressed_) return;
    Session& session = *sessions_[job.session].session;
    seen_[job.session] = session.progress();
    ModelProgress progress{.task = job.session,
                           .stage = job.stage,
                           .stage_seconds = seconds,
                           .failed = session.take_failed(),
                           .settled = allotment_.settled_count(),
                           .tasks = {},
                           .trials = 0,
                           .failures = {},
                           .latency_us = allotment_.latency_us(),
                           .gained_us = allotment_.gained_us(),
                           .elapsed_seconds = elapsed(),
                           .total_seconds = budget_.seconds,
                           .closing = closing_};
    for (std::size_t i = 0; i < sessions_.size(); ++i) {
      progress.tasks.push_back(task_progress(i, progress.latency_us));
      progress.trials += seen_[i].trials;
      for (const auto& [kind, count] : seen_[i].failures) progress.failures[kind] += count;
    }
    progressed_(progress);
  }

  TaskProgress task_progress(std::size_t task, double latency_us) const {
    const Progress& seen = seen_[task];
    const double time_us = sessions_[task].weight.uses * seen.best_us.value_or(0);
    return {.key = seen.key,
            .name = seen.task,
            .share = latency_us > 0 ? std::min(1.0, time_us / latency_us) : 0,
            .trials = seen.trials,
            .best_us = seen.best_us,
            .default_us = seen.default_us,
            .model_quality = seen.model_quality,
            .settled = allotment_.settled(task),
            .left_seconds = allotment_.seconds_to_settle(task)};
  }

  const std::vector<WeightedSession>& sessions_;
  const ModelBudget& budget_;
  const Clock& clock_;
  const std::function<void(const ModelProgress&)>& progressed_;
  std::int64_t start_ns_;
  Allotment allotment_;
  std::vector<Progress> seen_;   // of each session, when a stage of it last ended
  std::deque<Grant> grants_;     // in the order in which they were given out
  double gained_before_us_ = 0;  // by rounds of earlier runs
  std::int64_t rounds_ended_ = 0;
  bool closing_ = false;
};

}  // namespace

std::unique_ptr<Agenda> make_model_agenda(
    const std::vector<WeightedSession>& sessions, const ModelBudget& budget, const Clock& clock,
    const std::function<void(const ModelProgress&)>& progressed) {
  return std::make_unique<ModelAgenda>(sessions, budget, clock, progressed);
}

}  // namespace attune::session
