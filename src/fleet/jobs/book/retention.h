// For how long a scheduler remembers: jobs that have ended, their folders and the stages that ran
// are forgotten when they are too old, too many or take too much of the disk, the oldest first.
#pragma once

#include <cstddef>
#include <cstdint>
#include <string>
#include <vector>

namespace attune::jobs {

struct Retention {
  double seconds = 30 * 86400.0;                      // jobs that ended longer ago, and stages
  std::size_t jobs = 10'000;                          // ended ones
  std::uint64_t bytes = std::uint64_t{20} << 30;      // of them and their folders, together
  std::int64_t stages = 1'000'000;                    // that ran, of all jobs
  std::uint64_t log_bytes = std::uint64_t{10} << 20;  // of the log of one worker
};

struct EndedJob {
  std::string id = {};
  double ended_at = 0;
  std::uint64_t bytes = 0;  // that it takes in all
  std::uint32_t uid = 0;    // whose it is
};

// Which of them are to be forgotten now, the oldest first. Where there are too many, or they take
// too much, they are jobs of whoever has the most of that: nobody's push out those of others.
std::vector<std::string> overdue(std::vector<EndedJob> jobs, const Retention& retention,
                                 double now);

}  // namespace attune::jobs
