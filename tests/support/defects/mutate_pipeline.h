// Mutations of kernels with asynchronous copies: each makes one mistake that a pass or a code
// generator could make. Calls of an intrinsic are numbered in the order of the text. All answer
// with the kernel as it was when there is nothing to mutate.
#pragma once

#include <functional>
#include <string>
#include <string_view>

#include "compiler/ir/nodes/stmt.h"

namespace attune::test {

// The call is gone, or only the first thread makes it.
ir::Kernel drop_call(const ir::Kernel& kernel, std::string_view intrinsic, int number);
ir::Kernel diverge_call(const ir::Kernel& kernel, std::string_view intrinsic, int number);
// One of its arguments is another one.
using ExprChange = std::function<ir::Expr(const ir::Expr&)>;
ir::Kernel change_argument(const ir::Kernel& kernel, std::string_view intrinsic, int number,
                           std::size_t argument, const ExprChange& change);
// Such a change: the element that it names is one `by` further on, it is for another iteration of a
// loop, or another number.
ExprChange elements(const ir::Expr& by);
ExprChange iterations(const std::string& variable, std::int64_t by);
ExprChange another(std::int64_t by);
// The call stands behind the statement that follows it.
ir::Kernel swap_with_next(const ir::Kernel& kernel, std::string_view intrinsic, int number);
// Outside of calls, a variable in the indices of loads of a buffer, or of stores to it, is `by`
// larger.
ir::Kernel shift_reads(const ir::Kernel& kernel, const std::string& buffer,
                       const std::string& variable, std::int64_t by);
ir::Kernel shift_writes(const ir::Kernel& kernel, const std::string& buffer,
                        const std::string& variable, std::int64_t by);
// The first condition that mentions a variable is gone.
ir::Kernel drop_condition_on(const ir::Kernel& kernel, const std::string& variable);

}  // namespace attune::test
