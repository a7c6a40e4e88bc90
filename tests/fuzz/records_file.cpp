// A file of records as somebody sends it (--history, jobs fetch): a whole database, opened to be
// read, and everything in it asked for.
#include <set>
#include <string>

#include "tests/fuzz/file_on_disk.h"
#include "tests/fuzz/harness.h"
#include "tuner/records/sqlite_checks.h"
#include "tuner/records/sqlite_open.h"
#include "tuner/records/sqlite_store.h"

namespace attune::fuzz {
namespace {

constexpr std::size_t kMostTasks = 100;

void read_tasks(records::Store& store, const std::set<std::pair<std::string, std::string>>& tasks) {
  for (const auto& [key, target] : tasks) {
    (void)store.task(key);
    (void)store.best({.task_key = key, .target = target});
    (void)store.top({.task_key = key, .target = target, .verified_only = false}, 3);
    (void)store.count_trials(key, target);
    (void)store.known_traces(key, target);
  }
}

void read_sessions(records::Store& store) {
  for (records::SessionId session = 1; session <= 20; ++session) {
    const auto spec = store.session_spec(session);
    (void)store.load_session(session);
    if (!spec.ok()) continue;
    (void)store.find_resumable_session(spec->task_key, spec->target, spec->options_key);
  }
}

}  // namespace

void fuzz_records_file(std::string_view bytes) {
  static const FileOnDisk disk;
  auto file = records::open_for_reading(disk.hold(bytes));
  if (!file.ok()) return;
  (void)records::check_pages(*file);
  records::SqliteStore store(std::move(*file));
  std::set<std::pair<std::string, std::string>> tasks;
  (void)store.visit({}, [&](const records::Record& record) -> Status {
    if (tasks.size() < kMostTasks) tasks.insert({record.task_key, record.target});
    return {};
  });
  read_tasks(store, tasks);
  (void)store.hints({});
  (void)store.sample_trials({});
  read_sessions(store);
}

}  // namespace attune::fuzz
