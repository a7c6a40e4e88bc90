#include "app/verbs/records/record_logs.h"

#include <fmt/format.h>

#include <algorithm>
#include <filesystem>
#include <nlohmann/json.hpp>

#include "base/atomic_file.h"
#include "base/clock.h"
#include "base/version.h"
#include "compiler/model/load/model.h"
#include "compiler/model/schedules/known_schedule.h"
#include "targets/kinds.h"
#include "tuner/logs/exporter.h"
#include "tuner/logs/importer.h"
#include "tuner/records/line_file.h"
#include "tuner/records/store.h"

namespace attune::verbs {
namespace {

std::vector<LogCount> most_first(const logs::Counts& counts) {
  std::vector<LogCount> list;
  for (const auto& [what, count] : counts) list.push_back({what, count});
  std::stable_sort(list.begin(), list.end(),
                   [](const LogCount& a, const LogCount& b) { return a.count > b.count; });
  return list;
}

LogImportReport report_of(const logs::Importer& importer) {
  const logs::ImportReport& found = importer.report();
  LogImportReport report{.lines = found.lines,
                         .comments = found.comments,
                         .old_version = found.old_version,
                         .auto_scheduler = found.auto_scheduler,
                         .records = found.records,
                         .failed = found.failed,
                         .with_task = found.with_task,
                         .mapped = found.mapped,
                         .tasks = {found.tasks.begin(), found.tasks.end()},
                         .unmapped = most_first(found.unmapped),
                         .ignored_knobs = most_first(found.ignored_knobs)};
  for (const records::LineProblem& problem : found.problems) {
    report.problems.push_back(
        fmt::format("line {}, column {}: {}", problem.line, problem.column, problem.message));
  }
  return report;
}

Error unknown_format(const std::string& name, const char* known) {
  return invalid(fmt::format("--format={} is not known", name),
                 fmt::format("choose one of {}", known));
}

}  // namespace

Result<RecordFormat> import_format(const std::string& name, const std::string& path) {
  if (name == "attune") return RecordFormat::Attune;
  if (name == "autotvm") return RecordFormat::Autotvm;
  if (name != "auto") return unknown_format(name, "auto, attune, autotvm");
  constexpr int kLinesLookedAt = 1000;
  RecordFormat format = RecordFormat::Attune;
  int seen = 0;
  ATTUNE_RETURN_IF_ERROR(records::visit_lines(path, [&](std::string_view line) {
    if (logs::looks_like_log(line)) {
      format = RecordFormat::Autotvm;
      return false;
    }
    const bool own = line.find("\"task_key\"") != std::string_view::npos;
    return !own && ++seen < kLinesLookedAt;
  }));
  return format;
}

Result<RecordFormat> export_format(const std::string& name) {
  if (name == "attune") return RecordFormat::Attune;
  if (name == "autotvm") return RecordFormat::Autotvm;
  return unknown_format(name, "attune, autotvm");
}

Result<LogImportReport> import_log(const LogImportOptions& options, const std::string& path) {
  ATTUNE_ASSIGN(target::Target target, targets::parse(options.target));
  if (options.threads > 0) target.threads = options.threads;
  ATTUNE_ASSIGN(target, targets::resolve(target));
  const std::string source = "autotvm " + std::filesystem::path(path).filename().string();
  logs::Importer importer(target, source, unix_time_ms());
  const Status read = records::visit_lines(path, [&](std::string_view line) {
    importer.take(line);
    return true;
  });
  LogImportReport report = report_of(importer);
  if (!read.ok()) {
    // What was read before the file broke off is as good as ever.
    if (report.lines == 0) return read.error();
    report.problems.push_back(
        fmt::format("line {}, column 1: {}", report.lines + 1, read.error().message));
  }
  const std::vector<records::Hint> hints = importer.hints();
  report.target = target::to_string(target);
  report.schedules = static_cast<std::int64_t>(hints.size());
  if (options.dry_run) return report;
  ATTUNE_ASSIGN(const std::string store_path, model::records_path(options.records));
  ATTUNE_ASSIGN(const auto store, records::open_sqlite_store(store_path));
  ATTUNE_ASSIGN(const std::size_t added, store->add_hints(hints));
  report.added = static_cast<std::int64_t>(added);
  return report;
}

std::string to_json(const LogImportReport& report) {
  using Json = nlohmann::ordered_json;
  const auto counts = [](const std::vector<LogCount>& list) {
    Json object = Json::object();
    for (const LogCount& item : list) object[item.what] = item.count;
    return object;
  };
  const Json json{{"format", "autotvm"},
                  {"lines", report.lines},
                  {"comments", report.comments},
                  {"records", report.records},
                  {"failed", report.failed},
                  {"old_version", report.old_version},
                  {"auto_scheduler", report.auto_scheduler},
                  {"damaged", report.problems.size()},
                  {"with_task", report.with_task},
                  {"mapped", report.mapped},
                  {"schedules", report.schedules},
                  {"added", report.added},
                  {"tasks", report.tasks},
                  {"unmapped", counts(report.unmapped)},
                  {"ignored_knobs", counts(report.ignored_knobs)},
                  {"problems", report.problems},
                  {"target", report.target}};
  return json.dump(2, ' ', false, Json::error_handler_t::replace);
}

Result<LogExportReport> export_log(const RecordsOptions& options, const std::string& path) {
  ATTUNE_ASSIGN(const records::RecordFilter filter, filter_of(options));
  ATTUNE_ASSIGN(const std::string store_path, model::records_path(options.records));
  ATTUNE_ASSIGN(const auto store, records::open_sqlite_store_for_reading(store_path));
  // Definitions are looked up while records are visited.
  ATTUNE_ASSIGN(const auto definitions, records::open_sqlite_store_for_reading(store_path));
  ATTUNE_ASSIGN(AtomicFile file, AtomicFile::create(path));
  logs::Exporter exporter(version(), [&](const std::string& key) {
    auto task = definitions->task(key);
    return task.ok() ? std::move(*task) : std::optional<records::TaskDefinition>();
  });
  logs::Counts left_out;
  std::map<std::string, std::optional<target::Target>> targets;
  LogExportReport report;
  ATTUNE_RETURN_IF_ERROR(store->visit(filter, [&](const records::Record& record) -> Status {
    const auto [at, added] = targets.try_emplace(record.target);
    if (added) {
      Result<target::Target> parsed = targets::parse(record.target);
      if (parsed.ok()) parsed = targets::resolve(*parsed);
      if (parsed.ok()) at->second = *parsed;
    }
    if (!at->second) {
      ++left_out["its target is not known here"];
      return {};
    }
    const auto line = exporter.line_of(record, *at->second);
    if (const auto* unmapped = std::get_if<logs::Unmapped>(&line)) {
      ++left_out[unmapped->reason];
      return {};
    }
    ++report.written;
    return file.write(std::get<std::string>(line) + "\n");
  }));
  ATTUNE_RETURN_IF_ERROR(file.commit());
  report.left_out = most_first(left_out);
  return report;
}

Result<std::vector<HintRow>> list_hints(const RecordsOptions& options) {
  ATTUNE_ASSIGN(const std::string store_path, model::records_path(options.records));
  ATTUNE_ASSIGN(const auto store, records::open_sqlite_store_for_reading(store_path));
  ATTUNE_ASSIGN(const records::RecordFilter filter, filter_of(options));
  ATTUNE_ASSIGN(const std::vector<records::Hint> hints,
                store->hints({.task = filter.task, .limit = filter.limit}));
  std::vector<HintRow> rows;
  for (const records::Hint& hint : hints) {
    rows.push_back({.task = hint.task_name,
                    .key = hint.task_key,
                    .foreign_target = hint.foreign_target,
                    .source = hint.source,
                    .trace = hint.trace,
                    .time_us = hint.time_us});
  }
  return rows;
}

std::string to_json(const std::vector<HintRow>& rows) {
  using Json = nlohmann::ordered_json;
  Json list = Json::array();
  for (const HintRow& row : rows) {
    list.push_back({{"task", row.task},
                    {"key", row.key},
                    {"foreign_time_us", row.time_us},
                    {"foreign_target", row.foreign_target},
                    {"source", row.source},
                    {"trace", row.trace}});
  }
  return Json{{"hints", std::move(list)}}.dump(2, ' ', false, Json::error_handler_t::replace);
}

}  // namespace attune::verbs
