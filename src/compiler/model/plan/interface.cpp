#include "compiler/model/plan/interface.h"

#include "compiler/graph/frame.h"
#include "compiler/kernel/element_type.h"

namespace attune::model {

std::vector<runtime::Dim> dims_of(const ops::TensorType& type) {
  std::vector<runtime::Dim> dims;
  for (std::size_t i = 0; i < type.shape.size(); ++i) {
    dims.push_back({type.shape[i], type.extents.empty() ? ops::kConstantExtent : type.extents[i]});
  }
  return dims;
}

Result<runtime::InterfaceTensor> interface_of(const graph::Value& value) {
  ATTUNE_ASSIGN(const runtime::DType type, kernel::element_type(value.type.dtype));
  const bool blocked = value.layout.is_blocked();
  ops::TensorType held = value.type;
  if (blocked) held.shape = graph::physical_shape(value.type, value.layout);
  return runtime::InterfaceTensor{value.name, type, dims_of(held),
                                  blocked ? value.type.shape[1] : 0};
}

}  // namespace attune::model
