#include "tuner/whole_model/tune.h"

#include <fmt/format.h>
#include <utility>

#include "app/cli/interrupt.h"
#include "app/cli/search_arguments.h"
#include "app/cli/shared_options.h"
#include "app/cli/signing_arguments.h"
#include "app/cli/tune/tune_progress.h"
#include "app/cli/tune/tune_texts.h"
#include "app/cli/verbs.h"
#include "tuner/whole_model/tune_replay.h"

namespace attune::cli {
namespace {

void tell_log(const whole_model::TuneReport& report, Console& console) {
  if (!report.log_failure.empty()) console.note(report.log_failure);
}

// A note where something is missing, as after a change of the program, and otherwise for -v.
void tell_history(const whole_model::LearntHistory& history, Console& console) {
  if (history.text.empty()) return;
  if (history.incomplete) {
    console.note(history.text);
  } else {
    console.detail(history.text);
  }
}

void tell_rejections(const whole_model::TuneReport& report, Console& console) {
  const std::string text = rejections_text(report);
  if (!text.empty()) console.detail(text);
}

// How the time was used, for -v.
std::string usage_text(const whole_model::TuneReport& report) {
  std::string text = fmt::format("device busy {:.0f} % of the time, search {:.1f} %; seconds of",
                                 100 * report.device_busy, 100 * report.search_share);
  for (const auto& [stage, seconds] : report.stage_seconds) {
    text += fmt::format(" {} {:.1f}", stage, seconds);
  }
  return text;
}

Error not_reached(const whole_model::TuneReport& report) {
  return {ErrorCode::Exhausted,
          fmt::format("{:.4g} ms was not reached: the best is {}", *report.until_latency_ms,
                      milliseconds_text(report.latency_ms)),
          "what was found is kept; go on with --resume and a larger budget"};
}

// What happened, in a line or two for each task, for a person.
void tell_tasks(const whole_model::TuneReport& report, Console& console) {
  for (const whole_model::TunedTask& task : report.tasks) {
    std::string line =
        fmt::format("{} trials in {:.1f} s ({:.1f} a second), {} failed", task.trials,
                    report.seconds, report.trials_per_second, task.failed);
    if (!task.failures.empty()) line += fmt::format(" ({})", failures_text(task.failures));
    if (task.algorithm != "direct") {
      line += fmt::format("; the best uses {}, its speed counts the operations of the direct way",
                          task.algorithm);
    }
    if (task.exhausted) {
      const bool empty = task.trials + task.failed <= 1;
      line += empty ? "; the space is empty: there is nothing but the default schedule to try"
                    : "; the space has no more candidates";
    }
    if (task.best_is_default) line += "; the default schedule is still the best";
    console.note(line);
    if (!task.default_failure.empty()) {
      console.note(fmt::format("the default schedule failed: {}", task.default_failure));
    }
    console.detail(task.trace);
  }
}

std::string repeat_command(const whole_model::TuneOptions& options) {
  std::string command = options.model.model;
  if (options.model.threads > 0) command += fmt::format(" --threads {}", options.model.threads);
  if (options.model.target != model::ModelOptions().target) {
    command += fmt::format(" --target '{}'", options.model.target);
  }
  if (options.model.precision) {
    command += fmt::format(" --precision {}", ops::name_of(*options.model.precision));
  }
  if (!options.records.empty()) command += fmt::format(" --records {}", options.records);
  return command;
}

// Tasks of which nothing ran but the default.
void tell_failures(const whole_model::TuneReport& report, Console& console) {
  if (report.tasks.empty()) {
    console.note("the model has no task to tune; it is compiled as it is");
  }
  for (const whole_model::TunedTask& task : report.tasks) {
    if (!task.all_failed()) continue;
    console.note(fmt::format("all candidates of {} failed: {}; its default schedule stays",
                             task.name, failures_text(task.failures)));
  }
}

Result<int> tell_replay(const whole_model::ReplayReport& report, const Speech& speech,
                        Console& console) {
  std::string text;
  for (const whole_model::RepeatedTask& task : report.tasks) {
    text += fmt::format("{:<44} {:>6} candidates  {}\n", task.name, task.traces.size(),
                        task.difference.value_or("as in session " + std::to_string(task.session)));
  }
  ATTUNE_RETURN_IF_ERROR(console.print(speech.json ? whole_model::to_json(report) + "\n" : text));
  return report.same() ? 0 : 1;
}

Result<int> end_with_records(const whole_model::TuneOptions& options,
                             const whole_model::TuneReport& report, const Interrupt& interrupt,
                             Console& console) {
  if (report.stopped && interrupt.exit_status() != 0) {
    console.note(
        fmt::format("stopped; go on with: attune tune {} --resume", repeat_command(options)));
    return interrupt.exit_status();
  }
  ATTUNE_RETURN_IF_ERROR(verdict_on_records(report));
  if (!report.reached()) return not_reached(report);
  console.note(fmt::format("next: attune bench {}", repeat_command(options)));
  return 0;
}

// What an artifact was made of.
void tell_artifact(const whole_model::TuneReport& report, Console& console) {
  if (report.changed_inside > 0) {
    console.detail(
        fmt::format("{} {} another schedule than the fastest by itself, since that one "
                    "is faster inside the model",
                    report.changed_inside, report.changed_inside == 1 ? "task has" : "tasks have"));
  }
  if (!report.inside_failure.empty()) {
    console.note(
        fmt::format("schedules were not compared inside the model: {}", report.inside_failure));
  }
  if (report.kept == whole_model::Kept::Default && report.raced) {
    console.note("nothing is surely faster end to end than the default schedules, which were kept");
  }
  if (report.kept == whole_model::Kept::Known) {
    console.note("the schedules known before are still the fastest end to end, and were kept");
  }
  console.note(fmt::format("{:.3g} ms before, {:.3g} ms after; wrote {}",
                           report.default_latency_ms.value_or(0), report.latency_ms.value_or(0),
                           report.output));
}

Result<int> end_with_artifact(const whole_model::TuneReport& report, const Interrupt& interrupt,
                              Console& console) {
  tell_fallbacks(report.fallbacks, console);
  tell_failures(report, console);
  ATTUNE_RETURN_IF_ERROR(verdict_on_artifact(report));
  tell_artifact(report, console);
  if (report.stopped && interrupt.exit_status() != 0) return interrupt.exit_status();
  if (!report.reached()) return not_reached(report);
  console.note(fmt::format("next: attune bench {}", report.output));
  return 0;
}

Result<int> tune(const whole_model::TuneOptions& options, const Speech& speech, Console& console) {
  const Interrupt interrupt;
  tell_network_records(console, options.records);
  TuneDisplay display(console);
  bool begun = false;
  bool told = options.trials.has_value() || options.seconds.has_value();
  const auto show = [&](const whole_model::TuneProgress& progress) {
    if (!std::exchange(begun, true)) tell_missing_cage_parts(console);
    if (!told) {
      console.note(progress.trials_total
                       ? fmt::format("no budget given: {} trials", *progress.trials_total)
                       : fmt::format("no budget given: {:.0f} seconds", model::kUsualSeconds));
    }
    told = true;
    display.show(progress);
  };
  ATTUNE_ASSIGN(const whole_model::TuneReport report,
                whole_model::tune(options, show, interrupt.requested()));
  console.clear_progress_line();  // what follows says more
  tell_precision(options.model, report.precision, console);
  tell_history(report.history, console);
  const bool records_alone = report.output.empty();
  if (records_alone && !console.quiet()) tell_tasks(report, console);
  tell_rejections(report, console);
  ATTUNE_RETURN_IF_ERROR(
      console.print(speech.json ? whole_model::to_json(report) + "\n" : text_of(report)));
  tell_log(report, console);
  if (records_alone) return end_with_records(options, report, interrupt, console);
  console.detail(usage_text(report));
  return end_with_artifact(report, interrupt, console);
}

}  // namespace

Result<int> run_tune(Words arguments, Console& console) {
  CommandLine line("tune",
                   "Searches for the fastest schedules of a model or an operator: candidates "
                   "are compiled, run, timed and verified. Whole models are compared by the time "
                   "that 'attune bench' tells.");
  whole_model::TuneOptions options;
  Speech speech;
  std::optional<std::int64_t> seed;
  std::string replay;
  const WholeModelArguments model(line);
  const InputArguments inputs(line);
  const BudgetArguments budget(line, "measure N candidates (128)");
  add_store_options(line, options.records, options.history);
  line.text("--replay", "RECORDS", replay,
            "choose again as the run in RECORDS did, from its outcomes; builds and runs nothing");
  line.flag("--resume", options.resume, "go on with the run that these options began");
  line.number("--seed", "N", seed, 0, INT64_MAX,
              "of the search (0); with --resume, go on with the run of this seed");
  line.text("--log", "FILE", options.log, "append what happens to FILE, one JSON object per line");
  line.text("-o,--output", "FILE", options.output,
            "the artifact (NAME.attune); an operator spec has none");
  const SignArguments sign(line);
  add_speech_options(line, speech, "print one JSON document");
  const SearchArguments search(line);
  line.example("tune resnet18 --seconds 120", "a whole model, to resnet18.attune");
  line.example("tune matmul:m=1024,n=1024,k=1024", "128 trials on all cores");
  line.example("tune bert_tiny --precision bf16 --seconds 60", "products in bf16, sums in f32");
  line.example("tune conv2d:h=56,w=56,ic=64,oc=64,kh=3,kw=3,pad=1 --threads 1 --seconds 30 --json",
               "half a minute on one core, the result as JSON");
  line.example("tune mobilenet_v2 --seconds 300 --log run.jsonl",
               "and how it went, event by event");
  line.example(
      "tune dense:m=64,n=512,k=512 --model xgb-rank --features context --analytic none --no-reject "
      "--chains 128 --steps 500 --batch 64 --diversity 0 --history none",
      "as AutoTVM searches, from the default schedule on");
  return perform(line, arguments, speech, console, [&]() -> Result<int> {
    ATTUNE_RETURN_IF_ERROR(search.apply(options));
    ATTUNE_ASSIGN(options.sign, sign.take());
    if (seed) options.seed = static_cast<std::uint64_t>(*seed);
    options.trials = budget.trials();
    options.seconds = budget.seconds();
    ATTUNE_ASSIGN(options.until_latency_ms, budget.until_latency_ms());
    ATTUNE_ASSIGN(options.model, model.take());
    ATTUNE_ASSIGN(options.inputs, inputs.take());
    if (replay.empty()) return tune(options, speech, console);
    ATTUNE_ASSIGN(const whole_model::ReplayReport repeated, whole_model::replay(options, replay));
    return tell_replay(repeated, speech, console);
  });
}

}  // namespace attune::cli
