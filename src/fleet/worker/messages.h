// Between plain data and what goes over the wire.
#pragma once

#include "fleet/wire/jobs.pb.h"
#include "fleet/worker/overview.h"

namespace attune::worker {

v1::JobSpec to_message(const JobRequest& request);
JobRequest from_message(const v1::JobSpec& spec);
JobStatus from_message(const v1::Job& job);
Overview from_message(const v1::Snapshot& snapshot);
v1::Wish to_message(Wish wish);

}  // namespace attune::worker
