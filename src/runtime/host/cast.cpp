// Cast: elements in another type. Floats become integers by truncation, saturating, those of less
// than 32 bits by way of i32; integers wrap.
#include <algorithm>
#include <cstdint>

#include "runtime/host/elements.h"
#include "runtime/host/list.h"

namespace attune::runtime::host {

namespace {

bool is_small_integer(DType type) {
  return type == DType::I8 || type == DType::U8 || type == DType::I16 || type == DType::U16;
}

}  // namespace

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
    if (domain_of(input.type) == Domain::Real && is_small_integer(output.type)) {
      load_integers(integers, input, start, 1, count);
      for (std::int64_t i = 0; i < count; ++i) {
        integers[i] = std::clamp<std::int64_t>(integers[i], INT32_MIN, INT32_MAX);
      }
      store_integers(output, start, integers, count);
    } else if (domain_of(input.type) == Domain::Real) {
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
