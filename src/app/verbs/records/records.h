// What was measured, for people: listing, the best of each task, and carrying records from one
// store to another.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "base/result.h"

namespace attune::records {
struct RecordFilter;
}

namespace attune::verbs {

struct RecordsOptions {
  std::string records = {};                // the store; empty: the default one
  std::string task = {};                   // an operator spec or a task's key; empty: all
  std::string target = {};                 // resolved, as records hold it; empty: all
  std::optional<std::int64_t> limit = {};  // of records to list
};

// What a store is asked for; an error says that there can be no such target.
Result<records::RecordFilter> filter_of(const RecordsOptions& options);

struct RecordRow {
  std::string task = {};
  std::string key = {};
  std::string target = {};
  std::optional<double> time_us = {};  // of a timing
  std::string outcome = {};            // for a person
  bool cold_weights = false;           // timed with the constants out of the caches
  bool verified = false;
  bool noisy = false;
  std::int64_t created_at_ms = 0;
  std::string trace = {};
  std::string json = {};  // the whole record
};

// Newest first.
Result<std::vector<RecordRow>> list_records(const RecordsOptions& options);
// The fastest verified one of each task, target and kind of weights, tasks in alphabetical order.
// Tasks are told apart by their keys: those of models may share a name.
Result<std::vector<RecordRow>> best_records(const RecordsOptions& options);
// {"records": […]}
std::string to_json(const std::vector<RecordRow>& rows);

struct ExportReport {
  std::int64_t records = 0;
  std::int64_t tasks = 0;      // whose definition was written
  std::int64_t undefined = 0;  // whose definition is not known
};
Result<ExportReport> export_records(const RecordsOptions& options, const std::string& path);

struct BundleReport {
  std::int64_t tasks = 0;     // that the bundle has
  std::int64_t added = 0;     // of them, that the file did not have before
  std::int64_t left_out = 0;  // of targets that are not known here
};
// Writes the `keep` fastest schedules of each task as a bundle (see
// compiler/model/schedules/bundle.h). A bundle that is there stays: tasks are added, and schedules
// that are faster than those it has.
Result<BundleReport> write_bundle(const RecordsOptions& options, std::int64_t keep,
                                  const std::string& path);

struct ImportReport {
  std::int64_t added = 0;
  std::int64_t duplicates = 0;
  std::int64_t tasks = 0;                  // of which definitions were added
  std::vector<std::string> problems = {};  // "line 3, column 7: …", of lines left out
};
std::string to_json(const ImportReport& report);
// `dry_run` says what would be added, and writes nothing.
Result<ImportReport> import_records(const RecordsOptions& options, const std::string& path,
                                    bool dry_run = false);

// Keeps the `keep` fastest of each task; how many were removed.
Result<std::int64_t> prune_records(const RecordsOptions& options, std::int64_t keep);

}  // namespace attune::verbs
