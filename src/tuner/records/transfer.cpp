#include "tuner/records/transfer.h"

#include <algorithm>
#include <map>
#include <set>

#include "base/atomic_file.h"
#include "base/match.h"
#include "tuner/records/line_file.h"
#include "tuner/records/sqlite_rows.h"

namespace attune::records {
namespace {

// Enough to make a transaction's cost small beside its records.
constexpr std::size_t kBatch = 256;

class Importer {
 public:
  Importer(Store& store, ImportMode mode) : store_(store), mode_(mode) {}

  Status take(std::string_view line) {
    ++lines_;
    if (line.find_first_not_of(" \t\r") == std::string_view::npos) return {};
    auto parsed = parse_json_line(line);
    return std::visit(Match{[&](Record& record) {
                              batch_.push_back(std::move(record));
                              return batch_.size() == kBatch ? flush() : Status();
                            },
                            [&](TaskDefinition& task) { return define(std::move(task)); },
                            [&](LineProblem& problem) {
                              problem.line = lines_;
                              report_.problems.push_back(std::move(problem));
                              return Status();
                            }},
                      parsed);
  }

  Status flush() {
    std::size_t added = 0;
    if (mode_ == ImportMode::Write) {
      ATTUNE_ASSIGN(added, store_.add_new(batch_));
    } else {
      ATTUNE_ASSIGN(const std::vector<bool> known, store_.are_known(batch_));
      for (std::size_t i = 0; i < batch_.size(); ++i) {
        if (!known[i] && seen_.insert(fingerprint(batch_[i])).second) ++added;
      }
    }
    report_.added += added;
    report_.duplicates += batch_.size() - added;
    batch_.clear();
    return {};
  }

  // The rest of the file cannot be read.
  void break_off(const std::string& why) { report_.problems.push_back({lines_ + 1, 1, why}); }

  std::size_t lines() const { return lines_; }
  ImportReport report() && { return std::move(report_); }

 private:
  // Adds the programs that the store lacks; those of its own were made by this machine's version.
  Status define(TaskDefinition task) {
    ATTUNE_ASSIGN(std::optional<TaskDefinition> known, store_.task(task.key));
    TaskDefinition lacking = known.value_or(task);
    lacking.programs.clear();
    std::set<std::string>& algorithms = defined_[task.key];
    if (known) {
      for (const auto& program : known->programs) algorithms.insert(program.algorithm);
    }
    for (auto& program : task.programs) {
      if (algorithms.insert(program.algorithm).second) {
        lacking.programs.push_back(std::move(program));
      }
    }
    if (lacking.programs.empty()) return {};
    ++report_.tasks;
    return mode_ == ImportMode::Write ? store_.put_task(lacking) : Status();
  }

  Store& store_;
  ImportMode mode_;
  ImportReport report_;
  std::size_t lines_ = 0;
  std::vector<Record> batch_;
  std::set<std::uint64_t> seen_;                          // records that would have been added
  std::map<std::string, std::set<std::string>> defined_;  // algorithms by task
};

}  // namespace

Result<ExportReport> export_records(Store& store, const RecordFilter& filter,
                                    const std::string& path) {
  ATTUNE_ASSIGN(AtomicFile file, AtomicFile::create(path));
  ExportReport report;
  std::set<std::string> tasks;
  ATTUNE_RETURN_IF_ERROR(store.visit(filter, [&](const Record& record) {
    ++report.records;
    tasks.insert(record.task_key);
    return file.write(record_to_json_line(record) + "\n");
  }));
  for (const std::string& key : tasks) {
    ATTUNE_ASSIGN(const std::optional<TaskDefinition> task, store.task(key));
    if (!task || task->programs.empty()) {
      ++report.undefined;
      continue;
    }
    ++report.tasks;
    ATTUNE_RETURN_IF_ERROR(file.write(task_to_json_line(*task) + "\n"));
  }
  ATTUNE_RETURN_IF_ERROR(file.commit());
  return report;
}

Result<ImportReport> import_records(Store& store, const std::string& path, ImportMode mode) {
  Importer importer(store, mode);
  Status written;
  const Status read = visit_lines(path, [&](std::string_view line) {
    written = importer.take(line);
    return written.ok();
  });
  ATTUNE_RETURN_IF_ERROR(written);
  if (!read.ok()) {
    // What was read before the file broke off is as good as ever.
    if (importer.lines() == 0) return read.error();
    importer.break_off(read.error().message);
  }
  ATTUNE_RETURN_IF_ERROR(importer.flush());
  return std::move(importer).report();
}

}  // namespace attune::records
