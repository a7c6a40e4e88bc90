#include "tuner/measure/probe/server.h"

#include <fmt/format.h>
#include <poll.h>
#include <signal.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <optional>

#include "base/clock.h"
#include "tuner/measure/probe/crash_watch.h"
#include "tuner/measure/probe/exchange.h"
#include "tuner/measure/probe/worker.h"

namespace attune::probe {
namespace {

using outcome::Phase;

// Loading and filling are ours, and take milliseconds; more than this and something is broken.
constexpr double kSetUpLimitMs = 60'000.0;
// A fresh worker now and then, so that nothing a candidate leaves behind adds up.
constexpr int kCandidatesPerWorker = 500;

bool runs_kernel(Phase phase) { return phase == Phase::Run || phase == Phase::Verify; }

class Server {
 public:
  Server(const Descriptor& channel, const RunnerOptions& options)
      : channel_(channel), options_(options) {}
  ~Server() { end_worker(); }

  void serve();

 private:
  enum class Answer { Done, WorkerEnded, TimedOut, AskerGone };

  bool start_worker();
  int end_worker();  // its wait status
  Answer command(MessageKind kind, std::uint32_t value);
  Answer await();
  double remaining_ms() const;
  void run_batch();
  void run_interleaved();
  void read_sentinel(std::uint32_t after);
  // Settles candidate k after an answer; false when the asker is gone.
  bool settle(Answer answer, std::uint32_t k);
  void blame_exit(Report& report, Phase phase, int status);
  // A preparation that fails does so in the phase before the candidate's own.
  Phase told(Phase phase) const {
    return exchange_->header().progress.preparing ? Phase::Prepare : phase;
  }

  const Descriptor& channel_;
  const RunnerOptions& options_;
  SteadyClock clock_;
  std::optional<Exchange> exchange_;
  pid_t worker_ = -1;
  Descriptor worker_channel_;
  bool worker_has_exchange_ = false;
  int candidates_run_ = 0;
};

bool Server::start_worker() {
  if (worker_ > 0) return true;
  auto ends = make_channel();
  if (!ends.ok()) return false;
  const pid_t server = getpid();
  const pid_t child = fork();
  if (child < 0) return false;
  if (child == 0) {
    prctl(PR_SET_PDEATHSIG, SIGKILL);
    if (getppid() != server) _exit(1);
    close(channel_.number());
    { const Descriptor other_end = std::move(ends->first); }
    run_worker(ends->second, options_);
    _exit(0);
  }
  worker_ = child;
  worker_channel_ = std::move(ends->first);
  worker_has_exchange_ = false;
  candidates_run_ = 0;
  return true;
}

int Server::end_worker() {
  if (worker_ <= 0) return 0;
  kill(worker_, SIGKILL);
  int status = 0;
  while (waitpid(worker_, &status, 0) < 0 && errno == EINTR) continue;
  worker_ = -1;
  worker_channel_ = Descriptor();
  return status;
}

double Server::remaining_ms() const {
  const ExchangeHeader& header = exchange_->header();
  const Phase phase = header.progress.phase;
  const double limit =
      runs_kernel(phase) ? header.options.timeout_ms : kSetUpLimitMs + header.round_gap_ms;
  return limit - static_cast<double>(clock_.now_ns() - header.progress.since_ns) * 1e-6;
}

Server::Answer Server::await() {
  for (;;) {
    pollfd watched[2] = {{worker_channel_.number(), POLLIN, 0}, {channel_.number(), POLLIN, 0}};
    const double left = remaining_ms();
    if (left <= 0.0) return Answer::TimedOut;
    // The worker may begin to run the kernel meanwhile, which changes the limit: look again in
    // time.
    const double slice = std::min({left, exchange_->header().options.timeout_ms, 1e6});
    const int ready = poll(watched, 2, static_cast<int>(slice) + 1);
    if (ready <= 0) continue;
    if (watched[0].revents != 0) {
      return receive(worker_channel_) ? Answer::Done : Answer::WorkerEnded;
    }
    if (watched[1].revents != 0) return Answer::AskerGone;
  }
}

Server::Answer Server::command(MessageKind kind, std::uint32_t value) {
  if (candidates_run_ >= kCandidatesPerWorker) end_worker();
  if (!start_worker()) return Answer::WorkerEnded;
  Progress& progress = exchange_->header().progress;
  progress.candidate = value;
  progress.phase = Phase::Load;
  progress.since_ns = clock_.now_ns();
  progress.fault = {};
  progress.preparing = false;
  if (!worker_has_exchange_) {
    const Message open{.kind = MessageKind::Open, .descriptor = exchange_->descriptor()};
    if (!send(worker_channel_, open)) return Answer::WorkerEnded;
    worker_has_exchange_ = true;
  }
  if (!send(worker_channel_, {.kind = kind, .value = value})) return Answer::WorkerEnded;
  return await();
}

void Server::blame_exit(Report& report, Phase phase, int status) {
  const Fault& fault = exchange_->header().progress.fault;
  if (WIFEXITED(status) && WEXITSTATUS(status) == kFaultExitStatus && fault.signal != 0) {
    std::string why = describe_fault(fault);
    constexpr std::uint64_t kNullPages = 65536;
    if (fault.has_address && fault.place == Place::Elsewhere && fault.address < kNullPages) {
      why += fmt::format(" (memory beyond its limit of {} MiB is refused with a null pointer)",
                         exchange_->header().options.memory_limit_bytes >> 20);
    }
    report.fail(ReportState::Crashed, told(phase), why);
    report.signal = fault.signal;
  } else if (WIFEXITED(status)) {
    report.fail(ReportState::Crashed, told(phase),
                fmt::format("ended the process with exit status {}", WEXITSTATUS(status)));
  } else if (WTERMSIG(status) == SIGKILL || !runs_kernel(phase)) {
    report.fail(
        ReportState::Lost, phase,
        fmt::format("the measuring process was killed from outside (signal {})", WTERMSIG(status)));
  } else {
    report.fail(ReportState::Crashed, told(phase),
                fmt::format("fatal signal {} ({})", WTERMSIG(status), strsignal(WTERMSIG(status))));
    report.signal = WTERMSIG(status);
  }
}

bool Server::settle(Answer answer, std::uint32_t k) {
  Report& report = exchange_->reports()[k];
  const Phase phase = exchange_->header().progress.phase;
  switch (answer) {
    case Answer::Done:
      ++candidates_run_;
      if (report.tainted) end_worker();
      return true;
    case Answer::AskerGone:
      end_worker();
      return false;
    case Answer::TimedOut:
      end_worker();
      report.limit_ms = runs_kernel(phase) ? exchange_->header().options.timeout_ms : kSetUpLimitMs;
      report.fail(ReportState::TimedOut, told(phase),
                  fmt::format("no answer after {:.0f} ms", report.limit_ms));
      return true;
    case Answer::WorkerEnded: {
      if (worker_ <= 0) {
        report.fail(ReportState::Lost, phase, "cannot start a measuring process");
        return true;
      }
      // It may not have ended yet, only closed its end: wait for its own exit status.
      int status = 0;
      while (waitpid(worker_, &status, 0) < 0 && errno == EINTR) continue;
      worker_ = -1;
      worker_channel_ = Descriptor();
      if (report.state == ReportState::Pending) blame_exit(report, phase, status);
      return true;
    }
  }
  return true;
}

void Server::run_batch() {
  for (std::uint32_t k = 0; k < exchange_->header().candidate_count; ++k) {
    if (!settle(command(MessageKind::Measure, k), k)) return;
  }
}

void Server::run_interleaved() {
  const std::span<Report> reports = exchange_->reports();
  const auto pending = [&] {
    return static_cast<std::size_t>(
        std::count_if(reports.begin(), reports.end(),
                      [](const Report& report) { return report.state == ReportState::Pending; }));
  };
  // Each failure settles one candidate, and the others start again.
  for (std::size_t left = pending(); left > 0;) {
    const Answer answer = command(MessageKind::Interleave, 0);
    if (!settle(answer, exchange_->header().progress.candidate)) return;
    const std::size_t now = pending();
    if (now >= left) return;
    left = now;
  }
}

void Server::read_sentinel(std::uint32_t after) {
  // A sentinel that fails leaves zeros, which say that nothing is known.
  if (command(MessageKind::Sentinel, after) != Answer::Done) end_worker();
}

void Server::serve() {
  while (const std::optional<Message> message = receive(channel_)) {
    auto exchange = Exchange::attach(message->descriptor);
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
    if (!send(channel_, {.kind = MessageKind::Done})) return;
  }
}

}  // namespace

void run_server(const Descriptor& channel, const RunnerOptions& options) {
  Server(channel, options).serve();
}

}  // namespace attune::probe
