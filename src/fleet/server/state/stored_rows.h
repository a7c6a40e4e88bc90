// Rows of the state file as they lie there, and whether they may be believed.
#pragma once

#include <cstdint>
#include <string>

#include "base/result.h"
#include "base/sqlite/database.h"
#include "fleet/jobs/book/rows.h"

namespace attune::server {

// What is selected of a job, in a file of that version, and of a stage.
std::string job_columns(std::int64_t version);
inline constexpr const char* kStageColumns =
    "job, epoch, stage, kind, pool, slots, ready_at, started_at, ended_at, how";

// The row that the statement stands on; of a job that cannot be read, its number and what lies
// beside it. The error says why it is not believed.
Status read_job(const sqlite::Statement& statement, jobs::JobRow& row);
Status read_stage(const sqlite::Statement& statement, jobs::StageRow& row);

}  // namespace attune::server
