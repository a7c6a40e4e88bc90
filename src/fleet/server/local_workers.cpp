#include "fleet/server/local_workers.h"

#include <fmt/format.h>
#include <poll.h>
#include <signal.h>
#include <sys/eventfd.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <cmath>
#include <limits>
#include <utility>

#include "base/check.h"
#include "base/clock.h"
#include "fleet/server/worker_process.h"
#include "fleet/wire/secret.h"

namespace attune::server {
namespace {

constexpr double kFirstDelay = 0.1, kLongestDelay = 5;
constexpr double kMomentSeconds = 0.1;  // for one to end by itself
constexpr double kNever = std::numeric_limits<double>::infinity();

double steady_seconds() { return static_cast<double>(SteadyClock().now_ns()) * 1e-9; }

int milliseconds_until(double moment, double now) {
  if (std::isinf(moment)) return -1;
  return static_cast<int>(std::ceil(std::clamp(moment - now, 0.0, 3600.0) * 1000)) + 1;
}

std::string end_in_words(int status) {
  if (WIFSIGNALED(status)) return fmt::format("signal {}", WTERMSIG(status));
  return fmt::format("exit status {}", WEXITSTATUS(status));
}

}  // namespace

LocalWorkers::LocalWorkers(LocalWorkersOptions options)
    : options_(std::move(options)), wake_(::eventfd(0, EFD_CLOEXEC | EFD_NONBLOCK)) {
  CHECK(wake_ >= 0, "no event descriptor");
}

// From a thread that lives as long as the process: workers are told of the death of the thread that
// started them.
void LocalWorkers::start() {
  thread_ = std::thread([this] { run(); });
}

void LocalWorkers::stop() {
  {
    const std::lock_guard lock(mutex_);
    if (std::exchange(stopping_, true)) return;
  }
  ::eventfd_write(wake_, 1);
  if (thread_.joinable()) thread_.join();
  ::close(std::exchange(wake_, -1));
}

bool LocalWorkers::adopt(jobs::WorkerId worker, const std::string& token) {
  const std::lock_guard lock(mutex_);
  const auto found = std::find_if(children_.begin(), children_.end(), [&](const auto& child) {
    return !token.empty() && child.second.token == token;
  });
  if (found == children_.end()) return false;
  found->second.token.clear();
  adopted_[worker] = found->first;
  return true;
}

bool LocalWorkers::kill(jobs::WorkerId worker) {
  const std::lock_guard lock(mutex_);
  const auto found = adopted_.find(worker);
  if (found == adopted_.end()) return false;
  Child& child = children_.at(found->second);
  if (child.fate == Fate::Lives) {
    child.fate = Fate::MayEnd;
    child.fate_at = steady_seconds();
    ::eventfd_write(wake_, 1);
  }
  return true;
}

void LocalWorkers::set_extra(int extra) {
  const std::lock_guard lock(mutex_);
  if (extra_ == extra || stopping_) return;
  extra_ = extra;
  ::eventfd_write(wake_, 1);
}

void LocalWorkers::kill_group(int pid) const {
  if (options_.kill_group) return options_.kill_group(pid);
  ::kill(-pid, SIGKILL);
}

void LocalWorkers::say(const std::string& text) const {
  if (options_.note) options_.note(text);
}

int LocalWorkers::free_number() const {
  for (int number = 0;; ++number) {
    const bool taken = std::any_of(children_.begin(), children_.end(), [&](const auto& child) {
      return child.second.number == number;
    });
    if (!taken) return number;
  }
}

// One that cannot be ended does no work.
int LocalWorkers::missing() const {
  const auto working = std::count_if(children_.begin(), children_.end(), [](const auto& child) {
    return child.second.fate != Fate::Lingers;
  });
  return options_.count + extra_ - static_cast<int>(working);
}

bool LocalWorkers::spawn(double now) {
  const int number = free_number();
  const std::string token = wire::random_secret();
  PreparedWorker prepared({.command = options_.command,
                           .variable = fmt::format("{}={}", kTokenName, token),
                           .log = fmt::format("{}/worker-{}.log", options_.log_folder, number),
                           .lock_descriptor = options_.lock_descriptor,
                           .cores = options_.cores});
  memory_kills_ = options_.memory_kills();
  const std::lock_guard lock(mutex_);  // it is known before it can say its token
  const std::optional<WorkerProcess> process = prepared.start();
  if (!process) return false;
  children_[process->pid] = {
      .descriptor = process->descriptor, .number = number, .started_at = now, .token = token};
  return true;
}

void LocalWorkers::spawn_missing(double now) {
  const auto wants_one = [&] {
    const std::lock_guard lock(mutex_);
    return !stopping_ && missing() > 0 && now >= next_spawn_at_;
  };
  while (wants_one()) {
    if (!spawn(now)) next_spawn_at_ = now + kLongestDelay;
  }
}

// When to look again. The mutex is held; what is to be said is said later.
double LocalWorkers::see_to_fates(double now, std::vector<std::string>& notes) {
  double again = kNever;
  for (auto& [pid, child] : children_) {
    if (child.fate == Fate::MayEnd && now >= child.fate_at + kMomentSeconds) {
      kill_group(pid);
      child.fate = Fate::Killed;
      child.fate_at = now;
    }
    if (child.fate == Fate::Killed && now >= child.fate_at + options_.slow_seconds) {
      child.fate = Fate::Lingers;
      notes.push_back(
          fmt::format("worker {} (process {}) was killed and does not end; what it "
                      "runs on waits for it, all else goes on",
                      child.number, pid));
    }
    if (child.fate == Fate::MayEnd) again = std::min(again, child.fate_at + kMomentSeconds);
    if (child.fate == Fate::Killed) again = std::min(again, child.fate_at + options_.slow_seconds);
  }
  return again;
}

jobs::WorkerDeath LocalWorkers::death_of(const Child& child, int status, std::int64_t peak_bytes) {
  using Cause = jobs::WorkerDeath::Cause;
  const auto kills = options_.memory_kills();
  const bool starved = kills && memory_kills_ && *kills > *memory_kills_;
  memory_kills_ = kills;
  jobs::WorkerDeath death{.how = end_in_words(status), .peak_bytes = peak_bytes};
  const int signal = WIFSIGNALED(status) ? WTERMSIG(status) : 0;
  const bool ours = child.fate == Fate::Killed || child.fate == Fate::Lingers;
  if (signal == SIGKILL) {
    death.cause = ours ? Cause::None : starved ? Cause::Starved : Cause::Killed;
  } else if (signal == SIGTERM || signal == SIGINT) {
    death.cause = Cause::Killed;
  } else if (signal != 0 || WEXITSTATUS(status) != 0) {
    death.cause = Cause::Crashed;
  }
  return death;
}

// Of a process that has ended: nothing of this waits.
void LocalWorkers::reap(int pid, double now) {
  ::kill(-pid, SIGKILL);  // what it started; the group lasts until the process is waited for
  int status = 0;
  rusage used = {};
  ::wait4(pid, &status, 0, &used);
  Child child;
  std::vector<jobs::WorkerId> connections;
  {
    const std::lock_guard lock(mutex_);
    child = children_.at(pid);
    for (const auto& [worker, process] : adopted_) {
      if (process == pid) connections.push_back(worker);
    }
  }
  ::close(child.descriptor);
  const jobs::WorkerDeath death = death_of(child, status, std::int64_t{used.ru_maxrss} * 1024);
  if (options_.ended) options_.ended();
  for (const jobs::WorkerId worker : connections) {
    if (options_.died) options_.died(worker, death);
  }
  {  // not before it is said: until then kill() knows it
    const std::lock_guard lock(mutex_);
    std::erase_if(adopted_, [&](const auto& adopted) { return adopted.second == pid; });
    children_.erase(pid);
  }
  if (child.fate == Fate::Lives || child.fate == Fate::MayEnd) slow_down(child, status, now);
}

// Those that end at once and by themselves are replaced ever more slowly.
void LocalWorkers::slow_down(const Child& child, int status, double now) {
  const bool quick = now - child.started_at < options_.quick_seconds;
  quick_ends_ = quick ? quick_ends_ + 1 : 0;
  if (!quick) return;
  const bool by_hand = WIFSIGNALED(status) && WTERMSIG(status) == SIGKILL;
  const double delay =
      by_hand ? kFirstDelay
              : std::min(kLongestDelay, kFirstDelay * std::pow(2.0, std::min(quick_ends_ - 1, 10)));
  next_spawn_at_ = std::max(next_spawn_at_, now + delay);
  if (by_hand) return;
  say(
      fmt::format("worker {} ended after {:.1f} s ({}), the next starts in {:.1f} s; "
                  "{}/worker-{}.log says more",
                  child.number, now - child.started_at, end_in_words(status), delay,
                  options_.log_folder, child.number));
}

// Reaps those that end until then.
void LocalWorkers::watch_until(double moment, bool with_wake) {
  std::vector<pollfd> waiting;
  std::vector<int> pids;
  if (with_wake) waiting.push_back({wake_, POLLIN, 0});
  for (const auto& [pid, child] : children_) {
    waiting.push_back({child.descriptor, POLLIN, 0});
    pids.push_back(pid);
  }
  ::poll(waiting.data(), waiting.size(), milliseconds_until(moment, steady_seconds()));
  eventfd_t ignored = 0;
  if (with_wake) ::eventfd_read(wake_, &ignored);
  for (std::size_t i = 0; i < pids.size(); ++i) {
    if (waiting[i + (with_wake ? 1 : 0)].revents != 0) reap(pids[i], steady_seconds());
  }
}

void LocalWorkers::run() {
  for (;;) {
    spawn_missing(steady_seconds());
    std::vector<std::string> notes;
    double again = kNever;
    {
      const std::lock_guard lock(mutex_);
      if (stopping_) break;
      again = see_to_fates(steady_seconds(), notes);
      if (missing() > 0) again = std::min(again, next_spawn_at_);
    }
    for (const std::string& text : notes) say(text);
    watch_until(again, true);
  }
  end_all();
}

void LocalWorkers::end_all() {
  {
    const std::lock_guard lock(mutex_);
    for (auto& [pid, child] : children_) {
      kill_group(pid);
      child.fate = Fate::Killed;
    }
  }
  const double latest = steady_seconds() + options_.slow_seconds;
  while (!children_.empty() && steady_seconds() < latest) watch_until(latest, false);
  for (const auto& [pid, child] : children_) {
    say(fmt::format("worker {} (process {}) was killed and does not end; it is left behind",
                    child.number, pid));
    ::close(child.descriptor);
  }
}

}  // namespace attune::server
