#include "tuner/session/run_model.h"

#include <algorithm>
#include <limits>

namespace attune::session {
namespace {

struct State {
  const WeightedSession* weighted = nullptr;
  int rounds = 0;
  int rounds_without_gain = 0;
  double last_gain = 1;  // relative, of the last round
  double round_seconds = 1;
  double best_us = 0;    // 0: nothing ran yet
  bool settled = false;  // nothing more to expect
};

class ModelRun {
 public:
  ModelRun(const std::vector<WeightedSession>& sessions, const ModelBudget& budget,
           double closing_seconds, const Clock& clock,
           const std::function<void(const ModelProgress&)>& progressed,
           const std::atomic<bool>& stop)
      : budget_(budget),
        closing_seconds_(closing_seconds),
        clock_(clock),
        progressed_(progressed),
        stop_(stop),
        start_ns_(clock.now_ns()) {
    for (const WeightedSession& session : sessions) states_.push_back({&session});
  }

  Status run() {
    // What naming the winners will take is set aside, but never more than half.
    const double reserve =
        std::min(0.5 * budget_.seconds, closing_seconds_ * static_cast<double>(states_.size()));
    while (!stop_.load() && elapsed() < budget_.seconds - reserve) {
      State* next = most_promising();
      if (next == nullptr) break;
      ATTUNE_RETURN_IF_ERROR(run_round(*next));
      tell(*next, false);
    }
    for (State& state : states_) {
      if (stop_.load()) break;
      state.weighted->session->end_selection();
      ATTUNE_RETURN_IF_ERROR(run_until(state, [](const Stage&) { return false; }));
      tell(state, true);
    }
    return {};
  }

 private:
  double elapsed() const { return seconds_between(start_ns_, clock_.now_ns()); }

  // Microseconds of the model's latency that a second of tuning may gain: what the last round
  // gained, fading with the rounds that came before.
  static double promise(const State& state) {
    if (state.rounds == 0) return std::numeric_limits<double>::infinity();
    const double gain = std::max(state.last_gain, 0.02 / (1 + state.rounds));
    return state.weighted->uses * state.best_us * gain / state.round_seconds;
  }

  State* most_promising() {
    State* best = nullptr;
    for (State& state : states_) {
      if (state.settled) continue;
      if (best == nullptr || promise(state) > promise(*best)) best = &state;
    }
    return best;
  }

  template <typename IsEnd>
  Status run_until(State& state, const IsEnd& is_end) {
    Session& session = *state.weighted->session;
    for (auto ready = session.ready_stages(); !ready.empty(); ready = session.ready_stages()) {
      if (stop_.load()) return {};
      const Stage stage = ready.front();
      ATTUNE_RETURN_IF_ERROR(session.run(stage));
      if (is_end(stage)) return {};
    }
    return {};
  }

  Status run_round(State& state) {
    const double before = elapsed();
    const double best_before = state.best_us;
    ATTUNE_RETURN_IF_ERROR(
        run_until(state, [](const Stage& stage) { return stage.kind == StageKind::Update; }));
    const Progress progress = state.weighted->session->progress();
    state.best_us = progress.best_us.value_or(0);
    state.round_seconds = std::max(1e-3, elapsed() - before);
    ++state.rounds;
    if (best_before > 0) {
      state.last_gain = std::max(0.0, 1 - state.best_us / best_before);
      const bool gained = state.last_gain >= budget_.least_gain;
      state.rounds_without_gain = gained ? 0 : state.rounds_without_gain + 1;
    }
    const bool full = budget_.trials > 0 && progress.trials >= budget_.trials;
    const bool ended = state.weighted->session->finished();
    state.settled = full || ended || !progress.best_us || no_more_rounds(state) ||
                    state.rounds_without_gain >= budget_.patience;
    return {};
  }

  // The session only wants to close: its space is exhausted or its budget spent.
  static bool no_more_rounds(const State& state) {
    const auto ready = state.weighted->session->ready_stages();
    return std::all_of(ready.begin(), ready.end(),
                       [](const Stage& stage) { return stage.round == kClosing; });
  }

  void tell(const State& state, bool closing) const {
    if (!progressed_) return;
    ModelProgress progress;
    progress.task = static_cast<std::size_t>(&state - states_.data());
    progress.tasks = states_.size();
    progress.elapsed_seconds = elapsed();
    progress.total_seconds = budget_.seconds;
    progress.closing = closing;
    for (const State& each : states_) {
      progress.settled += each.settled ? 1 : 0;
      progress.trials += each.weighted->session->progress().trials;
      progress.latency_us += each.weighted->uses * each.best_us;
    }
    progressed_(progress);
  }

  const ModelBudget budget_;
  double closing_seconds_;
  const Clock& clock_;
  const std::function<void(const ModelProgress&)>& progressed_;
  const std::atomic<bool>& stop_;
  std::int64_t start_ns_;
  std::vector<State> states_;
};

}  // namespace

Status run_model(const std::vector<WeightedSession>& sessions, const ModelBudget& budget,
                 double closing_seconds, const Clock& clock,
                 const std::function<void(const ModelProgress&)>& progressed,
                 const std::atomic<bool>& stop) {
  return ModelRun(sessions, budget, closing_seconds, clock, progressed, stop).run();
}

}  // namespace attune::session
