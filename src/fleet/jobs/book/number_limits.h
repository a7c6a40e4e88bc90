// How large the numbers may be that a book hears, keeps, and finds again on the disk: one table for
// what comes in and for what is read back, so that whatever a book wrote the next one believes. A
// number that is counted or summed up stops at its limit.
#pragma once

#include <cstdint>

namespace attune::jobs {

inline constexpr double kLatestSecond = 1e12;  // a moment
inline constexpr double kMostAmount = 1e12;    // a latency in ms, the time of all stages of a job
inline constexpr double kMostSeconds = 1e7;    // of one stage; sums of such are exact to a fraction
inline constexpr double kMostStages = 1e7;     // that are to come
// Of jobs and epochs, which nobody reaches by counting.
inline constexpr std::int64_t kLastNumber = std::int64_t{1} << 60;
inline constexpr std::int64_t kMostStagesDone = std::int64_t{1} << 50;  // so that all kinds add up
inline constexpr int kMostStrikes = 1'000'000;
inline constexpr int kMostUnits = 10'000;    // of a pool, thus of one stage
inline constexpr int kLastUnit = 1'000'000;  // where a policy gives out more than there are

constexpr bool is_within(double value, double most) {
  return value >= 0 && value <= most;  // nor is a NaN
}

}  // namespace attune::jobs
