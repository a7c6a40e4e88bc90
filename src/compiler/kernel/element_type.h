// The compiler's element types as the runtime names them.
#pragma once

#include "base/result.h"
#include "compiler/ir/nodes/dtype.h"
#include "runtime/memory/dtype.h"

namespace attune::kernel {

// Unsupported for types that no buffer of a kernel may have.
Result<runtime::DType> element_type(ir::DType type);

}  // namespace attune::kernel
