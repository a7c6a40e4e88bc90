#include "compiler/kernel/kernel.h"

#include <fmt/format.h>

#include <algorithm>

#include "compiler/ir/nodes/rewrite.h"
#include "compiler/kernel/element_type.h"
#include "compiler/kernel/foreign_steps.h"
#include "compiler/kernel/in_place.h"
#include "compiler/lower/lower.h"

namespace attune::kernel {
namespace {

Error in_step(const char* step, const Error& error) {
  return {error.code, fmt::format("{}: {}", step, error.message), error.hint};
}

// The parameters of a kernel in its order: inputs by name, prepared buffers, outputs.
class ParameterTable {
 public:
  ParameterTable(const ir::Program& program, const ir::Kernel& loops)
      : program_(program), loops_(loops) {}

  Status add_inputs(const std::vector<std::string>& names) {
    for (const std::string& name : names) {
      const auto found =
          std::find_if(program_.inputs.begin(), program_.inputs.end(),
                       [&](const auto& input) { return input.buffer->name == name; });
      CHECK(found != program_.inputs.end(), "a kernel reads '" + name + "', which is no input");
      const auto index = static_cast<std::size_t>(found - program_.inputs.begin());
      ATTUNE_RETURN_IF_ERROR(
          add(found->constant ? ParameterKind::Constant : ParameterKind::Input, index));
    }
    return {};
  }
  Status add_all(ParameterKind kind, std::size_t count) {
    for (std::size_t i = 0; i < count; ++i) ATTUNE_RETURN_IF_ERROR(add(kind, i));
    return {};
  }
  std::vector<Parameter> take() {
    CHECK(parameters_.size() == loops_.params.size(),
          fmt::format("kernel '{}' has {} parameters, lowering names {}", loops_.name,
                      loops_.params.size(), parameters_.size()));
    return std::move(parameters_);
  }

 private:
  Status add(ParameterKind kind, std::size_t index) {
    CHECK(parameters_.size() < loops_.params.size(), "more parameters named than there are");
    const ir::BufferNode& buffer = *loops_.params[parameters_.size()];
    const auto type = element_type(buffer.type);
    if (!type.ok()) return type.error();
    parameters_.push_back({.kind = kind,
                           .index = static_cast<int>(index),
                           .type = *type,
                           .elements = ir::element_count(buffer)});
    return {};
  }

  const ir::Program& program_;
  const ir::Kernel& loops_;
  std::vector<Parameter> parameters_;
};

Result<LoweredProgram> with_parameters(const ir::Program& program, const schedule::Trace& trace,
                                       lower::Lowered lowered) {
  LoweredProgram result;
  ParameterTable main(program, lowered.main);
  ATTUNE_RETURN_IF_ERROR(main.add_inputs(lowered.main_inputs));
  ATTUNE_RETURN_IF_ERROR(main.add_all(ParameterKind::Prepared, lowered.prepared.size()));
  ATTUNE_RETURN_IF_ERROR(main.add_all(ParameterKind::Output, program.outputs.size()));
  result.main.parameters = main.take();
  const std::vector<bool> in_place = inputs_in_place(program, trace);
  for (Parameter& parameter : result.main.parameters) {
    parameter.in_place =
        parameter.is_input() && in_place[static_cast<std::size_t>(parameter.index)];
  }
  result.main.loops = std::move(lowered.main);
  if (!lowered.prepare) return result;
  ParameterTable prepare(program, *lowered.prepare);
  ATTUNE_RETURN_IF_ERROR(prepare.add_inputs(lowered.prepare_inputs));
  ATTUNE_RETURN_IF_ERROR(prepare.add_all(ParameterKind::Prepared, lowered.prepared.size()));
  result.prepare = LoweredKernel{{}, prepare.take()};
  result.prepare->loops = std::move(*lowered.prepare);
  return result;
}

std::int64_t expression_count(const ir::Kernel& loops) {
  std::int64_t count = 0;
  ir::visit(
      loops.body, [](const ir::Stmt&) {}, [&](const ir::Expr&) { ++count; });
  return count;
}

}  // namespace

Result<LoweredProgram> lower(const ir::Program& program, const schedule::Trace& trace,
                             const target::Target& target, const Observe& observe) {
  const auto state = schedule::replay(program, trace);
  if (!state.ok()) return in_step("replay", state.error());
  if (const Status own = check_own_steps(trace, target); !own.ok()) {
    return in_step("lower", own.error());
  }
  auto lowered = lower::lower(*state, {.pipeline = code_generator_of(target).pipeline(),
                                       .target = target,
                                       .disabled = {},
                                       .observe = observe});
  if (!lowered.ok()) return in_step("lower", lowered.error());
  auto result = with_parameters(program, trace, std::move(*lowered));
  if (!result.ok()) return in_step("lower", result.error());
  return result;
}

Result<Kernel> compile(const LoweredKernel& lowered, const target::Target& target) {
  auto object = code_generator_of(target).compile(lowered.loops, target);
  if (!object.ok()) return in_step("codegen", object.error());
  return Kernel{std::move(*object), lowered.parameters};
}

Result<Built> build(const ir::Program& program, const schedule::Trace& trace,
                    const target::Target& target, const BuildOptions& options) {
  const Limits& limits = options.limits;
  ATTUNE_ASSIGN(LoweredProgram lowered, lower(program, trace, target));
  if (!options.symbol.empty()) lowered.main.loops.name = options.symbol;
  if (const std::int64_t size = limits.expressions < 0 ? -1 : expression_count(lowered.main.loops);
      size > limits.expressions) {
    return unsupported(fmt::format("size: {} expressions after lowering, at most {} are compiled",
                                   size, limits.expressions));
  }
  if (options.late && options.late()) return unsupported("lower: too late");
  ATTUNE_ASSIGN(Kernel main, compile(lowered.main, target));
  if (const int spills = main.object.entry.vector_spills;
      limits.vector_spills >= 0 && spills > limits.vector_spills) {
    return unsupported(
        fmt::format("spills: {} vector spills in innermost loops, at most {} are run", spills,
                    limits.vector_spills));
  }
  return Built{std::move(lowered), std::move(main)};
}

Result<std::vector<std::byte>> link(std::span<const codegen::KernelObject> objects,
                                    const target::Target& target) {
  return code_generator_of(target).link(objects);
}

}  // namespace attune::kernel
