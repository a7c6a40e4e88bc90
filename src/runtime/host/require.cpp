// Require: hands its value on, and fails where a condition is not what a model was compiled for.
#include <cstring>

#include "runtime/host/elements.h"
#include "runtime/host/list.h"

namespace attune::runtime::host {

Status require(const Call& call) {
  ATTUNE_RETURN_IF_ERROR(call.takes(2, 2));
  const HostTensor& condition = call.inputs[0];
  const HostTensor& value = call.inputs[1];
  if (condition.shape.elements() != 1) return call.bad("the condition is not one bool");
  if ((integer_at(condition, 0) != 0) != (call.integer("expected", 1) != 0)) {
    return invalid(std::string(call.text("message", "the model was not compiled for this")));
  }
  ATTUNE_RETURN_IF_ERROR(call.shape_output(0, value.type, value.shape));
  const auto bytes = static_cast<std::size_t>(value.shape.elements()) * byte_size(value.type);
  if (call.has_output(0) && bytes > 0) std::memcpy(call.outputs[0].data, value.data, bytes);
  return {};
}

}  // namespace attune::runtime::host
