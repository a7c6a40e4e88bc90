// Which processors that the system counts are cores of their own. Two that share a core have its
// execution units and caches between them, so a second thread there adds little and disturbs what
// the first one measures; slow cores beside fast ones hold up a loop that is shared out evenly.
#pragma once

#include <string>
#include <vector>

namespace attune::runtime {

// One processor of each core, and of cores that are about as fast as the fastest of them;
// ascending, never empty. Where the system does not say, each processor is such a core. `root`
// stands before all paths: another one in tests.
std::vector<int> own_cores(const std::vector<int>& processors, const std::string& root = {});

// The same processors, those of own_cores() first, then the rest.
std::vector<int> own_cores_first(const std::vector<int>& processors, const std::string& root = {});

}  // namespace attune::runtime
