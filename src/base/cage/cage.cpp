#include "base/cage/cage.h"

#include <fcntl.h>
#include <fmt/format.h>
#include <linux/capability.h>
#include <malloc.h>
#include <poll.h>
#include <sched.h>
#include <signal.h>
#include <stdio.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cstdlib>

#include "base/cage/control_group.h"
#include "base/clock.h"

namespace attune {
namespace {

constexpr CallRule kThreads[] = {
    {.name = "clone", .first = {ArgumentIs::WithBits, 0, CLONE_VM | CLONE_SIGHAND | CLONE_THREAD}},
    {.name = "clone3", .answer = CallAnswer::Absent},  // its flags cannot be looked at
    // Once, by the library, for the signal that changes the user of all threads.
    {.name = "rt_sigaction", .first = {ArgumentIs::Value, 0, __SIGRTMIN + 1}},
    {.name = "rseq"},
    {.name = "set_robust_list"},
};

// Cannot be raised again without root's rights.
void set_limit(int what, std::uint64_t most) {
  rlimit limit = {};
  if (::getrlimit(static_cast<__rlimit_resource>(what), &limit) != 0) return;
  limit.rlim_max = std::min<rlim_t>(limit.rlim_max, most);
  limit.rlim_cur = std::min(limit.rlim_cur, limit.rlim_max);
  (void)::setrlimit(static_cast<__rlimit_resource>(what), &limit);
}

void set_limits(const CageRules& rules, const CageOptions& options) {
  set_limit(RLIMIT_CORE, 0);
  // For last words on standard error, which is a file in memory.
  constexpr std::uint64_t kMostFileBytes = 64 * 1024;
  set_limit(RLIMIT_FSIZE, kMostFileBytes);
  (void)::signal(SIGXFSZ, SIG_IGN);
  set_limit(RLIMIT_MSGQUEUE, 0);
  set_limit(RLIMIT_MEMLOCK, 0);
  if (!rules.starts_threads) set_limit(RLIMIT_NPROC, 0);
  if (rules.limits_memory && options.memory_bytes >= 0) limit_memory(options.memory_bytes);
}

// A descriptor that becomes readable when the process ends; -1 where there are none.
int watch_process(pid_t process) { return static_cast<int>(::syscall(SYS_pidfd_open, process, 0)); }

bool can_seal_memory() {
  const int memory = ::memfd_create("attune-seal", MFD_CLOEXEC | MFD_ALLOW_SEALING);
  if (memory < 0) return false;
  const bool sealed = ::fcntl(memory, F_ADD_SEALS, F_SEAL_SHRINK | F_SEAL_GROW | F_SEAL_SEAL) == 0;
  ::close(memory);
  return sealed;
}

// The status of a child that has ended. What it leaves behind in its group ends with it, while the
// number of the group is still taken.
std::optional<int> reap(pid_t child) {
  siginfo_t ended = {};
  const auto number = static_cast<id_t>(child);
  while (::waitid(P_PID, number, &ended, WEXITED | WNOHANG | WNOWAIT) != 0) {
    if (errno != EINTR) return 0;  // somebody else has waited for it
  }
  if (ended.si_pid != child) return std::nullopt;
  (void)::kill(-child, SIGKILL);
  int status = 0;
  while (::waitpid(child, &status, 0) < 0 && errno == EINTR) {
  }
  return status;
}

std::vector<pid_t> children_here() {
  std::vector<pid_t> children;
  const std::string path = "/proc/self/task/" + std::to_string(::gettid()) + "/children";
  if (FILE* file = ::fopen(path.c_str(), "re")) {
    for (int number = 0; ::fscanf(file, "%d", &number) == 1;) children.push_back(number);
    ::fclose(file);
  }
  return children;
}

}  // namespace

void begin_own_group(pid_t parent) {
  (void)::setsid();
  (void)::prctl(PR_SET_PDEATHSIG, SIGKILL);
  if (::getppid() != parent) ::_exit(1);  // it ended before
}

void give_up_privileges() {
  (void)::prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0);
  __user_cap_header_struct header = {_LINUX_CAPABILITY_VERSION_3, 0};
  __user_cap_data_struct none[_LINUX_CAPABILITY_U32S_3] = {};
  (void)::syscall(SYS_capset, &header, none);
}

Status enter_cage(const CageRules& rules, const CageOptions& options) {
  give_up_privileges();
  set_limits(rules, options);
  if (!can_filter_calls()) return {};
  // Where memory of a thread goes back to the system, glibc opens /proc/sys/vm/overcommit_memory
  // first.
  (void)::mallopt(M_TRIM_THRESHOLD, -1);
  std::vector<CallRule> all(rules.calls.begin(), rules.calls.end());
  all.insert(all.end(), options.own_calls.begin(), options.own_calls.end());
  if (rules.starts_threads) all.insert(all.end(), std::begin(kThreads), std::end(kThreads));
  return install_filter(filter_program(all, ::getpid()));
}

std::vector<std::string> missing_cage_parts() {
  std::vector<std::string> missing;
  if (!can_filter_calls()) missing.emplace_back("system calls are not filtered (no seccomp)");
  if (!can_seal_memory()) missing.emplace_back("shared memory is not sealed (no memfd seals)");
  const int self = watch_process(::getpid());
  if (self < 0) missing.emplace_back("processes are waited for by looking (no pidfd_open)");
  if (self >= 0) ::close(self);
  if (!address_space_bytes()) missing.emplace_back("memory is not limited (no /proc)");
  if (const auto group = ControlGroup::make(); !group.ok()) {
    missing.push_back(fmt::format("limits are of single processes (no control group: {})",
                                  group.error().message));
  }
  return missing;
}

void limit_memory(std::int64_t bytes) {
  // Stacks and arenas of threads are reserved, hardly used.
  constexpr std::int64_t kReserve = std::int64_t{4} << 30;
  if (!kCanLimitMemory) return;
  const std::optional<std::int64_t> used = address_space_bytes();
  const std::optional<std::int64_t> free = available_memory_bytes();
  if (!used || (bytes < 0 && !free)) return;
  set_limit(RLIMIT_AS, static_cast<std::uint64_t>(*used + (bytes < 0 ? *free + kReserve : bytes)));
}

std::optional<std::int64_t> available_memory_bytes() {
  FILE* file = ::fopen("/proc/meminfo", "re");
  if (file == nullptr) return std::nullopt;
  std::optional<std::int64_t> found;
  char line[256];
  long long kilobytes = 0;
  while (!found && ::fgets(line, sizeof line, file) != nullptr) {
    if (::sscanf(line, "MemAvailable: %lld kB", &kilobytes) == 1) found = kilobytes * 1024;
  }
  ::fclose(file);
  return found;
}

std::optional<std::int64_t> address_space_bytes() {
  const int statm = ::open("/proc/self/statm", O_RDONLY | O_CLOEXEC);
  if (statm < 0) return std::nullopt;
  const std::optional<std::int64_t> bytes = address_space_bytes(statm);
  ::close(statm);
  return bytes;
}

std::optional<std::int64_t> address_space_bytes(int statm) {
  char text[32] = {};
  if (::pread(statm, text, sizeof text - 1, 0) <= 0) return std::nullopt;
  return std::int64_t{std::strtoll(text, nullptr, 10)} * ::sysconf(_SC_PAGESIZE);
}

std::optional<int> await_exit(pid_t child, double milliseconds) {
  const SteadyClock clock;
  const std::int64_t start = clock.now_ns();
  const int watched = watch_process(child);
  std::optional<int> status = reap(child);
  while (!status) {
    const double left = milliseconds - seconds_between(start, clock.now_ns()) * 1e3;
    if (left <= 0) break;
    if (watched >= 0) {
      pollfd ended = {watched, POLLIN, 0};
      (void)::poll(&ended, 1, static_cast<int>(std::min(left, 1e6)) + 1);
    } else {
      const timespec moment = {0, 1'000'000};
      (void)::nanosleep(&moment, nullptr);
    }
    status = reap(child);
  }
  if (watched >= 0) ::close(watched);
  return status;
}

std::optional<int> end_group(pid_t leader) {
  constexpr double kPatienceMs = 10'000;
  (void)::kill(-leader, SIGKILL);
  (void)::kill(leader, SIGKILL);  // it may not lead a group yet
  return await_exit(leader, kPatienceMs);
}

void end_children_but(pid_t kept) {
  constexpr int kMostRounds = 100;  // what forks all the time is ended from its oldest on
  for (int round = 0; round < kMostRounds; ++round) {
    bool found = false;
    for (const pid_t child : children_here()) {
      if (child == kept) continue;
      found = true;
      (void)end_group(child);
    }
    if (!found) return;
  }
}

}  // namespace attune
