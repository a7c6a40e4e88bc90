// Options about schedulers: --state, which one a command speaks to, lists of cores, and for how
// long one remembers.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "app/cli/command_line.h"
#include "app/cli/console.h"
#include "app/verbs/jobs/jobs.h"
#include "app/verbs/jobs/scheduler.h"

namespace attune::cli {

class SchedulerArguments {
 public:
  explicit SchedulerArguments(CommandLine& line);
  // Tells the user when no scheduler answers.
  verbs::SchedulerOptions take(Console& console) const;

 private:
  std::string state_;
};

// "0,2-3" as the cores it means, in this order; empty for an empty text. `option` is named in the
// message about a wrong one.
Result<std::vector<int>> parse_cores(std::string_view option, const std::string& text);

// --keep-days and its kin.
class RetentionArguments {
 public:
  explicit RetentionArguments(CommandLine& line);
  Result<jobs::Retention> take() const;

 private:
  std::optional<double> days_;
  std::optional<std::int64_t> jobs_, stages_;
  std::string size_, log_size_;
};

// "20G", "512M", "64K" or a number of bytes; from 1 byte to 1024T. `option` is named in the message
// about another text.
Result<std::uint64_t> parse_size(std::string_view option, const std::string& text);

}  // namespace attune::cli
