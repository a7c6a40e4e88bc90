// What programs that compute on threads of the host ask the system for: memory, waiting for each
// other, time. The threads are started before; a kind of target whose driver starts some, or talks
// to a device, has a list of its own.
#pragma once

#include <csignal>

#include "base/cage/cage.h"

namespace attune {

inline constexpr CallRule kHostCalls[] = {
    // first those that are frequent
    {.name = "futex"},
    {.name = "sched_yield"},
    {.name = "clock_gettime"},
    {.name = "clock_getres"},
    {.name = "gettimeofday"},
    {.name = "getcpu"},
    {.name = "mmap"},
    {.name = "munmap"},
    {.name = "mprotect"},
    {.name = "mremap"},
    {.name = "madvise"},
    {.name = "brk"},
    {.name = "membarrier"},
    {.name = "getrandom"},
    {.name = "nanosleep"},
    {.name = "clock_nanosleep"},
    {.name = "restart_syscall"},
    // files that are open: all of them are nothing, or a line to the process that watches
    {.name = "read"},
    {.name = "write"},
    {.name = "writev"},
    {.name = "lseek"},
    {.name = "fstat"},
    {.name = "close"},
    {.name = "ioctl", .answer = CallAnswer::Refuse},  // asks whether a file is a terminal
    // the end, its own included
    {.name = "exit"},
    {.name = "exit_group"},
    {.name = "rt_sigreturn"},
    {.name = "rt_sigprocmask"},
    {.name = "sigaltstack"},
    {.name = "getpid"},
    {.name = "gettid"},
    {.name = "tgkill",
     .first = {ArgumentIs::ThisProcess, 0, 0},
     .second = {ArgumentIs::Value, 2, SIGABRT}},
    {.name = "sched_getaffinity"},
};

}  // namespace attune
