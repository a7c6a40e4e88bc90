// The way to a scheduler.
#pragma once

#include <grpcpp/channel.h>

#include <memory>
#include <string>

namespace attune::wire {

// To "127.0.0.1:PORT". Each has a connection of its own, so that a new one after a failure tries at
// once; proxies of the environment are not asked.
std::shared_ptr<grpc::Channel> open_channel(const std::string& address);

// True when it is certain that no process listens at the address of this machine, for example
// because the one that did was killed. A process that is only slow still listens.
bool nobody_listens(const std::string& address);

}  // namespace attune::wire
