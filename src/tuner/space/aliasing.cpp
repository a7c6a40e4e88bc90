#include "tuner/space/aliasing.h"

namespace attune::space {

double aliased_rows(const schedule::Access& access, const Spans& step) {
  std::int64_t stride = access.buffer->type.bytes();
  double rows = 1;
  for (std::size_t d = access.dims.size(); d-- > 0;) {
    const std::int64_t whole = access.buffer->shape[d];
    if (stride % kAliasBytes == 0) {
      rows *= static_cast<double>(dim_span(access.dims[d], step, whole));
    }
    stride *= whole;
  }
  return rows;
}

}  // namespace attune::space
