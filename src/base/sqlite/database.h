// A thin owner of SQLite's handles: what fails becomes a Result, in the words of whoever keeps the
// file.
#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <string_view>

#include "base/result.h"

struct sqlite3;
struct sqlite3_stmt;

namespace attune::sqlite {

class Database;

// What messages say of a file.
struct FileWords {
  std::string_view noun;       // "records file"
  std::string_view other;      // what names another one: "name another file with --records PATH"
  std::string_view when_full;  // what to do when the disk is full
};

// Bytes that are no text.
struct Blob {
  std::string_view bytes;
};

// A prepared statement. bind() fills the parameters from the first on, step() goes to the next row.
class Statement {
 public:
  Statement(const Database& database, sqlite3_stmt* statement);

  template <typename... Values>
  Statement& bind(const Values&... values) {
    reset();
    int index = 0;
    (bind_at(++index, values), ...);
    return *this;
  }
  Result<bool> step();  // whether there is a row
  Status run();         // for statements without rows

  bool is_null(int column) const;
  std::int64_t integer(int column) const;
  std::uint64_t unsigned_integer(int column) const;
  double real(int column) const;
  std::string text(int column) const;  // also blobs

 private:
  struct Finalize {
    void operator()(sqlite3_stmt* statement) const;
  };
  void reset();
  void bind_at(int index, std::int64_t value);
  void bind_at(int index, std::uint64_t value);  // stored as the signed number of the same bits
  void bind_at(int index, bool value);
  void bind_at(int index, double value);
  void bind_at(int index, const std::string& value);
  void bind_at(int index, std::string_view value);
  void bind_at(int index, const Blob& value);
  void bind_at(int index, const std::optional<double>& value);
  void bind_at(int index, const std::optional<std::int64_t>& value);

  const Database* database_;
  std::unique_ptr<sqlite3_stmt, Finalize> statement_;
};

class Database {
 public:
  // `address` is a SQLite URI or file name; `name` is what messages call the file. The words are of
  // what never goes.
  static Result<Database> open(const std::string& address, int flags, std::string name,
                               const FileWords& words);
  // A file by its name, made when it is to be written and is not there.
  enum class Access { Read, Write };
  static Result<Database> open_file(const std::string& path, Access access, const FileWords& words);

  Status execute(const std::string& sql);
  Result<Statement> prepare(std::string_view sql) const;
  // The first column of the first row of `sql`.
  Result<std::int64_t> integer(std::string_view sql) const;
  Result<std::string> text(std::string_view sql) const;

  std::int64_t last_inserted_id() const;
  std::int64_t changed_rows() const;  // by the last statement
  bool in_transaction() const;
  bool read_only() const;
  void set_busy_timeout_ms(int milliseconds);
  void set_checkpoint_on_close(bool checkpoint);
  // Ends all statements that still stand on a row: they would keep the log from being taken over
  // into the file.
  void end_statements();
  // Copies everything of `from` into this database, which must be empty.
  Status copy_from(const Database& from);

  // The error that SQLite reports now, in the words of a user.
  Error last_error() const;
  // What a result code of SQLite means for this file; `detail` is SQLite's own text.
  Error explain(int extended_code, const std::string& detail) const;
  const std::string& name() const { return name_; }

 private:
  struct Close {
    void operator()(sqlite3* handle) const;
  };
  Database(sqlite3* handle, std::string name, const FileWords& words);

  std::string name_;
  FileWords words_;
  std::unique_ptr<sqlite3, Close> handle_;
};

// From begin() to commit(); undone when it goes out of scope before.
class Transaction {
 public:
  // Takes the right to write at once, so that it cannot be lost half-way.
  static Result<Transaction> begin(Database& database);
  // One unchanging view for several reads.
  static Result<Transaction> begin_reading(Database& database);
  Transaction(Transaction&& other) noexcept;
  Transaction& operator=(Transaction&&) = delete;
  ~Transaction();
  Status commit();

 private:
  explicit Transaction(Database& database) : database_(&database) {}
  Database* database_;
};

}  // namespace attune::sqlite
