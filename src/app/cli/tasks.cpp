#include "app/verbs/tasks.h"

#include <fmt/format.h>

#include "app/cli/shared_options.h"
#include "app/cli/verbs.h"

namespace attune::cli {
namespace {

std::string page_of(const verbs::TasksReport& report) {
  std::string page =
      fmt::format("{:<16}  {:>6} {:>9} {:>7} {:>5} {:>9}  {:<10} {:<22} {}\n", "key", "%", "ms",
                  "% bound", "uses", "MFLOP", "algorithm", "known", "task");
  const auto number = [](const std::optional<double>& value, const char* format) {
    return value ? fmt::format(fmt::runtime(format), *value) : std::string();
  };
  for (const verbs::TaskRow& row : report.tasks) {
    const std::string known =
        row.recorded_us ? fmt::format("record, {:.4g} µs", *row.recorded_us) : row.schedule;
    page += fmt::format("{:<16}  {:>6} {:>9} {:>7} {:>5} {:>9.1f}  {:<10} {:<22} {}\n", row.key,
                        number(row.percent, "{:.1f}"), number(row.milliseconds, "{:.4f}"),
                        number(row.percent_of_bound(), "{:.0f}"), row.uses, row.flops * 1e-6,
                        row.algorithm, known, row.name);
  }
  if (report.milliseconds) {
    page += fmt::format("{} tasks, {:.4g} ms a run", report.tasks.size(), *report.milliseconds);
    if (report.other_percent.value_or(0) > 0) {
      page += fmt::format(", {:.1f} % of it in operators of the runtime", *report.other_percent);
    }
    page += "\n";
  }
  return page;
}

}  // namespace

Result<int> run_tasks(Words arguments, Console& console) {
  CommandLine line("tasks",
                   "Lists the tasks of a model: their share of the run time, and what is known "
                   "about each.");
  verbs::TasksOptions options;
  Speech speech;
  bool no_run = false;
  std::optional<std::int64_t> seed;
  std::optional<double> seconds;
  const WholeModelArguments model(line);
  line.flag("--no-run", no_run, "measure nothing");
  line.real("--seconds", "S", seconds, 0.001, 3600, "measure for S seconds (1)");
  line.number("--seed", "N", seed, 0, INT64_MAX, "of the random inputs (0)");
  add_store_options(line, options.source.schedule.records, options.source.schedule.history);
  line.flag("--default", options.source.schedule.use_default,
            "use the default schedules, whatever is known");
  add_speech_options(line, speech, "print one JSON document");
  line.example("tasks resnet18", "where the time of a model goes");
  line.example("tasks model.onnx --no-run --json", "the tasks alone, as JSON");
  return perform(line, arguments, speech, console, [&]() -> Result<int> {
    ATTUNE_ASSIGN(options.source.model, model.take());
    options.source.progress = compile_progress(console);
    options.run = !no_run;
    options.seconds = seconds.value_or(options.seconds);
    options.seed = static_cast<std::uint64_t>(seed.value_or(0));
    ATTUNE_ASSIGN(const verbs::TasksReport report, verbs::tasks(options));
    tell_precision(options.source.model, report.precision, console);
    ATTUNE_RETURN_IF_ERROR(
        console.print(speech.json ? verbs::to_json(report) + "\n" : page_of(report)));
    return 0;
  });
}

}  // namespace attune::cli
