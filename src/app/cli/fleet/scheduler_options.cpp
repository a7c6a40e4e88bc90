#include "app/cli/fleet/scheduler_options.h"

#include <fmt/format.h>

#include <algorithm>
#include <charconv>

namespace attune::cli {

SchedulerArguments::SchedulerArguments(CommandLine& line) {
  line.text("--state", "DIR", state_,
            "the scheduler's directory (~/.local/share/attune/scheduler)");
}

verbs::SchedulerOptions SchedulerArguments::take(Console& console) const {
  verbs::SchedulerOptions options{.state = state_};
  options.waiting = [&console, seconds = options.patience_seconds](const std::string& state) {
    console.note(
        fmt::format("no scheduler answers in {}; waiting for {:g} seconds", state, seconds));
  };
  return options;
}

Result<std::vector<int>> parse_cores(std::string_view option, const std::string& text) {
  constexpr int kMost = 4095;
  const Error wrong = invalid(fmt::format("{} is '{}', which is no list of cores", option, text),
                              "write it as 0,2-3");
  std::vector<int> cores;
  for (std::size_t at = 0; at < text.size();) {
    const std::size_t end = std::min(text.find(',', at), text.size());
    const std::string part = text.substr(at, end - at);
    const std::size_t dash = std::min(part.find('-'), part.size());
    int first = -1, last = -1;
    const auto read = [](std::string_view digits, int& into) {
      const auto [stop, failure] =
          std::from_chars(digits.data(), digits.data() + digits.size(), into);
      return failure == std::errc() && stop == digits.data() + digits.size();
    };
    const std::string_view whole = part;
    if (!read(whole.substr(0, dash), first)) return wrong;
    last = first;
    if (dash < part.size() && !read(whole.substr(dash + 1), last)) return wrong;
    if (first < 0 || last < first || last > kMost) return wrong;
    for (int core = first; core <= last; ++core) {
      if (std::find(cores.begin(), cores.end(), core) != cores.end()) return wrong;
      cores.push_back(core);
    }
    at = end + 1;
  }
  if (text.ends_with(',')) return wrong;
  return cores;
}

RetentionArguments::RetentionArguments(CommandLine& line) {
  line.group("what it remembers");
  line.real("--keep-days", "N", days_, 1e-5, 36500,
            "forgets jobs that ended so many days ago, with their files (30)");
  line.number("--keep-jobs", "N", jobs_, 1, 1'000'000, "at most so many that ended (10000)");
  line.text("--keep-size", "SIZE", size_, "that they take together, e.g. 500M (20G)");
  line.number("--keep-stages", "N", stages_, 1, 1'000'000'000,
              "stages that ran, for charts and 'scheduler replay' (1000000)");
  line.text("--log-size", "SIZE", log_size_, "of the log of one worker (10M)");
  line.group("");
}

Result<jobs::Retention> RetentionArguments::take() const {
  jobs::Retention retention;
  if (days_) retention.seconds = *days_ * 86400;
  if (jobs_) retention.jobs = static_cast<std::size_t>(*jobs_);
  if (stages_) retention.stages = *stages_;
  if (!size_.empty()) {
    ATTUNE_ASSIGN(retention.bytes, parse_size("--keep-size", size_));
  }
  if (!log_size_.empty()) {
    ATTUNE_ASSIGN(retention.log_bytes, parse_size("--log-size", log_size_));
  }
  return retention;
}

Result<std::uint64_t> parse_size(std::string_view option, const std::string& text) {
  constexpr std::string_view kUnits = "KMGT";
  constexpr std::uint64_t kMost = std::uint64_t{1} << 50;
  std::uint64_t number = 0;
  const char* const end = text.data() + text.size();
  const auto [stop, failure] = std::from_chars(text.data(), end, number);
  const std::size_t unit = stop + 1 == end ? kUnits.find(*stop) : std::string_view::npos;
  const bool whole = stop == end || unit != std::string_view::npos;
  const int shift = stop == end ? 0 : 10 * static_cast<int>(unit + 1);
  if (failure != std::errc() || !whole || number == 0 || number > (kMost >> shift)) {
    return invalid(fmt::format("{} is '{}', which is no size", option, text),
                   "write it as 500M or 20G, at most 1024T");
  }
  return number << shift;
}

}  // namespace attune::cli
