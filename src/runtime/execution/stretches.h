// Which instructions of a plan a stream can record: maximal stretches of blocks whose work is on
// the device alone and the same in every run.
#pragma once

#include <functional>
#include <unordered_map>

#include "runtime/execution/session_state.h"

namespace attune::runtime {

// By their first instruction. `staged`: the caller's tensors are copied to memory whose addresses
// stay, so that copies from and to it can be recorded.
std::unordered_map<const Instruction*, Stretch> stretches_of(const Plan& plan, bool staged);

// What is recorded costs memory for each launch.
inline constexpr std::int64_t kMostRecordedCalls = 16'384;

Result<std::unique_ptr<Recording>> record(Stream& stream, const std::function<Status()>& work);

}  // namespace attune::runtime
