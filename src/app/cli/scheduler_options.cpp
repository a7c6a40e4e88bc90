#include "app/cli/scheduler_options.h"

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

}  // namespace attune::cli
