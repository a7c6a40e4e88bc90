// What becomes of rows that are not believed where nothing depends on them any more: a job that has
// ended, and stages of such jobs. They are set aside, so that one of them does not keep the
// scheduler from starting. A row of a job that has not ended is left as it is, and the file with
// it.
#pragma once

#include <string>
#include <vector>

#include "base/result.h"
#include "base/sqlite/database.h"

namespace attune::server {

// Of each ended job whose row is damaged the row moves to the table `set_aside`. In its place stays
// one that says so: number, name, key and owner as before, failed. Damaged stages of ended jobs are
// removed. A line for each, for the person who starts the scheduler; none: nothing was changed.
Result<std::vector<std::string>> set_damaged_aside(sqlite::Database& database, double now);

}  // namespace attune::server
