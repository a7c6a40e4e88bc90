// Jobs of a scheduler as a person reads them: in a line, in a table, in full, and as a live page
// with a strip for each resource. Pure functions of what the scheduler said and the time.
#pragma once

#include <cstddef>
#include <string>

#include "app/cli/console.h"
#include "app/verbs/jobs/jobs.h"

namespace attune::cli {

// "8 s", "3 min", "2.5 h".
std::string duration_text(double seconds);

// "waiting for cpu, number 2", "failed: no such file".
std::string state_text(const client::JobStatus& job);

// "resnet18: running, 120 trials, 22.1 ms (1.43x), about 3 min to go".
std::string job_line(const client::JobStatus& job, double now);

// One row per job, those that have not ended first. Of those that have, at most `ended`.
std::string jobs_table(const client::Overview& overview, std::size_t ended);

// Everything about one job.
std::string job_page(const client::JobStatus& job, double now);

// The resources: capacity, use, and how busy of late.
std::string pools_table(const client::Overview& overview);

// The page of `jobs watch` at the time `now`: jobs, and for each unit of each resource a strip of
// the last minutes, with a letter for the job that had it.
std::string live_page(const client::Overview& overview, double now, const Screen& screen);

}  // namespace attune::cli
