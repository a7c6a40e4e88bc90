#include <fmt/format.h>

#include "app/cli/records_verbs.h"
#include "app/cli/shared_options.h"
#include "app/verbs/records/curves.h"

namespace attune::cli {
namespace {

constexpr std::size_t kWidth = 60;

std::string text_of(const std::vector<verbs::Curve>& curves) {
  std::string text;
  for (const verbs::Curve& curve : curves) {
    text += fmt::format("session {}: {}, {} trials, {} failed", curve.session, curve.task,
                        curve.points.size(), curve.failed);
    std::optional<double> first;
    for (const verbs::CurvePoint& point : curve.points) {
      if (!first) first = point.best_us;
    }
    if (first && curve.best_us()) {
      text += fmt::format(", {:.1f} us -> {:.1f} us", *first, *curve.best_us());
    }
    text += fmt::format("\n  {}\n", verbs::sparkline(curve, kWidth));
  }
  return text;
}

}  // namespace

Result<int> run_records_curve(Words arguments, Console& console) {
  CommandLine line("records curve",
                   "The best time so far after each trial, session by session, newest first; bars "
                   "are higher for faster.");
  verbs::RecordsOptions options;
  Speech speech;
  bool csv = false;
  line.optional("TASK|SESSION", options.task,
                "an operator spec, a task's key, or the number of a session (all sessions)");
  add_record_filter(line, options);
  line.number("--limit", "N", options.limit, 1, 1'000'000'000, "the newest N sessions");
  line.flag("--csv", csv, "print one line per trial, separated by commas");
  add_speech_options(line, speech, "print one JSON document");
  line.example("records curve --limit 5", "how the last five sessions went");
  line.example("records curve matmul:m=1024,n=1024,k=1024 --csv > curve.csv",
               "all trials of an operator, for a plot");
  return perform(line, arguments, speech, console, [&]() -> Result<int> {
    if (csv && speech.json) {
      return invalid("--csv and --json are both given", "leave out one of the two");
    }
    ATTUNE_ASSIGN(const std::vector<verbs::Curve> curves, verbs::tuning_curves(options));
    if (curves.empty() && !speech.json) console.note("no sessions");
    ATTUNE_RETURN_IF_ERROR(console.print(speech.json ? verbs::to_json(curves) + "\n"
                                         : csv       ? verbs::to_csv(curves)
                                                     : text_of(curves)));
    return 0;
  });
}

}  // namespace attune::cli
