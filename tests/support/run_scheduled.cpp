#include "tests/support/run_scheduled.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <cstring>
#include <map>
#include <string>

#include "base/rng.h"
#include "base/temporary_directory_testing.h"
#include "compiler/ir/interpret/interpret.h"
#include "compiler/ir/interpret/launches.h"
#include "compiler/ir/text/print.h"
#include "compiler/ir/verify/verify.h"
#include "compiler/kernel/kernel.h"
#include "compiler/lower/lower.h"
#include "tests/support/compiled_loops.h"
#include "tests/support/emulated.h"
#include "tests/support/run_on_device.h"

namespace attune::test {
namespace {

using ir::Array;
using Arrays = std::map<std::string, Array>;

// The arrays of a kernel's parameters, those that do not exist yet made of zeros.
std::vector<Array> arguments_of(const ir::Kernel& kernel, const Arrays& arrays) {
  std::vector<Array> arguments;
  for (const ir::Buffer& buffer : kernel.params) {
    const auto found = arrays.find(buffer->name);
    arguments.push_back(found != arrays.end() ? found->second : Array(buffer->type, buffer->shape));
    arguments.back().shape = buffer->shape;  // lowered kernels see them as one dimension
  }
  return arguments;
}

Status run_interpreted(const ir::Kernel& kernel, std::size_t inputs,
                       std::vector<Array>& arguments) {
  return ir::interpret(kernel, arguments, static_cast<int>(inputs));
}

// As launches, in which nothing may be found wrong.
Status run_launched(const ir::Kernel& kernel, std::size_t inputs, std::vector<Array>& arguments) {
  ir::LaunchOptions options;
  constexpr std::int64_t kPlenty = 1 << 30;
  options.limits = {kPlenty, kPlenty, kPlenty, kPlenty};
  ATTUNE_ASSIGN(const std::vector<ir::Finding> findings,
                ir::run_launches(kernel, arguments, static_cast<int>(inputs), options));
  if (findings.empty()) return {};
  return invalid(fmt::format("{}: {}\n{}", ir::to_string(findings[0].kind), findings[0].text,
                             ir::to_string(kernel)));
}

// What tests/arm/run_kernel.cpp reads and writes.
void write_arrays(const TemporaryDirectory& directory, const std::vector<Array>& arrays) {
  std::string bytes;
  for (const Array& array : arrays) {
    const auto size = static_cast<std::int64_t>(array.data.size());
    bytes.append(reinterpret_cast<const char*>(&size), sizeof size);
    bytes.append(reinterpret_cast<const char*>(array.data.data()), array.data.size());
  }
  directory.write("buffers", bytes);
}

void read_arrays(const TemporaryDirectory& directory, std::vector<Array>& arrays) {
  const std::string bytes = directory.read("buffers");
  std::size_t at = 0;
  for (Array& array : arrays) {
    at += sizeof(std::int64_t);
    CHECK(at + array.data.size() <= bytes.size(), "run_kernel wrote less than it read");
    std::memcpy(array.data.data(), bytes.data() + at, array.data.size());
    at += array.data.size();
  }
}

Status run_on_emulator(const ir::Kernel& kernel, const target::Target& target,
                       std::vector<Array>& arguments) {
  ATTUNE_ASSIGN(const codegen::Module compiled, compile_loops(kernel, target));
  const codegen::KernelEntry& facts = compiled.kernels.front();
  const TemporaryDirectory directory;
  directory.write("object",
                  {reinterpret_cast<const char*>(compiled.code.data()), compiled.code.size()});
  write_arrays(directory, arguments);
  const ProcessResult run = run_emulated(
      "run_kernel", {directory.file("object"), facts.symbol, std::to_string(facts.workspace_bytes),
                     std::to_string(target.threads), directory.file("buffers")});
  if (run.status != 0) {
    return invalid(fmt::format("the emulator ends with status {}: {}", run.status, run.errors), "");
  }
  read_arrays(directory, arguments);
  return {};
}

// Runs one kernel on the arrays that its parameters name, the first `inputs` of them read only.
Status run(const ir::Kernel& kernel, std::size_t inputs, const target::Target& target, Way way,
           Arrays& arrays) {
  std::vector<Array> arguments = arguments_of(kernel, arrays);
  Status ran;
  switch (way) {
    case Way::Interpreted:
      ran = run_interpreted(kernel, inputs, arguments);
      break;
    case Way::Compiled:
      ran = run_on_device(kernel, target, arguments);
      break;
    case Way::Emulated:
      ran = run_on_emulator(kernel, target, arguments);
      break;
    case Way::Launched:
      ran = run_launched(kernel, inputs, arguments);
      break;
  }
  ATTUNE_RETURN_IF_ERROR(ran);
  for (std::size_t i = inputs; i < arguments.size(); ++i) {
    arrays[kernel.params[i]->name] = std::move(arguments[i]);
  }
  return {};
}

Status compare(const std::string& name, const Array& expected, const Array& actual,
               double tolerance) {
  double largest = 0;
  for (std::int64_t i = 0; i < expected.count(); ++i) {
    if (std::isfinite(expected.real(i))) largest = std::max(largest, std::abs(expected.real(i)));
  }
  for (std::int64_t i = 0; i < expected.count(); ++i) {
    const double want = expected.real(i), got = actual.real(i);
    const bool same = want == got || (std::isnan(want) && std::isnan(got));
    if (same || std::abs(want - got) <= tolerance * largest) continue;
    return invalid(fmt::format("{}[{}] is {}, must be {} (tolerance {})", name, i, got, want,
                               tolerance * largest),
                   "");
  }
  return {};
}

// The kernels are well formed after every pass; the first one that breaks them is named.
Result<lower::Lowered> lower_and_verify(const schedule::State& state, const target::Target& target,
                                        Way way) {
  Status broken;
  lower::Options options;
  if (way == Way::Launched) options.pipeline = lower::launch_pipeline();
  if (way == Way::Compiled) options.pipeline = kernel::code_generator_of(target).pipeline();
  options.observe = [&](std::string_view pass, const ir::Kernel& kernel) {
    const Status verified = ir::verify(kernel);
    if (broken.ok() && !verified.ok()) {
      broken = invalid(fmt::format("after pass {}: {}", pass, verified.error().message), "");
    }
  };
  Result<lower::Lowered> lowered = lower::lower(state, options);
  if (!broken.ok()) return broken.error();
  return lowered;
}

}  // namespace

Result<Reference> make_reference(const ir::Program& program, std::uint64_t seed, InputRange range) {
  Rng rng(seed);
  Reference reference;
  for (const ir::Input& input : program.inputs) {
    Array array(input.buffer->type, input.buffer->shape);
    for (std::int64_t i = 0; i < array.count(); ++i) {
      if (input.buffer->type.is_float()) {
        array.set_real(i, range.low + (range.high - range.low) * rng.uniform());
      } else {
        array.set_int(i, rng.between(range.least, range.most));
      }
    }
    reference.inputs.push_back(std::move(array));
  }
  ATTUNE_ASSIGN(reference.outputs, ir::interpret(program, reference.inputs));
  return reference;
}

Status check_trace(const ir::Program& program, const schedule::Trace& trace,
                   const target::Target& target, const Reference& reference, double tolerance,
                   Way way) {
  ATTUNE_ASSIGN(const schedule::State state, schedule::replay(program, trace));
  ATTUNE_ASSIGN(const lower::Lowered lowered, lower_and_verify(state, target, way));
  Arrays arrays;
  for (std::size_t i = 0; i < program.inputs.size(); ++i) {
    arrays[program.inputs[i].buffer->name] = reference.inputs[i];
  }
  if (lowered.prepare) {
    ATTUNE_RETURN_IF_ERROR(
        run(*lowered.prepare, lowered.prepare_inputs.size(), target, way, arrays));
  }
  const std::size_t inputs = lowered.main_inputs.size() + lowered.prepared.size();
  ATTUNE_RETURN_IF_ERROR(run(lowered.main, inputs, target, way, arrays));
  for (std::size_t i = 0; i < program.outputs.size(); ++i) {
    const std::string& name = program.outputs[i]->name;
    ATTUNE_RETURN_IF_ERROR(compare(name, reference.outputs[i], arrays.at(name), tolerance));
  }
  return {};
}

}  // namespace attune::test
