#include "app/api/known_schedule.h"
#include "app/api/records.h"
#include "app/deploy/bundle.h"
#include "base/atomic_file.h"

namespace attune::api {

Result<BundleReport> write_bundle(const RecordsOptions& options, std::int64_t keep,
                                  const std::string& path) {
  ATTUNE_ASSIGN(const std::string records, records_path(options.records));
  ATTUNE_ASSIGN(const auto store, records::open_sqlite_store_for_reading(records));
  std::size_t left_out = 0;
  ATTUNE_ASSIGN(const deploy::Bundle bundle,
                deploy::make_bundle(*store, static_cast<std::size_t>(keep), left_out));
  ATTUNE_ASSIGN(AtomicFile file, AtomicFile::create(path));
  ATTUNE_RETURN_IF_ERROR(file.write(deploy::to_lines(bundle)));
  ATTUNE_RETURN_IF_ERROR(file.commit());
  return BundleReport{static_cast<std::int64_t>(bundle.size()),
                      static_cast<std::int64_t>(left_out)};
}

}  // namespace attune::api
