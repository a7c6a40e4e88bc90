#include "compiler/graph/folding.h"

#include <fmt/format.h>

#include <algorithm>

#include "compiler/graph/constants.h"
#include "compiler/graph/program.h"
#include "compiler/ir/interpret/interpret.h"

namespace attune::graph {
namespace {

const ops::OpDef& definition_of(const ops::OpCall& call) {
  const ops::OpDef* def = ops::find_operator(call.name);
  CHECK(def != nullptr, fmt::format("there is no operator '{}'", call.name));
  return *def;
}

// Cheap for constants of any size: views move no element, and weights are often transposed.
bool is_cheap(const ops::OpCall& call) {
  return definition_of(call).kind == ops::OpKind::View || call.name == "transpose";
}

bool is_empty(const TensorType& type) { return type.is_static() && type.elements() == 0; }

// Of a tensor without elements everything is known.
bool is_known(const ops::OpCall& call) {
  for (std::size_t i = 0; i < call.inputs.size(); ++i) {
    if (call.has(i) && call.constants[i] == nullptr && !is_empty(call.inputs[i])) return false;
  }
  return true;
}

// The call with a constant for every input that is there.
ops::OpCall with_constants(ops::OpCall call) {
  for (std::size_t i = 0; i < call.inputs.size(); ++i) {
    if (!call.has(i) || call.constants[i] != nullptr) continue;
    call.constants[i] = ops::filled_constant(call.inputs[i], 0);
  }
  return call;
}

// How many elements all stages combine; host operators are taken to look at each input once.
Result<double> steps_of(const ops::OpCall& call) {
  double steps = 0;
  if (definition_of(call).kind == ops::OpKind::Host) {
    for (const TensorType& type : call.inputs) steps += static_cast<double>(type.elements());
    return steps;
  }
  ATTUNE_ASSIGN(const ir::Program program, program_of(call));
  for (const ir::Stage& stage : program.stages) {
    double elements = 1;
    for (const ir::Axis& axis : stage.axes) elements *= static_cast<double>(axis.extent);
    for (const ir::Axis& axis : stage.reduce_axes) elements *= static_cast<double>(axis.extent);
    steps += elements;
  }
  return steps;
}

Result<bool> is_quick(const ops::OpCall& call, const std::vector<TensorType>& types,
                      const Folding& folding) {
  if (is_cheap(call)) return true;
  if (std::any_of(types.begin(), types.end(), [&](const TensorType& type) {
        return type.elements() > folding.largest_result;
      })) {
    return false;
  }
  ATTUNE_ASSIGN(const double steps, steps_of(call));
  return steps <= static_cast<double>(folding.most_steps);
}

// Whether there is room for the results, which is theirs then; views take none.
bool take_room(const ops::OpCall& call, const std::vector<TensorType>& types,
               const Folding& folding) {
  if (folding.bytes_left == nullptr || definition_of(call).kind == ops::OpKind::View) return true;
  std::int64_t bytes = 0;
  for (const TensorType& type : types) bytes += type.elements() * type.dtype.element_bytes();
  if (bytes > *folding.bytes_left) return false;
  *folding.bytes_left -= bytes;
  return true;
}

}  // namespace

Result<std::vector<ConstantPtr>> evaluate(const ops::OpCall& call, const Evaluate& run_host) {
  const ops::OpDef& def = definition_of(call);
  if (def.kind == ops::OpKind::Host) {
    CHECK(run_host != nullptr, "host operators need someone who runs them");
    return run_host(call);
  }
  if (def.kind == ops::OpKind::View) {
    ATTUNE_ASSIGN(const std::vector<TensorType> types, def.infer(call));
    const Constant& input = *call.constants[0];
    return std::vector<ConstantPtr>{
        std::make_shared<const Constant>(Constant{types[0], input.bytes, input.owner})};
  }
  if (call.name == "transpose") {
    const auto& order = std::get<std::vector<std::int64_t>>(call.attributes.at("perm"));
    return std::vector{transpose_constant(*call.constants[0], order)};
  }
  ATTUNE_ASSIGN(const ir::Program program, program_of(call));
  std::vector<ir::Array> inputs;
  for (std::size_t i = 0; i < call.inputs.size(); ++i) {
    if (call.has(i)) inputs.push_back(ops::to_array(*call.constants[i]));
  }
  ATTUNE_ASSIGN(std::vector<ir::Array> results, ir::interpret(program, inputs));
  return std::vector<ConstantPtr>{ops::make_constant(std::move(results.front()))};
}

Result<std::optional<std::vector<ConstantPtr>>> fold(const ops::OpCall& call,
                                                     const std::vector<TensorType>& types,
                                                     const Folding& folding) {
  std::optional<std::vector<ConstantPtr>> nothing;
  const ops::OpKind kind = definition_of(call).kind;
  if (kind == ops::OpKind::Control) return nothing;
  if (std::all_of(types.begin(), types.end(), is_empty)) {
    std::vector<ConstantPtr> constants;
    for (const TensorType& type : types) constants.push_back(ops::filled_constant(type, 0));
    return std::optional(std::move(constants));
  }
  if (kind == ops::OpKind::Host && folding.run_host == nullptr) return nothing;
  if (!is_known(call)) return nothing;
  // Kernels give one result, which has elements.
  if (kind != ops::OpKind::Host && std::any_of(types.begin(), types.end(), is_empty)) {
    return nothing;
  }
  const ops::OpCall known = with_constants(call);
  ATTUNE_ASSIGN(bool quick, is_quick(known, types, folding));
  quick = quick && take_room(known, types, folding);
  if (!quick && (kind == ops::OpKind::Host || folding.run_kernel == nullptr)) return nothing;
  ATTUNE_ASSIGN(std::vector<ConstantPtr> results,
                quick ? evaluate(known, folding.run_host) : folding.run_kernel(known));
  return std::optional(std::move(results));
}

}  // namespace attune::graph
