#include "runtime/host/operators.h"

namespace attune::runtime::host {

std::span<const Operator> operators() { return {}; }

}  // namespace attune::runtime::host
