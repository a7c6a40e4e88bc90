#include "compiler/kernel/element_type.h"

#include <fmt/format.h>

namespace attune::kernel {

Result<runtime::DType> element_type(ir::DType type) {
  // Both sides use the same names.
  if (const auto found = runtime::parse_dtype(ir::to_string(type))) return *found;
  return unsupported(
      fmt::format("buffers of type {} cannot be passed to a kernel", ir::to_string(type)));
}

}  // namespace attune::kernel
