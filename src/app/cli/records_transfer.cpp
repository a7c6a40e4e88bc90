#include <fmt/format.h>

#include <algorithm>

#include "app/cli/records_verbs.h"
#include "app/cli/shared_options.h"
#include "app/verbs/records/record_logs.h"
#include "app/verbs/records/records.h"

namespace attune::cli {
namespace {

constexpr std::size_t kProblemsShown = 10;

std::string table_of(const std::string& title, const std::vector<verbs::LogCount>& counts) {
  if (counts.empty()) return {};
  std::string table = title + "\n";
  for (const verbs::LogCount& item : counts) {
    table += fmt::format("{:>9}  {}\n", item.count, item.what);
  }
  return table;
}

std::string describe(const verbs::LogImportReport& report, bool dry_run) {
  std::string text =
      fmt::format("{} records, {} of them without a time", report.records, report.failed);
  if (report.old_version > 0) {
    text += fmt::format("; {} of format version 0.1 skipped", report.old_version);
  }
  if (report.auto_scheduler > 0) {
    text += fmt::format("; {} of the auto-scheduler skipped", report.auto_scheduler);
  }
  if (report.comments > 0) {
    text +=
        fmt::format("; {} comment {}", report.comments, report.comments == 1 ? "line" : "lines");
  }
  text += fmt::format("\n{} records are of {} {} of ours\n", report.with_task, report.tasks.size(),
                      report.tasks.size() == 1 ? "task" : "tasks");
  if (report.schedules > 0) {
    text += fmt::format("{} records became {} {} to try first", report.mapped, report.schedules,
                        report.schedules == 1 ? "schedule" : "schedules");
    text += dry_run ? "\n" : fmt::format(", {} new\n", report.added);
  }
  text += table_of("records without a schedule of ours:", report.unmapped);
  text += table_of("knobs without a counterpart:", report.ignored_knobs);
  return text;
}

Error left_out(const std::vector<std::string>& problems, const std::string& file,
               const std::string& hint, Console& console) {
  for (std::size_t i = 0; i < std::min(problems.size(), kProblemsShown); ++i) {
    console.note(problems[i]);
  }
  return {ErrorCode::Corrupt,
          fmt::format("{} {} of '{}' {} left out, the first at {}", problems.size(),
                      problems.size() == 1 ? "line" : "lines", file,
                      problems.size() == 1 ? "was" : "were", problems.front()),
          hint};
}

Result<int> import_own(const verbs::LogImportOptions& options, const std::string& file, bool json,
                       Console& console) {
  ATTUNE_ASSIGN(const verbs::ImportReport report,
                verbs::import_records({.records = options.records}, file, options.dry_run));
  if (json) ATTUNE_RETURN_IF_ERROR(console.print(verbs::to_json(report) + "\n"));
  std::string said = options.dry_run ? fmt::format("would add {} records, {} are there already",
                                                   report.added, report.duplicates)
                                     : fmt::format("added {} records, {} were there already",
                                                   report.added, report.duplicates);
  if (report.tasks > 0) said += fmt::format("; {} definitions of tasks", report.tasks);
  console.note(said);
  if (report.problems.empty()) return 0;
  return left_out(report.problems, file,
                  options.dry_run
                      ? "the other lines can be added; export the file anew where it comes from"
                      : "the other lines were added; export the file anew where it comes from",
                  console);
}

Result<int> import_log(const verbs::LogImportOptions& options, const std::string& file, bool json,
                       Console& console) {
  ATTUNE_ASSIGN(const verbs::LogImportReport report, verbs::import_log(options, file));
  ATTUNE_RETURN_IF_ERROR(
      console.print(json ? verbs::to_json(report) + "\n" : describe(report, options.dry_run)));
  if (!report.problems.empty()) {
    return left_out(report.problems, file, "the other lines were read as ever", console);
  }
  if (report.schedules > 0 && !options.dry_run) {
    console.note("'attune records hints' lists them; 'attune tune' tries them first");
  }
  return 0;
}

}  // namespace

Result<int> run_records_export(Words arguments, Console& console) {
  CommandLine line("records export", "Writes records to a file, one line each.");
  verbs::RecordsOptions options;
  Speech speech;
  std::string file, format = "attune";
  line.required("FILE", file, "the file to write");
  line.text("--task", "TASK", options.task, "only those of this operator spec or key");
  line.text("--format", "F", format, "attune (whole records), or autotvm (an AutoTVM log)");
  add_record_filter(line, options);
  add_speech_options(line, speech, "");
  line.example("records export all.jsonl", "everything there is");
  line.example("records export tuned.log --format=autotvm", "as a tuning log of AutoTVM");
  return perform(line, arguments, speech, console, [&]() -> Result<int> {
    ATTUNE_ASSIGN(const verbs::RecordFormat chosen, verbs::export_format(format));
    if (chosen == verbs::RecordFormat::Attune) {
      ATTUNE_ASSIGN(const verbs::ExportReport report, verbs::export_records(options, file));
      console.note(fmt::format("wrote {} records to {}, with the definitions of {} tasks",
                               report.records, file, report.tasks));
      if (report.undefined > 0) {
        console.note(fmt::format("{} tasks are not defined in the records", report.undefined));
      }
      return 0;
    }
    ATTUNE_ASSIGN(const verbs::LogExportReport report, verbs::export_log(options, file));
    console.note(fmt::format("wrote {} records to {}", report.written, file));
    if (!report.left_out.empty()) {
      std::string table = table_of("left out:", report.left_out);
      table.pop_back();
      console.note(table);
    }
    return 0;
  });
}

Result<int> run_records_import(Words arguments, Console& console) {
  CommandLine line("records import",
                   "Adds the records of a file that are not there yet, or takes from a tuning log "
                   "of AutoTVM what to try first.");
  verbs::LogImportOptions options;
  Speech speech;
  std::string file, format = "auto";
  std::optional<std::int64_t> threads;
  line.required("FILE", file,
                "a file that 'records export' wrote, or an AutoTVM log; also compressed (.gz)");
  line.text("--format", "F", format, "auto (by its content), attune, or autotvm");
  line.text("--records", "PATH", options.records,
            "the records file (~/.local/share/attune/records.db)");
  line.text("--target", "T", options.target, "what schedules of a log are mapped to (cpu)");
  line.number("--threads", "N", threads, 1, 1024, "how many threads they are mapped to (all)");
  line.flag("--dry-run", options.dry_run, "only say what there is to add");
  add_speech_options(line, speech, "print one JSON document");
  line.example("records import all.jsonl", "what another machine has measured");
  line.example("records import tuned.log --format=autotvm", "what AutoTVM has found");
  return perform(line, arguments, speech, console, [&]() -> Result<int> {
    options.threads = static_cast<int>(threads.value_or(0));
    if (!options.dry_run) tell_network_records(console, options.records);
    ATTUNE_ASSIGN(const verbs::RecordFormat found, verbs::import_format(format, file));
    if (found == verbs::RecordFormat::Autotvm)
      return import_log(options, file, speech.json, console);
    return import_own(options, file, speech.json, console);
  });
}

Result<int> run_records_hints(Words arguments, Console& console) {
  CommandLine line("records hints",
                   "Schedules that did well elsewhere, as imported from tuning logs; sessions try "
                   "the first of each task before others.");
  verbs::RecordsOptions options;
  Speech speech;
  line.optional("TASK", options.task, "an operator spec or a task's key (all tasks)");
  line.text("--records", "PATH", options.records,
            "the records file (~/.local/share/attune/records.db)");
  line.number("--limit", "N", options.limit, 1, 1'000'000'000, "list N at most");
  add_speech_options(line, speech, "print one JSON document");
  line.example("records hints", "all of them, the first to be tried first");
  return perform(line, arguments, speech, console, [&]() -> Result<int> {
    ATTUNE_ASSIGN(const std::vector<verbs::HintRow> rows, verbs::list_hints(options));
    if (speech.json) {
      ATTUNE_RETURN_IF_ERROR(console.print(verbs::to_json(rows) + "\n"));
      return 0;
    }
    if (rows.empty()) console.note("no hints");
    std::string table;
    for (const verbs::HintRow& row : rows) {
      table += fmt::format("{:<40}  {:>10.1f} us on {} ({})\n", row.task, row.time_us,
                           row.foreign_target, row.source);
    }
    ATTUNE_RETURN_IF_ERROR(console.print(table));
    return 0;
  });
}

}  // namespace attune::cli
