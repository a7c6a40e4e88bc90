#include "app/verbs/records/records.h"

#include <fmt/format.h>

#include <map>
#include <memory>
#include <nlohmann/json.hpp>
#include <tuple>
#include <utility>

#include "compiler/frontend/op_spec/op_spec.h"
#include "compiler/model/load/model.h"
#include "compiler/model/schedules/known_schedule.h"
#include "targets/kinds.h"
#include "tuner/records/record_json.h"
#include "tuner/records/store.h"
#include "tuner/records/transfer.h"

namespace attune::verbs {
namespace {

using StorePointer = std::unique_ptr<records::Store>;

Result<StorePointer> open_to_read(const RecordsOptions& options) {
  ATTUNE_ASSIGN(const std::string path, model::records_path(options.records));
  return records::open_sqlite_store_for_reading(path);
}

Result<StorePointer> open_to_write(const RecordsOptions& options) {
  ATTUNE_ASSIGN(const std::string path, model::records_path(options.records));
  return records::open_sqlite_store(path);
}

// Records carry the canonical spelling of a spec; anything else is taken as it is.
std::string task_name(const std::string& text) {
  if (text.find(':') == std::string::npos) return text;
  const Result<target::Target> target = model::resolve_target({});
  if (!target.ok()) return text;
  const Result<op_spec::OpTask> task = op_spec::parse_op_spec(text, *target);
  return task.ok() ? task->spec : text;
}

RecordRow row_of(const records::Record& record) {
  RecordRow row{.task = record.task_name,
                .key = record.task_key,
                .target = record.target,
                .time_us = records::competing_time_us(record.outcome),
                .outcome = outcome::describe(record.outcome),
                .cold_weights = record.weights == records::Weights::Cold,
                .verified = record.verified,
                .created_at_ms = record.created_at_ms,
                .trace = record.trace,
                .json = records::record_to_json_line(record)};
  if (const auto* timing = std::get_if<outcome::Timing>(&record.outcome)) {
    row.noisy = timing->noisy;
  }
  return row;
}

}  // namespace

Result<records::RecordFilter> filter_of(const RecordsOptions& options) {
  records::RecordFilter filter{.task = task_name(options.task)};
  if (!options.target.empty()) {
    ATTUNE_ASSIGN(const target::Target target, targets::parse(options.target));
    filter.target = target::to_string(target);
  }
  if (options.limit) filter.limit = static_cast<std::size_t>(*options.limit);
  return filter;
}

Result<std::vector<RecordRow>> list_records(const RecordsOptions& options) {
  ATTUNE_ASSIGN(const records::RecordFilter filter, filter_of(options));
  ATTUNE_ASSIGN(const StorePointer store, open_to_read(options));
  std::vector<RecordRow> rows;
  ATTUNE_RETURN_IF_ERROR(store->visit(filter, [&](const records::Record& record) {
    rows.push_back(row_of(record));
    return Status();
  }));
  return rows;
}

Result<std::vector<RecordRow>> best_records(const RecordsOptions& options) {
  ATTUNE_ASSIGN(const records::RecordFilter filter, filter_of(options));
  ATTUNE_ASSIGN(const StorePointer store, open_to_read(options));
  std::map<std::tuple<std::string, std::string, std::string, records::Weights>, RecordRow> best;
  std::map<std::string, std::string> names;
  ATTUNE_RETURN_IF_ERROR(store->visit(filter, [&](const records::Record& record) {
    const std::optional<double> time = records::competing_time_us(record.outcome);
    if (!time || !record.verified) return Status();
    // A task keeps the name that its newest record has.
    const std::string& name = names.try_emplace(record.task_key, record.task_name).first->second;
    RecordRow& held = best[{name, record.task_key, record.target, record.weights}];
    if (!held.time_us || *time < *held.time_us) held = row_of(record);
    return Status();
  }));
  std::vector<RecordRow> rows;
  for (auto& [task, row] : best) rows.push_back(std::move(row));
  return rows;
}

std::string to_json(const std::vector<RecordRow>& rows) {
  nlohmann::ordered_json list = nlohmann::ordered_json::array();
  for (const RecordRow& row : rows) list.push_back(nlohmann::ordered_json::parse(row.json));
  return nlohmann::ordered_json{{"records", std::move(list)}}.dump(
      2, ' ', false, nlohmann::ordered_json::error_handler_t::replace);
}

Result<ExportReport> export_records(const RecordsOptions& options, const std::string& path) {
  ATTUNE_ASSIGN(const records::RecordFilter filter, filter_of(options));
  ATTUNE_ASSIGN(const StorePointer store, open_to_read(options));
  ATTUNE_ASSIGN(const records::ExportReport written, records::export_records(*store, filter, path));
  return ExportReport{static_cast<std::int64_t>(written.records),
                      static_cast<std::int64_t>(written.tasks),
                      static_cast<std::int64_t>(written.undefined)};
}

Result<ImportReport> import_records(const RecordsOptions& options, const std::string& path,
                                    bool dry_run) {
  ATTUNE_ASSIGN(const StorePointer store, dry_run ? open_to_read(options) : open_to_write(options));
  ATTUNE_ASSIGN(
      const records::ImportReport imported,
      records::import_records(*store, path,
                              dry_run ? records::ImportMode::Count : records::ImportMode::Write));
  ImportReport report{static_cast<std::int64_t>(imported.added),
                      static_cast<std::int64_t>(imported.duplicates),
                      static_cast<std::int64_t>(imported.tasks),
                      {}};
  for (const records::LineProblem& problem : imported.problems) {
    report.problems.push_back(
        fmt::format("line {}, column {}: {}", problem.line, problem.column, problem.message));
  }
  return report;
}

std::string to_json(const ImportReport& report) {
  return nlohmann::ordered_json{{"format", "attune"},
                                {"added", report.added},
                                {"duplicates", report.duplicates},
                                {"definitions", report.tasks},
                                {"damaged", report.problems.size()},
                                {"problems", report.problems}}
      .dump(2, ' ', false, nlohmann::ordered_json::error_handler_t::replace);
}

Result<std::int64_t> prune_records(const RecordsOptions& options, std::int64_t keep) {
  ATTUNE_ASSIGN(const StorePointer store, open_to_write(options));
  ATTUNE_ASSIGN(const std::size_t removed, store->prune(static_cast<std::size_t>(keep)));
  return static_cast<std::int64_t>(removed);
}

}  // namespace attune::verbs
