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

// What is to be written at once.
struct Changes {
  std::vector<jobs::JobRow> jobs = {};
  std::vector<jobs::StageRow> stages = {};
  std::vector<jobs::ForgottenJob> forgotten = {};
  std::vector<std::string> folders = {};  // that rows speak of: the journal syncs them first
  bool empty() const {
    return jobs.empty() && stages.empty() && forgotten.empty() && folders.empty();
  }
};

class StateFile {
 public:
  // Makes the file when there is none, and brings one of an earlier program up to date. A damaged
  // or newer one is refused and stays as it is.
  static Result<StateFile> open(const std::string& path);
  // Only to look at.
  static Result<StateFile> open_to_read(const std::string& path);

  // By number; without the reports of jobs that ended where they are not wanted.
  enum class Reports { Read, Leave };
  Result<std::vector<jobs::JobRow>> read_jobs(Reports reports = Reports::Read) const;
  // Stages that finished, of the last `most` of them, or all, in the order of their end.
  Result<std::vector<jobs::StageRow>> read_stages(std::int64_t most = -1) const;
  Result<std::vector<jobs::Pool>> read_pools() const;

  // The report of a job that ended; empty where it has none.
  Result<std::string> read_report(const std::string& id) const;

  // For when rows cannot be read: see state/damaged_rows.h.
  Result<std::vector<std::string>> set_damaged_aside(double now);

  // All of it, or nothing when it fails; on the disk when it returns.
  Status write(const Changes& changes);
  // Of stages that ended before, and of those beyond the `most` newest: so many of the oldest. How
  // many they were.
  Result<std::int64_t> remove_stages(double before, std::int64_t most, std::int64_t at_once);
  // Where most of the file is unused, and so many bytes of it; done whenever one is opened, too.
  Status shrink(std::int64_t worth_bytes);
  Status write_pools(const std::vector<jobs::Pool>& pools);

 private:
  explicit StateFile(sqlite::Database database)
      : database_(std::make_unique<sqlite::Database>(std::move(database))) {}
  Status prepare_to_write();
  Status prepare_statements();
  Status put(const jobs::JobRow& row);
  Status put(const jobs::StageRow& row);
  Status check_version() const;
  Status migrate();

  std::unique_ptr<sqlite::Database> database_;  // stays where it is, statements know it
  // Prepared once, as they are used for every stage; none where it is only looked at.
  std::optional<sqlite::Statement> put_job_, put_stage_, remove_job_, remove_aside_,
      remove_stages_of_;
};

}  // namespace attune::server
