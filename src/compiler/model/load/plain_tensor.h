// Between tensors as people know them and as a model takes them: what lies in blocks of channels
// appears as [n, c, …], everything else as it is.
#pragma once

#include <cstdint>
#include <vector>

#include "base/result.h"
#include "compiler/ops/tensor_type.h"
#include "runtime/format/plan.h"
#include "runtime/memory/tensor.h"

namespace attune::model {

// The shape of a tensor of the interface, at its largest extents, as the model takes it and as
// people know it.
std::vector<std::int64_t> largest_shape(const runtime::InterfaceTensor& tensor);
std::vector<std::int64_t> plain_shape(const runtime::InterfaceTensor& tensor);

// `plain` has the type of the interface and a shape that it allows.
Result<runtime::Tensor> from_plain(const runtime::InterfaceTensor& tensor, runtime::Tensor plain);
Result<runtime::Tensor> to_plain(const runtime::InterfaceTensor& tensor, runtime::Tensor taken);

// Constants of a graph as tensors, and back.
Result<runtime::Tensor> tensor_of(const ops::Constant& constant);
ops::ConstantPtr constant_of(runtime::Tensor tensor, const ops::TensorType& type);

}  // namespace attune::model
