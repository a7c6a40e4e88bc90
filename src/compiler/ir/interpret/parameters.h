// The parameters of a kernel as memories of the interpreter.
#pragma once

#include <vector>

#include "base/result.h"
#include "compiler/ir/interpret/evaluate.h"
#include "compiler/ir/nodes/array.h"
#include "compiler/ir/nodes/stmt.h"

namespace attune::ir {

// One array of the right type and shape for each.
Status check_parameters(const Kernel& kernel, const std::vector<Array>& buffers);
// Into the first slots of the frame. The first `initialised` hold data; -1: all do.
void load_parameters(Frame& frame, const std::vector<Array>& buffers, int initialised);
void store_parameters(const Frame& frame, std::vector<Array>& buffers);

}  // namespace attune::ir
