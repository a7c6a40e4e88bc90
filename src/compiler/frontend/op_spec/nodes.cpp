#include "compiler/frontend/op_spec/nodes.h"

#include "compiler/graph/builder.h"

namespace attune::op_spec {

using graph::ValueId;

Result<graph::Graph> graph_of(const ops::Family& family, const ops::Arguments& arguments,
                              const MakeConstant& make_constant) {
  const ops::SpecGraph spec = family.graph(arguments);
  graph::Builder builder(family.name);
  std::vector<ValueId> blocked;
  int operands = 0;
  ValueId last = graph::kNoValue;
  for (const ops::SpecNode& node : spec.nodes) {
    std::vector<ValueId> inputs;
    for (const ops::SpecOperand& operand : node.operands) {
      const ops::TensorType type{arguments.dtype, operand.shape, {}};
      const int index = operands++;
      if (operand.constant) {
        ATTUNE_ASSIGN(ops::ConstantPtr contents, make_constant(operand.name, type, index));
        inputs.push_back(builder.constant(std::move(contents), operand.name));
      } else {
        inputs.push_back(builder.input(operand.name, type));
      }
      if (operand.blocked) blocked.push_back(inputs.back());
    }
    for (const double number : node.numbers) {
      inputs.push_back(builder.constant(ops::scalar_constant(arguments.dtype, number)));
    }
    if (last != graph::kNoValue) {
      inputs.insert(inputs.begin() + static_cast<std::ptrdiff_t>(node.result_at), last);
    }
    ATTUNE_ASSIGN(last, builder.add(node.op, std::move(inputs), node.attributes));
  }
  if (spec.blocked) blocked.push_back(last);
  builder.rename(last, "output");
  graph::Graph graph = std::move(builder).finish({last});
  for (const ValueId id : blocked) graph.value(id).layout = {arguments.block};
  return graph;
}

}  // namespace attune::op_spec
