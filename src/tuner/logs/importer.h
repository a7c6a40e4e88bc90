// Reads a log line by line and gathers hints from it: for every record whose workload is a task of
// ours and whose schedule has a counterpart. Whatever else is in the log is counted by reason.
#pragma once

#include <cstdint>
#include <map>
#include <set>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "tuner/logs/mapper.h"
#include "tuner/records/hint.h"

namespace attune::logs {

using Counts = std::map<std::string, std::int64_t>;

struct ImportReport {
  std::int64_t lines = 0;
  std::int64_t comments = 0;        // and empty lines
  std::int64_t old_version = 0;     // records of version 0.1
  std::int64_t auto_scheduler = 0;  // records of another tuner
  std::int64_t records = 0;         // that were read
  std::int64_t failed = 0;          // of those, without a time
  std::int64_t with_task = 0;       // of those, whose workload is a task of ours
  std::int64_t mapped = 0;          // of those, whose schedule has a counterpart
  std::set<std::string> tasks;      // that they are of, by name
  Counts unmapped;                  // reasons why records are no hints, failed ones included
  Counts ignored_knobs;             // of mapped records
  std::vector<records::LineProblem> problems;  // damaged lines, in order
};

class Importer {
 public:
  // `target` is what schedules are made for and must be resolved; `source` is what hints carry.
  Importer(target::Target target, std::string source, std::int64_t now_ms);

  void take(std::string_view line);

  const ImportReport& report() const { return report_; }
  // Each schedule once per task and place, with its lowest time.
  std::vector<records::Hint> hints() const;

 private:
  void take_record(const LogRecord& record);
  // Why the record is no hint, or "".
  std::string place(const LogRecord& record);

  using Place = std::pair<std::string, std::string>;  // task key, foreign target
  Mapper mapper_;
  std::string source_;
  std::int64_t now_ms_;
  ImportReport report_;
  std::map<Place, std::map<std::uint64_t, records::Hint>> hints_;
};

}  // namespace attune::logs
