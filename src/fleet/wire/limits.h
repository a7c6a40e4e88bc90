// How large messages may be, in one place, for everybody alike. All that is said fits into one
// message: files and lists of jobs go in parts, and what a job says of itself is bounded, so that
// no part is too large for its message.
#pragma once

#include <cstddef>

namespace attune::wire {

// How often the other end may be asked whether it is there, without anything else to say.
inline constexpr int kLeastPingMs = 1000;

inline constexpr std::size_t kLargestMessage = std::size_t{4} << 20;

inline constexpr std::size_t kFilePartBytes = std::size_t{1} << 20;
// A part of a list ends with the job that makes it larger than this; so do its bars.
inline constexpr std::size_t kListPartBytes = std::size_t{512} << 10;

inline constexpr std::size_t kLargestSpec = std::size_t{512} << 10;  // what a job asks for
inline constexpr std::size_t kLargestReport = std::size_t{1} << 20;  // of a job that ended
inline constexpr std::size_t kLongestText = std::size_t{4} << 10;    // a reason, a key
inline constexpr std::size_t kLongestName = 200;                     // of a kind or a device
inline constexpr std::size_t kLongestSecret = 128;                   // of a worker
inline constexpr int kMostKinds = 1000;                              // of stages of one job
inline constexpr int kMostDevices = 100;                             // of one worker
inline constexpr int kMostHolds = 1000;  // that one worker comes back with
// What a worker says, but for the end of a job with its report.
inline constexpr std::size_t kLargestSaid = std::size_t{2} << 20;

// The largest job, with its kinds of stages, and the bars of its stages.
inline constexpr std::size_t kLargestKind = 2 * kLongestName + 64;
static_assert(kLargestSpec + kLargestReport + 2 * kLongestText + kMostKinds * kLargestKind +
                  2 * kListPartBytes <
              kLargestMessage);

}  // namespace attune::wire
