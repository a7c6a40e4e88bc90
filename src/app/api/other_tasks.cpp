#include "app/api/other_tasks.h"

#include <algorithm>

#include "app/api/known_schedule.h"
#include "compiler/codegen/codegen.h"
#include "runtime/affinity.h"

namespace attune::api {

Result<session::LoadedHistory> learn_from_others(records::Store& own, const std::string& history,
                                                 const ir::Target& target,
                                                 std::vector<std::string> except) {
  if (history == "none") {
    return session::LoadedHistory{std::make_shared<const model::History>(), {}};
  }
  std::vector<records::Store*> stores = {&own};
  std::unique_ptr<records::Store> named;
  ATTUNE_ASSIGN(const std::optional<std::string> path, history_path(history));
  if (path) {
    ATTUNE_ASSIGN(named, records::open_sqlite_store_for_reading(*path));
    stores.push_back(named.get());
  }
  session::HistoryOptions options;
  options.except_tasks = std::move(except);
  options.target_kind = target.kind;
  options.resolve = codegen::resolve_target;
  options.threads = static_cast<int>(std::min<std::size_t>(runtime::allowed_cores().size(), 8));
  return session::load_history(stores, options);
}

}  // namespace attune::api
