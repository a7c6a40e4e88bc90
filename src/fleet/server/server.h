// The scheduler as a server: its state in a folder, gRPC at a Unix socket, local workers.
// Nothing of gRPC is seen here.
#pragma once

#include <sys/types.h>

#include <functional>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "base/result.h"
#include "fleet/jobs/book/retention.h"
#include "fleet/jobs/book/stage_limits.h"
#include "fleet/jobs/scheduler/policy.h"
#include "fleet/server/calls/surroundings.h"

namespace attune::server {

struct ServerOptions {
  std::string state = {};  // folder
  std::string version = {};
  const jobs::Policy* policy = nullptr;
  int prefetch = 2;                         // of jobs that do not say
  bool in_turn = false;                     // no two stages of a job at once
  std::vector<int> host_cores = {};         // one unit of "host" each
  std::vector<int> profile_cores = {};      // of one device, together
  int cpu_devices = 1;                      // or as many, of equally many of them each
  std::map<std::string, int> devices = {};  // of other kinds: how many, which workers bring
  std::map<std::string, int> quotas = {};   // of users: units at once
  std::vector<std::pair<std::string, std::string>> apart = {};  // kinds that disturb each other
  // Shares it with the users of a group: they reach it by a folder beside its state.
  std::optional<gid_t> share = {};
  // A token that workers which do not outlive this process may all say: they count as local ones.
  std::string attached = {};
  int workers = 0;
  std::vector<std::string> worker_command = {};       // the program and its arguments
  std::string cores_kept = {};                        // what keeps stages on their cores, in words
  std::function<void(const std::string&)> note = {};  // lines for the person who started it
  std::function<void()> worker_ended = {};            // a local one; from any thread
  jobs::Retention retention = {};
  double lease_seconds = 10;
  double beat_seconds = 2;
  jobs::StageLimits limits = {};
  double settle_seconds = 0.002;
  double end_seconds = 30;  // that calls have to end, those with an answer first, when it does
  Surroundings around = {};
};

class Server {
 public:
  static Result<std::unique_ptr<Server>> start(ServerOptions options);
  ~Server();  // ends it
  Server(const Server&) = delete;
  Server& operator=(const Server&) = delete;

  // Lets a worker of this user take part, once.
  std::string worker_token();
  // Readable when the server cannot go on; failure() says why then.
  int failure_descriptor() const;
  Status failure() const;

 private:
  struct Parts;
  explicit Server(std::unique_ptr<Parts> parts);
  std::unique_ptr<Parts> parts_;
};

}  // namespace attune::server
