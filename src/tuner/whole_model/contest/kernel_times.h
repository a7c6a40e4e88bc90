// How long the kernels of a model take inside it, for several artifacts of the same tasks with
// other schedules, timed in turns in a child process.
#pragma once

#include <string>
#include <vector>

#include "base/result.h"
#include "compiler/model/load/input_files.h"

namespace attune::whole_model {

struct KernelTimesOptions {
  double seconds = 1;  // for each artifact, altogether
  int rounds = 6;
};

// Microseconds of one run in each kernel of a plan: over its calls, the sum of the fastest of each.
using KernelTimes = std::vector<double>;

// One entry for each artifact.
Result<std::vector<KernelTimes>> time_kernels(const std::vector<std::string>& artifacts,
                                              const model::ReadInputs& inputs,
                                              const KernelTimesOptions& options);

// Of one model that is in memory, on random inputs: in as many runs as the time allows, the first
// left out, or in one if there is no time for another.
Result<KernelTimes> time_kernels(const model::RunnableModel& model, double seconds);
// Whether a model whose first run took so long runs once more, at least: within the time given, and
// if that is too little, within a second in all. First runs wait for memory and the caches.
bool runs_again(double first_seconds, double seconds);

// For every kernel the number of the artifact in which it is fastest; the first one unless another
// is faster beyond doubt. All must have the same kernels.
std::vector<std::size_t> fastest_artifacts(const std::vector<KernelTimes>& times);

}  // namespace attune::whole_model
