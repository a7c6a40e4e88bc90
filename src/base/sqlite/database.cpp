#include "base/sqlite/database.h"

#include <fmt/core.h>
#include <sqlite3.h>

#include <bit>
#include <cstring>
#include <utility>

namespace attune::sqlite {
namespace {

Error explained(int extended_code, const std::string& name, const FileWords& words,
                const std::string& detail) {
  switch (extended_code) {
    case SQLITE_IOERR_SHMSIZE:  // the index beside the log could not grow
      return explained(SQLITE_FULL, name, words, detail);
    case SQLITE_CORRUPT_INDEX:
    case SQLITE_IOERR_SHORT_READ:
      return explained(SQLITE_CORRUPT, name, words, detail);
    default:
      break;
  }
  const std::string other(words.other);
  switch (extended_code & 0xff) {
    case SQLITE_FULL:
      return {ErrorCode::Exhausted, fmt::format("no space left on the disk of '{}'", name),
              std::string(words.when_full)};
    case SQLITE_CORRUPT:
    case SQLITE_NOTADB:
      return {ErrorCode::Corrupt, fmt::format("{} '{}' is damaged: {}", words.noun, name, detail),
              fmt::format("move it away, or {}; it was not changed", other)};
    case SQLITE_BUSY:
    case SQLITE_LOCKED:
      return {ErrorCode::Io, fmt::format("{} '{}' is held by another process", words.noun, name),
              fmt::format("wait for that process to end, or {}", other)};
    case SQLITE_READONLY:
    case SQLITE_PERM:
    case SQLITE_AUTH:
      return {ErrorCode::Io,
              fmt::format("cannot write {} '{}': permission denied", words.noun, name), other};
    case SQLITE_CANTOPEN:
      return {ErrorCode::Io, fmt::format("cannot open {} '{}': {}", words.noun, name, detail),
              other};
    default:
      return {ErrorCode::Io, fmt::format("{} '{}' failed: {}", words.noun, name, detail), other};
  }
}

// To SQLite a file is a program too: nothing that it says is run with more rights than to compute,
// and no value that it makes or holds is large.
void restrain(sqlite3* handle) {
  constexpr int kMostBytes = 64 << 20;  // of one value or row
  sqlite3_db_config(handle, SQLITE_DBCONFIG_DEFENSIVE, 1, nullptr);
  sqlite3_db_config(handle, SQLITE_DBCONFIG_TRUSTED_SCHEMA, 0, nullptr);
  sqlite3_limit(handle, SQLITE_LIMIT_LENGTH, kMostBytes);
  sqlite3_exec(handle, "PRAGMA cell_size_check=ON", nullptr, nullptr, nullptr);
}

}  // namespace

void Statement::Finalize::operator()(sqlite3_stmt* statement) const { sqlite3_finalize(statement); }

Statement::Statement(const Database& database, sqlite3_stmt* statement)
    : database_(&database), statement_(statement) {}

void Statement::reset() {
  sqlite3_reset(statement_.get());
  sqlite3_clear_bindings(statement_.get());
}

void Statement::bind_at(int index, std::int64_t value) {
  CHECK(sqlite3_bind_int64(statement_.get(), index, value) == SQLITE_OK, "bad parameter");
}
void Statement::bind_at(int index, std::uint64_t value) {
  bind_at(index, std::bit_cast<std::int64_t>(value));
}
void Statement::bind_at(int index, bool value) { bind_at(index, std::int64_t{value}); }
void Statement::bind_at(int index, double value) {
  CHECK(sqlite3_bind_double(statement_.get(), index, value) == SQLITE_OK, "bad parameter");
}
void Statement::bind_at(int index, const std::string& value) {
  bind_at(index, std::string_view(value));
}
void Statement::bind_at(int index, std::string_view value) {
  // A null pointer would bind NULL rather than the empty text.
  const char* data = value.empty() ? "" : value.data();
  CHECK(sqlite3_bind_text64(statement_.get(), index, data, value.size(), SQLITE_TRANSIENT,
                            SQLITE_UTF8) == SQLITE_OK,
        "bad parameter");
}
void Statement::bind_at(int index, const Blob& value) {
  const char* data = value.bytes.empty() ? "" : value.bytes.data();
  CHECK(sqlite3_bind_blob64(statement_.get(), index, data, value.bytes.size(), SQLITE_TRANSIENT) ==
            SQLITE_OK,
        "bad parameter");
}
void Statement::bind_at(int index, const std::optional<double>& value) {
  if (value) bind_at(index, *value);
}
void Statement::bind_at(int index, const std::optional<std::int64_t>& value) {
  if (value) bind_at(index, *value);
}

Result<bool> Statement::step() {
  const int code = sqlite3_step(statement_.get());
  if (code == SQLITE_ROW) return true;
  if (code == SQLITE_DONE) return false;
  return database_->last_error();
}

Status Statement::run() {
  const Result<bool> row = step();
  if (!row.ok()) return row.error();
  // Ends the statement, so that it holds no lock.
  sqlite3_reset(statement_.get());
  return {};
}

bool Statement::is_null(int column) const {
  return sqlite3_column_type(statement_.get(), column) == SQLITE_NULL;
}
std::int64_t Statement::integer(int column) const {
  return sqlite3_column_int64(statement_.get(), column);
}
std::uint64_t Statement::unsigned_integer(int column) const {
  return std::bit_cast<std::uint64_t>(std::int64_t{integer(column)});
}
double Statement::real(int column) const { return sqlite3_column_double(statement_.get(), column); }
std::string Statement::text(int column) const {
  const void* data = sqlite3_column_blob(statement_.get(), column);
  const int size = sqlite3_column_bytes(statement_.get(), column);
  if (data == nullptr || size <= 0) return {};
  return {static_cast<const char*>(data), static_cast<std::size_t>(size)};
}

void Database::Close::operator()(sqlite3* handle) const { sqlite3_close_v2(handle); }

Database::Database(sqlite3* handle, std::string name, const FileWords& words)
    : name_(std::move(name)), words_(words), handle_(handle) {}

Result<Database> Database::open(const std::string& address, int flags, std::string name,
                                const FileWords& words) {
  sqlite3* handle = nullptr;
  const int code =
      sqlite3_open_v2(address.c_str(), &handle, flags | SQLITE_OPEN_FULLMUTEX, nullptr);
  Database database(handle, std::move(name), words);
  if (handle == nullptr) return database.explain(code, sqlite3_errstr(code));
  sqlite3_extended_result_codes(handle, 1);
  if (code != SQLITE_OK) {
    const int cause = sqlite3_system_errno(handle);
    return database.explain(code, cause != 0 ? std::strerror(cause) : sqlite3_errstr(code));
  }
  restrain(handle);
  return database;
}

Result<Database> Database::open_file(const std::string& path, Access access,
                                     const FileWords& words) {
  const int flags =
      access == Access::Read ? SQLITE_OPEN_READONLY : SQLITE_OPEN_READWRITE | SQLITE_OPEN_CREATE;
  return open(path, flags, path, words);
}

Status Database::execute(const std::string& sql) {
  const int code = sqlite3_exec(handle_.get(), sql.c_str(), nullptr, nullptr, nullptr);
  return code == SQLITE_OK ? Status{} : Status{last_error()};
}

Result<Statement> Database::prepare(std::string_view sql) const {
  sqlite3_stmt* statement = nullptr;
  const int code = sqlite3_prepare_v2(handle_.get(), sql.data(), static_cast<int>(sql.size()),
                                      &statement, nullptr);
  if (code != SQLITE_OK) return last_error();
  return Statement(*this, statement);
}

Result<std::int64_t> Database::integer(std::string_view sql) const {
  ATTUNE_ASSIGN(Statement statement, prepare(sql));
  ATTUNE_ASSIGN(const bool row, statement.step());
  return row ? statement.integer(0) : 0;
}

Result<std::string> Database::text(std::string_view sql) const {
  ATTUNE_ASSIGN(Statement statement, prepare(sql));
  ATTUNE_ASSIGN(const bool row, statement.step());
  return row ? statement.text(0) : std::string();
}

std::int64_t Database::last_inserted_id() const { return sqlite3_last_insert_rowid(handle_.get()); }
std::int64_t Database::changed_rows() const { return sqlite3_changes64(handle_.get()); }
bool Database::in_transaction() const { return sqlite3_get_autocommit(handle_.get()) == 0; }
bool Database::read_only() const { return sqlite3_db_readonly(handle_.get(), "main") == 1; }

void Database::set_busy_timeout_ms(int milliseconds) {
  sqlite3_busy_timeout(handle_.get(), milliseconds);
}

void Database::set_checkpoint_on_close(bool checkpoint) {
  sqlite3_db_config(handle_.get(), SQLITE_DBCONFIG_NO_CKPT_ON_CLOSE, checkpoint ? 0 : 1, nullptr);
}

void Database::end_statements() {
  for (sqlite3_stmt* statement = sqlite3_next_stmt(handle_.get(), nullptr); statement != nullptr;
       statement = sqlite3_next_stmt(handle_.get(), statement)) {
    sqlite3_reset(statement);
  }
}

Status Database::copy_from(const Database& from) {
  sqlite3_backup* backup = sqlite3_backup_init(handle_.get(), "main", from.handle_.get(), "main");
  if (backup == nullptr) return last_error();
  sqlite3_backup_step(backup, -1);
  const int code = sqlite3_backup_finish(backup);
  if (code != SQLITE_OK) return explain(code, sqlite3_errstr(code));
  return {};
}

Error Database::last_error() const {
  return explain(sqlite3_extended_errcode(handle_.get()), sqlite3_errmsg(handle_.get()));
}

Error Database::explain(int extended_code, const std::string& detail) const {
  return explained(extended_code, name_, words_, detail);
}

Result<Transaction> Transaction::begin(Database& database) {
  ATTUNE_RETURN_IF_ERROR(database.execute("BEGIN IMMEDIATE"));
  return Transaction(database);
}

Result<Transaction> Transaction::begin_reading(Database& database) {
  ATTUNE_RETURN_IF_ERROR(database.execute("BEGIN"));
  return Transaction(database);
}

Transaction::Transaction(Transaction&& other) noexcept
    : database_(std::exchange(other.database_, nullptr)) {}

Transaction::~Transaction() {
  // SQLite may already have undone it by itself, for example on a full disk.
  if (database_ != nullptr && database_->in_transaction()) (void)database_->execute("ROLLBACK");
}

Status Transaction::commit() {
  database_->end_statements();
  ATTUNE_RETURN_IF_ERROR(database_->execute("COMMIT"));
  database_ = nullptr;
  return {};
}

}  // namespace attune::sqlite
