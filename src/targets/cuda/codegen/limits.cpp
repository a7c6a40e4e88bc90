#include "targets/cuda/codegen/limits.h"

#include <fmt/format.h>

#include <algorithm>

#include "compiler/codegen/walk.h"
#include "compiler/ir/tensor_intrinsics/tensor_intrinsic.h"

namespace attune::cuda {
namespace {

// Every thread that may be resident has so much.
constexpr std::int64_t kStackBytes = 32 << 10;
constexpr std::int64_t kMostBlocks = (std::int64_t{1} << 31) - 1;
// What takes more than a second to compile.
constexpr std::int64_t kMostExpressions = 60'000;

}  // namespace

Status check_limits(const std::string& kernel, const KernelText& text,
                    const target::LaunchFacts& device) {
  const auto check = [&](std::int64_t needs, std::int64_t has, const char* what) -> Status {
    if (needs <= has) return {};
    return invalid(
        fmt::format("kernel '{}' needs {} {}, the device has {}", kernel, needs, what, has),
        "choose smaller tiles");
  };
  for (const LaunchNeeds& launch : text.needs) {
    ATTUNE_RETURN_IF_ERROR(check(launch.shape.blocks(), kMostBlocks, "blocks"));
    ATTUNE_RETURN_IF_ERROR(
        check(launch.shape.threads(), device.threads_per_block, "threads in a block"));
    ATTUNE_RETURN_IF_ERROR(
        check(launch.shared_bytes, device.shared_bytes, "bytes of shared memory in a block"));
    ATTUNE_RETURN_IF_ERROR(check(launch.shape.register_bytes, device.register_bytes,
                                 "bytes of registers in a thread"));
    ATTUNE_RETURN_IF_ERROR(
        check(launch.shape.stack_bytes, kStackBytes, "bytes of stack in a thread"));
    if (launch.expressions > kMostExpressions) {
      return unsupported(fmt::format("kernel '{}' has {} expressions with its loops unrolled, at "
                                     "most {} are compiled",
                                     kernel, launch.expressions, kMostExpressions),
                         "choose smaller tiles");
    }
  }
  return {};
}

Status check_matrix_units(const ir::Kernel& kernel, const target::Target& target) {
  const auto& units = target.launch.matrix_units;
  std::string missing;
  codegen::walk(
      kernel.body, [](const ir::Stmt&) {},
      [&](const ir::Expr& e) {
        const auto* call = ir::as<ir::Opaque>(e);
        const auto* intrinsic = call ? ir::find_tensor_intrinsic(call->name) : nullptr;
        // What each thread runs for itself is plain loops.
        if (intrinsic == nullptr || intrinsic->lanes() == 1) return;
        const bool has_it = std::any_of(
            units.begin(), units.end(),
            [&](const target::MatrixUnit& unit) { return unit.intrinsic == intrinsic->name; });
        if (!has_it) missing = intrinsic->name;
      });
  if (missing.empty()) return {};
  return unsupported(fmt::format("kernel '{}' uses '{}', which {} does not have", kernel.name,
                                 missing, target.attribute("arch")),
                     "the schedule is for another card; leave it out, or tune for this one");
}

}  // namespace attune::cuda
