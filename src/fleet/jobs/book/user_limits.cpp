#include "fleet/jobs/book/user_limits.h"

#include <fmt/format.h>

namespace attune::jobs {
namespace {

std::string number(std::uint64_t value) {
  std::string digits = fmt::format("{}", value);
  for (std::size_t at = digits.size(); at > 3; digits.insert(at -= 3, ",")) {
  }
  return digits;
}

std::string bytes(std::uint64_t value) {
  if (value % (std::uint64_t{1} << 30) == 0) return fmt::format("{} GiB", value >> 30);
  if (value % (std::uint64_t{1} << 20) == 0) return fmt::format("{} MiB", value >> 20);
  return fmt::format("{} KiB", value >> 10);
}

std::string rate(const RateOfAUser& rate) {
  return fmt::format("{} at once, then {} a second",
                     number(static_cast<std::uint64_t>(rate.at_once)),
                     number(static_cast<std::uint64_t>(rate.a_second)));
}

}  // namespace

std::vector<UserLimit> user_limits() {
  return {
      {"users who are connected, all together", number(kUsersAtOnce)},
      {"connections", number(kConnectionsOfAUser)},
      {"connections that are made", rate(kConnectionRate)},
      {"calls under way on one connection", number(kCallsOfAConnection)},
      {"calls under way on all of them", number(kCallsOfAUser)},
      {"calls that are made", rate(kCallRate)},
      {"bytes of an answer that count as one call", bytes(kAnswerOfOneCall)},
      {"time of the scheduler for calls", fmt::format("{:g} %", 100 * kShareOfCalls)},
      {"bytes of messages that are being received", bytes(kReceivedBytesOfAUser)},
      {"streams: tuners, watching, files on their way", number(kStreamsOfAUser)},
      {"streams that watch", number(kWatchersOfAUser)},
      {"time of the scheduler for those that watch", fmt::format("{:g} %", 100 * kShareOfWatchers)},
      {"messages of tuners", rate(kMessageRate)},
      {"bytes of one upload", bytes(kBytesOfAnUpload)},
      {"files of one upload", number(kFilesOfAnUpload)},
      {"uploads that wait for their jobs", number(kUploadsOfAUser)},
      {"uploads that wait for their jobs, of all such users", number(kUploadsOfOthers)},
      {"jobs that have not ended", number(kOpenJobsOfAUser)},
      {"jobs that have not ended, of all such users", number(kOpenJobsOfOthers)},
      {"descriptions of all jobs that are remembered", bytes(kDescribedBytesOfAUser)},
      {"descriptions of the jobs of all such users", bytes(kDescribedBytesOfOthers)},
      {"reports of all jobs that are remembered", bytes(kReportBytesOfAUser)},
      {"files of jobs that have not ended", bytes(kFileBytesOfAUser)},
      {"priority of a job", fmt::format("{:g}", kMostPriority)},
      {"batches of a job in flight", number(kMostPrefetch)},
      {"budget of a job", fmt::format("{:g} days", kMostBudgetSeconds / 86400)},
      {"time for which a stage holds a device",
       fmt::format("{} s, or its job's --seconds",
                   number(static_cast<std::uint64_t>(kLeastStageSeconds)))},
      {"jobs that tuners have at once", number(kTunedJobsOfAUser)},
      {"description of a job that a tuner brings", bytes(kTunedSpecBytes)},
      {"kinds of its stages", number(kTunedKinds)},
      {"stages that it offers at once", number(kTunedOpenStages)},
      {"stages that it has in all", number(kTunedStages)},
  };
}

}  // namespace attune::jobs
