// The inside of a session: what it knows, what is running, and one function per stage. State is
// read and changed under the mutex; building, running and searching happen without it.
#pragma once

#include <map>
#include <memory>
#include <mutex>
#include <optional>
#include <set>
#include <string>
#include <vector>

#include "tuner/session/ledger.h"
#include "tuner/session/session.h"

namespace attune::session {

// The infrastructure is to blame, not the candidate.
inline bool is_lost(const outcome::Outcome& outcome) {
  return std::holds_alternative<outcome::InfrastructureLost>(outcome);
}
inline std::optional<double> observed_time(const outcome::Outcome& outcome) {
  const auto* timing = std::get_if<outcome::Timing>(&outcome);
  return timing == nullptr ? std::nullopt : std::optional(timing->best_us);
}

class Session::Impl {
 public:
  Impl(Context context, Task task, std::string target, std::unique_ptr<Search> search,
       schedule::Trace default_trace, Options options);

  // Finds or creates the session in the store.
  Status open();

  std::vector<Stage> ready_stages() const;
  bool finished() const;
  void begin(const Stage& stage);
  Status perform(const Stage& stage);
  void end_selection();
  void go_on();
  void stretch_timing(double factor);
  void repeat_disturbed(int times);
  bool was_disturbed(const Stage& stage) const;
  void grant_round();
  bool wants_rounds() const;
  std::int64_t open_rounds() const;
  std::optional<RoundSummary> last_round() const;
  const Clock& clock() const { return context_.clock; }
  Progress progress() const;
  std::vector<records::Record> take_failed();
  TaskReport report() const;
  records::SessionId id() const { return id_; }

 private:
  using BuiltMap = std::map<std::int64_t, measure::BuiltCandidate>;

  // Which stages there are; the mutex is held.
  std::vector<Stage> due_stages() const;
  bool is_running(StageKind kind) const;
  bool has_more() const;  // of budget and space
  bool hopeless() const;  // nothing but the default ever ran
  bool may_select() const;
  bool needs_init() const;
  std::int64_t allowance() const;  // how many more candidates the budget lets select now
  bool is_built(std::int64_t round) const;
  bool out_of_time() const;
  double elapsed_seconds() const;
  std::optional<std::int64_t> best_number() const;
  std::optional<double> model_quality() const;

  // The stages.
  Status init();
  Status select(std::int64_t round);
  Status build(std::int64_t round);
  Status profile(std::int64_t round);
  Status update(std::int64_t round);
  RoundSummary summary_of(std::int64_t round) const;
  Status build_finalists();
  Status confirm();

  // Candidates for a round: the default and what is known first, then the search's.
  Result<std::vector<schedule::Trace>> first_traces();
  bool competes(const schedule::Trace& trace) const;
  Result<std::vector<schedule::Trace>> known_traces();
  Result<std::vector<schedule::Trace>> hinted_traces();
  std::vector<space::Candidate> gather(std::vector<schedule::Trace> first, std::size_t count);
  Status learn_history();
  std::vector<measure::BuildRequest> build_requests(const std::vector<std::int64_t>& numbers) const;
  double tolerance_of(const space::Candidate& candidate) const;
  records::Record record_of(const space::Candidate& candidate, outcome::Outcome outcome) const;
  Result<std::vector<measure::RunResult>> run_with_retry(
      const std::vector<measure::RunRequest>& requests, const measure::RunOptions& how);
  Status count_losses(const std::vector<measure::RunResult>& results);
  std::vector<bool> find_disturbed(std::int64_t round, double best_us,
                                   const std::vector<measure::RunResult>& results);
  Status store_profiled(std::vector<records::Record> found);
  void note_failure(const records::Record& record);
  void forget_slow_builds();
  std::vector<std::int64_t> finalists() const;
  std::vector<std::int64_t> finalists_to_build() const;
  Status store_comparison(std::vector<records::Record> finalists,
                          std::vector<measure::RunResult> results);
  Status withdraw_lucky(double winner_us, std::vector<records::Confirmation>& confirmations) const;
  std::optional<std::int64_t> winner() const;

  Context context_;
  Task task_;
  std::string target_;
  std::unique_ptr<Search> search_;  // used by one stage at a time: select or update
  schedule::Trace default_trace_;
  Options options_;
  std::int64_t start_ns_;

  records::SessionId id_ = 0;
  std::uint64_t seed_ = 0;
  bool resumed_ = false;

  mutable std::mutex mutex_;
  Ledger ledger_;
  std::vector<Stage> running_;
  measure::Expectation expectation_;
  bool initialised_ = false;
  double stretch_ = 1;                   // of the timing's budget
  int most_repeats_ = 0;                 // of what was disturbed
  std::map<std::int64_t, int> repeats_;  // so far, by open round
  std::set<std::int64_t> disturbed_;     // rounds that are to be profiled once more
  std::int64_t lost_in_a_row_ = 0;       // candidates, to the infrastructure
  std::int64_t granted_ = 0;             // rounds that may be selected altogether, when on grant
  std::optional<RoundSummary> last_summary_;
  bool selecting_ended_ = false;  // the search has no more, or time is up
  bool exhausted_ = false;
  RejectionCounts rejected_;  // as the search last said
  BuiltMap built_;            // of open rounds, and of the fastest of the others
  bool finished_ = false;
  std::map<std::int64_t, double> compared_us_;  // of the closing comparison
  double worked_seconds_ = 0;                   // of all stages
  std::vector<records::Record> failed_;         // of late
  std::string last_stage_;
  std::int64_t last_round_ = 0;
  std::int64_t trials_before_ = 0;  // of earlier runs
};

}  // namespace attune::session
