// The gRPC side of the server: connections become events of the loop, and the loop's messages go
// out on them. No thread belongs to a connection. Who speaks is known by the connection: each user
// who connects has a gRPC server of their own, which is given no other's connections.
#pragma once

#include <sys/types.h>

#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <string>

#include "base/result.h"
#include "fleet/jobs/book/book.h"
#include "fleet/server/calls/surroundings.h"

namespace attune::server {

class EventLoop;
class Tokens;

class Service {
 public:
  virtual ~Service() = default;

  // Takes connections; events go to the loop, which outlives the serving.
  virtual Status serve_at(EventLoop& loop) = 0;
  // Ends all connections, when those who called before have their answers; no event comes after
  // it. The loop and its journal must still be at work. False: a call has not ended for too long,
  // as when the disk stands still; it still uses the service, the loop and the journal.
  virtual bool shut_down() = 0;

  // Of a connection that may have gone meanwhile.
  virtual void send(jobs::WorkerId worker, const v1::ToWorker& message) = 0;
  virtual void close(jobs::WorkerId worker) = 0;
};

// Asked what a new worker's connection has proved, before anything else of it is heard.
using Admit = std::function<jobs::Pass(jobs::WorkerId worker, const jobs::Caller& caller,
                                       const std::string& token)>;

struct ServiceOptions {
  std::string state;                // folder, in which it listens
  std::optional<gid_t> share = {};  // for this group it listens in the shared folder as well
  Admit admit = {};
  Tokens* tokens = nullptr;
  std::function<void(v1::Job&)> add_report = {};  // to one that has ended
  std::function<void()> pruned = {};              // somebody had jobs forgotten
  double end_seconds = 30;                        // for answers, and as long for streams
  Surroundings around = {};
};

std::unique_ptr<Service> make_service(ServiceOptions options);

}  // namespace attune::server
