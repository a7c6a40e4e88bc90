// The state of a scheduler on disk, scheduler.db in its folder: jobs, and the stages that ran. What
// was written is there after a crash of the process or of the machine. Several processes may read
// it at any time, one writes.
#pragma once

#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "base/result.h"
#include "base/sqlite/database.h"
#include "fleet/jobs/book/rows.h"
#include "fleet/jobs/scheduler/scheduler.h"

namespace attune::server {

class StateFile {
 public:
  // Makes the file when there is none, and brings one of an earlier program up to date. A damaged
  // or newer one is refused and stays as it is.
  static Result<StateFile> open(const std::string& path);
  // Only to look at.
  static Result<StateFile> open_to_read(const std::string& path);

  Result<std::vector<jobs::JobRow>> read_jobs() const;  // by number
  // Stages that finished, of the last `most` of them, or all, in the order of their end.
  Result<std::vector<jobs::StageRow>> read_stages(std::int64_t most = -1) const;
  Result<std::vector<jobs::Pool>> read_pools() const;

  // All of it, or nothing when it fails; on the disk when it returns.
  Status write(const std::vector<jobs::JobRow>& jobs, const std::vector<jobs::StageRow>& stages);
  Status write_pools(const std::vector<jobs::Pool>& pools);

 private:
  explicit StateFile(sqlite::Database database)
      : database_(std::make_unique<sqlite::Database>(std::move(database))) {}
  Status prepare_to_write();
  Status prepare_statements();
  Status check_version() const;
  Status migrate();

  std::unique_ptr<sqlite::Database> database_;  // stays where it is, statements know it
  // Prepared once, as they are used for every stage; none where it is only looked at.
  std::optional<sqlite::Statement> put_job_, put_stage_;
};

}  // namespace attune::server
