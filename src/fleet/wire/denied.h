// What somebody has no right to.
#pragma once

#include <string>
#include <utility>

#include "base/result.h"

namespace attune::wire {

// Whoever asks cannot have it, now or later: nothing is tried again.
inline Error denied(std::string message, std::string hint = {}) {
  return unsupported(std::move(message), std::move(hint));
}

inline bool is_denied(const Error& error) { return error.code == ErrorCode::Unsupported; }

}  // namespace attune::wire
