// What a records file must be before anything in it is believed: others may have made it. To SQLite
// a file is a program too (views, triggers, computed columns), and what has the name of a table of
// ours would be run when that is read.
#pragma once

#include <cstdint>

#include "base/result.h"
#include "base/sqlite/database.h"

namespace attune::records {

// Whether the file has all tables and indexes of this version, word for word as the migrations make
// them, and nothing else but what ANALYZE leaves.
Status check_form(const sqlite::Database& database, std::int64_t version);

// Reads every page once.
Status check_pages(const sqlite::Database& database);

}  // namespace attune::records
