#include "tuner/measure/probe/server.h"

#include <poll.h>
#include <signal.h>
#include <sys/prctl.h>
#include <time.h>
#include <unistd.h>

#include <algorithm>
#include <cstring>
#include <optional>

#include "base/cage/cage.h"
#include "base/cage/control_group.h"
#include "base/clock.h"
#include "tuner/measure/probe/deadlines.h"
#include "tuner/measure/probe/exchange.h"
#include "tuner/measure/probe/judgement.h"
#include "tuner/measure/probe/memory_limit.h"
#include "tuner/measure/probe/worker.h"

namespace attune::probe {
namespace {

using outcome::Phase;

// A fresh worker now and then, so that nothing a candidate leaves behind adds up.
constexpr int kCandidatesPerWorker = 500;
// How often the asker hears that all is well.
constexpr double kBeatMs = 1'000.0;
// A worker that has closed its end should be gone.
constexpr double kExitMs = 2'000.0;

// The processor's time that a process has had, in all its threads.
std::optional<std::int64_t> worked_ns(pid_t process) {
  clockid_t clock = {};
  timespec time = {};
  if (clock_getcpuclockid(process, &clock) != 0 || clock_gettime(clock, &time) != 0) return {};
  return std::int64_t{time.tv_sec} * 1'000'000'000 + time.tv_nsec;
}

class Server {
 public:
  Server(const Descriptor& channel, const RunnerOptions& options, const ControlGroup* group)
      : channel_(channel), options_(options), group_(group) {}
  ~Server() { end_worker(); }

  void serve();

 private:
  enum class Answer { Done, WorkerEnded, TimedOut, AskerGone };

  bool start_worker(const WorkerNeeds& needs);
  void end_worker();
  Answer command(MessageKind kind, std::uint32_t value);
  bool order(MessageKind kind, std::uint32_t value);
  Answer await();
  bool is_settled(std::uint32_t k) const {
    return exchange_->verdicts().report(k).state != ReportState::Pending;
  }
  void run_batch();
  void run_interleaved();
  void read_sentinel(std::uint32_t after);
  // Settles candidate k after an answer; false when the asker is gone.
  bool settle(Answer answer, std::uint32_t k);
  // The worker's word about a candidate, as far as it can be believed.
  void accept(std::uint32_t k, bool timed_alone);
  // Whose fault it was when all candidates are run together, by the worker's word if that can be.
  std::uint32_t blamed() const;
  Progress& progress() const { return exchange_->replies().header().progress; }

  const Descriptor& channel_;
  const RunnerOptions& options_;
  const ControlGroup* const group_;  // in which this process is; null: none
  SteadyClock clock_;
  std::optional<Exchange> exchange_;
  pid_t worker_ = -1;
  Descriptor worker_channel_;
  std::optional<WorkerNeeds> worker_has_;
  bool worker_has_exchange_ = false;
  int candidates_run_ = 0;                    // by this worker
  std::int64_t ended_for_memory_before_ = 0;  // of the group, when this worker was started
  Deadlines deadlines_;                       // of the command that runs
};

bool Server::start_worker(const WorkerNeeds& needs) {
  auto ends = make_channel();
  if (!ends.ok()) return false;
  if (group_ != nullptr) {
    (void)group_->limit(needs.group_limits()).ok();
    ended_for_memory_before_ = group_->ended_for_memory();
  }
  const pid_t server = getpid();
  const pid_t child = fork();
  if (child < 0) return false;
  if (child == 0) {
    begin_own_group(server);
    if (group_ != nullptr) (void)write_group_value("/proc/self/oom_score_adj", "1000").ok();
    exchange_.reset();  // the verdicts are not for the worker
    close(channel_.number());
    { const Descriptor other_end = std::move(ends->first); }
    run_worker(ends->second, options_);
    _exit(0);
  }
  worker_ = child;
  worker_channel_ = std::move(ends->first);
  worker_has_ = needs;
  worker_has_exchange_ = false;
  candidates_run_ = 0;
  return true;
}

void Server::end_worker() {
  if (worker_ <= 0) return;
  (void)end_group(worker_);
  worker_ = -1;
  worker_channel_ = Descriptor();
  end_children_but(-1);
}

Server::Answer Server::await() {
  double beat_ms = kBeatMs;
  for (;;) {
    const std::int64_t now = clock_.now_ns();
    const double left = deadlines_.remaining_ms(now, progress());
    if (left <= 0.0) return Answer::TimedOut;
    if (deadlines_.elapsed_ms(now) >= beat_ms) {
      send_in_passing(channel_, MessageKind::Alive);
      beat_ms = deadlines_.elapsed_ms(now) + kBeatMs;
    }
    // The worker may begin to run the kernel meanwhile, which changes the limit: look again in
    // time.
    const double slice = std::min({left, exchange_->header().options.timeout_ms, kBeatMs});
    pollfd watched[2] = {{worker_channel_.number(), POLLIN, 0}, {channel_.number(), POLLIN, 0}};
    const int ready = poll(watched, 2, static_cast<int>(slice) + 1);
    if (ready <= 0) continue;
    if (watched[1].revents != 0) return Answer::AskerGone;
    const std::optional<Message> message = receive(worker_channel_);
    if (!message) return Answer::WorkerEnded;
    if (message->kind == MessageKind::Done) return Answer::Done;
    if (message->kind == MessageKind::Running) {
      deadlines_.note_running(clock_.now_ns(), worked_ns(worker_));
    }
  }
}

bool Server::order(MessageKind kind, std::uint32_t value) {
  const WorkerNeeds needs(*exchange_);
  if (worker_ > 0 && (candidates_run_ >= kCandidatesPerWorker || !worker_has_->cover(needs))) {
    end_worker();
  }
  if (worker_ <= 0 && !start_worker(needs)) return false;
  new (&progress()) Progress;
  progress().candidate = value;
  progress().since_ns = clock_.now_ns();
  deadlines_ = Deadlines(exchange_->header(), kind, clock_.now_ns());
  if (!worker_has_exchange_) {
    if (!send(worker_channel_, MessageKind::Open, 0, exchange_->descriptors(false))) return false;
    worker_has_exchange_ = true;
  }
  return send(worker_channel_, kind, value);
}

Server::Answer Server::command(MessageKind kind, std::uint32_t value) {
  const bool used = candidates_run_ > 0;
  const Answer answer = order(kind, value) ? await() : Answer::WorkerEnded;
  const bool failed = answer == Answer::WorkerEnded || answer == Answer::TimedOut;
  // What ended before any kernel of this command ran is the fault of those that ran before in the
  // same process: once more, in a fresh one.
  if (!failed || !used || deadlines_.running()) return answer;
  end_worker();
  return order(kind, value) ? await() : Answer::WorkerEnded;
}

void Server::accept(std::uint32_t k, bool timed_alone) {
  const Report said = sane(exchange_->replies().report(k));
  Report& verdict = exchange_->verdicts().report(k);
  if (said.state == ReportState::Pending) return;
  verdict = said;
  if (said.state == ReportState::Timed && timed_alone) {
    const std::int64_t now = clock_.now_ns();
    const std::string lie =
        implausible(said, {.since_asked_us = deadlines_.elapsed_ms(now) * 1e3,
                           .since_word_us = deadlines_.running_us(now, worked_ns(worker_))});
    if (!lie.empty()) {
      verdict.fail(ReportState::Crashed, Phase::Run, lie);
      verdict.tainted = true;
    }
  }
  for (const Answers::When when :
       {Answers::When::First, Answers::When::Last, Answers::When::Fresh}) {
    const std::span<const double> values = exchange_->replies().values(k, when);
    std::copy(values.begin(), values.end(), exchange_->verdicts().values(k, when).begin());
  }
  const std::span<const std::byte> outputs = exchange_->replies().outputs(k);
  std::copy(outputs.begin(), outputs.end(), exchange_->verdicts().outputs(k).begin());
}

bool Server::settle(Answer answer, std::uint32_t k) {
  Report& verdict = exchange_->verdicts().report(k);
  switch (answer) {
    case Answer::Done:
      ++candidates_run_;
      return true;
    case Answer::AskerGone:
      end_worker();
      return false;
    case Answer::TimedOut: {
      const Phase phase = phase_of(progress());
      end_worker();
      blame_silence(verdict, phase, progress(), exchange_->header().options);
      return true;
    }
    case Answer::WorkerEnded: {
      if (worker_ <= 0) {
        verdict.fail(ReportState::Lost, Phase::Load, "cannot start a measuring process");
        return true;
      }
      // It may not have ended yet, only closed its end: its own exit status says most.
      const std::optional<int> status = await_exit(worker_, kExitMs);
      if (status) {
        worker_ = -1;
        worker_channel_ = Descriptor();
        end_children_but(-1);
      } else {
        end_worker();
      }
      if (group_ != nullptr && group_->ended_for_memory() > ended_for_memory_before_) {
        blame_memory(verdict, phase_of(progress()), progress(), exchange_->header().options);
        return true;
      }
      blame_exit(verdict, status, deadlines_.running(), progress(), exchange_->header().options);
      return true;
    }
  }
  return true;
}

void Server::run_batch() {
  for (std::uint32_t k = 0; k < exchange_->size(); ++k) {
    const Answer answer = command(MessageKind::Measure, k);
    if (answer == Answer::Done) accept(k, true);
    if (!settle(answer, k)) return;
    if (exchange_->verdicts().report(k).tainted) end_worker();
  }
}

std::uint32_t Server::blamed() const {
  const std::uint32_t named = progress().candidate;
  if (named < exchange_->size() && !is_settled(named)) return named;
  std::uint32_t k = 0;
  while (is_settled(k)) ++k;
  return k;
}

void Server::run_interleaved() {
  const auto count = static_cast<std::uint32_t>(exchange_->size());
  const auto pending = [&] {
    std::size_t number = 0;
    for (std::uint32_t k = 0; k < count; ++k) number += is_settled(k) ? 0 : 1;
    return number;
  };
  // Each failure settles one candidate, and the others start again.
  for (std::size_t left = pending(); left > 0;) {
    for (std::uint32_t k = 0; k < count; ++k) {
      exchange_->replies().report(k) = exchange_->verdicts().report(k);
    }
    const Answer answer = command(MessageKind::Interleave, 0);
    bool tainted = false;
    if (answer == Answer::Done) {
      for (std::uint32_t k = 0; k < count; ++k) {
        if (is_settled(k)) continue;
        accept(k, false);
        tainted = tainted || exchange_->verdicts().report(k).tainted;
      }
    }
    if (!settle(answer, answer == Answer::Done ? 0 : blamed())) return;
    if (tainted) end_worker();
    const std::size_t now = pending();
    if (now >= left) return;
    left = now;
  }
}

void Server::read_sentinel(std::uint32_t after) {
  // A sentinel that fails leaves zeros, which say that nothing is known.
  if (command(MessageKind::Sentinel, after) != Answer::Done) return end_worker();
  const Answers::Header& said = exchange_->replies().header();
  Answers::Header& kept = exchange_->verdicts().header();
  (after != 0 ? kept.after : kept.before) = sane(after != 0 ? said.after : said.before);
}

void Server::serve() {
  while (std::optional<Message> message = receive(channel_)) {
    auto& [requests, replies, verdicts] = message->descriptors;
    auto exchange = Exchange::attach(std::move(requests), std::move(replies), std::move(verdicts));
    if (!exchange.ok()) return;
    exchange_.emplace(std::move(exchange).value());
    worker_has_exchange_ = false;
    read_sentinel(0);
    if (message->kind == MessageKind::Measure) {
      if (exchange_->header().rounds > 0) {
        run_interleaved();
      } else {
        run_batch();
      }
      read_sentinel(1);
    }
    if (!send(channel_, MessageKind::Done)) return;
  }
}

}  // namespace

void run_server(const Descriptor& channel, const RunnerOptions& options,
                const ControlGroup* group) {
  (void)setsid();
  if (group != nullptr && !group->enter().ok()) group = nullptr;
  (void)prctl(PR_SET_CHILD_SUBREAPER, 1);  // what workers leave behind is ours to end
  Server(channel, options, group).serve();
}

}  // namespace attune::probe
