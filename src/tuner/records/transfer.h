// Records as a file of JSON lines, to carry them from one store to another.
#pragma once

#include <cstddef>
#include <string>
#include <vector>

#include "base/result.h"
#include "tuner/records/record_json.h"
#include "tuner/records/store.h"

namespace attune::records {

// Newest first; the file appears whole or not at all. The number of records written.
Result<std::size_t> export_records(Store& store, const RecordFilter& filter,
                                   const std::string& path);

struct ImportReport {
  std::size_t added = 0;
  std::size_t duplicates = 0;         // already there, or twice in the file
  std::vector<LineProblem> problems;  // lines left out, in order
};

// A damaged line is reported and the rest imported. Fails only if the file cannot be read or the
// store cannot be written.
Result<ImportReport> import_records(Store& store, const std::string& path);

}  // namespace attune::records
