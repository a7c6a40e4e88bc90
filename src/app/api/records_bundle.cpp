#include <fmt/format.h>

#include <filesystem>

#include "app/api/known_schedule.h"
#include "app/api/records.h"
#include "app/api/text_file.h"
#include "app/deploy/bundle.h"
#include "base/atomic_file.h"

namespace attune::api {
namespace {

// What the file holds; nothing when there is none.
Result<deploy::Bundle> held_by(const std::string& path) {
  std::error_code failure;
  if (!std::filesystem::exists(path, failure)) return deploy::Bundle();
  ATTUNE_ASSIGN(const std::string lines, read_text_file(path));
  auto bundle = deploy::parse_bundle(lines);
  if (bundle.ok()) return bundle;
  return Error{ErrorCode::InvalidArgument,
               fmt::format("'{}' cannot be added to: {}", path, bundle.error().message),
               "name another file, or remove that one"};
}

}  // namespace

Result<BundleReport> write_bundle(const RecordsOptions& options, std::int64_t keep,
                                  const std::string& path) {
  ATTUNE_ASSIGN(const std::string records, records_path(options.records));
  ATTUNE_ASSIGN(const auto store, records::open_sqlite_store_for_reading(records));
  ATTUNE_ASSIGN(deploy::Bundle held, held_by(path));
  const auto held_tasks = static_cast<std::int64_t>(held.size());
  const auto count = static_cast<std::size_t>(keep);
  std::size_t left_out = 0;
  ATTUNE_ASSIGN(deploy::Bundle found, deploy::make_bundle(*store, count, left_out));
  const deploy::Bundle bundle = deploy::merged(std::move(held), std::move(found), count);
  ATTUNE_ASSIGN(AtomicFile file, AtomicFile::create(path));
  ATTUNE_RETURN_IF_ERROR(file.write(deploy::to_lines(bundle)));
  ATTUNE_RETURN_IF_ERROR(file.commit());
  const auto tasks = static_cast<std::int64_t>(bundle.size());
  return BundleReport{tasks, tasks - held_tasks, static_cast<std::int64_t>(left_out)};
}

}  // namespace attune::api
