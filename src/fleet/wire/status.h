// Errors over the wire: the sentence is the message of a gRPC status, the hint its details, so that
// a person reads the same words wherever the error arose.
#pragma once

#include <grpcpp/support/status.h>

#include "base/result.h"

namespace attune::wire {

grpc::Status to_status(const Error& error);
// Of a status that is not OK. What gRPC itself says (no connection, a cut stream) becomes Io.
Error from_status(const grpc::Status& status);

}  // namespace attune::wire
