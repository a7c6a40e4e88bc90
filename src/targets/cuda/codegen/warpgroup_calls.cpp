// Instructions of warpgroups, and what orders them (prelude/warpgroups.h).
#include <fmt/format.h>

#include "base/check.h"
#include "compiler/ir/nodes/intrinsics.h"
#include "targets/cuda/codegen/launch_printer.h"
#include "targets/cuda/codegen/warpgroups.h"

namespace attune::cuda {

bool LaunchPrinter::warpgroup_call(const ir::Opaque& x) {
  if (x.name == ir::kMatrixFence) return text_.line("at_matrix_fence();"), true;
  if (x.name == ir::kMatrixCommit) return text_.line("at_matrix_commit();"), true;
  if (x.name == ir::kSharedFence) return text_.line("at_shared_fence();"), true;
  if (x.name == ir::kBulkInit || x.name == ir::kBulkCopy || x.name == ir::kBulkWait ||
      x.name == ir::kClusterBarrier) {
    return bulk_call(x), true;
  }
  if (x.name == ir::kMatrixWait) {
    return text_.line(fmt::format("at_matrix_wait<{}>();", *ir::as_int(x.args[0]))), true;
  }
  const ir::TensorIntrinsic* intrinsic = ir::find_tensor_intrinsic(x.name);
  if (!intrinsic || !intrinsic->warpgroup) return false;
  const auto place = [&](std::size_t argument) {
    const auto* load = ir::as<ir::Load>(x.args[argument]);
    CHECK(load && load->index.size() == 1, "operands of intrinsics are loads of one index");
    return load;
  };
  const auto number = [&](std::size_t argument) { return *ir::as_int(x.args[argument]); };
  const auto matrix = [&](std::size_t argument) {
    const ir::Load* load = place(argument);
    const std::int64_t bytes = load->buffer->type.element_bytes();
    return fmt::format("at_matrix<{}, {}>({})", number(argument + 1) * bytes,
                       number(argument + 2) * bytes,
                       address(*load->buffer, names_.of(load->buffer->name), load->index[0]));
  };
  const ir::Load* result = place(0);
  text_.line(
      fmt::format("{}<{}, {}>({}, {}, {});", warpgroup_function(*intrinsic), number(1), number(2),
                  address(*result->buffer, names_.of(result->buffer->name), result->index[0]),
                  matrix(3), matrix(6)));
  return true;
}

// Bulk copies and the counters at which threads wait for them (prelude/bulk_copies.h).
void LaunchPrinter::bulk_call(const ir::Opaque& x) {
  const auto place = [&](std::size_t argument) {
    const auto* load = ir::as<ir::Load>(x.args[argument]);
    CHECK(load && load->index.size() == 1, "places are loads of one index");
    return address(*load->buffer, names_.of(load->buffer->name), load->index[0]);
  };
  const auto number = [&](std::size_t argument) { return *ir::as_int(x.args[argument]); };
  if (x.name == ir::kClusterBarrier) {
    printed_.cluster[static_cast<std::size_t>(number(1))] = number(0);
    return text_.line("at_meet_cluster();");
  }
  if (x.name == ir::kBulkInit) {
    return text_.line(fmt::format("at_make_counters<{}>({});", number(1), place(0)));
  }
  if (x.name == ir::kBulkWait) {
    return text_.line(fmt::format("at_wait_for_bulk({}, {});", place(0), index(x.args[1])));
  }
  const auto* to = ir::as<ir::Load>(x.args[0]);
  text_.line(fmt::format("at_copy_bulk<{}, {}>({}, {}, {});",
                         number(2) * to->buffer->type.element_bytes(), number(4), place(0),
                         place(1), place(3)));
}

}  // namespace attune::cuda
