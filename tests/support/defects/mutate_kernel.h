// Mutations of kernels with blocks and threads: each makes one mistake that a schedule, a pass or a
// code generator could make. All answer with the kernel as it was when there is nothing to mutate.
#pragma once

#include <string>

#include "compiler/ir/nodes/stmt.h"

namespace attune::test {

// The barrier of that number, in the order of the text, is gone; or only some threads reach it.
ir::Kernel drop_barrier(const ir::Kernel& kernel, int number);
ir::Kernel diverge_barrier(const ir::Kernel& kernel, int number);
// An allocated buffer with another scope, or with `less` fewer elements.
ir::Kernel set_scope(const ir::Kernel& kernel, const std::string& buffer, ir::Scope scope);
ir::Kernel shrink(const ir::Kernel& kernel, const std::string& buffer, std::int64_t less);
// The allocation moves out of all loops.
ir::Kernel hoist_allocation(const ir::Kernel& kernel, const std::string& buffer);
// Indices of loads or stores of a buffer, moved by some elements.
ir::Kernel shift_loads(const ir::Kernel& kernel, const std::string& buffer, std::int64_t by);
ir::Kernel shift_stores(const ir::Kernel& kernel, const std::string& buffer, std::int64_t by);
// In stores to a buffer, an axis's variable is divided by a number: places are written twice.
ir::Kernel merge_stores(const ir::Kernel& kernel, const std::string& buffer,
                        const std::string& axis, std::int64_t by);
// The conditions around stores to a buffer are gone, or the first store to it is.
ir::Kernel drop_conditions(const ir::Kernel& kernel, const std::string& buffer);
ir::Kernel drop_first_store(const ir::Kernel& kernel, const std::string& buffer);
// The extent of an axis, longer or shorter.
ir::Kernel change_extent(const ir::Kernel& kernel, const std::string& axis, std::int64_t by);
// The launch forgets an axis: its variable is 0 in all threads.
ir::Kernel unbind(const ir::Kernel& kernel, const std::string& axis);

}  // namespace attune::test
