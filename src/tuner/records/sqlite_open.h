// How a records file is opened: what is refused, what is created, what is brought up to date.
#pragma once

#include <string>

#include "base/result.h"
#include "base/sqlite/database.h"

namespace attune::records {

inline constexpr sqlite::FileWords kFileWords{
    "records file", "name another file with --records PATH",
    "free some space and go on with --resume; what was recorded before is safe"};

// Creates file and directories where they are missing. A file that is damaged, foreign or of a
// later version is refused and stays as it is.
Result<sqlite::Database> open_for_writing(const std::string& path);

// Changes and creates nothing: a missing file reads as an empty one, an older one is brought up to
// date in memory, and a directory without write permission is enough.
Result<sqlite::Database> open_for_reading(const std::string& path);

}  // namespace attune::records
