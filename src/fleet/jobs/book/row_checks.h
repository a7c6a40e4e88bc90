// What is read back from the state file is looked at before it is believed, as what others say is:
// the file may be damaged, or somebody may have written to it. Errors name the row.
#pragma once

#include <vector>

#include "base/result.h"
#include "fleet/jobs/book/rows.h"

namespace attune::jobs {

Status check_row(const JobRow& row);
Status check_row(const StageRow& row);
// Beyond each alone: no unit of a pool is held by two jobs.
Status check_rows(const std::vector<JobRow>& rows);

}  // namespace attune::jobs
