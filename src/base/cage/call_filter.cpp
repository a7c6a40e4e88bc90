#include "base/cage/call_filter.h"

#include <linux/audit.h>
#include <linux/seccomp.h>
#include <sys/prctl.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <cerrno>
#include <cstddef>
#include <cstring>

#include "base/cage/system_calls.h"

namespace attune {
namespace {

#if defined(__x86_64__)
constexpr std::uint32_t kArchitecture = AUDIT_ARCH_X86_64;
#elif defined(__aarch64__)
constexpr std::uint32_t kArchitecture = AUDIT_ARCH_AARCH64;
#elif defined(__riscv)
constexpr std::uint32_t kArchitecture = AUDIT_ARCH_RISCV64;
#endif

using Program = std::vector<sock_filter>;

sock_filter load(std::size_t offset) {
  return BPF_STMT(BPF_LD | BPF_W | BPF_ABS, static_cast<std::uint32_t>(offset));
}
sock_filter answer(std::uint32_t value) { return BPF_STMT(BPF_RET | BPF_K, value); }
// Goes on with the next one where they are equal, else skips so many.
sock_filter unless_equal(std::uint32_t value, std::size_t skip) {
  return BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, value, 0, static_cast<std::uint8_t>(skip));
}

std::uint32_t action_of(CallAnswer what) {
  switch (what) {
    case CallAnswer::Allow:
      return SECCOMP_RET_ALLOW;
    case CallAnswer::Refuse:
      return SECCOMP_RET_ERRNO | EPERM;
    case CallAnswer::Absent:
      return SECCOMP_RET_ERRNO | ENOSYS;
  }
  return SECCOMP_RET_TRAP;
}

// Half of an argument: the machines that we run on have the low one first.
std::size_t half_of(int argument, bool high) {
  return offsetof(seccomp_data, args) +
         static_cast<std::size_t>(argument) * sizeof(seccomp_data::args[0]) + (high ? 4 : 0);
}

// What must hold of one half, as instructions that lack only where to go when it does not.
struct HalfCheck {
  int argument = 0;
  bool high = false;
  std::uint32_t mask = ~0u;
  std::uint32_t value = 0;
};

void add_check(const ArgumentCheck& check, pid_t process, std::vector<HalfCheck>& halves) {
  if (check.is == ArgumentIs::Anything) return;
  const std::uint64_t value =
      check.is == ArgumentIs::ThisProcess ? static_cast<std::uint64_t>(process) : check.value;
  for (const bool high : {false, true}) {
    const auto half = static_cast<std::uint32_t>(high ? value >> 32 : value);
    const std::uint32_t mask = check.is == ArgumentIs::WithBits ? half : ~0u;
    if (mask != 0) halves.push_back({check.argument, high, mask, half});
  }
}

// The rule as instructions that are skipped for other calls, and end with an answer for its own.
Program block_of(const CallRule& rule, pid_t process) {
  std::vector<HalfCheck> halves;
  add_check(rule.first, process, halves);
  add_check(rule.second, process, halves);
  constexpr std::size_t kPerHalf = 3;
  Program block;
  for (std::size_t i = 0; i < halves.size(); ++i) {
    const std::size_t to_trap = (halves.size() - i - 1) * kPerHalf + 1;
    block.push_back(load(half_of(halves[i].argument, halves[i].high)));
    block.push_back(BPF_STMT(BPF_ALU | BPF_AND | BPF_K, halves[i].mask));
    block.push_back(unless_equal(halves[i].value, to_trap));
  }
  block.push_back(answer(action_of(rule.answer)));
  if (!halves.empty()) block.push_back(answer(SECCOMP_RET_TRAP));
  return block;
}

}  // namespace

Program filter_program(std::span<const CallRule> rules, pid_t process) {
  Program program;
  program.push_back(load(offsetof(seccomp_data, arch)));
  program.push_back(unless_equal(kArchitecture, 1));
  program.push_back(BPF_STMT(BPF_JMP | BPF_JA, 1));
  program.push_back(answer(SECCOMP_RET_KILL_PROCESS));  // calls by the numbers of another one
  program.push_back(load(offsetof(seccomp_data, nr)));
  for (const CallRule& rule : rules) {
    const std::optional<long> number = call_number(rule.name);
    if (!number) continue;
    const Program block = block_of(rule, process);
    program.push_back(unless_equal(static_cast<std::uint32_t>(*number), block.size()));
    program.insert(program.end(), block.begin(), block.end());
  }
  program.push_back(answer(SECCOMP_RET_TRAP));
  return program;
}

bool can_filter_calls() {
#if defined(__SANITIZE_ADDRESS__) || defined(__SANITIZE_THREAD__)
  return false;  // these make calls of their own at any time
#else
  const std::uint32_t action = SECCOMP_RET_TRAP;
  return ::syscall(SYS_seccomp, SECCOMP_GET_ACTION_AVAIL, 0, &action) == 0;
#endif
}

Status install_filter(Program program) {
  sock_fprog described{static_cast<unsigned short>(program.size()), program.data()};
  const long refused =
      ::syscall(SYS_seccomp, SECCOMP_SET_MODE_FILTER, SECCOMP_FILTER_FLAG_TSYNC, &described);
  if (refused == 0) return {};
  const std::string why = refused > 0 ? "a thread has a filter of its own" : std::strerror(errno);
  return Error{ErrorCode::Unsupported, "cannot filter system calls: " + why,
               "see what attune doctor says of the cage"};
}

}  // namespace attune
