// Models made by hand from the kernels in test_kernels, for the tests of artifact and executor.
#pragma once

#include <cstddef>
#include <string>
#include <utility>
#include <vector>

#include "runtime/artifact.h"
#include "runtime/cpu_features.h"
#include "runtime/executor.h"
#include "runtime/plan.h"

namespace attune::runtime {

// The bytes of a shared object of test_kernels.
std::vector<std::byte> test_object(const std::string& name);

// y = 2 * (x + weights) over 1000 floats, weights[i] = i; with objects "vectors" and "scale".
struct SampleModel {
  SampleModel();
  SampleModel(const SampleModel&) = delete;
  SampleModel& operator=(const SampleModel&) = delete;

  Plan plan;
  std::vector<float> weights;
  std::vector<std::vector<std::byte>> objects;

  ArtifactContents contents() const;
  Memory bytes() const;  // as an artifact
};

// A plan without instructions for this machine.
Plan empty_plan();

}  // namespace attune::runtime
