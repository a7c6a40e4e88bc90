#include "compiler/graph/builder.h"

#include <fmt/format.h>

#include <algorithm>

#include "compiler/graph/program.h"
#include "compiler/ir/interpret/interpret.h"

namespace attune::graph {

Result<std::vector<ConstantPtr>> evaluate(const ops::OpCall& call, const RunHost& run_host) {
  const ops::OpDef* def = ops::find_operator(call.name);
  CHECK(def != nullptr, fmt::format("there is no operator '{}'", call.name));
  if (def->kind == ops::OpKind::Host) {
    CHECK(run_host != nullptr, "host operators need someone who runs them");
    return run_host(call);
  }
  if (def->kind == ops::OpKind::View) {  // no element moves
    ATTUNE_ASSIGN(const std::vector<TensorType> types, def->infer(call));
    const Constant& input = *call.constants[0];
    return std::vector<ConstantPtr>{
        std::make_shared<const Constant>(Constant{types[0], input.bytes, input.owner})};
  }
  ATTUNE_ASSIGN(const ir::Program program, program_of(call));
  std::vector<ir::Array> inputs;
  for (std::size_t i = 0; i < call.inputs.size(); ++i) {
    if (call.has(i)) inputs.push_back(ops::to_array(*call.constants[i]));
  }
  ATTUNE_ASSIGN(std::vector<ir::Array> results, ir::interpret(program, inputs));
  return std::vector<ConstantPtr>{ops::make_constant(std::move(results.front()))};
}

namespace {

// How many elements all stages combine.
double steps_of(const ir::Program& program) {
  double steps = 0;
  for (const ir::Stage& stage : program.stages) {
    double elements = 1;
    for (const ir::Axis& axis : stage.axes) elements *= static_cast<double>(axis.extent);
    for (const ir::Axis& axis : stage.reduce_axes) elements *= static_cast<double>(axis.extent);
    steps += elements;
  }
  return steps;
}

constexpr std::int64_t kLargestTensorBytes = std::int64_t{1} << 40;

// Every extent makes sense, and the tensor could be held by some memory.
Status check_size(const TensorType& type) {
  std::int64_t bytes = type.dtype.element_bytes();
  bool empty = false;
  for (const std::int64_t extent : type.shape) {
    if (extent < 0) return invalid(fmt::format("its result would be {}", ops::to_string(type)));
    empty |= extent == 0;
    if (extent > 0 && (__builtin_mul_overflow(bytes, extent, &bytes) ||
                       (!empty && bytes > kLargestTensorBytes))) {
      return invalid(fmt::format("its result {} is too large", ops::to_string(type)));
    }
  }
  return {};
}

}  // namespace

Builder::Builder(std::string name, BuilderOptions options) : options_(std::move(options)) {
  graph_.name = std::move(name);
}

std::string Builder::free_name(std::string wanted) {
  if (wanted.empty()) wanted = "value";
  const auto [entry, is_new] = names_.emplace(wanted, 0);
  if (is_new) return wanted;
  std::string name;
  do {
    name = fmt::format("{}.{}", wanted, ++names_.find(wanted)->second);
  } while (!names_.emplace(name, 0).second);
  return name;
}

ValueId Builder::input(std::string name, TensorType type) {
  const auto id = static_cast<ValueId>(graph_.values.size());
  graph_.values.push_back({free_name(std::move(name)), std::move(type)});
  graph_.inputs.push_back(id);
  return id;
}

ValueId Builder::constant(ConstantPtr constant, std::string name) {
  const auto id = static_cast<ValueId>(graph_.values.size());
  TensorType type = constant->type;
  graph_.values.push_back(
      {free_name(name.empty() ? "const" : std::move(name)), std::move(type), std::move(constant)});
  return id;
}

void Builder::rename(ValueId value, std::string name) {
  Value& renamed = graph_.value(value);
  if (renamed.name != name) renamed.name = free_name(std::move(name));
}

Result<std::optional<std::vector<ConstantPtr>>> Builder::fold(
    const ops::OpCall& call, const std::vector<TensorType>& types) const {
  const ops::OpDef* def = ops::find_operator(call.name);
  std::optional<std::vector<ConstantPtr>> nothing;
  if (def->kind == ops::OpKind::Control) return nothing;
  // Nothing is to be computed where no result has an element.
  const bool empty = std::all_of(types.begin(), types.end(), [](const TensorType& type) {
    return type.elements() == 0 && type.is_static();
  });
  if (empty) {
    std::vector<ConstantPtr> constants;
    for (const TensorType& type : types) constants.push_back(ops::filled_constant(type, 0));
    return std::optional(std::move(constants));
  }
  if (def->kind == ops::OpKind::Host && options_.run_host == nullptr) return nothing;
  ops::OpCall known = call;
  for (std::size_t i = 0; i < call.inputs.size(); ++i) {
    if (!call.has(i) || call.constants[i] != nullptr) continue;
    // Of a tensor without elements everything is known.
    const TensorType& type = call.inputs[i];
    if (!type.is_static() || type.elements() > 0) return nothing;
    known.constants[i] = ops::filled_constant(type, 0);
  }
  for (const TensorType& type : types) {
    if (type.elements() > options_.largest_folded && def->kind != ops::OpKind::View) return nothing;
    if (type.elements() == 0 && def->kind != ops::OpKind::Host) return nothing;
  }
  if (def->kind != ops::OpKind::Host && def->kind != ops::OpKind::View) {
    ATTUNE_ASSIGN(const ir::Program program, program_of(known));
    if (steps_of(program) > static_cast<double>(options_.most_folded_steps)) return nothing;
  }
  ATTUNE_ASSIGN(std::vector<ConstantPtr> values, evaluate(known, options_.run_host));
  return std::optional(std::move(values));
}

Result<std::vector<ValueId>> Builder::add_node(std::string op, std::vector<ValueId> inputs,
                                               Attributes attributes,
                                               std::vector<std::shared_ptr<const Graph>> bodies,
                                               std::string name) {
  const ops::OpDef* def = ops::find_operator(op);
  CHECK(def != nullptr, fmt::format("there is no operator '{}'", op));
  Node node{op,
            name.empty() ? origin_ : std::move(name),
            std::move(inputs),
            {},
            std::move(attributes),
            std::move(bodies)};
  const ops::OpCall call = call_of(graph_, node);
  ATTUNE_ASSIGN(std::vector<TensorType> types, def->infer(call));
  for (const TensorType& type : types) ATTUNE_RETURN_IF_ERROR(check_size(type));
  ATTUNE_ASSIGN(const auto folded, fold(call, types));
  std::vector<ValueId> outputs;
  const std::string base = node.name.empty() ? op : node.name;
  for (std::size_t i = 0; i < types.size(); ++i) {
    if (folded) {
      outputs.push_back(constant((*folded)[i], base));
      continue;
    }
    outputs.push_back(static_cast<ValueId>(graph_.values.size()));
    graph_.values.push_back({free_name(base), std::move(types[i])});
  }
  if (!folded) {
    node.outputs = outputs;
    graph_.nodes.push_back(std::move(node));
  }
  return outputs;
}

Result<ValueId> Builder::add(std::string op, std::vector<ValueId> inputs, Attributes attributes) {
  ATTUNE_ASSIGN(const std::vector<ValueId> outputs,
                add_node(std::move(op), std::move(inputs), std::move(attributes)));
  CHECK(outputs.size() == 1, "the operator has several outputs");
  return outputs.front();
}

Graph Builder::finish(std::vector<ValueId> outputs) && {
  graph_.outputs = std::move(outputs);
  return std::move(graph_);
}

}  // namespace attune::graph
