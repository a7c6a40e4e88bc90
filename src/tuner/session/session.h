// A tuning session: one job as a state machine. Rounds of candidates go through select, build,
// profile and update; a closing comparison names the winner. Each stage is a unit of its own that
// says which resource it needs, so that one driver can interleave many sessions; all that a stage
// decides is in the store when it ends, so that a process killed at any point goes on with
// `resume` from the last finished stage. The same seed and the same times lead to the same
// decisions: results enter by candidate number, and how far selection runs ahead of results is
// fixed.
#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "base/clock.h"
#include "base/result.h"
#include "tuner/measure/runner.h"
#include "tuner/records/store.h"
#include "tuner/session/report.h"
#include "tuner/session/search.h"
#include "tuner/session/task.h"

namespace attune::session {

struct Options {
  std::int64_t trials = 128;  // of the task altogether, earlier runs included when resumed
  double seconds = 0;         // of this run; 0: no limit
  double until_us = 0;        // enough: no rounds after one that reached this; 0: no limit
  std::uint64_t seed = 0;
  bool resume = false;      // go on with the newest session of these options and this seed
  bool use_history = true;  // start from the best known records of the same task and target
  records::Weights weights = records::Weights::Hot;
  int batch = 24;
  // Rounds under way at once. More than one: the next are selected and built while the first is
  // profiled, or profiled at the same time where there are several devices; none of them knows what
  // became of the others. 1: for cores that profiling needs, too.
  int window = 2;
  // Rounds are selected only as far as grant_round() was called: for a driver that gives out one
  // budget over many sessions. `window` is without meaning then.
  bool on_grant = false;
  // Schedules that did well elsewhere, to be tried early together with the store's hints, unless
  // history is unwanted.
  std::vector<schedule::Trace> hints = {};
  // Not empty: as many rounds, and so many candidates asked for in each, as in a session that is
  // repeated.
  std::vector<std::int64_t> round_sizes = {};
  int finalists = 8;             // compared at the end, besides the default
  std::string search_name = {};  // of space and explorer: sessions resume only with the same
  std::string version = {};      // of the product, for the records
  measure::RunOptions run = {};  // weights and best_known_us are the session's
  double build_timeout_ms = 0;   // of one candidate; 0: no limit
};

// What sessions must have in common to be resumed or repeated, in `SessionSpec::options_key`.
std::string options_key(const Options& options);

// For who goes on with whatever was begun last: the seed of the newest session of these options.
Result<std::optional<std::uint64_t>> newest_seed(records::Store& store, const std::string& task_key,
                                                 const std::string& target, const Options& options);

enum class StageKind : std::uint8_t { Init, Select, Build, Profile, Update, Confirm };
inline constexpr std::size_t kStageKinds = 6;
std::string_view name_of(StageKind kind);

enum class Resource : std::uint8_t { HostCores, Device };

struct Stage {
  StageKind kind = StageKind::Init;
  std::int64_t round = 0;  // kClosing for the build that precedes Confirm, and for Confirm
  friend bool operator==(const Stage&, const Stage&) = default;
};
inline constexpr std::int64_t kClosing = -1;
Resource resource_of(const Stage& stage);

// What a session works with; all must outlive it, and may serve several sessions.
struct Context {
  records::Store& store;
  measure::Builder& builder;
  measure::Runner& runner;
  const Clock& clock;
};

class Session {
 public:
  // `default_trace` is the schedule used without tuning; it is the first candidate and stays in
  // the race to the end.
  static Result<std::unique_ptr<Session>> open(Context context, Task task, std::string target,
                                               std::unique_ptr<Search> search,
                                               schedule::Trace default_trace, Options options);
  ~Session();

  // The stages that may run now, in the order in which they are best run; none when finished, or
  // when all that is ready is running.
  std::vector<Stage> ready_stages() const;
  bool finished() const;
  // Runs a ready stage. Several stages may run at once, each on its own thread. An Error means that
  // the session cannot go on (the store failed, say); what earlier stages did is kept.
  Status run(const Stage& stage);
  // The same in two steps: from `begin` on the stage counts as running, wherever and whenever
  // `perform` is called then.
  void begin(const Stage& stage);
  Status perform(const Stage& stage);
  // No more candidates are selected: what is open is finished, and the winner named.
  void end_selection();
  // Takes that back, when all stages have ended: with further rounds it goes on where it was.
  void go_on();

  // Candidates that deserve it are timed so many times as long from now on; 1 at first.
  void stretch_timing(double factor);

  // Fast candidates whose times the machine still disturbed after the runner's own second look are
  // measured anew in a stage of their own, so many times; 0 at first.
  void repeat_disturbed(int times);
  // Whether a profile stage left some of its candidates for that.
  bool was_disturbed(const Stage& stage) const;

  // For sessions `on_grant`: one more round may be selected. Updates wait for the selections that
  // were granted before them, so that what each selection knows does not depend on the time that
  // stages take.
  void grant_round();
  // Whether a further round could be selected: budget and space have more.
  bool wants_rounds() const;
  std::int64_t open_rounds() const;  // selected, but not finished
  // Of the last round that was updated; empty before.
  std::optional<RoundSummary> last_round() const;

  Progress progress() const;
  // Candidates that failed since this was last asked; the latest thousand when nobody asks.
  std::vector<records::Record> take_failed();
  TaskReport report() const;
  records::SessionId id() const;
  const Clock& clock() const;

 private:
  class Impl;
  explicit Session(std::unique_ptr<Impl> impl);
  std::unique_ptr<Impl> impl_;
};

}  // namespace attune::session
