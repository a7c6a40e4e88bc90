#include <fmt/format.h>

#include <filesystem>

#include "app/verbs/records/records.h"
#include "base/atomic_file.h"
#include "base/text_file.h"
#include "compiler/model/schedules/bundle.h"
#include "compiler/model/schedules/known_schedule.h"

namespace attune::verbs {
namespace {

// What the file holds; nothing when there is none.
Result<model::Bundle> held_by(const std::string& path) {
  std::error_code failure;
  if (!std::filesystem::exists(path, failure)) return model::Bundle();
  ATTUNE_ASSIGN(const std::string lines, read_text_file(path));
  auto bundle = model::parse_bundle(lines);
  if (bundle.ok()) return bundle;
  return Error{ErrorCode::InvalidArgument,
               fmt::format("'{}' cannot be added to: {}", path, bundle.error().message),
               "name another file, or remove that one"};
}

}  // namespace

Result<BundleReport> write_bundle(const RecordsOptions& options, std::int64_t keep,
                                  const std::string& path) {
  ATTUNE_ASSIGN(const std::string records, model::records_path(options.records));
  ATTUNE_ASSIGN(const auto store, records::open_sqlite_store_for_reading(records));
  ATTUNE_ASSIGN(model::Bundle held, held_by(path));
  const auto held_tasks = static_cast<std::int64_t>(held.size());
  const auto count = static_cast<std::size_t>(keep);
  std::size_t left_out = 0;
  ATTUNE_ASSIGN(model::Bundle found, model::make_bundle(*store, count, left_out));
  const model::Bundle bundle = model::merged(std::move(held), std::move(found), count);
  ATTUNE_ASSIGN(AtomicFile file, AtomicFile::create(path));
  ATTUNE_RETURN_IF_ERROR(file.write(model::to_lines(bundle)));
  ATTUNE_RETURN_IF_ERROR(file.commit());
  const auto tasks = static_cast<std::int64_t>(bundle.size());
  return BundleReport{tasks, tasks - held_tasks, static_cast<std::int64_t>(left_out)};
}

}  // namespace attune::verbs
