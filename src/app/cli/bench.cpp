#include "app/api/bench.h"

#include <fmt/format.h>

#include "app/cli/shared_options.h"
#include "app/cli/verbs.h"

namespace attune::cli {
namespace {

std::string page_of(const api::BenchReport& report) {
  const api::Latency& l = report.latency;
  std::string page = fmt::format("{}  on {} {}, with {}\n", report.model, report.threads,
                                 report.threads == 1 ? "thread" : "threads", report.schedule_text);
  page += fmt::format("latency  min {:.4g} ms  median {:.4g} ms  p90 {:.4g} ms  p99 {:.4g} ms\n",
                      l.min_ms, l.median_ms, l.p90_ms, l.p99_ms);
  if (report.gflops <= 0) return page;
  page += fmt::format("speed    {:.1f} GFLOP/s at the fastest", report.gflops);
  if (report.peak_gflops > 0) {
    page += fmt::format(", {:.1f} % of the measured peak of {:.1f}", report.percent_of_peak(),
                        report.peak_gflops);
  }
  return page + "\n";
}

}  // namespace

Result<int> run_bench(Words arguments, Console& console) {
  CommandLine line("bench", "Times an operator with the best schedule known, else its default.");
  api::BenchOptions options;
  Speech speech;
  std::optional<std::int64_t> repeats, seed;
  std::optional<double> seconds;
  const ModelArguments model(line);
  add_schedule_options(line, options.schedule);
  line.number("--repeats", "N", repeats, 1, 1'000'000, "take N samples");
  line.real("--seconds", "S", seconds, 0.001, 3600, "take samples for S seconds (1)");
  line.number("--seed", "N", seed, 0, INT64_MAX, "of the random inputs (0)");
  add_speech_options(line, speech, "print one JSON document");
  line.example("bench matmul:m=1024,n=1024,k=1024 --threads 1", "the latency on one core");
  line.example("bench softmax:m=64,n=1000 --default --json", "the default schedule, as JSON");
  return perform(line, arguments, speech, console, [&]() -> Result<int> {
    options.model = model.take();
    options.repeats = repeats.value_or(0);
    options.seconds = seconds.value_or(options.seconds);
    options.seed = static_cast<std::uint64_t>(seed.value_or(0));
    ATTUNE_ASSIGN(const api::BenchReport report, api::bench(options));
    if (speech.verbose) console.detail(report.trace);
    ATTUNE_RETURN_IF_ERROR(
        console.print(speech.json ? api::to_json(report) + "\n" : page_of(report)));
    return 0;
  });
}

}  // namespace attune::cli
