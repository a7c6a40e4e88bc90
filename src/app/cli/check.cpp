#include "app/verbs/check/check.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <map>

#include "app/cli/shared_options.h"
#include "app/cli/signing_arguments.h"
#include "app/cli/verbs.h"

namespace attune::cli {

Result<int> run_check(Words arguments, Console& console) {
  CommandLine line("check",
                   "Runs a model or an operator with the best schedules known, else the "
                   "defaults, and compares with the interpreter; or runs ONNX test cases.");
  verbs::CheckOptions options;
  Speech speech;
  std::optional<std::int64_t> seed;
  std::optional<double> timeout;
  const WholeModelArguments model(line, false);
  const TrustArguments trust(line);
  line.flag("--all", options.all, "check a table of small operators of every family instead");
  line.number("--seed", "N", seed, 0, INT64_MAX, "of the random inputs (0)");
  line.real("--timeout", "S", timeout, 0.1, 1e6, "give each ONNX test case S seconds (60)");
  add_schedule_options(line, options.source.schedule);
  add_speech_options(line, speech, "print one JSON line per case");
  line.example("check conv2d:h=28,w=28,ic=64,oc=64,kh=3,kw=3,pad=1", "one operator");
  line.example("check --all --default --json", "the default schedules of all families");
  line.example("check cases/node --json", "a folder of ONNX test cases");
  return perform(line, arguments, speech, console, [&]() -> Result<int> {
    ATTUNE_ASSIGN(options.source.model, model.take());
    ATTUNE_ASSIGN(options.source.trust, trust.take());
    options.timeout_seconds = timeout.value_or(options.timeout_seconds);
    options.seed = static_cast<std::uint64_t>(seed.value_or(0));
    if (options.all == !options.source.model.model.empty()) {
      return invalid(options.all ? "'check' takes a model or --all, not both"
                                 : "'check' needs a model, a folder of ONNX test cases, or --all",
                     "for example: attune check matmul:m=64,n=64,k=64");
    }
    std::int64_t cases = 0, failed = 0;
    std::map<verbs::CheckStatus, std::int64_t> counts;
    ATTUNE_RETURN_IF_ERROR(verbs::check(options, [&](const verbs::CheckCase& result) {
      ++cases;
      if (result.status != verbs::CheckStatus::Pass) {
        ++failed;
        ++counts[result.status];
      }
      return console.print(
          speech.json ? verbs::to_json(result) + "\n"
                      : fmt::format("{:<12} {}  max error {:.3g} (relative {:.3g})  {}\n",
                                    verbs::name_of(result.status), result.name,
                                    result.max_abs_error, result.max_rel_error, result.message));
    }));
    if (failed == 0) return 0;
    std::vector<std::string> kinds;
    for (const auto& [status, count] : counts) {
      kinds.push_back(fmt::format("{} {}", count, verbs::name_of(status)));
    }
    return Error{ErrorCode::Unsupported,
                 fmt::format("{} of {} cases failed: {}", failed, cases, fmt::join(kinds, ", ")),
                 {}};
  });
}

}  // namespace attune::cli
