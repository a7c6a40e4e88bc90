#include "app/verbs/records/records.h"

#include <fmt/chrono.h>
#include <fmt/format.h>

#include <ctime>
#include <map>

#include "app/cli/records_verbs.h"
#include "app/cli/shared_options.h"
#include "app/cli/verbs.h"

namespace attune::cli {
namespace {

constexpr std::int64_t kMostRecords = 1'000'000'000;

std::string time_text(std::int64_t unix_ms) {
  return fmt::format("{:%Y-%m-%d %H:%M}", fmt::localtime(static_cast<std::time_t>(unix_ms / 1000)));
}

std::string table_of(const std::vector<verbs::RecordRow>& rows) {
  std::string table;
  for (const verbs::RecordRow& row : rows) {
    table += fmt::format("{}  {:<40}  {}{}\n", time_text(row.created_at_ms), row.task, row.outcome,
                         row.verified ? ", verified" : "");
  }
  return table;
}

// One table per target. Keys tell tasks of the same name apart.
std::string best_table(const std::vector<verbs::RecordRow>& rows) {
  std::map<std::string, std::string> tables;
  for (const verbs::RecordRow& row : rows) {
    tables[row.target] += fmt::format("{}  {:<40}  {}{}\n", row.key, row.task, row.outcome,
                                      row.cold_weights ? ", cold weights" : "");
  }
  std::string all;
  for (const auto& [target, table] : tables) all += fmt::format("on {}:\n{}", target, table);
  return all;
}

Result<int> run_list(Words arguments, Console& console) {
  CommandLine line("records list", "Lists records, newest first.");
  verbs::RecordsOptions options;
  Speech speech;
  line.optional("TASK", options.task, "an operator spec or a task's key (all tasks)");
  add_record_filter(line, options);
  line.number("--limit", "N", options.limit, 1, kMostRecords, "list N records at most");
  add_speech_options(line, speech, "print one JSON document");
  line.example("records list --limit 20", "the newest twenty");
  line.example("records list matmul:m=1024,n=1024,k=1024 --json", "all of one operator, as JSON");
  return perform(line, arguments, speech, console, [&]() -> Result<int> {
    ATTUNE_ASSIGN(const std::vector<verbs::RecordRow> rows, verbs::list_records(options));
    if (rows.empty() && !speech.json) console.note("no records");
    ATTUNE_RETURN_IF_ERROR(
        console.print(speech.json ? verbs::to_json(rows) + "\n" : table_of(rows)));
    return 0;
  });
}

Result<int> run_best(Words arguments, Console& console) {
  CommandLine line("records best",
                   "The fastest verified record of each task and target, with hot and with cold "
                   "weights where both were timed; its schedule when a task is named.");
  verbs::RecordsOptions options;
  Speech speech;
  line.optional("TASK", options.task, "an operator spec or a task's key (all tasks)");
  add_record_filter(line, options);
  add_speech_options(line, speech, "print one JSON document");
  line.example("records best", "how fast each task was");
  line.example("records best matmul:m=1024,n=1024,k=1024 > best.trace",
               "the best schedule of one operator, for 'attune bench --schedule best.trace'");
  return perform(line, arguments, speech, console, [&]() -> Result<int> {
    ATTUNE_ASSIGN(const std::vector<verbs::RecordRow> rows, verbs::best_records(options));
    if (speech.json) {
      ATTUNE_RETURN_IF_ERROR(console.print(verbs::to_json(rows) + "\n"));
      return 0;
    }
    if (rows.empty()) console.note("no records");
    if (options.task.empty()) {
      ATTUNE_RETURN_IF_ERROR(console.print(best_table(rows)));
      return 0;
    }
    for (const verbs::RecordRow& row : rows) {
      console.note(fmt::format("{} ({}) on {}: {}{}", row.task, row.key, row.target, row.outcome,
                               row.cold_weights ? ", cold weights" : ""));
      ATTUNE_RETURN_IF_ERROR(
          console.print(row.trace.ends_with('\n') ? row.trace : row.trace + "\n"));
    }
    return 0;
  });
}

Result<int> run_prune(Words arguments, Console& console) {
  CommandLine line("records prune", "Removes all but the fastest records of each task.");
  verbs::RecordsOptions options;
  Speech speech;
  std::optional<std::int64_t> keep;
  line.number("--keep", "N", keep, 1, kMostRecords,
              "keep the N fastest of each task and target (8)");
  line.text("--records", "PATH", options.records,
            "the records file (~/.local/share/attune/records.db)");
  add_speech_options(line, speech, "");
  line.example("records prune --keep 4", "only the four best of each task stay");
  return perform(line, arguments, speech, console, [&]() -> Result<int> {
    ATTUNE_ASSIGN(const std::int64_t removed, verbs::prune_records(options, keep.value_or(8)));
    console.note(fmt::format("removed {} records", removed));
    return 0;
  });
}

Result<int> run_bundle(Words arguments, Console& console) {
  CommandLine line(
      "records bundle",
      "Writes the fastest schedules of each task as a bundle to ship, or adds them to one.");
  verbs::RecordsOptions options;
  Speech speech;
  std::string file;
  std::optional<std::int64_t> keep;
  line.required("FILE", file, "the file to write, or to add to");
  line.number("--keep", "N", keep, 1, 64, "the N fastest of each task and target (1)");
  line.text("--records", "PATH", options.records,
            "the records file (~/.local/share/attune/records.db)");
  add_speech_options(line, speech, "");
  line.example("records bundle src/compiler/model/schedules/bundle.jsonl", "for the next build");
  return perform(line, arguments, speech, console, [&]() -> Result<int> {
    ATTUNE_ASSIGN(const verbs::BundleReport report,
                  verbs::write_bundle(options, keep.value_or(1), file));
    console.note(
        fmt::format("wrote {} tasks to {}, {} of them new", report.tasks, file, report.added));
    if (report.left_out > 0) {
      console.note(
          fmt::format("left out {} tasks of targets that are not known here", report.left_out));
    }
    return 0;
  });
}

constexpr Verb kRecordsVerbs[] = {
    {"list", "lists records, newest first", run_list},
    {"best", "the fastest of each task", run_best},
    {"curve", "the best so far, trial by trial", run_records_curve},
    {"export", "writes records to a file", run_records_export},
    {"import", "adds the records of a file, or hints of a tuning log", run_records_import},
    {"hints", "lists what did well elsewhere", run_records_hints},
    {"bundle", "writes the fastest schedules as a bundle to ship", run_bundle},
    {"prune", "removes all but the fastest", run_prune},
};

}  // namespace

void add_record_filter(CommandLine& line, verbs::RecordsOptions& options) {
  line.text("--records", "PATH", options.records,
            "the records file (~/.local/share/attune/records.db)");
  line.text("--target", "T", options.target, "only those of this (resolved) target");
}

Result<int> run_records(Words arguments, Console& console) {
  if (!arguments.empty() && (arguments[0] == "--help" || arguments[0] == "-h")) {
    std::string page = "usage: attune records COMMAND [argument]... [option]...\n\ncommands:\n";
    for (const Verb& verb : kRecordsVerbs) {
      page += fmt::format("  {:<10} {}\n", verb.name, verb.summary);
    }
    page += "\nexamples:\n  attune records list --limit 20\n      the newest twenty records\n";
    ATTUNE_RETURN_IF_ERROR(console.print(page));
    return 0;
  }
  return dispatch("records ", kRecordsVerbs, arguments, console);
}

}  // namespace attune::cli
