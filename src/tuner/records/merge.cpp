#include "tuner/records/merge.h"

#include <set>
#include <vector>

#include "tuner/records/store.h"

namespace attune::records {
namespace {

constexpr std::size_t kAtOnce = 1000;  // records

}  // namespace

Status merge_stores(const std::string& from, const std::string& into) {
  ATTUNE_ASSIGN(const auto own, open_sqlite_store_for_reading(from));
  ATTUNE_ASSIGN(const auto store, open_sqlite_store(into));
  std::vector<Record> some;
  std::set<std::string> keys;
  const auto flush = [&]() -> Status {
    const auto added = store->add_new(some);
    some.clear();
    return added.ok() ? Status() : Status(added.error());
  };
  ATTUNE_RETURN_IF_ERROR(own->visit({}, [&](const Record& record) -> Status {
    some.push_back(record);
    some.back().session = 0;  // sessions are their store's own
    keys.insert(record.task_key);
    return some.size() < kAtOnce ? Status() : flush();
  }));
  ATTUNE_RETURN_IF_ERROR(flush());
  for (const std::string& key : keys) {
    ATTUNE_ASSIGN(const auto task, own->task(key));
    if (task) ATTUNE_RETURN_IF_ERROR(store->put_task(*task));
  }
  return {};
}

}  // namespace attune::records
