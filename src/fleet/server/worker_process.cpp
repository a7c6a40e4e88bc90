#include "fleet/server/worker_process.h"

#include <fcntl.h>
#include <linux/close_range.h>
#include <signal.h>
#include <sys/prctl.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <string_view>
#include <utility>

#include "base/cage/cage.h"

namespace attune::server {
namespace {

constexpr std::string_view kTakenFirst = "500";  // of 1000: as if half of the memory were its own

// What this process has, less any value of the variable, and then that; ended by a null.
std::vector<char*> environment_with(std::string& variable) {
  const std::string_view name = std::string_view(variable).substr(0, variable.find('=') + 1);
  std::vector<char*> variables{variable.data()};
  for (char** at = ::environ; *at != nullptr; ++at) {
    if (!std::string_view(*at).starts_with(name)) variables.push_back(*at);
  }
  variables.push_back(nullptr);
  return variables;
}

}  // namespace

PreparedWorker::PreparedWorker(WorkerSpec spec)
    : spec_(std::move(spec)),
      log_(::open(spec_.log.c_str(), O_WRONLY | O_CREAT | O_APPEND | O_CLOEXEC, 0600)),
      null_(::open("/dev/null", O_RDONLY | O_CLOEXEC)) {
  for (std::string& word : spec_.command) arguments_.push_back(word.data());
  arguments_.push_back(nullptr);
  CPU_ZERO(&cores_);
  for (const int core : spec_.cores) CPU_SET(static_cast<std::size_t>(core), &cores_);
}

// In the child, between fork and exec: only what is safe there.
void PreparedWorker::become_worker(int parent, char* const* environment) {
  ::setpgid(0, 0);
  ::prctl(PR_SET_PDEATHSIG, SIGKILL);
  if (::getppid() != parent) ::_exit(1);
  sigset_t none;
  ::sigemptyset(&none);
  ::sigprocmask(SIG_SETMASK, &none, nullptr);
  if (const int file = ::open("/proc/self/oom_score_adj", O_WRONLY | O_CLOEXEC); file >= 0) {
    (void)!::write(file, kTakenFirst.data(), kTakenFirst.size());
  }
  ::dup2(null_.number(), 0);
  ::dup2(log_.number(), 1);
  ::dup2(log_.number(), 2);
  ::close_range(3, ~0u, CLOSE_RANGE_CLOEXEC);
  if (spec_.lock_descriptor >= 0) ::fcntl(spec_.lock_descriptor, F_SETFD, 0);
  // Of these it gets what its control group has.
  if (!spec_.cores.empty()) ::sched_setaffinity(0, sizeof cores_, &cores_);
  ::execve(arguments_[0], arguments_.data(), environment);
  ::_exit(127);
}

std::optional<WorkerProcess> PreparedWorker::start() {
  const std::vector<char*> environment = environment_with(spec_.variable);
  const int parent = ::getpid();
  const int pid = ::fork();
  if (pid == 0) become_worker(parent, environment.data());
  if (pid < 0) return std::nullopt;
  ::setpgid(pid, pid);  // here too, so that it is done before anybody kills the group
  const int descriptor = static_cast<int>(::syscall(SYS_pidfd_open, pid, 0));
  if (descriptor >= 0) return WorkerProcess{pid, descriptor};
  ::kill(-pid, SIGKILL);  // too many files: its end could not be seen
  constexpr double kPatienceMs = 1000;
  (void)await_exit(pid, kPatienceMs);
  return std::nullopt;
}

}  // namespace attune::server
