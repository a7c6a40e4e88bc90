#include "fleet/wire/status.h"

#include <fmt/format.h>

#include <utility>

namespace attune::wire {
namespace {

constexpr std::pair<ErrorCode, grpc::StatusCode> kCodes[] = {
    {ErrorCode::InvalidArgument, grpc::StatusCode::INVALID_ARGUMENT},
    {ErrorCode::Unsupported, grpc::StatusCode::FAILED_PRECONDITION},
    {ErrorCode::NotFound, grpc::StatusCode::NOT_FOUND},
    {ErrorCode::Io, grpc::StatusCode::INTERNAL},
    {ErrorCode::Corrupt, grpc::StatusCode::DATA_LOSS},
    {ErrorCode::Exhausted, grpc::StatusCode::RESOURCE_EXHAUSTED},
};

}  // namespace

grpc::Status to_status(const Error& error) {
  for (const auto& [ours, theirs] : kCodes) {
    if (ours == error.code) return {theirs, error.message, error.hint};
  }
  return {grpc::StatusCode::INTERNAL, error.message, error.hint};
}

Error from_status(const grpc::Status& status) {
  CHECK(!status.ok(), "the error of a call that succeeded");
  for (const auto& [ours, theirs] : kCodes) {
    if (theirs == status.error_code()) {
      return {ours, status.error_message(), status.error_details()};
    }
  }
  return {ErrorCode::Io, fmt::format("the scheduler does not answer: {}", status.error_message()),
          "'attune scheduler' starts it"};
}

}  // namespace attune::wire
