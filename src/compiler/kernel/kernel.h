// The one kernel builder: from a program, a trace and a target to code. Replaying, lowering and
// code generation happen here, for the tuner, for whole models and for a person who wants to see
// the stages.
#pragma once

#include <cstdint>
#include <functional>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "base/result.h"
#include "compiler/codegen/code_generator.h"
#include "compiler/ir/nodes/stmt.h"
#include "compiler/ir/nodes/tensor_expr.h"
#include "compiler/schedule/trace.h"
#include "compiler/target/target.h"
#include "runtime/memory/dtype.h"

namespace attune::kernel {

// Where a kernel's parameter comes from; `index` counts within its kind.
enum class ParameterKind : std::uint8_t {
  Input,     // of the program's inputs, different from call to call
  Constant,  // of the program's inputs, known ahead of time
  Prepared,  // of the buffers that the prepare kernel writes
  Output,    // of the program's outputs
};
struct Parameter {
  ParameterKind kind = ParameterKind::Input;
  int index = 0;
  runtime::DType type = runtime::DType::F32;
  std::int64_t elements = 0;
  bool in_place = false;  // an input that may be the same memory as the output (in_place.h)

  std::int64_t bytes() const {
    return elements * static_cast<std::int64_t>(runtime::byte_size(type));
  }
  // Of the program's inputs, whichever kind.
  bool is_input() const { return kind == ParameterKind::Input || kind == ParameterKind::Constant; }
};

// Loops with what stands for each of their parameters.
struct LoweredKernel {
  ir::Kernel loops;
  std::vector<Parameter> parameters;
};
struct LoweredProgram {
  LoweredKernel main;
  std::optional<LoweredKernel> prepare;  // run once, ahead of time; see lower/lower.h
};

// A kernel: an opaque code object with its entry point and static facts, and its parameters.
struct Kernel {
  codegen::KernelObject object;
  std::vector<Parameter> parameters;
};

using Observe = std::function<void(std::string_view pass, const ir::Kernel& kernel)>;

// An error begins with the step that failed: "replay: …" or "lower: …". `observe` (optional) is
// called after every pass.
Result<LoweredProgram> lower(const ir::Program& program, const schedule::Trace& trace,
                             const target::Target& target, const Observe& observe = {});
// "codegen: …".
Result<Kernel> compile(const LoweredKernel& lowered, const target::Target& target);

// What is not worth compiling or running; negative: no limit.
struct Limits {
  int vector_spills = -1;         // in innermost loops
  std::int64_t expressions = -1;  // of the lowered kernel: 60,000 take a second to compile
};

// For what nobody asked for in so many words.
inline constexpr Limits kUsualLimits{.vector_spills = 64, .expressions = 60'000};

struct BuildOptions {
  std::string symbol = {};  // of the main kernel; empty: the program's name
  Limits limits = {};
  std::function<bool()> late = {};  // asked between the steps, none of which is cut short
};

struct Built {
  LoweredProgram lowered;
  Kernel main;
};

// From program, trace and target to the main kernel. Besides the errors above: "size: …" and
// "spills: …" beyond the limits, and whatever error when it is late.
Result<Built> build(const ir::Program& program, const schedule::Trace& trace,
                    const target::Target& target, const BuildOptions& options = {});

// What the target's device loads.
Result<std::vector<std::byte>> link(std::span<const codegen::KernelObject> objects,
                                    const target::Target& target);

// One for every kind of target that programs are compiled for.
std::span<const codegen::CodeGenerator* const> code_generators();
// An error where the target's kind has none.
Status check_compiles(const target::Target& target);
const codegen::CodeGenerator& code_generator_of(const target::Target& target);

}  // namespace attune::kernel
