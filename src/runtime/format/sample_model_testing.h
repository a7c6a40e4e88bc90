// Models made by hand from the kernels in test_kernels, for the tests of artifact and executor.
#pragma once

#include <cstddef>
#include <memory>
#include <string>
#include <vector>

#include "runtime/execution/executor.h"
#include "runtime/format/artifact.h"
#include "runtime/format/plan.h"

namespace attune::runtime {

// The bytes of a shared object of test_kernels.
std::vector<std::byte> test_object(const std::string& name);

// A plan without instructions for this machine.
Plan empty_plan();

// A model in its parts; free to change before it is put together.
struct SampleModel {
  Plan plan = empty_plan();
  std::vector<float> weights;
  std::vector<std::vector<std::byte>> objects;

  ArtifactContents contents() const;
  Memory bytes() const;  // as an artifact
  std::shared_ptr<const Model> model() const;
};

// y = 2 * (x + weights) over 1000 floats, weights[i] = i.
SampleModel sum_model();

// From a vector of 8 floats: its elements that are not zero (of data-dependent length), sorted; a
// loop of 3 iterations with a branch inside; no kernels. All kinds of instructions but kernel
// calls.
SampleModel host_model();

}  // namespace attune::runtime
