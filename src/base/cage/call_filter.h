// Which system calls a process may still make, as rules in words and as the program that the kernel
// runs before each call (seccomp(2), classic BPF). Everything that no rule names is trapped: it
// does not happen, and the process gets SIGSYS, whose handler can say what was called.
#pragma once

#include <linux/filter.h>
#include <sys/types.h>

#include <cstdint>
#include <span>
#include <string_view>
#include <vector>

#include "base/result.h"

namespace attune {

enum class CallAnswer : std::uint8_t {
  Allow,
  Refuse,  // fails as forbidden (EPERM), and the process goes on
  Absent,  // fails as unknown (ENOSYS), so that the caller takes an older way
};

enum class ArgumentIs : std::uint8_t {
  Anything,
  Value,        // equal to it
  WithBits,     // has all of its bits
  ThisProcess,  // the number of the process
};

struct ArgumentCheck {
  ArgumentIs is = ArgumentIs::Anything;
  int argument = 0;
  std::uint64_t value = 0;
};

// A call whose arguments fail a check is trapped like one without a rule.
struct CallRule {
  std::string_view name;
  CallAnswer answer = CallAnswer::Allow;
  ArgumentCheck first = {};
  ArgumentCheck second = {};
};

// The program for `process`. The first rule of a name counts; calls that this architecture lacks
// are left out.
std::vector<sock_filter> filter_program(std::span<const CallRule> rules, pid_t process);

// Whether the kernel can filter system calls here.
bool can_filter_calls();
// For all threads of this process, for good, and all that it may start.
Status install_filter(std::vector<sock_filter> program);

}  // namespace attune
