// A resize whose scales or region are values of the graph.
#pragma once

#include "compiler/frontend/onnx/resize_tables.h"
#include "compiler/frontend/onnx/shape_converters.h"

namespace attune::onnx {

struct OpenResize {
  ResizeRules rules;
  std::vector<ResizeAxis> dimensions;  // of all; results as the model states them
  Extents axes;                        // those that scales and roi are about
  ValueId scales = kNoValue;           // absent: as in `dimensions`
  ValueId roi = kNoValue;
  double extrapolation = 0;
};

// `value` has floats, or the mode is nearest.
Result<ValueId> resize_at_run_time(NodeContext& node, ValueId value, const OpenResize& resize);

// Whether such a resize can have sizes that are known at run time.
bool can_be_bounded(const ResizeRules& rules);
// `sizes`: one for each of the axes, at most as large as the bounds.
Result<ValueId> resize_to_bounded(NodeContext& node, ValueId value, const ResizeRules& rules,
                                  const Extents& axes, ValueId sizes, const Bounds& bounds);

}  // namespace attune::onnx
