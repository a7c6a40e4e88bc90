#include "tuner/measure/builder/build_candidate.h"

#include <fmt/format.h>

#include <algorithm>
#include <utility>

#include "base/clock.h"
#include "base/hash.h"
#include "compiler/codegen/codegen.h"
#include "compiler/ir/print.h"
#include "compiler/ir/rewrite.h"
#include "compiler/lower/lower.h"
#include "tuner/measure/builder/element_type.h"

namespace attune::builder {
namespace {

using measure::KernelCode;
using measure::Parameter;
using measure::ParameterKind;

Error in_step(const char* step, const Error& error) {
  return {error.code, fmt::format("{}: {}", step, error.message), error.hint};
}

Result<Parameter> make_parameter(const ir::Buffer& buffer, ParameterKind kind, std::size_t index) {
  ATTUNE_ASSIGN(const runtime::DType type, element_type(buffer->type));
  return Parameter{.kind = kind,
                   .index = static_cast<int>(index),
                   .type = type,
                   .elements = ir::element_count(*buffer)};
}

// The parameters of a kernel: inputs by name, then `rest` of one kind, then (main only) outputs.
class ParameterList {
 public:
  ParameterList(const ir::Program& program, const ir::Kernel& kernel)
      : program_(program), kernel_(kernel) {}

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
    CHECK(parameters_.size() == kernel_.params.size(),
          fmt::format("kernel '{}' has {} parameters, lowering names {}", kernel_.name,
                      kernel_.params.size(), parameters_.size()));
    return std::move(parameters_);
  }

 private:
  Status add(ParameterKind kind, std::size_t index) {
    CHECK(parameters_.size() < kernel_.params.size(), "more parameters named than there are");
    auto parameter = make_parameter(kernel_.params[parameters_.size()], kind, index);
    if (!parameter.ok()) return parameter.error();
    parameters_.push_back(*parameter);
    return {};
  }

  const ir::Program& program_;
  const ir::Kernel& kernel_;
  std::vector<Parameter> parameters_;
};

std::uint64_t id_of(const ir::Kernel& kernel, const ir::Target& target) {
  return hash_bytes(ir::to_string(kernel), hash_bytes(ir::to_string(target)));
}

std::shared_ptr<KernelCode> code_of(codegen::CompiledKernel compiled,
                                    std::vector<Parameter> parameters, std::uint64_t id) {
  auto code = std::make_shared<KernelCode>();
  code->object = std::make_shared<const std::vector<std::byte>>(std::move(compiled.elf));
  code->symbol = std::move(compiled.symbol);
  code->parameters = std::move(parameters);
  code->workspace_bytes = compiled.workspace_bytes;
  code->id = id;
  return code;
}

Result<std::shared_ptr<const KernelCode>> build_prepare(const ir::Program& program,
                                                        const lower::Lowered& lowered,
                                                        const ir::Target& target,
                                                        PrepareCache& cache) {
  const ir::Kernel& kernel = *lowered.prepare;
  const std::uint64_t id = id_of(kernel, target);
  if (auto known = cache.find(id)) return known;
  ParameterList list(program, kernel);
  ATTUNE_RETURN_IF_ERROR(list.add_inputs(lowered.prepare_inputs));
  ATTUNE_RETURN_IF_ERROR(list.add_all(ParameterKind::Prepared, lowered.prepared.size()));
  auto compiled = codegen::compile(kernel, target);
  if (!compiled.ok()) return in_step("codegen", compiled.error());
  return cache.add(code_of(std::move(*compiled), list.take(), id));
}

std::int64_t expression_count(const ir::Kernel& kernel) {
  std::int64_t count = 0;
  ir::visit(
      kernel.body, [](const ir::Stmt&) {}, [&](const ir::Expr&) { ++count; });
  return count;
}

// Ends early with whatever error when it is `late`.
template <typename Late>
Status build_into(measure::BuiltCandidate& built, const measure::BuildRequest& request,
                  const ir::Target& target, const Limits& limits, PrepareCache& cache,
                  const Late& late) {
  const ir::Program& program = *request.program;
  const auto state = schedule::replay(program, request.trace);
  if (!state.ok()) return in_step("replay", state.error());
  const auto lowered = lower::lower(*state);
  if (!lowered.ok()) return in_step("lower", lowered.error());

  const bool limited = !request.whatever_it_costs;
  if (const std::int64_t size = expression_count(lowered->main);
      limited && limits.expressions >= 0 && size > limits.expressions) {
    return unsupported(fmt::format("size: {} expressions after lowering, at most {} are compiled",
                                   size, limits.expressions));
  }
  if (late()) return unsupported("lower: too late");
  ParameterList list(program, lowered->main);
  ATTUNE_RETURN_IF_ERROR(list.add_inputs(lowered->main_inputs));
  ATTUNE_RETURN_IF_ERROR(list.add_all(ParameterKind::Prepared, lowered->prepared.size()));
  ATTUNE_RETURN_IF_ERROR(list.add_all(ParameterKind::Output, program.outputs.size()));
  auto compiled = codegen::compile(lowered->main, target);
  if (!compiled.ok()) return in_step("codegen", compiled.error());
  built.codegen_ms = compiled->compile_ms + compiled->link_ms;
  built.vector_spills = compiled->vector_spills;
  if (limited && limits.vector_spills >= 0 && compiled->vector_spills > limits.vector_spills) {
    return unsupported(
        fmt::format("spills: {} vector spills in innermost loops, at most {} are run",
                    compiled->vector_spills, limits.vector_spills));
  }
  if (lowered->prepare && !late()) {
    auto prepare = build_prepare(program, *lowered, target, cache);
    if (!prepare.ok()) return prepare.error();
    built.prepare = std::move(*prepare);
  }
  built.main = code_of(std::move(*compiled), list.take(), hash_bytes(to_string(request.trace)));
  return {};
}

}  // namespace

measure::BuiltCandidate build_candidate(const measure::BuildRequest& request,
                                        const ir::Target& target, const Limits& limits,
                                        PrepareCache& prepared) {
  const SteadyClock clock;
  const std::int64_t start = clock.now_ns();
  measure::BuiltCandidate built;
  built.number = request.number;
  built.threads = std::max(1, target.threads);
  const auto elapsed_ms = [&] { return seconds_between(start, clock.now_ns()) * 1e3; };
  const bool limited = !request.whatever_it_costs && request.timeout_ms > 0;
  const auto late = [&] { return limited && elapsed_ms() > request.timeout_ms; };
  const Status status = build_into(built, request, target, limits, prepared, late);
  built.build_ms = elapsed_ms();
  if (status.ok() && !late()) return built;
  built.main = nullptr;
  built.prepare = nullptr;
  if (late()) {
    built.failure =
        runtime::TimedOut{runtime::Phase::Build, request.timeout_ms,
                          fmt::format("building takes more than {:g} ms", request.timeout_ms)};
  } else {
    built.failure = runtime::BuildFailed{runtime::Phase::Build, status.error().message};
  }
  return built;
}

}  // namespace attune::builder
