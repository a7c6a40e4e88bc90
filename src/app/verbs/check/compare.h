// Comparing what a model gave with what it should give.
#pragma once

#include <string>
#include <vector>

#include "app/verbs/check/check.h"
#include "compiler/graph/graph.h"
#include "compiler/ops/precision.h"
#include "runtime/memory/tensor.h"

namespace attune::verbs {

// An element is right when |actual - expected| <= absolute + relative * |expected|, or when both
// are NaN or the same infinity. `absolute` is at least half a unit in the last place, in f32, of
// the largest element of the tensor. `of_largest` counts the relative part from the largest
// magnitude of the tensor instead of the element's own.
struct Tolerance {
  double relative = 1e-3;
  double absolute = 1e-7;
  bool of_largest = false;
};

// Of an output of type `type` of a model that is computed in another precision than f32.
Tolerance tolerance_in(ops::Precision precision, const graph::Graph& graph, runtime::DType type,
                       const Tolerance& in_f32);

struct NamedTensor {
  std::string name = {};
  runtime::Tensor tensor = {};
};

// Compares types, shapes and elements, and puts the verdict into `result`: errors are the largest
// of all outputs; the message of a wrong one names the worst element. Returns how many elements are
// right only because of the rounding of the largest.
std::int64_t compare(const NamedTensor& expected, const runtime::Tensor& actual,
                     const Tolerance& tolerance, CheckCase& result);

}  // namespace attune::verbs
