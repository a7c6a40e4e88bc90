// Records as rows of the SQLite file. Inside of the records library only.
#pragma once

#include <map>
#include <string>
#include <utility>

#include "base/result.h"
#include "base/sqlite/database.h"
#include "tuner/records/record.h"

namespace attune::records {

// "SELECT … FROM records r JOIN task_targets t …" with the columns that read_record expects.
extern const char* const kSelectRecord;

Result<Record> read_record(const sqlite::Statement& row);

// Inserts many records inside of one transaction of the caller.
class RecordInserter {
 public:
  static Result<RecordInserter> create(sqlite::Database& database);
  Result<RecordId> insert(const Record& record);

 private:
  RecordInserter(sqlite::Database& database, sqlite::Statement insert, sqlite::Statement find,
                 sqlite::Statement create);
  Result<std::int64_t> task_target_id(const Record& record);

  sqlite::Database* database_;
  sqlite::Statement insert_;
  sqlite::Statement find_task_target_;
  sqlite::Statement create_task_target_;
  std::map<std::pair<std::string, std::string>, std::int64_t> task_targets_;
};

std::string weights_text(Weights weights);
// What two copies of the same record have in common: everything but its place in this file.
std::uint64_t fingerprint(const Record& record);

}  // namespace attune::records
