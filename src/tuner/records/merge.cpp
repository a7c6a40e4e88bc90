#include "tuner/records/merge.h"

#include <set>
#include <utility>
#include <vector>

#include "tuner/records/sqlite_checks.h"
#include "tuner/records/sqlite_open.h"
#include "tuner/records/sqlite_store.h"

namespace attune::records {
namespace {

constexpr std::size_t kAtOnce = 1000;  // records

}  // namespace

Status merge_stores(const std::string& from, const std::string& into) {
  ATTUNE_ASSIGN(sqlite::Database file, open_for_reading(from));
  ATTUNE_RETURN_IF_ERROR(check_pages(file));  // it may come from another user
  SqliteStore own(std::move(file));
  ATTUNE_ASSIGN(const auto store, open_sqlite_store(into));
  std::vector<Record> some;
  std::set<std::string> keys;
  const auto flush = [&]() -> Status {
    const auto added = store->add_new(some);
    some.clear();
    return added.ok() ? Status() : Status(added.error());
  };
  ATTUNE_RETURN_IF_ERROR(own.visit({}, [&](const Record& record) -> Status {
    some.push_back(record);
    some.back().session = 0;  // sessions are their store's own
    keys.insert(record.task_key);
    return some.size() < kAtOnce ? Status() : flush();
  }));
  ATTUNE_RETURN_IF_ERROR(flush());
  for (const std::string& key : keys) {
    ATTUNE_ASSIGN(const auto task, own.task(key));
    if (task) ATTUNE_RETURN_IF_ERROR(store->put_task(*task));
  }
  return {};
}

}  // namespace attune::records
