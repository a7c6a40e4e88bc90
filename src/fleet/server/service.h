// The gRPC side of the server: connections become events of the loop, and the loop's messages go
// out on them. No thread belongs to a connection.
#pragma once

#include <cstdint>
#include <functional>
#include <memory>
#include <string>

#include "base/result.h"
#include "fleet/jobs/book/book.h"

namespace attune::server {

class EventLoop;

class Service {
 public:
  virtual ~Service() = default;

  // On a free port of the loopback device; events go to the loop, which outlives the serving.
  virtual Status serve_at(EventLoop& loop) = 0;
  virtual std::string address() const = 0;
  // Ends all connections, when those who called before have their answers; no event comes after
  // it. The loop and its journal must still be at work.
  virtual void shut_down() = 0;

  // Of a connection that may have gone meanwhile.
  virtual void send(jobs::WorkerId worker, const v1::ToWorker& message) = 0;
  virtual void close(jobs::WorkerId worker) = 0;
};

// Told which process a new connection belongs to, before anything else of it is heard: whether that
// is a worker of ours, which may be killed.
using Adopt = std::function<bool(jobs::WorkerId worker, std::int64_t pid)>;

std::unique_ptr<Service> make_service(Adopt adopt);

}  // namespace attune::server
