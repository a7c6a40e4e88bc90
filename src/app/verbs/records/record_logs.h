// Tuning logs of AutoTVM, for people who have some: what is in them as schedules to try first, and
// records of ours in their format.
#pragma once

#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <vector>

#include "app/verbs/records/records.h"
#include "base/result.h"
#include "compiler/target/default_kind.h"

namespace attune::verbs {

enum class RecordFormat { Attune, Autotvm };
// "attune", "autotvm", or "auto": what the first lines of the file look like.
Result<RecordFormat> import_format(const std::string& name, const std::string& path);
Result<RecordFormat> export_format(const std::string& name);

struct LogImportOptions {
  std::string records = {};                  // the store; empty: the default one
  std::string target{target::kDefaultKind};  // what schedules are made for
  int threads = 0;
  bool dry_run = false;  // only look
};

struct LogCount {
  std::string what = {};
  std::int64_t count = 0;
};

struct LogImportReport {
  std::int64_t lines = 0, comments = 0, old_version = 0, auto_scheduler = 0;
  std::int64_t records = 0, failed = 0;      // read; of those, without a time
  std::int64_t with_task = 0, mapped = 0;    // of those, with a task; with a schedule, too
  std::int64_t schedules = 0, added = 0;     // distinct ones; those that are new
  std::vector<std::string> tasks = {};       // operator specs
  std::vector<LogCount> unmapped = {};       // reasons, most frequent first
  std::vector<LogCount> ignored_knobs = {};  // likewise
  std::vector<std::string> problems = {};    // "line 3, column 7: …", of damaged lines
  std::string target = {};
};

// Plain or compressed by gzip.
Result<LogImportReport> import_log(const LogImportOptions& options, const std::string& path);
std::string to_json(const LogImportReport& report);

struct LogExportReport {
  std::int64_t written = 0;
  std::vector<LogCount> left_out = {};  // reasons, most frequent first
};
Result<LogExportReport> export_log(const RecordsOptions& options, const std::string& path);

// Schedules that did well elsewhere.
struct HintRow {
  std::string task = {}, key = {}, foreign_target = {}, source = {}, trace = {};
  double time_us = 0;  // there
};
Result<std::vector<HintRow>> list_hints(const RecordsOptions& options);
std::string to_json(const std::vector<HintRow>& rows);

}  // namespace attune::verbs
