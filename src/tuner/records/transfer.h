// Records as a file of JSON lines, to carry them from one store to another. With them go the
// definitions of their tasks, as far as the store knows them: without a definition nothing can be
// learnt from a record for other tasks.
#pragma once

#include <cstddef>
#include <string>
#include <vector>

#include "base/result.h"
#include "tuner/records/record_json.h"
#include "tuner/records/store.h"

namespace attune::records {

struct ExportReport {
  std::size_t records = 0;
  std::size_t tasks = 0;      // whose definition was written
  std::size_t undefined = 0;  // whose definition is not known here
};

// Records first, the newest of them first, then definitions; the file appears whole or not at all.
Result<ExportReport> export_records(Store& store, const RecordFilter& filter,
                                    const std::string& path);

struct ImportReport {
  std::size_t added = 0;
  std::size_t duplicates = 0;         // already there, or twice in the file
  std::size_t tasks = 0;              // of which the store did not know all that the file defines
  std::vector<LineProblem> problems;  // lines left out, in order
};

enum class ImportMode { Write, Count };

// Reads a file, plain or compressed by gzip. A damaged line is reported and the rest imported.
// Fails only if nothing of the file can be read or the store cannot be written. What the store
// knows about a task stays as it is; only what it lacks is added. `Count` says what `Write` would
// do, and writes nothing.
Result<ImportReport> import_records(Store& store, const std::string& path,
                                    ImportMode mode = ImportMode::Write);

}  // namespace attune::records
