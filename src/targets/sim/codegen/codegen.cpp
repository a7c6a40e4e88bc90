#include "targets/sim/codegen/codegen.h"

#include <fmt/format.h>

#include "compiler/codegen/walk.h"
#include "compiler/ir/nodes/launch.h"
#include "compiler/ir/text/print.h"
#include "targets/sim/facts/facts.h"

namespace attune::sim {
namespace {

// What would not run is not worth keeping.
Status check_limits(const ir::Kernel& kernel, const Machine& machine) {
  for (const ir::Launch& launch : ir::launches_of(kernel)) {
    const auto check = [&](std::int64_t needs, std::int64_t has, const char* what) -> Status {
      if (needs <= has) return {};
      return invalid(
          fmt::format("kernel '{}' needs {} {}, the device has {}", kernel.name, needs, what, has),
          "choose smaller tiles");
    };
    ATTUNE_RETURN_IF_ERROR(
        check(launch.threads(), machine.threads_per_block, "threads in a block"));
    ATTUNE_RETURN_IF_ERROR(
        check(launch.shared_bytes, machine.shared_kb << 10, "bytes of shared memory in a block"));
    ATTUNE_RETURN_IF_ERROR(
        check(launch.register_bytes, machine.register_bytes, "bytes of registers in a thread"));
    ATTUNE_RETURN_IF_ERROR(
        check(launch.stack_bytes, machine.stack_bytes, "bytes of stack in a thread"));
  }
  return {};
}

// The interpreter would run them, in one thread.
Status check_loops(const ir::Kernel& kernel) {
  std::string shared;
  codegen::walk(
      kernel.body,
      [&](const ir::Stmt& s) {
        const auto* loop = ir::as<ir::For>(s);
        if (loop != nullptr && loop->kind == ir::LoopKind::Parallel) shared = loop->var;
      },
      [](const ir::Expr&) {});
  if (shared.empty()) return {};
  return unsupported(fmt::format("loop '{}' of kernel '{}' is shared by cores, which the device "
                                 "does not have",
                                 shared, kernel.name),
                     "schedules for other kinds of targets do not fit");
}

Result<codegen::KernelObject> compile(const ir::Kernel& kernel, const target::Target& target) {
  ATTUNE_ASSIGN(const Machine machine, machine_of(target));
  ATTUNE_RETURN_IF_ERROR(check_loops(kernel));
  ATTUNE_RETURN_IF_ERROR(check_limits(kernel, machine));
  const std::string text = ir::to_string(kernel);
  codegen::KernelObject object;
  object.entry.symbol = kernel.name;
  object.bytes.assign(text.begin(), text.end());
  return object;
}

Result<std::vector<std::byte>> link(std::span<const codegen::KernelObject> objects) {
  std::vector<std::byte> code;
  for (const codegen::KernelObject& object : objects) {
    for (char c : object.bytes) code.push_back(static_cast<std::byte>(c));
  }
  return code;
}

std::string version() { return "1"; }

}  // namespace

const codegen::CodeGenerator code_generator = {
    .kind = "sim",
    .pipeline = lower::launch_pipeline,
    .compile = compile,
    .link = link,
    .texts = {},
    .compiler = "attune",
    .version = version,
};

}  // namespace attune::sim
