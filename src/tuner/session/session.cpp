#include "tuner/session/session.h"

#include <fmt/format.h>

#include <algorithm>
#include <limits>
#include <utility>

#include "base/hash.h"
#include "tuner/session/history.h"
#include "tuner/session/impl.h"

namespace attune::session {
namespace {

std::string overlap_text(const Options& options) {
  if (options.on_grant) return "granted";
  if (options.window <= 2) return options.window == 2 ? "true" : "false";
  return fmt::format("{}", options.window);
}

// Options that decide which candidates are chosen and how their times compare.
std::string options_text(const Options& options) {
  return fmt::format("search={} batch={} overlap={} weights={} finalists={}", options.search_name,
                     options.batch, overlap_text(options),
                     options.weights == records::Weights::Hot ? "hot" : "cold", options.finalists);
}

// Candidates that fail to build are no trials; this many attempts per trial end a hopeless search.
constexpr std::int64_t kAttemptsPerTrial = 4;
constexpr std::int64_t kSpareAttempts = 100;
// So do this many rounds in which nothing ran but the default schedule.
constexpr std::int64_t kHopelessRounds = 4;

}  // namespace

std::string options_key(const Options& options) { return hex64(hash_bytes(options_text(options))); }

Result<std::optional<std::uint64_t>> newest_seed(records::Store& store, const std::string& task_key,
                                                 const std::string& target,
                                                 const Options& options) {
  ATTUNE_ASSIGN(const auto found,
                store.find_resumable_session(task_key, target, options_key(options)));
  if (!found) return std::optional<std::uint64_t>();
  ATTUNE_ASSIGN(const records::SessionSpec spec, store.session_spec(*found));
  return std::optional(spec.seed);
}

Session::Impl::Impl(Context context, Task task, std::string target, std::unique_ptr<Search> search,
                    schedule::Trace default_trace, Options options)
    : context_(context),
      task_(std::move(task)),
      target_(std::move(target)),
      search_(std::move(search)),
      default_trace_(std::move(default_trace)),
      options_(std::move(options)),
      start_ns_(context.clock.now_ns()),
      seed_(options_.seed) {
  options_.run.weights = options_.weights;
}

Status Session::Impl::open() {
  const std::string text = options_text(options_);
  const std::string key = options_key(options_);
  ATTUNE_RETURN_IF_ERROR(context_.store.put_task(definition_of(task_)));
  if (options_.resume) {
    auto found = context_.store.find_resumable_session(task_.key, target_, key, options_.seed);
    if (!found.ok()) return found.error();
    if (*found) {
      auto stored = context_.store.load_session(**found);
      if (!stored.ok()) return stored.error();
      auto ledger = Ledger::of(*stored);
      if (!ledger.ok()) return ledger.error();
      ledger_ = std::move(*ledger);
      granted_ = ledger_.selected_rounds();
      id_ = stored->id;
      resumed_ = true;
      trials_before_ = ledger_.trials();
      if (ledger_.finished_rounds() > 0) last_summary_ = summary_of(ledger_.finished_rounds() - 1);
      if (!stored->changes.empty()) return search_->restore(stored->changes);
      return {};
    }
  }
  auto created = context_.store.create_session({.task_key = task_.key,
                                                .task_name = task_.name,
                                                .target = target_,
                                                .options = text,
                                                .options_key = key,
                                                .seed = seed_,
                                                .created_at_ms = unix_time_ms()});
  if (!created.ok()) return created.error();
  id_ = *created;
  return {};
}

double Session::Impl::elapsed_seconds() const {
  return seconds_between(start_ns_, context_.clock.now_ns());
}

bool Session::Impl::out_of_time() const {
  return options_.seconds > 0 && elapsed_seconds() >= options_.seconds;
}

bool Session::Impl::is_running(StageKind kind) const {
  return std::any_of(running_.begin(), running_.end(),
                     [&](const Stage& stage) { return stage.kind == kind; });
}

std::int64_t Session::Impl::allowance() const {
  if (!options_.round_sizes.empty()) {
    const auto next = static_cast<std::size_t>(ledger_.selected_rounds());
    return next < options_.round_sizes.size() ? options_.round_sizes[next] : 0;
  }
  // Open candidates count as trials until their round is finished: selection must not depend on how
  // far building and profiling happen to be.
  const std::int64_t open = ledger_.open_candidates();
  const std::int64_t trials = options_.trials - ledger_.finished_trials() - open;
  const std::int64_t attempts =
      kAttemptsPerTrial * options_.trials + kSpareAttempts - ledger_.size();
  return std::min(trials, attempts);
}

bool Session::Impl::hopeless() const {
  const std::int64_t default_timed = ledger_.size() > 0 && ledger_.time_us(0) ? 1 : 0;
  return ledger_.finished_rounds() >= kHopelessRounds && ledger_.timed() <= default_timed;
}

bool Session::Impl::has_more() const {
  const bool enough = options_.until_us > 0 && last_summary_ && last_summary_->best_us &&
                      *last_summary_->best_us <= options_.until_us;
  return !selecting_ended_ && !enough && !hopeless() && allowance() > 0;
}

bool Session::Impl::may_select() const {
  if (!has_more()) return false;
  if (options_.on_grant) return ledger_.selected_rounds() < granted_;
  return ledger_.selected_rounds() - ledger_.finished_rounds() < std::max(options_.window, 1);
}

bool Session::Impl::needs_init() const {
  if (initialised_) return false;
  // A session that never got a round has nothing to compare with.
  return !options_.on_grant || may_select() || ledger_.size() > 0;
}

bool Session::Impl::is_built(std::int64_t round) const {
  const std::vector<std::int64_t> numbers = ledger_.numbers_of(round);
  return std::all_of(numbers.begin(), numbers.end(), [&](std::int64_t number) {
    return built_.count(number) != 0 || ledger_.record(number) != nullptr;
  });
}

std::vector<Stage> Session::Impl::due_stages() const {
  if (finished_) return {};
  if (needs_init()) return {{StageKind::Init, 0}};
  std::vector<Stage> due;
  const std::int64_t oldest = ledger_.finished_rounds();
  const std::int64_t next = ledger_.selected_rounds();
  // In this order a driver keeps the device busy: what it waits for comes first.
  for (std::int64_t round = oldest; round < next; ++round) {
    if (ledger_.is_profiled(round)) continue;
    due.push_back({is_built(round) ? StageKind::Profile : StageKind::Build, round});
  }
  const bool select = may_select();
  // An update waits for the selection that may not know of it: the order of the two is always the
  // same.
  if (select && !is_running(StageKind::Update)) {
    due.push_back({StageKind::Select, next});
  } else if (oldest < next && ledger_.is_profiled(oldest) && !is_running(StageKind::Select)) {
    due.push_back({StageKind::Update, oldest});
  }
  if (!has_more() && oldest == next && !is_running(StageKind::Select)) {
    const bool built = finalists_to_build().empty();
    due.push_back({built ? StageKind::Confirm : StageKind::Build, kClosing});
  }
  return due;
}

std::vector<Stage> Session::Impl::ready_stages() const {
  const std::lock_guard lock(mutex_);
  std::vector<Stage> ready = due_stages();
  std::erase_if(ready, [&](const Stage& stage) {
    return std::find(running_.begin(), running_.end(), stage) != running_.end();
  });
  return ready;
}

bool Session::Impl::finished() const {
  const std::lock_guard lock(mutex_);
  return finished_;
}

void Session::Impl::begin(const Stage& stage) {
  const std::lock_guard lock(mutex_);
  const std::vector<Stage> due = due_stages();
  CHECK(std::find(due.begin(), due.end(), stage) != due.end() &&
            std::find(running_.begin(), running_.end(), stage) == running_.end(),
        fmt::format("stage {} of round {} is not ready", name_of(stage.kind), stage.round));
  running_.push_back(stage);
}

Status Session::Impl::perform(const Stage& stage) {
  const std::int64_t start_ns = context_.clock.now_ns();
  const Status status = [&] {
    switch (stage.kind) {
      case StageKind::Init:
        return init();
      case StageKind::Select:
        return select(stage.round);
      case StageKind::Build:
        return stage.round == kClosing ? build_finalists() : build(stage.round);
      case StageKind::Profile:
        return profile(stage.round);
      case StageKind::Update:
        return update(stage.round);
      case StageKind::Confirm:
        return confirm();
    }
    CHECK(false, "unknown stage");
  }();
  const std::lock_guard lock(mutex_);
  std::erase(running_, stage);
  worked_seconds_ += seconds_between(start_ns, context_.clock.now_ns());
  last_stage_ = name_of(stage.kind);
  last_round_ = stage.round;
  return status;
}

void Session::Impl::end_selection() {
  const std::lock_guard lock(mutex_);
  selecting_ended_ = true;
}

void Session::Impl::go_on() {
  const std::lock_guard lock(mutex_);
  CHECK(running_.empty() && ledger_.selected_rounds() == ledger_.finished_rounds(),
        "a session goes on when its rounds have ended");
  selecting_ended_ = exhausted_;
  granted_ = ledger_.selected_rounds();
}

void Session::Impl::stretch_timing(double factor) {
  const std::lock_guard lock(mutex_);
  stretch_ = factor;
}

void Session::Impl::repeat_disturbed(int times) {
  const std::lock_guard lock(mutex_);
  most_repeats_ = times;
}

bool Session::Impl::was_disturbed(const Stage& stage) const {
  const std::lock_guard lock(mutex_);
  return stage.kind == StageKind::Profile && disturbed_.count(stage.round) != 0;
}

void Session::Impl::grant_round() {
  const std::lock_guard lock(mutex_);
  ++granted_;
  finished_ = false;
}

bool Session::Impl::wants_rounds() const {
  const std::lock_guard lock(mutex_);
  return has_more();
}

std::int64_t Session::Impl::open_rounds() const {
  const std::lock_guard lock(mutex_);
  return ledger_.selected_rounds() - ledger_.finished_rounds();
}

std::optional<RoundSummary> Session::Impl::last_round() const {
  const std::lock_guard lock(mutex_);
  return last_summary_;
}

std::vector<records::Record> Session::Impl::take_failed() {
  const std::lock_guard lock(mutex_);
  return std::exchange(failed_, {});
}

std::optional<std::int64_t> Session::Impl::best_number() const {
  const std::vector<std::int64_t> best = ledger_.fastest(1);
  return best.empty() ? std::nullopt : std::optional(best.front());
}

Session::Session(std::unique_ptr<Impl> impl) : impl_(std::move(impl)) {}
Session::~Session() = default;

Result<std::unique_ptr<Session>> Session::open(Context context, Task task, std::string target,
                                               std::unique_ptr<Search> search,
                                               schedule::Trace default_trace, Options options) {
  CHECK(!task.algorithms.empty(), "a task has at least its direct algorithm");
  options.finalists = std::min(options.finalists, static_cast<int>(Ledger::kKept));
  if (options.trials < 1 || options.batch < 1) {
    return invalid(
        fmt::format("{} trials in batches of {} make no session", options.trials, options.batch),
        "ask for at least 1 of each");
  }
  auto impl = std::make_unique<Impl>(context, std::move(task), std::move(target), std::move(search),
                                     std::move(default_trace), std::move(options));
  ATTUNE_RETURN_IF_ERROR(impl->open());
  return std::unique_ptr<Session>(new Session(std::move(impl)));
}

std::vector<Stage> Session::ready_stages() const { return impl_->ready_stages(); }
bool Session::finished() const { return impl_->finished(); }
Status Session::run(const Stage& stage) {
  begin(stage);
  return perform(stage);
}
void Session::begin(const Stage& stage) { impl_->begin(stage); }
Status Session::perform(const Stage& stage) { return impl_->perform(stage); }
void Session::end_selection() { impl_->end_selection(); }
void Session::go_on() { impl_->go_on(); }
void Session::stretch_timing(double factor) { impl_->stretch_timing(factor); }
void Session::repeat_disturbed(int times) { impl_->repeat_disturbed(times); }
bool Session::was_disturbed(const Stage& stage) const { return impl_->was_disturbed(stage); }
void Session::grant_round() { impl_->grant_round(); }
bool Session::wants_rounds() const { return impl_->wants_rounds(); }
std::int64_t Session::open_rounds() const { return impl_->open_rounds(); }
std::optional<RoundSummary> Session::last_round() const { return impl_->last_round(); }
const Clock& Session::clock() const { return impl_->clock(); }
Progress Session::progress() const { return impl_->progress(); }
std::vector<records::Record> Session::take_failed() { return impl_->take_failed(); }
TaskReport Session::report() const { return impl_->report(); }
records::SessionId Session::id() const { return impl_->id(); }

}  // namespace attune::session
