#include "app/verbs/jobs/scheduler.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <charconv>

#include "app/cli/fleet/scheduler_options.h"
#include "app/cli/fleet/scheduler_verbs.h"
#include "app/cli/shared_options.h"
#include "app/cli/verbs.h"

namespace attune::cli {
namespace {

constexpr int kMostUnits = 10'000;  // of one kind, or for one user

// "KEY=3", and "KEY" alone for one.
Status take_count(const std::string& option, const std::string& text,
                  std::map<std::string, int>& into) {
  const std::size_t at = text.find('=');
  const std::string key = text.substr(0, at);
  const std::string digits = at == std::string::npos ? "1" : text.substr(at + 1);
  int count = 0;
  const auto [stop, failure] = std::from_chars(digits.data(), digits.data() + digits.size(), count);
  const bool whole = stop == digits.data() + digits.size() && !digits.starts_with('-');
  const bool too_large = whole && (failure == std::errc::result_out_of_range || count > kMostUnits);
  if (key.empty() || !whole || (count < 1 && !too_large)) {
    return invalid(
        fmt::format("{} '{}' is not NAME=COUNT", option, text),
        fmt::format("for example {} {}=2", option, option == "--quota" ? "ann" : "cuda"));
  }
  if (too_large) {
    return invalid(fmt::format("{} '{}' is too large", option, text),
                   fmt::format("choose a count from 1 to {}", kMostUnits));
  }
  if (!into.emplace(key, count).second) {
    return invalid(fmt::format("{} names '{}' twice", option, key), "give one count for it");
  }
  return {};
}

Status take_counts(const std::string& option, const std::vector<std::string>& texts,
                   std::map<std::string, int>& into) {
  for (const std::string& text : texts) {
    ATTUNE_RETURN_IF_ERROR(take_count(option, text, into));
  }
  return {};
}

std::string words_of(const verbs::Serving& serving) {
  std::string line =
      fmt::format("serving {}{}: host stages on core {}, measuring on core {}", serving.state,
                  serving.shared.empty() ? "" : fmt::format(", shared by {}", serving.shared),
                  fmt::join(serving.cores.host, ","), fmt::join(serving.cores.profile, ","));
  if (serving.kept_apart > 0) {
    line += fmt::format(", {} pairs of stages kept apart", serving.kept_apart);
  }
  return line + fmt::format("; cores: {}", serving.cores_kept);
}

// The options of a scheduler that serves, but those of how long it keeps what has ended.
class ServingArguments {
 public:
  explicit ServingArguments(CommandLine& line) {
    line.text("--state", "DIR", options_.state,
              "where its state is kept (~/.local/share/attune/scheduler)");
    line.text("--policy", "NAME", options_.policy, "which stage goes first (makespan)");
    line.number("--workers", "N", workers_, 0, 1000, "jobs worked on at the same time (4)");
    line.number("--prefetch", "N", prefetch_, 1, 1000, "batches of a job in flight at once (2)");
    line.flag("--in-turn", options_.in_turn, "no two stages of a job at once, for comparisons");
    line.text("--host-cores", "LIST", host_cores_, "cores of host stages, e.g. 0,2-3 (all others)");
    line.text("--profile-cores", "LIST", profile_cores_, "cores to measure on (the last one)");
    line.text("--cpuset", "auto|off", cpuset_,
              "cpuset cgroups keep stages on their cores where allowed, or never (auto)");
    line.texts(
        "--device", "KEY=N", devices_,
        "devices of another kind, which workers bring along; cpu=N: N of the measuring cores");
    line.texts("--quota", "USER=N", quotas_,
               "fair-share: who has more units at once than this waits for others");
    line.text("--share", "GROUP", options_.share,
              "lets users of that group submit jobs, by the folder DIR.shared (only its own user)");
    line.real("--stage-timeout", "S", stage_timeout_, 1, 1e7,
              "ends a stage that is silent for S seconds and for 20 times its prediction (600)");
    line.number("--tries", "N", tries_, 1, 1000,
                "of a job whose stages fall silent or eat the memory, without progress (3)");
  }

  Result<verbs::ServeOptions> take() {
    if (workers_) options_.workers = static_cast<int>(*workers_);
    if (prefetch_) options_.prefetch = static_cast<int>(*prefetch_);
    if (tries_) options_.limits.most_tries = static_cast<int>(*tries_);
    options_.limits.floor_seconds = stage_timeout_.value_or(options_.limits.floor_seconds);
    ATTUNE_RETURN_IF_ERROR(take_counts("--device", devices_, options_.devices));
    if (options_.devices.contains("host")) {
      return invalid("--device cannot be 'host', the cores on which nothing is measured",
                     "--host-cores LIST says which cores they are");
    }
    ATTUNE_RETURN_IF_ERROR(take_counts("--quota", quotas_, options_.quotas));
    ATTUNE_ASSIGN(options_.host_cores, parse_cores("--host-cores", host_cores_));
    ATTUNE_ASSIGN(options_.profile_cores, parse_cores("--profile-cores", profile_cores_));
    if (cpuset_ != "auto" && cpuset_ != "off") {
      return invalid(fmt::format("--cpuset is '{}', which is neither auto nor off", cpuset_));
    }
    options_.use_cpuset = cpuset_ == "auto";
    return options_;
  }

 private:
  verbs::ServeOptions options_;
  std::optional<std::int64_t> workers_, prefetch_, tries_;
  std::optional<double> stage_timeout_;
  std::vector<std::string> devices_, quotas_;
  std::string host_cores_, profile_cores_, cpuset_ = "auto";
};

}  // namespace

Result<int> run_scheduler(Words arguments, Console& console) {
  constexpr Verb kOthers[] = {
      {"calibrate", "measures what disturbs measurements", run_scheduler_calibrate},
      {"replay", "other policies on a recorded run", run_scheduler_replay},
      {"token", "lets another tuner take part", run_scheduler_token},
  };
  if (!arguments.empty() && !arguments[0].starts_with('-')) {
    return dispatch("scheduler ", kOthers, arguments, console);
  }
  CommandLine line("scheduler",
                   "Runs the tuning jobs of many people on the cores and devices that they share, "
                   "until it is interrupted.");
  Speech speech;
  ServingArguments serving(line);
  const RetentionArguments retention(line);
  add_speech_options(line, speech, "");
  line.example("scheduler", "serves jobs on all cores of this machine, the last for measuring");
  line.example("scheduler --policy fair-share --workers 8 --quota ann=2",
               "shares them fairly among users");
  line.example("scheduler --state /srv/attune/state --share tuners",
               "for all of a group: 'attune submit --state /srv/attune/state'");
  line.example("scheduler --keep-days 7 --keep-size 5G", "forgets jobs sooner than after 30 days");
  line.example("scheduler calibrate", "before: measures which stages disturb each other here");
  line.example("scheduler replay", "after: how other policies would have done");
  return perform(line, arguments, speech, console, [&]() -> Result<int> {
    ATTUNE_ASSIGN(verbs::ServeOptions options, serving.take());
    ATTUNE_ASSIGN(options.retention, retention.take());
    options.note = [&](const std::string& text) { console.note(text); };
    ATTUNE_RETURN_IF_ERROR(verbs::serve_jobs(options, [&](const verbs::Serving& told) {
      console.note(words_of(told));
      tell_missing_cage_parts(console);
    }));
    return 0;
  });
}

}  // namespace attune::cli
