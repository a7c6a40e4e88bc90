// The way to a scheduler: where it listens, whether that place can be trusted, and a connection. A
// directory that others may write to, or a socket of somebody else, is never spoken to: whoever
// listens there would be given models and told what to do.
#pragma once

#include <grpcpp/channel.h>

#include <cstdint>
#include <memory>
#include <string>

#include "base/result.h"

namespace attune::wire {

struct Way {
  std::string socket;     // its path
  std::uint32_t uid = 0;  // of the scheduler, to whom the directory belongs
};

// The scheduler of a state directory: in that itself for the user to whom it belongs, in the one
// that is shared for everybody else. NotFound: there is none; denied(): it is not for this user,
// or it cannot be trusted.
Result<Way> find_scheduler(const std::string& state);

struct Line {
  std::shared_ptr<grpc::Channel> channel;
  std::uint32_t uid = 0;  // of the scheduler
};

// A connection of its own, made now; it is not made again when it breaks. NotFound: it is certain
// that nobody listens, for example because who did was killed. One that is only slow still listens.
// `silent_seconds`: one whose other end, while it has a call, says nothing for so long, and then
// nothing for as long when it is asked, is taken for broken; 0: never.
Result<Line> open_line(const std::string& state, double silent_seconds = 0);

// Whether somebody takes connections there now.
bool is_served(const std::string& state);

}  // namespace attune::wire
