// A scheduler for tests of the server: its options, and a client of it.
#pragma once

#include <memory>
#include <string>

#include "fleet/jobs/policies/policies.h"
#include "fleet/server/server.h"
#include "fleet/server/worker_connection.h"
#include "fleet/wire/state_directory.h"

namespace attune::server {

inline ServerOptions sample_options(const std::string& state) {
  return {.state = state,
          .version = "1",
          .policy = *jobs::find_policy("fair"),
          .host_cores = {0},
          .profile_cores = {1},
          .lease_seconds = 600};
}

inline std::unique_ptr<v1::Scheduler::Stub> sample_client(const std::string& state) {
  return v1::Scheduler::NewStub(channel_to(state));
}

}  // namespace attune::server
