// What one user may take of a scheduler that is another's, in one table: connections, calls, bytes,
// descriptors, jobs and devices. Whoever lets others make more of something adds its line, which
// docs/security.md shows as it stands here. The scheduler's own user has none of these limits.
#pragma once

#include <cstddef>
#include <cstdint>
#include <string>
#include <vector>

namespace attune::jobs {

// So many at once, and so many a second from then on.
struct RateOfAUser {
  double at_once = 0;
  double a_second = 0;
};

// ---- connections and calls
inline constexpr std::size_t kUsersAtOnce = 256;  // of all: those without a connection give way
inline constexpr std::size_t kConnectionsOfAUser = 256;
inline constexpr RateOfAUser kConnectionRate{.at_once = 256, .a_second = 64};
inline constexpr int kCallsOfAConnection = 64;
inline constexpr int kCallsOfAUser = 256;
inline constexpr RateOfAUser kCallRate{.at_once = 512, .a_second = 256};
// A call whose answer is longer counts as several.
inline constexpr std::size_t kAnswerOfOneCall = std::size_t{4} << 10;
inline constexpr double kShareOfCalls = 0.05;  // of the loop's time: more counts as more calls
inline constexpr std::size_t kReceivedBytesOfAUser = std::size_t{64} << 20;
// ---- what lasts: workers, those who watch, files on their way
inline constexpr int kStreamsOfAUser = 64;
inline constexpr int kWatchersOfAUser = 16;
inline constexpr double kShareOfWatchers = 0.02;  // of the loop's time
inline constexpr RateOfAUser kMessageRate{.at_once = 4096, .a_second = 1024};
inline constexpr std::uint64_t kBytesOfAnUpload = std::uint64_t{4} << 30;
inline constexpr std::size_t kFilesOfAnUpload = 1000;
inline constexpr std::size_t kUploadsOfAUser = 4;    // that no job has
inline constexpr std::size_t kUploadsOfOthers = 64;  // of all users but the scheduler's
// ---- jobs
inline constexpr std::size_t kOpenJobsOfAUser = 1000;
inline constexpr std::size_t kOpenJobsOfOthers = 10'000;
inline constexpr std::uint64_t kDescribedBytesOfAUser = std::uint64_t{32} << 20;
inline constexpr std::uint64_t kDescribedBytesOfOthers = std::uint64_t{256} << 20;
inline constexpr std::uint64_t kReportBytesOfAUser = std::uint64_t{64} << 20;
inline constexpr std::uint64_t kFileBytesOfAUser = std::uint64_t{16} << 30;
inline constexpr double kMostPriority = 10;
inline constexpr int kMostPrefetch = 16;
inline constexpr double kMostBudgetSeconds = 7 * 86400.0;
// A stage may hold what it runs on for its job's --seconds, and for this where those are fewer.
inline constexpr double kLeastStageSeconds = 3600;
// ---- jobs that a tuner brings
inline constexpr std::size_t kTunedJobsOfAUser = 32;
inline constexpr std::size_t kTunedSpecBytes = std::size_t{16} << 10;
inline constexpr int kTunedKinds = 100;
inline constexpr std::size_t kTunedOpenStages = 64;
inline constexpr std::size_t kTunedStages = 100'000;

// The lines of the table, in words.
struct UserLimit {
  std::string what;
  std::string most;
};
std::vector<UserLimit> user_limits();

}  // namespace attune::jobs
