// Names of devices that a fleet measures on which are the same on every machine. Others are what
// targets call theirs (compiler/target/kind.h).
#pragma once

namespace attune::wire {

// The cores of a machine that are kept for measuring; of targets without devices of their own.
inline constexpr const char* kMeasuringCores = "cpu";  // fixed word: of stored jobs

}  // namespace attune::wire
