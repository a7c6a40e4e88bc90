// Cast: elements in another type. Floats become integers by truncation, saturating; integers wrap.
#include "runtime/host/elements.h"
#include "runtime/host/list.h"

namespace attune::runtime::host {

Status cast(const Call& call) {
  ATTUNE_RETURN_IF_ERROR(call.takes(1, 2));  // CastLike has an example of the type
  if (!call.has_output(0)) return {};
  const HostTensor& input = call.inputs[0];
  const HostTensor& output = call.outputs[0];
  ATTUNE_RETURN_IF_ERROR(call.shape_output(0, output.type, input.shape));
  const std::int64_t elements = input.shape.elements();
  double reals[kBlock];
  std::int64_t integers[kBlock];
  for (std::int64_t start = 0; start < elements; start += kBlock) {
    const std::int64_t count = std::min(kBlock, elements - start);
    if (domain_of(input.type) == Domain::Real) {
      load_reals(reals, input, start, 1, count);
      store_reals(output, start, reals, count);
    } else {
      load_integers(integers, input, start, 1, count);
      store_integers(output, start, integers, count, input.type == DType::U64);
    }
  }
  return {};
}

}  // namespace attune::runtime::host
