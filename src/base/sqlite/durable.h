// How databases are written that must keep what was committed when power fails.
#pragma once

#include "base/result.h"
#include "base/sqlite/database.h"

namespace attune::sqlite {

// A log beside the file that is synced with every commit; where the file system has no memory to
// share, which the log needs, a journal and one sync more. While another process does the same
// SQLite may answer "busy" without waiting, hence the patience.
Status make_durable(Database& database, int patience_ms);

}  // namespace attune::sqlite
