// What a process that runs models on a CUDA card may ask the system for: what programs on the
// host's threads may, and what the driver does besides. It opens files of the system, talks to its
// devices by ioctl, starts threads and reserves far more addresses than there is memory, so that
// these are no limits here. Files may be opened to be written too: this cage is for code of ours
// and the driver's on the host, and only plans whose device is that of their target get it.
#pragma once

#include "base/cage/host_calls.h"

namespace attune::cuda {

// The first rule of a name counts: these stand before those of the host.
inline constexpr CallRule kDriverCalls[] = {
    {.name = "ioctl"},
    {.name = "openat"},
    {.name = "newfstatat"},
    {.name = "stat"},
    {.name = "statx"},
    {.name = "access"},
    {.name = "faccessat"},
    {.name = "readlink"},
    {.name = "readlinkat"},
    {.name = "getdents64"},
    {.name = "pread64"},
    {.name = "fcntl"},
    {.name = "dup"},
    {.name = "poll"},
    {.name = "ppoll"},
    {.name = "pipe2"},
    {.name = "eventfd2"},
    {.name = "memfd_create"},
    {.name = "ftruncate"},
    {.name = "mlock"},
    {.name = "munlock"},
    {.name = "mbind"},
    {.name = "set_mempolicy"},
    {.name = "get_mempolicy"},
    {.name = "sched_setaffinity"},
    {.name = "prlimit64", .first = {ArgumentIs::Value, 0, 0}},  // of this process
    {.name = "sysinfo"},
    {.name = "uname"},
    {.name = "getuid"},
    {.name = "geteuid"},
    {.name = "getgid"},
    {.name = "getegid"},
    {.name = "prctl"},
    {.name = "socket", .answer = CallAnswer::Refuse},
    {.name = "connect", .answer = CallAnswer::Refuse},
};

namespace cage_parts {

constexpr std::size_t kDriverCount = std::size(kDriverCalls), kHostCount = std::size(kHostCalls);

struct AllCalls {
  CallRule rules[kDriverCount + kHostCount];
};

constexpr AllCalls all_calls() {
  AllCalls all = {};
  for (std::size_t i = 0; i < kDriverCount; ++i) all.rules[i] = kDriverCalls[i];
  for (std::size_t i = 0; i < kHostCount; ++i) all.rules[kDriverCount + i] = kHostCalls[i];
  return all;
}

inline constexpr AllCalls kAll = all_calls();

}  // namespace cage_parts

inline constexpr CageRules kCage{
    .calls = cage_parts::kAll.rules, .starts_threads = true, .limits_memory = false};

}  // namespace attune::cuda
