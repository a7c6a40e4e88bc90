// The cage of a process that is about to run foreign code: what it may still ask the system for,
// and how much it may take. A caged process cannot start others, open files, reach the network or
// signal anybody, and its limits cannot be raised. docs/security.md says what that promises.
#pragma once

#include <sys/types.h>

#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "base/cage/call_filter.h"
#include "base/result.h"

namespace attune {

#if defined(__SANITIZE_ADDRESS__) || defined(__SANITIZE_THREAD__)
inline constexpr bool kCanLimitMemory = false;  // their shadow memory is larger than any limit
#else
inline constexpr bool kCanLimitMemory = true;
#endif

// What code of one kind of target needs, as its folder says (src/targets/NAME/tuning).
struct CageRules {
  std::span<const CallRule> calls = {};
  bool starts_threads = false;  // while it runs, rather than before
  bool limits_memory = true;    // false: its driver reserves more addresses than there is memory
};

struct CageOptions {
  std::span<const CallRule> own_calls = {};  // of the process around the foreign code
  std::int64_t memory_bytes = -1;            // that it may take beyond what it has; negative: any
};

// In a process just forked: a session and group of its own, so that all of it can be ended at once,
// and that it ends with the thread that started it.
void begin_own_group(pid_t parent);

// No right comes back that this process gives up now: none of root's, none by set-user-id programs.
void give_up_privileges();

// For good, in all threads. An error where a part that this system has cannot be had; parts that it
// lacks are left out (missing_cage_parts).
Status enter_cage(const CageRules& rules, const CageOptions& options);

// What this system cannot do, a sentence each: "system calls are not filtered (no seccomp)".
std::vector<std::string> missing_cage_parts();

// This process and its children may take so many addresses beyond what it has, for good; negative:
// what the machine has free, so that others are not pushed out of its memory.
void limit_memory(std::int64_t bytes);

// Free on this machine, or soon free; nothing where the system does not say.
std::optional<std::int64_t> available_memory_bytes();

// Addresses that this process uses, in bytes; nothing where the system does not say. Inside of a
// cage by /proc/self/statm, opened before it closed.
std::optional<std::int64_t> address_space_bytes();
std::optional<std::int64_t> address_space_bytes(int statm);

// Ends a process and its group, and waits for that: its status, or nothing when it does not end,
// being stuck in the kernel.
std::optional<int> end_group(pid_t leader);
// Waits so long for a child to end, and what is left of its group with it: its status.
std::optional<int> await_exit(pid_t child, double milliseconds);
// Ends the children of this process but one, those included that it inherited (a subreaper does).
void end_children_but(pid_t kept);

}  // namespace attune
