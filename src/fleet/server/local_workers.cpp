#include "fleet/server/local_workers.h"

#include <fcntl.h>
#include <fmt/format.h>
#include <linux/close_range.h>
#include <poll.h>
#include <sched.h>
#include <signal.h>
#include <sys/eventfd.h>
#include <sys/prctl.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cmath>
#include <utility>

#include "base/check.h"
#include "base/clock.h"
#include "fleet/wire/secret.h"

namespace attune::server {
namespace {

constexpr double kFirstDelay = 0.1, kLongestDelay = 5;
constexpr int kSlowKillMs = 5000;  // when one that does not end is spoken of

double steady_seconds() { return static_cast<double>(SteadyClock().now_ns()) * 1e-9; }

int open_process(int pid) { return static_cast<int>(::syscall(SYS_pidfd_open, pid, 0)); }

struct Preparation {
  int parent;
  int log, null, lock;
  cpu_set_t cores;
  bool pin;
};

// What this process has, ended by a null.
std::vector<char*> environment_without_token() {
  const std::string mine = fmt::format("{}=", kTokenName);
  std::vector<char*> variables;
  for (char** at = ::environ; *at != nullptr; ++at) {
    if (!std::string_view(*at).starts_with(mine)) variables.push_back(*at);
  }
  variables.push_back(nullptr);
  return variables;
}

// In the child, between fork and exec: only what is safe there.
[[noreturn]] void become_worker(const Preparation& preparation, char* const* arguments,
                                char* const* environment) {
  ::setpgid(0, 0);
  ::prctl(PR_SET_PDEATHSIG, SIGKILL);
  if (::getppid() != preparation.parent) ::_exit(1);
  sigset_t none;
  ::sigemptyset(&none);
  ::sigprocmask(SIG_SETMASK, &none, nullptr);
  ::dup2(preparation.null, 0);
  ::dup2(preparation.log, 1);
  ::dup2(preparation.log, 2);
  ::close_range(3, ~0u, CLOSE_RANGE_CLOEXEC);
  if (preparation.lock >= 0) ::fcntl(preparation.lock, F_SETFD, 0);
  // Of these it gets what its control group has.
  if (preparation.pin) ::sched_setaffinity(0, sizeof preparation.cores, &preparation.cores);
  ::execve(arguments[0], arguments, environment);
  ::_exit(127);
}

// Returns when the process has ended; false if that took longer than the time, negative: any.
bool wait_for_end(int descriptor, int timeout_ms) {
  pollfd ended{descriptor, POLLIN, 0};
  int ready = 0;
  do {
    ready = ::poll(&ended, 1, timeout_ms);
  } while (ready < 0 && errno == EINTR);
  CHECK(ready >= 0, "a process that cannot be waited for");
  return ready > 0;
}

bool is_at_fault(int status) {
  if (WIFEXITED(status)) return WEXITSTATUS(status) != 0;
  const int signal = WTERMSIG(status);
  return signal != SIGKILL && signal != SIGTERM && signal != SIGINT;
}

// The same of a process that has ended and is not waited for yet.
bool ended_at_fault(int pid) {
  siginfo_t info = {};
  if (::waitid(P_PID, static_cast<id_t>(pid), &info, WEXITED | WNOWAIT) != 0) return false;
  return is_at_fault(info.si_code == CLD_EXITED ? W_EXITCODE(info.si_status, 0) : info.si_status);
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

WorkerEnd LocalWorkers::kill(jobs::WorkerId worker) {
  const std::lock_guard lock(mutex_);
  // Ended, and so has all that it started.
  if (at_fault_.erase(worker) != 0) return WorkerEnd::ByItsOwnFault;
  const auto found = adopted_.find(worker);
  if (found == adopted_.end()) return WorkerEnd::Killed;
  const int pid = found->second;
  adopted_.erase(found);
  Child& child = children_.at(pid);
  ::kill(-pid, SIGKILL);
  if (!wait_for_end(child.descriptor, kSlowKillMs)) {
    if (options_.note) {
      options_.note(
          fmt::format("worker {} (process {}) was killed and does not end; all wait until it has",
                      child.number, pid));
    }
    wait_for_end(child.descriptor, -1);
  }
  const bool at_fault = ended_at_fault(pid);
  child.killed = !at_fault;
  return at_fault ? WorkerEnd::ByItsOwnFault : WorkerEnd::Killed;
}

void LocalWorkers::set_extra(int extra) {
  const std::lock_guard lock(mutex_);
  if (extra_ == extra || stopping_) return;
  extra_ = extra;
  ::eventfd_write(wake_, 1);
}

int LocalWorkers::free_number() const {
  for (int number = 0;; ++number) {
    const bool taken = std::any_of(children_.begin(), children_.end(), [&](const auto& child) {
      return child.second.number == number;
    });
    if (!taken) return number;
  }
}

bool LocalWorkers::spawn(double now) {
  const int number = free_number();
  const std::string log = fmt::format("{}/worker-{}.log", options_.log_folder, number);
  Preparation preparation{};
  preparation.parent = ::getpid();
  preparation.lock = options_.lock_descriptor;
  preparation.log = ::open(log.c_str(), O_WRONLY | O_CREAT | O_APPEND | O_CLOEXEC, 0600);
  preparation.null = ::open("/dev/null", O_RDONLY | O_CLOEXEC);
  CPU_ZERO(&preparation.cores);
  for (const int core : options_.cores) CPU_SET(static_cast<std::size_t>(core), &preparation.cores);
  preparation.pin = !options_.cores.empty();
  std::vector<char*> arguments;
  for (std::string& word : options_.command) arguments.push_back(word.data());
  arguments.push_back(nullptr);
  const std::string token = wire::random_secret();
  std::string variable = fmt::format("{}={}", kTokenName, token);
  std::vector<char*> environment = environment_without_token();
  environment.insert(environment.begin(), variable.data());
  const int pid = ::fork();
  if (pid == 0) become_worker(preparation, arguments.data(), environment.data());
  if (preparation.log >= 0) ::close(preparation.log);
  if (preparation.null >= 0) ::close(preparation.null);
  if (pid < 0) return false;
  ::setpgid(pid, pid);  // here too, so that it is done before anybody kills the group
  const int descriptor = open_process(pid);
  if (descriptor < 0) {  // too many files: its end could not be seen
    ::kill(-pid, SIGKILL);
    ::waitpid(pid, nullptr, 0);
    return false;
  }
  children_[pid] = {.descriptor = descriptor, .number = number, .started_at = now, .token = token};
  return true;
}

void LocalWorkers::spawn_missing(double now) {
  const auto wanted = static_cast<std::size_t>(options_.count + extra_);
  while (!stopping_ && children_.size() < wanted && now >= next_spawn_at_) {
    if (!spawn(now)) next_spawn_at_ = now + kLongestDelay;
  }
}

void LocalWorkers::reap(int pid, double now) {
  const Child child = children_.at(pid);
  ::kill(-pid, SIGKILL);  // what it started; the group lasts until the process is waited for
  int status = 0;
  ::waitpid(pid, &status, 0);
  ::close(child.descriptor);
  children_.erase(pid);
  for (auto adopted = adopted_.begin(); adopted != adopted_.end();) {
    const auto next = std::next(adopted);
    if (adopted->second == pid) {
      if (is_at_fault(status)) at_fault_.insert(adopted->first);
      adopted_.erase(adopted);
    }
    adopted = next;
  }
  if (options_.ended) options_.ended();
  if (child.killed || stopping_) return;
  const bool quick = now - child.started_at < options_.quick_seconds;
  quick_ends_ = quick ? quick_ends_ + 1 : 0;
  if (!quick) return;
  const bool by_hand = WIFSIGNALED(status) && WTERMSIG(status) == SIGKILL;
  const double delay =
      by_hand ? kFirstDelay
              : std::min(kLongestDelay, kFirstDelay * std::pow(2.0, std::min(quick_ends_ - 1, 10)));
  next_spawn_at_ = std::max(next_spawn_at_, now + delay);
  if (by_hand || !options_.note) return;
  options_.note(
      fmt::format("worker {} ended after {:.1f} s ({}), the next starts in {:.1f} s; "
                  "{}/worker-{}.log says more",
                  child.number, now - child.started_at, end_in_words(status), delay,
                  options_.log_folder, child.number));
}

void LocalWorkers::run() {
  while (true) {
    std::vector<pollfd> waiting{{wake_, POLLIN, 0}};
    std::vector<int> pids;
    int timeout_ms = -1;
    {
      const std::lock_guard lock(mutex_);
      const double now = steady_seconds();
      if (stopping_) {
        for (const auto& [pid, child] : children_) ::kill(-pid, SIGKILL);
        while (!children_.empty()) reap(children_.begin()->first, now);
        return;
      }
      spawn_missing(now);
      if (children_.size() < static_cast<std::size_t>(options_.count + extra_)) {
        timeout_ms = static_cast<int>(std::ceil(std::max(0.0, next_spawn_at_ - now) * 1000)) + 1;
      }
      for (const auto& [pid, child] : children_) {
        waiting.push_back({child.descriptor, POLLIN, 0});
        pids.push_back(pid);
      }
    }
    ::poll(waiting.data(), waiting.size(), timeout_ms);
    eventfd_t ignored = 0;
    ::eventfd_read(wake_, &ignored);
    const std::lock_guard lock(mutex_);
    for (std::size_t i = 0; i < pids.size(); ++i) {
      if (waiting[i + 1].revents != 0) reap(pids[i], steady_seconds());
    }
  }
}

}  // namespace attune::server
