// Between plain data and what goes over the wire.
#pragma once

#include "fleet/client/overview.h"
#include "fleet/wire/jobs.pb.h"

namespace attune::client {

v1::JobSpec to_message(const JobRequest& request);
JobRequest from_message(const v1::JobSpec& spec);
JobStatus from_message(const v1::Job& job);
Overview from_message(const v1::Snapshot& snapshot);
v1::Wish to_message(Wish wish);

}  // namespace attune::client
