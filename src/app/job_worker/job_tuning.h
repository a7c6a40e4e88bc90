// One job from the scheduler, tuned to its end: what `tune` does, with every stage admitted, in a
// folder of its own from which the next worker goes on should this one die.
#pragma once

#include <sys/types.h>

#include <string>

#include "app/job_worker/job_resources.h"
#include "base/result.h"
#include "fleet/client/overview.h"
#include "fleet/worker/link.h"

namespace attune::job_worker {

struct JobEnd {
  client::JobState state = client::JobState::Done;  // Queued: it could not begin yet
  std::string reason = {};                          // of that, or of a failure
  std::string report = {};                          // JSON
};

// `state` is the scheduler's directory; what is written for the user has the rights of
// `users_umask`. Progress goes over the line; the end is the caller's to
// say. Returns early, with whatever end, when the job was dropped.
JobEnd tune_job(const client::JobStatus& job, const worker::Devices& devices,
                const std::string& state, mode_t users_umask, worker::Link& link,
                RemoteAdmission& admission, const JobWishes& wishes);

}  // namespace attune::job_worker
