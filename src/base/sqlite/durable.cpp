#include "base/sqlite/durable.h"

#include <sqlite3.h>

namespace attune::sqlite {
namespace {

// The journal that the file has from now on.
Result<std::string> ask_for_log(const Database& database, int patience_ms) {
  for (int waited_ms = 0;; waited_ms += 10) {
    Result<std::string> journal = database.text("PRAGMA journal_mode=WAL");
    if (journal.ok() || waited_ms >= patience_ms) return journal;
    const bool busy = journal.error().message == database.explain(SQLITE_BUSY, {}).message;
    if (!busy) return journal;
    sqlite3_sleep(10);
  }
}

}  // namespace

Status make_durable(Database& database, int patience_ms) {
  ATTUNE_ASSIGN(const std::string journal, ask_for_log(database, patience_ms));
  // A journal's end is that its name goes, which takes a sync of the folder.
  return database.execute(journal == "wal" ? "PRAGMA synchronous=FULL"
                                           : "PRAGMA synchronous=EXTRA");
}

}  // namespace attune::sqlite
