#include "app/verbs/bench.h"

#include <fmt/format.h>

#include "app/cli/shared_options.h"
#include "app/cli/signing_arguments.h"
#include "app/cli/verbs.h"

namespace attune::cli {
namespace {

std::string megabytes(std::int64_t bytes) {
  return fmt::format("{:.1f} MB", static_cast<double>(bytes) * 1e-6);
}

std::string layers_table(const std::vector<verbs::LayerRow>& layers) {
  std::string table = fmt::format("\n{:>9} {:>6} {:>9} {:>10} {:>7}  {:<40} {}\n", "ms", "%",
                                  "GFLOP/s", "bound, ms", "% bound", "kernel", "layer");
  for (const verbs::LayerRow& row : layers) {
    const std::string speed = row.gflops > 0 ? fmt::format("{:.1f}", row.gflops) : "";
    const auto percent = row.percent_of_bound();
    const std::string bound =
        percent ? fmt::format("{:.4f}", row.bound_us * 1e-3 * static_cast<double>(row.calls)) : "";
    table += fmt::format("{:>9.4f} {:>6.1f} {:>9} {:>10} {:>7}  {:<40} {}\n", row.milliseconds,
                         row.percent, speed, bound, percent ? fmt::format("{:.0f}", *percent) : "",
                         row.kernel, row.name);
  }
  return table;
}

std::string page_of(const verbs::BenchReport& report) {
  const verbs::Latency& l = report.latency;
  std::string page = fmt::format("{}  on {} {}, with {}\n", report.model, report.threads,
                                 report.threads == 1 ? "thread" : "threads", report.schedule_text);
  page += fmt::format("latency  min {:.4g} ms  median {:.4g} ms  p90 {:.4g} ms  p99 {:.4g} ms\n",
                      l.min_ms, l.median_ms, l.p90_ms, l.p99_ms);
  if (report.call_latency) {
    page += fmt::format(
        "         on the device; a call that brings inputs and outputs has a median "
        "of {:.4g} ms\n",
        report.call_latency->median_ms);
  }
  if (report.gflops > 0) {
    page += fmt::format("speed    {:.1f} GFLOP/s at the fastest", report.gflops);
    if (report.peak_gflops > 0) {
      page += fmt::format(", {:.1f} % of the measured peak of {:.1f}", report.percent_of_peak(),
                          report.peak_gflops);
    }
    page += "\n";
  }
  if (report.kernel) return page;
  page += fmt::format("memory   {} of weights, {} for a run\n", megabytes(report.weight_bytes),
                      megabytes(report.session_bytes));
  page += fmt::format("loading  {:.3g} ms", report.load_ms);
  if (report.compile_seconds > 0) {
    page += fmt::format(", after {:.3g} s of compiling", report.compile_seconds);
  }
  page += "\n";
  return report.layers.empty() ? page : page + layers_table(report.layers);
}

}  // namespace

Result<int> run_bench(Words arguments, Console& console) {
  CommandLine line("bench",
                   "Times a model, an artifact or an operator with the best schedules known, else "
                   "the defaults. On a device with memory of its own a run is timed by its clock, "
                   "from inputs that are there to outputs that are there, as tuning compares.");
  verbs::BenchOptions options;
  Speech speech;
  std::optional<std::int64_t> repeats, seed;
  std::optional<double> seconds, timeout;
  const WholeModelArguments model(line);
  const InputArguments inputs(line);
  const TrustArguments trust(line);
  add_schedule_options(line, options.source.schedule);
  line.flag("--layers", options.layers, "show the time of every layer, and its bound");
  line.number("--repeats", "N", repeats, 1, 1'000'000, "take N samples");
  line.real("--seconds", "S", seconds, 0.001, 3600, "take samples for S seconds (1)");
  line.number("--seed", "N", seed, 0, INT64_MAX, "of the random inputs (0)");
  line.real("--timeout", "S", timeout, 0.1, 1e6,
            "give up after S seconds (3600, and twice what --seconds says)");
  add_speech_options(line, speech, "print one JSON document");
  line.example("bench matmul:m=1024,n=1024,k=1024 --threads 1", "the latency on one core");
  line.example("bench resnet18.attune --layers", "a whole model, and where its time goes");
  line.example("bench softmax:m=64,n=1000 --default --json", "the default schedule, as JSON");
  return perform(line, arguments, speech, console, [&]() -> Result<int> {
    ATTUNE_ASSIGN(options.source.model, model.take());
    ATTUNE_ASSIGN(options.source.trust, trust.take());
    ATTUNE_ASSIGN(options.files.inputs, inputs.take());
    options.source.progress = compile_progress(console);
    options.sampling.repeats = repeats.value_or(0);
    options.sampling.seconds = seconds.value_or(options.sampling.seconds);
    options.seed = static_cast<std::uint64_t>(seed.value_or(0));
    options.timeout_seconds =
        timeout.value_or(options.timeout_seconds + 2 * options.sampling.seconds);
    ATTUNE_ASSIGN(const verbs::BenchReport report, verbs::bench(options));
    tell_precision(options.source.model, report.precision, console);
    if (report.kernel) console.detail(schedule::to_string(report.kernel->schedule.trace));
    ATTUNE_RETURN_IF_ERROR(
        console.print(speech.json ? verbs::to_json(report) + "\n" : page_of(report)));
    tell_fallbacks(report.fallbacks, console);
    return 0;
  });
}

}  // namespace attune::cli
