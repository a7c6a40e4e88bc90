#include "tuner/records/sqlite_open.h"

#include <fmt/core.h>
#include <sqlite3.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cctype>
#include <cerrno>
#include <cstring>
#include <filesystem>
#include <system_error>

#include "base/sqlite/durable.h"
#include "tuner/records/sqlite_checks.h"
#include "tuner/records/sqlite_schema.h"

namespace attune::records {
namespace {

namespace fs = std::filesystem;

// Another may hold the file while a slow disk writes.
constexpr int kBusyTimeoutMs = 60000;
constexpr const char* kOtherFileHint = "name another file with --records PATH";

enum class FileKind { Missing, Empty, Filled };

// What the system calls an error, as part of a sentence.
std::string reason(int error_number) {
  std::string text = std::strerror(error_number);
  text[0] = static_cast<char>(std::tolower(static_cast<unsigned char>(text[0])));
  return text;
}

Error cannot(const char* verb, const std::string& path, const std::string& why) {
  return {ErrorCode::Io, fmt::format("cannot {} records file '{}': {}", verb, path, why),
          kOtherFileHint};
}

// Looks at the file without opening it: closing it again would give up the locks that another
// connection of this process holds (POSIX locks belong to the process, not to the descriptor).
Result<FileKind> inspect(const std::string& path) {
  if (path.empty()) return invalid("the path of the records file is empty", kOtherFileHint);
  struct stat status = {};
  if (::stat(path.c_str(), &status) != 0) {
    if (errno == ENOENT) return FileKind::Missing;
    return cannot("open", path, reason(errno));
  }
  if (S_ISDIR(status.st_mode)) return cannot("open", path, "it is a directory");
  if (!S_ISREG(status.st_mode)) return cannot("open", path, "it is not a regular file");
  if (::access(path.c_str(), R_OK) != 0) return cannot("read", path, reason(errno));
  return status.st_size == 0 ? FileKind::Empty : FileKind::Filled;
}

Status create_parents(const std::string& path) {
  const fs::path parent = fs::path(path).parent_path();
  std::error_code failure;
  if (parent.empty() || fs::is_directory(parent, failure)) return {};
  fs::create_directories(parent, failure);
  if (!failure) return {};
  return Error{failure.value() == ENOSPC ? ErrorCode::Exhausted : ErrorCode::Io,
               fmt::format("cannot create directory '{}' for records: {}", parent.string(),
                           reason(failure.value())),
               kOtherFileHint};
}

// Says early and clearly what SQLite would only say as "unable to open". The log beside the file
// needs a directory that can be written, too.
Status require_writable(const std::string& path, FileKind kind) {
  const fs::path parent = fs::path(path).parent_path();
  const std::string directory = parent.empty() ? "." : parent.string();
  if (kind != FileKind::Missing && ::access(path.c_str(), W_OK) != 0) {
    return cannot("write", path, reason(errno));
  }
  if (::access(directory.c_str(), W_OK | X_OK) != 0) {
    return cannot(kind == FileKind::Missing ? "create" : "write", path,
                  fmt::format("directory '{}': {}", directory, reason(errno)));
  }
  return {};
}

// The version of a file that is ours, in form and name. One look: another may be bringing it up to
// date.
Result<std::int64_t> check_file(sqlite::Database& database) {
  ATTUNE_ASSIGN(sqlite::Transaction look, sqlite::Transaction::begin_reading(database));
  ATTUNE_ASSIGN(const std::int64_t version,
                check_version(database, static_cast<std::int64_t>(migrations().size())));
  ATTUNE_RETURN_IF_ERROR(check_form(database, version));
  ATTUNE_RETURN_IF_ERROR(look.commit());
  return version;
}

Result<sqlite::Database> open_in_memory(const std::string& name) {
  return sqlite::Database::open(":memory:", SQLITE_OPEN_READWRITE | SQLITE_OPEN_CREATE, name,
                                kFileWords);
}

Status forbid_writing(sqlite::Database& database) {
  return database.execute("PRAGMA query_only=ON");
}

std::string immutable_address(const std::string& path) {
  std::string address = "file:";
  for (char c : fs::absolute(path).string()) {
    if (c == '%' || c == '?' || c == '#') {
      address += fmt::format("%{:02X}", static_cast<unsigned char>(c));
    } else {
      address += c;
    }
  }
  return address + "?immutable=1";
}

// Opens an existing file and reads its version. Where neither the file's log nor the log's index
// can be made (a directory without write permission) and no log is left over, the file is read as
// it is.
Result<sqlite::Database> open_existing(const std::string& path, std::int64_t& version) {
  ATTUNE_ASSIGN(sqlite::Database database,
                sqlite::Database::open(path, SQLITE_OPEN_READWRITE, path, kFileWords));
  database.set_busy_timeout_ms(kBusyTimeoutMs);
  database.set_checkpoint_on_close(false);
  Result<std::int64_t> found = check_file(database);
  if (!found.ok() && found.error().code == ErrorCode::Io && database.read_only()) {
    std::error_code ignored;
    const std::string log = path + "-wal";
    if (fs::exists(log, ignored) && fs::file_size(log, ignored) > 0) return found.error();
    ATTUNE_ASSIGN(sqlite::Database frozen,
                  sqlite::Database::open(immutable_address(path),
                                         SQLITE_OPEN_READONLY | SQLITE_OPEN_URI, path, kFileWords));
    ATTUNE_ASSIGN(version, check_file(frozen));
    return frozen;
  }
  if (!found.ok()) return found.error();
  version = found.value();
  database.set_checkpoint_on_close(!database.read_only());
  return database;
}

}  // namespace

Result<sqlite::Database> open_for_writing(const std::string& path) {
  ATTUNE_ASSIGN(const FileKind kind, inspect(path));
  if (kind == FileKind::Missing) ATTUNE_RETURN_IF_ERROR(create_parents(path));
  ATTUNE_RETURN_IF_ERROR(require_writable(path, kind));
  ATTUNE_ASSIGN(
      sqlite::Database database,
      sqlite::Database::open(path, SQLITE_OPEN_READWRITE | SQLITE_OPEN_CREATE, path, kFileWords));
  database.set_busy_timeout_ms(kBusyTimeoutMs);
  if (database.read_only()) return database.explain(SQLITE_READONLY, {});
  // A file that is refused below must not be changed by a left-over log either.
  database.set_checkpoint_on_close(false);
  ATTUNE_ASSIGN(const std::int64_t version, check_file(database));
  (void)version;
  // Cheap beside a tuning run, and damage is found before anything is added to it.
  ATTUNE_RETURN_IF_ERROR(check_pages(database));
  ATTUNE_RETURN_IF_ERROR(sqlite::make_durable(database, kBusyTimeoutMs));
  ATTUNE_RETURN_IF_ERROR(database.execute("PRAGMA foreign_keys=ON"));
  ATTUNE_RETURN_IF_ERROR(migrate(database, migrations()));
  database.set_checkpoint_on_close(true);
  return database;
}

Result<sqlite::Database> open_for_reading(const std::string& path) {
  ATTUNE_ASSIGN(const FileKind kind, inspect(path));
  if (kind == FileKind::Filled) {
    std::int64_t version = 0;
    ATTUNE_ASSIGN(sqlite::Database database, open_existing(path, version));
    if (version == static_cast<std::int64_t>(migrations().size())) {
      ATTUNE_RETURN_IF_ERROR(forbid_writing(database));
      return database;
    }
    ATTUNE_ASSIGN(sqlite::Database copy, open_in_memory(path));
    ATTUNE_RETURN_IF_ERROR(copy.copy_from(database));
    ATTUNE_RETURN_IF_ERROR(migrate(copy, migrations()));
    ATTUNE_RETURN_IF_ERROR(forbid_writing(copy));
    return copy;
  }
  ATTUNE_ASSIGN(sqlite::Database empty, open_in_memory(path));
  ATTUNE_RETURN_IF_ERROR(migrate(empty, migrations()));
  ATTUNE_RETURN_IF_ERROR(forbid_writing(empty));
  return empty;
}

}  // namespace attune::records
