#include "tuner/records/sqlite_open.h"

#include <gtest/gtest.h>
#include <sched.h>
#include <sys/mount.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include <functional>
#include <vector>

#include "tuner/records/sample_records_testing.h"
#include "tuner/records/sqlite_schema.h"
#include "tuner/records/sqlite_store.h"

namespace attune::records {
namespace {

namespace fs = std::filesystem;

const auto kNewest = static_cast<std::int64_t>(migrations().size());
const BestQuery kHot{kTask, kTarget, Weights::Hot, true};

class OpenTest : public testing::Test {
 protected:
  std::string path() const { return directory_.file("records.db"); }

  void write_records(int count) {
    auto store = open_sqlite_store(path());
    ASSERT_TRUE(store.ok()) << store.error().message;
    std::vector<Record> records;
    for (int i = 0; i < count; ++i) records.push_back(sample_record(i, timing(100 + i)));
    ASSERT_TRUE((*store)->add(records).ok());
  }
  void run_sql(const std::string& sql) {
    auto database = open_for_writing(path());
    ASSERT_TRUE(database.ok()) << database.error().message;
    const Status status = database->execute(sql);
    ASSERT_TRUE(status.ok()) << status.error().message;
  }
  // A file as an earlier version wrote it, with one record.
  void write_version(std::size_t version) {
    fs::remove(path());
    auto database = sqlite::Database::open(path(), 6 /* read, write, create */, path(), kFileWords);
    ASSERT_TRUE(database.ok());
    ASSERT_TRUE(database->execute("PRAGMA journal_mode=WAL").ok());
    ASSERT_TRUE(migrate(*database, migrations().first(version)).ok());
    SqliteStore store(std::move(database).value());
    ASSERT_TRUE(store.add(std::vector{sample_record(3, timing(5))}).ok());
  }
  // Both ways of opening refuse the file with this error and leave every byte as it is.
  void expect_refused(ErrorCode code, const std::string& message, const std::string& hint) {
    const std::string before = file_content(path());
    for (const auto& open : {open_sqlite_store, open_sqlite_store_for_reading}) {
      const auto store = open(path());
      ASSERT_FALSE(store.ok());
      EXPECT_EQ(store.error().code, code);
      EXPECT_EQ(store.error().message, message);
      EXPECT_EQ(store.error().hint, hint);
      EXPECT_EQ(file_content(path()), before);
    }
  }

  TemporaryDirectory directory_;
};

// Runs `body` in a child process and returns its answer.
std::string in_child(const std::function<std::string()>& body) {
  int ends[2];
  CHECK(::pipe(ends) == 0, "no pipe");
  const pid_t child = ::fork();
  CHECK(child >= 0, "no child");
  if (child == 0) {
    const std::string answer = body();
    CHECK(::write(ends[1], answer.data(), answer.size()) >= 0, "no answer");
    ::_exit(0);
  }
  ::close(ends[1]);
  std::string answer;
  char buffer[512];
  for (ssize_t n; (n = ::read(ends[0], buffer, sizeof buffer)) > 0;) {
    answer.append(buffer, static_cast<std::size_t>(n));
  }
  ::close(ends[0]);
  int status = 0;
  ::waitpid(child, &status, 0);
  return WIFEXITED(status) && WEXITSTATUS(status) == 0 ? answer : "the child died";
}

// The same in a child that has given its rights away, since root may write anywhere.
std::string without_rights(const std::function<std::string()>& body) {
  return in_child([&]() -> std::string {
    if (::geteuid() == 0 && ::setuid(65534) != 0) return "cannot give rights away";
    return body();
  });
}

// Adds batches until the store fails; says how far it came and what was there afterwards.
std::string fill_disk(const std::string& file) {
  std::size_t stored = 0;
  std::string failure;
  {
    auto store = open_sqlite_store(file);
    if (!store.ok()) return store.error().message;
    while (failure.empty() && stored < 10000) {
      std::vector<Record> batch;
      for (int i = 0; i < 8; ++i) {
        batch.push_back(sample_record(static_cast<std::int64_t>(stored) + i, timing(1)));
      }
      const auto ids = (*store)->add(batch);
      if (ids.ok()) {
        stored += batch.size();
      } else {
        failure = ids.error().message;
      }
    }
    if ((*store)->list({})->size() != stored) return "records are missing";
  }
  auto reader = open_sqlite_store_for_reading(file);
  if (!reader.ok()) return reader.error().message;
  if ((*reader)->list({})->size() != stored) return "records are missing after reopening";
  return stored == 0 ? "nothing was stored" : failure;
}

TEST_F(OpenTest, CreatesFileAndDirectories) {
  const std::string deep = directory_.file("a/b/records.db");
  auto store = open_sqlite_store(deep);
  ASSERT_TRUE(store.ok()) << store.error().message;
  EXPECT_TRUE((*store)->list({})->empty());
  auto* sqlite = dynamic_cast<SqliteStore*>(store->get());
  EXPECT_EQ(sqlite->database().text("PRAGMA journal_mode").value(), "wal");
  EXPECT_EQ(sqlite->database().integer("PRAGMA synchronous").value(), 2);
  EXPECT_EQ(sqlite->database().integer("PRAGMA user_version").value(), kNewest);
  store->reset();
  EXPECT_TRUE(fs::exists(deep));
}

TEST_F(OpenTest, ReadingAMissingFileCreatesNothing) {
  const std::string deep = directory_.file("a/records.db");
  auto store = open_sqlite_store_for_reading(deep);
  ASSERT_TRUE(store.ok()) << store.error().message;
  EXPECT_TRUE((*store)->list({})->empty());
  EXPECT_FALSE((*store)->best(kHot)->has_value());
  EXPECT_FALSE((*store)->add(std::vector{sample_record(0, timing(1))}).ok());
  EXPECT_FALSE(fs::exists(directory_.file("a")));
}

TEST_F(OpenTest, ReadersSeeWhatAWriterHasCommitted) {
  auto writer = open_sqlite_store(path()).value();
  auto reader = open_sqlite_store_for_reading(path()).value();
  EXPECT_TRUE(reader->list({})->empty());
  ASSERT_TRUE(writer->add(std::vector{sample_record(0, timing(1))}).ok());
  EXPECT_EQ(reader->list({})->size(), 1u);
  EXPECT_FALSE(reader->create_session(sample_spec()).ok());
  writer.reset();
  reader.reset();
  EXPECT_FALSE(fs::exists(path() + "-wal"));
}

TEST_F(OpenTest, AnEmptyFileIsANewOne) {
  write_content(path(), "");
  EXPECT_TRUE(open_sqlite_store_for_reading(path()).value()->list({})->empty());
  EXPECT_EQ(fs::file_size(path()), 0u);
  write_records(1);
  EXPECT_EQ(open_sqlite_store_for_reading(path()).value()->list({})->size(), 1u);
}

TEST_F(OpenTest, AFileOfEveryEarlierVersionIsBroughtUpToDate) {
  for (std::size_t version = 1; version < migrations().size(); ++version) {
    write_version(version);
    auto store = open_sqlite_store(path());
    ASSERT_TRUE(store.ok()) << version << ": " << store.error().message;
    EXPECT_EQ((*store)->best(kHot).value()->number, 3);
    EXPECT_EQ((*store)->create_session(sample_spec()).value(), 1);
    auto* sqlite = dynamic_cast<SqliteStore*>(store->get());
    EXPECT_EQ(sqlite->database().integer("PRAGMA user_version").value(), kNewest);
  }
}

TEST_F(OpenTest, ReadingAnOlderFileLeavesItAsItIs) {
  write_version(1);
  const std::string before = file_content(path());
  auto store = open_sqlite_store_for_reading(path());
  ASSERT_TRUE(store.ok()) << store.error().message;
  EXPECT_EQ((*store)->best(kHot).value()->number, 3);
  EXPECT_FALSE((*store)->find_resumable_session(kTask, kTarget, "sa")->has_value());
  store->reset();
  EXPECT_EQ(file_content(path()), before);
}

TEST_F(OpenTest, AFailedMigrationChangesNothing) {
  write_version(1);
  auto database = sqlite::Database::open(path(), 2 /* read, write */, path(), kFileWords);
  ASSERT_TRUE(database.ok());
  const char* const steps[] = {migrations()[0], "CREATE TABLE half(x); CREATE TABLE half(x);"};
  const Status status = migrate(*database, steps);
  ASSERT_FALSE(status.ok());
  EXPECT_EQ(status.error().message,
            "records file '" + path() + "' failed: table half already exists");
  EXPECT_EQ(database->integer("PRAGMA user_version").value(), 1);
  EXPECT_EQ(database->integer("SELECT count(*) FROM sqlite_schema WHERE name = 'half'").value(), 0);
}

TEST_F(OpenTest, ANewerFileIsRefused) {
  write_records(1);
  run_sql("PRAGMA user_version = 9");
  expect_refused(ErrorCode::Corrupt,
                 "records file '" + path() + "' has schema version 9, this attune knows up to " +
                     std::to_string(kNewest),
                 "update attune, or name another file with --records PATH; it was not changed");
}

TEST_F(OpenTest, AForeignFileIsRefused) {
  write_content(path(), "PK\x03\x04 this is something else entirely, long enough for a header");
  expect_refused(ErrorCode::Corrupt,
                 "records file '" + path() + "' is damaged: file is not a database",
                 "move it away, or name another file with --records PATH; it was not changed");
  write_content(path(), "SQL");
  expect_refused(ErrorCode::Corrupt,
                 "records file '" + path() + "' is damaged: file is not a database",
                 "move it away, or name another file with --records PATH; it was not changed");
}

TEST_F(OpenTest, ADatabaseOfAnotherProgramIsRefused) {
  {
    auto database = sqlite::Database::open(path(), 6 /* read, write, create */, path(), kFileWords);
    ASSERT_TRUE(database.ok());
    ASSERT_TRUE(database->execute("CREATE TABLE bookmarks(url TEXT)").ok());
  }
  expect_refused(ErrorCode::Corrupt,
                 "'" + path() + "' is a database of another program, not a records file",
                 "name another file with --records PATH; it was not changed");
}

TEST_F(OpenTest, ATruncatedFileIsRefused) {
  write_records(200);
  const std::string whole = file_content(path());
  write_content(path(), whole.substr(0, whole.size() / 2));
  expect_refused(ErrorCode::Corrupt,
                 "records file '" + path() + "' is damaged: database disk image is malformed",
                 "move it away, or name another file with --records PATH; it was not changed");
}

TEST_F(OpenTest, DamagedPagesAreFoundBeforeWriting) {
  write_records(200);
  std::string bytes = file_content(path());
  for (std::size_t i = 3 * 4096; i < bytes.size(); ++i) bytes[i] = static_cast<char>(i * 7);
  write_content(path(), bytes);
  const auto store = open_sqlite_store(path());
  ASSERT_FALSE(store.ok());
  EXPECT_EQ(store.error().code, ErrorCode::Corrupt);
  EXPECT_EQ(store.error().message.find("records file '" + path() + "' is damaged: "), 0u)
      << store.error().message;
  EXPECT_EQ(store.error().message.find('\n'), std::string::npos);
  EXPECT_EQ(file_content(path()), bytes);
  // A reader does not look at every page; it meets the damage with the same error.
  auto reader = open_sqlite_store_for_reading(path());
  const auto listed =
      reader.ok() ? (*reader)->list({}) : Result<std::vector<Record>>(reader.error());
  ASSERT_FALSE(listed.ok());
  EXPECT_EQ(listed.error().code, ErrorCode::Corrupt);
  reader = invalid("closed");
  EXPECT_EQ(file_content(path()), bytes);
}

TEST_F(OpenTest, PathsThatCannotBeAFile) {
  const auto directory = open_sqlite_store(directory_.path().string());
  ASSERT_FALSE(directory.ok());
  EXPECT_EQ(directory.error().message,
            "cannot open records file '" + directory_.path().string() + "': it is a directory");
  EXPECT_EQ(directory.error().hint, "name another file with --records PATH");
  write_content(directory_.file("file"), "x");
  const std::string below = directory_.file("file/sub/records.db");
  const auto under_file = open_sqlite_store(below);
  ASSERT_FALSE(under_file.ok());
  EXPECT_EQ(under_file.error().message,
            "cannot open records file '" + below + "': not a directory");
  EXPECT_EQ(open_sqlite_store("").error().message, "the path of the records file is empty");
}

TEST_F(OpenTest, WithoutWritePermission) {
  write_records(2);
  fs::create_directory(directory_.file("locked"));
  ASSERT_EQ(::chmod(path().c_str(), 0444), 0);
  ASSERT_EQ(::chmod((directory_.file("locked")).c_str(), 0555), 0);
  ASSERT_EQ(::chmod(directory_.path().c_str(), 0555), 0);
  EXPECT_EQ(without_rights([&]() -> std::string {
              const auto store = open_sqlite_store(path());
              return store.ok() ? "opened" : store.error().message + " | " + store.error().hint;
            }),
            "cannot write records file '" + path() +
                "': permission denied | name another file with --records PATH");
  EXPECT_EQ(without_rights([&]() -> std::string {
              const auto store = open_sqlite_store(directory_.file("locked/records.db"));
              return store.ok() ? "opened" : store.error().message;
            }),
            "cannot create records file '" + directory_.file("locked/records.db") +
                "': directory '" + directory_.file("locked") + "': permission denied");
  EXPECT_EQ(without_rights([&]() -> std::string {
              const auto store = open_sqlite_store(directory_.file("locked/sub/records.db"));
              return store.ok() ? "opened" : store.error().message;
            }),
            "cannot create directory '" + directory_.file("locked/sub") +
                "' for records: permission denied");
  EXPECT_EQ(without_rights([&]() -> std::string {
              const auto store = open_sqlite_store_for_reading(path());
              if (!store.ok()) return store.error().message;
              const auto listed = (*store)->list({});
              if (!listed.ok()) return listed.error().message;
              return std::to_string(listed->size()) + " records";
            }),
            "2 records");
  ASSERT_EQ(::chmod(directory_.path().c_str(), 0755), 0);
  ASSERT_EQ(::chmod(path().c_str(), 0000), 0);
  EXPECT_EQ(without_rights([&]() -> std::string {
              const auto store = open_sqlite_store_for_reading(path());
              return store.ok() ? "opened" : store.error().message;
            }),
            "cannot read records file '" + path() + "': permission denied");
}

// A round either fits or leaves no trace, and what was there before can be read and added to again.
TEST_F(OpenTest, AFullDatabaseLosesNothing) {
  SqliteStore store(open_for_writing(path()).value());
  const SessionId session = store.create_session(sample_spec()).value();
  ASSERT_TRUE(store.append_selected(session, 0, std::vector{sample_candidate(0)}, "s0").ok());
  const auto pages = store.database().integer("PRAGMA page_count").value();
  ASSERT_TRUE(
      store.database().execute("PRAGMA max_page_count = " + std::to_string(pages + 2)).ok());
  std::vector<SessionCandidate> many;
  for (int i = 1; i < 500; ++i) many.push_back(sample_candidate(i));
  const Status status = store.append_selected(session, 1, many, "s1");
  ASSERT_FALSE(status.ok());
  EXPECT_EQ(status.error().code, ErrorCode::Exhausted);
  EXPECT_EQ(status.error().message, "no space left on the disk of '" + path() + "'");
  EXPECT_EQ(status.error().hint,
            "free some space and go on with --resume; what was recorded before is safe");
  const Session loaded = store.load_session(session).value();
  EXPECT_EQ(loaded.rounds.size(), 1u);
  EXPECT_EQ(loaded.candidates.size(), 1u);
  EXPECT_EQ(loaded.changes, std::vector<std::string>{"s0"});
  ASSERT_TRUE(store.database().execute("PRAGMA max_page_count = 100000").ok());
  EXPECT_TRUE(store.append_selected(session, 1, many, "s1").ok());
}

// The same on a real file system of 256 kB, where the log and not the database hits the end. It is
// seen by the child alone and gone with it.
TEST_F(OpenTest, AFullDiskLosesNothing) {
  const std::string file = directory_.file("records.db");
  const std::string answer = in_child([&]() -> std::string {
    const bool mounted = ::unshare(CLONE_NEWNS) == 0 &&
                         ::mount("none", "/", nullptr, MS_REC | MS_PRIVATE, nullptr) == 0 &&
                         ::mount("none", directory_.path().c_str(), "tmpfs", 0, "size=256k") == 0;
    return mounted ? fill_disk(file) : "may not mount";
  });
  if (answer == "may not mount") GTEST_SKIP() << "may not mount a small disk here";
  EXPECT_EQ(answer, "no space left on the disk of '" + file + "'");
}

TEST(DefaultPath, FollowsXdg) {
  EXPECT_EQ(default_records_path("/data", "/home/a").value(), "/data/attune/records.db");
  EXPECT_EQ(default_records_path(nullptr, "/home/a").value(),
            "/home/a/.local/share/attune/records.db");
  EXPECT_EQ(default_records_path("", "/home/a").value(), "/home/a/.local/share/attune/records.db");
  EXPECT_EQ(default_records_path("relative", "/home/a").value(),
            "/home/a/.local/share/attune/records.db");
  const auto none = default_records_path(nullptr, nullptr);
  ASSERT_FALSE(none.ok());
  EXPECT_EQ(none.error().message,
            "no place for the records: neither HOME nor XDG_DATA_HOME is set");
  EXPECT_EQ(none.error().hint, "name a file with --records PATH");
}

}  // namespace
}  // namespace attune::records
