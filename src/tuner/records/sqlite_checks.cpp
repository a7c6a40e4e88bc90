#include "tuner/records/sqlite_checks.h"

#include <fmt/core.h>
#include <sqlite3.h>

#include <algorithm>
#include <map>
#include <string>
#include <string_view>
#include <utility>

#include "tuner/records/sqlite_open.h"
#include "tuner/records/sqlite_schema.h"

namespace attune::records {
namespace {

constexpr const char* kEntries = "SELECT type, name, coalesce(sql, '') FROM sqlite_schema";

using Named = std::pair<std::string, std::string>;  // "table", its name
using Form = std::map<Named, std::string>;          // as SQL

// What ANALYZE leaves: somebody may have asked for it, to have queries of their own planned better.
bool is_statistics(std::string_view sql) {
  return sql == "CREATE TABLE sqlite_stat1(tbl,idx,stat)" ||
         sql == "CREATE TABLE sqlite_stat4(tbl,idx,neq,nlt,ndlt,sample)";
}

// What the migrations up to this version make.
Result<Form> form_of(std::int64_t version) {
  ATTUNE_ASSIGN(sqlite::Database database,
                sqlite::Database::open(":memory:", SQLITE_OPEN_READWRITE | SQLITE_OPEN_CREATE,
                                       ":memory:", kFileWords));
  for (const char* step : migrations().first(static_cast<std::size_t>(version))) {
    ATTUNE_RETURN_IF_ERROR(database.execute(step));
  }
  ATTUNE_ASSIGN(sqlite::Statement entry, database.prepare(kEntries));
  Form form;
  for (;;) {
    ATTUNE_ASSIGN(const bool more, entry.step());
    if (!more) return form;
    form[{entry.text(0), entry.text(1)}] = entry.text(2);
  }
}

// "a view 'records'", on one line.
std::string words_for(const Named& named) {
  const auto& [type, name] = named;
  std::string words = fmt::format("{} {} '{}'", type == "index" ? "an" : "a", type, name);
  std::replace_if(
      words.begin(), words.end(), [](unsigned char c) { return c < ' '; }, ' ');
  return words;
}

Error refused(const sqlite::Database& database, const std::string& why) {
  return {ErrorCode::Corrupt, fmt::format("'{}' {}", database.name(), why),
          "name another file with --records PATH; it was not changed"};
}

}  // namespace

Status check_form(const sqlite::Database& database, std::int64_t version) {
  ATTUNE_ASSIGN(Form missing, form_of(version));
  ATTUNE_ASSIGN(sqlite::Statement entry, database.prepare(kEntries));
  for (;;) {
    ATTUNE_ASSIGN(const bool more, entry.step());
    if (!more) break;
    const Named named{entry.text(0), entry.text(1)};
    const std::string sql = entry.text(2);
    if (is_statistics(sql)) continue;
    const auto ours = missing.find(named);
    if (ours == missing.end()) {
      return refused(database,
                     fmt::format("has {}, which no records file of ours has", words_for(named)));
    }
    if (ours->second != sql) {
      return refused(database, fmt::format("has {} that is not made as in records files of ours",
                                           words_for(named)));
    }
    missing.erase(ours);
  }
  if (missing.empty()) return {};
  return refused(database, fmt::format("lacks {}, which records files of ours have",
                                       words_for(missing.begin()->first)));
}

Status check_pages(const sqlite::Database& database) {
  ATTUNE_ASSIGN(std::string verdict, database.text("PRAGMA quick_check(1)"));
  if (verdict == "ok") return {};
  std::replace(verdict.begin(), verdict.end(), '\n', ' ');
  return database.explain(SQLITE_CORRUPT, verdict);
}

}  // namespace attune::records
